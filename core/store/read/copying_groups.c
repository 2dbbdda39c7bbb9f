/* copying_groups.c - copies records in their groups, and what stands beside them. */
#include "store/read/copying.h"

#include "store/disk/said.h"

#define PART_HEADS   32   /* groups of one transaction */
#define PART_RECORDS 2048 /* with so many records no further group is taken */

/* The groups of one transaction. */
struct part {
    uint64_t leaf, size;    /* the records */
    struct writ_view lines; /* of the body at which the statement stands */
    uint64_t line_leaf;     /* of the first of `lines` */
    bool body;              /* the statement stands at one */
};

static WRIT_RESULT
copy_head(struct writ_copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_HEADS];
    uint64_t leaf = (uint64_t)writ_sql_int(s, 0), size = (uint64_t)writ_sql_int(s, 1);
    struct writ_view nodes = writ_sql_bytes(s, 2), note = writ_sql_bytes(s, 3);

    if (leaf != part->size || size <= leaf || size > c->size) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH,
            "the group after record %llu is missing: see `writ ledger verify`",
            (unsigned long long)part->size);
    }
    part->size = size;
    return writ_disk_run(&c->disk, WRIT_SQL_APPEND_HEAD, c->err, "uubb", leaf, size,
        nodes.ptr == NULL ? writ_view("", 0) : nodes, note);
}

static WRIT_RESULT
copy_heads(struct writ_copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_HEADS];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)part->leaf);
    writ_sql_bind_int(s, 2, PART_HEADS);
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row && part->size - part->leaf < PART_RECORDS &&
           (part->leaf >= c->first || part->size < c->first)) {
        result = copy_head(c, part);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (part->size == part->leaf) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH,
            "the records after %llu have no checkpoint: see `writ ledger verify`",
            (unsigned long long)part->leaf);
    }
    return WRIT_DONE;
}

/* Copies the next row of bodies. */
static WRIT_RESULT
copy_body(struct writ_copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_BODIES];

    WRIT_TRY(writ_sql_step(s, &part->body, c->err));
    if (!part->body) {
        return WRIT_DONE;
    }
    part->line_leaf = (uint64_t)writ_sql_int(s, 0);
    part->lines = writ_sql_bytes(s, 1);
    return writ_disk_append_bodies(&c->disk, part->line_leaf, part->lines, c->err);
}

/* The body of record `leaf`; each record is asked for in order. */
static WRIT_RESULT
next_body(struct writ_copying *c, struct part *part, uint64_t leaf, struct writ_view *ret)
{
    size_t end;

    if (part->lines.len == 0) {
        WRIT_TRY(copy_body(c, part));
    }
    if (!part->body || part->line_leaf != leaf) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH, "record %llu has no body: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    end = writ_view_find(part->lines, '\n');
    *ret = writ_view_sub(part->lines, 0, end);
    part->lines = end == part->lines.len ? writ_view("", 0)
                                         : writ_view_sub(part->lines, end + 1, part->lines.len);
    part->line_leaf++;
    return WRIT_DONE;
}

/* The row of the claim of a granted call, as a gateway writes it (start/fleet_commit.c), when it
 * still stands. */
static WRIT_RESULT
copy_claim(struct writ_copying *c, const struct writ_row *row, bool sealed)
{
    struct writ_said said;
    int64_t until_us;

    if (row->claim == NULL) {
        return (row->flags & WRIT_ROW_FOLLOWS) == 0 ? WRIT_DONE
                                                    : writ_disk_run(&c->disk, WRIT_SQL_CLAIM_MOVE,
                                                          c->err, "uu", row->leaf, row->about);
    }
    writ_arena_reset(c->arena);
    WRIT_TRY(writ_said_read(row->body, c->arena, &said, c->err));
    until_us = row->time_us + said.claimed_us;
    if (sealed && until_us <= c->edge_us) {
        return WRIT_DONE;
    }
    return writ_disk_claim(&c->disk,
        &(struct writ_disk_claim){row->claim, row->leaf, row->boundary, until_us}, 1, row->time_us,
        c->err);
}

