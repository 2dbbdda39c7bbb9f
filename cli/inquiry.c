#include "cli/inquiry.h"

#include "base/secret.h"
#include "base/text.h"
#include "cli/bearer.h"
#include "gateway/http/fetch.h"

#define ARENA_MAX  ((size_t)256 << 20)
#define ANSWER_MAX ((size_t)64 << 20)
#define URL_MAX    4096
#define TIMEOUT_MS 30000
#define LINE_TEXT  200 /* bytes of a text in a line for people */

writ_result
writ_inquiry_begin(struct writ_inquiry *ret, const struct writ_cli *cli)
{
    *ret = (struct writ_inquiry){.cli = cli,
        .arena = writ_arena_new(ARENA_MAX),
        .authorization = writ_buf_make(WRIT_BEARER_FIELD_MAX),
        .answer = writ_buf_make(ANSWER_MAX)};
    if (ret->arena == NULL) {
        WRIT_FAIL(&ret->err, WRIT_E_NOMEM, "no memory to ask the gateway");
    }
    return writ_bearer_read(writ_cli_get(cli, "token").ptr, &ret->authorization, &ret->err);
}

void
writ_inquiry_wipe(struct writ_inquiry *inquiry)
{
    writ_buf_wipe_secret(&inquiry->authorization);
    writ_buf_wipe(&inquiry->answer);
    writ_arena_free(inquiry->arena);
}

static bool
is_id(struct writ_view id)
{
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];

        if ((c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-') {
            return false;
        }
    }
    return id.len > 0;
}

WRIT_RESULT
writ_inquiry_check_id(struct writ_view id, const char *what, struct writ_err *err)
{
    if (!is_id(id)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "not the id of %s: an id has letters, digits and hyphens only. Copy it from the list",
            what);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_answer(struct writ_inquiry *inquiry, long status)
{
    writ_auto_buf safe = writ_buf_make(4 * LINE_TEXT);
    const struct writ_json *answer = NULL;

    if (!writ_is_ok(writ_json_read(writ_buf_view(&inquiry->answer), &writ_json_limits_default,
            inquiry->arena, &answer, NULL)) ||
        writ_json_type(answer) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(&inquiry->err, WRIT_E_IO, "status %ld, and no JSON: is this the admin listener?",
            status);
    }
    if (status == 200) {
        inquiry->value = answer;
        return WRIT_DONE;
    }
    inquiry->refused = true;
    writ_text_safe(&safe, writ_json_string(writ_json_get(answer, WRIT_LIT("reason"))), LINE_TEXT);
    writ_buf_str(&safe, ": ");
    writ_text_safe(&safe, writ_json_string(writ_json_get(answer, WRIT_LIT("title"))), LINE_TEXT);
    WRIT_FAIL(&inquiry->err, WRIT_E_MISMATCH, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&safe)));
}

writ_result
writ_inquiry_ask(struct writ_inquiry *inquiry, const char *path, const char *body)
{
    struct writ_view base = writ_cli_operand(inquiry->cli, 0);
    writ_auto_buf url = writ_buf_make(URL_MAX);
    long status = 0;

    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    writ_buf_put(&url, base);
    writ_buf_str(&url, path);
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, &inquiry->err));
    writ_buf_clear(&inquiry->answer);
    WRIT_TRY(writ_fetch_ask(url.ptr,
        &(struct writ_fetch_request){.body = body,
            .type = body != NULL ? "Content-Type: application/json" : NULL,
            .authorization = inquiry->authorization.ptr,
            .ca_file = writ_cli_get(inquiry->cli, "ca").ptr},
        TIMEOUT_MS, NULL, &status, &inquiry->answer, &inquiry->err));
    return read_answer(inquiry, status);
}

enum writ_exit
writ_inquiry_end(const struct writ_inquiry *inquiry, writ_result result)
{
    if (!writ_is_ok(result)) {
        enum writ_exit code = writ_cli_fail(inquiry->cli, result, &inquiry->err);

        return inquiry->refused ? WRIT_EXIT_NEGATIVE : code;
    }
    if (inquiry->cli->json) {
        writ_cli_put(writ_buf_view(&inquiry->answer));
        writ_cli_print("\n");
    }
    return WRIT_EXIT_OK;
}
