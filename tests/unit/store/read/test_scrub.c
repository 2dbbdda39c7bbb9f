/* Verification in the background while the ledger is written. It repeats, and an edit that it
 * finds stops the ledger. Run it under tsan too. */
#include "support/store/kit.h"
#include "support/unit.h"

#include <stdio.h>
#include <time.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define PATIENCE_MS 60000

static void
short_rest(void)
{
    const struct timespec ms = {.tv_nsec = 1000000};

    (void)nanosleep(&ms, NULL);
}

static struct writ_ledger_health
health_after(struct writ_kit *kit, uint64_t scrubs)
{
    struct writ_ledger_health health = writ_kit_health(kit);

    for (int i = 0; i < PATIENCE_MS && health.scrubs < scrubs && health.state == WRIT_LEDGER_READY;
         i++) {
        short_rest();
        health = writ_kit_health(kit);
    }
    return health;
}

static void
start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.scrub_us = 1000;
    writ_kit_open(kit);
}

START_TEST(scrub_of_a_sound_ledger_repeats_beside_the_writer)
{
    struct writ_ledger_health health;
    struct writ_kit kit;
    char argument[16];

    start(&kit);
    for (uint64_t i = 0; i < 20; i++) {
        (void)snprintf(argument, sizeof argument, "%d", (int)i);
        writ_kit_run(&kit, (spec){.argument = argument});
    }
    health = health_after(&kit, 3);
    ck_assert_uint_ge(health.scrubs, 3);
    ck_assert_int_eq(health.state, WRIT_LEDGER_READY);
    writ_kit_run(&kit, (spec){.argument = "last"});
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(scrub_that_finds_an_edit_poisons_the_ledger)
{
    static const char *const edits[] = {
        ("UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), 'as the policy', 'as a "
         "policy') "
         "AS BLOB) WHERE leaf = 0"),
        "UPDATE record SET tool = 'other' WHERE leaf = 0",
        "UPDATE head SET note = (SELECT note FROM head WHERE leaf = 1) WHERE leaf = 0",
        "UPDATE meta SET value = '00000000-0000-4000-8000-000000000000' WHERE name = 'ledger'",
        "UPDATE head SET note = zeroblob(17000000) WHERE leaf = 0", /* is not read at all */
    };

    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct writ_ledger_health health;
        struct writ_kit kit;
        call *c;

        start(&kit);
        writ_kit_run(&kit, (spec){.argument = "1"});
        writ_kit_run(&kit, (spec){.argument = "2"});
        writ_kit_sql(&kit, edits[i]);
        health = health_after(&kit, UINT64_MAX);
        ck_assert_int_eq(health.state, WRIT_LEDGER_POISONED);
        ck_assert_int_ne(health.why.text[0], '\0');
        c = writ_kit_call(&kit, (spec){.argument = "3", .route = WRIT_DECISION_ALLOW});
        ck_assert_int_eq(writ_kit_decide(&kit, c), WRIT_E_IO);
        ck_assert(!c->entry.decision.granted);
        writ_kit_call_free(c);
        ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record"), 4);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(scrub_before_its_interval_does_not_begin)
{
    struct writ_kit kit;

    writ_kit_start(&kit); /* a day */
    writ_kit_run(&kit, (spec){.argument = "1"});
    for (int i = 0; i < 50; i++) {
        short_rest();
    }
    ck_assert_uint_eq(writ_kit_health(&kit).scrubs, 0);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("scrub", scrub_of_a_sound_ledger_repeats_beside_the_writer,
    scrub_that_finds_an_edit_poisons_the_ledger, scrub_before_its_interval_does_not_begin)
