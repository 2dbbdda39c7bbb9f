/* fleet_turn.c - takes a turn: asks the coordinator, on a connection that is made again when it was
 * lost, and brings the memory up to date. What a gateway writes in its turn is elsewhere
 * (fleet_commit.c), so that this order can be reviewed alone. */
#include "store/start/fleet_turn.h"

#include "store/disk/disk_postgres.h"
#include "store/start/catch_up.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#define US_PER_MS   1000
#define READ_ONLY   "25006" /* SQLSTATE: the server only reads */
#define LEASE_STILL 8       /* a turn in which nothing is asked ends after that part of a lease */
#define FAR         1024    /* records that a turn should not have to take */
#define FAR_TRIES   8       /* then it takes them all the same */

/* ---- what the coordinator says ---- */

WRIT_RESULT
writ_fleet_turn_see(struct writ_ledger *ledger, uint64_t epoch, struct writ_fleet_coordinator *ret,
    struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_fleet_coordinator seen = {0};
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_TURN_SEE, &row, err, "u", epoch);

    if (writ_is_ok(result) && row) {
        struct writ_view root = writ_disk_bytes(disk, WRIT_SQL_TURN_SEE, 5);

        seen.size = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 0);
        seen.changes = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 1);
        seen.waits = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 2);
        seen.live = writ_disk_int(disk, WRIT_SQL_TURN_SEE, 3) == 1;
        seen.turn = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 4);
        seen.rooted = root.len == sizeof seen.root.bytes;
        if (seen.rooted) {
            (void)writ_view_place(root, (char *)seen.root.bytes);
        }
        ledger->fleet.now_us = writ_disk_int(disk, WRIT_SQL_TURN_SEE, 6);
        ledger->fleet.ahead_us = ledger->fleet.now_us - writ_clock_mono_us(ledger->fleet.own);
    }
    writ_disk_end(disk, WRIT_SQL_TURN_SEE);
    WRIT_TRY(result);
    if (!row) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the ledger has no row of `coordinator`");
    }
    *ret = seen;
    return WRIT_DONE;
}

/* ---- the connection ---- */

WRIT_RESULT
writ_fleet_turn_check_server(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_sql *sql = ledger->disk.sql;

    WRIT_TRY(writ_disk_postgres_durable(sql, ledger->options.alone, err));
    return writ_disk_postgres_name(sql, ledger->fleet.slot, ledger->fleet.epoch, err);
}

/* A new connection, perhaps to another server. One that may not write is given up: it is never used
 * unchecked. */
static WRIT_RESULT
connect_again(struct writ_ledger *ledger, struct writ_err *err)
{
    writ_result result = writ_sql_reconnect(ledger->disk.sql, err);

    if (writ_is_ok(result)) {
        result = writ_fleet_turn_check_server(ledger, err);
    }
    if (!writ_is_ok(result)) {
        writ_sql_give_up(ledger->disk.sql);
        ledger->fleet.again_us = writ_clock_boot_us() + ledger->options.retry_us;
    }
    return result;
}

WRIT_RESULT
writ_fleet_turn_connect(struct writ_ledger *ledger, struct writ_err *err)
{
    if (!writ_sql_broken(ledger->disk.sql)) {
        return WRIT_DONE;
    }
    if (writ_clock_boot_us() < ledger->fleet.again_us) {
        if (err != NULL) {
            *err = ledger->trouble.why;
        }
        return (writ_result){WRIT_E_IO};
    }
    return connect_again(ledger, err);
}

/* ---- a turn ---- */

static WRIT_RESULT
is_behind(
    struct writ_ledger *ledger, const struct writ_fleet_coordinator *seen, struct writ_err *err)
{
    struct writ_digest root;

