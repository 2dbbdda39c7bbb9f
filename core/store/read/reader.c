/* An answer of several statements is one transaction, so that all see one state of the ledger.
 * Statements are reset on every path, because one that stands at a row holds the write-ahead
 * log. */
#include "store/read/reader.h"

#include "evidence/record/review.h"
#include "store/disk/disk.h"
#include "store/disk/lines.h"
#include "store/read/column.h"
#include "store/read/reader.tbl.h"
#include "store/sql/sql_postgres.h"
#include "store/tables/body.h"
#include "store/tables/review_context.h"

#define REVIEW_RECORDS_MAX (WRIT_REVIEW_VOTES_MAX + 8) /* votes, and the records around them */
#define REDEMPTION_NEAR    4                 /* records of one entry beside its decision, at most */
#define RECORD_ARENA       (64 << 20)        /* memory to read one record */
#define STORY_ARENA        ((size_t)1 << 30) /* memory to read the decisions of one call */
#define IDS_MAX            (64 << 20)        /* ids of all reviews that are open */

_Static_assert(WRIT_DETACHED_RECORD_DECISION == (int)WRIT_ROW_DECISION &&
                   WRIT_DETACHED_RECORD_OUTCOME == (int)WRIT_ROW_OUTCOME &&
                   WRIT_DETACHED_RECORD_SEAL == (int)WRIT_ROW_SEAL &&
                   WRIT_DETACHED_RECORD_REVIEW == (int)WRIT_ROW_REVIEW,
    "kinds of records");

enum statement {
#define READER_ENUM(NAME, text) SQL_##NAME,
    WRIT_READER_STATEMENTS(READER_ENUM)
#undef READER_ENUM
        SQL_COUNT
};

static const char *const texts[SQL_COUNT] = {
#define READER_TEXT(NAME, text) [SQL_##NAME] = (text),
    WRIT_READER_STATEMENTS(READER_TEXT)
#undef READER_TEXT
};

struct writ_reader {
    struct writ_sql *sql;
    struct writ_sql_statement *statements[SQL_COUNT];
    struct writ_span span;
};

/* ---- opening ---- */

WRIT_RESULT
writ_reader_open(const char *path, struct writ_reader **ret, struct writ_err *err)
{
    writ_auto_reader reader = writ_alloc(sizeof *reader);
    if (reader == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    WRIT_TRY(writ_disk_connect_reader(path, &reader->sql, err));
    WRIT_TRY(writ_sql_prepare_all(reader->sql, texts, SQL_COUNT, reader->statements, err));
    *ret = WRIT_TAKE(reader);
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_open_joined(
    const struct writ_joined_order *order, struct writ_reader **ret, struct writ_err *err)
{
    writ_auto_reader reader = writ_alloc(sizeof *reader);

    if (reader == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    WRIT_TRY(writ_joined_connect(order, &reader->sql, err));
    WRIT_TRY(writ_sql_prepare_all(reader->sql, texts, SQL_COUNT, reader->statements, err));
    *ret = WRIT_TAKE(reader);
    return WRIT_DONE;
}

void
writ_reader_close(struct writ_reader *reader)
{
    if (reader == NULL) {
        return;
    }
    writ_sql_finalize_all(reader->statements, SQL_COUNT);
    writ_span_wipe(&reader->span);
    writ_sql_close(reader->sql);
    writ_free(reader);
}

/* ---- statements ---- */

/* Steps: true in *ret_row when there is a row. */
static WRIT_RESULT
next_row(struct writ_reader *reader, enum statement which, bool *ret_row, struct writ_err *err)
{
    return writ_sql_step(reader->statements[which], ret_row, err);
}

static void
end_rows(struct writ_reader *reader, enum statement which)
{
    writ_sql_reset(reader->statements[which]);
}

/* One view of the ledger for all statements of one answer. */
static WRIT_RESULT
begin(struct writ_reader *reader, struct writ_err *err)
{
    return writ_sql_begin(reader->sql, WRIT_SQL_READ, err);
}

static void
end(struct writ_reader *reader)
{
    writ_sql_rollback(reader->sql);
}

static WRIT_RESULT
step_call(struct writ_reader *reader, struct writ_view id, uint64_t from, bool *ret_row,
    struct writ_err *err)
{
    writ_sql_bind_text_or_null(reader->statements[SQL_CALL], 1, id);
    writ_sql_bind_int(reader->statements[SQL_CALL], 2, (int64_t)from);
    return next_row(reader, SQL_CALL, ret_row, err);
}

/* Steps to the first record of a call, or of a review. */
static WRIT_RESULT
first_of_call(struct writ_reader *reader, struct writ_view id, bool *ret_row, struct writ_err *err)
{
    uint64_t from = 0;

    WRIT_TRY(writ_span_from(&reader->span, reader->sql, id, &from, err));
    WRIT_TRY(step_call(reader, id, from, ret_row, err));
    if (from == 0 ||
        (*ret_row && writ_sql_int(reader->statements[SQL_CALL], 1) == WRIT_ROW_DECISION)) {
        return WRIT_DONE;
    }
    end_rows(reader, SQL_CALL);
    return step_call(reader, id, 0, ret_row, err);
}

/* Fails because something is not there; it may have been removed. */
static WRIT_RESULT
absent(struct writ_reader *reader, const char *what, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_FIRST];
    bool row = false;
    writ_result result = next_row(reader, SQL_FIRST, &row, NULL);
    uint64_t first = writ_is_ok(result) && row ? (uint64_t)writ_sql_int(s, 0) : 0;

    end_rows(reader, SQL_FIRST);
    if (first > 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "the ledger has no %s; records before %llu are in an archive: name it with --archive",
            what, (unsigned long long)first);
    }
    WRIT_FAIL(err, WRIT_E_ABSENT, "the ledger has no %s", what);
}

static WRIT_RESULT
copy_column(struct writ_sql_statement *statement, int at, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    *ret = writ_view_copy(writ_column_bytes(statement, at), arena);
    if (ret->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a record");
    }
    return WRIT_DONE;
}

/* ---- extent ---- */

static writ_result
time_at(void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err)
{
    struct writ_reader *reader = ctx;
    struct writ_sql_statement *s = reader->statements[SQL_TIME];
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)leaf);
    result = next_row(reader, SQL_TIME, ret_there, err);
    if (writ_is_ok(result) && *ret_there) {
        *ret_there = !writ_sql_is_null(s, 0);
        *ret_us = writ_sql_int(s, 0);
    }
    end_rows(reader, SQL_TIME);
    return result;
}

