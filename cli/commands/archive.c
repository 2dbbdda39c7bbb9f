/* writ ledger archive, verify archive: the records as a static log. Nothing is removed from the
 * ledger before the whole archive was read again. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/base/progress.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/stopped_ledger.h"
#include "cli/commands/trust.h"
#include "cli/commands/waiting.h"
#include "evidence/json/write.h"
#include "gateway/admin/archive_api.h"
#include "store/disk/removal.h"
#include "store/sql/sql_uri.h"
#include "store/read/archive.h"
#include "store/read/archive_check.h"
#include "store/trusted/keydir.h"

#define ANSWER_MAX 16384
#define WHO_MAX    256

static WRIT_RESULT
print(const struct writ_buf *out, struct writ_err *err)
{
    WRIT_TRY(writ_buf_check(out, err));
    writ_cli_put(writ_buf_view(out));
    return WRIT_DONE;
}

/* ---- removing ---- */

static WRIT_RESULT
put_request(const struct writ_cli *cli, const struct writ_archive_report *archived,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char root[WRIT_DIGEST_TEXT];

    writ_digest_text(&archived->root, root);

    writ_write_object_begin(&w);
    writ_write_count(&w, "archived", archived->size);
    writ_write_text(&w, "before", writ_cli_get(cli, "before"));
    writ_write_text(&w, "root", writ_view_str(root));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
read_answer(const struct writ_json *answer, struct writ_arena *arena, struct writ_entry_remove *ret,
    struct writ_err *err)
{
    struct writ_view name = writ_json_string(writ_json_get(answer, WRIT_LIT("name")));

    ret->before = writ_admin_client_count(answer, "first");
    ret->removed = writ_admin_client_count(answer, "removed");
    ret->limit = writ_remove_limit_find(writ_json_string(writ_json_get(answer, WRIT_LIT("limit"))));
    WRIT_IGNORE(
        writ_time_read(writ_json_string(writ_json_get(answer, WRIT_LIT("since"))), &ret->limit_us));
    ret->limit_name = name.len > 0 ? writ_view_copy(name, arena) : writ_view("", 0);
    if (ret->limit_name.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an answer");
    }
    return WRIT_DONE;
}

/* Asks a running gateway. */
static WRIT_RESULT
ask_running(const struct writ_cli *cli, const struct writ_archive_report *archived,
    struct writ_arena *arena, struct writ_entry_remove *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    writ_result result = writ_admin_client_begin(&client, cli);

    if (writ_is_ok(result)) {
        result = put_request(cli, archived, &body, &client.err);
    }
    if (writ_is_ok(result)) {
        WRIT_AUTO(struct writ_waiting, writ_waiting_end) waiting = {.over = -1};

        client.url = writ_cli_get(cli, "url");
        client.patient = true;
        writ_waiting_begin(cli,
            "the gateway removes records; it goes on also if this command is stopped", &waiting);
        result = writ_admin_client_ask(&client, "/v1/archive", body.ptr);
    }
    if (writ_is_ok(result)) {
        return read_answer(client.value, arena, ret, err);
    }
    WRIT_FAIL(err, result.code, "%s", client.err.text);
}

/* Opens the ledger as its gateway does. */
static WRIT_RESULT
ask_stopped(const struct writ_cli *cli, const struct writ_archive_report *archived,
    struct writ_arena *arena, struct writ_entry_remove *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_stopped_ledger, writ_stopped_ledger_wipe) s = {.config = NULL};
    writ_auto_buf who = writ_buf_make(WHO_MAX);
    struct writ_entry entry = {.kind = WRIT_ENTRY_REMOVE, .arena = arena};
    WRIT_AUTO(struct writ_waiting, writ_waiting_end) waiting = {.over = -1};
    writ_result opened =
        writ_stopped_ledger_open(cli, writ_cli_get(cli, "config").ptr, false, &s, err);
    writ_result done;

    if (opened.code == WRIT_E_BUSY) {
        WRIT_FAIL(err, WRIT_E_BUSY,
            "a gateway has the ledger open: pass --url of its admin listener in place of --config");
    }
    WRIT_TRY(opened);
    writ_stopped_ledger_user(&who);
    entry.remove = *ret;
    entry.remove.archived = archived->size;
    entry.remove.root = archived->root;
    entry.remove.by = writ_buf_view(&who);
    writ_waiting_begin(cli,
        "still removing; if this command is stopped, the next start of the gateway goes on",
        &waiting);
    done = writ_stopped_ledger_do(&s, &entry, "the ledger could not remove them", err);
    if (done.code == WRIT_E_MISMATCH) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the archive is not one of the ledger of that configuration: pass the same ledger");
    }
    WRIT_TRY(done);
    *ret = entry.remove;
    return WRIT_DONE;
}

