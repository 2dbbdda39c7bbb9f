/* Lines to a reader that is slow or gone. They arrive whole and in order, nothing waits for the
 * reader, and the output says when it is full and when it has room again. */
#include "support/unit.h"

#include "gateway/io/line_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_BYTES 300000 /* more than a pipe or a socket holds */
#define LINES      8

static struct writ_loop *loop;
static struct writ_line_output output;
static int fds[2]; /* read here, written there */
static int changes;
static char big[LINE_BYTES];

static void
on_changed(struct writ_line_output *changed)
{
    ck_assert_ptr_eq(changed, &output);
    changes++;
}

enum kind {
    PIPE = 0, /* whose writing blocks */
    PIPE_NOT_BLOCKING,
    SOCKET,
    KINDS,
};

static void
begin(int kind)
{
    const struct writ_loop_options options = {0};

    changes = 0;
    for (size_t i = 0; i < sizeof big; i++) {
        big[i] = (char)('a' + i % 26);
    }
    if (kind == SOCKET) {
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    } else {
        ck_assert_int_eq(pipe(fds), 0);
    }
    ck_assert_int_eq(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    if (kind == PIPE_NOT_BLOCKING) {
        ck_assert_int_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    }
    ck_assert_ok(writ_loop_new(&options, &loop, NULL));
    writ_line_output_open(&output, loop, fds[1], on_changed, NULL);
}

static void
close_reader(void)
{
    if (fds[0] >= 0) {
        (void)close(fds[0]);
    }
    fds[0] = -1;
}

static void
end(void)
{
    writ_line_output_close(&output);
    writ_loop_free(loop);
    close_reader();
    (void)close(fds[1]);
}

static void
stop(struct writ_task *task)
{
    writ_loop_stop(task->ctx);
}

static void
turn(void)
{
    struct writ_task task = {.fn = stop, .ctx = loop};

    writ_loop_defer(loop, &task, WRIT_LOOP_LAST);
    ck_assert_ok(writ_loop_run(loop, NULL));
}

static size_t
read_some(char *to, size_t most)
{
    ssize_t got = read(fds[0], to, most);

    return got > 0 ? (size_t)got : 0;
}

static void
check_a_reader_that_pauses(int kind)
{
    static char seen[LINES * (LINE_BYTES + 1)];
    size_t n = 0;

    begin(kind);
    for (int i = 0; i < LINES; i++) {
        writ_line_output_put(&output, writ_view(big, sizeof big)); /* it comes back: keeps (2) */
    }
    ck_assert_uint_gt(writ_line_output_waits(&output), WRIT_LINE_OUTPUT_FULL);
    ck_assert(output.full);
    turn();
    ck_assert(output.full);
    ck_assert_int_eq(changes, 0);
    for (size_t got = 1; n < sizeof seen; n += got) {
        got = read_some(seen + n, sizeof seen - n);
        turn();
        ck_assert(output.full || writ_line_output_waits(&output) < WRIT_LINE_OUTPUT_FULL);
    }
    for (int i = 0; i < LINES; i++) {
        ck_assert_mem_eq(seen + i * (LINE_BYTES + 1), big, LINE_BYTES);
        ck_assert_int_eq(seen[(i + 1) * (LINE_BYTES + 1) - 1], '\n');
    }
    turn();
    ck_assert_int_eq(changes, 2); /* there is room, nothing waits */
    ck_assert(!output.full && !output.gone && !output.lost);
    ck_assert_uint_eq(writ_line_output_waits(&output), 0);
    ck_assert_int_eq((fcntl(fds[1], F_GETFL) & O_NONBLOCK) != 0, kind == PIPE_NOT_BLOCKING);
    end();
}

START_TEST(line_output_gives_each_line_whole_to_a_reader_that_pauses)
{
    for (int kind = 0; kind < KINDS; kind++) {
        check_a_reader_that_pauses(kind);
    }
}
END_TEST

START_TEST(line_output_finds_a_reader_that_has_left)
{
    for (int kind = 0; kind < KINDS; kind++) {
        begin(kind);
        close_reader();
        turn();
        ck_assert_int_eq(changes, 1);
        ck_assert(output.gone && !output.lost);
        writ_line_output_put(&output, WRIT_LIT("x"));
        ck_assert(output.lost);
        end();
    }
}
END_TEST

START_TEST(line_output_drops_waiting_lines_when_its_reader_leaves)
{
    for (int kind = 0; kind < KINDS; kind++) {
        begin(kind);
        for (int i = 0; i < LINES; i++) {
            writ_line_output_put(&output, writ_view(big, sizeof big));
        }
        close_reader();
        turn();
        ck_assert_int_eq(changes, 1);
        ck_assert(output.gone && output.lost && !output.full);
        ck_assert_uint_eq(writ_line_output_waits(&output), 0);
        end();
    }
}
END_TEST

START_TEST(line_output_writes_a_file_at_once)
{
    char name[] = "/tmp/writ-line-output-XXXXXX", seen[8];
    int fd = mkstemp(name);

    begin(PIPE);
    writ_line_output_close(&output);
    ck_assert_int_ge(fd, 0);
    writ_line_output_open(&output, loop, fd, on_changed, NULL);
    writ_line_output_put(&output, WRIT_LIT("one"));
    writ_line_output_put(&output, WRIT_LIT("two"));
    ck_assert_uint_eq(writ_line_output_waits(&output), 0);
    ck_assert_int_eq(pread(fd, seen, sizeof seen, 0), 8);
    ck_assert_mem_eq(seen, "one\ntwo\n", 8);
    (void)close(fd);
    (void)unlink(name);
    end();
}
END_TEST

WRIT_UNIT_MAIN("line_output", line_output_gives_each_line_whole_to_a_reader_that_pauses,
    line_output_finds_a_reader_that_has_left,
    line_output_drops_waiting_lines_when_its_reader_leaves, line_output_writes_a_file_at_once)