WRIT_RESULT
writ_reader_extent(struct writ_reader *reader, int64_t since_us, struct writ_reader_extent *ret,
    struct writ_err *err)
{
    struct writ_reader_extent extent = {0};
    bool row = false;
    uint64_t first = 0;
    writ_result result = next_row(reader, SQL_EDGE, &row, err);

    if (writ_is_ok(result) && row) {
        extent.records = (uint64_t)writ_sql_int(reader->statements[SQL_EDGE], 0) + 1;
        extent.last_us = writ_sql_int(reader->statements[SQL_EDGE], 1);
    }
    end_rows(reader, SQL_EDGE);
    WRIT_TRY(result);
    if (since_us != 0) {
        WRIT_TRY(writ_disk_search(time_at, reader, extent.records, since_us, &first, err));
    }
    extent.recent = extent.records - first;
    *ret = extent;
    return WRIT_DONE;
}

/* ---- sessions ---- */

WRIT_RESULT
writ_reader_session(struct writ_reader *reader, const struct writ_digest *hash,
    struct writ_arena *arena, struct writ_view *ret_value, int64_t *ret_expires_us,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_SESSION];
    struct writ_view value = {NULL, 0};
    int64_t expires_us = 0;
    bool row = false;
    writ_result result;

    writ_sql_bind_blob(s, 1, writ_view(hash->bytes, WRIT_DIGEST_BYTES));
    result = next_row(reader, SQL_SESSION, &row, err);
    if (writ_is_ok(result) && row) {
        value = writ_view_copy(writ_column_bytes(s, 0), arena);
        expires_us = writ_sql_int(s, 1);
    }
    end_rows(reader, SQL_SESSION);
    WRIT_TRY(result);
    if (!row) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (value.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a session");
    }
    *ret_value = value;
    *ret_expires_us = expires_us;
    return WRIT_DONE;
}

/* ---- other gateways ---- */

/* Only a shared ledger has the table. */
#define UNHEARD_SQL                                                                                \
    WRIT_SQL_MANY                                                                                  \
    "SELECT name FROM gateway WHERE state = 1 AND seen <= ?1 AND epoch <> ?2 "                     \
    "AND lease_us > CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) "              \
    "ORDER BY epoch"

static void
finalizep(struct writ_sql_statement **statement)
{
    writ_sql_finalize(*statement);
}

