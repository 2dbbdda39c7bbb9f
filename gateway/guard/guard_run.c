/* guard_run.c - opens the common parts of the forms, runs one form until it is over, and closes all
 * in the opposite order. */
#include "gateway/guard/guard_run.h"

#include "gateway/guard/guard_ask.h"
#include "gateway/guard/guard_http.h"
#include "gateway/guard/guard_stdio.h"
#include "gateway/io/end_signals.h"

#include <sys/prctl.h>
#include <time.h>

#define US_PER_S        INT64_C(1000000)
#define KEYS_EVERY_US   (60 * US_PER_S)
#define KEYS_MAX        ((size_t)256 * 1024)
#define STATUS_EVERY_US US_PER_S
#define STATUS_MAX      ((size_t)8192)
#define TICK_NS         100000000

/* Opens the common parts of the forms. */
static WRIT_RESULT
open_guard(struct writ_guard *guard, struct writ_err *err)
{
    const struct writ_guard_options *options = guard->options;
    const struct writ_loop_options loop = {.clock = options->clock};
    const struct writ_guard_place places[WRIT_GUARD_KEYS_PLACES] = {
        [WRIT_GUARD_KEYS] = {options->keys, KEYS_MAX, KEYS_EVERY_US},
        [WRIT_GUARD_STATUS] = {options->status, STATUS_MAX, STATUS_EVERY_US}};

    WRIT_TRY(writ_replay_cache_open(options->used, writ_clock_wall_us(options->clock) / US_PER_S,
        options->skew_s, &guard->used, err));
    WRIT_TRY(writ_verify_new(&guard->verify, err));
    if (options->status != NULL) { /* from now on there must be one */
        WRIT_TRY(writ_verify_status(guard->verify, writ_view(NULL, 0), err));
    }
    if (options->policy != NULL) {
        WRIT_TRY(writ_guard_probes_open(options->policy, options->name, &guard->probes, err));
    }
    WRIT_TRY(writ_loop_new(&loop, &guard->loop, err));
    WRIT_TRY(writ_resolver_open(&guard->resolver, err));
    guard->probed.loop = guard->loop;
    guard->probed.resolver = guard->resolver;
    return writ_guard_keys_open(guard->loop, places, options->log, options->clock,
        writ_guard_ask_told, guard, &guard->keys, err);
}

static void
close_guard(struct writ_guard *guard)
{
    writ_guard_keys_free(guard->keys);
    writ_resolver_close(guard->resolver);
    writ_loop_free(guard->loop);
    writ_guard_probes_close(guard->probes);
    writ_verify_free(guard->verify);
    writ_replay_cache_close(guard->used);
}

/* The form, as three functions. */
struct form {
    WRIT_RESULT (*open)(struct writ_guard *guard, void **ret, struct writ_err *err);
    bool (*is_over)(void *form); /* any thread */
    void (*drain)(void *form);   /* any thread; blocks */
    void (*close)(void *form);   /* the loop has ended */
};

static const struct form http_form = {
    writ_guard_http_open, writ_guard_http_is_over, writ_guard_http_drain, writ_guard_http_close};
static const struct form stdio_form = {writ_guard_stdio_open, writ_guard_stdio_is_over,
    writ_guard_stdio_drain, writ_guard_stdio_close};

static void
wait_for_end(const struct form *form, void *opened, const sigset_t *signals)
{
    const struct timespec tick = {.tv_nsec = TICK_NS};

    while (!form->is_over(opened)) {
        int signal = sigtimedwait(signals, NULL, &tick);

        if (signal == SIGTERM || signal == SIGINT) {
            return;
        }
    }
}

static WRIT_RESULT
run_form(struct writ_guard *guard, const struct form *form, const sigset_t *signals,
    struct writ_err *err)
{
    void *opened = NULL;
    writ_result result = form->open(guard, &opened, err);

    if (writ_is_ok(result)) {
        result = writ_guard_keys_start(guard->keys, err);
    }
    if (writ_is_ok(result)) {
        result = writ_loop_start(guard->loop, err);
    }
    if (writ_is_ok(result)) {
        WRIT_LOG(guard->options->log, WRIT_EVENT_READY, writ_log_str("version", WRIT_VERSION));
        wait_for_end(form, opened, signals);
        form->drain(opened);
        writ_loop_stop(guard->loop);
        result = writ_loop_join(guard->loop, err);
        WRIT_LOG(guard->options->log, WRIT_EVENT_STOPPED, writ_log_str("version", WRIT_VERSION));
    }
    writ_probe_get_close(&guard->probed); /* the asker is still there */
    form->close(opened);
    return result;
}

WRIT_RESULT
writ_guard_run(const struct writ_guard_options *options, struct writ_err *err)
{
    struct writ_guard guard = {.options = options};
    sigset_t signals;
    writ_result result;

    writ_end_signals_block(&signals);
    (void)prctl(PR_SET_DUMPABLE, 0);
    result = open_guard(&guard, err);
    if (writ_is_ok(result)) {
        result = run_form(
            &guard, options->form == WRIT_GUARD_STDIO ? &stdio_form : &http_form, &signals, err);
    }
    close_guard(&guard);
    return result;
}
