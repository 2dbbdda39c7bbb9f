/* One statement gives a call with everything that is kept of it. Calls are read in pieces, each a
 * statement run of its own, and nothing stands at a row between two pieces. */
#include "store/read/contents.h"

#include "evidence/record/review_record.h"
#include "store/disk/disk.h"
#include "store/read/column.h"
#include "store/tables/body.h"

#define PIECE         256                /* calls that are read in one state of the ledger */
#define READING_ARENA ((size_t)64 << 20) /* memory for one call */

/* clang-format off */
#define RESULTS "CAST(?3 AS BIGINT) <> 0"
#define CALL_COLUMNS                                                                               \
    "SELECT r.leaf, r.time_us, r.flags, b.tenant, b.name, line_at(y.bytes, r.leaf - y.leaf), "     \
    "k.wrapped, c.redacted, c.kid, c.bytes, c.expires_us, o.leaf, o.verdict, "                     \
    "CASE WHEN " RESULTS " THEN ok.wrapped END, oc.redacted, oc.kid, "                             \
    "CASE WHEN " RESULTS " THEN oc.bytes END, oc.expires_us, "                                     \
    "CASE WHEN " RESULTS " AND ok.leaf IS NOT NULL THEN (SELECT line_at(bytes, o.leaf - leaf) "    \
    "FROM body WHERE leaf <= o.leaf ORDER BY leaf DESC LIMIT 1) END, r.decision_id, o.flags "
#define CALL_JOINS                                                                                 \
    "JOIN boundary AS b ON b.id = r.boundary "                                                     \
    "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "                \
    "LEFT JOIN content AS c ON c.leaf = r.leaf "                                                   \
    "LEFT JOIN record AS o ON o.decision_id = r.decision_id AND o.kind = 2 "                       \
    "AND o.leaf > r.leaf AND o.leaf <= coalesce(b.seal_leaf, 9223372036854775807) "                \
    "LEFT JOIN content_key AS ok ON ok.leaf = o.leaf "                                             \
    "LEFT JOIN content AS oc ON oc.leaf = o.leaf "

/* The parameters of each: 1 and 2 select (and 4), 3 says whether results are read. */
#define CONTENT_STATEMENTS(X)                                                                      \
    X(ONE, CALL_COLUMNS "FROM record AS r LEFT JOIN content_key AS k ON k.leaf = r.leaf "          \
      CALL_JOINS "WHERE r.decision_id = ?1 AND r.kind = 1 AND r.leaf >= ?4 LIMIT ?2")              \
    X(KEPT, WRIT_SQL_MANY CALL_COLUMNS "FROM content_key AS k CROSS JOIN record AS r " CALL_JOINS  \
      "WHERE r.leaf = k.leaf AND k.leaf >= ?1 AND r.kind = 1 ORDER BY k.leaf LIMIT ?2")            \
    X(EVERY, WRIT_SQL_MANY CALL_COLUMNS                                                            \
      "FROM record AS r LEFT JOIN content_key AS k ON k.leaf = r.leaf "                            \
      CALL_JOINS "WHERE r.leaf >= ?1 AND r.kind = 1 ORDER BY r.leaf LIMIT ?2")                     \
    X(LOG, "SELECT r.leaf, line_at(y.bytes, r.leaf - y.leaf), k.wrapped, c.redacted, c.kid, "      \
      "c.bytes, c.expires_us FROM record AS r "                                                    \
      "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "              \
      "JOIN content_key AS k ON k.leaf = r.leaf LEFT JOIN content AS c ON c.leaf = r.leaf "        \
      "WHERE r.decision_id = ?1 AND r.kind = 4 ORDER BY r.leaf")                                   \
    X(TIME, WRIT_DISK_TIME)                                          \
    X(LAST, "SELECT max(leaf) FROM record")
/* clang-format on */

enum statement {
#define CONTENT_ENUM(NAME, text) SQL_##NAME,
    CONTENT_STATEMENTS(CONTENT_ENUM)
#undef CONTENT_ENUM
        SQL_COUNT
};

static const char *const texts[SQL_COUNT] = {
#define CONTENT_TEXT(NAME, text) [SQL_##NAME] = (text),
    CONTENT_STATEMENTS(CONTENT_TEXT)
#undef CONTENT_TEXT
};

