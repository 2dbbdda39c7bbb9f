/* log.h - log lines: one JSON object each, written with one write(2).
 *
 * core, policy and crew never log; they fill `err`. gateway and cli log once, where a request ends.
 * A line holds digests and ids, never argument values, tokens or keys; text that an outsider may
 * have chosen (tool names, ids) is escaped, so that it can neither begin a line nor reorder the
 * text on a screen. Nothing here allocates or fails: a line that cannot be written is counted, and
 * the next written line has the number of lost ones.
 *
 * A server calls writ_log_start: from then on a thread of its own writes the lines (backlog.h), and
 * no caller waits for the reader of the log. Before it, a caller waits once for a full pipe; then
 * lines are lost until a reader empties it. */
#ifndef WRIT_BASE_LOG_H
#define WRIT_BASE_LOG_H

#include "base/backlog.h"
#include "base/clock.h"
#include "base/log_event.tbl.h"

#include <pthread.h>
#include <stdatomic.h>

#define WRIT_LOG_LINE_MAX    4096 /* PIPE_BUF: so a line into a pipe is never mixed with another */
#define WRIT_LOG_TEXT_MAX    1024 /* bytes of one text value that are shown */
#define WRIT_LOG_PATIENCE_MS 1000 /* for the reader of the log, */
#define WRIT_LOG_PATIENCE_S  60   /* once in so long */

/** The levels, the most urgent first: X(NAME, "word"). */
#define WRIT_LOG_LEVELS(X)                                                                         \
    X(ERROR, "error")                                                                              \
    X(WARN, "warn")                                                                                \
    X(INFO, "info")                                                                                \
    X(DEBUG, "debug")

enum writ_log_level { /* a zeroed log still writes errors */
#define WRIT_LOG_LEVEL_ENUM(NAME, word) WRIT_LOG_##NAME,
    WRIT_LOG_LEVELS(WRIT_LOG_LEVEL_ENUM)
#undef WRIT_LOG_LEVEL_ENUM
};

/** The events: one for each row of log_event.tbl.h, with the level that the row gives it. */
enum writ_event {
#define WRIT_EVENT_ENUM(NAME, name, programs, level, members, meaning) WRIT_EVENT_##NAME,
    WRIT_LOG_EVENTS(WRIT_EVENT_ENUM)
#undef WRIT_EVENT_ENUM
};

/** Where lines go. Owned by the caller. `fd` is borrowed. After writ_log_init any thread may use
 * it. */
struct writ_log {
    const struct writ_clock *clock;
    int fd;
    enum writ_log_level level;    /* the least urgent that is written */
    atomic_ulong lost;            /* lines that could not be written since the last that could */
    pthread_mutex_t lock;         /* held to check for room and write a line */
    int64_t patient_us;           /* when a full pipe is waited for again; under the lock */
    struct writ_backlog *backlog; /* of lines that its thread writes; NULL: callers write */
};

enum writ_log_kind {
    WRIT_LOG_KIND_TEXT = 0,
    WRIT_LOG_KIND_INT,
    WRIT_LOG_KIND_BOOL,
};

/** One member of a line. Make it with the functions below. */
struct writ_log_field {
    const char *key;
    enum writ_log_kind kind;
    struct writ_view text;
    int64_t number;
};

void writ_log_init(
    struct writ_log *log, int fd, enum writ_log_level level, const struct writ_clock *clock);

/** Starts a thread that writes the lines until writ_log_stop. Call it while one thread uses the
 * log. WRIT_E_NOMEM. */
WRIT_RESULT writ_log_start(struct writ_log *log, struct writ_err *err);

/** Writes the queued lines and ends the thread, if one was started. Call it while one thread uses
 * the log. Waits for at most WRIT_BACKLOG_END_MS for a reader that does not read. */
void writ_log_stop(struct writ_log *log);

struct writ_log_field writ_log_text(const char *key, struct writ_view value);
struct writ_log_field writ_log_str(const char *key, const char *value);
struct writ_log_field writ_log_int(const char *key, int64_t value);
struct writ_log_field writ_log_bool(const char *key, bool value);

/** Writes one line: time, level, event, then the fields in order, which are members of the event's
 * row. Fields that do not fit WRIT_LOG_LINE_MAX are left out and the line says "cut":true. Does not
 * block after writ_log_start. Without it, blocks for at most WRIT_LOG_PATIENCE_MS in
 * WRIT_LOG_PATIENCE_S while the pipe is full; when another process fills the same pipe or terminal
 * between the check and the write, for as long as write(2) does. */
void writ_log_write(
    struct writ_log *log, enum writ_event event, const struct writ_log_field *fields, size_t count);

/** WRIT_LOG(log, WRIT_EVENT_RELOADED, writ_log_str("file", name), ...), one field at least. */
#define WRIT_LOG(log, event, ...)                                                                  \
    writ_log_write((log), (event), (const struct writ_log_field[]){__VA_ARGS__},                   \
        sizeof((const struct writ_log_field[]){__VA_ARGS__}) / sizeof(struct writ_log_field))

/** A limit of lines per second, for events that an outsider can cause. For one thread.
 * Zero-initialise, with `per_s`. */
struct writ_log_rate {
    unsigned per_s, count; /* allowed; taken in this second */
    int64_t window_us;
    uint64_t dropped; /* refused since the last that was taken */
};

/** Whether one more line fits this second. `ret_dropped`: the number of lines that did not fit
 * since the last one that did; written only with true, so that no loss goes unreported. */
bool writ_log_rate_take(struct writ_log_rate *rate, int64_t now_us, uint64_t *ret_dropped);

/** The name of an event in its line. Static storage. */
const char *writ_log_event_name(enum writ_event event);

/** "error", "warn", "info", "debug". Static storage. */
const char *writ_log_level_name(enum writ_log_level level);

#endif
