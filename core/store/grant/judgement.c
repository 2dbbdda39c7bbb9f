/* The checks are rows of two tables, walked in order; the first one that gives a reason ends the
 * walk. Checks only read, except the last one, which books. A check that cannot decide whether a
 * call may run fails with an error, not with a reason. */
#include "store/grant/judgement.h"

#include "evidence/record/extension.h"
#include "store/write/charges.h"
#include "store/write/ending.h"
#include "store/write/group.h"
#include "store/write/once.h"
#include "store/write/results.h"

/* ---- what is asked ---- */

static bool
has_text(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT && member->view.len > 0 &&
           member->view.len <= WRIT_LEDGER_NAME_MAX;
}

static WRIT_RESULT
check_entry(const struct writ_entry_decision *d, struct writ_err *err)
{
    if (d->draft == NULL || d->profile == NULL || !has_text(&d->draft->decision_id) ||
        !has_text(&d->draft->boundary_id)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "a draft needs a decision_id and a boundary_id of up to %d "
            "bytes, and a profile",
            WRIT_LEDGER_NAME_MAX);
    }
    if (d->tenant.len > WRIT_LEDGER_NAME_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a tenant has at most %d bytes", WRIT_LEDGER_NAME_MAX);
    }
    if (d->reservations_n > WRIT_RESERVATIONS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a call draws on at most %d budgets", WRIT_RESERVATIONS_MAX);
    }
    if (writ_boundaries_own(d->draft->boundary_id.view)) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "a boundary_id must not begin with %s", WRIT_LEDGER_RESERVED);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_judgement_find_boundary(struct writ_judgement *j)
{
    struct writ_disk *disk = &j->ledger->disk;
    bool row = false;

    j->sealed = false;
    j->boundary = writ_boundaries_recent(&j->ledger->boundaries, j->d->tenant, j->name);
    if (j->boundary != NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_boundaries_tag(j->d->tenant, j->name, &j->tag, &j->err));
    j->boundary = writ_boundaries_find(&j->ledger->boundaries, j->tag, j->d->tenant, j->name);
    if (j->boundary != NULL) {
        return WRIT_DONE;
    }
    writ_result asked =
        writ_disk_query(disk, WRIT_SQL_BOUNDARY_FIND, &row, &j->err, "tt", j->name, j->d->tenant);
    /* every open boundary is in memory, so a row means that it was sealed */
    j->sealed = row;
    writ_disk_end(disk, WRIT_SQL_BOUNDARY_FIND);
    return asked;
}

/* Whether there is room for one more boundary, in the table and in the caller's share. */
static void
find_room(struct writ_judgement *j)
{
    const struct writ_boundaries *boundaries = &j->ledger->boundaries;

    j->crowded = WRIT_REASON_NONE;
    if (j->boundary != NULL || j->sealed) {
        return;
    }
    if (writ_boundaries_full(boundaries)) {
        j->crowded = WRIT_REASON_OVERLOADED;
    } else if (!writ_shares_have_room(
                   &boundaries->shares, j->d->tenant, writ_member_view(&j->d->draft->agent_id))) {
        j->crowded = WRIT_REASON_SHARE_EXCEEDED;
    }
}

WRIT_RESULT
writ_judgement_begin(struct writ_judgement *j)
{
    WRIT_TRY(check_entry(j->d, &j->err));
    j->name = j->d->draft->boundary_id.view;
    WRIT_TRY(writ_judgement_find_boundary(j));
    find_room(j);
    j->stamp_us = writ_group_stamp(j->ledger);
    j->lifetime_us = j->d->lifetime_us;
    return WRIT_DONE;
}

/* ---- the checks, in their order ---- */

static enum writ_reason
check_clock(struct writ_judgement *j)
{
    bool back = j->wall_us < j->ledger->log.last_us - j->ledger->options.clock_tolerance_us;

    return back ? WRIT_REASON_CLOCK_REGRESSION : WRIT_REASON_NONE;
}

static enum writ_reason
check_boundary(struct writ_judgement *j)
{
    bool closed = j->sealed || (j->boundary != NULL && j->boundary->sealing);

    return closed ? WRIT_REASON_BOUNDARY_SEALED : WRIT_REASON_NONE;
}

static enum writ_reason
check_crowd(struct writ_judgement *j)
{
    return j->crowded;
}

