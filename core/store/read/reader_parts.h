/* reader_parts.h - what the parts of a reader share: its connection, its statements, and how they
 * find records. Only for reader.c and reader_*.c; all other code uses reader.h.
 *
 * Invariants
 * (1) An answer of several statements is one transaction, so that all see one state of the ledger.
 * (2) Statements are reset on every path, because one that stands at a row holds the write-ahead
 *     log. */
#ifndef WRIT_STORE_READER_PARTS_H
#define WRIT_STORE_READER_PARTS_H

#include "evidence/proof/detached_record.h"
#include "store/disk/disk.h"
#include "store/read/reader.tbl.h"

#define WRIT_READER_RECORD_ARENA (64 << 20) /* memory to read one record */

_Static_assert(WRIT_DETACHED_RECORD_DECISION == (int)WRIT_ROW_DECISION &&
                   WRIT_DETACHED_RECORD_OUTCOME == (int)WRIT_ROW_OUTCOME &&
                   WRIT_DETACHED_RECORD_SEAL == (int)WRIT_ROW_SEAL &&
                   WRIT_DETACHED_RECORD_REVIEW == (int)WRIT_ROW_REVIEW,
    "kinds of records");

enum writ_reader_statement {
#define WRIT_READER_ENUM(NAME, text) WRIT_READER_SQL_##NAME,
    WRIT_READER_STATEMENTS(WRIT_READER_ENUM)
#undef WRIT_READER_ENUM
        WRIT_READER_SQL_COUNT
};

struct writ_reader {
    struct writ_sql *sql;
    struct writ_sql_statement *statements[WRIT_READER_SQL_COUNT];
    struct writ_span span;
};

/** The index of the first record that was not removed; 0: none was. WRIT_E_IO, WRIT_E_BUSY,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_parts_first(
    struct writ_reader *reader, uint64_t *ret, struct writ_err *err);
/** Steps the statement CALL to the first record of a call, or of a review; *ret_row is false when
 * there is none. The caller resets it. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_parts_find_call(
    struct writ_reader *reader, struct writ_view id, bool *ret_row, struct writ_err *err);
/** Fails with WRIT_E_ABSENT because the ledger has no `what`; it may have been removed. */
WRIT_RESULT writ_reader_parts_absent(
    struct writ_reader *reader, const char *what, struct writ_err *err);
/** Copies a column of the present row into the arena. WRIT_E_NOMEM. */
WRIT_RESULT writ_reader_parts_copy(struct writ_sql_statement *statement, int at,
    struct writ_arena *arena, struct writ_view *ret, struct writ_err *err);

#endif
