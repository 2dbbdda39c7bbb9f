/* stderr_log.h - reports the standard error of a child as short lines at a bounded rate. Lines
 * beyond the rate are counted, and the next reported line has the count. */
#ifndef WRIT_GATEWAY_STDERR_LOG_H
#define WRIT_GATEWAY_STDERR_LOG_H

#include "base/bytes.h"
#include "base/log.h"

/** One line, borrowed; `dropped` lines before it were not reported. */
typedef void writ_stderr_log_fn(void *ctx, struct writ_view line, uint64_t dropped);

/** Own it, wipe it. For one thread. */
struct writ_stderr_log {
    writ_stderr_log_fn *fn;
    void *ctx;
    struct writ_buf line;
    size_t line_max;
    struct writ_log_rate rate;
};

/** `line_max` bytes of a line are kept, `rate` lines per second passed to `fn`. */
void writ_stderr_log_init(
    struct writ_stderr_log *ret, size_t line_max, unsigned rate, writ_stderr_log_fn *fn, void *ctx);

/** Takes the bytes read; passes whole lines on from inside this call. */
void writ_stderr_log_take(struct writ_stderr_log *log, struct writ_view input, int64_t now_us);

/** At the end: reports a line without its LF, and the number of dropped lines, with an empty
 * line. */
void writ_stderr_log_flush(struct writ_stderr_log *log, int64_t now_us);

void writ_stderr_log_wipe(struct writ_stderr_log *log);

#endif
