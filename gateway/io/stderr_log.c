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
hand_over(struct writ_stderr_log *chatter, int64_t now_us)
{
    uint64_t dropped;

    if (writ_log_rate_take(&chatter->rate, now_us, &dropped)) {
        chatter->fn(chatter->ctx, writ_buf_view(&chatter->line), dropped);
    }
}

void
writ_stderr_log_take(struct writ_stderr_log *chatter, struct writ_view input, int64_t now_us)
{
    while (input.len > 0) {
        size_t end = writ_view_find(input, '\n');
        size_t room = chatter->line_max - chatter->line.len;

        /* what does not fit is cut off; a line without memory is an empty one */
        writ_buf_put(&chatter->line, writ_view_sub(input, 0, end < room ? end : room));
        if (end == input.len) {
            return;
        }
        hand_over(chatter, now_us);
        writ_buf_clear(&chatter->line);
        input = writ_view_sub(input, end + 1, input.len);
    }
}

void
writ_stderr_log_flush(struct writ_stderr_log *chatter, int64_t now_us)
{
    if (chatter->line.len > 0) {
        hand_over(chatter, now_us);
        writ_buf_clear(&chatter->line);
    }
    if (chatter->rate.dropped > 0) {
        chatter->fn(chatter->ctx, WRIT_LIT(""), chatter->rate.dropped);
        chatter->rate.dropped = 0;
    }
}

void
writ_stderr_log_wipe(struct writ_stderr_log *chatter)
{
    writ_buf_wipe(&chatter->line);
}
