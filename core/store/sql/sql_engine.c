/* sql_engine.c - sql.h: passes each call on to the engine of the connection. */
#include "store/sql/sql_engine.h"

void
writ_sql_close(struct writ_sql *sql)
{
    if (sql != NULL) {
        sql->engine->close(sql);
    }
}

void
writ_sql_closep(struct writ_sql **sql)
{
    writ_sql_close(*sql);
    *sql = NULL;
}

bool
writ_sql_poisoned(const struct writ_sql *sql)
{
    return sql->poisoned;
}

/* ---- statements ---- */

WRIT_RESULT
writ_sql_prepare(
    struct writ_sql *sql, const char *text, struct writ_sql_statement **ret, struct writ_err *err)
{
    return sql->engine->prepare(sql, text, ret, err);
}

WRIT_RESULT
writ_sql_prepare_all(struct writ_sql *sql, const char *const *texts, size_t n,
    struct writ_sql_statement **ret, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(writ_sql_prepare(sql, texts[i], &ret[i], err));
    }
    return WRIT_DONE;
}

void
writ_sql_finalize(struct writ_sql_statement *statement)
{
    if (statement != NULL) {
        statement->sql->engine->finalize(statement);
    }
}

void
writ_sql_finalize_all(struct writ_sql_statement **statements, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        writ_sql_finalize(statements[i]);
        statements[i] = NULL;
    }
}

void
writ_sql_bind_int(struct writ_sql_statement *statement, int at, int64_t value)
{
    statement->sql->engine->bind_int(statement, at, value);
}

void
writ_sql_bind_text(struct writ_sql_statement *statement, int at, struct writ_view value)
{
    statement->sql->engine->bind_bytes(statement, at, value, true);
}

void
writ_sql_bind_blob(struct writ_sql_statement *statement, int at, struct writ_view value)
{
    statement->sql->engine->bind_bytes(statement, at, value, false);
}

void
writ_sql_bind_null(struct writ_sql_statement *statement, int at)
{
    statement->sql->engine->bind_null(statement, at);
}

void
writ_sql_bind_text_or_null(struct writ_sql_statement *statement, int at, struct writ_view value)
{
    if (value.ptr == NULL) {
        writ_sql_bind_null(statement, at);
    } else {
        writ_sql_bind_text(statement, at, value);
    }
}

WRIT_RESULT
writ_sql_step(struct writ_sql_statement *statement, bool *ret_row, struct writ_err *err)
{
    return statement->sql->engine->step(statement, ret_row, err);
}

WRIT_RESULT
writ_sql_ask(struct writ_sql_statement *statement, struct writ_err *err)
{
    const struct writ_sql_engine *engine = statement->sql->engine;

    return engine->ask == NULL ? WRIT_DONE : engine->ask(statement, err);
}

WRIT_RESULT
writ_sql_run(struct writ_sql_statement *statement, struct writ_err *err)
{
    return statement->sql->engine->run(statement, err);
}

void
writ_sql_reset(struct writ_sql_statement *statement)
{
    statement->sql->engine->reset(statement);
}

int64_t
writ_sql_int(const struct writ_sql_statement *statement, int column)
{
    return statement->sql->engine->get_int(statement, column);
}

struct writ_view
writ_sql_bytes(const struct writ_sql_statement *statement, int column)
{
    return statement->sql->engine->get_bytes(statement, column);
}

bool
writ_sql_is_null(const struct writ_sql_statement *statement, int column)
{
    return statement->sql->engine->is_null(statement, column);
}

WRIT_RESULT
writ_sql_changed(struct writ_sql *sql, uint64_t *ret, struct writ_err *err)
{
    return sql->engine->changed(sql, ret, err);
}

WRIT_RESULT
writ_sql_execute(struct writ_sql *sql, const char *text, struct writ_err *err)
{
    return sql->engine->execute(sql, text, err);
}

WRIT_RESULT
writ_sql_read_one(struct writ_sql *sql, const char *text, struct writ_view name,
    struct writ_buf *ret, bool *ret_row, struct writ_err *err)
{
    struct writ_sql_statement *statement = NULL;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(sql, text, &statement, err));
    if (name.ptr != NULL) {
        writ_sql_bind_text(statement, 1, name);
    }
    result = writ_sql_step(statement, ret_row, err);
    if (writ_is_ok(result) && *ret_row) {
        writ_buf_put(ret, writ_sql_bytes(statement, 0));
        result = writ_buf_check(ret, err);
    }
    writ_sql_reset(statement);
    writ_sql_finalize(statement);
    return result;
}

/* ---- transactions ---- */

WRIT_RESULT
writ_sql_begin(struct writ_sql *sql, enum writ_sql_mode mode, struct writ_err *err)
{
    return sql->engine->begin(sql, mode, err);
}

WRIT_RESULT
writ_sql_commit(struct writ_sql *sql, bool *ret_unknown, struct writ_err *err)
{
    if (ret_unknown != NULL) {
        *ret_unknown = false;
    }
    return sql->engine->commit(sql, ret_unknown, err);
}

void
writ_sql_rollback(struct writ_sql *sql)
{
    sql->engine->rollback(sql);
}
