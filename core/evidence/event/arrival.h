/* arrival.h - checks the events that a receiver has kept, in any format and any order, some of them
 * several times: that no record is missing, and that they are those of the ledger.
 *
 * An event has the index of its record, the hash of its leaf, and a signed checkpoint that covers
 * it. Indexes without a gap up to the newest checkpoint show that nothing is missing; the tree over
 * the hashes must have the root of every checkpoint, so that no event was exchanged. Events from an
 * index on, without those before, show only the first. The plain form has the record too, from
 * which the hash is computed again.
 *
 * Memory: 33 bytes for each record, and 40 for each checkpoint. One thread; nothing blocks. */
#ifndef WRIT_EVIDENCE_ARRIVAL_H
#define WRIT_EVIDENCE_ARRIVAL_H

#include "evidence/log/checkpoint.h"

#define WRIT_ARRIVAL_LINE_MAX ((size_t)8 << 20)
#define WRIT_ARRIVAL_LEAF_MAX (UINT64_C(1) << 26)

struct writ_arrival;

/** What a check may rely on. Borrowed until free. */
struct writ_arrival_options {
    const struct writ_note_key *const *keys; /* of the ledger; at least one */
    size_t keys_n;
    uint64_t from; /* the first index that was exported */
};

struct writ_arrival_report {
    uint64_t events, repeats; /* lines with an event; those of them that came before */
    uint64_t from, size;      /* records from .. size - 1 must be there: the newest checkpoint */
    uint64_t missing;         /* of these */
    uint64_t first_missing;   /* meaningless when none is */
    uint64_t checkpoints;     /* different ones, each signed */
    bool tree;                /* each has the root of the tree over the events */
};

/** `ret` is new, free with writ_arrival_free; written only on success. WRIT_E_NOMEM. */
WRIT_RESULT writ_arrival_new(
    const struct writ_arrival_options *options, struct writ_arrival **ret, struct writ_err *err);
void writ_arrival_free(struct writ_arrival *arrival);

/** Takes one line; an empty one is skipped. The event may have other text before it, such as the
 * header of a syslog message. WRIT_E_MISMATCH: not an event; its checkpoint is not signed by a key,
 * or of another ledger than the first; another event has the same index and another hash.
 * WRIT_E_LIMIT: an index of WRIT_ARRIVAL_LEAF_MAX or above; WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_arrival_line(
    struct writ_arrival *arrival, struct writ_view line, struct writ_err *err);

/** Takes a checkpoint from elsewhere, which the events must reach. As writ_arrival_line. */
WRIT_RESULT writ_arrival_checkpoint(
    struct writ_arrival *arrival, struct writ_view note, struct writ_err *err);

/** Judges all of them. `ret` is written also when records are missing: then ret->missing is above
 * 0. WRIT_E_MISMATCH: the tree over the events has not the root of a checkpoint; WRIT_E_CRYPTO. */
WRIT_RESULT writ_arrival_end(
    struct writ_arrival *arrival, struct writ_arrival_report *ret, struct writ_err *err);

#endif
