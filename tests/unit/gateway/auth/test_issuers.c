/* Key sets of issuers, from files and URLs. The last good set serves while its URL fails, until it
 * is too old; an unknown kid causes one refresh per interval. */
#include "support/evidence/keys.h"
#include "support/gateway/peer.h"
#include "support/unit.h"

#include "gateway/auth/issuers.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS      INT64_C(1000)
#define LONG_US (INT64_C(3600) * 1000000)

/* Answers that are made in a test. */
static char answers[4][4096];

static struct peer_step scripts[4][4];

/* A script that answers with the set of this signer, or with `text` when there is none. */
static const struct peer_step *
script_of(int i, const struct writ_signer *signer, const char *text)
{
    writ_auto_buf set = writ_buf_make(4000);

    if (signer != NULL) {
        const struct writ_jwk *keys[] = {writ_signer_jwk(signer)};
        writ_jwks_put(&set, keys, 1);
    } else {
        writ_buf_str(&set, text);
    }
    (void)snprintf(answers[i], sizeof(answers[i]),
        "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n" WRIT_VIEW_FMT,
        set.len, WRIT_VIEW_ARG(writ_buf_view(&set)));
    scripts[i][0] = (struct peer_step)PEER_DO(READ);
    scripts[i][1] = (struct peer_step){.what = PEER_SEND, .text = answers[i]};
    scripts[i][2] = (struct peer_step)PEER_DO(END);
    return scripts[i];
}

/* The same, but the answer waits for peer_go. */
static const struct peer_step *
waiting_script_of(int i, const struct writ_signer *signer)
{
    (void)script_of(i, signer, NULL);
    scripts[i][3] = scripts[i][2];
    scripts[i][2] = scripts[i][1];
    scripts[i][1] = (struct peer_step)PEER_DO(WAIT);
    return scripts[i];
}

static struct writ_view
place_of(const struct peer *peer)
{
    static char url[128];

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/jwks", peer_port(peer));
    return writ_view_str(url);
}

static struct writ_issuers *
opened(
    struct writ_view place, const struct writ_issuers_times *times, const struct writ_clock *clock)
{
    struct writ_issuers *issuers = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_issuers_new(&(struct writ_issuers_place){.jwks = place}, 1, times,
                      clock, NULL, &issuers, &err)),
        "%s", err.text);
    return issuers;
}

static void
pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

/* Waits until the version is another than `before` and not 0. */
static uint64_t
await_change(struct writ_issuers *issuers, uint64_t before)
{
    uint64_t version = writ_issuers_version(issuers, 0);

    while (version == before || version == 0) {
        pause_ms(2);
        version = writ_issuers_version(issuers, 0);
    }
    return version;
}

static bool
has_key(struct writ_issuers *issuers, const struct writ_signer *signer)
{
    struct writ_issuers_set *set = writ_issuers_hold(issuers, 0);
    uint64_t version;
    bool has;

    if (set == NULL) {
        return false;
    }
    has = writ_jwks_find(writ_issuers_keys(set, &version), writ_jwk_kid(writ_signer_jwk(signer))) !=
          NULL;
    ck_assert_uint_ne(version, 0);
    writ_issuers_drop(set);
    return has;
}

static void
write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(issuers_of_a_file_read_it_once)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    const struct writ_jwk *keys[] = {writ_signer_jwk(signer)};
    writ_auto_buf text = writ_buf_make(4096);
    struct writ_issuers *issuers;
    char path[] = "/tmp/writ-issuers-XXXXXX";
    uint64_t version;

    ck_assert_int_ge(mkstemp(path), 0);
    writ_jwks_put(&text, keys, 1);
    writ_buf_byte(&text, '\0');
    write_file(path, text.ptr);
    issuers = opened(writ_view_str(path), &(struct writ_issuers_times){.stale_us = 1}, NULL);
    version = writ_issuers_version(issuers, 0);
    ck_assert_uint_ne(version, 0);
    ck_assert(has_key(issuers, signer));
    ck_assert(writ_issuers_ready(issuers));
    writ_issuers_unknown(issuers, 0);
    write_file(path, "{\"keys\":[]}");
    pause_ms(5);
    ck_assert(has_key(issuers, signer));
    ck_assert_uint_eq(writ_issuers_version(issuers, 0), version);
    writ_issuers_free(issuers);
    writ_signer_free(signer);
    (void)unlink(path);
}
END_TEST

