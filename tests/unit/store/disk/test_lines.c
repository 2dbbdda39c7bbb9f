/* The SQL functions over the lines of a record. A line is found by its number, and a schema cannot
 * call them. */
#include "support/unit.h"

#include "store/disk/lines.h"

#include <stdio.h>

static const struct {
    const char *text;
    uint64_t count;
    const char *lines[4]; /* NULL: none */
} cases[] = {
    {"", 1, {"", NULL}},
    {"{}", 1, {"{}", NULL}},
    {"a\nb", 2, {"a", "b", NULL}},
    {"a\n\nb", 3, {"a", "", "b", NULL}},
    {"a\n", 2, {"a", "", NULL}},
    {"\n", 2, {"", "", NULL}},
};

#define CASES (sizeof cases / sizeof cases[0])

START_TEST(lines_at_finds_each_line)
{
    for (size_t i = 0; i < CASES; i++) {
        struct writ_view lines = writ_view_str(cases[i].text);
        uint64_t n = 0;

        for (; cases[i].lines[n] != NULL; n++) {
            struct writ_view line = writ_lines_at(lines, n);

            ck_assert_ptr_nonnull(line.ptr);
            ck_assert_msg(writ_view_is(line, cases[i].lines[n]), "case %zu line %llu", i,
                (unsigned long long)n);
        }
        ck_assert_uint_eq(n, cases[i].count);
        ck_assert_uint_eq(writ_lines_count(lines), n);
        ck_assert_ptr_null(writ_lines_at(lines, n).ptr);
        ck_assert_ptr_null(writ_lines_at(lines, UINT64_MAX).ptr);
    }
}
END_TEST

static const char *
answer(sqlite3 *db, const char *sql, char ret[32])
{
    sqlite3_stmt *statement = NULL;
    const unsigned char *text;

    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    text = sqlite3_column_text(statement, 0);
    (void)snprintf(ret, 32, "%s", text == NULL ? "NULL" : (const char *)text);
    (void)sqlite3_finalize(statement);
    return ret;
}

START_TEST(lines_functions_in_sql_give_the_same)
{
    static const struct {
        const char *sql, *answer;
    } rows[] = {
        {"SELECT line_at(CAST('a' || char(10) || 'bc' AS BLOB), 0)", "a"},
        {"SELECT line_at(CAST('a' || char(10) || 'bc' AS BLOB), 1)", "bc"},
        {"SELECT typeof(line_at(X'61', 0))", "blob"},
        {"SELECT line_at(X'61', 1)", "NULL"},
        {"SELECT line_at(X'61', -1)", "NULL"},
        {"SELECT line_at(NULL, 0)", "NULL"},
        {"SELECT typeof(line_at(X'', 0))", "blob"},
        {"SELECT line_count(X'610A62')", "2"},
        {"SELECT line_count(X'')", "1"},
        {"SELECT line_count(NULL)", "NULL"},
    };
    sqlite3 *db = NULL;
    char text[32];

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(writ_lines_install(db), SQLITE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_str_eq(answer(db, rows[i].sql, text), rows[i].answer);
    }
    (void)sqlite3_close(db);
}
END_TEST

START_TEST(lines_functions_in_a_schema_are_refused)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(writ_lines_install(db), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(db, "CREATE VIEW v AS SELECT line_count('a') AS n", NULL, NULL, NULL),
        SQLITE_OK);
    ck_assert_int_ne(sqlite3_exec(db, "SELECT n FROM v", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}
END_TEST

WRIT_UNIT_MAIN("lines", lines_at_finds_each_line, lines_functions_in_sql_give_the_same,
    lines_functions_in_a_schema_are_refused)
