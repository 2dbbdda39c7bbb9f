/* 1. The ops of a group are finished, in order, when its transaction is on disk; else they are
 * undone, backwards. A transaction begins only while the files are still the opened ones.
 * 2. Preparing writes nothing; writing changes nothing in memory. */
#include "store/write/group.h"

#include "store/write/signing.h"
#include "store/write/turn.h"

/* nodes above all records of a group that one record can complete */
#define NODES_MORE   ((size_t)WRIT_TREE_LEVELS * WRIT_DIGEST_BYTES)
#define ROWS_MAX     3 /* of one entry: a deny, its outcome, and the end of its review */
#define ROWS_AT_ONCE ((size_t)32 * WRIT_DISK_ROWS)

WRIT_RESULT
writ_group_init(struct writ_group *ret, size_t entries_max,
    const struct writ_participant *const *participants, struct writ_err *err)
{
    struct writ_group group = {.participants = participants, .rows_max = ROWS_MAX * entries_max};

    group.bodies = writ_buf_make(WRIT_STORE_BODIES_MAX);
    group.nodes = writ_buf_make(writ_tree_nodes(group.rows_max) * WRIT_DIGEST_BYTES + NODES_MORE);
    group.note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    group.rows = writ_alloc(group.rows_max * sizeof *group.rows);
    group.ops = writ_alloc(group.rows_max * sizeof *group.ops);
    if (group.rows == NULL || group.ops == NULL) {
        writ_group_wipe(&group);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for groups of %zu entries", entries_max);
    }
    *ret = group;
    return WRIT_DONE;
}

void
writ_group_wipe(struct writ_group *group)
{
    writ_buf_wipe(&group->bodies);
    writ_buf_wipe(&group->nodes);
    writ_buf_wipe(&group->note);
    writ_free(group->rows);
    writ_free(group->ops);
    *group = (struct writ_group){0};
}

bool
writ_group_has_room(const struct writ_group *group)
{
    return group->rows_n + ROWS_MAX <= group->rows_max &&
           group->ops_n + ROWS_MAX <= group->rows_max &&
           group->bodies.len < WRIT_STORE_BODIES_SOFT && group->contents < WRIT_STORE_CONTENTS_SOFT;
}

struct writ_group_row *
writ_group_row(struct writ_ledger *ledger)
{
    struct writ_group *group = &ledger->group;
    struct writ_group_row *row = &group->rows[group->rows_n];

    WRIT_INVARIANT(group->rows_n < group->rows_max);
    *row = (struct writ_group_row){.body_at = SIZE_MAX};
    row->row.leaf = ledger->log.next_leaf + group->rows_n;
    group->rows_n++;
    return row;
}

size_t
writ_group_body(struct writ_group *group)
{
    struct writ_buf *bodies = &group->bodies;

    if (bodies->len > 0) {
        writ_buf_byte(bodies, '\n');
    }
    return bodies->len;
}

struct writ_op *
writ_group_op(struct writ_group *group, const struct writ_op_steps *steps, struct writ_entry *entry)
{
    struct writ_op *op = &group->ops[group->ops_n];

    WRIT_INVARIANT(group->ops_n < group->rows_max);
    group->ops_n++;
    *op = (struct writ_op){.steps = steps, .entry = entry, .row = group->rows_n};
    return op;
}

int64_t
writ_group_now(const struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);

    return now_us > ledger->log.last_us ? now_us : ledger->log.last_us;
}

int64_t
writ_group_stamp(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);

    /* an unused time is harmless: times only have to grow */
    ledger->log.last_us = now_us > ledger->log.last_us ? now_us : ledger->log.last_us + 1;
    return ledger->log.last_us;
}

void
writ_group_touch(struct writ_ledger *ledger, struct writ_boundary *boundary)
{
    if (!boundary->touched) {
        boundary->touched = true;
        boundary->before = boundary->next_seq;
        boundary->next_touched = ledger->group.touched;
        ledger->group.touched = boundary;
        if (boundary->fresh) {
            boundary->first_leaf = ledger->log.next_leaf + ledger->group.rows_n;
        }
    }
}

void
writ_group_trouble(struct writ_ledger *ledger, const struct writ_err *err)
{
    ledger->trouble.refusing = true;
    if (!ledger->trouble.stays) {
        ledger->trouble.why = *err;
    }
    ledger->trouble.stays = ledger->disk.poisoned;
}

