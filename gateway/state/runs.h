/* runs.h - what runs have seen (evidence/flow/run.h), for all loops: in memory, made from the
 * records of the ledger when a run is first asked about, and kept up with what this gateway
 * records, or, where several gateways write the ledger, with the records since the last look.
 *
 * Bounded: the runs that were used longest ago are forgotten, and made again when they are needed.
 * Any thread; a state is used under its own lock. */
#ifndef WRIT_GATEWAY_RUNS_H
#define WRIT_GATEWAY_RUNS_H

#include "evidence/flow/run.h"
#include "store/read/reader.h"

#include <pthread.h>

#define WRIT_RUNS_MAX       65536               /* states */
#define WRIT_RUNS_BYTES_MAX ((size_t)256 << 20) /* bytes of all */

struct writ_runs;

/** One that waits while another one reads the state. */
struct writ_run_waiter {
    void (*wake)(struct writ_run_waiter *waiter); /* any thread */
    bool failed;                                  /* it could not be read */
    struct writ_run_waiter *next;
};

/** The state of one run. Use everything but `node` under `lock` only. */
struct writ_run_state {
    pthread_mutex_t lock;
    struct writ_run *run;            /* NULL: not made yet, or it must be made again */
    uint64_t records;                /* grows with each record that this gateway adds to the run */
    uint64_t until;                  /* of a shared ledger: `run` has all records before it */
    char key[WRIT_MARK_KEY_ID + 1];  /* of a shared ledger: the key of `run` */
    bool reading;                    /* one reads it for all */
    struct writ_run_waiter *waiting; /* meanwhile */
    struct writ_runs_node *node;     /* for runs.c alone */
};

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_runs_new(struct writ_runs **ret, struct writ_err *err);
void writ_runs_free(struct writ_runs *runs);

/** The state of a run, held: drop it. WRIT_E_LIMIT (all are held), WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_runs_hold(struct writ_runs *runs, struct writ_view tenant, struct writ_view name,
    struct writ_run_state **ret, struct writ_err *err);
void writ_runs_drop(struct writ_runs *runs, struct writ_run_state *state);

/**
 * Makes the state of a run from its records. Blocks on the disk. A run that never had a record is
 * empty; of one whose first records were removed nothing can be said.
 *
 * WRIT_E_LIMIT, WRIT_E_MISMATCH, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM: it cannot be said.
 */
WRIT_RESULT writ_runs_read(struct writ_reader *reader, struct writ_view tenant,
    struct writ_view name, const struct writ_mark_key *key, struct writ_run **ret,
    struct writ_err *err);

/**
 * Brings the state of a run on a shared ledger up to the records that the ledger has now. Blocks on
 * the disk; takes the lock of the state, and not while it reads. Any thread.
 *
 * As writ_runs_read; then the state is not made, unless another thread has brought it further.
 */
WRIT_RESULT writ_runs_follow(struct writ_reader *reader, struct writ_run_state *state,
    struct writ_view tenant, struct writ_view name, const struct writ_mark_key *key,
    struct writ_err *err);

/** A record of the run is not added to its state: what is in memory must be made again. Does
 * nothing for a run without a state. */
void writ_runs_forget(struct writ_runs *runs, struct writ_view tenant, struct writ_view name);

#endif
