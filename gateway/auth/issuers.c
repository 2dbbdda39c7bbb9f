/* issuers.c - key sets and the thread that fetches them.
 *
 * Invariants:
 * (1) the lock guards `set`, `text`, `job` and `asked_us` of a place; `version` and `fetched_us`
 *     are written under it and read without.
 * (2) A set never changes; a place replaces it by another.
 * (3) The lock is not held during a fetch, so a lookup never waits for the network. */
#include "gateway/auth/issuers.h"

#include "base/text.h"
#include "evidence/json/digest.h"
#include "gateway/io/background.h"
#include "gateway/auth/discovery.h"
#include "gateway/http/fetch.h"

#define US_PER_S INT64_C(1000000)
#define RETRY_S  1

struct writ_issuers_set {
    struct writ_jwks *keys;
    uint64_t version;
    atomic_uint holders;
};

struct place {
    struct writ_issuers_place at;
    bool url;
    struct writ_issuers_set *set;
    struct writ_digest text; /* of the source of the set */
    struct writ_background_job job;
    int64_t asked_us; /* last fetch for an unknown kid */
    _Atomic uint64_t version;
    _Atomic int64_t fetched_us;
};

struct writ_issuers {
    struct place *places;
    size_t n;
    struct writ_issuers_times times;
    const struct writ_clock *clock;
    struct writ_log *log;
    struct writ_background *background;
    uint64_t versions; /* the last number used; under the lock */
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

/* Under the lock: the place takes this set, unless its text is unchanged. */
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

    writ_background_lock(issuers->background);
    if (place->set != NULL && serves(issuers, place)) {
        set = place->set;
        atomic_fetch_add(&set->holders, 1);
    }
    writ_background_unlock(issuers->background);
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
    writ_background_lock(issuers->background);
    if (now - place->asked_us >= issuers->times.unknown_us && place->job.due_us > now &&
        place->job.failures == 0) {
        place->asked_us = now;
        place->job.due_us = now;
        writ_background_wake(issuers->background);
    }
    writ_background_unlock(issuers->background);
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

/* Without the lock: keeps (3). Metadata are fetched again each time: keys move, rarely, and this
 * does not happen per call. */
static WRIT_RESULT
fetch(const struct writ_issuers *issuers, const struct place *place, const atomic_bool *stop,
    struct writ_issuers_set **ret, struct writ_digest *ret_text, struct writ_err *err)
{
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
    writ_auto_buf body = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    int64_t fetch_ms = issuers->times.fetch_ms;

    if (place->at.jwks.len > 0) {
        writ_buf_put(&url, place->at.jwks);
    } else {
        WRIT_TRY(writ_discovery_find(place->at.issuer.ptr, "jwks_uri", fetch_ms, stop, &url, err));
    }
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    WRIT_TRY(writ_fetch_get(url.ptr, fetch_ms, stop, &body, err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&body), ret_text, err));
    return set_read(writ_buf_view(&body), ret, err);
}

static void
refresh(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_issuers *issuers = ctx;
    struct place *place = &issuers->places[i];
    const struct writ_issuers_times *times = &issuers->times;
    WRIT_AUTO(struct writ_issuers_set *, set_freep) set = NULL;
    struct writ_digest text;
    struct writ_err err = {{0}, 0, 0};
    writ_result fetched = fetch(issuers, place, stop, &set, &text, &err);

    writ_background_lock(issuers->background);
    if (writ_is_ok(fetched)) {
        place_take(issuers, place, &set, &text);
        writ_background_succeeded(issuers->background, &place->job, times->refresh_us);
    } else {
        writ_background_failed(
            issuers->background, &place->job, times->retry_us, times->refresh_us);
    }
    writ_background_unlock(issuers->background);
    if (!writ_is_ok(fetched) && !atomic_load(stop) && issuers->log != NULL) {
        WRIT_LOG(issuers->log, WRIT_EVENT_KEYS_FAILED, writ_log_text("issuer", place->at.issuer),
            writ_log_str("why", err.text));
    }
}

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct writ_issuers *issuers = ctx;
    return &issuers->places[i].job;
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
    place->asked_us = now_us(issuers) - issuers->times.unknown_us; /* the first unknown kid may
                                                                      cause a fetch at once */
    place->job.due_us = place->url ? now_us(issuers) : WRIT_BACKGROUND_NEVER;
    if (!place->url) {
        return open_file(issuers, place, err);
    }
    return writ_fetch_check(at->jwks.len > 0 ? at->jwks.ptr : at->issuer.ptr, err);
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
        .refresh_us = or_default(given->refresh_us, WRIT_ISSUERS_REFRESH_S * US_PER_S),
        .retry_us = or_default(given->retry_us, RETRY_S * US_PER_S),
        .unknown_us = or_default(given->unknown_us, WRIT_ISSUERS_UNKNOWN_KID_S * US_PER_S),
        .stale_us = or_default(given->stale_us, WRIT_ISSUERS_STALE_MAX_S * US_PER_S),
        .fetch_ms = or_default(given->fetch_ms, WRIT_ISSUERS_FETCH_MS),
    };
}

