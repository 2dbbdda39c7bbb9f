/* Reads a bearer token from its file, or makes one. The token is one line that an HTTP field can
 * carry, so that no file adds a field of its own. It is in no error, and the copy made here is
 * wiped. */
#include "cli/commands/bearer.h"

#include "base/id.h"
#include "base/secret.h"
#include "base/text.h"
#include "cli/base/cli.h"

#define TOKEN_BYTES 32 /* of randomness */

WRIT_RESULT
writ_bearer_read(const char *path, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_buf token = writ_buf_make(WRIT_BEARER_MAX);
    writ_result result = writ_cli_read(path, WRIT_BEARER_MAX, &token, err);
    struct writ_view text = writ_buf_view(&token);

    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r')) {
        text.len--;
    }
    if (writ_is_ok(result) && (text.len == 0 || !writ_text_is_field(text))) {
        result = writ_fail(err, WRIT_E_INVALID, "%s: not a token alone on one line", path);
    }
    if (writ_is_ok(result)) {
        writ_buf_str(ret, "Authorization: Bearer ");
        writ_buf_put(ret, text);
        writ_buf_byte(ret, '\0');
        result = writ_buf_check(ret, err);
    }
    writ_buf_wipe_secret(&token);
    return result;
}

/* The prefix is for scanners that look for secrets in files. */
writ_result
writ_bearer_make(struct writ_buf *token, struct writ_digest *digest, struct writ_err *err)
{
    uint8_t random[TOKEN_BYTES];

    WRIT_TRY(writ_random(random, sizeof random, err));
    writ_buf_str(token, "writ_");
    writ_base64url_put(token, writ_view(random, sizeof random));
    writ_wipe(random, sizeof random);
    WRIT_TRY(writ_buf_check(token, err));
    return writ_digest_bytes(writ_buf_view(token), digest, err);
}
