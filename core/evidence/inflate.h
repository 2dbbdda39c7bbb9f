/* inflate.h - reading zlib's format (RFC 1950, RFC 1951), for the lists of revoked credentials: so
 * that a verifier needs no library besides libcrypto. Writing it without compression.
 *
 * Pure; bounded by the longest result. */
#ifndef WRIT_EVIDENCE_INFLATE_H
#define WRIT_EVIDENCE_INFLATE_H

#include "base/bytes.h"

/** Appends what was compressed. WRIT_E_PARSE (not the format, a wrong checksum, bytes after the
 * end), WRIT_E_LIMIT (longer than `ret` may become), WRIT_E_NOMEM. */
WRIT_RESULT writ_inflate_read(struct writ_view bytes, struct writ_buf *ret, struct writ_err *err);

/** Appends the format with the bytes as they are. Failures are the buffer's. */
void writ_inflate_put_stored(struct writ_buf *buf, struct writ_view bytes);

#endif
