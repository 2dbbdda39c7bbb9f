/* caller_claims.h - what a caller states about a call: its run, its key, the state that it expects.
 */
#ifndef WRIT_GATEWAY_CALLER_CLAIMS_H
#define WRIT_GATEWAY_CALLER_CLAIMS_H

#include "evidence/json/json.h"
#include "gateway/listener/exchange.h"

#define WRIT_CALLER_CLAIMS_MAX_BYTES                                                               \
    512 /* boundary ids, idempotency keys and tool names that are stated */

/** A name that a caller states: 1 to WRIT_CALLER_CLAIMS_MAX_BYTES bytes without characters that
 * hide (base/hidden.h), or not stated at all, and then `ret` stays as it is. False: something else
 * is there.
 *
 * @param object  may be NULL
 * @param ret     borrowed from it */
bool writ_caller_claims_name(
    const struct writ_json *object, struct writ_view member, struct writ_view *ret);

/** The idempotency key, in a member or in the field Idempotency-Key; where both are, they agree. */
bool writ_caller_claims_key(const struct writ_exchange *x, const struct writ_json *object,
    struct writ_view member, struct writ_view *ret);

/** True for a run that the gateway names itself: no caller puts a record there by stating it. */
bool writ_caller_claims_is_reserved(struct writ_view boundary_id);

#endif