/* Where several gateways write, none of them may remove what it has recorded as archived. */
static WRIT_RESULT
remove_shared(const struct writ_cli *cli, const struct writ_keyring *ring, uint64_t until,
    struct writ_err *err)
{
    struct writ_view ledger = writ_cli_operand(cli, 0);
    struct writ_progress progress = {0};
    struct writ_removal removal = {.uri = ledger.ptr,
        .ring = ring,
        .until = until,
        .progress = writ_progress_step,
        .ctx = &progress};
    writ_result result;

    if (!writ_sql_is_uri(ledger)) {
        return WRIT_DONE;
    }
    progress = writ_progress_begin(cli, "records");
    result = writ_removal_run(&removal, err);
    writ_progress_end(&progress);
    return result;
}

static WRIT_RESULT
remove_archived(const struct writ_cli *cli, const struct writ_keyring *ring,
    const struct writ_archive_report *archived, struct writ_arena *arena,
    struct writ_entry_remove *ret, struct writ_err *err)
{
    WRIT_TRY(writ_cli_has(cli, "url") ? ask_running(cli, archived, arena, ret, err)
                                      : ask_stopped(cli, archived, arena, ret, err));
    return remove_shared(cli, ring, ret->before, err);
}

/* ---- writing ---- */

static void
put_removed(const struct writ_entry_remove *removed, struct writ_buf *out)
{
    char since[WRIT_TIME_TEXT];

    if (removed->removed > 0) {
        writ_buf_fmt(out, "removed %llu records: the ledger begins with record %llu\n",
            (unsigned long long)removed->removed, (unsigned long long)removed->before);
    } else {
        writ_buf_fmt(out, "nothing to remove: the ledger begins with record %llu\n",
            (unsigned long long)removed->before);
    }
    if (removed->limit == WRIT_REMOVE_NONE) {
        return;
    }
    writ_time_format(removed->limit_us, since);
    writ_buf_fmt(out, "records from %s on stay: ", since);
    writ_buf_put(out, writ_remove_limit_sentence(removed->limit));
    if (removed->limit_name.len > 0) {
        writ_buf_str(out, ": ");
        writ_print_plain(out, removed->limit_name);
    }
    writ_buf_byte(out, '\n');
}

static void
put_written(const struct writ_cli *cli, const struct writ_archive_report *report,
    const struct writ_entry_remove *removed, struct writ_buf *out)
{
    if (cli->json) {
        struct writ_write w = writ_write_to(out);

        writ_write_object_begin(&w);
        writ_write_count(&w, "before", report->before);
        writ_write_count(&w, "size", report->size);
        if (removed != NULL) {
            writ_write_name(&w, WRIT_LIT("removal"));
            writ_archive_api_answer(removed, &w);
        }
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
        writ_buf_byte(out, '\n');
        return;
    }
    writ_buf_fmt(out, "%llu records, %llu of them new\n", (unsigned long long)report->size,
        (unsigned long long)(report->size - report->before));
    if (removed != NULL) {
        put_removed(removed, out);
    }
}

static WRIT_RESULT
write_archive(const struct writ_cli *cli, const struct writ_keyring *ring,
    struct writ_archive_report *ret, struct writ_err *err)
{
    struct writ_archive archive = {.ledger = writ_cli_operand(cli, 0).ptr,
        .folder = writ_cli_operand(cli, 1).ptr,
        .verify = writ_cli_has(cli, "before"),
        .progress = writ_progress_step};
    struct writ_progress progress = writ_progress_begin(cli, "records");
    writ_result result;

    archive.ring = ring;
    archive.ctx = &progress;
    result = writ_archive_write(&archive, ret, err);
    writ_progress_end(&progress);
    return result;
}

