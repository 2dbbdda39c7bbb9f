/* caller_claims.h - the caller's statements about a call: its run, its key, the expected state.
 */
#ifndef WRIT_GATEWAY_CALLER_CLAIMS_H
#define WRIT_GATEWAY_CALLER_CLAIMS_H

#include "evidence/json/json.h"
#include "gateway/listener/exchange.h"

#define WRIT_CALLER_CLAIMS_MAX_BYTES                                                               \
    512 /* boundary ids, idempotency keys and tool names that are stated */

/** A name that a caller states: 1 to WRIT_CALLER_CLAIMS_MAX_BYTES bytes without characters that
 * hide (base/hidden.h), or absent, and then `ret` stays unchanged. False: another value.
 *
 * @param object  may be NULL
 * @param ret     borrowed from it */
bool writ_caller_claims_name(
    const struct writ_json *object, struct writ_view member, struct writ_view *ret);

/** The idempotency key, in a member or in the field Idempotency-Key; if both are present, they must
 * agree. */
bool writ_caller_claims_key(const struct writ_exchange *x, const struct writ_json *object,
    struct writ_view member, struct writ_view *ret);

/** True for a run that the gateway names itself: a caller cannot put a record there by stating its
 * name. */
bool writ_caller_claims_is_reserved(struct writ_view boundary_id);

#endif
