/* Segments of claims on disk. A segment finds exactly the claims in it, and a block that differs
 * in any byte is noticed. */
#include "support/unit.h"

#include "store/tables/segment.h"

#include <stdlib.h>

#define CLAIMS 1000

static uint64_t state = 7;

static uint64_t
random_next(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);

    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static struct writ_tag
random_tag(void)
{
    return (struct writ_tag){random_next(), random_next()};
}

static struct writ_claim_facts
random_facts(void)
{
    return (struct writ_claim_facts){
        .call = random_tag(),
        .leaf = random_next() >> 1,
        .boundary = random_next() >> 20,
        .made_us = (int64_t)(random_next() >> 10),
        .kept_us = (int64_t)(random_next() >> 32) * 1000000,
        .interrupted = random_next() % 2 == 0,
        .outcome = (uint8_t)(random_next() % 5),
    };
}

static void
is_same(const struct writ_claim_facts *a, const struct writ_claim_facts *b)
{
    ck_assert(writ_tag_equal(a->call, b->call));
    ck_assert_uint_eq(a->leaf, b->leaf);
    ck_assert_uint_eq(a->boundary, b->boundary);
    ck_assert_int_eq(a->made_us, b->made_us);
    ck_assert_int_eq(a->kept_us, b->kept_us);
    ck_assert_uint_eq(a->outcome, b->outcome);
    ck_assert(a->interrupted == b->interrupted && a->in_flight == b->in_flight);
}

START_TEST(segment_entry_holds_the_claim_and_the_latest_is_first)
{
    uint8_t one[WRIT_SEGMENT_ENTRY], other[WRIT_SEGMENT_ENTRY];
    struct writ_claim_facts facts, read;
    struct writ_tag tag = random_tag();

    for (size_t i = 0; i < 100; i++) {
        facts = random_facts();
        writ_segment_put(WRIT_SEGMENT_KEY, tag, &facts, one);
        writ_segment_read(one, &read);
        is_same(&read, &facts);
        facts.leaf++;
        writ_segment_put(WRIT_SEGMENT_KEY, tag, &facts, other);
        ck_assert_int_gt(writ_segment_order(one, other), 0);
        ck_assert(writ_segment_same(one, other));
        writ_segment_put(WRIT_SEGMENT_INTENT, tag, &facts, other);
        ck_assert_int_lt(writ_segment_order(one, other), 0);
        ck_assert(!writ_segment_same(one, other));
    }
}
END_TEST

/* ---- a segment against a list ---- */

struct model {
    struct writ_tag key, intent;
    struct writ_claim_facts facts;
};

static uint8_t entries[2 * CLAIMS * WRIT_SEGMENT_ENTRY];

static struct writ_segment *
made_of(const struct model *model)
{
    struct writ_segment *segment = writ_segment_new((size_t)2 * CLAIMS);

    ck_assert_ptr_nonnull(segment);
    for (size_t i = 0; i < CLAIMS; i++) {
        writ_segment_put(
            WRIT_SEGMENT_KEY, model[i].key, &model[i].facts, entries + 2 * i * WRIT_SEGMENT_ENTRY);
        writ_segment_put(WRIT_SEGMENT_INTENT, model[i].intent, &model[i].facts,
            entries + (2 * i + 1) * WRIT_SEGMENT_ENTRY);
    }
    qsort(entries, (size_t)2 * CLAIMS, WRIT_SEGMENT_ENTRY, writ_segment_order);
    for (size_t at = 0; at < (size_t)2 * CLAIMS; at += WRIT_SEGMENT_ENTRIES) {
        size_t n = (size_t)2 * CLAIMS - at;

        ck_assert_ok(writ_segment_add(segment, entries + at * WRIT_SEGMENT_ENTRY,
            n < WRIT_SEGMENT_ENTRIES ? n : WRIT_SEGMENT_ENTRIES, NULL));
    }
    return segment;
}

static struct writ_view
block_of(size_t block)
{
    size_t at = block * WRIT_SEGMENT_BLOCK;
    size_t left = sizeof entries - at;

    return writ_view(entries + at, left < WRIT_SEGMENT_BLOCK ? left : WRIT_SEGMENT_BLOCK);
}

static bool
found(const struct writ_segment *segment, enum writ_segment_kind kind, struct writ_tag tag,
    struct writ_claim_facts *ret)
{
    for (size_t block = writ_segment_seek(segment, tag); writ_segment_goes_on(segment, tag, block);
         block++) {
        const uint8_t *entry;

        ck_assert_ok(writ_segment_check(segment, block, block_of(block), NULL));
        entry = writ_segment_search(block_of(block), kind, tag);
        if (entry != NULL) {
            writ_segment_read(entry, ret);
            return true;
        }
    }
    return false;
}