static WRIT_RESULT
copy_beside(struct writ_copying *c, const struct writ_row *row, bool sealed)
{
    if (row->kind == WRIT_ROW_SEAL) {
        return writ_disk_run(
            &c->disk, WRIT_SQL_BOUNDARY_SEAL, c->err, "uu", row->leaf, row->boundary);
    }
    if (!c->to.shared) {
        return WRIT_DONE;
    }
    if (row->kind == WRIT_ROW_DECISION && (row->flags & WRIT_ROW_GRANTED) != 0) {
        return copy_claim(c, row, sealed);
    }
    if (row->kind == WRIT_ROW_OUTCOME && (row->flags & WRIT_ROW_NOTHING_RAN) != 0 &&
        row->verdict != WRIT_OUTCOME_BLOCKED) {
        return writ_disk_run(&c->disk, WRIT_SQL_CLAIM_DROP, c->err, "u", row->about);
    }
    return WRIT_DONE;
}

/* Appends the rows that are held. */
static WRIT_RESULT
append_rows(struct writ_copying *c)
{
    const struct writ_row *rows[WRIT_DISK_ROWS];
    size_t n = c->rows_n;

    for (size_t i = 0; i < n; i++) {
        rows[i] = &c->rows[i];
    }
    c->rows_n = 0;
    return n == 0 ? WRIT_DONE : writ_disk_append(&c->disk, rows, n, c->err);
}

/* Copies a text of a row; the absent one stays absent. */
static WRIT_RESULT
hold(struct writ_copying *c, struct writ_view *text)
{
    if (text->ptr == NULL) {
        return WRIT_DONE;
    }
    *text = writ_view_copy(*text, c->held);
    if (text->ptr == NULL) {
        WRIT_FAIL(c->err, WRIT_E_NOMEM, "no memory to copy a ledger");
    }
    return WRIT_DONE;
}

/* Several rows at once cost a server a fraction of what they cost one by one. */
static WRIT_RESULT
hold_row(struct writ_copying *c, struct writ_row row)
{
    struct writ_view claim = writ_view(row.claim, row.claim == NULL ? 0 : WRIT_DISK_CLAIM_BYTES);

    if (c->rows_n == 0) {
        writ_arena_reset(c->held);
    }
    WRIT_TRY(hold(c, &row.decision_id));
    WRIT_TRY(hold(c, &row.agent_id));
    WRIT_TRY(hold(c, &row.tool));
    WRIT_TRY(hold(c, &claim));
    row.claim = (const uint8_t *)claim.ptr;
    row.body = writ_view(NULL, 0);
    c->rows[c->rows_n++] = row;
    return c->rows_n == WRIT_DISK_ROWS ? append_rows(c) : WRIT_DONE;
}

static WRIT_RESULT
copy_record(struct writ_copying *c, struct part *part, uint64_t leaf)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_RECORDS];
    struct writ_row row = {0};

    WRIT_TRY(writ_disk_row(s, &row, c->err));
    if (row.leaf != leaf) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    WRIT_TRY(next_body(c, part, leaf, &row.body));
    WRIT_TRY(hold_row(c, row));
    if (!writ_sql_is_null(s, 13) && (uint64_t)writ_sql_int(s, 13) == leaf) {
        WRIT_TRY(writ_disk_run(&c->disk, WRIT_SQL_BOUNDARY_ADD, c->err, "uttu", row.boundary,
            writ_sql_bytes(s, 14), writ_sql_bytes(s, 15), leaf));
    }
    return copy_beside(c, &row, !writ_sql_is_null(s, 12));
}

