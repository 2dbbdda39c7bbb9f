/* The schema has a version of its own; a ledger of another version is refused. */
#include "store/disk/disk_postgres.h"

#include "base/id.h"
#include "store/disk/disk.tbl.h"
#include "store/disk/postgres.tbl.h"

#include <stdio.h>

#define TEXT_MAX 512
#define WAIT_US  INT64_C(10000000) /* of a connection that makes the tables */
#define ROLE_MAX 63                /* bytes of a name in PostgreSQL */

static const char *const schema[] = {
#define SCHEMA_TEXT(text) (text),
    WRIT_POSTGRES_SCHEMA(SCHEMA_TEXT)
#undef SCHEMA_TEXT
};

static const char *const rights[][2] = {
#define RIGHTS_TEXT(what, tables) {(what), (tables)},
    WRIT_POSTGRES_RIGHTS(RIGHTS_TEXT)
#undef RIGHTS_TEXT
};

/* ---- creating ---- */

static WRIT_RESULT
put_meta(struct writ_sql *sql, struct writ_view name, struct writ_view value, struct writ_err *err)
{
    struct writ_sql_statement *statement = NULL;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(sql, "INSERT INTO meta(name, value) VALUES(?, ?)", &statement, err));
    writ_sql_bind_text(statement, 1, name);
    writ_sql_bind_text(statement, 2, value);
    result = writ_sql_run(statement, err);
    writ_sql_finalize(statement);
    return result;
}

/* A name as SQL writes it, in quotes. */
static void
put_name(struct writ_buf *text, struct writ_view name)
{
    writ_buf_byte(text, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"') {
            writ_buf_byte(text, '"');
        }
        writ_buf_byte(text, (uint8_t)name.ptr[i]);
    }
    writ_buf_byte(text, '"');
}

