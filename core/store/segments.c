#include "store/segments.h"

#define PIECES (UINT64_C(1) << 23) /* number of the first piece, behind those of blocks */

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
