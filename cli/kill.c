/* writ kill ...: stops calls at a running gateway, by its admin listener. */
#include "cli/cli.h"

#include "base/text.h"
#include "evidence/json.h"
#include "evidence/write.h"
#include "gateway/fetch.h"

#define ARENA_MAX  ((size_t)64 << 20)
#define ANSWER_MAX ((size_t)8 << 20)
#define BODY_MAX   32768
#define TOKEN_MAX  8192
#define URL_MAX    4096
#define TIMEOUT_MS 30000
#define LINE_TEXT  200

/* One command while it runs. */
struct asking {
    const struct writ_cli *cli;
    struct writ_arena *arena;
    struct writ_buf authorization, answer; /* the first is a secret */
    const struct writ_json *value;         /* of the answer */
    bool refused;
};

static void
asking_wipe(struct asking *a)
{
    writ_buf_wipe_secret(&a->authorization);
    writ_buf_wipe(&a->answer);
    writ_arena_free(a->arena);
}

static WRIT_RESULT
read_token(struct asking *a, struct writ_err *err)
{
    writ_auto_buf token = writ_buf_make(TOKEN_MAX);
    struct writ_view text;
    bool good;

    WRIT_TRY(writ_cli_read(writ_cli_get(a->cli, "token").ptr, TOKEN_MAX, &token, err));
    text = writ_buf_view(&token);
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r')) {
        text.len--;
    }
    good = text.len > 0 && writ_text_is_field(text);
    a->authorization = writ_buf_make(TOKEN_MAX + 64);
    writ_buf_str(&a->authorization, "Authorization: Bearer ");
    writ_buf_put(&a->authorization, text);
    writ_buf_byte(&a->authorization, '\0');
    writ_buf_wipe_secret(&token);
    if (!good) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the file of the token has none");
    }
    return writ_buf_check(&a->authorization, err);
}

/* A problem of RFC 9457 is told by its reason. */
static WRIT_RESULT
read_answer(struct asking *a, long status, struct writ_err *err)
{
    writ_auto_buf safe = writ_buf_make(4 * LINE_TEXT);

    if (!writ_is_ok(writ_json_read(
            writ_buf_view(&a->answer), &writ_json_limits_default, a->arena, &a->value, NULL)) ||
        writ_json_type(a->value) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_IO, "status %ld, and no JSON: is this the admin listener?", status);
    }
    if (status == 200) {
        return WRIT_DONE;
    }
    a->refused = true;
    writ_text_safe(&safe, writ_json_string(writ_json_get(a->value, WRIT_LIT("reason"))), LINE_TEXT);
    writ_buf_str(&safe, ": ");
    writ_text_safe(&safe, writ_json_string(writ_json_get(a->value, WRIT_LIT("title"))), LINE_TEXT);
    WRIT_FAIL(err, WRIT_E_MISMATCH, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&safe)));
}

/* Asks URL/v1/kills and what follows; `body` NULL: a GET. */
static WRIT_RESULT
ask(struct asking *a, struct writ_view id, const char *body, struct writ_err *err)
{
    struct writ_view base = writ_cli_operand(a->cli, 0);
    writ_auto_buf url = writ_buf_make(URL_MAX);
    long status = 0;

    a->arena = writ_arena_new(ARENA_MAX);
    a->answer = writ_buf_make(ANSWER_MAX);
    if (a->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to ask the gateway");
    }
    WRIT_TRY(read_token(a, err));
    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    writ_buf_put(&url, base);
    writ_buf_str(&url, "/v1/kills");
    if (id.len > 0) {
        writ_buf_byte(&url, '/');
        writ_buf_put(&url, id);
        writ_buf_str(&url, "/lift");
    }
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    WRIT_TRY(writ_fetch_ask(url.ptr,
        &(struct writ_fetch_request){.body = body,
            .type = body != NULL ? "Content-Type: application/json" : NULL,
            .authorization = a->authorization.ptr,
            .ca_file = writ_cli_get(a->cli, "ca").ptr},
        TIMEOUT_MS, NULL, &status, &a->answer, err));
    return read_answer(a, status, err);
}

