/* segments.h - the segments of a ledger (segment.h): those that lookups search, those whose rows
 * are to be deleted, and the two under construction.
 *
 * Nothing here touches the disk: once.h does. One thread. */
#ifndef WRIT_STORE_SEGMENTS_H
#define WRIT_STORE_SEGMENTS_H

#include "store/tables/making.h"
#include "store/tables/packed.h"

/** Zeroed: there are none. */
struct writ_segments {
    struct writ_segment *list;       /* from the oldest */
    struct writ_segment *gone;       /* whose rows are to be deleted */
    struct writ_segment *dropping;   /* the one whose rows the transaction deletes */
    bool dropped;                    /* and has deleted all of them */
    struct writ_making flush, merge; /* separate, because a merge may take long and memory cannot
                                        wait for it */
    uint64_t next_id;
    size_t entries; /* of all segments */
};

/** Frees everything. */
void writ_segments_wipe(struct writ_segments *segments);

/** Adds a segment that is on disk to the list: before `next`, NULL: at the end. */
void writ_segments_add(
    struct writ_segments *segments, struct writ_segment *made, const struct writ_segment *next);
/** Takes a segment off the list: its rows are to be deleted. */
void writ_segments_drop(struct writ_segments *segments, struct writ_segment *segment);
/** As writ_segments_drop, for one that is not on the list yet. */
void writ_segments_discard(struct writ_segments *segments, struct writ_segment *segment);
/** The rows of `dropping` are deleted: frees it. */
void writ_segments_dropped(struct writ_segments *segments);

#define WRIT_SEGMENTS_BLOCK_BITS                                                                   \
    24 /* of a row's number: the block's; the rest is the segment's                                \
        */
/** The rows that a block and a piece of a segment lie in. */
uint64_t writ_segments_block_row(const struct writ_segment *segment, size_t block);
uint64_t writ_segments_piece_row(const struct writ_segment *segment, size_t piece);

/** Appends the list for the next start, without the pieces. A failure stays in the buffer. */
void writ_segments_put(const struct writ_segments *segments, struct writ_buf *buf);
/** Reads what writ_segments_put wrote, and gives each segment to `each`, which takes it also when
 * it fails. The failure of `each`, and WRIT_E_MISMATCH, WRIT_E_NOMEM. */
WRIT_RESULT writ_segments_read(struct writ_packed *packed,
    WRIT_RESULT (*each)(void *ctx, struct writ_segment *segment), void *ctx, struct writ_err *err);

#endif
