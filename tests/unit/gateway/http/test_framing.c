/* Request heads. Each is accepted or refused with its status, and every limit holds on both sides.
 */
#include "support/unit.h"

#include "gateway/http/framing.h"
#include "support/gateway/split_head.h"

/* 200 when the head is accepted, else the status of the refusal. */
static unsigned
judge(const char *text, struct writ_framing *ret)
{
    static struct split_head sample; /* what `ret` points into */
    struct writ_framing_fault fault = {0};

    split_head(&sample, text);
    if (writ_is_ok(writ_framing_read(&sample.head, ret, &fault))) {
        return 200;
    }
    ck_assert_uint_ne(fault.reason, WRIT_REASON_NONE);
    return fault.status;
}

#define HOST "Host: a\r\n"
#define END  "\r\n"

static const struct {
    const char *text;
    unsigned status;
} heads[] = {
    {"POST /mcp HTTP/1.1\r\n" HOST END, 200},
    {"GET /mcp?a=%20b HTTP/1.1\r\n" HOST END, 200},
    {"DELETE /mcp HTTP/1.0\r\n" HOST END, 200},
    {"BREW /mcp HTTP/1.1\r\n" HOST END, 200}, /* well-formed; no route takes it */
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n" END, 200},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 007\r\n" END, 200},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n" END, 200},
    {"POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\n" END, 200},
    {"POST / HTTP/1.1\r\n" HOST "Accept: a\r\nAccept: b\r\n" END, 200},
    {"POST / HTTP/1.1\r\n" HOST "X: \xc3\xa4\t b\r\n" END, 200},
    {"POST / HTTP/1.1\r\nHost: [::1]:80\r\n" END, 200},
    /* the length of the body */
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: +3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: -3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 3 3\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 18446744073709551616\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: \xef\xbc\x93\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \"chunked\"\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked;q=1\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \x0b"
     "chunked\r\n" END,
        400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \xc2\xa0"
     "chunked\r\n" END,
        400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END,
        400},
    {"POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n" END, 400},
    {"DELETE / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n" END, 400},
    /* the request line */
    {"GET http://b/mcp HTTP/1.1\r\n" HOST END, 400},
    {"CONNECT a:80 HTTP/1.1\r\n" HOST END, 400},
    {"OPTIONS * HTTP/1.1\r\n" HOST END, 400},
    {"GET /a/../b HTTP/1.1\r\n" HOST END, 400},
    {"GET /a/. HTTP/1.1\r\n" HOST END, 400},
    {"GET /.. HTTP/1.1\r\n" HOST END, 400},
    {"GET //mcp HTTP/1.1\r\n" HOST END, 400},
    {"GET /a//b HTTP/1.1\r\n" HOST END, 400},
    {"GET /%6dcp HTTP/1.1\r\n" HOST END, 400},
    {"GET /a%2f..%2fb HTTP/1.1\r\n" HOST END, 400},
    {"GET /a\\b HTTP/1.1\r\n" HOST END, 400},
    {"GET /\xc3\xa4 HTTP/1.1\r\n" HOST END, 400},
    {"GET /a#b HTTP/1.1\r\n" HOST END, 400},
    {"GET /a?b=%zz HTTP/1.1\r\n" HOST END, 400},
    {"GET /a?b=% HTTP/1.1\r\n" HOST END, 400},
    {"GET /a?\"b HTTP/1.1\r\n" HOST END, 400},
    {"G@T / HTTP/1.1\r\n" HOST END, 400},
    {"GET / HTTP/2.0\r\n" HOST END, 505},
    {"GET / HTTP/1.2\r\n" HOST END, 505},
    {"GET / HTTP/0.9\r\n" HOST END, 505},
    {"GET / http/1.1\r\n" HOST END, 505},
    {"GET / HTTP/1.10\r\n" HOST END, 505},
    /* Host, names, values */
    {"GET / HTTP/1.1\r\n" END, 400},
    {"GET / HTTP/1.0\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost:\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a:b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a:0\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a:70000\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: user@a\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a/b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: [::1\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: [::g]\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "Na me: x\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "Name : x\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST ": x\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "N\xc3\xa4me: x\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "Name: a\rb\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "Name: a\x01"
     "b\r\n" END,
        400},
    {"GET / HTTP/1.1\r\n" HOST "Name: a\x7f"
     "b\r\n" END,
        400},
    /* what may appear once */
    {"POST / HTTP/1.1\r\n" HOST "Authorization: a\r\nauthorization: a\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Origin: a\r\nOrigin: a\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Type: a\r\nContent-Type: a\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Encoding: a\r\nContent-Encoding: a\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Idempotency-Key: a\r\nIdempotency-Key: a\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Mcp-Name: a\r\nX: b\r\nmcp-name: a\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Mcp-Param-X: a\r\nMcp-Param-X: b\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Writ-Credential: a\r\nWrit-Credential: b\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nExpect: 100-continue\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Expect: 200-ok\r\n" END, 417},
    {"POST / HTTP/1.0\r\n" HOST "Expect: 100-continue\r\n" END, 417},
};

