/* 1. The table has what is on disk and what the present group records; the op undoes it.
 * 2. Two statements that close a cycle together meet here: one thread takes them one after the
 *    other, and knows those of other gateways before. Whether a delegation counts in a review is
 *    checked again when the review opens, since the configuration may be another one. */
#include "store/reviews/delegating.h"

#include "store/reviews/review_changes.h"
#include "store/write/facts.h"
#include "store/write/group.h"

#define SCRATCH_MAX ((size_t)1 << 20) /* to check a signature, or to read a fact */
#define EVER_MAX    1024              /* of one voter, revoked ones among them, that are not over */

/* ---- what is in force ---- */

static bool
is_of_tenant(const struct writ_delegation *delegation, struct writ_view tenant)
{
    return delegation->tenant.len == 0 || tenant.len == 0 ||
           writ_view_equal(delegation->tenant, tenant);
}

static bool
stands(const struct writ_delegated *delegated, int64_t now_us)
{
    return !delegated->revoked && now_us < delegated->delegation.until_us;
}

/* ---- setting one ---- */

static void
undo_set(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_delegations_remove(&ledger->delegations,
        writ_delegations_find(&ledger->delegations, op->entry->delegate.delegation.id));
}

static const struct writ_op_steps set_steps = {.undo = undo_set};

static enum writ_reason
check_signature(const struct writ_ledger *ledger, const struct writ_delegation *delegation)
{
    struct writ_arena *scratch;
    writ_result result = {WRIT_E_NOMEM};

    if (delegation->key.len == 0) {
        return delegation->signature.len > 0 ? WRIT_REASON_DELEGATION_FORGED : WRIT_REASON_NONE;
    }
    if (delegation->signature.len == 0) {
        return WRIT_REASON_DELEGATION_UNSIGNED;
    }
    if (!writ_view_equal(delegation->ledger, writ_buf_view(&ledger->trust.origin))) {
        return WRIT_REASON_DELEGATION_FORGED;
    }
    scratch = writ_arena_new_small(SCRATCH_MAX);
    if (scratch != NULL) {
        result = writ_delegation_verify(delegation, scratch, NULL);
    }
    writ_arena_free(scratch);
    return writ_is_ok(result) ? WRIT_REASON_NONE : WRIT_REASON_DELEGATION_FORGED;
}

static bool
has_room(const struct writ_ledger *ledger, const struct writ_delegation *delegation, int64_t now_us)
{
    size_t standing = 0, all = 0;

    for (const struct writ_delegated *at =
             writ_delegations_of(&ledger->delegations, delegation->voter);
         at != NULL; at = writ_delegations_before(at)) {
        /* another tenant has a voter of that name, with delegations of its own */
        if (writ_view_equal(at->delegation.tenant, delegation->tenant)) {
            standing += stands(at, now_us) ? 1 : 0;
            all++;
        }
    }
    return standing < WRIT_DELEGATIONS_EACH && all < EVER_MAX;
}

/** The voters that a delegation reaches through others. */
struct reach {
    struct writ_buf names; /* of struct writ_view */
};

static void
reach_one(struct reach *reach, struct writ_view name)
{
    const struct writ_view *names = (const struct writ_view *)(const void *)reach->names.ptr;

    for (size_t i = 0; i < reach->names.len / sizeof *names; i++) {
        if (writ_view_equal(names[i], name)) {
            return;
        }
    }
    writ_buf_put(&reach->names, writ_view((const char *)&name, sizeof name));
}

static void
reach_from(struct reach *reach, const struct writ_ledger *ledger,
    const struct writ_entry_delegate *asked, struct writ_view name, int64_t now_us)
{
    for (const struct writ_delegated *at = writ_delegations_of(&ledger->delegations, name);
         at != NULL; at = writ_delegations_before(at)) {
        if (stands(at, now_us) && is_of_tenant(&at->delegation, asked->delegation.tenant)) {
            reach_one(reach, at->delegation.delegate);
        }
    }
    for (size_t i = 0; i < asked->edges_n; i++) {
        if (writ_view_equal(asked->edges[i].from, name)) {
            reach_one(reach, asked->edges[i].to);
        }
    }
}