/* Columns of CALL_COLUMNS. */
enum column {
    AT_LEAF,
    AT_TIME,
    AT_FLAGS,
    AT_TENANT,
    AT_BOUNDARY,
    AT_RECORD,
    AT_WRAPPED,
    AT_REDACTED,
    AT_KID,
    AT_BYTES,
    AT_EXPIRES,
    AT_OUTCOME_LEAF,
    AT_OUTCOME,
    AT_RESULT_WRAPPED, /* and redacted, kid, bytes, expires, as above */
    AT_OUTCOME_RECORD = AT_RESULT_WRAPPED + 5,
    AT_DECISION_ID,
    AT_OUTCOME_FLAGS,
};

struct writ_contents {
    struct writ_sql *sql;
    struct writ_sql_statement *statements[SQL_COUNT];
    const struct writ_keyring *ring;
    const struct writ_clock *clock;
    struct writ_span span;
};

WRIT_RESULT
writ_contents_open(const char *path, const struct writ_keyring *ring,
    const struct writ_clock *clock, struct writ_contents **ret, struct writ_err *err)
{
    writ_auto_contents contents = writ_alloc(sizeof *contents);
    if (contents == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    contents->ring = ring;
    contents->clock = clock;
    WRIT_TRY(writ_disk_connect_reader(path, &contents->sql, err));
    WRIT_TRY(writ_sql_prepare_all(contents->sql, texts, SQL_COUNT, contents->statements, err));
    *ret = WRIT_TAKE(contents);
    return WRIT_DONE;
}

void
writ_contents_close(struct writ_contents *contents)
{
    if (contents == NULL) {
        return;
    }
    writ_sql_finalize_all(contents->statements, SQL_COUNT);
    writ_span_wipe(&contents->span);
    writ_sql_close(contents->sql);
    writ_free(contents);
}

/* ---- one content ---- */

static bool
is_destroyed(struct writ_view wrapped)
{
    for (size_t i = 0; i < wrapped.len; i++) {
        if (wrapped.ptr[i] != 0) {
            return false;
        }
    }
    return true;
}

/* A content beside a signed record. */
struct beside {
    struct writ_view decision_id;
    enum writ_content_part part;
    struct writ_sealed sealed;
};

/* The five columns from `at` on. */
static enum writ_content_state
read_sealed(const struct writ_contents *contents, struct writ_sql_statement *s, int at,
    struct writ_sealed *ret)
{
    struct writ_view wrapped = writ_column_bytes(s, at);

    if (writ_sql_is_null(s, at)) {
        return WRIT_CONTENT_ABSENT;
    }
    if (is_destroyed(wrapped) || writ_sql_is_null(s, at + 1) ||
        writ_sql_int(s, at + 4) <= writ_clock_wall_us(contents->clock)) {
        return WRIT_CONTENT_ERASED;
    }
    if (wrapped.len != WRIT_WRAPPED_BYTES) {
        return WRIT_CONTENT_CHANGED;
    }
    (void)writ_view_place(wrapped, (char *)ret->wrapped);
    ret->redacted = writ_sql_int(s, at + 1) != 0;
    ret->kid = writ_column_bytes(s, at + 2);
    ret->bytes = writ_column_bytes(s, at + 3);
    ret->expires_us = writ_sql_int(s, at + 4);
    return WRIT_CONTENT_KEPT;
}

/* Opens a content that is kept, and compares it: `signed_digest` is that for a redacted one or not.
 * Only a failure of ours is an error; `why` says what is wrong with it otherwise. */
static WRIT_RESULT
open_sealed(const struct writ_contents *contents, const struct beside *beside,
    struct writ_view signed_digest, struct writ_arena *arena, struct writ_content *ret,
    struct writ_err *why)
{
    struct writ_view plain = {NULL, 0};
    writ_result result = {WRIT_E_ABSENT};

    if (contents->ring != NULL) {
        result = writ_content_open(
            contents->ring, beside->decision_id, beside->part, &beside->sealed, arena, &plain, why);
    }
    if (writ_is_ok(result)) {
        result = writ_content_check(plain, signed_digest, why);
    }
    if (result.code == WRIT_E_ABSENT) {
        *ret = (struct writ_content){.state = WRIT_CONTENT_LOCKED};
    } else if (result.code == WRIT_E_MISMATCH) {
        *ret = (struct writ_content){.state = WRIT_CONTENT_CHANGED};
    } else if (!writ_is_ok(result)) {
        return result;
    } else {
        *ret = (struct writ_content){.state = WRIT_CONTENT_KEPT,
            .redacted = beside->sealed.redacted,
            .bytes = plain,
            .expires_us = beside->sealed.expires_us};
    }
    return WRIT_DONE;
}

/* ---- one call ---- */

/* The memory of one call. */
struct reading {
    struct writ_arena *arena;
    struct writ_decision decision;
    struct writ_extension extension;
};

static WRIT_RESULT
unreadable(writ_result result, uint64_t leaf, struct writ_err *err)
{
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is not readable: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    return result;
}

static WRIT_RESULT
copy_view(struct writ_view *view, struct writ_arena *arena, struct writ_err *err)
{
    *view = writ_view_copy(*view, arena);
    if (view->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a record");
    }
    return WRIT_DONE;
}

/* The columns last until the next step; the decision points into its record. */
static WRIT_RESULT
copy_columns(struct writ_contents_call *call, struct writ_arena *arena, struct writ_err *err)
{
    WRIT_TRY(copy_view(&call->tenant, arena, err));
    WRIT_TRY(copy_view(&call->boundary_id, arena, err));
    return copy_view(&call->record, arena, err);
}

static WRIT_RESULT
read_decision(struct reading *reading, struct writ_contents_call *call, struct writ_err *err)
{
    writ_result result = writ_body_decision(call->record, reading->arena, &reading->decision, err);

    if (writ_is_ok(result)) {
        result = writ_extension_read(
            &reading->decision.extensions, reading->arena, &reading->extension, err);
    }
    WRIT_TRY(unreadable(result, call->leaf, err));
    call->decision = &reading->decision;
    call->extension = &reading->extension;
    return WRIT_DONE;
}

static WRIT_RESULT
read_arguments(const struct writ_contents *contents, struct writ_sql_statement *s,
    struct reading *reading, struct writ_contents_call *call, struct writ_err *err)
{
    struct beside beside = {
        .decision_id = writ_member_view(&reading->decision.decision_id),
        .part = WRIT_CONTENT_ARGUMENTS,
    };

    call->arguments.state = read_sealed(contents, s, AT_WRAPPED, &beside.sealed);
    if (call->arguments.state != WRIT_CONTENT_KEPT) {
        return WRIT_DONE;
    }
    return open_sealed(contents, &beside,
        writ_content_arguments(&reading->decision, &reading->extension, beside.sealed.redacted),
        reading->arena, &call->arguments, err);
}

/* The digest that the outcome states, and that the outcome is this decision's. */
static WRIT_RESULT
result_digest(struct writ_sql_statement *s, struct reading *reading, struct beside *beside,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_view record = writ_column_bytes(s, AT_OUTCOME_RECORD);
    const struct writ_json *value = NULL;
    struct writ_outcome outcome = {0};
    struct writ_extension extension = {0};
    writ_result result = writ_body_json(record, reading->arena, &value, err);

    if (writ_is_ok(result)) {
        result = writ_outcome_read(value, reading->arena, &outcome, err);
    }
    if (writ_is_ok(result)) {
        result = writ_extension_read(&outcome.extensions, reading->arena, &extension, err);
    }
    WRIT_TRY(unreadable(result, (uint64_t)writ_sql_int(s, AT_OUTCOME_LEAF), err));
    if (!writ_view_equal(writ_member_view(&outcome.decision_id), beside->decision_id)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is the outcome of another decision",
            (unsigned long long)writ_sql_int(s, AT_OUTCOME_LEAF));
    }
    *ret = writ_content_result(&outcome, &extension, beside->sealed.redacted);
    return WRIT_DONE;
}

