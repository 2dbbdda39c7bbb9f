/* scrub.h - verifies the whole ledger, over and over, beside the writer (verify.h).
 *
 * A thread with a connection of its own that reads. It works a twentieth of the time, so that it
 * delays no call; a fault poisons the ledger, and the writer refuses from then on. */
#ifndef WRIT_STORE_SCRUB_H
#define WRIT_STORE_SCRUB_H

#include "evidence/jose/keyring.h"

#define WRIT_SCRUB_FIRST_US                                                                        \
    (INT64_C(600) * 1000000) /* from the start to the first pass, at most                          \
                              */
#define WRIT_SCRUB_REST 19   /* it rests this many times as long as it worked */
#define WRIT_SCRUB_FAILS                                                                           \
    3 /* passes that failed in a row: an unknown state is as bad as a fault                        \
       */

struct writ_scrub;

/** Starts the thread. `path` is copied, every ring outlives it; a pass begins every `every_us`, or
 * when the one before has ended. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_scrub_start(const char *path, const struct writ_keyring *ring, int64_t every_us,
    struct writ_scrub **ret, struct writ_err *err);
/** These keys are trusted from the next pass on. */
void writ_scrub_rekey(struct writ_scrub *scrub, const struct writ_keyring *ring);
/** Ends it, also during a pass. NULL is permitted. */
void writ_scrub_stop(struct writ_scrub *scrub);

struct writ_scrub_state {
    bool found;      /* something is not as it was written, or cannot be read */
    uint64_t passes; /* that found nothing */
};

/** The progress. Thread-safe. `err` gets the finding. */
struct writ_scrub_state writ_scrub_look(struct writ_scrub *scrub, struct writ_err *err);

#endif
