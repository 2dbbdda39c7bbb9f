/* 1. `fleet.epoch`, `turn` and `changes` are what the last committed turn of this gateway, or its
 *    last look in a turn, says.
 * 2. A gateway in its turn knows all changes: `changes` is exact when it commits.
 * 3. The lease of the memory ends before that of the row: it counts from before the turn was asked
 *    for, on a clock that goes on while the machine sleeps. */
#include "store/start/fleet.h"

#include "store/disk/disk_postgres.h"
#include "store/start/catch_up.h"
#include "store/write/ending.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#include <stdio.h>
#include <time.h>

#define NS_PER_US   1000
#define US_PER_MS   1000
#define POLL_US     INT64_C(200000) /* between looks at what others wrote */
#define READ_ONLY   "25006"         /* SQLSTATE: the server only reads */
#define LEASE_PARTS 4               /* the dead are looked for after that part of a lease */
#define LEASE_STILL 8               /* a turn in which nothing is asked ends after that part */
#define LEASE_WAITS 2               /* so long an end is asked for, and others get time */
#define STALE_US                                                                                   \
    (7 * INT64_C(86400000000)) /* then what a gateway kept for its start is dropped                \
                                */
#define SEGMENTS_SLICE 256     /* rows of that, deleted at a time */
#define CLAIMS_SLICE   1000    /* rows of claims that have passed, deleted at a time */
#define ENDS_SLICE     256     /* calls of the dead that get their end at a time */
#define CLAIMS_AT_ONCE 256     /* rows of claims, added by one statement */
#define FAR            1024    /* records that a turn should not have to take */
#define FAR_TRIES      8       /* then it takes them all the same */
#define LIVE_MAX       4096    /* gateways */
#define TEXTS_MAX      4096    /* bytes of the names of a gateway and its policy */

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

/* ---- what the coordinator says ---- */

/* The row of the coordinator, and that of an epoch beside it. */
struct coordinator {
    uint64_t size, changes, waits, turn;
    struct writ_digest root; /* of the tree; size 0: none */
    bool rooted, live, known;
};

static WRIT_RESULT
see(struct writ_ledger *ledger, uint64_t epoch, struct coordinator *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct coordinator seen = {0};
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_TURN_SEE, &row, err, "u", epoch);

    if (writ_is_ok(result) && row) {
        struct writ_view root = writ_disk_bytes(disk, WRIT_SQL_TURN_SEE, 5);

        seen.size = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 0);
        seen.changes = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 1);
        seen.waits = (uint64_t)writ_disk_int(disk, WRIT_SQL_TURN_SEE, 2);
        seen.known = !writ_sql_is_null(disk->statements[WRIT_SQL_TURN_SEE], 3);
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

static WRIT_RESULT
check_server(struct writ_ledger *ledger, struct writ_err *err)
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
        result = check_server(ledger, err);
    }
    if (!writ_is_ok(result)) {
        writ_sql_give_up(ledger->disk.sql);
        ledger->fleet.again_us = writ_clock_boot_us() + ledger->options.retry_us;
    }
    return result;
}

/* A lost connection is made again from time to time; entries meanwhile are refused at once. */
static WRIT_RESULT
connect(struct writ_ledger *ledger, struct writ_err *err)
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
is_behind(struct writ_ledger *ledger, const struct coordinator *seen, struct writ_err *err)
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
take(struct writ_ledger *ledger, const struct coordinator *seen, struct writ_err *err)
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

static writ_result
bring_up_to_date(struct writ_ledger *ledger, const struct coordinator *seen, struct writ_err *err)
{
    writ_result result = take(ledger, seen, err);

    writ_catch_up_end(ledger);
    return result;
}

/* Begins a transaction and waits for the turn. What others wrote comes in the same round trip, if
 * there are any. */
static WRIT_RESULT
lock(struct writ_ledger *ledger, uint64_t epoch, struct coordinator *ret, struct writ_err *err)
{
    int64_t asked_us = writ_clock_boot_us(); /* keeps (3) */

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
    WRIT_TRY(see(ledger, epoch, ret, err));
    ledger->fleet.asked_us = asked_us;
    return WRIT_DONE;
}

/* After a failure that no later try can repair the gateway writes nothing more. */
static writ_result
heed(struct writ_ledger *ledger, writ_result result, struct writ_err *err)
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