static WRIT_RESULT
read_result(const struct writ_contents *contents, struct writ_sql_statement *s,
    struct reading *reading, struct writ_contents_call *call, struct writ_err *err)
{
    struct beside beside = {
        .decision_id = writ_member_view(&reading->decision.decision_id),
        .part = WRIT_CONTENT_RESULT,
    };
    struct writ_view signed_digest = {NULL, 0};

    call->result.state = read_sealed(contents, s, AT_RESULT_WRAPPED, &beside.sealed);
    if (call->result.state != WRIT_CONTENT_KEPT) {
        return WRIT_DONE;
    }
    WRIT_TRY(result_digest(s, reading, &beside, &signed_digest, err));
    return open_sealed(contents, &beside, signed_digest, reading->arena, &call->result, err);
}

static WRIT_RESULT
read_call(const struct writ_contents *contents, struct writ_sql_statement *s,
    struct reading *reading, struct writ_contents_call *ret, struct writ_err *err)
{
    struct writ_contents_call call = {
        .leaf = (uint64_t)writ_sql_int(s, AT_LEAF),
        .issued_at_us = writ_sql_int(s, AT_TIME),
        .granted = (writ_sql_int(s, AT_FLAGS) & WRIT_ROW_GRANTED) != 0,
        .tenant = writ_column_bytes(s, AT_TENANT),
        .boundary_id = writ_column_bytes(s, AT_BOUNDARY),
        .record = writ_column_bytes(s, AT_RECORD),
        .has_outcome = !writ_sql_is_null(s, AT_OUTCOME_LEAF),
        .outcome_leaf = (uint64_t)writ_sql_int(s, AT_OUTCOME_LEAF),
        .outcome = (enum writ_outcome_kind)(writ_sql_int(s, AT_OUTCOME) & 3),
        .nothing_ran = (writ_sql_int(s, AT_OUTCOME_FLAGS) & WRIT_ROW_NOTHING_RAN) != 0,
    };

