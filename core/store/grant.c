/* 1. A call is granted in memory before its group is on disk, and told so only after it: `granted`
 *    is set by writ_grant_finish.
 * 2. What stands in the log as allow was granted: a draft that is refused here becomes the deny
 *    before it gets its place.
 * 3. What is changed in memory is in the op, and undone with it. */
#include "store/grant.h"

#include "store/group.h"
#include "store/reviewing.h"
#include "store/waits.h"

#define DAY_TEXT 10 /* "2026-11-21" */

/** One decision while it is judged. */
struct judgement {
    struct writ_ledger *ledger;
    struct writ_entry *entry;
    struct writ_entry_decision *d;
    struct writ_arena *arena;
    int64_t wall_us, stamp_us;
    struct writ_view name; /* of the boundary it will stand in */
    struct writ_tag tag;
    struct writ_boundary *boundary; /* NULL: not open yet */
    bool sealed;
    struct writ_flight *before;      /* that waits, and that this decision follows */
    struct writ_reviewing reviewing; /* what a review says to it, when it asks */
    struct writ_view review_id; /* of the review that answers, in the arena: it may end with this */
    int64_t lifetime_us;        /* of the record */
    enum writ_reason crowded;   /* why it cannot be opened, or NONE */
    struct writ_tag key, intent;
    struct writ_owner owner; /* of its claim */
    struct writ_booking bookings[WRIT_RESERVATIONS_MAX];
    size_t bookings_n;
    bool granting;      /* false until every check has held */
    bool asking;        /* the review was asked */
    writ_result failed; /* WRIT_OK, or why the entry cannot be judged at all */
    struct writ_err err;
};

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

/* Finds the boundary `j->name`: open in memory, sealed on disk, or not there yet. */
static WRIT_RESULT
find_boundary(struct judgement *j)
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
    /* every open boundary is in memory, so a row says that it was sealed */
    j->sealed = row;
    writ_disk_end(disk, WRIT_SQL_BOUNDARY_FIND);
    return asked;
}

static struct writ_view
text_or_none(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view(NULL, 0);
}

/* Whether there is room for one more boundary, in the table and in the caller's share of it. */
static void
find_room(struct judgement *j)
{
    const struct writ_boundaries *boundaries = &j->ledger->boundaries;

    j->crowded = WRIT_REASON_NONE;
    if (j->boundary != NULL || j->sealed) {
        return;
    }
    if (writ_boundaries_full(boundaries)) {
        j->crowded = WRIT_REASON_OVERLOADED;
    } else if (!writ_shares_have_room(
                   &boundaries->shares, j->d->tenant, text_or_none(&j->d->draft->agent_id))) {
        j->crowded = WRIT_REASON_SHARE_EXCEEDED;
    }
}

/* ---- the checks, in their order ---- */

static enum writ_reason
check_clock(struct judgement *j)
{
    bool back = j->wall_us < j->ledger->last_us - j->ledger->options.clock_tolerance_us;

    return back ? WRIT_REASON_CLOCK_REGRESSION : WRIT_REASON_NONE;
}

static enum writ_reason
check_boundary(struct judgement *j)
{
    bool closed = j->sealed || (j->boundary != NULL && j->boundary->sealing);

    return closed ? WRIT_REASON_BOUNDARY_SEALED : WRIT_REASON_NONE;
}

static enum writ_reason
check_crowd(struct judgement *j)
{
    return j->crowded;
}

/* Reads the decision_id of the first call, which has an outcome, from its record. */
static WRIT_RESULT
read_prior_id(struct judgement *j, struct writ_prior *prior)
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

static WRIT_RESULT
read_prior_result(struct judgement *j, struct writ_prior *prior)
{
    struct writ_disk *disk = &j->ledger->disk;
    bool row = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_RESULT_GET, &row, &j->err, "u", prior->leaf);

    if (writ_is_ok(result) && row && writ_disk_int(disk, WRIT_SQL_RESULT_GET, 0) > j->stamp_us) {
        prior->result = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_RESULT_GET, 1), j->arena);
        if (prior->result.ptr == NULL) {
            result = (writ_result){WRIT_E_NOMEM};
        }
    }
    writ_disk_end(disk, WRIT_SQL_RESULT_GET);
    return result;
}

