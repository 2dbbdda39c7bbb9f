/* What only PostgreSQL does: connections that are lost, commits without an answer, statements that
 * are queued, cursors, and the classes of its errors; on a real cluster. */
#include "support/store/cluster.h"
#include "support/unit.h"

#include "store/sql/sql_array.h"
#include "store/sql/sql_postgres.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct writ_cluster cluster;

/* ---- connections and statements ---- */

static struct writ_sql *
opened(const char *uri, int64_t wait_us, bool read_only)
{
    struct writ_sql_postgres_options options = {
        .uri = uri, .wait_us = wait_us, .read_only = read_only};
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};

    ck_assert_msg(writ_is_ok(writ_sql_postgres(&options, &sql, &err)), "%s", err.text);
    return sql;
}

/* A connection, and an empty table. */
static struct writ_sql *
fresh(void)
{
    struct writ_sql *sql = opened(cluster.uri, 0, false);

    writ_cluster_run(sql, "DROP TABLE IF EXISTS t; CREATE TABLE t (k BIGINT PRIMARY KEY, v BYTEA)");
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

static struct writ_sql_statement *
insert_into(struct writ_sql *sql)
{
    return prepared(sql, "INSERT INTO t VALUES (?, ?)");
}

static writ_result
put(struct writ_sql_statement *insert, int64_t k, struct writ_view v, struct writ_err *err)
{
    writ_sql_bind_int(insert, 1, k);
    writ_sql_bind_blob(insert, 2, v);
    return writ_sql_run(insert, err);
}

/* The first column of the first row. */
static int64_t
number(struct writ_sql *sql, const char *text)
{
    struct writ_sql_statement *query = prepared(sql, text);
    struct writ_err err = {0};
    bool row = false;
    int64_t n;

    ck_assert_msg(writ_is_ok(writ_sql_step(query, &row, &err)), "%s: %s", text, err.text);
    ck_assert(row);
    n = writ_sql_int(query, 0);
    writ_sql_finalize(query);
    return n;
}

static int64_t
count(struct writ_sql *sql)
{
    return number(sql, "SELECT COUNT(*) FROM t");
}

static void
ends_backend(struct writ_sql *sql, const char *function, int64_t pid)
{
    char text[128];

    (void)snprintf(text, sizeof text, "SELECT %s(%lld)", function, (long long)pid);
    writ_cluster_run(sql, text);
}

/* ---- a proxy that breaks connections at a commit ---- */

enum cut {
    CUT_BEFORE,  /* the server never sees it */
    CUT_ANSWER,  /* the server executes it; the client sees no answer */
    CUT_READY,   /* the client sees the answer, but not that the server is ready */
    CUT_SILENCE, /* nothing is forwarded any more; the connection stays open */
};

struct proxy {
    pid_t pid;
    char dir[80], uri[256];
};

static void
send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

        if (sent <= 0) {
            return; /* the other side sees it by itself */
        }
        bytes += sent;
        len -= (size_t)sent;
    }
}

static void
cut_here(enum cut cut, int client, int server, const char *bytes, size_t len)
{
    char reply[65536];
    size_t have = 0;

    if (cut == CUT_BEFORE) {
        return;
    }
    if (cut == CUT_SILENCE) {
        while (read(client, reply, sizeof reply) > 0) {
        }
        return;
    }
    send_all(server, bytes, len);
    while (have < 6 || memcmp(reply + have - 6, "Z\0\0\0\5", 5) != 0) { /* ReadyForQuery */
        ssize_t got = read(server, reply + have, sizeof reply - have);

        if (got <= 0) {
            return;
        }
        have += (size_t)got;
    }
    if (cut == CUT_READY) {
        send_all(client, reply, have - 6);
    }
}

static void
relay(enum cut cut, int client, int server)
{
    static char bytes[65536];
    struct pollfd fds[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};

    while (poll(fds, 2, -1) > 0) {
        for (int i = 0; i < 2; i++) {
            ssize_t got;

            if (fds[i].revents == 0) {
                continue;
            }
            got = read(fds[i].fd, bytes, sizeof bytes);
            if (got <= 0) {
                return;
            }
            if (i == 0 && memmem(bytes, (size_t)got, "COMMIT", 7) != NULL) {
                cut_here(cut, client, server, bytes, (size_t)got);
                return;
            }
            send_all(fds[1 - i].fd, bytes, (size_t)got);
        }
    }
}

static struct sockaddr_un
address(const char *dir)
{
    struct sockaddr_un ret = {.sun_family = AF_UNIX};

    (void)snprintf(ret.sun_path, sizeof ret.sun_path, "%s/.s.PGSQL.5432", dir);
    return ret;
}

