/* A segment is in exactly one place: on the list, among those to be deleted, or under construction.
 * It is freed when its rows are deleted. */
#include "store/tables/segments.h"

#define PIECES (UINT64_C(1) << 23) /* number of the first piece, after those of blocks */

uint64_t
writ_segments_block_row(const struct writ_segment *segment, size_t block)
{
    return segment->id << WRIT_SEGMENTS_BLOCK_BITS | block;
}

uint64_t
writ_segments_piece_row(const struct writ_segment *segment, size_t piece)
{
    return segment->id << WRIT_SEGMENTS_BLOCK_BITS | PIECES | piece;
}

static void
list_wipe(struct writ_segment *list)
{
    while (list != NULL) {
        struct writ_segment *next = list->next;

        writ_segment_free(list);
        list = next;
    }
}

void
writ_segments_wipe(struct writ_segments *segments)
{
    writ_segment_free(segments->flush.made);
    writ_segment_free(segments->merge.made);
    writ_making_wipe(&segments->flush);
    writ_making_wipe(&segments->merge);
    list_wipe(segments->list);
    list_wipe(segments->gone);
    *segments = (struct writ_segments){0};
}

void
writ_segments_discard(struct writ_segments *segments, struct writ_segment *segment)
{
    struct writ_segment **end = &segments->gone;

    writ_segment_shed(segment);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    segment->next = NULL;
    *end = segment;
}

void
writ_segments_drop(struct writ_segments *segments, struct writ_segment *segment)
{
    struct writ_segment **at = &segments->list;

    while (*at != segment) {
        at = &(*at)->next;
    }
    *at = segment->next;
    segments->entries -= segment->entries;
    writ_segments_discard(segments, segment);
}

void
writ_segments_add(
    struct writ_segments *segments, struct writ_segment *made, const struct writ_segment *next)
{
    struct writ_segment **at = &segments->list;

    while (*at != next) {
        at = &(*at)->next;
    }
    made->next = *at;
    *at = made;
    segments->entries += made->entries;
}

void
writ_segments_dropped(struct writ_segments *segments)
{
    struct writ_segment **at = &segments->gone;

    while (*at != segments->dropping) {
        at = &(*at)->next;
    }
    *at = segments->dropping->next;
    writ_segment_free(segments->dropping);
}

/* ---- for the next start ---- */

void
writ_segments_put(const struct writ_segments *segments, struct writ_buf *buf)
{
    size_t n = 0;

    for (const struct writ_segment *at = segments->list; at != NULL; at = at->next) {
        n++;
    }
    writ_packed_put_number(buf, n);
    for (const struct writ_segment *at = segments->list; at != NULL; at = at->next) {
        writ_packed_put_number(buf, at->id);
        writ_packed_put_number(buf, at->level);
        writ_packed_put_number(buf, at->entries);
        writ_packed_put_number(buf, at->lines);
        writ_packed_put_number(buf, (uint64_t)at->oldest_us);
        writ_packed_put_number(buf, (uint64_t)at->newest_us);
        writ_packed_put_number(buf, (uint64_t)at->due_us);
        writ_packed_put_number(buf, at->boundary_most);
        writ_packed_put_digest(buf, &at->memory);
    }
}

static WRIT_RESULT
read_one(struct writ_packed *packed, struct writ_segment **ret, struct writ_err *err)
{
    uint64_t id = writ_packed_number(packed), level = writ_packed_number(packed);
    uint64_t entries = writ_packed_number(packed), lines = writ_packed_number(packed);
    struct writ_segment *segment;

    WRIT_TRY(writ_packed_check(packed, err));
    segment = writ_segment_restore((size_t)entries, (size_t)lines);
    if (segment == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the segments of the ledger");
    }
    segment->id = id;
    segment->level = (size_t)level;
    segment->oldest_us = writ_packed_time(packed);
    segment->newest_us = writ_packed_time(packed);
    segment->due_us = writ_packed_time(packed);
    segment->boundary_most = writ_packed_number(packed);
    (void)writ_view_place(
        writ_packed_bytes(packed, WRIT_DIGEST_BYTES), (char *)segment->memory.bytes);
    *ret = segment;
    return WRIT_DONE;
}

WRIT_RESULT
writ_segments_read(struct writ_packed *packed,
    WRIT_RESULT (*each)(void *ctx, struct writ_segment *segment), void *ctx, struct writ_err *err)
{
    uint64_t n = writ_packed_number(packed);

    for (uint64_t i = 0; i < n; i++) {
        struct writ_segment *segment = NULL;

        WRIT_TRY(read_one(packed, &segment, err));
        WRIT_TRY(each(ctx, segment));
    }
    return writ_packed_check(packed, err);
}
