/* event_stream.h - server-sent events of the admin listener: how a stream begins, its events, and
 * the place in the log from which a client that reconnects goes on. */
#ifndef WRIT_GATEWAY_EVENT_STREAM_H
#define WRIT_GATEWAY_EVENT_STREAM_H

#include "gateway/listener/exchange.h"

#define WRIT_EVENT_STREAM_PROBE_MS 1000 /* after which a client that sent FIN is probed */
#define WRIT_EVENT_STREAM_PLACE    24   /* bytes of a place, as text */

/** Begins the answer: 200, with heartbeats and probes. The callbacks are those of the exchange. */
void writ_event_stream_begin(struct writ_exchange *x,
    void (*on_gone)(struct writ_exchange *x, void *ctx),
    void (*on_room)(struct writ_exchange *x, void *ctx), void *ctx);

/** The place in Last-Event-ID. False: there is none, or it is foreign, and `ret` is unchanged. */
bool writ_event_stream_last(const struct writ_exchange *x, uint64_t *ret);

/** The id of a place, in `text`. */
struct writ_view writ_event_stream_place(uint64_t place, char text[WRIT_EVENT_STREAM_PLACE]);

/** Appends an event. As writ_sse_put. @param id  {NULL, 0}: none */
WRIT_RESULT writ_event_stream_put(
    struct writ_buf *out, const char *name, struct writ_view data, struct writ_view id);

#endif
