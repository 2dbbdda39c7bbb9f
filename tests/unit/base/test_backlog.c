/* A backlog of log lines behind a slow reader. The writer never waits for the reader, and every
 * line that is not written is counted. */
#include "support/unit.h"

#include "base/backlog.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LINE "a line of the log\n"

/* A pipe of one page, which its reader has let fill. */
struct pipe_of {
    int in, out;
};

static struct pipe_of
full_pipe(void)
{
    char full[4096] = {0};
    int fds[2];

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    ck_assert_int_eq(fcntl(fds[1], F_SETPIPE_SZ, sizeof full), sizeof full);
    ck_assert_int_eq(write(fds[1], full, sizeof full), sizeof full);
    return (struct pipe_of){fds[1], fds[0]};
}

static void
empty_pipe(struct pipe_of *pipe)
{
    char full[4096];

    ck_assert_int_eq(read(pipe->out, full, sizeof full), sizeof full);
}

/* Reads `lines` lines that are whole and in order. */
static void
expect_lines(struct pipe_of *pipe, size_t lines)
{
    char text[sizeof LINE] = {0};

    for (size_t i = 0; i < lines; i++) {
        for (size_t at = 0; at < sizeof LINE - 1;) {
            ssize_t got = read(pipe->out, text + at, sizeof LINE - 1 - at);
            ck_assert_int_gt(got, 0);
            at += (size_t)got;
        }
        ck_assert_str_eq(text, LINE);
    }
}

static void
close_pipe(struct pipe_of *pipe)
{
    (void)close(pipe->in);
    (void)close(pipe->out);
}

START_TEST(put_with_a_stalled_reader_does_not_wait)
{
    WRIT_AUTO(struct pipe_of, close_pipe) pipe = full_pipe();
    struct writ_backlog *backlog = NULL;
    atomic_ulong lost = 0;
    size_t taken = 0;

    ck_assert(writ_is_ok(writ_backlog_new(pipe.in, &lost, &backlog, NULL)));
    while (writ_backlog_put(backlog, WRIT_LIT(LINE))) { /* it ends: that is the test */
        taken++;
    }
    ck_assert_uint_ge(taken, WRIT_BACKLOG_MAX / sizeof LINE);
    empty_pipe(&pipe);
    expect_lines(&pipe, taken);
    ck_assert(writ_backlog_put(backlog, WRIT_LIT(LINE)));
    expect_lines(&pipe, 1);
    writ_backlog_free(backlog);
    ck_assert_uint_eq(atomic_load(&lost), 0);
}
END_TEST

START_TEST(free_writes_waiting_lines)
{
    struct writ_backlog *backlog = NULL;
    atomic_ulong lost = 0;
    int fds[2];
    struct pipe_of pipe;

    ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
    pipe = (struct pipe_of){fds[1], fds[0]};
    ck_assert(writ_is_ok(writ_backlog_new(pipe.in, &lost, &backlog, NULL)));
    for (int i = 0; i < 1000; i++) {
        ck_assert(writ_backlog_put(backlog, WRIT_LIT(LINE)));
    }
    writ_backlog_free(backlog);
    expect_lines(&pipe, 1000);
    close_pipe(&pipe);
}
END_TEST

START_TEST(free_counts_the_lines_that_no_reader_takes)
{
    WRIT_AUTO(struct pipe_of, close_pipe) pipe = full_pipe();
    struct writ_backlog *backlog = NULL;
    atomic_ulong lost = 0;

    ck_assert(writ_is_ok(writ_backlog_new(pipe.in, &lost, &backlog, NULL)));
    for (int i = 0; i < 1000; i++) {
        ck_assert(writ_backlog_put(backlog, WRIT_LIT(LINE)));
    }
    writ_backlog_free(backlog);
    ck_assert_uint_eq(atomic_load(&lost), 1000);
}
END_TEST

START_TEST(put_to_a_failed_descriptor_counts_lost_lines)
{
    struct writ_backlog *backlog = NULL;
    atomic_ulong lost = 0;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    ck_assert_int_ge(full, 0);
    ck_assert(writ_is_ok(writ_backlog_new(full, &lost, &backlog, NULL)));
    for (int i = 0; i < 1000; i++) {
        ck_assert(writ_backlog_put(backlog, WRIT_LIT(LINE)));
    }
    writ_backlog_free(backlog);
    ck_assert_uint_eq(atomic_load(&lost), 1000);
    (void)close(full);
}
END_TEST

START_TEST(new_without_memory_fails)
{
    struct writ_backlog *backlog = NULL;
    atomic_ulong lost = 0;

    writ_fault_arm(1);
    ck_assert_int_eq(writ_backlog_new(-1, &lost, &backlog, NULL).code, WRIT_E_NOMEM);
    ck_assert(writ_fault_disarm());
    ck_assert_ptr_null(backlog);
    writ_backlog_free(NULL);
}
END_TEST

WRIT_UNIT_MAIN("backlog", put_with_a_stalled_reader_does_not_wait, free_writes_waiting_lines,
    free_counts_the_lines_that_no_reader_takes, put_to_a_failed_descriptor_counts_lost_lines,
    new_without_memory_fails)
