/* line_queue.h - lines on their way into a pipe: those that it does not take at once wait here, in
 * order, up to a maximum, and can be taken back as long as no byte of them was written.
 *
 * For one thread. Nothing blocks: the pipe is non-blocking. */
#ifndef WRIT_GATEWAY_LINE_QUEUE_H
#define WRIT_GATEWAY_LINE_QUEUE_H

#include "base/bytes.h"

#include <sys/queue.h>

/** Own it, clear it. */
struct writ_line_queue {
    TAILQ_HEAD(writ_line_items, writ_line_item) items;
    size_t bytes, max_bytes; /* waiting; allowed */
    uint64_t next_ticket;    /* of the next line that is sent */
};

/** An empty queue; the first ticket is 1. */
void writ_line_queue_init(struct writ_line_queue *queue, size_t max_bytes);

/** Whether this can be a line: not empty, without LF, CR and NUL. */
bool writ_line_queue_takes(struct writ_view line);

/**
 * Writes a line and its LF, or keeps the bytes that the pipe does not take.
 *
 * @param line        one that writ_line_queue_takes; its waiting part is copied
 * @param ret_ticket  written when the line is sent or waits
 * @param ret_broken  true when half a line was written and there is no memory for the rest: the
 *                    line counts as sent, and nothing may follow it
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  the line alone is too long
 *         WRIT_E_BUSY   max_bytes wait
 *         WRIT_E_NOMEM
 *         On failure not one byte was written.
 */
WRIT_RESULT writ_line_queue_send(struct writ_line_queue *queue, int fd, struct writ_view line,
    uint64_t *ret_ticket, bool *ret_broken);

/** Writes as much as the pipe takes now. False: the pipe is broken. */
bool writ_line_queue_flush(struct writ_line_queue *queue, int fd);

/** Takes a line back of which no byte was written; false: too late, or no such line. */
bool writ_line_queue_recall(struct writ_line_queue *queue, uint64_t ticket);

/** The ticket of the first line of which no byte was written; the next one when there is none. */
uint64_t writ_line_queue_first_unsent(const struct writ_line_queue *queue);

/** Drops the waiting lines; tickets continue. */
void writ_line_queue_clear(struct writ_line_queue *queue);

#endif