static void
proxy_start(struct proxy *proxy, enum cut cut)
{
    struct sockaddr_un here, there = address(cluster.dir);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(proxy->dir, sizeof proxy->dir, "%s/proxy-XXXXXX", cluster.dir);
    ck_assert_ptr_nonnull(mkdtemp(proxy->dir));
    (void)snprintf(
        proxy->uri, sizeof proxy->uri, "postgresql:///postgres?host=%s&user=postgres", proxy->dir);
    here = address(proxy->dir);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&here, sizeof here), 0);
    ck_assert_int_eq(listen(listener, 8), 0);
    proxy->pid = fork();
    ck_assert_int_ge(proxy->pid, 0);
    if (proxy->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            int client = accept(listener, NULL, NULL);
            int server = socket(AF_UNIX, SOCK_STREAM, 0);

            if (client < 0 || connect(server, (struct sockaddr *)&there, sizeof there) != 0) {
                _exit(1);
            }
            relay(cut, client, server);
            (void)close(client);
            (void)close(server);
        }
    }
    (void)close(listener);
}

static void
proxy_end(struct proxy *proxy)
{
    ck_assert_int_eq(kill(proxy->pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(proxy->pid, NULL, 0), proxy->pid);
}

/* ---- lost connections ---- */

START_TEST(query_asked_for_ahead_gives_its_rows_later)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *insert = prepared(sql, "INSERT INTO t(k, v) VALUES(?, ?)");
    struct writ_sql_statement *one = prepared(sql, "SELECT k FROM t ORDER BY k");
    struct writ_sql_statement *other = prepared(sql, "SELECT CAST(? AS BIGINT)");
    struct writ_err err = {0};
    bool row = false;

    ck_assert_ok(writ_sql_ask(one, &err)); /* outside of a transaction it is not sent */
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 1, WRIT_LIT("a"), &err));
    ck_assert_ok(writ_sql_ask(one, &err));
    ck_assert_ok(put(insert, 2, WRIT_LIT("b"), &err)); /* after the query */
    writ_sql_bind_int(other, 1, 7);
    ck_assert_ok(writ_sql_ask(other, &err));
    ck_assert_ok(writ_sql_step(other, &row, &err));
    ck_assert(row);
    ck_assert_int_eq(writ_sql_int(other, 0), 7);
    ck_assert_ok(writ_sql_step(one, &row, &err));
    ck_assert(row);
    ck_assert_int_eq(writ_sql_int(one, 0), 1);
    ck_assert_ok(writ_sql_step(one, &row, &err));
    ck_assert(!row);
    writ_sql_reset(one);
    writ_sql_reset(other);

    ck_assert_ok(writ_sql_ask(one, &err)); /* given up: its rows are not those of the next */
    writ_sql_reset(one);
    ck_assert_ok(put(insert, 3, WRIT_LIT("c"), &err));
    ck_assert_ok(writ_sql_ask(one, &err));
    for (int64_t k = 1; k <= 3; k++) {
        ck_assert_ok(writ_sql_step(one, &row, &err));
        ck_assert(row);
        ck_assert_int_eq(writ_sql_int(one, 0), k);
    }
    writ_sql_reset(one);

    ck_assert_ok(put(insert, 3, WRIT_LIT("c"), &err)); /* fails: skips what comes after it */
    ck_assert_ok(writ_sql_ask(one, &err));
    ck_assert_code(writ_sql_step(one, &row, &err), WRIT_E_IO);
    writ_sql_rollback(sql);
    writ_sql_reset(one);
    ck_assert_ok(writ_sql_step(one, &row, &err));
    ck_assert(!row);
    writ_sql_reset(one);

    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 4, WRIT_LIT("d"), &err));
    ck_assert_ok(put(insert, 4, WRIT_LIT("d"), &err)); /* fails with the rollback */
    ck_assert_ok(writ_sql_ask(one, &err));
    writ_sql_rollback(sql);
    ck_assert_code(writ_sql_step(one, &row, &err), WRIT_E_IO); /* skipped: never read as no rows */
    writ_sql_finalize(insert);
    writ_sql_finalize(one);
    writ_sql_finalize(other);
    writ_sql_close(sql);
}
END_TEST

