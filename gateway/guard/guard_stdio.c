/* guard_stdio.c - lines from the client to the server and back.
 *
 * Invariants:
 * (1) Only `asked` sends a line with a tools/call, with an ask that is ok.
 * (2) Standard output gets only whole lines: those of the server unchanged, and refusals.
 * (3) The server is started once: its state about the client ends with it.
 * (4) An answer to a question of the guard's own never reaches the client.
 * (5) While the client does not take its lines, neither the server nor the client is read: what
 *     waits is bounded. Only a stop, or an end of the client, drops lines. */
#include "gateway/guard/guard_stdio.h"

#include "gateway/guard/guard_ask.h"
#include "gateway/guard/guard_message.h"
#include "gateway/guard/guard_state.h"
#include "gateway/io/child.h"
#include "gateway/io/line_output.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#define READ_BYTES  65536
#define ARENA_MAX   ((size_t)256 << 20)
#define REFUSAL_MAX 16384
#define STOP_US     8000000
#define LAST_US     1000000 /* for the client to take its last lines, when the guard is stopped */
#define HELD_MAX    (16 * WRIT_GUARD_BODY_MAX) /* of all calls that are not settled */
#define CALL_BYTES  16384                      /* that a call takes besides its line */

struct pipe {
    struct writ_guard *guard;
    struct writ_child *child;
    struct writ_watch input;
    struct writ_line_output output;
    struct writ_buf line; /* the line read so far */
    bool too_long;        /* the line is thrown away until its end */
    bool paused;          /* the client does not take its lines */
    bool ended;           /* the client writes no more; its lines so far are still served */
    bool down;            /* the server has ended */
    size_t asking;        /* calls that are not settled */
    size_t held;          /* bytes of their lines, at most HELD_MAX */
    struct call *looking; /* the one of them whose probe is open */
    struct writ_post stopping;
    atomic_bool over;    /* client or server has ended */
    atomic_bool stopped; /* the server has ended */
    atomic_bool waits;   /* the client has not taken all of its lines */
};

/* One tools/call; owns the memory of its line. */
struct call {
    struct pipe *pipe;
    struct writ_arena *arena;
    struct writ_view line;
    size_t held; /* its share of the pipe's; 0: it was never asked */
    struct writ_guard_message message;
    struct writ_timer timer; /* of looking, as `next` */
    struct call *next;
};

/* ---- to the client */

/* What is watched of standard input. Its end is reported in any case: as an edge it comes once. */
static uint32_t
input_events(const struct pipe *pipe)
{
    return pipe->paused ? EPOLLET : EPOLLIN;
}

/* keeps (5) */
static void
pace(struct pipe *pipe)
{
    if (pipe->output.full == pipe->paused) {
        return;
    }
    pipe->paused = pipe->output.full;
    if (pipe->paused) {
        writ_child_pause(pipe->child);
    } else {
        writ_child_resume(pipe->child);
    }
    if (pipe->input.active &&
        !writ_is_ok(writ_loop_rewatch(&pipe->input, input_events(pipe), NULL))) {
        atomic_store(&pipe->over, true);
    }
}

/* The output has changed: it is over when a line is lost, or the server's last one is written. */
static void
look_at_output(struct pipe *pipe)
{
    bool waits = writ_line_output_waits(&pipe->output) > 0;

    atomic_store(&pipe->waits, waits);
    if (pipe->output.lost || (pipe->down && !waits)) {
        atomic_store(&pipe->over, true);
    } else {
        pace(pipe);
    }
}

static void
on_output(struct writ_line_output *output)
{
    look_at_output(output->ctx);
}

static void
put_line(struct pipe *pipe, struct writ_view line)
{
    writ_line_output_put(&pipe->output, line); /* keeps (2) */
    look_at_output(pipe);
}

static void
put_refusal(struct pipe *pipe, const struct writ_guard_message *message, bool fault)
{
    writ_auto_buf body = writ_buf_make(REFUSAL_MAX);

    if (fault) {
        writ_guard_message_put_fault(&body, message);
    } else {
        writ_guard_message_put_no(&body, message);
    }
    if (writ_is_ok(writ_buf_check(&body, NULL))) {
        put_line(pipe, writ_buf_view(&body));
    }
}

/* ---- to the server */

static void
pass_on(struct pipe *pipe, const struct writ_guard_message *message, struct writ_view line)
{
    struct writ_guard_message refused = *message;
    uint64_t ticket;

    if (writ_is_ok(writ_child_send(pipe->child, line, &ticket)) || message->id == NULL) {
        return;
    }
    refused.ask.reason = WRIT_REASON_UPSTREAM_UNAVAILABLE;
    put_refusal(pipe, &refused, false);
}

static void
call_free(struct call *call)
{
    call->pipe->held -= call->held;
    writ_arena_free(call->arena); /* the arena holds the call itself */
}