START_TEST(segment_find_gives_its_own_claims_only)
{
    static struct model model[CLAIMS];
    struct writ_segment *segment;
    struct writ_claim_facts facts;
    size_t maybe = 0;

    for (size_t i = 0; i < CLAIMS; i++) {
        model[i] = (struct model){random_tag(), random_tag(), random_facts()};
        if (i % 10 > 0) { /* many tags with the same upper half: also across blocks */
            model[i].key.high = model[i - 1].key.high;
        }
        model[i].facts.kept_us = 5000000;
    }
    segment = made_of(model);
    ck_assert_uint_eq(segment->entries, 2 * CLAIMS);
    for (size_t i = 0; i < CLAIMS; i++) {
        ck_assert(writ_segment_may_have(segment, model[i].key));
        ck_assert(found(segment, WRIT_SEGMENT_KEY, model[i].key, &facts));
        is_same(&facts, &model[i].facts);
        ck_assert(!found(segment, WRIT_SEGMENT_INTENT, model[i].key, &facts));
        ck_assert(writ_segment_may_have(segment, model[i].intent));
        ck_assert(found(segment, WRIT_SEGMENT_INTENT, model[i].intent, &facts));
        is_same(&facts, &model[i].facts);
        ck_assert_int_ge(model[i].facts.made_us, segment->oldest_us);
        ck_assert_int_le(model[i].facts.made_us, segment->newest_us);
        ck_assert_int_le(model[i].facts.made_us + 5000000, segment->due_us);
        ck_assert_uint_le(model[i].facts.boundary, segment->boundary_most);
    }
    for (size_t i = 0; i < 10 * CLAIMS; i++) {
        struct writ_tag other = random_tag();

        maybe += writ_segment_may_have(segment, other) ? 1 : 0;
        ck_assert(!found(segment, WRIT_SEGMENT_KEY, other, &facts));
    }
    ck_assert_uint_lt(maybe, 10 * CLAIMS / 500); /* the filter spares nearly all reads */
    writ_segment_free(segment);
}
END_TEST

START_TEST(segment_find_in_a_changed_block_fails)
{
    static struct model model[CLAIMS];
    struct writ_segment *segment;
    size_t last;

    for (size_t i = 0; i < CLAIMS; i++) {
        model[i] = (struct model){random_tag(), random_tag(), random_facts()};
    }
    segment = made_of(model);
    last = segment->blocks_n - 1;
    ck_assert_ok(writ_segment_check(segment, last, block_of(last), NULL));
    ck_assert_code(writ_segment_check(segment, last, block_of(0), NULL), WRIT_E_MISMATCH);
    ck_assert_code(writ_segment_check(segment, 0, writ_view("", 0), NULL), WRIT_E_MISMATCH);
    ck_assert_code(writ_segment_check(segment, 0, writ_view(entries, WRIT_SEGMENT_ENTRY), NULL),
        WRIT_E_MISMATCH);
    for (size_t i = 0; i < WRIT_SEGMENT_BLOCK; i += 7) {
        entries[i] ^= 1;
        ck_assert_code(writ_segment_check(segment, 0, block_of(0), NULL), WRIT_E_MISMATCH);
        entries[i] ^= 1;
    }
    writ_segment_free(segment);
}
END_TEST

/* A segment with that many blocks, whose entries are unordered. */
static struct writ_segment *
large(size_t blocks)
{
    struct writ_segment *segment = writ_segment_new(blocks * WRIT_SEGMENT_ENTRIES);

    ck_assert_ptr_nonnull(segment);
    for (size_t block = 0; block < blocks; block++) {
        for (size_t i = 0; i < WRIT_SEGMENT_ENTRIES; i++) {
            struct writ_claim_facts facts = random_facts();

            writ_segment_put(
                WRIT_SEGMENT_KEY, random_tag(), &facts, entries + i * WRIT_SEGMENT_ENTRY);
        }
        ck_assert_ok(writ_segment_add(segment, entries, WRIT_SEGMENT_ENTRIES, NULL));
    }
    return segment;
}

START_TEST(segment_restore_accepts_its_own_pieces_only)
{
    static uint8_t piece[WRIT_SEGMENT_PIECE];
    struct writ_segment *segment = large(2500);
    struct writ_segment *again = writ_segment_restore(segment->entries, segment->lines);
    size_t pieces = writ_segment_pieces(segment);

    ck_assert_ptr_nonnull(again);
    ck_assert_uint_eq(writ_segment_pieces(again), pieces);
    ck_assert_uint_ge(pieces, 8);
    for (size_t i = 0; i < pieces; i++) {
        size_t len = writ_segment_put_piece(segment, i, piece);

        ck_assert(!writ_segment_take_piece(again, i, writ_view(piece, len - 1)));
        ck_assert(!writ_segment_take_piece(again, i, writ_view("", 0)));
        ck_assert(writ_segment_take_piece(again, i, writ_view(piece, len)));
    }
    ck_assert_uint_eq(again->blocks_n, segment->blocks_n);
    for (size_t i = 0; i < segment->blocks_n; i++) {
        ck_assert_uint_eq(again->blocks[i].first, segment->blocks[i].first);
        ck_assert(writ_digest_equal(&again->blocks[i].digest, &segment->blocks[i].digest));
    }
    ck_assert(writ_view_equal(writ_view(again->filter, 64 * segment->lines),
        writ_view(segment->filter, 64 * segment->lines)));
    ck_assert_ptr_null(writ_segment_restore(0, 1));
    ck_assert_ptr_null(writ_segment_restore(1, 0));
    writ_segment_free(segment);
    writ_segment_free(again);
}
END_TEST

START_TEST(segment_without_memory_is_not_made)
{
    for (long n = 1; n <= 3; n++) {
        writ_fault_arm(n);
        ck_assert_ptr_null(writ_segment_new(100));
        ck_assert(writ_fault_disarm());
    }
}
END_TEST

WRIT_UNIT_MAIN("segment", segment_entry_holds_the_claim_and_the_latest_is_first,
    segment_find_gives_its_own_claims_only, segment_find_in_a_changed_block_fails,
    segment_restore_accepts_its_own_pieces_only, segment_without_memory_is_not_made)
