/* reply.h - requests of a server to a client, and the answers to them.
 *
 * The id of such a request gets the name of its upstream on its way to the client, "fs/n/7" for the
 * number 7 of upstream fs and "fs/s/abc" for a string, so that the answer, which comes as a message
 * of its own (step REPLY), finds its way back. */
#ifndef WRIT_GATEWAY_REPLY_H
#define WRIT_GATEWAY_REPLY_H

#include "gateway/request.h"

/** The longest of these ids as JSON, in bytes. */
#define WRIT_REPLY_ID_JSON_MAX 24576

/** Appends the id that the client sees, as JSON. WRIT_E_LIMIT: it is longer than can come back;
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reply_put_id(
    const struct writ_upstream *upstream, const struct writ_json *id, struct writ_buf *ret_json);

/** Answers a server's request with an error, in the stead of the client of a session. */
void writ_reply_refuse(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_json *message, int code);

#endif
