/* Key sets and the thread that fetches them.
 *
 * (1) `set`, `text`, `due_us`, `failures` and `asked_us` of a place belong to the lock; `version`
 *     and `fetched_us` are written under it and read without.
 * (2) A set is never changed; a place exchanges it for another.
 * (3) The lock is not held during a fetch, so asking never waits for the network. */
#include "gateway/issuers.h"

#include "base/text.h"
#include "evidence/digest.h"
#include "gateway/discovery.h"
#include "gateway/fetch.h"
#include "gateway/identity.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define US_PER_S    INT64_C(1000000)
#define NS_PER_US   1000
#define RETRY_S     1
#define DOUBLED_MAX 20 /* more doublings than any interval has */
#define NEVER       INT64_MAX

struct writ_issuers_set {
    struct writ_jwks *keys;
    uint64_t version;
    atomic_uint holders;
};

struct place {
    struct writ_issuers_place at;
    bool url;
    struct writ_issuers_set *set;
    struct writ_digest text; /* of what the set was read from */
    int64_t due_us;          /* next fetch */
    int64_t asked_us;        /* last fetch for an unknown kid */
    unsigned failures;       /* since the last success */
    _Atomic uint64_t version;
    _Atomic int64_t fetched_us;
};

struct writ_issuers {
    struct place *places;
    size_t n;
    struct writ_issuers_times times;
    const struct writ_clock *clock;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started;
    uint64_t versions; /* the last one given out; belongs to the lock */
    atomic_bool stop;
};

static void
issuers_freep(struct writ_issuers **issuers)
{
    writ_issuers_free(*issuers);
}

static void
set_freep(struct writ_issuers_set **set)
{
    writ_issuers_drop(*set);
}

static int64_t
now_us(const struct writ_issuers *issuers)
{
    return writ_clock_mono_us(issuers->clock);
}

/* ---- sets */

void
writ_issuers_drop(struct writ_issuers_set *set)
{
    if (set != NULL && atomic_fetch_sub(&set->holders, 1) == 1) {
        writ_jwks_free(set->keys);
        writ_free(set);
    }
}

const struct writ_jwks *
writ_issuers_keys(const struct writ_issuers_set *set, uint64_t *ret)
{
    *ret = set->version;
    return set->keys;
}

static WRIT_RESULT
set_read(struct writ_view text, struct writ_issuers_set **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_issuers_set *, set_freep) set = writ_alloc(sizeof(*set));

    if (set == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key set");
    }
    atomic_init(&set->holders, 1);
    WRIT_TRY(writ_jwks_read(text, &set->keys, err));
    *ret = WRIT_TAKE(set);
    return WRIT_DONE;
}

/* Under the lock: the place has this set from now on, unless its text is the one it has. */
static void
place_take(struct writ_issuers *issuers, struct place *place, struct writ_issuers_set **set,
    const struct writ_digest *text)
{
    atomic_store(&place->fetched_us, now_us(issuers));
    if (place->set != NULL && writ_digest_equal(&place->text, text)) {
        return;
    }
    writ_issuers_drop(place->set);
    place->set = WRIT_TAKE(*set);
    place->set->version = ++issuers->versions;
    place->text = *text;
    atomic_store(&place->version, place->set->version);
}

/* ---- asking */

static bool
serves(const struct writ_issuers *issuers, struct place *place)
{
    return !place->url ||
           now_us(issuers) - atomic_load(&place->fetched_us) <= issuers->times.stale_us;
}

uint64_t
writ_issuers_version(struct writ_issuers *issuers, size_t i)
{
    struct place *place = &issuers->places[i];
    uint64_t version = atomic_load(&place->version);

    return version != 0 && serves(issuers, place) ? version : 0;
}

struct writ_issuers_set *
writ_issuers_hold(struct writ_issuers *issuers, size_t i)
{
    struct place *place = &issuers->places[i];
    struct writ_issuers_set *set = NULL;

    (void)pthread_mutex_lock(&issuers->lock);
    if (place->set != NULL && serves(issuers, place)) {
        set = place->set;
        atomic_fetch_add(&set->holders, 1);
    }
    (void)pthread_mutex_unlock(&issuers->lock);
    return set;
}

void
writ_issuers_unknown(struct writ_issuers *issuers, size_t i)
{
    struct place *place = &issuers->places[i];
    int64_t now = now_us(issuers);

    if (!place->url) {
        return;
    }
    (void)pthread_mutex_lock(&issuers->lock);
    if (now - place->asked_us >= issuers->times.unknown_us && place->due_us > now &&
        place->failures == 0) {
        place->asked_us = now;
        place->due_us = now;
        (void)pthread_cond_signal(&issuers->changed);
    }
    (void)pthread_mutex_unlock(&issuers->lock);
}

