/* seen.h - how often something was seen: in how many calls, and whether in more than one run. Also
 * the distinct values of one place, up to a number that bounds the memory; values beyond it are
 * counted.
 *
 * A run is what the ledger calls a boundary. Calls of one run resemble each other, so a value that
 * only one run has says how probable it is that the next run has a new one (Good and Turing's
 * estimate, run by run): its calls would have been refused if the policy had been learned from the
 * other runs alone. That number of calls is the cost of a step. */
#ifndef WRIT_POLICY_SEEN_H
#define WRIT_POLICY_SEEN_H

#include "evidence/json/json.h"

/** The call in which something is seen. */
struct writ_seen_in {
    uint64_t call, run;        /* from 1; a digest of the name of the run */
    struct writ_view decision; /* borrowed for the call; copied when something new is seen */
    bool kept;                 /* `decision` is in the arena */
    struct writ_arena *arena;
};

/** How often one thing was seen. Zeroed: never. */
struct writ_sighting {
    uint64_t calls, last, run;
    bool many;                 /* in more than one run */
    struct writ_view decision; /* of the first call */
};

/** Counts a call, once however often the thing is in it. WRIT_E_NOMEM. */
WRIT_RESULT writ_seen_sight(struct writ_sighting *sighting, struct writ_seen_in *in);

/** The calls that would have been refused if what they have had not been seen in another run
 * (`by_run`), or in another call. */
uint64_t writ_seen_sighting_cost(const struct writ_sighting *sighting, bool by_run);

/** One distinct value. */
struct writ_seen_value {
    uint64_t key[2];
    struct writ_view text; /* ptr NULL: too long to be kept */
    enum writ_json_type type;
    bool ends; /* of paths: a path ends here */
    struct writ_sighting seen;
};

struct writ_seen {
    size_t most, text_max;         /* values; bytes of one that is kept */
    struct writ_seen_value *items; /* in the order in which they were first seen */
    size_t n, cap;
    uint32_t *slots; /* open addressing: index + 1; a power of two of them */
    size_t slots_n;
    uint64_t beyond; /* calls with a value that found no room */
};

/** Adds a value. `ret` (may be NULL) gets its entry, NULL when there is no room for a new one.
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_seen_add(struct writ_seen *seen, struct writ_view text, enum writ_json_type type,
    struct writ_seen_in *in, struct writ_seen_value **ret);

/** The cost of a list of all values. */
uint64_t writ_seen_cost(const struct writ_seen *seen, bool by_run);

/** True when every value is there, and short enough to be written down. */
bool writ_seen_is_listed(const struct writ_seen *seen, size_t most);

#endif
