/* call_key.h - the identity of a call: its run, and the digest of its arguments. */
#ifndef WRIT_GATEWAY_CALL_KEY_H
#define WRIT_GATEWAY_CALL_KEY_H

#include "gateway/request/request.h"

/** Sets the run of the call, and the neighbouring windows when the run is a window. WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_call_key_run(struct writ_request *request);

/** The digest of arguments. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_call_key_arguments(const struct writ_request *request,
    const struct writ_json *arguments, struct writ_member_text *ret);

/** A digest as a member of a record, in the arena. WRIT_E_NOMEM. */
WRIT_RESULT writ_call_key_digest(
    const struct writ_digest *digest, struct writ_arena *arena, struct writ_member_text *ret);

#endif
