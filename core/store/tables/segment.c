/* An entry, numbers with their highest byte first: tag 16, kind 1, leaf inverted 8 (so that bytes
 * compare as entries do), outcome 1, interrupted 1, none 1, call 16, boundary 8, made_us 8, kept 4
 * in seconds. */
#include "store/tables/segment.h"

#define US_PER_S INT64_C(1000000)

#define AT_KIND        16
#define AT_LEAF        17
#define AT_OUTCOME     25
#define AT_INTERRUPTED 26
#define AT_CALL        28
#define AT_BOUNDARY    44
#define AT_MADE        52
#define AT_KEPT        60

/* The filter: the same number of bits for each tag, all in one line of 512. A call asks the filters
 * of all segments, and a wrong yes reads a block; most of the memory is that of the large ones. */
#define LINE_WORDS   8
#define LINE_BITS    512
#define SMALL        (16 << 10) /* entries */
#define SMALL_BITS   24         /* of an entry: 1 wrong yes of 10,000 */
#define MIDDLE       (256 << 10)
#define MIDDLE_BITS  16 /* 1 of 1,000 */
#define LARGE_BITS   14 /* 1 of 500 */
#define TAG_BITS     7
#define TAG_BIT_MASK (LINE_BITS - 1)
#define TAG_BIT_LEN  9

/* Pieces: first those of blocks, with 8 bytes of the first tag and the digest of each block; then
 * those of lines of the filter. Words have their lowest byte first. */
#define BLOCK_BYTES  (8 + WRIT_DIGEST_BYTES)
#define LINE_BYTES   ((size_t)LINE_WORDS * 8)
#define PIECE_BLOCKS (WRIT_SEGMENT_PIECE / BLOCK_BYTES)
#define PIECE_LINES  (WRIT_SEGMENT_PIECE / LINE_BYTES)

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
writ_segment_put(enum writ_segment_kind kind, struct writ_tag tag,
    const struct writ_claim_facts *facts, uint8_t ret[WRIT_SEGMENT_ENTRY])
{
    writ_tag_put(tag, ret);
    ret[AT_KIND] = (uint8_t)kind;
    put_number(~facts->leaf, 8, ret + AT_LEAF);
    ret[AT_OUTCOME] = facts->outcome;
    ret[AT_INTERRUPTED] = facts->interrupted ? 1 : 0;
    ret[AT_INTERRUPTED + 1] = 0;
    writ_tag_put(facts->call, ret + AT_CALL);
    put_number(facts->boundary, 8, ret + AT_BOUNDARY);
    put_number((uint64_t)facts->made_us, 8, ret + AT_MADE);
    put_number((uint64_t)(facts->kept_us / US_PER_S), 4, ret + AT_KEPT);
}

