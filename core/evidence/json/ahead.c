/* ahead.c - finds the long string by brackets and quotes alone: whether it is a value at all, and
 * in which text, is the reader's to say (json_read.c). */
#include "evidence/json/ahead.h"

#include "evidence/json/jcs.h"

#define DEPTH_MAX 16
#define MARK      "\\u0000writ" /* stands for the string, in its canonical spelling */
#define ARENA_MAX 131072

void
writ_ahead_begin(struct writ_ahead *ret, struct writ_view member, size_t least)
{
    *ret = (struct writ_ahead){.member = member, .least = least};
}

/* The brackets that close what was open before the string. */
struct closers {
    char list[DEPTH_MAX];
    size_t n;
};

/* The first long string, or one that has not ended, among those that begin near the start of the
 * text. */
static bool
find(struct writ_ahead *ahead, struct writ_view text, struct closers *closers)
{
    size_t at = 0;

    while (at < text.len && at < WRIT_AHEAD_BEFORE) {
        char c = text.ptr[at++];
        if (c == '"') {
            ahead->spelling = writ_spelling_begin();
            ahead->state = writ_spelling_read(&ahead->spelling, writ_view_sub(text, at, text.len));
            if (ahead->state != WRIT_SPELLING_CLOSED ||
                ahead->spelling.source >= ahead->least / 2) {
                ahead->start = at;
                return ahead->state != WRIT_SPELLING_BAD;
            }
            at += ahead->spelling.source + 1;
        } else if ((c == '{' || c == '[') && closers->n < DEPTH_MAX) {
            closers->list[closers->n++] = c == '{' ? '}' : ']';
        } else if ((c == '}' || c == ']') && closers->n > 0) {
            closers->n--;
        } else if (c == '{' || c == '[' || c == '}' || c == ']') {
            break;
        }
    }
    ahead->state = WRIT_SPELLING_BAD;
    return false;
}

/* The canonical form as it would be if nothing came after the string that sorts before it. */
static writ_result
put_guess(const struct writ_ahead *ahead, struct writ_view text, const struct closers *closers,
    struct writ_buf *ret)
{
    char room[WRIT_AHEAD_BEFORE + sizeof MARK + DEPTH_MAX];
    struct writ_buf whole = writ_buf_over(room, sizeof room);
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *value;

    writ_buf_put(&whole, writ_view_sub(text, 0, ahead->start));
    writ_buf_str(&whole, MARK "\"");
    for (size_t i = closers->n; i > 0; i--) {
        writ_buf_byte(&whole, closers->list[i - 1]);
    }
    WRIT_TRY(writ_buf_check(&whole, NULL));
    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_json_read(writ_buf_view(&whole), &writ_json_limits_default, arena, &value, NULL));
    value = writ_json_get(value, ahead->member);
    return value == NULL ? (writ_result){WRIT_E_ABSENT} : writ_jcs_put(ret, value, NULL);
}

/* Begins the digest, when the bytes before the string can be guessed. */
static void
guess(struct writ_ahead *ahead, struct writ_view text, const struct closers *closers)
{
    char room[2 * WRIT_AHEAD_BEFORE];
    struct writ_buf canonical = writ_buf_over(room, sizeof room);
    struct writ_view before;

    if (!writ_is_ok(put_guess(ahead, text, closers, &canonical))) {
        return;
    }
    before = writ_buf_view(&canonical);
    before.len = writ_view_search(before, WRIT_LIT("\"" MARK "\"")) + 1; /* with the quote */
    if (before.len > canonical.len || before.len > sizeof ahead->before ||
        !writ_is_ok(writ_digest_stream_init(&ahead->digest, NULL)) ||
        !writ_is_ok(writ_digest_stream_add(&ahead->digest, before, NULL))) {
        writ_digest_stream_wipe(&ahead->digest);
        return;
    }
    (void)writ_view_place(before, ahead->before);
    ahead->before_len = before.len;
}

/* Bytes that were found valid; a spelling that is not canonical is not digested as it stands. */
static void
digest(struct writ_ahead *ahead, struct writ_view bytes)
{
    if (ahead->digest.begun && (!ahead->spelling.canonical || !writ_is_ok(writ_digest_stream_add(
                                                                  &ahead->digest, bytes, NULL)))) {
        writ_digest_stream_wipe(&ahead->digest);
    }
}

/* Reads the rest of what was found. */
static void
read_on(struct writ_ahead *ahead, struct writ_view text)
{
    size_t was = ahead->spelling.source;

    ahead->text = text.ptr;
    if (ahead->state == WRIT_SPELLING_MORE) {
        ahead->state =
            writ_spelling_read(&ahead->spelling, writ_view_sub(text, ahead->start + was, text.len));
        digest(ahead, writ_view_sub(text, ahead->start + was, ahead->spelling.source - was));
    }
}

void
writ_ahead_feed(struct writ_ahead *ahead, struct writ_view so_far)
{
    struct closers closers = {.n = 0};

    if (ahead->looked || so_far.len < ahead->least) {
        read_on(ahead, so_far);
        return;
    }
    ahead->looked = true;
    ahead->text = so_far.ptr;
    if (find(ahead, so_far, &closers)) {
        guess(ahead, so_far, &closers);
        digest(ahead, writ_view_sub(so_far, ahead->start, ahead->spelling.source));
    }
}

WRIT_RESULT
writ_ahead_digest(const struct writ_ahead *ahead, const struct writ_json *member, size_t max,
    struct writ_digest *ret, size_t *ret_bytes, struct writ_err *err)
{
    struct writ_digest_begun begun;

    if (ahead == NULL || !ahead->digest.begun || ahead->state != WRIT_SPELLING_CLOSED) {
        return writ_digest_json_sized(member, max, NULL, ret, ret_bytes, err);
    }
    begun = (struct writ_digest_begun){
        .before = writ_view(ahead->before, ahead->before_len),
        .string = writ_view(ahead->text + ahead->start, ahead->spelling.source),
        .stream = &ahead->digest,
    };
    return writ_digest_json_sized(member, max, &begun, ret, ret_bytes, err);
}

const struct writ_spelling *
writ_ahead_string(const struct writ_ahead *ahead, const char *start)
{
    return ahead->state == WRIT_SPELLING_CLOSED && start == ahead->text + ahead->start
               ? &ahead->spelling
               : NULL;
}

WRIT_RESULT
writ_ahead_read(struct writ_view text, const struct writ_json_limits *limits,
    struct writ_ahead *ahead, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    if (ahead != NULL) {
        read_on(ahead, text);
    }
    return writ_json_read_known(text, limits, ahead, arena, ret, err);
}
