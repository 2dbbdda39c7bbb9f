/* `mutex` guards the state; the report belongs to the thread. */
#include "store/read/scrub.h"

#include "base/clock.h"
#include "base/thread.h"
#include "store/read/verify.h"

#include <errno.h>
#include <time.h>

#define US_PER_S  1000000
#define NS_PER_US 1000

struct writ_scrub {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    const struct writ_keyring *ring;
    int64_t every_us;
    int64_t worked_us; /* monotonic time at which the present piece of work began */
    int fails;         /* passes in a row that could not be made; the thread's */
    bool stopping;
    struct writ_scrub_state state;
    struct writ_err why;
    struct writ_verify_report report;
    char path[];
};

static int64_t
now(void)
{
    return writ_clock_mono_us(writ_clock_system());
}

/* Under mutex. False when it is time to end. */
static bool
rest(struct writ_scrub *scrub, int64_t for_us)
{
    int64_t until_us = now() + for_us;
    struct timespec until = {
        .tv_sec = until_us / US_PER_S, .tv_nsec = until_us % US_PER_S * NS_PER_US};

    while (!scrub->stopping &&
           pthread_cond_timedwait(&scrub->wake, &scrub->mutex, &until) != ETIMEDOUT) {
    }
    return !scrub->stopping;
}

static bool
rest_between(void *ctx, uint64_t done, uint64_t all)
{
    struct writ_scrub *scrub = ctx;
    bool goes_on;

    (void)done;
    (void)all;
    (void)pthread_mutex_lock(&scrub->mutex);
    goes_on = rest(scrub, WRIT_SCRUB_REST * (now() - scrub->worked_us));
    (void)pthread_mutex_unlock(&scrub->mutex);
    scrub->worked_us = now();
    return goes_on;
}

/* Whether too many passes in a row have failed. A locked ledger, or a stopped pass, is not a
 * failure. */
static bool
failed(
    struct writ_scrub *scrub, writ_result result, const struct writ_err *err, struct writ_err *why)
{
    if (writ_is_ok(result) || result.code == WRIT_E_BUSY) {
        scrub->fails = 0;
        return false;
    }
    if (++scrub->fails < WRIT_SCRUB_FAILS) {
        return false;
    }
    (void)writ_fail(why, result.code, "the ledger could not be verified %d times in a row: %s",
        WRIT_SCRUB_FAILS, err->text);
    return true;
}

/* True when a fault was found. A ledger that cannot be read is tried again in the next pass, a
 * bounded number of times. */
static bool
pass(struct writ_scrub *scrub, const struct writ_keyring *ring, bool *ret_whole,
    struct writ_err *why)
{
    const struct writ_verify_problem *first = scrub->report.list;
    struct writ_err err = {0};
    writ_result result;

    scrub->worked_us = now();
    result = writ_verify_ledger(scrub->path, ring, rest_between, scrub, &scrub->report, &err);
    *ret_whole = writ_is_ok(result) && scrub->report.problems == 0;
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_MISMATCH) {
        *why = err;
        return true;
    }
    if (!writ_is_ok(result) || scrub->report.problems == 0) {
        return failed(scrub, result, &err, why);
    }
    (void)writ_fail(why, WRIT_E_MISMATCH, "another program changed the ledger: record %llu: %s",
        (unsigned long long)first->leaf, first->what);
    return true;
}

static void *
run(void *arg)
{
    struct writ_scrub *scrub = arg;
    int64_t wait_us = scrub->every_us < WRIT_SCRUB_FIRST_US ? scrub->every_us : WRIT_SCRUB_FIRST_US;

    (void)pthread_mutex_lock(&scrub->mutex);
    while (rest(scrub, wait_us > 0 ? wait_us : 0) && !scrub->state.found) {
        struct writ_err why = {0};
        int64_t began_us = now();
        const struct writ_keyring *ring = scrub->ring;
        bool whole = false, found;

        (void)pthread_mutex_unlock(&scrub->mutex);
        found = pass(scrub, ring, &whole, &why);
        (void)pthread_mutex_lock(&scrub->mutex);
        if (found &&
            scrub->ring != ring) { /* with the former keys: the next pass finds the fault again */
            scrub->fails = 0;
            wait_us = 0;
            continue;
        }
        scrub->state.found = found;
        scrub->state.passes += whole ? 1 : 0;
        scrub->why = why;
        wait_us = scrub->every_us - (now() - began_us);
    }
    (void)pthread_mutex_unlock(&scrub->mutex);
    return NULL;
}

WRIT_RESULT
writ_scrub_start(const char *path, const struct writ_keyring *ring, int64_t every_us,
    struct writ_scrub **ret, struct writ_err *err)
{
    struct writ_view name = writ_view_str(path);
    struct writ_scrub *scrub = writ_alloc(sizeof *scrub + name.len + 1);
    pthread_condattr_t monotonic;

    if (scrub == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    (void)writ_view_place(name, scrub->path); /* the memory is zeroed */
    scrub->ring = ring;
    scrub->every_us = every_us;
    (void)pthread_mutex_init(&scrub->mutex, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&scrub->wake, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    if (!writ_thread_start(&scrub->thread, run, scrub, "writ-scrub")) {
        (void)pthread_cond_destroy(&scrub->wake);
        (void)pthread_mutex_destroy(&scrub->mutex);
        writ_free(scrub);
        WRIT_FAIL(err, WRIT_E_IO, "no thread for the ledger");
    }
    *ret = scrub;
    return WRIT_DONE;
}

void
writ_scrub_rekey(struct writ_scrub *scrub, const struct writ_keyring *ring)
{
    (void)pthread_mutex_lock(&scrub->mutex);
    scrub->ring = ring;
    (void)pthread_mutex_unlock(&scrub->mutex);
}

void
writ_scrub_stop(struct writ_scrub *scrub)
{
    if (scrub == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&scrub->mutex);
    scrub->stopping = true;
    (void)pthread_cond_signal(&scrub->wake);
    (void)pthread_mutex_unlock(&scrub->mutex);
    (void)pthread_join(scrub->thread, NULL);
    (void)pthread_cond_destroy(&scrub->wake);
    (void)pthread_mutex_destroy(&scrub->mutex);
    writ_free(scrub);
}

struct writ_scrub_state
writ_scrub_look(struct writ_scrub *scrub, struct writ_err *err)
{
    struct writ_scrub_state state;

    (void)pthread_mutex_lock(&scrub->mutex);
    state = scrub->state;
    if (state.found) {
        *err = scrub->why;
    }
    (void)pthread_mutex_unlock(&scrub->mutex);
    return state;
}
