/* A wait goes into the table when its row is on disk. A call that waits to be bound is bound once:
 * the mark is set in memory when the entry is prepared, and removed when its group fails. */
#include "store/write/waiting.h"

#include "evidence/record/extension.h"
#include "evidence/record/outcome.h"
#include "store/tables/body.h"
#include "store/write/ending.h"
#include "store/write/group.h"
#include "store/write/results.h"
#include "store/write/vouch.h"

/* ---- a call begins to wait ---- */

static WRIT_RESULT
write_wait(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    const struct writ_wait *wait = op->flight->wait;
    uint8_t name[WRIT_TAG_BYTES];

    writ_tag_put(wait->by_name.tag, name);
    return writ_disk_run(&ledger->disk, WRIT_SQL_WAIT_PUT, err, "ubii", wait->leaf,
        writ_view(name, sizeof name), (int64_t)wait->kind, wait->until_us);
}

static void
finish_wait(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_waits_put_back(&ledger->waits, op->flight->wait);
}

static void
undo_wait(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_waits_free(&ledger->waits, op->flight->wait);
    op->flight->wait = NULL;
}

static const struct writ_op_steps steps = {
    .write = write_wait, .finish = finish_wait, .undo = undo_wait};

static WRIT_RESULT
write_bind(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    return writ_disk_run(&ledger->disk, WRIT_SQL_WAIT_BIND, err, "iiu", (int64_t)WRIT_WAIT_RUN,
        op->entry->wait.until_us, op->flight->leaf);
}

static void
undo_bind(struct writ_ledger *ledger, const struct writ_op *op)
{
    (void)ledger;
    op->flight->wait->kind = WRIT_WAIT_BIND;
    op->flight->wait->until_us = op->until_us;
}

/* It is bound in memory already. */
static const struct writ_op_steps bind_steps = {.write = write_bind, .undo = undo_bind};

/* Binds a call once: a later RUN finds that it was bound. */
static WRIT_RESULT
bind_call(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_flight *flight)
{
    struct writ_wait *wait = flight->wait;
    struct writ_op *op;

    if (wait == NULL || wait->kind != WRIT_WAIT_BIND ||
        wait->until_us <= writ_clock_wall_us(ledger->options.clock)) {
        return (writ_result){WRIT_E_INVALID};
    }
    op = writ_group_op(&ledger->group, &bind_steps, entry);
    op->flight = flight;
    op->until_us = wait->until_us;
    wait->kind = WRIT_WAIT_RUN;
    wait->until_us = entry->wait.until_us;
    return WRIT_DONE;
}

WRIT_RESULT
writ_waiting_enter(struct writ_ledger *ledger, struct writ_entry *entry)
{
    const struct writ_entry_wait *w = &entry->wait;
    struct writ_flight *flight = writ_flights_find(&ledger->flights, w->leaf);
    struct writ_wait *wait;
    struct writ_op *op;

    if (w->kind == WRIT_WAIT_NONE || flight == NULL || flight->ending ||
        flight->leaf >= ledger->log.next_leaf) {
        return (writ_result){WRIT_E_INVALID};
    }
    if (w->kind == WRIT_WAIT_RUN) {
        return bind_call(ledger, entry, flight);
    }
    if (flight->wait != NULL) {
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_TRY(writ_waits_make(&ledger->waits, writ_tag_of(&w->name), &wait, NULL));
    wait->leaf = w->leaf;
    wait->kind = w->kind;
    wait->until_us = w->until_us;
    wait->flight = flight;
    flight->wait = wait;
    op = writ_group_op(&ledger->group, &steps, entry);
    op->flight = flight;
    return WRIT_DONE;
}

/* ---- finding one ---- */

static WRIT_RESULT
read_decision_of(struct writ_ledger *ledger, const struct writ_wait *wait, struct writ_arena *arena,
    struct writ_decision *ret)
{
    struct writ_err err = {0};
    writ_result result = writ_ending_decision(ledger, wait->leaf, arena, ret, &err);

    if (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) {
        writ_group_trouble(ledger, &err);
        result.code = WRIT_E_IO;
    }
    return result;
}

/* Reads the decision of each wait once, however often such a call is looked up. */
static WRIT_RESULT
learn_key(struct writ_ledger *ledger, struct writ_wait *wait, struct writ_arena *arena)
{
    struct writ_decision decision;

    if (wait->keyed) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_decision_of(ledger, wait, arena, &decision));
    WRIT_TRY(writ_tag_name(decision.idempotency_key.view, &wait->key, NULL));
    wait->keyed = true;
    return WRIT_DONE;
}

