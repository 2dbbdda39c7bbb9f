/* ledger_sample.c - makes the ledger that ledger.test.mjs and docs/ledger.md look at:
 *     ledger_sample PATH [tampered | KEYS [aged | week N | days N]]
 * Run "one", sealed: 0 an allow, executed; 2 an allow, timed out. Run "two": 5 a deny; 7 an allow
 * that was not sent; 9 an allow in flight. Tampered: record 2 says that it was the third.
 * KEYS: makes the key directory with the key of its checkpoints. Aged: in place of that, the call
 * "k" of three hours ago, whose run is sealed, and the call "l" of an hour ago, whose run is open.
 * Week: N calls, evenly over the last week, of ten agents and five tools; each tenth is a deny.
 * Days: the same, but an agent has a run for each day, which is sealed at its end; each second
 * agent's goes on for two days. At the end of each day there is a fact. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/trusted/keydir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct writ_kit_spec spec;

static struct writ_kit kit;
#define BATCH 200 /* calls of one group */

static bool tampered, aged, days;
static size_t week;
static const char *target, *keys;

/* Also from one file system to another. */
static void
copy_to_target(void)
{
    FILE *from = fopen(kit.path, "rb"), *to = fopen(target, "wbx");
    char bytes[4096];
    size_t n;

    ck_assert(from != NULL && to != NULL);
    ck_assert_int_eq(fchmod(fileno(to), S_IRUSR | S_IWUSR), 0);
    while ((n = fread(bytes, 1, sizeof bytes, from)) > 0) {
        ck_assert_uint_eq(fwrite(bytes, 1, n, to), n);
    }
    ck_assert_int_eq(fclose(to), 0);
    (void)fclose(from);
}

/* The ring goes away with the kit: its key is read once more. */
static void
keep_keys(void)
{
    struct writ_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    struct writ_keydir *dir = NULL;
    struct writ_signer *signer = NULL;

    ck_assert_ok(
        writ_signer_put_pem(writ_keyring_active(kit.ring, WRIT_KEY_PURPOSE_LEDGER), &pem, NULL));
    ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &signer, NULL));
    writ_buf_wipe_secret(&pem);
    ck_assert_ok(writ_keydir_open(keys, true, &dir, NULL));
    ck_assert_ok(writ_keyring_add(
        writ_keydir_ring(dir), WRIT_KEY_PURPOSE_LEDGER, signer, WRIT_KIT_WALL_US, NULL));
    ck_assert_ok(writ_keydir_save(dir, NULL));
    writ_keydir_close(dir);
}

static void
end(spec s, enum writ_outcome_kind kind, const char *error_type)
{
    struct writ_kit_call *c = writ_kit_granted(&kit, s);

    ck_assert_int_eq(writ_kit_end(&kit, c, kind, error_type), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_pass(&kit, WRIT_KIT_S);
}

static void
fill_aged(void)
{
    const int64_t hour_us = 3600 * WRIT_KIT_S;

    writ_kit_init(&kit);
    atomic_store(&kit.wall_us, writ_clock_wall_us(writ_clock_system()) - 3 * hour_us);
    writ_kit_open(&kit);
    end((spec){.boundary = "one", .key = "k"}, WRIT_OUTCOME_EXECUTED, NULL);
    ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
    writ_kit_pass(&kit, 2 * hour_us);
    end((spec){.boundary = "two", .key = "l"}, WRIT_OUTCOME_EXECUTED, NULL);
}

static void
submit(struct writ_kit_call **calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct writ_entry *entry = &calls[i]->entry;

        ck_assert_ok(writ_ledger_submit(kit.ledger, &entry, 1));
    }
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(sem_wait(&calls[i]->done), 0);
        ck_assert_int_eq(calls[i]->entry.code, WRIT_OK);
    }
}

/* The day of the week on which a call is made. */
static size_t
day_of(size_t call)
{
    return call * 7 / (week + BATCH);
}

static const char *
run_of_day(size_t agent, size_t day)
{
    static char names[10][8][32];
    size_t of = agent % 2 == 0 ? day : day / 2 * 2;

    (void)snprintf(names[agent][of], sizeof names[agent][of], "run-%zu-%zu", agent, of);
    return names[agent][of];
}

/* Seals the runs that end when a day begins. */
static void
seal_runs(size_t day)
{
    for (size_t agent = 0; agent < 10; agent++) {
        if (agent % 2 == 0 || day % 2 == 0) {
            ck_assert_int_eq(writ_kit_seal(&kit, run_of_day(agent, day - 1), NULL), WRIT_OK);
        }
    }
    ck_assert_ok(writ_ledger_record(
        kit.ledger, WRIT_FACT_RELEASED, WRIT_LIT("{\"tool\":\"up/tool-0\"}"), NULL));
}

