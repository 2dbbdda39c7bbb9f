/* 1. A boundary that is `sealing` takes no further call. It is `ready`, and in the list of ready
 * ones, when in addition none of its calls is in flight and none of its records is being written.
 * 2. Seals are written in groups of their own, so that the hash they carry is over decisions that
 *    are on disk.
 * 3. A sealed boundary is removed from memory. */
#include "store/write/sealing.h"

#include "store/tables/review_index.h"
#include "store/write/group.h"
#include "store/write/turn.h"
#include "store/write/vouch.h"

#define SEAL_ARENA 4096 /* bytes to make one seal */

void
writ_sealing_ready(struct writ_boundaries *boundaries, struct writ_boundary *boundary)
{
    if (boundary->sealing && !boundary->ready && !boundary->touched && !boundary->fresh &&
        boundary->in_flight == 0) {
        boundary->ready = true;
        boundary->next_ready = boundaries->ready;
        boundaries->ready = boundary;
    }
}

/* It takes no further call; its reviews end in the next sweep. */
static void
begin_sealing(struct writ_ledger *ledger, struct writ_boundary *boundary, bool swept)
{
    boundary->sealing = true;
    boundary->swept = swept;
    writ_review_index_look_in(&ledger->reviews, boundary);
}

void
writ_sealing_end(struct writ_ledger *ledger, struct writ_boundary *boundary, enum writ_code code,
    uint64_t leaf, uint64_t total, struct writ_view record)
{
    while (boundary->seals != NULL) {
        struct writ_entry *entry = boundary->seals;

        boundary->seals = entry->next;
        entry->code = code;
        if (code == WRIT_OK) {
            entry->seal.leaf = leaf;
            entry->seal.total = total;
            entry->seal.record =
                entry->arena != NULL ? writ_view_copy(record, entry->arena) : writ_view(NULL, 0);
        }
        entry->next = ledger->over;
        ledger->over = entry;
    }
}

void
writ_sealing_sealed(struct writ_ledger *ledger, struct writ_boundary *boundary, uint64_t leaf,
    uint64_t total, struct writ_view record)
{
    struct writ_boundary **at = &ledger->boundaries.ready;

    writ_sealing_end(ledger, boundary, WRIT_OK, leaf, total, record);
    while (*at != NULL && *at != boundary) {
        at = &(*at)->next_ready;
    }
    if (*at != NULL) {
        *at = boundary->next_ready;
    }
    writ_boundaries_remove(&ledger->boundaries, boundary);
}

void
writ_sealing_end_all(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_boundary *first = ledger->boundaries.ring, *boundary = first;

    if (first == NULL) {
        return;
    }
    do {
        writ_sealing_end(ledger, boundary, code, 0, 0, writ_view(NULL, 0));
        boundary = boundary->next;
    } while (boundary != first);
}

/* ---- on demand ---- */

static WRIT_RESULT
read_record(struct writ_ledger *ledger, uint64_t leaf, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result;

    if (arena == NULL) {
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_BODY_AT, &row, err, "u", leaf);
    if (writ_is_ok(result) && row) {
        *ret = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_BODY_AT, 0), arena);
    }
    writ_disk_end(disk, WRIT_SQL_BODY_AT);
    WRIT_TRY(result);
    return ret->ptr == NULL ? WRIT_DONE : writ_vouch(ledger, leaf, *ret, err);
}

/* The answer for a boundary that is not open: sealed earlier, or unknown. */
static WRIT_RESULT
tell_sealed(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_err *err)
{
    struct writ_entry_seal *seal = &entry->seal;
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    uint64_t leaf = 0;
    writ_result result = writ_disk_query(
        disk, WRIT_SQL_BOUNDARY_FIND, &row, err, "tt", seal->boundary_id, seal->tenant);

    if (writ_is_ok(result) && row) {
        leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARY_FIND, 1);
    }
    writ_disk_end(disk, WRIT_SQL_BOUNDARY_FIND);
    WRIT_TRY(result);
    if (!row) {
        return (writ_result){WRIT_E_ABSENT};
    }
    result = writ_disk_query(disk, WRIT_SQL_RECORD_AT, &row, err, "u", leaf);
    if (writ_is_ok(result) && row) {
        seal->leaf = leaf;
        seal->total = (uint64_t)writ_disk_int(disk, WRIT_SQL_RECORD_AT, 3);
    }
    writ_disk_end(disk, WRIT_SQL_RECORD_AT);
    WRIT_TRY(result);
    if (!row) { /* it was removed: removing.h */
        return (writ_result){WRIT_E_ABSENT};
    }
    return read_record(ledger, leaf, entry->arena, &seal->record, err);
}

/* Whether the caller may have that boundary sealed now. */
static enum writ_code
may_seal(const struct writ_boundaries *boundaries, const struct writ_boundary *boundary,
    struct writ_entry_seal *seal)
{
    if (seal->of_agent &&
        !writ_shares_is_of(&boundaries->shares, &boundary->charge, seal->tenant, seal->agent_id)) {
        return WRIT_E_ABSENT;
    }
    if (seal->at_once && boundary->in_flight > 0) {
        seal->in_flight = boundary->in_flight;
        return WRIT_E_BUSY;
    }
    return WRIT_OK;
}

