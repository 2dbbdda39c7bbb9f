/* Records are read in the order of the log, in batches, so that no snapshot is held for long:
 * appended records do not change. */
#include "store/read/verify.h"

#include "evidence/record/profile.h"
#include "store/disk/file.h"
#include "store/read/check.h"

#define BATCH        512
#define NODES_MAX    (64 << 20) /* digests of one group */
#define BUCKETS      16384      /* of each map: more entries only make it slower */
#define BUSY_US      5000000
#define RECORD_ARENA (128 << 20) /* memory to read one record */

static const char *const texts[WRIT_CHECK_SQL_COUNT] = {
#define CHECK_TEXT(NAME, text) [WRIT_CHECK_SQL_##NAME] = (text),
    WRIT_VERIFY_STATEMENTS(CHECK_TEXT)
#undef CHECK_TEXT
};

/* ---- all records ---- */

/* Checks up to BATCH records from *leaf on. */
static WRIT_RESULT
check_batch(struct writ_check *v, uint64_t *leaf, uint64_t last)
{
    sqlite3_stmt *s = v->statements[WRIT_CHECK_SQL_RECORDS];
    bool row = false;

    (void)sqlite3_bind_int64(s, 1, (int64_t)*leaf);
    (void)sqlite3_bind_int64(s, 2, (int64_t)last);
    (void)sqlite3_bind_int64(s, 3, BATCH);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_RECORDS, &row, v->err));
    if (!row) {
        writ_check_problem(v, *leaf, "records are missing up to %llu", (unsigned long long)last);
        *leaf = last + 1;
    }
    while (row) {
        uint64_t at = (uint64_t)sqlite3_column_int64(s, 0);

        if (at != *leaf) {
            writ_check_problem(v, *leaf, "records are missing before %llu", (unsigned long long)at);
        }
        writ_arena_reset(v->arena);
        WRIT_TRY(writ_check_record(v, s, at));
        *leaf = at + 1;
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_RECORDS, &row, v->err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
head(struct writ_check *v, int64_t *ret_last)
{
    sqlite3_stmt *s = v->statements[WRIT_CHECK_SQL_HEAD];
    bool row = false;

    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_HEAD, &row, v->err));
    *ret_last = sqlite3_column_int64(s, 0);
    if (sqlite3_column_int64(s, 4) != *ret_last + 1) {
        writ_check_problem(v, 0, "the last checkpoint is not over all records");
    }
    if (sqlite3_column_int64(s, 1) != *ret_last || sqlite3_column_int64(s, 2) < 0 ||
        sqlite3_column_int64(s, 3) < 0) {
        writ_check_problem(v, 0, "there are records without body or bodies without record");
    }
    (void)sqlite3_reset(s);
    return WRIT_DONE;
}

/* Reads the last record at this time: no row of `boundary` may name a later one. */
static WRIT_RESULT
read_last_now(struct writ_check *v, int64_t *ret)
{
    sqlite3_stmt *s = v->statements[WRIT_CHECK_SQL_HEAD];
    bool row = false;

    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_HEAD, &row, v->err));
    *ret = sqlite3_column_int64(s, 0);
    (void)sqlite3_reset(s);
    return WRIT_DONE;
}

/* Checks that an index finds exactly the records that were read. */
static WRIT_RESULT
check_count(struct writ_check *v, enum writ_check_statement which, int64_t last, uint64_t wanted,
    const char *what)
{
    sqlite3_stmt *s = v->statements[which];
    bool row = false;

    (void)sqlite3_bind_int64(s, 1, last);
    WRIT_TRY(writ_check_next(v, which, &row, v->err));
    if (sqlite3_column_int64(s, 0) != (int64_t)wanted) {
        writ_check_problem(v, 0, "%s", what);
    }
    (void)sqlite3_reset(s);
    return WRIT_DONE;
}

static WRIT_RESULT
check_all(struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx)
{
    int64_t last = -1, last_now = -1;
    uint64_t leaf = 0;

    WRIT_TRY(head(v, &last));
    while ((int64_t)leaf <= last) {
        writ_result result = check_batch(v, &leaf, (uint64_t)last);

        (void)sqlite3_reset(v->statements[WRIT_CHECK_SQL_RECORDS]);
        WRIT_TRY(result);
        if (progress != NULL && !progress(ctx, leaf, (uint64_t)last + 1)) {
            WRIT_FAIL(v->err, WRIT_E_BUSY, "the verification was stopped");
        }
    }
    WRIT_TRY(check_count(v, WRIT_CHECK_SQL_SUCCESSORS, last, v->successors,
        "the index of decisions that follow others is not theirs"));
    WRIT_TRY(check_count(
        v, WRIT_CHECK_SQL_FACTS, last, v->report->facts, "the index of facts is not theirs"));
    WRIT_TRY(read_last_now(v, &last_now));
    writ_check_record_rest(v, (uint64_t)last, (uint64_t)last_now);
    WRIT_TRY(writ_check_content(v, progress, ctx));
    return writ_check_manifest(v, progress, ctx);
}

/* ---- around it ---- */

static WRIT_RESULT
prepare(struct writ_check *v, const char *path, const struct writ_keyring *ring)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};

    WRIT_TRY(writ_file_name(path, &file, v->err));
    WRIT_TRY(writ_file_check(&file, v->err));
    WRIT_TRY(writ_disk_connect(path, true, BUSY_US, &v->db, v->err));
    for (int i = 0; i < WRIT_CHECK_SQL_COUNT; i++) {
        int rc = sqlite3_prepare_v3(
            v->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &v->statements[i], NULL);

        if (rc != SQLITE_OK) {
            return writ_disk_fault(v->db, rc, NULL, v->err);
        }
    }
    WRIT_TRY(writ_heads_open(v->db, &v->heads, v->err));
    WRIT_TRY(writ_heads_trust(v->db, ring, &v->trust, v->err));
    v->report->is_signed = ring != NULL;
    v->arena = writ_arena_new(RECORD_ARENA);
    if (v->arena == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory to verify");
    }
    WRIT_TRY(writ_map_init(&v->runs, BUCKETS, v->err));
    WRIT_TRY(writ_map_init(&v->told, BUCKETS, v->err));
    return writ_map_init(&v->calls, BUCKETS, v->err);
}

static void
wipe(struct writ_check *v)
{
    writ_check_record_wipe(v);
    writ_arena_free(v->arena);
    writ_buf_wipe(&v->scratch);
    writ_buf_wipe(&v->nodes);
    writ_heads_trust_wipe(&v->trust);
    writ_heads_close(&v->heads);
    for (int i = 0; i < WRIT_CHECK_SQL_COUNT; i++) {
        (void)sqlite3_finalize(v->statements[i]);
    }
    (void)sqlite3_close(v->db);
}

WRIT_RESULT
writ_verify_ledger(const char *path, const struct writ_keyring *ring,
    bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx,
    struct writ_verify_report *ret, struct writ_err *err)
{
    struct writ_verify_report *report = writ_alloc(sizeof *report);
    struct writ_check v = {
        .report = report,
        .before_us = INT64_MIN,
        .bodies = UINT64_MAX,
        .scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE),
        .nodes = writ_buf_make(NODES_MAX),
        .err = err,
    };
    writ_result result;

    if (report == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to verify");
    }
    result = prepare(&v, path, ring);
    if (writ_is_ok(result)) {
        result = check_all(&v, progress, ctx);
    }
    wipe(&v);
    if (writ_is_ok(result)) {
        *ret = *report;
    }
    writ_free(report);
    return result;
}
