/* cursor.h - where a list of several upstreams goes on: base64url of "<upstream>/<its cursor>",
 * which is all that there is to know, so that it holds over loops and restarts. Opaque for clients.
 * What one makes up itself goes to that upstream as its cursor, as it could without us. */
#ifndef WRIT_GATEWAY_CURSOR_H
#define WRIT_GATEWAY_CURSOR_H

#include "base/bytes.h"

#define WRIT_CURSOR_MAX 65536 /* bytes of an upstream's cursor, with its name */

/** Appends the cursor. Too long a one fails the buffer with WRIT_E_LIMIT. */
void writ_cursor_put(struct writ_view upstream, struct writ_view cursor, struct writ_buf *ret);

/** Takes one apart; the views are in `room`. WRIT_E_PARSE. */
WRIT_RESULT writ_cursor_read(struct writ_view text, struct writ_buf *room,
    struct writ_view *ret_upstream, struct writ_view *ret_cursor);

#endif
