/* review_viewer.c - a viewer sees a review of its tenant, or of none, as voter, administrator or
 * asker. The viewer holds its generation until it is wiped. */
#include "gateway/admin/review_viewer.h"

#include "gateway/admin/api.h"
#include "policy/decide/approval.h"

enum writ_reason
writ_review_viewer_ask(struct writ_worker *worker, struct writ_exchange *x,
    struct writ_arena *arena, struct writ_review_viewer *ret)
{
    struct writ_agent agent;
    enum writ_reason refused = writ_api_ask(x, worker, arena, &agent);

    if (refused == WRIT_REASON_NONE) {
        *ret = (struct writ_review_viewer){writ_generation_hold(worker->generation), agent};
    }
    return refused;
}

void
writ_review_viewer_wipe(struct writ_review_viewer *viewer)
{
    writ_generation_drop(WRIT_TAKE(viewer->generation));
}

struct writ_view
writ_review_viewer_subject(const struct writ_review_viewer *viewer)
{
    return writ_approval_subject(&viewer->agent);
}

bool
writ_review_viewer_administers(
    const struct writ_review_viewer *viewer, const struct writ_review *review)
{
    const struct writ_config *config = viewer->generation->config;

    for (size_t i = 0; i < config->reviews_n; i++) {
        const struct writ_review_config *row = &config->reviews[i];

        for (size_t n = 0; writ_view_equal(row->name, review->name) && n < row->administrators.n;
             n++) {
            if (writ_view_equal(row->administrators.items[n], writ_review_viewer_subject(viewer))) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_of_tenant(const struct writ_review_viewer *viewer, const struct writ_review *review)
{
    return viewer->agent.tenant.len == 0 || writ_view_equal(viewer->agent.tenant, review->tenant);
}

bool
writ_review_viewer_asked(const struct writ_review_viewer *viewer, const struct writ_review *review)
{
    return writ_view_equal(viewer->agent.id, review->agent_id) &&
           writ_view_equal(viewer->agent.tenant, review->tenant);
}

/* One that stood in by a delegation that was taken back sees nothing any more. */
static bool
votes(const struct writ_review *review, struct writ_view subject)
{
    const struct writ_review_voter *voter = writ_review_voter(review, subject);

    return voter != NULL && writ_review_may_vote(review, voter, 0);
}

bool
writ_review_viewer_sees(const struct writ_review_viewer *viewer, const struct writ_review *review)
{
    return is_of_tenant(viewer, review) && (votes(review, writ_review_viewer_subject(viewer)) ||
                                               writ_review_viewer_administers(viewer, review) ||
                                               writ_review_viewer_asked(viewer, review));
}
