/* clock.c - the system's clocks, and times as RFC 3339 text in the proleptic Gregorian calendar. A
 * time that cannot be read exactly is refused. */
#include "base/clock.h"

#include <time.h>

#define US_PER_S  INT64_C(1000000)
#define S_PER_DAY INT64_C(86400)

#define WAIT_PAUSE_NS 10000000

static int64_t
now_us(clockid_t id)
{
    struct timespec now;

    WRIT_INVARIANT(clock_gettime(id, &now) == 0);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

static int64_t
system_wall_us(void *ctx)
{
    (void)ctx;
    return now_us(CLOCK_REALTIME);
}

static int64_t
system_mono_us(void *ctx)
{
    (void)ctx;
    return now_us(CLOCK_MONOTONIC);
}

const struct writ_clock *
writ_clock_system(void)
{
    static const struct writ_clock clock = {system_wall_us, system_mono_us, NULL};

    return &clock;
}

int64_t
writ_clock_wall_us(const struct writ_clock *clock)
{
    return clock->wall_us(clock->ctx);
}

int64_t
writ_clock_boot_us(void)
{
    return now_us(CLOCK_BOOTTIME);
}

int64_t
writ_clock_mono_us(const struct writ_clock *clock)
{
    return clock->mono_us(clock->ctx);
}

void
writ_clock_wait(
    const struct writ_clock *clock, int64_t most_us, bool (*holds)(void *ctx), void *ctx)
{
    const struct timespec pause = {.tv_nsec = WAIT_PAUSE_NS};
    int64_t until_us = writ_clock_mono_us(clock) + most_us;

    while (!holds(ctx) && writ_clock_mono_us(clock) < until_us) {
        (void)nanosleep(&pause, NULL);
    }
}

/* The calendar repeats every 400 years, an era. Below, days and years are counted from -0400-03-01
 * in the proleptic Gregorian calendar: nothing is negative, and a year that begins in March has
 * the leap day as its last. */
#define ERA_YEARS  400
#define ERA_DAYS   146097
#define EPOCH_DAYS (719468 + ERA_DAYS) /* 1970-01-01 */

/* Days since 1970-01-01. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = year + ERA_YEARS - (month <= 2);
    int64_t m = month <= 2 ? month + 9 : month - 3;

    return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - EPOCH_DAYS;
}

struct date {
    int64_t year, month, day;
};

static struct date
date_of(int64_t days)
{
    int64_t era = (days + EPOCH_DAYS) / ERA_DAYS;
    int64_t in_era = (days + EPOCH_DAYS) % ERA_DAYS;
    int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * in_year + 2) / 153;
    int64_t month = m < 10 ? m + 3 : m - 9;
    int64_t year = y + era * ERA_YEARS - ERA_YEARS + (month <= 2);

    return (struct date){year, month, in_year - (153 * m + 2) / 5 + 1};
}

/* The range of a year with four digits. */
#define LEAST_US (-INT64_C(62167219200) * US_PER_S) /* 0000-01-01T00:00:00Z */

/* Every record and every log line has times: printf would cost more than their digests. */
static void
put_digits(char *to, size_t count, int64_t value)
{
    for (size_t i = count; i > 0; i--) {
        to[i - 1] = (char)('0' + value % 10);
        value /= 10;
    }
}

void
writ_time_format(int64_t wall_us, char ret[WRIT_TIME_TEXT])
{
    static const char shape[WRIT_TIME_TEXT] = "0000-00-00T00:00:00.000000Z";
    int64_t us, s, day_s;
    struct date date;

    wall_us = wall_us < LEAST_US ? LEAST_US : wall_us;
    wall_us = wall_us > WRIT_TIME_MOST_US ? WRIT_TIME_MOST_US : wall_us;
    wall_us -= LEAST_US; /* so that the divisions below round down */
    us = wall_us % US_PER_S;
    s = wall_us / US_PER_S;
    day_s = s % S_PER_DAY;
    date = date_of(s / S_PER_DAY + LEAST_US / US_PER_S / S_PER_DAY);
    for (size_t i = 0; i < WRIT_TIME_TEXT; i++) {
        ret[i] = shape[i];
    }
    put_digits(ret, 4, date.year);
    put_digits(ret + 5, 2, date.month);
    put_digits(ret + 8, 2, date.day);
    put_digits(ret + 11, 2, day_s / 3600);
    put_digits(ret + 14, 2, day_s / 60 % 60);
    put_digits(ret + 17, 2, day_s % 60);
    put_digits(ret + 20, 6, us);
}

/* Reads `count` digits at *at and advances; -1 at anything else. */
static inline int64_t
digits_at(struct writ_view text, size_t *at, size_t count)
{
    int64_t value = 0;

    if (text.len - *at < count) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        char c = text.ptr[*at + i];
        if (c < '0' || c > '9') {
            return -1;
        }
        value = value * 10 + (c - '0');
    }
    *at += count;
    return value;
}

