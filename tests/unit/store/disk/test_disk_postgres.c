/* The tables on PostgreSQL: their server takes every statement that runs there. */
#include "support/store/cluster.h"
#include "support/unit.h"

#include "store/disk/disk.tbl.h"
#include "store/disk/disk_postgres.h"
#include "store/disk/postgres.tbl.h"
#include "store/read/check.tbl.h"
#include "store/read/reader.tbl.h"
#include "store/sql/sql_placeholders.h"
#include "store/sql/sql_postgres.h"

#define TEXT_MAX 8192

struct text {
    const char *name, *text;
};

#define NAMED(NAME, text) {#NAME, (text)},
static const struct text others[] = {WRIT_POSTGRES_OTHERS(NAMED)};
static const struct text texts[] = {WRIT_DISK_STATEMENTS(NAMED) WRIT_POSTGRES_STATEMENTS(NAMED)
        WRIT_READER_STATEMENTS(NAMED) WRIT_VERIFY_STATEMENTS(NAMED)};
#undef NAMED

/* Statements of files, which never run on PostgreSQL. */
static bool
has_another(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (writ_view_equal(writ_view_str(others[i].name), writ_view_str(name))) {
            return true;
        }
    }
    return false;
}

static void
takes(struct writ_sql *sql, const struct text *text)
{
    writ_auto_buf statement = writ_buf_make(TEXT_MAX);
    struct writ_err err = {0};
    size_t n = 0;

    writ_buf_str(&statement, "PREPARE taken AS ");
    ck_assert(writ_is_ok(writ_sql_placeholders(writ_view_str(text->text), &statement, &n, NULL)));
    writ_buf_str(&statement, "; DEALLOCATE taken");
    writ_buf_byte(&statement, '\0');
    ck_assert(writ_is_ok(writ_buf_check(&statement, NULL)));
    ck_assert_msg(writ_is_ok(writ_sql_execute(sql, statement.ptr, &err)), "%s: %s\n%s", text->name,
        err.text, statement.ptr);
}

START_TEST(every_statement_of_a_shared_ledger_is_one_of_postgresql)
{
    struct writ_cluster cluster = {0};
    struct writ_sql_postgres_options options = {.uri = cluster.uri};
    struct writ_sql *sql = NULL;
    struct writ_err err = {0};

    writ_cluster_start(&cluster);
    ck_assert_msg(writ_is_ok(writ_disk_postgres_create(
                      cluster.uri, WRIT_LIT(""), WRIT_LIT(""), writ_clock_system(), &err)),
        "%s", err.text);
    ck_assert_msg(writ_is_ok(writ_sql_postgres(&options, &sql, &err)), "%s", err.text);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!has_another(texts[i].name)) {
            takes(sql, &texts[i]);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        takes(sql, &others[i]);
    }
    writ_sql_close(sql);
    writ_cluster_remove(&cluster);
}
END_TEST

WRIT_UNIT_MAIN("disk_postgres", every_statement_of_a_shared_ledger_is_one_of_postgresql)
