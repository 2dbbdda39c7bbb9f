/* ledger.h - the log of decisions, outcomes and seals, and the one place where a call is granted.
 *
 * One writer thread owns the ledger. Loops hand it entries; it takes what has arrived as one group,
 * commits the group with one fsync, and then calls every entry's `done`. A grant is on disk when
 * `done` runs; a group that failed leaves nothing on disk.
 *
 * What it promises:
 * - A key is granted once: two calls under one key, from any threads, before
 *   and after a crash, never both run, for as long as the claim is kept (`claim_kept_us` of the
 *   time when it was made, and at least the life of its boundary).
 * - A refusal by the ledger (duplicate, budget, sealed boundary, clock) is itself recorded, as a
 *   deny with its outcome `blocked`: the draft never stands in the log as allow.
 * - Records have contiguous indexes from 0 (`leaf`) and keep their canonical bytes, so that a tree
 *   can be built over them.
 * - A scrub verifies the whole ledger again and again beside the work. When something is not as it
 *   was written, the ledger accepts nothing more.
 * - Each group ends with a checkpoint over all records so far, signed by the ledger's key, and the
 *   next opening requires it: a ledger that was cut off, rolled back behind a pinned checkpoint, or
 *   exchanged does not open.
 * - seq is contiguous from 0 within a boundary; times of records are strictly increasing.
 * - A sealed boundary has no granted call without an outcome and takes no further record.
 * - A call that was granted and has no outcome when the ledger opens gets the outcome `error` with
 *   error_type interrupted_execution_unknown; its claim stands. A call that waits (for input, for
 *   the end of a task) keeps waiting.
 * - The rounds of one call are decisions, each of which supersedes the one before, under one claim
 *   and one booking; one of them is current, and the last has the outcome.
 * - A review changes as review.tbl.h says, each change a record of its own. A vote and the verdict
 *   that it brings are one transaction, and so are a spent approval and the call that it grants.
 * - A change that could not be written is not applied in memory either. After disk full, a lock of
 *   another process, a read-only file system or an I/O error entries fail with WRIT_E_IO and later
 *   ones are tried; after a failed fsync, a corrupt or an exchanged database the ledger accepts
 *   nothing until it is opened again.
 * - An outcome is never lost while the process lives: an outcome that could not be written is kept,
 *   its budget and claim with it, and written before any other claim is granted.
 *
 * Files: PATH (SQLite), PATH-wal, PATH-shm, and PATH-lock, which keeps a second process out. */
#ifndef WRIT_STORE_LEDGER_H
#define WRIT_STORE_LEDGER_H

#include "store/tables/entry.h"
#include "store/write/options.h"

/** An open ledger and its writer thread. */
struct writ_ledger;

/**
 * Creates an empty ledger (`writ ledger init`); the daemon never does.
 *
 * @param path    must not exist; its directory must, and be writable by its owner alone (or sticky)
 * @param origin  the name in its checkpoints and of its keys; empty: `writ-ledger/` and its id
 *
 * The file has mode 0600. Blocks. Returns
 *         WRIT_OK
 *         WRIT_E_INVALID  the path exists, the directory is open to others, or the origin is longer
 *                         than WRIT_LEDGER_ORIGIN_MAX or not a name (writ_note_check_name)
 *                         WRIT_E_IO
 */
WRIT_RESULT writ_ledger_create(const char *path, struct writ_view origin,
    const struct writ_clock *clock, struct writ_err *err);

