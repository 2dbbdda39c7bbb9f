/* One statement reads a record with its decision and its checkpoint, so that all are of one state
 * of the ledger. The statement is reset on every path: one that stands at a row holds the log. */
#include "store/read/tail.h"

#include "store/disk/disk.h"
#include "store/disk/file.h"
#include "store/disk/heads.h"

#define BUSY_US 5000000

/* An outcome names the leaf of its decision; an event of a review has its decision_id. */
#define READ_SQL                                                                                   \
    "SELECT r.leaf, r.kind, r.time_us, line_at(y.bytes, r.leaf - y.leaf), "                        \
    "(SELECT line_at(z.bytes, d.leaf - z.leaf) FROM record AS d JOIN body AS z "                   \
    "ON z.leaf = (SELECT max(leaf) FROM body WHERE leaf <= d.leaf) "                               \
    "WHERE d.leaf = CASE r.kind WHEN 2 THEN r.about WHEN 4 THEN "                                  \
    "(SELECT min(leaf) FROM record WHERE decision_id = r.decision_id) END AND d.kind = 1), "       \
    "h.note FROM record AS r "                                                                     \
    "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "                \
    "JOIN head AS h ON h.leaf = (SELECT max(leaf) FROM head WHERE leaf <= r.leaf) "                \
    "WHERE r.leaf >= ?1 ORDER BY r.leaf LIMIT ?2"
#define SIZE_SQL "SELECT coalesce(max(leaf) + 1, 0) FROM record"

struct writ_tail {
    sqlite3 *db;
    sqlite3_stmt *read, *size;
    struct writ_heads_trust trust; /* has the origin; without keys */
};

WRIT_RESULT
writ_tail_open(const char *path, struct writ_tail **ret, struct writ_err *err)
{
    writ_auto_tail tail = writ_alloc(sizeof *tail);
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};
    int rc;

    if (tail == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    WRIT_TRY(writ_file_name(path, &file, err));
    WRIT_TRY(writ_file_check(&file, err));
    WRIT_TRY(writ_disk_connect(path, true, BUSY_US, &tail->db, err));
    WRIT_TRY(writ_heads_trust(tail->db, NULL, &tail->trust, err));
    rc = sqlite3_prepare_v3(tail->db, READ_SQL, -1, SQLITE_PREPARE_PERSISTENT, &tail->read, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_prepare_v3(
            tail->db, SIZE_SQL, -1, SQLITE_PREPARE_PERSISTENT, &tail->size, NULL);
    }
    if (rc != SQLITE_OK) {
        return writ_disk_fault(tail->db, rc, NULL, err);
    }
    *ret = WRIT_TAKE(tail);
    return WRIT_DONE;
}

void
writ_tail_close(struct writ_tail *tail)
{
    if (tail != NULL) {
        writ_heads_trust_wipe(&tail->trust);
        (void)sqlite3_finalize(tail->read);
        (void)sqlite3_finalize(tail->size);
        (void)sqlite3_close(tail->db);
        writ_free(tail);
    }
}

struct writ_view
writ_tail_origin(const struct writ_tail *tail)
{
    return writ_buf_view(&tail->trust.origin);
}

WRIT_RESULT
writ_tail_size(struct writ_tail *tail, uint64_t *ret, struct writ_err *err)
{
    int rc = sqlite3_step(tail->size);
    uint64_t size = rc == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(tail->size, 0) : 0;

    (void)sqlite3_reset(tail->size);
    if (rc != SQLITE_ROW) {
        return writ_disk_fault(tail->db, rc, NULL, err);
    }
    *ret = size;
    return WRIT_DONE;
}

static WRIT_RESULT
read_rows(struct writ_tail *tail, uint64_t leaf,
    bool (*each)(void *ctx, const struct writ_tail_record *record), void *ctx, struct writ_err *err)
{
    sqlite3_stmt *s = tail->read;
    int rc = sqlite3_step(s);

    for (; rc == SQLITE_ROW; rc = sqlite3_step(s)) {
        const struct writ_tail_record record = {
            .leaf = (uint64_t)sqlite3_column_int64(s, 0),
            .kind = sqlite3_column_int(s, 1),
            .time_us = sqlite3_column_int64(s, 2),
            .body = writ_disk_column(s, 3),
            .decision = writ_disk_column(s, 4),
            .note = writ_disk_column(s, 5),
        };

        if (record.leaf != leaf++) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
                (unsigned long long)(leaf - 1));
        }
        if (!each(ctx, &record)) {
            return WRIT_DONE;
        }
    }
    return rc == SQLITE_DONE ? WRIT_DONE : writ_disk_fault(tail->db, rc, NULL, err);
}

WRIT_RESULT
writ_tail_read(struct writ_tail *tail, uint64_t leaf, uint64_t most,
    bool (*each)(void *ctx, const struct writ_tail_record *record), void *ctx, struct writ_err *err)
{
    writ_result result;

    (void)sqlite3_bind_int64(tail->read, 1, (int64_t)leaf);
    (void)sqlite3_bind_int64(tail->read, 2, (int64_t)most);
    result = read_rows(tail, leaf, each, ctx, err);
    (void)sqlite3_reset(tail->read);
    return result;
}