static WRIT_RESULT
tell_prior(struct judgement *j, const struct writ_hold *hold)
{
    struct writ_prior *prior = &j->d->prior;

    prior->known = true;
    prior->leaf = hold->leaf;
    prior->in_flight = hold->in_flight;
    prior->outcome = (enum writ_outcome_kind)hold->outcome;
    if (hold->in_flight) {
        const struct writ_flight *flight = writ_flights_find(&j->ledger->flights, hold->leaf);

        WRIT_INVARIANT(flight != NULL);
        prior->waits = flight->wait != NULL ? flight->wait->kind : WRIT_WAIT_NONE;
        prior->decision_id = writ_view_copy(flight->decision_id, j->arena);
        return prior->decision_id.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
    }
    WRIT_TRY(read_prior_id(j, prior));
    if (j->d->duplicates == WRIT_DUPLICATES_REPLAY && prior->outcome == WRIT_OUTCOME_EXECUTED) {
        WRIT_TRY(read_prior_result(j, prior));
    }
    return WRIT_DONE;
}

/* The same call in the window beside the one it falls in. */
static const struct writ_hold *
find_beside(const struct writ_claims *claims, const struct writ_claim *wanted)
{
    const struct writ_hold *hold;

    if (wanted->previous_since_us == 0) {
        return NULL;
    }
    hold = writ_claims_by_key(claims, writ_tag_of(&wanted->next));
    if (hold != NULL) { /* it began later and was here first */
        return hold;
    }
    hold = writ_claims_by_key(claims, writ_tag_of(&wanted->previous));
    return hold != NULL && !hold->in_flight && hold->made_us < wanted->previous_since_us ? NULL
                                                                                         : hold;
}

/* The claim that stands in the way, if any (contract 6.8 and the paragraphs below it). */
static const struct writ_hold *
find_claim(const struct judgement *j, bool *ret_reuse)
{
    const struct writ_claims *claims = &j->ledger->claims;
    const struct writ_claim *wanted = &j->d->claim;
    const struct writ_hold *hold = writ_claims_by_key(claims, j->key);

    if (hold != NULL) {
        *ret_reuse = !writ_tag_equal(hold->call, writ_tag_of(&wanted->call));
        return hold;
    }
    hold = writ_claims_by_intent(claims, j->intent);
    return hold != NULL ? hold : find_beside(claims, wanted);
}

/* The call that the draft goes on with waits for that, and for nobody else's turn. */
static enum writ_reason
check_round(struct judgement *j)
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

static enum writ_reason
check_claim(struct judgement *j)
{
    const struct writ_hold *hold;
    bool reuse = false;

    if (j->before != NULL) { /* it has the claim */
        return WRIT_REASON_NONE;
    }
    if (j->d->duplicates == WRIT_DUPLICATES_ALLOW) {
        return WRIT_REASON_NONE;
    }
    j->key = writ_tag_of(&j->d->claim.key);
    j->failed = writ_tag_intent(j->d->tenant, j->d->draft->intent_ref.view,
        j->d->draft->idempotency_key.view, &j->intent, &j->err);
    hold = writ_is_ok(j->failed) ? find_claim(j, &reuse) : NULL;
    if (hold == NULL) {
        return WRIT_REASON_NONE;
    }
    j->failed = tell_prior(j, hold);
    if (reuse) {
        return WRIT_REASON_IDEMPOTENCY_KEY_REUSE;
    }
    if (hold->in_flight) {
        return WRIT_REASON_DUPLICATE_IN_FLIGHT;
    }
    return hold->interrupted ? WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN
                             : WRIT_REASON_DUPLICATE_OUTCOME;
}

