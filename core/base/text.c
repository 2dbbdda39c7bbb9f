/* text.c - strict readers, and writers that escape. Fast paths read eight or sixteen bytes at a
 * time and give the same result as the loop after them. */
#include "base/text.h"

#include "base/hidden.h"
#include "base/sixteen.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_CHUNK 4096
#define ESCAPE_MAX 6  /* "\\u001f" */
#define FAST_LEAST 32 /* bytes for which there must be room without growing */

WRIT_RESULT
writ_text_u64(struct writ_view text, uint64_t least, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;

    if (text.len == 0 || (text.len > 1 && text.ptr[0] == '0')) {
        return (writ_result){WRIT_E_PARSE};
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return (writ_result){WRIT_E_PARSE};
        }
    }
    for (size_t i = 0; i < text.len; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.ptr[i] - '0'), &value)) {
            return (writ_result){WRIT_E_LIMIT};
        }
    }
    if (value < least || value > most) {
        return (writ_result){WRIT_E_LIMIT};
    }
    *ret = value;
    return WRIT_DONE;
}

/* Writes the escape of RFC 8785 3.2.2.2 for a byte that needs one, and gives its end. */
static char *
write_escape(unsigned char c, char *to)
{
    static const char shorts[] = "btn\0fr"; /* 0x08 to 0x0d; 0x0b has none */
    static const char digits[] = "0123456789abcdef";

    *to++ = '\\';
    if (c == '"' || c == '\\') {
        *to++ = (char)c;
    } else if (c >= 0x08 && c <= 0x0d && c != 0x0b) {
        *to++ = shorts[c - 0x08];
    } else {
        *to++ = 'u';
        *to++ = '0';
        *to++ = '0';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    return to;
}

static void
put_escape(struct writ_buf *buf, unsigned char c)
{
    char escape[ESCAPE_MAX];

    writ_buf_put(buf, writ_view(escape, (size_t)(write_escape(c, escape) - escape)));
}

static bool
needs_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* A byte b is below n when b - n borrows into its highest bit and b has none there; it is c when
 * b ^ c is below 1. */
static bool
eight_need_escape(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
    uint64_t quotes, slashes;

    quotes = eight ^ (ones * '"');
    slashes = eight ^ (ones * '\\');
    return ((((eight - ones * 0x20) & ~eight) | ((quotes - ones) & ~quotes) |
                ((slashes - ones) & ~slashes)) &
               tops) != 0;
}

static writ_sixteen
escaped_of_sixteen(writ_sixteen bytes)
{
    return (writ_sixteen)(bytes < 0x20) | (writ_sixteen)(bytes == '"') |
           (writ_sixteen)(bytes == '\\');
}

static bool
sixteen_need_escape(writ_sixteen bytes)
{
    return writ_sixteen_any(escaped_of_sixteen(bytes));
}

static bool
copy_sixteen(const char *from, char *to)
{
    writ_sixteen bytes = writ_sixteen_load(from);

    memcpy(to, &bytes, sizeof bytes);
    return !sixteen_need_escape(bytes);
}

static bool
copy_eight(const char *from, char *to)
{
    uint64_t eight = writ_view_load64(from);

    memcpy(to, from, sizeof eight);
    return !eight_need_escape(eight);
}

/* Four to eight bytes; those in the middle are copied twice. */
static bool
copy_few(struct writ_view text, char *to)
{
    size_t last = text.len - sizeof(uint32_t);
    uint32_t halves[2];

    memcpy(&halves[0], text.ptr, sizeof halves[0]);
    memcpy(&halves[1], text.ptr + last, sizeof halves[1]);
    memcpy(to, &halves[0], sizeof halves[0]);
    memcpy(to + last, &halves[1], sizeof halves[1]);
    return !eight_need_escape(halves[0] | (uint64_t)halves[1] << 32);
}

/* Copies while it checks: false when a byte needs an escape; the copy is unusable then. The first
 * and last blocks overlap, so that there are few branches. */
static bool
copy_plain(struct writ_view text, char *to)
{
    size_t at = 0;

    if (text.len >= 16) {
        for (; text.len - at > 16; at += 16) {
            if (!copy_sixteen(text.ptr + at, to + at)) {
                return false;
            }
        }
        return copy_sixteen(text.ptr + text.len - 16, to + text.len - 16);
    }
    if (text.len >= 8) {
        return copy_eight(text.ptr, to) && copy_eight(text.ptr + text.len - 8, to + text.len - 8);
    }
    if (text.len >= 4) {
        return copy_few(text, to);
    }
    for (; at < text.len; at++) {
        to[at] = text.ptr[at];
        if (needs_escape(text.ptr[at])) {
            return false;
        }
    }
    return true;
}

/* How many bytes at the front need no escape. */
static size_t
plain_len(struct writ_view text)
{
    size_t at = 0;

    while (text.len - at >= 16 && !sixteen_need_escape(writ_sixteen_load(text.ptr + at))) {
        at += 16;
    }
    while (at < text.len && !needs_escape(text.ptr[at])) {
        at++;
    }
    return at;
}

/* Appends a string without escapes: most strings need none, and every digest is made over such
 * strings. False: this one does, and nothing was appended. */
static bool
put_plain(struct writ_buf *buf, struct writ_view text)
{
    char *to;

    if (buf->drain != NULL && text.len + 2 > buf->cap) {
        return false; /* piece by piece */
    }
    to = writ_buf_reserve(buf, text.len + 2);
    if (to == NULL) {
        return true; /* the buffer remembers */
    }
    if (!copy_plain(text, to + 1)) {
        return false;
    }
    to[0] = '"';
    to[text.len + 1] = '"';
    buf->len += text.len + 2;
    return true;
}

/* Writes the text with its escapes, where there is room for the longest form of each byte and 16
 * bytes more. */
static char *
write_escaped(struct writ_view text, char *to)
{
    const char *at = text.ptr, *end = text.ptr + text.len;

    while (end - at >= 16) {
        writ_sixteen bytes = writ_sixteen_load(at);
        size_t plain = writ_sixteen_before(escaped_of_sixteen(bytes));
        writ_sixteen_store(bytes, to);
        at += plain;
        to += plain;
        if (plain < 16) {
            to = write_escape((unsigned char)*at++, to);
        }
    }
    for (; at < end; at++) {
        if (needs_escape(*at)) {
            to = write_escape((unsigned char)*at, to);
        } else {
            *to++ = *at;
        }
    }
    return to;
}

/* Appends the text with its escapes. What surely fits is written at once; the rest grows the
 * buffer by no more than it needs. */
static void
put_escaped(struct writ_buf *buf, struct writ_view text)
{
    while (text.len > 0 && buf->failed == WRIT_E_UNSET) {
        size_t room = buf->cap - buf->len, piece, plain;

        if (buf->drain != NULL && room < FAST_LEAST * ESCAPE_MAX + 16 && buf->len > 0) {
            writ_buf_flush(buf);
            continue;
        }
        piece = room > 16 ? (room - 16) / ESCAPE_MAX : 0;
        if (piece >= text.len || piece >= FAST_LEAST) {
            struct writ_view now = writ_view_sub(text, 0, piece);
            buf->len = (size_t)(write_escaped(now, buf->ptr + buf->len) - buf->ptr);
            text = writ_view_sub(text, now.len, text.len);
            continue;
        }
        plain = plain_len(text);
        writ_buf_put(buf, writ_view_sub(text, 0, plain));
        if (plain < text.len) {
            put_escape(buf, (unsigned char)text.ptr[plain]);
        }
        text = writ_view_sub(text, plain + 1, text.len);
    }
}

void
writ_text_json(struct writ_buf *buf, struct writ_view text)
{
    if (text.len <= SIZE_MAX - 2 && put_plain(buf, text)) {
        return;
    }
    writ_buf_byte(buf, '"');
    put_escaped(buf, text);
    writ_buf_byte(buf, '"');
}

bool
writ_text_is_field(struct writ_view text)
{
    writ_sixteen found = {0}; /* most texts pass: one check at the end */
    size_t at = 0;

    for (; text.len - at >= 16; at += 16) {
        writ_sixteen bytes = writ_sixteen_load(text.ptr + at);
        writ_sixteen control = (writ_sixteen)(bytes < 0x20) & (writ_sixteen)(bytes != '\t');
        found |= control | (writ_sixteen)(bytes == 0x7f);
    }
    if (writ_sixteen_any(found)) {
        return false;
    }
    for (; at < text.len; at++) {
        unsigned char c = (unsigned char)text.ptr[at];
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return false;
        }
    }
    return true;
}

