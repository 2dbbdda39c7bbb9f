/* Tokens by their prefixes (token.tbl.h), and the other kinds of secrets. A prefix counts where the
 * byte in front of it is no letter or digit, so that each run of characters is read a bounded
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
    BOTH64,
    MIXED,
};

static const struct row {
    size_t id;
    struct writ_view prefix;
    enum characters characters;
    size_t least, most;
} rows[] = {
#define TOKEN(ID, prefix, characters, least, most)                                                 \
    {WRIT_DETECTOR_##ID, {prefix, sizeof(prefix) - 1}, characters, least, most},
#include "policy/detect/token.tbl.h"
#undef TOKEN
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
    case BOTH64:
        return is_of(BASE64, c) || is_of(DASH, c);
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

void
writ_scan_tokens(struct writ_scan *scan)
{
    bool begins[256] = {false};

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

/* ---- password = ... */

#define VALUE_LEAST 8
#define VALUE_MOST  256
#define BITS_LEAST  30 /* of a value, by the characters in it */
#define SPACES_MOST 4

static const struct writ_view keywords[] = {
#define KEYWORD(word) {word, sizeof(word) - 1},
    KEYWORD("password") KEYWORD("passwd") KEYWORD("passphrase") KEYWORD("pwd") KEYWORD("secret")
        KEYWORD("secret_key") KEYWORD("secretkey") KEYWORD("secret_access_key") KEYWORD("token")
            KEYWORD("api_key") KEYWORD("apikey") KEYWORD("api-key") KEYWORD("access_key")
                KEYWORD("accesskey") KEYWORD("private_key") KEYWORD("credential")
#undef KEYWORD
};

/* log2 in eighths, downwards. */
static unsigned
log2_eighths(unsigned n)
{
    unsigned whole = 0, part = 0;
    uint64_t x;

    for (unsigned rest = n; rest > 1; rest /= 2) {
        whole++;
    }
    x = ((uint64_t)n << 20) >> whole; /* 1 to 2 */
    for (unsigned bit = 0; bit < 3; bit++) {
        x = (x * x) >> 20;
        part = 2 * part + (x >= (UINT64_C(2) << 20) ? 1 : 0);
        x = x >= (UINT64_C(2) << 20) ? x / 2 : x;
    }
    return 8 * whole + part;
}

/* Shannon's entropy by the frequency of its characters, in bits of the whole. */
static unsigned
bits_of(struct writ_view text)
{
    unsigned counts[256] = {0}, eighths = (unsigned)text.len * log2_eighths((unsigned)text.len);

    for (size_t i = 0; i < text.len; i++) {
        counts[(unsigned char)text.ptr[i]]++;
    }
    for (size_t i = 0; i < 256; i++) {
        unsigned own = counts[i] > 1 ? counts[i] * log2_eighths(counts[i]) : 0;
        eighths -= own < eighths ? own : eighths;
    }
    return eighths / 8;
}

static bool
looks_random(struct writ_view text)
{
    bool letter = false, digit = false;

    for (size_t i = 0; i < text.len; i++) {
        letter = letter || writ_scan_letter(text.ptr[i]);
        digit = digit || writ_scan_digit(text.ptr[i]);
    }
    return letter && digit && text.len >= VALUE_LEAST && bits_of(text) >= BITS_LEAST;
}

static bool
is_value(char c)
{
    return (unsigned char)c > ' ' && c != '"' && c != '\'' && c != '`' && c != ',' && c != ';' &&
           c != '<' && c != '>' && c != '(' && c != ')' && c != '{' && c != '}' && c != '[' &&
           c != ']' && c != '\\' && (unsigned char)c < 0x7f;
}

static bool
is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static size_t
skip_spaces(struct writ_view text, size_t at)
{
    size_t end = at + SPACES_MOST;

    while (at < end && (writ_scan_byte(text, at) == ' ' || writ_scan_byte(text, at) == '\t')) {
        at++;
    }
    return at;
}

/* What is given to the name that ends at `at`. */
static void
try_value(struct writ_scan *scan, size_t at)
{
    struct writ_view text = scan->text;
    size_t to;

    at += is_quote(writ_scan_byte(text, at)) ? 1 : 0;
    at = skip_spaces(text, at);
    if (writ_scan_byte(text, at) != ':' && writ_scan_byte(text, at) != '=') {
        return;
    }
    while (writ_scan_byte(text, at) == ':' || writ_scan_byte(text, at) == '=' ||
           writ_scan_byte(text, at) == '>') {
        at++;
    }
    at = skip_spaces(text, at);
    at += is_quote(writ_scan_byte(text, at)) ? 1 : 0;
    for (to = at; to < text.len && to - at < VALUE_MOST && is_value(text.ptr[to]); to++) {
    }
    if (looks_random(writ_view_sub(text, at, to - at))) {
        writ_scan_found(scan, WRIT_DETECTOR_ASSIGNMENT, at, to - at);
    }
}

void
writ_scan_assignment(struct writ_scan *scan)
{
    struct writ_view text = scan->text;

    for (size_t at = 0; at < text.len && !scan->stopped; at++) {
        char c = (char)(text.ptr[at] | 0x20);
        if (c != 'p' && c != 's' && c != 't' && c != 'a' && c != 'c') {
            continue;
        }
        for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
            if (writ_view_equal_nocase(writ_view_sub(text, at, keywords[i].len), keywords[i])) {
                try_value(scan, at + keywords[i].len);
            }
        }
    }
}
