/* child.h - a tool server that is a child process and exchanges lines over its standard streams.
 *
 * The child is started without a shell, in a session and process group of its own, with no
 * descriptor but 0, 1 and 2, with an environment of a few allowed variables and the configured
 * ones, and it dies with the thread of its loop (PR_SET_PDEATHSIG); what it started itself then
 * only loses its streams. When it ends otherwise, the rest of its group is killed; a descendant
 * that made a session of its own escapes that, and only loses its streams. A child that ends, or
 * that sends a line longer than allowed, is started again, after a pause that doubles each time.
 *
 * Lines: one message each way is one line, without LF or NUL inside. Standard error is not part of
 * the protocol: it is always drained, cut into short lines, and handed to on_log at a bounded rate.
 *
 * Only for the thread of its loop. Callbacks come from the loop, never from inside a function of
 * this header; a callback may send and stop, and must not close. */
#ifndef WRIT_GATEWAY_CHILD_H
#define WRIT_GATEWAY_CHILD_H

#include "base/log.h"
#include "gateway/io/loop.h"

#define WRIT_CHILD_SAID_MAX   1000
#define WRIT_CHILD_LOG_FIELDS 3

struct writ_child;
struct writ_spawn_plan;

/** The program and its options. Zero takes the named default; everything is copied. */
struct writ_child_options {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH if it has no '/' */
    const char *const
        *environment;       /* NULL-terminated "NAME=value"; NULL: none. Wins over inherited */
    const char *directory;  /* NULL: the gateway's */
    size_t line_max;        /* bytes of a line from the child; 0: 8 MiB */
    size_t queue_max;       /* bytes waiting for its standard input; 0: 16 MiB */
    size_t log_line_max;    /* bytes of a line handed to on_log; 0: 1024 */
    unsigned log_rate;      /* lines per second handed to on_log; 0: 50 */
    int64_t pause_least_us; /* before the first restart; 0: 200 ms */
    int64_t pause_most_us;  /* before any restart; 0: 30 s */
    int64_t settled_us;     /* up this long: the next pause is the least again; 0: 10 s */
    int64_t grace_us;       /* per step of stopping: end of input, SIGTERM, SIGKILL; 0: 2 s */
};

/** Why a child is not there. */
enum writ_child_why {
    WRIT_CHILD_UNSET = 0,
    WRIT_CHILD_NOT_STARTED,   /* detail: errno */
    WRIT_CHILD_EXITED,        /* by itself; detail: exit status */
    WRIT_CHILD_KILLED,        /* by a signal that is not ours; detail: signal */
    WRIT_CHILD_LINE_TOO_LONG, /* killed for it */
    WRIT_CHILD_BROKEN_PIPE,   /* it closed its input or output and kept running: killed for it */
    WRIT_CHILD_REJECTED,      /* by writ_child_reject: killed for its output */
    WRIT_CHILD_FORBIDDEN,     /* by may_start: no process was made */
    WRIT_CHILD_STOPPED,       /* writ_child_stop; it is not started again */
};

/** As a word. Static storage. */
const char *writ_child_why_name(enum writ_child_why why);

struct writ_child_end {
    enum writ_child_why why;
    int detail;
    uint64_t first_unsent; /* lines with this ticket or a later one were not sent, not even one
                              byte */
    int64_t restart_us;    /* the pause before the next start; 0 after stop */
    struct writ_view said; /* the last WRIT_CHILD_SAID_MAX bytes of its standard error, without the
                              last LF; borrowed */
};

/**
 * Gives log fields for its end: the error when it was not started, else its last text on standard
 * error.
 *
 * @param words  whether that text may be logged: not of a child that got a call, because it may
 *               contain argument values
 * @param ret    borrows from `end`
 *
 * @return the number of fields
 */
size_t writ_child_log_end(
    const struct writ_child_end *end, bool words, struct writ_log_field ret[WRIT_CHILD_LOG_FIELDS]);