static WRIT_RESULT
each_unheard(struct writ_sql_statement *statement, bool (*each)(void *ctx, struct writ_view),
    void *ctx, struct writ_err *err)
{
    bool row = true, more = true;

    while (row && more) {
        WRIT_TRY(writ_sql_step(statement, &row, err));
        more = !row || each(ctx, writ_column_bytes(statement, 0));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_unheard(struct writ_reader *reader, uint64_t leaf, uint64_t but_epoch,
    bool (*each)(void *ctx, struct writ_view gateway), void *ctx, struct writ_err *err)
{
    WRIT_AUTO(struct writ_sql_statement *, finalizep) statement = NULL;
    writ_result result;

    if (!writ_sql_is_postgres(reader->sql)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_sql_prepare(reader->sql, UNHEARD_SQL, &statement, err));
    writ_sql_bind_int(statement, 1, (int64_t)leaf);
    writ_sql_bind_int(statement, 2, (int64_t)but_epoch);
    result = each_unheard(statement, each, ctx, err);
    writ_sql_reset(statement);
    return result;
}

/* ---- list ---- */

static struct writ_reader_item
item_of(struct writ_sql_statement *s)
{
    return (struct writ_reader_item){
        .leaf = (uint64_t)writ_sql_int(s, 0),
        .decision_id = writ_column_bytes(s, 1),
        .tenant = writ_column_bytes(s, 2),
        .boundary_id = writ_column_bytes(s, 3),
        .agent_id = writ_column_bytes(s, 4),
        .tool = writ_column_bytes(s, 5),
        .route = (enum writ_decision_route)(writ_sql_int(s, 6) & 3),
        .granted = (writ_sql_int(s, 7) & WRIT_ROW_GRANTED) != 0,
        .seq = (uint64_t)writ_sql_int(s, 8),
        .issued_at_us = writ_sql_int(s, 9),
        .has_outcome = !writ_sql_is_null(s, 10),
        .outcome_leaf = (uint64_t)writ_sql_int(s, 10),
        .outcome = (enum writ_outcome_kind)(writ_sql_int(s, 11) & 3),
        .completed_at_us = writ_sql_int(s, 14),
        .sealed = !writ_sql_is_null(s, 12),
        .superseded = !writ_sql_is_null(s, 13),
    };
}

static void
bind_filter(struct writ_sql_statement *s, const struct writ_reader_filter *filter)
{
    const struct writ_view views[] = {
        filter->tenant, filter->boundary_id, filter->agent_id, filter->tool};

    for (int i = 0; i < 4; i++) {
        writ_sql_bind_text_or_null(s, 1 + i, views[i]);
    }
    if (filter->has_route) {
        writ_sql_bind_int(s, 5, (int)filter->route);
    }
    if (filter->until_us != 0) {
        writ_sql_bind_int(s, 6, filter->until_us);
    }
    writ_sql_bind_int(s, 7, filter->before_leaf != 0 ? (int64_t)filter->before_leaf : INT64_MAX);
    writ_sql_bind_int(s, 8, (int64_t)filter->from_leaf);
}

WRIT_RESULT
writ_reader_list(struct writ_reader *reader, const struct writ_reader_filter *filter,
    bool (*each)(void *ctx, const struct writ_reader_item *item), void *ctx, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_LIST];
    writ_result result = WRIT_DONE;
    bool row = true;

    bind_filter(s, filter);
    for (size_t n = 0; row && (filter->limit == 0 || n < filter->limit); n++) {
        result = next_row(reader, SQL_LIST, &row, err);
        if (!writ_is_ok(result) || !row) {
            break;
        }
        struct writ_reader_item item = item_of(s);
        /* times grow with the index, so all later rows are older */
        row = item.issued_at_us >= filter->since_us && each(ctx, &item);
    }
    end_rows(reader, SQL_LIST);
    return result;
}

/* ---- records ---- */

static struct writ_reader_record
record_of(struct writ_sql_statement *s)
{
    bool is_outcome = writ_sql_int(s, 1) == WRIT_ROW_OUTCOME;

    return (struct writ_reader_record){
        .leaf = (uint64_t)writ_sql_int(s, 0),
        .is_outcome = is_outcome,
        .granted = (writ_sql_int(s, 7) & WRIT_ROW_GRANTED) != 0,
        .tenant = writ_column_bytes(s, 2),
        .verdict = (unsigned)(writ_sql_int(s, 3) & 3),
        .time_us = writ_sql_int(s, 4),
        .decision_leaf = (uint64_t)writ_sql_int(s, is_outcome ? 5 : 0),
        .issued_at_us = writ_sql_int(s, is_outcome ? 6 : 4),
    };
}

/* The text of a record of a growing leaf: a row of bodies has several, and is read once. ptr NULL:
 * it is not there. */
static WRIT_RESULT
next_body(struct writ_reader *reader, uint64_t leaf, bool *row, struct writ_view *ret,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_BODIES];

    *ret = writ_view(NULL, 0);
    while (*row && ret->ptr == NULL && (uint64_t)writ_sql_int(s, 0) <= leaf) {
        *ret = writ_lines_at(writ_column_bytes(s, 1), leaf - (uint64_t)writ_sql_int(s, 0));
        if (ret->ptr == NULL) {
            WRIT_TRY(next_row(reader, SQL_BODIES, row, err));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
each_record(struct writ_reader *reader,
    bool (*each)(void *ctx, const struct writ_reader_record *record), void *ctx,
    struct writ_err *err)
{
    bool row = false, body = false, more = true;

    WRIT_TRY(next_row(reader, SQL_RECORDS, &row, err));
    WRIT_TRY(next_row(reader, SQL_BODIES, &body, err));
    while (row && more) {
        struct writ_reader_record record = record_of(reader->statements[SQL_RECORDS]);

        WRIT_TRY(next_body(reader, record.leaf, &body, &record.body, err));
        more = record.body.ptr == NULL || each(ctx, &record);
        if (more) {
            WRIT_TRY(next_row(reader, SQL_RECORDS, &row, err));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_records(struct writ_reader *reader, uint64_t from_leaf, uint64_t before_leaf,
    bool (*each)(void *ctx, const struct writ_reader_record *record), void *ctx,
    struct writ_err *err)
{
    static const enum statement both[] = {SQL_RECORDS, SQL_BODIES};
    writ_result result;

    WRIT_TRY(begin(reader, err));
    for (size_t i = 0; i < 2; i++) {
        writ_sql_bind_int(reader->statements[both[i]], 1, (int64_t)from_leaf);
        writ_sql_bind_int(reader->statements[both[i]], 2, (int64_t)before_leaf);
    }
    result = each_record(reader, each, ctx, err);
    end_rows(reader, SQL_RECORDS);
    end_rows(reader, SQL_BODIES);
    end(reader);
    return result;
}

/* ---- changes ---- */

WRIT_RESULT
writ_reader_changed(struct writ_reader *reader, uint64_t from_leaf, uint64_t before_leaf,
    bool (*each)(void *ctx, const struct writ_reader_item *item), void *ctx, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_CHANGED];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)from_leaf);
    writ_sql_bind_int(s, 2, (int64_t)before_leaf);
    result = next_row(reader, SQL_CHANGED, &row, err);
    while (writ_is_ok(result) && row) {
        struct writ_reader_item item = item_of(s);

        if (!each(ctx, &item)) {
            break;
        }
        result = next_row(reader, SQL_CHANGED, &row, err);
    }
    end_rows(reader, SQL_CHANGED);
    return result;
}

/* ---- show ---- */

static WRIT_RESULT
read_boundary(struct writ_reader *reader, uint64_t id, struct writ_arena *arena,
    struct writ_reader_call *call, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_BOUNDARY];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)id);
    result = next_row(reader, SQL_BOUNDARY, &row, err);
    if (writ_is_ok(result) && row) {
        result = copy_column(s, 0, arena, &call->tenant, err);
        if (writ_is_ok(result)) {
            result = copy_column(s, 1, arena, &call->boundary_id, err);
        }
        call->sealed = !writ_sql_is_null(s, 2);
        call->seal_leaf = (uint64_t)writ_sql_int(s, 2);
    }
    end_rows(reader, SQL_BOUNDARY);
    return result;
}

