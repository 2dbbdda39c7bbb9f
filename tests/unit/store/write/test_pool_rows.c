/* Insights that agents of a tenant share, on disk. They survive a restart, end with their time,
 * count against the limits of their tenant alone, and a verification finds every change of them. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <string.h>

#define ARENA  (1 << 20)
#define MANY   8
#define LATER  (INT64_C(365) * 86400 * WRIT_KIT_S)
#define BYTES  "{\"content\":\"a\",\"tags\":[\"t\"]}"
#define LENGTH (sizeof BYTES - 1)

/** A put; the rest of it as most tests have it. */
struct spec {
    const char *tenant, *agent, *key;
    int64_t lives_us;
    size_t entries_max, bytes_max;
};

static struct writ_view
text_of(const char *text, const char *otherwise)
{
    return writ_view_str(text != NULL ? text : otherwise);
}

static struct writ_entry
put_of(struct writ_kit *kit, struct spec spec)
{
    return (struct writ_entry){.kind = WRIT_ENTRY_POOL_PUT,
        .pool_put = {.tenant = text_of(spec.tenant, "acme"),
            .agent_id = text_of(spec.agent, "ann"),
            .key = spec.key != NULL ? writ_view_str(spec.key) : (struct writ_view){NULL, 0},
            .bytes = WRIT_LIT(BYTES),
            .expires_us = atomic_load(&kit->wall_us) + (spec.lives_us != 0 ? spec.lives_us : LATER),
            .entries_max = spec.entries_max != 0 ? spec.entries_max : 100,
            .bytes_max = spec.bytes_max != 0 ? spec.bytes_max : ARENA}};
}

static enum writ_code
put(struct writ_kit *kit, struct spec spec, uint64_t *ret)
{
    struct writ_entry entry = put_of(kit, spec);
    enum writ_code code = writ_kit_submit(kit, &entry);

    if (ret != NULL) {
        *ret = entry.pool_put.insight;
    }
    return code;
}

static enum writ_code
take_away(struct writ_kit *kit, const char *tenant, const char *agent, bool any, uint64_t insight)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_POOL_REMOVE,
        .pool_remove = {.tenant = writ_view_str(tenant),
            .agent_id = writ_view_str(agent),
            .any_agent = any,
            .insight = insight}};

    return writ_kit_submit(kit, &entry);
}

/* The number of insights of a tenant from `since` on. */
static size_t
count(struct writ_kit *kit, const char *tenant, uint64_t since)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_POOL_READ,
        .pool_read = {
            .tenant = writ_view_str(tenant), .since = since, .into = writ_arena_new(ARENA)}};
    size_t n;

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    n = entry.pool_read.n;
    for (size_t i = 0; i < n; i++) {
        ck_assert_view(entry.pool_read.insights[i].bytes, BYTES);
        ck_assert_uint_ge(entry.pool_read.insights[i].number, since);
    }
    writ_arena_free(entry.pool_read.into);
    return n;
}

START_TEST(insights_are_of_one_tenant_and_outlive_a_restart)
{
    struct writ_kit kit;
    uint64_t first = 9, second = 9;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){0}, &first), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.agent = "bob"}, &second), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.tenant = "other"}, NULL), WRIT_OK);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_uint_lt(first, second);
    ck_assert_uint_eq(count(&kit, "acme", 0), 2);
    ck_assert_uint_eq(count(&kit, "acme", second), 1);
    ck_assert_uint_eq(count(&kit, "acme", second + 1), 0);
    ck_assert_uint_eq(count(&kit, "other", 0), 1);
    ck_assert_uint_eq(count(&kit, "", 0), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(put_under_a_used_key_adds_nothing_until_that_one_is_gone)
{
    struct writ_kit kit;
    uint64_t first = 9, again = 9;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k"}, &first), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k", .entries_max = 1}, &again), WRIT_OK);
    ck_assert_uint_eq(first, again);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k", .agent = "bob"}, &again), WRIT_OK);
    ck_assert_uint_ne(first, again);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k", .tenant = "other"}, &again), WRIT_OK);
    ck_assert_uint_eq(count(&kit, "acme", 0), 2);
    ck_assert_uint_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 3);
    ck_assert_int_eq(take_away(&kit, "acme", "ann", false, first), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k"}, &again), WRIT_OK);
    ck_assert_uint_gt(again, first);
    writ_kit_wipe(&kit);
}
END_TEST