static WRIT_RESULT
give_rights(struct writ_sql *sql, struct writ_view role, struct writ_err *err)
{
    if (role.len > ROLE_MAX || writ_view_find(role, '\0') < role.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a role has a name of at most %d bytes", ROLE_MAX);
    }
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        writ_auto_buf text = writ_buf_make(TEXT_MAX);

        writ_buf_fmt(&text, "GRANT %s ON %s TO ", rights[i][0], rights[i][1]);
        put_name(&text, role);
        writ_buf_byte(&text, '\0');
        WRIT_TRY(writ_buf_check(&text, err));
        WRIT_TRY(writ_sql_execute(sql, text.ptr, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make_tables(struct writ_sql *sql, struct writ_view origin, struct writ_view role,
    const struct writ_clock *clock, struct writ_err *err)
{
    char id[WRIT_ID_TEXT], created[WRIT_TIME_TEXT], version[16];

    WRIT_TRY(writ_id_new(clock, id, err));
    writ_time_format(writ_clock_wall_us(clock), created);
    (void)snprintf(version, sizeof version, "%d", WRIT_POSTGRES_VERSION);
    for (size_t i = 0; i < sizeof schema / sizeof schema[0]; i++) {
        WRIT_TRY(writ_sql_execute(sql, schema[i], err));
    }
    WRIT_TRY(put_meta(sql, WRIT_LIT("version"), writ_view_str(version), err));
    WRIT_TRY(put_meta(sql, WRIT_LIT("ledger"), writ_view_str(id), err));
    WRIT_TRY(put_meta(sql, WRIT_LIT("created"), writ_view_str(created), err));
    if (origin.len > 0) {
        WRIT_TRY(put_meta(sql, WRIT_LIT("origin"), origin, err));
    }
    return role.len > 0 ? give_rights(sql, role, err) : WRIT_DONE;
}

/* Whether the schema that new tables go to has a table of that name. */
static WRIT_RESULT
has_tables(struct writ_sql *sql, bool *ret, struct writ_err *err)
{
    writ_auto_buf found = writ_buf_make(TEXT_MAX);

    return writ_sql_read_one(sql,
        "SELECT convert_to(tablename, 'UTF8') FROM pg_tables WHERE schemaname = current_schema() "
        "AND tablename IN ('meta', 'coordinator', 'record') LIMIT 1",
        writ_view(NULL, 0), &found, ret, err);
}

static WRIT_RESULT
create(struct writ_sql *sql, struct writ_view origin, struct writ_view role,
    const struct writ_clock *clock, struct writ_err *err)
{
    bool has = false;
    writ_result result;

    WRIT_TRY(has_tables(sql, &has, err));
    if (has) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the database has tables of a ledger already: name another database or schema");
    }
    WRIT_TRY(writ_sql_begin(sql, WRIT_SQL_WRITE, err));
    result = make_tables(sql, origin, role, clock, err);
    if (!writ_is_ok(result)) {
        writ_sql_rollback(sql);
        return result;
    }
    return writ_sql_commit(sql, NULL, err);
}

WRIT_RESULT
writ_disk_postgres_create(const char *uri, struct writ_view origin, struct writ_view role,
    const struct writ_clock *clock, struct writ_err *err)
{
    const struct writ_sql_postgres_options options = {.uri = uri, .wait_us = WAIT_US};
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;

    WRIT_TRY(writ_sql_postgres(&options, &sql, err));
    return create(sql, origin, role, clock, err);
}

WRIT_RESULT
writ_disk_postgres_has(const char *uri, bool *ret, struct writ_err *err)
{
    const struct writ_sql_postgres_options options = {
        .uri = uri, .read_only = true, .wait_us = WAIT_US};
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;

    WRIT_TRY(writ_sql_postgres(&options, &sql, err));
    return has_tables(sql, ret, err);
}

WRIT_RESULT
writ_disk_postgres_grant(const char *uri, struct writ_view role, struct writ_err *err)
{
    const struct writ_sql_postgres_options options = {.uri = uri, .wait_us = WAIT_US};
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;

    WRIT_TRY(writ_sql_postgres(&options, &sql, err));
    return give_rights(sql, role, err);
}

/* ---- connecting ---- */

static WRIT_RESULT
check_ours(struct writ_sql *sql, struct writ_err *err)
{
    writ_auto_buf version = writ_buf_make(TEXT_MAX);
    bool has = false, row = false;
    char own[16];

    (void)snprintf(own, sizeof own, "%d", WRIT_POSTGRES_VERSION);
    WRIT_TRY(has_tables(sql, &has, err));
    if (!has) {
        WRIT_FAIL(
            err, WRIT_E_PARSE, "the database has no ledger: make one with `writ ledger init`");
    }
    WRIT_TRY(writ_sql_read_one(
        sql, "SELECT value FROM meta WHERE name = ?", WRIT_LIT("version"), &version, &row, err));
    if (!row || !writ_view_is(writ_buf_view(&version), own)) {
        WRIT_FAIL(err, WRIT_E_PARSE,
            "the tables of the ledger have version " WRIT_VIEW_FMT
            ", and this program reads version %s: bring older tables forwards with `writ ledger "
            "migrate`, use the newer writ for newer ones",
            WRIT_VIEW_ARG(writ_buf_view(&version)), own);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_postgres_connect(
    const char *uri, bool read_only, int64_t wait_us, struct writ_sql **ret, struct writ_err *err)
{
    const struct writ_sql_postgres_options options = {
        .uri = uri, .read_only = read_only, .wait_us = wait_us};
    WRIT_AUTO(struct writ_sql *, writ_sql_closep) sql = NULL;

    WRIT_TRY(writ_sql_postgres(&options, &sql, err));
    WRIT_TRY(check_ours(sql, err));
    *ret = WRIT_TAKE(sql);
    return WRIT_DONE;
}

WRIT_RESULT
writ_disk_postgres_name(struct writ_sql *sql, uint64_t slot, uint64_t epoch, struct writ_err *err)
{
    char text[TEXT_MAX];

    (void)snprintf(text, sizeof text, "SET writ.slot = '%llu'; SET writ.epoch = '%llu'",
        (unsigned long long)slot, (unsigned long long)epoch);
    return writ_sql_execute(sql, text, err);
}

/* ---- what a commit promises ---- */

static WRIT_RESULT
read_setting(
    struct writ_sql *sql, struct writ_view name, struct writ_buf *ret, struct writ_err *err)
{
    bool row = false;

    writ_buf_clear(ret);
    return writ_sql_read_one(sql,
        "SELECT convert_to(coalesce(current_setting(convert_from(?, 'UTF8'), true), ''), 'UTF8')",
        name, ret, &row, err);
}

static bool
is_setting(const struct writ_buf *value, const char *wanted)
{
    return writ_view_is(writ_buf_view(value), wanted);
}

WRIT_RESULT
writ_disk_postgres_durable(struct writ_sql *sql, bool alone, struct writ_err *err)
{
    writ_auto_buf value = writ_buf_make(TEXT_MAX * 8);

    WRIT_TRY(read_setting(sql, WRIT_LIT("transaction_read_only"), &value, err));
    if (!is_setting(&value, "off")) {
        WRIT_FAIL(err, WRIT_E_IO,
            "the server only reads: it is a standby, or was set to; name all servers in `store` "
            "with target_session_attrs=read-write");
    }
    WRIT_TRY(read_setting(sql, WRIT_LIT("fsync"), &value, err));
    if (!is_setting(&value, "on")) {
        WRIT_FAIL(err, WRIT_E_IO,
            "the server does not flush what it commits: a call could run twice after a crash; set "
            "fsync = on");
    }
    WRIT_TRY(read_setting(sql, WRIT_LIT("synchronous_commit"), &value, err));
    if (!is_setting(&value, "on") && !is_setting(&value, "remote_apply")) {
        WRIT_FAIL(err, WRIT_E_IO,
            "the server may lose what it has committed: set synchronous_commit = on for this role");
    }
    if (alone) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_setting(sql, WRIT_LIT("synchronous_standby_names"), &value, err));
    if (value.len == 0) {
        WRIT_FAIL(err, WRIT_E_IO,
            "no standby confirms a commit, so that a failover could lose claims and run a call "
            "twice: set synchronous_standby_names = 'ANY 1 (...)', or `replication: none_needed` "
            "under `ledger` for a single server");
    }
    return WRIT_DONE;
}