WRIT_RESULT
writ_reader_record(struct writ_reader *reader, uint64_t leaf, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_BODY];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)leaf);
    result = next_row(reader, SQL_BODY, &row, err);
    if (writ_is_ok(result) && row && !writ_sql_is_null(s, 0)) {
        result = copy_column(s, 0, arena, ret, err);
    } else if (writ_is_ok(result)) {
        result = (writ_result){WRIT_E_MISMATCH};
    }
    end_rows(reader, SQL_BODY);
    if (result.code == WRIT_E_MISMATCH) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is not there", (unsigned long long)leaf);
    }
    return result;
}

/* Takes decision and outcome from the rows of one decision_id, and where its review ended. */
static WRIT_RESULT
read_call(struct writ_reader *reader, struct writ_view decision_id, struct writ_arena *arena,
    struct writ_reader_call *call, uint64_t *boundary, uint64_t *review, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_CALL];
    bool row = false;

    WRIT_TRY(first_of_call(reader, decision_id, &row, err));
    while (row) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
        int kind = (int)writ_sql_int(s, 1);

        if (kind == WRIT_ROW_DECISION && call->decision.ptr == NULL) {
            call->leaf = leaf;
            *boundary = (uint64_t)writ_sql_int(s, 2);
            WRIT_TRY(copy_column(s, 3, arena, &call->decision, err));
        } else if (kind == WRIT_ROW_REVIEW) {
            *review = leaf;
        } else if (kind == WRIT_ROW_OUTCOME && !call->has_outcome) {
            call->has_outcome = true;
            call->outcome_leaf = leaf;
            WRIT_TRY(copy_column(s, 3, arena, &call->outcome, err));
        }
        WRIT_TRY(next_row(reader, SQL_CALL, &row, err));
    }
    if (call->decision.ptr == NULL) {
        return absent(reader, "decision of that id", err);
    }
    return WRIT_DONE;
}

/* The redemption of an approval, or the decision in its place, is recorded together with the end of
 * its review. */
static WRIT_RESULT
read_redemption(struct writ_reader *reader, struct writ_view decision_id, uint64_t review,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_NEAR];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)(review > REDEMPTION_NEAR ? review - REDEMPTION_NEAR : 0));
    writ_sql_bind_int(s, 2, (int64_t)(review + REDEMPTION_NEAR));
    result = next_row(reader, SQL_NEAR, &row, err);
    while (writ_is_ok(result) && row && ret->ptr == NULL) {
        struct writ_decision decision = {0};

        if (writ_is_ok(writ_body_decision(writ_column_bytes(s, 1), arena, &decision, NULL)) &&
            writ_view_equal(decision.supersedes.view, decision_id)) {
            result = copy_column(s, 0, arena, ret, err);
        }
        if (writ_is_ok(result)) {
            result = next_row(reader, SQL_NEAR, &row, err);
        }
    }
    end_rows(reader, SQL_NEAR);
    return result;
}

static WRIT_RESULT
read_successor(struct writ_reader *reader, struct writ_arena *arena, struct writ_reader_call *call,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_SUCCESSOR];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)call->leaf);
    result = next_row(reader, SQL_SUCCESSOR, &row, err);
    if (writ_is_ok(result) && row) {
        result = copy_column(s, 0, arena, &call->superseded_by, err);
    }
    end_rows(reader, SQL_SUCCESSOR);
    return result;
}

static WRIT_RESULT
show(struct writ_reader *reader, struct writ_view decision_id, struct writ_arena *arena,
    struct writ_reader_call *call, struct writ_err *err)
{
    uint64_t boundary = 0, review = 0;
    writ_result result;

    result = read_call(reader, decision_id, arena, call, &boundary, &review, err);
    end_rows(reader, SQL_CALL);
    WRIT_TRY(result);
    WRIT_TRY(read_successor(reader, arena, call, err));
    if (call->superseded_by.ptr == NULL && review != 0) {
        WRIT_TRY(read_redemption(reader, decision_id, review, arena, &call->superseded_by, err));
    }
    WRIT_TRY(read_boundary(reader, boundary, arena, call, err));
    return call->sealed ? writ_reader_record(reader, call->seal_leaf, arena, &call->seal, err)
                        : WRIT_DONE;
}