bool
writ_sealing_ask(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_seal *seal = &entry->seal;
    struct writ_boundary *boundary;
    struct writ_err err = {0};
    struct writ_tag tag;
    writ_result result = writ_boundaries_tag(seal->tenant, seal->boundary_id, &tag, &err);

    if (!writ_is_ok(result)) {
        entry->code = result.code;
        return false;
    }
    boundary = writ_boundaries_find(&ledger->boundaries, tag, seal->tenant, seal->boundary_id);
    if (boundary == NULL) {
        entry->code = tell_sealed(ledger, entry, &err).code;
        if (entry->code == WRIT_E_IO || entry->code == WRIT_E_BUSY) {
            writ_group_trouble(ledger, &err);
            entry->code = WRIT_E_IO;
        }
        return false;
    }
    entry->code = may_seal(&ledger->boundaries, boundary, seal);
    if (entry->code != WRIT_OK) {
        return false;
    }
    begin_sealing(ledger, boundary, false);
    if (boundary->in_flight > 0) {
        ledger->turn.ticked_us -=
            WRIT_STORE_TICK_US; /* this turn checks the entries that wait in it */
    }
    entry->next = boundary->seals;
    boundary->seals = entry;
    writ_sealing_ready(&ledger->boundaries, boundary);
    return true;
}

/* ---- when idle ---- */

/* Many callers share the boundary of refused calls, so it stays open for its day. */
static bool
is_of_today(const struct writ_boundary *boundary, int64_t now_us)
{
    struct writ_view prefix = writ_view_str(WRIT_LEDGER_RESERVED "refused:");
    char now[WRIT_TIME_TEXT];

    if (!writ_view_has_prefix(boundary->name, prefix)) {
        return false;
    }
    writ_time_format(now_us, now);
    return writ_view_has_prefix(
        writ_view_str(now), writ_view_sub(boundary->name, prefix.len, boundary->name.len));
}

/* A session of another gateway may hold the boundary: its row says so. An error is a reason to
 * wait. */
static bool
is_held(struct writ_ledger *ledger, struct writ_boundary *boundary, int64_t wall_us)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result;

    if (ledger->sharing == NULL) {
        return false;
    }
    result = writ_disk_query(
        disk, WRIT_SQL_SESSION_HOLDS, &row, NULL, "tt", boundary->tenant, boundary->name);
    if (writ_is_ok(result) && row) {
        boundary->held_until_us = writ_disk_int(disk, WRIT_SQL_SESSION_HOLDS, 0);
    }
    writ_disk_end(disk, WRIT_SQL_SESSION_HOLDS);
    return !writ_is_ok(result) || boundary->held_until_us > wall_us;
}

/* Whether its time is over and nothing holds it. */
static bool
is_idle(struct writ_ledger *ledger, struct writ_boundary *boundary)
{
    const struct writ_clock *clock = ledger->options.clock;
    int64_t wall_us = writ_clock_wall_us(clock);

    return boundary->in_flight == 0 && boundary->held_until_us <= wall_us &&
           writ_clock_mono_us(clock) - boundary->active_us >= ledger->options.boundary_idle_us &&
           !is_of_today(boundary, writ_group_now(ledger)) && !is_held(ledger, boundary, wall_us);
}

void
writ_sealing_sweep(struct writ_ledger *ledger)
{
    size_t open = ledger->boundaries.by_name.count;

    for (size_t i = 0; i < open && i < WRIT_STORE_SWEEP; i++) {
        struct writ_boundary *boundary = writ_boundaries_sweep(&ledger->boundaries);

        if (!boundary->sealing && is_idle(ledger, boundary)) {
            begin_sealing(ledger, boundary, true);
            writ_sealing_ready(&ledger->boundaries, boundary);
        }
    }
}

WRIT_RESULT
writ_sealing_all(struct writ_ledger *ledger, uint64_t since)
{
    size_t open = ledger->boundaries.by_name.count;
    size_t left = 0;

    for (size_t i = 0; i < open; i++) {
        struct writ_boundary *boundary = writ_boundaries_sweep(&ledger->boundaries);

        if (boundary->first_leaf < since && !is_of_today(boundary, writ_group_now(ledger))) {
            begin_sealing(ledger, boundary, boundary->swept);
            left++;
            writ_sealing_ready(&ledger->boundaries, boundary);
        }
    }
    while (ledger->boundaries.ready != NULL) {
        open = ledger->boundaries.by_name.count;
        writ_sealing_commit(ledger);
        if (open == ledger->boundaries.by_name.count) { /* none could be sealed */
            break;
        }
        left -= open - ledger->boundaries.by_name.count;
    }
    return left == 0 ? WRIT_DONE : (writ_result){WRIT_E_IO};
}

/* ---- the group ---- */

