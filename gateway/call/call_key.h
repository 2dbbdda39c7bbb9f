/* call_key.h - what a call is recognised by: the run in which it stands, and the digest of its
 * arguments. */
#ifndef WRIT_GATEWAY_CALL_KEY_H
#define WRIT_GATEWAY_CALL_KEY_H

#include "gateway/request/request.h"

/** Sets the run in which the call stands, and the windows beside it where it has no run of its own.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_call_key_run(struct writ_request *request);

/** The digest of the call's arguments. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_call_key_arguments(
    const struct writ_request *request, struct writ_member_text *ret);

/** A digest as a member of a record, in the arena. WRIT_E_NOMEM. */
WRIT_RESULT writ_call_key_digest(
    const struct writ_digest *digest, struct writ_arena *arena, struct writ_member_text *ret);

#endif
