/* Whether a delegation counts is checked here again, for the review that opens: the configuration
 * may be another one than when it was set, and the caller is known. */
#include "store/reviews/delegated_terms.h"

#include "store/reviews/review_changes.h"
#include "store/tables/review_index.h"
#include "store/write/group.h"

/** The terms that are made. */
struct opening {
    const struct writ_delegable *delegable;
    struct writ_review *review;
    int64_t now_us;
};

static const struct writ_stand_in *
stand_in_of(const struct writ_delegable *delegable, struct writ_view id)
{
    for (size_t i = 0; i < delegable->stand_ins_n; i++) {
        if (writ_view_equal(delegable->stand_ins[i].id, id)) {
            return &delegable->stand_ins[i];
        }
    }
    return NULL;
}

/* The voter that it goes to, if there is one already. */
static const struct writ_review_voter *
elector_of(const struct opening *o, struct writ_view id)
{
    const struct writ_review_voter *voter = writ_review_voter(o->review, id);

    return voter != NULL && !voter->stand_in ? voter : NULL;
}

/* A delegate's vote counts as the voter's own, so it must prove as much. */
static bool
is_signed_alike(const struct opening *o, const struct writ_review_voter *voter,
    const struct writ_delegation *delegation)
{
    const struct writ_review_voter *elector = elector_of(o, delegation->delegate);
    const struct writ_stand_in *stand_in = stand_in_of(o->delegable, delegation->delegate);

    return voter->key.len == 0 ||
           (writ_view_equal(voter->key, delegation->key) &&
               (elector != NULL ? elector->key.len > 0
                                : stand_in != NULL && stand_in->key.len > 0));
}

static bool
is_permitted(const struct opening *o, const struct writ_delegated *delegated)
{
    const struct writ_delegation *delegation = &delegated->delegation;

    return delegation->until_us - delegated->at_us <= o->delegable->longest_us &&
           (elector_of(o, delegation->delegate) != NULL
                   ? o->delegable->several
                   : stand_in_of(o->delegable, delegation->delegate) != NULL);
}

/* In force for this call, and never to its own caller. */
static bool
is_for(const struct opening *o, const struct writ_delegated *delegated,
    const struct writ_review_voter *voter)
{
    const struct writ_delegation *delegation = &delegated->delegation;
    const struct writ_review *review = o->review;

    return writ_delegations_stands(delegated, o->now_us) && delegation->from_us <= o->now_us &&
           (delegation->tenant.len == 0 || writ_view_equal(delegation->tenant, review->tenant)) &&
           !writ_view_equal(delegation->delegate, review->subject) &&
           !writ_view_equal(delegation->delegate, review->agent_id) && is_permitted(o, delegated) &&
           is_signed_alike(o, voter, delegation) &&
           o->delegable->is_for(o->delegable->call, delegation->tools, delegation->tools_n);
}

/* The first of `at` and those that the voter set before it that is for this review. */
static const struct writ_delegated *
last_from(
    const struct writ_delegated *at, const struct opening *o, const struct writ_review_voter *voter)
{
    while (at != NULL && !is_for(o, at, voter)) {
        at = writ_delegations_before(at);
    }
    return at;
}

static bool
closes_cycle(const struct opening *o, const struct writ_review_voter *voter)
{
    const struct writ_review_voter *at = voter;

    for (size_t i = 0; at != NULL && at->delegate.len > 0 && i <= o->review->voters_n; i++) {
        at = writ_review_voter(o->review, at->delegate);
        if (at == voter) {
            return true;
        }
    }
    return false;
}

/* Whether that person would cast another vote: its own, that of another voter, or that of one that
 * this voter votes for. */
static bool
casts_another(
    const struct opening *o, const struct writ_review_voter *voter, struct writ_view delegate)
{
    bool casts = elector_of(o, delegate) != NULL;

    for (size_t i = 0; !casts && i < writ_review_electors(o->review); i++) {
        const struct writ_review_voter *other = &o->review->voters[i];

        casts = other != voter && (writ_view_equal(other->delegate, delegate) ||
                                      writ_view_equal(other->delegate, voter->id));
    }
    return casts;
}

/* keeps: the delegations of the configuration come before those of voters, and of these the one
 * that was set first. False: it cannot count beside them. */
static bool
apply(const struct opening *o, struct writ_review_voter *voter,
    const struct writ_delegated *delegated)
{
    const struct writ_delegation *delegation = &delegated->delegation;
    const struct writ_review_voter was = *voter;
    struct writ_review *review = o->review;

    voter->delegate = delegation->delegate;
    if (closes_cycle(o, voter) ||
        (!o->delegable->several && casts_another(o, voter, delegation->delegate)) ||
        (writ_review_voter(review, delegation->delegate) == NULL &&
            review->voters_n >= WRIT_REVIEW_VOTERS_MAX)) {
        *voter = was;
        return false;
    }
    voter->delegation = delegation->id;
    voter->delegation_digest = writ_view_str(delegated->digest_text);
    voter->delegated_until_us = delegation->until_us;
    if (writ_review_voter(review, delegation->delegate) == NULL) {
        review->voters[review->voters_n++] = (struct writ_review_voter){.id = delegation->delegate,
            .stand_in = true,
            .key = stand_in_of(o->delegable, delegation->delegate)->key};
    }
    return true;
}

