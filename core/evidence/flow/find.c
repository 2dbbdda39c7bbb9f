/* find.c - the marks of the text are made as for a record, of all its words, and beside them the
 * part of the text of each. For a text the list has the marks of its words, one of zeros, and
 * then each alias with zeros behind it (mark.h). */
#include "evidence/flow/find.h"

#include "evidence/flow/token.h"

struct writ_find {
    struct writ_mark_cipher *cipher;
    struct writ_mark_room room;
    struct writ_mark_list list;
    struct writ_buf words, aliases; /* struct writ_view each: where it stands */
    struct writ_buf marks;          /* of the text */
};

static void
take(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct writ_find *find = ctx;
    bool is_word = kind == WRIT_TOKEN_WORD || kind == WRIT_TOKEN_PLAIN;

    (void)token;
    writ_buf_put(is_word ? &find->words : &find->aliases, writ_view(&stands, sizeof stands));
}

WRIT_RESULT
writ_find_new(const struct writ_mark_key *key, struct writ_find **ret, struct writ_err *err)
{
    /* a word has at most two aliases: its host, and the account number that ends with it */
    const size_t tokens = 3 * WRIT_FIND_TEXT_MAX + 1;
    struct writ_find *find = writ_alloc(sizeof *find);
    writ_result result;

    if (find == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to search a text");
    }
    find->list = writ_mark_list_make(&find->room, tokens, true);
    find->words = find->aliases = writ_buf_make(tokens * sizeof(struct writ_view));
    find->marks = writ_buf_make(4 * tokens * WRIT_MARK);
    result = writ_mark_cipher_new(key, &find->cipher, err);
    if (!writ_is_ok(result)) {
        writ_find_free(find);
        return result;
    }
    *ret = find;
    return WRIT_DONE;
}

void
writ_find_free(struct writ_find *find)
{
    if (find != NULL) {
        writ_mark_cipher_free(find->cipher);
        writ_mark_list_wipe(&find->list);
        writ_buf_wipe(&find->words);
        writ_buf_wipe(&find->aliases);
        writ_buf_wipe(&find->marks);
        writ_free(find);
    }
}

static WRIT_RESULT
read_text(struct writ_find *find, struct writ_view text, struct writ_err *err)
{
    writ_tokens(text, take, find);
    WRIT_TRY(writ_buf_check(&find->words, err));
    WRIT_TRY(writ_buf_check(&find->aliases, err));
    writ_mark_list_add(&find->list, text);
    return writ_mark_cipher_put(find->cipher, &find->list, &find->marks, err);
}

WRIT_RESULT
writ_find_read(struct writ_find *find, struct writ_view text, struct writ_err *err)
{
    writ_result result;

    writ_buf_clear(&find->words);
    writ_buf_clear(&find->aliases);
    writ_buf_clear(&find->marks);
    if (text.len > WRIT_FIND_TEXT_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a text is longer than %zu bytes", WRIT_FIND_TEXT_MAX);
    }
    result = read_text(find, text, err);
    if (!writ_is_ok(result)) {
        writ_buf_clear(&find->words);
        writ_buf_clear(&find->aliases);
    }
    return result;
}

/* ---- searching */

struct finding {
    const struct writ_find *find;
    struct writ_view *ret;
    size_t most, n;
};

static size_t
count_of(const struct writ_buf *stands)
{
    return stands->len / sizeof(struct writ_view);
}

static struct writ_view
stand(const struct writ_buf *stands, size_t i)
{
    return ((const struct writ_view *)(const void *)stands->ptr)[i];
}

/* Keeps the order; of two that overlap the first one that came stays. */
static void
add(struct finding *f, struct writ_view place)
{
    size_t at = 0;

    while (at < f->n && f->ret[at].ptr < place.ptr) {
        at++;
    }
    if (at == f->most || (at > 0 && f->ret[at - 1].ptr + f->ret[at - 1].len > place.ptr) ||
        (at < f->n && place.ptr + place.len > f->ret[at].ptr)) {
        return;
    }
    f->n += f->n < f->most ? 1 : 0;
    for (size_t i = f->n - 1; i > at; i--) {
        f->ret[i] = f->ret[i - 1];
    }
    f->ret[at] = place;
}

/* Whether the marks from mark `i` on are those of the value. */
static bool
is_at(struct writ_view marks, size_t i, struct writ_view wanted)
{
    return wanted.len > 0 && i * WRIT_MARK + wanted.len <= marks.len &&
           marks.ptr[i * WRIT_MARK] == wanted.ptr[0] &&
           writ_view_equal(writ_view_sub(marks, i * WRIT_MARK, wanted.len), wanted);
}

static void
search(struct finding *f, struct writ_view wanted)
{
    const struct writ_find *find = f->find;
    struct writ_view marks = writ_buf_view(&find->marks);
    size_t words = count_of(&find->words), n = wanted.len / WRIT_MARK;

    for (size_t i = 0; i + n <= words; i++) {
        if (is_at(marks, i, wanted)) {
            struct writ_view first = stand(&find->words, i), last = stand(&find->words, i + n - 1);
            add(f, writ_view(first.ptr, (size_t)(last.ptr + last.len - first.ptr)));
        }
    }
    for (size_t i = 0; i < count_of(&find->aliases); i++) {
        if (is_at(marks, words + 1 + 2 * i, wanted)) {
            add(f, stand(&find->aliases, i));
        }
    }
}

size_t
writ_find_value(const struct writ_find *find, const struct writ_mark_wanted *wanted, size_t most,
    struct writ_view *ret)
{
    struct finding f = {.find = find, .ret = ret, .most = most};

    search(&f, wanted->words);
    search(&f, wanted->joined);
    return f.n;
}
