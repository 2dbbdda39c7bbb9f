/* stderr_log.h - what a child writes to its standard error, as short lines at a bounded rate. What
 * comes too fast is counted, and the count goes with the next line that is handed over. */
#ifndef WRIT_GATEWAY_STDERR_LOG_H
#define WRIT_GATEWAY_STDERR_LOG_H

#include "base/bytes.h"
#include "base/log.h"

/** One line, borrowed; `dropped` lines before it were not handed over. */
typedef void writ_stderr_log_fn(void *ctx, struct writ_view line, uint64_t dropped);

/** Own it, wipe it. For one thread. */
struct writ_stderr_log {
    writ_stderr_log_fn *fn;
    void *ctx;
    struct writ_buf line;
    size_t line_max;
    struct writ_log_rate rate;
};

/** `line_max` bytes of a line are kept, `rate` lines a second handed to `fn`. */
void writ_stderr_log_init(
    struct writ_stderr_log *ret, size_t line_max, unsigned rate, writ_stderr_log_fn *fn, void *ctx);

/** Takes what was read; whole lines are handed over from in here. */
void writ_stderr_log_take(struct writ_stderr_log *log, struct writ_view input, int64_t now_us);

/** At the end: hands over a line without its LF, and how many were dropped, with an empty line. */
void writ_stderr_log_flush(struct writ_stderr_log *log, int64_t now_us);

void writ_stderr_log_wipe(struct writ_stderr_log *log);

#endif