static WRIT_RESULT
run_archive(const struct writ_cli *cli, struct writ_err *err)
{
    bool removes = writ_cli_has(cli, "before");
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    writ_auto_arena arena = writ_arena_new(ANSWER_MAX);
    writ_auto_keyring ring = NULL;
    struct writ_entry_remove removed = {.before_us = 0};
    struct writ_archive_report report;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to write an archive");
    }
    if (removes) {
        WRIT_TRY(writ_time_read(writ_cli_get(cli, "before"), &removed.before_us));
    }
    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &ring, err));
    WRIT_TRY(write_archive(cli, ring, &report, err));
    if (removes) {
        WRIT_TRY(remove_archived(cli, ring, &report, arena, &removed, err));
    }
    put_written(cli, &report, removes ? &removed : NULL, &out);
    return print(&out, err);
}

/* NULL: the options fit. */
static const char *
what_is_wrong(const struct writ_cli *cli)
{
    bool url = writ_cli_has(cli, "url"), config = writ_cli_has(cli, "config");
    int64_t before_us = 0;

    if (!writ_cli_has(cli, "before")) {
        return url || config ? "--url and --config are for --before" : NULL;
    }
    if (!writ_is_ok(writ_time_read(writ_cli_get(cli, "before"), &before_us)) || before_us <= 0) {
        return "--before is not a time of RFC 3339, such as 2026-11-21T22:20:00Z";
    }
    if (url == config) {
        return "--before needs --url of the gateway that runs, or --config when none runs";
    }
    return url && !writ_cli_has(cli, "token") ? "--url needs --token" : NULL;
}

enum writ_exit
writ_command_ledger_archive(const struct writ_cli *cli)
{
    const char *wrong = what_is_wrong(cli);

    return wrong != NULL ? writ_cli_usage(cli, "%s", wrong) : writ_cli_do(cli, run_archive);
}

/* ---- verifying ---- */

static void
put_verified(
    const struct writ_cli *cli, const struct writ_archive_state *state, struct writ_buf *out)
{
    struct writ_view origin = writ_buf_view(&state->origin);
    char root[WRIT_DIGEST_TEXT];

    writ_digest_text(&state->root, root);
    if (cli->json) {
        struct writ_write w = writ_write_to(out);

        writ_write_object_begin(&w);
        writ_write_flag(&w, "ok", true);
        writ_write_text_or_null(&w, "origin", origin);
        writ_write_count(&w, "size", state->size);
        writ_write_text(&w, "root", writ_view_str(root));
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
        writ_buf_byte(out, '\n');
    } else {
        writ_buf_str(out, "ok\norigin   ");
        writ_print_plain(out, origin);
        writ_buf_fmt(out, "\nrecords  %llu\nroot     %s\n", (unsigned long long)state->size, root);
    }
}

static void
put_finding(const struct writ_cli *cli, const char *detail, struct writ_buf *out)
{
    if (cli->json) {
        struct writ_write w = writ_write_to(out);

        writ_write_object_begin(&w);
        writ_write_flag(&w, "ok", false);
        writ_write_text(&w, "detail", writ_view_str(detail));
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    } else {
        writ_buf_str(out, detail);
    }
    writ_buf_byte(out, '\n');
}

static void
state_wipe(struct writ_archive_state *state)
{
    writ_buf_wipe(&state->origin);
}

/* A fault of the archive is a finding, everything else a failure. */
static WRIT_RESULT
verify(
    const struct writ_cli *cli, const struct writ_trust *trust, bool *ret_ok, struct writ_err *err)
{
    WRIT_AUTO(struct writ_archive_state, state_wipe) state = {.size = 0};
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_progress progress = writ_progress_begin(cli, "records");
    const struct writ_archive_check check = {.folder = writ_cli_operand(cli, 0).ptr,
        .keys = (const struct writ_note_key *const *)trust->keys,
        .keys_n = trust->n,
        .progress = writ_progress_step,
        .ctx = &progress};
    writ_result result = writ_archive_check_run(&check, &state, err);

    writ_progress_end(&progress);
    *ret_ok = writ_is_ok(result);
    if (*ret_ok) {
        put_verified(cli, &state, &out);
    } else if (result.code == WRIT_E_MISMATCH) {
        put_finding(cli, err->text, &out);
    } else {
        return result;
    }
    return print(&out, err);
}

enum writ_exit
writ_command_verify_archive(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_trust, writ_trust_wipe) trust = {.n = 0};
    struct writ_err err = {0};
    bool ok = false;
    writ_result result = writ_trust_read(writ_cli_get(cli, "key").ptr, &trust, &err);

    if (writ_is_ok(result)) {
        result = verify(cli, &trust, &ok, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return ok ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
