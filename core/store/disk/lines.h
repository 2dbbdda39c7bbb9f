/* lines.h - bodies of consecutive records in one row of the table `body`.
 *
 * A row has the canonical form of record `leaf` and of those after it, up to the next row, one per
 * line: canonical JSON has no raw line feed. The last line has none, so that the body of a row with
 * one record is that record. The row of a record is the one with the largest leaf that is not above
 * it. */
#ifndef WRIT_STORE_LINES_H
#define WRIT_STORE_LINES_H

#include "base/bytes.h"

#include <sqlite3.h>

/** The n-th line, from 0; ptr NULL when there are fewer lines. */
struct writ_view writ_lines_at(struct writ_view lines, uint64_t n);
/** The number of lines: line feeds plus one. */
uint64_t writ_lines_count(struct writ_view lines);

/**
 * Registers both as SQL functions of a connection:
 *
 *     line_at(bytes, n)   the line as a blob; NULL when there are fewer lines, or bytes is NULL
 *     line_count(bytes)   NULL when bytes is NULL
 *
 * Returns a result code of SQLite.
 */
int writ_lines_install(sqlite3 *db);

#endif
