/* The estimate assumes that the rest goes as fast as the part that is done. */
#include "cli/base/progress.h"

#include <unistd.h>

#define FIRST_US   2000000
#define EVERY_US   200000
#define US_PER_S   1000000
#define LINE_MAX   160
#define MIB        (1024 * 1024)
#define MINUTE_S   60
#define HOUR_S     3600
#define LINE_BEGIN "\r"
#define LINE_REST  "\x1b[K"

struct writ_progress
writ_progress_begin(const struct writ_cli *cli, const char *unit)
{
    int64_t now_us = writ_clock_mono_us(cli->clock);

    return (struct writ_progress){.clock = cli->clock,
        .unit = unit,
        .begin_us = now_us,
        .next_us = now_us + FIRST_US,
        .on = !cli->json && isatty(STDERR_FILENO) != 0};
}

static void
put_amount(const struct writ_progress *p, uint64_t amount, struct writ_buf *line)
{
    bool bytes = writ_view_is(writ_view_str(p->unit), "bytes");

    writ_buf_u64(line, bytes ? amount / MIB : amount);
}

static void
put_left(struct writ_buf *line, int64_t left_s)
{
    if (left_s < MINUTE_S) {
        writ_buf_fmt(line, ", about %lld s left", (long long)left_s);
    } else if (left_s < HOUR_S) {
        writ_buf_fmt(
            line, ", about %lld min left", (long long)((left_s + MINUTE_S - 1) / MINUTE_S));
    } else {
        writ_buf_fmt(line, ", about %lld h %lld min left", (long long)(left_s / HOUR_S),
            (long long)(left_s % HOUR_S / MINUTE_S));
    }
}

static void
show(struct writ_progress *p, uint64_t done, uint64_t all, int64_t now_us)
{
    const char *unit = writ_view_is(writ_view_str(p->unit), "bytes") ? "MiB" : p->unit;
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    writ_buf_str(&line, LINE_BEGIN);
    put_amount(p, done, &line);
    if (all > 0) {
        writ_buf_str(&line, " of ");
        put_amount(p, all, &line);
    }
    writ_buf_fmt(&line, " %s", unit);
    if (all > 0 && done > 0 && done <= all) {
        double rest = (double)(all - done) / (double)done * (double)(now_us - p->begin_us);

        writ_buf_fmt(&line, ", %u %%", (unsigned)(100.0 * (double)done / (double)all));
        put_left(&line, (int64_t)(rest / US_PER_S));
    }
    writ_buf_str(&line, LINE_REST);
    (void)!writ_cli_write_all(STDERR_FILENO, writ_buf_view(&line)); /* only for the eye */
    p->shown = true;
}

bool
writ_progress_step(void *progress, uint64_t done, uint64_t all)
{
    struct writ_progress *p = progress;

    if (p->on) {
        int64_t now_us = writ_clock_mono_us(p->clock);

        if (now_us >= p->next_us) {
            show(p, done, all, now_us);
            p->next_us = now_us + EVERY_US;
        }
    }
    return true;
}

void
writ_progress_end(struct writ_progress *progress)
{
    if (progress->shown) {
        (void)!writ_cli_write_all(STDERR_FILENO, WRIT_LIT(LINE_BEGIN LINE_REST));
        progress->shown = false;
    }
}
