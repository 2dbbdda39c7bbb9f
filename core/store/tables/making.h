/* making.h - a segment under construction, from claims in memory or from other segments.
 *
 * For once.h. Pure; one thread. */
#ifndef WRIT_STORE_MAKING_H
#define WRIT_STORE_MAKING_H

#include "store/tables/segment.h"

#define WRIT_MAKING_MERGE 8  /* segments that become one, at most */
#define WRIT_MAKING_SLICE 64 /* blocks that a transaction gets, at most */

/** Entries: of a segment, block by block in order, or of memory, which are sorted first. */
struct writ_making_source {
    struct writ_segment *segment; /* NULL: `entries` are all */
    uint8_t *entries;
    size_t n, at;
    size_t block; /* the next one */
};

/** A segment under construction. Zeroed: none. */
struct writ_making {
    struct writ_segment *made; /* NULL: none */
    struct writ_making_source sources[WRIT_MAKING_MERGE];
    size_t sources_n, sorted;
    size_t holds;                     /* the first claims in memory, which it takes over */
    uint8_t *bytes;                   /* blocks that are not on disk yet */
    size_t first;                     /* the number of the first of them */
    size_t ready, tail;               /* blocks; entries of the one after them */
    uint8_t last[WRIT_SEGMENT_ENTRY]; /* the entry before the next one */
    bool ended;
    size_t pieces, pieces_ready; /* its part in memory: pieces on disk; pieces to be written next */
    struct writ_digest_stream memory, memory_next; /* their digest */
};

/** The functions that making a segment needs. */
struct writ_making_means {
    /** Copies a block of a source. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
    WRIT_RESULT(*read)
    (void *ctx, const struct writ_segment *segment, size_t block, uint8_t ret[WRIT_SEGMENT_BLOCK],
        size_t *ret_len, struct writ_err *err);
    /** Whether a claim still stands: others are left out. */
    bool (*stands)(void *ctx, const struct writ_claim_facts *facts);
    void *ctx;
};

/** Begins a segment from the sources, which have `entries_max` entries at most. False when memory
 * is exhausted: `build` is zeroed then. */
bool writ_making_begin(struct writ_making *build, uint64_t id, size_t entries_max);
/** Makes blocks until there are so many, WRIT_MAKING_SLICE at most, and then pieces; or sorts a
 * part of the entries. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO: it cannot continue. */
WRIT_RESULT writ_making_blocks(const struct writ_making_means *means, struct writ_making *build,
    size_t most, struct writ_err *err);
/** Frees all but the segment, and zeroes it. */
void writ_making_wipe(struct writ_making *build);

#endif
