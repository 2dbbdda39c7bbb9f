/* 1. A flight is `ending` from the moment its outcome is prepared until the outcome is on disk; it
 * takes no second outcome.
 * 2. An outcome that could not be written is kept as the final record, with its time, and written
 *    before anything that was prepared later. So times in the log still grow.
 * 3. The group that writes an outcome also returns its amounts to the budgets; the claim is
 *    released, and the flight ended, when that group is on disk. */
#include "store/write/ending.h"

#include "evidence/record/derive.h"

#include "store/tables/body.h"
#include "store/write/content_rows.h"
#include "store/write/group.h"
#include "store/write/results.h"
#include "store/write/sealing.h"
#include "store/write/turn.h"
#include "store/write/vouch.h"

#define RECOVERY_ARENA (8 << 20) /* memory to read one decision back */

static WRIT_RESULT
find_flight(struct writ_ledger *ledger, const struct writ_entry_outcome *o,
    struct writ_flight **ret, struct writ_err *err)
{
    struct writ_flight *flight;

    if (o->decision == NULL || o->outcome == NULL || o->profile == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an outcome needs its decision and a profile");
    }
    flight = writ_flights_find(&ledger->flights, o->leaf);
    /* the caller has no answer yet for a decision that is not on disk */
    if (flight == NULL || flight->ending || flight->leaf >= ledger->log.next_leaf ||
        (flight->wait == NULL && flight->owner != ledger->fleet.epoch) ||
        !writ_view_equal(flight->decision_id, o->decision->decision_id.view)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the decision is not in flight");
    }
    *ret = flight;
    return WRIT_DONE;
}

/* Gives the outcome its place and appends its canonical form to `bodies`. */
static WRIT_RESULT
write_outcome(struct writ_outcome *outcome, const struct writ_flight *flight,
    const struct writ_decision *decision, const struct writ_profile *profile, int64_t now_us,
    struct writ_outcome_texts *texts, struct writ_buf *bodies, struct writ_err *err)
{
    struct writ_faults faults = {0};
    size_t at = bodies->len;