START_TEST(framing_of_each_head_gives_its_status)
{
    struct writ_framing framing, before;

    framing = before = (struct writ_framing){.content_length = 99};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        framing = before;
        unsigned status = judge(heads[i].text, &framing);
        ck_assert_msg(status == heads[i].status, "%u for %s", status, heads[i].text);
        if (status != 200) { /* a refusal leaves `ret` alone */
            ck_assert_uint_eq(framing.content_length, before.content_length);
            ck_assert_ptr_null(framing.path.ptr);
        }
    }
}
END_TEST

START_TEST(parsed_head_has_its_parts)
{
    struct writ_framing framing = {0};

    ck_assert_uint_eq(judge("POST /mcp/fs?a=b?c HTTP/1.1\r\nHost: example.com:80 \r\n"
                            "Content-Type: application/json \r\nOrigin: http://x\r\n"
                            "Content-Length: 12\r\nExpect: 100-continue\r\n" END,
                          &framing),
        200);
    ck_assert_uint_eq(framing.method, WRIT_METHOD_POST);
    ck_assert_view(framing.path, "/mcp/fs");
    ck_assert_view(framing.query, "a=b?c");
    ck_assert_view(framing.host, "example.com:80");
    ck_assert_view(framing.content_type, "application/json");
    ck_assert_view(framing.origin, "http://x");
    ck_assert_uint_eq(framing.content_length, 12);
    ck_assert(framing.expects_continue && !framing.chunked && !framing.http_1_0);
    ck_assert_ptr_null(framing.content_encoding.ptr);
}
END_TEST

/* A head with `n` own fields, or a target or method of `n` bytes. */
static unsigned
judge_size(size_t fields, size_t target, size_t method, size_t host)
{
    static struct writ_header headers[WRIT_FRAMING_FIELDS_MAX + 2];
    static char long_target[WRIT_FRAMING_TARGET_MAX + 2], long_method[WRIT_FRAMING_METHOD_MAX + 2];
    static char long_host[WRIT_FRAMING_HOST_MAX + 2];
    struct writ_framing framing = {0};
    struct writ_framing_fault fault = {0};
    struct writ_framing_head head = {.version = WRIT_LIT("HTTP/1.1"), .headers = headers};

    for (size_t i = 0; i < target; i++) {
        long_target[i] = i == 0 ? '/' : 'a';
    }
    for (size_t i = 0; i < method; i++) {
        long_method[i] = 'A';
    }
    for (size_t i = 0; i < host; i++) {
        long_host[i] = 'a';
    }
    headers[0] = (struct writ_header){WRIT_LIT("Host"), writ_view(long_host, host)};
    for (head.count = 1; head.count < fields; head.count++) {
        headers[head.count] = (struct writ_header){WRIT_LIT("X"), WRIT_LIT("y")};
    }
    head.target = writ_view(long_target, target);
    head.method = writ_view(long_method, method);
    return writ_is_ok(writ_framing_read(&head, &framing, &fault)) ? 200 : fault.status;
}

