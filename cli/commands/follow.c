/* writ verify keys: follows rotations from trusted keys to present ones. Only a statement signed by
 * a reached key leads to another. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "evidence/jose/rotation.h"

#define SECOND_US 1000000

static WRIT_RESULT
read_set(
    const struct writ_cli *cli, const char *option, struct writ_jwks **ret, struct writ_err *err)
{
    const char *path = writ_cli_get(cli, option).ptr;
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_err why = {0};
    writ_result result;

    WRIT_TRY(writ_cli_read(path, WRIT_JWKS_BYTES_MAX, &text, err));
    result = writ_jwks_read(writ_buf_view(&text), ret, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", path, why.text);
    }
    return WRIT_DONE;
}

static void
put_second(struct writ_buf *line, const char *what, int64_t second)
{
    char text[WRIT_TIME_TEXT];

    writ_time_format(second * SECOND_US, text);
    writ_buf_fmt(line, "  %s %.19sZ", what, text);
}

static void
put_row(struct writ_buf *text, const struct writ_jwk *key, const struct writ_key_validity *window)
{
    writ_text_safe(text, writ_jwk_kid(key), WRIT_JWK_KID_MAX);
    writ_buf_fmt(text, "  %-5s", writ_jwk_alg_name(writ_jwk_alg(key)));
    if (window->from_s != INT64_MIN) {
        put_second(text, "from", window->from_s);
    }
    if (window->until_s != INT64_MAX) {
        put_second(text, "until", window->until_s);
    }
    writ_buf_byte(text, '\n');
}

static WRIT_RESULT
put_keys(const struct writ_cli *cli, const struct writ_jwks *set, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_JWKS_BYTES_MAX);

    writ_buf_str(&text, cli->json ? "{\"keys\":[" : "");
    for (size_t i = 0; i < writ_jwks_count(set); i++) {
        const struct writ_jwk *key = writ_jwks_key(set, i);
        const struct writ_key_validity *window = writ_jwks_window(set, key);

        if (cli->json) {
            writ_buf_str(&text, i > 0 ? "," : "");
            writ_key_validity_put(&text, writ_jwk_text(key), window);
        } else {
            put_row(&text, key, window);
        }
    }
    writ_buf_str(&text, cli->json ? "]}\n" : "");
    WRIT_TRY(writ_buf_check(&text, err));
    writ_cli_put(writ_buf_view(&text));
    return WRIT_DONE;
}

enum writ_exit
writ_command_verify_keys(const struct writ_cli *cli)
{
    writ_auto_jwks set = NULL;
    writ_auto_jwks pin = NULL;
    struct writ_err err = {0};
    writ_result result = read_set(cli, "jwks", &set, &err);

    if (writ_is_ok(result)) {
        result = read_set(cli, "pin", &pin, &err);
    }
    if (writ_is_ok(result)) {
        result = writ_rotation_follow(set, pin, &err);
        if (result.code == WRIT_E_MISMATCH) {
            writ_cli_print("%s\n", cli->json ? "{\"keys\":[],\"fork\":true}" : err.text);
            return WRIT_EXIT_NEGATIVE;
        }
    }
    if (writ_is_ok(result)) {
        result = put_keys(cli, set, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return writ_jwks_count(set) > 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
