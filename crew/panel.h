/* panel.h - a crew that counts the votes of a review: proposer, reviewers, facilitator.
 *
 * The proposer shows the digest of the terms to the reviewers, one agent for each voter in the
 * order of the terms. A voter without a vote fails its step, so that it counts as silent. The
 * facilitator gives the verdict. The clock of the session shows the times of the votes, and their
 * order is that of their times: the same review gives the same events, byte for byte, on the day of
 * the verdict and whenever it is replayed from the ledger. */
#ifndef WRIT_CREW_PANEL_H
#define WRIT_CREW_PANEL_H

#include "crew/panel_plugin.h"
#include "evidence/record/review.h"
#include "evidence/record/review_judge.h"

/** Counts votes with the engines of review.tbl.h; another one is WRIT_E_INVALID. Of a plug-in it
 * gives only verdicts that need no count: a veto, or abstentions alone. */
extern const struct writ_review_judge writ_panel_judge;

/** Counts also with this plug-in, whatever its name; it must be that of the review. Borrowed as
 * long as the judge is used. */
struct writ_review_judge writ_panel_judge_with(const struct writ_panel_plugin *plugin);

#endif
