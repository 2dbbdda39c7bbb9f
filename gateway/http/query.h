/* query.h - the parameters after '?' in an address, in the encoding of forms
 * (application/x-www-form-urlencoded). framing.h has checked the bytes. */
#ifndef WRIT_GATEWAY_QUERY_H
#define WRIT_GATEWAY_QUERY_H

#include "base/bytes.h"

/**
 * The value of a parameter, decoded.
 *
 * @param max    most bytes of the value
 * @param ret    in the arena; {NULL, 0} when there is no such parameter
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  it occurs twice, is not UTF-8, or has a control character
 *         WRIT_E_LIMIT  it is longer than `max`
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_query_get(struct writ_view query, struct writ_view name, size_t max,
    struct writ_arena *arena, struct writ_view *ret);

#endif