static void
put_unit(struct writ_buf *buf, uint32_t unit)
{
    unsigned char be[2] = {(unsigned char)(unit >> 8), (unsigned char)(unit & 255)};

    writ_buf_str(buf, "\\u");
    writ_hex_put(buf, be, sizeof be);
}

/* JSON has two escapes for a character beyond U+FFFF (RFC 8259 7); people get its code point. */
static void
put_point(struct writ_buf *buf, uint32_t point, bool json)
{
    if (point <= 0xffff) {
        put_unit(buf, point);
    } else if (json) {
        put_unit(buf, 0xd800 + ((point - 0x10000) >> 10));
        put_unit(buf, 0xdc00 + ((point - 0x10000) & 0x3ff));
    } else {
        writ_buf_fmt(buf, "\\u{%x}", point);
    }
}

/* The number of leading bytes that are printable ASCII and that no literal escapes: nearly all
 * logged text. */
static size_t
plain_run(struct writ_view text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] >= 0x20 && text.ptr[n] < 0x7f && text.ptr[n] != '"' &&
           text.ptr[n] != '\\') {
        n++;
    }
    return n;
}

/* The text, safe for a line; `json`: inside of a string literal as well. */
static void
put_safe(struct writ_buf *buf, struct writ_view text, size_t max, bool json)
{
    struct writ_view rest = writ_view_sub(text, 0, max);

    while (rest.len > 0) {
        uint32_t point;
        size_t plain = plain_run(rest);
        size_t len = plain > 0 ? plain : writ_utf8_character(rest, &point);
        if (plain > 0) {
            writ_buf_put(buf, writ_view_sub(rest, 0, plain));
        } else if (len == 0) {
            /* a character that the cut broke is left out, not shown as a bad byte */
            if (rest.len < 4 && text.len > max &&
                writ_utf8_character(writ_view(rest.ptr, text.len - (max - rest.len)), &point) > 0) {
                break;
            }
            writ_buf_byte(buf, '?');
            len = 1;
        } else if (json && needs_escape(rest.ptr[0])) {
            put_escape(buf, (unsigned char)rest.ptr[0]);
        } else if (writ_hidden_kind(point) != WRIT_HIDDEN_NOT) {
            put_point(buf, point, json);
        } else {
            writ_buf_put(buf, writ_view_sub(rest, 0, len));
        }
        rest = writ_view_sub(rest, len, rest.len - len);
    }
}

