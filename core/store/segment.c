/* An entry, numbers with their highest byte first: tag 16, kind 1, leaf inverted 8 (so that bytes
 * compare as entries do), outcome 1, interrupted 1, none 1, call 16, boundary 8, made_us 8, kept 4
 * in seconds. */
#include "store/segment.h"

#define US_PER_S INT64_C(1000000)

#define AT_KIND        16
#define AT_LEAF        17
#define AT_OUTCOME     25
#define AT_INTERRUPTED 26
#define AT_CALL        28
#define AT_BOUNDARY    44
#define AT_MADE        52
#define AT_KEPT        60

/* The filter: of each tag as many bits, all in one line of 512. */
#define LINE_WORDS   8
#define LINE_BITS    512
#define ENTRY_BITS   10
#define TAG_BITS     7
#define TAG_BIT_MASK (LINE_BITS - 1)
#define TAG_BIT_LEN  9

static void
put_number(uint64_t number, size_t bytes, uint8_t *ret)
{
    for (size_t i = bytes; i-- > 0; number >>= 8) {
        ret[i] = (uint8_t)number;
    }
}

static uint64_t
read_number(const uint8_t *bytes, size_t n)
{
    uint64_t number = 0;

    for (size_t i = 0; i < n; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

void
writ_segment_put(enum writ_segment_kind kind, struct writ_tag tag, const struct writ_held *held,
    uint8_t ret[WRIT_SEGMENT_ENTRY])
{
    writ_tag_put(tag, ret);
    ret[AT_KIND] = (uint8_t)kind;
    put_number(~held->leaf, 8, ret + AT_LEAF);
    ret[AT_OUTCOME] = held->outcome;
    ret[AT_INTERRUPTED] = held->interrupted ? 1 : 0;
    ret[AT_INTERRUPTED + 1] = 0;
    writ_tag_put(held->call, ret + AT_CALL);
    put_number(held->boundary, 8, ret + AT_BOUNDARY);
    put_number((uint64_t)held->made_us, 8, ret + AT_MADE);
    put_number((uint64_t)(held->kept_us / US_PER_S), 4, ret + AT_KEPT);
}

void
writ_segment_read(const uint8_t entry[WRIT_SEGMENT_ENTRY], struct writ_held *ret)
{
    *ret = (struct writ_held){
        .leaf = ~read_number(entry + AT_LEAF, 8),
        .outcome = entry[AT_OUTCOME],
        .interrupted = entry[AT_INTERRUPTED] != 0,
        .call = writ_tag_read(entry + AT_CALL),
        .boundary = read_number(entry + AT_BOUNDARY, 8),
        .made_us = (int64_t)read_number(entry + AT_MADE, 8),
        .kept_us = (int64_t)read_number(entry + AT_KEPT, 4) * US_PER_S,
    };
}

int
writ_segment_order(const void *a, const void *b)
{
    return writ_view_compare(writ_view(a, AT_OUTCOME), writ_view(b, AT_OUTCOME));
}

bool
writ_segment_same(const uint8_t a[WRIT_SEGMENT_ENTRY], const uint8_t b[WRIT_SEGMENT_ENTRY])
{
    return writ_view_equal(writ_view(a, AT_LEAF), writ_view(b, AT_LEAF));
}

struct writ_segment *
writ_segment_new(size_t entries_max)
{
    struct writ_segment *segment = writ_alloc(sizeof *segment);

    if (segment == NULL) {
        return NULL;
    }
    segment->blocks_max = (entries_max + WRIT_SEGMENT_ENTRIES - 1) / WRIT_SEGMENT_ENTRIES;
    segment->lines = entries_max * ENTRY_BITS / LINE_BITS + 1;
    segment->oldest_us = INT64_MAX;
    segment->newest_us = segment->due_us = INT64_MIN;
    segment->blocks = writ_alloc((segment->blocks_max + 1) * sizeof *segment->blocks);
    segment->filter = writ_alloc(segment->lines * LINE_WORDS * sizeof *segment->filter);
    if (segment->blocks == NULL || segment->filter == NULL) {
        writ_segment_free(segment);
        return NULL;
    }
    return segment;
}

void
writ_segment_free(struct writ_segment *segment)
{
    if (segment != NULL) {
        writ_free(segment->blocks);
        writ_free(segment->filter);
        writ_free(segment);
    }
}

/* Tags are digests: any of their bits will do. The upper half says where in the order a tag stands,
 * the lower one the line. */
static uint64_t *
line_of(const struct writ_segment *segment, struct writ_tag tag)
{
    unsigned __int128 place = (unsigned __int128)tag.low * segment->lines;

    return segment->filter + (size_t)(place >> 64) * LINE_WORDS;
}

static void
note(struct writ_segment *segment, const uint8_t *entry)
{
    struct writ_tag tag = writ_tag_read(entry);
    uint64_t *line = line_of(segment, tag);
    struct writ_held held;

    for (size_t i = 0; i < TAG_BITS; i++) {
        size_t bit = tag.high >> (i * TAG_BIT_LEN) & TAG_BIT_MASK;

        line[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    writ_segment_read(entry, &held);
    if (held.made_us < segment->oldest_us) {
        segment->oldest_us = held.made_us;
    }
    if (held.made_us > segment->newest_us) {
        segment->newest_us = held.made_us;
    }
    if (held.made_us + held.kept_us > segment->due_us) {
        segment->due_us = held.made_us + held.kept_us;
    }
    if (held.boundary > segment->boundary_most) {
        segment->boundary_most = held.boundary;
    }
}

WRIT_RESULT
writ_segment_add(
    struct writ_segment *segment, const uint8_t *entries, size_t n, struct writ_err *err)
{
    struct writ_segment_block *block = &segment->blocks[segment->blocks_n];

    WRIT_INVARIANT(segment->blocks_n < segment->blocks_max && n > 0 && n <= WRIT_SEGMENT_ENTRIES);
    WRIT_TRY(writ_digest_bytes(writ_view(entries, n * WRIT_SEGMENT_ENTRY), &block->digest, err));
    block->first = writ_tag_read(entries).high;
    for (size_t i = 0; i < n; i++) {
        note(segment, entries + i * WRIT_SEGMENT_ENTRY);
    }
    segment->entries += n;
    segment->blocks_n++;
    return WRIT_DONE;
}

bool
writ_segment_may_have(const struct writ_segment *segment, struct writ_tag tag)
{
    const uint64_t *line = line_of(segment, tag);

    for (size_t i = 0; i < TAG_BITS; i++) {
        size_t bit = tag.high >> (i * TAG_BIT_LEN) & TAG_BIT_MASK;

        if ((line[bit / 64] & UINT64_C(1) << bit % 64) == 0) {
            return false;
        }
    }
    return true;
}

size_t
writ_segment_seek(const struct writ_segment *segment, struct writ_tag tag)
{
    size_t low = 0, high = segment->blocks_n;

    while (low < high) { /* the first block that begins at the tag or behind it */
        size_t middle = low + (high - low) / 2;

        if (segment->blocks[middle].first < tag.high) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? low - 1 : 0;
}

bool
writ_segment_goes_on(const struct writ_segment *segment, struct writ_tag tag, size_t block)
{
    return block < segment->blocks_n && segment->blocks[block].first <= tag.high;
}

WRIT_RESULT
writ_segment_check(
    const struct writ_segment *segment, size_t block, struct writ_view bytes, struct writ_err *err)
{
    struct writ_digest digest;

    WRIT_TRY(writ_digest_bytes(bytes, &digest, err));
    if (bytes.len % WRIT_SEGMENT_ENTRY != 0 ||
        !writ_digest_equal(&digest, &segment->blocks[block].digest)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "block %zu of segment %llu is not as it was written", block,
            (unsigned long long)segment->id);
    }
    return WRIT_DONE;
}

const uint8_t *
writ_segment_search(struct writ_view bytes, enum writ_segment_kind kind, struct writ_tag tag)
{
    const uint8_t *entries = (const uint8_t *)bytes.ptr;
    size_t low = 0, high = bytes.len / WRIT_SEGMENT_ENTRY;
    uint8_t wanted[WRIT_SEGMENT_ENTRY] = {0};

    writ_tag_put(tag, wanted);
    wanted[AT_KIND] = (uint8_t)kind;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (writ_segment_order(entries + middle * WRIT_SEGMENT_ENTRY, wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    entries += low * WRIT_SEGMENT_ENTRY;
    return low < bytes.len / WRIT_SEGMENT_ENTRY && writ_segment_same(entries, wanted) ? entries
                                                                                      : NULL;
}
