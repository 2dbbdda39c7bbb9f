/* Log lines. Each line is one JSON object of limited length whatever the values hold; lost lines
 * are counted, and writing a line allocates nothing. */
#include "support/unit.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int64_t
fixed_us(void *ctx)
{
    (void)ctx;
    return INT64_C(1795299600123456);
}

static const struct writ_clock fixed_clock = {fixed_us, fixed_us, NULL};

/* A log into a pipe, and the bytes that the pipe got. */
struct fixture {
    struct writ_log log;
    int out;
    char text[65536];
};

static struct fixture
fixture_new(enum writ_log_level level)
{
    struct fixture fixture = {0};
    int fds[2];

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    writ_log_init(&fixture.log, fds[1], level, &fixed_clock);
    fixture.out = fds[0];
    return fixture;
}

static const char *
written(struct fixture *fixture)
{
    size_t len = 0;
    ssize_t got;

    while (len < sizeof fixture->text - 1 &&
           (got = read(fixture->out, fixture->text + len, sizeof fixture->text - 1 - len)) > 0) {
        len += (size_t)got;
    }
    fixture->text[len] = '\0';
    return fixture->text;
}

static void
fixture_wipe(struct fixture *fixture)
{
    (void)close(fixture->out);
    (void)close(fixture->log.fd);
}

START_TEST(log_line_is_one_json_object)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);

    WRIT_LOG(&f.log, WRIT_EVENT_CALL, writ_log_str("tool", "fs__write"),
        writ_log_int("took_us", -5), writ_log_bool("allowed", false),
        writ_log_text("id", writ_view("a\0b", 3)));
    ck_assert_str_eq(written(&f),
        "{\"time\":\"2026-11-21T22:20:00.123456Z\",\"level\":\"info\",\"event\":\"call\","
        "\"tool\":\"fs__write\",\"took_us\":-5,\"allowed\":false,\"id\":\"a\\u0000b\"}\n");
    writ_log_write(&f.log, WRIT_EVENT_NOT_READY, NULL, 0);
    ck_assert_str_eq(written(&f),
        "{\"time\":\"2026-11-21T22:20:00.123456Z\",\"level\":\"warn\",\"event\":\"not_ready\"}\n");
}
END_TEST

START_TEST(log_below_its_level_writes_nothing)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_WARN);

    writ_log_write(&f.log, WRIT_EVENT_SERVING, NULL, 0);
    writ_log_write(&f.log, WRIT_EVENT_UPSTREAM_STDERR, NULL, 0);
    ck_assert_str_eq(written(&f), "");
    writ_log_write(&f.log, WRIT_EVENT_NOT_READY, NULL, 0);
    writ_log_write(&f.log, WRIT_EVENT_NOT_STARTED, NULL, 0);
    ck_assert_ptr_nonnull(strstr(written(&f), "\"error\""));
}
END_TEST

START_TEST(hostile_text_stays_inside_its_value)
{
    static const char *const texts[] = {"\"}\n{\"event\":\"forged\"}", "\x1b[2J", "\r\n",
        "\xff\xfe", "\xe2\x80\xa8\xe2\x80\xae", "\\", "\xc2\x9b"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);
        const char *line;
        json_auto_t *value = NULL;
        WRIT_LOG(&f.log, WRIT_EVENT_CALL, writ_log_str("tool", texts[i]));
        line = written(&f);
        ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
        for (const char *c = line; *c != '\n'; c++) {
            ck_assert(*c >= 0x20 && *c < 0x7f);
        }
        value = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(value);
        ck_assert_str_eq(json_string_value(json_object_get(value, "event")), "call");
    }
}
END_TEST

START_TEST(log_line_beyond_the_maximum_is_cut_and_marked)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);
    char controls[3000];
    json_auto_t *value = NULL;

    memset(controls, 1, sizeof controls); /* six bytes each */
    WRIT_LOG(&f.log, WRIT_EVENT_CALL, writ_log_int("before", 1),
        writ_log_text("huge", writ_view(controls, sizeof controls)), writ_log_int("after", 2));
    ck_assert_uint_le(strlen(written(&f)), WRIT_LOG_LINE_MAX);
    value = json_loads(f.text, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(value);
    ck_assert_ptr_null(json_object_get(value, "huge"));
    ck_assert_int_eq(json_integer_value(json_object_get(value, "before")), 1);
    ck_assert_int_eq(json_integer_value(json_object_get(value, "after")), 2);
    ck_assert(json_is_true(json_object_get(value, "cut")));
}
END_TEST

