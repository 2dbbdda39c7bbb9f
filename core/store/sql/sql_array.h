/* sql_array.h - arrays for PostgreSQL, in its binary form: a statement that takes one for each
 * column (`unnest`) adds many rows for the price of one execution.
 *
 * Bind `bytes` as a blob. A zeroed array is empty; end it with writ_sql_array_wipe. */
#ifndef WRIT_STORE_SQL_ARRAY_H
#define WRIT_STORE_SQL_ARRAY_H

#include "base/bytes.h"
#include "base/result.h"

/** The type of the values. */
enum writ_sql_array_of {
    WRIT_SQL_ARRAY_INT,   /* bigint */
    WRIT_SQL_ARRAY_BYTES, /* bytea */
};

struct writ_sql_array {
    struct writ_buf bytes;
    uint32_t n;
};

/** Empties it. */
void writ_sql_array_begin(struct writ_sql_array *array, enum writ_sql_array_of of);
void writ_sql_array_int(struct writ_sql_array *array, int64_t value);
/** NULL when `ptr` is NULL. */
void writ_sql_array_bytes(struct writ_sql_array *array, struct writ_view value);
void writ_sql_array_null(struct writ_sql_array *array);
/** Writes the number of values. WRIT_E_NOMEM, WRIT_E_LIMIT: one that was appended did not fit. */
WRIT_RESULT writ_sql_array_end(struct writ_sql_array *array, struct writ_err *err);
void writ_sql_array_wipe(struct writ_sql_array *array);

#endif