static WRIT_RESULT
copy_records(struct writ_copying *c, struct part *part)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_RECORDS];
    struct writ_sql_statement *bodies = c->from.statements[WRIT_COPYING_BODIES];
    uint64_t leaf = part->leaf;
    bool row = false;
    writ_result result;

    writ_sql_bind_int(bodies, 1, (int64_t)part->leaf);
    writ_sql_bind_int(bodies, 2, (int64_t)part->size);
    writ_sql_bind_int(s, 1, (int64_t)part->leaf);
    writ_sql_bind_int(s, 2, (int64_t)part->size);
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row) {
        result = copy_record(c, part, leaf++);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    writ_sql_reset(bodies);
    WRIT_TRY(result);
    WRIT_TRY(append_rows(c));
    if (leaf != part->size) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
copy_boundary(struct writ_copying *c, const struct writ_sql_statement *s)
{
    uint64_t id = (uint64_t)writ_sql_int(s, 0);

    WRIT_TRY(writ_disk_run(&c->disk, WRIT_SQL_BOUNDARY_ADD, c->err, "uttu", id,
        writ_sql_bytes(s, 1), writ_sql_bytes(s, 2), (uint64_t)writ_sql_int(s, 3)));
    return writ_sql_is_null(s, 4) || (uint64_t)writ_sql_int(s, 4) >= c->first
               ? WRIT_DONE
               : writ_disk_run(&c->disk, WRIT_SQL_BOUNDARY_SEAL, c->err, "uu",
                     (uint64_t)writ_sql_int(s, 4), id);
}

/* The runs that began with records that the source has given up. */
static WRIT_RESULT
copy_boundaries(struct writ_copying *c)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_BOUNDARIES];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)c->first);
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row) {
        result = copy_boundary(c, s);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    return result;
}

/* What stands beside the heads of the part. */
static WRIT_RESULT
copy_rows(struct writ_copying *c, struct part *part)
{
    if (part->leaf >= c->first) {
        return copy_records(c, part);
    }
    return part->size == c->first ? copy_boundaries(c) : WRIT_DONE;
}

/* Partitions for the records up to `size`: more than one part has are made at a time. */
static WRIT_RESULT
make_room(struct writ_copying *c, uint64_t size)
{
    bool row = false;
    writ_result result;

    if (!c->to.shared || size + WRIT_DISK_ROOM / 2 <= c->room) {
        return WRIT_DONE;
    }
    result = writ_disk_query(&c->disk, WRIT_SQL_MAKE_ROOM, &row, c->err, "");
    if (writ_is_ok(result) && row) {
        c->room = (uint64_t)writ_disk_int(&c->disk, WRIT_SQL_MAKE_ROOM, 0);
    }
    writ_disk_end(&c->disk, WRIT_SQL_MAKE_ROOM);
    return result;
}

static WRIT_RESULT
copy_part(struct writ_copying *c)
{
    struct part part = {.leaf = c->at, .size = c->at, .lines = writ_view("", 0)};
    writ_result result = writ_copying_begin(c);

    if (writ_is_ok(result)) {
        result = copy_heads(c, &part);
    }
    if (writ_is_ok(result)) {
        result = make_room(c, part.size);
    }
    if (writ_is_ok(result)) {
        result = copy_rows(c, &part);
    }
    WRIT_TRY(writ_copying_finish(c, result));
    c->at = part.size;
    return WRIT_DONE;
}

/* Records that an earlier run copied, and a gap after them. */
static WRIT_RESULT
check_first(struct writ_copying *c)
{
    struct writ_sql_statement *s = c->to.statements[WRIT_COPYING_RECORD_LAST];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, c->err);

    writ_sql_reset(s);
    WRIT_TRY(result);
    if (row && c->at < c->first) {
        WRIT_FAIL(c->err, WRIT_E_INVALID,
            "FROM has moved records to an archive since the copy began: name another TO");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_copying_groups(struct writ_copying *c)
{
    if (c->at > c->size) {
        WRIT_FAIL(c->err, WRIT_E_INVALID,
            "TO has %llu records of a copy, and FROM only %llu: FROM was put back from a backup",
            (unsigned long long)c->at, (unsigned long long)c->size);
    }
    WRIT_TRY(check_first(c));
    while (c->at < c->size) {
        WRIT_TRY(copy_part(c));
        if (c->copy->copied != NULL && !c->copy->copied(c->copy->ctx, c->at, c->size)) {
            WRIT_FAIL(c->err, WRIT_E_BUSY, "the copy was ended before it was complete");
        }
    }
    return WRIT_DONE;
}