/* Whatever times and tools, as in the configuration: whether a cycle closes must not depend on the
 * call. keeps (2) */
static WRIT_RESULT
comes_back(const struct writ_ledger *ledger, const struct writ_entry_delegate *asked,
    int64_t now_us, bool *ret)
{
    struct reach reach = {.names = writ_buf_make(SIZE_MAX)};
    bool back = false;
    writ_result result;

    reach_one(&reach, asked->delegation.delegate);
    for (size_t i = 0; (i + 1) * sizeof(struct writ_view) <= reach.names.len && !back; i++) {
        struct writ_view name = ((const struct writ_view *)(const void *)reach.names.ptr)[i];

        back = writ_view_equal(name, asked->delegation.voter);
        reach_from(&reach, ledger, asked, name, now_us);
    }
    result = writ_buf_check(&reach.names, NULL);
    writ_buf_wipe(&reach.names);
    WRIT_TRY(result);
    *ret = back;
    return WRIT_DONE;
}

static WRIT_RESULT
check(const struct writ_ledger *ledger, const struct writ_entry_delegate *asked, int64_t now_us,
    enum writ_reason *ret)
{
    const struct writ_delegation *delegation = &asked->delegation;
    bool back = false;

    *ret = WRIT_REASON_NONE;
    if (!writ_is_ok(writ_delegation_check(delegation, NULL)) || delegation->until_us <= now_us) {
        *ret = WRIT_REASON_DELEGATION_MALFORMED;
    } else if (delegation->until_us - now_us > asked->longest_us) {
        *ret = WRIT_REASON_DELEGATION_NOT_PERMITTED;
    } else if (writ_delegations_find(&ledger->delegations, delegation->id) != NULL) {
        *ret = WRIT_REASON_DELEGATION_REPEATED;
    } else if (!has_room(ledger, delegation, now_us)) {
        *ret = WRIT_REASON_DELEGATIONS_EXCEEDED;
    } else {
        WRIT_TRY(comes_back(ledger, asked, now_us, &back));
        *ret = back ? WRIT_REASON_DELEGATION_CYCLE : check_signature(ledger, delegation);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegating_set(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_delegate *asked = &entry->delegate;
    writ_auto_buf data = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);
    struct writ_delegated *delegated = NULL;
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    writ_result result;

    WRIT_TRY(check(ledger, asked, now_us, &asked->refused));
    if (asked->refused != WRIT_REASON_NONE) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_delegation_put(&asked->delegation, &data, NULL));
    WRIT_TRY(
        writ_delegations_add(&ledger->delegations, &asked->delegation, now_us, &delegated, NULL));
    result = writ_facts_add(ledger, WRIT_FACT_DELEGATED, writ_buf_view(&data), &asked->leaf);
    if (!writ_is_ok(result)) {
        writ_delegations_remove(&ledger->delegations, delegated);
        return result;
    }
    asked->at_us = delegated->at_us = ledger->log.last_us;
    writ_digest_text(&delegated->digest, asked->digest);
    (void)writ_group_op(&ledger->group, &set_steps, entry);
    return WRIT_DONE;
}

/* ---- taking it back ---- */

static void
finish_revoke(struct writ_ledger *ledger, const struct writ_op *op)
{
    (void)op;
    ledger->turn.ticked_us -= WRIT_STORE_TICK_US; /* open reviews record it in this turn */
}

static void
undo_revoke(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_delegations_find(&ledger->delegations, op->entry->undelegate.id)->revoked = false;
}

static const struct writ_op_steps revoke_steps = {.finish = finish_revoke, .undo = undo_revoke};