/**
 * Creates an empty ledger on PostgreSQL, which several gateways may write (`writ ledger init`).
 *
 * @param uri     a URI of libpq (PostgreSQL manual, 34.1.1.2), without a password: the file that
 *                `passfile` names, or PGPASSWORD, has that
 * @param origin  as of writ_ledger_create
 * @param role    the role of the gateways, which gets their rights; empty: the one that creates
 *
 * Blocks. WRIT_E_INVALID also when the database has a ledger already; WRIT_E_PARSE: not a URI;
 * WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_ledger_create_shared(const char *uri, struct writ_view origin,
    struct writ_view role, const struct writ_clock *clock, struct writ_err *err);

/**
 * Opens a ledger, rebuilds the memory of the writer, gives interrupted calls their outcome and
 * starts the writer.
 *
 * @param path     an existing ledger
 * @param options  copied
 * @param ret      written only on success; close with writ_ledger_close
 *
 * With `resume` it opens although records were lost: all calls in flight, reviews and runs from
 * before the loss end, sessions are forgotten, and the loss is recorded (WRIT_FACT_RESUMED). From
 * then on, for as long as a claim from before the loss can stand, a call that claims a key is
 * refused with LEDGER_RESUMED, because the keys of the lost time are unknown. Exceptions: its key
 * is that of a session or window that began later, or its tool was released (WRIT_FACT_RELEASED,
 * with {"tool":"upstream/tool"}).
 *
 * Claims stand for as long as their records say. When the longest of `claim_kept_us` and
 * `window_kept_us` has changed, that is recorded first (WRIT_FACT_KEPT).
 *
 * On PostgreSQL it tries five times when the server ends a transaction that stood still or a
 * statement that waited.
 *
 * Blocks, in proportion to the records since the last manifest (manifest.h) and to the open
 * boundaries and calls; without a manifest, to the records of open boundaries and of the longest
 * time for which a claim can still stand.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no such file
 *         WRIT_E_INVALID   a symbolic link, not a regular file, writable by others, in a directory
 *                          that others can write to; a hard link to it, or mounted apart from its
 *                          directory; an option out of range; or no keyring with an active Ed25519
 *                          key for the ledger
 *         WRIT_E_PARSE     not a ledger, or of a newer version than this program
 *         WRIT_E_MISMATCH  its records contradict each other or its checkpoint, or it does not
 *                          contain the pinned checkpoint: see `writ ledger verify`
 *         WRIT_E_BUSY      another process has it open
 *         WRIT_E_LIMIT     more boundaries or budgets are live than the options allow
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_ledger_open(const char *path, const struct writ_ledger_options *options,
    struct writ_ledger **ret, struct writ_err *err);

/**
 * Drops the manifest (manifest.h), after a start refused it: the next start reads the records
 * instead, and writes a new one.
 *
 * Locks the file meanwhile. Blocks. WRIT_E_ABSENT, WRIT_E_INVALID, WRIT_E_PARSE, WRIT_E_BUSY,
 * WRIT_E_IO and WRIT_E_NOMEM as writ_ledger_open.
 */
WRIT_RESULT writ_ledger_rebuild(const char *path, struct writ_err *err);

/** Writes all submitted entries, stops the writer and closes. Does not write seals that still wait
 * for calls in flight: their entries end with WRIT_E_BUSY. NULL is permitted. No other thread may
 * use the ledger any more. Blocks for one group commit. */
void writ_ledger_close(struct writ_ledger *ledger);

/* ---- entries ---- */

/**
 * Hands entries over, all or none, in order. Pass all entries that came while the loop was busy: a
 * group costs one sync and one signature, whatever its size. Does not block.
 *
 * @return WRIT_OK      calls `done` once for each
 *         WRIT_E_BUSY  the queue is full; none was taken. Entries of kind OUTCOME are always taken
 */
WRIT_RESULT writ_ledger_submit(struct writ_ledger *ledger, struct writ_entry **entries, size_t n);

/** Records one fact, which belongs to no call (evidence/record/fact.h), and waits until it is on
 * disk. WRIT_E_BUSY, WRIT_E_IO, WRIT_E_LIMIT, WRIT_E_NOMEM. Not on the
 * writer's thread. */
WRIT_RESULT writ_ledger_record(struct writ_ledger *ledger, enum writ_fact_event event,
    struct writ_view data, struct writ_err *err);

/**
 * Hands over new keys. The ledger takes them: the active one signs every group that is submitted
 * later, and all of them are trusted.
 *
 * When the previous key was revoked, the new one signs for all records since the ledger was opened.
 * When the records from before that are no longer trusted, the ledger is poisoned, as it would not
 * open. One thread at a time; does not block.
 */
void writ_ledger_rekey(struct writ_ledger *ledger, struct writ_ledger_keys *keys);

/** Poisons the ledger with that reason, because something outside shows that it was changed.
 * Thread-safe; does not block. */
void writ_ledger_distrust(struct writ_ledger *ledger, const struct writ_err *why);

/** Whether a call may go upstream that was granted in that epoch (struct writ_entry_decision): this
 * gateway is still the one whose call it is. Ask right before sending. Always true where this
 * process alone writes. Thread-safe, does not block. */
bool writ_ledger_may_send(const struct writ_ledger *ledger, uint64_t epoch);

/** Whether several gateways may write this ledger. Thread-safe. */
bool writ_ledger_is_shared(const struct writ_ledger *ledger);

/** The epoch of this gateway among them; 0: it has none now, or this process alone writes.
 * Thread-safe. */
uint64_t writ_ledger_epoch(const struct writ_ledger *ledger);

/** Whether this gateway knows what the others have recorded, but for some moments: its lease lasts.
 * Always true where this process alone writes. Thread-safe. */
bool writ_ledger_is_live(const struct writ_ledger *ledger);

/** The clock of its records, where several gateways write it that of the database. Valid until the
 * ledger is closed; thread-safe. */
const struct writ_clock *writ_ledger_clock(const struct writ_ledger *ledger);

/* ---- health ---- */

/** For /metrics. False, and nothing is written, where this process alone writes. Thread-safe. */
bool writ_ledger_fleet(const struct writ_ledger *ledger, struct writ_ledger_fleet_figures *ret);

/** For /readyz and /metrics. Thread-safe, does not block on the disk. */
void writ_ledger_health(struct writ_ledger *ledger, struct writ_ledger_health *ret);

#endif
