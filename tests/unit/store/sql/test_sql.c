/* The interface behaves the same on SQLite and on PostgreSQL: every test runs on both. */
#include "support/store/cluster.h"
#include "support/unit.h"

#include "store/sql/sql_postgres.h"
#include "store/sql/sql_sqlite.h"

#include <stdlib.h>
#include <string.h>

static struct writ_cluster cluster;

static const char *const tables[] = {
    "CREATE TABLE t (k BIGINT PRIMARY KEY, v BLOB)",
    "DROP TABLE IF EXISTS t; CREATE TABLE t (k BIGINT PRIMARY KEY, v BYTEA)",
};

enum { ENGINES = 2 };

static struct writ_sql *
opened(int engine)
{
    struct writ_sql_postgres_options options = {.uri = cluster.uri};
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};
    sqlite3 *db = NULL;

    if (engine == 0) {
        ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
        ck_assert_ok(writ_sql_sqlite(db, &sql, &err));
    } else {
        ck_assert_ok(writ_sql_postgres(&options, &sql, &err));
    }
    ck_assert_ok(writ_sql_execute(sql, tables[engine], &err));
    return sql;
}

static struct writ_sql_statement *
prepared(struct writ_sql *sql, const char *text)
{
    struct writ_sql_statement *statement = NULL;
    struct writ_err err = {0};

    ck_assert_ok(writ_sql_prepare(sql, text, &statement, &err));
    return statement;
}

static void
put(struct writ_sql_statement *insert, int64_t k, struct writ_view v)
{
    struct writ_err err = {0};

    writ_sql_bind_int(insert, 1, k);
    writ_sql_bind_text_or_null(insert, 2, v);
    ck_assert_msg(writ_is_ok(writ_sql_run(insert, &err)), "%s", err.text);
}

static bool
stepped(struct writ_sql_statement *statement)
{
    struct writ_err err = {0};
    bool row = false;

    ck_assert_msg(writ_is_ok(writ_sql_step(statement, &row, &err)), "%s", err.text);
    return row;
}

static int64_t
count(struct writ_sql *sql)
{
    struct writ_sql_statement *query = prepared(sql, "SELECT COUNT(*) FROM t");
    int64_t n;

    ck_assert(stepped(query));
    n = writ_sql_int(query, 0);
    writ_sql_finalize(query);
    return n;
}

START_TEST(bytes_null_and_empty_are_read_as_written)
{
    static const struct {
        const char *ptr;
        size_t len;
    } values[] = {
        {"a\0b\0", 4},
        {"", 0},
        {NULL, 0},
        {"\xff\xfe\x80", 3},
        {"\\x41'?", 6},
    };

    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
        struct writ_sql_statement *query = prepared(sql, "SELECT v FROM t WHERE k = ?1");

        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            struct writ_view want = writ_view(values[i].ptr, values[i].len), got;

            put(insert, (int64_t)i, want);
            writ_sql_bind_int(query, 1, (int64_t)i);
            ck_assert(stepped(query));
            got = writ_sql_bytes(query, 0);
            ck_assert_int_eq(writ_sql_is_null(query, 0), want.ptr == NULL);
            ck_assert_int_eq(got.ptr == NULL, want.ptr == NULL);
            ck_assert(writ_view_equal(got, want));
            ck_assert(!stepped(query));
            writ_sql_reset(query);
        }
        writ_sql_finalize(insert);
        writ_sql_finalize(query);
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(value_of_16_mib_is_read_as_written)
{
    size_t len = (size_t)16 << 20;
    char *bytes = malloc(len);

    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (char)(i * 7 + i / 251);
    }
    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
        struct writ_sql_statement *query = prepared(sql, "SELECT v FROM t");

        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
        writ_sql_bind_int(insert, 1, 1);
        writ_sql_bind_blob(insert, 2, writ_view(bytes, len));
        ck_assert_ok(writ_sql_run(insert, NULL));
        ck_assert_ok(writ_sql_commit(sql, NULL, NULL));
        ck_assert(stepped(query));
        ck_assert(writ_view_equal(writ_sql_bytes(query, 0), writ_view(bytes, len)));
        writ_sql_finalize(insert);
        writ_sql_finalize(query);
        writ_sql_close(sql);
    }
    free(bytes);
}
END_TEST

