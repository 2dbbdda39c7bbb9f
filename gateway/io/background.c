/* background.c - one thread sleeps until the next job is due, runs it without the lock, and sleeps
 * again. A job's time changes only under the lock, and each change wakes the thread. */
#include "gateway/io/background.h"

#include "base/alloc.h"
#include "base/thread.h"

#include <time.h>

#define US_PER_S    INT64_C(1000000)
#define NS_PER_US   1000
#define DOUBLED_MAX 20                /* more doublings than any interval has */
#define SLEEP_US    (3600 * US_PER_S) /* at most, so that no sum overflows */

struct writ_background {
    struct writ_background_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started;
    atomic_bool stop;
};

int64_t
writ_background_now_us(const struct writ_background *background)
{
    return writ_clock_mono_us(background->options.clock);
}

void
writ_background_lock(struct writ_background *background)
{
    (void)pthread_mutex_lock(&background->lock);
}

void
writ_background_unlock(struct writ_background *background)
{
    (void)pthread_mutex_unlock(&background->lock);
}

void
writ_background_wake(struct writ_background *background)
{
    (void)pthread_cond_signal(&background->changed);
}

/* ---- after a job */

void
writ_background_succeeded(
    struct writ_background *background, struct writ_background_job *job, int64_t again_us)
{
    job->failures = 0;
    job->due_us = writ_background_now_us(background) + again_us;
}

void
writ_background_failed(struct writ_background *background, struct writ_background_job *job,
    int64_t retry_us, int64_t most_us)
{
    int64_t pause_us = retry_us;

    for (unsigned i = 0; i < job->failures && i < DOUBLED_MAX && pause_us < most_us; i++) {
        pause_us *= 2;
    }
    job->failures++;
    job->due_us = writ_background_now_us(background) + (pause_us < most_us ? pause_us : most_us);
}

/* ---- the thread */

/* Under the lock: the job that is due first. */
static size_t
next_due(struct writ_background *background, int64_t *ret_due_us)
{
    const struct writ_background_options *options = &background->options;
    size_t next = 0;

    *ret_due_us = WRIT_BACKGROUND_NEVER;
    for (size_t i = 0; i < options->n; i++) {
        int64_t due_us = options->job(options->ctx, i)->due_us;
        if (due_us < *ret_due_us) {
            *ret_due_us = due_us;
            next = i;
        }
    }
    return next;
}

/* Sleeps for `us`, or until something changes. */
static void
sleep_us(struct writ_background *background, int64_t us)
{
    int64_t until_us = writ_clock_mono_us(writ_clock_system()) + (us < SLEEP_US ? us : SLEEP_US);
    struct timespec until = {
        .tv_sec = until_us / US_PER_S, .tv_nsec = until_us % US_PER_S * NS_PER_US};

    (void)pthread_cond_timedwait(&background->changed, &background->lock, &until);
}

static void *
run(void *arg)
{
    struct writ_background *background = arg;
    const struct writ_background_options *options = &background->options;

    writ_background_lock(background);
    while (!atomic_load(&background->stop)) {
        int64_t due_us;
        size_t i = next_due(background, &due_us);
        int64_t wait_us = due_us - writ_background_now_us(background);

        if (wait_us > 0) {
            sleep_us(background, wait_us);
            continue;
        }
        writ_background_unlock(background);
        options->work(options->ctx, i, &background->stop);
        writ_background_lock(background);
    }
    writ_background_unlock(background);
    return NULL;
}

WRIT_RESULT
writ_background_start(struct writ_background *background, struct writ_err *err)
{
    if (background->started) {
        return WRIT_DONE;
    }
    background->started =
        writ_thread_start(&background->thread, run, background, "writ-background");
    if (!background->started) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no thread for what is fetched in the background");
    }
    return WRIT_DONE;
}

/* ---- life */

/* Waiting uses the monotonic clock, so that setting the time delays nothing. */
static WRIT_RESULT
init_locks(struct writ_background *background, struct writ_err *err)
{
    pthread_condattr_t monotonic;

    if (pthread_mutex_init(&background->lock, NULL) != 0) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no lock for what is fetched in the background");
    }
    if (pthread_condattr_init(&monotonic) != 0 ||
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) != 0 ||
        pthread_cond_init(&background->changed, &monotonic) != 0) {
        (void)pthread_mutex_destroy(&background->lock);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no lock for what is fetched in the background");
    }
    (void)pthread_condattr_destroy(&monotonic);
    return WRIT_DONE;
}

WRIT_RESULT
writ_background_new(const struct writ_background_options *options, struct writ_background **ret,
    struct writ_err *err)
{
    struct writ_background *background = writ_alloc(sizeof(*background));
    writ_result locks;

    if (background == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for what is fetched in the background");
    }
    locks = init_locks(background, err);
    if (!writ_is_ok(locks)) {
        writ_free(background);
        return locks;
    }
    background->options = *options;
    *ret = background;
    return WRIT_DONE;
}

void
writ_background_free(struct writ_background *background)
{
    if (background == NULL) {
        return;
    }
    if (background->started) {
        atomic_store(&background->stop, true);
        writ_background_lock(background);
        writ_background_wake(background);
        writ_background_unlock(background);
        (void)pthread_join(background->thread, NULL);
    }
    (void)pthread_cond_destroy(&background->changed);
    (void)pthread_mutex_destroy(&background->lock);
    writ_free(background);
}
