/* server_id.h - ids of requests of a server to a client. Pure.
 *
 * The id of such a request gets the name of its upstream on its way to the client, "fs/n/7" for the
 * number 7 of upstream fs and "fs/s/abc" for a string, so that the answer, which comes as a message
 * of its own (step REPLY), finds its way back. */
#ifndef WRIT_GATEWAY_SERVER_ID_H
#define WRIT_GATEWAY_SERVER_ID_H

#include "evidence/json/json.h"

/** The longest of these ids as JSON, in bytes. */
#define WRIT_SERVER_ID_JSON_MAX 24576

/** Appends the id that the client sees, as JSON. WRIT_E_LIMIT: it is longer than can come back;
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_server_id_put(
    struct writ_view upstream, const struct writ_json *id, struct writ_buf *ret_json);

/**
 * Takes apart what a client sent back.
 *
 * @param ret_upstream  the name; a view of `text`
 * @param ret_json      gets the server's own id, as JSON
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  it is not of this form
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_server_id_read(
    struct writ_view text, struct writ_view *ret_upstream, struct writ_buf *ret_json);

#endif