START_TEST(issuers_after_a_reload_keep_the_set_of_the_same_place)
{
    struct writ_signer *one = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_signer *two = writ_keys_signer(WRIT_JWK_ALG_ES256);
    const struct peer_step *const both[] = {script_of(0, one, NULL), waiting_script_of(1, two)};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = both, .count = 2});
    struct writ_issuers *before = opened(place_of(peer), NULL, NULL), *after, *elsewhere;
    uint64_t version = await_change(before, 0);

    after = opened(place_of(peer), NULL, NULL); /* its fetch waits */
    elsewhere = opened(writ_view_str("http://127.0.0.1:1/jwks"), NULL, NULL);
    ck_assert(!has_key(after, one));
    writ_issuers_inherit(after, before);
    writ_issuers_inherit(elsewhere, before);
    ck_assert_uint_eq(writ_issuers_version(elsewhere, 0), 0);
    ck_assert_uint_eq(writ_issuers_version(after, 0), version);
    ck_assert(has_key(after, one));
    writ_issuers_free(before); /* the new table owns the inherited set */
    ck_assert(has_key(after, one));
    peer_go(peer);
    ck_assert_uint_gt(await_change(after, version), version);
    ck_assert(has_key(after, two));
    ck_assert(!has_key(after, one));
    writ_issuers_free(after);
    writ_issuers_free(elsewhere);
    peer_close(peer);
    writ_signer_free(one);
    writ_signer_free(two);
}
END_TEST

START_TEST(issuers_open_of_an_invalid_place_is_refused)
{
    static const struct {
        const char *text;
        enum writ_code code;
    } rows[] = {{"", WRIT_E_PARSE}, {"{\"keys\":[]}", WRIT_E_INVALID},
        {"{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}", WRIT_E_MISMATCH}};
    struct writ_issuers *issuers = NULL;
    char path[] = "/tmp/writ-issuers-XXXXXX";
    struct writ_issuers_place place = {.issuer = {NULL, 0}};

    ck_assert_int_ge(mkstemp(path), 0);
    place.jwks = writ_view_str(path);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_file(path, rows[i].text);
        ck_assert_code(writ_issuers_new(&place, 1, NULL, NULL, NULL, &issuers, NULL), rows[i].code);
    }
    (void)unlink(path);
    ck_assert_code(writ_issuers_new(&place, 1, NULL, NULL, NULL, &issuers, NULL), WRIT_E_ABSENT);
    place.jwks = WRIT_LIT("http://issuer.example/jwks");
    ck_assert_code(writ_issuers_new(&place, 1, NULL, NULL, NULL, &issuers, NULL), WRIT_E_INVALID);
    ck_assert_ptr_null(issuers);
    ck_assert_ok(writ_issuers_new(NULL, 0, NULL, NULL, NULL, &issuers, NULL));
    ck_assert(writ_issuers_ready(issuers));
    writ_issuers_free(issuers);
    writ_issuers_free(NULL);
}
END_TEST

START_TEST(issuers_of_a_url_fetch_it_at_once_and_repeatedly)
{
    struct writ_signer *first = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_signer *second = writ_keys_signer(WRIT_JWK_ALG_ES256);
    const struct peer_step *const all[] = {
        script_of(0, first, NULL), script_of(1, first, NULL), waiting_script_of(2, second)};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = all, .count = 3});
    struct writ_issuers *issuers =
        opened(place_of(peer), &(struct writ_issuers_times){.refresh_us = 5 * MS}, NULL);
    struct writ_issuers_set *held;
    uint64_t version = await_change(issuers, 0);
    uint64_t held_version;

    peer_await_requests(peer, 3);
    ck_assert_uint_eq(writ_issuers_version(issuers, 0), version); /* the second was the same */
    ck_assert(has_key(issuers, first));
    held = writ_issuers_hold(issuers, 0);
    peer_go(peer);
    version = await_change(issuers, version);
    ck_assert(has_key(issuers, second));
    ck_assert(!has_key(issuers, first));
    /* a held set stays valid */
    ck_assert_ptr_nonnull(writ_jwks_find(
        writ_issuers_keys(held, &held_version), writ_jwk_kid(writ_signer_jwk(first))));
    ck_assert_uint_ne(held_version, version);
    writ_issuers_free(issuers);
    writ_issuers_drop(held);
    peer_close(peer);
    writ_signer_free(first);
    writ_signer_free(second);
}
END_TEST

START_TEST(issuers_keep_the_last_good_set_while_the_url_fails)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    static const struct peer_step closed[] = {PEER_DO(READ), PEER_DO(END)};
    const struct peer_step *const all[] = {script_of(0, signer, NULL), closed,
        script_of(1, NULL, "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}"),
        script_of(2, NULL, "<html>")};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = all, .count = 4});
    struct writ_issuers *issuers = opened(place_of(peer),
        &(struct writ_issuers_times){.refresh_us = 4 * MS, .retry_us = 1 * MS}, NULL);
    uint64_t version = await_change(issuers, 0);

    peer_await_requests(peer, 6);
    ck_assert(has_key(issuers, signer));
    ck_assert_uint_eq(writ_issuers_version(issuers, 0), version);
    writ_issuers_free(issuers);
    peer_close(peer);
    writ_signer_free(signer);
}
END_TEST

