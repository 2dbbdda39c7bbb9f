/* reviewers.h - sends requests to the voters that do not fetch reviews themselves (`reviewers` of
 * the configuration): webhooks, workers, and the gateway's own opinions.
 *
 * It watches the reviews in the ledger as everybody may (review_stream.h). For each open review and
 * each of its voters that has such an entry and has not voted there is one request: the review is
 * read, the voter is asked, its vote is handed to the ledger as the vote of that voter, like any
 * other. What fails (no answer in time, an answer that is not a vote, a vote that the ledger
 * refuses) is a failed ballot: it is logged and asked again, later each time, and so many times. It
 * is never a vote. After a restart all open reviews are asked about again.
 *
 * All of it lives on the first loop, and nothing blocks it. */
#ifndef WRIT_GATEWAY_REVIEWERS_H
#define WRIT_GATEWAY_REVIEWERS_H

#include "gateway/state/gateway.h"

struct writ_reviewers;

/** Before the loops run. Without reviewers `ret` stays unchanged. It is written on failure too, so
 * that the caller's cleanup closes it. WRIT_E_ABSENT, WRIT_E_INVALID (secrets, authorities),
 * WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_IO, WRIT_E_CRYPTO. */
WRIT_RESULT writ_reviewers_open(
    struct writ_gateway *gateway, struct writ_reviewers **ret, struct writ_err *err);

/** When the loops have ended, before the ledger is closed: cancels open requests, kills workers.
 * NULL is permitted. */
void writ_reviewers_end(struct writ_reviewers *reviewers);

/** When the ledger is closed. NULL is permitted. */
void writ_reviewers_free(struct writ_reviewers *reviewers);

#endif