    if (seen->size < ledger->log.next_leaf || seen->changes < ledger->fleet.changes) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "ROLLBACK: the database has %llu records, and had %llu: a failover or a restore lost "
            "some. Calls that it lost could run again: find out what is missing, and see `writ "
            "ledger resume`",
            (unsigned long long)seen->size, (unsigned long long)ledger->log.next_leaf);
    }
    if (seen->size > ledger->log.next_leaf || seen->size == 0) {
        return WRIT_DONE; /* catching up compares them */
    }
    WRIT_TRY(writ_tree_root(&ledger->log.edge, &root, err));
    if (!seen->rooted || !writ_digest_equal(&root, &seen->root)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "FORK: the database has other records than this gateway knows: a failover or a restore "
            "lost some. See `writ ledger resume`");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take(struct writ_ledger *ledger, const struct writ_fleet_coordinator *seen, struct writ_err *err)
{
    struct writ_ledger_fleet *fleet = &ledger->fleet;

    WRIT_TRY(is_behind(ledger, seen, err));
    fleet->followed = fleet->followed || seen->size > ledger->log.next_leaf;
    if (seen->size > ledger->log.next_leaf || fleet->opened.len > 0 || fleet->erased) {
        WRIT_TRY(writ_catch_up(ledger, seen->size, err));
        WRIT_TRY(is_behind(ledger, seen, err));
    }
    if (seen->waits != fleet->waits) {
        WRIT_TRY(writ_catch_up_waits(ledger, err));
        fleet->waits = seen->waits;
    }
    fleet->changes = seen->changes;
    ledger->boundaries.next_id = fleet->boundary + 1; /* others take the numbers that it gave up */
    return WRIT_DONE;
}

WRIT_RESULT
writ_fleet_turn_catch_up(
    struct writ_ledger *ledger, const struct writ_fleet_coordinator *seen, struct writ_err *err)
{
    writ_result result = take(ledger, seen, err);

    writ_catch_up_end(ledger);
    return result;
}

WRIT_RESULT
writ_fleet_turn_lock(struct writ_ledger *ledger, uint64_t epoch, struct writ_fleet_coordinator *ret,
    struct writ_err *err)
{
    int64_t asked_us = writ_clock_boot_us(); /* keeps (3) of fleet_turn.h */

    ledger->fleet.room_next = ledger->fleet.room;
    writ_catch_up_end(ledger); /* of a turn that failed */
    writ_disk_end(&ledger->disk, WRIT_SQL_TURN_SEE);
    WRIT_TRY(writ_disk_begin(&ledger->disk, err));
    ledger->turn.inside = true;
    /* a gateway that stands still in its turn loses it before the others give up */
    WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_TURN_LOCK, err, "i",
        ledger->options.lease_us / LEASE_STILL / US_PER_MS));
    WRIT_TRY(writ_disk_ask(&ledger->disk, WRIT_SQL_TURN_SEE, err, "u", epoch));
    if (ledger->fleet.followed) {
        WRIT_TRY(writ_catch_up_ask(ledger, err));
    }
    WRIT_TRY(writ_fleet_turn_see(ledger, epoch, ret, err));
    ledger->fleet.asked_us = asked_us;
    return WRIT_DONE;
}

WRIT_RESULT
writ_fleet_turn_heed(struct writ_ledger *ledger, writ_result result, struct writ_err *err)
{
    bool again =
        result.code == WRIT_E_IO || result.code == WRIT_E_BUSY || result.code == WRIT_E_NOMEM;

    if (writ_view_is(writ_view_str(writ_sql_state(ledger->disk.sql)), READ_ONLY)) {
        writ_sql_give_up(ledger->disk.sql); /* another server takes writes now */
    }
    writ_turn_leave(ledger);
    if (writ_is_ok(result) || (again && !ledger->fleet.torn)) {
        return result;
    }
    ledger->disk.poisoned = true;
    writ_group_trouble(ledger, err);
    return (writ_result){WRIT_E_IO};
}

WRIT_RESULT
writ_fleet_turn_look(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_fleet_coordinator seen;
    writ_result result;

    writ_catch_up_end(ledger);
    result = writ_sql_begin(ledger->disk.sql, WRIT_SQL_READ, err);
    if (writ_is_ok(result)) {
        result = writ_fleet_turn_see(ledger, ledger->fleet.epoch, &seen, err);
    }
    if (writ_is_ok(result)) {
        result = writ_fleet_turn_catch_up(ledger, &seen, err);
    }
    writ_sql_rollback(ledger->disk.sql);
    return writ_fleet_turn_heed(ledger, result, err);
}

WRIT_RESULT
writ_fleet_turn_lock_near(struct writ_ledger *ledger, uint64_t epoch,
    struct writ_fleet_coordinator *ret, struct writ_err *err)
{
    for (int tries = 0;; tries++) {
        WRIT_TRY(writ_fleet_turn_lock(ledger, epoch, ret, err));
        if (tries == FAR_TRIES || ret->size <= ledger->log.next_leaf + FAR) {
            return WRIT_DONE;
        }
        writ_turn_leave(ledger);
        WRIT_TRY(writ_fleet_turn_look(ledger, err));
    }
}
