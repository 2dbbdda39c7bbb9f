/* stdio_stream.h - the streams of a session in front of a stdio server, which can be lost and
 * resumed (2025-11-25, basic/transports). Inside of stdio.
 *
 * Every event of a session has an id and is kept for a while (replay.h). A stream begins with an
 * event that only has an id, for clients that understand these; so does a call's when its answer
 * takes longer than a second. A caller that closes its stream leaves its request behind as an
 * orphan; a request with Last-Event-ID gets the rest. Without a session events have no ids, and
 * these functions only call those of flight.h. */
#ifndef WRIT_GATEWAY_STDIO_STREAM_H
#define WRIT_GATEWAY_STDIO_STREAM_H

#include "gateway/upstream/stdio_owner.h"

/** Prepares an instance. WRIT_E_CRYPTO. */
WRIT_RESULT writ_stdio_stream_init(struct writ_instance *instance);

/** Delivers an event on a flight's stream. False: it was dropped. */
bool writ_stdio_stream_tell(
    struct writ_instance *instance, struct writ_flight *flight, struct writ_view data);

/** Ends the flight with the response. */
void writ_stdio_stream_respond(struct writ_instance *instance, struct writ_flight *flight,
    unsigned status, struct writ_view data);

/** A request was sent: its stream begins by itself when the answer takes long. */
void writ_stdio_stream_expect(struct writ_flight *flight);

/** The caller closes the stream of a request: true when the request becomes an orphan. */
bool writ_stdio_stream_leave(struct writ_flight *flight);

/** The orphan of that id, or NULL. */
struct writ_orphan *writ_stdio_stream_orphan(struct writ_instance *instance, uint64_t id);

/** As writ_stdio_stream_tell and _respond, for an orphan: to its heir, or kept until it is
 * requested. */
void writ_stdio_stream_tell_heir(
    struct writ_instance *instance, const struct writ_orphan *orphan, struct writ_view data);
void writ_stdio_stream_respond_heir(
    struct writ_instance *instance, const struct writ_orphan *orphan, struct writ_view data);

/** Begins a GET: the session's stream, or the rest of the one that it names. */
void writ_stdio_stream_listen(struct writ_flight *flight);

/** The child has ended, or the instance ends: drops the orphans. */
void writ_stdio_stream_forget(struct writ_instance *instance);

#endif
