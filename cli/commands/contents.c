/* writ ledger contents, erase: kept contents of calls. Both take the configuration of a gateway
 * that does not run, whose ledger they open as its writer, or ask a running one. No content is
 * printed before the look at it is on disk. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/stopped_ledger.h"
#include "cli/commands/waiting.h"
#include "evidence/json/write.h"
#include "evidence/record/content_fact.h"
#include "gateway/admin/contents_answer.h"
#include "gateway/service/anchor.h"

#define ARENA_MAX  ((size_t)128 << 20)
#define OUTPUT_MAX ((size_t)64 << 20)
#define VALUES_MAX ((size_t)1 << 20)
#define FACT_MAX   8192
#define BODY_MAX   32768
#define PATH_MAX   4096
#define WHO_MAX    256

static bool
is_url(const struct writ_cli *cli)
{
    return writ_anchor_is_url(writ_cli_operand(cli, 0));
}

/* ---- a gateway that does not run */

/* ---- contents */

static void
put_part(struct writ_buf *out, const char *title, const struct writ_json *answer, const char *name,
    const char *state)
{
    const struct writ_json *value = writ_json_get(answer, writ_view_str(name));
    struct writ_view word = writ_json_string(writ_json_get(answer, writ_view_str(state)));

    writ_buf_str(out, title);
    if (writ_view_is(word, "kept")) {
        writ_buf_byte(out, ' ');
        writ_print_json(out, value);
    } else {
        writ_buf_str(out, ": ");
        writ_text_safe(out, word, 32);
    }
    writ_buf_byte(out, '\n');
}

static bool
has_kept(const struct writ_json *answer)
{
    return writ_json_is(writ_json_get(answer, WRIT_LIT("arguments_state")), WRIT_LIT("kept")) ||
           writ_json_is(writ_json_get(answer, WRIT_LIT("result_state")), WRIT_LIT("kept"));
}

static void
put_contents(const struct writ_json *answer, struct writ_buf *out)
{
    const struct writ_json *whole = writ_json_get(answer, WRIT_LIT("arguments_whole"));

    put_part(out, "arguments", answer, "arguments", "arguments_state");
    if (writ_json_type(whole) == WRIT_JSON_FALSE) {
        writ_buf_str(out, "  without secret members, which are never kept\n");
    }
    put_part(out, "result", answer, "result", "result_state");
}

/* Prints the answer for people; for programs it is printed as it is. */
static WRIT_RESULT
print_contents(const struct writ_json *answer, struct writ_err *err)
{
    writ_auto_buf out = writ_buf_make(OUTPUT_MAX);

    put_contents(answer, &out);
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

static WRIT_RESULT
record_look(const struct writ_stopped_ledger *s, struct writ_view decision_id, struct writ_err *err)
{
    writ_auto_buf who = writ_buf_make(WHO_MAX);
    writ_auto_buf data = writ_buf_make(FACT_MAX);
    struct writ_content_look look = {
        .purpose = WRIT_LIT("show"), .decision_id = decision_id, .count = 1};

    writ_stopped_ledger_user(&who);
    look.by = writ_buf_view(&who);
    WRIT_TRY(writ_content_fact_look(&look, &data, err));
    return writ_ledger_record(s->ledger, WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), err);
}

static WRIT_RESULT
look(const struct writ_cli *cli, struct writ_arena *arena, struct writ_buf *ret, bool *ret_shows,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_stopped_ledger, writ_stopped_ledger_wipe) s = {.config = NULL};
    writ_auto_contents contents = NULL;
    struct writ_contents_call call;
    struct writ_write w = writ_write_to(ret);

    WRIT_TRY(writ_stopped_ledger_only(cli, &s, err));
    WRIT_TRY(writ_contents_open(s.config->store.ptr, s.keys, cli->clock, &contents, err));
    WRIT_TRY(writ_contents_get(contents, writ_cli_operand(cli, 1), arena, &call, err));
    writ_contents_answer_put(&call, &w);
    WRIT_TRY(writ_write_end(&w, err));
    *ret_shows = writ_contents_answer_shows(&call);
    return *ret_shows ? record_look(&s, call.decision->decision_id.view, err) : WRIT_DONE;
}