WRIT_RESULT
writ_reader_show(struct writ_reader *reader, struct writ_view decision_id, struct writ_arena *arena,
    struct writ_reader_call *ret, struct writ_err *err)
{
    struct writ_reader_call call = {0};
    writ_result result;

    WRIT_TRY(begin(reader, err));
    result = show(reader, decision_id, arena, &call, err);
    end(reader);
    if (writ_is_ok(result)) {
        *ret = call;
    }
    return result;
}

/* ---- story ---- */

/* The decision that a decision supersedes; empty when there is none, or it is not in this
 * ledger. */
static WRIT_RESULT
read_superseded(struct writ_reader *reader, struct writ_arena *arena, struct writ_view *id,
    struct writ_err *err)
{
    struct writ_reader_call call = {0};
    struct writ_decision decision = {0};
    writ_result result;

    WRIT_TRY(show(reader, *id, arena, &call, err));
    result = writ_body_decision(call.decision, arena, &decision, err);
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
        WRIT_FAIL(
            err, WRIT_E_MISMATCH, "record %llu is not readable", (unsigned long long)call.leaf);
    }
    WRIT_TRY(result);
    *id = decision.supersedes.is == WRIT_PRESENT ? decision.supersedes.view : WRIT_LIT("");
    return WRIT_DONE;
}

/* Whether no record was removed. */
static bool
has_all(struct writ_reader *reader)
{
    bool row = false;
    bool all = writ_is_ok(next_row(reader, SQL_FIRST, &row, NULL)) && row &&
               writ_sql_int(reader->statements[SQL_FIRST], 0) == 0;

    end_rows(reader, SQL_FIRST);
    return all;
}

/* The decisions from this one back to the first of its call, in `path`. */
static WRIT_RESULT
find_path(struct writ_reader *reader, struct writ_arena *arena, struct writ_view id,
    struct writ_view *path, size_t *ret_n, struct writ_err *err)
{
    size_t n = 0;

    do {
        writ_result result;

        if (n == WRIT_READER_STORY_MAX) {
            WRIT_FAIL(
                err, WRIT_E_LIMIT, "the call has more than %d decisions", WRIT_READER_STORY_MAX);
        }
        path[n++] = id;
        result = read_superseded(reader, arena, &id, err);
        if (result.code == WRIT_E_ABSENT && n > 1 && !has_all(reader)) {
            return result; /* its first decisions were removed */
        }
        if (result.code == WRIT_E_ABSENT && n > 1) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "a decision supersedes one that is not there");
        }
        WRIT_TRY(result);
    } while (id.len > 0);
    *ret_n = n;
    return WRIT_DONE;
}

struct telling {
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record);
    void *ctx;
    bool goes_on;
};

/* Reports the records of one decision. */
static WRIT_RESULT
tell_decision(
    struct writ_reader *reader, struct writ_view id, struct telling *telling, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_CALL];
    bool row = false;

    WRIT_TRY(first_of_call(reader, id, &row, err));
    while (row && telling->goes_on) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
        int kind = (int)writ_sql_int(s, 1);

        telling->goes_on = telling->each(
            telling->ctx, leaf, (enum writ_detached_record_kind)kind, writ_column_bytes(s, 3));
        WRIT_TRY(next_row(reader, SQL_CALL, &row, err));
    }
    return WRIT_DONE;
}

/* Reports a call: along the path, from its first decision to its last round. */
static WRIT_RESULT
tell(struct writ_reader *reader, struct writ_arena *arena, const struct writ_view *path, size_t n,
    struct telling *telling, struct writ_err *err)
{
    struct writ_view id = path[n - 1];
    size_t told = 0;

    while (id.len > 0 && telling->goes_on) {
        struct writ_reader_call call = {0};
        writ_result result;

        if (told++ == WRIT_READER_STORY_MAX) {
            WRIT_FAIL(
                err, WRIT_E_LIMIT, "the call has more than %d decisions", WRIT_READER_STORY_MAX);
        }
        result = tell_decision(reader, id, telling, err);
        end_rows(reader, SQL_CALL);
        WRIT_TRY(result);
        if (n > 1) {
            id = path[--n - 1];
            continue;
        }
        WRIT_TRY(show(reader, id, arena, &call, err));
        id = call.superseded_by;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_story(struct writ_reader *reader, struct writ_view decision_id,
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record),
    void *ctx, struct writ_err *err)
{
    struct telling telling = {.each = each, .ctx = ctx, .goes_on = true};
    struct writ_arena *arena = writ_arena_new(STORY_ARENA);
    struct writ_view path[WRIT_READER_STORY_MAX];
    writ_result result = {WRIT_E_NOMEM};
    size_t n = 0;

    if (arena != NULL) {
        result = begin(reader, err);
    }
    if (writ_is_ok(result)) {
        result = find_path(reader, arena, decision_id, path, &n, err);
        if (writ_is_ok(result)) {
            result = tell(reader, arena, path, n, &telling, err);
        }
        end(reader);
    }
    writ_arena_free(arena);
    return result;
}

/* ---- facts ---- */

static WRIT_RESULT
tell_fact(struct writ_sql_statement *s, uint64_t n, struct writ_arena *arena,
    WRIT_RESULT (*each)(void *ctx, const struct writ_fact *fact, struct writ_err *err), void *ctx,
    struct writ_err *err)
{
    const struct writ_json *value = NULL;
    struct writ_fact fact = {0};