static enum writ_reason
check_room(struct judgement *j)
{
    struct writ_ledger *ledger = j->ledger;
    bool full = ledger->flights.count >= ledger->options.in_flight_max ||
                (j->d->duplicates != WRIT_DUPLICATES_ALLOW &&
                    writ_claims_count(&ledger->claims) >= ledger->options.claims_max);

    if (full) {
        return WRIT_REASON_OVERLOADED;
    }
    if (j->before != NULL || j->d->duplicates == WRIT_DUPLICATES_ALLOW) {
        return WRIT_REASON_NONE; /* it makes no claim */
    }
    j->failed = writ_claims_owner(
        &ledger->claims, j->d->tenant, text_or_none(&j->d->draft->agent_id), &j->owner, &j->err);
    return !writ_is_ok(j->failed) || writ_shares_have_room_for(&ledger->claims.shares, &j->owner)
               ? WRIT_REASON_NONE
               : WRIT_REASON_SHARE_EXCEEDED;
}

/* Last, because it books. */
static enum writ_reason
check_budgets(struct judgement *j)
{
    size_t refused = 0;
    writ_result booked;

    if (j->before != NULL) { /* it has booked */
        return WRIT_REASON_NONE;
    }
    booked = writ_budgets_book(&j->ledger->budgets, j->d->reservations, j->d->reservations_n,
        j->stamp_us, j->bookings, &refused);

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
    j->d->refused_by = j->d->reservations[refused].name;
    j->granting = j->d->shadow;
    return WRIT_REASON_BUDGET_EXCEEDED;
}

static enum writ_reason (*const checks[])(struct judgement *) = {
    check_clock,
    check_boundary,
    check_round,
    check_crowd,
    check_claim,
    check_room,
    check_budgets,
};

static enum writ_reason
judge(struct judgement *j)
{
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        enum writ_reason reason = checks[i](j);

        if (reason != WRIT_REASON_NONE || !writ_is_ok(j->failed)) {
            return reason;
        }
    }
    j->granting = true;
    return WRIT_REASON_NONE;
}

/* ---- what is recorded ---- */

/* Adds boundary:<id> to evidence_refs, and puts the record where refused calls stand. */
static WRIT_RESULT
move_to_refused(struct judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    size_t had = draft->evidence_refs.is == WRIT_PRESENT ? draft->evidence_refs.count : 0;
    struct writ_view *refs = writ_arena_get(j->arena, (had + 1) * sizeof *refs);
    writ_auto_buf text = writ_buf_make(WRIT_LEDGER_NAME_MAX + 16);
    char day[WRIT_TIME_TEXT];

    writ_buf_str(&text, "boundary:");
    writ_buf_put(&text, draft->boundary_id.view);
    WRIT_TRY(writ_buf_check(&text, &j->err));
    if (refs == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a refusal");
    }
    for (size_t i = 0; i < had; i++) {
        refs[i] = draft->evidence_refs.items[i];
    }
    refs[had] = writ_view_copy(writ_buf_view(&text), j->arena);

    writ_time_format(j->stamp_us, day);
    writ_buf_clear(&text);
    writ_buf_str(&text, WRIT_LEDGER_RESERVED "refused:");
    writ_buf_put(&text, writ_view(day, DAY_TEXT));
    WRIT_TRY(writ_buf_check(&text, &j->err));
    j->name = writ_view_copy(writ_buf_view(&text), j->arena);
    if (refs[had].ptr == NULL || j->name.ptr == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a refusal");
    }
    draft->evidence_refs = writ_member_list(refs, had + 1);
    draft->boundary_id = writ_member_text(j->name);
    return find_boundary(j);
}

/* What makes a new decision of a `revise`. */
static const struct writ_view changed_call = {"argument_change", sizeof "argument_change" - 1};