/* Outside of a turn: takes what others have written until now, while they go on. */
static writ_result
look(struct writ_ledger *ledger, struct writ_err *err)
{
    struct coordinator seen;
    writ_result result;

    writ_catch_up_end(ledger);
    result = writ_sql_begin(ledger->disk.sql, WRIT_SQL_READ, err);
    if (writ_is_ok(result)) {
        result = see(ledger, ledger->fleet.epoch, &seen, err);
    }
    if (writ_is_ok(result)) {
        result = bring_up_to_date(ledger, &seen, err);
    }
    writ_sql_rollback(ledger->disk.sql);
    return heed(ledger, result, err);
}

/* As lock; a gateway that is far behind gives the turn back first, and catches up outside of it. */
static writ_result
lock_when_near(
    struct writ_ledger *ledger, uint64_t epoch, struct coordinator *ret, struct writ_err *err)
{
    for (int tries = 0;; tries++) {
        WRIT_TRY(lock(ledger, epoch, ret, err));
        if (tries == FAR_TRIES || ret->size <= ledger->log.next_leaf + FAR) {
            return WRIT_DONE;
        }
        writ_turn_leave(ledger);
        WRIT_TRY(look(ledger, err));
    }
}

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

static writ_result add_epoch(struct writ_ledger *ledger, struct writ_err *err);

static writ_result
enter(struct writ_ledger *ledger, struct writ_err *err)
{
    struct coordinator seen;
    writ_result result = connect(ledger, err);

    if (writ_is_ok(result) && ledger->fleet.epoch == 0 && ledger->log.loaded) {
        result = add_epoch(ledger, err);
    }
    if (writ_is_ok(result)) {
        result = lock_when_near(ledger, ledger->fleet.epoch, &seen, err);
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
        result = bring_up_to_date(ledger, &seen, err);
    }
    if (writ_is_ok(result)) {
        result = make_room(ledger, err);
    }
    return writ_is_ok(result) ? WRIT_DONE : heed(ledger, result, err);
}

/* ---- writing ---- */

/* Claims of granted calls that are added at once. A group has each key once: a claim that it frees
 * can be taken after its commit. */
struct claims {
    struct writ_disk_claim list[CLAIMS_AT_ONCE];
    size_t n;
    int64_t now_us; /* the time of the last of them */
};

static WRIT_RESULT
put_claims(struct writ_ledger *ledger, struct claims *claims, struct writ_err *err)
{
    size_t n = claims->n;

    claims->n = 0;
    return n == 0 ? WRIT_DONE
                  : writ_disk_claim(&ledger->disk, claims->list, n, claims->now_us, err);
}

/* The row of the claim of a granted call. */
static WRIT_RESULT
write_claim(struct writ_ledger *ledger, const struct writ_row *row, struct claims *claims,
    struct writ_err *err)
{
    const struct writ_flight *flight = writ_flights_find(&ledger->flights, row->leaf);
    int64_t until_us = INT64_MAX;

    if (row->claim == NULL) {
        return (row->flags & WRIT_ROW_FOLLOWS) == 0
                   ? WRIT_DONE
                   : writ_disk_run(
                         &ledger->disk, WRIT_SQL_CLAIM_MOVE, err, "uu", row->leaf, row->about);
    }
    if (flight != NULL && flight->hold != NULL) {
        until_us = flight->hold->facts.made_us + flight->hold->facts.kept_us;
    }
    claims->list[claims->n++] =
        (struct writ_disk_claim){row->claim, row->leaf, row->boundary, until_us};
    claims->now_us = row->time_us;
    return claims->n < CLAIMS_AT_ONCE ? WRIT_DONE : put_claims(ledger, claims, err);
}

static WRIT_RESULT
write_claims(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_group *group = &ledger->group;
    struct claims claims = {.n = 0};

    for (size_t i = 0; i < group->rows_n; i++) {
        const struct writ_row *row = &group->rows[i].row;

        if (row->kind == WRIT_ROW_DECISION && (row->flags & WRIT_ROW_GRANTED) != 0) {
            WRIT_TRY(write_claim(ledger, row, &claims, err));
        } else if (row->kind == WRIT_ROW_OUTCOME && (row->flags & WRIT_ROW_NOTHING_RAN) != 0 &&
                   writ_flights_find(&ledger->flights, row->about) != NULL) { /* not of a deny */
            WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_CLAIM_DROP, err, "u", row->about));
        }
    }
    return put_claims(ledger, &claims, err);
}

