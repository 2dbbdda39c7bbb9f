/* writ review delegate, revoke: a voter names another one that votes for it, and takes that back.
 * One that is signed names the ledger, as the gateway does, so it counts for no other. */
#include "base/id.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/command.h"
#include "cli/commands/review_delegations.h"
#include "evidence/json/write.h"
#include "evidence/record/delegation.h"

#define PATH_MAX 4096
#define OUT_MAX  ((size_t)1 << 20)
#define DAYS_MAX 36600

/* ---- what is set ---- */

/* "90m", "36h", "7d". */
static bool
read_span(struct writ_view text, int64_t *ret_us)
{
    static const struct {
        char letter;
        int64_t us;
    } units[] = {{'m', INT64_C(60000000)}, {'h', INT64_C(3600000000)}, {'d', INT64_C(86400000000)}};
    int64_t number = 0, us = 0;

    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || number > DAYS_MAX * 1440) {
            return false;
        }
        number = number * 10 + (text.ptr[i] - '0');
    }
    for (size_t i = 0; text.len > 1 && i < sizeof units / sizeof units[0]; i++) {
        us = units[i].letter == text.ptr[text.len - 1] ? units[i].us : us;
    }
    if (us == 0 || number == 0 || number > DAYS_MAX * INT64_C(86400000000) / us) {
        return false;
    }
    *ret_us = number * us;
    return true;
}

static WRIT_RESULT
read_time(struct writ_admin_client *s, const char *name, int64_t *ret)
{
    struct writ_view text = writ_cli_get(s->cli, name);

    if (text.ptr != NULL && !writ_is_ok(writ_time_read(text, ret))) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID,
            "--%s must be a time of RFC 3339, such as 2026-12-24T08:00:00Z", name);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_until(struct writ_admin_client *s, int64_t *ret)
{
    int64_t us = 0;

    if (!writ_cli_has(s->cli, "for")) {
        return read_time(s, "until", ret);
    }
    if (!read_span(writ_cli_get(s->cli, "for"), &us)) {
        WRIT_FAIL(&s->err, WRIT_E_INVALID, "--for must be a time such as 90m, 36h or 7d");
    }
    *ret = writ_clock_wall_us(writ_clock_system()) + us;
    return WRIT_DONE;
}

/* --tools, with commas between. */
static WRIT_RESULT
read_tools(struct writ_admin_client *s, struct writ_delegation *ret)
{
    struct writ_view text = writ_cli_get(s->cli, "tools");
    struct writ_view *tools = writ_arena_get(s->arena, WRIT_DELEGATION_TOOLS_MAX * sizeof *tools);
    bool more = text.len > 0;

    if (tools == NULL) {
        WRIT_FAIL(&s->err, WRIT_E_NOMEM, "no memory for a delegation");
    }
    if (writ_cli_has(s->cli, "tools") && text.len == 0) { /* such as a variable that is not set */
        WRIT_FAIL(&s->err, WRIT_E_INVALID,
            "--tools is empty: name patterns such as pay/*, or leave it out for all tools");
    }
    while (more) {
        size_t comma = writ_view_find(text, ',');

        if (ret->tools_n == WRIT_DELEGATION_TOOLS_MAX) {
            WRIT_FAIL(&s->err, WRIT_E_INVALID, "--tools has more than %d patterns",
                WRIT_DELEGATION_TOOLS_MAX);
        }
        tools[ret->tools_n++] = writ_view_trim(writ_view_sub(text, 0, comma));
        more = comma < text.len;
        text = writ_view_sub(text, comma + 1, text.len);
    }
    ret->tools = tools;
    return WRIT_DONE;
}

