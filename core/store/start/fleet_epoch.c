/* fleet_epoch.c - the epochs of gateways: adds one for this gateway, and ends those that are not
 * live, with their calls. It is apart from the turns because it decides who is in the fleet, and
 * they only in which order its gateways write. */
#include "store/start/fleet_epoch.h"

#include "store/disk/disk_postgres.h"
#include "store/start/fleet_turn.h"
#include "store/write/ending.h"
#include "store/write/turn.h"

#include <stdio.h>

/* then what a gateway kept for its start is dropped */
#define STALE_US       (7 * INT64_C(86400000000))
#define SEGMENTS_SLICE 256  /* rows of that, deleted at a time */
#define CLAIMS_SLICE   1000 /* rows of claims that have passed, deleted at a time */
#define ENDS_SLICE     256  /* calls of the dead that get their end at a time */
#define LIVE_MAX       4096 /* gateways */

/* ---- gateways that are not live ---- */

/* The live epochs, in their order, and how many calls got their end because theirs is not among
 * them. */
struct live {
    uint64_t epochs[LIVE_MAX];
    size_t n, ended;
    struct writ_ledger *ledger;
};

static WRIT_RESULT
read_live(struct writ_ledger *ledger, struct live *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_GATEWAYS_LIVE, &row, err, "");

    while (writ_is_ok(result) && row) {
        if (ret->n == LIVE_MAX) {
            result = writ_fail(err, WRIT_E_LIMIT, "more than %d gateways are live", LIVE_MAX);
            break;
        }
        ret->epochs[ret->n++] = (uint64_t)writ_disk_int(disk, WRIT_SQL_GATEWAYS_LIVE, 0);
        result = writ_disk_next(disk, WRIT_SQL_GATEWAYS_LIVE, &row, err);
    }
    writ_disk_end(disk, WRIT_SQL_GATEWAYS_LIVE);
    return result;
}

static bool
is_live(const struct live *live, uint64_t epoch)
{
    for (size_t i = 0; i < live->n; i++) {
        if (live->epochs[i] == epoch) {
            return true;
        }
    }
    return false;
}

/* Gives an end to a call that no gateway makes any more. A gateway that reads too many of them at
 * once loses its own lease meanwhile. */
static writ_result
end_flight(void *ctx, struct writ_flight *flight)
{
    struct live *live = ctx;

    if (flight->wait != NULL || flight->ending || is_live(live, flight->owner) ||
        live->ended == ENDS_SLICE) {
        return WRIT_DONE;
    }
    live->ended++;
    return writ_ending_given_up(
        live->ledger, flight, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN, NULL);
}

/* Ends the epochs whose leases have passed. */
static WRIT_RESULT
end_epochs(struct writ_ledger *ledger, struct writ_err *err)
{
    writ_fleet_turn_note_rest(ledger);
    if (writ_clock_boot_us() < ledger->fleet.patient_us) {
        return WRIT_DONE;
    }
    return writ_disk_run(&ledger->disk, WRIT_SQL_GATEWAYS_DEAD, err, "iu", ledger->fleet.now_us,
        (uint64_t)ledger->fleet.epoch);
}

/* In a turn: extends the lease, and ends the epochs whose leases have passed. */
static WRIT_RESULT
renew(struct writ_ledger *ledger, struct live *live, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    writ_result result;

    WRIT_TRY(writ_turn_enter(ledger, err));
    result = end_epochs(ledger, err);
    if (writ_is_ok(result)) {
        result = writ_disk_run(
            disk, WRIT_SQL_CLAIMS_LAPSED, err, "iu", ledger->log.edge_us, (uint64_t)CLAIMS_SLICE);
    }
    if (writ_is_ok(result)) {
        result = writ_disk_run(disk, WRIT_SQL_SEGMENTS_STALE, err, "iu",
            ledger->fleet.now_us - STALE_US, (uint64_t)SEGMENTS_SLICE);
    }
    if (writ_is_ok(result)) {
        result = read_live(ledger, live, err);
    }
    if (writ_is_ok(result)) {
        ledger->fleet.figures.live = live->n;
        ledger->fleet.followed = live->n > 1;
    }
    return writ_turn_finish(ledger, result, err);
}

WRIT_RESULT
writ_fleet_epochs_end_dead(struct writ_ledger *ledger, struct writ_err *err)
{
    struct live *live = writ_alloc(sizeof *live);
    int64_t began_us = writ_clock_boot_us();
    writ_result result;

    if (live == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the other gateways");
    }
    live->ledger = ledger;
    result = renew(ledger, live, err);
    if (writ_is_ok(result)) {
        result = writ_flights_each(&ledger->flights, end_flight, live);
    }
    if (writ_is_ok(result) && live->ended < ENDS_SLICE) { /* else the rest soon */
        ledger->fleet.tended_us = began_us;
    }
    writ_free(live);
    return result;
}

/* ---- the epoch of this gateway ---- */

WRIT_RESULT
writ_fleet_epoch_last(struct writ_ledger *ledger, uint64_t *ret_epoch, uint64_t *ret_slot,
    uint64_t *ret_own, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_GATEWAY_LAST, &row, err, "ti",
        ledger->options.gateway, ledger->fleet.now_us - STALE_US);

    if (writ_is_ok(result) && row) {
        *ret_epoch = (uint64_t)writ_disk_int(disk, WRIT_SQL_GATEWAY_LAST, 0);
        *ret_slot = (uint64_t)writ_disk_int(disk, WRIT_SQL_GATEWAY_LAST, 1);
        *ret_own = (uint64_t)writ_disk_int(disk, WRIT_SQL_GATEWAY_LAST, 2);
    }
    writ_disk_end(disk, WRIT_SQL_GATEWAY_LAST);
    return result;
}

