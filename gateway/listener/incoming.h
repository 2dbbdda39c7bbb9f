/* incoming.h - an exchange with the parts that its handler must not see. Inside of the listener.
 *
 * It begins with the request line and ends when its handler has answered and libmicrohttpd is done
 * with it; the last of the two frees it. */
#ifndef WRIT_GATEWAY_INCOMING_H
#define WRIT_GATEWAY_INCOMING_H

#include "gateway/http/framing.h"
#include "gateway/listener/listener_parts.h"

#define WRIT_INCOMING_ANSWER_HEAD_MAX 4096 /* bytes of the fields of one answer */

/** The request of an exchange. */
struct writ_incoming *writ_incoming_of(struct writ_exchange *x);

/** A request on a connection, in state HEAD; NULL when there is no memory. */
struct writ_incoming *writ_incoming_new(struct writ_connection *connection);

/** Frees it, and its connection when that is closed. */
void writ_incoming_free(struct writ_incoming *request);

/** Frees half of the spare ones that were not needed since the last sweep. */
void writ_incoming_sweep(struct writ_acceptor *acceptor);

/** Frees the spare ones, and those whose client has left. */
void writ_incoming_free_all(struct writ_acceptor *acceptor);

/** libmicrohttpd is done with it. Frees it unless its handler still has to answer. */
void writ_incoming_detach(struct writ_incoming *request);

/** Counts open exchanges: +1 or -1. */
void writ_incoming_count(struct writ_acceptor *acceptor, int change);

/** The handler is done with it. `status` 0: it was counted before. */
void writ_incoming_finish(struct writ_incoming *request, unsigned status);

/** Adds the fields of an answer. False when one cannot be written, or there are too many. */
bool writ_incoming_add_headers(struct writ_incoming *request, struct MHD_Response *response,
    const struct writ_header *headers, size_t count);

/** It no longer waits unsuspended, if it did. */
void writ_incoming_stop_waiting(struct writ_incoming *request);

/** Passes the answer to libmicrohttpd, and runs it. Takes the response. May free the request of a
 * handler that is done with it. */
void writ_incoming_queue(
    struct writ_incoming *request, unsigned status, struct MHD_Response *response);

/** Answers whole, and ends the exchange. */
void writ_incoming_answer(struct writ_incoming *request, unsigned status,
    const struct writ_header *headers, size_t count, struct writ_view body,
    enum MHD_ResponseMemoryMode mode);

/** Answers a request that never reached a handler, and closes its connection.
 * @param allow  the methods of a 405, or NULL */
void writ_incoming_refuse(
    struct writ_incoming *request, const struct writ_framing_fault *fault, const char *allow);

/** How long a client may take for an answer of this size. */
int64_t writ_incoming_write_ms(const struct writ_incoming *request, size_t bytes);

#endif
