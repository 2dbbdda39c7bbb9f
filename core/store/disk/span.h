/* span.h - where the records of a call can be, on PostgreSQL, whose log is in partitions: an index
 * over ids is one of each, and a query by an id alone asks them all. An id has the time at which it
 * was made (base/id.h), and the times of records grow with their index, so earlier partitions have
 * none of its records.
 *
 * The clock of a gateway that made the id may differ from that of the database: a query that finds
 * no decision within the span must be made again over the whole log.
 *
 * One thread. A query is made now and then, on the caller's connection. */
#ifndef WRIT_STORE_SPAN_H
#define WRIT_STORE_SPAN_H

#include "store/sql/sql.h"

/** The partitions that were seen. Zeroed: none. */
struct writ_span {
    struct writ_span_part {
        uint64_t leaf;   /* its first record */
        int64_t time_us; /* of that; INT64_MAX: not known yet, or the record was removed */
    } * parts;
    size_t n;
    int64_t looked_us; /* monotonic; 0: never */
};

/** Frees; a zeroed one is fine. */
void writ_span_wipe(struct writ_span *span);

/** The first record that may be one of the call of that id; 0 when nothing can be said, and on
 * SQLite, whose index is one. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_span_from(struct writ_span *span, struct writ_sql *sql, struct writ_view id,
    uint64_t *ret, struct writ_err *err);

#endif