static void
entry_done(struct writ_entry *entry)
{
    (void)sem_post(entry->user);
}

/* Puts at one time, of one group. Returns how many were added. */
static size_t
put_many(struct writ_kit *kit, struct spec spec, enum writ_code others)
{
    struct writ_entry entries[MANY], *list[MANY];
    size_t added = 0;
    sem_t done;

    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    for (size_t i = 0; i < MANY; i++) {
        entries[i] = put_of(kit, spec);
        entries[i].done = entry_done;
        entries[i].user = &done;
        list[i] = &entries[i];
    }
    ck_assert_ok(writ_ledger_submit(kit->ledger, list, MANY));
    for (size_t i = 0; i < MANY; i++) {
        while (sem_wait(&done) != 0) {
        }
    }
    for (size_t i = 0; i < MANY; i++) {
        added += entries[i].pool_put.added;
        ck_assert_int_eq(entries[i].code, entries[i].pool_put.added ? WRIT_OK : others);
    }
    (void)sem_destroy(&done);
    return added;
}

START_TEST(puts_at_one_time_count_each_other)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_uint_eq(put_many(&kit, (struct spec){.key = "k"}, WRIT_OK), 1);
    ck_assert_uint_eq(put_many(&kit, (struct spec){.entries_max = 4}, WRIT_E_LIMIT), 3);
    ck_assert_uint_eq(
        put_many(&kit, (struct spec){.tenant = "b", .bytes_max = 2 * LENGTH}, WRIT_E_LIMIT), 2);
    ck_assert_uint_eq(count(&kit, "acme", 0), 4);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(removal_frees_its_key_for_a_put_of_the_same_group)
{
    struct writ_kit kit;
    struct writ_entry entries[2], *list[2] = {&entries[0], &entries[1]};
    uint64_t insight = 9;
    sem_t done;

    writ_kit_start(&kit);
    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k"}, &insight), WRIT_OK);
    entries[0] = (struct writ_entry){.kind = WRIT_ENTRY_POOL_REMOVE,
        .pool_remove = {
            .tenant = WRIT_LIT("acme"), .agent_id = WRIT_LIT("ann"), .insight = insight}};
    entries[1] = put_of(&kit, (struct spec){.key = "k"});
    entries[0].done = entries[1].done = entry_done;
    entries[0].user = entries[1].user = &done;
    ck_assert_ok(writ_ledger_submit(kit.ledger, list, 2));
    for (size_t i = 0; i < 2; i++) {
        while (sem_wait(&done) != 0) {
        }
    }
    ck_assert_int_eq(entries[0].code, WRIT_OK);
    ck_assert_int_eq(entries[1].code, WRIT_OK);
    ck_assert(entries[1].pool_put.added);
    ck_assert_uint_eq(count(&kit, "acme", insight + 1), 1);
    (void)sem_destroy(&done);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(limits_are_of_the_tenant_alone)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){.bytes_max = LENGTH - 1}, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(put(&kit, (struct spec){.bytes_max = LENGTH}, NULL), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.bytes_max = LENGTH}, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(put(&kit, (struct spec){.entries_max = 1}, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(put(&kit, (struct spec){.entries_max = 2}, NULL), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.tenant = "b", .entries_max = 1}, NULL), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){.lives_us = -1}, NULL), WRIT_E_INVALID);
    ck_assert_uint_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 3);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(removal_is_for_its_agent_in_its_tenant_once)
{
    struct writ_kit kit;
    uint64_t insight = 9;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){0}, &insight), WRIT_OK);
    ck_assert_int_eq(take_away(&kit, "acme", "bob", false, insight), WRIT_E_ABSENT);
    ck_assert_int_eq(take_away(&kit, "other", "ann", true, insight), WRIT_E_ABSENT);
    ck_assert_int_eq(take_away(&kit, "acme", "ann", false, insight + 1), WRIT_E_ABSENT);
    ck_assert_int_eq(take_away(&kit, "acme", "ann", false, UINT64_MAX), WRIT_E_ABSENT);
    ck_assert_uint_eq(count(&kit, "acme", 0), 1);
    ck_assert_int_eq(take_away(&kit, "acme", "ann", false, insight), WRIT_OK);
    ck_assert_int_eq(take_away(&kit, "acme", "ann", false, insight), WRIT_E_ABSENT);
    ck_assert_int_eq(put(&kit, (struct spec){0}, &insight), WRIT_OK);
    ck_assert_int_eq(take_away(&kit, "acme", "bob", true, insight), WRIT_OK);
    ck_assert_uint_eq(count(&kit, "acme", 0), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(insight_ends_with_its_time_and_its_row_is_deleted)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){.lives_us = WRIT_KIT_S, .key = "k"}, NULL), WRIT_OK);
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    ck_assert_uint_eq(count(&kit, "acme", 0), 0);
    ck_assert_int_eq(
        put(&kit, (struct spec){.key = "k", .entries_max = 1, .bytes_max = LENGTH}, NULL), WRIT_OK);
    writ_kit_pass(&kit, 61 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM pool"), 1);
    ck_assert_uint_eq(count(&kit, "acme", 0), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(watch_ends_with_a_put_or_its_time)
{
    struct writ_kit kit;
    struct writ_entry watch = {.kind = WRIT_ENTRY_POOL_WATCH, .done = entry_done}, *one = &watch;
    uint64_t insight = 9;
    sem_t done;

    writ_kit_start(&kit);
    ck_assert_int_eq(sem_init(&done, 0, 0), 0);
    ck_assert_int_eq(put(&kit, (struct spec){0}, &insight), WRIT_OK);
    watch.user = &done;
    watch.pool_watch.since = insight + 1;
    watch.pool_watch.until_us = atomic_load(&kit.wall_us) + LATER;
    ck_assert_ok(writ_ledger_submit(kit.ledger, &one, 1));
    writ_kit_turn(&kit);
    ck_assert_int_ne(sem_trywait(&done), 0);
    ck_assert_int_eq(put(&kit, (struct spec){.tenant = "b"}, NULL), WRIT_OK);
    while (sem_wait(&done) != 0) {
    }
    ck_assert_int_eq(watch.code, WRIT_OK);
    watch.pool_watch.since = insight + 9;
    watch.pool_watch.until_us = atomic_load(&kit.wall_us);
    ck_assert_int_eq(writ_kit_submit(&kit, &watch), WRIT_OK);
    watch.pool_watch.since = insight; /* what was put before it began ends it, too */
    watch.pool_watch.until_us = atomic_load(&kit.wall_us) + LATER;
    ck_assert_int_eq(writ_kit_submit(&kit, &watch), WRIT_OK);
    (void)sem_destroy(&done);
    writ_kit_wipe(&kit);
}
END_TEST

static uint64_t
problems_of(struct writ_kit *kit)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    return report.problems;
}

START_TEST(verify_names_rows_of_the_pool_that_are_not_those_of_the_log)
{
    static const char *const edits[] = {
        "UPDATE pool SET tenant = 'other' WHERE leaf = 0",
        "UPDATE pool SET agent_id = 'bob' WHERE leaf = 0",
        "UPDATE pool SET name = x'' WHERE leaf = 0",
        "UPDATE pool SET name = x'00' WHERE leaf = 1",
        "UPDATE pool SET expires_us = expires_us + 1 WHERE leaf = 0",
        "UPDATE pool SET expires_us = 0 WHERE leaf = 0",
        "UPDATE pool SET bytes = CAST(replace(CAST(bytes AS TEXT), 'a', 'b') AS BLOB)",
        "DELETE FROM pool WHERE leaf = 0",
        "DELETE FROM pool",
        "INSERT INTO pool SELECT 2, tenant, agent_id, name, expires_us, bytes FROM pool "
        "WHERE leaf = 0",
        "UPDATE pool SET leaf = 7 WHERE leaf = 1",
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_kit kit;
        uint64_t removed = 9;

        writ_kit_start(&kit);
        ck_assert_int_eq(put(&kit, (struct spec){.key = "k"}, NULL), WRIT_OK);
        ck_assert_int_eq(put(&kit, (struct spec){0}, NULL), WRIT_OK);
        ck_assert_int_eq(put(&kit, (struct spec){0}, &removed), WRIT_OK);
        ck_assert_int_eq(take_away(&kit, "acme", "ann", false, removed), WRIT_OK);
        ck_assert_int_eq(
            put(&kit, (struct spec){.lives_us = WRIT_KIT_S}, &removed), WRIT_OK); /* over by now */
        writ_kit_close(&kit);
        writ_kit_sql(&kit, "DELETE FROM pool WHERE leaf = 4");
        ck_assert_uint_eq(problems_of(&kit), 0);
        writ_kit_sql(&kit, edits[i]);
        ck_assert_msg(problems_of(&kit) > 0, "%s", edits[i]);
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* Removes all records from before now, as an archive has them. */
static uint64_t
remove_archived(struct writ_kit *kit)
{
    uint64_t size = (uint64_t)writ_kit_number(kit, "SELECT max(size) FROM head");
    struct writ_entry entry = {.kind = WRIT_ENTRY_REMOVE,
        .remove = {.before_us = atomic_load(&kit->wall_us),
            .archived = size,
            .root = writ_kit_root(kit, size),
            .by = WRIT_LIT("tester")}};

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.remove.removed;
}

START_TEST(insights_stay_when_their_records_are_in_an_archive)
{
    struct writ_kit kit;
    uint64_t first = 9, second = 9, gone;

    writ_kit_init(&kit);
    kit.options.budget_window_us = 0; /* budgets need no records */
    writ_kit_open(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "k"}, &first), WRIT_OK);
    ck_assert_int_eq(put(&kit, (struct spec){0}, &second), WRIT_OK);
    writ_kit_pass(&kit, 40 * 86400 * WRIT_KIT_S);
    ck_assert_int_eq(put(&kit, (struct spec){0}, NULL), WRIT_OK);
    gone = remove_archived(&kit);
    ck_assert_uint_eq(gone, 2);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM fact"), 2);
    ck_assert_uint_eq(count(&kit, "acme", 0), 3);
    ck_assert_int_eq(take_away(&kit, "acme", "ann", false, second), WRIT_OK);
    writ_kit_close(&kit);
    ck_assert_uint_eq(problems_of(&kit), 0);
    writ_kit_sql(&kit, "UPDATE pool SET agent_id = 'bob' WHERE leaf = 0");
    ck_assert_uint_eq(problems_of(&kit), 1);
    writ_kit_sql(&kit, "DELETE FROM pool WHERE leaf = 0");
    ck_assert_uint_eq(problems_of(&kit), 1);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(pool_has_no_word_of_an_insight_in_the_log)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    ck_assert_int_eq(put(&kit, (struct spec){.key = "secret"}, NULL), WRIT_OK);
    writ_kit_close(&kit);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM body WHERE instr(bytes, 'secret') > 0 OR "
                              "instr(bytes, 'content') > 0"),
        0);
    ck_assert_int_eq(
        writ_kit_number(&kit, "SELECT count(*) FROM body WHERE instr(bytes, 'pool_put') > 0"), 1);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("pool_rows", insights_are_of_one_tenant_and_outlive_a_restart,
    put_under_a_used_key_adds_nothing_until_that_one_is_gone, puts_at_one_time_count_each_other,
    removal_frees_its_key_for_a_put_of_the_same_group, limits_are_of_the_tenant_alone,
    removal_is_for_its_agent_in_its_tenant_once, insight_ends_with_its_time_and_its_row_is_deleted,
    watch_ends_with_a_put_or_its_time, verify_names_rows_of_the_pool_that_are_not_those_of_the_log,
    insights_stay_when_their_records_are_in_an_archive, pool_has_no_word_of_an_insight_in_the_log)
