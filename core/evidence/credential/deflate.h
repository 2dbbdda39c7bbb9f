/* deflate.h - the zlib format (RFC 1950), in which lists of revoked credentials are packed.
 *
 * Pure. Unpacking is bounded by the buffer that takes the bytes. */
#ifndef WRIT_EVIDENCE_DEFLATE_H
#define WRIT_EVIDENCE_DEFLATE_H

#include "base/bytes.h"

/** Unpacks one whole stream and appends its bytes. WRIT_E_PARSE (another format, a preset
 * dictionary, a wrong checksum, truncated, or bytes after the end), WRIT_E_LIMIT (longer than `ret`
 * may become), WRIT_E_NOMEM. After a failure `ret` may hold a part of the bytes. */
WRIT_RESULT writ_deflate_read(struct writ_view packed, struct writ_buf *ret, struct writ_err *err);

/** Packs the bytes into one stream and appends it. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_deflate_put(struct writ_buf *buf, struct writ_view bytes, struct writ_err *err);

#endif
