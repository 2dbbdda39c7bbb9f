/* Many threads, one writer: a key is granted once, and a budget is never overspent. Run it under
 * tsan too. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/reader.h"
#include "store/read/verify.h"

#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define KEYS    60

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

static struct shared {
    struct writ_kit kit;
    _Atomic int granted[KEYS];
    _Atomic int sold;
    _Atomic bool stop;
} shared;

/* Every thread requests every key. */
static void *
ask_for_all(void *arg)
{
    int offset = *(const int *)arg * 7;

    for (int i = 0; i < KEYS; i++) {
        int key = (i + offset) % KEYS;
        char text[16];
        call *c;

        (void)snprintf(text, sizeof text, "key-%d", key);
        c = writ_kit_call(&shared.kit, (spec){.key = text, .route = WRIT_DECISION_ALLOW});
        if (writ_kit_decide(&shared.kit, c) == WRIT_OK && c->entry.decision.granted) {
            (void)atomic_fetch_add(&shared.granted[key], 1);
            if (writ_kit_end(&shared.kit, c, WRIT_OUTCOME_EXECUTED, NULL) != WRIT_OK) {
                (void)atomic_fetch_add(&shared.granted[key], 100);
            }
        }
        writ_kit_call_free(c);
    }
    return NULL;
}

static void
run_threads(void *(*work)(void *arg))
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    }
}

static bool
read_on(void *ctx, const struct writ_reader_item *item)
{
    (void)ctx;
    return item->leaf > 0;
}

/* Looks at the ledger and its health all the while. */
static void *
look_on(void *arg)
{
    struct writ_reader *reader = NULL;
    struct writ_ledger_health health;

    (void)arg;
    ck_assert_ok(writ_reader_open(shared.kit.path, &reader, NULL));
    while (!atomic_load(&shared.stop)) {
        ck_assert_ok(writ_reader_list(
            reader, &(struct writ_reader_filter){.limit = 20}, read_on, NULL, NULL));
        writ_ledger_health(shared.kit.ledger, &health);
        ck_assert_int_eq(health.state, WRIT_LEDGER_READY);
    }
    writ_reader_close(reader);
    return NULL;
}

START_TEST(key_is_granted_once_under_concurrent_callers)
{
    struct writ_verify_report report;
    pthread_t onlooker;

    writ_kit_start(&shared.kit);
    atomic_store(&shared.stop, false);
    ck_assert_int_eq(pthread_create(&onlooker, NULL, look_on, NULL), 0);
    run_threads(ask_for_all);
    atomic_store(&shared.stop, true);
    ck_assert_int_eq(pthread_join(onlooker, NULL), 0);
    for (int i = 0; i < KEYS; i++) {
        ck_assert_int_eq(atomic_load(&shared.granted[i]), 1);
    }
    writ_kit_close(&shared.kit);
    ck_assert_ok(writ_verify_ledger(shared.kit.path, shared.kit.ring, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.decisions, THREADS * KEYS);
    writ_kit_wipe(&shared.kit);
}
END_TEST

static void *
spend(void *arg)
{
    static const struct writ_reservation budget = {
        .key = {{1}},
        .name = {"calls", 5},
        .window_us = 3600 * WRIT_KIT_S,
        .amount = {.coefficient = 1},
        .limit = {.coefficient = 3, .exponent = 1},
    };
    int number = *(const int *)arg;

    for (int i = 0; i < 30; i++) {
        char text[16];
        call *c;

        (void)snprintf(text, sizeof text, "%d-%d", number, i);
        c = writ_kit_call(&shared.kit, (spec){.argument = text,
                                           .route = WRIT_DECISION_ALLOW,
                                           .reservations = &budget,
                                           .reservations_n = 1});
        if (writ_kit_decide(&shared.kit, c) == WRIT_OK && c->entry.decision.granted) {
            /* every third one did not run */
            if (writ_kit_end(&shared.kit, c,
                    i % 3 == 0 ? WRIT_OUTCOME_BLOCKED : WRIT_OUTCOME_EXECUTED, NULL) == WRIT_OK &&
                i % 3 != 0) {
                (void)atomic_fetch_add(&shared.sold, 1);
            }
        }
        writ_kit_call_free(c);
    }
    return NULL;
}

START_TEST(budget_is_not_overspent_by_concurrent_callers)
{
    writ_kit_start(&shared.kit);
    run_threads(spend);
    ck_assert_int_eq(atomic_load(&shared.sold), 30);
    writ_kit_wipe(&shared.kit);
}
END_TEST

WRIT_UNIT_MAIN("writer", key_is_granted_once_under_concurrent_callers,
    budget_is_not_overspent_by_concurrent_callers)