static void
asked(struct writ_guard_ask *ask)
{
    struct call *call = ask->ctx;
    struct pipe *pipe = call->pipe;

    if (ask->ok) {
        pass_on(pipe, &call->message, call->line); /* keeps (1) */
    } else {
        put_refusal(pipe, &call->message, false);
    }
    writ_verify_wipe(&ask->answer);
    call_free(call);
    if (--pipe->asking == 0 && pipe->ended) {
        writ_child_finish(pipe->child);
    }
}

/* ---- asking the server */

static void
stop_looking(struct call *call, struct writ_view answer)
{
    struct call **at = &call->pipe->looking;

    while (*at != call) {
        at = &(*at)->next;
    }
    *at = call->next;
    writ_loop_timer_cancel(&call->timer);
    writ_guard_state_told(&call->message.ask, answer);
}

static void
too_late(struct writ_timer *timer)
{
    stop_looking(timer->ctx, writ_view(NULL, 0));
}

static WRIT_RESULT
look(struct writ_guard_ask *ask, struct writ_view question)
{
    struct call *call = ask->ctx;
    struct pipe *pipe = call->pipe;
    struct writ_loop *loop = pipe->guard->loop;
    uint64_t ticket;

    WRIT_TRY(writ_child_send(pipe->child, question, &ticket));
    call->timer = (struct writ_timer){.fn = too_late, .ctx = call};
    writ_loop_timer_set(loop, &call->timer, writ_loop_now_us(loop) + ask->wanted.probe->timeout_us);
    call->next = pipe->looking;
    pipe->looking = call;
    return WRIT_DONE;
}

/* True: the line answers a request of the guard's own, also an abandoned one. */
static bool
take_answer(struct pipe *pipe, struct writ_view line)
{
    enum writ_guard_answer answer = writ_guard_state_is_answer(NULL, line);

    if (answer == WRIT_GUARD_NO_ANSWER) {
        return false;
    }
    for (struct call *call = pipe->looking; call != NULL; call = call->next) {
        if (writ_guard_state_is_answer(&call->message.ask, line) == WRIT_GUARD_ANSWER) {
            stop_looking(call, line);
            break;
        }
    }
    return true; /* keeps (4) */
}

/* A call waits, for keys or the server, with the memory of its line; the client is not paused. */
static void
ask(struct call *call)
{
    struct pipe *pipe = call->pipe;
    size_t bytes = call->line.len + CALL_BYTES;

    if (bytes > HELD_MAX - pipe->held) {
        call->message.ask.reason = WRIT_REASON_OVERLOADED;
        put_refusal(pipe, &call->message, false);
        call_free(call);
        return;
    }
    call->held = bytes;
    pipe->held += bytes;
    pipe->asking++;
    call->message.ask.done = asked;
    call->message.ask.ctx = call;
    writ_guard_ask(pipe->guard, &call->message.ask);
}

static void
take_line(struct pipe *pipe, struct writ_view line)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct call *call = arena != NULL ? writ_arena_get(arena, sizeof *call) : NULL;
    struct writ_view copy = call != NULL ? writ_view_copy(line, arena) : writ_view(NULL, 0);

    if (copy.ptr == NULL) {
        writ_arena_free(arena);
        atomic_store(&pipe->over, true); /* a line that is lost would be waited for */
        return;
    }
    *call = (struct call){.pipe = pipe, .arena = arena, .line = copy};
    switch (writ_guard_message_read(
        pipe->guard, copy, NULL, writ_view(NULL, 0), arena, &call->message)) {
    case WRIT_GUARD_REFUSE:
        put_refusal(pipe, &call->message, true);
        break;
    case WRIT_GUARD_DROP:
        break;
    case WRIT_GUARD_PASS:
        pass_on(pipe, &call->message, copy);
        break;
    case WRIT_GUARD_CALL:
        ask(call);
        return;
    }
    call_free(call);
}

/* ---- what the client writes */

static void
end_line(struct pipe *pipe)
{
    static const struct writ_guard_message too_long = {
        .fault = {
            413, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_REQUEST_TOO_LARGE, "the line is too long"}};
    struct writ_view line = writ_buf_view(&pipe->line);

    if (pipe->too_long) {
        put_refusal(pipe, &too_long, true);
    } else {
        if (line.len > 0 && line.ptr[line.len - 1] == '\r') {
            line.len--;
        }
        if (writ_view_trim(line).len > 0) {
            take_line(pipe, line);
        }
    }
    writ_buf_clear(&pipe->line);
    pipe->too_long = false;
}

static void
take_bytes(struct pipe *pipe, struct writ_view bytes)
{
    while (bytes.len > 0) {
        struct writ_view piece = writ_view_sub(bytes, 0, writ_view_find(bytes, '\n'));

        if (!pipe->too_long) {
            writ_buf_put(&pipe->line, piece);
            pipe->too_long = !writ_is_ok(writ_buf_check(&pipe->line, NULL));
        }
        if (piece.len < bytes.len) {
            end_line(pipe);
        }
        bytes = writ_view_sub(bytes, piece.len + 1, bytes.len);
    }
}

