/* Migrations by steps of the test, on a real server. */
#include "support/store/cluster.h"
#include "support/unit.h"

#include "base/clock.h"
#include "store/disk/disk_postgres.h"
#include "store/disk/migrate.h"
#include "store/disk/postgres.tbl.h"

#include <stdio.h>
#include <string.h>

static struct writ_cluster cluster;

static const char *const steps[] = {
    "CREATE TABLE second(a bigint); INSERT INTO second VALUES(2)",
    "ALTER TABLE second ADD b bigint; UPDATE second SET b = 3",
};

/* The second step fails after its first statement. */
static const char *const failing[] = {
    "CREATE TABLE second(a bigint); INSERT INTO second VALUES(2)",
    "ALTER TABLE second ADD b bigint; INSERT INTO absent VALUES(1)",
};

static struct writ_migrations
list_of(const char *const *list, size_t n)
{
    return (struct writ_migrations){list, n};
}

static void
execute(const char *text)
{
    const struct writ_sql_postgres_options options = {.uri = cluster.uri};
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};

    ck_assert_ok(writ_sql_postgres(&options, &sql, &err));
    ck_assert_msg(writ_is_ok(writ_sql_execute(sql, text, &err)), "%s", err.text);
    writ_sql_close(sql);
}

/* Whether a query gives a row. */
static bool
holds(const char *text)
{
    const struct writ_sql_postgres_options options = {.uri = cluster.uri};
    struct writ_sql *sql = NULL;
    struct writ_sql_statement *statement = NULL;
    struct writ_err err = {0};
    bool row = false;

    ck_assert_ok(writ_sql_postgres(&options, &sql, &err));
    ck_assert_ok(writ_sql_prepare(sql, text, &statement, &err));
    ck_assert_msg(writ_is_ok(writ_sql_step(statement, &row, &err)), "%s", err.text);
    writ_sql_finalize(statement);
    writ_sql_close(sql);
    return row;
}

static bool
has_version(const char *version)
{
    char text[128];

    (void)snprintf(
        text, sizeof text, "SELECT 1 FROM meta WHERE name = 'version' AND value = '%s'", version);
    return holds(text);
}

/* A new ledger in a schema of its own. */
static void
make(void)
{
    execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    ck_assert_ok(writ_disk_postgres_create(
        cluster.uri, writ_view("", 0), writ_view("", 0), writ_clock_system(), NULL));
    execute("UPDATE meta SET value = '1' WHERE name = 'version'"); /* for the steps of the test */
}

static writ_result
run(struct writ_migrations migrations, struct writ_migrate_report *ret, struct writ_err *err)
{
    return writ_migrate_run(cluster.uri, &migrations, ret, err);
}

START_TEST(run_migrates_each_version_once)
{
    struct writ_migrate_report report = {0};

    make();
    ck_assert_ok(run(list_of(steps, 0), &report, NULL));
    ck_assert_int_eq(report.from, 1);
    ck_assert_int_eq(report.to, 1);
    ck_assert_ok(run(list_of(steps, 1), &report, NULL));
    ck_assert(has_version("2"));
    ck_assert_ok(run(list_of(steps, 2), &report, NULL));
    ck_assert_int_eq(report.from, 2);
    ck_assert_int_eq(report.to, 3);
    ck_assert(has_version("3"));
    ck_assert(holds("SELECT 1 FROM second WHERE a = 2 AND b = 3"));
    ck_assert_ok(run(list_of(steps, 2), &report, NULL));
    ck_assert_int_eq(report.from, 3);
}
END_TEST

START_TEST(run_with_newer_tables_refuses)
{
    struct writ_migrate_report report = {.from = -1};
    struct writ_err err = {0};

    make();
    ck_assert_ok(run(list_of(steps, 2), &report, NULL));
    report.from = -1;
    ck_assert_code(run(list_of(steps, 1), &report, &err), WRIT_E_MISMATCH);
    ck_assert_ptr_nonnull(strstr(err.text, "version 3"));
    ck_assert_int_eq(report.from, -1);
    ck_assert(has_version("3"));
}
END_TEST

START_TEST(failing_step_leaves_the_version_before_it)
{
    struct writ_migrate_report report = {0};
    struct writ_err err = {0};

    make();
    ck_assert_code(run(list_of(failing, 2), &report, &err), WRIT_E_IO);
    ck_assert(has_version("2"));
    ck_assert(!holds("SELECT 1 FROM pg_attribute WHERE attname = 'b' AND attrelid = "
                     "CAST('second' AS regclass)"));
    ck_assert_ok(run(list_of(steps, 2), &report, &err));
    ck_assert(has_version("3"));
}
END_TEST