START_TEST(integers_of_every_size_are_read_as_written)
{
    static const int64_t values[] = {0, 1, -1, 255, -256, 65536, INT64_MAX, INT64_MIN};

    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
        struct writ_sql_statement *query = prepared(sql, "SELECT k FROM t WHERE k = ?");
        struct writ_sql_statement *sum =
            prepared(sql, "SELECT SUM(k), COUNT(*), 1 = 1, NULL FROM t WHERE k > ? AND k < ?");

        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            put(insert, values[i], WRIT_LIT(""));
            writ_sql_bind_int(query, 1, values[i]);
            ck_assert(stepped(query));
            ck_assert_int_eq(writ_sql_int(query, 0), values[i]);
            writ_sql_reset(query);
        }
        writ_sql_bind_int(sum, 1, -300);
        writ_sql_bind_int(sum, 2, INT64_MAX);
        ck_assert(stepped(sum));
        ck_assert_int_eq(writ_sql_int(sum, 0), 1 - 1 + 255 - 256 + 65536);
        ck_assert_int_eq(writ_sql_int(sum, 1), 6);
        ck_assert_int_eq(writ_sql_int(sum, 2), 1);
        ck_assert_int_eq(writ_sql_int(sum, 3), 0);
        ck_assert(writ_sql_is_null(sum, 3));
        writ_sql_reset(sum);
        writ_sql_bind_int(sum, 1, -300);
        writ_sql_bind_int(sum, 2, 0);
        ck_assert(stepped(sum));
        ck_assert_int_eq(writ_sql_int(sum, 0), -257);
        writ_sql_finalize(insert);
        writ_sql_finalize(query);
        writ_sql_finalize(sum);
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(parameters_by_number_and_order_reach_their_places)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
        struct writ_sql_statement *query = prepared(sql,
            "SELECT k /* ? */ FROM t WHERE k > ?2 AND k < ?1 AND (v = ?3 OR ?3 IS NULL) "
            "AND '?' = '?' -- ?9\n AND CAST(?4 AS BIGINT) = 2 ORDER BY k LIMIT ?4");

        for (int64_t k = 0; k < 9; k++) {
            put(insert, k, k % 2 == 0 ? WRIT_LIT("even") : WRIT_LIT("odd"));
        }
        for (int filter = 0; filter < 2; filter++) {
            writ_sql_bind_int(query, 1, 8);
            writ_sql_bind_int(query, 2, 1);
            if (filter == 1) {
                writ_sql_bind_text(query, 3, WRIT_LIT("odd"));
            }
            writ_sql_bind_int(query, 4, 2);
            ck_assert(stepped(query));
            ck_assert_int_eq(writ_sql_int(query, 0), filter == 0 ? 2 : 3);
            ck_assert(stepped(query));
            ck_assert_int_eq(writ_sql_int(query, 0), filter == 0 ? 3 : 5);
            ck_assert(!stepped(query));
            writ_sql_reset(query);
        }
        writ_sql_finalize(insert);
        writ_sql_finalize(query);
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(reset_makes_parameters_null)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
        struct writ_sql_statement *query = prepared(sql, "SELECT v FROM t WHERE k = 2");

        put(insert, 1, WRIT_LIT("first"));
        writ_sql_bind_int(insert, 1, 2);
        ck_assert_ok(writ_sql_run(insert, NULL));
        ck_assert(stepped(query));
        ck_assert(writ_sql_is_null(query, 0));
        writ_sql_finalize(insert);
        writ_sql_finalize(query);
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(changed_counts_rows_of_the_last_run)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        for (int transaction = 0; transaction < 2; transaction++) {
            struct writ_sql *sql = opened(engine);
            struct writ_sql_statement *insert =
                prepared(sql, "INSERT INTO t VALUES (?, ?) ON CONFLICT DO NOTHING");
            struct writ_sql_statement *update = prepared(sql, "UPDATE t SET v = NULL WHERE k >= ?");
            uint64_t n = 99;

            if (transaction == 1) {
                ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
            }
            put(insert, 1, WRIT_LIT("a"));
            put(insert, 2, WRIT_LIT("b"));
            put(insert, 3, WRIT_LIT("c"));
            ck_assert_ok(writ_sql_changed(sql, &n, NULL));
            ck_assert_uint_eq(n, 1);
            put(insert, 3, WRIT_LIT("d"));
            ck_assert_ok(writ_sql_changed(sql, &n, NULL));
            ck_assert_uint_eq(n, 0);
            writ_sql_bind_int(update, 1, 2);
            ck_assert_ok(writ_sql_run(update, NULL));
            ck_assert_ok(writ_sql_changed(sql, &n, NULL));
            ck_assert_uint_eq(n, 2);
            writ_sql_rollback(sql);
            ck_assert_int_eq(count(sql), transaction == 1 ? 0 : 3);
            writ_sql_finalize(insert);
            writ_sql_finalize(update);
            writ_sql_close(sql);
        }
    }
}
END_TEST

