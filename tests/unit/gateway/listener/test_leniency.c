/* What the listener accepts although RFC 9112 forbids it: the table of docs/security-limits.md,
 * row by row, in the column of the libmicrohttpd that runs. The table lists all of it. */
#include "support/unit.h"

#include "base/text.h"
#include "support/gateway/echo.h"
#include "support/gateway/raw.h"

#include <microhttpd.h>

#define BUFFER_MAX (1U << 20)
#define PAGE       WRIT_SOURCE_DIR "/docs/security-limits.md"
#define PROBES_MAX 5
#define POST       "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
#define END        "0\r\n\r\n"
#define GET        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define BYTES(s)                                                                                   \
    {                                                                                              \
        (s), sizeof(s) - 1                                                                         \
    }

/* A row is accepted when one of its probes reaches a handler, with this body if there is one. */
static const struct row {
    const char *name;
    struct writ_view probes[PROBES_MAX];
    struct writ_view body;
} rows[] = {
    {.name = "any byte but LF (so also CR and NUL) in a chunk extension",
        .probes = {BYTES(POST "2;a\rb\0c\r\n{}\r\n" END), BYTES(POST "3;a\rb\0c\r\n{}\r\n" END)}},
    {.name = "a chunk with an extension whose data begins with the LF of its line",
        .probes = {BYTES(POST "3;a\r\n{}\r\n" END)},
        .body = BYTES("\r\n\r\n\n{}")},
    {.name = "a bare LF that ends a chunk size or a chunk extension",
        .probes = {BYTES(POST "2\n{}\r\n" END), BYTES(POST "2;a\n{}\r\n" END),
            BYTES(POST "3;a\n{}\r\n" END)}},
    {.name = "a bare LF after the data of a chunk", .probes = {BYTES(POST "2\r\n{}\n" END)}},
    {.name = "a bare LF after the last chunk, and in or after a trailer field",
        .probes = {BYTES(POST "2\r\n{}\r\n0\n\r\n"), BYTES(POST "2\r\n{}\r\n0\r\n\n"),
            BYTES(POST "2\r\n{}\r\n0\r\nX: y\n\r\n"), BYTES(POST "2\r\n{}\r\n0\r\nX: y\r\n\n")}},
    {.name = "a line that begins with NUL in place of the empty line after trailers",
        .probes = {BYTES(POST "2\r\n{}\r\n0\r\n\0\r\n"),
            BYTES(POST "2\r\n{}\r\n0\r\nX: y\r\n\0a\r\n")}},
    {.name = "a line that begins with `:` in place of the empty line after trailers",
        .probes = {BYTES(POST "2\r\n{}\r\n0\r\nX: y\r\n:\r\n"),
            BYTES(POST "2\r\n{}\r\n0\r\nX: y\r\n:z\r\n")}},
    {.name = "NUL that cuts a trailer field",
        .probes = {BYTES(POST "2\r\n{}\r\n0\r\nX: y\0z\r\n\r\n")}},
    {.name = "NUL LF in place of CR LF at the end of a line",
        .probes = {BYTES("GET / HTTP/1.1\r\nHost: localhost\0\n\r\n"),
            BYTES("GET / HTTP/1.1\0\nHost: localhost\r\n\r\n")}},
    {.name = "a bare LF, or a line that begins with NUL, in place of an empty line before a "
             "request line",
        .probes = {BYTES("\n" GET), BYTES("\0\r\n" GET)}},
};

static bool
is_accepted(struct echo *echo, const struct row *row)
{
    bool accepted = false;

    for (size_t i = 0; i < PROBES_MAX && row->probes[i].len > 0; i++) {
        writ_auto_buf got = writ_buf_make(BUFFER_MAX);
        unsigned before = atomic_load(&echo->handled);

        (void)raw_ask(echo_port(echo), row->probes[i], &got);
        accepted = accepted || (atomic_load(&echo->handled) > before &&
                                   writ_view_has_suffix(writ_buf_view(&got), row->body));
    }
    return accepted;
}

/* Cell `at` of a line of a table, from 0. */
static struct writ_view
cell(struct writ_view line, unsigned at)
{
    for (unsigned i = 0; i <= at; i++) {
        line = writ_view_sub(line, writ_view_find(line, '|') + 1, line.len);
    }
    return writ_view_trim(writ_view_sub(line, 0, writ_view_find(line, '|')));
}

static struct writ_view
line_after(struct writ_view page, const char *begin)
{
    size_t at = writ_view_search(page, writ_view_str(begin));
    struct writ_view rest = writ_view_sub(page, at, page.len);

    ck_assert_msg(at < page.len, "docs/security-limits.md has no line \"%s\"", begin);
    return writ_view_sub(rest, 0, writ_view_find(rest, '\n'));
}

/* The column of the version that runs, or the last one. */
static unsigned
column_of(struct writ_view page)
{
    struct writ_view head = line_after(page, "| accepted | where |");
    unsigned column = 2;

    while (!writ_view_is(cell(head, column), MHD_get_version()) && cell(head, column + 1).len > 0) {
        column++;
    }
    return column;
}

START_TEST(listener_accepts_exactly_the_rows_of_security_limits)
{
    writ_auto_buf page = writ_buf_make(BUFFER_MAX);
    struct echo *echo = echo_start_any();
    unsigned column;

    ck_assert_ok(writ_text_file(PAGE, BUFFER_MAX, &page, NULL));
    column = column_of(writ_buf_view(&page));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        writ_auto_buf begin = writ_buf_make(BUFFER_MAX);
        struct writ_view said;

        writ_buf_fmt(&begin, "| %s |", rows[i].name);
        writ_buf_byte(&begin, '\0');
        said = cell(line_after(writ_buf_view(&page), begin.ptr), column);
        ck_assert_msg(writ_view_is(said, is_accepted(echo, &rows[i]) ? "yes" : "no"),
            "%s: " WRIT_VIEW_FMT " is not so", rows[i].name, WRIT_VIEW_ARG(said));
    }
    echo_stop(echo);
}
END_TEST

WRIT_UNIT_MAIN("leniency", listener_accepts_exactly_the_rows_of_security_limits)
