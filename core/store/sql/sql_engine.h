/* sql_engine.h - what a database does behind sql.h. Only the room includes this. */
#ifndef WRIT_STORE_SQL_ENGINE_H
#define WRIT_STORE_SQL_ENGINE_H

#include "store/sql/sql.h"

/** The functions of one kind of database, as those of sql.h. */
struct writ_sql_engine {
    void (*close)(struct writ_sql *sql);
    writ_result (*prepare)(struct writ_sql *sql, const char *text, struct writ_sql_statement **ret,
        struct writ_err *err);
    void (*finalize)(struct writ_sql_statement *statement);
    void (*bind_int)(struct writ_sql_statement *statement, int at, int64_t value);
    void (*bind_bytes)(
        struct writ_sql_statement *statement, int at, struct writ_view value, bool text);
    void (*bind_null)(struct writ_sql_statement *statement, int at);
    writ_result (*step)(struct writ_sql_statement *statement, bool *ret_row, struct writ_err *err);
    writ_result (*ask)(struct writ_sql_statement *statement, struct writ_err *err); /* or NULL */
    writ_result (*run)(struct writ_sql_statement *statement, struct writ_err *err);
    void (*reset)(struct writ_sql_statement *statement);
    int64_t (*get_int)(const struct writ_sql_statement *statement, int column);
    struct writ_view (*get_bytes)(const struct writ_sql_statement *statement, int column);
    bool (*is_null)(const struct writ_sql_statement *statement, int column);
    writ_result (*changed)(struct writ_sql *sql, uint64_t *ret, struct writ_err *err);
    writ_result (*execute)(struct writ_sql *sql, const char *text, struct writ_err *err);
    writ_result (*begin)(struct writ_sql *sql, enum writ_sql_mode mode, struct writ_err *err);
    writ_result (*commit)(struct writ_sql *sql, bool *ret_unknown, struct writ_err *err);
    void (*rollback)(struct writ_sql *sql);
};

/** The first member of a connection of any kind. */
struct writ_sql {
    const struct writ_sql_engine *engine;
    bool poisoned;
};

/** The first member of a statement of any kind. */
struct writ_sql_statement {
    struct writ_sql *sql;
};

#endif
