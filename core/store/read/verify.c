/* Records are read in the order of the log, in batches, so that no snapshot is held for long:
 * appended records do not change. When records go that were to be read next, a run that was begun
 * has a gap: the verification begins again, with what is left. */
#include "store/read/verify.h"

#include "evidence/record/profile.h"
#include "store/disk/lines.h"
#include "store/disk/postgres.tbl.h"
#include "store/read/check.h"

#define BATCH        512
#define NODES_MAX    (64 << 20)  /* digests of one group */
#define BUCKETS      16384       /* of each map: more entries only make it slower */
#define RECORD_ARENA (128 << 20) /* memory to read one record */

static const char *const texts[WRIT_CHECK_SQL_COUNT] = {
#define CHECK_TEXT(NAME, text) [WRIT_CHECK_SQL_##NAME] = (text),
    WRIT_VERIFY_STATEMENTS(CHECK_TEXT)
#undef CHECK_TEXT
};

/* ---- bodies ---- */

/* Takes the row at which BODIES stands, and steps to the next one. */
static WRIT_RESULT
take_row(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BODIES];

    writ_buf_clear(&v->read.bytes);
    writ_buf_put(&v->read.bytes, writ_column_bytes(s, 1));
    WRIT_TRY(writ_buf_check(&v->read.bytes, v->err));
    v->read.rest = writ_buf_view(&v->read.bytes);
    v->read.lines = writ_lines_count(v->read.rest);
    v->read.leaf = v->read.at = (uint64_t)writ_sql_int(s, 0);
    v->read.has_row = true;
    return writ_check_next(v, WRIT_CHECK_SQL_BODIES, &v->read.has_next, v->err);
}

/* Begins before the body of record `leaf`. */
static WRIT_RESULT
begin_bodies(struct writ_check *v, uint64_t leaf, uint64_t last)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BODIES];

    writ_sql_bind_int(s, 1, (int64_t)leaf);
    writ_sql_bind_int(s, 2, (int64_t)last);
    writ_sql_bind_int(s, 3, BATCH);
    v->read.rest = writ_view(NULL, 0);
    v->read.has_row = false;
    return writ_check_next(v, WRIT_CHECK_SQL_BODIES, &v->read.has_next, v->err);
}

/* The body of record `leaf`, which is after the last one that was asked for; empty: it has none. */
static WRIT_RESULT
find_body(struct writ_check *v, uint64_t leaf, struct writ_view *ret)
{
    size_t end;

    while (v->read.has_next &&
           (uint64_t)writ_sql_int(v->statements[WRIT_CHECK_SQL_BODIES], 0) <= leaf) {
        WRIT_TRY(take_row(v));
    }
    for (; v->read.rest.ptr != NULL && v->read.at < leaf; v->read.at++) {
        end = writ_view_find(v->read.rest, '\n');
        v->read.rest = end == v->read.rest.len
                           ? writ_view(NULL, 0)
                           : writ_view_sub(v->read.rest, end + 1, v->read.rest.len);
    }
    *ret = v->read.rest.ptr == NULL
               ? writ_view("", 0)
               : writ_view_sub(v->read.rest, 0, writ_view_find(v->read.rest, '\n'));
    return WRIT_DONE;
}

/* ---- all records ---- */

/* Checks up to BATCH records from *leaf on. */
static WRIT_RESULT
check_records(struct writ_check *v, uint64_t *leaf, uint64_t last)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_RECORDS];
    struct writ_view body;
    bool row = false;

    WRIT_TRY(begin_bodies(v, *leaf, last));
    writ_sql_bind_int(s, 1, (int64_t)*leaf);
    writ_sql_bind_int(s, 2, (int64_t)last);
    writ_sql_bind_int(s, 3, BATCH);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_RECORDS, &row, v->err));
    if (!row) {
        writ_check_problem(v, *leaf, "records are missing up to %llu", (unsigned long long)last);
        *leaf = last + 1;
    }
    while (row) {
        uint64_t at = (uint64_t)writ_sql_int(s, 0);

        if (at != *leaf) {
            writ_check_problem(v, *leaf, "records are missing before %llu", (unsigned long long)at);
        }
        writ_arena_reset(v->arena);
        WRIT_TRY(find_body(v, at, &body));
        WRIT_TRY(writ_check_record(v, s, at, body));
        *leaf = at + 1;
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_RECORDS, &row, v->err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_first(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BEGINS];
    bool row = false;
    writ_result result = writ_check_next(v, WRIT_CHECK_SQL_BEGINS, &row, v->err);

    v->first = writ_is_ok(result) && row ? (uint64_t)writ_sql_int(s, 0) : v->first;
    writ_sql_reset(s);
    return result;
}

