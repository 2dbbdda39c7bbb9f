/* A listener whose handler takes every path sees no more requests than a strict reader finds
 * complete at the begin of the bytes (RFC 9112), and answers at most one time more than that.
 *
 * Where libmicrohttpd forgives what its application cannot see, the reader here forgives the same
 * and no more (docs/security-limits.md): what a chunk extension holds, and with 0.9.75 a bare LF in
 * the lines of a chunked body and before a request line, a line that begins with NUL in place of an
 * empty one there, one that begins with ':' at the end of a trailer, NUL LF in place of CR LF in a
 * head; with 1.x, where the data behind a chunk extension begins. So this fuzzer also shows that
 * the list there is whole. A request with a trailer is the last one. */
#include "support/fuzz.h"

#include "base/text.h"
#include "gateway/http/framing.h"
#include "support/gateway/echo.h"
#include "support/gateway/raw.h"

#include <microhttpd.h>

#define BUFFER_MAX (1U << 20)
#define LAX        (MHD_VERSION < 0x01000000)
#define INPUT_MAX  16384
#define BODY_MAX   (1U << 20) /* of the route */

static struct writ_header fields[WRIT_FRAMING_FIELDS_MAX];

/* One line that ends in CR LF, or where it is forgiven in NUL LF; false when the next LF is another
 * one. */
static bool
take_line(struct writ_view *rest, struct writ_view *ret)
{
    size_t end = writ_view_find(*rest, '\n');

    if (end == rest->len || end == 0 ||
        (rest->ptr[end - 1] != '\r' && !(LAX && rest->ptr[end - 1] == '\0'))) {
        return false;
    }
    *ret = writ_view_sub(*rest, 0, end - 1);
    *rest = writ_view_sub(*rest, end + 1, rest->len);
    return true;
}

static bool
is_empty(struct writ_view line)
{
    return line.len == 0 || (LAX && line.ptr[0] == '\0');
}

/* One line of a chunked body: where the library tolerates it, a bare LF ends it as well. */
static bool
take_lax_line(struct writ_view *rest, struct writ_view *ret)
{
    size_t end = writ_view_find(*rest, '\n');

    if (!LAX) {
        return take_line(rest, ret);
    }
    if (end == rest->len) {
        return false;
    }
    *ret = writ_view_sub(*rest, 0, end > 0 && rest->ptr[end - 1] == '\r' ? end - 1 : end);
    *rest = writ_view_sub(*rest, end + 1, rest->len);
    return true;
}

static bool
read_head(struct writ_view *rest, struct writ_framing *ret)
{
    struct writ_framing_head head = {.headers = fields};
    struct writ_framing_fault fault;
    struct writ_view line, after, before;
    size_t space;

    do { /* RFC 9112 2.2: empty lines before a request line may be ignored */
        before = *rest;
        if (!take_lax_line(rest, &line)) {
            return false;
        }
    } while (is_empty(line));
    *rest = before;
    if (!take_line(rest, &line)) {
        return false;
    }
    space = writ_view_find(line, ' ');
    after = writ_view_sub(line, space + 1, line.len);
    head.method = writ_view_sub(line, 0, space);
    head.target = writ_view_sub(after, 0, writ_view_find(after, ' '));
    head.version = writ_view_sub(after, head.target.len + 1, after.len);
    while (take_line(rest, &line)) {
        size_t colon = writ_view_find(line, ':');
        if (line.len == 0) {
            return writ_is_ok(writ_framing_read(&head, ret, &fault));
        }
        if (colon == line.len || head.count == WRIT_FRAMING_FIELDS_MAX) {
            return false;
        }
        fields[head.count++] = (struct writ_header){writ_view_sub(line, 0, colon),
            writ_view_trim(writ_view_sub(line, colon + 1, line.len))};
    }
    return false;
}

static bool
read_hex(struct writ_view text, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit == 16 || value > UINT64_MAX / 16) {
            return false;
        }
        value = value * 16 + digit;
    }
    *ret = value;
    return text.len > 0;
}

static bool
read_trailers(struct writ_view *rest)
{
    struct writ_view line;
    bool any = false;

    while (take_lax_line(rest, &line)) {
        if (is_empty(line) || (LAX && any && line.ptr[0] == ':')) {
            *rest = any ? (struct writ_view){0} : *rest;
            return true;
        }
        any = true;
    }
    return false;
}

static bool
read_chunks(struct writ_view *rest)
{
    struct writ_view line, size_digits;
    uint64_t size, total = 0;

    while (take_lax_line(rest, &line)) {
        size_digits = writ_view_sub(line, 0, writ_view_find(line, ';'));
        if (!LAX && size_digits.len < line.len) {
            size_digits = writ_view_trim(size_digits);
            rest->ptr--; /* libmicrohttpd 1.0 leaves the LF of this line behind */
            rest->len++;
        }
        if (!read_hex(size_digits, &size)) {
            return false;
        }
        if (size == 0) {
            return read_trailers(rest);
        }
        if (size >= rest->len || (total += size) > BODY_MAX) {
            return false;
        }
        *rest = writ_view_sub(*rest, (size_t)size, rest->len);
        if (!take_lax_line(rest, &line) || line.len > 0) {
            return false;
        }
    }
    return false;
}

static bool
read_request(struct writ_view *rest)
{
    struct writ_framing framing = {0};

    if (!read_head(rest, &framing)) {
        return false;
    }
    if (framing.chunked) {
        return read_chunks(rest);
    }
    if (framing.content_length > rest->len || framing.content_length > BODY_MAX) {
        return false;
    }
    *rest = writ_view_sub(*rest, (size_t)framing.content_length, rest->len);
    return true;
}

static unsigned
interims(struct writ_view bytes)
{
    static const struct writ_view interim = WRIT_LIT("HTTP/1.1 100 Continue\r\n\r\n");
    unsigned count = 0;

    for (size_t at = writ_view_search(bytes, interim); at < bytes.len;
         at = writ_view_search(bytes, interim)) {
        bytes = writ_view_sub(bytes, at + interim.len, bytes.len);
        count++;
    }
    return count;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct echo *echo;
    struct writ_view rest = writ_view(data, size < INPUT_MAX ? size : INPUT_MAX), all = rest;
    writ_auto_buf got = writ_buf_make(BUFFER_MAX);
    unsigned most = 0, before, handled;

    if (echo == NULL) {
        echo = echo_start_any();
    }
    while (read_request(&rest)) {
        most++;
    }
    before = atomic_load(&echo->handled);
    (void)raw_ask(echo_port(echo), all, &got);
    handled = atomic_load(&echo->handled) - before;
    WRIT_INVARIANT(handled <= most);
    WRIT_INVARIANT(raw_count(writ_buf_view(&got)) <= handled + 1 + interims(writ_buf_view(&got)));
    return 0;
}