static writ_result
write_turn(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_group *group = &ledger->group;
    const struct writ_tree_edge *edge = group->rows_n > 0 ? &group->edge : &ledger->log.edge;
    struct writ_ledger_fleet *fleet = &ledger->fleet;
    struct writ_digest root = {{0}};

    WRIT_TRY(write_claims(ledger, err));
    if (edge->size > 0) {
        WRIT_TRY(writ_tree_root(edge, &root, err));
    }
    WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_TURN_SET, err, "ubi", edge->size,
        writ_view((const char *)root.bytes, edge->size > 0 ? sizeof root.bytes : 0),
        (int64_t)(ledger->disk.waits ? 1 : 0)));
    if (fleet->epoch == 0) {
        return WRIT_DONE;
    }
    return writ_disk_run(&ledger->disk, WRIT_SQL_TURN_MINE, err, "uiuu", fleet->turn + 1,
        fleet->now_us + ledger->options.lease_us, edge->size, (uint64_t)fleet->epoch);
}

/* ---- the end of a turn ---- */

/* No turn for a long time: perhaps the database gave none to any gateway. The others, too, get the
 * time to extend their leases. */
static void
note_rest(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_boot_us(), part_us = ledger->options.lease_us / LEASE_WAITS;

    if (now_us - ledger->fleet.renewed_us >= part_us) {
        ledger->fleet.patient_us = now_us + part_us;
    }
}

static void
count_turn(struct writ_ledger *ledger)
{
    struct writ_ledger_fleet *fleet = &ledger->fleet;

    note_rest(ledger);
    fleet->turn++;
    fleet->changes++; /* keeps (2) */
    fleet->room = fleet->room_next;
    fleet->waits = ledger->disk.waits ? fleet->changes : fleet->waits;
    fleet->heard = false; /* the row says what was known in the turn */
    fleet->boundary = ledger->boundaries.next_id - 1;
    fleet->renewed_us = fleet->asked_us;
    fleet->lease_until_us = fleet->asked_us + ledger->options.lease_us;
    fleet->figures.turns++;
    fleet->figures.turns_us += writ_clock_boot_us() - fleet->asked_us;
}

/* Asks on a new connection whether the last turn was committed. The transaction that asks is
 * committed as well: when it is kept by the standby, so is what came before. */
static WRIT_RESULT
ask_committed(struct writ_ledger *ledger, bool *ret, struct writ_err *err)
{
    struct coordinator seen;
    writ_result result = connect(ledger, err);

    if (writ_is_ok(result)) {
        result = lock(ledger, ledger->fleet.epoch, &seen, err);
    }
    if (writ_is_ok(result)) {
        result = writ_disk_run(&ledger->disk, WRIT_SQL_PROBE, err, "i", ledger->fleet.now_us);
    }
    if (!writ_is_ok(result)) {
        writ_turn_leave(ledger);
        return result;
    }
    *ret = seen.turn > ledger->fleet.turn;
    result = writ_disk_finish(&ledger->disk, WRIT_DONE, err);
    ledger->turn.inside = false;
    return result;
}

static WRIT_RESULT
learn_end(struct writ_ledger *ledger, writ_result result, struct writ_err *err)
{
    int64_t until_us = writ_clock_boot_us() + ledger->options.lease_us / LEASE_WAITS;
    bool waits = ledger->disk.waits, committed = false;
    int64_t asked_us = ledger->fleet.asked_us;

    do {
        struct writ_err why = {0};
        writ_result asked = ask_committed(ledger, &committed, &why);

        if (writ_is_ok(asked)) {
            ledger->disk.waits = waits;
            ledger->fleet.asked_us = asked_us;
            return committed ? WRIT_DONE : result;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = POLL_US * NS_PER_US}, NULL);
    } while (writ_clock_boot_us() < until_us);
    WRIT_FAIL(err, WRIT_E_IO,
        "the connection to the database was lost during a commit, and what became of it cannot be "
        "found out now: nothing of it is forwarded");
}

