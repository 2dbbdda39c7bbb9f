/* From which record on the call of an id is looked for, on a real cluster. */
#include "support/store/cluster.h"
#include "support/unit.h"

#include "base/id.h"
#include "store/disk/disk.h"
#include "store/sql/sql_postgres.h"

#include <stdio.h>

#define HOUR_US INT64_C(3600000000)
#define BASE_US INT64_C(1782363600000000)

static struct writ_cluster cluster;

START_TEST(cluster_starts)
{
    writ_cluster_start(&cluster);
}
END_TEST

static int64_t
fixed_us(void *ctx)
{
    return *(const int64_t *)ctx;
}

/* For an id that was made then. */
static uint64_t
from_at(struct writ_span *span, struct writ_sql *sql, int64_t at_us)
{
    const struct writ_clock clock = {fixed_us, fixed_us, &at_us};
    char made[WRIT_ID_TEXT], id[WRIT_ID_TEXT];
    uint64_t from = UINT64_MAX;

    ck_assert_ok(writ_id_new(&clock, made, NULL)); /* later ones of a process have later times */
    (void)snprintf(id, sizeof id, "%08llx-%04llx%s",
        (unsigned long long)at_us / 1000 >> 16 & 0xffffffff,
        (unsigned long long)at_us / 1000 & 0xffff, made + 13);
    ck_assert_ok(writ_span_from(span, sql, writ_view_str(id), &from, NULL));
    return from;
}

START_TEST(span_begins_with_the_partition_before_the_time_of_the_id)
{
    struct writ_sql *sql = writ_cluster_connect(cluster.uri, 0);
    struct writ_span span = {0};

    writ_cluster_run(sql, "CREATE TABLE part(leaf bigint PRIMARY KEY);"
                          "CREATE TABLE record(leaf bigint PRIMARY KEY, time_us bigint NOT NULL);"
                          "INSERT INTO part SELECT i * 100 - 100 FROM generate_series(0, 5) AS i;"
                          "DELETE FROM part WHERE leaf = 0;" /* dropped */
                          "UPDATE part SET leaf = -1 WHERE leaf < 0;"
                          "INSERT INTO record SELECT i * 100, 1782363600000000 + i * 3600000000 "
                          "FROM generate_series(1, 3) AS i"); /* the last one has no record yet */
    ck_assert_uint_eq(from_at(&span, sql, BASE_US), 0);
    ck_assert_uint_eq(from_at(&span, sql, BASE_US + HOUR_US + HOUR_US / 12), 0); /* clocks differ */
    ck_assert_uint_eq(from_at(&span, sql, BASE_US + HOUR_US + HOUR_US / 4), 100);
    ck_assert_uint_eq(from_at(&span, sql, BASE_US + 2 * HOUR_US + HOUR_US / 4), 200);
    ck_assert_uint_eq(from_at(&span, sql, BASE_US + 9 * HOUR_US), 300);

    writ_cluster_run(sql, "DROP TABLE part"); /* it is not asked again at once */
    ck_assert_uint_eq(from_at(&span, sql, BASE_US + 9 * HOUR_US), 300);
    span.looked_us = 0;
    ck_assert_code(writ_span_from(&span, sql, WRIT_LIT("019f0000-0000-7000-8000-000000000000"),
                       &(uint64_t){0}, NULL),
        WRIT_E_IO);
    writ_span_wipe(&span);
    writ_sql_close(sql);
}
END_TEST

START_TEST(span_of_an_id_without_a_time_and_of_sqlite_is_the_log)
{
    struct writ_sql *sql = writ_cluster_connect(cluster.uri, 0), *own = NULL;
    struct writ_span span = {0};
    uint64_t from = 1;

    ck_assert_ok(writ_span_from(&span, sql, WRIT_LIT("d-000000000001"), &from, NULL));
    ck_assert_uint_eq(from, 0);
    ck_assert_ok(writ_disk_connect_temporary(&own, NULL));
    ck_assert_uint_eq(from_at(&span, own, BASE_US), 0);
    writ_sql_close(own);
    writ_sql_close(sql);
}
END_TEST

START_TEST(cluster_ends)
{
    writ_cluster_remove(&cluster);
}
END_TEST

WRIT_UNIT_MAIN("span", cluster_starts, span_begins_with_the_partition_before_the_time_of_the_id,
    span_of_an_id_without_a_time_and_of_sqlite_is_the_log, cluster_ends)
