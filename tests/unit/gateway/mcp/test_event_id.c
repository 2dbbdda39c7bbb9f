/* Ids of events on merged streams. Each upstream gets back exactly its own id. */
#include "gateway/mcp/event_id.h"

#include "support/unit.h"

static const struct writ_view fs = {"fs", 2}, pay = {"pay", 3};

START_TEST(a_place_in_one_stream_is_taken_apart_at_the_first_slash)
{
    writ_auto_buf place = writ_buf_make(64);
    struct writ_view id;

    writ_event_id_put(&place, fs, WRIT_LIT("a/b;c%"));
    ck_assert_view(writ_buf_view(&place), "fs/a/b;c%");
    ck_assert_view(writ_event_id_upstream(writ_buf_view(&place), &id), "fs");
    ck_assert_view(id, "a/b;c%");
    ck_assert(!writ_event_id_is_merged(writ_buf_view(&place)));
}
END_TEST

START_TEST(what_is_no_place_has_no_upstream)
{
    struct writ_view id = WRIT_LIT("kept");

    ck_assert_uint_eq(writ_event_id_upstream(WRIT_LIT(""), &id).len, 0);
    ck_assert_uint_eq(writ_event_id_upstream(WRIT_LIT("42"), &id).len, 0);
    ck_assert_uint_eq(writ_event_id_upstream(WRIT_LIT("*fs/42"), &id).len, 0);
    ck_assert_view(id, "kept");
}
END_TEST

START_TEST(a_merged_place_gives_every_upstream_its_own_id_back)
{
    writ_auto_buf place = writ_buf_make(64);
    writ_auto_buf id = writ_buf_make(64);

    writ_event_id_add(&place, fs, WRIT_LIT("1;%3B/%"));
    writ_event_id_add(&place, pay, WRIT_LIT("7"));
    ck_assert(writ_event_id_is_merged(writ_buf_view(&place)));
    ck_assert(writ_event_id_find(writ_buf_view(&place), fs, &id));
    ck_assert_view(writ_buf_view(&id), "1;%3B/%");
    writ_buf_clear(&id);
    ck_assert(writ_event_id_find(writ_buf_view(&place), pay, &id));
    ck_assert_view(writ_buf_view(&id), "7");
}
END_TEST

START_TEST(an_upstream_that_a_place_does_not_name_has_no_id)
{
    writ_auto_buf id = writ_buf_make(64);

    ck_assert(!writ_event_id_find(WRIT_LIT("*fs/1"), pay, &id));
    ck_assert(!writ_event_id_find(WRIT_LIT("*fs/1"), WRIT_LIT("f"), &id));
    ck_assert(!writ_event_id_find(WRIT_LIT("fs/1"), fs, &id));
    ck_assert(!writ_event_id_find(WRIT_LIT("*;;/;"), fs, &id));
    ck_assert(!writ_event_id_find(WRIT_LIT("*;;/;"), WRIT_LIT(""), &id));
    ck_assert(!writ_event_id_find(WRIT_LIT(""), fs, &id));
    ck_assert_uint_eq(id.len, 0);
}
END_TEST

WRIT_UNIT_MAIN("place", a_place_in_one_stream_is_taken_apart_at_the_first_slash,
    what_is_no_place_has_no_upstream, a_merged_place_gives_every_upstream_its_own_id_back,
    an_upstream_that_a_place_does_not_name_has_no_id)