bool
writ_issuers_ready(struct writ_issuers *issuers)
{
    for (size_t i = 0; i < issuers->n; i++) {
        if (writ_issuers_version(issuers, i) == 0) {
            return false;
        }
    }
    return true;
}

/* ---- fetching */

static int64_t
pause_after(const struct writ_issuers_times *times, unsigned failures)
{
    int64_t pause = times->retry_us;

    for (unsigned i = 1; i < failures && i < DOUBLED_MAX && pause < times->refresh_us; i++) {
        pause *= 2;
    }
    return pause < times->refresh_us ? pause : times->refresh_us;
}

/* Without the lock: keeps (3). Metadata are asked again each time: keys move, rarely, and this is
 * not per call. */
static WRIT_RESULT
fetch(const struct writ_issuers *issuers, const struct place *place, struct writ_issuers_set **ret,
    struct writ_digest *ret_text)
{
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
    writ_auto_buf body = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    int64_t fetch_ms = issuers->times.fetch_ms;

    if (place->at.jwks.len > 0) {
        writ_buf_put(&url, place->at.jwks);
    } else {
        WRIT_TRY(writ_discovery_find(
            place->at.issuer.ptr, "jwks_uri", fetch_ms, &issuers->stop, &url, NULL));
    }
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, NULL));
    WRIT_TRY(writ_fetch_get(url.ptr, fetch_ms, &issuers->stop, &body, NULL));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&body), ret_text, NULL));
    return set_read(writ_buf_view(&body), ret, NULL);
}

static void
refresh(struct writ_issuers *issuers, struct place *place)
{
    WRIT_AUTO(struct writ_issuers_set *, set_freep) set = NULL;
    struct writ_digest text;
    writ_result fetched;

    (void)pthread_mutex_unlock(&issuers->lock);
    fetched = fetch(issuers, place, &set, &text);
    (void)pthread_mutex_lock(&issuers->lock);
    if (writ_is_ok(fetched)) {
        place_take(issuers, place, &set, &text);
        place->failures = 0;
        place->due_us = now_us(issuers) + issuers->times.refresh_us;
    } else {
        place->failures++;
        place->due_us = now_us(issuers) + pause_after(&issuers->times, place->failures);
    }
}

/* The place that is due first, or NULL. */
static struct place *
next_due(struct writ_issuers *issuers)
{
    struct place *next = NULL;

    for (size_t i = 0; i < issuers->n; i++) {
        struct place *place = &issuers->places[i];
        if (place->url && (next == NULL || place->due_us < next->due_us)) {
            next = place;
        }
    }
    return next;
}

/* Sleeps for `us`, or until something changes. */
static void
sleep_us(struct writ_issuers *issuers, int64_t us)
{
    int64_t until_us = writ_clock_mono_us(writ_clock_system()) + us;
    struct timespec until = {
        .tv_sec = until_us / US_PER_S, .tv_nsec = until_us % US_PER_S * NS_PER_US};

    (void)pthread_cond_timedwait(&issuers->changed, &issuers->lock, &until);
}

static void *
run(void *arg)
{
    struct writ_issuers *issuers = arg;

    (void)pthread_mutex_lock(&issuers->lock);
    while (!atomic_load(&issuers->stop)) {
        struct place *place = next_due(issuers);
        int64_t wait_us = place->due_us - now_us(issuers);

        if (wait_us > 0) {
            sleep_us(issuers, wait_us);
        } else {
            refresh(issuers, place);
        }
    }
    (void)pthread_mutex_unlock(&issuers->lock);
    return NULL;
}

/* ---- opening */

static WRIT_RESULT
open_file(struct writ_issuers *issuers, struct place *place, struct writ_err *err)
{
    WRIT_AUTO(struct writ_issuers_set *, set_freep) set = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_err why = {0};
    struct writ_digest digest;
    const char *left_out = "";
    writ_result result;

    WRIT_TRY(writ_text_file(place->at.jwks.ptr, WRIT_JWKS_BYTES_MAX, &text, err));
    result = set_read(writ_buf_view(&text), &set, &why);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", place->at.jwks.ptr, why.text);
    }
    if (writ_jwks_count(set->keys) == 0) {
        (void)writ_jwks_left_out(set->keys, &left_out);
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: no usable key: %s", place->at.jwks.ptr, left_out);
    }
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &digest, err));
    place_take(issuers, place, &set, &digest);
    return WRIT_DONE;
}

