/* Lines that wait for a pipe. They are written in order and whole; a full queue refuses, and only
 * a line that has not begun can be withdrawn. */
#include "gateway/io/line_queue.h"

#include "support/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define MOST 100000 /* more than a pipe holds */

static struct writ_line_queue queue;
static int pipe_fds[2];
static char big[MOST - 100];

static void
begin(void)
{
    ck_assert_int_eq(pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC), 0);
    writ_line_queue_init(&queue, MOST);
    for (size_t i = 0; i < sizeof big; i++) {
        big[i] = 'x';
    }
}

static void
end(void)
{
    writ_line_queue_clear(&queue);
    (void)close(pipe_fds[0]);
    (void)close(pipe_fds[1]);
}

static uint64_t
send_line(struct writ_view line)
{
    uint64_t ticket = 0;
    bool broken = false;

    ck_assert_ok(writ_line_queue_send(&queue, pipe_fds[1], line, &ticket, &broken));
    ck_assert(!broken);
    return ticket;
}

static size_t
drain(void)
{
    char bytes[4096];
    size_t all = 0;
    ssize_t got;

    while ((got = read(pipe_fds[0], bytes, sizeof bytes)) > 0) {
        all += (size_t)got;
    }
    return all;
}

START_TEST(line_queue_put_of_an_empty_or_broken_line_is_refused)
{
    ck_assert(writ_line_queue_takes(WRIT_LIT("{}")));
    ck_assert(!writ_line_queue_takes(WRIT_LIT("")));
    ck_assert(!writ_line_queue_takes(WRIT_LIT("a\nb")));
    ck_assert(!writ_line_queue_takes(WRIT_LIT("a\r")));
    ck_assert(!writ_line_queue_takes(writ_view("a\0b", 3)));
}
END_TEST

START_TEST(line_queue_keeps_unwritten_lines_in_order)
{
    size_t all;

    begin();
    ck_assert_uint_eq(send_line(WRIT_LIT("first")), 1);
    ck_assert_uint_eq(queue.bytes, 0);
    ck_assert_uint_eq(send_line(writ_view(big, sizeof big)), 2);
    ck_assert_uint_gt(queue.bytes, 0); /* its first byte is written */
    ck_assert_uint_eq(send_line(WRIT_LIT("last")), 3);
    ck_assert_uint_eq(writ_line_queue_first_unsent(&queue), 3);
    all = drain();
    ck_assert(writ_line_queue_flush(&queue, pipe_fds[1]));
    ck_assert_uint_eq(queue.bytes, 0);
    ck_assert_uint_eq(writ_line_queue_first_unsent(&queue), 4);
    ck_assert_uint_eq(all + drain(), 6 + sizeof big + 1 + 5);
    end();
}
END_TEST

START_TEST(line_queue_withdraws_unbegun_lines_only)
{
    size_t bytes;

    begin();
    (void)send_line(writ_view(big, sizeof big));
    bytes = queue.bytes;
    (void)send_line(WRIT_LIT("second"));
    ck_assert(!writ_line_queue_recall(&queue, 1));
    ck_assert(writ_line_queue_recall(&queue, 2));
    ck_assert(!writ_line_queue_recall(&queue, 2));
    ck_assert_uint_eq(queue.bytes, bytes);
    end();
}
END_TEST

START_TEST(line_queue_put_when_full_is_refused_and_sends_nothing)
{
    uint64_t ticket = 77;
    bool broken = false;
    size_t bytes;

    begin();
    (void)send_line(writ_view(big, sizeof big));
    while (queue.max_bytes - queue.bytes > 1001) {
        (void)send_line(writ_view(big, 1000));
    }
    bytes = queue.bytes;
    ck_assert_code(writ_line_queue_send(&queue, pipe_fds[1],
                       writ_view(big, queue.max_bytes - queue.bytes), &ticket, &broken),
        WRIT_E_BUSY);
    ck_assert_uint_eq(ticket, 77);
    ck_assert_uint_eq(queue.bytes, bytes);
    (void)send_line(writ_view(big, queue.max_bytes - queue.bytes - 1)); /* fits to the byte */
    ck_assert_uint_eq(queue.bytes, queue.max_bytes);
    queue.max_bytes = 10;
    ck_assert_code(writ_line_queue_send(&queue, pipe_fds[1], writ_view(big, 10), &ticket, &broken),
        WRIT_E_LIMIT);
    end();
}
END_TEST

START_TEST(line_queue_without_memory_sends_nothing_or_fails)
{
    uint64_t ticket = 77;
    bool broken = false;

    begin();
    writ_fault_arm(1);
    ck_assert_ok(
        writ_line_queue_send(&queue, pipe_fds[1], writ_view(big, sizeof big), &ticket, &broken));
    ck_assert(writ_fault_disarm());
    ck_assert(broken); /* half of it is in the pipe */
    ck_assert_uint_eq(ticket, 1);
    broken = false;
    writ_fault_arm(1);
    ck_assert_code(writ_line_queue_send(&queue, pipe_fds[1], WRIT_LIT("next"), &ticket, &broken),
        WRIT_E_NOMEM);
    ck_assert(writ_fault_disarm());
    ck_assert(!broken);
    ck_assert_uint_eq(ticket, 1);
    end();
}
END_TEST

START_TEST(write_to_a_broken_pipe_is_reported)
{
    begin();
    (void)signal(SIGPIPE, SIG_IGN); /* as the loops have it */
    (void)send_line(writ_view(big, sizeof big));
    (void)close(pipe_fds[0]);
    ck_assert(!writ_line_queue_flush(&queue, pipe_fds[1]));
    pipe_fds[0] = -1;
    end();
}
END_TEST

WRIT_UNIT_MAIN("line_queue", line_queue_put_of_an_empty_or_broken_line_is_refused,
    line_queue_keeps_unwritten_lines_in_order, line_queue_withdraws_unbegun_lines_only,
    line_queue_put_when_full_is_refused_and_sends_nothing,
    line_queue_without_memory_sends_nothing_or_fails, write_to_a_broken_pipe_is_reported)
