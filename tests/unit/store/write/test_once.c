/* Claims on disk, through the interface of the ledger, with segments of a few claims. A key stays
 * taken as long as its record says, whatever the clock, a restart or an edit does. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <stdio.h>
#include <string.h>

#define CALLS 100

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

static const char *
key_of(int number)
{
    static char keys[CALLS][8];

    (void)snprintf(keys[number], sizeof keys[number], "k%d", number);
    return keys[number];
}

static void
start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.segment_claims = 3;
    kit->options.segment_merge = 3;
    kit->options.manifest_records = 50;
    kit->options.boundary_idle_us = INT64_C(3000) * 86400 * WRIT_KIT_S;
    writ_kit_open(kit);
}

/* Runs the writer's due work. */
static void
settle(struct writ_kit *kit)
{
    for (int i = 0; i < 10; i++) {
        writ_kit_pass(kit, 2 * WRIT_KIT_S);
        writ_kit_run(kit, (spec){.boundary = "other", .duplicates = WRIT_DUPLICATES_ALLOW});
    }
}

/* Requests the call again and gives the reason of the refusal. */
static struct writ_prior
refused(struct writ_kit *kit, spec what, enum writ_reason reason)
{
    struct writ_prior prior;
    call *c;

    what.route = WRIT_DECISION_ALLOW;
    c = writ_kit_call(kit, what);
    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    ck_assert(!c->entry.decision.granted);
    ck_assert_int_eq(c->entry.decision.refused, reason);
    prior = c->entry.decision.prior;
    writ_kit_call_free(c);
    return prior;
}

static void
all_refused(struct writ_kit *kit, const uint64_t *leaves)
{
    for (int i = 0; i < CALLS; i++) {
        struct writ_prior prior = refused(
            kit, (spec){.key = key_of(i), .boundary = "later"}, WRIT_REASON_DUPLICATE_OUTCOME);

        ck_assert(prior.known && !prior.in_flight);
        ck_assert_uint_eq(prior.leaf, leaves[i]);
        ck_assert_int_eq(prior.outcome, i % 2 == 0 ? WRIT_OUTCOME_EXECUTED : WRIT_OUTCOME_TIMEOUT);
    }
}

static void
run_all(struct writ_kit *kit, uint64_t *leaves)
{
    for (int i = 0; i < CALLS; i++) {
        call *c = writ_kit_granted(kit, (spec){.key = key_of(i)});

        leaves[i] = c->leaf;
        ck_assert_int_eq(
            writ_kit_end(kit, c, i % 2 == 0 ? WRIT_OUTCOME_EXECUTED : WRIT_OUTCOME_TIMEOUT, NULL),
            WRIT_OK);
        writ_kit_call_free(c);
    }
}

START_TEST(grant_of_a_key_on_disk_is_a_duplicate)
{
    uint64_t leaves[CALLS];
    struct writ_kit kit;

    start(&kit);
    run_all(&kit, leaves);
    settle(&kit);
    ck_assert_int_ge(
        writ_kit_number(&kit, "SELECT sum(length(bytes)) / 128 FROM segment"), CALLS - 3);
    ck_assert_int_lt(writ_kit_number(&kit, "SELECT count(DISTINCT id >> 24) FROM segment"), 16);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, CALLS);
    all_refused(&kit, leaves);
    (void)refused(
        &kit, (spec){.key = key_of(0), .argument = "other"}, WRIT_REASON_IDEMPOTENCY_KEY_REUSE);
    /* and over a restart, which makes the segments again */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, CALLS);
    /* also when the table was emptied meanwhile: its content is not trusted */
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "DELETE FROM segment");
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(segments_without_live_claims_are_dropped)
{
    uint64_t leaves[CALLS];
    struct writ_kit kit;

    start(&kit);
    run_all(&kit, leaves);
    settle(&kit);
    /* their time has passed, and their run is open */
    writ_kit_pass(&kit, 2 * kit.options.claim_kept_us);
    settle(&kit);
    all_refused(&kit, leaves);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_kit_pass(&kit, 2 * kit.options.claim_kept_us);
    for (int i = 0; i < 20 && writ_kit_health(&kit).claims > 0; i++) {
        settle(&kit);
    }
    ck_assert_uint_eq(writ_kit_health(&kit).claims, 0);
    for (int i = 0; i < 5; i++) { /* until a new manifest omits them */
        settle(&kit);
    }
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM segment WHERE id < 1 << 62"), 0);
    writ_kit_run(&kit, (spec){.key = key_of(0), .boundary = "later"});
    writ_kit_wipe(&kit);
}
END_TEST