static bool
has_one_of(const struct writ_wait *wait, const struct writ_tag *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (writ_tag_equal(wait->key, keys[i])) {
            return true;
        }
    }
    return false;
}

static bool
is_candidate(
    const struct writ_ledger *ledger, const struct writ_wait *wait, struct writ_view boundary)
{
    return wait->until_us > writ_clock_wall_us(ledger->options.clock) &&
           (boundary.ptr == NULL ||
               (wait->flight != NULL && writ_view_equal(wait->flight->boundary->name, boundary)));
}

static WRIT_RESULT
find(struct writ_ledger *ledger, const struct writ_entry_waiting *w, struct writ_arena *arena,
    struct writ_wait **ret)
{
    struct writ_map_node *node = writ_map_find(&ledger->waits.by_name, writ_tag_of(&w->name));
    struct writ_tag keys[WRIT_WAITING_KEYS];
    struct writ_wait *other = NULL;

    for (size_t i = 0; i < w->keys_n; i++) {
        WRIT_TRY(writ_tag_name(w->keys[i], &keys[i], NULL));
    }
    for (; node != NULL; node = writ_map_hidden(node)) {
        struct writ_wait *wait = WRIT_MAP_OF(node, struct writ_wait, by_name);
        if (!is_candidate(ledger, wait, w->boundary)) {
            continue;
        }
        if (w->keys_n > 0) {
            WRIT_TRY(learn_key(ledger, wait, arena));
        }
        if (w->keys_n == 0 || has_one_of(wait, keys, w->keys_n)) {
            *ret = wait;
            return WRIT_DONE;
        }
        other = other != NULL ? other : wait;
    }
    if (other == NULL || w->keyed) {
        return (writ_result){WRIT_E_ABSENT};
    }
    *ret = other;
    return WRIT_DONE;
}

WRIT_RESULT
writ_waiting_find(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_waiting *w = &entry->waiting;
    struct writ_wait *wait = NULL;

    WRIT_TRY(find(ledger, w, entry->arena, &wait));
    WRIT_TRY(read_decision_of(ledger, wait, entry->arena, &w->decision));
    w->leaf = wait->leaf;
    w->ended = wait->flight == NULL || wait->flight->ending;
    w->until_us = wait->until_us;
    return WRIT_DONE;
}

/* ---- a decision, and how far its call is ---- */

static enum writ_call_stage
stage_of(const struct writ_map *flights, uint64_t leaf)
{
    const struct writ_flight *flight = writ_flights_find(flights, leaf);

    if (flight == NULL || flight->ending || flight->wait == NULL) {
        return WRIT_CALL_OVER;
    }
    switch (flight->wait->kind) {
    case WRIT_WAIT_BIND:
        return WRIT_CALL_BINDS;
    case WRIT_WAIT_RUN:
        return WRIT_CALL_RUNS;
    case WRIT_WAIT_NONE:
    case WRIT_WAIT_INPUT:
    case WRIT_WAIT_TASK:
        break;
    }
    return WRIT_CALL_OVER;
}

/* Reads the first record under the id: those of its outcome and its review come after it. */
static WRIT_RESULT
read_decision(struct writ_ledger *ledger, struct writ_entry_call *c, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_view body = {NULL, 0};
    bool row = false;
    writ_result result = writ_disk_records(disk, c->decision_id, &row, err);

    if (writ_is_ok(result) && row &&
        writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) == WRIT_ROW_DECISION) {
        c->leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0);
        body = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2), arena);
        if (body.ptr == NULL) {
            result = (writ_result){WRIT_E_NOMEM};
        }
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_RECORDS);
    WRIT_TRY(result);
    if (body.ptr == NULL) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(writ_vouch(ledger, c->leaf, body, err));
    WRIT_TRY(writ_body_decision(body, arena, &c->decision, err));
    return writ_view_equal(writ_member_view(&c->decision.decision_id), c->decision_id)
               ? WRIT_DONE
               : (writ_result){WRIT_E_ABSENT};
}

/* Its reason, if it proves that nothing ran, and what the caller got. */
static WRIT_RESULT
take_outcome(struct writ_entry_call *c, struct writ_view body, struct writ_arena *arena,
    struct writ_err *err)
{
    const struct writ_json *json = NULL;
    struct writ_extension extension;
    struct writ_outcome outcome;

