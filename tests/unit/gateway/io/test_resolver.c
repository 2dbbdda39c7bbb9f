/* Name resolution in a thread. The answer arrives on the loop that asked, and a cancelled question
 * is never answered. */
#include "support/unit.h"

#include "gateway/io/resolver.h"

#include <arpa/inet.h>

struct told {
    struct writ_loop *loop;
    int answers;
    size_t count;
    bool has_fault;
};

static void
on_answer(void *ctx, const struct writ_addresses *found, const char *fault)
{
    struct told *told = ctx;

    told->answers++;
    told->count = found->count;
    told->has_fault = fault != NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct sockaddr_storage *sock = &found->list[i].sock;
        uint16_t port = sock->ss_family == AF_INET ? ((const struct sockaddr_in *)sock)->sin_port
                                                   : ((const struct sockaddr_in6 *)sock)->sin6_port;
        ck_assert_uint_eq(ntohs(port), 8700);
    }
    writ_loop_stop(told->loop);
}

static struct writ_loop *
loop_new(void)
{
    struct writ_loop_options options = {0};
    struct writ_loop *loop = NULL;

    ck_assert_ok(writ_loop_new(&options, &loop, NULL));
    return loop;
}

START_TEST(resolver_of_a_literal_address_answers_at_once)
{
    static const struct {
        const char *host;
        int family;
        socklen_t len;
    } goods[] = {
        {"127.0.0.1", AF_INET, sizeof(struct sockaddr_in)},
        {"::1", AF_INET6, sizeof(struct sockaddr_in6)},
        {"[::1]", AF_INET6, sizeof(struct sockaddr_in6)},
        {"2001:db8::8:800:200c:417a", AF_INET6, sizeof(struct sockaddr_in6)},
    };
    static const char *const bads[] = {"", "localhost", "127.1", "1", "0x7f000001", "[127.0.0.1",
        "::1]", "256.0.0.1", "fe80::1%lo", "1.2.3.4.5",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:0000"};
    struct writ_addresses found = {.count = 0};

    for (size_t i = 0; i < sizeof goods / sizeof goods[0]; i++) {
        ck_assert(writ_resolver_numeric(writ_view_str(goods[i].host), 8700, &found));
        ck_assert_uint_eq(found.count, 1);
        ck_assert_int_eq(found.list[0].sock.ss_family, goods[i].family);
        ck_assert_uint_eq(found.list[0].len, goods[i].len);
    }
    found.count = 7;
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        ck_assert_msg(!writ_resolver_numeric(writ_view_str(bads[i]), 8700, &found), "%s", bads[i]);
    }
    ck_assert(!writ_resolver_numeric(WRIT_LIT("127.0.0.1\0x"), 8700, &found));
    ck_assert_uint_eq(found.count, 7);
}
END_TEST

START_TEST(resolver_answers_on_the_asking_loop)
{
    struct writ_resolver *resolver = NULL;
    struct writ_question *question = NULL;
    struct told told = {.loop = loop_new()};

    ck_assert_ok(writ_resolver_open(&resolver, NULL));
    ck_assert_ok(writ_resolver_ask(
        resolver, told.loop, WRIT_LIT("localhost"), 8700, on_answer, &told, &question));
    ck_assert_int_eq(told.answers, 0);
    ck_assert_ok(writ_loop_run(told.loop, NULL));
    ck_assert_int_eq(told.answers, 1);
    ck_assert_uint_gt(told.count, 0);
    ck_assert(!told.has_fault);

    /* not a name at all: no need to ask a server */
    ck_assert_ok(writ_resolver_ask(
        resolver, told.loop, WRIT_LIT("a..b"), 8700, on_answer, &told, &question));
    ck_assert_ok(writ_loop_run(told.loop, NULL));
    ck_assert_int_eq(told.answers, 2);
    ck_assert_uint_eq(told.count, 0);
    ck_assert(told.has_fault);

    writ_resolver_close(resolver);
    writ_loop_free(told.loop);
}
END_TEST

START_TEST(resolver_cancel_prevents_the_answer)
{
    struct writ_resolver *resolver = NULL;
    struct writ_question *forgotten = NULL, *question = NULL;
    struct told told = {.loop = loop_new()}, other = {.loop = told.loop};

    ck_assert_ok(writ_resolver_open(&resolver, NULL));
    ck_assert_ok(writ_resolver_ask(
        resolver, told.loop, WRIT_LIT("localhost"), 8700, on_answer, &told, &forgotten));
    writ_resolver_forget(forgotten);
    ck_assert_ok(writ_resolver_ask(
        resolver, told.loop, WRIT_LIT("localhost"), 8700, on_answer, &other, &question));
    ck_assert_ok(writ_loop_run(told.loop, NULL));
    ck_assert_int_eq(told.answers, 0);
    ck_assert_int_eq(other.answers, 1);
    writ_resolver_close(resolver);
    writ_loop_free(told.loop);
}
END_TEST

START_TEST(resolver_ask_beyond_a_limit_is_refused)
{
    struct writ_resolver *resolver = NULL;
    struct writ_question *question = NULL;
    struct told told = {.loop = loop_new()};
    char name[WRIT_RESOLVER_HOST_MAX + 1];

    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = '.';
    }
    ck_assert_ok(writ_resolver_open(&resolver, NULL));
    ck_assert_code(writ_resolver_ask(resolver, told.loop, writ_view(name, sizeof name), 8700,
                       on_answer, &told, &question),
        WRIT_E_LIMIT);
    writ_fault_arm(1);
    ck_assert_code(
        writ_resolver_ask(resolver, told.loop, WRIT_LIT("a"), 8700, on_answer, &told, &question),
        WRIT_E_NOMEM);
    ck_assert(writ_fault_disarm());
    ck_assert_ptr_null(question);
    ck_assert_ok(writ_resolver_ask(
        resolver, told.loop, writ_view(name, sizeof name - 1), 8700, on_answer, &told, &question));
    ck_assert_ok(writ_loop_run(told.loop, NULL));
    ck_assert_uint_eq(told.count, 0);
    writ_resolver_close(resolver);
    writ_loop_free(told.loop);
}
END_TEST

START_TEST(resolver_close_with_questions_in_flight_ends)
{
    for (int i = 0; i < 20; i++) {
        struct writ_resolver *resolver = NULL;
        struct writ_question *question = NULL;
        struct told told = {.loop = loop_new()};

        ck_assert_ok(writ_resolver_open(&resolver, NULL));
        for (int k = 0; k < i; k++) {
            ck_assert_ok(writ_resolver_ask(
                resolver, told.loop, WRIT_LIT("localhost"), 8700, on_answer, &told, &question));
            writ_resolver_forget(question);
        }
        writ_resolver_close(resolver);
        /* earlier answers are in the mailbox: one turn empties it */
        writ_loop_stop(told.loop);
        ck_assert_ok(writ_loop_run(told.loop, NULL));
        ck_assert_int_eq(told.answers, 0);
        writ_loop_free(told.loop);
    }
    writ_resolver_close(NULL);
}
END_TEST

WRIT_UNIT_MAIN("resolver", resolver_of_a_literal_address_answers_at_once,
    resolver_answers_on_the_asking_loop, resolver_cancel_prevents_the_answer,
    resolver_ask_beyond_a_limit_is_refused, resolver_close_with_questions_in_flight_ends)