/* The clock shows another time for a while, without a record in it. */
static void
jump(struct writ_kit *kit, int64_t by_us, bool closed)
{
    if (closed) {
        writ_kit_close(kit);
    }
    atomic_fetch_add(&kit->wall_us, by_us);
    if (closed) {
        writ_kit_open(kit);
    }
    for (int i = 0; i < 10; i++) { /* the writer runs its due work */
        atomic_fetch_add(&kit->mono_us, 2 * WRIT_KIT_S);
        writ_kit_turn(kit);
    }
    atomic_fetch_add(&kit->wall_us, -by_us);
}

static void
frees_nothing(int calls, bool closed)
{
    struct writ_kit kit;

    start(&kit);
    for (int i = 0; i < calls; i++) {
        writ_kit_run(&kit, (spec){.key = key_of(i)});
    }
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    jump(&kit, 2 * kit.options.claim_kept_us, closed);
    for (int i = 0; i < calls; i++) {
        (void)refused(
            &kit, (spec){.key = key_of(i), .boundary = "later"}, WRIT_REASON_DUPLICATE_OUTCOME);
    }
    writ_kit_wipe(&kit);
}

START_TEST(clock_jump_ahead_and_back_frees_no_key)
{
    frees_nothing(2, false); /* in memory */
    frees_nothing(2, true);
    frees_nothing(CALLS, false); /* on the disk */
    frees_nothing(CALLS, true);
}
END_TEST

static void
poisons(const char *sql)
{
    uint64_t leaves[CALLS];
    struct writ_kit kit;
    call *c;

    start(&kit);
    run_all(&kit, leaves);
    settle(&kit);
    writ_kit_sql(&kit, sql);
    c = writ_kit_call(&kit, (spec){.key = key_of(1), .route = WRIT_DECISION_ALLOW});
    ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_E_IO);
    ck_assert(!c->entry.decision.granted);
    writ_kit_call_free(c);
    ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_POISONED);
    ck_assert_ptr_nonnull(
        strstr(writ_kit_health(&kit).why.text, "another program changed the ledger: block"));
    ck_assert_ptr_nonnull(strstr(writ_kit_health(&kit).why.text, "writ ledger rebuild"));
    /* the records are unchanged: a start reads them and continues */
    writ_kit_forget(&kit);
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    writ_kit_wipe(&kit);
}

START_TEST(changed_block_poisons_the_ledger_and_frees_no_key)
{
    poisons("DELETE FROM segment");
    poisons("UPDATE segment SET bytes = zeroblob(length(bytes))");
    poisons("UPDATE segment SET bytes = x''");
}
END_TEST