    if (!writ_is_ok(writ_body_json(writ_column_bytes(s, 1), arena, &value, NULL)) ||
        !writ_is_ok(writ_fact_read(value, &fact, NULL)) || fact.n != n) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "fact %llu of the ledger is missing or not readable: see `writ ledger verify`",
            (unsigned long long)n);
    }
    return each(ctx, &fact, err);
}

WRIT_RESULT
writ_reader_facts(struct writ_reader *reader,
    WRIT_RESULT (*each)(void *ctx, const struct writ_fact *fact, struct writ_err *err), void *ctx,
    struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new(RECORD_ARENA);
    bool row = false;
    writ_result result;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read the ledger");
    }
    result = next_row(reader, SQL_FACTS, &row, err);
    for (uint64_t n = 0; writ_is_ok(result) && row; n++) {
        writ_arena_reset(arena);
        result = tell_fact(reader->statements[SQL_FACTS], n, arena, each, ctx, err);
        if (writ_is_ok(result)) {
            result = next_row(reader, SQL_FACTS, &row, err);
        }
    }
    end_rows(reader, SQL_FACTS);
    writ_arena_free(arena);
    return result;
}

/* ---- reviews ---- */

static WRIT_RESULT
read_review_records(struct writ_reader *reader, struct writ_view id, struct writ_arena *arena,
    struct writ_reader_review *review, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_CALL];
    struct writ_view *records = writ_arena_get(arena, REVIEW_RECORDS_MAX * sizeof *records);
    bool row = false;

    if (records == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    review->records = records;
    WRIT_TRY(first_of_call(reader, id, &row, err));
    while (row) {
        int kind = (int)writ_sql_int(s, 1);

        if (kind == WRIT_ROW_DECISION) {
            WRIT_TRY(copy_column(s, 3, arena, &review->decision, err));
        } else if (kind == WRIT_ROW_REVIEW && review->records_n == REVIEW_RECORDS_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "the review has more records than one can have");
        } else if (kind == WRIT_ROW_REVIEW) {
            WRIT_TRY(copy_column(s, 3, arena, &records[review->records_n++], err));
        }
        WRIT_TRY(next_row(reader, SQL_CALL, &row, err));
    }
    if (review->records_n == 0) {
        return absent(reader, "review of that id", err);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_review(struct writ_reader *reader, struct writ_view id, struct writ_arena *arena,
    struct writ_reader_review *review, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_REVIEW];
    struct writ_view shown = {NULL, 0};
    struct writ_review_context context;
    bool row = false;
    writ_result result;

    result = read_review_records(reader, id, arena, review, err);
    end_rows(reader, SQL_CALL);
    WRIT_TRY(result);
    writ_sql_bind_text_or_null(s, 1, id);
    result = next_row(reader, SQL_REVIEW, &row, err);
    if (writ_is_ok(result) && row && !writ_sql_is_null(s, 0)) {
        result = copy_column(s, 0, arena, &shown, err);
    }
    end_rows(reader, SQL_REVIEW);
    WRIT_TRY(result);
    if (shown.len > 0) {
        WRIT_TRY(writ_review_context_check(review->records[0], shown, arena, err));
        context = writ_review_context_read(shown);
        review->arguments = context.arguments;
        review->conditions = context.conditions;
        review->candidates = context.candidates;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_review(struct writ_reader *reader, struct writ_view id, struct writ_arena *arena,
    struct writ_reader_review *ret, struct writ_err *err)
{
    struct writ_reader_review review = {0};
    writ_result result;

    WRIT_TRY(begin(reader, err));
    result = read_review(reader, id, arena, &review, err);
    end(reader);
    if (writ_is_ok(result)) {
        *ret = review;
    }
    return result;
}

/* Each id with its length before it. */
static WRIT_RESULT
read_ids(struct writ_reader *reader, struct writ_buf *ids, struct writ_err *err)
{
    bool row = false;
    writ_result result = next_row(reader, SQL_REVIEWS, &row, err);

    while (writ_is_ok(result) && row) {
        struct writ_view id = writ_column_bytes(reader->statements[SQL_REVIEWS], 0);

        writ_buf_put(ids, writ_view((const char *)&id.len, sizeof id.len));
        writ_buf_put(ids, id);
        result = next_row(reader, SQL_REVIEWS, &row, err);
    }
    end_rows(reader, SQL_REVIEWS);
    WRIT_TRY(result);
    return writ_buf_check(ids, err);
}

WRIT_RESULT
writ_reader_reviews(struct writ_reader *reader, bool (*each)(void *ctx, struct writ_view id),
    void *ctx, struct writ_err *err)
{
    writ_auto_buf ids = writ_buf_make(IDS_MAX);
    struct writ_view rest;
    bool going = true;

    WRIT_TRY(read_ids(reader, &ids, err)); /* `each` may read something else */
    for (rest = writ_buf_view(&ids); going && rest.len > 0;) {
        size_t len;

        (void)writ_view_place(writ_view_sub(rest, 0, sizeof len), (char *)&len);
        going = each(ctx, writ_view_sub(rest, sizeof len, len));
        rest = writ_view_sub(rest, sizeof len + len, rest.len);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_reviews_waiting(struct writ_reader *reader, struct writ_view tenant,
    struct writ_view agent_id, uint64_t *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[SQL_REVIEWS_WAITING];
    bool row = false;
    writ_result result;

    writ_sql_bind_text_or_null(s, 1, tenant);
    writ_sql_bind_text_or_null(s, 2, agent_id);
    result = next_row(reader, SQL_REVIEWS_WAITING, &row, err);
    if (writ_is_ok(result)) {
        *ret = row ? (uint64_t)writ_sql_int(s, 0) : 0;
    }
    end_rows(reader, SQL_REVIEWS_WAITING);
    return result;
}

/* ---- export ---- */

struct exporting {
    struct writ_reader *reader;
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record);
    void *ctx;
    uint64_t boundary, first_leaf, last_leaf;
    struct writ_completeness_set *set;
    struct writ_arena *arena;   /* ids, report */
    struct writ_arena *scratch; /* one record */
    struct writ_err *err;
};

static WRIT_RESULT
find_boundary(struct exporting *x, struct writ_view tenant, struct writ_view boundary_id)
{
    struct writ_sql_statement *s = x->reader->statements[SQL_BOUNDARY_NAMED];
    bool row = false, another = false;

    writ_sql_bind_text_or_null(s, 1, boundary_id);
    writ_sql_bind_text_or_null(s, 2, tenant);
    WRIT_TRY(next_row(x->reader, SQL_BOUNDARY_NAMED, &row, x->err));
    if (!row) {
        WRIT_FAIL(x->err, WRIT_E_ABSENT, "the ledger has no such boundary");
    }
    x->boundary = (uint64_t)writ_sql_int(s, 0);
    x->last_leaf = writ_sql_is_null(s, 2) ? (uint64_t)INT64_MAX : (uint64_t)writ_sql_int(s, 2);
    x->first_leaf = (uint64_t)writ_sql_int(s, 3);
    WRIT_TRY(next_row(x->reader, SQL_BOUNDARY_NAMED, &another, x->err));
    if (another) {
        WRIT_FAIL(x->err, WRIT_E_INVALID, "several tenants have a boundary of that name: name one");
    }
    return WRIT_DONE;
}

/* A run that began with records that were removed is not exported in part. */
static WRIT_RESULT
check_begins(struct exporting *x)
{
    struct writ_sql_statement *s = x->reader->statements[SQL_FIRST];
    bool row = false;
    writ_result result = next_row(x->reader, SQL_FIRST, &row, x->err);
    uint64_t first = writ_is_ok(result) && row ? (uint64_t)writ_sql_int(s, 0) : 0;

    end_rows(x->reader, SQL_FIRST);
    WRIT_TRY(result);
    if (x->first_leaf < first) {
        WRIT_FAIL(x->err, WRIT_E_MISMATCH,
            "the boundary begins with record %llu, and the ledger with record %llu: earlier ones "
            "are "
            "in an archive (`writ ledger archive`)",
            (unsigned long long)x->first_leaf, (unsigned long long)first);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
keep_text(struct exporting *x, struct writ_member_text *text)
{
    text->view = writ_view_copy(text->view, x->arena);
    if (text->view.ptr == NULL) {
        WRIT_FAIL(x->err, WRIT_E_NOMEM, "no memory for so many decisions");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
count_record(struct exporting *x, enum writ_row_kind kind, struct writ_view body)
{
    struct writ_decision decision = {0};
    const struct writ_json *value = NULL;
    struct writ_seal seal = {0};

    if (kind == WRIT_ROW_DECISION) {
        WRIT_TRY(writ_body_decision(body, x->scratch, &decision, x->err));
        WRIT_TRY(keep_text(x, &decision.decision_id));
        WRIT_TRY(keep_text(x, &decision.boundary_id));
        return writ_completeness_add(x->set, &decision, x->err);
    }
    if (kind == WRIT_ROW_SEAL) {
        body = writ_view_copy(body, x->arena); /* the seal points into it */
        WRIT_TRY(writ_body_json(body, x->arena, &value, x->err));
        WRIT_TRY(writ_seal_read(value, x->arena, &seal, x->err));
        writ_completeness_seal(x->set, &seal);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
first_of_range(struct exporting *x, bool *ret_row)
{
    struct writ_sql_statement *s = x->reader->statements[SQL_RANGE];

    writ_sql_bind_int(s, 1, (int64_t)x->first_leaf);
    writ_sql_bind_int(s, 2, (int64_t)x->last_leaf);
    writ_sql_bind_int(s, 3, (int64_t)x->boundary);
    return next_row(x->reader, SQL_RANGE, ret_row, x->err);
}

static WRIT_RESULT
export_records(struct exporting *x)
{
    struct writ_sql_statement *s = x->reader->statements[SQL_RANGE];
    bool row = false;

    WRIT_TRY(first_of_range(x, &row));
    while (row) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
        int kind = (int)writ_sql_int(s, 1);
        struct writ_view body = writ_column_bytes(s, 2);
        writ_result counted;

        writ_arena_reset(x->scratch);
        counted = count_record(x, (enum writ_row_kind)kind, body);
        if (counted.code == WRIT_E_PARSE) {
            WRIT_FAIL(
                x->err, WRIT_E_MISMATCH, "record %llu is not readable", (unsigned long long)leaf);
        }
        WRIT_TRY(counted);
        if (!x->each(x->ctx, leaf, (enum writ_detached_record_kind)kind, body)) {
            break;
        }
        WRIT_TRY(next_row(x->reader, SQL_RANGE, &row, x->err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
export_all(struct exporting *x, struct writ_view tenant, struct writ_view boundary_id,
    struct writ_completeness *report)
{
    writ_result result = find_boundary(x, tenant, boundary_id);

    end_rows(x->reader, SQL_BOUNDARY_NAMED);
    WRIT_TRY(result);
    WRIT_TRY(check_begins(x));
    result = export_records(x);
    end_rows(x->reader, SQL_RANGE);
    WRIT_TRY(result);
    return writ_completeness_report(x->set, x->arena, report, x->err);
}

WRIT_RESULT
writ_reader_export(struct writ_reader *reader, struct writ_view tenant,
    struct writ_view boundary_id,
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record),
    void *ctx, struct writ_arena *arena, struct writ_completeness *ret, struct writ_err *err)
{
    struct exporting x = {.reader = reader, .each = each, .ctx = ctx, .arena = arena, .err = err};
    struct writ_completeness report = {0};
    writ_result result = {WRIT_E_NOMEM};

    x.set = writ_completeness_new(WRIT_READER_EXPORT_MAX);
    x.scratch = writ_arena_new(RECORD_ARENA);
    if (x.set != NULL && x.scratch != NULL) {
        result = begin(reader, err);
        if (writ_is_ok(result)) {
            result = export_all(&x, tenant, boundary_id, &report);
            end(reader);
        }
    }
    writ_completeness_free(x.set);
    writ_arena_free(x.scratch);
    if (writ_is_ok(result)) {
        *ret = report;
    }
    return result;
}

/* ---- what a boundary got since */

/* The first record of the ledger, and how many it has. */
struct ends {
    uint64_t first, size;
};

/* Of the three statements only the first waits for the server. */
static WRIT_RESULT
find_ends(struct exporting *x, struct writ_view tenant, struct writ_view boundary_id,
    struct ends *ret, bool *ret_found)
{
    struct writ_reader *reader = x->reader;
    struct writ_sql_statement *first = reader->statements[SQL_FIRST];
    struct writ_sql_statement *edge = reader->statements[SQL_EDGE];
    bool row = false;
    writ_result found;

    WRIT_TRY(writ_sql_ask(first, x->err));
    WRIT_TRY(writ_sql_ask(edge, x->err));
    found = find_boundary(x, tenant, boundary_id);
    end_rows(reader, SQL_BOUNDARY_NAMED);
    *ret_found = writ_is_ok(found);
    if (found.code != WRIT_E_ABSENT) {
        WRIT_TRY(found);
    }
    WRIT_TRY(next_row(reader, SQL_FIRST, &row, x->err));
    ret->first = row ? (uint64_t)writ_sql_int(first, 0) : 0;
    WRIT_TRY(next_row(reader, SQL_EDGE, &row, x->err));
    ret->size = row ? (uint64_t)writ_sql_int(edge, 0) + 1 : 0;
    return WRIT_DONE;
}

static WRIT_RESULT
tell_range(struct exporting *x)
{
    struct writ_sql_statement *s = x->reader->statements[SQL_RANGE];
    bool row = false;

    WRIT_TRY(first_of_range(x, &row));
    while (
        row && x->each(x->ctx, (uint64_t)writ_sql_int(s, 0),
                   (enum writ_detached_record_kind)writ_sql_int(s, 1), writ_column_bytes(s, 2))) {
        WRIT_TRY(next_row(x->reader, SQL_RANGE, &row, x->err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
tell_since(struct exporting *x, struct writ_view tenant, struct writ_view boundary_id,
    uint64_t from, uint64_t *ret_until)
{
    struct ends ends = {0};
    bool found = false;
    writ_result result = find_ends(x, tenant, boundary_id, &ends, &found);

    end_rows(x->reader, SQL_FIRST);
    end_rows(x->reader, SQL_EDGE);
    WRIT_TRY(result);
    from = found && from < x->first_leaf ? x->first_leaf : from; /* it has no earlier ones */
    if (from > ends.size || (found && from < ends.first)) {
        WRIT_FAIL(x->err, WRIT_E_MISMATCH,
            "the ledger has the records from %llu to before %llu, and others were asked for",
            (unsigned long long)ends.first, (unsigned long long)ends.size);
    }
    if (found && from < ends.size) {
        x->first_leaf = from;
        result = tell_range(x);
        end_rows(x->reader, SQL_RANGE);
    }
    *ret_until = ends.size;
    return result;
}

WRIT_RESULT
writ_reader_since(struct writ_reader *reader, struct writ_view tenant, struct writ_view boundary_id,
    uint64_t from,
    bool (*each)(
        void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record),
    void *ctx, uint64_t *ret_until, struct writ_err *err)
{
    struct exporting x = {.reader = reader, .each = each, .ctx = ctx, .err = err};
    writ_result result;

    WRIT_TRY(begin(reader, err));
    result = tell_since(&x, tenant, boundary_id, from, ret_until);
    end(reader);
    return result;
}
