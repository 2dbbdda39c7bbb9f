/* find.c - the marks of the text are made as for a record, of all its words, and beside them the
 * part of the text of each. For one text the list has the marks of its words, one of zeros, and
 * then each alias with zeros behind it (mark.h). */
#include "evidence/flow/find.h"

#include "evidence/flow/token.h"

struct finding {
    struct writ_buf words, aliases; /* struct writ_view each: where it stands */
    struct writ_view marks;         /* of the text */
    struct writ_view *ret;
    size_t most, n;
};

static void
take(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct finding *f = ctx;
    bool is_word = kind == WRIT_TOKEN_WORD || kind == WRIT_TOKEN_PLAIN;

    (void)token;
    writ_buf_put(is_word ? &f->words : &f->aliases, writ_view(&stands, sizeof stands));
}

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
is_at(const struct finding *f, size_t i, struct writ_view wanted)
{
    return wanted.len > 0 &&
           writ_view_equal(writ_view_sub(f->marks, i * WRIT_MARK, wanted.len), wanted);
}

static void
search(struct finding *f, struct writ_view wanted)
{
    size_t words = count_of(&f->words), n = wanted.len / WRIT_MARK;

    for (size_t i = 0; i + n <= words; i++) {
        if (is_at(f, i, wanted)) {
            struct writ_view first = stand(&f->words, i), last = stand(&f->words, i + n - 1);
            add(f, writ_view(first.ptr, (size_t)(last.ptr + last.len - first.ptr)));
        }
    }
    for (size_t i = 0; i < count_of(&f->aliases); i++) {
        if (is_at(f, words + 1 + 2 * i, wanted)) {
            add(f, stand(&f->aliases, i));
        }
    }
}

static void
finding_wipe(struct finding *f)
{
    writ_buf_wipe(&f->words);
    writ_buf_wipe(&f->aliases);
}

static void
list_freep(struct writ_mark_list **list)
{
    writ_mark_list_wipe(*list);
}

WRIT_RESULT
writ_find_value(struct writ_view text, const struct writ_mark_key *key,
    const struct writ_mark_wanted *wanted, size_t most, struct writ_view *ret, size_t *ret_n,
    struct writ_err *err)
{
    /* a word has at most two aliases: its host, and the account number that ends with it */
    size_t tokens = 3 * text.len + 1;
    struct writ_mark_room room;
    struct writ_mark_list made = writ_mark_list_make(&room, tokens, true);
    WRIT_AUTO(struct writ_mark_list *, list_freep) list = &made;
    writ_auto_buf marks = writ_buf_make(4 * tokens * WRIT_MARK);
    WRIT_AUTO(struct finding, finding_wipe)
    f = {.words = writ_buf_make(tokens * sizeof(struct writ_view)),
        .aliases = writ_buf_make(tokens * sizeof(struct writ_view)),
        .ret = ret,
        .most = most};

    if (text.len > WRIT_FIND_TEXT_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a text is longer than %zu bytes", WRIT_FIND_TEXT_MAX);
    }
    writ_tokens(text, take, &f);
    WRIT_TRY(writ_buf_check(&f.words, err));
    WRIT_TRY(writ_buf_check(&f.aliases, err));
    writ_mark_list_add(list, text);
    WRIT_TRY(writ_mark_list_put(list, key, &marks, err));
    f.marks = writ_buf_view(&marks);
    search(&f, wanted->words);
    search(&f, wanted->joined);
    *ret_n = f.n;
    return WRIT_DONE;
}
