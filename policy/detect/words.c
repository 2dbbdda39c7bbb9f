/* A text is compared as a list of words, each between single spaces, so that case, punctuation and
 * characters that hide make no difference. */
#include "policy/detect/words.h"

#include "base/hidden.h"
#include "base/utf8.h"
#include "policy/detect/detector.h"
#include "policy/detect/prompt.tbl.h"
#include "policy/detect/scan.h"
#include "policy/detect/skeleton.tbl.h"

#define GAP_MAX   5  /* words that a `*` stands for */
#define MARK_SEEN 40 /* bytes from a mark on that belong to the find */

static char
lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool
writ_words_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The ASCII letter that a character looks like; 0: it is not known to look like one. */
static char
look_alike(uint32_t point)
{
    static const struct {
        uint32_t point;
        char ascii;
    } rows[] = {
#define ROW(from, to) {from, to},
        WRIT_SKELETON(ROW)
#undef ROW
    };

    if (point >= 0xff01 && point <= 0xff5e) { /* fullwidth forms */
        return lower((char)(point - 0xff01 + 0x21));
    }
    if (point >= 0x1d400 && point < 0x1d6a4) { /* mathematical letters, 52 to an alphabet */
        return (char)('a' + (point - 0x1d400) % 26);
    }
    if (point >= 0x1d7ce && point <= 0x1d7ff) {
        return (char)('0' + (point - 0x1d7ce) % 10);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].point == point) {
            return rows[i].ascii;
        }
    }
    return 0;
}

/* A tag is a hidden copy of an ASCII character, which a model may read. */
static char
ascii_of(uint32_t point)
{
    return point < 0x80                           ? lower((char)point)
           : point >= 0xe0020 && point <= 0xe007e ? lower((char)(point - 0xe0000))
                                                  : look_alike(point);
}

size_t
writ_words_next(struct writ_view text, char *ret_ascii, struct writ_view *ret_other)
{
    uint32_t point = 0;
    size_t len = writ_utf8_character(text, &point);
    enum writ_hidden kind = writ_hidden_kind(point);

    *ret_ascii = len == 0 ? ' ' : ascii_of(point);
    *ret_other = writ_view(NULL, 0);
    if (len > 0 && *ret_ascii == 0 && kind == WRIT_HIDDEN_NOT) {
        *ret_other = writ_view_sub(text, 0, len);
    }
    if (kind == WRIT_HIDDEN_LINE || kind == WRIT_HIDDEN_SPACE || kind == WRIT_HIDDEN_CONTROL) {
        *ret_ascii = ' ';
    }
    return len > 0 ? len : 1;
}

bool
writ_words_looks_alike(uint32_t point)
{
    return point >= 0x80 && look_alike(point) != 0;
}

/* ---- a text as words */

/* " ignore all previous instructions ", and where each byte of it stood. */
struct words {
    struct writ_buf text;
    uint32_t *at;
};

static void
put(struct words *w, struct writ_view bytes, size_t at)
{
    for (size_t i = 0; i < bytes.len; i++) {
        w->at[w->text.len + i] = (uint32_t)(at + i);
    }
    writ_buf_put(&w->text, bytes);
}

static WRIT_RESULT
make_words(struct writ_view text, struct words *ret)
{
    static const struct writ_view space = {" ", 1};

    ret->text = writ_buf_make(text.len + 2);
    ret->at = text.len < UINT32_MAX ? writ_alloc((text.len + 3) * sizeof *ret->at) : NULL;
    if (ret->at == NULL || writ_buf_reserve(&ret->text, text.len + 2) == NULL) {
        return (writ_result){
            ret->at == NULL && text.len >= UINT32_MAX ? WRIT_E_LIMIT : WRIT_E_NOMEM};
    }
    put(ret, space, 0);
    for (size_t i = 0; i < text.len;) {
        struct writ_view other;
        char ascii;
        size_t len = writ_words_next(writ_view_sub(text, i, text.len), &ascii, &other);

        if (other.len > 0) {
            put(ret, other, i);
        } else if (writ_words_is_word(ascii) && ascii > 0) {
            put(ret, writ_view(&ascii, 1), i);
        } else if (ascii != 0 && ret->text.ptr[ret->text.len - 1] != ' ') {
            put(ret, space, i);
        }
        i += len;
    }
    if (ret->text.ptr[ret->text.len - 1] != ' ') {
        put(ret, space, text.len);
    }
    ret->at[ret->text.len] = (uint32_t)text.len;
    return WRIT_DONE;
}

static void
words_wipe(struct words *w)
{
    writ_buf_wipe(&w->text);
    writ_free(w->at);
}

/* ---- what addresses the model */

static const struct {
    size_t id;
    struct writ_view words;
} addresses[] = {
#define ROW(ID, words) {WRIT_DETECTOR_##ID, {words, sizeof words - 1}},
    WRIT_PROMPT_WORDS(ROW)
#undef ROW
};

