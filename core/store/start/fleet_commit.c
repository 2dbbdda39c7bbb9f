/* fleet_commit.c - writes a turn for the other gateways, and learns whether it was committed. Both
 * are in one file, and nothing else is, because claims at most once depend on them: the row of each
 * claim, and the question after a lost answer. */
#include "store/start/fleet_turn.h"

#include "store/write/turn.h"

#include <time.h>

#define NS_PER_US      1000
#define LEASE_WAITS    2   /* for that part of a lease an end is asked for, and others get time */
#define CLAIMS_AT_ONCE 256 /* rows of claims, added by one statement */

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

WRIT_RESULT
writ_fleet_turn_write(struct writ_ledger *ledger, struct writ_err *err)
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

void
writ_fleet_turn_note_rest(struct writ_ledger *ledger)
{
    int64_t now_us = writ_clock_boot_us(), part_us = ledger->options.lease_us / LEASE_WAITS;

    if (now_us - ledger->fleet.renewed_us >= part_us) {
        ledger->fleet.patient_us = now_us + part_us;
    }
}

void
writ_fleet_turn_count(struct writ_ledger *ledger)
{
    struct writ_ledger_fleet *fleet = &ledger->fleet;

    writ_fleet_turn_note_rest(ledger);
    fleet->turn++;
    fleet->changes++; /* keeps (2) of fleet_turn.h */
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
    struct writ_fleet_coordinator seen;
    writ_result result = writ_fleet_turn_connect(ledger, err);

    if (writ_is_ok(result)) {
        result = writ_fleet_turn_lock(ledger, ledger->fleet.epoch, &seen, err);
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
        (void)nanosleep(&(struct timespec){.tv_nsec = WRIT_FLEET_POLL_US * NS_PER_US}, NULL);
    } while (writ_clock_boot_us() < until_us);
    WRIT_FAIL(err, WRIT_E_IO,
        "the connection to the database was lost during a commit, and what became of it cannot be "
        "found out now: nothing of it is forwarded");
}

WRIT_RESULT
writ_fleet_turn_ended(struct writ_ledger *ledger, writ_result result, struct writ_err *err)
{
    if (!writ_is_ok(result) && ledger->disk.unknown && ledger->fleet.epoch != 0) {
        ledger->fleet.figures.unknown++;
        result = learn_end(ledger, result, err);
    }
    if (writ_is_ok(result)) {
        writ_fleet_turn_count(ledger);
    }
    return result;
}
