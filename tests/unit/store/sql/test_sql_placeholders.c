/* Parameters of a statement as PostgreSQL numbers them. */
#include "support/unit.h"

#include "store/sql/sql_placeholders.h"

START_TEST(parameters_are_numbered_as_sqlite_counts)
{
    static const struct {
        const char *text, *want;
        size_t n;
    } cases[] = {
        {"", "", 0},
        {"SELECT 1", "SELECT 1", 0},
        {"?", "$1", 1},
        {"VALUES (?, ?, ?)", "VALUES ($1, $2, $3)", 3},
        {"?2, ?1, ?2", "$2, $1, $2", 2},
        {"?3, ?, ?1, ?", "$3, $4, $1, $5", 5},
        {"?1000", "$1000", 1000},
        {"?01", "$1", 1},
        {"'?' || ?", "'?' || $1", 1},
        {"'it''s ?', ?", "'it''s ?', $1", 1},
        {"\"a?\"\"?\" = ?", "\"a?\"\"?\" = $1", 1},
        {"'open ?", "'open ?", 0},
        {"? -- ?\n?", "$1 -- ?\n$2", 2},
        {"? -- ?", "$1 -- ?", 1},
        {"/* ? */ ?", "/* ? */ $1", 1},
        {"/* /* ? */ ? */ ?", "/* /* ? */ ? */ $1", 1},
        {"/* ? ", "/* ? ", 0},
        {"/*/ ? */ ?", "/*/ ? */ $1", 1},
        {"? - ? / ? * ?", "$1 - $2 / $3 * $4", 4},
        {"'--' ? '/*' ?", "'--' $1 '/*' $2", 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(1024);
        size_t n = 77;

        ck_assert_ok(writ_sql_placeholders(writ_view_str(cases[i].text), &buf, &n, NULL));
        ck_assert_view(writ_buf_view(&buf), cases[i].want);
        ck_assert_uint_eq(n, cases[i].n);
    }
}
END_TEST

START_TEST(numbers_out_of_range_are_refused)
{
    static const char *const cases[] = {"?0", "?1001", "?1000, ?", "?99999999999999999999999"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(1024);
        size_t n = 77;

        ck_assert_code(
            writ_sql_placeholders(writ_view_str(cases[i]), &buf, &n, NULL), WRIT_E_LIMIT);
        ck_assert_uint_eq(n, 77);
    }
}
END_TEST

START_TEST(text_longer_than_the_buffer_is_refused)
{
    writ_auto_buf fits = writ_buf_make(2), full = writ_buf_make(1);
    size_t n = 77;

    ck_assert_code(writ_sql_placeholders(WRIT_LIT("?"), &full, &n, NULL), WRIT_E_LIMIT);
    ck_assert_uint_eq(n, 77);
    ck_assert_ok(writ_sql_placeholders(WRIT_LIT("?"), &fits, &n, NULL));
}
END_TEST

WRIT_UNIT_MAIN("sql_placeholders", parameters_are_numbered_as_sqlite_counts,
    numbers_out_of_range_are_refused, text_longer_than_the_buffer_is_refused)
