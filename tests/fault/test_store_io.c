/* Fails the n-th step of the file system under the ledger, n = 1, 2, ... until it is not reached,
 * once and from then on. Whichever step fails: every granted call is on disk, every acknowledged
 * entry is on disk, and when the cause has gone the ledger recovers, by itself or, where it can no
 * longer trust its state, when it is opened again. */
#include "support/store/faults.h"
#include "support/unit.h"

#include <stdio.h>

#define TRIALS_MAX 2000

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

static int64_t
rows_of(struct writ_kit *kit, const call *c, const char *condition)
{
    char sql[256];

    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM record WHERE decision_id = '%.*s' AND %s",
        WRIT_VIEW_ARG(c->decision.decision_id.view), condition);
    return writ_kit_number(kit, sql);
}

/** The requests made while the fault was armed. */
struct trial {
    const char *name;
    long nth;
    struct writ_kit kit;
    call *before; /* granted before; its outcome meets the fault */
    call *during; /* decided while the fault is there */
    enum writ_code outcome, decision, set, revoked;
    bool kept, poisoned;
};

/* A delegation that is set, or taken back. */
static enum writ_code
delegate(struct writ_kit *kit, const char *id, bool revokes)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_entry entry = {.kind = WRIT_ENTRY_DELEGATE, .arena = arena};
    enum writ_code code;

    if (revokes) {
        entry.kind = WRIT_ENTRY_UNDELEGATE;
        entry.undelegate =
            (struct writ_entry_undelegate){.id = writ_view_str(id), .by = WRIT_LIT("ann")};
    } else {
        entry.delegate.longest_us = INT64_MAX;
        entry.delegate.delegation = (struct writ_delegation){.id = writ_view_str(id),
            .voter = WRIT_LIT("ann"),
            .delegate = WRIT_LIT("zoe"),
            .tenant = WRIT_LIT(""),
            .key = WRIT_LIT(""),
            .signature = WRIT_LIT(""),
            .ledger = WRIT_LIT(""),
            .until_us = WRIT_TIME_MOST_US};
    }
    code = writ_kit_submit(kit, &entry);
    writ_arena_free(arena);
    return code;
}

static void
meet_the_fault(struct trial *t)
{
    struct writ_entry put = {
        .kind = WRIT_ENTRY_SESSION_PUT,
        .session = {.hash = {{1}}, .value = WRIT_LIT("v"), .expires_us = INT64_MAX},
    };
    call *deny = writ_kit_call(&t->kit, (spec){.argument = "no", .route = WRIT_DECISION_DENY});

    t->during = writ_kit_call(&t->kit, (spec){.argument = "x", .route = WRIT_DECISION_ALLOW});
    t->decision = writ_kit_decide(&t->kit, t->during);
    t->outcome = writ_kit_end(&t->kit, t->before, WRIT_OUTCOME_EXECUTED, NULL);
    t->kept = t->before->entry.outcome.kept;
    (void)writ_kit_decide(&t->kit, deny);
    (void)writ_kit_submit(&t->kit, &put);
    (void)writ_kit_seal(&t->kit, "done", NULL);
    t->set = delegate(&t->kit, "new", false);
    t->revoked = delegate(&t->kit, "old", true);
    writ_kit_call_free(deny);
}

static bool
stands(struct writ_kit *kit, const char *id)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_entry entry = {.kind = WRIT_ENTRY_DELEGATIONS, .arena = arena};
    bool found = false;

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    for (size_t i = 0; i < entry.delegations.n; i++) {
        found = found || writ_view_is(entry.delegations.items[i].delegation.id, id);
    }
    writ_arena_free(arena);
    return found;
}

/* What was acknowledged stands, what failed does not; both also after a restart. */
static void
settle_the_delegations(struct trial *t, bool opened_again)
{
    if (t->set == WRIT_OK || !t->poisoned) { /* else it may still be on disk */
        ck_assert_msg(stands(&t->kit, "new") == (t->set == WRIT_OK), "%s %ld: set, %d", t->name,
            t->nth, opened_again);
    }
    if (t->revoked == WRIT_OK || !t->poisoned) {
        ck_assert_msg(stands(&t->kit, "old") == (t->revoked != WRIT_OK), "%s %ld: revoked, %d",
            t->name, t->nth, opened_again);
    }
}