    WRIT_TRY(writ_body_json(body, arena, &json, err));
    WRIT_TRY(writ_outcome_read(json, arena, &outcome, err));
    WRIT_TRY(writ_extension_read(&outcome.extensions, arena, &extension, err));
    c->ended = true;
    c->unmade = writ_outcome_nothing_ran(&outcome)
                    ? writ_reason_find(writ_member_view(&extension.reason))
                    : WRIT_REASON_NONE;
    c->error_type = writ_member_view(&outcome.error_type);
    if (extension.reason.is == WRIT_ABSENT) { /* else the result was withheld from the caller */
        c->told = writ_member_view(writ_results_told(&outcome, &extension));
    }
    return WRIT_DONE;
}

/* Reads the last outcome under the id. A call without one may still be made. */
static WRIT_RESULT
read_end(struct writ_ledger *ledger, struct writ_entry_call *c, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_view body = {NULL, 0};
    uint64_t leaf = 0;
    bool row = false;
    writ_result result = writ_disk_records(disk, c->decision_id, &row, err);

    while (writ_is_ok(result) && row) {
        if (writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 1) == WRIT_ROW_OUTCOME) {
            leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_RECORDS, 0);
            body = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_REVIEW_RECORDS, 2), arena);
            result = body.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
        }
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_REVIEW_RECORDS, &row, err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_RECORDS);
    WRIT_TRY(result);
    if (body.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_vouch(ledger, leaf, body, err));
    WRIT_TRY(take_outcome(c, body, arena, err));
    return c->wants_result ? writ_results_find(ledger, c->leaf, c->decision_id,
                                 writ_clock_wall_us(ledger->options.clock), arena, &c->result, err)
                           : WRIT_DONE;
}

WRIT_RESULT
writ_waiting_call(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_err err = {0};
    writ_result result;

    if (entry->call.decision_id.len > WRIT_LEDGER_NAME_MAX) {
        return (writ_result){WRIT_E_ABSENT};
    }
    entry->call.unmade = WRIT_REASON_NONE;
    entry->call.ended = false;
    entry->call.error_type = entry->call.told = entry->call.result = (struct writ_view){NULL, 0};
    result = read_decision(ledger, &entry->call, entry->arena, &err);
    if (writ_is_ok(result)) {
        entry->call.stage = stage_of(&ledger->flights, entry->call.leaf);
    }
    if (writ_is_ok(result) && entry->call.stage == WRIT_CALL_OVER) {
        result = read_end(ledger, &entry->call, entry->arena, &err);
    }
    if (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) {
        writ_group_trouble(ledger, &err);
        result.code = WRIT_E_IO;
    }
    return result;
}

/* ---- its end ---- */

/* The reason in the outcome of a call whose time has passed. */
static enum writ_reason
given_up_as(enum writ_wait_kind kind)
{
    switch (kind) {
    case WRIT_WAIT_TASK:
        return WRIT_REASON_TASK_EXPIRED;
    case WRIT_WAIT_BIND:
        return WRIT_REASON_AUTHORIZATION_UNUSED;
    case WRIT_WAIT_NONE:
    case WRIT_WAIT_RUN:
        return WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN;
    case WRIT_WAIT_INPUT:
        break;
    }
    return WRIT_REASON_INPUT_EXPIRED;
}

void
writ_waiting_sweep(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    size_t count = ledger->waits.by_name.count;

    for (size_t i = 0; i < count && i < WRIT_STORE_SWEEP; i++) {
        struct writ_wait *wait = ledger->waits.ring;

        ledger->waits.ring = wait->next;
        if (wait->until_us <= now_us && wait->flight != NULL && !wait->flight->ending) {
            /* a failure is tried again in the next round */
            WRIT_IGNORE(writ_ending_given_up(ledger, wait->flight, given_up_as(wait->kind), NULL));
        }
    }
}

static bool
is_stale(const struct writ_wait *wait, int64_t now_us)
{
    return wait->flight == NULL && wait->until_us <= now_us;
}

WRIT_RESULT
writ_waiting_stale(struct writ_ledger *ledger, int64_t now_us, struct writ_err *err)
{
    struct writ_wait *wait = ledger->waits.ring;

    for (size_t i = ledger->waits.by_name.count; i > 0; i--, wait = wait->next) {
        if (is_stale(wait, now_us)) {
            WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_WAIT_DROP, err, "u", wait->leaf));
        }
    }
    return WRIT_DONE;
}

void
writ_waiting_prune(struct writ_waits *waits, int64_t now_us)
{
    struct writ_wait *wait = waits->ring;

    for (size_t i = waits->by_name.count; i > 0; i--) {
        struct writ_wait *next = wait->next;

        if (is_stale(wait, now_us)) {
            writ_waits_take(waits, wait);
            writ_waits_free(waits, wait);
        }
        wait = next;
    }
}
