/* connection.h - one accepted socket, and its callbacks for libmicrohttpd. Inside of the listener.
 */
#ifndef WRIT_GATEWAY_CONNECTION_H
#define WRIT_GATEWAY_CONNECTION_H

#include "gateway/http/framing.h"
#include "gateway/listener/listener_parts.h"

/** Watches an accepted socket; libmicrohttpd does not have it yet. NULL: no memory. */
struct writ_connection *writ_connection_new(
    struct writ_daemon *daemon, int fd, const union writ_ipport *from);
void writ_connection_free(struct writ_connection *connection);

/** Enters a phase, with a deadline unless `timeout_ms` is 0. */
void writ_connection_set_phase(
    struct writ_connection *connection, enum writ_connection_phase phase, int64_t timeout_ms);

/** Checks its deadline, and a stalled body. */
void writ_connection_sweep(struct writ_connection *connection, int64_t now_us);

/** Ends it, whatever its state: the socket is shut down now, and closed within two seconds. */
void writ_connection_cut(struct writ_connection *connection);

/** Suspends it in libmicrohttpd, and calls `fn` when its socket takes bytes, again and again until
 * it is resumed. False: it is not suspended. */
bool writ_connection_await_room(
    struct writ_connection *connection, void (*fn)(struct writ_connection *connection));

/** Resumes it in libmicrohttpd, if it is suspended. */
void writ_connection_resume(struct writ_connection *connection);

/** Calls `fn` with the connection's timer `after_us` after the client's FIN, or from now when it
 * has arrived already. A later call replaces an earlier one. */
void writ_connection_after_fin(
    struct writ_connection *connection, int64_t after_us, void (*fn)(struct writ_timer *timer));

/** Sends our own bytes on a connection that libmicrohttpd is not writing to: all of them, or
 * returns false. */
bool writ_connection_send(struct writ_connection *connection, struct writ_view bytes);

/** Answers from outside libmicrohttpd, for a request that cannot be answered through it. */
void writ_connection_refuse(struct writ_connection *connection,
    const struct writ_framing_fault *fault, const char *status_line);

/** The connection of libmicrohttpd's object. */
struct writ_connection *writ_connection_of(struct MHD_Connection *mhd);

/** libmicrohttpd's notice that a connection has begun or ended. */
void writ_connection_on_notify(void *cls, struct MHD_Connection *mhd, void **socket_ctx,
    enum MHD_ConnectionNotificationCode code);

#endif