/* Reads the decision_id of the first call, which has an outcome, from its record. */
static WRIT_RESULT
read_prior_id(struct writ_judgement *j, struct writ_prior *prior)
{
    struct writ_disk *disk = &j->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_RECORD_AT, &row, &j->err, "u", prior->leaf);

    if (writ_is_ok(result) && row) {
        prior->decision_id = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_RECORD_AT, 8), j->arena);
        if (prior->decision_id.ptr == NULL) {
            result = (writ_result){WRIT_E_NOMEM};
        }
    }
    writ_disk_end(disk, WRIT_SQL_RECORD_AT);
    return result;
}

/* Reads it from the signed body of a record that the start did not read again. */
static WRIT_RESULT
read_signed_id(struct writ_judgement *j, struct writ_prior *prior)
{
    struct writ_decision decision = {0};

    WRIT_TRY(writ_ending_decision(j->ledger, prior->leaf, j->arena, &decision, &j->err));
    prior->decision_id = writ_member_view(&decision.decision_id);
    return WRIT_DONE;
}

static WRIT_RESULT
tell_prior(struct writ_judgement *j, const struct writ_claim_facts *facts)
{
    struct writ_prior *prior = &j->d->prior;

    prior->known = true;
    prior->leaf = facts->leaf;
    prior->in_flight = facts->in_flight;
    prior->outcome = (enum writ_outcome_kind)facts->outcome;
    if (facts->in_flight) {
        const struct writ_flight *flight = writ_flights_find(&j->ledger->flights, facts->leaf);

        WRIT_INVARIANT(flight != NULL);
        prior->waits = flight->wait != NULL ? flight->wait->kind : WRIT_WAIT_NONE;
        prior->decision_id = writ_view_copy(flight->decision_id, j->arena);
        return prior->decision_id.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
    }
    WRIT_TRY(
        prior->leaf < j->ledger->log.vouched ? read_signed_id(j, prior) : read_prior_id(j, prior));
    if (j->d->duplicates == WRIT_DUPLICATES_REPLAY && prior->outcome == WRIT_OUTCOME_EXECUTED) {
        WRIT_TRY(writ_results_find(j->ledger, prior->leaf, prior->decision_id, j->stamp_us,
            j->arena, &prior->result, &j->err));
    }
    return WRIT_DONE;
}

/* A claim that stands. */
static WRIT_RESULT
find(struct writ_judgement *j, enum writ_segment_kind kind, struct writ_tag tag, int64_t since_us,
    struct writ_claim_facts *ret, bool *ret_found)
{
    return writ_once_find(j->ledger, kind, tag, since_us, j->stamp_us, ret, ret_found, &j->err);
}