/* A migration ends all epochs: a gateway that slept meanwhile finds the tables of another version
 * before it writes. */
static WRIT_RESULT
check_version(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false, same = false;
    char own[16];
    writ_result result = writ_disk_query(disk, WRIT_SQL_VERSION_GET, &row, err, "");

    (void)snprintf(own, sizeof own, "%d", WRIT_POSTGRES_VERSION);
    same = writ_is_ok(result) && row &&
           writ_view_is(writ_disk_bytes(disk, WRIT_SQL_VERSION_GET, 0), own);
    writ_disk_end(disk, WRIT_SQL_VERSION_GET);
    WRIT_TRY(result);
    if (!same) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the tables of the ledger were migrated to another version: start the writ of that "
            "version");
    }
    return WRIT_DONE;
}

/* In a turn: whether the last epoch of this name was added by this process. One that it tried to
 * add, in a commit that it knows nothing of, is its own as well. */
static WRIT_RESULT
check_replaced(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_ledger_fleet *fleet = &ledger->fleet;
    struct writ_disk *disk = &ledger->disk;
    uint64_t epoch = 0;
    int64_t at_us = 0;
    bool row = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_GATEWAY_NAMED, &row, err, "t", ledger->options.gateway);

    if (writ_is_ok(result) && row) {
        epoch = (uint64_t)writ_disk_int(disk, WRIT_SQL_GATEWAY_NAMED, 0);
        at_us = writ_disk_int(disk, WRIT_SQL_GATEWAY_NAMED, 1);
    }
    writ_disk_end(disk, WRIT_SQL_GATEWAY_NAMED);
    WRIT_TRY(result);
    if (row && !(epoch == fleet->joined && at_us == fleet->joined_us) &&
        !(epoch == fleet->tried && at_us == fleet->tried_us)) {
        WRIT_FAIL(err, WRIT_E_IO,
            "another gateway has joined under the name of this one: give each its own name "
            "(ledger.gateway), and start this one again");
    }
    if (row) { /* the next try forgets this one */
        ledger->fleet.joined = epoch;
        ledger->fleet.joined_us = at_us;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
insert_epoch(
    struct writ_ledger *ledger, uint64_t *ret_epoch, uint64_t *ret_slot, struct writ_err *err)
{
    const struct writ_ledger_options *options = &ledger->options;
    struct writ_disk *disk = &ledger->disk;
    uint64_t epoch = 0, slot = 0, own = 0;

    WRIT_TRY(check_version(ledger, err));
    WRIT_TRY(writ_fleet_epoch_last(ledger, &epoch, &slot, &own, err));
    *ret_epoch = epoch + 1;
    *ret_slot = own > 0 ? own : slot + 1;
    ledger->fleet.tried = *ret_epoch;
    ledger->fleet.tried_us = ledger->fleet.now_us;
    WRIT_TRY(writ_disk_run(disk, WRIT_SQL_GATEWAY_REPLACE, err, "t", options->gateway));
    return writ_disk_run(disk, WRIT_SQL_GATEWAY_ADD, err, "uutttiiu", *ret_epoch, *ret_slot,
        options->gateway, writ_view_str(WRIT_VERSION), options->policy, ledger->fleet.now_us,
        ledger->fleet.now_us + options->lease_us, ledger->log.next_leaf);
}

/* A command that works on a ledger without a gateway does not know what those do meanwhile. */
static WRIT_RESULT
check_sole(struct writ_ledger *ledger, struct writ_err *err)
{
    struct live live = {0};

    if (!ledger->options.sole) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_GATEWAYS_DEAD, err, "iu", ledger->fleet.now_us,
        (uint64_t)ledger->fleet.epoch));
    WRIT_TRY(read_live(ledger, &live, err));
    if (live.n > 0) {
        WRIT_FAIL(err, WRIT_E_BUSY, "a gateway has the ledger open, or its lease still lasts");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_fleet_epoch_add(struct writ_ledger *ledger, struct writ_err *err)
{
    uint64_t epoch = 0, slot = 0;
    struct writ_fleet_coordinator seen;
    writ_result result = writ_fleet_turn_lock_near(ledger, 0, &seen, err);

    if (writ_is_ok(result)) {
        result = writ_fleet_turn_catch_up(ledger, &seen, err);
    }
    if (writ_is_ok(result) && ledger->log.loaded) {
        result = check_replaced(ledger, err);
    }
    if (writ_is_ok(result)) {
        result = check_sole(ledger, err);
    }
    if (writ_is_ok(result)) {
        result = insert_epoch(ledger, &epoch, &slot, err);
    }
    if (!writ_is_ok(result)) {
        return writ_fleet_turn_heed(ledger, result, err);
    }
    result = writ_fleet_turn_write(ledger, err);
    result = writ_disk_finish(&ledger->disk, result, err);
    ledger->turn.inside = false;
    WRIT_TRY(result);
    ledger->fleet.slot = slot;
    ledger->fleet.epoch = ledger->fleet.joined = epoch;
    ledger->fleet.joined_us = ledger->fleet.tried_us;
    writ_fleet_turn_count(ledger);
    ledger->fleet.turn = 0;
    return writ_disk_postgres_name(ledger->disk.sql, slot, epoch, err);
}