START_TEST(arrays_add_a_row_for_each_of_their_values)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *insert = prepared(
        sql, "INSERT INTO t(k, v) SELECT * FROM unnest(CAST(? AS BIGINT[]), CAST(? AS BYTEA[]))");
    struct writ_sql_statement *select = prepared(sql, "SELECT v FROM t ORDER BY k");
    struct writ_sql_array keys = {0}, values = {0};
    const struct writ_view all[] = {writ_view(NULL, 0), WRIT_LIT(""), writ_view("a\0b", 3)};
    struct writ_err err = {0};
    bool row = false;

    for (int pass = 0; pass < 2; pass++) { /* an array that is begun again is empty */
        writ_sql_array_begin(&keys, WRIT_SQL_ARRAY_INT);
        writ_sql_array_begin(&values, WRIT_SQL_ARRAY_BYTES);
        for (int i = 0; i < 3; i++) {
            writ_sql_array_int(&keys, pass == 0 ? i : INT64_MIN + i);
            writ_sql_array_bytes(&values, all[i]);
        }
        ck_assert_ok(writ_sql_array_end(&keys, &err));
        ck_assert_ok(writ_sql_array_end(&values, &err));
        writ_sql_bind_blob(insert, 1, writ_buf_view(&keys.bytes));
        writ_sql_bind_blob(insert, 2, writ_buf_view(&values.bytes));
        ck_assert_ok(writ_sql_run(insert, &err));
    }
    ck_assert_int_eq(number(sql, "SELECT min(k) FROM t"), INT64_MIN);
    for (int i = 0; i < 6; i++) {
        ck_assert_ok(writ_sql_step(select, &row, &err));
        ck_assert(row);
        ck_assert_int_eq(writ_sql_is_null(select, 0), all[i % 3].ptr == NULL);
        ck_assert(writ_view_equal(writ_sql_bytes(select, 0), all[i % 3]));
    }
    writ_sql_array_begin(&keys, WRIT_SQL_ARRAY_INT); /* none */
    writ_sql_array_begin(&values, WRIT_SQL_ARRAY_BYTES);
    ck_assert_ok(writ_sql_array_end(&keys, &err));
    ck_assert_ok(writ_sql_array_end(&values, &err));
    writ_sql_bind_blob(insert, 1, writ_buf_view(&keys.bytes));
    writ_sql_bind_blob(insert, 2, writ_buf_view(&values.bytes));
    ck_assert_ok(writ_sql_run(insert, &err));
    ck_assert_int_eq(count(sql), 6);
    writ_sql_reset(select);
    writ_sql_array_wipe(&keys);
    writ_sql_array_wipe(&values);
    writ_sql_finalize(insert);
    writ_sql_finalize(select);
    writ_sql_close(sql);
}
END_TEST

START_TEST(reconnect_after_a_lost_connection_prepares_statements_again)
{
    struct writ_sql *sql = fresh(), *other = opened(cluster.uri, 0, false);
    struct writ_sql_statement *insert = insert_into(sql);
    struct writ_err err = {0};

    ck_assert_ok(put(insert, 1, WRIT_LIT("a"), &err));
    ck_assert(writ_sql_is_postgres(sql));
    ends_backend(other, "pg_terminate_backend", number(sql, "SELECT pg_backend_pid()"));

    ck_assert_code(put(insert, 2, WRIT_LIT("b"), &err), WRIT_E_IO);
    ck_assert(writ_sql_broken(sql));
    ck_assert(!writ_sql_poisoned(sql));
    ck_assert_code(put(insert, 2, WRIT_LIT("b"), &err), WRIT_E_IO);
    ck_assert_code(writ_sql_begin(sql, WRIT_SQL_WRITE, &err), WRIT_E_IO);
    ck_assert_code(writ_sql_execute(sql, "SELECT 1", &err), WRIT_E_IO);

    ck_assert_ok(writ_sql_reconnect(sql, &err));
    ck_assert(!writ_sql_broken(sql));
    ck_assert_ok(put(insert, 2, WRIT_LIT("b"), &err));
    ck_assert_int_eq(count(sql), 2);
    writ_sql_finalize(insert);
    writ_sql_close(sql);
    writ_sql_close(other);
}
END_TEST

START_TEST(connection_lost_in_a_transaction_fails_it_and_its_commit)
{
    struct writ_sql *sql = fresh(), *other = opened(cluster.uri, 0, false);
    struct writ_sql_statement *insert = insert_into(sql);
    struct writ_err err = {0};
    bool unknown = true;

    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 1, WRIT_LIT("a"), &err));
    ends_backend(other, "pg_terminate_backend", number(sql, "SELECT pg_backend_pid()"));
    ck_assert_ok(put(insert, 2, WRIT_LIT("b"), &err)); /* queued */
    ck_assert_code(writ_sql_changed(sql, &(uint64_t){0}, &err), WRIT_E_IO);
    ck_assert_code(put(insert, 3, WRIT_LIT("c"), &err), WRIT_E_IO);
    ck_assert_code(writ_sql_commit(sql, &unknown, &err), WRIT_E_IO);
    ck_assert(!unknown); /* it was not sent */
    writ_sql_rollback(sql);
    ck_assert_ok(writ_sql_reconnect(sql, &err));
    ck_assert_int_eq(count(sql), 0);
    writ_sql_finalize(insert);
    writ_sql_close(sql);
    writ_sql_close(other);
}
END_TEST

