/* Jobs that repeat on a loop. A job runs when it is due, its pauses double after failures up to
 * the longest, and the end cancels jobs in flight. */
#include "gateway/io/background.h"
#include "support/unit.h"

#include <time.h>

#define S INT64_C(1000000)

/* Two jobs; each notes that it was done, and is then due again in an hour. */
struct owner {
    struct writ_background *background;
    struct writ_background_job jobs[2];
    atomic_int done[2];
    atomic_bool holds; /* the job waits for the stop */
};

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    struct owner *owner = ctx;
    return &owner->jobs[i];
}

static void
pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&pause, NULL);
}

static void
work(void *ctx, size_t i, const atomic_bool *stop)
{
    struct owner *owner = ctx;

    while (atomic_load(&owner->holds) && !atomic_load(stop)) {
        pause_ms(1);
    }
    writ_background_lock(owner->background);
    writ_background_succeeded(owner->background, &owner->jobs[i], 3600 * S);
    writ_background_unlock(owner->background);
    atomic_fetch_add(&owner->done[i], 1);
}

static int64_t still_us = 1000 * S;

static int64_t
still(void *ctx)
{
    (void)ctx;
    return still_us;
}

static const struct writ_clock still_clock = {still, still, NULL};

static void
open_owner(struct owner *owner, const struct writ_clock *clock)
{
    const struct writ_background_options options = {
        .clock = clock, .n = 2, .job = job_of, .work = work, .ctx = owner};

    owner->jobs[0].due_us = owner->jobs[1].due_us = WRIT_BACKGROUND_NEVER;
    ck_assert_ok(writ_background_new(&options, &owner->background, NULL));
}

static void
wait_for(const atomic_int *count, int n)
{
    while (atomic_load(count) < n) {
        pause_ms(1);
    }
}

START_TEST(background_runs_due_jobs_only)
{
    struct owner owner = {0};

    open_owner(&owner, writ_clock_system());
    ck_assert_ok(writ_background_start(owner.background, NULL));
    ck_assert_ok(writ_background_start(owner.background, NULL)); /* once */
    writ_background_lock(owner.background);
    owner.jobs[1].due_us = writ_background_now_us(owner.background);
    writ_background_wake(owner.background);
    writ_background_unlock(owner.background);
    wait_for(&owner.done[1], 1);
    ck_assert_int_eq(atomic_load(&owner.done[0]), 0);
    writ_background_lock(owner.background);
    owner.jobs[0].due_us = writ_background_now_us(owner.background) + 20000;
    writ_background_wake(owner.background);
    writ_background_unlock(owner.background);
    wait_for(&owner.done[0], 1);
    ck_assert_int_eq(atomic_load(&owner.done[1]), 1);
    writ_background_free(owner.background);
}
END_TEST

START_TEST(background_close_cancels_jobs_in_flight)
{
    struct owner owner = {.holds = true};

    open_owner(&owner, writ_clock_system());
    owner.jobs[0].due_us = 0;
    ck_assert_ok(writ_background_start(owner.background, NULL));
    pause_ms(10);
    writ_background_free(owner.background);
    ck_assert_int_le(atomic_load(&owner.done[0]), 1);
    open_owner(&owner, writ_clock_system()); /* one that never started */
    writ_background_free(owner.background);
    writ_background_free(NULL);
}
END_TEST

START_TEST(pauses_double_up_to_the_longest_and_start_again)
{
    static const int64_t pauses_s[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
    struct owner owner = {0};
    struct writ_background_job job = {.due_us = 0};

    open_owner(&owner, &still_clock);
    for (size_t i = 0; i < sizeof pauses_s / sizeof pauses_s[0]; i++) {
        writ_background_failed(owner.background, &job, S, 60 * S);
        ck_assert_int_eq(job.due_us, still_us + pauses_s[i] * S);
        ck_assert_uint_eq(job.failures, i + 1);
    }
    for (int i = 0; i < 1000; i++) {
        writ_background_failed(owner.background, &job, S, 60 * S);
    }
    ck_assert_int_eq(job.due_us, still_us + 60 * S);
    writ_background_succeeded(owner.background, &job, 300 * S);
    ck_assert_int_eq(job.due_us, still_us + 300 * S);
    writ_background_failed(owner.background, &job, S, 60 * S);
    ck_assert_int_eq(job.due_us, still_us + S);
    writ_background_free(owner.background);
}
END_TEST

WRIT_UNIT_MAIN("background", background_runs_due_jobs_only, background_close_cancels_jobs_in_flight,
    pauses_double_up_to_the_longest_and_start_again)
