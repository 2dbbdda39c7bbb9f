/* Rows of runs stay in the ledger when their records go, and say where a run begins and ends. So
 * the records of a run are those of the ledger that name it, and before the first of these what the
 * archive has between its ends. An archived record has no columns: they are made from what it
 * states, and from the records before it. */
#include "store/read/joined.h"

#include "base/id.h"
#include "store/disk/disk.h"
#include "store/disk/heads.h"
#include "store/disk/said.h"
#include "store/read/archive_read.h"
#include "store/read/column.h"

#define RECORD_ARENA ((size_t)128 << 20) /* one record */
#define HEAD_ARENA   ((size_t)64 << 20)
#define SLACK_US     (INT64_C(600000000)) /* clocks of gateways differ by less; else all is read */
#define NEAR         4                    /* records of one entry beside its decision, at most */
#define CALLS_MAX    1024                 /* decisions of one call */
#define RUNS_MAX     1024                 /* of one name */
#define ID_MAX       4096

/* Of the ledger. */
#define JOINED_LEDGER(X)                                                                           \
    X(RUN_OF, "SELECT b.id, b.tenant, b.name, b.first_leaf, b.seal_leaf FROM record AS r "         \
              "JOIN boundary AS b ON b.id = r.boundary WHERE r.decision_id = ? AND r.kind = 1")    \
    X(RUN_NAMED, "SELECT id, tenant, name, first_leaf, seal_leaf FROM boundary "                   \
                 "WHERE name = ?1 AND (tenant = ?2 OR ?2 IS NULL)")                                \
    X(RUNS, WRIT_SQL_MANY "SELECT id, tenant, name, first_leaf, seal_leaf FROM boundary")          \
    X(FIRST, "SELECT coalesce((SELECT min(leaf) FROM record), 0)")                                 \
    X(RECORDS, WRIT_SQL_MANY                                                                       \
        "SELECT r.leaf, r.kind, r.boundary, r.seq, r.time_us, r.verdict, r.flags, r.about, "       \
        "r.decision_id, r.agent_id, r.tool, r.claim, line_at(y.bytes, r.leaf - y.leaf) "           \
        "FROM record AS r JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body "                 \
        "WHERE leaf <= r.leaf) WHERE r.leaf >= ?1 AND r.leaf <= ?2 "                               \
        "AND (r.boundary = ?3 OR ?3 IS NULL) ORDER BY r.leaf")                                     \
    X(BODY, "SELECT line_at(bytes, ?1 - leaf) FROM body WHERE leaf <= ?1 "                         \
            "ORDER BY leaf DESC LIMIT 1")

/* Of the database that is made. */
#define JOINED_OWN(X)                                                                              \
    X(ADD_RUN, "INSERT INTO boundary(id, tenant, name, first_leaf, seal_leaf) VALUES(?,?,?,?,?) "  \
               "ON CONFLICT DO NOTHING")                                                           \
    X(ADD_RECORD, "INSERT INTO record(leaf, kind, boundary, seq, time_us, verdict, flags, about, " \
                  "decision_id, agent_id, tool, claim) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")           \
    X(ADD_BODY, "INSERT INTO body(leaf, bytes) VALUES(?,?)")                                       \
    X(HAS_RUN, "SELECT 1 FROM boundary WHERE id = ?")                                              \
    X(NAMED, "SELECT id FROM boundary WHERE name = ?1 AND tenant = ?2")                            \
    X(ENDED, "SELECT id FROM boundary WHERE name = ?1 AND seal_leaf = ?2")                         \
    X(CALL, "SELECT r.leaf, r.boundary, r.seq, r.flags, (SELECT count(*) FROM record AS o "        \
            "WHERE o.decision_id = r.decision_id AND o.kind = 2) FROM record AS r "                \
            "WHERE r.decision_id = ? AND r.kind = 1")                                              \
    X(REVIEWED, "SELECT max(leaf) FROM record WHERE decision_id = ? AND kind = 4")                 \
    X(OWN_BODY, "SELECT bytes FROM body WHERE leaf = ?")

enum statement {
#define JOINED_ENUM(NAME, text) SQL_##NAME,
    JOINED_LEDGER(JOINED_ENUM) SQL_LEDGER,
    SQL_LEDGER_LAST = SQL_LEDGER - 1,
    JOINED_OWN(JOINED_ENUM) SQL_COUNT
#undef JOINED_ENUM
};

