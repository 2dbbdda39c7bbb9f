/* crew_verdict.h - the vote that the output of a crew is. The gateway votes by it, and a replay of
 * the crew's log reads it again. */
#ifndef WRIT_GATEWAY_CREW_VERDICT_H
#define WRIT_GATEWAY_CREW_VERDICT_H

#include "store/ledger/ledger.h"

/**
 * Reads the output of a crew: a vote ("approve"), the result of a review ("ACCEPT", "REJECT",
 * "REQUEST_REVISION"), or an object with `vote` or `ranking`, and with `feedback` and `confidence`.
 *
 * @param output  canonical JSON
 * @param digest  of the terms of the review, as text
 * @param voter   the reviewer
 * @param ret     the vote; views in the arena. Written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_LIMIT  not a vote
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_crew_verdict_read(struct writ_view output, struct writ_view digest,
    struct writ_view voter, struct writ_arena *arena, struct writ_entry_review *ret,
    struct writ_err *err);

#endif