    if (flight->intent_ref.ptr != NULL) { /* from the signed record */
        WRIT_TRY(writ_outcome_join_known(outcome, decision, flight->intent_ref, err));
    } else {
        WRIT_TRY(writ_outcome_join(outcome, decision, profile, err));
    }
    WRIT_TRY(writ_outcome_place(outcome, decision, profile, now_us, texts, err));
    writ_outcome_validate(outcome, &faults);
    if (faults.count > 0) {
        writ_auto_buf text = writ_buf_make(WRIT_ERR_TEXT);

        writ_faults_put(&faults, &text);
        WRIT_FAIL(err, WRIT_E_INVALID, "the outcome is not valid: " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
    WRIT_TRY(writ_outcome_put(outcome, bodies, err));
    if (bodies->len - at > WRIT_LEDGER_RECORD_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the record has more than %d bytes", WRIT_LEDGER_RECORD_MAX);
    }
    return WRIT_DONE;
}

static struct writ_row
row_of(const struct writ_flight *flight, const struct writ_outcome *outcome, int64_t now_us)
{
    bool interrupted = outcome->error_type.is == WRIT_PRESENT &&
                       writ_view_is(outcome->error_type.view, WRIT_OUTCOME_INTERRUPTED);
    enum writ_outcome_kind kind = WRIT_OUTCOME_ERROR;

    (void)writ_outcome_kind_of(outcome, &kind);
    return (struct writ_row){
        .kind = WRIT_ROW_OUTCOME,
        .boundary = flight->boundary->id,
        .seq = outcome->seq.is == WRIT_PRESENT ? (uint64_t)outcome->seq.value : 0,
        .time_us = now_us,
        .verdict = (int)kind,
        .flags = (writ_outcome_nothing_ran(outcome) ? WRIT_ROW_NOTHING_RAN : 0U) |
                 (interrupted ? WRIT_ROW_INTERRUPTED : 0U),
        .about = flight->leaf,
        .decision_id = flight->decision_id,
    };
}

static void
add_row(struct writ_ledger *ledger, const struct writ_row *from, struct writ_group_row *row)
{
    uint64_t leaf = row->row.leaf;

    row->row = *from;
    row->row.leaf = leaf;
    if ((from->flags & WRIT_ROW_NOTHING_RAN) != 0) {
        const struct writ_flight *flight = writ_flights_find(&ledger->flights, from->about);

        writ_budgets_return(&ledger->budgets, flight->bookings, flight->bookings_n); /* keeps (3) */
    }
}

/* ---- with its group ---- */

static WRIT_RESULT
keep(struct writ_kept_list *list, struct writ_flight *flight, const struct writ_row *row,
    struct writ_view body, const struct writ_sealed *content, enum writ_reason given_up)
{
    struct writ_kept *kept = writ_alloc(sizeof *kept + body.len);

    if (kept == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (content != NULL && content->bytes.len <= WRIT_STORE_KEPT_CONTENTS - list->content_bytes) {
        kept->content =
            writ_content_rows_copy(content); /* the record goes without it, if need be */
    }
    list->content_bytes += kept->content != NULL ? kept->content->bytes.len : 0;
    kept->flight = flight;
    kept->given_up = given_up;
    kept->row = *row;
    kept->row.body = writ_view_place(body, kept->body);
    *list->end = kept;
    list->end = &kept->next;
    list->n++;
    flight->ending = true;
    return WRIT_DONE;
}

/* It is kept. */
static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    const struct writ_group_row *row = &ledger->group.rows[op->row];
    struct writ_view body = writ_view(ledger->group.bodies.ptr + row->body_at, row->body_len);

    /* poisoned: nothing can be written any more; the next opening records "interrupted". No memory:
     * the submitter may try again */
    op->flight->ending = false;
    op->entry->outcome.kept =
        !ledger->disk.poisoned && writ_is_ok(keep(&ledger->kept, op->flight, &row->row, body,
                                      op->entry->outcome.content, WRIT_REASON_NONE));
}

/* The outcome is on disk. A decision that cannot be read now is not reported: its outcome is
 * recorded all the same. */
static void
report(struct writ_ledger *ledger, const struct writ_kept *kept)
{
    const struct writ_ledger_reports *reports = ledger->options.reports;
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    struct writ_arena *arena;

    if (reports == NULL || kept->given_up == WRIT_REASON_NONE) {
        return;
    }
    arena = writ_arena_new(RECOVERY_ARENA);
    if (arena != NULL &&
        writ_is_ok(writ_ending_decision(ledger, kept->row.about, arena, &decision, NULL)) &&
        writ_is_ok(writ_extension_read(&decision.extensions, arena, &extension, NULL))) {
        reports->given_up(reports->ctx, &decision, &extension, kept->given_up);
    }
    writ_arena_free(arena);
}

/* Takes the outcome at `*at` off the list. */
static void
kept_take(struct writ_kept_list *list, struct writ_kept **at)
{
    struct writ_kept *kept = *at;

    *at = kept->next;
    if (kept->next == NULL) {
        list->end = at;
    }
    list->n--;
    list->content_bytes -= kept->content != NULL ? kept->content->bytes.len : 0;
    writ_free(kept->content);
    writ_free(kept);
}

static void
kept_pop(struct writ_kept_list *list)
{
    kept_take(list, &list->first);
}

void
writ_ending_dropped(struct writ_ledger *ledger, const struct writ_flight *flight)
{
    struct writ_kept **at = &ledger->kept.first;

    while (*at != NULL && (*at)->flight != flight) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        kept_take(&ledger->kept, at);
    }
}

/* Deletes the row of the wait of a call that has its outcome, unless it is a task's. */
static WRIT_RESULT
end_wait(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    const struct writ_flight *flight = op->flight;

    if (flight->wait == NULL || flight->wait->kind == WRIT_WAIT_TASK) {
        return WRIT_DONE;
    }
    return writ_disk_run(&ledger->disk, WRIT_SQL_WAIT_DROP, err, "u", flight->leaf);
}

static WRIT_RESULT
write_op(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    WRIT_TRY(end_wait(ledger, op, err));
    WRIT_TRY(writ_content_rows_write_result(
        ledger, op->flight, ledger->group.rows[op->row].row.leaf, op->entry->outcome.content, err));
    return op->flight->erased ? WRIT_DONE : writ_results_write(ledger, op, err);
}

static WRIT_RESULT
write_kept(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    WRIT_TRY(end_wait(ledger, op, err));
    return writ_content_rows_write_result(
        ledger, op->flight, ledger->group.rows[op->row].row.leaf, op->kept->content, err);
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    const struct writ_row *row = &ledger->group.rows[op->row].row;
    struct writ_flight *flight = op->flight;
    struct writ_boundary *boundary = flight->boundary;
    struct writ_hold *hold = flight->hold;

    if (hold != NULL && (row->flags & WRIT_ROW_NOTHING_RAN) != 0) {
        writ_claims_remove(&ledger->claims, hold);
    } else if (hold != NULL) {
        writ_claims_conclude(
            &ledger->claims, hold, (uint8_t)row->verdict, (row->flags & WRIT_ROW_INTERRUPTED) != 0);
    }
    boundary->active_us = writ_clock_mono_us(ledger->options.clock);
    writ_waits_end(&ledger->waits, flight);
    writ_flights_remove(&ledger->flights, flight);
    writ_sealing_ready(&ledger->boundaries, boundary);
}

static void
finish_kept(struct writ_ledger *ledger, const struct writ_op *op)
{
    finish_op(ledger, op);
    WRIT_INVARIANT(ledger->kept.first == op->kept);
    report(ledger, op->kept);
    kept_pop(&ledger->kept);
}

static const struct writ_op_steps steps = {
    .write = write_op,
    .finish = finish_op,
    .undo = undo_op,
    .undo_in_order = true, /* they are kept in the order of their times */
};

/* Steps of a kept outcome: it stays kept when its group fails. */
static const struct writ_op_steps kept_steps = {.write = write_kept, .finish = finish_kept};

/* ---- an outcome ---- */

WRIT_RESULT
writ_ending_outcome(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_outcome *o = &entry->outcome;
    struct writ_buf *bodies = &ledger->group.bodies;
    size_t before = bodies->len, at;
    struct writ_flight *flight = NULL;
    struct writ_group_row *row;
    struct writ_row made;
    struct writ_op *op;
    int64_t now_us;
    writ_result result;

    o->kept = false;
    WRIT_TRY(find_flight(ledger, o, &flight, NULL));
    now_us = writ_group_stamp(ledger);
    at = writ_group_body(&ledger->group);
    result =
        write_outcome(o->outcome, flight, o->decision, o->profile, now_us, &o->texts, bodies, NULL);
    if (!writ_is_ok(result)) {
        writ_buf_cut(bodies, before);
        return result;
    }
    op = writ_group_op(&ledger->group, &steps, entry);
    op->flight = flight;
    ledger->group.contents += o->content != NULL ? o->content->bytes.len : 0;
    flight->ending = true;
    row = writ_group_row(ledger);
    row->body_at = at;
    row->body_len = bodies->len - at;
    made = row_of(flight, o->outcome, now_us);
    add_row(ledger, &made, row);
    o->outcome_leaf = row->row.leaf;
    return WRIT_DONE;
}

/* ---- outcomes that are kept ---- */

/* Gives a kept outcome a later time, because other gateways have written records since it was
 * made. */
static WRIT_RESULT
make_later(struct writ_ledger *ledger, struct writ_kept *kept, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_decision decision = {0};
    struct writ_outcome outcome = {0};
    struct writ_outcome_texts texts;
    const struct writ_profile *profile = NULL;
    const struct writ_json *value = NULL;
    writ_auto_buf body = writ_buf_make(WRIT_LEDGER_RECORD_MAX);
    int64_t now_us = writ_group_stamp(ledger);

    WRIT_TRY(writ_ending_decision(ledger, kept->row.about, arena, &decision, err));
    WRIT_TRY(writ_body_profile(&decision, arena, &profile, err));
    WRIT_TRY(writ_body_json(kept->row.body, arena, &value, err));
    WRIT_TRY(writ_outcome_read(value, arena, &outcome, err));
    WRIT_TRY(writ_outcome_place(&outcome, &decision, profile, now_us, &texts, err));
    WRIT_TRY(writ_outcome_put(&outcome, &body, err));
    WRIT_INVARIANT(body.len == kept->row.body.len); /* times and digests have one length */
    kept->row.time_us = now_us;
    (void)writ_view_place(writ_buf_view(&body), kept->body);
    return WRIT_DONE;
}

/* Makes room for kept outcomes behind what others wrote; their order stays. */
static WRIT_RESULT
make_all_later(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_arena *arena;
    writ_result result = WRIT_DONE;

    if (ledger->kept.first == NULL || ledger->kept.first->row.time_us > ledger->log.edge_us) {
        return WRIT_DONE;
    }
    arena = writ_arena_new(RECOVERY_ARENA);
    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for outcomes that are kept");
    }
    for (struct writ_kept *kept = ledger->kept.first; kept != NULL && writ_is_ok(result);
         kept = kept->next) {
        writ_arena_reset(arena);
        result = make_later(ledger, kept, arena, err);
    }
    writ_arena_free(arena);
    return result;
}