/** Whether a program may be started. */
enum writ_child_may {
    WRIT_CHILD_MAY_NOT = 0, /* on_down comes with FORBIDDEN; asked again after a second */
    WRIT_CHILD_MAY_LATER,   /* asked again in the loop's next turn: there is more to look at */
    WRIT_CHILD_MAY,
};

/** The callbacks of the owner. A NULL function is not called. */
struct writ_child_handler {
    /** Before each start and restart. `ret_program` is -1, or may be set to an open file that is
     * executed in place of the path (spawn.h); taken. NULL: it may. */
    enum writ_child_may (*may_start)(void *ctx, struct writ_child *child, int *ret_program);
    /** Started: lines may be sent. */
    void (*on_up)(void *ctx, struct writ_child *child);
    /** One line without its LF (and without a CR before it); empty lines are skipped. Borrowed. */
    void (*on_line)(void *ctx, struct writ_child *child, struct writ_view line);
    /** Ended, reaped, its group killed, its queue dropped. Also after a start that failed. */
    void (*on_down)(void *ctx, struct writ_child *child, const struct writ_child_end *end);
    /** One line of standard error. `dropped` lines before it were not handed over. Borrowed. */
    void (*on_log)(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped);
};

/** Starts a child from the loop's next turn on. Handler and ctx are borrowed until it is closed.
 * WRIT_E_INVALID (empty argv, a variable without '=', NUL), WRIT_E_LIMIT, WRIT_E_NOMEM. A program
 * that does not exist is reported by on_down. */
WRIT_RESULT writ_child_open(struct writ_loop *loop, const struct writ_child_options *options,
    const struct writ_child_handler *handler, void *ctx, struct writ_child **ret,
    struct writ_err *err);

/** True when lines may be sent: from on_up until it ends or is stopped. */
bool writ_child_is_up(const struct writ_child *child);

/**
 * Sends one line; the LF is added. Bytes that the pipe does not take are kept.
 *
 * @param line        its waiting part is copied
 * @param ret_ticket  grows with each line; for writ_child_recall and first_unsent
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   the child is not up
 *         WRIT_E_BUSY     queue_max bytes wait: it does not read its input
 *         WRIT_E_LIMIT    the line alone is longer than queue_max
 *         WRIT_E_INVALID  the line is empty, or has an LF, CR or NUL in it
 *         WRIT_E_NOMEM
 *         On failure not one byte was sent.
 */
WRIT_RESULT writ_child_send(struct writ_child *child, struct writ_view line, uint64_t *ret_ticket);

/** Takes a line back of which no byte was sent. False: too late, the child has read it or will read
 * it. */
bool writ_child_recall(struct writ_child *child, uint64_t ticket);

/** Stops reading its standard output, which then makes it wait, and reads on. Lines that were read
 * already are still reported, and its last ones when it ends. While its output is not read, it gets
 * no signal for the time that writ_child_finish takes. writ_child_stop reads on, for good. */
void writ_child_pause(struct writ_child *child);
void writ_child_resume(struct writ_child *child);

/** Kills it for its output, or for its silence. No further line of it is reported; on_down comes
 * with REJECTED, and it is started again after a pause. Does nothing when it is not up. */
void writ_child_reject(struct writ_child *child);

/** Starts it now when it rests, in place of the end of its pause. */
void writ_child_hurry(struct writ_child *child);

/** Ends it for good: end of input, then SIGTERM, then SIGKILL to the group, each after grace_us.
 * on_down comes with STOPPED when it has ended, also when it was not running. */
void writ_child_stop(struct writ_child *child);

/** As writ_child_stop, but lets it finish: waiting lines are sent before the end of its input, and
 * its further lines are reported. writ_child_stop ends that. */
void writ_child_finish(struct writ_child *child);

/** Frees it. Stop it first and wait for on_down; else its group is killed here, and this waits for
 * the end of the process. NULL is permitted. */
void writ_child_close(struct writ_child *child);

/** How it is started. Borrowed until it is closed. */
const struct writ_spawn_plan *writ_child_plan(const struct writ_child *child);

/** Process id for logs and tests, 0 when not there. */
int writ_child_pid(const struct writ_child *child);

#endif