/* Finds the same call in the window next to its own. */
static WRIT_RESULT
find_beside(struct writ_judgement *j, struct writ_claim_facts *ret, bool *ret_found)
{
    const struct writ_claim *wanted = &j->d->claim;
    int64_t since_us = wanted->previous_since_us;

    if (since_us == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(find(j, WRIT_SEGMENT_KEY, writ_tag_of(&wanted->next), 0, ret, ret_found));
    if (*ret_found) { /* that window began later, but its call was here first */
        return WRIT_DONE;
    }
    WRIT_TRY(find(j, WRIT_SEGMENT_KEY, writ_tag_of(&wanted->previous), since_us, ret, ret_found));
    *ret_found = *ret_found && (ret->in_flight || ret->made_us >= since_us);
    return WRIT_DONE;
}

/* The claim that conflicts with the call, if any (docs/running.md, "At most once, and what a retry
 * gets"). */
static WRIT_RESULT
find_claim(struct writ_judgement *j, struct writ_claim_facts *ret, bool *ret_found, bool *ret_reuse)
{
    WRIT_TRY(find(j, WRIT_SEGMENT_KEY, j->key, 0, ret, ret_found));
    if (*ret_found) {
        *ret_reuse = !writ_tag_equal(ret->call, writ_tag_of(&j->d->claim.call));
        return WRIT_DONE;
    }
    WRIT_TRY(find(j, WRIT_SEGMENT_INTENT, j->intent, 0, ret, ret_found));
    return *ret_found ? WRIT_DONE : find_beside(j, ret, ret_found);
}

/* The call that the draft continues must wait for exactly this round. */
static enum writ_reason
check_round(struct writ_judgement *j)
{
    struct writ_flight *before = writ_flights_find(&j->ledger->flights, j->d->before);

    if (!j->d->follows) {
        return WRIT_REASON_NONE;
    }
    if (before == NULL || before->ending || before->boundary != j->boundary ||
        before->wait == NULL || before->wait->kind != WRIT_WAIT_INPUT ||
        before->wait->until_us <= j->stamp_us ||
        !writ_view_equal(before->decision_id, j->d->draft->supersedes.view)) {
        return WRIT_REASON_INPUT_NOT_AWAITED;
    }
    j->before = before;
    return WRIT_REASON_NONE;
}

/* Finds a claim, and reports the call that made it. */
static WRIT_RESULT
look_for_claim(
    struct writ_judgement *j, struct writ_claim_facts *ret, bool *ret_found, bool *ret_reuse)
{
    j->key = writ_tag_of(&j->d->claim.key);
    WRIT_TRY(writ_tag_intent(j->d->tenant, j->d->draft->intent_ref.view,
        j->d->draft->idempotency_key.view, &j->intent, &j->err));
    WRIT_TRY(find_claim(j, ret, ret_found, ret_reuse));
    return *ret_found ? tell_prior(j, ret) : WRIT_DONE;
}

/* ---- after a loss ---- */

/* "\nfs/write_file\n": no name has a line feed in it. */
static bool
is_released(struct writ_judgement *j)
{
    const struct writ_decision *draft = j->d->draft;
    struct writ_extension extension = {0};
    writ_auto_buf name = writ_buf_make(WRIT_LEDGER_NAME_MAX * 2);

    if (j->ledger->resumed.released.len == 0 ||
        !writ_is_ok(writ_extension_read(&draft->extensions, j->arena, &extension, NULL))) {
        return false;
    }
    writ_buf_byte(&name, '\n');
    writ_buf_put(&name, writ_member_view(&extension.upstream));
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, writ_member_view(&draft->tool));
    writ_buf_byte(&name, '\n');
    return writ_is_ok(writ_buf_check(&name, NULL)) &&
           writ_view_search(writ_buf_view(&j->ledger->resumed.released), writ_buf_view(&name)) <
               j->ledger->resumed.released.len;
}

static bool
began_later(const struct writ_judgement *j)
{
    const struct writ_claim *claim = &j->d->claim;

    return !claim->caller_stated &&
           (j->d->held_until_us > 0 || claim->previous_since_us > j->ledger->resumed.at_us);
}

/* A key is known to be unused when it could not be made before the loss: the key of a session,
 * which began later because all earlier ones were forgotten, or of a window of time whose look-back
 * does not reach the loss. A caller that states a key, or names a run, may have used it before. */
static bool
may_be_lost(struct writ_judgement *j)
{
    const struct writ_ledger *ledger = j->ledger;

    return ledger->resumed.at_us > 0 &&
           j->stamp_us < ledger->resumed.at_us + ledger->keeping.most_us && !began_later(j) &&
           !is_released(j);
}

static enum writ_reason
check_claim(struct writ_judgement *j)
{
    struct writ_claim_facts facts = {0};
    bool found = false, reuse = false;

    if (j->before != NULL || j->d->duplicates == WRIT_DUPLICATES_ALLOW) {
        return WRIT_REASON_NONE; /* it has the claim, or needs none */
    }
    j->failed = look_for_claim(j, &facts, &found, &reuse);
    if (!writ_is_ok(j->failed) || !found) {
        return writ_is_ok(j->failed) && may_be_lost(j) ? WRIT_REASON_LEDGER_RESUMED
                                                       : WRIT_REASON_NONE;
    }
    if (reuse) {
        return WRIT_REASON_IDEMPOTENCY_KEY_REUSE;
    }
    if (facts.in_flight) {
        return WRIT_REASON_DUPLICATE_IN_FLIGHT;
    }
    return facts.interrupted ? WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN
                             : WRIT_REASON_DUPLICATE_OUTCOME;
}

static enum writ_reason
check_room(struct writ_judgement *j)
{
    bool full = j->ledger->flights.count >= j->ledger->options.in_flight_max;

    return full ? WRIT_REASON_OVERLOADED : WRIT_REASON_NONE;
}