START_TEST(framing_limits_hold_on_both_sides)
{
    ck_assert_uint_eq(judge_size(WRIT_FRAMING_FIELDS_MAX, 1, 3, 1), 200);
    ck_assert_uint_eq(judge_size(WRIT_FRAMING_FIELDS_MAX + 1, 1, 3, 1), 431);
    ck_assert_uint_eq(judge_size(1, WRIT_FRAMING_TARGET_MAX, 3, 1), 200);
    ck_assert_uint_eq(judge_size(1, WRIT_FRAMING_TARGET_MAX + 1, 3, 1), 414);
    ck_assert_uint_eq(judge_size(1, 1, WRIT_FRAMING_METHOD_MAX, 1), 200);
    ck_assert_uint_eq(judge_size(1, 1, WRIT_FRAMING_METHOD_MAX + 1, 1), 400);
    ck_assert_uint_eq(judge_size(1, 1, 3, WRIT_FRAMING_HOST_MAX), 200);
    ck_assert_uint_eq(judge_size(1, 1, 3, WRIT_FRAMING_HOST_MAX + 1), 400);
}
END_TEST

START_TEST(framing_content_type_accepts_json_in_utf8_only)
{
    static const char *const yes[] = {"application/json", "Application/JSON",
        "application/json; charset=utf-8", "application/json;charset=\"UTF-8\"",
        "application/json ;charset=utf-8 "};
    static const char *const no[] = {"", "text/plain", "application/jsonx", "application/json-rpc",
        "application/json; charset=utf-16", "application/json; charset=latin1",
        "application/json; charset", "application/json; profile=x", "application/json;",
        "application/json; charset=utf-8; charset=utf-16", "application/x-www-form-urlencoded",
        "multipart/form-data", "application/json, text/plain"};

    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        ck_assert_msg(writ_framing_is_json(writ_view_str(yes[i])), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ck_assert_msg(!writ_framing_is_json(writ_view_str(no[i])), "%s", no[i]);
    }
}
END_TEST

START_TEST(framing_trailer_with_a_head_field_is_refused)
{
    static const char *const no[] = {"Authorization", "mcp-name", "Mcp-Session-Id", "Host",
        "Content-Length", "Transfer-Encoding", "TE", "Trailer", "Connection", "Upgrade", "Expect",
        "Idempotency-Key", "Writ-Credential", "Origin", "bad name", ""};

    ck_assert(writ_framing_is_harmless_trailer(WRIT_LIT("X-Checksum")));
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        ck_assert_msg(!writ_framing_is_harmless_trailer(writ_view_str(no[i])), "%s", no[i]);
    }
}
END_TEST

START_TEST(framing_host_splits_at_its_port)
{
    struct writ_view name, port;

    writ_framing_split_host(WRIT_LIT("a.example:80"), &name, &port);
    ck_assert_view(name, "a.example");
    ck_assert_view(port, "80");
    writ_framing_split_host(WRIT_LIT("[::1]:80"), &name, &port);
    ck_assert_view(name, "[::1]");
    ck_assert_view(port, "80");
    writ_framing_split_host(WRIT_LIT("[::1]"), &name, &port);
    ck_assert_view(name, "[::1]");
    ck_assert_view(port, "");
    writ_framing_split_host(WRIT_LIT(""), &name, &port);
    ck_assert_view(name, "");
}
END_TEST

WRIT_UNIT_MAIN("framing", framing_of_each_head_gives_its_status, parsed_head_has_its_parts,
    framing_limits_hold_on_both_sides, framing_content_type_accepts_json_in_utf8_only,
    framing_trailer_with_a_head_field_is_refused, framing_host_splits_at_its_port)