/* Checks the next records from *leaf on: a group of those that were removed, or some that are
 * there. */
static WRIT_RESULT
check_some(struct writ_check *v, uint64_t *leaf, uint64_t last)
{
    writ_result result;

    WRIT_TRY(read_first(v));
    v->overtaken = v->read.begun && *leaf < v->first;
    if (v->overtaken) {
        WRIT_FAIL(v->err, WRIT_E_BUSY, "records were removed before they were verified");
    }
    if (*leaf < v->first) {
        return writ_check_removed(v, leaf);
    }
    v->read.begun = true;
    result = check_records(v, leaf, last);
    writ_sql_reset(v->statements[WRIT_CHECK_SQL_RECORDS]);
    writ_sql_reset(v->statements[WRIT_CHECK_SQL_BODIES]);
    return result;
}

/* All of it sees one state of the ledger, from which a gateway may remove records meanwhile. */
static WRIT_RESULT
check_batch(struct writ_check *v, uint64_t *leaf, uint64_t last)
{
    writ_result result;

    WRIT_TRY(writ_sql_begin(v->sql, WRIT_SQL_READ, v->err));
    result = check_some(v, leaf, last);
    writ_sql_rollback(v->sql);
    return result;
}

static WRIT_RESULT
head(struct writ_check *v, int64_t *ret_last)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_HEAD];
    bool row = false;

    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_HEAD, &row, v->err));
    *ret_last = writ_sql_int(s, 0);
    if (writ_sql_int(s, 4) != *ret_last + 1) {
        writ_check_problem(v, 0, "the last checkpoint is not over all records");
    }
    v->size = (uint64_t)(*ret_last + 1);
    v->first = v->began = v->bodies_end = (uint64_t)writ_sql_int(s, 3);
    if (writ_sql_int(s, 1) != *ret_last || writ_sql_int(s, 2) < 0 || writ_sql_int(s, 3) < 0 ||
        writ_sql_int(s, 2) != writ_sql_int(s, 3)) {
        writ_check_problem(v, 0, "there are records without body or bodies without record");
    }
    writ_sql_reset(s);
    return WRIT_DONE;
}

/* Reads the last record at this time: no row of `boundary` may name a later one. */
static WRIT_RESULT
read_last_now(struct writ_check *v, int64_t *ret)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_HEAD];
    bool row = false;

    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_HEAD, &row, v->err));
    *ret = writ_sql_int(s, 0);
    writ_sql_reset(s);
    return WRIT_DONE;
}

/* Checks that an index finds exactly the records that were read. */
static WRIT_RESULT
check_count(struct writ_check *v, enum writ_check_statement which, int64_t last, uint64_t wanted,
    const char *what)
{
    struct writ_sql_statement *s = v->statements[which];
    bool row = false;

    writ_sql_bind_int(s, 1, last);
    WRIT_TRY(writ_check_next(v, which, &row, v->err));
    if (writ_sql_int(s, 0) != (int64_t)wanted) {
        writ_check_problem(v, 0, "%s", what);
    }
    writ_sql_reset(s);
    return WRIT_DONE;
}

static WRIT_RESULT
check_counts(struct writ_check *v, int64_t last)
{
    WRIT_TRY(read_first(v));
    if (v->first != v->began) { /* records go meanwhile: a later verification counts */
        return WRIT_DONE;
    }
    WRIT_TRY(check_count(v, WRIT_CHECK_SQL_SUCCESSORS, last, v->successors,
        "the index of decisions that follow others is not theirs"));
    return check_count(v, WRIT_CHECK_SQL_FACTS, last, v->report->facts - v->moved,
        "the index of facts is not theirs");
}

static WRIT_RESULT
check_all(struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx)
{
    int64_t last = -1, last_now = -1;
    uint64_t leaf = 0;

    WRIT_TRY(head(v, &last));
    while ((int64_t)leaf <= last) {
        WRIT_TRY(check_batch(v, &leaf, (uint64_t)last));
        if (progress != NULL && !progress(ctx, leaf, (uint64_t)last + 1)) {
            WRIT_FAIL(v->err, WRIT_E_BUSY, "the verification was stopped");
        }
    }
    v->report->first = v->archive == NULL ? v->first : 0;
    WRIT_TRY(check_counts(v, last));
    WRIT_TRY(writ_check_removed_end(v));
    WRIT_TRY(read_last_now(v, &last_now));
    WRIT_TRY(writ_check_tree_tail(v));
    writ_check_record_rest(v, (uint64_t)last, (uint64_t)last_now);
    WRIT_TRY(writ_check_content(v, progress, ctx));
    WRIT_TRY(writ_check_pool(v, (uint64_t)last));
    WRIT_TRY(writ_check_story_rows(v));
    return writ_sql_sqlite_of(v->sql) == NULL ? writ_check_shared(v, progress, ctx)
                                              : writ_check_manifest(v, progress, ctx);
}

