/* What depends on the memory layout of libmicrohttpd 0.9.75: memory beside the tokens of a head is
 * noticed, and a field of the head is never taken for a trailer. */
#include "support/unit.h"

#include "gateway/listener/mhd.h"
#include "support/gateway/split_head.h"

static bool
is_strict(const char *text)
{
    struct split_head sample;

    split_head(&sample, text);
    return writ_mhd_is_strict(writ_view(sample.bytes, sample.len), &sample.head);
}

START_TEST(mhd_head_with_bytes_beside_its_tokens_is_refused)
{
    ck_assert(is_strict("POST /mcp HTTP/1.1\r\nHost: a\r\nB:  c \r\nD:\r\n\r\n"));
    ck_assert(is_strict("GET / HTTP/1.1\r\n\r\n"));
    /* a bare LF after the request line, after a field, at the end */
    ck_assert(!is_strict("GET / HTTP/1.1\nHost: a\r\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: a\nB: c\r\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: a\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: a\r\n\n"));
    /* a NUL that cuts the method, the target, the version, a value */
    ck_assert(!is_strict("GE|T / HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert(!is_strict("GET /a|b HTTP/1.1\r\nHost: a\r\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1|x\r\nHost: a\r\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: a|b\r\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: a|\r\n\r\n"));
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: |a\r\nB: c\r\n\r\n"));
    /* a folded line, two spaces in the request line */
    ck_assert(!is_strict("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"));
    ck_assert(!is_strict("GET  / HTTP/1.1\r\nHost: a\r\n\r\n"));
}
END_TEST

START_TEST(mhd_trailer_excludes_fields_of_the_head)
{
    static const char head[] = "GET / HTTP/1.1\r\nA: b\r\n\r\nC: d\r\n";
    struct writ_view raw = writ_view(head, 24);

    ck_assert(!writ_mhd_is_trailer(raw, head));
    ck_assert(!writ_mhd_is_trailer(raw, head + 23));
    ck_assert(writ_mhd_is_trailer(raw, head + 24));
}
END_TEST

WRIT_UNIT_MAIN("mhd", mhd_head_with_bytes_beside_its_tokens_is_refused,
    mhd_trailer_excludes_fields_of_the_head)
