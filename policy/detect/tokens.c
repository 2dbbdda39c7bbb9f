/* Tokens by their prefixes or by a mark inside (token.tbl.h), JSON Web Tokens, private keys and
 * URLs with passwords. A prefix counts where the byte in front of it is no letter or digit, and
 * around a mark a bounded number of bytes is read, so that each run of characters is read a bounded
 * number of times. */
#include "evidence/json/json.h"
#include "policy/detect/scan.h"

/* ---- by prefix */

enum characters {
    HEX,
    BASE32,
    UPPER,
    ALNUM,
    WORD,
    DASH,
    DOT,
    PATH,
    BASE64,
    PLAIN64,
    BOTH64,
    MIXED,
    TILDE,
    DIGIT,
};

static const struct row {
    size_t id;
    struct writ_view prefix;
    enum characters characters;
    size_t least, most;
} rows[] = {
#define TOKEN(ID, prefix, characters, least, most)                                                 \
    {WRIT_DETECTOR_##ID, {prefix, sizeof(prefix) - 1}, characters, least, most},
#define MARKED(ID, before, before_least, before_most, mark, after, after_least, after_most, end)
#include "policy/detect/token.tbl.h"
#undef TOKEN
#undef MARKED
};

static bool
is_of(enum characters characters, char c)
{
    switch (characters) {
    case HEX:
        return writ_scan_digit(c) || (c >= 'a' && c <= 'f');
    case BASE32:
        return (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7');
    case UPPER:
        return (c >= 'A' && c <= 'Z') || writ_scan_digit(c);
    case ALNUM:
        return writ_scan_alnum(c);
    case WORD:
        return writ_scan_alnum(c) || c == '_';
    case DASH:
    case MIXED:
        return writ_scan_alnum(c) || c == '_' || c == '-';
    case DOT:
        return writ_scan_alnum(c) || c == '_' || c == '-' || c == '.';
    case PATH:
        return writ_scan_alnum(c) || c == '_' || c == '-' || c == '/';
    case BASE64:
        return writ_scan_alnum(c) || c == '+' || c == '/' || c == '=';
    case PLAIN64:
        return writ_scan_alnum(c) || c == '+' || c == '/';
    case BOTH64:
        return is_of(BASE64, c) || is_of(DASH, c);
    case TILDE:
        return is_of(DOT, c) || c == '~';
    case DIGIT:
        return writ_scan_digit(c);
    }
    return false;
}

static bool
is_mixed(struct writ_view text)
{
    bool small = false, capital = false, digit = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        small = small || (c >= 'a' && c <= 'z');
        capital = capital || (c >= 'A' && c <= 'Z');
        digit = digit || writ_scan_digit(c);
    }
    return small && capital && digit;
}

/* The end of a sentence is no part of a token. */
static size_t
without_dots(struct writ_view text, size_t from, size_t to)
{
    while (to > from && (text.ptr[to - 1] == '.' || text.ptr[to - 1] == '-')) {
        to--;
    }
    return to;
}

static void
try_row(struct writ_scan *scan, const struct row *row, size_t at)
{
    size_t from = at + row->prefix.len, to = from;

    while (to < scan->text.len && to - from <= row->most &&
           is_of(row->characters, scan->text.ptr[to])) {
        to++;
    }
    if (row->characters == DOT) {
        to = without_dots(scan->text, from, to);
    }
    if (to - from >= row->least && to - from <= row->most &&
        (row->characters != MIXED || is_mixed(writ_view_sub(scan->text, from, to - from)))) {
        writ_scan_found(scan, row->id, at, to - at);
    }
}

/* ---- by a mark inside */

static const struct marked {
    size_t id;
    enum characters before;
    size_t before_least, before_most;
    struct writ_view mark;
    enum characters after;
    size_t after_least, after_most;
    struct writ_view end;
} marks[] = {
#define TOKEN(ID, prefix, characters, least, most)
#define MARKED(ID, before, before_least, before_most, mark, after, after_least, after_most, end)   \
    {WRIT_DETECTOR_##ID, before, before_least, before_most, {mark, sizeof(mark) - 1}, after,       \
        after_least, after_most, {end, sizeof(end) - 1}},
#include "policy/detect/token.tbl.h"
#undef TOKEN
#undef MARKED
};

/* `at`: of the mark. What stands around the token is none of its characters. */
static void
try_marked(struct writ_scan *scan, const struct marked *row, size_t at)
{
    struct writ_view text = scan->text;
    size_t from = at, to = at + row->mark.len, begin = to;

    while (at - from <= row->before_most && is_of(row->before, writ_scan_byte(text, from - 1))) {
        from--;
    }
    while (to - begin <= row->after_most && is_of(row->after, writ_scan_byte(text, to))) {
        to++;
    }
    if (row->after == TILDE) {
        to = without_dots(text, begin + row->after_least < to ? begin + row->after_least : to, to);
    }
    if (at - from < row->before_least || at - from > row->before_most ||
        to - begin < row->after_least || to - begin > row->after_most ||
        !writ_view_has_prefix(writ_view_sub(text, to, text.len), row->end) ||
        writ_scan_alnum(writ_scan_byte(text, from - 1)) ||
        writ_scan_alnum(writ_scan_byte(text, to + row->end.len))) {
        return;
    }
    writ_scan_found(scan, row->id, from, to + row->end.len - from);
}

static void
scan_marked(struct writ_scan *scan)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const struct marked *row = &marks[i];
        size_t at = 0;

        while (scan->set->builtin[row->id] && !scan->stopped && at < scan->text.len) {
            at += writ_view_search(writ_view_sub(scan->text, at, scan->text.len), row->mark);
            if (at < scan->text.len) {
                try_marked(scan, row, at);
                at++;
            }
        }
    }
}