START_TEST(server_that_restarts_is_used_after_reconnect)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *insert = insert_into(sql);
    struct writ_err err = {0};

    ck_assert_ok(put(insert, 1, WRIT_LIT("a"), &err));
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 2, WRIT_LIT("b"), &err));
    ck_assert_int_eq(count(sql), 2);
    writ_cluster_end(&cluster, SIGINT);
    ck_assert_code(writ_sql_commit(sql, NULL, &err), WRIT_E_IO);
    ck_assert(writ_sql_broken(sql));
    ck_assert_code(writ_sql_reconnect(sql, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot connect"));
    ck_assert(writ_sql_broken(sql));
    writ_cluster_restart(&cluster, NULL);
    ck_assert_ok(writ_sql_reconnect(sql, &err));
    ck_assert_ok(put(insert, 3, WRIT_LIT("c"), &err));
    ck_assert_int_eq(number(sql, "SELECT SUM(k) FROM t"), 4);
    writ_sql_finalize(insert);
    writ_sql_close(sql);
}
END_TEST

START_TEST(reader_whose_connection_is_lost_makes_a_new_one)
{
    struct writ_sql *sql = fresh(), *reader = opened(cluster.uri, 0, true);
    struct writ_sql_statement *select = prepared(reader, "SELECT 7");
    struct writ_err err = {0};
    bool row = false;

    ck_assert_int_eq(count(reader), 0);
    ends_backend(sql, "pg_terminate_backend", number(reader, "SELECT pg_backend_pid()"));
    ck_assert_code(writ_sql_step(select, &row, &err), WRIT_E_IO); /* it notices */
    writ_sql_reset(select);
    ck_assert_ok(writ_sql_step(select, &row, &err));
    ck_assert(row);
    ck_assert_int_eq(writ_sql_int(select, 0), 7);
    writ_sql_reset(select);

    ck_assert_ok(writ_sql_begin(reader, WRIT_SQL_READ, &err));
    ck_assert_int_eq(count(reader), 0);
    ends_backend(sql, "pg_terminate_backend", number(reader, "SELECT pg_backend_pid()"));
    ck_assert_code(writ_sql_step(select, &row, &err), WRIT_E_IO);
    writ_sql_reset(select);
    ck_assert_code(writ_sql_step(select, &row, &err), WRIT_E_IO); /* its transaction is lost */
    writ_sql_reset(select);
    writ_sql_rollback(reader);
    ck_assert_ok(writ_sql_begin(reader, WRIT_SQL_READ, &err));
    ck_assert_int_eq(count(reader), 0);
    writ_sql_rollback(reader);
    writ_sql_finalize(select);
    writ_sql_close(reader);
    writ_sql_close(sql);
}
END_TEST

/* ---- commits ---- */

START_TEST(commit_without_an_answer_is_unknown)
{
    static const struct {
        enum cut cut;
        bool twice; /* an insert of the group fails */
        bool ok, unknown;
        int64_t rows;
    } cases[] = {
        {CUT_BEFORE, false, false, true, 1},
        {CUT_ANSWER, false, false, true, 2},
        {CUT_READY, false, true, false, 2},
        {CUT_SILENCE, false, false, true, 1},
        {CUT_ANSWER, true, false, true, 1},
        {CUT_READY, true, false, false, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_sql *direct = fresh(), *sql;
        struct writ_sql_statement *insert;
        struct writ_err err = {0};
        struct proxy proxy;
        bool unknown = !cases[i].unknown;
        writ_result result;

        writ_cluster_run(direct, "INSERT INTO t VALUES (1, NULL)");
        proxy_start(&proxy, cases[i].cut);
        sql = opened(proxy.uri, 500000, false);
        insert = insert_into(sql);
        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
        ck_assert_ok(put(insert, cases[i].twice ? 1 : 2, WRIT_LIT("v"), &err));
        result = writ_sql_commit(sql, &unknown, &err);
        ck_assert_msg(result.code == (cases[i].ok ? WRIT_OK : WRIT_E_IO), "case %zu: %s", i,
            writ_code_name(result.code));
        ck_assert_msg(unknown == cases[i].unknown, "case %zu: %d %s", i, unknown, err.text);
        ck_assert_code(put(insert, 3, WRIT_LIT("v"), &err), WRIT_E_IO);
        ck_assert(writ_sql_broken(sql));
        ck_assert_int_eq(count(direct), cases[i].rows);

        ck_assert_ok(writ_sql_reconnect(sql, &err));
        ck_assert_ok(put(insert, 3, WRIT_LIT("v"), &err)); /* no COMMIT: the proxy lets it pass */
        ck_assert_int_eq(count(direct), cases[i].rows + 1);
        writ_sql_finalize(insert);
        writ_sql_close(sql);
        writ_sql_close(direct);
        proxy_end(&proxy);
    }
}
END_TEST

START_TEST(commit_that_the_server_refuses_is_known)
{
    struct writ_sql *sql = opened(cluster.uri, 0, false);
    struct writ_sql_statement *insert;
    struct writ_err err = {0};
    bool unknown = true;

    writ_cluster_run(sql, "DROP TABLE IF EXISTS t; CREATE TABLE t (k BIGINT, v BYTEA, "
                          "UNIQUE (k) DEFERRABLE INITIALLY DEFERRED)");
    insert = insert_into(sql);
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 1, WRIT_LIT("v"), &err));
    ck_assert_ok(put(insert, 1, WRIT_LIT("v"), &err));
    ck_assert_code(writ_sql_commit(sql, &unknown, &err), WRIT_E_IO);
    ck_assert_str_eq(writ_sql_state(sql), "23505");
    ck_assert(!unknown);
    ck_assert(!writ_sql_broken(sql));
    ck_assert_int_eq(count(sql), 0);
    writ_sql_finalize(insert);
    writ_sql_close(sql);
}
END_TEST