static const struct {
    size_t id;
    struct writ_view text;
} marks[] = {
#define ROW(ID, text) {WRIT_DETECTOR_##ID, {text, sizeof text - 1}},
    WRIT_PROMPT_MARKS(ROW)
#undef ROW
};

static struct writ_view
take_word(struct writ_view *rest)
{
    struct writ_view word = writ_view_sub(*rest, 0, writ_view_find(*rest, ' '));

    *rest = writ_view_sub(*rest, word.len + 1, SIZE_MAX);
    return word;
}

/* Whether `text` begins with the words; `ret_len`: how many bytes of it they are. */
static bool
begins_with(struct writ_view text, struct writ_view words, size_t *ret_len)
{
    struct writ_view rest = text;

    while (words.len > 0) {
        struct writ_view wanted = take_word(&words);

        if (writ_view_is(wanted, "*")) {
            for (size_t gap = 0; gap <= GAP_MAX && rest.len > 0; gap++) {
                size_t len;
                if (begins_with(rest, words, &len)) {
                    *ret_len = text.len - rest.len + len;
                    return true;
                }
                (void)take_word(&rest);
            }
            return false;
        }
        if (rest.len == 0 || !writ_view_equal(take_word(&rest), wanted)) {
            return false;
        }
    }
    *ret_len = text.len - rest.len;
    return true;
}

static bool
find_addresses(const struct words *w, writ_words_fn *each, void *ctx)
{
    struct writ_view all = writ_buf_view(&w->text);

    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        struct writ_view rest = writ_view_sub(all, 1, SIZE_MAX);

        while (rest.len > 0) {
            size_t from = all.len - rest.len, len;
            if (rest.ptr[0] == addresses[i].words.ptr[0] &&
                begins_with(rest, addresses[i].words, &len)) {
                struct writ_view words = writ_view_trim(writ_view_sub(rest, 0, len));
                size_t last = w->at[from + words.len - 1] + 1;
                if (!each(ctx, addresses[i].id, words, w->at[from], last - w->at[from])) {
                    return false;
                }
            }
            (void)take_word(&rest);
        }
    }
    return true;
}

static WRIT_RESULT
find_marks(struct writ_view text, writ_words_fn *each, void *ctx)
{
    writ_auto_buf low = writ_buf_make(text.len + 1);

    for (size_t i = 0; i < text.len; i++) {
        writ_buf_byte(&low, lower(text.ptr[i]));
    }
    WRIT_TRY(writ_buf_check(&low, NULL));
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t from = 0;
        while (from < low.len) {
            from +=
                writ_view_search(writ_view_sub(writ_buf_view(&low), from, low.len), marks[i].text);
            if (from < low.len && !each(ctx, marks[i].id, writ_view_sub(text, from, MARK_SEEN),
                                      from, marks[i].text.len)) {
                return WRIT_DONE;
            }
            from += marks[i].text.len;
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_words_find(struct writ_view text, writ_words_fn *each, void *ctx)
{
    WRIT_AUTO(struct words, words_wipe) words = {.at = NULL};

    WRIT_TRY(make_words(text, &words));
    return find_addresses(&words, each, ctx) ? find_marks(text, each, ctx) : WRIT_DONE;
}

/* ---- the finders */

static bool
take_words(void *ctx, size_t id, struct writ_view words, size_t offset, size_t length)
{
    struct writ_scan *scan = ctx;

    (void)words;
    writ_scan_found(scan, id, offset, length);
    return !scan->stopped;
}

void
writ_scan_prompt(struct writ_scan *scan)
{
    writ_result r = writ_words_find(scan->text, take_words, scan);

    if (!writ_is_ok(r)) {
        scan->failed = r.code;
    }
}

/* What writ_hidden_strip leaves out; it is looked for in the text as given alone. */
void
writ_scan_hidden(struct writ_scan *scan)
{
    writ_auto_buf visible = writ_buf_make(scan->text.len + 1);
    struct writ_view text = scan->text, seen;

    if (scan->at != NULL || writ_hidden_strip(&visible, text) == 0) {
        return;
    }
    seen = writ_buf_view(&visible);
    if (!writ_is_ok(writ_buf_check(&visible, NULL))) {
        scan->failed = WRIT_E_NOMEM;
        return;
    }
    for (size_t at = 0; at < text.len && !scan->stopped;) {
        uint32_t point;
        size_t len = writ_utf8_character(writ_view_sub(text, at, text.len), &point);
        struct writ_view one = writ_view_sub(text, at, len > 0 ? len : 1);

        if (writ_view_has_prefix(seen, one)) {
            seen = writ_view_sub(seen, one.len, seen.len);
        } else {
            writ_scan_found(scan, WRIT_DETECTOR_HIDDEN_CHARACTERS, at, one.len);
        }
        at += one.len;
    }
}