/* ---- around it ---- */

static WRIT_RESULT
prepare_statements(struct writ_check *v)
{
    const char *own[WRIT_CHECK_SQL_COUNT];

    for (size_t i = 0; i < WRIT_CHECK_SQL_COUNT; i++) {
        own[i] = texts[i];
    }
    if (writ_sql_sqlite_of(v->sql) == NULL) {
        own[WRIT_CHECK_SQL_SEGMENT] = WRIT_POSTGRES_SEGMENT; /* each gateway has its own */
    }
    return writ_sql_prepare_all(v->sql, own, WRIT_CHECK_SQL_COUNT, v->statements, v->err);
}

static WRIT_RESULT
prepare(struct writ_check *v, const char *path, const struct writ_keyring *ring)
{
    WRIT_TRY(writ_disk_connect_reader(path, &v->sql, v->err));
    WRIT_TRY(prepare_statements(v));
    WRIT_TRY(writ_heads_open(v->sql, &v->heads, v->err));
    WRIT_TRY(writ_heads_trust(v->sql, ring, &v->trust, v->err));
    v->report->is_signed = ring != NULL;
    v->arena = writ_arena_new(RECORD_ARENA);
    if (v->arena == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory to verify");
    }
    WRIT_TRY(writ_map_init(&v->ids, BUCKETS, v->err));
    WRIT_TRY(writ_map_init(&v->runs, BUCKETS, v->err));
    WRIT_TRY(writ_map_init(&v->told, BUCKETS, v->err));
    WRIT_TRY(writ_delegations_init(&v->delegations, v->err));
    return writ_map_init(&v->calls, BUCKETS, v->err);
}

static void
wipe(struct writ_check *v)
{
    writ_check_record_wipe(v);
    writ_arena_free(v->arena);
    writ_buf_wipe(&v->pool);
    writ_delegations_wipe(&v->delegations);
    writ_buf_wipe(&v->scratch);
    writ_buf_wipe(&v->nodes);
    writ_buf_wipe(&v->read.bytes);
    writ_heads_trust_wipe(&v->trust);
    writ_heads_close(&v->heads);
    writ_sql_finalize_all(v->statements, WRIT_CHECK_SQL_COUNT);
    writ_sql_close(v->sql);
}

WRIT_RESULT
writ_verify_ledger(const char *path, const struct writ_keyring *ring,
    bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx,
    struct writ_verify_report *ret, struct writ_err *err)
{
    const struct writ_verify_sources sources = {.path = path, .ring = ring};

    return writ_verify_joined(&sources, progress, ctx, ret, err);
}

/* Verifies once; *ret_again: it must begin again. */
static WRIT_RESULT
verify_once(const struct writ_verify_sources *sources,
    bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx,
    struct writ_verify_report *report, bool *ret_again, struct writ_err *err)
{
    struct writ_check v = {
        .report = report,
        .before_us = INT64_MIN,
        .signed_us = INT64_MIN,
        .bodies = UINT64_MAX,
        .pool = writ_buf_make(SIZE_MAX),
        .scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE),
        .nodes = writ_buf_make(NODES_MAX),
        .read.bytes = writ_buf_make(WRIT_DISK_BYTES_MAX),
        .tail_key = sources->tail_key,
        .signed_all = sources->signed_all,
        .err = err,
    };
    writ_result result = sources->archive == NULL
                             ? WRIT_DONE
                             : writ_archive_read_open(sources->archive, &v.archive, err);

    *report = (struct writ_verify_report){0};
    if (writ_is_ok(result)) {
        result = prepare(&v, sources->path, sources->ring);
    }
    if (writ_is_ok(result)) {
        result = check_all(&v, progress, ctx);
    }
    wipe(&v);
    writ_archive_read_close(v.archive);
    *ret_again = v.overtaken;
    return result;
}

WRIT_RESULT
writ_verify_joined(const struct writ_verify_sources *sources,
    bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx,
    struct writ_verify_report *ret, struct writ_err *err)
{
    struct writ_verify_report *report = writ_alloc(sizeof *report);
    bool again = true;
    writ_result result;

    if (report == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to verify");
    }
    do {
        result = verify_once(sources, progress, ctx, report, &again, err);
    } while (again);
    if (writ_is_ok(result)) {
        *ret = *report;
    }
    writ_free(report);
    return result;
}
