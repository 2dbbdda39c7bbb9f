/* fleet.c - one gateway of the fleet, from its start to its end: its clock, when it takes a turn or
 * a new epoch, and what it does from time to time. How that is done is in fleet_turn.h, with the
 * invariants, and fleet_epoch.h. */
#include "store/start/fleet.h"

#include "store/disk/disk_postgres.h"
#include "store/start/fleet_epoch.h"
#include "store/start/fleet_turn.h"
#include "store/write/ending.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#define LEASE_PARTS 4    /* the dead are looked for after that part of a lease */
#define TEXTS_MAX   4096 /* bytes of the names of a gateway and its policy */

/* ---- the clock ---- */

/* From the last look on the monotonic clock counts: the time of day may jump between the look and a
 * record, whose time every later one has to follow. */
static int64_t
database_us(void *ctx)
{
    const struct writ_ledger *ledger = ctx;

    return writ_clock_mono_us(ledger->fleet.own) + ledger->fleet.ahead_us;
}

static int64_t
own_mono_us(void *ctx)
{
    const struct writ_ledger *ledger = ctx;

    return writ_clock_mono_us(ledger->fleet.own);
}

/* ---- a turn ---- */

/* In a turn: has partitions made for more records than one group can have. They are there when the
 * turn is committed. */
static WRIT_RESULT
make_room(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result;

    if (ledger->log.next_leaf + WRIT_DISK_ROOM / 2 <= ledger->fleet.room) {
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_MAKE_ROOM, &row, err, "");
    if (writ_is_ok(result) && row) {
        ledger->fleet.room_next = (uint64_t)writ_disk_int(disk, WRIT_SQL_MAKE_ROOM, 0);
    }
    writ_disk_end(disk, WRIT_SQL_MAKE_ROOM);
    return result;
}

static writ_result
enter(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_fleet_coordinator seen;
    writ_result result = writ_fleet_turn_connect(ledger, err);

    if (writ_is_ok(result) && ledger->fleet.epoch == 0 && ledger->log.loaded) {
        result = writ_fleet_epoch_add(ledger, err);
    }
    if (writ_is_ok(result)) {
        result = writ_fleet_turn_lock_near(ledger, ledger->fleet.epoch, &seen, err);
    }
    if (writ_is_ok(result) && ledger->fleet.epoch != 0 && !seen.live) {
        ledger->fleet.epoch = 0;
        ledger->fleet.lease_until_us = 0;
        writ_turn_leave(ledger);
        WRIT_FAIL(err, WRIT_E_IO,
            "this gateway did not extend its lease in time, and was declared dead: it goes on "
            "under "
            "a new epoch");
    }
    if (writ_is_ok(result)) {
        ledger->fleet.turn = seen.turn;
        result = writ_fleet_turn_catch_up(ledger, &seen, err);
    }
    if (writ_is_ok(result)) {
        result = make_room(ledger, err);
    }
    return writ_is_ok(result) ? WRIT_DONE : writ_fleet_turn_heed(ledger, result, err);
}

const struct writ_sharing writ_fleet_sharing = {
    .enter = enter, .write = writ_fleet_turn_write, .ended = writ_fleet_turn_ended};

/* ---- joining ---- */

static WRIT_RESULT
find_owner(struct writ_ledger *ledger, struct writ_flight *flight, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_HEAD_EPOCH, &row, err, "u", flight->leaf);

    if (writ_is_ok(result) && row) {
        flight->owner = (uint64_t)writ_disk_int(disk, WRIT_SQL_HEAD_EPOCH, 0);
    }
    writ_disk_end(disk, WRIT_SQL_HEAD_EPOCH);
    return result;
}

struct owning {
    struct writ_ledger *ledger;
    struct writ_err *err;
};

static writ_result
own_flight(void *ctx, struct writ_flight *flight)
{
    const struct owning *owning = ctx;

    return find_owner(owning->ledger, flight, owning->err);
}

/* The caller's texts end with the opening, and a new epoch needs them later. */
static WRIT_RESULT
keep_texts(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_ledger_options *options = &ledger->options;
    struct writ_buf *texts = &ledger->fleet.texts;
    size_t name = options->gateway.len;

    *texts = writ_buf_make(TEXTS_MAX);
    writ_buf_put(texts, options->gateway);
    writ_buf_put(texts, options->policy);
    WRIT_TRY(writ_buf_check(texts, err));
    options->gateway = writ_view_sub(writ_buf_view(texts), 0, name);
    options->policy = writ_view_sub(writ_buf_view(texts), name, texts->len);
    return WRIT_DONE;
}