    WRIT_TRY(copy_columns(&call, reading->arena, err));
    WRIT_TRY(read_decision(reading, &call, err));
    if (!writ_view_equal(writ_member_view(&reading->decision.decision_id),
            writ_column_bytes(s, AT_DECISION_ID))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the columns beside record %llu differ from the record: see `writ ledger verify`",
            (unsigned long long)call.leaf);
    }
    WRIT_TRY(read_arguments(contents, s, reading, &call, err));
    WRIT_TRY(read_result(contents, s, reading, &call, err));
    *ret = call;
    return WRIT_DONE;
}

/* ---- statements ---- */

static WRIT_RESULT
next_row(struct writ_contents *contents, enum statement which, bool *ret_row, struct writ_err *err)
{
    return writ_sql_step(contents->statements[which], ret_row, err);
}

static void
end_rows(struct writ_contents *contents, enum statement which)
{
    writ_sql_reset(contents->statements[which]);
}

/* A statement that gives one number. *ret_row is false without a row, or for NULL. */
static WRIT_RESULT
number_of(struct writ_contents *contents, enum statement which, bool *ret_row, int64_t *ret,
    struct writ_err *err)
{
    struct writ_sql_statement *s = contents->statements[which];
    writ_result result = next_row(contents, which, ret_row, err);

    if (writ_is_ok(result) && *ret_row) {
        *ret_row = !writ_sql_is_null(s, 0);
        *ret = writ_sql_int(s, 0);
    }
    end_rows(contents, which);
    return result;
}

/* ---- reading ---- */

static WRIT_RESULT
check_one(const struct writ_contents_call *call, const struct writ_err *why, struct writ_err *err)
{
    if (call->arguments.state == WRIT_CONTENT_CHANGED ||
        call->result.state == WRIT_CONTENT_CHANGED) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the kept %s of record %llu: %s",
            call->arguments.state == WRIT_CONTENT_CHANGED ? "arguments" : "result",
            (unsigned long long)call->leaf,
            why->text[0] != '\0' ? why->text : "another program changed them");
    }
    return WRIT_DONE;
}

/* Finds a decision among the records from `from` on. */
static WRIT_RESULT
find_one(struct writ_contents *contents, struct writ_view decision_id, uint64_t from, bool *ret,
    struct writ_err *err)
{
    struct writ_sql_statement *s = contents->statements[SQL_ONE];

    writ_sql_bind_text(s, 1, decision_id);
    writ_sql_bind_int(s, 2, 1);
    writ_sql_bind_int(s, 3, 1);
    writ_sql_bind_int(s, 4, (int64_t)from);
    return next_row(contents, SQL_ONE, ret, err);
}

