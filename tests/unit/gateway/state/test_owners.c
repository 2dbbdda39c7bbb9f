/* Which upstream a resource belongs to. A lookup returns the first upstream in order, and memory
 * is limited. */
#include "support/unit.h"

#include "gateway/state/owners.h"

START_TEST(owners_find_of_several_returns_the_first_upstream)
{
    struct writ_owners *owners = NULL;

    ck_assert_ok(writ_owners_new(&owners, NULL));
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1")), WRIT_OWNERS_NONE);
    writ_owners_note(owners, WRIT_LIT("a:1"), 2);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1")), 2);
    writ_owners_note(owners, WRIT_LIT("a:1"), 3);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1")), 2);
    writ_owners_note(owners, WRIT_LIT("a:1"), 1);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("a:1")), 1);
    writ_owners_free(owners);
    writ_owners_free(NULL);
}
END_TEST

START_TEST(owners_find_matches_a_template_by_its_longest_prefix)
{
    struct writ_owners *owners = NULL;

    ck_assert_ok(writ_owners_new(&owners, NULL));
    writ_owners_note(owners, WRIT_LIT("db:{x}"), 0);
    writ_owners_note(owners, WRIT_LIT("db:rows/{x}"), 1);
    writ_owners_note(owners, WRIT_LIT("{any}"), 2);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("db:rows/1")), 1);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("db:other")), 0);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("db:rows/{x}")), 1);
    ck_assert_uint_eq(writ_owners_find(owners, WRIT_LIT("file:x")), WRIT_OWNERS_NONE);
    writ_owners_free(owners);
}
END_TEST

START_TEST(owners_note_ignores_a_long_uri_and_replaces_old_ones)
{
    struct writ_owners *owners = NULL;
    writ_auto_buf uri = writ_buf_make(WRIT_OWNERS_URI_MAX + 1);

    ck_assert_ok(writ_owners_new(&owners, NULL));
    for (size_t i = 0; i < WRIT_OWNERS_URI_MAX; i++) {
        writ_buf_byte(&uri, 'u');
    }
    writ_owners_note(owners, writ_buf_view(&uri), 1);
    ck_assert_uint_eq(writ_owners_find(owners, writ_buf_view(&uri)), 1);
    writ_buf_byte(&uri, 'u');
    writ_owners_note(owners, writ_buf_view(&uri), 1);
    ck_assert_uint_eq(writ_owners_find(owners, writ_buf_view(&uri)), WRIT_OWNERS_NONE);
    for (size_t i = 0; i < 2 * WRIT_OWNERS_MAX; i++) {
        writ_auto_buf name = writ_buf_make(64);
        writ_buf_u64(&name, i);
        writ_owners_note(owners, writ_buf_view(&name), 1);
        ck_assert_uint_eq(writ_owners_find(owners, writ_buf_view(&name)), 1);
    }
    writ_owners_free(owners);
}
END_TEST

WRIT_UNIT_MAIN("owners", owners_find_of_several_returns_the_first_upstream,
    owners_find_matches_a_template_by_its_longest_prefix,
    owners_note_ignores_a_long_uri_and_replaces_old_ones)
