/* upcall_request.h - the fields of a request to an upstream: era, session, version, mirrored names
 * and parameters, trace context, and a short list of the client's own fields. */
#ifndef WRIT_GATEWAY_UPCALL_REQUEST_H
#define WRIT_GATEWAY_UPCALL_REQUEST_H

#include "gateway/request/request.h"

/**
 * Fills the upcall for the client's message.
 *
 * @param name     the upstream's own name of what Mcp-Name mirrors; {NULL, 0} for none
 * @param headers  room for WRIT_UPCALL_HEADERS_MAX; borrowed until the upcall is started
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  more fields than a head may have: none that the listener let in
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_upcall_request_make(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view name, struct writ_header *headers, struct writ_upcall_request *ret);

/**
 * As writ_upcall_request_make, for the gateway's own message in place of the client's: without the
 * client's fields. `body` is parsed again, so that the sent message is the checked one.
 *
 * @param body     in the arena of the request; its id is unique in the client's session
 * @param message  written; outlives the upcall
 *
 * @return WRIT_OK, WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_upcall_request_own(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view body, struct writ_mcp_message *message, struct writ_header *headers,
    struct writ_upcall_request *ret);

#endif
