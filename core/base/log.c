/* log.c - builds a line in a fixed buffer, field by field, and hands it over as a whole. A field
 * that does not fit is left out entirely; a line that cannot be written is counted. */
#include "base/log.h"

#include "base/text.h"

#include <errno.h>
#include <poll.h>

#define TAIL_MAX  64 /* what end_line appends */
#define SECOND_US (INT64_C(1000) * 1000)

struct event_row {
    const char *name;
    enum writ_log_level level;
};

static const struct event_row events[] = {
#define EVENT_ROW(NAME, name_, programs, level_, members, meaning)                                 \
    [WRIT_EVENT_##NAME] = {#name_, WRIT_LOG_##level_},
    WRIT_LOG_EVENTS(EVENT_ROW)
#undef EVENT_ROW
};

void
writ_log_init(
    struct writ_log *log, int fd, enum writ_log_level level, const struct writ_clock *clock)
{
    log->clock = clock;
    log->fd = fd;
    log->level = level;
    atomic_init(&log->lost, 0);
    (void)pthread_mutex_init(&log->lock, NULL);
    log->patient_us = 0;
    log->backlog = NULL;
}

writ_result
writ_log_start(struct writ_log *log, struct writ_err *err)
{
    return writ_backlog_new(log->fd, &log->lost, &log->backlog, err);
}

void
writ_log_stop(struct writ_log *log)
{
    writ_backlog_free(WRIT_TAKE(log->backlog));
}

struct writ_log_field
writ_log_text(const char *key, struct writ_view value)
{
    return (struct writ_log_field){.key = key, .kind = WRIT_LOG_KIND_TEXT, .text = value};
}

struct writ_log_field
writ_log_str(const char *key, const char *value)
{
    return writ_log_text(key, writ_view_str(value));
}

struct writ_log_field
writ_log_int(const char *key, int64_t value)
{
    return (struct writ_log_field){.key = key, .kind = WRIT_LOG_KIND_INT, .number = value};
}

struct writ_log_field
writ_log_bool(const char *key, bool value)
{
    return (struct writ_log_field){.key = key, .kind = WRIT_LOG_KIND_BOOL, .number = value};
}

const char *
writ_log_event_name(enum writ_event event)
{
    return events[event].name;
}

const char *
writ_log_level_name(enum writ_log_level level)
{
    static const char *const words[] = {
#define LEVEL_WORD(NAME, word) word,
        WRIT_LOG_LEVELS(LEVEL_WORD)
#undef LEVEL_WORD
    };

    return words[level];
}

static void
put_key(struct writ_buf *line, const char *key)
{
    writ_buf_byte(line, line->len == 0 ? '{' : ',');
    writ_text_json_safe(line, writ_view_str(key), WRIT_LOG_TEXT_MAX);
    writ_buf_byte(line, ':');
}

static void
put_text(struct writ_buf *line, const char *key, struct writ_view text)
{
    put_key(line, key);
    writ_text_json_safe(line, text, WRIT_LOG_TEXT_MAX);
}

static void
put_value(struct writ_buf *line, const struct writ_log_field *field)
{
    switch (field->kind) {
    case WRIT_LOG_KIND_TEXT:
        writ_text_json_safe(line, field->text, WRIT_LOG_TEXT_MAX);
        break;
    case WRIT_LOG_KIND_INT:
        writ_buf_i64(line, field->number);
        break;
    case WRIT_LOG_KIND_BOOL:
        writ_buf_str(line, field->number != 0 ? "true" : "false");
        break;
    }
}

/* Appends the field whole or not at all. */
static bool
put_field(struct writ_buf *line, const struct writ_log_field *field)
{
    size_t before = line->len;

    put_key(line, field->key);
    put_value(line, field);
    if (line->failed != WRIT_E_UNSET) {
        writ_buf_clear(line);
        line->len = before;
        return false;
    }
    return true;
}

static void
end_line(struct writ_buf *line, bool cut, unsigned long lost)
{
    if (cut) {
        writ_buf_str(line, ",\"cut\":true");
    }
    if (lost > 0) {
        writ_buf_str(line, ",\"lines_lost\":");
        writ_buf_u64(line, lost);
    }
    writ_buf_str(line, "}\n");
}

/* A pipe that can be written takes a whole line: PIPE_BUF bytes (pipe(7)). */
static bool
find_room(struct writ_log *log)
{
    struct pollfd at = {.fd = log->fd, .events = POLLOUT};
    int64_t now_us = writ_clock_mono_us(log->clock);
    bool patient = now_us >= log->patient_us;

    if (log->fd < 0 || poll(&at, 1, patient ? WRIT_LOG_PATIENCE_MS : 0) == 1) {
        return true; /* write(2) reports the error */
    }
    if (patient) {
        log->patient_us = now_us + WRIT_LOG_PATIENCE_S * INT64_C(1000000);
    }
    return false;
}

static bool
send_line(struct writ_log *log, struct writ_view line)
{
    bool sent;

    if (log->backlog != NULL) {
        return writ_backlog_put(log->backlog, line);
    }
    (void)pthread_mutex_lock(&log->lock);
    sent = find_room(log) && writ_backlog_write(log->fd, line);
    (void)pthread_mutex_unlock(&log->lock);
    return sent;
}

void
writ_log_write(
    struct writ_log *log, enum writ_event event, const struct writ_log_field *fields, size_t count)
{
    const struct event_row *row = &events[event];
    char memory[WRIT_LOG_LINE_MAX];
    struct writ_buf line = writ_buf_over(memory, sizeof memory - TAIL_MAX);
    char time[WRIT_TIME_TEXT];
    bool cut = false;
    unsigned long lost;
    int saved = errno;

    if (row->level > log->level) {
        return;
    }
    writ_time_format(writ_clock_wall_us(log->clock), time);
    put_text(&line, "time", writ_view_str(time));
    put_text(&line, "level", writ_view_str(writ_log_level_name(row->level)));
    put_text(&line, "event", writ_view_str(row->name));
    for (size_t i = 0; i < count; i++) {
        cut = !put_field(&line, &fields[i]) || cut;
    }
    line.cap = line.max = sizeof memory; /* room for the end, whatever came before it */

    lost = atomic_exchange(&log->lost, 0);
    end_line(&line, cut, lost);
    if (!send_line(log, writ_buf_view(&line))) {
        (void)atomic_fetch_add(&log->lost, lost + 1);
    }
    errno = saved; /* a caller logs a failure and may still need errno */
}

/* in windows of one second */
bool
writ_log_rate_take(struct writ_log_rate *rate, int64_t now_us, uint64_t *ret_dropped)
{
    if (now_us - rate->window_us >= SECOND_US) {
        rate->window_us = now_us;
        rate->count = 0;
    }
    if (rate->count >= rate->per_s) {
        rate->dropped++;
        return false;
    }
    rate->count++;
    *ret_dropped = rate->dropped;
    rate->dropped = 0;
    return true;
}