/* Adds kept outcomes to the present group. */
static WRIT_RESULT
add_kept(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(writ_turn_enter(ledger, err));
    WRIT_TRY(make_all_later(ledger, err));
    for (struct writ_kept *kept = ledger->kept.first;
         kept != NULL && writ_group_has_room(&ledger->group); kept = kept->next) {
        struct writ_op *op = writ_group_op(&ledger->group, &kept_steps, NULL);

        op->kept = kept;
        op->flight = kept->flight;
        add_row(ledger, &kept->row, writ_group_row(ledger));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_ending_flush(struct writ_ledger *ledger)
{
    while (ledger->kept.first != NULL) {
        struct writ_err err = {0};
        writ_result result = add_kept(ledger, &err);

        if (!writ_is_ok(result)) {
            writ_turn_leave(ledger);
            writ_group_trouble(ledger, &err);
            return (writ_result){result.code == WRIT_E_NOMEM ? WRIT_E_NOMEM : WRIT_E_IO};
        }
        WRIT_TRY(writ_group_commit(ledger)); /* takes the written outcomes off the list */
    }
    return WRIT_DONE;
}

void
writ_ending_wipe(struct writ_ledger *ledger)
{
    while (ledger->kept.first != NULL) {
        kept_pop(&ledger->kept);
    }
}

/* ---- recovery ---- */

WRIT_RESULT
writ_ending_decision(struct writ_ledger *ledger, uint64_t leaf, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_view body;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_BODY_AT, &row, err, "u", leaf);

    body = writ_is_ok(result) && row
               ? writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_BODY_AT, 0), arena)
               : writ_view(NULL, 0);
    writ_disk_end(disk, WRIT_SQL_BODY_AT);
    WRIT_TRY(result);
    if (body.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu has no body", (unsigned long long)leaf);
    }
    WRIT_TRY(writ_vouch(ledger, leaf, body, err));
    result = writ_body_decision(body, arena, ret, err);
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is not readable", (unsigned long long)leaf);
    }
    return result;
}