/* Waits until a commit waits for a standby, and ends the wait. */
static void *
end_wait(void *function)
{
    struct writ_sql *sql = opened(cluster.uri, 0, false);
    char text[256];

    while (number(sql, "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 0) {
    }
    (void)snprintf(text, sizeof text,
        "SELECT %s(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
        (const char *)function);
    writ_cluster_run(sql, text);
    writ_sql_close(sql);
    return NULL;
}

START_TEST(commit_that_was_not_replicated_is_unknown)
{
    static const char *const functions[] = {"pg_cancel_backend", "pg_terminate_backend"};

    for (size_t i = 0; i < 2; i++) {
        struct writ_sql *admin = fresh(), *sql;
        struct writ_sql_statement *insert;
        struct writ_err err = {0};
        bool unknown = false;
        pthread_t thread;

        writ_cluster_run(admin, "ALTER SYSTEM SET synchronous_standby_names = 'absent'");
        writ_cluster_end(&cluster, SIGQUIT);
        writ_cluster_restart(&cluster, NULL);
        sql = opened(cluster.uri, 60000000, false);
        insert = insert_into(sql);
        ck_assert_int_eq(
            pthread_create(&thread, NULL, end_wait, (void *)(uintptr_t)functions[i]), 0);
        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
        ck_assert_ok(put(insert, 7, WRIT_LIT("v"), &err));
        ck_assert_code(writ_sql_commit(sql, &unknown, &err), WRIT_E_IO);
        ck_assert(unknown);
        ck_assert(writ_sql_broken(sql));
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert(i != 0 || strstr(err.text, "may not have replicated") != NULL);

        ck_assert_ok(writ_sql_reconnect(sql, &err));
        ck_assert_int_eq(count(sql), 1); /* committed locally */
        ck_assert_ok(writ_sql_reconnect(admin, &err));
        writ_cluster_run(admin, "ALTER SYSTEM RESET synchronous_standby_names");
        writ_cluster_run(admin, "SELECT pg_reload_conf()");
        writ_sql_finalize(insert);
        writ_sql_close(sql);
        writ_sql_close(admin);
        writ_cluster_end(&cluster, SIGINT);
        writ_cluster_restart(&cluster, NULL);
    }
}
END_TEST

/* ---- the pipeline ---- */

START_TEST(pipeline_of_large_inserts_and_answers_passes)
{
    static char bytes[4096];
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *insert = insert_into(sql);
    struct writ_sql_statement *echo = prepared(sql, "SELECT ?::bytea FROM generate_series(1, 20)");
    struct writ_err err = {0};
    bool unknown = true;

    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    for (int64_t k = 0; k < 5000; k++) {
        memset(bytes, (int)(k % 251), sizeof bytes);
        ck_assert_ok(put(insert, k, writ_view(bytes, sizeof bytes), &err));
        writ_sql_bind_blob(echo, 1, writ_view(bytes, sizeof bytes));
        ck_assert_ok(writ_sql_run(echo, &err)); /* 20 times as much comes back */
    }
    ck_assert_ok(writ_sql_commit(sql, &unknown, &err));
    ck_assert(!unknown);
    ck_assert_int_eq(count(sql), 5000);
    ck_assert_int_eq(number(sql, "SELECT SUM(length(v)) FROM t"), 5000 * 4096);
    writ_sql_finalize(insert);
    writ_sql_finalize(echo);
    writ_sql_close(sql);
}
END_TEST

START_TEST(statement_that_fails_in_a_pipeline_fails_the_transaction)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *insert = insert_into(sql), *query = prepared(sql, "SELECT k FROM t");
    struct writ_err err = {0}, first = {0};
    bool row = false, unknown = true;
    uint64_t n = 77;

    for (int i = 0; i < 4; i++) { /* by which call the failure is reported first */
        ck_assert_ok(put(insert, 1, WRIT_LIT("v"), &err));
        ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
        ck_assert_ok(put(insert, 2, WRIT_LIT("v"), &err));
        ck_assert_ok(put(insert, 1, WRIT_LIT("secret"), &err));
        ck_assert_ok(put(insert, 3, WRIT_LIT("v"), &err));
        if (i == 0) {
            ck_assert_code(writ_sql_step(query, &row, &first), WRIT_E_IO);
        } else if (i == 1) {
            ck_assert_code(writ_sql_changed(sql, &n, &first), WRIT_E_IO);
            ck_assert_uint_eq(n, 77);
        } else if (i == 2) {
            ck_assert_code(writ_sql_execute(sql, "SELECT 1", &first), WRIT_E_IO);
        } else {
            ck_assert_code(writ_sql_commit(sql, &unknown, &first), WRIT_E_IO);
            ck_assert(!unknown);
        }
        ck_assert_str_eq(first.text,
            "database: duplicate key value violates unique constraint \"t_pkey\" (23505)");
        ck_assert_str_eq(writ_sql_state(sql), "23505");
        writ_sql_reset(query);
        if (i < 3) {
            ck_assert_code(writ_sql_step(query, &row, &err), WRIT_E_IO);
            ck_assert_str_eq(err.text, first.text);
            writ_sql_reset(query);
            ck_assert_code(put(insert, 4, WRIT_LIT("v"), &err), WRIT_E_IO);
            ck_assert_code(writ_sql_commit(sql, &unknown, &err), WRIT_E_IO);
            ck_assert_str_eq(err.text, first.text);
            ck_assert(!unknown);
        }
        writ_sql_rollback(sql);
        ck_assert(!writ_sql_broken(sql));
        ck_assert_int_eq(count(sql), 1);
        writ_cluster_run(sql, "DELETE FROM t");
    }
    writ_sql_finalize(insert);
    writ_sql_finalize(query);
    writ_sql_close(sql);
}
END_TEST

