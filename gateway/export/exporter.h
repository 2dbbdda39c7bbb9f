/* exporter.h - follows a ledger: reads the next records, delivers their events, and moves the
 * cursor behind them. Both the gateway and `writ export` call writ_exporter_step, again and again.
 *
 * After any failure the next step begins at the cursor again, so that a receiver may get events
 * twice, and never misses one. A record that is not readable stops the export. One thread. */
#ifndef WRIT_GATEWAY_EXPORTER_H
#define WRIT_GATEWAY_EXPORTER_H

#include "gateway/export/sink.h"

#define WRIT_EXPORTER_EVENTS 512               /* most events of one batch */
#define WRIT_EXPORTER_BYTES  ((size_t)1 << 20) /* a batch of this size is sent */

struct writ_exporter_options {
    const char *ledger; /* its path; NUL-terminated, as the cursor; both borrowed until close */
    const char *cursor; /* a file; NULL: none is kept */
    uint64_t from;      /* the first record, without a cursor or without its file */
    struct writ_sink_options sink;
};

/** The result of a step. */
struct writ_exporter_progress {
    uint64_t sent;     /* events of this step; 0: there was none to send */
    uint64_t next;     /* the index of the next record */
    uint64_t waiting;  /* records that are not exported yet, when the step began less `sent` */
    int64_t oldest_us; /* time of the oldest one that this step read; 0: none */
};

struct writ_exporter;

/** Opens ledger and sink, and reads the cursor. As writ_tail_open, writ_sink_open and
 * writ_export_cursor_read; WRIT_E_MISMATCH also when the cursor is beyond the end of the ledger.
 * `ret` is new, free with writ_exporter_close. */
WRIT_RESULT writ_exporter_open(
    const struct writ_exporter_options *options, struct writ_exporter **ret, struct writ_err *err);
void writ_exporter_close(struct writ_exporter *exporter);

/** Delivers one batch, if there are records. `stop` cancels soon after it becomes true, and may be
 * NULL; `ret` is written also on failure, with `sent` 0. As writ_tail_read, writ_sink_deliver and
 * writ_export_cursor_write; WRIT_E_MISMATCH also: the ledger has fewer records than were exported,
 * or one is not readable; WRIT_E_IO also: all that is signed is exported, and later records stay
 * unsigned. */
WRIT_RESULT writ_exporter_step(struct writ_exporter *exporter, const atomic_bool *stop,
    struct writ_exporter_progress *ret, struct writ_err *err);

#endif
