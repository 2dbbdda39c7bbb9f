/* 1. A call is granted in memory before its group is on disk. The caller learns it only afterwards:
 * writ_grant_finish sets `granted`.
 * 2. Every allow in the log was granted: a draft that is refused here becomes the deny before it
 *    gets its place.
 * 3. The op has every change in memory, and undoes it. */
#include "store/grant/grant.h"

#include "evidence/record/derive.h"

#include "store/grant/draft.h"
#include "store/grant/judgement.h"
#include "store/reviews/reviewing.h"
#include "store/tables/waits.h"
#include "store/write/content_rows.h"
#include "store/write/group.h"

#define US_PER_S INT64_C(1000000)

/* ---- a call that asks for an approval ---- */

static WRIT_RESULT
keep_review_id(struct writ_judgement *j)
{
    struct writ_reviewing *reviewing = &j->reviewing;

    if (reviewing->review == NULL) {
        return WRIT_DONE;
    }
    j->review_id = writ_view_copy(reviewing->review->story.review.id, j->arena);
    if (j->review_id.ptr == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a review");
    }
    if (reviewing->before.ptr != NULL) {
        reviewing->before = j->review_id;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
ask_review(struct writ_judgement *j, enum writ_reason *ret)
{
    WRIT_TRY(writ_judgement_before_review(j, ret));
    if (*ret != WRIT_REASON_NONE) {
        return WRIT_DONE;
    }
    j->asking = true;
    WRIT_TRY(writ_reviewing_ask(j->ledger, j->d, j->stamp_us, &j->reviewing, &j->err));
    WRIT_TRY(keep_review_id(j));
    switch (j->reviewing.answer) {
    case WRIT_REVIEWING_REFUSES:
        *ret = j->reviewing.reason;
        return WRIT_DONE;
    case WRIT_REVIEWING_PENDS:
        return writ_draft_pend(j);
    case WRIT_REVIEWING_REDEEMS:
        WRIT_TRY(writ_draft_approve(j));
        return writ_judgement_run(j, ret);
    }
    return WRIT_DONE;
}

/* ---- what is recorded ---- */

static WRIT_RESULT
valid(struct writ_judgement *j, const struct writ_faults *faults)
{
    writ_auto_buf text = writ_buf_make(WRIT_ERR_TEXT);

    if (faults->count == 0) {
        return WRIT_DONE;
    }
    writ_faults_put(faults, &text);
    WRIT_FAIL(&j->err, WRIT_E_INVALID, "the record is not valid: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_buf_view(&text)));
}

/* Gives the decision its place in the boundary and appends its canonical form to the group. */
static WRIT_RESULT
write_decision(struct writ_judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    struct writ_faults faults = {0};
    bool lives = j->granting || writ_decision_is(draft, WRIT_DECISION_REQUIRE_APPROVAL);

    WRIT_TRY(writ_draft_charge(j));
    WRIT_TRY(writ_draft_tell_claim(j));
    WRIT_TRY(writ_decision_place(draft, j->d->profile, j->boundary->next_seq, j->stamp_us,
        lives ? j->lifetime_us : 0, j->arena, &j->err));
    writ_decision_validate(draft, &faults);
    WRIT_TRY(valid(j, &faults));
    return writ_decision_put(draft, &j->ledger->group.bodies, &j->err);
}

static WRIT_RESULT
fits(struct writ_judgement *j, size_t bytes)
{
    if (bytes > WRIT_LEDGER_RECORD_MAX) {
        WRIT_FAIL(
            &j->err, WRIT_E_LIMIT, "the record has more than %d bytes", WRIT_LEDGER_RECORD_MAX);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
write_blocked(struct writ_judgement *j, int64_t *ret_us)
{
    struct writ_outcome outcome = writ_outcome_for(j->d->draft, WRIT_OUTCOME_BLOCKED);
    int64_t now_us = writ_group_stamp(j->ledger);
    struct writ_outcome_texts texts;
    struct writ_faults faults = {0};

    WRIT_TRY(writ_outcome_place(&outcome, j->d->draft, j->d->profile, now_us, &texts, &j->err));
    writ_outcome_validate(&outcome, &faults);
    WRIT_TRY(valid(j, &faults));
    WRIT_TRY(writ_outcome_put(&outcome, &j->ledger->group.bodies, &j->err));
    *ret_us = now_us;
    return WRIT_DONE;
}

static void
row_decision(struct writ_judgement *j, struct writ_group_row *row, size_t body_at, size_t body_len)
{
    const struct writ_decision *draft = j->d->draft;
    const struct writ_claim *claim = &j->d->claim;
    enum writ_decision_route route = WRIT_DECISION_DENY;

    (void)writ_decision_route_of(draft, &route);
    row->body_at = body_at;
    row->body_len = body_len;
    row->row.kind = WRIT_ROW_DECISION;
    row->row.boundary = j->boundary->id;
    row->row.seq = j->boundary->next_seq;
    row->row.time_us = j->stamp_us;
    row->row.verdict = (int)route;
    row->row.decision_id = draft->decision_id.view;
    row->row.agent_id = writ_member_view(&draft->agent_id);
    row->row.tool = writ_member_view(&draft->tool);
    row->row.flags = j->granting ? WRIT_ROW_GRANTED : 0;
    if (j->before != NULL) {
        row->row.flags |= WRIT_ROW_FOLLOWS;
        row->row.about = j->before->leaf;
    } else if (j->granting && j->d->duplicates != WRIT_DUPLICATES_ALLOW) {
        row->row.flags |= claim->caller_stated ? WRIT_ROW_CALLER_STATED : 0;
        writ_tag_put(j->key, row->claim);
        writ_tag_put(writ_tag_of(&claim->call), row->claim + WRIT_TAG_BYTES);
        writ_tag_put(j->intent, row->claim + 2 * WRIT_TAG_BYTES);
        row->row.claim = row->claim;
    }
}

static void
row_blocked(const struct writ_judgement *j, struct writ_group_row *row, uint64_t about,
    int64_t time_us, size_t body_at, size_t body_len)
{
    row->body_at = body_at;
    row->body_len = body_len;
    row->row.kind = WRIT_ROW_OUTCOME;
    row->row.boundary = j->boundary->id;
    row->row.seq = j->boundary->next_seq;
    row->row.time_us = time_us;
    row->row.verdict = WRIT_OUTCOME_BLOCKED;
    row->row.flags = WRIT_ROW_NOTHING_RAN;
    row->row.about = about;
    row->row.decision_id = j->d->draft->decision_id.view;
}

/* ---- what changes in memory ---- */

static WRIT_RESULT
open_boundary(struct writ_judgement *j)
{
    struct writ_boundary *boundary = NULL;

    if (j->boundary != NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_boundaries_add(
        &j->ledger->boundaries, j->tag, j->d->tenant, j->name, &boundary, &j->err));
    writ_boundaries_number(&j->ledger->boundaries, boundary, j->ledger->boundaries.next_id++);
    boundary->fresh = true;
    boundary->active_us = writ_clock_mono_us(j->ledger->options.clock);
    j->boundary = boundary;
    return writ_boundaries_charge(
        &j->ledger->boundaries, boundary, writ_member_view(&j->d->draft->agent_id), &j->err);
}

/* Moves claim and bookings from one round to the next, or back. */
static void
pass_on(struct writ_flight *from, struct writ_flight *to)
{
    to->hold = from->hold;
    if (to->hold != NULL) {
        to->hold->facts.leaf = to->leaf;
    }
    for (size_t i = 0; i < from->bookings_n; i++) {
        to->bookings[i] = from->bookings[i];
    }
    to->bookings_n = from->bookings_n;
    from->bookings_n = 0;
    from->hold = NULL;
}

/* From here on no other call can continue this round. */
static void
hand_over(struct writ_waits *waits, struct writ_flight *before, struct writ_flight *flight)
{
    before->ending = true;
    writ_waits_take(waits, before->wait);
    pass_on(before, flight);
}

/* Takes key and place in flight; all or nothing. */
static WRIT_RESULT
take(struct writ_judgement *j, uint64_t leaf, struct writ_flight **ret)
{
    struct writ_ledger *ledger = j->ledger;
    struct writ_flight *flight = writ_flights_add(&ledger->flights, j->boundary, leaf,
        j->d->draft->decision_id.view, writ_member_view(&j->d->draft->intent_ref));

    if (flight == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a call");
    }
    flight->owner = ledger->fleet.epoch;
    if (j->before != NULL) {
        hand_over(&ledger->waits, j->before, flight);
    } else if (j->d->duplicates != WRIT_DUPLICATES_ALLOW) {
        struct writ_claim_facts facts = {.call = writ_tag_of(&j->d->claim.call),
            .leaf = leaf,
            .boundary = j->boundary->id,
            .made_us = j->stamp_us,
            .kept_us = writ_draft_claim_seconds(j) * US_PER_S};

        flight->hold = writ_claims_add(&ledger->claims, j->key, j->intent, &facts);
        if (flight->hold == NULL) {
            writ_flights_remove(&ledger->flights, flight);
            WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a claim");
        }
    }
    for (size_t i = 0; i < j->bookings_n; i++) {
        flight->bookings[i] = j->bookings[i];
    }
    flight->bookings_n += j->bookings_n;
    j->bookings_n = 0; /* the flight owns them now */
    *ret = flight;
    return WRIT_DONE;
}

/* ---- with its group ---- */

static WRIT_RESULT
write_op(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    WRIT_TRY(writ_content_rows_write(
        ledger, op->entry->decision.leaf, op->entry->decision.content, err));
    if (op->before == NULL) {
        return WRIT_DONE;
    }
    return writ_disk_run(&ledger->disk, WRIT_SQL_WAIT_DROP, err, "u", op->before->leaf);
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    struct writ_entry_decision *d = &op->entry->decision;
    struct writ_err err = {0};

    if (op->before != NULL) {
        writ_waits_free(&ledger->waits, op->before->wait);
        writ_flights_remove(&ledger->flights, op->before);
    }
    if (!writ_is_ok(writ_seal_hash_add(&op->boundary->hash, d->draft->decision_id.view, &err))) {
        /* no seal could be made any more: refuse from here on until the ledger is opened again */
        ledger->disk.poisoned = true;
        writ_group_trouble(ledger, &err);
        d->refused = WRIT_REASON_LEDGER_UNAVAILABLE;
        return;
    }
    op->boundary->active_us = writ_clock_mono_us(ledger->options.clock);
    if (d->held_until_us > op->boundary->held_until_us) { /* its row is older than its boundary */
        op->boundary->held_until_us = d->held_until_us;
    }
    d->epoch = ledger->fleet.epoch;
    d->granted = op->flight != NULL; /* keeps (1) */
}

static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    if (op->before != NULL) {
        pass_on(op->flight, op->before);
        op->before->ending = false;
        writ_waits_put_back(&ledger->waits, op->before->wait);
    }
    if (op->flight != NULL) {
        if (op->flight->hold != NULL) {
            writ_claims_remove(&ledger->claims, op->flight->hold);
        }
        writ_flights_remove(&ledger->flights, op->flight);
    }
}

static const struct writ_op_steps steps = {.write = write_op, .finish = finish_op, .undo = undo_op};

/* ---- the record ---- */

/* Does everything that can fail before it adds the first row; on failure cuts off what it appended
 * to `bodies`. */
static WRIT_RESULT
record(struct writ_judgement *j)
{
    struct writ_ledger *ledger = j->ledger;
    struct writ_buf *bodies = &ledger->group.bodies;
    uint64_t leaf = ledger->log.next_leaf + ledger->group.rows_n;
    size_t at, end, blocked_at = 0, blocked_end = 0;
    int64_t blocked_us = 0;
    bool blocked = !j->granting && !writ_decision_is(j->d->draft, WRIT_DECISION_REQUIRE_APPROVAL);
    struct writ_flight *flight = NULL;
    struct writ_op *op;

    WRIT_TRY(open_boundary(j));
    at = writ_group_body(&ledger->group);
    WRIT_TRY(write_decision(j));
    end = bodies->len;
    WRIT_TRY(fits(j, end - at));
    if (blocked) {
        blocked_at = writ_group_body(&ledger->group);
        WRIT_TRY(write_blocked(j, &blocked_us));
        blocked_end = bodies->len;
    }
    if (j->asking) {
        WRIT_TRY(writ_reviewing_record(
            ledger, &j->reviewing, j->d, leaf, j->boundary, j->granting, j->arena, &j->err));
    }
    if (j->granting) {
        WRIT_TRY(take(j, leaf, &flight));
    }

    op = writ_group_op(&ledger->group, &steps, j->entry);
    op->boundary = j->boundary;
    op->flight = flight;
    op->before = j->granting ? j->before : NULL;
    ledger->group.contents += j->d->content != NULL ? j->d->content->bytes.len : 0;
    writ_group_touch(ledger, j->boundary);
    row_decision(j, writ_group_row(ledger), at, end - at);
    if (blocked) {
        row_blocked(
            j, writ_group_row(ledger), leaf, blocked_us, blocked_at, blocked_end - blocked_at);
    }
    writ_reviewing_settle(ledger, &j->reviewing);
    j->boundary->next_seq++;
    j->d->leaf = leaf;
    return WRIT_DONE;
}

/* Removes a boundary that was opened for a record that failed: it has no row and no record. */
static void
drop_empty(struct writ_judgement *j)
{
    struct writ_boundary *boundary = j->boundary;

    if (boundary != NULL && boundary->fresh && !boundary->touched) {
        writ_boundaries_remove(&j->ledger->boundaries, boundary);
    }
}

static WRIT_RESULT
judge_and_record(struct writ_judgement *j)
{
    enum writ_reason reason = WRIT_REASON_NONE;

    WRIT_TRY(writ_judgement_begin(j));
    if (j->d->ask != NULL) {
        WRIT_TRY(ask_review(j, &reason));
    } else if (j->d->shadow || writ_decision_is(j->d->draft, WRIT_DECISION_ALLOW)) {
        WRIT_TRY(writ_judgement_run(j, &reason));
    }
    if (reason != WRIT_REASON_NONE) {
        WRIT_TRY(writ_draft_deny(j, reason)); /* keeps (2) */
    }
    if (j->sealed || j->crowded != WRIT_REASON_NONE) {
        /* a draft that is not an allow also cannot stand behind a seal, or where there is no
         * room */
        j->d->elsewhere = j->sealed ? WRIT_REASON_BOUNDARY_SEALED : j->crowded;
        WRIT_TRY(writ_draft_move_to_refused(j));
    }
    return record(j);
}

WRIT_RESULT
writ_grant_decision(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_judgement j = {
        .ledger = ledger,
        .entry = entry,
        .d = &entry->decision,
        .arena = entry->arena,
        .wall_us = writ_clock_wall_us(ledger->options.clock),
        .failed = WRIT_DONE,
    };
    size_t at = ledger->group.bodies.len;
    writ_result result;

    entry->decision.granted = false;
    entry->decision.refused = entry->decision.elsewhere = WRIT_REASON_NONE;
    entry->decision.prior = (struct writ_prior){0};
    if (entry->decision.ask != NULL) {
        entry->decision.ask->state = WRIT_REVIEW_ABSENT;
        entry->decision.ask->elected = WRIT_REVIEW_NO_VOTE;
        entry->decision.ask->id = (struct writ_view){NULL, 0};
    }
    result = judge_and_record(&j);
    if (!writ_is_ok(result)) {
        writ_reviewing_revert(ledger, &j.reviewing);
        writ_judgement_unbook(&j);
        drop_empty(&j);
        writ_buf_cut(&ledger->group.bodies, at);
        if (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) {
            writ_group_trouble(ledger, &j.err);
            result.code = WRIT_E_IO;
        }
    }
    return result;
}