static struct writ_kit_call *
call_of_week(size_t i)
{
    static const char *const agents[] = {"agent-0", "agent-1", "agent-2", "agent-3", "agent-4",
        "agent-5", "agent-6", "agent-7", "agent-8", "agent-9"};
    static const char *const tools[] = {"tool-0", "tool-1", "tool-2", "tool-3", "tool-4"};
    char argument[32];

    (void)snprintf(argument, sizeof argument, "%zu", i);
    return writ_kit_call(
        &kit, (spec){.boundary = days ? run_of_day(i % 10, day_of(i)) : agents[i % 10],
                  .agent = agents[i % 10],
                  .tool = tools[i % 5],
                  .argument = argument,
                  .route = i % 10 == 9 ? WRIT_DECISION_DENY : WRIT_DECISION_ALLOW});
}

/* Its groups are as those of a busy gateway. */
static void
fill_week(void)
{
    const int64_t week_us = 7 * 86400 * WRIT_KIT_S;
    static struct writ_kit_call *calls[BATCH], *granted[BATCH];

    writ_kit_init(&kit);
    atomic_store(&kit.wall_us, writ_clock_wall_us(writ_clock_system()) - week_us);
    writ_kit_open(&kit);
    for (size_t at = 0; at < week; at += BATCH) {
        size_t n = 0;

        if (days && at > 0 && day_of(at) > day_of(at - BATCH)) {
            seal_runs(day_of(at));
        }
        for (size_t i = 0; i < BATCH; i++) {
            calls[i] = call_of_week(at + i);
        }
        submit(calls, BATCH);
        for (size_t i = 0; i < BATCH; i++) {
            if (calls[i]->entry.decision.granted) {
                calls[i]->leaf = calls[i]->entry.decision.leaf;
                writ_kit_outcome(calls[i], WRIT_OUTCOME_EXECUTED, NULL);
                granted[n++] = calls[i];
            }
        }
        submit(granted, n);
        for (size_t i = 0; i < BATCH; i++) {
            writ_kit_call_free(calls[i]);
        }
        writ_kit_pass(&kit, week_us * BATCH / (int64_t)(week + BATCH));
    }
}

static void
fill_runs(void)
{
    struct writ_kit_call *deny;

    writ_kit_start(&kit);
    end((spec){.boundary = "one", .argument = "1"}, WRIT_OUTCOME_EXECUTED, NULL);
    end((spec){.boundary = "one", .argument = "2"}, WRIT_OUTCOME_TIMEOUT, NULL);
    ck_assert_int_eq(writ_kit_seal(&kit, "one", NULL), WRIT_OK);
    deny = writ_kit_call(&kit, (spec){.boundary = "two", .route = WRIT_DECISION_DENY});
    ck_assert_int_eq(writ_kit_decide(&kit, deny), WRIT_OK);
    writ_kit_call_free(deny);
    writ_kit_pass(&kit, WRIT_KIT_S);
    end((spec){.boundary = "two", .argument = "3"}, WRIT_OUTCOME_ERROR, WRIT_OUTCOME_NOT_SENT);
    writ_kit_call_free(writ_kit_granted(&kit, (spec){.boundary = "two", .argument = "4"}));
}

START_TEST(fill)
{
    if (week > 0) {
        fill_week();
    } else if (aged) {
        fill_aged();
    } else {
        fill_runs();
    }
    writ_kit_close(&kit);
    if (tampered) {
        writ_kit_sql(&kit, "UPDATE record SET seq = 2 WHERE leaf = 2; UPDATE body SET bytes = "
                           "CAST(replace(CAST(bytes AS TEXT), '\"seq\":1', '\"seq\":2') AS BLOB) "
                           "WHERE leaf = 2");
    }
    if (keys != NULL) {
        keep_keys();
    }
    copy_to_target();
    writ_kit_wipe(&kit);
}
END_TEST

int
main(int argc, char **argv)
{
    const TTest *const tests[] = {fill};

    (void)setenv("CK_FORK", "no", 1);
    if (argc < 2) {
        return 2;
    }
    target = argv[1];
    tampered = argc > 2 && strcmp(argv[2], "tampered") == 0;
    keys = argc > 2 && !tampered ? argv[2] : NULL;
    aged = argc > 3 && strcmp(argv[3], "aged") == 0;
    days = argc > 4 && strcmp(argv[3], "days") == 0;
    week = argc > 4 && (days || strcmp(argv[3], "week") == 0) ? strtoul(argv[4], NULL, 10) : 0;
    return writ_unit_run("sample", tests, 1);
}
