/* kit.h - a ledger in its own directory, with a clock that tests move, and calls to submit. */
#ifndef WRIT_TESTS_KIT_H
#define WRIT_TESTS_KIT_H

#include "store/ledger/ledger.h"

#include <semaphore.h>
#include <stdatomic.h>

#define WRIT_KIT_WALL_US INT64_C(1782363600000000) /* 2026-06-25T05:00:00Z */
#define WRIT_KIT_S       INT64_C(1000000)

/** A ledger to try things on. */
struct writ_kit {
    char dir[64], path[96];
    _Atomic int64_t wall_us, mono_us; /* the clock's time; it moves by 1 at each reading */
    struct writ_clock clock;
    struct writ_keyring *ring;          /* one key, for the ledger */
    struct writ_ledger_options options; /* for writ_kit_open; set to defaults, clock and ring */
    struct writ_ledger *ledger;         /* NULL while closed */
    _Atomic uint64_t made;              /* decision ids */
};

/** A directory with a new ledger in it, not open. Stops the test when that fails. */
void writ_kit_init(struct writ_kit *kit);
/** As writ_kit_init, and opens it. */
void writ_kit_start(struct writ_kit *kit);
/** Closes and removes everything. */
void writ_kit_wipe(struct writ_kit *kit);
void writ_kit_open(struct writ_kit *kit);
void writ_kit_close(struct writ_kit *kit);
/** Before it is opened: claims go to the disk one by one, and manifests are written all the time.
 */
void writ_kit_hurry(struct writ_kit *kit);
/** Before it is opened: groups within milliseconds are signed together, as by a gateway. */
void writ_kit_sign_together(struct writ_kit *kit);
/** Closes it, and drops its manifest: the next start reads the records. */
void writ_kit_forget(struct writ_kit *kit);
/** Moves both clocks. */
void writ_kit_pass(struct writ_kit *kit, int64_t us);

/** What a call is made from. NULL texts get a value. */
struct writ_kit_spec {
    const char *boundary;           /* "run" */
    const char *agent;              /* "agent" */
    const char *tenant;             /* "acme" */
    const char *tool;               /* "write_file" */
    const char *argument;           /* "a" */
    const char *key;                /* NULL: the implicit key */
    enum writ_decision_route route; /* DENY unless it is set: use writ_kit_allow */
    enum writ_duplicates duplicates;
    const char *previous; /* the boundary of the window before; with it, of the one after */
    const char *next;
    int64_t previous_since_us;
    const struct writ_reservation *reservations;
    size_t reservations_n;
    bool shadow;
};

/** A budget of 9 calls an hour, of which a call takes one. */
struct writ_reservation writ_kit_budget(void);

/** One call from its draft to its outcome. Free with writ_kit_call_free. */
struct writ_kit_call {
    struct writ_arena *arena;
    struct writ_decision decision;
    struct writ_outcome outcome;
    struct writ_entry entry; /* of the decision, then of the outcome */
    uint64_t leaf;           /* of the decision */
    sem_t done;
};

/** A draft, and its entry, ready to be submitted. */
struct writ_kit_call *writ_kit_call(struct writ_kit *kit, struct writ_kit_spec spec);
void writ_kit_call_free(struct writ_kit_call *call);
void writ_kit_call_freep(struct writ_kit_call **call);

/** Submits and waits for `done`. */
enum writ_code writ_kit_decide(struct writ_kit *kit, struct writ_kit_call *call);
/** Prepares the outcome of a granted call; `error_type` NULL for none. */
void writ_kit_outcome(
    struct writ_kit_call *call, enum writ_outcome_kind kind, const char *error_type);
/** Prepares the outcome, submits it and waits. */
enum writ_code writ_kit_end(struct writ_kit *kit, struct writ_kit_call *call,
    enum writ_outcome_kind kind, const char *error_type);

/** A draft that is allowed, decided; the call must be granted. */
struct writ_kit_call *writ_kit_granted(struct writ_kit *kit, struct writ_kit_spec spec);
/** Decides a call that must be refused by the ledger for that reason. */
void writ_kit_refused(struct writ_kit *kit, struct writ_kit_spec spec, enum writ_reason reason);
/** Grants and executes a call. */
void writ_kit_run(struct writ_kit *kit, struct writ_kit_spec spec);
/** Two boundaries, "one" sealed and "two" not: 0 allow, 1 executed, 2 allow, 3 timeout, 4 seal,
 * 5 deny, 6 blocked, 7 allow with a stated key, of that agent (NULL: of the same), 8 not sent,
 * 9 allow, in flight. */
void writ_kit_two_runs(struct writ_kit *kit, const char *agent);

/** Lets a granted call wait for input under a name, as long as that is good. */
enum writ_code writ_kit_wait(struct writ_kit *kit, struct writ_kit_call *call,
    enum writ_wait_kind kind, struct writ_digest name, int64_t for_us);
/** Looks for what waits under a name; ret may be NULL. */
enum writ_code writ_kit_waiting(
    struct writ_kit *kit, struct writ_digest name, struct writ_entry_waiting *ret);
/** An allowed draft that continues `before`, not decided yet. */
struct writ_kit_call *writ_kit_round(
    struct writ_kit *kit, const struct writ_kit_call *before, struct writ_kit_spec spec);

/** Submits any entry and waits. Its done and user are set here. */
enum writ_code writ_kit_submit(struct writ_kit *kit, struct writ_entry *entry);
/** Seals a boundary of tenant "acme". */
enum writ_code writ_kit_seal(struct writ_kit *kit, const char *boundary, uint64_t *ret_total);
/** Makes the writer read the clock, and waits until it has. */
void writ_kit_turn(struct writ_kit *kit);
struct writ_ledger_health writ_kit_health(struct writ_kit *kit);

/** The root of the tree over the first `size` records of the ledger. */
struct writ_digest writ_kit_root(struct writ_kit *kit, uint64_t size);

/** One number from the database, through a separate connection. */
int64_t writ_kit_number(struct writ_kit *kit, const char *sql);
/** Runs statements on the database. */
void writ_kit_sql(struct writ_kit *kit, const char *sql);

#endif
