/* Each transaction reads the version again under the lock, so that two runs at a time do each step
 * once. */
#include "store/disk/migrate.h"

#include "base/text.h"
#include "store/disk/disk.h"
#include "store/disk/disk_postgres.h"
#include "store/disk/file.h"
#include "store/disk/postgres.tbl.h"

#include <stdio.h>

#define WAIT_US     INT64_C(60000000) /* a step may read every row */
#define VERSION_MAX 1000000

static const char *const own_steps[] = {
#define MIGRATION_TEXT(text) (text),
    WRIT_POSTGRES_MIGRATIONS(MIGRATION_TEXT)
#undef MIGRATION_TEXT
        NULL};

#define OWN_STEPS (sizeof own_steps / sizeof own_steps[0] - 1)

_Static_assert(OWN_STEPS + 1 == WRIT_POSTGRES_VERSION, "one step for each version from 2 on");

struct writ_migrations
writ_migrate_own(void)
{
    return (struct writ_migrations){own_steps, OWN_STEPS};
}

static WRIT_RESULT
read_version(struct writ_sql *sql, int *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(64);
    uint64_t version = 0;
    bool row = false;

    WRIT_TRY(writ_sql_read_one(sql, "SELECT value FROM meta WHERE name = 'version'",
        (struct writ_view){NULL, 0}, &text, &row, err));
    if (!row || !writ_is_ok(writ_text_u64(writ_buf_view(&text), 1, VERSION_MAX, &version))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the tables of the ledger have no version");
    }
    *ret = (int)version;
    return WRIT_DONE;
}

static WRIT_RESULT
check_live(struct writ_sql *sql, struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(4096);
    bool row = false;

    WRIT_TRY(writ_sql_read_one(sql,
        "SELECT name FROM gateway WHERE state = 1 AND lease_us >= "
        "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) ORDER BY epoch LIMIT 1",
        (struct writ_view){NULL, 0}, &name, &row, err));
    if (row) {
        WRIT_FAIL(err, WRIT_E_BUSY,
            "gateway " WRIT_VIEW_FMT " is live, and of an older version: stop all gateways first",
            WRIT_VIEW_ARG(writ_buf_view(&name)));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_version(struct writ_sql *sql, int version, struct writ_err *err)
{
    struct writ_sql_statement *statement = NULL;
    char text[16];
    writ_result result;

    (void)snprintf(text, sizeof text, "%d", version);
    WRIT_TRY(
        writ_sql_prepare(sql, "UPDATE meta SET value = ? WHERE name = 'version'", &statement, err));
    writ_sql_bind_text(statement, 1, writ_view_str(text));
    result = writ_sql_run(statement, err);
    writ_sql_finalize(statement);
    return result;
}

/* Brings `version` to the next one, unless another run has. */
static WRIT_RESULT
do_step(struct writ_sql *sql, int version, const char *statements, struct writ_err *err)
{
    writ_auto_buf one = writ_buf_make(64);
    bool row = false;
    int now = 0;

    WRIT_TRY(writ_sql_read_one(sql, "SELECT one FROM coordinator WHERE one = 1 FOR UPDATE",
        (struct writ_view){NULL, 0}, &one, &row, err));
    WRIT_TRY(read_version(sql, &now, err));
    if (now != version) {
        return WRIT_DONE;
    }
    WRIT_TRY(check_live(sql, err));
    WRIT_TRY(writ_sql_execute(sql, "UPDATE gateway SET state = 0 WHERE state = 1", err));
    WRIT_TRY(writ_sql_execute(sql, statements, err));
    return put_version(sql, version + 1, err);
}

static WRIT_RESULT
step(struct writ_sql *sql, int version, const char *statements, struct writ_err *err)
{
    writ_result result;

    WRIT_TRY(writ_sql_begin(sql, WRIT_SQL_WRITE, err));
    result = do_step(sql, version, statements, err);
    if (!writ_is_ok(result)) {
        writ_sql_rollback(sql);
        return result;
    }
    return writ_sql_commit(sql, NULL, err);
}

WRIT_RESULT
writ_migrate_run(const char *uri, const struct writ_migrations *migrations,
    struct writ_migrate_report *ret, struct writ_err *err)
{
    const struct writ_sql_postgres_options options = {.uri = uri, .wait_us = WAIT_US};
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;
    int from = 0, last = (int)migrations->n + 1;
    bool has = false;

    WRIT_TRY(writ_disk_postgres_has(uri, &has, err));
    if (!has) {
        WRIT_FAIL(
            err, WRIT_E_PARSE, "the database has no ledger: make one with `writ ledger init`");
    }
    WRIT_TRY(writ_sql_postgres(&options, &sql, err));
    WRIT_TRY(read_version(sql, &from, err));
    if (from > last) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the tables of the ledger have version %d, and this program writes version %d: use the "
            "newer writ",
            from, last);
    }
    for (int version = from; version < last; version++) {
        WRIT_TRY(step(sql, version, migrations->steps[version - 1], err));
    }
    *ret = (struct writ_migrate_report){from, last};
    return WRIT_DONE;
}

WRIT_RESULT
writ_migrate_file(const char *path, struct writ_migrate_report *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};
    int from = 0;

    WRIT_TRY(writ_file_name(path, &file, err));
    WRIT_TRY(writ_file_check(&file, err));
    WRIT_TRY(writ_file_lock(&file, err));
    WRIT_TRY(writ_disk_migrate(path, &from, err));
    *ret = (struct writ_migrate_report){from, WRIT_DISK_VERSION};
    return WRIT_DONE;
}
