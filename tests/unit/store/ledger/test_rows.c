/* Rows as JSON, from which tests make ledgers. Every row of a table is written as given; anything
 * else is refused, and no file is overwritten. */
#include "support/evidence/value.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/ledger/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[96];

static void
begin(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/writ-rows-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
}

static void
end(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-lock"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char file[128];

        (void)snprintf(file, sizeof file, "%s%s", path, ends[i]);
        (void)unlink(file);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

/* One value of the database, as text. */
static void
holds(const char *sql, const char *want)
{
    struct writ_sql_statement *statement = NULL;
    struct writ_sql *connection = NULL;
    struct writ_err err = {0};
    bool row = false;

    ck_assert_ok(writ_disk_connect(path, true, 0, &connection, &err));
    ck_assert_ok(writ_sql_prepare(connection, sql, &statement, &err));
    ck_assert_ok(writ_sql_step(statement, &row, &err));
    ck_assert(row);
    ck_assert(writ_view_is(writ_sql_bytes(statement, 0), want));
    writ_sql_reset(statement);
    writ_sql_finalize(statement);
    writ_sql_close(connection);
}

#define TABLES(boundary, record, body, head)                                                       \
    "{\"ledger\":\"l-1\",\"boundary\":[" boundary "],\"record\":[" record "],\"body\":[" body      \
    "],\"head\":[" head "]}"
#define RECORD                                                                                     \
    "{\"leaf\":0,\"kind\":1,\"boundary\":1,\"seq\":0,\"time_us\":5,\"verdict\":1,\"flags\":0,"     \
    "\"decision_id\":\"d\",\"claim\":\"AAEC\"}"

START_TEST(rows_write_makes_a_ledger_of_the_given_rows)
{
    struct writ_err err = {0};
    const struct writ_json *tables = writ_values_json(
        TABLES("{\"id\":1,\"tenant\":\"t\",\"name\":\"n\",\"first_leaf\":0,\"seal_leaf\":null}",
            RECORD, "{\"leaf\":0,\"bytes\":\"{}\\n{}\"}",
            "{\"leaf\":0,\"size\":1,\"nodes\":\"\",\"note\":\"x\"}"));

    begin();
    ck_assert_ok(writ_rows_create(path, tables, writ_clock_system(), &err));
    holds("SELECT value FROM meta WHERE name = 'ledger'", "l-1");
    holds("SELECT name || ' ' || coalesce(seal_leaf, 'open') FROM boundary", "n open");
    holds("SELECT decision_id || hex(claim) || coalesce(agent_id, ' none') FROM record",
        "d000102 none");
    holds("SELECT hex(bytes) || typeof(bytes) FROM body", "7B7D0A7B7Dblob");
    holds("SELECT length(nodes) || typeof(note) FROM head", "0blob");
    end();
}
END_TEST

START_TEST(rows_write_of_an_invalid_row_is_refused)
{
    static const struct {
        const char *tables;
        enum writ_code code;
    } cases[] = {
        {"[]", WRIT_E_PARSE},
        {"{\"ledger\":7,\"boundary\":[],\"record\":[],\"body\":[],\"head\":[]}", WRIT_E_PARSE},
        {"{\"ledger\":\"l\",\"boundary\":[],\"record\":[],\"body\":[]}", WRIT_E_PARSE},
        {TABLES("", "7", "", ""), WRIT_E_PARSE},
        {TABLES("", "", "{\"leaf\":0,\"bytes\":\"\",\"more\":1}", ""), WRIT_E_PARSE},
        {TABLES("", "", "{\"leaf\":\"0\",\"bytes\":\"\"}", ""), WRIT_E_PARSE},
        {TABLES("", "", "{\"leaf\":0.5,\"bytes\":\"\"}", ""), WRIT_E_PARSE},
        {TABLES("", "", "{\"leaf\":0,\"bytes\":7}", ""), WRIT_E_PARSE},
        {TABLES("", "", "", "{\"leaf\":0,\"size\":1,\"nodes\":\"?\",\"note\":\"\"}"), WRIT_E_PARSE},
        {TABLES("", RECORD "," RECORD, "", ""), WRIT_E_INVALID},
        {TABLES("", "", "{\"leaf\":0}", ""), WRIT_E_INVALID},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_err err = {0};

        begin();
        ck_assert_code(
            writ_rows_create(path, writ_values_json(cases[i].tables), writ_clock_system(), &err),
            cases[i].code);
        ck_assert_msg(strlen(err.text) > 0, "case %zu", i);
        end();
    }
}
END_TEST

START_TEST(rows_write_over_an_existing_file_is_refused)
{
    struct writ_err err = {0};
    const struct writ_json *tables = writ_values_json(TABLES("", "", "", ""));

    begin();
    ck_assert_ok(writ_rows_create(path, tables, writ_clock_system(), &err));
    ck_assert_code(writ_rows_create(path, tables, writ_clock_system(), &err), WRIT_E_INVALID);
    end();
}
END_TEST

WRIT_UNIT_MAIN("rows", rows_write_makes_a_ledger_of_the_given_rows,
    rows_write_of_an_invalid_row_is_refused, rows_write_over_an_existing_file_is_refused)
