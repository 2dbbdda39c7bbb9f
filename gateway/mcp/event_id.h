/* event_id.h - the position of a client in streams of several upstreams, as the id of one event.
 * Pure.
 *
 * "fs/42" is a place in one stream of one upstream. "*fs/42;pay/7" is a place in several streams
 * that were merged: one for each upstream that gave an id, with ';' and '%' of the ids escaped. The
 * upstream can be cut off at the first '/', which no name has. */
#ifndef WRIT_GATEWAY_EVENT_ID_H
#define WRIT_GATEWAY_EVENT_ID_H

#include "base/bytes.h"

/** Appends the place in one stream. */
void writ_event_id_put(struct writ_buf *buf, struct writ_view upstream, struct writ_view id);

/** Appends one upstream's part of a merged place; the first begins it. */
void writ_event_id_add(struct writ_buf *buf, struct writ_view upstream, struct writ_view id);

/** Whether it is of merged streams. */
bool writ_event_id_is_merged(struct writ_view place);

/** The upstream of a place in one stream; the rest is its id. Empty for another text. */
struct writ_view writ_event_id_upstream(struct writ_view place, struct writ_view *ret_id);

/** Appends the id of that upstream in a merged place. False: it has none there. */
bool writ_event_id_find(struct writ_view place, struct writ_view upstream, struct writ_buf *ret);

#endif
