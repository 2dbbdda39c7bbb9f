/* writ token: static bearer tokens. A token is given once, on standard output or in a file of its
 * own; the configuration gets its SHA-256, from which no one can make it again. */
#include "base/hidden.h"
#include "base/text.h"
#include "cli/commands/bearer.h"
#include "cli/commands/command.h"
#include "evidence/json/digest.h"
#include "evidence/json/write.h"

#define ID_MAX     256 /* bytes, as in the configuration */
#define ANSWER_MAX 4096

static WRIT_RESULT
put_entry(struct writ_buf *ret, struct writ_view agent, const struct writ_digest *digest,
    struct writ_err *err)
{
    writ_buf_str(ret, "{id: ");
    writ_text_json(ret, agent);
    writ_buf_str(ret, ", bearer_sha256: ");
    writ_hex_put(ret, digest->bytes, sizeof digest->bytes);
    writ_buf_byte(ret, '}');
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
answer_json(const struct writ_cli *cli, struct writ_view token, const struct writ_digest *digest,
    struct writ_view entry, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(ANSWER_MAX), hash = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&text);

    writ_hex_put(&hash, digest->bytes, sizeof digest->bytes);
    writ_write_object_begin(&w);
    writ_write_text(&w, "agent", writ_cli_operand(cli, 0));
    writ_write_text(&w, "bearer_sha256", writ_buf_view(&hash));
    writ_write_text(&w, "entry", entry);
    if (writ_cli_has(cli, "file")) {
        writ_write_text(&w, "file", writ_cli_get(cli, "file"));
    } else {
        writ_write_text(&w, "token", token);
    }
    writ_write_object_end(&w);
    writ_buf_byte(&text, '\n');
    WRIT_TRY(writ_buf_check(&text, err));
    writ_cli_put(writ_buf_view(&text));
    writ_buf_wipe_secret(&text);
    return WRIT_DONE;
}

static WRIT_RESULT
answer(const struct writ_cli *cli, struct writ_view token, const struct writ_digest *digest,
    struct writ_err *err)
{
    writ_auto_buf entry = writ_buf_make(ANSWER_MAX);

    WRIT_TRY(put_entry(&entry, writ_cli_operand(cli, 0), digest, err));
    if (cli->json) {
        return answer_json(cli, token, digest, writ_buf_view(&entry), err);
    }
    if (!writ_cli_has(cli, "file")) {
        writ_cli_print("token: " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(token));
    }
    writ_cli_print("agents:\n  - " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_buf_view(&entry)));
    return WRIT_DONE;
}

static WRIT_RESULT
make(const struct writ_cli *cli, struct writ_buf *token, struct writ_err *err)
{
    struct writ_digest digest;

    WRIT_TRY(writ_bearer_make(token, &digest, err));
    if (writ_cli_has(cli, "file")) {
        WRIT_TRY(writ_cli_write_new(writ_cli_get(cli, "file").ptr, writ_buf_view(token), err));
    }
    return answer(cli, writ_buf_view(token), &digest, err);
}

enum writ_exit
writ_command_token_new(const struct writ_cli *cli)
{
    struct writ_buf token = writ_buf_make(WRIT_BEARER_MAKE_MAX);
    struct writ_view agent = writ_cli_operand(cli, 0);
    struct writ_err err = {0};
    writ_result result;

    if (agent.len == 0 || agent.len > ID_MAX || writ_hidden_in(agent)) {
        return writ_cli_usage(cli, "AGENT must be 1 to %d bytes of visible UTF-8", ID_MAX);
    }
    result = make(cli, &token, &err);
    writ_buf_wipe_secret(&token);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
