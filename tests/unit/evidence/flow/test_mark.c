/* mark.h: a value is found where its words stand in one piece, under one key alone. */
#include "evidence/flow/mark.h"
#include "support/evidence/value.h"
#include "support/unit.h"

#define MARKS_MAX 65536

static struct writ_mark_key *
key_of(char byte)
{
    char bytes[WRIT_MARK_KEY_BYTES];
    struct writ_mark_key *key = NULL;

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = byte;
    }
    ck_assert_ok(writ_mark_key_of(writ_view(bytes, sizeof bytes), &key, NULL));
    return key;
}

static struct writ_buf
marks_of(const struct writ_mark_key *key, const char *const *texts, size_t n)
{
    struct writ_mark_room room;
    struct writ_mark_list list = writ_mark_list_make(&room, 1024, true);
    struct writ_buf marks = writ_buf_make(MARKS_MAX);

    for (size_t i = 0; i < n; i++) {
        writ_mark_list_add(&list, writ_view_str(texts[i]));
    }
    ck_assert_ok(writ_mark_list_put(&list, key, &marks, NULL));
    writ_mark_list_wipe(&list);
    return marks;
}

static bool
is_in(const struct writ_mark_key *key, const struct writ_buf *marks, const char *value, bool host)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_mark_wanted wanted;

    ck_assert_ok(writ_mark_want(key, writ_view_str(value), host, 64, arena, &wanted, NULL));
    return writ_mark_contains(writ_buf_view(marks), wanted.words) ||
           writ_mark_contains(writ_buf_view(marks), wanted.joined);
}

START_TEST(value_is_found_where_it_stands_in_one_piece)
{
    static const char *const texts[] = {"Pay 'Le Marais Boutique' at www.example.org, please.",
        "to DE89 3704 0044 0532 0130 00", "secrets-of-0123456789-abcdef", "42"};
    static const struct {
        const char *value;
        bool found;
    } rows[] = {{"Pay", true}, {"Le Marais Boutique", true}, {"Marais Boutique at", true},
        {"Le Boutique", false}, {"Boutique Marais", false}, {"www.example.org", true},
        {"https://www.example.org/", true}, {"http://www.example.org", false},
        {"www.example.org/x", false}, {"example.org", false}, {"DE89370400440532013000", true},
        {"DE89 3704 0044 0532 0130 00", true}, {"DE89-3704-0044-0532-0130-00", true},
        {"3704", true}, {"please to", false}, {"secrets-of-0123456789-abcdef", true},
        {"secrets-of-0123456789-abcdeg", false}, {"42", true}, {"42.0", true}, {"421", false},
        {"please.", false}, {"'Pay'", false}, {"", false}, {"Pay;", false},
        {"GB29NWBK60161331926819 DE89 3704 0044 0532 0130 00", false},
        {"DE89 3704 0044 0532 0130 00 GB29NWBK60161331926819", false}};
    struct writ_mark_key *key = key_of('k');
    struct writ_buf marks = marks_of(key, texts, sizeof texts / sizeof *texts);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(
            is_in(key, &marks, rows[i].value, false) == rows[i].found, "%s", rows[i].value);
    }
    writ_buf_wipe(&marks);
    writ_mark_key_free(key);
}
END_TEST

START_TEST(host_is_found_by_itself_when_it_is_asked_for)
{
    static const char *const texts[] = {"see https://www.example.org/a and ann@mail.example.org"};
    struct writ_mark_key *key = key_of('k');
    struct writ_buf marks = marks_of(key, texts, 1);

    ck_assert(is_in(key, &marks, "https://www.example.org/b?c", true));
    ck_assert(is_in(key, &marks, "bob@mail.example.org", true));
    ck_assert(!is_in(key, &marks, "https://www.example.org@evil.org/", true));
    ck_assert(!is_in(key, &marks, "www.example.org evil.org", true));
    ck_assert(!is_in(key, &marks, "see", true));
    ck_assert(!is_in(key, &marks, "www.example.org", false)); /* the host is no word of the text */
    writ_buf_wipe(&marks);
    writ_mark_key_free(key);
}
END_TEST

