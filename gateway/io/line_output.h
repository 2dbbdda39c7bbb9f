/* line_output.h - lines to a descriptor whose reader may be slow or gone, such as standard output.
 *
 * Nothing blocks the loop: what the reader does not take now waits in memory and is written when it
 * reads on. While much waits the output is full; then its owner stops reading what makes more
 * lines. The descriptor is another program's too, and keeps its flags: a pipe that blocks gets
 * pieces that fit into it, a socket is asked not to wait. A file is always ready, and is written at
 * once. (A terminal that its user has stopped can still block.)
 *
 * Only for the thread of its loop. */
#ifndef WRIT_GATEWAY_LINE_OUTPUT_H
#define WRIT_GATEWAY_LINE_OUTPUT_H

#include "base/bytes.h"
#include "gateway/io/loop.h"

#define WRIT_LINE_OUTPUT_FULL ((size_t)1 << 20) /* from so many waiting bytes on it is full */

struct writ_line_output;

/** It has room again, nothing waits any more, or its reader has left. From the loop, never from
 * inside a function of this header. */
typedef void writ_line_output_fn(struct writ_line_output *output);

/** Own it, close it. */
struct writ_line_output {
    struct writ_loop *loop;
    int fd;
    writ_line_output_fn *changed;
    void *ctx; /* for the owner */

    struct writ_watch watch;
    struct writ_buf waiting;
    size_t written; /* bytes at the begin of `waiting` */
    bool is_socket, always_ready;
    bool full;
    bool gone; /* its reader has left, or writing fails */
    bool lost; /* a line was not written, or not whole */
};

/** Begins to watch the reader. Never fails: a descriptor that cannot be watched is a file. */
void writ_line_output_open(struct writ_line_output *output, struct writ_loop *loop, int fd,
    writ_line_output_fn *changed, void *ctx);

/** Writes a line and its LF, now or when the reader takes it. Drops the line, and sets `lost`, when
 * the reader has left or memory is exhausted. */
void writ_line_output_put(struct writ_line_output *output, struct writ_view line);

/** Bytes that wait. */
size_t writ_line_output_waits(const struct writ_line_output *output);

/** Drops what waits, and leaves the descriptor alone. Also when the loop has ended. */
void writ_line_output_close(struct writ_line_output *output);

#endif