/* The client writes no more. Its last line needs no end. */
static void
end_input(struct pipe *pipe)
{
    writ_loop_unwatch(&pipe->input);
    end_line(pipe);
    pipe->ended = true;
    if (pipe->asking == 0) {
        writ_child_finish(pipe->child); /* the end of its input, and time to go */
    }
}

static void
on_input(struct writ_watch *watch, uint32_t events)
{
    struct pipe *pipe = watch->ctx;
    static char bytes[READ_BYTES];
    ssize_t n;

    (void)events;
    if (pipe->paused) {
        return;
    }
    n = read(STDIN_FILENO, bytes, sizeof bytes);

    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
        return;
    }
    if (n <= 0) {
        end_input(pipe);
        return;
    }
    take_bytes(pipe, writ_view(bytes, (size_t)n));
}

/* ---- the server */

static void
on_up(void *ctx, struct writ_child *child)
{
    struct pipe *pipe = ctx;
    struct writ_err err = {{0}, 0, 0};

    (void)child;
    if (!writ_is_ok(writ_loop_watch(pipe->guard->loop, &pipe->input, STDIN_FILENO,
            input_events(pipe), on_input, pipe, &err))) {
        WRIT_LOG(
            pipe->guard->options->log, WRIT_EVENT_GUARD_NO_INPUT, writ_log_str("why", err.text));
        atomic_store(&pipe->over, true);
    }
}

static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct pipe *pipe = ctx;

    (void)child;
    if (!take_answer(pipe, line)) {
        put_line(pipe, line);
    }
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct pipe *pipe = ctx;

    if (end->why != WRIT_CHILD_STOPPED) {
        struct writ_log_field fields[WRIT_CHILD_LOG_FIELDS];
        size_t n = writ_child_log_end(end, true, fields); /* its lines are logged in any case */

        writ_log_write(pipe->guard->options->log, WRIT_EVENT_GUARD_SERVER_ENDED, fields, n);
        writ_loop_unwatch(&pipe->input);
        writ_child_stop(child); /* keeps (3) */
    } else {
        atomic_store(&pipe->stopped, true);
    }
    pipe->down = true;
    look_at_output(pipe);
}

static void
on_log(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped)
{
    struct pipe *pipe = ctx;

    (void)child;
    WRIT_LOG(pipe->guard->options->log, WRIT_EVENT_GUARD_SERVER_SAYS, writ_log_text("line", line),
        writ_log_int("dropped", (int64_t)dropped));
}

static const struct writ_child_handler child_handler = {
    .on_up = on_up, .on_line = on_line, .on_down = on_down, .on_log = on_log};

/* ---- life */

WRIT_RESULT
writ_guard_stdio_open(struct writ_guard *guard, void **ret, struct writ_err *err)
{
    const struct writ_child_options options = {.argv = guard->options->argv,
        .environment = (const char *const *)environ,
        .line_max = WRIT_GUARD_BODY_MAX};
    struct pipe *pipe = writ_alloc(sizeof *pipe);

    if (pipe == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a guard");
    }
    *ret = pipe;
    pipe->guard = guard;
    pipe->line = writ_buf_make(WRIT_GUARD_BODY_MAX);
    writ_line_output_open(&pipe->output, guard->loop, STDOUT_FILENO, on_output, pipe);
    guard->look = look;
    return writ_child_open(guard->loop, &options, &child_handler, pipe, &pipe->child, err);
}

bool
writ_guard_stdio_is_over(void *form)
{
    struct pipe *pipe = form;

    return atomic_load(&pipe->over);
}

static void
stop(struct writ_post *post)
{
    struct pipe *pipe = post->ctx;

    writ_loop_unwatch(&pipe->input);
    writ_child_stop(pipe->child);
}

static bool
is_stopped(void *form)
{
    struct pipe *pipe = form;

    return atomic_load(&pipe->stopped);
}

static bool
is_written(void *form)
{
    struct pipe *pipe = form;

    return !atomic_load(&pipe->waits);
}

void
writ_guard_stdio_drain(void *form)
{
    struct pipe *pipe = form;

    pipe->stopping = (struct writ_post){.fn = stop, .ctx = pipe};
    writ_loop_answer(pipe->guard->loop, &pipe->stopping);
    writ_clock_wait(pipe->guard->options->clock, STOP_US, is_stopped, pipe);
    writ_clock_wait(pipe->guard->options->clock, LAST_US, is_written, pipe);
}

void
writ_guard_stdio_close(void *form)
{
    struct pipe *pipe = form;

    if (pipe == NULL) {
        return;
    }
    while (pipe->guard->waiting != NULL) {
        struct writ_guard_ask *ask = pipe->guard->waiting;

        (void)writ_guard_ask_forget(pipe->guard, ask);
        call_free(ask->ctx);
    }
    while (pipe->looking != NULL) {
        stop_looking(pipe->looking, writ_view(NULL, 0));
    }
    writ_child_close(pipe->child);
    writ_line_output_close(&pipe->output);
    writ_buf_wipe(&pipe->line);
    writ_free(pipe);
}