static bool
may_revoke(const struct writ_entry_undelegate *asked, const struct writ_delegated *delegated)
{
    return is_of_tenant(&delegated->delegation, asked->tenant) &&
           (asked->any || writ_view_equal(delegated->delegation.voter, asked->by) ||
               writ_view_equal(delegated->delegation.delegate, asked->by));
}

WRIT_RESULT
writ_delegating_revoke(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_undelegate *asked = &entry->undelegate;
    struct writ_delegated *delegated = writ_delegations_find(&ledger->delegations, asked->id);
    writ_auto_buf data = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);

    asked->refused = WRIT_REASON_NONE;
    if (delegated == NULL || !stands(delegated, writ_clock_wall_us(ledger->options.clock)) ||
        !may_revoke(asked, delegated)) {
        asked->refused = WRIT_REASON_DELEGATION_UNKNOWN;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_delegations_copy(&delegated->delegation, entry->arena, &asked->delegation, NULL));
    WRIT_TRY(writ_delegation_put_revoked(asked->id, asked->by, &data, NULL));
    WRIT_TRY(
        writ_facts_add(ledger, WRIT_FACT_DELEGATION_REVOKED, writ_buf_view(&data), &asked->leaf));
    delegated->revoked = true;
    (void)writ_group_op(&ledger->group, &revoke_steps, entry);
    return WRIT_DONE;
}

/* ---- reading them ---- */

static bool
is_wanted(const struct writ_entry_delegations *asked, const struct writ_delegated *delegated,
    int64_t now_us)
{
    const struct writ_delegation *delegation = &delegated->delegation;

    return stands(delegated, now_us) && is_of_tenant(delegation, asked->tenant) &&
           (asked->by.ptr == NULL || writ_view_equal(delegation->voter, asked->by) ||
               writ_view_equal(delegation->delegate, asked->by));
}

