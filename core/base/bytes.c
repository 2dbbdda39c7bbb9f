/* bytes.c - views, buffers, hex and base64url. A buffer never grows beyond its maximum, and after
 * its first failure it does not change. Secrets are compared in constant time. */
#include "base/bytes.h"

#include "base/sixteen.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#define BUF_LEAST 64

bool
writ_view_equal(struct writ_view a, struct writ_view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static unsigned char
lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool
writ_view_same_letters(struct writ_view a, struct writ_view b)
{
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

bool
writ_view_has_prefix(struct writ_view a, struct writ_view prefix)
{
    return a.len >= prefix.len && writ_view_equal(writ_view_sub(a, 0, prefix.len), prefix);
}

bool
writ_view_has_suffix(struct writ_view a, struct writ_view suffix)
{
    return a.len >= suffix.len &&
           writ_view_equal(writ_view_sub(a, a.len - suffix.len, suffix.len), suffix);
}

int
writ_view_compare(struct writ_view a, struct writ_view b)
{
    size_t both = a.len < b.len ? a.len : b.len;
    int order = both > 0 ? memcmp(a.ptr, b.ptr, both) : 0;

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

struct writ_view
writ_view_sub(struct writ_view a, size_t from, size_t len)
{
    if (from > a.len) {
        from = a.len;
    }
    if (len > a.len - from) {
        len = a.len - from;
    }
    return writ_view(len > 0 ? a.ptr + from : a.ptr, len);
}

size_t
writ_view_find(struct writ_view a, char byte)
{
    const char *found = a.len > 0 ? memchr(a.ptr, byte, a.len) : NULL;

    return found != NULL ? (size_t)(found - a.ptr) : a.len;
}

size_t
writ_view_find_line_end(struct writ_view a)
{
    size_t at = 0;

    while (a.len - at >= 16) {
        writ_sixteen bytes = writ_sixteen_load(a.ptr + at);
        size_t before =
            writ_sixteen_before((writ_sixteen)(bytes == '\n') | (writ_sixteen)(bytes == '\r'));
        at += before;
        if (before < 16) {
            return at;
        }
    }
    while (at < a.len && a.ptr[at] != '\n' && a.ptr[at] != '\r') {
        at++;
    }
    return at;
}

size_t
writ_view_search(struct writ_view a, struct writ_view what)
{
    const char *found;

    if (what.len == 0) {
        return 0;
    }
    found = a.len >= what.len ? memmem(a.ptr, a.len, what.ptr, what.len) : NULL;
    return found != NULL ? (size_t)(found - a.ptr) : a.len;
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct writ_view
writ_view_trim(struct writ_view a)
{
    while (a.len > 0 && is_blank(a.ptr[0])) {
        a = writ_view(a.ptr + 1, a.len - 1);
    }
    while (a.len > 0 && is_blank(a.ptr[a.len - 1])) {
        a.len--;
    }
    return a;
}

bool
writ_view_equal_secret(struct writ_view a, struct writ_view b)
{
    return a.len == b.len && (a.len == 0 || CRYPTO_memcmp(a.ptr, b.ptr, a.len) == 0);
}

struct writ_view
writ_view_place(struct writ_view a, char *to)
{
    if (a.len >
        0) { /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): then there are bytes */
        memcpy(to, a.ptr, a.len);
    }
    return (struct writ_view){to, a.len};
}

struct writ_view
writ_view_copy(struct writ_view a, struct writ_arena *arena)
{
    char *copy = a.len < SIZE_MAX ? writ_arena_get(arena, a.len + 1) : NULL;

    if (copy == NULL) {
        return writ_view(NULL, 0);
    }
    if (a.len > 0) {
        memcpy(copy, a.ptr, a.len);
    }
    copy[a.len] = '\0';
    return writ_view(copy, a.len);
}

struct writ_buf
writ_buf_make(size_t max)
{
    return (struct writ_buf){.max = max};
}

struct writ_buf
writ_buf_in(struct writ_arena *arena, size_t max)
{
    return (struct writ_buf){.max = max, .arena = arena};
}

struct writ_buf
writ_buf_over(void *memory, size_t size)
{
    return writ_buf_from(memory, size, size);
}

struct writ_buf
writ_buf_from(void *memory, size_t size, size_t max)
{
    return (struct writ_buf){
        .ptr = memory, .cap = size < max ? size : max, .max = max, .lent = memory};
}

struct writ_buf
writ_buf_drained(void *memory, size_t size, size_t max, struct writ_drain *drain)
{
    struct writ_buf buf = writ_buf_from(memory, size, max);

    buf.drain = drain;
    return buf;
}

static bool
is_lent(const struct writ_buf *buf)
{
    return buf->lent != NULL && buf->ptr == buf->lent;
}

void
writ_buf_wipe(struct writ_buf *buf)
{
    if (buf->arena == NULL && !is_lent(buf)) {
        writ_free(buf->ptr);
    }
    *buf = (struct writ_buf){.max = buf->max, .arena = buf->arena};
}

void
writ_buf_wipe_secret(struct writ_buf *buf)
{
    writ_wipe(buf->ptr, buf->cap);
    writ_buf_wipe(buf);
}

struct writ_view
writ_buf_give(struct writ_buf *buf, struct writ_arena *arena)
{
    struct writ_view bytes = writ_buf_view(buf);

    if (buf->arena != NULL || is_lent(buf) || bytes.ptr == NULL) {
        bytes = writ_view_copy(bytes, arena);
    } else if (writ_arena_adopt(arena, buf->ptr, buf->len)) {
        buf->ptr = NULL;
    } else {
        bytes = writ_view(NULL, 0);
    }
    writ_buf_wipe(buf);
    return bytes;
}

void
writ_buf_clear(struct writ_buf *buf)
{
    buf->len = 0;
    buf->failed = WRIT_E_UNSET;
}

static char *
buf_fail(struct writ_buf *buf, enum writ_code code)
{
    buf->failed = code;
    return NULL;
}

/* Twice the size each time, so that n appended bytes cost O(n); never past the maximum. */
static size_t
next_cap(const struct writ_buf *buf, size_t need)
{
    size_t cap = buf->cap > BUF_LEAST ? buf->cap : BUF_LEAST;

    while (cap < need) {
        cap = cap > buf->max / 2 ? buf->max : cap * 2;
    }
    return cap < buf->max ? cap : buf->max;
}

/* Moves the content into `cap` bytes, perhaps elsewhere; NULL: no memory, and nothing has
 * changed. */
static char *
grow(const struct writ_buf *buf, size_t cap)
{
    char *grown;

    if (buf->arena == NULL && !is_lent(buf)) {
        return writ_realloc(buf->ptr, cap);
    }
    if (buf->arena == NULL) {
        grown = writ_realloc(NULL, cap);
    } else if (buf->ptr != NULL && writ_arena_extend(buf->arena, buf->ptr, buf->cap, cap)) {
        return buf->ptr;
    } else {
        grown = writ_arena_get(buf->arena, cap);
    }
    if (grown != NULL) {
        (void)writ_view_place(writ_buf_view(buf), grown);
    }
    return grown;
}

void
writ_buf_flush(struct writ_buf *buf)
{
    if (buf->len > 0) {
        buf->drain->fn(buf->drain, writ_buf_view(buf));
    }
    buf->max -= buf->len;
    buf->cap = buf->cap < buf->max ? buf->cap : buf->max;
    buf->len = 0;
}

/* Bytes that do not fit beside those that are held. */
static void
drain_put(struct writ_buf *buf, struct writ_view bytes)
{
    if (bytes.len > buf->max - buf->len) {
        (void)buf_fail(buf, WRIT_E_LIMIT);
        return;
    }
    writ_buf_flush(buf);
    if (bytes.len > buf->cap) {
        buf->drain->fn(buf->drain, bytes);
        buf->max -= bytes.len;
        buf->cap = buf->cap < buf->max ? buf->cap : buf->max;
    } else {
        (void)writ_view_place(bytes, buf->ptr);
        buf->len = bytes.len;
    }
}

char *
writ_buf_reserve(struct writ_buf *buf, size_t len)
{
    if (buf->failed != WRIT_E_UNSET) {
        return NULL;
    }
    if (len > buf->max - buf->len) {
        return buf_fail(buf, WRIT_E_LIMIT);
    }
    if (buf->drain != NULL && len > buf->cap - buf->len) {
        writ_buf_flush(buf);
        return len <= buf->cap ? buf->ptr : buf_fail(buf, WRIT_E_LIMIT);
    }
    if (buf->ptr == NULL || len > buf->cap - buf->len) {
        size_t cap = next_cap(buf, buf->len + len);
        char *grown = grow(buf, cap);
        if (grown == NULL) {
            return buf_fail(buf, WRIT_E_NOMEM);
        }
        buf->ptr = grown;
        buf->cap = cap;
    }
    return buf->ptr + buf->len;
}

void
writ_buf_put(struct writ_buf *buf, struct writ_view bytes)
{
    bool fits = buf->failed == WRIT_E_UNSET && bytes.len <= buf->cap - buf->len;
    char *to;

    if (bytes.len == 0) {
        return;
    }
    if (!fits && buf->drain != NULL && buf->failed == WRIT_E_UNSET) {
        drain_put(buf, bytes);
        return;
    }
    to = fits ? buf->ptr + buf->len : writ_buf_reserve(buf, bytes.len);
    if (to != NULL) {
        memcpy(to, bytes.ptr, bytes.len);
        buf->len += bytes.len;
    }
}

void
writ_buf_byte(struct writ_buf *buf, char byte)
{
    if (buf->failed == WRIT_E_UNSET && buf->len < buf->cap) {
        buf->ptr[buf->len++] = byte; /* most output is appended byte by byte */
    } else {
        writ_buf_put(buf, writ_view(&byte, 1));
    }
}

void
writ_buf_str(struct writ_buf *buf, const char *str)
{
    writ_buf_put(buf, writ_view_str(str));
}

void
writ_buf_fmt(struct writ_buf *buf, const char *fmt, ...)
{
    va_list args;
    char small[256];
    int len;

    va_start(args, fmt);
    len = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (len < 0) {
        (void)buf_fail(buf, buf->failed != WRIT_E_UNSET ? buf->failed : WRIT_E_INVALID);
    } else if ((size_t)len < sizeof small) {
        writ_buf_put(buf, writ_view(small, (size_t)len));
    } else if ((size_t)len > buf->max - buf->len) {
        (void)writ_buf_reserve(buf, (size_t)len);
    } else {
        /* vsnprintf writes a NUL after the text, which may be one more than the maximum */
        char *text = writ_alloc((size_t)len + 1);
        if (text == NULL) {
            (void)buf_fail(buf, buf->failed != WRIT_E_UNSET ? buf->failed : WRIT_E_NOMEM);
            return;
        }
        va_start(args, fmt);
        (void)vsnprintf(text, (size_t)len + 1, fmt, args);
        va_end(args);
        writ_buf_put(buf, writ_view(text, (size_t)len));
        writ_free(text);
    }
}

void
writ_buf_u64(struct writ_buf *buf, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    writ_buf_put(buf, writ_view(digits + at, sizeof digits - at));
}

void
writ_buf_i64(struct writ_buf *buf, int64_t value)
{
    if (value < 0) {
        writ_buf_byte(buf, '-');
        writ_buf_u64(buf, 0 - (uint64_t)value);
    } else {
        writ_buf_u64(buf, (uint64_t)value);
    }
}

void
writ_buf_cut(struct writ_buf *buf, size_t len)
{
    WRIT_INVARIANT(len <= buf->len);
    buf->len = len;
    buf->failed = WRIT_E_UNSET;
}

void
writ_buf_consume(struct writ_buf *buf, size_t len)
{
    if (len >= buf->len) {
        buf->len = 0;
    } else if (len > 0) {
        memmove(buf->ptr, buf->ptr + len, buf->len - len);
        buf->len -= len;
    }
}

WRIT_RESULT
writ_buf_check(const struct writ_buf *buf, struct writ_err *err)
{
    if (buf->failed == WRIT_E_LIMIT) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %zu bytes", buf->max);
    }
    if (buf->failed != WRIT_E_UNSET) {
        WRIT_FAIL(err, buf->failed, "no memory for a buffer");
    }
    return WRIT_DONE;
}

struct writ_view
writ_buf_view(const struct writ_buf *buf)
{
    return writ_view(buf->ptr, buf->len);
}

/* Four bytes, the first one lowest, as their eight digits in the same order: each byte is spread to
 * two places, and a place over 9 is shifted to the letters. */
static uint64_t
hex_eight(uint32_t four)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t pairs = four;
    uint64_t places, letters;

    pairs = (pairs | pairs << 16) & UINT64_C(0x0000ffff0000ffff);
    pairs = (pairs | pairs << 8) & UINT64_C(0x00ff00ff00ff00ff);
    places = (pairs >> 4 & UINT64_C(0x000f000f000f000f)) | (pairs & UINT64_C(0x000f000f000f000f))
                                                               << 8;
    letters = (places + ones * 6) >> 4 & ones;
    return places + ones * '0' + letters * ('a' - '0' - 10);
}

void
writ_hex_put(struct writ_buf *buf, const void *bytes, size_t len)
{
    const unsigned char *from = bytes;
    size_t at = 0;
    /* a length too long to double exceeds every buffer, and so fails */
    char *to = writ_buf_reserve(buf, len <= SIZE_MAX / 2 ? len * 2 : SIZE_MAX);

    if (to == NULL) {
        return;
    }
    for (; len - at >= 4; at += 4, to += 8) {
        uint32_t four;
        uint64_t digits;
        memcpy(&four, from + at, sizeof four);
        digits = htole64(hex_eight(le32toh(four)));
        memcpy(to, &digits, sizeof digits);
    }
    for (; at < len; at++, to += 2) {
        uint64_t digits = hex_eight(from[at]);
        to[0] = (char)(digits & 255);
        to[1] = (char)(digits >> 8 & 255);
    }
    buf->len += len * 2;
}

/* The value of a digit and 1; 0: none. */
static const uint8_t hex_values[256] = {['0'] = 1,
    ['1'] = 2,
    ['2'] = 3,
    ['3'] = 4,
    ['4'] = 5,
    ['5'] = 6,
    ['6'] = 7,
    ['7'] = 8,
    ['8'] = 9,
    ['9'] = 10,
    ['a'] = 11,
    ['b'] = 12,
    ['c'] = 13,
    ['d'] = 14,
    ['e'] = 15,
    ['f'] = 16};

static uint8_t
hex_value(char c)
{
    return hex_values[(unsigned char)c];
}

bool
writ_hex_is(struct writ_view text)
{
    size_t at = 0;

    for (; text.len - at >= 16; at += 16) {
        writ_sixteen bytes = writ_sixteen_load(text.ptr + at);
        writ_sixteen digit = (writ_sixteen)(bytes >= '0') & (writ_sixteen)(bytes <= '9');
        writ_sixteen letter = (writ_sixteen)(bytes >= 'a') & (writ_sixteen)(bytes <= 'f');
        if (writ_sixteen_any((digit | letter) != 0xff)) {
            return false;
        }
    }
    while (at < text.len && hex_value(text.ptr[at]) != 0) {
        at++;
    }
    return at == text.len;
}

WRIT_RESULT
writ_hex_read(struct writ_view text, void *ret, size_t len)
{
    unsigned char *to = ret;

    if (text.len / 2 != len || text.len % 2 != 0 || !writ_hex_is(text)) {
        return (writ_result){WRIT_E_PARSE};
    }
    for (size_t i = 0; i < len; i++) {
        to[i] = (unsigned char)((hex_value(text.ptr[2 * i]) - 1) * 16 +
                                (hex_value(text.ptr[2 * i + 1]) - 1));
    }
    return WRIT_DONE;
}

/* RFC 4648 tables 1 and 2 share the first 62 digits. */
struct alphabet {
    const char *digits; /* 64 of them */
    char digit62, digit63;
    unsigned char values[256]; /* of a digit, and 1; 0: no digit */
};

#define DIGITS_62 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
/* clang-format off */
#define VALUES_62 \
    ['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7, ['H'] = 8, \
    ['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, \
    ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, \
    ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, \
    ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, \
    ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42, ['q'] = 43, \
    ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49, ['x'] = 50, \
    ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56, ['4'] = 57, \
    ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62
/* clang-format on */

static const struct alphabet plain = {
    DIGITS_62 "+/", '+', '/', {VALUES_62, ['+'] = 63, ['/'] = 64}};
static const struct alphabet url = {DIGITS_62 "-_", '-', '_', {VALUES_62, ['-'] = 63, ['_'] = 64}};

/* Writes the bits of one or two bytes, the last of a text, as digits. */
static void
rest_put(const char *digits, const unsigned char *from, size_t len, char ret[4])
{
    unsigned bits = (unsigned)from[0] << 16 | (len > 1 ? (unsigned)from[1] << 8 : 0);

    for (size_t i = 0; i <= len; i++) {
        ret[i] = digits[bits >> (18 - 6 * i) & 63];
    }
}

static uint32_t
load_be32(const unsigned char *from)
{
    uint32_t word;

    memcpy(&word, from, sizeof word);
    return be32toh(word);
}

/* The values of the digits of twelve bytes, a byte each in their order; reads thirteen. */
static writ_sixteen
base64_values(const unsigned char *from)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    four bits = {load_be32(from), load_be32(from + 3), load_be32(from + 6), load_be32(from + 9)};
    four values = bits >> 26 | (bits >> 12 & 0x3f00) | (bits << 2 & 0x3f0000) |
                  (bits << 16 & 0x3f000000); /* the first digit is the lowest byte */

    for (size_t i = 0; i < 4; i++) {
        values[i] = htole32(values[i]);
    }
    return (writ_sixteen)values;
}

/* Twelve bytes as sixteen digits. A credential has some two thousand digits, so they are made
 * sixteen at a time: each value is shifted to its part of the alphabet. */
static writ_sixteen
base64_sixteen(const unsigned char *from, writ_sixteen to_digit62, writ_sixteen to_digit63)
{
    writ_sixteen values = base64_values(from), digits;

    digits = values + 'A';
    digits += writ_sixteen_above(values, 25) & ('a' - 26 - 'A');
    digits -= writ_sixteen_above(values, 51) & ('a' - 26 - ('0' - 52));
    digits += writ_sixteen_above(values, 61) & to_digit62;
    digits += writ_sixteen_above(values, 62) & to_digit63;
    return digits;
}

/* Writes `len` bytes, a multiple of three, as digits. */
static void
groups_put(const struct alphabet *alphabet, const unsigned char *from, size_t len, char *ret)
{
    const unsigned char *end = from + len;
    const char *digits = alphabet->digits;
    /* how far the last two digits lie from where the ones before them end */
    const writ_sixteen to_digit62 =
        (writ_sixteen){0} + (unsigned char)(alphabet->digit62 - ('0' + 10));
    const writ_sixteen to_digit63 =
        (writ_sixteen){0} + (unsigned char)(alphabet->digit63 - alphabet->digit62 - 1);

    for (; end - from >= 13; from += 12, ret += 16) { /* the last byte is read, and not used */
        writ_sixteen sixteen = base64_sixteen(from, to_digit62, to_digit63);
        memcpy(ret, &sixteen, sizeof sixteen);
    }
    for (; from < end; from += 3, ret += 4) {
        ret[0] = digits[from[0] >> 2];
        ret[1] = digits[(from[0] << 4 | from[1] >> 4) & 63];
        ret[2] = digits[(from[1] << 2 | from[2] >> 6) & 63];
        ret[3] = digits[from[2] & 63];
    }
}

static void
base64_put(
    const struct alphabet *alphabet, bool padded, struct writ_buf *buf, struct writ_view bytes)
{
    size_t most = bytes.len <= SIZE_MAX / 2 ? (bytes.len + 2) / 3 * 4 : SIZE_MAX;
    size_t whole = bytes.len / 3 * 3, rest = bytes.len % 3;
    size_t need = padded || rest == 0 ? most : most - (3 - rest);
    char *to = writ_buf_reserve(buf, need);

    if (to == NULL) {
        return;
    }
    groups_put(alphabet, (const unsigned char *)bytes.ptr, whole, to);
    if (rest > 0) {
        char last[4] = "====";
        rest_put(alphabet->digits, (const unsigned char *)bytes.ptr + whole, rest, last);
        memcpy(to + whole / 3 * 4, last, padded ? 4 : rest + 1);
    }
    buf->len += need;
}

/* Three bytes of four digits; false: one of them is none. */
static bool
four_read(const struct alphabet *alphabet, const unsigned char *from, char *ret)
{
    unsigned a = alphabet->values[from[0]], b = alphabet->values[from[1]],
             c = alphabet->values[from[2]], d = alphabet->values[from[3]];
    unsigned bits = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);

    if (a == 0 || b == 0 || c == 0 || d == 0) {
        return false;
    }
    ret[0] = (char)(bits >> 16);
    ret[1] = (char)(bits >> 8 & 255);
    ret[2] = (char)(bits & 255);
    return true;
}