START_TEST(clock_jump_ahead_and_back_frees_no_budget)
{
    struct writ_reservation hourly = writ_kit_budget();
    spec what = {.reservations = &hourly, .reservations_n = 1, .duplicates = WRIT_DUPLICATES_ALLOW};

    for (int closed = 0; closed < 2; closed++) {
        struct writ_kit kit;

        start(&kit);
        for (int i = 0; i < 9; i++) {
            writ_kit_run(&kit, what);
        }
        atomic_fetch_add(&kit.mono_us, 120 * WRIT_KIT_S); /* looked at again */
        jump(&kit, 7200 * WRIT_KIT_S, closed == 1);
        (void)refused(&kit, what, WRIT_REASON_BUDGET_EXCEEDED);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(merge_of_a_changed_block_reports_it)
{
    uint64_t leaves[CALLS];
    struct writ_kit kit;
    struct writ_ledger_health health;

    start(&kit);
    run_all(&kit, leaves);
    settle(&kit);
    writ_kit_sql(&kit, "UPDATE segment SET bytes = x''");
    writ_kit_pass(&kit, 2 * kit.options.claim_kept_us); /* its run is open: they are made again */
    for (int i = 0; i < 4; i++) { /* the first of them finds it, and the others come after */
        call *c = writ_kit_call(&kit, (spec){.boundary = "later",
                                          .route = WRIT_DECISION_ALLOW,
                                          .duplicates = WRIT_DUPLICATES_ALLOW});

        (void)writ_kit_decide(&kit, c);
        ck_assert(i == 0 || !c->entry.decision.granted);
        writ_kit_call_free(c);
    }
    health = writ_kit_health(&kit);
    ck_assert_int_eq(health.state, WRIT_LEDGER_POISONED);
    ck_assert_msg(strstr(health.why.text, "another program changed the ledger: block") != NULL,
        "%s", health.why.text);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- options that change ---- */

#define HOUR_US   (3600 * WRIT_KIT_S)
#define MINUTE_US (60 * WRIT_KIT_S)

/* Opens it again with claims that are kept for so long. */
static void
reopen(struct writ_kit *kit, int64_t claim_kept_us, int64_t window_kept_us)
{
    writ_kit_close(kit);
    kit->options.claim_kept_us = claim_kept_us;
    kit->options.window_kept_us = window_kept_us;
    writ_kit_open(kit);
}

static int64_t
facts(struct writ_kit *kit)
{
    return writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 5");
}

static void
verified(struct writ_kit *kit, bool sound)
{
    struct writ_verify_report report = {0};

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg((report.problems == 0) == sound, "%s", report.list[0].what);
}

static void
start_keeping(struct writ_kit *kit, int64_t claim_kept_us, int64_t window_kept_us)
{
    writ_kit_init(kit);
    kit->options.boundary_idle_us = INT64_C(3000) * 86400 * WRIT_KIT_S;
    kit->options.claim_kept_us = claim_kept_us;
    kit->options.window_kept_us = window_kept_us;
    writ_kit_open(kit);
}

START_TEST(open_with_a_shorter_time_keeps_claims_as_long_as_their_records_say)
{
    const spec again = {.key = "k", .boundary = "later"};
    struct writ_kit kit;

    start_keeping(&kit, 24 * HOUR_US, HOUR_US);
    writ_kit_run(&kit, (spec){.key = "k"});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    ck_assert_int_eq(facts(&kit), 0); /* the time that holds unless a fact says another one */
    for (int i = 1; i <= 11; i++) {   /* the last one 22 hours later */
        writ_kit_pass(&kit, 2 * HOUR_US);
        writ_kit_run(&kit, (spec){.key = key_of(i), .boundary = "between"});
        reopen(&kit, 10 * MINUTE_US, MINUTE_US);
        (void)refused(&kit, again, WRIT_REASON_DUPLICATE_OUTCOME);
        ck_assert_int_eq(facts(&kit), 1);
    }
    ck_assert_int_eq(writ_kit_seal(&kit, "between", NULL), WRIT_OK);
    writ_kit_pass(&kit, 3 * HOUR_US);
    reopen(&kit, 10 * MINUTE_US, MINUTE_US);
    writ_kit_run(&kit, again);
    writ_kit_run(&kit, (spec){.key = key_of(2), .boundary = "later"}); /* claimed for 10 minutes */
    verified(&kit, true);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_with_a_shorter_window_keeps_claims_as_long_as_their_records_say)
{
    const spec next = {.boundary = "w2", .previous = "w1", .previous_since_us = 1};
    struct writ_kit kit;

    start_keeping(&kit, HOUR_US, 48 * HOUR_US);
    writ_kit_run(&kit, (spec){.boundary = "w1"});
    ck_assert_int_eq(writ_kit_seal(&kit, "w1", NULL), WRIT_OK);
    for (int i = 0; i < 2; i++) {
        writ_kit_pass(&kit, 20 * HOUR_US);
        writ_kit_run(&kit, (spec){.key = key_of(i), .boundary = "between"});
        reopen(&kit, HOUR_US, MINUTE_US);
        (void)refused(&kit, next, WRIT_REASON_DUPLICATE_OUTCOME);
    }
    verified(&kit, true);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_with_a_longer_time_changes_no_claim_that_was_made)
{
    struct writ_kit kit;

    start_keeping(&kit, 10 * MINUTE_US, 10 * MINUTE_US);
    writ_kit_run(&kit, (spec){.key = "short"});
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    reopen(&kit, 240 * HOUR_US, MINUTE_US);
    (void)refused(&kit, (spec){.key = "short", .boundary = "b"}, WRIT_REASON_DUPLICATE_OUTCOME);
    writ_kit_run(&kit, (spec){.key = "long", .boundary = "b"});
    ck_assert_int_eq(writ_kit_seal(&kit, "b", NULL), WRIT_OK);
    writ_kit_pass(&kit, 11 * MINUTE_US);
    writ_kit_run(&kit, (spec){.key = "short", .boundary = "c"});
    ck_assert_int_eq(writ_kit_seal(&kit, "c", NULL), WRIT_OK);
    writ_kit_pass(&kit, 200 * HOUR_US);
    writ_kit_run(&kit, (spec){.key = "other", .boundary = "d"});
    reopen(&kit, 10 * MINUTE_US, MINUTE_US); /* longer than a day, and than what holds now */
    (void)refused(&kit, (spec){.key = "long", .boundary = "d"}, WRIT_REASON_DUPLICATE_OUTCOME);
    reopen(&kit, 20 * MINUTE_US, MINUTE_US);
    (void)refused(&kit, (spec){.key = "long", .boundary = "d"}, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert_int_eq(facts(&kit), 4);
    verified(&kit, true);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(resume_with_a_shorter_time_doubts_keys_for_the_longer_one)
{
    struct writ_kit kit;

    start_keeping(&kit, 24 * HOUR_US, HOUR_US);
    writ_kit_run(&kit, (spec){.key = "k"});
    kit.options.resume = true;
    reopen(&kit, 10 * MINUTE_US, MINUTE_US);
    kit.options.resume = false;
    for (int i = 0; i < 2; i++) {
        reopen(&kit, 10 * MINUTE_US, MINUTE_US);
        writ_kit_pass(&kit, 10 * HOUR_US);
        writ_kit_refused(&kit, (spec){.key = "lost", .boundary = "b"}, WRIT_REASON_LEDGER_RESUMED);
    }
    writ_kit_pass(&kit, 5 * HOUR_US);
    writ_kit_run(&kit, (spec){.key = "lost", .boundary = "b"});
    writ_kit_wipe(&kit);
}
END_TEST

static void
does_not_open(struct writ_kit *kit, const char *word)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_ledger_open(kit->path, &kit->options, &ledger, &err), WRIT_E_MISMATCH);
    ck_assert_msg(strstr(err.text, word) != NULL, "%s", err.text);
    verified(kit, false);
}

/* The fact is older than the records that a start reads by the time that it does not say. */
START_TEST(changed_fact_of_a_longer_time_is_found)
{
    static const struct {
        const char *sql, *word;
    } changes[] = {
        {"UPDATE body SET bytes = CAST(replace(bytes, '864000}', '864}') AS BLOB)", "signed"},
        {"UPDATE body SET bytes = CAST(replace(bytes, '\"kept\"', '\"released\"') AS BLOB)",
            "signed"},
        {"UPDATE record SET leaf = -1 WHERE kind = 5", "cut off"},
        {"DELETE FROM record WHERE kind = 5", "cut off"},
        {"UPDATE record SET kind = 2 WHERE kind = 5", "longer than"},
        {"DELETE FROM body WHERE leaf = 0", "longer than"},
        {"UPDATE head SET nodes = zeroblob(length(nodes)) WHERE leaf = 1", "signed"},
    };

    for (size_t i = 0; i < 2 * sizeof changes / sizeof changes[0]; i++) {
        bool reread = i % 2 == 0;
        struct writ_kit kit;

        start_keeping(&kit, 240 * HOUR_US, HOUR_US);
        for (int run = 0; run < 4; run++) {
            writ_kit_run(&kit, (spec){.key = key_of(run), .boundary = key_of(run)});
            ck_assert_int_eq(writ_kit_seal(&kit, key_of(run), NULL), WRIT_OK);
            writ_kit_pass(&kit, 20 * HOUR_US);
        }
        writ_kit_close(&kit);
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT leaf FROM record WHERE kind = 5"), 0);
        if (reread) {
            writ_kit_forget(&kit);
        }
        kit.options.claim_kept_us = HOUR_US;
        writ_kit_sql(&kit, changes[i / 2].sql);
        does_not_open(&kit, reread ? changes[i / 2].word : "");
        writ_kit_wipe(&kit);
    }
}
END_TEST

/* ---- against a model ---- */

#define KEYS  12
#define STEPS 400

static const int64_t kept_s[] = {4, 10, 40}; /* no multiple of what passes at once */

struct model {
    int64_t until_us[KEYS]; /* 0: free */
    int run_of[KEYS];
    int run;
};

static uint32_t
roll(uint32_t *state, uint32_t sides)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % sides;
}

static const char *
run_name(int run)
{
    static char name[16];

    (void)snprintf(name, sizeof name, "run-%d", run);
    return name;
}

static bool
stands(const struct writ_kit *kit, const struct model *m, int key)
{
    return m->until_us[key] != 0 && (m->run_of[key] == m->run || m->until_us[key] > kit->wall_us);
}

static void
call_by_model(struct writ_kit *kit, struct model *m, int key, bool sent)
{
    call *c = writ_kit_call(kit,
        (spec){.key = key_of(key), .boundary = run_name(m->run), .route = WRIT_DECISION_ALLOW});
    bool taken = stands(kit, m, key);

    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    ck_assert_msg(c->entry.decision.granted == !taken, "key %d", key);
    if (!taken) {
        ck_assert_int_eq(writ_kit_end(kit, c, sent ? WRIT_OUTCOME_EXECUTED : WRIT_OUTCOME_ERROR,
                             sent ? NULL : WRIT_OUTCOME_NOT_SENT),
            WRIT_OK);
        m->until_us[key] = sent ? kit->wall_us + kit->options.claim_kept_us : 0;
        m->run_of[key] = m->run;
    }
    writ_kit_call_free(c);
}

/* Another start: with the manifest, or out of the records, at random. */
static void
restart(struct writ_kit *kit, uint32_t *state)
{
    int64_t us = kept_s[roll(state, 3)] * WRIT_KIT_S;

    if (roll(state, 2) == 0) {
        writ_kit_forget(kit);
    }
    reopen(kit, us, us);
}

static void
run_model(uint32_t state, bool hurries)
{
    struct model m = {.run = 1};
    struct writ_kit kit;

    writ_kit_init(&kit);
    if (hurries) {
        writ_kit_hurry(&kit);
    }
    kit.options.claim_kept_us = kit.options.window_kept_us = 10 * WRIT_KIT_S;
    kit.options.boundary_idle_us = INT64_C(3000) * 86400 * WRIT_KIT_S;
    writ_kit_open(&kit);
    writ_kit_pass(&kit, 48 * HOUR_US); /* every claim of the day before has expired */
    for (int i = 0; i < STEPS; i++) {
        uint32_t what = roll(&state, 20);

        if (what < 14) {
            call_by_model(&kit, &m, (int)roll(&state, KEYS), what < 11);
        } else if (what < 17) {
            writ_kit_pass(&kit, 7 * WRIT_KIT_S / 2);
        } else if (what == 17) {
            (void)writ_kit_seal(&kit, run_name(m.run), NULL); /* it may have no record yet */
            m.run++;
        } else if (what == 18) {
            writ_kit_turn(&kit);
        } else {
            restart(&kit, &state);
        }
    }
    writ_kit_wipe(&kit);
}

START_TEST(random_history_keeps_every_key_for_its_time)
{
    for (uint32_t seed = 14; seed < 18; seed++) {
        run_model(seed, false);
        run_model(seed, true);
    }
}
END_TEST

WRIT_UNIT_MAIN("once", grant_of_a_key_on_disk_is_a_duplicate,
    segments_without_live_claims_are_dropped, changed_block_poisons_the_ledger_and_frees_no_key,
    clock_jump_ahead_and_back_frees_no_key, clock_jump_ahead_and_back_frees_no_budget,
    merge_of_a_changed_block_reports_it,
    open_with_a_shorter_time_keeps_claims_as_long_as_their_records_say,
    open_with_a_shorter_window_keeps_claims_as_long_as_their_records_say,
    open_with_a_longer_time_changes_no_claim_that_was_made,
    resume_with_a_shorter_time_doubts_keys_for_the_longer_one,
    changed_fact_of_a_longer_time_is_found, random_history_keeps_every_key_for_its_time)