WRIT_RESULT
writ_delegating_list(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_delegations *asked = &entry->delegations;
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_delegation_told *items =
        writ_arena_get(entry->arena, (ledger->delegations.count + 1) * sizeof *items);

    asked->n = 0;
    asked->ledger = writ_view_copy(writ_buf_view(&ledger->trust.origin), entry->arena);
    if (items == NULL || asked->ledger.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (const struct writ_delegated *at = ledger->delegations.first; at != NULL; at = at->next) {
        if (is_wanted(asked, at, now_us)) {
            struct writ_delegation_told *told = &items[asked->n];

            WRIT_TRY(writ_delegations_copy(&at->delegation, entry->arena, &told->delegation, NULL));
            writ_digest_text(&at->digest, told->digest);
            told->at_us = at->at_us;
            asked->n++;
        }
    }
    asked->items = items;
    return WRIT_DONE;
}

/* ---- from the log ---- */

static WRIT_RESULT
hear_set(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_delegation delegation;
    struct writ_delegated *delegated = NULL;

    WRIT_TRY(writ_delegation_read(fact->data, arena, &delegation, err));
    if (delegation.until_us <= ledger->log.last_us) {
        return WRIT_DONE;
    }
    return writ_delegations_add(&ledger->delegations, &delegation, fact->at_us, &delegated, err);
}

static WRIT_RESULT
hear_revoked(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    struct writ_view id, by;
    struct writ_delegated *delegated;

    WRIT_TRY(writ_delegation_read_revoked(fact->data, &id, &by, err));
    delegated = writ_delegations_find(&ledger->delegations, id);
    if (delegated != NULL) {
        delegated->revoked = true;
        ledger->turn.ticked_us -= WRIT_STORE_TICK_US;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegating_hear(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    struct writ_arena *scratch;
    writ_result result;

    if (fact->event == WRIT_FACT_DELEGATION_REVOKED) {
        return hear_revoked(ledger, fact, err);
    }
    if (fact->event != WRIT_FACT_DELEGATED) {
        return WRIT_DONE;
    }
    scratch = writ_arena_new_small(SCRATCH_MAX);
    result = scratch == NULL ? writ_fail(err, WRIT_E_NOMEM, "no memory for a delegation")
                             : hear_set(ledger, fact, scratch, err);
    writ_arena_free(scratch);
    return result;
}

/* ---- a review opens ---- */

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

    return stands(delegated, o->now_us) && delegation->from_us <= o->now_us &&
           (delegation->tenant.len == 0 || writ_view_equal(delegation->tenant, review->tenant)) &&
           !writ_view_equal(delegation->delegate, review->subject) &&
           !writ_view_equal(delegation->delegate, review->agent_id) && is_permitted(o, delegated) &&
           is_signed_alike(o, voter, delegation) &&
           o->delegable->is_for(o->delegable->call, delegation->tools, delegation->tools_n);
}

/* The last one that the voter set and that counts in this review. */
static const struct writ_delegated *
last_of(const struct writ_ledger *ledger, const struct opening *o,
    const struct writ_review_voter *voter)
{
    const struct writ_delegated *at = writ_delegations_of(&ledger->delegations, voter->id);

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

/* Whether that person casts another vote already: its own, or that of another voter. */
static bool
casts_another(
    const struct opening *o, const struct writ_review_voter *voter, struct writ_view delegate)
{
    bool casts = elector_of(o, delegate) != NULL;

    for (size_t i = 0; !casts && i < writ_review_electors(o->review); i++) {
        const struct writ_review_voter *other = &o->review->voters[i];

        casts = other != voter && writ_view_equal(other->delegate, delegate);
    }
    return casts;
}

/* keeps: the delegations of the configuration come before those of voters, and of these the one
 * that was set first */
static void
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
        return;
    }
    voter->delegation = delegation->id;
    voter->delegation_digest = writ_view_str(delegated->digest_text);
    voter->delegated_until_us = delegation->until_us;
    if (writ_review_voter(review, delegation->delegate) == NULL) {
        review->voters[review->voters_n++] = (struct writ_review_voter){.id = delegation->delegate,
            .stand_in = true,
            .key = stand_in_of(o->delegable, delegation->delegate)->key};
    }
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

static void
apply_all(
    const struct writ_ledger *ledger, const struct opening *o, const struct writ_delegated **chosen)
{
    size_t n = writ_review_electors(o->review);

    for (size_t i = 0; i < n; i++) {
        chosen[i] = last_of(ledger, o, &o->review->voters[i]);
    }
    for (;;) {
        size_t first = n;

        for (size_t i = 0; i < n; i++) {
            if (chosen[i] != NULL && (first == n || chosen[i]->at_us < chosen[first]->at_us)) {
                first = i;
            }
        }
        if (first == n) {
            return;
        }
        apply(o, &o->review->voters[first], chosen[first]);
        chosen[first] = NULL;
    }
}

WRIT_RESULT
writ_delegating_terms(struct writ_ledger *ledger, const struct writ_ask *ask,
    struct writ_arena *arena, struct writ_review *ret, struct writ_err *err)
{
    struct writ_review review = *ask->terms;
    const struct opening o = {.delegable = &ask->delegable,
        .review = &review,
        .now_us = writ_clock_wall_us(ledger->options.clock)};
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

WRIT_RESULT
writ_delegating_withdraw(struct writ_ledger *ledger, struct writ_reviewed *review,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_review *terms = &review->story.review;

    for (size_t i = 0; review->story.state == WRIT_REVIEW_OPEN && i < terms->voters_n; i++) {
        const struct writ_review_voter *voter = &terms->voters[i];
        const struct writ_delegated *delegated =
            voter->delegation.len > 0 && !voter->revoked
                ? writ_delegations_find(&ledger->delegations, voter->delegation)
                : NULL;

        if (delegated != NULL && delegated->revoked) {
            if (!writ_group_has_room(&ledger->group)) {
                WRIT_FAIL(err, WRIT_E_LIMIT, "no room for the records of a review");
            }
            WRIT_TRY(withdraw(ledger, review, voter->id, arena, err));
        }
    }
    return WRIT_DONE;
}