static WRIT_RESULT
open_place(struct writ_issuers *issuers, struct place *place, const struct writ_issuers_place *at,
    struct writ_err *err)
{
    place->at = *at;
    place->url = at->jwks.len == 0 || writ_view_search(at->jwks, WRIT_LIT("://")) < at->jwks.len;
    place->asked_us = now_us(issuers) - issuers->times.unknown_us; /* the first may ask at once */
    place->due_us = place->url ? now_us(issuers) : NEVER;
    if (!place->url) {
        return open_file(issuers, place, err);
    }
    return writ_fetch_check(at->jwks.len > 0 ? at->jwks.ptr : at->issuer.ptr, err);
}

static WRIT_RESULT
start_thread(struct writ_issuers *issuers, struct writ_err *err)
{
    sigset_t all, before;

    if (next_due(issuers) == NULL) {
        return WRIT_DONE;
    }
    (void)sigfillset(&all); /* signals are for the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    issuers->started = pthread_create(&issuers->thread, NULL, run, issuers) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!issuers->started) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no thread to fetch key sets");
    }
    return WRIT_DONE;
}

static int64_t
or_default(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

static struct writ_issuers_times
times_of(const struct writ_issuers_times *times)
{
    static const struct writ_issuers_times none = {0};
    const struct writ_issuers_times *given = times != NULL ? times : &none;

    return (struct writ_issuers_times){
        .refresh_us = or_default(given->refresh_us, WRIT_IDENTITY_REFRESH_S * US_PER_S),
        .retry_us = or_default(given->retry_us, RETRY_S * US_PER_S),
        .unknown_us = or_default(given->unknown_us, WRIT_IDENTITY_UNKNOWN_KID_S * US_PER_S),
        .stale_us = or_default(given->stale_us, WRIT_IDENTITY_STALE_MAX_S * US_PER_S),
        .fetch_ms = or_default(given->fetch_ms, WRIT_IDENTITY_FETCH_MS),
    };
}

/* Waiting goes by the monotonic clock, so that setting the time delays nothing. */
static WRIT_RESULT
init_locks(struct writ_issuers *issuers, struct writ_err *err)
{
    pthread_condattr_t monotonic;

    if (pthread_mutex_init(&issuers->lock, NULL) != 0) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no lock for key sets");
    }
    if (pthread_condattr_init(&monotonic) != 0 ||
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&issuers->changed, &monotonic) != 0) {
        (void)pthread_mutex_destroy(&issuers->lock);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no lock for key sets");
    }
    (void)pthread_condattr_destroy(&monotonic);
    return WRIT_DONE;
}

static WRIT_RESULT
issuers_make(struct writ_issuers **ret, struct writ_err *err)
{
    struct writ_issuers *issuers = writ_alloc(sizeof(*issuers));
    writ_result locks;

    if (issuers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for key sets");
    }
    locks = init_locks(issuers, err);
    if (!writ_is_ok(locks)) {
        writ_free(issuers);
        return locks;
    }
    *ret = issuers;
    return WRIT_DONE;
}

WRIT_RESULT
writ_issuers_new(const struct writ_issuers_place *places, size_t n,
    const struct writ_issuers_times *times, const struct writ_clock *clock,
    struct writ_issuers **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_issuers *, issuers_freep) issuers = NULL;

    WRIT_TRY(issuers_make(&issuers, err));
    issuers->times = times_of(times);
    issuers->clock = clock != NULL ? clock : writ_clock_system();
    issuers->places = writ_alloc((n > 0 ? n : 1) * sizeof(*issuers->places));
    if (issuers->places == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for key sets");
    }
    for (issuers->n = 0; issuers->n < n; issuers->n++) {
        WRIT_TRY(open_place(issuers, &issuers->places[issuers->n], &places[issuers->n], err));
    }
    WRIT_TRY(start_thread(issuers, err));
    *ret = WRIT_TAKE(issuers);
    return WRIT_DONE;
}

static void
stop_thread(struct writ_issuers *issuers)
{
    atomic_store(&issuers->stop, true);
    (void)pthread_mutex_lock(&issuers->lock);
    (void)pthread_cond_signal(&issuers->changed);
    (void)pthread_mutex_unlock(&issuers->lock);
    (void)pthread_join(issuers->thread, NULL);
}

void
writ_issuers_free(struct writ_issuers *issuers)
{
    if (issuers == NULL) {
        return;
    }
    if (issuers->started) {
        stop_thread(issuers);
    }
    for (size_t i = 0; i < issuers->n; i++) {
        writ_issuers_drop(issuers->places[i].set);
    }
    writ_free(issuers->places);
    (void)pthread_cond_destroy(&issuers->changed);
    (void)pthread_mutex_destroy(&issuers->lock);
    writ_free(issuers);
}
