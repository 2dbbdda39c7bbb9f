/* Ids of events on merged streams. Each upstream gets back exactly its own id. */
#include "gateway/mcp/event_id.h"

#include "support/unit.h"

static const struct writ_view fs = {"fs", 2}, pay = {"pay", 3};

START_TEST(event_id_upstream_splits_at_the_first_slash)
{
    writ_auto_buf text = writ_buf_make(64);
    struct writ_view id;

    writ_event_id_put(&text, fs, WRIT_LIT("a/b;c%"));
    ck_assert_view(writ_buf_view(&text), "fs/a/b;c%");
    ck_assert_view(writ_event_id_upstream(writ_buf_view(&text), &id), "fs");
    ck_assert_view(id, "a/b;c%");
    ck_assert(!writ_event_id_is_merged(writ_buf_view(&text)));
}
END_TEST

START_TEST(event_id_upstream_of_another_text_is_empty)
{
    struct writ_view id = WRIT_LIT("kept");

    ck_assert_uint_eq(writ_event_id_upstream(WRIT_LIT(""), &id).len, 0);
    ck_assert_uint_eq(writ_event_id_upstream(WRIT_LIT("42"), &id).len, 0);
    ck_assert_uint_eq(writ_event_id_upstream(WRIT_LIT("*fs/42"), &id).len, 0);
    ck_assert_view(id, "kept");
}
END_TEST

START_TEST(event_id_find_in_a_merged_id_gives_the_id_of_each_upstream)
{
    writ_auto_buf text = writ_buf_make(64);
    writ_auto_buf id = writ_buf_make(64);

    writ_event_id_add(&text, fs, WRIT_LIT("1;%3B/%"));
    writ_event_id_add(&text, pay, WRIT_LIT("7"));
    ck_assert(writ_event_id_is_merged(writ_buf_view(&text)));
    ck_assert(writ_event_id_find(writ_buf_view(&text), fs, &id));
    ck_assert_view(writ_buf_view(&id), "1;%3B/%");
    writ_buf_clear(&id);
    ck_assert(writ_event_id_find(writ_buf_view(&text), pay, &id));
    ck_assert_view(writ_buf_view(&id), "7");
}
END_TEST

START_TEST(event_id_find_of_an_absent_upstream_is_false)
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

WRIT_UNIT_MAIN("event_id", event_id_upstream_splits_at_the_first_slash,
    event_id_upstream_of_another_text_is_empty,
    event_id_find_in_a_merged_id_gives_the_id_of_each_upstream,
    event_id_find_of_an_absent_upstream_is_false)
