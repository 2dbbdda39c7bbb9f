/* background.h - a thread that runs periodic jobs, such as fetches, as long as the gateway runs.
 *
 * The owner keeps the jobs and gives access to them by number. When a job is due the thread calls
 * `work` for it, without the lock; `work` sets the job's next time. One lock guards the jobs and
 * the data that the owner keeps beside them. */
#ifndef WRIT_GATEWAY_BACKGROUND_H
#define WRIT_GATEWAY_BACKGROUND_H

#include "base/clock.h"

#include <stdatomic.h>

#define WRIT_BACKGROUND_NEVER INT64_MAX

/** When a job is to be done. Belongs to the lock. */
struct writ_background_job {
    int64_t due_us;    /* monotonic; NEVER: not */
    unsigned failures; /* since the last success */
};

/** The work of a thread. The functions and `ctx` are borrowed until free. */
struct writ_background_options {
    const struct writ_clock *clock;
    size_t n;                                                   /* jobs 0 .. n - 1 */
    struct writ_background_job *(*job)(void *ctx, size_t i);    /* under the lock */
    void (*work)(void *ctx, size_t i, const atomic_bool *stop); /* without the lock; returns soon
                                                                   after `stop` becomes true */
    void *ctx;
};

struct writ_background;

/** Does not start the thread. `ret` is new, free with writ_background_free; written only on
 * success. WRIT_E_NOMEM. */
WRIT_RESULT writ_background_new(const struct writ_background_options *options,
    struct writ_background **ret, struct writ_err *err);

/** Starts the thread, once. WRIT_E_NOMEM. Not from several threads. */
WRIT_RESULT writ_background_start(struct writ_background *background, struct writ_err *err);

/** Ends the thread, cancels its running work, and frees. NULL is permitted. */
void writ_background_free(struct writ_background *background);

/** Any thread; never held while something is fetched. */
void writ_background_lock(struct writ_background *background);
void writ_background_unlock(struct writ_background *background);

/** Under the lock: a job has an earlier time than before. */
void writ_background_wake(struct writ_background *background);

/** Under the lock: schedules the next run after a success, and after a failure (`retry_us` doubles
 * with each, at most `most_us`). */
void writ_background_succeeded(
    struct writ_background *background, struct writ_background_job *job, int64_t again_us);
void writ_background_failed(struct writ_background *background, struct writ_background_job *job,
    int64_t retry_us, int64_t most_us);

/** Monotonic, by the clock of the options. */
int64_t writ_background_now_us(const struct writ_background *background);

#endif
