/* A body belongs to one group, and a group to one slice: no body is cut. */
#include "store/disk/removal.h"

#include "store/disk/removal_fact.h"

#include <stdio.h>
#include <time.h>

#define WAIT_US  INT64_C(60000000)
#define SLICE    8192  /* records of one transaction, where several gateways write */
#define LOCK_MS  "200" /* how long gateways wait for a partition that is dropped */
#define TRIES    100
#define REST_NS  100000000
#define TEXT_MAX 128

static WRIT_RESULT
read_group(struct writ_disk *disk, enum writ_statement which, uint64_t leaf, uint64_t *ret,
    struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_query(disk, which, &row, err, "u", leaf);

    if (writ_is_ok(result) && row) {
        *ret = (uint64_t)writ_disk_int(disk, which, 0);
    }
    writ_disk_end(disk, which);
    return result;
}

/* The end of a slice from `first` on: the end of its first group at least. */
static WRIT_RESULT
find_end(struct writ_disk *disk, uint64_t first, uint64_t until, uint64_t most, uint64_t *ret,
    struct writ_err *err)
{
    uint64_t end = first;

    if (until - first <= most) {
        *ret = until;
        return WRIT_DONE;
    }
    WRIT_TRY(read_group(disk, WRIT_SQL_GROUP_AT, first + most, &end, err));
    if (end <= first) {
        end = until;
        WRIT_TRY(read_group(disk, WRIT_SQL_GROUP_AFTER, first, &end, err));
    }
    *ret = end < until ? end : until;
    return WRIT_DONE;
}

WRIT_RESULT
writ_removal_slice(struct writ_disk *disk, uint64_t until, uint64_t most, uint64_t *ret_first,
    struct writ_err *err)
{
    uint64_t first = 0, end = 0;

    WRIT_TRY(writ_disk_first(disk, &first, err));
    if (first < until) {
        WRIT_TRY(find_end(disk, first, until, most, &end, err));
        WRIT_TRY(writ_disk_run(disk, WRIT_SQL_REMOVE_FACTS, err, "u", end));
        WRIT_TRY(writ_disk_run(disk, WRIT_SQL_REMOVE_RECORDS, err, "u", end));
        WRIT_TRY(writ_disk_run(disk, WRIT_SQL_REMOVE_BODIES, err, "u", end));
        first = end;
    }
    *ret_first = first;
    return WRIT_DONE;
}

/* ---- where several gateways write */

/* The partition of a record; *ret_until is 0 when it is of none. */
static WRIT_RESULT
find_part(struct writ_disk *disk, uint64_t leaf, uint64_t *ret_leaf, uint64_t *ret_until,
    struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_PART_AT, &row, err, "u", leaf);

    *ret_until = 0;
    if (writ_is_ok(result) && row) {
        *ret_leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_PART_AT, 0);
        *ret_until = (uint64_t)writ_disk_int(disk, WRIT_SQL_PART_AT, 1);
    }
    writ_disk_end(disk, WRIT_SQL_PART_AT);
    return result;
}

/* Both tables at once: no reader sees records without bodies. Facts are moved before, so that
 * gateways do not wait for it. */
static WRIT_RESULT
drop_part(struct writ_disk *disk, uint64_t leaf, uint64_t until, struct writ_err *err)
{
    char text[TEXT_MAX];

    WRIT_TRY(writ_disk_run(disk, WRIT_SQL_REMOVE_FACTS, err, "u", until));
    WRIT_TRY(writ_sql_execute(disk->sql, "LOCK TABLE record, body IN ACCESS EXCLUSIVE MODE", err));
    (void)snprintf(text, sizeof text, "DROP TABLE record_%llu, body_%llu", (unsigned long long)leaf,
        (unsigned long long)leaf);
    WRIT_TRY(writ_sql_execute(disk->sql, text, err));
    return writ_disk_run(disk, WRIT_SQL_PART_DROP, err, "u", leaf);
}

/* In a transaction: a whole partition, or a slice of one. One command at a time has the table
 * `fact`, which no gateway writes: another one finds what is left. */
static WRIT_RESULT
remove_next(struct writ_disk *disk, uint64_t until, uint64_t *ret_first, struct writ_err *err)
{
    uint64_t first = 0, leaf = 0, end = 0;

    WRIT_TRY(writ_sql_execute(disk->sql, "SET LOCAL lock_timeout = " LOCK_MS, err));
    WRIT_TRY(writ_sql_execute(disk->sql, "LOCK TABLE fact IN SHARE ROW EXCLUSIVE MODE", err));
    WRIT_TRY(writ_disk_first(disk, &first, err));
    WRIT_TRY(find_part(disk, first, &leaf, &end, err));
    if (first >= until || end == 0 || end > until) {
        return writ_removal_slice(disk, until, SLICE, ret_first, err);
    }
    WRIT_TRY(drop_part(disk, leaf, end, err));
    *ret_first = end;
    return WRIT_DONE;
}

/* Gateways and readers that come meanwhile wait for at most LOCK_MS, so a reader that takes long
 * prevents it: then it is tried again. */
static WRIT_RESULT
remove_some(struct writ_disk *disk, uint64_t until, uint64_t *ret_first, struct writ_err *err)
{
    const struct timespec rest = {.tv_nsec = REST_NS};
    writ_result result = {WRIT_E_BUSY};

    for (int i = 0; i < TRIES && result.code == WRIT_E_BUSY; i++) {
        WRIT_TRY(writ_disk_begin(disk, err));
        result = writ_disk_finish(disk, remove_next(disk, until, ret_first, err), err);
        if (result.code == WRIT_E_BUSY) {
            (void)nanosleep(&rest, NULL);
        }
    }
    if (result.code == WRIT_E_BUSY) {
        WRIT_FAIL(err, WRIT_E_BUSY,
            "a reader, or another removal, holds the first records: run the command again when it "
            "has ended");
    }
    return result;
}

static WRIT_RESULT
remove_all(struct writ_disk *disk, const struct writ_removal *removal, struct writ_err *err)
{
    uint64_t begin = 0, first = 0, until = removal->until;

    WRIT_TRY(writ_disk_first(disk, &begin, err));
    if (begin >= until) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_removal_fact_check(disk, removal->ring, until, err));
    first = begin;
    while (first < until) {
        WRIT_TRY(remove_some(disk, until, &first, err));
        if (removal->progress != NULL &&
            !removal->progress(removal->ctx, first - begin, until - begin)) {
            WRIT_FAIL(err, WRIT_E_BUSY, "the removal was ended before it was complete");
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_removal_run(const struct writ_removal *removal, struct writ_err *err)
{
    WRIT_AUTO(struct writ_disk, writ_disk_close) disk = {0};

    WRIT_TRY(writ_disk_open(removal->uri, WAIT_US, &disk, err));
    return remove_all(&disk, removal, err);
}
