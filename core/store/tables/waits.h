/* waits.h - granted calls whose upstream has answered without ending them: they wait for the
 * client's input, or for the end of a task. Also calls that their caller makes itself: they wait to
 * be bound, and then for their outcome.
 *
 * A wait is found by its name, a digest of values that the caller must present; it has a row, so
 * that it survives a restart. A call that waits is in flight, its claim stands and its budgets are
 * booked. The decision that follows it takes its place (grant.c); its outcome ends it (ending.c).
 * When its time has passed, it gets an outcome with that reason. A task is remembered after its
 * outcome, until its time has passed: its caller still fetches the result.
 *
 * 1. A wait is in the table when its row is on disk, and out of it while a group removes it.
 * 2. A wait without a flight is a task that has its outcome.
 *
 * Memory is bounded: a table that is full takes no further wait. One thread. */
#ifndef WRIT_STORE_WAITS_H
#define WRIT_STORE_WAITS_H

#include "store/tables/entry.h"
#include "store/tables/flights.h"

/** One call that waits. */
struct writ_wait {
    struct writ_map_node by_name;
    struct writ_wait *next, *prev; /* all in the table, in a ring */
    struct writ_flight *flight;    /* keeps (2) */
    uint64_t leaf;                 /* of the decision */
    enum writ_wait_kind kind;
    int64_t until_us;    /* wall time */
    struct writ_tag key; /* of its idempotency key, once it was read */
    bool keyed;
};

struct writ_waits {
    struct writ_map by_name;
    size_t most, made; /* made: also those that are not in the table (1) */
    struct writ_wait *ring;
};

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_waits_init(struct writ_waits *ret, size_t most, struct writ_err *err);
/** Frees all. A zeroed table is fine. */
void writ_waits_wipe(struct writ_waits *waits);

/** Puts a row of the disk into the table: `flight` NULL for a call that is not in flight.
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_waits_load(struct writ_waits *waits, struct writ_tag name, uint64_t leaf,
    enum writ_wait_kind kind, int64_t until_us, struct writ_flight *flight, struct writ_err *err);

/** Removes a wait from the table; writ_waits_put_back undoes that, writ_waits_free ends it. */
void writ_waits_take(struct writ_waits *waits, struct writ_wait *wait);
void writ_waits_put_back(struct writ_waits *waits, struct writ_wait *wait);
void writ_waits_free(struct writ_waits *waits, struct writ_wait *wait);

/** Makes a wait that is not in the table yet: writ_waits_put_back adds it. WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_waits_make(
    struct writ_waits *waits, struct writ_tag name, struct writ_wait **ret, struct writ_err *err);

/** Ends the wait of a flight, if any, when the outcome is on disk; a task's wait stays. */
void writ_waits_end(struct writ_waits *waits, struct writ_flight *flight);

#endif