/* Turns the draft into the deny that it is. Keeps (2). */
static WRIT_RESULT
deny(struct judgement *j, enum writ_reason reason)
{
    struct writ_decision *draft = j->d->draft;
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&draft->extensions, j->arena, &extension, &j->err));
    extension.reason = writ_member_text(writ_reason_name(reason));
    extension.first_decision_id = writ_member_text_or_absent(j->d->prior.decision_id);
    extension.shadow =
        j->granting ? writ_member_flag(true) : (struct writ_member_flag){WRIT_ABSENT, false};
    WRIT_TRY(writ_extension_make(&extension, j->arena, &draft->extensions, &j->err));
    if (!j->granting) {
        draft->supersedes = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
        if (j->reviewing.review != NULL && j->reviewing.answer == WRIT_REVIEWING_REFUSES) {
            draft->supersedes = writ_member_text(j->review_id);
            draft->continuation_id = draft->supersedes;
        }
    }
    draft->decision = writ_decision_route_text(
        reason == WRIT_REASON_REVISION_REQUESTED ? WRIT_DECISION_REVISE : WRIT_DECISION_DENY);
    if (writ_decision_is(draft, WRIT_DECISION_REVISE)) {
        draft->revalidate_if = writ_member_list(&changed_call, 1);
    }
    draft->reason = writ_member_text(writ_reason_sentence(reason));
    j->d->refused = reason;
    return WRIT_DONE;
}

/* ---- a call that asks for an approval ---- */

/* A call that could not run anyway is not put to anybody: these come before the review. */
static enum writ_reason (*const checks_before_review[])(struct judgement *) = {
    check_clock,
    check_boundary,
    check_crowd,
    check_claim,
};

/* The draft becomes what the review makes of it: it waits, or it is the allow that was approved. */
static void
be_under_review(struct judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    const struct writ_reviewing *reviewing = &j->reviewing;

    draft->continuation_id = draft->decision_id;
    if (reviewing->before.ptr != NULL) { /* revalidated: the one before is another intent's */
        draft->supersedes = writ_member_text(reviewing->before);
    } else if (reviewing->review != NULL) {
        draft->continuation_id = writ_member_text(j->review_id);
    }
    j->lifetime_us = j->d->ask->terms->lifetime_us;
    if (reviewing->until_us > j->stamp_us && reviewing->before.ptr == NULL) {
        j->lifetime_us = reviewing->until_us - j->stamp_us;
    }
}

static void
be_approved(struct judgement *j)
{
    struct writ_decision *draft = j->d->draft;

    draft->decision = writ_decision_route_text(WRIT_DECISION_ALLOW);
    draft->reason = writ_member_text(writ_reason_sentence(WRIT_REASON_APPROVAL_GRANTED));
    draft->continuation_id = writ_member_text(j->review_id);
    draft->supersedes = draft->continuation_id;
    j->lifetime_us = j->d->lifetime_us;
}

/* Says in the record why: the draft that waits says that it does, and what ended the one before. */
static WRIT_RESULT
note_review(struct judgement *j, enum writ_reason reason)
{
    struct writ_extension extension = {0};

    WRIT_TRY(writ_extension_read(&j->d->draft->extensions, j->arena, &extension, &j->err));
    extension.reason = writ_member_text_or_absent(
        reason == WRIT_REASON_NONE ? (struct writ_view){NULL, 0} : writ_reason_name(reason));
    return writ_extension_make(&extension, j->arena, &j->d->draft->extensions, &j->err);
}