/* Reads one of the bytes of `any` at *at and advances; 0 at anything else. */
static inline char
byte_at(struct writ_view text, size_t *at, struct writ_view any)
{
    for (size_t i = 0; *at < text.len && i < any.len; i++) {
        if (text.ptr[*at] == any.ptr[i]) {
            return text.ptr[(*at)++];
        }
    }
    return 0;
}

static int64_t
days_in_month(int64_t year, int64_t month)
{
    static const int64_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : days[month - 1];
}

static bool
read_date(struct writ_view text, size_t *at, int64_t *ret_days)
{
    int64_t year, month, day;

    year = digits_at(text, at, 4);
    if (year < 0 || byte_at(text, at, WRIT_LIT("-")) == 0) {
        return false;
    }
    month = digits_at(text, at, 2);
    if (month < 1 || month > 12 || byte_at(text, at, WRIT_LIT("-")) == 0) {
        return false;
    }
    day = digits_at(text, at, 2);
    if (day < 1 || day > days_in_month(year, month)) {
        return false;
    }
    *ret_days = days_of(year, month, day);
    return true;
}

static bool
read_seconds(struct writ_view text, size_t *at, int64_t *ret_s)
{
    int64_t hour, minute, second;

    hour = digits_at(text, at, 2);
    if (hour < 0 || hour > 23 || byte_at(text, at, WRIT_LIT(":")) == 0) {
        return false;
    }
    minute = digits_at(text, at, 2);
    if (minute < 0 || minute > 59 || byte_at(text, at, WRIT_LIT(":")) == 0) {
        return false;
    }
    second = digits_at(text, at, 2);
    if (second < 0 || second > 59) { /* a leap second has no place in our time */
        return false;
    }
    *ret_s = hour * 3600 + minute * 60 + second;
    return true;
}

/* The part below the second: absent, or '.' and one to nine digits, cut to microseconds. */
static bool
read_fraction(struct writ_view text, size_t *at, int64_t *ret_us)
{
    int64_t unit_us = US_PER_S / 10, us = 0;
    size_t count = 0;

    if (byte_at(text, at, WRIT_LIT(".")) == 0) {
        *ret_us = 0;
        return true;
    }
    for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; (*at)++, count++) {
        us += (text.ptr[*at] - '0') * unit_us;
        unit_us /= 10;
    }
    *ret_us = us;
    return count >= 1 && count <= 9;
}

static bool
read_offset(struct writ_view text, size_t *at, int64_t *ret_s)
{
    int64_t hour, minute;
    char sign;

    if (byte_at(text, at, WRIT_LIT("Zz")) != 0) {
        *ret_s = 0;
        return true;
    }
    sign = byte_at(text, at, WRIT_LIT("+-"));
    hour = sign != 0 ? digits_at(text, at, 2) : -1;
    if (hour < 0 || hour > 23 || byte_at(text, at, WRIT_LIT(":")) == 0) {
        return false;
    }
    minute = digits_at(text, at, 2);
    if (minute < 0 || minute > 59) {
        return false;
    }
    *ret_s = (hour * 3600 + minute * 60) * (sign == '-' ? -1 : 1);
    return true;
}

WRIT_RESULT
writ_time_read(struct writ_view text, int64_t *ret)
{
    int64_t days, day_s, us, offset_s;
    size_t at = 0;

    if (!read_date(text, &at, &days) || byte_at(text, &at, WRIT_LIT("Tt")) == 0 ||
        !read_seconds(text, &at, &day_s) || !read_fraction(text, &at, &us) ||
        !read_offset(text, &at, &offset_s) || at != text.len) {
        return (writ_result){WRIT_E_PARSE};
    }
    *ret = (days * S_PER_DAY + day_s - offset_s) * US_PER_S + us;
    return WRIT_DONE;
}