static enum writ_exit
finish(const struct asking *a, writ_result result, const struct writ_err *err)
{
    if (!writ_is_ok(result)) {
        enum writ_exit code = writ_cli_fail(a->cli, result, err);
        return a->refused ? WRIT_EXIT_NEGATIVE : code;
    }
    if (a->cli->json) {
        writ_cli_print(WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_buf_view(&a->answer)));
    }
    return WRIT_EXIT_OK;
}

static void
put(struct writ_write *w, struct writ_view name, struct writ_view value)
{
    if (value.len > 0) {
        writ_write_name(w, name);
        writ_write_string(w, value);
    }
}

enum writ_exit
writ_command_kill_pull(const struct writ_cli *cli)
{
    WRIT_AUTO(struct asking, asking_wipe) a = {.cli = cli};
    writ_auto_buf body = writ_buf_make(BODY_MAX), id = writ_buf_make(LINE_TEXT);
    struct writ_write w = writ_write_to(&body);
    struct writ_err err = {{0}, 0, 0};
    bool durable;
    writ_result result;

    writ_write_object_begin(&w);
    put(&w, WRIT_LIT("by"), writ_cli_operand(cli, 1));
    put(&w, WRIT_LIT("value"), writ_cli_operand(cli, 2));
    put(&w, WRIT_LIT("tenant"), writ_cli_get(cli, "tenant"));
    put(&w, WRIT_LIT("reason"), writ_cli_get(cli, "reason"));
    writ_write_object_end(&w);
    result = writ_write_end(&w, &err);
    writ_buf_byte(&body, '\0');
    if (writ_is_ok(result)) {
        result = writ_buf_check(&body, &err);
    }
    if (writ_is_ok(result)) {
        result = ask(&a, writ_view(NULL, 0), body.ptr, &err);
    }
    if (!writ_is_ok(result)) {
        return finish(&a, result, &err);
    }
    durable = writ_json_type(writ_json_get(a.value, WRIT_LIT("durable"))) == WRIT_JSON_TRUE;
    writ_text_safe(&id, writ_json_string(writ_json_get(a.value, WRIT_LIT("id"))), LINE_TEXT);
    if (!cli->json) {
        writ_cli_print(WRIT_VIEW_FMT "%s\n", WRIT_VIEW_ARG(writ_buf_view(&id)),
            durable ? "" : "  works, but could not be written: a restart forgets it");
    }
    return finish(&a, result, &err);
}

static void
print_stop(const struct writ_json *stop)
{
    static const char *const members[] = {"id", "at", "by", "value", "tenant", "who", "reason"};
    writ_auto_buf line = writ_buf_make(16 * LINE_TEXT);

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct writ_view text = writ_json_string(writ_json_get(stop, writ_view_str(members[i])));

        writ_buf_str(&line, i > 0 ? "  " : "");
        writ_text_safe(&line, text.len > 0 ? text : WRIT_LIT("-"), LINE_TEXT);
    }
    writ_buf_byte(&line, '\n');
    writ_cli_put(writ_buf_view(&line));
}

enum writ_exit
writ_command_kill_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct asking, asking_wipe) a = {.cli = cli};
    struct writ_err err = {{0}, 0, 0};
    writ_result result = ask(&a, writ_view(NULL, 0), NULL, &err);

    if (writ_is_ok(result) && !cli->json) {
        WRIT_JSON_EACH(stop, writ_json_get(a.value, WRIT_LIT("kills")))
        {
            print_stop(stop);
        }
    }
    return finish(&a, result, &err);
}

enum writ_exit
writ_command_kill_lift(const struct writ_cli *cli)
{
    WRIT_AUTO(struct asking, asking_wipe) a = {.cli = cli};
    struct writ_err err = {{0}, 0, 0};
    struct writ_view id = writ_cli_operand(cli, 1);
    writ_result result;

    for (size_t i = 0; i < id.len; i++) {
        if ((id.ptr[i] < '0' || id.ptr[i] > '9') && (id.ptr[i] < 'a' || id.ptr[i] > 'f') &&
            id.ptr[i] != '-') {
            return writ_cli_usage(cli, "this is no id of a stop");
        }
    }
    result = ask(&a, id, "{}", &err);
    return finish(&a, result, &err);
}
