/* undeclared.h - a request of a server that its client declared no capability for is answered in
 * the stead of the client. */
#ifndef WRIT_GATEWAY_UNDECLARED_H
#define WRIT_GATEWAY_UNDECLARED_H

#include "gateway/request/request.h"

/** Answers the server's request with an error of that code. The request has a session. Without
 * memory the server waits for its own time. */
void writ_undeclared_refuse(const struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_json *message, int code);

#endif