/* A clock that tests move. */
static _Atomic int64_t moved_us;

static int64_t
moving(void *ctx)
{
    (void)ctx;
    return writ_clock_mono_us(writ_clock_system()) + atomic_load(&moved_us);
}

static const struct writ_clock clock_moving = {moving, moving, NULL};

START_TEST(key_set_older_than_its_limit_is_not_used)
{
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    static const struct peer_step hang[] = {PEER_DO(READ), PEER_DO(HANG), PEER_DO(END)};
    const struct peer_step *const all[] = {script_of(0, signer, NULL), hang};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = all, .count = 2});
    struct writ_issuers *issuers = opened(place_of(peer),
        &(struct writ_issuers_times){.refresh_us = LONG_US, .stale_us = 2 * LONG_US},
        &clock_moving);

    (void)await_change(issuers, 0);
    atomic_store(&moved_us, 2 * LONG_US - 10 * 1000000);
    ck_assert(has_key(issuers, signer));
    ck_assert(writ_issuers_ready(issuers));
    atomic_store(&moved_us, 2 * LONG_US + 1000000);
    ck_assert(!has_key(issuers, signer));
    ck_assert_uint_eq(writ_issuers_version(issuers, 0), 0);
    ck_assert(!writ_issuers_ready(issuers));
    atomic_store(&moved_us, 0);
    writ_issuers_free(issuers); /* gives the hanging fetch up */
    peer_close(peer);
    writ_signer_free(signer);
}
END_TEST

START_TEST(issuers_refresh_once_per_interval_for_unknown_kids)
{
    struct writ_signer *first = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_signer *second = writ_keys_signer(WRIT_JWK_ALG_ES256);
    const struct peer_step *const all[] = {
        script_of(0, first, NULL), script_of(1, second, NULL), script_of(2, first, NULL)};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = all, .count = 3});
    struct writ_issuers *issuers = opened(place_of(peer),
        &(struct writ_issuers_times){.refresh_us = LONG_US, .unknown_us = LONG_US}, NULL);
    uint64_t version = await_change(issuers, 0);

    for (int i = 0; i < 100; i++) {
        writ_issuers_unknown(issuers, 0);
    }
    version = await_change(issuers, version);
    ck_assert(has_key(issuers, second));
    for (int i = 0; i < 100; i++) {
        writ_issuers_unknown(issuers, 0);
    }
    pause_ms(30);
    ck_assert_uint_eq(peer_requests(peer), 2);
    ck_assert_uint_eq(writ_issuers_version(issuers, 0), version);
    writ_issuers_free(issuers);
    peer_close(peer);
    writ_signer_free(first);
    writ_signer_free(second);
}
END_TEST

START_TEST(issuers_wait_longer_after_each_failure)
{
    static const struct peer_step closed[] = {PEER_DO(READ), PEER_DO(END)};
    const struct peer_step *const all[] = {closed};
    struct peer *peer = peer_open(&(struct peer_options){.scripts = all, .count = 1});
    struct writ_issuers *issuers = opened(place_of(peer),
        &(struct writ_issuers_times){.refresh_us = LONG_US, .retry_us = 8 * MS}, NULL);
    int64_t began_us = writ_clock_mono_us(writ_clock_system());
    size_t requests;

    peer_await_requests(peer, 2);
    for (int i = 0; i < 50; i++) {
        writ_issuers_unknown(issuers, 0); /* no way around the pause */
    }
    pause_ms(200); /* 8 + 16 + 32 + 64 + 128: five or six attempts, and not two dozen */
    requests = peer_requests(peer);
    /* a sleep longer than requested sees a few more */
    ck_assert_uint_le(requests, (writ_clock_mono_us(writ_clock_system()) - began_us) / (16 * MS));
    ck_assert(!writ_issuers_ready(issuers));
    ck_assert_ptr_null(writ_issuers_hold(issuers, 0));
    writ_issuers_free(issuers);
    peer_close(peer);
}
END_TEST

WRIT_UNIT_MAIN("issuers", issuers_of_a_file_read_it_once,
    issuers_open_of_an_invalid_place_is_refused, issuers_of_a_url_fetch_it_at_once_and_repeatedly,
    issuers_keep_the_last_good_set_while_the_url_fails, key_set_older_than_its_limit_is_not_used,
    issuers_refresh_once_per_interval_for_unknown_kids, issuers_wait_longer_after_each_failure,
    issuers_after_a_reload_keep_the_set_of_the_same_place)
