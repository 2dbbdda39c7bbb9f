/* Literal addresses with a port. Each reads and writes alike; anything else is refused, and the
 * output stays unchanged. */
#include "support/unit.h"

#include "gateway/http/ipport.h"

static const struct {
    const char *text, *with_port, *without;
    bool loopback, wildcard;
    uint16_t port;
} good[] = {
    {"127.0.0.1:8700", "127.0.0.1:8700", "127.0.0.1", true, false, 8700},
    {"127.9.9.9:0", "127.9.9.9:0", "127.9.9.9", true, false, 0},
    {"0.0.0.0:65535", "0.0.0.0:65535", "0.0.0.0", false, true, 65535},
    {"10.0.0.1:1", "10.0.0.1:1", "10.0.0.1", false, false, 1},
    {"[::1]:80", "[::1]:80", "[::1]", true, false, 80},
    {"[::]:80", "[::]:80", "[::]", false, true, 80},
    {"[::ffff:127.0.0.1]:80", "127.0.0.1:80", "127.0.0.1", true, false, 80},
    {"[::ffff:10.0.0.1]:80", "10.0.0.1:80", "10.0.0.1", false, false, 80},
    {"[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
        "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
        "[2001:db8:1111:2222:3333:4444:5555:6666]", false, false, 65535},
};

static const char *const bad[] = {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
    "127.0.0.1:-1", "127.0.0.1:08", "127.0.0.1:x", "localhost:80", "127.0.0.256:80", "1.2.3:80",
    "::1:80", "[::1]", "[::1:80", "[::g]:80", "[]:80", "[127.0.0.1]:80",
    "[00000000000000000000000000000000000000000000000000::1]:80"};

START_TEST(ipport_reads_back_as_written)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        union writ_ipport endpoint = {0};
        char text[WRIT_IPPORT_TEXT];

        ck_assert_ok(writ_ipport_read(writ_view_str(good[i].text), &endpoint, NULL));
        ck_assert_view(writ_ipport_text(&endpoint, true, text), good[i].with_port);
        ck_assert_view(writ_ipport_text(&endpoint, false, text), good[i].without);
        ck_assert_int_eq(writ_ipport_is_loopback(&endpoint), good[i].loopback);
        ck_assert_int_eq(writ_ipport_is_wildcard(&endpoint), good[i].wildcard);
        ck_assert_uint_eq(writ_ipport_port(&endpoint), good[i].port);
        writ_ipport_set_port(&endpoint, 7);
        ck_assert_uint_eq(writ_ipport_port(&endpoint), 7);
    }
}
END_TEST

START_TEST(ipport_read_of_another_form_is_refused)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        union writ_ipport endpoint = {.in.sin_port = 99};
        struct writ_err err = {0};

        ck_assert_code(writ_ipport_read(writ_view_str(bad[i]), &endpoint, &err), WRIT_E_INVALID);
        ck_assert_uint_eq(endpoint.in.sin_port, 99);
        ck_assert_uint_gt(writ_view_str(err.text).len, 0);
    }
}
END_TEST

WRIT_UNIT_MAIN("ipport", ipport_reads_back_as_written, ipport_read_of_another_form_is_refused)