#define GATEWAY(lease)                                                                             \
    "INSERT INTO gateway(epoch, slot, name, version, policy, started_us, lease_us, turn, state) "  \
    "VALUES(1, 1, 'east', '1', 'p', 1, " lease ", 0, 1)"

START_TEST(live_gateway_prevents_a_migration_and_is_named)
{
    struct writ_migrate_report report = {0};
    struct writ_err err = {0};

    make();
    execute(GATEWAY("9000000000000000"));
    ck_assert_ok(run(list_of(steps, 0), &report, &err)); /* nothing to do */
    ck_assert_code(run(list_of(steps, 1), &report, &err), WRIT_E_BUSY);
    ck_assert_ptr_nonnull(strstr(err.text, "east"));
    ck_assert(has_version("1"));
    execute("UPDATE gateway SET state = 0");
    ck_assert_ok(run(list_of(steps, 1), &report, &err));
}
END_TEST

/* It may be paused: it must find out before it writes. */
START_TEST(migration_ends_the_epoch_of_a_gateway_whose_lease_has_passed)
{
    struct writ_migrate_report report = {0};

    make();
    execute(GATEWAY("1"));
    ck_assert_ok(run(list_of(steps, 1), &report, NULL));
    ck_assert(!holds("SELECT 1 FROM gateway WHERE state = 1"));
}
END_TEST

START_TEST(run_without_a_ledger_refuses)
{
    struct writ_migrate_report report = {0};

    execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    ck_assert_code(run(list_of(steps, 1), &report, NULL), WRIT_E_PARSE);
}
END_TEST

/* What version 2 changed, as version 1 had it, with two records, and a gateway's role. */
static const char version_1[] =
    "DROP TABLE record, body, fact, part, pool; DROP FUNCTION make_room();"
    "CREATE TABLE record(leaf bigint PRIMARY KEY, kind bigint NOT NULL, boundary bigint NOT NULL, "
    "seq bigint NOT NULL, time_us bigint NOT NULL, verdict bigint NOT NULL, flags bigint NOT NULL, "
    "about bigint, decision_id bytea, agent_id bytea, tool bytea, claim bytea);"
    "CREATE TABLE body(leaf bigint PRIMARY KEY, bytes bytea NOT NULL);"
    "ALTER TABLE body ALTER bytes SET STORAGE EXTERNAL;"
    "CREATE INDEX record_decision ON record(decision_id) WHERE decision_id IS NOT NULL;"
    "CREATE INDEX record_successor ON record(about) WHERE kind = 1 AND about IS NOT NULL;"
    "CREATE INDEX record_fact ON record(leaf) WHERE kind = 5;"
    "INSERT INTO record VALUES(0, 1, 1, 0, 1, 0, 0), (1, 1, 1, 1, 2, 0, 0);"
    "INSERT INTO body VALUES(0, 'a'); UPDATE coordinator SET size = 2;"
    "DROP ROLE IF EXISTS gate; CREATE ROLE gate; GRANT USAGE ON SCHEMA public TO gate; "
    "GRANT SELECT, INSERT ON record, body, session TO gate";

START_TEST(own_steps_lead_to_the_version_of_the_schema)
{
    struct writ_migrations own = writ_migrate_own();
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};
    struct writ_migrate_report report = {0};

    make();
    execute(version_1);
    ck_assert_msg(writ_is_ok(run(own, &report, &err)), "%s", err.text);
    ck_assert_int_eq(report.from, 1);
    ck_assert_int_eq(report.to, WRIT_POSTGRES_VERSION);
    ck_assert(holds("SELECT 1 FROM record_0 WHERE leaf = 1"));
    ck_assert(holds("SELECT 1 FROM part WHERE leaf = 0 AND until = 4194304"));
    execute("SET ROLE gate; SELECT make_room(); INSERT INTO body VALUES(1, 'b');"
            "INSERT INTO pool VALUES(0, 't', 'a', '', 1, 'b'); DELETE FROM pool");
    execute("DROP OWNED BY gate; DROP ROLE gate");
    ck_assert_ok(writ_disk_postgres_connect(cluster.uri, true, 1000000, &sql, NULL));
    writ_sql_close(sql);
}
END_TEST

START_TEST(cluster_starts)
{
    writ_cluster_start(&cluster);
}
END_TEST

START_TEST(cluster_ends)
{
    writ_cluster_remove(&cluster);
}
END_TEST

WRIT_UNIT_MAIN("migrate", cluster_starts, run_migrates_each_version_once,
    run_with_newer_tables_refuses, failing_step_leaves_the_version_before_it,
    live_gateway_prevents_a_migration_and_is_named,
    migration_ends_the_epoch_of_a_gateway_whose_lease_has_passed, run_without_a_ledger_refuses,
    own_steps_lead_to_the_version_of_the_schema, cluster_ends)