START_TEST(rollback_with_a_failed_statement_queued_leaves_no_transaction)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *insert = insert_into(sql);
    struct writ_err err = {0};

    ck_assert_ok(put(insert, 1, WRIT_LIT("v"), &err));
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 1, WRIT_LIT("v"), &err));
    writ_sql_rollback(sql);
    ck_assert(!writ_sql_broken(sql));
    ck_assert_ok(put(insert, 2, WRIT_LIT("v"), &err));
    ck_assert_int_eq(count(sql), 2);
    writ_sql_finalize(insert);
    writ_sql_close(sql);
}
END_TEST

START_TEST(statement_with_a_faulty_text_fails_when_it_runs_and_again)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *faulty = prepared(sql, "INSERT INTO later VALUES (1)");
    struct writ_err err = {0};

    for (int i = 0; i < 2; i++) {
        ck_assert_code(writ_sql_run(faulty, &err), WRIT_E_IO);
        ck_assert_str_eq(writ_sql_state(sql), "42P01");
    }
    writ_cluster_run(sql, "CREATE TABLE later (k BIGINT)");
    ck_assert_ok(writ_sql_run(faulty, &err));
    writ_cluster_run(sql, "DROP TABLE later");
    writ_sql_bind_int(faulty, 1, 5);
    ck_assert_code(writ_sql_run(faulty, &err), WRIT_E_INVALID);
    writ_sql_finalize(faulty);
    writ_sql_close(sql);
}
END_TEST

START_TEST(statements_that_were_finalized_leave_the_server)
{
    struct writ_sql *sql = fresh();
    struct writ_err err = {0};

    for (int i = 0; i < 300; i++) {
        struct writ_sql_statement *query = prepared(sql, "SELECT k FROM t WHERE k = ?");
        bool row = true;

        writ_sql_bind_int(query, 1, i);
        ck_assert_ok(writ_sql_step(query, &row, &err));
        ck_assert(!row);
        writ_sql_finalize(query);
    }
    ck_assert_int_le(number(sql, "SELECT COUNT(*) FROM pg_prepared_statements"), 1);
    writ_sql_close(sql);
}
END_TEST

/* ---- cursors ---- */

START_TEST(cursor_over_many_rows_interleaves_with_statements)
{
    struct writ_sql *sql = fresh(), *other = opened(cluster.uri, 0, false);
    struct writ_sql_statement *all =
        prepared(sql, WRIT_SQL_MANY "SELECT k, v FROM t WHERE k > ? ORDER BY k");
    struct writ_sql_statement *one = prepared(sql, "SELECT k FROM t WHERE k = ?");
    struct writ_err err = {0};
    int64_t n = 0;
    bool row = true;

    writ_cluster_run(sql, "INSERT INTO t SELECT g, '\\x00' FROM generate_series(1, 100000) AS g");
    writ_sql_bind_int(all, 1, 0);
    ck_assert_ok(writ_sql_step(all, &row, &err));
    writ_cluster_run(other, "DELETE FROM t WHERE k > 50000"); /* the cursor keeps its state */
    for (; row; n++) {
        ck_assert_int_eq(writ_sql_int(all, 0), n + 1);
        ck_assert_uint_eq(writ_sql_bytes(all, 1).len, 1);
        if (n % 1000 == 0) {
            writ_sql_bind_int(one, 1, 99999);
            ck_assert_ok(writ_sql_step(one, &row, &err));
            ck_assert(row);
            writ_sql_reset(one);
        }
        ck_assert_ok(writ_sql_step(all, &row, &err));
    }
    ck_assert_int_eq(n, 100000);
    ck_assert_code(writ_sql_begin(sql, WRIT_SQL_WRITE, &err), WRIT_E_INVALID);
    writ_sql_reset(all);
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    ck_assert_int_eq(count(sql), 50000);
    writ_sql_rollback(sql);
    writ_sql_finalize(all);
    writ_sql_finalize(one);
    writ_sql_close(sql);
    writ_sql_close(other);
}
END_TEST

START_TEST(cursor_whose_transaction_has_ended_fails)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *all =
        prepared(sql, WRIT_SQL_MANY "SELECT g FROM generate_series(1, 1000) AS g");
    struct writ_err err = {0};
    bool row = false;

    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_READ, &err));
    ck_assert_ok(writ_sql_step(all, &row, &err));
    ck_assert_ok(writ_sql_commit(sql, NULL, &err));
    for (int i = 1; i < 256; i++) {
        ck_assert_ok(writ_sql_step(all, &row, &err));
    }
    ck_assert_code(writ_sql_step(all, &row, &err), WRIT_E_IO);
    writ_sql_reset(all);
    ck_assert_ok(writ_sql_step(all, &row, &err));
    ck_assert(row);
    ck_assert_int_eq(writ_sql_int(all, 0), 1);
    writ_sql_finalize(all);
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err)); /* that of the cursor has ended */
    writ_sql_close(sql);
}
END_TEST