static WRIT_RESULT
get_one(struct writ_contents *contents, struct writ_view decision_id, struct reading *reading,
    struct writ_contents_call *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = contents->statements[SQL_ONE];
    struct writ_err why = {0};
    uint64_t from = 0;
    bool row = false;

    WRIT_TRY(writ_span_from(&contents->span, contents->sql, decision_id, &from, err));
    WRIT_TRY(find_one(contents, decision_id, from, &row, err));
    if (!row && from > 0) { /* all of the log */
        writ_sql_reset(s);
        WRIT_TRY(find_one(contents, decision_id, 0, &row, err));
    }
    if (!row) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the ledger has no decision of that id");
    }
    writ_result result = read_call(contents, s, reading, ret, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s", why.text);
    }
    return check_one(ret, &why, err);
}

WRIT_RESULT
writ_contents_get(struct writ_contents *contents, struct writ_view decision_id,
    struct writ_arena *arena, struct writ_contents_call *ret, struct writ_err *err)
{
    struct reading *reading = writ_arena_get(arena, sizeof *reading);
    struct writ_contents_call call = {0};
    writ_result result;

    if (reading == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a record");
    }
    *reading = (struct reading){.arena = arena};
    result = get_one(contents, decision_id, reading, &call, err);
    end_rows(contents, SQL_ONE);
    if (writ_is_ok(result)) {
        *ret = call;
    }
    return result;
}

/* ---- the log of a crew */

/* Columns of SQL_LOG. */
enum { LOG_LEAF, LOG_RECORD, LOG_WRAPPED };

/* The vote of the row, if it is one of that voter. Its texts are in the arena. */
static WRIT_RESULT
read_vote(struct writ_sql_statement *s, struct writ_view voter, struct writ_arena *arena,
    struct writ_contents_log *ret, bool *ret_is, struct writ_err *err)
{
    struct writ_view body = writ_column_bytes(s, LOG_RECORD);
    const struct writ_json *value = NULL;
    struct writ_review_record record = {0};
    struct writ_extension extension = {0};
    writ_result result;

    ret->leaf = (uint64_t)writ_sql_int(s, LOG_LEAF);
    WRIT_TRY(copy_view(&body, arena, err));
    result = writ_body_json(body, arena, &value, err);
    if (writ_is_ok(result)) {
        result = writ_review_record_read(value, arena, &record, err);
    }
    if (writ_is_ok(result)) {
        result = writ_extension_read(&record.extensions, arena, &extension, err);
    }
    WRIT_TRY(unreadable(result, ret->leaf, err));
    *ret_is = writ_view_equal(writ_member_view(&record.by), voter) &&
              extension.crew_log.is == WRIT_PRESENT;
    ret->digest = extension.crew_log.view;
    return WRIT_DONE;
}

static WRIT_RESULT
read_log(const struct writ_contents *contents, struct writ_view review_id, struct writ_arena *arena,
    struct writ_contents_log *ret, struct writ_err *err)
{
    struct beside beside = {.decision_id = review_id, .part = WRIT_CONTENT_CREW_LOG};

    ret->log.state =
        read_sealed(contents, contents->statements[SQL_LOG], LOG_WRAPPED, &beside.sealed);
    if (ret->log.state != WRIT_CONTENT_KEPT) {
        return WRIT_DONE;
    }
    WRIT_TRY(open_sealed(contents, &beside, ret->digest, arena, &ret->log, err));
    if (ret->log.state == WRIT_CONTENT_CHANGED) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the kept log of record %llu does not match the digest in its signed record",
            (unsigned long long)ret->leaf);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
find_log(struct writ_contents *contents, struct writ_view review_id, struct writ_view voter,
    struct writ_arena *arena, struct writ_contents_log *ret, struct writ_err *err)
{
    struct writ_sql_statement *s = contents->statements[SQL_LOG];
    bool row = false, is = false;

    writ_sql_bind_text(s, 1, review_id);
    WRIT_TRY(next_row(contents, SQL_LOG, &row, err));
    while (row) {
        WRIT_TRY(read_vote(s, voter, arena, ret, &is, err));
        if (is) {
            return read_log(contents, review_id, arena, ret, err);
        }
        WRIT_TRY(next_row(contents, SQL_LOG, &row, err));
    }
    WRIT_FAIL(err, WRIT_E_ABSENT, "the ledger has no vote of such a crew in that review");
}