/* The voter and the ledger are those that the gateway names. */
static WRIT_RESULT
sign(struct writ_admin_client *s, struct writ_delegation *delegation, struct writ_buf *ret)
{
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    struct writ_signer *signer = NULL;
    char id[WRIT_ID_TEXT];
    writ_result result;

    WRIT_TRY(writ_admin_client_ask(s, "/v1/delegations", NULL));
    delegation->ledger = writ_json_string(writ_json_get(s->value, WRIT_LIT("ledger")));
    delegation->voter = writ_json_string(writ_json_get(s->value, WRIT_LIT("voter")));
    WRIT_TRY(writ_id_new(writ_clock_system(), id, &s->err));
    delegation->id = writ_view_str(id);
    WRIT_TRY(writ_delegation_check(delegation, &s->err));
    WRIT_TRY(writ_cli_read(writ_cli_get(s->cli, "key").ptr, WRIT_SIGNER_PEM_MAX, &pem, &s->err));
    result = writ_signer_read(writ_buf_view(&pem), &signer, &s->err);
    writ_buf_wipe_secret(&pem);
    if (writ_is_ok(result)) {
        result = writ_delegation_sign(delegation, signer, ret, &s->err);
    }
    writ_signer_free(signer);
    return result;
}

static WRIT_RESULT
put_body(struct writ_admin_client *s, struct writ_delegation *delegation, struct writ_buf *ret)
{
    writ_auto_buf token = writ_buf_make(WRIT_JWS_BYTES_MAX);
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    if (writ_cli_has(s->cli, "key")) {
        WRIT_TRY(sign(s, delegation, &token));
        writ_write_text(&w, "signed", writ_buf_view(&token));
    } else {
        writ_write_text(&w, "delegate", delegation->delegate);
        writ_write_time_if(&w, "from", delegation->from_us);
        if (delegation->tools_n > 0) {
            writ_write_name(&w, WRIT_LIT("tools"));
            writ_write_array_begin(&w);
            for (size_t i = 0; i < delegation->tools_n; i++) {
                writ_write_string(&w, delegation->tools[i]);
            }
            writ_write_array_end(&w);
        }
        writ_write_time(&w, "until", delegation->until_us);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, &s->err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, &s->err);
}

static WRIT_RESULT
delegate(struct writ_admin_client *s)
{
    writ_auto_buf body = writ_buf_make(4 * WRIT_DELEGATION_BYTES_MAX);
    struct writ_delegation delegation = {.delegate = writ_cli_operand(s->cli, 1)};

    WRIT_TRY(read_until(s, &delegation.until_us));
    WRIT_TRY(read_time(s, "from", &delegation.from_us));
    WRIT_TRY(read_tools(s, &delegation));
    WRIT_TRY(put_body(s, &delegation, &body));
    return writ_admin_client_ask(s, "/v1/delegations", body.ptr);
}

enum writ_exit
writ_command_review_delegate(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) s = {0};
    writ_auto_buf line = writ_buf_make(OUT_MAX);
    writ_result result;

    if (writ_cli_has(cli, "until") == writ_cli_has(cli, "for")) {
        return writ_cli_usage(cli, "one of --until TIME and --for TIME is needed");
    }
    result = writ_admin_client_begin(&s, cli);
    if (writ_is_ok(result)) {
        result = delegate(&s);
    }
    if (writ_is_ok(result) && !cli->json) {
        writ_review_delegations_put_line(&line, s.value);
        writ_cli_put(writ_buf_view(&line));
    }
    return writ_admin_client_end(&s, result);
}

/* ---- taking it back ---- */

static WRIT_RESULT
revoke(struct writ_admin_client *s)
{
    struct writ_view id = writ_cli_operand(s->cli, 1);
    writ_auto_buf path = writ_buf_make(PATH_MAX);

    WRIT_TRY(writ_admin_client_check_id(id, "a delegation", &s->err));
    writ_buf_fmt(&path, "/v1/delegations/" WRIT_VIEW_FMT "/revoke%c", WRIT_VIEW_ARG(id), '\0');
    WRIT_TRY(writ_buf_check(&path, &s->err));
    return writ_admin_client_ask(s, path.ptr, "{}");
}

enum writ_exit
writ_command_review_revoke(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) s;
    writ_result result = writ_admin_client_begin(&s, cli);

    if (writ_is_ok(result)) {
        result = revoke(&s);
    }
    if (writ_is_ok(result) && !cli->json) {
        writ_cli_print("revoked\n");
    }
    return writ_admin_client_end(&s, result);
}