START_TEST(cursor_that_fails_ends_its_transaction_by_reset)
{
    struct writ_sql *sql = fresh();
    struct writ_sql_statement *faulty = prepared(sql, WRIT_SQL_MANY "SELECT k FROM absent");
    struct writ_sql_statement *late =
        prepared(sql, WRIT_SQL_MANY "SELECT 1 / (400 - g) FROM generate_series(1, 1000) AS g");
    struct writ_err err = {0};
    bool row = true;

    ck_assert_code(writ_sql_step(faulty, &row, &err), WRIT_E_IO);
    ck_assert_str_eq(writ_sql_state(sql), "42P01");
    writ_sql_reset(faulty);
    for (int i = 0; i < 256; i++) {
        ck_assert_ok(writ_sql_step(late, &row, &err));
    }
    ck_assert_code(writ_sql_step(late, &row, &err), WRIT_E_IO);
    ck_assert_str_eq(writ_sql_state(sql), "22012");
    ck_assert_code(writ_sql_execute(sql, "SELECT 1", &err), WRIT_E_IO);
    writ_sql_reset(late);
    ck_assert_int_eq(count(sql), 0);
    writ_sql_finalize(faulty);
    writ_sql_finalize(late);
    writ_sql_close(sql);
}
END_TEST

/* ---- errors ---- */

START_TEST(sqlstate_gives_the_code_of_the_failure)
{
    static const struct {
        const char *state;
        enum writ_code code;
        bool poisoned, broken;
    } cases[] = {
        {"40001", WRIT_E_BUSY, false, false},
        {"40P01", WRIT_E_BUSY, false, false},
        {"55P03", WRIT_E_BUSY, false, false},
        {"57014", WRIT_E_BUSY, false, false},
        {"53200", WRIT_E_NOMEM, false, false},
        {"53100", WRIT_E_IO, false, false},
        {"25006", WRIT_E_IO, false, false},
        {"23505", WRIT_E_IO, false, false},
        {"08006", WRIT_E_IO, false, true},
        {"57P01", WRIT_E_IO, false, true},
        {"57P02", WRIT_E_IO, false, true},
        {"57P03", WRIT_E_IO, false, true},
        {"XX001", WRIT_E_IO, true, false},
        {"XX002", WRIT_E_IO, true, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_sql *sql = opened(cluster.uri, 0, false);
        struct writ_err err = {0};
        char text[256], want[64];

        (void)snprintf(text, sizeof text,
            "DO $$ BEGIN RAISE 'made up' USING ERRCODE = '%s', DETAIL = 'secret'; END $$",
            cases[i].state);
        (void)snprintf(want, sizeof want, "database: made up (%s)", cases[i].state);
        ck_assert_str_eq(writ_sql_state(sql), "");
        ck_assert_code(writ_sql_execute(sql, text, &err), cases[i].code);
        ck_assert_str_eq(err.text, want);
        ck_assert_str_eq(writ_sql_state(sql), cases[i].state);
        ck_assert_int_eq(writ_sql_poisoned(sql), cases[i].poisoned);
        ck_assert_int_eq(writ_sql_broken(sql), cases[i].broken);
        ck_assert_int_eq(writ_is_ok(writ_sql_execute(sql, "SELECT 1", &err)),
            !cases[i].poisoned && !cases[i].broken);
        writ_sql_close(sql);
    }
}
END_TEST

START_TEST(row_locked_by_another_transaction_is_busy)
{
    struct writ_sql *sql = fresh(), *other = opened(cluster.uri, 400000, false);
    struct writ_sql_statement *lock = prepared(other, "SELECT k FROM t FOR UPDATE");
    struct writ_err err = {0};
    bool row = false;

    writ_cluster_run(sql, "INSERT INTO t VALUES (1, NULL)");
    ck_assert_ok(writ_sql_begin(sql, WRIT_SQL_WRITE, &err));
    writ_cluster_run(sql, "UPDATE t SET v = '' WHERE k = 1");
    ck_assert_ok(writ_sql_begin(other, WRIT_SQL_WRITE, &err));
    ck_assert_code(writ_sql_step(lock, &row, &err), WRIT_E_BUSY);
    writ_sql_reset(lock);
    ck_assert_code(writ_sql_commit(other, NULL, &err), WRIT_E_BUSY);
    ck_assert_ok(writ_sql_commit(sql, NULL, &err));
    ck_assert_ok(writ_sql_step(lock, &row, &err));
    ck_assert(row);
    writ_sql_finalize(lock);
    writ_sql_close(sql);
    writ_sql_close(other);
}
END_TEST

START_TEST(server_slower_than_the_longest_wait_is_given_up)
{
    struct writ_sql *sql = opened(cluster.uri, 200000, false);
    struct writ_sql_statement *slow = prepared(sql, "SELECT pg_sleep(3600)");
    struct writ_sql *other = opened(cluster.uri, 0, false);
    struct writ_err err = {0};
    bool row = false;

    ck_assert_code(writ_sql_step(slow, &row, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "did not answer within 200 ms"));
    ck_assert(writ_sql_broken(sql));
    writ_cluster_run(other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                            "WHERE query LIKE 'SELECT pg_sleep%' AND pid <> pg_backend_pid()");
    writ_sql_finalize(slow);
    writ_sql_close(sql);
    writ_sql_close(other);
}
END_TEST

START_TEST(read_only_connection_refuses_to_write)
{
    struct writ_sql *sql = fresh(), *reader = opened(cluster.uri, 0, true);
    struct writ_sql_statement *insert = insert_into(reader);
    struct writ_err err = {0};

    ck_assert_code(put(insert, 1, WRIT_LIT("v"), &err), WRIT_E_IO);
    ck_assert_str_eq(writ_sql_state(reader), "25006");
    ck_assert_ok(writ_sql_begin(reader, WRIT_SQL_WRITE, &err));
    ck_assert_ok(put(insert, 1, WRIT_LIT("v"), &err)); /* queued */
    ck_assert_code(writ_sql_commit(reader, NULL, &err), WRIT_E_IO);
    ck_assert_int_eq(count(reader), 0);
    writ_sql_finalize(insert);
    writ_sql_close(reader);
    writ_sql_close(sql);
}
END_TEST

START_TEST(warnings_of_the_server_are_not_printed)
{
    struct writ_sql *sql = opened(cluster.uri, 0, false);
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
    writ_cluster_run(sql,
        "DO $$ BEGIN RAISE WARNING 'made up'; END $$; SET client_min_messages = notice; "
        "DO $$ BEGIN RAISE NOTICE 'made up'; END $$");
    ck_assert_int_ge(dup2(kept, STDERR_FILENO), 0);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    ck_assert_int_eq(ftell(file), 0);
    (void)fclose(file);
    (void)close(kept);
    writ_sql_close(sql);
}
END_TEST

START_TEST(connect_without_a_server_names_the_database)
{
    struct writ_sql_postgres_options options = {
        .uri = "postgresql://someone@/ledger?host=/nonexistent"};
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_sql_postgres(&options, &sql, &err), WRIT_E_IO);
    ck_assert_ptr_null(sql);
    ck_assert_ptr_nonnull(strstr(err.text, "postgresql://%2Fnonexistent/ledger: cannot connect: "));
    options.uri = "postgresql://someone:hidden@/ledger?host=/nonexistent";
    ck_assert_code(writ_sql_postgres(&options, &sql, &err), WRIT_E_INVALID);
    ck_assert_ptr_null(strstr(err.text, "hidden"));
}
END_TEST