/* Appends the decoded bytes, or nothing. Strict (RFC 4648 3.5): the unused bits are zero, so that
 * one byte string has one text only. */
static writ_result
base64_read(const struct alphabet *alphabet, struct writ_view digits, struct writ_buf *ret)
{
    size_t len = digits.len / 4 * 3 + (digits.len % 4 > 0 ? digits.len % 4 - 1 : 0);
    size_t before = ret->len;
    unsigned bits = 0, held = 0;
    char *to;

    if (digits.len % 4 == 1) {
        return (writ_result){WRIT_E_PARSE};
    }
    to = writ_buf_reserve(ret, len);
    if (to == NULL) {
        return (writ_result){ret->failed};
    }
    while (digits.len >= 4) {
        if (!four_read(alphabet, (const unsigned char *)digits.ptr, to)) {
            return (writ_result){WRIT_E_PARSE};
        }
        digits = writ_view_sub(digits, 4, digits.len);
        to += 3;
    }
    for (size_t i = 0; i < digits.len; i++) {
        unsigned value = alphabet->values[(unsigned char)digits.ptr[i]];
        if (value == 0) {
            return (writ_result){WRIT_E_PARSE};
        }
        bits = bits << 6 | (value - 1);
        held += 6;
        if (held >= 8) {
            held -= 8;
            *to++ = (char)(bits >> held & 255);
        }
    }
    if ((bits & ((1U << held) - 1)) != 0) {
        return (writ_result){WRIT_E_PARSE};
    }
    ret->len = before + len;
    return WRIT_DONE;
}

void
writ_base64url_put(struct writ_buf *buf, struct writ_view bytes)
{
    base64_put(&url, false, buf, bytes);
}

WRIT_RESULT
writ_base64url_read(struct writ_view text, struct writ_buf *ret)
{
    return base64_read(&url, text, ret);
}

void
writ_base64_put(struct writ_buf *buf, struct writ_view bytes)
{
    base64_put(&plain, true, buf, bytes);
}

WRIT_RESULT
writ_base64_read(struct writ_view text, struct writ_buf *ret)
{
    size_t padding = 0;

    if (text.len % 4 != 0) {
        return (writ_result){WRIT_E_PARSE};
    }
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=') {
        padding++;
    }
    return base64_read(&plain, writ_view_sub(text, 0, text.len - padding), ret);
}