static writ_result
ended(struct writ_ledger *ledger, writ_result result, struct writ_err *err)
{
    if (!writ_is_ok(result) && ledger->disk.unknown && ledger->fleet.epoch != 0) {
        ledger->fleet.figures.unknown++;
        result = learn_end(ledger, result, err);
    }
    if (writ_is_ok(result)) {
        count_turn(ledger);
    }
    return result;
}

const struct writ_sharing writ_fleet_sharing = {
    .enter = enter, .write = write_turn, .ended = ended};

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
    note_rest(ledger);
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

/* Extends the lease, and keeps an end for each call of a gateway that is not live. */
static WRIT_RESULT
end_dead(struct writ_ledger *ledger, struct writ_err *err)
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

/* ---- joining ---- */

static WRIT_RESULT
last_of(struct writ_ledger *ledger, uint64_t *ret_epoch, uint64_t *ret_slot, uint64_t *ret_own,
    struct writ_err *err)
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
    WRIT_TRY(last_of(ledger, &epoch, &slot, &own, err));
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

/* Takes a new epoch, in a turn of its own. */
static writ_result
add_epoch(struct writ_ledger *ledger, struct writ_err *err)
{
    uint64_t epoch = 0, slot = 0;
    struct coordinator seen;
    writ_result result = lock_when_near(ledger, 0, &seen, err);

    if (writ_is_ok(result)) {
        result = bring_up_to_date(ledger, &seen, err);
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
        return heed(ledger, result, err);
    }
    result = write_turn(ledger, err);
    result = writ_disk_finish(&ledger->disk, result, err);
    ledger->turn.inside = false;
    WRIT_TRY(result);
    ledger->fleet.slot = slot;
    ledger->fleet.epoch = ledger->fleet.joined = epoch;
    ledger->fleet.joined_us = ledger->fleet.tried_us;
    count_turn(ledger);
    ledger->fleet.turn = 0;
    return writ_disk_postgres_name(ledger->disk.sql, slot, epoch, err);
}

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
    struct coordinator seen;

    fleet->opened = writ_buf_make(SIZE_MAX / 2);
    WRIT_TRY(keep_texts(ledger, err));
    fleet->own = ledger->options.clock;
    fleet->clock =
        (struct writ_clock){.wall_us = database_us, .mono_us = own_mono_us, .ctx = ledger};
    ledger->options.clock = &fleet->clock;
    ledger->sharing = &writ_fleet_sharing;
    WRIT_TRY(see(ledger, 0, &seen, err));
    fleet->changes = seen.changes;
    fleet->waits = 0; /* read again in the first turn */
    WRIT_TRY(last_of(ledger, &epoch, &slot, &own, err));
    fleet->slot = own;
    return check_server(ledger, err);
}

WRIT_RESULT
writ_fleet_join(struct writ_ledger *ledger, struct writ_err *err)
{
    struct owning owning = {ledger, err};

    ledger->fleet.boundary = ledger->boundaries.next_id - 1;
    WRIT_TRY(writ_flights_each(&ledger->flights, own_flight, &owning));
    WRIT_TRY(add_epoch(ledger, err));
    do { /* those of the earlier epoch under this name, too; each round extends the lease */
        WRIT_TRY(end_dead(ledger, err));
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
    struct coordinator seen;

    if (now_us - fleet->tended_us < ledger->options.lease_us / LEASE_PARTS) {
        WRIT_TRY(connect(ledger, err));
        WRIT_TRY(see(ledger, fleet->epoch, &seen, err));
        if (!seen.live) {
            WRIT_TRY(writ_turn_enter(ledger, err));
            writ_turn_leave(ledger);
        } else if (seen.changes != fleet->changes) {
            WRIT_TRY(look(ledger, err));
        }
        return tell_heard(ledger, err);
    }
    WRIT_TRY(end_dead(ledger, err));
    return writ_ending_flush(ledger);
}

void
writ_fleet_tick(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_boot_us();
    struct writ_err err = {0};

    if (ledger->sharing == NULL || ledger->disk.poisoned ||
        now_us - ledger->fleet.polled_us < POLL_US) {
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
    return ledger->sharing != NULL && rest_us > POLL_US ? POLL_US : rest_us;
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
