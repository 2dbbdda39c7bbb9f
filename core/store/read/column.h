/* column.h - a column of a row, for readers that tell it: empty where it is NULL, so that a view
 * that is copied or handed on always has a pointer. */
#ifndef WRIT_STORE_COLUMN_H
#define WRIT_STORE_COLUMN_H

#include "store/sql/sql.h"

/** Text or blob, "" for NULL; borrowed until the statement is stepped or reset. */
static inline struct writ_view
writ_column_bytes(const struct writ_sql_statement *statement, int column)
{
    struct writ_view bytes = writ_sql_bytes(statement, column);

    return bytes.ptr == NULL ? WRIT_LIT("") : bytes;
}

#endif
