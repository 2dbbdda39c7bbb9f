/* Writes and reads at the same time, until the output ends or the time is over; then the process
 * gets what is left of the time to end by itself, and its group is killed before it is reaped. */
#include "gateway/engines/engine_process.h"

#include "base/clock.h"
#include "gateway/engines/engine_child.h"
#include "gateway/io/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define US_PER_MS  1000
#define US_PER_S   1000000
#define LIMIT_TEXT 16
#define CHUNK_SIZE 65536
#define NONE       (-1)

/** An exchange. */
struct exchange {
    struct writ_spawned process;
    struct writ_view parts[3]; /* to write, in this order */
    struct writ_buf *answer;
    int64_t until_us;
    unsigned seconds;
    int stop; /* NONE: nothing ends it before its time */
    bool stopped;
    siginfo_t end;
};

static void
drop(int *fd)
{
    if (*fd != NONE) {
        (void)close(*fd);
        *fd = NONE;
    }
}

static int
left_ms(const struct exchange *exchange)
{
    int64_t left = exchange->stopped
                       ? 0
                       : (exchange->until_us - writ_clock_mono_us(writ_clock_system())) / US_PER_MS;

    return left > 0 ? (int)left : 0;
}

static bool
would_wait(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Closes the input after the last part, and when the process does not read. */
static void
write_some(struct exchange *exchange)
{
    for (size_t at = 0; at < sizeof exchange->parts / sizeof *exchange->parts; at++) {
        struct writ_view *part = &exchange->parts[at];

        while (part->len > 0) {
            ssize_t put = write(exchange->process.in, part->ptr, part->len);

            if (put < 0 && would_wait()) {
                return;
            }
            if (put < 0) {
                drop(&exchange->process.in);
                return;
            }
            *part = writ_view_sub(*part, (size_t)put, part->len);
        }
    }
    drop(&exchange->process.in);
}

/* Whether there may be more. */
static bool
read_some(struct exchange *exchange)
{
    char *room = writ_buf_reserve(exchange->answer, CHUNK_SIZE);
    ssize_t got = room != NULL ? read(exchange->process.out, room, CHUNK_SIZE) : 0;

    if (got > 0) {
        exchange->answer->len += (size_t)got;
    }
    return exchange->answer->len <= WRIT_ENGINE_ANSWER_MAX &&
           (got > 0 || (got < 0 && would_wait()));
}

static void
transfer(struct exchange *exchange)
{
    bool more = true;

    while (more && left_ms(exchange) > 0) {
        struct pollfd ends[] = {
            {.fd = exchange->process.out, .events = POLLIN},
            {.fd = exchange->process.in, .events = POLLOUT}, /* NONE: not looked at */
            {.fd = exchange->stop, .events = POLLIN},
        };
        if (poll(ends, 3, left_ms(exchange)) < 0 && errno != EINTR) {
            return;
        }
        exchange->stopped = ends[2].revents != 0;
        if (ends[1].revents != 0) {
            write_some(exchange);
        }
        more = ends[0].revents == 0 || read_some(exchange);
    }
}

static void
end_process(struct exchange *exchange)
{
    struct pollfd ends[] = {{.fd = exchange->process.pidfd, .events = POLLIN},
        {.fd = exchange->stop, .events = POLLIN}};
    bool whole = exchange->answer->len <= WRIT_ENGINE_ANSWER_MAX;

    drop(&exchange->process.in);
    drop(&exchange->process.out);
    while (
        whole && left_ms(exchange) > 0 && poll(ends, 2, left_ms(exchange)) < 0 && errno == EINTR) {
    }
    /* its group first, while its id cannot be another process's */
    if (kill(-exchange->process.pid, SIGKILL) != 0) {
        (void)kill(exchange->process.pid, SIGKILL);
    }
    while (waitid(P_PIDFD, (id_t)exchange->process.pidfd, &exchange->end, WEXITED) != 0 &&
           errno == EINTR) {
    }
    drop(&exchange->process.pidfd);
}

/* ---- what became of it */

/* The host lacks something now, whatever the plug-in is. */
static bool
is_scarce(int fault)
{
    return fault == EAGAIN || fault == ENOMEM || fault == EMFILE || fault == ENFILE;
}

static WRIT_RESULT
judge(const struct exchange *exchange, int start_fault, struct writ_err *err)
{
    writ_result whole = writ_buf_check(exchange->answer, NULL);

    if (start_fault != 0) {
        WRIT_FAIL(err, is_scarce(start_fault) ? WRIT_E_BUSY : WRIT_E_IO,
            "its process cannot start: %s", strerrordesc_np(start_fault));
    }
    if (exchange->answer->len > WRIT_ENGINE_ANSWER_MAX) {
        WRIT_FAIL(err, WRIT_E_IO, "its answer is longer than %zu bytes", WRIT_ENGINE_ANSWER_MAX);
    }
    if (!writ_is_ok(whole)) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for its answer");
    }
    if (exchange->stopped) {
        WRIT_FAIL(err, WRIT_E_IO, "it was stopped");
    }
    if (left_ms(exchange) == 0) {
        WRIT_FAIL(err, WRIT_E_IO, "it gave no answer within %u s", exchange->seconds);
    }
    if (exchange->end.si_code != CLD_EXITED) {
        WRIT_FAIL(err, WRIT_E_IO, "its process was ended by signal %d (%s)",
            exchange->end.si_status, sigdescr_np(exchange->end.si_status));
    }
    if (exchange->answer->len == 0 || exchange->end.si_status != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "its process ended without an answer, with status %d",
            exchange->end.si_status);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
exchange_with(struct exchange *exchange, const struct writ_spawn_plan *plan, struct writ_err *err)
{
    int fault = 0;

    if (!writ_is_ok(writ_spawn_start(plan, -1, &exchange->process, &fault))) {
        return judge(exchange, fault != 0 ? fault : EIO, err);
    }
    drop(&exchange->process.err); /* not part of the answer */
    transfer(exchange);
    end_process(exchange);
    if (read(exchange->process.status, &fault, sizeof fault) != sizeof fault) {
        fault = 0;
    }
    drop(&exchange->process.status);
    return judge(exchange, fault, err);
}

/* A process that does not read is an error code here, not a signal for the program. */
static WRIT_RESULT
exchange_quietly(
    struct exchange *exchange, const struct writ_spawn_plan *plan, struct writ_err *err)
{
    const struct timespec now = {0};
    sigset_t broken_pipe, before;
    writ_result result;

    (void)sigemptyset(&broken_pipe);
    (void)sigaddset(&broken_pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    result = exchange_with(exchange, plan, err);
    if (sigismember(&before, SIGPIPE) == 0) {
        (void)sigtimedwait(&broken_pipe, NULL, &now);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    return result;
}

static void
plan_freep(struct writ_spawn_plan **plan)
{
    writ_spawn_plan_free(*plan);
}

WRIT_RESULT
writ_engine_process_ask(struct writ_view object, unsigned seconds, int stop,
    struct writ_view request, struct writ_arena *arena, struct writ_engine_answer *ret,
    struct writ_err *err)
{
    char limit[LIMIT_TEXT];
    const char *const argv[] = {"/proc/self/exe", WRIT_ENGINE_CHILD_WORD, limit, NULL};
    struct writ_buf text = writ_buf_in(arena, WRIT_ENGINE_ANSWER_MAX + CHUNK_SIZE);
    uint64_t size = htole64(object.len);
    WRIT_AUTO(struct writ_spawn_plan *, plan_freep) plan = NULL;
    struct writ_engine_answer answer = {0};
    struct exchange exchange = {
        .parts = {writ_view(&size, sizeof size), object, request},
        .answer = &text,
        .until_us = writ_clock_mono_us(writ_clock_system()) + (int64_t)seconds * US_PER_S,
        .seconds = seconds,
        .stop = stop,
    };

    (void)snprintf(limit, sizeof limit, "%u", seconds);

    WRIT_TRY(writ_spawn_plan_new(argv, NULL, NULL, &plan, err));
    WRIT_TRY(exchange_quietly(&exchange, plan, err));
    if (!writ_is_ok(writ_engine_message_read_answer(writ_buf_view(&text), arena, &answer, NULL))) {
        WRIT_FAIL(err, WRIT_E_IO, "its answer is not one of an engine");
    }
    if (answer.fault.ptr != NULL) {
        WRIT_FAIL(err, WRIT_E_IO, WRIT_VIEW_FMT, WRIT_VIEW_ARG(answer.fault));
    }
    *ret = answer;
    return WRIT_DONE;
}
