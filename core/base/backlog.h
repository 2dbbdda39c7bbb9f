/* backlog.h - a queue of log lines, and the thread that writes them.
 *
 * A caller that has a line to log must not wait for the reader of the log. It puts the line into a
 * bounded queue; a thread writes the queue to the descriptor, many lines with one write(2). When
 * the reader stops, the queue fills, and lines that do not fit are refused: the caller counts
 * them. */
#ifndef WRIT_BASE_BACKLOG_H
#define WRIT_BASE_BACKLOG_H

#include "base/bytes.h"

#include <stdatomic.h>

#define WRIT_BACKLOG_MAX      ((size_t)1 << 20) /* bytes that wait to be written */
#define WRIT_BACKLOG_PIECE    4096 /* PIPE_BUF: a writable pipe takes so much at once (pipe(7)) */
#define WRIT_BACKLOG_PAUSE_MS 20   /* between two writes: lines that arrive meanwhile share one */
#define WRIT_BACKLOG_END_MS   1000 /* how long the end waits for a reader that does not read */

struct writ_backlog;

/** Writes the whole text with write(2), as long as that takes. False: it failed, and a part or
 * nothing was written. */
bool writ_backlog_write(int fd, struct writ_view text);

/**
 * Starts the thread, which takes no signals.
 *
 * @param fd    where lines go; borrowed until writ_backlog_free
 * @param lost  lines that could not be written are added to it; borrowed likewise
 * @param ret   new, free with writ_backlog_free; written only on success
 *
 * @return WRIT_OK, WRIT_E_NOMEM (also: no thread)
 */
WRIT_RESULT writ_backlog_new(
    int fd, atomic_ulong *lost, struct writ_backlog **ret, struct writ_err *err);

/** Queues whole lines of at most WRIT_BACKLOG_PIECE bytes. False: there is no room. From any
 * thread. Never waits for the descriptor. */
bool writ_backlog_put(struct writ_backlog *backlog, struct writ_view line);

/** Writes the queued lines, for at most WRIT_BACKLOG_END_MS while the descriptor takes nothing, and
 * ends the thread. No other thread may use the backlog any more. Free of NULL does nothing. */
void writ_backlog_free(struct writ_backlog *backlog);

#endif
