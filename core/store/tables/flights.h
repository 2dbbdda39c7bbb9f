/* flights.h - the granted calls without an outcome, in the memory of the writer. One thread. */
#ifndef WRIT_STORE_FLIGHTS_H
#define WRIT_STORE_FLIGHTS_H

#include "store/tables/boundaries.h"
#include "store/tables/budgets.h"
#include "store/tables/claims.h"

struct writ_wait;

/** One granted call. */
struct writ_flight {
    struct writ_map_node by_leaf;
    struct writ_boundary *boundary;
    struct writ_hold *hold; /* NULL: a call without a claim */
    struct writ_wait *wait; /* NULL: its upstream has not answered yet */
    uint64_t leaf;          /* of its decision */
    uint64_t owner;         /* the epoch of the gateway that makes the call (fleet.h); 0: this
                               process alone writes, or no gateway makes it */
    bool ending;            /* its outcome is on the way to the disk */
    bool erased;            /* an erase selected it: its result is not kept */
    struct writ_booking bookings[WRIT_RESERVATIONS_MAX];
    size_t bookings_n;
    struct writ_view decision_id; /* in `text` */
    struct writ_view intent_ref;  /* in `text`; ptr NULL: an earlier process granted it */
    char text[];
};

/** Adds a granted call, counted in its boundary; the caller sets hold and bookings. NULL when
 * memory is exhausted. */
struct writ_flight *writ_flights_add(struct writ_map *flights, struct writ_boundary *boundary,
    uint64_t leaf, struct writ_view decision_id, struct writ_view intent_ref);
struct writ_flight *writ_flights_find(const struct writ_map *flights, uint64_t leaf);
/** Calls `see` for each until one fails, and gives its result; it adds and removes none. */
WRIT_RESULT writ_flights_each(const struct writ_map *flights,
    writ_result (*see)(void *ctx, struct writ_flight *flight), void *ctx);
/** Ends its bookings and frees it. */
void writ_flights_remove(struct writ_map *flights, struct writ_flight *flight);
/** Frees all, and the map. */
void writ_flights_wipe(struct writ_map *flights);

#endif
