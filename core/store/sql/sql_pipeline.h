/* sql_pipeline.h - a connection to PostgreSQL in pipeline mode: the commands that were sent and not
 * answered yet, and the class of every error. Only the engine of PostgreSQL includes this.
 *
 * A server answers in order. After an error it skips the commands up to the next Sync. */
#ifndef WRIT_STORE_SQL_PIPELINE_H
#define WRIT_STORE_SQL_PIPELINE_H

#include "base/bytes.h"

#include <libpq-fe.h>

/** What a command is for. */
enum writ_sql_pipeline_kind {
    WRIT_SQL_PIPELINE_PREPARE,
    WRIT_SQL_PIPELINE_DROP, /* of a prepared statement */
    WRIT_SQL_PIPELINE_QUERY,
    WRIT_SQL_PIPELINE_RUN,
    WRIT_SQL_PIPELINE_CONTROL, /* the beginning of a transaction, its rollback, a cursor */
    WRIT_SQL_PIPELINE_COMMIT,
    WRIT_SQL_PIPELINE_SYNC,
};

/** What is known of the last commit. */
enum writ_sql_pipeline_commit {
    WRIT_SQL_PIPELINE_UNSENT = 0,
    WRIT_SQL_PIPELINE_UNKNOWN, /* it may have been sent, and its answer was not read */
    WRIT_SQL_PIPELINE_COMMITTED,
    WRIT_SQL_PIPELINE_REFUSED,
};

/** One command, for the function that its answer is passed to. */
struct writ_sql_pipeline_item {
    enum writ_sql_pipeline_kind kind;
    uint64_t number; /* of a dropped statement */
    void *statement; /* borrowed until the answer; may be NULL */
};

/** A statement to execute, and its parameters, all binary. */
struct writ_sql_pipeline_call {
    const char *name; /* of a prepared statement, or NULL: `text` */
    const char *text;
    size_t n, bytes;
    const char *const *values;
    const int *lengths, *formats;
};

#define WRIT_SQL_PIPELINE_ITEMS 2048    /* more are not queued without reading answers */
#define WRIT_SQL_PIPELINE_BYTES 1048576 /* the same for the bytes of parameters */
#define WRIT_SQL_PIPELINE_SPARE 256     /* commands that may be queued above the limit */

struct writ_sql_pipeline {
    uint32_t magic;
    PGconn *pg; /* NULL: lost */
    int64_t wait_us;
    bool *poisoned; /* set by an error of corrupt data; borrowed */
    /* Gets the answer of each command but Sync, in order, and owns it; NULL: failed or skipped. */
    void (*ended)(void *ctx, const struct writ_sql_pipeline_item *item, PGresult *result);
    void *ctx;
    struct writ_sql_pipeline_item items[WRIT_SQL_PIPELINE_ITEMS + WRIT_SQL_PIPELINE_SPARE];
    size_t first, n, bytes;
    enum writ_sql_pipeline_commit commit;
    bool warned;   /* a warning came with the answer of the commit */
    char state[6]; /* the SQLSTATE of the last failure */
};

/** Connects; the connection must be lost before. WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_sql_pipeline_connect(
    struct writ_sql_pipeline *line, const char *uri, bool read_only, struct writ_err *err);
/** Closes the connection and forgets what was queued. */
void writ_sql_pipeline_lose(struct writ_sql_pipeline *line);

/** Queue a command without waiting. WRIT_E_IO: the connection is lost. WRIT_E_NOMEM: the same. */
WRIT_RESULT writ_sql_pipeline_prepare(struct writ_sql_pipeline *line, const char *name,
    const char *text, void *statement, struct writ_err *err);
WRIT_RESULT writ_sql_pipeline_exec(struct writ_sql_pipeline *line,
    struct writ_sql_pipeline_item item, const struct writ_sql_pipeline_call *call,
    struct writ_err *err);
/** True when the answers should be read before more is queued. */
bool writ_sql_pipeline_full(const struct writ_sql_pipeline *line);

/** Sends what is queued and reads every answer. Fails with the first failure: WRIT_E_IO,
 * WRIT_E_BUSY, WRIT_E_NOMEM. */
WRIT_RESULT writ_sql_pipeline_settle(struct writ_sql_pipeline *line, struct writ_err *err);
/** Runs a text of several statements; nothing may be queued. As writ_sql_pipeline_settle. */
WRIT_RESULT writ_sql_pipeline_simple(
    struct writ_sql_pipeline *line, const char *text, struct writ_err *err);

/** True when the server is connected and outside of a transaction; nothing may be queued. */
bool writ_sql_pipeline_idle(const struct writ_sql_pipeline *line);

#endif