/* The call that met the fault: granted and on disk, or refused and free to be repeated. */
static void
settle_the_decision(struct trial *t)
{
    bool granted = t->decision == WRIT_OK && t->during->entry.decision.granted;

    ck_assert_msg(granted == t->during->entry.decision.granted, "%s %ld", t->name, t->nth);
    if (granted) {
        ck_assert_msg(rows_of(&t->kit, t->during, "kind = 1 AND verdict = 1") == 1,
            "%s %ld: granted and not on disk", t->name, t->nth);
        if (!t->poisoned) {
            ck_assert_int_eq(
                writ_kit_end(&t->kit, t->during, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
        }
        writ_kit_refused(&t->kit, (spec){.argument = "x"},
            t->poisoned ? WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN
                        : WRIT_REASON_DUPLICATE_OUTCOME);
        return;
    }
    ck_assert_msg(t->decision == WRIT_E_IO || t->decision == WRIT_E_NOMEM, "%s %ld: %s", t->name,
        t->nth, writ_code_name(t->decision));
    if (!t->poisoned) { /* after that, a refused call may still be on disk */
        ck_assert_int_eq(rows_of(&t->kit, t->during, "1"), 0);
        writ_kit_run(&t->kit, (spec){.argument = "x"});
    }
}

static void
settle_the_outcome(struct trial *t)
{
    if (t->outcome == WRIT_OK || t->kept) {
        ck_assert_msg(rows_of(&t->kit, t->before, "kind = 2 AND verdict = 1") == 1,
            "%s %ld: the outcome is lost", t->name, t->nth);
    }
    ck_assert_msg(rows_of(&t->kit, t->before, "kind = 2") ==
                      (t->poisoned || t->kept || t->outcome == WRIT_OK),
        "%s %ld: outcomes", t->name, t->nth);
}

/* One trial; false when the fault was not reached. */
static bool
run_trial(const struct writ_vfs_fault *fault, long nth, bool persistent)
{
    struct trial t = {.name = fault->name, .nth = nth};
    struct writ_ledger_health health;
    bool reached;

    writ_kit_init(&t.kit);
    writ_kit_hurry(&t.kit);
    writ_kit_sign_together(&t.kit);
    t.kit.options.busy_us = 2000;
    writ_kit_open(&t.kit);
    t.before = writ_kit_granted(&t.kit, (spec){0});
    writ_kit_run(&t.kit, (spec){.boundary = "done"});
    ck_assert_int_eq(delegate(&t.kit, "old", false), WRIT_OK);

    writ_vfs_arm(fault->step, nth, persistent, fault->action, fault->code);
    meet_the_fault(&t);
    reached = writ_vfs_disarm();

    writ_kit_turn(&t.kit);
    writ_ledger_health(t.kit.ledger, &health);
    t.poisoned = health.state == WRIT_LEDGER_POISONED;
    ck_assert_msg(!t.poisoned || fault->step == WRIT_VFS_SYNC, "%s %ld: poisoned: %s", t.name, nth,
        health.why.text);
    if (t.poisoned) {
        writ_kit_close(&t.kit);
        writ_kit_open(&t.kit);
    }
    writ_kit_run(&t.kit, (spec){.argument = "after"}); /* at once, without a restart */
    settle_the_decision(&t);
    settle_the_outcome(&t);
    settle_the_delegations(&t, false);
    ck_assert_int_eq(writ_kit_health(&t.kit).state, WRIT_LEDGER_READY);
    ck_assert_uint_eq(writ_kit_health(&t.kit).kept_outcomes, 0);
    writ_kit_close(&t.kit);
    writ_faults_sound(&t.kit, t.name, nth);
    writ_kit_open(&t.kit);
    settle_the_delegations(&t, true);
    writ_kit_call_free(t.before);
    writ_kit_call_free(t.during);
    writ_kit_wipe(&t.kit);
    return reached;
}

START_TEST(one_failed_step_fails_its_entries_only)
{
    writ_faults_try(run_trial, false, TRIALS_MAX);
}
END_TEST

START_TEST(lasting_fault_refuses_entries_until_it_ends)
{
    writ_faults_try(run_trial, true, TRIALS_MAX);
}
END_TEST

/* The same while the ledger opens and recovers a call that was in flight. */
static bool
open_trial(const struct writ_vfs_fault *fault, long nth, bool persistent)
{
    struct writ_kit kit;
    struct writ_ledger *opened = NULL;
    struct writ_err err = {0};
    call *c;
    bool reached;

    writ_kit_init(&kit);
    writ_kit_hurry(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.boundary = "done"});
    c = writ_kit_granted(&kit, (spec){0});
    writ_kit_close(&kit);
    kit.options.busy_us = 2000;

    writ_vfs_arm(fault->step, nth, persistent, fault->action, fault->code);
    writ_result result = writ_ledger_open(kit.path, &kit.options, &opened, &err);
    reached = writ_vfs_disarm();
    if (writ_is_ok(result)) {
        kit.ledger = opened;
    } else {
        ck_assert_ptr_null(opened);
        ck_assert_msg(
            result.code == WRIT_E_IO || result.code == WRIT_E_BUSY || result.code == WRIT_E_NOMEM,
            "%s %ld: %s: %s", fault->name, nth, writ_code_name(result.code), err.text);
        writ_kit_open(&kit);
    }
    ck_assert_int_eq(rows_of(&kit, c, "kind = 2 AND verdict = 0"), 1);
    if (writ_kit_health(&kit).state != WRIT_LEDGER_POISONED) {
        writ_kit_refused(&kit, (spec){0}, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN);
    }
    writ_kit_close(&kit);
    writ_faults_sound(&kit, fault->name, nth);
    writ_kit_call_free(c);
    writ_kit_wipe(&kit);
    return reached;
}

START_TEST(open_with_a_failed_step_recovers_or_fails)
{
    writ_faults_try(open_trial, false, TRIALS_MAX);
    writ_faults_try(open_trial, true, TRIALS_MAX);
}
END_TEST

int
main(void)
{
    const TTest *const tests[] = {one_failed_step_fails_its_entries_only,
        lasting_fault_refuses_entries_until_it_ends, open_with_a_failed_step_recovers_or_fails};

    writ_vfs_install();
    return writ_unit_run("store_io", tests, sizeof tests / sizeof tests[0]);
}