/* One that the configuration named and that no voter has any more sees nothing. */
static void
drop_idle(struct writ_review *review)
{
    size_t kept = writ_review_electors(review);

    for (size_t i = kept; i < review->voters_n; i++) {
        struct writ_review_voter stand_in = review->voters[i];

        if (writ_review_may_vote(review, &review->voters[i], 0)) {
            review->voters[kept++] = stand_in;
        }
    }
    review->voters_n = kept;
}

/* A voter whose last one cannot count has those that it set before. */
static void
apply_all(
    const struct writ_ledger *ledger, const struct opening *o, const struct writ_delegated **chosen)
{
    size_t n = writ_review_electors(o->review);

    for (size_t i = 0; i < n; i++) {
        struct writ_review_voter *voter = &o->review->voters[i];

        chosen[i] = last_from(writ_delegations_of(&ledger->delegations, voter->id), o, voter);
    }
    for (;;) {
        struct writ_review_voter *voter;
        size_t first = n;

        for (size_t i = 0; i < n; i++) {
            if (chosen[i] != NULL && (first == n || chosen[i]->at_us < chosen[first]->at_us)) {
                first = i;
            }
        }
        if (first == n) {
            return;
        }
        voter = &o->review->voters[first];
        chosen[first] = apply(o, voter, chosen[first])
                            ? NULL
                            : last_from(writ_delegations_before(chosen[first]), o, voter);
    }
}

WRIT_RESULT
writ_delegated_terms_make(struct writ_ledger *ledger, const struct writ_ask *ask,
    struct writ_arena *arena, struct writ_review *ret, struct writ_err *err)
{
    struct writ_review review = *ask->terms;
    const struct opening o = {
        .delegable = &ask->delegable, .review = &review, .now_us = writ_group_now(ledger)};
    const struct writ_delegated *chosen[WRIT_REVIEW_VOTERS_MAX];

    if (ask->delegable.longest_us == 0 || ledger->delegations.count == 0 ||
        review.voters_n > WRIT_REVIEW_VOTERS_MAX) {
        *ret = review;
        return WRIT_DONE;
    }
    review.voters = writ_arena_get(arena, WRIT_REVIEW_VOTERS_MAX * sizeof *review.voters);
    if (review.voters == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the voters of a review");
    }
    for (size_t i = 0; i < review.voters_n; i++) {
        review.voters[i] = ask->terms->voters[i];
    }
    apply_all(ledger, &o, chosen);
    drop_idle(&review);
    *ret = review;
    return WRIT_DONE;
}

/* ---- and narrows ---- */

static WRIT_RESULT
withdraw(struct writ_ledger *ledger, struct writ_reviewed *review, struct writ_view voter,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_reviews_event event = {.event = WRIT_REVIEW_DO_REVOKE, .by = voter};
    struct writ_reviews_changes changes = {.n = 0};

    WRIT_TRY(writ_review_changes_make(ledger, review, &event, arena, &changes, err));
    writ_review_changes_settle(ledger, &changes, NULL);
    return WRIT_DONE;
}

/* After its end another one may have its id. */
static bool
is_of(const struct writ_review_voter *voter, const struct writ_delegated *delegated)
{
    return !voter->revoked && writ_view_equal(voter->delegation, delegated->delegation.id) &&
           writ_view_is(voter->delegation_digest, delegated->digest_text);
}

bool
writ_delegated_terms_awaits(
    const struct writ_reviewed *review, const struct writ_delegated *delegated)
{
    const struct writ_review *terms = &review->story.review;
    bool awaits = false;

    for (size_t i = 0; review->story.state == WRIT_REVIEW_OPEN && !awaits && i < terms->voters_n;
         i++) {
        awaits = is_of(&terms->voters[i], delegated);
    }
    return awaits;
}

void
writ_delegated_terms_look(struct writ_ledger *ledger, const struct writ_delegated *delegated)
{
    struct writ_reviewed *review = ledger->reviews.ring;

    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        if (writ_delegated_terms_awaits(review, delegated)) {
            writ_review_index_look(&ledger->reviews, review);
        }
    }
    ledger->turn.ticked_us -= WRIT_STORE_TICK_US; /* in this turn */
}

WRIT_RESULT
writ_delegated_terms_withdraw(struct writ_ledger *ledger, struct writ_reviewed *review,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_review *terms = &review->story.review;

    for (size_t i = 0; review->story.state == WRIT_REVIEW_OPEN && i < terms->voters_n; i++) {
        const struct writ_review_voter *voter = &terms->voters[i];
        const struct writ_delegated *delegated =
            voter->delegation.len > 0 && !voter->revoked
                ? writ_delegations_find(&ledger->delegations, voter->delegation)
                : NULL;

        if (delegated != NULL && delegated->revoked && is_of(voter, delegated)) {
            if (!writ_group_has_room(&ledger->group)) {
                WRIT_FAIL(err, WRIT_E_LIMIT, "no room for the records of a review");
            }
            WRIT_TRY(withdraw(ledger, review, voter->id, arena, err));
        }
    }
    return WRIT_DONE;
}