static const char *const texts[SQL_COUNT] = {
#define JOINED_TEXT(NAME, text) [SQL_##NAME] = (text),
    JOINED_LEDGER(JOINED_TEXT) JOINED_OWN(JOINED_TEXT)
#undef JOINED_TEXT
};

struct joining {
    const struct writ_joined_order *order;
    struct writ_sql *ledger, *own;
    struct writ_sql_statement *statements[SQL_COUNT];
    struct writ_archive_read *archive;
    struct writ_heads heads;
    struct writ_head head;         /* of the group of the last record that was compared */
    struct writ_arena *head_arena; /* its texts */
    struct writ_arena *arena;      /* one record */
    struct writ_err *err;
};

/* A row of `boundary`. */
struct run {
    uint64_t id, first, last; /* its records are between; last UINT64_MAX: it is open */
};

static void
joining_wipe(struct joining *j)
{
    writ_heads_close(&j->heads);
    writ_sql_finalize_all(j->statements, SQL_COUNT);
    writ_sql_close(j->ledger);
    writ_sql_close(j->own);
    writ_archive_read_close(j->archive);
    writ_arena_free(j->head_arena);
    writ_arena_free(j->arena);
}

static struct writ_sql_statement *
of(struct joining *j, enum statement which)
{
    return j->statements[which];
}

/* ---- what the archive has ---- */

/* Reads a record of the archive, and what it states. */
static WRIT_RESULT
read_archived(struct joining *j, uint64_t leaf, struct writ_view *ret, struct writ_said *said)
{
    writ_arena_reset(j->arena);
    WRIT_TRY(writ_archive_read_record(j->archive, leaf, ret, j->err));
    return writ_said_read(*ret, j->arena, said, j->err);
}

/* The record must be the one that the tree of the ledger has. */
static WRIT_RESULT
compare(struct joining *j, uint64_t leaf, struct writ_view body)
{
    struct writ_digest found, stored;

    if (leaf < j->head.leaf || leaf >= j->head.size) {
        writ_arena_reset(j->head_arena);
        WRIT_TRY(writ_heads_at(&j->heads, leaf, j->head_arena, &j->head, j->err));
    }
    WRIT_TRY(writ_tree_leaf(body, &found, j->err));
    if (!writ_heads_digest(&j->head, leaf, &stored) || !writ_digest_equal(&found, &stored)) {
        WRIT_FAIL(j->err, WRIT_E_MISMATCH,
            "record %llu of the archive is not the one of the ledger: see `writ verify archive`",
            (unsigned long long)leaf);
    }
    return WRIT_DONE;
}

/* ---- adding ---- */

static void
bind_number_or_null(struct writ_sql_statement *s, int at, bool has, uint64_t value)
{
    if (has) {
        writ_sql_bind_int(s, at, (int64_t)value);
    }
}

static WRIT_RESULT
add_body(struct joining *j, uint64_t leaf, struct writ_view body)
{
    struct writ_sql_statement *s = of(j, SQL_ADD_BODY);

    writ_sql_bind_int(s, 1, (int64_t)leaf);
    writ_sql_bind_blob(s, 2, body);
    return writ_sql_run(s, j->err);
}

static WRIT_RESULT
add_row(struct joining *j, const struct writ_row *row, struct writ_view body)
{
    struct writ_sql_statement *s = of(j, SQL_ADD_RECORD);

    writ_sql_bind_int(s, 1, (int64_t)row->leaf);
    writ_sql_bind_int(s, 2, (int)row->kind);
    writ_sql_bind_int(s, 3, (int64_t)row->boundary);
    writ_sql_bind_int(s, 4, (int64_t)row->seq);
    writ_sql_bind_int(s, 5, row->time_us);
    writ_sql_bind_int(s, 6, row->verdict);
    writ_sql_bind_int(s, 7, row->flags);
    bind_number_or_null(
        s, 8, row->kind == WRIT_ROW_OUTCOME || (row->flags & WRIT_ROW_FOLLOWS) != 0, row->about);
    writ_sql_bind_text_or_null(s, 9, row->decision_id);
    writ_sql_bind_text_or_null(s, 10, row->agent_id);
    writ_sql_bind_text_or_null(s, 11, row->tool);
    if (row->claim != NULL) {
        writ_sql_bind_blob(s, 12, writ_view(row->claim, WRIT_DISK_CLAIM_BYTES));
    }
    WRIT_TRY(writ_sql_run(s, j->err));
    return add_body(j, row->leaf, body);
}

