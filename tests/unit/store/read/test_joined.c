/* A ledger from which records were moved to an archive, read with it: calls of several decisions
 * and of several runs are whole. */
#include "support/store/poll.h"
#include "support/unit.h"

#include "store/read/archive.h"
#include "store/read/reader.h"

#include <stdio.h>

#define DAY_US (86400 * WRIT_KIT_S)

struct story {
    uint64_t leaves[32];
    size_t n;
};

static bool
note(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct story *story = ctx;

    (void)kind;
    ck_assert_uint_gt(record.len, 0);
    story->leaves[story->n++] = leaf;
    return true;
}

/* Removes all that is older than a day, which the archive has. */
static void
remove_old(struct writ_kit *kit, const char *folder)
{
    const struct writ_archive archive = {.ledger = kit->path, .folder = folder, .ring = kit->ring};
    struct writ_archive_report report;
    struct writ_entry entry = {.kind = WRIT_ENTRY_REMOVE};

    ck_assert_ok(writ_archive_write(&archive, &report, NULL));
    entry.remove = (struct writ_entry_remove){.before_us = atomic_load(&kit->wall_us) - DAY_US,
        .archived = report.size,
        .root = report.root,
        .by = WRIT_LIT("tester")};
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    ck_assert_uint_gt(entry.remove.removed, 0);
}

/* The leaves of a call, from the ledger alone or with its archive. */
static struct story
story_of(struct writ_kit *kit, const char *folder, const char *id)
{
    const struct writ_joined_order order = {
        .path = kit->path, .folder = folder, .decision_id = writ_view_str(id)};
    struct story story = {.n = 0};
    struct writ_err err = {0};
    writ_auto_reader reader = NULL;
    writ_result result = folder == NULL ? writ_reader_open(kit->path, &reader, &err)
                                        : writ_reader_open_joined(&order, &reader, &err);

    if (writ_is_ok(result)) {
        result = writ_reader_story(reader, writ_view_str(id), note, &story, &err);
    }
    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return story;
}

/* Removes the old records, and reads the calls again. */
static void
check(struct writ_kit *kit, char (*ids)[64], size_t n, size_t records)
{
    struct story before[2];
    char folder[128];

    (void)snprintf(folder, sizeof folder, "%s/log", kit->dir);
    for (size_t i = 0; i < n; i++) {
        before[i] = story_of(kit, NULL, ids[i]);
        ck_assert_uint_eq(before[i].n, records);
    }
    remove_old(kit, folder);
    for (size_t i = 0; i < n; i++) {
        struct story now = story_of(kit, folder, ids[i]);

        ck_assert_uint_eq(now.n, records);
        ck_assert_mem_eq(now.leaves, before[i].leaves, records * sizeof now.leaves[0]);
    }
    writ_unit_remove(folder);
}

START_TEST(approval_and_its_redemption_are_one_call)
{
    struct writ_poll_asking *a;
    char ids[2][64];
    const char *id;
    struct writ_kit kit;

    writ_poll_start(&kit);
    writ_kit_close(&kit);
    kit.options.budget_window_us = 0;
    writ_kit_open(&kit);
    id = writ_poll_opened(&kit, (struct writ_poll_spec){0});
    writ_poll_approve(&kit, id);
    a = writ_poll_redeemed(&kit, (struct writ_poll_spec){0});
    (void)snprintf(ids[0], sizeof ids[0], "%s", id);
    (void)snprintf(
        ids[1], sizeof ids[1], WRIT_VIEW_FMT, WRIT_VIEW_ARG(a->call->decision.decision_id.view));
    ck_assert_int_eq(writ_kit_end(&kit, a->call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(a->call);
    ck_assert_int_eq(writ_kit_seal(&kit, "run", NULL), WRIT_OK);
    writ_kit_pass(&kit, 5 * DAY_US);
    writ_kit_run(&kit, (struct writ_kit_spec){.boundary = "last"});
    check(&kit, ids, 2, 8);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(call_whose_outcome_stayed_has_its_decision_from_the_archive)
{
    struct writ_kit_call *call;
    struct writ_kit kit;
    char ids[1][64];

    writ_kit_init(&kit);
    kit.options.budget_window_us = 0;
    kit.options.boundary_idle_us = 30 * DAY_US;
    writ_kit_open(&kit);
    call = writ_kit_granted(&kit, (struct writ_kit_spec){.boundary = "long"});
    (void)snprintf(
        ids[0], sizeof ids[0], WRIT_VIEW_FMT, WRIT_VIEW_ARG(call->decision.decision_id.view));
    writ_kit_pass(&kit, 5 * DAY_US);
    writ_kit_run(&kit, (struct writ_kit_spec){.boundary = "last"});
    ck_assert_int_eq(writ_kit_end(&kit, call, WRIT_OUTCOME_EXECUTED, NULL), WRIT_OK);
    writ_kit_call_free(call);
    ck_assert_int_eq(writ_kit_seal(&kit, "long", NULL), WRIT_OK);
    check(&kit, ids, 1, 2);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("joined", approval_and_its_redemption_are_one_call,
    call_whose_outcome_stayed_has_its_decision_from_the_archive)