WRIT_RESULT
writ_fleet_begin(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_ledger_fleet *fleet = &ledger->fleet;
    uint64_t epoch = 0, slot = 0, own = 0;
    struct writ_fleet_coordinator seen;

    fleet->opened = writ_buf_make(SIZE_MAX / 2);
    WRIT_TRY(keep_texts(ledger, err));
    fleet->own = ledger->options.clock;
    fleet->clock =
        (struct writ_clock){.wall_us = database_us, .mono_us = own_mono_us, .ctx = ledger};
    ledger->options.clock = &fleet->clock;
    ledger->sharing = &writ_fleet_sharing;
    WRIT_TRY(writ_fleet_turn_see(ledger, 0, &seen, err));
    fleet->changes = seen.changes;
    fleet->waits = 0; /* read again in the first turn */
    WRIT_TRY(writ_fleet_epoch_last(ledger, &epoch, &slot, &own, err));
    fleet->slot = own;
    return writ_fleet_turn_check_server(ledger, err);
}

WRIT_RESULT
writ_fleet_join(struct writ_ledger *ledger, struct writ_err *err)
{
    struct owning owning = {ledger, err};

    ledger->fleet.boundary = ledger->boundaries.next_id - 1;
    WRIT_TRY(writ_flights_each(&ledger->flights, own_flight, &owning));
    WRIT_TRY(writ_fleet_epoch_add(ledger, err));
    do { /* those of the earlier epoch under this name, too; each round extends the lease */
        WRIT_TRY(writ_fleet_epochs_end_dead(ledger, err));
    } while (ledger->fleet.tended_us == 0);
    return WRIT_DONE;
}

void
writ_fleet_leave(struct writ_ledger *ledger)
{
    if (ledger->sharing != NULL && ledger->fleet.epoch != 0 && !writ_sql_broken(ledger->disk.sql)) {
        WRIT_IGNORE(writ_disk_run(&ledger->disk, WRIT_SQL_GATEWAY_END, NULL, "u",
            (uint64_t)ledger->fleet.epoch)); /* else its lease ends it */
    }
}

void
writ_fleet_wipe(struct writ_ledger *ledger)
{
    writ_buf_wipe(&ledger->fleet.opened);
    writ_buf_wipe(&ledger->fleet.texts);
}

/* ---- from time to time ---- */

/* Says that this gateway knows the facts that others recorded: somebody may wait for that. */
static WRIT_RESULT
tell_heard(struct writ_ledger *ledger, struct writ_err *err)
{
    if (ledger->fleet.heard) {
        WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_TURN_SEEN, err, "uu", ledger->log.next_leaf,
            (uint64_t)ledger->fleet.epoch));
    }
    ledger->fleet.heard = false;
    return WRIT_DONE;
}

/* Turns that calls need extend the lease as well, and look for nothing else: a gateway that always
 * has some looks at the others all the same. */
static WRIT_RESULT
work(struct writ_ledger *ledger, int64_t now_us, struct writ_err *err)
{
    struct writ_ledger_fleet *fleet = &ledger->fleet;
    struct writ_fleet_coordinator seen;

    if (now_us - fleet->tended_us < ledger->options.lease_us / LEASE_PARTS) {
        WRIT_TRY(writ_fleet_turn_connect(ledger, err));
        WRIT_TRY(writ_fleet_turn_see(ledger, fleet->epoch, &seen, err));
        if (!seen.live) {
            WRIT_TRY(writ_turn_enter(ledger, err));
            writ_turn_leave(ledger);
        } else if (seen.changes != fleet->changes) {
            WRIT_TRY(writ_fleet_turn_look(ledger, err));
        }
        return tell_heard(ledger, err);
    }
    WRIT_TRY(writ_fleet_epochs_end_dead(ledger, err));
    return writ_ending_flush(ledger);
}

void
writ_fleet_tick(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_boot_us();
    struct writ_err err = {0};

    if (ledger->sharing == NULL || ledger->disk.poisoned ||
        now_us - ledger->fleet.polled_us < WRIT_FLEET_POLL_US) {
        return;
    }
    ledger->fleet.polled_us = now_us;
    if (!writ_is_ok(work(ledger, now_us, &err)) && !ledger->trouble.refusing) {
        writ_group_trouble(ledger, &err);
    }
}

int64_t
writ_fleet_rest_us(const struct writ_ledger *ledger, int64_t rest_us)
{
    return ledger->sharing != NULL && rest_us > WRIT_FLEET_POLL_US ? WRIT_FLEET_POLL_US : rest_us;
}

bool
writ_fleet_may_send(const struct writ_ledger *ledger, uint64_t epoch)
{
    return ledger->sharing == NULL ||
           (epoch == ledger->fleet.epoch && writ_clock_boot_us() < ledger->fleet.lease_until_us);
}

void
writ_fleet_figures(const struct writ_ledger *ledger, struct writ_ledger_fleet_figures *ret)
{
    const struct writ_ledger_fleet *fleet = &ledger->fleet;
    int64_t left_us = fleet->lease_until_us - writ_clock_boot_us();

    *ret = (struct writ_ledger_fleet_figures){
        .gateway = ledger->options.gateway,
        .epoch = fleet->epoch,
        .lease_us = fleet->epoch != 0 && left_us > 0 ? left_us : 0,
        .live = fleet->figures.live,
        .taken = fleet->figures.taken,
        .turns = fleet->figures.turns,
        .turns_us = fleet->figures.turns_us,
        .unknown = fleet->figures.unknown,
    };
}