START_TEST(transaction_committed_stays_and_rolled_back_goes)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
        bool unknown = true;

        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
        put(insert, 1, WRIT_LIT("a"));
        ck_assert_int_eq(count(sql), 1);
        ck_assert_ok(writ_sql_commit(sql, &unknown, NULL));
        ck_assert(!unknown);
        ck_assert_int_eq(count(sql), 1);

        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
        put(insert, 2, WRIT_LIT("b"));
        writ_sql_rollback(sql);
        writ_sql_rollback(sql);
        ck_assert_int_eq(count(sql), 1);

        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_READ, NULL));
        ck_assert_int_eq(count(sql), 1);
        ck_assert_ok(writ_sql_commit(sql, NULL, NULL));
        writ_sql_finalize(insert);
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(cursors_interleave_with_each_other_and_with_statements)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        for (int transaction = 0; transaction < 2; transaction++) {
            struct writ_sql *sql = opened(engine);
            struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");
            struct writ_sql_statement *all[2];
            int64_t next[2] = {0, 0};

            ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
            for (int64_t k = 0; k < 1024; k++) {
                put(insert, k, WRIT_LIT("v"));
            }
            ck_assert_ok(writ_sql_commit(sql, NULL, NULL));
            for (int i = 0; i < 2; i++) {
                all[i] = prepared(sql, WRIT_SQL_MANY "SELECT k, v FROM t WHERE k < ?1 ORDER BY k");
            }
            if (transaction == 1) {
                ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
            }
            for (int round = 0; round < 2; round++) {
                next[0] = next[1] = 0;
                writ_sql_bind_int(all[0], 1, 1024);
                writ_sql_bind_int(all[1], 1, 300);
                while (stepped(all[0])) {
                    ck_assert_int_eq(writ_sql_int(all[0], 0), next[0]++);
                    if (next[0] % 3 == 0 && next[1] < 300) {
                        ck_assert(stepped(all[1]));
                        ck_assert_int_eq(writ_sql_int(all[1], 0), next[1]++);
                    }
                    if (next[0] % 500 == 0) {
                        ck_assert_int_ge(count(sql), 1024);
                    }
                    if (transaction == 1 && next[0] == 700) {
                        put(insert, 2000 + round, WRIT_LIT("in between"));
                    }
                }
                ck_assert_int_eq(next[0], 1024);
                ck_assert_int_eq(next[1], 300);
                writ_sql_reset(all[0]);
                writ_sql_reset(all[1]);
            }
            if (transaction == 1) {
                ck_assert_ok(writ_sql_commit(sql, NULL, NULL));
            }
            ck_assert_int_eq(count(sql), transaction == 1 ? 1026 : 1024);
            put(insert, 5000, WRIT_LIT("after"));
            writ_sql_finalize(insert);
            writ_sql_finalize_all(all, 2);
            writ_sql_close(sql);
        }
    }
}
END_TEST

START_TEST(execute_runs_several_statements)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);
        struct writ_err err = {0};

        ck_assert_ok(writ_sql_execute(sql,
            "INSERT INTO t VALUES (1, NULL); "
            "INSERT INTO t VALUES (2, NULL)",
            &err));
        ck_assert_int_eq(count(sql), 2);
        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
        ck_assert_ok(writ_sql_execute(sql, "DELETE FROM t WHERE k = 1", &err));
        ck_assert_int_eq(count(sql), 1);
        writ_sql_rollback(sql);
        ck_assert_int_eq(count(sql), 2);
        ck_assert_code(writ_sql_execute(sql, "INSERT INTO absent VALUES (1)", &err), WRIT_E_IO);
        ck_assert_ptr_nonnull(strstr(err.text, "database: "));
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(statements_finalized_in_a_transaction_have_run)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        struct writ_sql *sql = opened(engine);

        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, NULL));
        for (int64_t k = 0; k < 200; k++) {
            struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t VALUES (?, ?)");

            put(insert, k, WRIT_LIT("v"));
            writ_sql_finalize(insert);
        }
        ck_assert_ok(writ_sql_commit(sql, NULL, NULL));
        ck_assert_int_eq(count(sql), 200);
        writ_sql_close(sql);
    }
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

WRIT_UNIT_MAIN("sql", cluster_starts, bytes_null_and_empty_are_read_as_written,
    value_of_16_mib_is_read_as_written, integers_of_every_size_are_read_as_written,
    parameters_by_number_and_order_reach_their_places, reset_makes_parameters_null,
    changed_counts_rows_of_the_last_run, transaction_committed_stays_and_rolled_back_goes,
    cursors_interleave_with_each_other_and_with_statements, execute_runs_several_statements,
    statements_finalized_in_a_transaction_have_run, cluster_ends)
