/* cursor.h - the place where a list of several upstreams continues: base64url of "<upstream>/<its
 * cursor>". It needs no state, so it is valid on every loop and after a restart. Opaque for
 * clients. A made-up cursor goes to that upstream, as it could without the gateway. */
#ifndef WRIT_GATEWAY_CURSOR_H
#define WRIT_GATEWAY_CURSOR_H

#include "base/bytes.h"

#define WRIT_CURSOR_MAX 65536 /* bytes of an upstream's cursor, with its name */

/** Appends the cursor. A cursor that is too long fails the buffer with WRIT_E_LIMIT. */
void writ_cursor_put(struct writ_view upstream, struct writ_view cursor, struct writ_buf *ret);

/** Splits a cursor; the views are in `room`. WRIT_E_PARSE. */
WRIT_RESULT writ_cursor_read(struct writ_view text, struct writ_buf *room,
    struct writ_view *ret_upstream, struct writ_view *ret_cursor);

#endif
