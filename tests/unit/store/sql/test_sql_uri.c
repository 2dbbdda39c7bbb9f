/* URIs of databases: which are taken, and their names without secrets. */
#include "support/unit.h"

#include "store/sql/sql_uri.h"

#include <string.h>

START_TEST(only_the_schemes_of_postgresql_are_uris)
{
    ck_assert(writ_sql_is_uri(WRIT_LIT("postgresql://")));
    ck_assert(writ_sql_is_uri(WRIT_LIT("postgres://host/db")));
    ck_assert(!writ_sql_is_uri(WRIT_LIT("")));
    ck_assert(!writ_sql_is_uri(WRIT_LIT("postgresql:/")));
    ck_assert(!writ_sql_is_uri(WRIT_LIT("/var/lib/postgresql://")));
    ck_assert(!writ_sql_is_uri(WRIT_LIT("host=db")));
}
END_TEST

START_TEST(name_has_hosts_and_database_only)
{
    static const struct {
        const char *uri, *want;
    } cases[] = {
        {"postgresql://", "postgresql:///"},
        {"postgresql://writ@db1,db2/ledger?target_session_attrs=read-write",
            "postgresql://db1,db2/ledger"},
        {"postgres://db1:5433/ledger?passfile=/etc/writ/pass", "postgresql://db1/ledger"},
        {"postgresql:///ledger?host=/run/postgresql&user=writ",
            "postgresql://%2Frun%2Fpostgresql/ledger"},
        {"postgresql:///ledger?hostaddr=10.0.0.1", "postgresql://10.0.0.1/ledger"},
        {"postgresql://[::1]/ledger", "postgresql://::1/ledger"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(1024);

        ck_assert_ok(writ_sql_uri_check(cases[i].uri, NULL));
        ck_assert_ok(writ_sql_uri_name(cases[i].uri, &buf, NULL));
        ck_assert_view(writ_buf_view(&buf), cases[i].want);
    }
}
END_TEST

START_TEST(uri_with_a_password_or_a_fault_is_refused_without_repeating_it)
{
    static const struct {
        const char *uri, *text;
    } cases[] = {
        {"postgresql://writ:hunter2@db/ledger", "has a password: remove it"},
        {"postgresql://db/ledger?password=hunter2", "has a password: remove it"},
        {"postgresql://db/ledger?sslpassword=hunter2", "has a sslpassword: remove it"},
        {"postgresql://hunter2:%zz@db/ledger", "cannot parse"},
        {"postgresql://hunter2:x@[::1/ledger", "cannot parse"},
        {"postgresql://db/ledger?hunter2=1", "cannot parse"},
        {"host=db password=hunter2", "begins with postgresql://"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_buf buf = writ_buf_make(1024);
        struct writ_err err = {0};

        ck_assert_code(writ_sql_uri_check(cases[i].uri, &err), WRIT_E_INVALID);
        ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
        ck_assert_msg(strstr(err.text, "hunter2") == NULL, "%s", err.text);
        ck_assert_code(writ_sql_uri_name(cases[i].uri, &buf, &err), WRIT_E_INVALID);
        ck_assert_uint_eq(buf.len, 0);
    }
}
END_TEST

WRIT_UNIT_MAIN("sql_uri", only_the_schemes_of_postgresql_are_uris, name_has_hosts_and_database_only,
    uri_with_a_password_or_a_fault_is_refused_without_repeating_it)