WRIT_RESULT
writ_contents_log(struct writ_contents *contents, struct writ_view review_id,
    struct writ_view voter, struct writ_arena *arena, struct writ_contents_log *ret,
    struct writ_err *err)
{
    struct writ_contents_log log = {0};
    writ_result result = find_log(contents, review_id, voter, arena, &log, err);

    end_rows(contents, SQL_LOG);
    if (writ_is_ok(result)) {
        *ret = log;
    }
    return result;
}

static writ_result
time_of_record(void *ctx, uint64_t leaf, bool *ret_there, int64_t *ret_us, struct writ_err *err)
{
    struct writ_contents *contents = ctx;

    writ_sql_bind_int(contents->statements[SQL_TIME], 1, (int64_t)leaf);
    return number_of(contents, SQL_TIME, ret_there, ret_us, err);
}

/* The first record at or after `since_us`. */
static WRIT_RESULT
find_since(struct writ_contents *contents, int64_t since_us, uint64_t *ret, struct writ_err *err)
{
    int64_t last = 0;
    bool some = false;

    WRIT_TRY(number_of(contents, SQL_LAST, &some, &last, err));
    return writ_disk_search(
        time_of_record, contents, some ? (uint64_t)last + 1 : 0, since_us, ret, err);
}

/* One walk over calls. */
struct walk {
    const struct writ_contents_filter *filter;
    bool (*each)(void *ctx, const struct writ_contents_call *call);
    void *ctx;
    enum statement which;
    uint64_t next; /* leaf */
    bool over;
    struct reading reading;
};

static WRIT_RESULT
walk_rows(struct writ_contents *contents, struct walk *walk, struct writ_err *err)
{
    struct writ_sql_statement *s = contents->statements[walk->which];
    size_t n = 0;
    bool row = false;

    writ_sql_bind_int(s, 1, (int64_t)walk->next);
    writ_sql_bind_int(s, 2, PIECE);
    writ_sql_bind_int(s, 3, walk->filter->results);
    WRIT_TRY(next_row(contents, walk->which, &row, err));
    while (row && !walk->over) {
        struct writ_contents_call call;
        struct writ_err why = {0};
        writ_result result;

        writ_arena_reset(walk->reading.arena);
        result = read_call(contents, s, &walk->reading, &call, &why);
        if (!writ_is_ok(result)) {
            WRIT_FAIL(err, result.code, "%s", why.text);
        }
        n++;
        walk->next = call.leaf + 1;
        walk->over = (walk->filter->until_us != 0 && call.issued_at_us >= walk->filter->until_us) ||
                     !walk->each(walk->ctx, &call);
        if (!walk->over) {
            WRIT_TRY(next_row(contents, walk->which, &row, err));
        }
    }
    walk->over = walk->over || n < PIECE;
    return WRIT_DONE;
}

static WRIT_RESULT
walk_all(struct writ_contents *contents, struct walk *walk, struct writ_err *err)
{
    if (walk->filter->since_us > 0) {
        WRIT_TRY(find_since(contents, walk->filter->since_us, &walk->next, err));
    }
    if (walk->next < walk->filter->from_leaf) {
        walk->next = walk->filter->from_leaf;
    }
    while (!walk->over) {
        writ_result result = walk_rows(contents, walk, err);

        end_rows(contents, walk->which); /* lets go of the ledger */
        WRIT_TRY(result);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_contents_each(struct writ_contents *contents, const struct writ_contents_filter *filter,
    bool (*each)(void *ctx, const struct writ_contents_call *call), void *ctx, struct writ_err *err)
{
    struct walk walk = {.filter = filter,
        .each = each,
        .ctx = ctx,
        .which = filter->every ? SQL_EVERY : SQL_KEPT,
        .reading = {.arena = writ_arena_new(READING_ARENA)}};
    writ_result result;

    if (walk.reading.arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read contents");
    }
    result = walk_all(contents, &walk, err);
    writ_arena_free(walk.reading.arena);
    return result;
}
