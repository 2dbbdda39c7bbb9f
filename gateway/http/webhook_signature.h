/* webhook_signature.h - signs what is posted to a webhook in the way of Standard Webhooks:
 * HMAC-SHA256 over id, time and body. */
#ifndef WRIT_GATEWAY_WEBHOOK_SIGNATURE_H
#define WRIT_GATEWAY_WEBHOOK_SIGNATURE_H

#include "base/bytes.h"

#define WRIT_WEBHOOK_SECRET_MOST     64 /* bytes of a secret */
#define WRIT_WEBHOOK_SIGNATURE_BYTES 64 /* of the text of a signature, at most */

/** Reads a secret from a file: `whsec_` and base64 of 24 to 64 bytes. `ret` is made here; wipe it
 * as a secret. WRIT_E_INVALID, and as writ_secret_file. Blocks. */
WRIT_RESULT writ_webhook_signature_read(
    const char *file, struct writ_buf *ret, struct writ_err *err);

/** Appends the value of `webhook-signature`. `time_s`: Unix time, as in `webhook-timestamp`.
 * WRIT_E_NOMEM, WRIT_E_CRYPTO, WRIT_E_LIMIT. */
WRIT_RESULT writ_webhook_signature_put(const struct writ_buf *secret, struct writ_view id,
    struct writ_view time_s, struct writ_view body, struct writ_buf *ret);

#endif