/* In a turn: another gateway may have used the boundary since it was marked. */
static bool
is_used(struct writ_ledger *ledger, struct writ_boundary *boundary)
{
    if (ledger->sharing != NULL && boundary->swept && !is_idle(ledger, boundary)) {
        boundary->sealing = boundary->swept = false; /* it waits for its time again */
    }
    return !boundary->sealing || boundary->in_flight > 0;
}

static void
put_back(struct writ_ledger *ledger, struct writ_boundary *boundary)
{
    boundary->ready = false;
    writ_sealing_ready(&ledger->boundaries, boundary);
}

static WRIT_RESULT
write_op(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    return writ_disk_run(&ledger->disk, WRIT_SQL_BOUNDARY_SEAL, err, "uu",
        ledger->group.rows[op->row].row.leaf, op->boundary->id);
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    const struct writ_group_row *at = &ledger->group.rows[op->row];
    const struct writ_row *row = &at->row;
    struct writ_boundary *boundary = op->boundary;

    writ_sealing_end(ledger, boundary, WRIT_OK, row->leaf, row->seq,
        writ_view(ledger->group.bodies.ptr + at->body_at, at->body_len));
    writ_boundaries_remove(&ledger->boundaries, boundary);
}

static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    put_back(ledger, op->boundary);
    writ_sealing_end(ledger, op->boundary, WRIT_E_IO, 0, 0, writ_view(NULL, 0));
}

static const struct writ_op_steps steps = {.write = write_op, .finish = finish_op, .undo = undo_op};

static WRIT_RESULT
prepare(struct writ_ledger *ledger, struct writ_boundary *boundary, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_buf *bodies = &ledger->group.bodies;
    size_t at;
    int64_t now_us = writ_group_stamp(ledger);
    struct writ_seal seal = {0};
    struct writ_faults faults = {0};
    struct writ_group_row *row;
    struct writ_op *op;

    WRIT_INVARIANT(boundary->hash.total == boundary->next_seq); /* keeps (2) */
    WRIT_TRY(writ_seal_make(boundary->name, &boundary->hash, now_us, arena, &seal, err));
    writ_seal_validate(&seal, &faults);
    WRIT_INVARIANT(faults.count == 0);
    at = writ_group_body(&ledger->group);
    WRIT_TRY(writ_seal_put(&seal, bodies, err));

    op = writ_group_op(&ledger->group, &steps, NULL);
    op->boundary = boundary;
    row = writ_group_row(ledger);
    row->body_at = at;
    row->body_len = bodies->len - at;
    row->row.kind = WRIT_ROW_SEAL;
    row->row.boundary = boundary->id;
    row->row.seq = boundary->next_seq;
    row->row.time_us = now_us;
    return WRIT_DONE;
}

void
writ_sealing_commit(struct writ_ledger *ledger)
{
    struct writ_arena *arena = writ_arena_new(SEAL_ARENA * WRIT_STORE_SEALS);
    struct writ_boundary *list;
    struct writ_err err = {0};

    if (arena == NULL) {
        return; /* tried again in the next turn */
    }
    if (!writ_is_ok(writ_turn_enter(ledger, &err))) {
        writ_group_trouble(ledger, &err);
        writ_arena_free(arena);
        return;
    }
    list = ledger->boundaries.ready; /* others may have sealed some */
    ledger->boundaries.ready = NULL;
    for (size_t i = 0; list != NULL; i++) {
        struct writ_boundary *boundary = list;
        size_t at = ledger->group.bodies.len;

        list = boundary->next_ready;
        if (i >= WRIT_STORE_SEALS || !writ_group_has_room(&ledger->group) ||
            is_used(ledger, boundary)) {
            put_back(ledger, boundary);
        } else if (!writ_is_ok(prepare(ledger, boundary, arena, &err))) {
            writ_buf_cut(&ledger->group.bodies, at);
            put_back(ledger, boundary);
        }
    }
    /* failed seals were put back, and ledger->trouble.why says why */
    (void)writ_group_commit(ledger).code;
    writ_arena_free(arena);
}

/* ---- every group ---- */

static struct writ_boundary *
untouch(struct writ_boundary *boundary)
{
    struct writ_boundary *next = boundary->next_touched;

    boundary->touched = false;
    boundary->next_touched = NULL;
    return next;
}

static void
finish_group(struct writ_ledger *ledger)
{
    struct writ_boundary *boundary = WRIT_TAKE(ledger->group.touched);

    while (boundary != NULL) {
        struct writ_boundary *next = untouch(boundary);

        boundary->fresh = false;
        writ_sealing_ready(&ledger->boundaries, boundary);
        boundary = next;
    }
}

static void
undo_group(struct writ_ledger *ledger)
{
    struct writ_boundary *boundary = WRIT_TAKE(ledger->group.touched);

    while (boundary != NULL) {
        struct writ_boundary *next = untouch(boundary);

        boundary->next_seq = boundary->before;
        if (boundary->fresh) {
            writ_sealing_end(ledger, boundary, WRIT_E_IO, 0, 0, writ_view(NULL, 0));
            writ_boundaries_remove(&ledger->boundaries, boundary);
        }
        boundary = next;
    }
}

const struct writ_participant writ_sealing_participant = {
    .finish = finish_group, .undo = undo_group};