START_TEST(log_text_beyond_its_limit_is_cut)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);
    char text[WRIT_LOG_TEXT_MAX + 1];
    json_auto_t *value = NULL;

    memset(text, 'x', sizeof text);
    WRIT_LOG(&f.log, WRIT_EVENT_CALL, writ_log_text("a", writ_view(text, sizeof text - 1)),
        writ_log_text("b", writ_view(text, sizeof text)));
    value = json_loads(written(&f), JSON_REJECT_DUPLICATES, NULL);
    ck_assert_uint_eq(json_string_length(json_object_get(value, "a")), WRIT_LOG_TEXT_MAX);
    ck_assert_uint_eq(json_string_length(json_object_get(value, "b")), WRIT_LOG_TEXT_MAX);
}
END_TEST

START_TEST(log_after_lost_lines_reports_their_number)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);
    int fd = f.log.fd;

    f.log.fd = -1;
    errno = 5;
    writ_log_write(&f.log, WRIT_EVENT_SERVING, NULL, 0);
    writ_log_write(&f.log, WRIT_EVENT_SERVING, NULL, 0);
    ck_assert_int_eq(errno, 5); /* logging keeps errno */
    f.log.fd = fd;
    writ_log_write(&f.log, WRIT_EVENT_STOPPED, NULL, 0);
    ck_assert_ptr_nonnull(strstr(written(&f), "\"lines_lost\":2}"));
    writ_log_write(&f.log, WRIT_EVENT_STOPPED, NULL, 0);
    ck_assert_ptr_null(strstr(written(&f), "lines_lost"));
}
END_TEST

START_TEST(unread_pipe_loses_lines_and_is_waited_for_once)
{
    struct fixture f = {0};
    char full[4096] = {0};
    int64_t began_us, waited_us;
    int fds[2];

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0); /* a write into it waits */
    ck_assert_int_eq(fcntl(fds[1], F_SETPIPE_SZ, sizeof full), sizeof full);
    ck_assert_int_eq(write(fds[1], full, sizeof full), sizeof full);
    writ_log_init(&f.log, fds[1], WRIT_LOG_INFO, &fixed_clock);
    f.out = fds[0];

    began_us = writ_clock_mono_us(writ_clock_system());
    writ_log_write(&f.log, WRIT_EVENT_SERVING, NULL, 0);
    waited_us = writ_clock_mono_us(writ_clock_system()) - began_us;
    ck_assert_int_ge(waited_us, WRIT_LOG_PATIENCE_MS * 1000 - 1000);
    for (int i = 0; i < 100; i++) { /* a second each would be more than the test has */
        writ_log_write(&f.log, WRIT_EVENT_SERVING, NULL, 0);
    }
    ck_assert_int_eq(read(f.out, full, sizeof full), sizeof full);
    writ_log_write(&f.log, WRIT_EVENT_STOPPED, NULL, 0);
    ck_assert_int_eq(fcntl(f.out, F_SETFL, O_NONBLOCK), 0);
    ck_assert_ptr_nonnull(strstr(written(&f), "\"lines_lost\":101}"));
    fixture_wipe(&f);
}
END_TEST

START_TEST(log_line_allocates_nothing)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);

    writ_fault_arm(1);
    WRIT_LOG(&f.log, WRIT_EVENT_CALL, writ_log_str("tool", "x"));
    ck_assert(!writ_fault_disarm());
}
END_TEST

enum { THREADS = 4, LINES = 50 };

static void *
log_lines(void *arg)
{
    for (int i = 0; i < LINES; i++) {
        WRIT_LOG(arg, WRIT_EVENT_CALL, writ_log_int("i", i));
    }
    return NULL;
}

START_TEST(log_of_threads_keeps_lines_whole)
{
    WRIT_AUTO(struct fixture, fixture_wipe) f = fixture_new(WRIT_LOG_INFO);
    pthread_t threads[THREADS];
    int count = 0;

    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, log_lines, &f.log), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
    (void)written(&f);
    for (char *rest, *line = strtok_r(f.text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        json_auto_t *value = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_ptr_nonnull(value);
        count++;
    }
    ck_assert_int_eq(count, THREADS * LINES);
}
END_TEST

START_TEST(levels_have_names)
{
    ck_assert_str_eq(writ_log_level_name(WRIT_LOG_ERROR), "error");
    ck_assert_str_eq(writ_log_level_name(WRIT_LOG_WARN), "warn");
    ck_assert_str_eq(writ_log_level_name(WRIT_LOG_INFO), "info");
    ck_assert_str_eq(writ_log_level_name(WRIT_LOG_DEBUG), "debug");
}
END_TEST

WRIT_UNIT_MAIN("log", log_line_is_one_json_object, log_below_its_level_writes_nothing,
    hostile_text_stays_inside_its_value, log_line_beyond_the_maximum_is_cut_and_marked,
    log_text_beyond_its_limit_is_cut, log_after_lost_lines_reports_their_number,
    unread_pipe_loses_lines_and_is_waited_for_once, log_line_allocates_nothing,
    log_of_threads_keeps_lines_whole, levels_have_names)