WRIT_RESULT
writ_issuers_new(const struct writ_issuers_place *places, size_t n,
    const struct writ_issuers_times *times, const struct writ_clock *clock, struct writ_log *log,
    struct writ_issuers **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_issuers *, issuers_freep) issuers = writ_alloc(sizeof(*issuers));
    struct writ_background_options background = {.n = n, .job = job_of, .work = refresh};
    bool fetches = false;

    if (issuers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for key sets");
    }
    issuers->times = times_of(times);
    issuers->log = log;
    issuers->clock = background.clock = clock != NULL ? clock : writ_clock_system();
    issuers->places = writ_alloc((n > 0 ? n : 1) * sizeof(*issuers->places));
    if (issuers->places == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for key sets");
    }
    background.ctx = issuers;
    WRIT_TRY(writ_background_new(&background, &issuers->background, err));
    for (issuers->n = 0; issuers->n < n; issuers->n++) {
        WRIT_TRY(open_place(issuers, &issuers->places[issuers->n], &places[issuers->n], err));
        fetches = fetches || issuers->places[issuers->n].url;
    }
    if (fetches) {
        WRIT_TRY(writ_background_start(issuers->background, err));
    }
    *ret = WRIT_TAKE(issuers);
    return WRIT_DONE;
}

/* Under the lock of `issuers`, which has fetched nothing for this place yet. A set that comes later
 * has a greater version. */
static void
inherit(struct writ_issuers *issuers, struct place *place, const struct place *from)
{
    atomic_fetch_add(&from->set->holders, 1);
    place->set = from->set;
    place->text = from->text;
    if (issuers->versions < place->set->version) {
        issuers->versions = place->set->version;
    }
    atomic_store(&place->fetched_us, atomic_load(&from->fetched_us));
    atomic_store(&place->version, place->set->version);
}

static struct place *
same_place(struct writ_issuers *issuers, const struct writ_issuers_place *at)
{
    for (size_t i = 0; i < issuers->n; i++) {
        struct place *place = &issuers->places[i];
        if (place->url && writ_view_equal(place->at.jwks, at->jwks) &&
            (at->jwks.len > 0 || writ_view_equal(place->at.issuer, at->issuer))) {
            return place;
        }
    }
    return NULL;
}

void
writ_issuers_inherit(struct writ_issuers *issuers, struct writ_issuers *before)
{
    writ_background_lock(before->background); /* always the older one first */
    writ_background_lock(issuers->background);
    for (size_t i = 0; i < issuers->n; i++) {
        struct place *place = &issuers->places[i];
        const struct place *from = place->url ? same_place(before, &place->at) : NULL;

        if (from != NULL && from->set != NULL && place->set == NULL) {
            inherit(issuers, place, from);
        }
    }
    writ_background_unlock(issuers->background);
    writ_background_unlock(before->background);
}

void
writ_issuers_free(struct writ_issuers *issuers)
{
    if (issuers == NULL) {
        return;
    }
    writ_background_free(issuers->background);
    for (size_t i = 0; i < issuers->n; i++) {
        writ_issuers_drop(issuers->places[i].set);
    }
    writ_free(issuers->places);
    writ_free(issuers);
}
