/* host.h: URLs are taken apart or refused, within limits. The cases of `host_in` are in
 * vectors/policy/ops.json (conformance/test_ops.c). */
#include "policy/model/host.h"
#include "support/unit.h"

START_TEST(url_read_gives_its_parts)
{
    struct writ_url url = {0};

    ck_assert_ok(writ_host_read_url(WRIT_LIT("https://Example.com:8443/a?b#c"), &url));
    ck_assert(url.tls);
    ck_assert(!url.ipv6);
    ck_assert(!url.port_is_default);
    ck_assert_view(url.host, "Example.com");
    ck_assert_uint_eq(url.port, 8443);
    ck_assert_view(url.rest, "/a?b#c");
    ck_assert_ok(writ_host_read_url(WRIT_LIT("http://[::1]"), &url));
    ck_assert(!url.tls);
    ck_assert(url.ipv6);
    ck_assert(url.port_is_default);
    ck_assert_view(url.host, "::1");
    ck_assert_uint_eq(url.port, 80);
    ck_assert_view(url.rest, "");
}
END_TEST

START_TEST(url_read_of_a_bad_url_leaves_ret_unchanged)
{
    struct writ_url url = {.port = 7};

    ck_assert_code(writ_host_read_url(WRIT_LIT("https://user@example.com/"), &url), WRIT_E_PARSE);
    ck_assert_uint_eq(url.port, 7);
}
END_TEST

static void
put_url(struct writ_buf *url, size_t host, size_t all)
{
    writ_buf_str(url, "https://");
    for (size_t i = 1; i <= host; i++) {
        writ_buf_byte(url, i % 50 == 0 && i < host ? '.' : 'a');
    }
    writ_buf_byte(url, '/');
    while (url->len < all) {
        writ_buf_byte(url, 'p');
    }
}

START_TEST(url_and_host_have_maxima)
{
    static const struct {
        size_t host, all;
        bool good;
    } cases[] = {{WRIT_HOST_MAX, 0, true}, {WRIT_HOST_MAX + 1, 0, false}, {10, WRIT_URL_MAX, true},
        {10, WRIT_URL_MAX + 1, false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf text = writ_buf_make(WRIT_URL_MAX + 100);
        struct writ_url url;
        put_url(&text, cases[i].host, cases[i].all);
        ck_assert_msg(writ_is_ok(writ_host_read_url(writ_buf_view(&text), &url)) == cases[i].good,
            "case %zu", i);
    }
}
END_TEST

START_TEST(entries_are_hosts_in_lower_case)
{
    static const struct {
        const char *entry;
        bool good;
    } cases[] = {{"example.com", true}, {"*.example.com", true}, {"localhost", true},
        {"127.0.0.1", true}, {"[::1]", true}, {"example.com:8443", true}, {"*.a.b:1", true},
        {"xn--bcher-kva.example", true}, {"my_host", true}, {"", false}, {"*", false},
        {"*.", false}, {"Example.com", false}, {"a..b", false}, {".a", false}, {"a.", false},
        {"-a", false}, {"a-", false}, {"*.127.0.0.1", false}, {"*.[::1]", false}, {"::1", false},
        {"a:0", false}, {"a:65536", false}, {"a:", false}, {"a*b", false}, {"*.*.a", false},
        {"a/b", false}, {"https://a", false}, {"a@b", false}, {"1.2.3", false}, {"0x7f", false},
        {"b\xc3\xbc"
         "cher.example",
            false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(writ_host_is_entry(writ_view_str(cases[i].entry)) == cases[i].good, "%s",
            cases[i].entry);
    }
}
END_TEST

START_TEST(url_of_http_is_protected_on_loopback_only)
{
    static const struct {
        const char *url;
        bool good;
    } cases[] = {{"https://example.com/", true}, {"http://localhost:1/", true},
        {"http://127.0.0.1/", true}, {"http://127.9.9.9:80/x", true}, {"http://[::1]:7/", true},
        {"http://example.com/", false}, {"http://127.example.com/", false},
        {"http://127.0.0.1.example.com/", false}, {"http://10.0.0.1/", false},
        {"http://localhost.example.com/", false}, {"http://[::2]/", false}, {"x", false}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(writ_host_is_protected(writ_view_str(cases[i].url)) == cases[i].good, "%s",
            cases[i].url);
    }
}
END_TEST

WRIT_UNIT_MAIN("host", url_read_gives_its_parts, url_read_of_a_bad_url_leaves_ret_unchanged,
    url_and_host_have_maxima, entries_are_hosts_in_lower_case,
    url_of_http_is_protected_on_loopback_only)