START_TEST(marks_of_another_key_find_nothing)
{
    static const char *const texts[] = {"a b"};
    struct writ_mark_key *key = key_of('k'), *other = key_of('o');
    struct writ_buf marks = marks_of(key, texts, 1);

    ck_assert(is_in(key, &marks, "a b", false));
    ck_assert(!is_in(other, &marks, "a b", false));
    ck_assert(!writ_view_equal(writ_mark_key_id(key), writ_mark_key_id(other)));
    writ_buf_wipe(&marks);
    writ_mark_key_free(key);
    writ_mark_key_free(other);
}
END_TEST

START_TEST(list_takes_as_many_tokens_as_it_may)
{
    struct writ_mark_room room;
    struct writ_mark_list list = writ_mark_list_make(&room, 3, true);
    struct writ_mark_key *key = key_of('k');
    writ_auto_buf marks = writ_buf_make(MARKS_MAX);

    writ_mark_list_add(&list, WRIT_LIT("a b"));
    ck_assert(!list.cut);
    writ_mark_list_add(&list, WRIT_LIT("c"));
    ck_assert(!list.cut);
    writ_mark_list_add(&list, WRIT_LIT("d"));
    ck_assert(list.cut);
    ck_assert_ok(writ_mark_list_put(&list, key, &marks, NULL));
    ck_assert(is_in(key, &marks, "a b", false));
    ck_assert(is_in(key, &marks, "c", false));
    ck_assert(!is_in(key, &marks, "d", false));
    writ_mark_list_wipe(&list);
    writ_mark_key_free(key);
}
END_TEST

START_TEST(list_without_plain_words_keeps_the_others_apart)
{
    struct writ_mark_room room;
    struct writ_mark_list list = writ_mark_list_make(&room, 8, false);
    struct writ_mark_key *key = key_of('k');
    writ_auto_buf marks = writ_buf_make(MARKS_MAX);

    writ_mark_list_add(&list, WRIT_LIT("pay Ann Lee and then Bob 42"));
    ck_assert_uint_eq(list.n, 4);
    ck_assert_ok(writ_mark_list_put(&list, key, &marks, NULL));
    ck_assert(is_in(key, &marks, "Ann Lee", false));
    ck_assert(is_in(key, &marks, "Bob 42", false));
    ck_assert(!is_in(key, &marks, "Lee Bob", false));
    ck_assert(!is_in(key, &marks, "pay", false));
    writ_mark_list_wipe(&list);
    writ_mark_key_free(key);
}
END_TEST

START_TEST(value_of_too_many_words_is_refused)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_mark_key *key = key_of('k');
    struct writ_mark_wanted wanted;

    ck_assert_ok(writ_mark_want(key, WRIT_LIT("a b"), false, 2, arena, &wanted, NULL));
    ck_assert_code(
        writ_mark_want(key, WRIT_LIT("a b c"), false, 2, arena, &wanted, NULL), WRIT_E_LIMIT);
    writ_mark_key_free(key);
}
END_TEST

START_TEST(key_has_its_length)
{
    struct writ_mark_key *key = NULL;

    ck_assert_code(writ_mark_key_of(WRIT_LIT("short"), &key, NULL), WRIT_E_INVALID);
    ck_assert_ptr_null(key);
    writ_mark_key_free(NULL);
}
END_TEST

WRIT_UNIT_MAIN("mark", value_is_found_where_it_stands_in_one_piece,
    host_is_found_by_itself_when_it_is_asked_for, marks_of_another_key_find_nothing,
    list_takes_as_many_tokens_as_it_may, list_without_plain_words_keeps_the_others_apart,
    value_of_too_many_words_is_refused, key_has_its_length)
