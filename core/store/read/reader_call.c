/* One call by a decision_id: its decision, outcome and seal, or all of its decisions with their
 * records. A call of several rounds is found by the links between them. */
#include "store/read/reader.h"

#include "store/read/column.h"
#include "store/read/reader_parts.h"
#include "store/tables/body.h"

#define REDEMPTION_NEAR 4                 /* records of one entry beside its decision, at most */
#define STORY_ARENA     ((size_t)1 << 30) /* memory to read the decisions of one call */

/* ---- show ---- */

static WRIT_RESULT
read_boundary(struct writ_reader *reader, uint64_t id, struct writ_arena *arena,
    struct writ_reader_call *call, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_BOUNDARY];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)id);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row) {
        result = writ_reader_parts_copy(s, 0, arena, &call->tenant, err);
        if (writ_is_ok(result)) {
            result = writ_reader_parts_copy(s, 1, arena, &call->boundary_id, err);
        }
        call->sealed = !writ_sql_is_null(s, 2);
        call->seal_leaf = (uint64_t)writ_sql_int(s, 2);
    }
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_reader_record(struct writ_reader *reader, uint64_t leaf, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_BODY];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)leaf);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row && !writ_sql_is_null(s, 0)) {
        result = writ_reader_parts_copy(s, 0, arena, ret, err);
    } else if (writ_is_ok(result)) {
        result = (writ_result){WRIT_E_MISMATCH};
    }
    writ_sql_reset(s);
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
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_CALL];
    bool row = false;

    WRIT_TRY(writ_reader_parts_find_call(reader, decision_id, &row, err));
    while (row) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
        int kind = (int)writ_sql_int(s, 1);

        if (kind == WRIT_ROW_DECISION && call->decision.ptr == NULL) {
            call->leaf = leaf;
            *boundary = (uint64_t)writ_sql_int(s, 2);
            WRIT_TRY(writ_reader_parts_copy(s, 3, arena, &call->decision, err));
        } else if (kind == WRIT_ROW_REVIEW) {
            *review = leaf;
        } else if (kind == WRIT_ROW_OUTCOME && !call->has_outcome) {
            call->has_outcome = true;
            call->outcome_leaf = leaf;
            WRIT_TRY(writ_reader_parts_copy(s, 3, arena, &call->outcome, err));
        }
        WRIT_TRY(writ_sql_step(s, &row, err));
    }
    if (call->decision.ptr == NULL) {
        return writ_reader_parts_absent(reader, "decision of that id", err);
    }
    return WRIT_DONE;
}

/* The redemption of an approval, or the decision in its place, is recorded together with the end of
 * its review. */
static WRIT_RESULT
read_redemption(struct writ_reader *reader, struct writ_view decision_id, uint64_t review,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_NEAR];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)(review > REDEMPTION_NEAR ? review - REDEMPTION_NEAR : 0));
    writ_sql_bind_int(s, 2, (int64_t)(review + REDEMPTION_NEAR));
    result = writ_sql_step(s, &row, err);
    while (writ_is_ok(result) && row && ret->ptr == NULL) {
        struct writ_decision decision = {0};

        writ_result read = writ_body_decision(writ_column_bytes(s, 1), arena, &decision, NULL);

        if (read.code == WRIT_E_NOMEM) {
            result = writ_fail(err, WRIT_E_NOMEM, "no memory for a decision");
        } else if (writ_is_ok(read) && writ_view_equal(decision.supersedes.view, decision_id)) {
            result = writ_reader_parts_copy(s, 0, arena, ret, err);
        }
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, err);
        }
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
read_successor(struct writ_reader *reader, struct writ_arena *arena, struct writ_reader_call *call,
    struct writ_err *err)
{
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_SUCCESSOR];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)call->leaf);
    result = writ_sql_step(s, &row, err);
    if (writ_is_ok(result) && row) {
        result = writ_reader_parts_copy(s, 0, arena, &call->superseded_by, err);
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
show(struct writ_reader *reader, struct writ_view decision_id, struct writ_arena *arena,
    struct writ_reader_call *call, struct writ_err *err)
{
    uint64_t boundary = 0, review = 0;
    writ_result result;

    result = read_call(reader, decision_id, arena, call, &boundary, &review, err);
    writ_sql_reset(reader->statements[WRIT_READER_SQL_CALL]);
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

    WRIT_TRY(writ_sql_begin(reader->sql, WRIT_SQL_READ, err));
    result = show(reader, decision_id, arena, &call, err);
    writ_sql_rollback(reader->sql);
    if (writ_is_ok(result)) {
        *ret = call;
    }
    return result;
}

/* ---- story ---- */

/* The decision that a decision supersedes; empty when there is none. */
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
    uint64_t first = 0;

    return writ_is_ok(writ_reader_parts_first(reader, &first, NULL)) && first == 0;
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
    struct writ_sql_statement *s = reader->statements[WRIT_READER_SQL_CALL];
    bool row = false;

    WRIT_TRY(writ_reader_parts_find_call(reader, id, &row, err));
    while (row && telling->goes_on) {
        uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
        int kind = (int)writ_sql_int(s, 1);

        telling->goes_on = telling->each(
            telling->ctx, leaf, (enum writ_detached_record_kind)kind, writ_column_bytes(s, 3));
        WRIT_TRY(writ_sql_step(s, &row, err));
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
        writ_sql_reset(reader->statements[WRIT_READER_SQL_CALL]);
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
    size_t n = 0;
    writ_result result = arena != NULL ? writ_sql_begin(reader->sql, WRIT_SQL_READ, err)
                                       : writ_fail(err, WRIT_E_NOMEM, "no memory to read a call");

    if (writ_is_ok(result)) {
        result = find_path(reader, arena, decision_id, path, &n, err);
        if (writ_is_ok(result)) {
            result = tell(reader, arena, path, n, &telling, err);
        }
        writ_sql_rollback(reader->sql);
    }
    writ_arena_free(arena);
    return result;
}