void
writ_scan_tokens(struct writ_scan *scan)
{
    bool begins[256] = {false};

    scan_marked(scan);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begins[(unsigned char)rows[i].prefix.ptr[0]] = true;
    }
    for (size_t at = 0; at < scan->text.len && !scan->stopped; at++) {
        if (!begins[(unsigned char)scan->text.ptr[at]] ||
            writ_scan_alnum(writ_scan_byte(scan->text, at - 1))) {
            continue;
        }
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (scan->set->builtin[rows[i].id] &&
                writ_view_has_prefix(
                    writ_view_sub(scan->text, at, scan->text.len), rows[i].prefix)) {
                try_row(scan, &rows[i], at);
            }
        }
    }
}

/* ---- JSON Web Tokens */

#define SEGMENT_MAX ((size_t)1 << 20) /* bytes of a segment */

/* The end of the segment that begins at `at`. */
static size_t
segment_end(struct writ_view text, size_t at)
{
    while (at < text.len && is_of(DASH, text.ptr[at])) {
        at++;
    }
    return at;
}

static bool
is_object(struct writ_scan *scan, struct writ_arena *arena, struct writ_view segment)
{
    writ_auto_buf text = writ_buf_make(SEGMENT_MAX);
    const struct writ_json *value = NULL;
    bool object = false;

    if (writ_is_ok(writ_base64url_read(segment, &text))) {
        writ_result r =
            writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL);
        object = writ_is_ok(r) && writ_json_type(value) == WRIT_JSON_OBJECT;
        if (r.code == WRIT_E_NOMEM) {
            scan->failed = WRIT_E_NOMEM;
        }
    }
    writ_arena_reset(arena);
    return object;
}

static void
try_jwt(struct writ_scan *scan, struct writ_arena *arena, size_t at)
{
    struct writ_view text = scan->text;
    size_t header = segment_end(text, at);
    size_t payload = segment_end(text, header + 1), end;

    if (writ_scan_byte(text, header) != '.' || writ_scan_byte(text, payload) != '.' ||
        !is_object(scan, arena, writ_view_sub(text, at, header - at)) ||
        !is_object(scan, arena, writ_view_sub(text, header + 1, payload - header - 1))) {
        return;
    }
    end = segment_end(text, payload + 1);
    writ_scan_found(scan, WRIT_DETECTOR_JWT, at, end - at);
}

static void
arena_freep(struct writ_arena **arena)
{
    writ_arena_free(*arena);
}

void
writ_scan_jwt(struct writ_scan *scan)
{
    WRIT_AUTO(struct writ_arena *, arena_freep) arena = NULL;

    for (size_t at = 0; at < scan->text.len && !scan->stopped; at++) {
        /* {" or { and white space, in base64 */
        if ((scan->text.ptr[at] != 'e' && scan->text.ptr[at] != 'I') ||
            is_of(DASH, writ_scan_byte(scan->text, at - 1)) ||
            writ_scan_byte(scan->text, segment_end(scan->text, at)) != '.') {
            continue;
        }
        arena = arena != NULL ? arena : writ_arena_new((size_t)256 << 20);
        if (arena == NULL) {
            scan->failed = WRIT_E_NOMEM;
            return;
        }
        try_jwt(scan, arena, at);
    }
}

/* ---- private keys */

void
writ_scan_pem(struct writ_scan *scan)
{
    static const struct writ_view begin = {"-----BEGIN ", 11}, end = {"-----END ", 9};
    struct writ_view text = scan->text;
    size_t at = writ_view_search(text, begin);

    while (at < text.len && !scan->stopped) {
        struct writ_view label = writ_view_sub(text, at + begin.len, 64);
        size_t from = at;

        label = writ_view_sub(label, 0, writ_view_search(label, WRIT_LIT("-----")));
        at += begin.len;
        if (writ_view_search(label, WRIT_LIT("PRIVATE KEY")) < label.len) {
            size_t stop = writ_view_search(writ_view_sub(text, at, text.len), end);
            at += stop; /* without an end it goes to the end of the text */
            at += at < text.len ? end.len + label.len + 5 : 0;
            at = at < text.len ? at : text.len;
            writ_scan_found(scan, WRIT_DETECTOR_PRIVATE_KEY, from, at - from);
        }
        at += writ_view_search(writ_view_sub(text, at, text.len), begin);
    }
}

/* ---- https://user:password@host */

void
writ_scan_url(struct writ_scan *scan)
{
    struct writ_view text = scan->text;

    for (size_t at = 0; at + 3 < text.len && !scan->stopped; at++) {
        size_t colon = 0, i = at + 3;

        if (text.ptr[at] != ':' || text.ptr[at + 1] != '/' || text.ptr[at + 2] != '/') {
            continue;
        }
        for (; i < text.len && (unsigned char)text.ptr[i] > ' ' && text.ptr[i] != '/' &&
               text.ptr[i] != '@' && text.ptr[i] != '"' && text.ptr[i] != '<';
             i++) {
            colon = colon == 0 && text.ptr[i] == ':' ? i : colon;
        }
        if (colon > 0 && i > colon + 1 && writ_scan_byte(text, i) == '@' &&
            (unsigned char)writ_scan_byte(text, i + 1) > ' ') {
            writ_scan_found(scan, WRIT_DETECTOR_URL_PASSWORD, at + 3, i - at - 3);
        }
    }
}