static void
tell_exceeded(struct writ_judgement *j, const struct writ_reservation *r)
{
    const struct writ_counter *counter =
        writ_budgets_find(&j->ledger->budgets, writ_tag_of(&r->key), r->window_us);

    WRIT_INVARIANT(counter != NULL); /* a booking on it was tried */
    j->d->exceeded = (struct writ_exceeded){.budget = r->name,
        .limit = r->limit,
        .used = counter->spent,
        .frees_us = (counter->window + 1) * counter->window_us};
}

static void
tell_used(struct writ_judgement *j)
{
    for (size_t i = 0; j->d->used != NULL && i < j->d->reservations_n; i++) {
        const struct writ_reservation *r = &j->d->reservations[i];
        const struct writ_counter *counter =
            writ_budgets_find(&j->ledger->budgets, writ_tag_of(&r->key), r->window_us);

        if (counter != NULL && counter->window == j->stamp_us / counter->window_us) {
            j->d->used[i] = counter->spent;
        }
    }
}

/* Runs last, because it books. */
static enum writ_reason
check_budgets(struct writ_judgement *j)
{
    size_t refused = 0;
    writ_result booked;

    if (j->before != NULL) { /* it has booked */
        return WRIT_REASON_NONE;
    }
    for (size_t i = 0; i < j->d->reservations_n; i++) {
        j->failed = writ_charges_know(j->ledger, j->d->reservations[i].window_us, &j->err);
        if (j->failed.code == WRIT_E_MISMATCH) {
            j->failed = writ_group_changed(j->ledger, &j->err);
        }
        if (!writ_is_ok(j->failed)) {
            return WRIT_REASON_NONE;
        }
    }
    booked = writ_budgets_book(&j->ledger->budgets, j->d->reservations, j->d->reservations_n,
        j->stamp_us, j->bookings, &refused);
    tell_used(j);
    if (writ_is_ok(booked)) {
        j->bookings_n = j->d->reservations_n;
        return WRIT_REASON_NONE;
    }
    if (booked.code == WRIT_E_LIMIT) {
        return WRIT_REASON_OVERLOADED;
    }
    if (booked.code != WRIT_E_MISMATCH) {
        j->failed = booked;
        return WRIT_REASON_NONE;
    }
    tell_exceeded(j, &j->d->reservations[refused]);
    j->granting = j->d->shadow;
    return WRIT_REASON_BUDGET_EXCEEDED;
}

static enum writ_reason (*const checks[])(struct writ_judgement *) = {
    check_clock,
    check_boundary,
    check_round,
    check_crowd,
    check_claim,
    check_room,
    check_budgets,
};

/* A call that could not run in any case needs no review: these checks come first. */
static enum writ_reason (*const checks_before_review[])(struct writ_judgement *) = {
    check_clock,
    check_boundary,
    check_crowd,
    check_claim,
};

/* Gives the first reason that a check gives. WRIT_OK: `ret` is it, or NONE. */
static WRIT_RESULT
run(struct writ_judgement *j, enum writ_reason (*const *check)(struct writ_judgement *), size_t n,
    enum writ_reason *ret)
{
    for (size_t i = 0; i < n; i++) {
        enum writ_reason reason = check[i](j);

        WRIT_TRY(j->failed);
        if (reason != WRIT_REASON_NONE) {
            *ret = reason;
            return WRIT_DONE;
        }
    }
    *ret = WRIT_REASON_NONE;
    return WRIT_DONE;
}

WRIT_RESULT
writ_judgement_run(struct writ_judgement *j, enum writ_reason *ret)
{
    enum writ_reason reason;

    WRIT_TRY(run(j, checks, sizeof checks / sizeof checks[0], &reason));
    if (reason == WRIT_REASON_NONE) {
        j->granting = true;
    }
    *ret = reason;
    return WRIT_DONE;
}

WRIT_RESULT
writ_judgement_before_review(struct writ_judgement *j, enum writ_reason *ret)
{
    return run(
        j, checks_before_review, sizeof checks_before_review / sizeof checks_before_review[0], ret);
}

void
writ_judgement_unbook(struct writ_judgement *j)
{
    writ_budgets_return(&j->ledger->budgets, j->bookings, j->bookings_n);
    writ_budgets_end(j->bookings, j->bookings_n);
    j->bookings_n = 0;
}
