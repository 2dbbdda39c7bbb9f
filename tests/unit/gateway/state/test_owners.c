/* Which upstream a resource belongs to. A lookup returns the first upstream in order, and memory
 * is limited. */
#include "support/unit.h"

#include "gateway/state/owners.h"

#define UPSTREAMS 3
#define NOW_US    INT64_C(1000000)

START_TEST(owners_find_of_several_returns_the_first_upstream)
{
    struct writ_owners *owners = NULL;

    ck_assert_ok(writ_owners_new(UPSTREAMS, &owners, NULL));
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), NOW_US), WRIT_OWNERS_NONE);
    writ_owners_note(owners, WRIT_LIT("a:1"), 2, NOW_US);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), NOW_US), 2);
    writ_owners_note(owners, WRIT_LIT("a:1"), 3, NOW_US);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), NOW_US), 2);
    writ_owners_note(owners, WRIT_LIT("a:1"), 1, NOW_US);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), NOW_US), 1);
    writ_owners_free(owners);
    writ_owners_free(NULL);
}
END_TEST

START_TEST(owners_find_matches_a_template_by_its_longest_prefix)
{
    struct writ_owners *owners = NULL;

    ck_assert_ok(writ_owners_new(UPSTREAMS, &owners, NULL));
    writ_owners_note(owners, WRIT_LIT("db:{x}"), 0, NOW_US);
    writ_owners_note(owners, WRIT_LIT("db:rows/{x}"), 1, NOW_US);
    writ_owners_note(owners, WRIT_LIT("{any}"), 2, NOW_US);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("db:rows/1"), NOW_US), 1);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("db:other"), NOW_US), 0);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("db:rows/{x}"), NOW_US), 1);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("file:x"), NOW_US), WRIT_OWNERS_NONE);
    writ_owners_free(owners);
}
END_TEST

START_TEST(owners_note_ignores_a_long_uri_and_replaces_old_ones)
{
    struct writ_owners *owners = NULL;
    writ_auto_buf uri = writ_buf_make(WRIT_OWNERS_URI_MAX + 1);

    ck_assert_ok(writ_owners_new(UPSTREAMS, &owners, NULL));
    for (size_t i = 0; i < WRIT_OWNERS_URI_MAX; i++) {
        writ_buf_byte(&uri, 'u');
    }
    writ_owners_note(owners, writ_buf_view(&uri), 1, NOW_US);
    ck_assert_uint_eq(writ_owners_find(owners, writ_buf_view(&uri), NOW_US), 1);
    writ_buf_byte(&uri, 'u');
    writ_owners_note(owners, writ_buf_view(&uri), 1, NOW_US);
    ck_assert_uint_eq(writ_owners_find(owners, writ_buf_view(&uri), NOW_US), WRIT_OWNERS_NONE);
    for (size_t i = 0; i < 2 * WRIT_OWNERS_MAX; i++) {
        writ_auto_buf name = writ_buf_make(64);
        writ_buf_u64(&name, i);
        writ_owners_note(owners, writ_buf_view(&name), 1, NOW_US);
        ck_assert_uint_eq(writ_owners_find(owners, writ_buf_view(&name), NOW_US), 1);
    }
    writ_owners_free(owners);
}
END_TEST

START_TEST(owners_find_after_the_last_listing_expired_forgets)
{
    struct writ_owners *owners = NULL;
    int64_t later_us = NOW_US + WRIT_OWNERS_KEPT_US - 1, over_us = later_us + 1;

    ck_assert_ok(writ_owners_new(UPSTREAMS, &owners, NULL));
    writ_owners_note(owners, WRIT_LIT("a:1"), 0, NOW_US);
    writ_owners_note(owners, WRIT_LIT("t:{x}"), 0, NOW_US);
    writ_owners_note(owners, WRIT_LIT("a:1"), 1, later_us); /* the first still has it */
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), later_us), 0);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), over_us), WRIT_OWNERS_NONE);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("t:1"), over_us), WRIT_OWNERS_NONE);
    writ_owners_note(owners, WRIT_LIT("a:1"), 1, over_us);
    writ_owners_note(owners, WRIT_LIT("t:{x}"), 2, over_us);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1"), over_us), 1);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("t:1"), over_us), 2);
    writ_owners_free(owners);
}
END_TEST

static bool
lacks(struct writ_owners *owners, bool unknown, int64_t now_us)
{
    return writ_owners_lacks(owners, 1, WRIT_OWNERS_TEMPLATES, unknown, now_us);
}

START_TEST(owners_lacks_a_list_that_was_not_read_or_is_old)
{
    struct writ_owners *owners = NULL;
    int64_t again_us = NOW_US + WRIT_OWNERS_AGAIN_US, old_us = NOW_US + WRIT_OWNERS_FRESH_US;

    ck_assert_ok(writ_owners_new(UPSTREAMS, &owners, NULL));
    ck_assert(lacks(owners, false, NOW_US));
    writ_owners_read(owners, 1, WRIT_OWNERS_RESOURCES, true, NOW_US);
    ck_assert(lacks(owners, false, NOW_US));
    writ_owners_read(owners, 1, WRIT_OWNERS_TEMPLATES, false, NOW_US); /* it did not come */
    ck_assert(!lacks(owners, false, again_us - 1));
    ck_assert(lacks(owners, false, again_us));
    writ_owners_read(owners, 1, WRIT_OWNERS_TEMPLATES, true, NOW_US);
    ck_assert(!lacks(owners, true, again_us - 1));
    ck_assert(lacks(owners, true, again_us));
    ck_assert(!lacks(owners, false, old_us - 1));
    ck_assert(lacks(owners, false, old_us));
    writ_owners_free(owners);
}
END_TEST

WRIT_UNIT_MAIN("owners", owners_find_of_several_returns_the_first_upstream,
    owners_find_matches_a_template_by_its_longest_prefix,
    owners_note_ignores_a_long_uri_and_replaces_old_ones,
    owners_find_after_the_last_listing_expired_forgets,
    owners_lacks_a_list_that_was_not_read_or_is_old)
