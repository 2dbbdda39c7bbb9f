/* Tokens and marks of any text: every token is a text, a word that is bare in the text is found in
 * its marks and in the text, and neither can be found in the marks of nothing. */
#include "evidence/flow/find.h"
#include "evidence/flow/token.h"
#include "support/fuzz.h"

#define TOKENS_MAX 4096
#define MARKS_MAX  ((size_t)1 << 20)
#define PLACES_MAX 3

struct counting {
    struct writ_view text;
    size_t bytes, n;
};

static void
count(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct counting *counting = ctx;

    WRIT_INVARIANT(stands.ptr >= counting->text.ptr && stands.len > 0 &&
                   stands.ptr + stands.len <= counting->text.ptr + counting->text.len);
    WRIT_INVARIANT(kind <= WRIT_TOKEN_JOINED && token.len > 0);
    counting->bytes += token.len;
    counting->n++;
}

/* The places of a word are parts of the text, in order. */
static void
check_place(const struct writ_find *find, struct writ_view text, struct writ_view word,
    const struct writ_mark_wanted *wanted)
{
    struct writ_view places[PLACES_MAX];
    const char *end = text.ptr;
    size_t n = writ_find_value(find, wanted, PLACES_MAX, places);

    WRIT_INVARIANT(n <= PLACES_MAX && (n > 0 || !writ_token_is_bare(word)));
    for (size_t i = 0; i < n; i++) {
        WRIT_INVARIANT(places[i].ptr >= end && places[i].len > 0);
        end = places[i].ptr + places[i].len;
    }
    WRIT_INVARIANT(end <= text.ptr + text.len);
}

/* The words of the text between single spaces. */
static void
check_words(const struct writ_mark_key *key, struct writ_view text, struct writ_view marks)
{
    writ_auto_arena arena = writ_arena_new(MARKS_MAX * 4);
    struct writ_find *find = NULL;
    const struct writ_view whole = text;

    WRIT_INVARIANT(arena != NULL);
    WRIT_INVARIANT(writ_is_ok(writ_find_new(key, &find, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_find_read(find, text, NULL)));
    while (text.len > 0) {
        size_t end = writ_view_find(text, ' ');
        struct writ_view word = writ_view_sub(text, 0, end);
        struct writ_mark_wanted wanted;
        text = writ_view_sub(text, end + 1, text.len);
        if (writ_is_ok(writ_mark_want(key, word, false, 16, arena, &wanted, NULL))) {
            WRIT_INVARIANT(!writ_token_is_bare(word) || wanted.words.len > 0);
            WRIT_INVARIANT(!writ_token_is_bare(word) || writ_mark_contains(marks, wanted.words));
            WRIT_INVARIANT(!writ_mark_contains(writ_view("", 0), wanted.words));
            check_place(find, whole, word, &wanted);
        }
    }
    writ_find_free(find);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);
    struct writ_mark_room room;
    struct writ_mark_list list = writ_mark_list_make(&room, TOKENS_MAX, true);
    struct writ_mark_key *key = NULL;
    struct counting counting = {.text = text};
    writ_auto_buf marks = writ_buf_make(MARKS_MAX);

    writ_tokens(text, count, &counting);
    WRIT_INVARIANT(counting.bytes <= 4 * text.len + 64);
    WRIT_INVARIANT(
        writ_is_ok(writ_mark_key_of(WRIT_LIT("0123456789abcdef0123456789abcdef"), &key, NULL)));
    writ_mark_list_add(&list, text);
    WRIT_INVARIANT(list.n == (counting.n < TOKENS_MAX ? counting.n : TOKENS_MAX));
    WRIT_INVARIANT(writ_is_ok(writ_mark_list_put(&list, key, &marks, NULL)));
    WRIT_INVARIANT(marks.len % WRIT_MARK == 0);
    if (!list.cut) {
        check_words(key, text, writ_buf_view(&marks));
    }
    writ_mark_list_wipe(&list);
    writ_mark_key_free(key);
    return 0;
}
