/* webhook_signature.c - Standard Webhooks, because receivers have that in a library for every
 * language; RFC 9421 would need a parser of structured fields on their side. */
#include "gateway/http/webhook_signature.h"

#include "base/secret.h"
#include "base/text.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#define PREFIX       "whsec_"
#define SECRET_LEAST 24 /* bytes; by Standard Webhooks */

WRIT_RESULT
writ_webhook_signature_read(const char *file, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_SECRET_MAX);
    struct writ_view view;
    writ_result result;

    WRIT_TRY(writ_secret_file(file, &text, err));
    view = writ_buf_view(&text);
    *ret = writ_buf_make(WRIT_WEBHOOK_SECRET_MOST);
    result = (writ_result){WRIT_E_INVALID};
    if (writ_view_has_prefix(view, WRIT_LIT(PREFIX))) {
        result = writ_base64_read(writ_view_sub(view, sizeof PREFIX - 1, view.len), ret);
    }
    writ_buf_wipe_secret(&text);
    if (!writ_is_ok(result) || ret->len < SECRET_LEAST) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: wants " PREFIX " and base64 of %d to %d bytes", file,
            SECRET_LEAST, WRIT_WEBHOOK_SECRET_MOST);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_webhook_signature_put(const struct writ_buf *secret, struct writ_view id,
    struct writ_view time_s, struct writ_view body, struct writ_buf *ret)
{
    writ_auto_buf input = writ_buf_make(id.len + time_s.len + body.len + 2);
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    writ_buf_put(&input, id);
    writ_buf_byte(&input, '.');
    writ_buf_put(&input, time_s);
    writ_buf_byte(&input, '.');
    writ_buf_put(&input, body);
    WRIT_TRY(writ_buf_check(&input, NULL));
    if (HMAC(EVP_sha256(), secret->ptr, (int)secret->len, (const uint8_t *)input.ptr, input.len,
            mac, &len) == NULL) {
        return (writ_result){WRIT_E_CRYPTO};
    }
    writ_buf_str(ret, "v1,");
    writ_base64_put(ret, writ_view(mac, len));
    return writ_buf_check(ret, NULL);
}
