/* One statement reads a record with its decision and its checkpoint, so that all are of one state
 * of the ledger. The statement is reset on every path: one that stands at a row holds the log. */
#include "store/read/tail.h"

#include "base/clock.h"
#include "store/disk/disk.h"
#include "store/disk/heads.h"
#include "store/read/column.h"

/* An outcome names the leaf of its decision; an event of a review has its decision_id. */
#define READ_SQL                                                                                   \
    "SELECT r.leaf, r.kind, r.time_us, line_at(y.bytes, r.leaf - y.leaf), "                        \
    "(SELECT line_at(z.bytes, d.leaf - z.leaf) FROM record AS d JOIN body AS z "                   \
    "ON z.leaf = (SELECT max(leaf) FROM body WHERE leaf <= d.leaf) "                               \
    "WHERE d.leaf = CASE r.kind WHEN 2 THEN r.about WHEN 4 THEN "                                  \
    "(SELECT min(+leaf) FROM record WHERE decision_id = r.decision_id) END AND d.kind = 1), "      \
    "h.note FROM record AS r "                                                                     \
    "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "                \
    "JOIN head AS h ON h.leaf = (SELECT leaf FROM head WHERE leaf >= (SELECT max(leaf) FROM head " \
    "WHERE leaf <= r.leaf) AND " WRIT_HEADS_NOTED " ORDER BY leaf LIMIT 1) "                       \
    "WHERE r.leaf >= ?1 ORDER BY r.leaf LIMIT ?2"
#define SIZE_SQL                                                                                   \
    "SELECT coalesce((SELECT size FROM head WHERE " WRIT_HEADS_NOTED                               \
    " ORDER BY leaf DESC LIMIT 1), 0)"
#define ALL_SQL   "SELECT coalesce(max(leaf) + 1, 0) FROM record"
#define FIRST_SQL "SELECT coalesce(min(leaf), 0) FROM record"
#define SIGNED_US INT64_C(1000000) /* a gateway that lives signs within this time */

struct writ_tail {
    struct writ_sql *sql;
    struct writ_sql_statement *read, *size, *all, *first;
    struct writ_heads_trust trust; /* has the origin; without keys */
};

WRIT_RESULT
writ_tail_open(const char *path, struct writ_tail **ret, struct writ_err *err)
{
    writ_auto_tail tail = writ_alloc(sizeof *tail);
    if (tail == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    WRIT_TRY(writ_disk_connect_reader(path, &tail->sql, err));
    WRIT_TRY(writ_heads_trust(tail->sql, NULL, &tail->trust, err));
    WRIT_TRY(writ_sql_prepare(tail->sql, WRIT_SQL_MANY READ_SQL, &tail->read, err));
    WRIT_TRY(writ_sql_prepare(tail->sql, SIZE_SQL, &tail->size, err));
    WRIT_TRY(writ_sql_prepare(tail->sql, ALL_SQL, &tail->all, err));
    WRIT_TRY(writ_sql_prepare(tail->sql, FIRST_SQL, &tail->first, err));
    *ret = WRIT_TAKE(tail);
    return WRIT_DONE;
}

void
writ_tail_close(struct writ_tail *tail)
{
    if (tail != NULL) {
        writ_heads_trust_wipe(&tail->trust);
        writ_sql_finalize(tail->read);
        writ_sql_finalize(tail->size);
        writ_sql_finalize(tail->all);
        writ_sql_finalize(tail->first);
        writ_sql_close(tail->sql);
        writ_free(tail);
    }
}

struct writ_view
writ_tail_origin(const struct writ_tail *tail)
{
    return writ_buf_view(&tail->trust.origin);
}

static WRIT_RESULT
read_number(struct writ_sql_statement *s, uint64_t *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_sql_step(s, &row, err);
    uint64_t number = writ_is_ok(result) && row ? (uint64_t)writ_sql_int(s, 0) : 0;

    writ_sql_reset(s);
    WRIT_TRY(result);
    *ret = number;
    return WRIT_DONE;
}

WRIT_RESULT
writ_tail_size(struct writ_tail *tail, uint64_t *ret, struct writ_err *err)
{
    return read_number(tail->size, ret, err);
}

WRIT_RESULT
writ_tail_all(struct writ_tail *tail, uint64_t *ret, struct writ_err *err)
{
    return read_number(tail->all, ret, err);
}

/* A wait until the records that were there when it began are signed. */
struct settling {
    struct writ_tail *tail;
    uint64_t all, size;
    writ_result result;
    struct writ_err *err;
};

static bool
is_settled(void *ctx)
{
    struct settling *s = ctx;

    s->result = writ_tail_size(s->tail, &s->size, s->err);
    return !writ_is_ok(s->result) || s->size >= s->all;
}

WRIT_RESULT
writ_tail_settle(struct writ_tail *tail, bool *ret, struct writ_err *err)
{
    struct settling s = {.tail = tail, .err = err};

    WRIT_TRY(writ_tail_all(tail, &s.all, err));
    writ_clock_wait(writ_clock_system(), SIGNED_US, is_settled, &s);
    WRIT_TRY(s.result);
    *ret = s.size >= s.all;
    return WRIT_DONE;
}

WRIT_RESULT
writ_tail_first(struct writ_tail *tail, uint64_t *ret, struct writ_err *err)
{
    return read_number(tail->first, ret, err);
}

static WRIT_RESULT
read_rows(struct writ_tail *tail, uint64_t leaf,
    bool (*each)(void *ctx, const struct writ_tail_record *record), void *ctx, struct writ_err *err)
{
    struct writ_sql_statement *s = tail->read;
    bool row = false;

    WRIT_TRY(writ_sql_step(s, &row, err));
    while (row) {
        const struct writ_tail_record record = {
            .leaf = (uint64_t)writ_sql_int(s, 0),
            .kind = writ_sql_int(s, 1),
            .time_us = writ_sql_int(s, 2),
            .body = writ_column_bytes(s, 3),
            .decision = writ_column_bytes(s, 4),
            .note = writ_column_bytes(s, 5),
        };

        if (record.leaf != leaf++) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu is missing: see `writ ledger verify`",
                (unsigned long long)(leaf - 1));
        }
        if (!each(ctx, &record)) {
            return WRIT_DONE;
        }
        WRIT_TRY(writ_sql_step(s, &row, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_tail_read(struct writ_tail *tail, uint64_t leaf, uint64_t most,
    bool (*each)(void *ctx, const struct writ_tail_record *record), void *ctx, struct writ_err *err)
{
    uint64_t first = 0;
    writ_result result;

    writ_sql_bind_int(tail->read, 1, (int64_t)leaf);
    writ_sql_bind_int(tail->read, 2, (int64_t)most);
    result = read_rows(tail, leaf, each, ctx, err);
    writ_sql_reset(tail->read);
    if (result.code == WRIT_E_MISMATCH && writ_is_ok(writ_tail_first(tail, &first, NULL)) &&
        leaf < first) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "record %llu is before record %llu, where the ledger begins: it is in an archive",
            (unsigned long long)leaf, (unsigned long long)first);
    }
    return result;
}
