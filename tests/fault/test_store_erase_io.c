/* Fails the n-th step of the file system under an erase, n = 1, 2, ... until it is not reached,
 * once and from then on. When the cause has gone, the erase is finished or was never begun: by
 * itself, or by the next start where the ledger can no longer trust its state. */
#include "support/store/contents_kit.h"
#include "support/store/faults.h"
#include "support/unit.h"

#include <stdio.h>

#define CALLS      6
#define TRIALS_MAX 300
#define KEPT_US    (INT64_C(1000000) * 3600 * WRIT_KIT_S) /* longer than any trial lets pass */

typedef struct writ_kit_spec spec;

static void
fill(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_kit_sign_together(kit);
    writ_contents_kit_key(kit);
    kit->options.retry_us = 1000;
    writ_kit_open(kit);
    for (int i = 0; i < CALLS; i++) {
        char argument[16];

        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_contents_kit_run(kit, (spec){.argument = argument}, argument, KEPT_US, NULL);
    }
}

/* Until nothing is under way: reopens a poisoned ledger. */
static void
recover(struct writ_kit *kit)
{
    struct writ_ledger_health health = writ_kit_health(kit);

    while (health.state != WRIT_LEDGER_READY || health.wal_uncut ||
           writ_kit_number(kit, "SELECT count(*) FROM meta WHERE name = 'erasing'") > 0) {
        if (health.state == WRIT_LEDGER_POISONED) {
            writ_kit_close(kit);
            writ_kit_open(kit);
        }
        writ_kit_pass(kit, 61 * WRIT_KIT_S);
        health = writ_kit_health(kit);
    }
}

/* Erases all, and lets time pass: a failing lock may hold the cut of the log up. */
static enum writ_code
erase_meanwhile(struct writ_kit *kit, struct writ_entry_erase *erase)
{
    struct writ_kit_call *call = writ_kit_call(kit, (spec){.argument = "its semaphore"});
    struct writ_entry entry = {.kind = WRIT_ENTRY_ERASE};
    struct writ_entry *entries[] = {&entry};

    entry.erase = (struct writ_entry_erase){.tenant = WRIT_LIT("acme"), .by = WRIT_LIT("tester")};
    entry.done = call->entry.done;
    entry.user = call->entry.user;
    ck_assert_ok(writ_ledger_submit(kit->ledger, entries, 1));
    while (sem_trywait(&call->done) != 0) {
        writ_kit_turn(kit);
        writ_kit_pass(kit, WRIT_KIT_S / 10);
    }
    writ_kit_call_free(call);
    *erase = entry.erase;
    return entry.code;
}

/* False when the fault was not reached. */
static bool
run_trial(const struct writ_vfs_fault *fault, long nth, bool persistent)
{
    struct writ_entry_erase erase = {0};
    struct writ_contents_kit_keys keys;
    struct writ_kit kit;
    enum writ_code code;
    bool reached, erased;

    fill(&kit);
    keys = writ_contents_kit_keys(&kit, "1");
    writ_vfs_arm(fault->step, nth, persistent, fault->action, fault->code);
    code = erase_meanwhile(&kit, &erase);
    reached = writ_vfs_disarm();
    ck_assert_msg(code == WRIT_OK || code == WRIT_E_IO || code == WRIT_E_NOMEM, "%s %ld: %s",
        fault->name, nth, writ_code_name(code));
    if (code == WRIT_OK && !erase.held) {
        ck_assert_msg(
            writ_contents_kit_remaining(&kit, &keys) == 0, "%s %ld: keys", fault->name, nth);
    }
    recover(&kit);
    erased = writ_kit_number(&kit, "SELECT count(*) FROM content") == 0;
    ck_assert_msg(erased || writ_kit_number(&kit, "SELECT count(*) FROM content") == 2 * CALLS,
        "%s %ld: some", fault->name, nth);
    ck_assert_msg(erased || code != WRIT_OK, "%s %ld: lost", fault->name, nth);
    ck_assert_uint_eq(writ_contents_kit_remaining(&kit, &keys) == 0, erased);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 5"), erased);
    writ_kit_close(&kit);
    writ_faults_sound(&kit, fault->name, nth);
    writ_contents_kit_keys_free(&keys);
    writ_kit_wipe(&kit);
    return reached;
}

START_TEST(erase_with_one_failed_step_is_finished_or_not_begun)
{
    writ_faults_try(run_trial, false, TRIALS_MAX);
}
END_TEST

START_TEST(erase_with_failing_steps_is_finished_or_not_begun)
{
    writ_faults_try(run_trial, true, TRIALS_MAX);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {erase_with_one_failed_step_is_finished_or_not_begun,
        erase_with_failing_steps_is_finished_or_not_begun};

    writ_vfs_install();
    return writ_unit_run("store_erase_io", tests, sizeof tests / sizeof tests[0]);
}
