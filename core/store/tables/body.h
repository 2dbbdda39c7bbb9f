/* body.h - reads the canonical bytes of a record. Another program may have changed a ledger, so
 * this is the strict reader with the limits of a record. */
#ifndef WRIT_STORE_BODY_H
#define WRIT_STORE_BODY_H

#include "evidence/json/json.h"
#include "evidence/record/profile.h"

/**
 * Reads a record's text.
 *
 * @param body   borrowed as long as the value is used
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_LIMIT not a JSON text that a ledger would contain
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_body_json(struct writ_view body, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err);

/** Reads a decision. As writ_body_json; WRIT_E_PARSE also when it is not an object. */
WRIT_RESULT writ_body_decision(struct writ_view body, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err);

/** The profile that the decision names in extensions.writ, or the default one. WRIT_E_NOMEM. */
WRIT_RESULT writ_body_profile(const struct writ_decision *decision, struct writ_arena *arena,
    const struct writ_profile **ret, struct writ_err *err);

#endif