START_TEST(failed_allocations_are_reported)
{
    struct writ_sql_postgres_options options = {.uri = cluster.uri};
    bool reached = true;

    for (long nth = 1; reached; nth++) {
        struct writ_sql_statement *query = NULL;
        struct writ_sql *sql = NULL;
        struct writ_err err = {0};
        writ_result result;

        writ_fault_arm(nth);
        result = writ_sql_postgres(&options, &sql, &err);
        if (writ_is_ok(result)) {
            result = writ_sql_prepare(sql, "SELECT ?", &query, &err);
        }
        reached = writ_fault_disarm();
        ck_assert_int_eq(result.code, reached ? WRIT_E_NOMEM : WRIT_OK);
        ck_assert_int_eq(query == NULL, reached);
        writ_sql_finalize(query);
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

WRIT_UNIT_MAIN("sql_postgres", cluster_starts, query_asked_for_ahead_gives_its_rows_later,
    arrays_add_a_row_for_each_of_their_values,
    reconnect_after_a_lost_connection_prepares_statements_again,
    connection_lost_in_a_transaction_fails_it_and_its_commit,
    server_that_restarts_is_used_after_reconnect, reader_whose_connection_is_lost_makes_a_new_one,
    commit_without_an_answer_is_unknown, commit_that_the_server_refuses_is_known,
    commit_that_was_not_replicated_is_unknown, pipeline_of_large_inserts_and_answers_passes,
    statement_that_fails_in_a_pipeline_fails_the_transaction,
    rollback_with_a_failed_statement_queued_leaves_no_transaction,
    statement_with_a_faulty_text_fails_when_it_runs_and_again,
    statements_that_were_finalized_leave_the_server,
    cursor_over_many_rows_interleaves_with_statements, cursor_whose_transaction_has_ended_fails,
    cursor_that_fails_ends_its_transaction_by_reset, sqlstate_gives_the_code_of_the_failure,
    row_locked_by_another_transaction_is_busy, server_slower_than_the_longest_wait_is_given_up,
    read_only_connection_refuses_to_write, warnings_of_the_server_are_not_printed,
    connect_without_a_server_names_the_database, failed_allocations_are_reported, cluster_ends)
