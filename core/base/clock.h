/* clock.h - the time, read through a table so that tests supply their own. */
#ifndef WRIT_BASE_CLOCK_H
#define WRIT_BASE_CLOCK_H

#include "base/bytes.h"

/** The source of time. Deadlines use monotonic time, records wall time. */
struct writ_clock {
    int64_t (*wall_us)(void *ctx); /* microseconds since 1970-01-01T00:00:00Z */
    int64_t (*mono_us)(void *ctx); /* microseconds since some fixed point */
    void *ctx;
};

/** CLOCK_REALTIME and CLOCK_MONOTONIC. Static storage. */
const struct writ_clock *writ_clock_system(void);

int64_t writ_clock_wall_us(const struct writ_clock *clock);
int64_t writ_clock_mono_us(const struct writ_clock *clock);

/** Microseconds since the system started, on the system's own clock (CLOCK_BOOTTIME), which goes on
 * while the machine sleeps. */
int64_t writ_clock_boot_us(void);

/** Sleeps until `holds(ctx)` is true, which is asked every 10 ms, or `most_us` have passed on the
 * monotonic clock, which must not stand still. */
void writ_clock_wait(
    const struct writ_clock *clock, int64_t most_us, bool (*holds)(void *ctx), void *ctx);

#define WRIT_TIME_MOST_US INT64_C(253402300799999999) /* 9999-12-31T23:59:59.999999Z */

#define WRIT_TIME_TEXT 28 /* "2026-11-21T22:20:00.123456Z" and NUL */

/** ISO 8601 UTC with six digits below the second, always WRIT_TIME_TEXT - 1 bytes. */
void writ_time_format(int64_t wall_us, char ret[WRIT_TIME_TEXT]);

/** Reads RFC 3339 with 'Z' or a numeric offset and up to nine digits below the second (cut to
 * microseconds). WRIT_E_PARSE for anything else, also for a day that does not exist. */
WRIT_RESULT writ_time_read(struct writ_view text, int64_t *ret);

#endif
