/* fleet_turn.h - the turns of a gateway in its fleet: what the parts of fleet.h share. fleet_turn.c
 * takes a turn, fleet_commit.c writes it and learns whether it was committed. All other code uses
 * turn.h in core/store/write.
 *
 * Invariants
 * (1) `fleet.epoch`, `turn` and `changes` are what the last committed turn of this gateway, or its
 *     last look in a turn, says.
 * (2) A gateway in its turn knows all changes: `changes` is exact when it commits.
 * (3) The lease of the memory ends before that of the row: it counts from before the turn was asked
 *     for, on a clock that goes on while the machine sleeps. */
#ifndef WRIT_STORE_FLEET_TURN_H
#define WRIT_STORE_FLEET_TURN_H

#include "store/write/store.h"

#define WRIT_FLEET_POLL_US INT64_C(200000) /* between looks at what others wrote */

/** The row of the coordinator, and that of an epoch beside it. */
struct writ_fleet_coordinator {
    uint64_t size, changes, waits, turn;
    struct writ_digest root; /* of the tree; size 0: none */
    bool rooted, live;
};

/* Each function that fails can return WRIT_E_IO, WRIT_E_BUSY and WRIT_E_NOMEM. */

/* ---- fleet_turn.c ---- */

/** Reads the coordinator, and takes the clock of the database. Also WRIT_E_MISMATCH: there is no
 * such row. */
WRIT_RESULT writ_fleet_turn_see(struct writ_ledger *ledger, uint64_t epoch,
    struct writ_fleet_coordinator *ret, struct writ_err *err);
/** Checks what a server that was just connected to promises, and names the connection. */
WRIT_RESULT writ_fleet_turn_check_server(struct writ_ledger *ledger, struct writ_err *err);
/** A lost connection is made again from time to time; entries meanwhile are refused at once. */
WRIT_RESULT writ_fleet_turn_connect(struct writ_ledger *ledger, struct writ_err *err);

/** Begins a transaction and waits for the turn. What others wrote comes in the same round trip, if
 * there are any. As writ_fleet_turn_see. */
WRIT_RESULT writ_fleet_turn_lock(struct writ_ledger *ledger, uint64_t epoch,
    struct writ_fleet_coordinator *ret, struct writ_err *err);
/** As writ_fleet_turn_lock; a gateway that is far behind gives the turn back first, and catches up
 * outside of it. Also the errors of writ_fleet_turn_look. */
WRIT_RESULT writ_fleet_turn_lock_near(struct writ_ledger *ledger, uint64_t epoch,
    struct writ_fleet_coordinator *ret, struct writ_err *err);
/** In the transaction of a turn or a look: takes what others wrote, up to `seen`, into the memory.
 * Also WRIT_E_MISMATCH: the database has lost records, or has other ones; and as writ_catch_up. */
WRIT_RESULT writ_fleet_turn_catch_up(
    struct writ_ledger *ledger, const struct writ_fleet_coordinator *seen, struct writ_err *err);
/** Outside of a turn: takes what others have written until now, while they go on. As
 * writ_fleet_turn_heed. */
WRIT_RESULT writ_fleet_turn_look(struct writ_ledger *ledger, struct writ_err *err);
/** Leaves the turn, after `result`, and returns that. After a failure that no later try can repair
 * the gateway writes nothing more, and this returns WRIT_E_IO. */
WRIT_RESULT writ_fleet_turn_heed(
    struct writ_ledger *ledger, writ_result result, struct writ_err *err);

/* ---- fleet_commit.c ---- */

/** As `write` of struct writ_sharing: claims, the coordinator, the lease. */
WRIT_RESULT writ_fleet_turn_write(struct writ_ledger *ledger, struct writ_err *err);
/** Counts a turn that was committed; its lease lasts from when it was asked for. */
void writ_fleet_turn_count(struct writ_ledger *ledger);
/** No turn for a long time: perhaps the database gave none to any gateway. The others, too, get the
 * time to extend their leases. */
void writ_fleet_turn_note_rest(struct writ_ledger *ledger);
/** As `ended` of struct writ_sharing: when the answer to the commit was lost, asks what became of
 * it. */
WRIT_RESULT writ_fleet_turn_ended(
    struct writ_ledger *ledger, writ_result result, struct writ_err *err);

#endif
