/* line_output.c - a buffer in front of a descriptor.
 *
 * Invariants:
 * (1) While bytes wait, EPOLLOUT is watched; otherwise only the end of the reader is.
 * (2) write(2) never gets more than a pipe takes at once after poll(2) called it ready: a page. */
#include "gateway/io/line_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAITING_MAX                                                                                \
    ((size_t)1 << 30) /* far beyond what an owner lets happen that stops when full */
#define ROOM       (WRIT_LINE_OUTPUT_FULL / 2)
#define KEPT_BYTES 65536 /* a larger buffer goes back when it is empty */

/* ---- writing */

static ssize_t
write_some(const struct writ_line_output *output, struct writ_view bytes)
{
    struct pollfd ready = {.fd = output->fd, .events = POLLOUT};

    if (output->is_socket) {
        return send(output->fd, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (output->always_ready) {
        return write(output->fd, bytes.ptr, bytes.len);
    }
    if (poll(&ready, 1, 0) != 1) {
        errno = EAGAIN;
        return -1;
    }
    return write(
        output->fd, bytes.ptr, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF); /* keeps (2) */
}

/* Nothing can be written any more. */
static void
end(struct writ_line_output *output)
{
    output->gone = true;
    output->lost = output->lost || writ_line_output_waits(output) > 0;
    output->full = false;
    output->written = 0;
    writ_loop_unwatch(&output->watch);
    writ_buf_wipe(&output->waiting);
}

static void
flush(struct writ_line_output *output)
{
    struct writ_view all = writ_buf_view(&output->waiting);

    while (!output->gone && output->written < all.len) {
        ssize_t n = write_some(output, writ_view_sub(all, output->written, all.len));

        if (n < 0 && errno == EAGAIN) {
            break;
        }
        if (n < 0 && errno != EINTR) {
            end(output);
            return;
        }
        output->written += n > 0 ? (size_t)n : 0;
    }
    if (output->written == all.len) {
        output->written = 0;
        writ_buf_clear(&output->waiting);
        if (output->waiting.cap > KEPT_BYTES) {
            writ_buf_wipe(&output->waiting);
            output->waiting = writ_buf_make(WAITING_MAX);
        }
    } else if (output->written > all.len / 2) { /* each byte is moved once at most */
        writ_buf_consume(&output->waiting, output->written);
        output->written = 0;
    }
}

/* keeps (1) */
static void
watch_again(struct writ_line_output *output)
{
    uint32_t events = writ_line_output_waits(output) > 0 ? EPOLLOUT : 0;

    if (output->watch.active && !writ_is_ok(writ_loop_rewatch(&output->watch, events, NULL))) {
        end(output);
    }
}

static void
on_ready(struct writ_watch *watch, uint32_t events)
{
    struct writ_line_output *output = watch->ctx;
    bool waited = writ_line_output_waits(output) > 0, was_full = output->full;

    if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
        end(output);
    } else {
        flush(output);
        watch_again(output);
    }
    output->full = output->full && writ_line_output_waits(output) > ROOM;
    if (output->gone || (was_full && !output->full) ||
        (waited && writ_line_output_waits(output) == 0)) {
        output->changed(output);
    }
}

/* ---- the owner's side */

void
writ_line_output_open(struct writ_line_output *output, struct writ_loop *loop, int fd,
    writ_line_output_fn *changed, void *ctx)
{
    struct stat what;

    *output = (struct writ_line_output){.loop = loop,
        .fd = fd,
        .changed = changed,
        .ctx = ctx,
        .waiting = writ_buf_make(WAITING_MAX),
        .is_socket = fstat(fd, &what) == 0 && S_ISSOCK(what.st_mode)};
    output->always_ready =
        !writ_is_ok(writ_loop_watch(loop, &output->watch, fd, 0, on_ready, output, NULL));
}

void
writ_line_output_put(struct writ_line_output *output, struct writ_view line)
{
    bool waited = writ_line_output_waits(output) > 0;

    if (output->gone) {
        output->lost = true;
        return;
    }
    writ_buf_put(&output->waiting, line);
    writ_buf_byte(&output->waiting, '\n');
    if (!writ_is_ok(writ_buf_check(&output->waiting, NULL))) {
        output->lost = true; /* half a line may have been kept: nothing may follow it */
        end(output);
        return;
    }
    if (!waited) {
        flush(output);
        watch_again(output);
    }
    output->full = writ_line_output_waits(output) >= WRIT_LINE_OUTPUT_FULL;
}

size_t
writ_line_output_waits(const struct writ_line_output *output)
{
    return output->waiting.len - output->written;
}

void
writ_line_output_close(struct writ_line_output *output)
{
    writ_loop_unwatch(&output->watch);
    writ_buf_wipe(&output->waiting);
    output->written = 0;
    output->gone = true;
}