void
writ_segment_read(const uint8_t entry[WRIT_SEGMENT_ENTRY], struct writ_claim_facts *ret)
{
    *ret = (struct writ_claim_facts){
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

static struct writ_segment *
allocate(size_t entries_max, size_t lines)
{
    struct writ_segment *segment = writ_alloc(sizeof *segment);

    if (segment == NULL) {
        return NULL;
    }
    segment->blocks_max = (entries_max + WRIT_SEGMENT_ENTRIES - 1) / WRIT_SEGMENT_ENTRIES;
    segment->lines = lines;
    segment->oldest_us = INT64_MAX;
    segment->newest_us = segment->due_us = INT64_MIN;
    segment->blocks = writ_alloc((segment->blocks_max + 1) * sizeof *segment->blocks);
    segment->filter = writ_alloc(lines * LINE_BYTES);
    if (segment->blocks == NULL || segment->filter == NULL) {
        writ_segment_free(segment);
        return NULL;
    }
    return segment;
}

struct writ_segment *
writ_segment_new(size_t entries_max)
{
    size_t bits = entries_max <= SMALL    ? SMALL_BITS
                  : entries_max <= MIDDLE ? MIDDLE_BITS
                                          : LARGE_BITS;

    return allocate(entries_max, entries_max * bits / LINE_BITS + 1);
}

struct writ_segment *
writ_segment_restore(size_t entries, size_t lines)
{
    struct writ_segment *segment = entries == 0 || lines == 0 ? NULL : allocate(entries, lines);

    if (segment != NULL) {
        segment->entries = entries;
        segment->blocks_n = segment->blocks_max;
    }
    return segment;
}

void
writ_segment_shed(struct writ_segment *segment)
{
    writ_free(segment->blocks);
    writ_free(segment->filter);
    segment->blocks = NULL;
    segment->filter = NULL;
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

/* Tags are digests, so any of their bits are random. The upper half gives the place of a tag in the
 * order, the lower half the line. */
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
    struct writ_claim_facts facts;

    for (size_t i = 0; i < TAG_BITS; i++) {
        size_t bit = tag.high >> (i * TAG_BIT_LEN) & TAG_BIT_MASK;

        line[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    writ_segment_read(entry, &facts);
    if (facts.made_us < segment->oldest_us) {
        segment->oldest_us = facts.made_us;
    }
    if (facts.made_us > segment->newest_us) {
        segment->newest_us = facts.made_us;
    }
    if (facts.made_us + facts.kept_us > segment->due_us) {
        segment->due_us = facts.made_us + facts.kept_us;
    }
    if (facts.boundary > segment->boundary_most) {
        segment->boundary_most = facts.boundary;
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

/* ---- what memory has of it, on the disk ---- */

static size_t
pieces_of(size_t things, size_t of_one)
{
    return (things + of_one - 1) / of_one;
}

size_t
writ_segment_pieces(const struct writ_segment *segment)
{
    return segment->blocks_n == 0 ? 0
                                  : pieces_of(segment->blocks_n, PIECE_BLOCKS) +
                                        pieces_of(segment->lines, PIECE_LINES);
}

/* The content of a piece: blocks, else lines, so many from `*ret_from` on. */
static bool
has_blocks(const struct writ_segment *segment, size_t piece, size_t *ret_from, size_t *ret_n)
{
    size_t of_blocks = pieces_of(segment->blocks_n, PIECE_BLOCKS);
    bool blocks = piece < of_blocks;
    size_t most = blocks ? PIECE_BLOCKS : PIECE_LINES, left;

    *ret_from = (blocks ? piece : piece - of_blocks) * most;
    left = (blocks ? segment->blocks_n : segment->lines) - *ret_from;
    *ret_n = left < most ? left : most;
    return blocks;
}

static void
put_words(const uint64_t *words, size_t n, uint8_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t word = htole64(words[i]);

        (void)writ_view_place(writ_view(&word, sizeof word), (char *)ret + i * sizeof word);
    }
}

size_t
writ_segment_put_piece(
    const struct writ_segment *segment, size_t piece, uint8_t ret[WRIT_SEGMENT_PIECE])
{
    size_t from, n;

    if (!has_blocks(segment, piece, &from, &n)) {
        put_words(segment->filter + from * LINE_WORDS, n * LINE_WORDS, ret);
        return n * LINE_BYTES;
    }
    for (size_t i = 0; i < n; i++) {
        const struct writ_segment_block *block = &segment->blocks[from + i];

        put_words(&block->first, 1, ret + i * BLOCK_BYTES);
        (void)writ_view_place(
            writ_view(block->digest.bytes, WRIT_DIGEST_BYTES), (char *)ret + i * BLOCK_BYTES + 8);
    }
    return n * BLOCK_BYTES;
}

bool
writ_segment_take_piece(struct writ_segment *segment, size_t piece, struct writ_view bytes)
{
    size_t from, n;
    bool blocks = has_blocks(segment, piece, &from, &n);

    if (bytes.len != n * (blocks ? BLOCK_BYTES : LINE_BYTES)) {
        return false;
    }
    for (size_t i = 0; blocks && i < n; i++) {
        struct writ_segment_block *block = &segment->blocks[from + i];

        block->first = writ_view_load64(bytes.ptr + i * BLOCK_BYTES);
        (void)writ_view_place(writ_view_sub(bytes, i * BLOCK_BYTES + 8, WRIT_DIGEST_BYTES),
            (char *)block->digest.bytes);
    }
    for (size_t i = 0; !blocks && i < n * LINE_WORDS; i++) {
        segment->filter[from * LINE_WORDS + i] = writ_view_load64(bytes.ptr + i * 8);
    }
    return true;
}

/* ---- looking ---- */

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

    while (low < high) { /* the first block that begins at the tag or after it */
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
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "block %zu of segment %llu has changed since it was written: see `writ ledger rebuild`",
            block, (unsigned long long)segment->id);
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
