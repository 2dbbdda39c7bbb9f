/* Kept contents are beside the signed records: their rows must belong to records, and to each
 * other. What they say is compared when they are read, with the key that this verification does not
 * need. */
#include "store/read/check.h"

#define PIECE 512

static const char zeros[WRIT_WRAPPED_BYTES]; /* a key that was destroyed */

static void
check_row(struct writ_check *v, struct writ_sql_statement *s)
{
    uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
    struct writ_view wrapped = writ_column_bytes(s, 1);
    bool destroyed = writ_view_equal(wrapped, writ_view(zeros, sizeof zeros));
    bool has_bytes = !writ_sql_is_null(s, 2);
    int kind = (int)writ_sql_int(s, 3); /* 0: no such record */
    bool removed = kind == 0 && (int64_t)leaf < writ_sql_int(s, 4);

    if (removed && destroyed && !has_bytes) {
        return; /* the rows of keys stay: write/content_rows.h */
    }
    if (kind != WRIT_ROW_DECISION && kind != WRIT_ROW_OUTCOME && kind != WRIT_ROW_REVIEW) {
        writ_check_problem(
            v, leaf, "the ledger keeps a content for it, but it is no decision, outcome or vote");
    } else if (wrapped.len != WRIT_WRAPPED_BYTES) {
        writ_check_problem(v, leaf, "the key of its kept content has another length");
    } else if (destroyed == has_bytes) {
        writ_check_problem(v, leaf,
            destroyed ? "its kept content has no key" : "the key of its kept content has no bytes");
    }
}

/* Contents of a range of leaves that have no row of a key. */
static WRIT_RESULT
check_lost(struct writ_check *v, uint64_t from, uint64_t to)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_CONTENTS_LOST];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)from);
    writ_sql_bind_int(s, 2, (int64_t)to);
    result = writ_check_next(v, WRIT_CHECK_SQL_CONTENTS_LOST, &row, v->err);
    if (writ_is_ok(result) && row) {
        writ_check_problem(v, (uint64_t)writ_sql_int(s, 0), "its kept content has no row of a key");
    }
    writ_sql_reset(s);
    return result;
}

/* *ret_next is the leaf after the piece, or INT64_MAX after the last one. */
static WRIT_RESULT
check_piece(struct writ_check *v, uint64_t next, uint64_t *ret_next)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_CONTENTS];
    bool row = false;
    size_t n = 0;

    writ_sql_bind_int(s, 1, (int64_t)next);
    writ_sql_bind_int(s, 2, PIECE);
    *ret_next = next;
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_CONTENTS, &row, v->err));
    while (row) {
        check_row(v, s);
        *ret_next = (uint64_t)writ_sql_int(s, 0) + 1;
        n++;
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_CONTENTS, &row, v->err));
    }
    if (n < PIECE) {
        *ret_next = INT64_MAX;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_content(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx)
{
    uint64_t next = 0;

    while (next < INT64_MAX) {
        uint64_t from = next;
        writ_result result = check_piece(v, from, &next);

        writ_sql_reset(v->statements[WRIT_CHECK_SQL_CONTENTS]);
        WRIT_TRY(result);
        WRIT_TRY(check_lost(v, from, next == INT64_MAX ? INT64_MAX : next - 1));
        if (progress != NULL && !progress(ctx, v->report->records, v->report->records)) {
            WRIT_FAIL(v->err, WRIT_E_BUSY, "the verification was stopped");
        }
    }
    return WRIT_DONE;
}
