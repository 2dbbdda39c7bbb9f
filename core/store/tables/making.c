/* 1. A claim that is left out no longer stands: its time has passed by `last_us`, and its boundary
 * is sealed.
 * 2. Of two entries of one tag the later one counts: the earlier one no longer stood when the later
 *    one was made.
 */
#include "store/tables/making.h"

#include <stdlib.h>

#define BLOCKS_OF_PIECE                                                                            \
    (WRIT_SEGMENT_PIECE / WRIT_SEGMENT_BLOCK) /* they cost the same to write                       \
                                               */

void
writ_making_wipe(struct writ_making *build)
{
    for (size_t i = 0; i < build->sources_n; i++) {
        writ_free(build->sources[i].entries);
    }
    writ_free(build->bytes);
    *build = (struct writ_making){0};
}

bool
writ_making_begin(struct writ_making *build, uint64_t id, size_t entries_max)
{
    build->made = writ_segment_new(entries_max);
    build->bytes = writ_alloc((size_t)WRIT_MAKING_SLICE * WRIT_SEGMENT_BLOCK);
    for (size_t i = 0; i < build->sources_n; i++) {
        struct writ_making_source *source = &build->sources[i];

        if (source->segment != NULL) {
            source->entries = writ_alloc(WRIT_SEGMENT_BLOCK);
        }
        if (source->entries == NULL) {
            writ_free(build->bytes);
            build->bytes = NULL;
        }
    }
    if (build->made == NULL || build->bytes == NULL ||
        !writ_is_ok(writ_digest_stream_init(&build->memory, NULL))) {
        writ_segment_free(build->made);
        writ_making_wipe(build);
        return false;
    }
    build->made->id = id;
    build->made->id_end = id + 1;
    return true;
}

/* Sorts the entries of memory, a part in each call. False: all are sorted. */
static bool
sort_next(struct writ_making *build)
{
    while (build->sorted < build->sources_n) {
        struct writ_making_source *source = &build->sources[build->sorted++];

        if (source->segment == NULL) {
            qsort(source->entries, source->n, WRIT_SEGMENT_ENTRY, writ_segment_order);
            return true;
        }
    }
    return false;
}

/* The next block of a source. */
static WRIT_RESULT
refill(
    const struct writ_making_means *means, struct writ_making_source *source, struct writ_err *err)
{
    size_t len = 0;

    if (source->at < source->n || source->segment == NULL ||
        source->block == source->segment->blocks_n) {
        return WRIT_DONE;
    }
    WRIT_TRY(means->read(means->ctx, source->segment, source->block, source->entries, &len, err));
    source->block++;
    source->at = 0;
    source->n = len / WRIT_SEGMENT_ENTRY;
    return WRIT_DONE;
}

/* Takes the least entry of all sources; NULL: there is none. */
static WRIT_RESULT
next_entry(const struct writ_making_means *means, struct writ_making *build, const uint8_t **ret,
    struct writ_err *err)
{
    struct writ_making_source *least = NULL;

    for (size_t i = 0; i < build->sources_n; i++) {
        struct writ_making_source *source = &build->sources[i];

        WRIT_TRY(refill(means, source, err));
        if (source->at < source->n &&
            (least == NULL || writ_segment_order(source->entries + source->at * WRIT_SEGMENT_ENTRY,
                                  least->entries + least->at * WRIT_SEGMENT_ENTRY) < 0)) {
            least = source;
        }
    }
    *ret = least == NULL ? NULL : least->entries + least->at++ * WRIT_SEGMENT_ENTRY;
    return WRIT_DONE;
}

static WRIT_RESULT
end_block(struct writ_making *build, struct writ_err *err)
{
    size_t n = build->tail;

    if (n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(
        writ_segment_add(build->made, build->bytes + build->ready * WRIT_SEGMENT_BLOCK, n, err));
    build->tail = 0;
    build->ready++;
    return WRIT_DONE;
}

static WRIT_RESULT
take_entry(const struct writ_making_means *means, struct writ_making *build, const uint8_t *entry,
    struct writ_err *err)
{
    uint8_t *end =
        build->bytes + build->ready * WRIT_SEGMENT_BLOCK + build->tail * WRIT_SEGMENT_ENTRY;
    bool again = (build->first + build->ready + build->tail) > 0 &&
                 writ_segment_same(build->last, entry); /* keeps (2) */
    struct writ_claim_facts facts;

    writ_segment_read(entry, &facts);
    if (again || !means->stands(means->ctx, &facts)) { /* keeps (1) */
        return WRIT_DONE;
    }
    (void)writ_view_place(writ_view(entry, WRIT_SEGMENT_ENTRY), (char *)end);
    (void)writ_view_place(writ_view(entry, WRIT_SEGMENT_ENTRY), (char *)build->last);
    return ++build->tail == WRIT_SEGMENT_ENTRIES ? end_block(build, err) : WRIT_DONE;
}

WRIT_RESULT
writ_making_blocks(const struct writ_making_means *means, struct writ_making *build, size_t most,
    struct writ_err *err)
{
    const uint8_t *entry;

    if (sort_next(build)) {
        return WRIT_DONE;
    }
    while (!build->ended && build->ready < most) {
        WRIT_TRY(next_entry(means, build, &entry, err));
        if (entry == NULL) {
            WRIT_TRY(end_block(build, err));
            build->ended = true;
        } else {
            WRIT_TRY(take_entry(means, build, entry, err));
        }
    }
    if (build->ended) {
        size_t left = writ_segment_pieces(build->made) - build->pieces;
        size_t suits = 1 + most / BLOCKS_OF_PIECE;

        build->pieces_ready = left < suits ? left : suits;
    }
    return WRIT_DONE;
}
