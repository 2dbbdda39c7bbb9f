/* Claims on the disk, through the interface of the ledger, with segments of a few claims. */
#include "support/kit.h"
#include "support/unit.h"

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
    kit->options.boundary_idle_us = INT64_C(3000) * 86400 * WRIT_KIT_S;
    writ_kit_open(kit);
}

/* Makes the writer do what there is to do. */
static void
settle(struct writ_kit *kit)
{
    for (int i = 0; i < 10; i++) {
        writ_kit_pass(kit, 2 * WRIT_KIT_S);
        writ_kit_run(kit, (spec){.boundary = "other", .duplicates = WRIT_DUPLICATES_ALLOW});
    }
}

/* Asks again: what stands in the way is told. */
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

START_TEST(a_key_on_the_disk_is_taken_as_one_in_memory_is)
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
    /* and over a restart, which makes the segments anew */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    ck_assert_uint_eq(writ_kit_health(&kit).claims, CALLS);
    /* also when somebody emptied the table meanwhile: nothing in it is believed */
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "DELETE FROM segment");
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(segments_are_dropped_when_nothing_in_them_stands)
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
    settle(&kit);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM segment"), 0);
    writ_kit_run(&kit, (spec){.key = key_of(0), .boundary = "later"});
    writ_kit_wipe(&kit);
}
END_TEST

/* The clock shows another time for a while, in which nothing is recorded. */
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
    for (int i = 0; i < 10; i++) { /* the writer does what is due */
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

START_TEST(a_clock_that_jumps_ahead_and_back_frees_no_key)
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
        strstr(writ_kit_health(&kit).why.text, "changed behind the gateway's back: block"));
    /* the records are as they were: opened anew, it goes on */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    all_refused(&kit, leaves);
    writ_kit_wipe(&kit);
}

START_TEST(a_block_that_was_changed_poisons_the_ledger_and_frees_no_key)
{
    poisons("DELETE FROM segment");
    poisons("UPDATE segment SET bytes = zeroblob(length(bytes))");
    poisons("UPDATE segment SET bytes = x''");
}
END_TEST

START_TEST(a_clock_that_jumps_ahead_and_back_frees_no_budget)
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

START_TEST(a_merge_that_finds_a_changed_block_says_so)
{
    uint64_t leaves[CALLS];
    struct writ_kit kit;
    struct writ_ledger_health health;

    start(&kit);
    run_all(&kit, leaves);
    settle(&kit);
    writ_kit_sql(&kit, "UPDATE segment SET bytes = x''");
    writ_kit_pass(&kit, 2 * kit.options.claim_kept_us); /* its run is open: they are made anew */
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
    ck_assert_msg(strstr(health.why.text, "changed behind the gateway's back: block") != NULL, "%s",
        health.why.text);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- against a model ---- */

#define KEYS   12
#define STEPS  400
#define KEPT_S 10

struct model {
    int64_t made_us[KEYS]; /* 0: free */
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
    return m->made_us[key] != 0 &&
           (m->run_of[key] == m->run || m->made_us[key] + KEPT_S * WRIT_KIT_S > kit->wall_us);
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
        m->made_us[key] = sent ? kit->wall_us : 0;
        m->run_of[key] = m->run;
    }
    writ_kit_call_free(c);
}

START_TEST(whatever_happens_a_key_is_taken_as_long_as_it_should_be)
{
    struct model m = {.run = 1};
    uint32_t state = 14;
    struct writ_kit kit;

    writ_kit_init(&kit);
    kit.options.claim_kept_us = kit.options.window_kept_us = KEPT_S * WRIT_KIT_S;
    kit.options.boundary_idle_us = INT64_C(3000) * 86400 * WRIT_KIT_S;
    writ_kit_open(&kit);
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
            writ_kit_close(&kit);
            writ_kit_open(&kit);
        }
    }
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("once", a_key_on_the_disk_is_taken_as_one_in_memory_is,
    segments_are_dropped_when_nothing_in_them_stands,
    a_block_that_was_changed_poisons_the_ledger_and_frees_no_key,
    a_clock_that_jumps_ahead_and_back_frees_no_key,
    a_clock_that_jumps_ahead_and_back_frees_no_budget, a_merge_that_finds_a_changed_block_says_so,
    whatever_happens_a_key_is_taken_as_long_as_it_should_be)
