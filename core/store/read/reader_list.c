/* Many records in their order: decisions for lists, decisions and outcomes for sums, facts. A
 * callback gets one after the other as the statement has it, so nothing is kept of a long list. */
#include "store/read/reader.h"

#include "store/disk/lines.h"
#include "store/read/column.h"
#include "store/read/reader_parts.h"
#include "store/tables/body.h"

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
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_LIST];
    writ_result result = WRIT_DONE;
    bool row = true;

    bind_filter(s, filter);
    for (size_t n = 0; row && (filter->limit == 0 || n < filter->limit); n++) {
        result = writ_sql_step(s, &row, err);
        if (!writ_is_ok(result) || !row) {
            break;
        }
        struct writ_reader_item item = item_of(s);
        /* times grow with the index, so all later rows are older */
        row = item.issued_at_us >= filter->since_us && each(ctx, &item);
    }
    writ_sql_reset(s);
    return result;
}

/* ---- changes ---- */

WRIT_RESULT
writ_reader_changed(struct writ_reader *reader, uint64_t from_leaf, uint64_t before_leaf,
    bool (*each)(void *ctx, const struct writ_reader_item *item), void *ctx, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_CHANGED];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)from_leaf);
    writ_sql_bind_int(s, 2, (int64_t)before_leaf);
    result = writ_sql_step(s, &row, err);
    while (writ_is_ok(result) && row) {
        struct writ_reader_item item = item_of(s);

        if (!each(ctx, &item)) {
            break;
        }
        result = writ_sql_step(s, &row, err);
    }
    writ_sql_reset(s);
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
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_BODIES];

    *ret = writ_view(NULL, 0);
    while (*row && ret->ptr == NULL && (uint64_t)writ_sql_int(s, 0) <= leaf) {
        *ret = writ_lines_at(writ_column_bytes(s, 1), leaf - (uint64_t)writ_sql_int(s, 0));
        if (ret->ptr == NULL) {
            WRIT_TRY(writ_sql_step(s, row, err));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
each_record(struct writ_reader *reader,
    bool (*each)(void *ctx, const struct writ_reader_record *record), void *ctx,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_RECORDS];
    bool row = false, body = false, more = true;

    WRIT_TRY(writ_sql_step(s, &row, err));
    WRIT_TRY(writ_sql_step(reader->statements[WRIT_READER_SQL_BODIES], &body, err));
    while (row && more) {
        struct writ_reader_record record = record_of(s);

        WRIT_TRY(next_body(reader, record.leaf, &body, &record.body, err));
        more = record.body.ptr == NULL || each(ctx, &record);
        if (more) {
            WRIT_TRY(writ_sql_step(s, &row, err));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_reader_records(struct writ_reader *reader, uint64_t from_leaf, uint64_t before_leaf,
    bool (*each)(void *ctx, const struct writ_reader_record *record), void *ctx,
    struct writ_err *err)
{
    struct writ_sql_statement *const both[] = {
        reader->statements[WRIT_READER_SQL_RECORDS], reader->statements[WRIT_READER_SQL_BODIES]};
    writ_result result;

    WRIT_TRY(writ_sql_begin(reader->sql, WRIT_SQL_READ, err));
    for (size_t i = 0; i < 2; i++) {
        writ_sql_bind_int(both[i], 1, (int64_t)from_leaf);
        writ_sql_bind_int(both[i], 2, (int64_t)before_leaf);
    }
    result = each_record(reader, each, ctx, err);
    writ_sql_reset(both[0]);
    writ_sql_reset(both[1]);
    writ_sql_rollback(reader->sql);
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

    writ_result read = writ_body_json(writ_column_bytes(s, 1), arena, &value, NULL);

    if (read.code == WRIT_E_NOMEM) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for fact %llu", (unsigned long long)n);
    }
    if (!writ_is_ok(read) || !writ_is_ok(writ_fact_read(value, &fact, NULL)) || fact.n != n) {
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
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_FACTS];
    struct writ_arena *arena = writ_arena_new(WRIT_READER_RECORD_ARENA);
    bool row = false;
    writ_result result;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read the ledger");
    }
    result = writ_sql_step(s, &row, err);
    for (uint64_t n = 0; writ_is_ok(result) && row; n++) {
        writ_arena_reset(arena);
        result = tell_fact(s, n, arena, each, ctx, err);
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, err);
        }
    }
    writ_sql_reset(s);
    writ_arena_free(arena);
    return result;
}
