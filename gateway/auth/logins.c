/* logins.c - a fixed table of logins under one lock.
 *
 * Invariants:
 * (1) a place without `shown` is free and zeroed.
 * (2) secrets are compared by their SHA-256, with every place, in constant time. */
#include "gateway/auth/logins.h"

#include "base/id.h"

#include <pthread.h>

#define SECRET_BYTES 32

struct login {
    struct writ_buf shown;
    struct writ_digest cookie, key, agent;
    int64_t opened_us, used_us; /* monotonic */
};

struct writ_logins {
    pthread_mutex_t lock;
    const struct writ_clock *clock;
    struct login places[WRIT_LOGINS_MAX];
};

writ_result
writ_logins_new(const struct writ_clock *clock, struct writ_logins **ret, struct writ_err *err)
{
    struct writ_logins *logins = writ_alloc(sizeof *logins);

    if (logins == NULL || pthread_mutex_init(&logins->lock, NULL) != 0) {
        writ_free(logins);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for logins");
    }
    logins->clock = clock != NULL ? clock : writ_clock_system();
    *ret = logins;
    return WRIT_DONE;
}

/* keeps (1) */
static void
end(struct login *login)
{
    writ_buf_wipe_secret(&login->shown);
    *login = (struct login){0};
}

void
writ_logins_free(struct writ_logins *logins)
{
    if (logins == NULL) {
        return;
    }
    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        end(&logins->places[i]);
    }
    (void)pthread_mutex_destroy(&logins->lock);
    writ_free(logins);
}

/* Under the lock: ends expired logins. */
static void
sweep(struct writ_logins *logins, int64_t now_us)
{
    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        struct login *login = &logins->places[i];
        if (login->shown.ptr != NULL && (now_us - login->used_us >= WRIT_LOGINS_IDLE_US ||
                                            now_us - login->opened_us >= WRIT_LOGINS_LIFE_US)) {
            end(login);
        }
    }
}

/* Under the lock: a free place; the oldest login of an agent with a full share makes room. */
static struct login *
room(struct writ_logins *logins, const struct writ_digest *agent)
{
    struct login *found = NULL, *oldest = NULL;
    size_t own = 0;

    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        struct login *login = &logins->places[i];
        if (login->shown.ptr == NULL) {
            found = found == NULL ? login : found;
        } else if (writ_digest_equal(&login->agent, agent)) {
            own++;
            oldest = oldest == NULL || login->opened_us < oldest->opened_us ? login : oldest;
        }
    }
    if (own < WRIT_LOGINS_EACH) {
        return found;
    }
    end(oldest);
    return oldest;
}

/* A secret in the client's form, and its digest. */
static WRIT_RESULT
make_secret(char text[WRIT_LOGINS_TEXT], struct writ_digest *ret, struct writ_err *err)
{
    unsigned char bytes[SECRET_BYTES];
    struct writ_buf put = writ_buf_over(text, WRIT_LOGINS_TEXT - 1);
    writ_result result = writ_random(bytes, sizeof bytes, err);

    if (writ_is_ok(result)) {
        writ_base64url_put(&put, writ_view(bytes, sizeof bytes));
        text[put.len] = '\0';
        result = writ_digest_bytes(writ_buf_view(&put), ret, err);
    }
    writ_wipe(bytes, sizeof bytes);
    return result;
}

writ_result
writ_logins_open(struct writ_logins *logins, const struct writ_digest *agent,
    struct writ_view shown, struct writ_logins_pass *ret, struct writ_err *err)
{
    struct login fresh = {.shown = writ_buf_make(WRIT_LOGINS_SHOWN), .agent = *agent};
    struct writ_logins_pass pass = {{0}, {0}, 0};
    struct login *place;
    writ_result result;

    if (shown.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "nothing was shown"); /* keeps (1) */
    }
    writ_buf_put(&fresh.shown, shown);
    result = writ_buf_check(&fresh.shown, err);
    if (writ_is_ok(result)) {
        result = make_secret(pass.cookie, &fresh.cookie, err);
    }
    if (writ_is_ok(result)) {
        result = make_secret(pass.key, &fresh.key, err);
    }
    if (!writ_is_ok(result)) {
        end(&fresh);
        return result;
    }
    fresh.opened_us = fresh.used_us = writ_clock_mono_us(logins->clock);
    pass.expires_us = writ_clock_wall_us(logins->clock) + WRIT_LOGINS_LIFE_US;
    (void)pthread_mutex_lock(&logins->lock);
    sweep(logins, fresh.opened_us);
    place = room(logins, agent);
    if (place != NULL) {
        *place = fresh;
    }
    (void)pthread_mutex_unlock(&logins->lock);
    if (place == NULL) {
        end(&fresh);
        WRIT_FAIL(err, WRIT_E_BUSY, "%d people are logged in", WRIT_LOGINS_MAX);
    }
    *ret = pass;
    return WRIT_DONE;
}

/* Under the lock: the login of both secrets, or NULL. keeps (2) */
static struct login *
look_up(struct writ_logins *logins, const struct writ_digest *cookie, const struct writ_digest *key)
{
    struct login *found = NULL;

    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        struct login *login = &logins->places[i];
        bool same = writ_digest_equal(&login->cookie, cookie);

        same = writ_digest_equal(&login->key, key) && same;
        if (same && login->shown.ptr != NULL) {
            found = login;
        }
    }
    return found;
}

writ_result
writ_logins_find(struct writ_logins *logins, struct writ_view cookie, struct writ_view key,
    struct writ_arena *arena, struct writ_view *ret)
{
    struct writ_view copy = {NULL, 0};
    struct writ_digest cookie_digest, key_digest;
    struct login *login;
    int64_t now_us = writ_clock_mono_us(logins->clock);

    WRIT_TRY(writ_digest_bytes(cookie, &cookie_digest, NULL));
    WRIT_TRY(writ_digest_bytes(key, &key_digest, NULL));
    (void)pthread_mutex_lock(&logins->lock);
    sweep(logins, now_us);
    login = look_up(logins, &cookie_digest, &key_digest);
    if (login != NULL) {
        login->used_us = now_us;
        copy = writ_view_copy(writ_buf_view(&login->shown), arena);
    }
    (void)pthread_mutex_unlock(&logins->lock);
    if (copy.ptr == NULL) {
        return (writ_result){login == NULL ? WRIT_E_ABSENT : WRIT_E_NOMEM};
    }
    *ret = copy;
    return WRIT_DONE;
}

void
writ_logins_close(struct writ_logins *logins, struct writ_view cookie, struct writ_view key)
{
    struct writ_digest cookie_digest, key_digest;
    struct login *login;

    if (!writ_is_ok(writ_digest_bytes(cookie, &cookie_digest, NULL)) ||
        !writ_is_ok(writ_digest_bytes(key, &key_digest, NULL))) {
        return;
    }
    (void)pthread_mutex_lock(&logins->lock);
    login = look_up(logins, &cookie_digest, &key_digest);
    if (login != NULL) {
        end(login);
    }
    (void)pthread_mutex_unlock(&logins->lock);
}
