/* segment.h - claims of calls that have their outcome, on disk: entries sorted by tag, in blocks of
 * a page each; in memory a filter, and the digest of each block. These two are written to the disk
 * after the blocks, in pieces, and the next start reads them back.
 *
 * Each claim has two entries, one under its key and one under its intent, each with all facts of
 * the claim. A segment does not change. Nothing here touches the disk: once.h does.
 *
 * One thread. */
#ifndef WRIT_STORE_SEGMENT_H
#define WRIT_STORE_SEGMENT_H

#include "store/tables/claims.h"

#define WRIT_SEGMENT_ENTRY   64 /* bytes */
#define WRIT_SEGMENT_ENTRIES 63 /* of a block: as many as a row has on one page of 4096 bytes */
#define WRIT_SEGMENT_BLOCK   (WRIT_SEGMENT_ENTRY * WRIT_SEGMENT_ENTRIES)
#define WRIT_SEGMENT_PIECE   40960 /* bytes, at most */

enum writ_segment_kind {
    WRIT_SEGMENT_KEY = 0,
    WRIT_SEGMENT_INTENT,
};

/** Writes an entry; reads the claim of an entry. */
void writ_segment_put(enum writ_segment_kind kind, struct writ_tag tag,
    const struct writ_claim_facts *facts, uint8_t ret[WRIT_SEGMENT_ENTRY]);
void writ_segment_read(const uint8_t entry[WRIT_SEGMENT_ENTRY], struct writ_claim_facts *ret);

/** The order of entries: by tag, then kind, then the latest one first. */
int writ_segment_order(const void *a, const void *b);
/** Whether both are of the same tag and kind. */
bool writ_segment_same(const uint8_t a[WRIT_SEGMENT_ENTRY], const uint8_t b[WRIT_SEGMENT_ENTRY]);

struct writ_segment_block {
    uint64_t first; /* the upper half of its first tag */
    struct writ_digest digest;
};

/** One segment. */
struct writ_segment {
    struct writ_segment *next; /* its owner's */
    uint64_t id;
    uint64_t id_end; /* its owner's: rows up to that id are deleted with its own */
    uint64_t named;  /* for the owner: the last manifest that names it; 0: none */
    size_t level;    /* how often its entries were merged */
    size_t entries, blocks_n, blocks_max;
    struct writ_segment_block *blocks;
    uint64_t *filter;
    size_t lines;                 /* of the filter, 64 bytes each */
    int64_t oldest_us, newest_us; /* times at which its claims were made */
    int64_t due_us;               /* from this time on it may have no claim left that stands */
    uint64_t boundary_most;       /* the newest boundary among its entries */
    struct writ_digest memory;    /* of its pieces, once they are on disk */
};

/** A new segment for up to `entries_max` entries in full blocks. NULL when memory is exhausted. */
struct writ_segment *writ_segment_new(size_t entries_max);
/** A segment with `entries` entries and a filter of so many lines, which takes its pieces next.
 * NULL when memory is exhausted, or for no entries. */
struct writ_segment *writ_segment_restore(size_t entries, size_t lines);
/** Frees the parts that no lookup needs, when its rows are about to be deleted. */
void writ_segment_shed(struct writ_segment *segment);
/** NULL is permitted. */
void writ_segment_free(struct writ_segment *segment);

/** Adds the next block: `n` entries in their order. WRIT_E_CRYPTO. */
WRIT_RESULT writ_segment_add(
    struct writ_segment *segment, const uint8_t *entries, size_t n, struct writ_err *err);

/** The number of pieces for the digests of its blocks and its filter. */
size_t writ_segment_pieces(const struct writ_segment *segment);
/** Writes a piece, and gives its length. */
size_t writ_segment_put_piece(
    const struct writ_segment *segment, size_t piece, uint8_t ret[WRIT_SEGMENT_PIECE]);
/** Restores a piece. False: its length is wrong. */
bool writ_segment_take_piece(struct writ_segment *segment, size_t piece, struct writ_view bytes);

/** False: the segment has no entry of that tag. */
bool writ_segment_may_have(const struct writ_segment *segment, struct writ_tag tag);
/** The first block that can have the tag; later ones can as long as writ_segment_goes_on. */
size_t writ_segment_seek(const struct writ_segment *segment, struct writ_tag tag);
bool writ_segment_goes_on(const struct writ_segment *segment, struct writ_tag tag, size_t block);
/** Checks that the bytes are those of the block. WRIT_E_MISMATCH: they are not; WRIT_E_CRYPTO. */
WRIT_RESULT writ_segment_check(
    const struct writ_segment *segment, size_t block, struct writ_view bytes, struct writ_err *err);
/** The entry in a block, or NULL. */
const uint8_t *writ_segment_search(
    struct writ_view bytes, enum writ_segment_kind kind, struct writ_tag tag);

#endif