/* Copies the row at which RECORDS stands. */
static WRIT_RESULT
add_copy(struct joining *j)
{
    struct writ_sql_statement *from = of(j, SQL_RECORDS), *to = of(j, SQL_ADD_RECORD);

    for (int i = 0; i < 8; i++) {
        bind_number_or_null(to, 1 + i, !writ_sql_is_null(from, i), (uint64_t)writ_sql_int(from, i));
    }
    for (int i = 8; i < 11; i++) {
        writ_sql_bind_text_or_null(to, 1 + i, writ_sql_bytes(from, i));
    }
    if (!writ_sql_is_null(from, 11)) {
        writ_sql_bind_blob(to, 12, writ_sql_bytes(from, 11));
    }
    WRIT_TRY(writ_sql_run(to, j->err));
    return add_body(j, (uint64_t)writ_sql_int(from, 0), writ_column_bytes(from, 12));
}

/* ---- the place of an archived record ---- */

/* The run of that name, among those that are wanted; 0: none. */
static WRIT_RESULT
find_run(struct joining *j, enum statement which, const struct writ_said *said, uint64_t leaf,
    uint64_t *ret)
{
    struct writ_sql_statement *s = of(j, which);
    bool row = false;
    writ_result result;

    writ_sql_bind_text(s, 1, said->boundary_id);
    if (which == SQL_NAMED) {
        writ_sql_bind_text(s, 2, said->tenant);
    } else {
        writ_sql_bind_int(s, 2, (int64_t)leaf);
    }
    result = writ_sql_step(s, &row, j->err);
    *ret = writ_is_ok(result) && row ? (uint64_t)writ_sql_int(s, 0) : 0;
    writ_sql_reset(s);
    return result;
}

/* A decision that was added. */
struct found {
    bool there, flies; /* flies: granted, and without an outcome */
    uint64_t leaf, boundary, seq;
};

static WRIT_RESULT
find_call(struct joining *j, struct writ_view id, struct found *ret)
{
    struct writ_sql_statement *s = of(j, SQL_CALL);
    bool row = false;
    writ_result result;

    *ret = (struct found){0};
    writ_sql_bind_text_or_null(s, 1, id);
    result = writ_sql_step(s, &row, j->err);
    if (writ_is_ok(result) && row) {
        *ret = (struct found){
            .there = true,
            .leaf = (uint64_t)writ_sql_int(s, 0),
            .boundary = (uint64_t)writ_sql_int(s, 1),
            .seq = (uint64_t)writ_sql_int(s, 2),
            .flies = (writ_sql_int(s, 3) & WRIT_ROW_GRANTED) != 0 && writ_sql_int(s, 4) == 0,
        };
    }
    writ_sql_reset(s);
    return result;
}

