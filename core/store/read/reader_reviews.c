/* One review with its records and what voters were shown of it, and the ids of those that are
 * open. */
#include "store/read/reader.h"

#include "evidence/record/review.h"
#include "store/read/column.h"
#include "store/read/reader_parts.h"
#include "store/tables/review_context.h"

#define REVIEW_RECORDS_MAX (WRIT_REVIEW_VOTES_MAX + 8) /* votes, and the records around them */
#define IDS_MAX            (64 << 20)                  /* ids of all reviews that are open */

/* ---- one review ---- */

static WRIT_RESULT
read_review_records(struct writ_reader *reader, struct writ_view id, struct writ_arena *arena,
    struct writ_reader_review *review, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_CALL];
    struct writ_view *records = writ_arena_get(arena, REVIEW_RECORDS_MAX * sizeof *records);
    bool row = false;

    if (records == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a review");
    }
    review->records = records;
    WRIT_TRY(writ_reader_parts_find_call(reader, id, &row, err));
    while (row) {
        int kind = (int)writ_sql_int(s, 1);

        if (kind == WRIT_ROW_DECISION) {
            WRIT_TRY(writ_reader_parts_copy(s, 3, arena, &review->decision, err));
        } else if (kind == WRIT_ROW_REVIEW && review->records_n == REVIEW_RECORDS_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "the review has more records than one can have");
        } else if (kind == WRIT_ROW_REVIEW) {
            WRIT_TRY(writ_reader_parts_copy(s, 3, arena, &records[review->records_n++], err));
        }
        WRIT_TRY(writ_sql_step(s, &row, err));
    }
    if (review->records_n == 0) {
        return writ_reader_parts_absent(reader, "review of that id", err);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_review(struct writ_reader *reader, struct writ_view id, struct writ_arena *arena,
    struct writ_reader_review *review, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_REVIEW];
    struct writ_view shown = {NULL, 0};
    struct writ_review_context context;
    bool row = false;
    writ_result result;

    result = read_review_records(reader, id, arena, review, err);
    writ_sql_reset(reader->statements[WRIT_READER_SQL_CALL]);
    WRIT_TRY(result);
    writ_sql_bind_text_or_null(s, 1, id);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row && !writ_sql_is_null(s, 0)) {
        result = writ_reader_parts_copy(s, 0, arena, &shown, err);
    }
    writ_sql_reset(s);
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

    WRIT_TRY(writ_sql_begin(reader->sql, WRIT_SQL_READ, err));
    result = read_review(reader, id, arena, &review, err);
    writ_sql_rollback(reader->sql);
    if (writ_is_ok(result)) {
        *ret = review;
    }
    return result;
}

/* ---- which are open ---- */

/* Each id with its length before it. */
static WRIT_RESULT
read_ids(struct writ_reader *reader, struct writ_buf *ids, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_REVIEWS];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, err);

    while (writ_is_ok(result) && row) {
        struct writ_view id = writ_column_bytes(s, 0);

        writ_buf_put(ids, writ_view((const char *)&id.len, sizeof id.len));
        writ_buf_put(ids, id);
        result = writ_sql_step(s, &row, err);
    }
    writ_sql_reset(s);
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
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_REVIEWS_WAITING];
    bool row = false;
    writ_result result;

    writ_sql_bind_text_or_null(s, 1, tenant);
    writ_sql_bind_text_or_null(s, 2, agent_id);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result)) {
        *ret = row ? (uint64_t)writ_sql_int(s, 0) : 0;
    }
    writ_sql_reset(s);
    return result;
}
