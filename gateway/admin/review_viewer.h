/* review_viewer.h - a caller of the admin listener, and the reviews that it may see.
 *
 * A caller is known by the subject of its entry of `agents` (api.h). A review is seen by its
 * voters, its administrators and the agent that asked, of its tenant (or of none). For every other
 * caller it does not exist. */
#ifndef WRIT_GATEWAY_REVIEW_VIEWER_H
#define WRIT_GATEWAY_REVIEW_VIEWER_H

#include "gateway/state/gateway.h"

/** An authenticated caller. Views of the agent live in the given arena, and in the generation,
 * which is held. Zeroed: no caller. */
struct writ_review_viewer {
    struct writ_generation *generation;
    struct writ_agent agent;
};

/** Authenticates the caller by the present configuration, as writ_api_ask; wipe `ret` only after
 * NONE. */
enum writ_reason writ_review_viewer_ask(struct writ_worker *worker, struct writ_exchange *x,
    struct writ_arena *arena, struct writ_review_viewer *ret);

/** Drops the generation. A zeroed one is fine. */
void writ_review_viewer_wipe(struct writ_review_viewer *viewer);

/** The subject behind the caller, as which it votes. */
struct writ_view writ_review_viewer_subject(const struct writ_review_viewer *viewer);

/** Whether it is an administrator of that kind of review, by the present configuration. */
bool writ_review_viewer_administers(
    const struct writ_review_viewer *viewer, const struct writ_review *review);

/** Whether it asked for the call, and so may withdraw it. */
bool writ_review_viewer_asked(
    const struct writ_review_viewer *viewer, const struct writ_review *review);

/** Whether the review exists for this viewer. */
bool writ_review_viewer_sees(
    const struct writ_review_viewer *viewer, const struct writ_review *review);

#endif