/* Its boundary, and the decision that it is about; boundary 0: it is of no run that is wanted. */
static WRIT_RESULT
place(struct joining *j, const struct writ_said *said, struct writ_row *row)
{
    struct found call;

    switch (row->kind) {
    case WRIT_ROW_DECISION:
        WRIT_TRY(find_run(j, SQL_NAMED, said, row->leaf, &row->boundary));
        if (row->boundary != 0 && said->supersedes.len > 0) {
            WRIT_TRY(find_call(j, said->supersedes, &call));
            row->about = call.leaf;
            row->flags |= call.flies && call.boundary == row->boundary ? WRIT_ROW_FOLLOWS : 0;
        }
        return WRIT_DONE;
    case WRIT_ROW_OUTCOME:
    case WRIT_ROW_REVIEW:
        WRIT_TRY(find_call(j, row->decision_id, &call));
        row->boundary = call.boundary;
        row->about = call.leaf;
        row->seq = row->kind == WRIT_ROW_REVIEW ? call.seq : row->seq;
        return WRIT_DONE;
    case WRIT_ROW_SEAL:
        return find_run(j, SQL_ENDED, said, row->leaf, &row->boundary);
    case WRIT_ROW_FACT:
    case WRIT_ROW_NONE:
        break;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_archived(struct joining *j, uint64_t leaf, uint64_t only)
{
    struct writ_said said;
    struct writ_view body;
    struct writ_row row;

    WRIT_TRY(read_archived(j, leaf, &body, &said));
    row = said.row;
    row.leaf = leaf;
    WRIT_TRY(place(j, &said, &row));
    if (row.boundary == 0 || (only != 0 && row.boundary != only)) {
        return WRIT_DONE;
    }
    WRIT_TRY(compare(j, leaf, body));
    return add_row(j, &row, body);
}

/* ---- runs ---- */

/* Adds the row of `boundary` at which a statement stands. */
static WRIT_RESULT
add_run(struct joining *j, struct writ_sql_statement *from, struct run *ret)
{
    struct writ_sql_statement *to = of(j, SQL_ADD_RUN);
    bool sealed = !writ_sql_is_null(from, 4);

    *ret = (struct run){.id = (uint64_t)writ_sql_int(from, 0),
        .first = (uint64_t)writ_sql_int(from, 3),
        .last = sealed ? (uint64_t)writ_sql_int(from, 4) : (uint64_t)INT64_MAX};
    writ_sql_bind_int(to, 1, (int64_t)ret->id);
    writ_sql_bind_text(to, 2, writ_column_bytes(from, 1));
    writ_sql_bind_text(to, 3, writ_column_bytes(from, 2));
    writ_sql_bind_int(to, 4, (int64_t)ret->first);
    bind_number_or_null(to, 5, sealed, ret->last);
    return writ_sql_run(to, j->err);
}

static WRIT_RESULT
read_first(struct joining *j, uint64_t *ret)
{
    struct writ_sql_statement *s = of(j, SQL_FIRST);
    bool row = false;
    writ_result result = writ_sql_step(s, &row, j->err);

    *ret = writ_is_ok(result) && row ? (uint64_t)writ_sql_int(s, 0) : 0;
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
copy_records(struct joining *j, const struct run *run)
{
    struct writ_sql_statement *s = of(j, SQL_RECORDS);
    bool row = false;

    writ_sql_bind_int(s, 1, (int64_t)run->first);
    writ_sql_bind_int(s, 2, (int64_t)run->last);
    bind_number_or_null(s, 3, run->id != 0, run->id);
    WRIT_TRY(writ_sql_step(s, &row, j->err));
    while (row) {
        WRIT_TRY(add_copy(j));
        WRIT_TRY(writ_sql_step(s, &row, j->err));
    }
    return WRIT_DONE;
}

/* Copies what the ledger has of a run, or with id 0 of all, and says where it begins. */
static WRIT_RESULT
copy_ledger(struct joining *j, const struct run *run, uint64_t *ret_first)
{
    writ_result result;

    WRIT_TRY(writ_sql_begin(j->ledger, WRIT_SQL_READ, j->err));
    result = read_first(j, ret_first);
    if (writ_is_ok(result)) {
        result = copy_records(j, run);
        writ_sql_reset(of(j, SQL_RECORDS));
    }
    writ_sql_rollback(j->ledger);
    return result;
}

/* Adds the records of a run whose row is there; with id 0 of all runs. */
static WRIT_RESULT
fill(struct joining *j, const struct run *run)
{
    uint64_t first = 0;

    WRIT_TRY(copy_ledger(j, run, &first));
    for (uint64_t leaf = run->first; leaf < first && leaf <= run->last; leaf++) {
        WRIT_TRY(add_archived(j, leaf, run->id));
    }
    return WRIT_DONE;
}

/* Adds the runs that a statement of the ledger finds. */
static WRIT_RESULT
add_found(struct joining *j, enum statement which)
{
    struct writ_sql_statement *s = of(j, which);
    struct run runs[RUNS_MAX];
    bool row = false;
    size_t n = 0;
    writ_result result = writ_sql_step(s, &row, j->err);

    while (writ_is_ok(result) && row && n < RUNS_MAX) {
        result = add_run(j, s, &runs[n++]);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, j->err);
        }
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (row) {
        WRIT_FAIL(j->err, WRIT_E_LIMIT, "more than %d tenants have a run of that name", RUNS_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(fill(j, &runs[i]));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_named(struct joining *j, struct writ_view name, struct writ_view tenant)
{
    writ_sql_bind_text_or_null(of(j, SQL_RUN_NAMED), 1, name);
    writ_sql_bind_text_or_null(of(j, SQL_RUN_NAMED), 2, tenant);
    return add_found(j, SQL_RUN_NAMED);
}

static WRIT_RESULT
add_all(struct joining *j)
{
    const struct run all = {.last = (uint64_t)INT64_MAX};
    struct writ_sql_statement *s = of(j, SQL_RUNS);
    struct run run;
    bool row = false;
    writ_result result = writ_sql_step(s, &row, j->err);

    while (writ_is_ok(result) && row) {
        result = add_run(j, s, &run);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, j->err);
        }
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    return fill(j, &all);
}

/* ---- one call ---- */

/* The first record of the archive that is not older, whose times grow. */
static WRIT_RESULT
search(struct joining *j, int64_t time_us, uint64_t size, uint64_t *ret)
{
    uint64_t from = 0, until = size;

    while (from < until) {
        uint64_t at = from + (until - from) / 2;
        struct writ_said said;
        struct writ_view body;

        WRIT_TRY(read_archived(j, at, &body, &said));
        if (said.row.time_us < time_us) {
            from = at + 1;
        } else {
            until = at;
        }
    }
    *ret = from;
    return WRIT_DONE;
}

/* Adds the run of the decision when it is one of the archived records in between. */
static WRIT_RESULT
scan(struct joining *j, struct writ_view id, uint64_t from, uint64_t until, bool *ret_found)
{
    for (uint64_t leaf = from; leaf < until; leaf++) {
        struct writ_said said;
        struct writ_view body;

        WRIT_TRY(read_archived(j, leaf, &body, &said));
        if (said.row.kind == WRIT_ROW_DECISION && writ_view_equal(said.row.decision_id, id)) {
            writ_auto_buf tenant = writ_buf_make(ID_MAX), name = writ_buf_make(ID_MAX);

            writ_buf_put(&tenant, said.tenant);
            writ_buf_put(&name, said.boundary_id);
            WRIT_TRY(writ_buf_check(&tenant, j->err));
            WRIT_TRY(writ_buf_check(&name, j->err));
            *ret_found = true;
            return add_named(j, writ_buf_view(&name), writ_buf_view(&tenant));
        }
    }
    return WRIT_DONE;
}

/* An id that has a time is looked for from there on. */
static WRIT_RESULT
add_from_archive(struct joining *j, struct writ_view id)
{
    uint64_t until = 0, from = 0, size = writ_archive_read_size(j->archive);
    bool found = false;
    int64_t time_us = 0;

    WRIT_TRY(read_first(j, &until));
    until = until < size ? until : size;
    if (writ_id_time(id, &time_us)) {
        WRIT_TRY(search(j, time_us - SLACK_US, until, &from));
    }
    WRIT_TRY(scan(j, id, from, until, &found));
    return found ? WRIT_DONE : scan(j, id, 0, from, &found);
}

/* Adds the run of a decision, unless it is there. */
static WRIT_RESULT
add_call(struct joining *j, struct writ_view id, struct found *ret)
{
    WRIT_TRY(find_call(j, id, ret));
    if (ret->there) {
        return WRIT_DONE;
    }
    writ_sql_bind_text_or_null(of(j, SQL_RUN_OF), 1, id);
    WRIT_TRY(add_found(j, SQL_RUN_OF));
    WRIT_TRY(find_call(j, id, ret));
    if (!ret->there) {
        WRIT_TRY(add_from_archive(j, id));
        WRIT_TRY(find_call(j, id, ret));
    }
    return WRIT_DONE;
}

/* The decision that an added one supersedes, in `ret`; empty: none. */
static WRIT_RESULT
read_before(struct joining *j, const struct found *call, struct writ_buf *ret)
{
    struct writ_sql_statement *s = of(j, SQL_OWN_BODY);
    struct writ_said said;
    bool row = false;
    writ_result result;

    writ_buf_clear(ret);
    writ_arena_reset(j->arena);
    writ_sql_bind_int(s, 1, (int64_t)call->leaf);
    result = writ_sql_step(s, &row, j->err);
    if (writ_is_ok(result) && row) {
        result = writ_said_read(writ_column_bytes(s, 0), j->arena, &said, j->err);
        if (writ_is_ok(result)) {
            writ_buf_put(ret, said.supersedes);
            result = writ_buf_check(ret, j->err);
        }
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
read_body(struct joining *j, uint64_t leaf, uint64_t first, struct writ_said *ret, bool *ret_there)
{
    struct writ_sql_statement *s = of(j, SQL_BODY);
    struct writ_view body;
    writ_result result;

    *ret_there = leaf < first;
    if (leaf < first) {
        return read_archived(j, leaf, &body, ret);
    }
    writ_arena_reset(j->arena);
    writ_sql_bind_int(s, 1, (int64_t)leaf);
    result = writ_sql_step(s, ret_there, j->err);
    *ret_there = *ret_there && writ_is_ok(result) && !writ_sql_is_null(s, 0);
    if (*ret_there) {
        body = writ_view_copy(writ_sql_bytes(s, 0), j->arena);
        result = body.ptr == NULL ? (writ_result){WRIT_E_NOMEM}
                                  : writ_said_read(body, j->arena, ret, j->err);
    }
    writ_sql_reset(s);
    return result;
}

/* The redemption of an approval is recorded together with the end of its review, in any run. */
static WRIT_RESULT
read_after(struct joining *j, struct writ_view id, struct writ_buf *ret)
{
    struct writ_sql_statement *s = of(j, SQL_REVIEWED);
    uint64_t review = 0, first = 0, from;
    bool row = false, there = false;
    writ_result result;

    writ_buf_clear(ret);
    writ_sql_bind_text_or_null(s, 1, id);
    result = writ_sql_step(s, &row, j->err);
    there = writ_is_ok(result) && row && !writ_sql_is_null(s, 0);
    review = there ? (uint64_t)writ_sql_int(s, 0) : 0;
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (!there) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_first(j, &first));
    from = review > NEAR ? review - NEAR : 0;
    for (uint64_t leaf = from; leaf <= review + NEAR && ret->len == 0; leaf++) {
        struct writ_said said;

        WRIT_TRY(read_body(j, leaf, first, &said, &there));
        if (there && said.row.kind == WRIT_ROW_DECISION && writ_view_equal(said.supersedes, id)) {
            writ_buf_put(ret, said.row.decision_id);
        }
    }
    return writ_buf_check(ret, j->err);
}

/* Adds the runs of the decisions before a call, or after it. */
static WRIT_RESULT
follow(struct joining *j, struct writ_view id, bool back)
{
    writ_auto_buf at = writ_buf_make(ID_MAX), next = writ_buf_make(ID_MAX);

    writ_buf_put(&at, id);
    for (int i = 0; i < CALLS_MAX && at.len > 0; i++) {
        struct found call;

        WRIT_TRY(writ_buf_check(&at, j->err));
        WRIT_TRY(add_call(j, writ_buf_view(&at), &call));
        writ_buf_clear(&next);
        if (call.there) {
            WRIT_TRY(
                back ? read_before(j, &call, &next) : read_after(j, writ_buf_view(&at), &next));
        }
        writ_buf_clear(&at);
        writ_buf_put(&at, writ_buf_view(&next));
    }
    return WRIT_DONE;
}

/* ---- around it ---- */

static WRIT_RESULT
open_all(struct joining *j)
{
    WRIT_TRY(writ_archive_read_open(j->order->folder, &j->archive, j->err));
    WRIT_TRY(writ_disk_connect_reader(j->order->path, &j->ledger, j->err));
    WRIT_TRY(writ_disk_connect_temporary(&j->own, j->err));
    WRIT_TRY(writ_sql_prepare_all(j->ledger, texts, SQL_LEDGER, j->statements, j->err));
    WRIT_TRY(writ_sql_prepare_all(
        j->own, texts + SQL_LEDGER, SQL_COUNT - SQL_LEDGER, j->statements + SQL_LEDGER, j->err));
    WRIT_TRY(writ_heads_open(j->ledger, &j->heads, j->err));
    j->arena = writ_arena_new(RECORD_ARENA);
    j->head_arena = writ_arena_new(HEAD_ARENA);
    if (j->arena == NULL || j->head_arena == NULL) {
        WRIT_FAIL(j->err, WRIT_E_NOMEM, "no memory to read an archive");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_wanted(struct joining *j)
{
    const struct writ_joined_order *order = j->order;

    if (order->decision_id.ptr != NULL) {
        WRIT_TRY(follow(j, order->decision_id, true));
        return follow(j, order->decision_id, false);
    }
    return order->boundary_id.ptr != NULL ? add_named(j, order->boundary_id, order->tenant)
                                          : add_all(j);
}

WRIT_RESULT
writ_joined_connect(
    const struct writ_joined_order *order, struct writ_sql **ret, struct writ_err *err)
{
    WRIT_AUTO(struct joining, joining_wipe) j = {.order = order, .err = err};

    WRIT_TRY(open_all(&j));
    WRIT_TRY(writ_sql_begin(j.own, WRIT_SQL_WRITE, err));
    WRIT_TRY(add_wanted(&j));
    WRIT_TRY(writ_sql_commit(j.own, NULL, err));
    writ_sql_finalize_all(j.statements + SQL_LEDGER, SQL_COUNT - SQL_LEDGER);
    *ret = WRIT_TAKE(j.own);
    return WRIT_DONE;
}
