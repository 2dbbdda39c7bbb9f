/* review_ballot.h - a vote from outside: over HTTP, in the answer of a webhook, or in a line of a
 * worker. It is a JSON object of one of these forms:
 *
 *   {"review_digest", "vote", "feedback"?, "confidence"?, "bulk"?}   approve, reject or modify;
 * with bulk one of several votes: it names the rule that all are of
 *   {"review_digest", "ranking", ...}   the same, with the options of the review, best first
 *   {"review_digest"?, "answer"}   the answer of a model to the prompt (crew/reply.h)
 *   {"signed"}                     a JWS of the voter's own (evidence/record/ballot.h)
 *
 * A member of another form is refused. The ledger checks whether the voter may vote, and whether a
 * signature verifies. */
#ifndef WRIT_GATEWAY_REVIEW_BALLOT_H
#define WRIT_GATEWAY_REVIEW_BALLOT_H

#include "store/ledger/ledger.h"

#define WRIT_REVIEW_BALLOT_MAX 131072 /* bytes of a vote */

/** The voter, and the review of its vote. */
struct writ_review_seat {
    struct writ_view voter;
    struct writ_view digest; /* of the terms, if known; else empty */
    bool whole;              /* the prompt has the complete arguments */
    bool asked; /* the answer of a reviewer: beside the vote it has the review's `id` */
    struct writ_view bulk_rule; /* the rule of the review, if it takes votes in bulk; else empty */
    const char *no_bulk;        /* why it does not; NULL: unknown */
};

/**
 * Reads a vote.
 *
 * @param text  JSON; borrowed as long as `ret` is used
 * @param ret   event, by, digest, vote, feedback, confidence, via and signature; views in the arena
 * or in what is borrowed. Written only on success
 * @param ret_hint  after a failure what the voter has to do, static storage; may be NULL
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_LIMIT not a vote; err has the reason, without any text of it
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_review_ballot_read(struct writ_view text, const struct writ_review_seat *seat,
    struct writ_arena *arena, struct writ_entry_review *ret, const char **ret_hint,
    struct writ_err *err);

#endif
