/* top_view.h - what writ top shows, made from two readings of a gateway's /metrics. Pure. */
#ifndef WRIT_CLI_TOP_VIEW_H
#define WRIT_CLI_TOP_VIEW_H

#include "base/bytes.h"

/** One reading, and what is around it. Views are borrowed. */
struct writ_top_view {
    struct writ_view url;
    struct writ_view before, now; /* /metrics, earlier and now; an empty `before`: no rates yet */
    double seconds;               /* between them */
    struct writ_view not_ready;   /* the conditions that fail, in one line; empty: ready */
    int64_t stops;                /* in force; -1: not known */
    struct writ_view failure;     /* why the last reading failed; empty: it did not */
    int64_t wall_us;
};

/** Appends the table: at most `rows` lines (0: all) of at most `columns` bytes (0: any). All text
 * is ASCII without control characters. */
void writ_top_view_text(
    const struct writ_top_view *view, size_t rows, size_t columns, struct writ_buf *ret);

/** Appends the same as one JSON object. */
void writ_top_view_json(const struct writ_top_view *view, struct writ_buf *ret);

#endif
