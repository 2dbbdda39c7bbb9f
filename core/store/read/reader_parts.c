/* How the parts of a reader find the records of a call, and the first record. Answers about calls,
 * reviews and boundaries need this. */
#include "store/read/reader_parts.h"

#include "store/read/column.h"

/* ---- the first record ---- */

WRIT_RESULT
writ_reader_parts_first(struct writ_reader *reader, uint64_t *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_FIRST];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, err);

    if (writ_is_ok(result)) {
        *ret = row ? (uint64_t)writ_sql_int(s, 0) : 0;
    }
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_reader_parts_absent(struct writ_reader *reader, const char *what, struct writ_err *err)
{
    uint64_t first = 0;

    if (writ_is_ok(writ_reader_parts_first(reader, &first, NULL)) && first > 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "the ledger has no %s; records before %llu are in an archive: name it with --archive",
            what, (unsigned long long)first);
    }
    WRIT_FAIL(err, WRIT_E_ABSENT, "the ledger has no %s", what);
}

/* ---- records of a call ---- */

static WRIT_RESULT
step_call(struct writ_reader *reader, struct writ_view id, uint64_t from, bool *ret_row,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_CALL];

    writ_sql_bind_text_or_null(s, 1, id);
    writ_sql_bind_int(s, 2, (int64_t)from);
    return writ_sql_step(s, ret_row, err);
}

WRIT_RESULT
writ_reader_parts_find_call(
    struct writ_reader *reader, struct writ_view id, bool *ret_row, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_CALL];
    uint64_t from = 0;

    WRIT_TRY(writ_span_from(&reader->span, reader->sql, id, &from, err));
    WRIT_TRY(step_call(reader, id, from, ret_row, err));
    if (from == 0 || (*ret_row && writ_sql_int(s, 1) == WRIT_ROW_DECISION)) {
        return WRIT_DONE;
    }
    writ_sql_reset(s);
    return step_call(reader, id, 0, ret_row, err);
}

WRIT_RESULT
writ_reader_parts_copy(struct writ_sql_statement *statement, int at, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_view copy = writ_view_copy(writ_column_bytes(statement, at), arena);

    if (copy.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a record");
    }
    *ret = copy;
    return WRIT_DONE;
}
