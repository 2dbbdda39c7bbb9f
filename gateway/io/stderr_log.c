/* stderr_log.c - splits input into lines, cuts each to `line_max` bytes, and hands over at most
 * `rate` of them a second. Dropped lines are always reported, at the latest by the flush. */
#include "gateway/io/stderr_log.h"

void
writ_stderr_log_init(
    struct writ_stderr_log *ret, size_t line_max, unsigned rate, writ_stderr_log_fn *fn, void *ctx)
{
    *ret = (struct writ_stderr_log){.fn = fn,
        .ctx = ctx,
        .line = writ_buf_make(line_max),
        .line_max = line_max,
        .rate = {.per_s = rate}};
}

static void
hand_over(struct writ_stderr_log *log, int64_t now_us)
{
    uint64_t dropped;

    if (writ_log_rate_take(&log->rate, now_us, &dropped)) {
        log->fn(log->ctx, writ_buf_view(&log->line), dropped);
    }
}

void
writ_stderr_log_take(struct writ_stderr_log *log, struct writ_view input, int64_t now_us)
{
    while (input.len > 0) {
        size_t end = writ_view_find(input, '\n');
        size_t room = log->line_max - log->line.len;

        /* the rest of a long line is cut off; a line without memory becomes empty */
        writ_buf_put(&log->line, writ_view_sub(input, 0, end < room ? end : room));
        if (end == input.len) {
            return;
        }
        hand_over(log, now_us);
        writ_buf_clear(&log->line);
        input = writ_view_sub(input, end + 1, input.len);
    }
}

void
writ_stderr_log_flush(struct writ_stderr_log *log, int64_t now_us)
{
    if (log->line.len > 0) {
        hand_over(log, now_us);
        writ_buf_clear(&log->line);
    }
    if (log->rate.dropped > 0) {
        log->fn(log->ctx, WRIT_LIT(""), log->rate.dropped);
        log->rate.dropped = 0;
    }
}

void
writ_stderr_log_wipe(struct writ_stderr_log *log)
{
    writ_buf_wipe(&log->line);
}
