/* What is given to a name such as password: in one text (password = ...), or as the text of a
 * member of that name. A token that only turns the page of a list is no secret. */
#include "policy/detect/scan.h"

#define VALUE_LEAST 8
#define VALUE_MOST  256
#define BITS_LEAST  30 /* of a value, by the characters in it */
#define SPACES_MOST 4

static const struct writ_view keywords[] = {
#define KEYWORD(word) {word, sizeof(word) - 1},
    KEYWORD("password") KEYWORD("passwd") KEYWORD("passphrase") KEYWORD("pwd") KEYWORD("secret")
        KEYWORD("secret_key") KEYWORD("secretkey") KEYWORD("secret_access_key") KEYWORD("token")
            KEYWORD("api_key") KEYWORD("apikey") KEYWORD("api-key") KEYWORD("access_key")
                KEYWORD("accesskey") KEYWORD("account_key") KEYWORD("accountkey")
                    KEYWORD("private_key") KEYWORD("credential")
#undef KEYWORD
};

/* Words before `token` in the name of one that turns the page of a list. */
static const struct writ_view paging[] = {WRIT_LIT("next"), WRIT_LIT("page"),
    WRIT_LIT("pagination"), WRIT_LIT("continuation"), WRIT_LIT("cursor"), WRIT_LIT("skip"),
    WRIT_LIT("delta"), WRIT_LIT("sync"), WRIT_LIT("progress")};

static bool
ends_with(struct writ_view text, struct writ_view end)
{
    return text.len >= end.len &&
           writ_view_equal_nocase(writ_view_sub(text, text.len - end.len, end.len), end);
}

/* `before`: the text up to the word `token`. */
static bool
turns_a_page(struct writ_view before)
{
    char last = writ_scan_byte(before, before.len - 1);

    if (last == '_' || last == '-' || last == '.' || last == ' ') {
        before.len--;
    }
    for (size_t i = 0; i < sizeof paging / sizeof paging[0]; i++) {
        if (ends_with(before, paging[i])) {
            return true;
        }
    }
    return false;
}

/* Whether `word`, which ends at the end of `text`, is the name of a secret. */
static bool
is_secret(struct writ_view text, struct writ_view word)
{
    return !writ_view_is(word, "token") ||
           !turns_a_page(writ_view_sub(text, 0, text.len - word.len));
}

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

/* The text of a member whose name ends in such a word. */
static void
try_member(struct writ_scan *scan)
{
    struct writ_view text = scan->text;
    size_t i = 0;

    while (i < sizeof keywords / sizeof keywords[0] &&
           !(ends_with(scan->member, keywords[i]) && is_secret(scan->member, keywords[i]))) {
        i++;
    }
    if (i == sizeof keywords / sizeof keywords[0] || text.len > VALUE_MOST) {
        return;
    }
    for (size_t at = 0; at < text.len; at++) {
        if ((unsigned char)text.ptr[at] <= ' ') {
            return; /* words for people */
        }
    }
    if (looks_random(text)) {
        writ_scan_found(scan, WRIT_DETECTOR_ASSIGNMENT, 0, text.len);
    }
}

void
writ_scan_assignment(struct writ_scan *scan)
{
    struct writ_view text = scan->text;

    try_member(scan);
    for (size_t at = 0; at < text.len && !scan->stopped; at++) {
        char c = (char)(text.ptr[at] | 0x20);
        if (c != 'p' && c != 's' && c != 't' && c != 'a' && c != 'c') {
            continue;
        }
        for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
            struct writ_view word = writ_view_sub(text, at, keywords[i].len);

            if (writ_view_equal_nocase(word, keywords[i]) &&
                is_secret(writ_view_sub(text, 0, at + word.len), keywords[i])) {
                try_value(scan, at + keywords[i].len);
            }
        }
    }
}