writ_result
writ_group_note(struct writ_ledger *ledger, writ_result result, const struct writ_err *err)
{
    if (result.code == WRIT_E_IO || result.code == WRIT_E_BUSY) {
        writ_group_trouble(ledger, err);
        result.code = WRIT_E_IO;
    }
    return result;
}

writ_result
writ_group_changed(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_err why = {0};
    writ_result result =
        writ_fail(&why, WRIT_E_IO, "another program changed the ledger: %s", err->text);

    *err = why;
    ledger->disk.poisoned = true;
    writ_group_trouble(ledger, &why);
    return result;
}

writ_result
writ_group_poison(struct writ_ledger *ledger, uint64_t leaf, const char *what, struct writ_err *err)
{
    struct writ_err why = {0};
    writ_result result;

    (void)writ_fail(&why, WRIT_E_IO, "record %llu: %s", (unsigned long long)leaf, what);
    result = writ_group_changed(ledger, &why);
    if (err != NULL) {
        *err = why;
    }
    return result;
}

/* ---- writing ---- */

static struct writ_view
body_of(const struct writ_group *group, const struct writ_group_row *row)
{
    return row->body_at == SIZE_MAX ? row->row.body
                                    : writ_view(group->bodies.ptr + row->body_at, row->body_len);
}

static bool
follows(const struct writ_group_row *row, const struct writ_group_row *before)
{
    return row->body_at != SIZE_MAX && before->body_at != SIZE_MAX &&
           row->body_at == before->body_at + before->body_len + 1;
}

