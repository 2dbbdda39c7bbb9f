/* http_conn.h - one connection to an HTTP upstream, and its call: writes the request, reads the
 * response, keeps deadlines. Invariants are in http_parts.h. */
#ifndef WRIT_GATEWAY_HTTP_CONN_H
#define WRIT_GATEWAY_HTTP_CONN_H

#include "gateway/http/http_parts.h"

/** A connection over a ready socket, which it takes, unless it returns NULL (no memory, or the loop
 * takes no more descriptors). */
struct writ_http_conn *writ_http_conn_new(
    struct writ_http_client *client, struct writ_socket *socket);

/** Marks it as idle, and closes it when it is not used within its keep_us. */
void writ_http_conn_rest(struct writ_http_conn *conn);

/** Gives an idle connection a new or WAITING call, and begins to write it. */
void writ_http_conn_attach(struct writ_http_conn *conn, struct writ_http_call *call);

/** Goes on reading, in this turn, after a pause. */
void writ_http_conn_resume(struct writ_http_conn *conn);

/** Closes its socket at once; the finish task frees it. */
void writ_http_conn_close(struct writ_http_conn *conn);

/** Ends the call of a failed connection, if it has one, and closes it. */
void writ_http_conn_fail(
    struct writ_http_conn *conn, enum writ_http_reason reason, const char *detail);

/** Frees one that is closed. */
void writ_http_conn_free(struct writ_http_conn *conn);

#endif
