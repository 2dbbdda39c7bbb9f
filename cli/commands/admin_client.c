/* One command's requests to an admin listener, one after the other. Every answer must be a JSON
 * object; a refusal is kept apart from a failure, because its exit code is 1. The token is in
 * one buffer, which is wiped as a secret. */
#include "cli/commands/admin_client.h"

#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/bearer.h"
#include "gateway/http/fetch.h"

#define ARENA_MAX     ((size_t)256 << 20)
#define ANSWER_MAX    ((size_t)64 << 20)
#define URL_MAX       4096
#define ANSWER_VALUES ((size_t)1 << 20)
#define TIMEOUT_MS    30000
#define LINE_TEXT     200 /* bytes of a text in a line for people */

writ_result
writ_admin_client_begin(struct writ_admin_client *ret, const struct writ_cli *cli)
{
    *ret = (struct writ_admin_client){.cli = cli,
        .url = writ_cli_operand(cli, 0),
        .arena = writ_arena_new(ARENA_MAX),
        .authorization = writ_buf_make(WRIT_BEARER_FIELD_MAX),
        .answer = writ_buf_make(ANSWER_MAX)};
    if (ret->arena == NULL) {
        WRIT_FAIL(&ret->err, WRIT_E_NOMEM, "no memory for a request to the gateway");
    }
    return writ_bearer_read(writ_cli_get(cli, "token").ptr, &ret->authorization, &ret->err);
}

void
writ_admin_client_wipe(struct writ_admin_client *client)
{
    writ_buf_wipe_secret(&client->authorization);
    writ_buf_wipe(&client->answer);
    writ_arena_free(client->arena);
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
writ_admin_client_check_id(struct writ_view id, const char *what, struct writ_err *err)
{
    if (!is_id(id)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "not the id of %s: an id has letters, digits and hyphens only. Copy it from the list",
            what);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_answer(struct writ_admin_client *client, long status)
{
    writ_auto_buf safe = writ_buf_make(4 * LINE_TEXT);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *answer = NULL;

    limits.bytes = limits.string_bytes = ANSWER_MAX;
    limits.values = ANSWER_VALUES;
    if (!writ_is_ok(writ_json_read(
            writ_buf_view(&client->answer), &limits, client->arena, &answer, NULL)) ||
        writ_json_type(answer) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(&client->err, WRIT_E_IO,
            "status %ld, and no JSON: check that the URL is that of the admin listener", status);
    }
    if (status == 200) {
        client->value = answer;
        return WRIT_DONE;
    }
    client->refused = true;
    writ_text_safe(&safe, writ_json_string(writ_json_get(answer, WRIT_LIT("reason"))), LINE_TEXT);
    writ_buf_str(&safe, ": ");
    writ_text_safe(&safe, writ_json_string(writ_json_get(answer, WRIT_LIT("title"))), LINE_TEXT);
    WRIT_FAIL(&client->err, WRIT_E_MISMATCH, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&safe)));
}

writ_result
writ_admin_client_ask(struct writ_admin_client *client, const char *path, const char *body)
{
    struct writ_view base = client->url;
    writ_auto_buf url = writ_buf_make(URL_MAX);
    long status = 0;

    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    writ_buf_put(&url, base);
    writ_buf_str(&url, path);
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, &client->err));
    writ_buf_clear(&client->answer);
    WRIT_TRY(writ_fetch_ask(url.ptr,
        &(struct writ_fetch_request){.body = body,
            .type = body != NULL ? "Content-Type: application/json" : NULL,
            .authorization = client->authorization.ptr,
            .ca_file = writ_cli_get(client->cli, "ca").ptr},
        client->patient ? 0 : TIMEOUT_MS, NULL, &status, &client->answer, &client->err));
    return read_answer(client, status);
}

uint64_t
writ_admin_client_count(const struct writ_json *answer, const char *name)
{
    int64_t count = 0;

    WRIT_IGNORE(
        writ_json_integer(writ_json_get(answer, writ_view_str(name)), 0, INT64_MAX >> 10, &count));
    return (uint64_t)count;
}

enum writ_exit
writ_admin_client_end(const struct writ_admin_client *client, writ_result result)
{
    if (!writ_is_ok(result)) {
        enum writ_exit code = writ_cli_fail(client->cli, result, &client->err);

        return client->refused ? WRIT_EXIT_NEGATIVE : code;
    }
    if (client->cli->json) {
        writ_cli_put(writ_buf_view(&client->answer));
        writ_cli_print("\n");
    }
    return WRIT_EXIT_OK;
}