/* Bodies that are adjacent in memory go into one row without a copy. */
static WRIT_RESULT
write_bodies(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_group *group = &ledger->group;
    size_t i = 0;

    while (i < group->rows_n) {
        struct writ_view lines = body_of(group, &group->rows[i]);
        uint64_t leaf = group->rows[i].row.leaf;

        for (i++; i < group->rows_n && follows(&group->rows[i], &group->rows[i - 1]) &&
                  writ_disk_takes_body(&ledger->disk, lines.len, group->rows[i].body_len);
             i++) {
            lines.len += 1 + group->rows[i].body_len;
        }
        WRIT_TRY(writ_disk_append_bodies(&ledger->disk, leaf, lines, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
write_rows(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_group *group = &ledger->group;
    const struct writ_row *rows[ROWS_AT_ONCE];
    size_t n = 0;

    for (size_t i = 0; i < group->rows_n; i++) {
        rows[n++] = &group->rows[i].row;
        if (n == ROWS_AT_ONCE || i + 1 == group->rows_n) {
            WRIT_TRY(writ_disk_append(&ledger->disk, rows, n, err));
            n = 0;
        }
    }
    return write_bodies(ledger, err);
}

/* Lets the tree grow by the records of the group. */
static WRIT_RESULT
grow(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_group *group = &ledger->group;

    writ_buf_clear(&group->nodes);
    group->edge = ledger->log.edge;
    for (size_t i = 0; i < group->rows_n; i++) {
        struct writ_digest leaf;

        WRIT_TRY(writ_tree_leaf(body_of(group, &group->rows[i]), &leaf, err));
        WRIT_TRY(writ_tree_grow(&group->edge, &leaf, &group->nodes, err));
    }
    return writ_buf_check(&group->nodes, err);
}

static WRIT_RESULT
write_head(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_group *group = &ledger->group;

    if (group->rows_n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(grow(ledger, err));
    WRIT_TRY(writ_signing_note(ledger, err));
    return writ_disk_run(&ledger->disk, WRIT_SQL_APPEND_HEAD, err, "uubb", ledger->log.edge.size,
        group->edge.size, writ_buf_view(&group->nodes), writ_buf_view(&group->note));
}

static WRIT_RESULT
write_boundaries(struct writ_ledger *ledger, struct writ_err *err)
{
    for (struct writ_boundary *boundary = ledger->group.touched; boundary != NULL;
         boundary = boundary->next_touched) {
        if (boundary->fresh) {
            WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_BOUNDARY_ADD, err, "uttu", boundary->id,
                boundary->tenant, boundary->name, boundary->first_leaf));
        }
    }
    return WRIT_DONE;
}

bool
writ_group_prepare(struct writ_ledger *ledger, size_t records)
{
    const struct writ_participant *const *participants = ledger->group.participants;
    bool some = false;

    for (size_t i = 0; participants[i] != NULL; i++) {
        if (participants[i]->prepare != NULL) {
            some = participants[i]->prepare(ledger, records) || some;
        }
    }
    return some;
}

static WRIT_RESULT
write_participants(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_participant *const *participants = ledger->group.participants;

    for (size_t i = 0; participants[i] != NULL; i++) {
        if (participants[i]->write != NULL) {
            WRIT_TRY(participants[i]->write(ledger, err));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
write_all(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(write_boundaries(ledger, err));
    WRIT_TRY(write_rows(ledger, err));
    WRIT_TRY(write_head(ledger, err));
    for (size_t i = 0; i < ledger->group.ops_n; i++) {
        const struct writ_op *op = &ledger->group.ops[i];

        if (op->steps->write != NULL) {
            WRIT_TRY(op->steps->write(ledger, op, err));
        }
    }
    return write_participants(ledger, err);
}

static WRIT_RESULT
transact(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(writ_turn_begin(ledger, err));
    return writ_turn_finish(ledger, write_all(ledger, err), err);
}

/* ---- afterwards ---- */

static void
finish(struct writ_ledger *ledger)
{
    struct writ_group *group = &ledger->group;

    if (group->rows_n > 0) {
        writ_signing_written(ledger);
        ledger->log.edge = group->edge;
        ledger->log.edge_us = group->rows[group->rows_n - 1].row.time_us;
    }
    ledger->log.next_leaf += group->rows_n;
    for (size_t i = 0; i < group->ops_n; i++) {
        const struct writ_op *op = &group->ops[i];

        if (op->steps->finish != NULL) {
            op->steps->finish(ledger, op);
        }
        if (op->entry != NULL) {
            op->entry->code = WRIT_OK;
        }
    }
    writ_budgets_commit(&ledger->budgets);
    for (size_t i = 0; group->participants[i] != NULL; i++) {
        if (group->participants[i]->finish != NULL) {
            group->participants[i]->finish(ledger);
        }
    }
    ledger->group.committed++;
}

static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op, bool in_order)
{
    if (op->steps->undo != NULL && op->steps->undo_in_order == in_order) {
        op->steps->undo(ledger, op);
    }
}

static void
undo(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_group *group = &ledger->group;

    for (size_t i = group->ops_n; i-- > 0;) {
        undo_op(ledger, &group->ops[i], false);
        if (group->ops[i].entry != NULL) {
            group->ops[i].entry->code = code;
        }
    }
    for (size_t i = 0; i < group->ops_n; i++) {
        undo_op(ledger, &group->ops[i], true);
    }
    writ_budgets_rollback(&ledger->budgets);
    for (size_t i = 0; group->participants[i] != NULL; i++) {
        if (group->participants[i]->undo != NULL) {
            group->participants[i]->undo(ledger);
        }
    }
    ledger->counts = group->before;
}

WRIT_RESULT
writ_group_commit(struct writ_ledger *ledger)
{
    struct writ_group *group = &ledger->group;
    struct writ_err err = {0};
    writ_result result = WRIT_DONE;

    group->before = ledger->counts;
    if (group->ops_n > 0) {
        int64_t began_us = writ_clock_mono_us(ledger->options.clock);

        result = transact(ledger, &err);
        ledger->group.took_us = writ_clock_mono_us(ledger->options.clock) - began_us;
        if (writ_is_ok(result)) {
            ledger->trouble.refusing = false;
            finish(ledger);
        } else {
            result.code = result.code == WRIT_E_NOMEM ? WRIT_E_NOMEM : WRIT_E_IO;
            writ_group_trouble(ledger, &err);
            undo(ledger, result.code);
        }
    }
    writ_turn_leave(ledger);
    group->rows_n = group->ops_n = group->contents = 0;
    writ_buf_clear(&group->bodies);
    return result;
}

void
writ_group_abandon(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_group *group = &ledger->group;

    group->before = ledger->counts;
    undo(ledger, code);
    writ_turn_leave(ledger);
    group->rows_n = group->ops_n = group->contents = 0;
    writ_buf_clear(&group->bodies);
}
