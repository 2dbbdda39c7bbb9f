/* Tokens for upstreams. A token is renewed before it expires and never sent after it; a reload
 * keeps the tokens whose settings did not change. */
#include "gateway/auth/tokens.h"
#include "support/gateway/peer.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define S INT64_C(1000000)

static atomic_llong now_us = 1000 * S;

static int64_t
now(void *ctx)
{
    (void)ctx;
    return atomic_load(&now_us);
}

static const struct writ_clock test_clock = {now, now, NULL};

static void
pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

/* Four answers: three tokens that live 100 s, then refusals. */
static char answers[3][256];
static const struct peer_step first[] = {PEER_DO(READ), PEER_SAY(SEND, answers[0]), PEER_DO(END)};
static const struct peer_step second[] = {PEER_DO(READ), PEER_SAY(SEND, answers[1]), PEER_DO(END)};
static const struct peer_step third[] = {PEER_DO(READ), PEER_SAY(SEND, answers[2]), PEER_DO(END)};
static const struct peer_step refusal[] = {PEER_DO(READ),
    PEER_SAY(SEND, "HTTP/1.1 400 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    PEER_DO(END)};

static struct peer *
server(void)
{
    static const struct peer_step *const scripts[] = {first, second, third, refusal};

    for (int i = 0; i < 3; i++) {
        char body[128];
        int len = snprintf(body, sizeof body,
            "{\"access_token\":\"t%d\",\"token_type\":\"Bearer\",\"expires_in\":100}", i + 1);
        (void)snprintf(answers[i], sizeof answers[i],
            "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len, body);
    }
    atomic_store(&now_us, 1000 * S);
    return peer_open(&(struct peer_options){.scripts = scripts, .count = 4});
}

/* Upstream 0 needs no token, 1 a secret, 2 a token (when there is a server). */
static struct writ_config *
config_of(const struct peer *peer, const char *scope)
{
    char text[1024];
    int len = snprintf(text, sizeof text,
        "upstreams:\n"
        "  none: {http: \"http://127.0.0.1:1/\"}\n"
        "  plain: {http: \"http://127.0.0.1:1/\", authorization: {variable: WRIT_T, header: X-Key, "
        "scheme: \"\"}}\n");

    if (peer != NULL) {
        (void)snprintf(text + len, sizeof text - (size_t)len,
            "  token: {http: \"http://127.0.0.1:1/\", authorization: {variable: WRIT_T, client_id: "
            "c, scopes: [%s], token_endpoint: \"http://127.0.0.1:%u/\"}}\n",
            scope, peer_port(peer));
    }
    ck_assert_int_eq(setenv("WRIT_T", "s3cret", 1), 0);
    return writ_ruling_config(text);
}

static void
assert_shown(struct writ_tokens *tokens, size_t i, const char *name, const char *value)
{
    struct writ_tokens_shown *shown = writ_tokens_hold(tokens, i);
    struct writ_header header;

    ck_assert_ptr_nonnull(shown);
    header = writ_tokens_header(shown);
    ck_assert_view(header.name, name);
    ck_assert_view(header.value, value);
    writ_tokens_drop(shown);
}

/* Waits until there is a token, and gives it. */
static struct writ_tokens_shown *
await_token(struct writ_tokens *tokens)
{
    struct writ_tokens_shown *shown = writ_tokens_hold(tokens, 2);

    while (shown == NULL) {
        pause_ms(2);
        shown = writ_tokens_hold(tokens, 2);
    }
    return shown;
}

static void
take_config(struct writ_tokens *tokens, struct writ_config *config)
{
    struct writ_tokens_fresh *fresh = NULL;

    ck_assert_ok(writ_tokens_prepare(tokens, config, &fresh, NULL));
    writ_tokens_take(tokens, fresh);
}

START_TEST(tokens_of_a_secret_follow_a_reload)
{
    struct writ_config *config = config_of(NULL, "");
    struct writ_tokens *tokens = NULL;
    struct writ_tokens_fresh *fresh = NULL;
    struct writ_tokens_shown *held;

    ck_assert_ok(writ_tokens_new(config, &test_clock, NULL, &tokens, NULL));
    ck_assert(!writ_tokens_wants(tokens, 0));
    ck_assert(writ_tokens_wants(tokens, 1));
    ck_assert_ptr_null(writ_tokens_hold(tokens, 0));
    ck_assert(writ_tokens_ready(tokens));
    assert_shown(tokens, 1, "X-Key", "s3cret");
    held = writ_tokens_hold(tokens, 1);
    writ_tokens_refused(tokens, 1, held); /* no other upstream has one */
    assert_shown(tokens, 1, "X-Key", "s3cret");

    ck_assert_int_eq(setenv("WRIT_T", "other", 1), 0);
    take_config(tokens, config);
    assert_shown(tokens, 1, "X-Key", "other");
    ck_assert_view(writ_tokens_header(held).value, "s3cret"); /* a held token stays valid */
    ck_assert_int_eq(setenv("WRIT_T", "a\nb", 1), 0);
    ck_assert_code(writ_tokens_prepare(tokens, config, &fresh, NULL), WRIT_E_INVALID);
    ck_assert_int_eq(unsetenv("WRIT_T"), 0);
    ck_assert_code(writ_tokens_prepare(tokens, config, &fresh, NULL), WRIT_E_ABSENT);
    ck_assert_ptr_null(fresh);
    assert_shown(tokens, 1, "X-Key", "other");
    writ_tokens_free(tokens);
    writ_tokens_drop(held);
    writ_tokens_drop(NULL);
    writ_tokens_free(NULL);
    writ_config_drop(config);
}
END_TEST

START_TEST(tokens_are_renewed_early_and_not_used_after_expiry)
{
    struct peer *peer = server();
    struct writ_config *config = config_of(peer, "a");
    struct writ_tokens *tokens = NULL;

    ck_assert_ok(writ_tokens_new(config, &test_clock, NULL, &tokens, NULL));
    writ_tokens_drop(await_token(tokens));
    assert_shown(tokens, 2, "Authorization", "Bearer t1");
    ck_assert(writ_tokens_ready(tokens));
    /* by its clock it ends after 100 s, less the margin; the thread sleeps meanwhile */
    atomic_store(&now_us, (1000 + 100 - WRIT_TOKENS_MARGIN_S) * S - 1);
    assert_shown(tokens, 2, "Authorization", "Bearer t1");
    atomic_store(&now_us, (1000 + 100 - WRIT_TOKENS_MARGIN_S) * S);
    ck_assert_ptr_null(writ_tokens_hold(tokens, 2));
    ck_assert(!writ_tokens_ready(tokens));
    take_config(tokens, config); /* wakes it: three quarters are over */
    writ_tokens_drop(await_token(tokens));
    assert_shown(tokens, 2, "Authorization", "Bearer t2");
    writ_tokens_free(tokens);
    writ_config_drop(config);
    peer_close(peer);
}
END_TEST

START_TEST(tokens_refused_are_dropped_once_per_fetch)
{
    struct peer *peer = server();
    struct writ_config *config = config_of(peer, "a");
    struct writ_tokens *tokens = NULL;
    struct writ_tokens_shown *one, *two;

    ck_assert_ok(writ_tokens_new(config, &test_clock, NULL, &tokens, NULL));
    one = await_token(tokens);
    writ_tokens_refused(tokens, 2, one);
    two = await_token(tokens);
    ck_assert_view(writ_tokens_header(two).value, "Bearer t2");
    writ_tokens_refused(tokens, 2, one); /* an old one: no effect */
    assert_shown(tokens, 2, "Authorization", "Bearer t2");
    writ_tokens_refused(tokens, 2, two); /* so soon again */
    assert_shown(tokens, 2, "Authorization", "Bearer t2");
    atomic_store(&now_us, (1000 + WRIT_TOKENS_DROP_S) * S - 1);
    writ_tokens_refused(tokens, 2, two);
    assert_shown(tokens, 2, "Authorization", "Bearer t2");
    atomic_store(&now_us, (1000 + WRIT_TOKENS_DROP_S) * S);
    writ_tokens_refused(tokens, 2, two);
    writ_tokens_drop(two);
    two = await_token(tokens);
    ck_assert_view(writ_tokens_header(two).value, "Bearer t3");
    writ_tokens_drop(one);
    writ_tokens_drop(two);
    writ_tokens_free(tokens);
    writ_config_drop(config);
    peer_close(peer);
}
END_TEST

START_TEST(tokens_after_a_reload_stay_for_equal_settings_only)
{
    struct peer *peer = server();
    struct writ_config *config = config_of(peer, "a"), *other = config_of(peer, "b");
    struct writ_tokens *tokens = NULL;

    ck_assert_ok(writ_tokens_new(config, &test_clock, NULL, &tokens, NULL));
    writ_tokens_drop(await_token(tokens));
    take_config(tokens, config);
    assert_shown(tokens, 2, "Authorization", "Bearer t1");
    ck_assert_uint_eq(peer_requests(peer), 1);
    take_config(tokens, other);
    writ_tokens_drop(await_token(tokens));
    assert_shown(tokens, 2, "Authorization", "Bearer t2");
    writ_tokens_free(tokens);
    writ_config_drop(config);
    writ_config_drop(other);
    peer_close(peer);
}
END_TEST

START_TEST(prepare_finds_upstreams_by_name_in_any_order)
{
    struct writ_config *config = config_of(NULL, "");
    struct writ_config *turned = writ_ruling_config(
        "upstreams:\n"
        "  plain: {http: \"http://127.0.0.1:1/\", authorization: {variable: WRIT_T, header: X-Key, "
        "scheme: Key}}\n"
        "  none: {http: \"http://127.0.0.1:1/\"}\n");
    struct writ_tokens *tokens = NULL;

    ck_assert_ok(writ_tokens_new(config, &test_clock, NULL, &tokens, NULL));
    take_config(tokens, turned);
    ck_assert(!writ_tokens_wants(tokens, 0));
    assert_shown(tokens, 1, "X-Key", "Key s3cret");
    writ_tokens_free(tokens);
    writ_config_drop(turned);
    writ_config_drop(config);
}
END_TEST

/* A change of `resource` waits for a restart, also when tokens are requested for it. */
START_TEST(prepare_keeps_a_token_when_the_resource_of_the_upstream_changes)
{
    struct peer *peer = server();
    struct writ_config *config = config_of(peer, "a"), *other;
    struct writ_tokens *tokens = NULL;
    char text[512];

    (void)snprintf(text, sizeof text,
        "upstreams:\n"
        "  none: {http: \"http://127.0.0.1:1/\"}\n"
        "  plain: {http: \"http://127.0.0.1:1/\"}\n"
        "  token: {http: \"http://127.0.0.1:1/\", resource: \"urn:other\", authorization: "
        "{variable: WRIT_T, client_id: c, scopes: [a], token_endpoint: "
        "\"http://127.0.0.1:%u/\"}}\n",
        peer_port(peer));
    other = writ_ruling_config(text);
    ck_assert_ok(writ_tokens_new(config, &test_clock, NULL, &tokens, NULL));
    writ_tokens_drop(await_token(tokens));
    take_config(tokens, other);
    assert_shown(tokens, 2, "Authorization", "Bearer t1");
    writ_tokens_free(tokens);
    writ_config_drop(other);
    writ_config_drop(config);
    peer_close(peer);
}
END_TEST

WRIT_UNIT_MAIN("tokens", tokens_of_a_secret_follow_a_reload,
    tokens_are_renewed_early_and_not_used_after_expiry, tokens_refused_are_dropped_once_per_fetch,
    tokens_after_a_reload_stay_for_equal_settings_only,
    prepare_finds_upstreams_by_name_in_any_order,
    prepare_keeps_a_token_when_the_resource_of_the_upstream_changes)