static WRIT_RESULT
keep_review_id(struct judgement *j)
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
ask_review(struct judgement *j, enum writ_reason *ret)
{
    for (size_t i = 0; i < sizeof checks_before_review / sizeof checks_before_review[0]; i++) {
        *ret = checks_before_review[i](j);
        WRIT_TRY(j->failed);
        if (*ret != WRIT_REASON_NONE) {
            return WRIT_DONE;
        }
    }
    j->asking = true;
    WRIT_TRY(writ_reviewing_ask(j->ledger, j->d, j->stamp_us, &j->reviewing, &j->err));
    WRIT_TRY(keep_review_id(j));
    switch (j->reviewing.answer) {
    case WRIT_REVIEWING_REFUSES:
        *ret = j->reviewing.reason;
        return WRIT_DONE;
    case WRIT_REVIEWING_PENDS:
        be_under_review(j);
        return note_review(j, j->reviewing.reason != WRIT_REASON_NONE
                                  ? j->reviewing.reason
                                  : WRIT_REASON_APPROVAL_REQUIRED);
    case WRIT_REVIEWING_REDEEMS:
        be_approved(j);
        WRIT_TRY(note_review(j, WRIT_REASON_NONE));
        *ret = judge(j);
        return j->failed;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
valid(struct judgement *j, const struct writ_faults *faults)
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
write_decision(struct judgement *j)
{
    struct writ_decision *draft = j->d->draft;
    struct writ_faults faults = {0};
    bool lives = j->granting || writ_decision_is(draft, WRIT_DECISION_REQUIRE_APPROVAL);

    WRIT_TRY(writ_decision_place(draft, j->d->profile, j->boundary->next_seq, j->stamp_us,
        lives ? j->lifetime_us : 0, j->arena, &j->err));
    writ_decision_validate(draft, &faults);
    WRIT_TRY(valid(j, &faults));
    return writ_decision_put(draft, &j->ledger->group.bodies, &j->err);
}

static WRIT_RESULT
fits(struct judgement *j, size_t bytes)
{
    if (bytes > WRIT_LEDGER_RECORD_MAX) {
        WRIT_FAIL(
            &j->err, WRIT_E_LIMIT, "the record has more than %d bytes", WRIT_LEDGER_RECORD_MAX);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
write_blocked(struct judgement *j, int64_t *ret_us)
{
    struct writ_outcome outcome = writ_outcome_for(j->d->draft, WRIT_OUTCOME_BLOCKED);
    int64_t now_us = writ_group_stamp(j->ledger);
    struct writ_faults faults = {0};

    WRIT_TRY(writ_outcome_place(&outcome, j->d->draft, j->d->profile, now_us, j->arena, &j->err));
    writ_outcome_validate(&outcome, &faults);
    WRIT_TRY(valid(j, &faults));
    WRIT_TRY(writ_outcome_put(&outcome, &j->ledger->group.bodies, &j->err));
    *ret_us = now_us;
    return WRIT_DONE;
}

static int
route_of(const struct writ_decision *decision)
{
    static const enum writ_decision_route routes[] = {WRIT_DECISION_DENY, WRIT_DECISION_ALLOW,
        WRIT_DECISION_REQUIRE_APPROVAL, WRIT_DECISION_REVISE};

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (writ_decision_is(decision, routes[i])) {
            return (int)routes[i];
        }
    }
    return WRIT_DECISION_DENY;
}

static void
row_decision(struct judgement *j, struct writ_group_row *row, size_t body_at, size_t body_len)
{
    const struct writ_decision *draft = j->d->draft;
    const struct writ_claim *claim = &j->d->claim;

    row->body_at = body_at;
    row->body_len = body_len;
    row->row.kind = WRIT_ROW_DECISION;
    row->row.boundary = j->boundary->id;
    row->row.seq = j->boundary->next_seq;
    row->row.time_us = j->stamp_us;
    row->row.verdict = route_of(draft);
    row->row.decision_id = draft->decision_id.view;
    row->row.agent_id = text_or_none(&draft->agent_id);
    row->row.tool = text_or_none(&draft->tool);
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
row_blocked(const struct judgement *j, struct writ_group_row *row, uint64_t about, int64_t time_us,
    size_t body_at, size_t body_len)
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
open_boundary(struct judgement *j)
{
    struct writ_boundary *boundary = NULL;

    if (j->boundary != NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_boundaries_add(
        &j->ledger->boundaries, j->tag, j->d->tenant, j->name, &boundary, &j->err));
    boundary->id = j->ledger->next_boundary++;
    boundary->fresh = true;
    boundary->active_us = writ_clock_mono_us(j->ledger->options.clock);
    j->boundary = boundary;
    return writ_boundaries_charge(
        &j->ledger->boundaries, boundary, text_or_none(&j->d->draft->agent_id), &j->err);
}

/* Claim and bookings of one round become those of the next, or the other way round. */
static void
pass_on(struct writ_flight *from, struct writ_flight *to)
{
    to->hold = from->hold;
    if (to->hold != NULL) {
        to->hold->leaf = to->leaf;
    }
    for (size_t i = 0; i < from->bookings_n; i++) {
        to->bookings[i] = from->bookings[i];
    }
    to->bookings_n = from->bookings_n;
    from->bookings_n = 0;
    from->hold = NULL;
}

/* Nobody else goes on with this round from here on. */
static void
hand_over(struct writ_ledger *ledger, struct writ_flight *before, struct writ_flight *flight)
{
    before->ending = true;
    writ_waits_take(&ledger->waits, before->wait);
    pass_on(before, flight);
}

/* Takes key and place in flight; all or nothing. */
static WRIT_RESULT
take(struct judgement *j, uint64_t leaf, struct writ_flight **ret)
{
    struct writ_ledger *ledger = j->ledger;
    struct writ_flight *flight = writ_flights_add(&ledger->flights, j->boundary, leaf,
        j->d->draft->decision_id.view, text_or_none(&j->d->draft->intent_ref));

    if (flight == NULL) {
        WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a call");
    }
    if (j->before != NULL) {
        hand_over(ledger, j->before, flight);
    } else if (j->d->duplicates != WRIT_DUPLICATES_ALLOW) {
        struct writ_hold *hold = writ_claims_add(&ledger->claims, j->key, j->intent, &j->owner);

        if (hold == NULL) {
            writ_flights_remove(&ledger->flights, flight);
            WRIT_FAIL(&j->err, WRIT_E_NOMEM, "no memory for a claim");
        }
        hold->call = writ_tag_of(&j->d->claim.call);
        hold->leaf = leaf;
        hold->made_us = j->stamp_us;
        hold->caller_stated = j->d->claim.caller_stated;
        hold->in_flight = true;
        writ_claims_link(&j->boundary->holds, hold);
        flight->hold = hold;
    }
    for (size_t i = 0; i < j->bookings_n; i++) {
        flight->bookings[i] = j->bookings[i];
    }
    flight->bookings_n += j->bookings_n;
    j->bookings_n = 0; /* they are the flight's now */
    *ret = flight;
    return WRIT_DONE;
}

static void
unbook(struct judgement *j)
{
    writ_budgets_return(&j->ledger->budgets, j->bookings, j->bookings_n);
    writ_budgets_end(j->bookings, j->bookings_n);
    j->bookings_n = 0;
}

/* Everything that can fail comes before the first row; what it left in `bodies` is cut off. */
static WRIT_RESULT
record(struct judgement *j)
{
    struct writ_ledger *ledger = j->ledger;
    struct writ_buf *bodies = &ledger->group.bodies;
    uint64_t leaf = ledger->next_leaf + ledger->group.rows_n;
    size_t at, end, blocked_at = 0;
    int64_t blocked_us = 0;
    bool blocked = !j->granting && !writ_decision_is(j->d->draft, WRIT_DECISION_REQUIRE_APPROVAL);
    struct writ_flight *flight = NULL;
    struct writ_op *op;

    WRIT_TRY(open_boundary(j));
    at = writ_group_body(ledger);
    WRIT_TRY(write_decision(j));
    end = bodies->len;
    WRIT_TRY(fits(j, end - at));
    if (blocked) {
        blocked_at = writ_group_body(ledger);
        WRIT_TRY(write_blocked(j, &blocked_us));
    }
    if (j->asking) {
        WRIT_TRY(writ_reviewing_record(
            ledger, &j->reviewing, j->d, leaf, j->boundary, j->granting, j->arena, &j->err));
    }
    if (j->granting) {
        WRIT_TRY(take(j, leaf, &flight));
    }

    op = writ_group_op(ledger, WRIT_OP_DECISION, j->entry);
    op->boundary = j->boundary;
    op->flight = flight;
    op->before = j->granting ? j->before : NULL;
    writ_group_touch(ledger, j->boundary);
    row_decision(j, writ_group_row(ledger), at, end - at);
    if (blocked) {
        row_blocked(
            j, writ_group_row(ledger), leaf, blocked_us, blocked_at, bodies->len - blocked_at);
    }
    writ_reviewing_settle(ledger, &j->reviewing);
    j->boundary->next_seq++;
    j->d->leaf = leaf;
    return WRIT_DONE;
}

/* A boundary that was opened for a record that failed has no row and no record: away with it. */
static void
drop_empty(struct judgement *j)
{
    struct writ_boundary *boundary = j->boundary;

    if (boundary != NULL && boundary->fresh && !boundary->touched) {
        writ_boundaries_remove(&j->ledger->boundaries, boundary);
    }
}

static WRIT_RESULT
judge_and_record(struct judgement *j)
{
    enum writ_reason reason = WRIT_REASON_NONE;

    WRIT_TRY(check_entry(j->d, &j->err));
    j->name = j->d->draft->boundary_id.view;
    WRIT_TRY(find_boundary(j));
    find_room(j);
    j->stamp_us = writ_group_stamp(j->ledger);
    j->lifetime_us = j->d->lifetime_us;
    if (j->d->ask != NULL) {
        WRIT_TRY(ask_review(j, &reason));
    } else if (j->d->shadow || writ_decision_is(j->d->draft, WRIT_DECISION_ALLOW)) {
        reason = judge(j);
        WRIT_TRY(j->failed);
    }
    if (reason != WRIT_REASON_NONE) {
        WRIT_TRY(deny(j, reason));
    }
    if (j->sealed || j->crowded != WRIT_REASON_NONE) {
        /* also a draft that was no allow cannot stand behind a seal, or where there is no room */
        WRIT_TRY(move_to_refused(j));
    }
    return record(j);
}

WRIT_RESULT
writ_grant_decision(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct judgement j = {
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
    entry->decision.refused = WRIT_REASON_NONE;
    entry->decision.prior = (struct writ_prior){0};
    if (entry->decision.ask != NULL) {
        entry->decision.ask->state = WRIT_REVIEW_ABSENT;
        entry->decision.ask->id = (struct writ_view){NULL, 0};
    }
    result = judge_and_record(&j);
    if (!writ_is_ok(result)) {
        writ_reviewing_revert(ledger, &j.reviewing);
        unbook(&j);
        drop_empty(&j);
        writ_buf_cut(&ledger->group.bodies, at);
        if (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) {
            writ_group_trouble(ledger, &j.err);
            result.code = WRIT_E_IO;
        }
    }
    return result;
}

WRIT_RESULT
writ_grant_write(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    if (op->before == NULL) {
        return WRIT_DONE;
    }
    return writ_disk_run(&ledger->disk, WRIT_SQL_WAIT_DROP, err, "u", op->before->leaf);
}

WRIT_RESULT
writ_grant_finish(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    struct writ_entry_decision *d = &op->entry->decision;

    if (op->before != NULL) {
        writ_waits_free(&ledger->waits, op->before->wait);
        writ_flights_remove(&ledger->flights, op->before);
    }
    WRIT_TRY(writ_seal_hash_add(&op->boundary->hash, d->draft->decision_id.view, err));
    op->boundary->active_us = writ_clock_mono_us(ledger->options.clock);
    if (d->held_until_us > op->boundary->held_until_us) { /* its row is older than its boundary */
        op->boundary->held_until_us = d->held_until_us;
    }
    d->granted = op->flight != NULL; /* keeps (1) */
    return WRIT_DONE;
}

void
writ_grant_undo(struct writ_ledger *ledger, const struct writ_op *op)
{
    if (op->before != NULL) {
        pass_on(op->flight, op->before);
        op->before->ending = false;
        writ_waits_put_back(&ledger->waits, op->before->wait);
    }
    if (op->flight != NULL) {
        if (op->flight->hold != NULL) {
            writ_claims_remove(&ledger->claims, &op->boundary->holds, op->flight->hold);
        }
        writ_flights_remove(&ledger->flights, op->flight);
    }
}
