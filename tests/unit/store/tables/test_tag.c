/* Tags: the first 16 bytes of a digest. Order is kept, and the parts of an intent are kept apart.
 */
#include "support/unit.h"

#include "store/tables/tag.h"

START_TEST(tag_of_gives_the_first_16_bytes_of_a_digest)
{
    struct writ_digest digest;
    uint8_t bytes[WRIT_TAG_BYTES];
    struct writ_tag tag;

    for (size_t i = 0; i < sizeof digest.bytes; i++) {
        digest.bytes[i] = (uint8_t)(i + 1);
    }
    tag = writ_tag_of(&digest);
    ck_assert_uint_eq(tag.high, UINT64_C(0x0102030405060708));
    ck_assert_uint_eq(tag.low, UINT64_C(0x090a0b0c0d0e0f10));
    writ_tag_put(tag, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        ck_assert_uint_eq(bytes[i], i + 1);
    }
    ck_assert(writ_tag_equal(writ_tag_read(bytes), tag));
    ck_assert(!writ_tag_equal(writ_tag_number(1), writ_tag_number(2)));
    ck_assert(!writ_tag_equal((struct writ_tag){1, 2}, (struct writ_tag){2, 2}));
}
END_TEST

START_TEST(tag_intent_keeps_its_parts_apart)
{
    struct writ_tag tags[4];

    ck_assert_ok(writ_tag_intent(WRIT_LIT("a"), WRIT_LIT("b"), WRIT_LIT("c"), &tags[0], NULL));
    ck_assert_ok(writ_tag_intent(WRIT_LIT("ab"), WRIT_LIT(""), WRIT_LIT("c"), &tags[1], NULL));
    ck_assert_ok(writ_tag_intent(WRIT_LIT("a"), WRIT_LIT("bc"), WRIT_LIT(""), &tags[2], NULL));
    ck_assert_ok(writ_tag_intent(WRIT_LIT("a"), WRIT_LIT("b"), WRIT_LIT("c"), &tags[3], NULL));
    ck_assert(!writ_tag_equal(tags[0], tags[1]));
    ck_assert(!writ_tag_equal(tags[0], tags[2]));
    ck_assert(!writ_tag_equal(tags[1], tags[2]));
    ck_assert(writ_tag_equal(tags[0], tags[3]));
}
END_TEST

WRIT_UNIT_MAIN("tag", tag_of_gives_the_first_16_bytes_of_a_digest, tag_intent_keeps_its_parts_apart)