static enum writ_exit
look_stopped(const struct writ_cli *cli)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    writ_auto_buf answer = writ_buf_make(OUTPUT_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;
    struct writ_err err = {0};
    writ_result result = {WRIT_E_NOMEM};
    bool shows = false;

    limits.bytes = limits.string_bytes = OUTPUT_MAX;
    limits.values = VALUES_MAX;
    if (arena != NULL) {
        result = look(cli, arena, &answer, &shows, &err);
    }
    if (writ_is_ok(result) && cli->json) {
        writ_buf_byte(&answer, '\n');
        writ_cli_put(writ_buf_view(&answer));
    } else if (writ_is_ok(result)) {
        result = writ_json_read(writ_buf_view(&answer), &limits, arena, &value, &err);
        if (writ_is_ok(result)) {
            result = print_contents(value, &err);
        }
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return shows ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

static enum writ_exit
look_running(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_auto_buf path = writ_buf_make(PATH_MAX);
    writ_result result = writ_admin_client_begin(&client, cli);
    enum writ_exit code;

    writ_buf_fmt(
        &path, "/v1/contents/" WRIT_VIEW_FMT "%c", WRIT_VIEW_ARG(writ_cli_operand(cli, 1)), '\0');
    if (writ_is_ok(result)) {
        result = writ_buf_check(&path, &client.err);
    }
    if (writ_is_ok(result)) {
        result = writ_admin_client_ask(&client, path.ptr, NULL);
    }
    if (writ_is_ok(result) && !cli->json) {
        result = print_contents(client.value, &client.err);
    }
    code = writ_admin_client_end(&client, result);
    return code == WRIT_EXIT_OK && !has_kept(client.value) ? WRIT_EXIT_NEGATIVE : code;
}

enum writ_exit
writ_command_ledger_contents(const struct writ_cli *cli)
{
    struct writ_err err = {0};

    if (!writ_is_ok(writ_admin_client_check_id(writ_cli_operand(cli, 1), "a decision", &err))) {
        return writ_cli_usage(cli, "%s", err.text);
    }
    if (is_url(cli) && !writ_cli_has(cli, "token")) {
        return writ_cli_usage(cli, "a URL needs --token");
    }
    return is_url(cli) ? look_running(cli) : look_stopped(cli);
}

/* ---- erase */

static WRIT_RESULT
read_erase(const struct writ_cli *cli, struct writ_entry_erase *ret, struct writ_err *err)
{
    *ret = (struct writ_entry_erase){.decision_id = writ_cli_get(cli, "decision"),
        .agent_id = writ_cli_get(cli, "agent"),
        .tenant = writ_cli_get(cli, "tenant")};
    if (writ_cli_has(cli, "before") &&
        !writ_is_ok(writ_time_read(writ_cli_get(cli, "before"), &ret->before_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--before is not a time of RFC 3339, such as 2026-11-21T22:20:00Z");
    }
    if (ret->decision_id.ptr == NULL && ret->agent_id.ptr == NULL && ret->tenant.ptr == NULL &&
        ret->before_us == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "pass --decision, --agent, --tenant or --before");
    }
    return WRIT_DONE;
}

static void
print_erased(const struct writ_cli *cli, const struct writ_entry_erase *erase, bool erased)
{
    if (cli->json) {
        writ_cli_print("{\"contents\":%llu,\"erased\":%s,\"reviews\":%llu,\"held\":%s}\n",
            (unsigned long long)erase->contents, erased ? "true" : "false",
            (unsigned long long)erase->reviews, erase->held ? "true" : "false");
        return;
    }
    writ_cli_print(erased ? "destroyed %llu contents\n"
                          : "%llu contents are selected. Pass --yes to destroy them.\n",
        (unsigned long long)erase->contents);
    if (erase->reviews > 0) {
        writ_cli_print("Open reviews: %llu. The arguments of their calls stay until they end.\n",
            (unsigned long long)erase->reviews);
    }
    if (erase->held) {
        writ_cli_print("Another process still reads the ledger: destroyed keys stay in its "
                       "write-ahead log until that ends.\n");
    }
}

static WRIT_RESULT
run_stopped(const struct writ_cli *cli, struct writ_err *err)
{
    WRIT_AUTO(struct writ_stopped_ledger, writ_stopped_ledger_wipe) s = {.config = NULL};
    writ_auto_buf who = writ_buf_make(WHO_MAX);
    struct writ_entry entry = {.kind = WRIT_ENTRY_ERASE};
    WRIT_AUTO(struct writ_waiting, writ_waiting_end) waiting = {.over = -1};

    WRIT_TRY(read_erase(cli, &entry.erase, err));
    WRIT_TRY(writ_stopped_ledger_only(cli, &s, err));
    if (!writ_cli_has(cli, "yes")) {
        WRIT_TRY(writ_contents_answer_count(
            s.config->store.ptr, cli->clock, &entry.erase, &entry.erase.contents, err));
        print_erased(cli, &entry.erase, false);
        return WRIT_DONE;
    }
    writ_stopped_ledger_user(&who);
    entry.erase.by = writ_buf_view(&who);
    writ_waiting_begin(cli,
        "still erasing; if this command is stopped, the next start of the gateway goes on",
        &waiting);
    WRIT_TRY(writ_stopped_ledger_do(&s, &entry, "the ledger could not erase them", err));
    print_erased(cli, &entry.erase, true);
    return WRIT_DONE;
}

static WRIT_RESULT
put_request(const struct writ_cli *cli, struct writ_buf *ret, struct writ_err *err)
{
    static const char *const options[] = {"decision", "agent", "tenant", "before"};
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (writ_cli_has(cli, options[i])) {
            writ_write_text(&w, options[i], writ_cli_get(cli, options[i]));
        }
    }
    writ_write_flag(&w, "count", !writ_cli_has(cli, "yes"));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

static enum writ_exit
erase_running(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    writ_result result = writ_admin_client_begin(&client, cli);
    struct writ_entry_erase erased = {0};
    struct writ_waiting waiting;

    if (writ_is_ok(result)) {
        result = put_request(cli, &body, &client.err);
    }
    if (writ_is_ok(result)) {
        client.patient = true;
        writ_waiting_begin(
            cli, "still erasing; the gateway goes on also if this command is stopped", &waiting);
        result = writ_admin_client_ask(&client, "/v1/contents/erase", body.ptr);
        writ_waiting_end(&waiting);
    }
    if (writ_is_ok(result) && !cli->json) {
        erased.contents = writ_admin_client_count(client.value, "contents");
        erased.reviews = writ_admin_client_count(client.value, "reviews");
        erased.held = writ_json_is_true(client.value, WRIT_LIT("held"));
        print_erased(cli, &erased, writ_json_is_true(client.value, WRIT_LIT("erased")));
    }
    return writ_admin_client_end(&client, result);
}

enum writ_exit
writ_command_ledger_erase(const struct writ_cli *cli)
{
    struct writ_entry_erase asked;
    struct writ_err err = {0};
    enum writ_exit code;

    if (!writ_is_ok(read_erase(cli, &asked, &err))) {
        return writ_cli_usage(cli, "%s", err.text);
    }
    if (is_url(cli) && !writ_cli_has(cli, "token")) {
        return writ_cli_usage(cli, "a URL needs --token");
    }
    code = is_url(cli) ? erase_running(cli) : writ_cli_do(cli, run_stopped);
    return code == WRIT_EXIT_OK && !writ_cli_has(cli, "yes") ? WRIT_EXIT_NEGATIVE : code;
}
