/* A review names the delegations that its voters had set: each must be recorded before it, in force
 * and not revoked when the review opened, and say the same. */
#include "store/read/check.h"

/* The clocks of gateways may differ by this; a review that opens is recorded a little later. */
#define SLACK_US INT64_C(300000000)

/* ---- facts ---- */

static WRIT_RESULT
take_set(struct writ_check *v, const struct writ_fact *fact)
{
    struct writ_delegation delegation;
    struct writ_delegated *delegated = NULL;
    const struct writ_delegated *before;
    writ_result result = writ_delegation_read(fact->data, v->arena, &delegation, NULL);

    if (result.code == WRIT_E_MISMATCH) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    before = writ_delegations_find(&v->delegations, delegation.id);
    writ_check_expect(v, before == NULL || before->delegation.until_us <= fact->at_us,
        "a delegation with its id is recorded already");
    if (delegation.key.len > 0 || delegation.signature.len > 0) {
        result = writ_delegation_verify(&delegation, v->arena, NULL);
        if (result.code == WRIT_E_NOMEM) {
            return result;
        }
        writ_check_expect(v,
            writ_is_ok(result) &&
                writ_view_equal(delegation.ledger, writ_buf_view(&v->trust.origin)),
            "the delegation is not signed with the key of its voter for this ledger");
    }
    return writ_delegations_add(&v->delegations, &delegation, fact->at_us, &delegated, v->err);
}

static void
take_revoked(struct writ_check *v, const struct writ_fact *fact)
{
    struct writ_view id = {NULL, 0}, by = {NULL, 0};
    struct writ_delegated *delegated;

    if (!writ_is_ok(writ_delegation_read_revoked(fact->data, &id, &by, NULL))) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return;
    }
    delegated = writ_delegations_find(&v->delegations, id);
    writ_check_expect(
        v, delegated != NULL && !delegated->revoked, "a delegation is revoked that does not stand");
    if (delegated != NULL) {
        delegated->revoked = true;
    }
}

WRIT_RESULT
writ_check_delegation_fact(struct writ_check *v, const struct writ_fact *fact)
{
    writ_delegations_prune(&v->delegations, fact->at_us - SLACK_US);
    if (fact->event == WRIT_FACT_DELEGATED) {
        return take_set(v, fact);
    }
    take_revoked(v, fact);
    return WRIT_DONE;
}

/* ---- reviews ---- */

static bool
says(const struct writ_delegated *delegated, const struct writ_review *review,
    const struct writ_review_voter *voter)
{
    const struct writ_delegation *delegation = &delegated->delegation;

    return writ_view_is(voter->delegation_digest, delegated->digest_text) &&
           writ_view_equal(voter->id, delegation->voter) &&
           writ_view_equal(voter->delegate, delegation->delegate) &&
           voter->delegated_until_us == delegation->until_us &&
           (voter->key.len == 0 || writ_view_equal(voter->key, delegation->key)) &&
           (delegation->tenant.len == 0 || writ_view_equal(delegation->tenant, review->tenant)) &&
           delegation->from_us <= review->opened_us;
}

void
writ_check_delegation_used(struct writ_check *v, const struct writ_review *review, bool opens)
{
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i];
        const struct writ_delegated *delegated =
            voter->delegation.len > 0 ? writ_delegations_find(&v->delegations, voter->delegation)
                                      : NULL;

        if (opens && voter->delegation.len > 0) {
            writ_check_expect(v,
                delegated != NULL && !delegated->revoked && says(delegated, review, voter),
                "its review names a delegation that its voter had not set");
        } else if (voter->revoked && delegated != NULL &&
                   writ_view_is(voter->delegation_digest, delegated->digest_text)) {
            writ_check_expect(
                v, delegated->revoked, "a delegation ends in its review that was not revoked");
        }
    }
}