void
writ_text_safe(struct writ_buf *buf, struct writ_view text, size_t max)
{
    put_safe(buf, text, max, false);
}

void
writ_text_json_safe(struct writ_buf *buf, struct writ_view text, size_t max)
{
    writ_buf_byte(buf, '"');
    put_safe(buf, text, max, true);
    writ_buf_byte(buf, '"');
}

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

static writ_result
open_regular(const char *path, int *ret_fd, size_t *ret_size, struct writ_err *err)
{
    /* O_NONBLOCK: a named pipe is refused below and must not hold us up before */
    WRIT_AUTO(int, close_fd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat info;

    if (fd < 0) {
        enum writ_code code = errno == ENOENT || errno == ENOTDIR ? WRIT_E_ABSENT : WRIT_E_IO;
        WRIT_FAIL(err, code, "%s: cannot open: %s", path, strerrordesc_np(errno));
    }
    if (fstat(fd, &info) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: cannot inspect: %s", path, strerrordesc_np(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: not a regular file", path);
    }
    *ret_size = (size_t)info.st_size;
    *ret_fd = fd;
    fd = -1;
    return WRIT_DONE;
}

static const char *
why_unread(enum writ_code code)
{
    if (code == WRIT_E_IO) {
        return strerrordesc_np(errno);
    }
    return code == WRIT_E_LIMIT ? "longer than allowed" : "no memory to read it";
}

/* O_NONBLOCK: a named pipe is refused below and must not block the open */
static writ_result
read_rest(int fd, size_t max, struct writ_buf *ret)
{
    char chunk[READ_CHUNK];
    writ_result r = WRIT_DONE;
    ssize_t got = 1;

    while (writ_is_ok(r) && got != 0) {
        got = read(fd, chunk, sizeof chunk);
        if (got < 0) {
            r.code = errno == EINTR ? WRIT_OK : WRIT_E_IO;
        } else if ((size_t)got > max) {
            r.code = WRIT_E_LIMIT;
        } else {
            max -= (size_t)got;
            writ_buf_put(ret, writ_view(chunk, (size_t)got));
            r = writ_buf_check(ret, NULL);
        }
    }
    writ_wipe(chunk, sizeof chunk); /* Appends the rest of the file; more than `max` bytes in all
                                       are WRIT_E_LIMIT (a file can grow after it was opened). */
    return r;
}

WRIT_RESULT
writ_text_folder(const char *path, struct writ_buf *ret, struct writ_err *err)
{
    char here[WRIT_TEXT_PATH_MAX];
    struct writ_view folder = writ_view_str(path);

    while (folder.len > 0 && folder.ptr[folder.len - 1] != '/') {
        folder.len--;
    }
    if (path[0] != '/') {
        if (getcwd(here, sizeof here) == NULL) {
            WRIT_FAIL(err, WRIT_E_IO, "the working directory: %s", strerrordesc_np(errno));
        }
        writ_buf_str(ret, here);
        writ_buf_str(ret, here[1] != '\0' ? "/" : ""); /* but for the root */
    }
    writ_buf_put(ret, folder);
    return writ_buf_check(ret, err);
}

WRIT_RESULT
writ_text_file(const char *path, size_t max, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) fd = -1;
    size_t before = ret->len, size = 0;
    writ_result r;

    WRIT_TRY(open_regular(path, &fd, &size, err));
    if (size > max) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "%s: longer than %zu bytes", path, max);
    }
    /* full size at once: a buffer that grows would leave parts of a key behind */
    (void)writ_buf_reserve(ret, size);
    r = read_rest(fd, max, ret);
    if (!writ_is_ok(r)) {
        ret->len = before;
        WRIT_FAIL(err, r.code, "%s: %s", path, why_unread(r.code));
    }
    return WRIT_DONE;
}