static WRIT_RESULT
give_up(struct writ_ledger *ledger, struct writ_flight *flight, enum writ_reason reason,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_decision decision = {0};
    const struct writ_profile *profile = NULL;
    writ_auto_buf body = writ_buf_make(WRIT_LEDGER_RECORD_MAX);
    struct writ_outcome_texts texts;
    struct writ_outcome outcome;
    struct writ_row row;
    int64_t now_us = writ_group_stamp(ledger);

    WRIT_TRY(writ_ending_decision(ledger, flight->leaf, arena, &decision, err));
    WRIT_TRY(writ_body_profile(&decision, arena, &profile, err));
    outcome = writ_outcome_for(&decision, WRIT_OUTCOME_ERROR);
    outcome.error_type = writ_member_text(writ_reason_name(reason));
    outcome.error_message = writ_member_text(writ_reason_sentence(reason));
    WRIT_TRY(write_outcome(&outcome, flight, &decision, profile, now_us, &texts, &body, err));
    row = row_of(flight, &outcome, now_us);
    return keep(&ledger->kept, flight, &row, writ_buf_view(&body), NULL,
        flight->wait != NULL ? reason : WRIT_REASON_NONE);
}

WRIT_RESULT
writ_ending_given_up(struct writ_ledger *ledger, struct writ_flight *flight,
    enum writ_reason reason, struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new(RECOVERY_ARENA);
    writ_result result;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to recover");
    }
    result = give_up(ledger, flight, reason, arena, err);
    writ_arena_free(arena);
    return result;
}
