/* The records of one boundary: all of them, with a judgement whether its decisions are whole, or
 * those since an earlier reading. */
#include "store/read/reader.h"

#include "store/read/column.h"
#include "store/read/reader_parts.h"
#include "store/tables/body.h"

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
    struct writ_sql_statement *s = x->reader->statements[WRIT_READER_SQL_BOUNDARY_NAMED];
    bool row = false, another = false;

    writ_sql_bind_text_or_null(s, 1, boundary_id);
    writ_sql_bind_text_or_null(s, 2, tenant);
    WRIT_TRY(writ_sql_step(s, &row, x->err));
    if (!row) {
        WRIT_FAIL(x->err, WRIT_E_ABSENT, "the ledger has no such boundary");
    }
    x->boundary = (uint64_t)writ_sql_int(s, 0);
    x->last_leaf = writ_sql_is_null(s, 2) ? (uint64_t)INT64_MAX : (uint64_t)writ_sql_int(s, 2);
    x->first_leaf = (uint64_t)writ_sql_int(s, 3);
    WRIT_TRY(writ_sql_step(s, &another, x->err));
    if (another) {
        WRIT_FAIL(x->err, WRIT_E_INVALID, "several tenants have a boundary of that name: name one");
    }
    return WRIT_DONE;
}

/* A run that began with records that were removed is not exported in part. */
static WRIT_RESULT
check_begins(struct exporting *x)
{
    uint64_t first = 0;

    WRIT_TRY(writ_reader_parts_first(x->reader, &first, x->err));
    if (x->first_leaf < first) {
        WRIT_FAIL(x->err, WRIT_E_MISMATCH,
            "the boundary begins with record %llu, and the ledger with record %llu: earlier ones "
            "are in an archive (`writ ledger archive`)",
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
        if (body.ptr == NULL) {
            WRIT_FAIL(x->err, WRIT_E_NOMEM, "no memory for a seal");
        }
        WRIT_TRY(writ_body_json(body, x->arena, &value, x->err));
        WRIT_TRY(writ_seal_read(value, x->arena, &seal, x->err));
        writ_completeness_seal(x->set, &seal);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
first_of_range(struct exporting *x, bool *ret_row)
{
    struct writ_sql_statement *s = x->reader->statements[WRIT_READER_SQL_RANGE];

    writ_sql_bind_int(s, 1, (int64_t)x->first_leaf);
    writ_sql_bind_int(s, 2, (int64_t)x->last_leaf);
    writ_sql_bind_int(s, 3, (int64_t)x->boundary);
    return writ_sql_step(s, ret_row, x->err);
}

static WRIT_RESULT
export_records(struct exporting *x)
{
    struct writ_sql_statement *s = x->reader->statements[WRIT_READER_SQL_RANGE];
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
        WRIT_TRY(writ_sql_step(s, &row, x->err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
export_all(struct exporting *x, struct writ_view tenant, struct writ_view boundary_id,
    struct writ_completeness *report)
{
    writ_result result = find_boundary(x, tenant, boundary_id);

    writ_sql_reset(x->reader->statements[WRIT_READER_SQL_BOUNDARY_NAMED]);
    WRIT_TRY(result);
    WRIT_TRY(check_begins(x));
    result = export_records(x);
    writ_sql_reset(x->reader->statements[WRIT_READER_SQL_RANGE]);
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
    writ_result result;

    x.set = writ_completeness_new(WRIT_READER_EXPORT_MAX);
    x.scratch = writ_arena_new(WRIT_READER_RECORD_ARENA);
    result = x.set != NULL && x.scratch != NULL
                 ? writ_sql_begin(reader->sql, WRIT_SQL_READ, err)
                 : writ_fail(err, WRIT_E_NOMEM, "no memory to export a boundary");
    if (writ_is_ok(result)) {
        result = export_all(&x, tenant, boundary_id, &report);
        writ_sql_rollback(reader->sql);
    }
    writ_completeness_free(x.set);
    writ_arena_free(x.scratch);
    if (writ_is_ok(result)) {
        *ret = report;
    }
    return result;
}

/* ---- records since an earlier reading ---- */

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
    struct writ_sql_statement *first = reader->statements[WRIT_READER_SQL_FIRST];
    struct writ_sql_statement *edge = reader->statements[WRIT_READER_SQL_EDGE];
    bool row = false;
    writ_result found;

    WRIT_TRY(writ_sql_ask(first, x->err));
    WRIT_TRY(writ_sql_ask(edge, x->err));
    found = find_boundary(x, tenant, boundary_id);
    writ_sql_reset(reader->statements[WRIT_READER_SQL_BOUNDARY_NAMED]);
    *ret_found = writ_is_ok(found);
    if (found.code != WRIT_E_ABSENT) {
        WRIT_TRY(found);
    }
    WRIT_TRY(writ_sql_step(first, &row, x->err));
    ret->first = row ? (uint64_t)writ_sql_int(first, 0) : 0;
    WRIT_TRY(writ_sql_step(edge, &row, x->err));
    ret->size = row ? (uint64_t)writ_sql_int(edge, 0) + 1 : 0;
    return WRIT_DONE;
}

static WRIT_RESULT
tell_range(struct exporting *x)
{
    struct writ_sql_statement *s = x->reader->statements[WRIT_READER_SQL_RANGE];
    bool row = false;

    WRIT_TRY(first_of_range(x, &row));
    while (
        row && x->each(x->ctx, (uint64_t)writ_sql_int(s, 0),
                   (enum writ_detached_record_kind)writ_sql_int(s, 1), writ_column_bytes(s, 2))) {
        WRIT_TRY(writ_sql_step(s, &row, x->err));
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

    writ_sql_reset(x->reader->statements[WRIT_READER_SQL_FIRST]);
    writ_sql_reset(x->reader->statements[WRIT_READER_SQL_EDGE]);
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
        writ_sql_reset(x->reader->statements[WRIT_READER_SQL_RANGE]);
    }
    if (writ_is_ok(result)) {
        *ret_until = ends.size;
    }
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

    WRIT_TRY(writ_sql_begin(reader->sql, WRIT_SQL_READ, err));
    result = tell_since(&x, tenant, boundary_id, from, ret_until);
    writ_sql_rollback(reader->sql);
    return result;
}
