/* server_id.h - ids of requests of a server to a client. Pure.
 *
 * The id of such a request gets the name of its upstream on its way to the client, "fs/n/7" for the
 * number 7 of upstream fs and "fs/s/abc" for a string, so that its answer, a separate message (step
 * REPLY), reaches the right upstream. */
#ifndef WRIT_GATEWAY_SERVER_ID_H
#define WRIT_GATEWAY_SERVER_ID_H

#include "evidence/json/json.h"

/** The longest of these ids as JSON, in bytes. */
#define WRIT_SERVER_ID_JSON_MAX 24576

/** Appends the id for the client, as JSON. WRIT_E_LIMIT: too long to come back; WRIT_E_NOMEM. */
WRIT_RESULT writ_server_id_put(
    struct writ_view upstream, const struct writ_json *id, struct writ_buf *ret_json);

/**
 * Splits an id that a client sent back.
 *
 * @param ret_upstream  the name; a view of `text`
 * @param ret_json      gets the server's own id, as JSON
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not of this form
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_server_id_read(
    struct writ_view text, struct writ_view *ret_upstream, struct writ_buf *ret_json);

#endif
