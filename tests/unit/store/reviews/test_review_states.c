/* Every event of review.tbl.h in every state, on a real review in a real ledger. A row of the
 * table happens, is on disk and is there after a restart; everything else is refused and changes
 * nothing. */
#include "support/store/poll.h"
#include "support/unit.h"

typedef struct writ_poll_spec spec;

#define HOUR_US (60 * WRIT_POLL_MINUTE_US)

/* Brings a new review into a state; gives its id. The table's own moves are the way there. */
static const char *
in_state(struct writ_kit *kit, enum writ_review_state state)
{
    static const enum writ_review_event ends[WRIT_REVIEW_STATE_COUNT] = {
        [WRIT_REVIEW_WITHDRAWN] = WRIT_REVIEW_DO_WITHDRAW,
        [WRIT_REVIEW_CANCELLED] = WRIT_REVIEW_DO_CANCEL,
        [WRIT_REVIEW_OUTDATED] = WRIT_REVIEW_DO_OUTDATE,
        [WRIT_REVIEW_DRIFTED] = WRIT_REVIEW_DO_DRIFT,
    };
    const char *id =
        writ_poll_opened(kit, (spec){.quorum = "3", .plugin = state == WRIT_REVIEW_FAILED});

    switch (state) {
    case WRIT_REVIEW_APPROVED:
    case WRIT_REVIEW_REDEEMED:
    case WRIT_REVIEW_LAPSED:
        writ_poll_vote(kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
        writ_poll_vote(kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
        writ_poll_vote(kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
        break;
    case WRIT_REVIEW_REJECTED:
        writ_poll_vote(kit, id, "ann", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
        writ_poll_vote(kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
        writ_poll_vote(kit, id, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
        break;
    case WRIT_REVIEW_REVISED:
        writ_poll_vote(kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
        writ_poll_vote(kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
        writ_poll_vote(kit, id, "eve", WRIT_REVIEW_MODIFY, WRIT_REVIEW_REVISED);
        break;
    case WRIT_REVIEW_WITHDRAWN:
    case WRIT_REVIEW_CANCELLED:
    case WRIT_REVIEW_OUTDATED:
    case WRIT_REVIEW_DRIFTED:
        ck_assert_int_eq(writ_poll_happens(kit, id, ends[state]), WRIT_REASON_NONE);
        break;
    case WRIT_REVIEW_FAILED:
        ck_assert_int_eq(writ_poll_counted(kit, id, WRIT_REVIEW_DO_FAIL, 1), WRIT_REASON_NONE);
        break;
    case WRIT_REVIEW_ABSENT:
    case WRIT_REVIEW_OPEN:
    case WRIT_REVIEW_EXPIRED:
    case WRIT_REVIEW_STATE_COUNT:
        break;
    }
    if (state == WRIT_REVIEW_REDEEMED) {
        writ_kit_call_free(writ_poll_redeemed(kit, (spec){.quorum = "3"})->call);
    }
    if (state == WRIT_REVIEW_EXPIRED || state == WRIT_REVIEW_LAPSED) {
        writ_kit_pass(kit, 15 * WRIT_POLL_MINUTE_US);
        writ_kit_turn(kit);
    }
    return id;
}

/* Performs an event as it happens in use; true when it was accepted. */
static bool
does(struct writ_kit *kit, const char *id, enum writ_review_event event)
{
    uint64_t before = (uint64_t)writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 4");
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    enum writ_review_state state;
    struct writ_review_told now;
    struct writ_poll_asking *a;
    bool taken = false;

    switch (event) {
    case WRIT_REVIEW_DO_VOTE:
        now = writ_poll_look(kit, id, arena);
        taken = writ_poll_vote_as(kit, id, "ann", now.digest, WRIT_REVIEW_MODIFY, &state) ==
                WRIT_REASON_NONE;
        break;
    case WRIT_REVIEW_DO_JOIN:
    case WRIT_REVIEW_DO_REDEEM:
        a = writ_poll_asked(kit, (spec){.continuation = id, .quorum = "3"});
        taken = event == WRIT_REVIEW_DO_REDEEM
                    ? a->call->entry.decision.granted
                    : a->ask.state == WRIT_REVIEW_OPEN && writ_view_is(a->ask.id, id);
        writ_kit_call_free(a->call);
        break;
    case WRIT_REVIEW_DO_WITHDRAW:
    case WRIT_REVIEW_DO_CANCEL:
    case WRIT_REVIEW_DO_OUTDATE:
    case WRIT_REVIEW_DO_DRIFT:
        taken = writ_poll_happens(kit, id, event) == WRIT_REASON_NONE;
        break;
    case WRIT_REVIEW_DO_EXPIRE:
        writ_kit_pass(kit, 15 * WRIT_POLL_MINUTE_US);
        writ_kit_turn(kit);
        taken =
            (uint64_t)writ_kit_number(kit, "SELECT count(*) FROM record WHERE kind = 4") > before;
        break;
    case WRIT_REVIEW_DO_OPEN:   /* only a call opens a review, under its own id */
    case WRIT_REVIEW_DO_ACCEPT: /* only the writer's own counting brings these */
    case WRIT_REVIEW_DO_REJECT:
    case WRIT_REVIEW_DO_REVISE:
    case WRIT_REVIEW_DO_FAIL:
    case WRIT_REVIEW_DO_REVOKE:
        taken = writ_poll_happens(kit, id, event) == WRIT_REASON_NONE;
        break;
    case WRIT_REVIEW_EVENT_COUNT:
        break;
    }
    writ_arena_free(arena);
    return taken;
}

static bool
is_the_writers_own(enum writ_review_event event)
{
    return event == WRIT_REVIEW_DO_ACCEPT || event == WRIT_REVIEW_DO_REJECT ||
           event == WRIT_REVIEW_DO_REVISE || event == WRIT_REVIEW_DO_FAIL ||
           event == WRIT_REVIEW_DO_REVOKE;
}

static enum writ_review_state
state_of(struct writ_kit *kit, const char *id)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    enum writ_review_state state = writ_poll_look(kit, id, arena).state;

    writ_arena_free(arena);
    return state;
}

static void
try(enum writ_review_state state, enum writ_review_event event, bool restart)
{
    enum writ_review_state want = state;
    bool moves = !is_the_writers_own(event) && writ_review_move(state, event, &want);
    struct writ_kit kit;
    const char *id;
    int64_t records;

    if (state == WRIT_REVIEW_APPROVED && event == WRIT_REVIEW_DO_JOIN) {
        return; /* a request for an approved call redeems it */
    }
    writ_poll_start(&kit);
    id = in_state(&kit, state);
    if (restart) {
        writ_kit_close(&kit);
        writ_kit_open(&kit);
    }
    ck_assert_int_eq(state_of(&kit, id), state);
    records = writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4");
    ck_assert_msg(does(&kit, id, event) == moves, WRIT_VIEW_FMT " in " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_review_event_name(event)), WRIT_VIEW_ARG(writ_review_state_name(state)));
    ck_assert_int_eq(state_of(&kit, id), want);
    if (!moves) { /* no part of it is on disk either */
        ck_assert_int_eq(
            writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), records);
    }
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(state_of(&kit, id), want);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}

START_TEST(each_event_in_each_state_follows_the_table)
{
    for (int state = WRIT_REVIEW_OPEN; state < WRIT_REVIEW_STATE_COUNT; state++) {
        for (int event = 0; event < WRIT_REVIEW_EVENT_COUNT; event++) {
            try((enum writ_review_state)state, (enum writ_review_event)event, false);
        }
    }
}
END_TEST

START_TEST(each_event_after_a_restart_follows_the_table)
{
    for (int state = WRIT_REVIEW_OPEN; state < WRIT_REVIEW_STATE_COUNT; state++) {
        for (int event = 0; event < WRIT_REVIEW_EVENT_COUNT; event++) {
            try((enum writ_review_state)state, (enum writ_review_event)event, true);
        }
    }
}
END_TEST

START_TEST(each_event_on_an_unknown_review_changes_nothing)
{
    struct writ_kit kit;

    writ_poll_start(&kit);
    for (int event = 0; event < WRIT_REVIEW_EVENT_COUNT; event++) {
        ck_assert_int_eq(writ_poll_happens(&kit, "none", (enum writ_review_event)event),
            WRIT_REASON_REVIEW_UNKNOWN);
    }
    writ_poll_told(&kit, (spec){.continuation = "none"}, WRIT_REASON_CONTINUATION_MISMATCH);
    ck_assert_int_eq(writ_kit_number(&kit, "SELECT count(*) FROM record WHERE kind = 4"), 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- counts of a plug-in */

START_TEST(count_of_a_plugin_is_taken_for_the_votes_that_it_counted)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.plugin = true});
    writ_poll_rank(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_rank(&kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    /* all three agree, but only the plug-in says so */
    writ_poll_rank(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    ck_assert_int_eq(
        writ_poll_counted(&kit, id, WRIT_REVIEW_DO_ACCEPT, 3), WRIT_REASON_REVIEW_MISMATCH);
    writ_poll_rank(&kit, id, "eve", WRIT_REVIEW_REJECT, WRIT_REVIEW_OPEN);
    ck_assert_int_eq(
        writ_poll_counted(&kit, id, WRIT_REVIEW_DO_ACCEPT, 4), WRIT_REASON_REVIEW_MISMATCH);
    ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_OPEN);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_int_eq(writ_poll_counted(&kit, id, WRIT_REVIEW_DO_ACCEPT, 5), WRIT_REASON_NONE);
    ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_APPROVED);
    ck_assert_int_eq(
        writ_poll_counted(&kit, id, WRIT_REVIEW_DO_REJECT, 6), WRIT_REASON_REVIEW_CLOSED);
    writ_kit_call_free(writ_poll_redeemed(&kit, (spec){.plugin = true})->call);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(count_of_a_plugin_in_a_review_of_another_engine_is_refused)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){0});
    ck_assert_int_eq(
        writ_poll_counted(&kit, id, WRIT_REVIEW_DO_ACCEPT, 1), WRIT_REASON_VOTE_NOT_ENTITLED);
    ck_assert_int_eq(
        writ_poll_counted(&kit, id, WRIT_REVIEW_DO_CANCEL, 1), WRIT_REASON_VOTE_NOT_ENTITLED);
    ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_OPEN);
    id = writ_poll_opened(&kit, (spec){.plugin = true, .spec = {.argument = "b"}});
    ck_assert_int_eq(
        writ_poll_counted(&kit, id, WRIT_REVIEW_DO_CANCEL, 1), WRIT_REASON_VOTE_NOT_ENTITLED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(failed_count_refuses_the_call_once_and_a_veto_needs_no_count)
{
    struct writ_kit kit;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){.plugin = true});
    ck_assert_int_eq(writ_poll_counted(&kit, id, WRIT_REVIEW_DO_FAIL, 1), WRIT_REASON_NONE);
    ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_FAILED);
    writ_poll_told(&kit, (spec){.plugin = true}, WRIT_REASON_APPROVAL_FAILED);
    id = writ_poll_opened(&kit, (spec){.plugin = true, .veto = true});
    writ_poll_rank(&kit, id, "bob", WRIT_REVIEW_REJECT, WRIT_REVIEW_REJECTED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- what ends with other policy, and what waits for a verdict */

static void
rules(struct writ_kit *kit, const char *digest)
{
    const struct writ_view views[] = {WRIT_LIT("sha256:some"), writ_view_str(digest)};
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_RULES,
        .arena = writ_arena_new(WRIT_POLL_ARENA),
        .review_rules = {views, digest != NULL ? 2 : 1}};

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    writ_arena_free(entry.arena);
    writ_kit_turn(kit);
}

START_TEST(removed_rules_end_their_own_reviews_only)
{
    struct writ_kit kit;
    const char *open, *approved;

    writ_poll_start(&kit);
    open = writ_poll_opened(&kit, (spec){0});
    approved = writ_poll_opened(&kit, (spec){.spec = {.argument = "b"}});
    writ_poll_approve(&kit, approved);
    rules(&kit, "sha256:rules");
    ck_assert_int_eq(state_of(&kit, open), WRIT_REVIEW_OPEN);
    ck_assert_int_eq(state_of(&kit, approved), WRIT_REVIEW_APPROVED);
    rules(&kit, NULL);
    ck_assert_int_eq(state_of(&kit, open), WRIT_REVIEW_OUTDATED);
    ck_assert_int_eq(state_of(&kit, approved), WRIT_REVIEW_OUTDATED);
    writ_poll_told(&kit, (spec){0}, WRIT_REASON_APPROVAL_OUTDATED);
    /* the rules return before the next check: an ended review stays ended */
    rules(&kit, "sha256:rules");
    ck_assert_int_eq(state_of(&kit, approved), WRIT_REVIEW_OUTDATED);
    writ_poll_told(&kit, (spec){.spec = {.argument = "b"}}, WRIT_REASON_APPROVAL_OUTDATED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/** A waiter for a verdict. */
struct waiting {
    struct writ_entry entry;
    sem_t done;
};

static void
woken(struct writ_entry *entry)
{
    struct waiting *w = entry->user;

    (void)sem_post(&w->done);
}

static void
await(struct writ_kit *kit, struct waiting *w, const char *id, int64_t for_us)
{
    struct writ_entry *entry = &w->entry;

    *w = (struct waiting){.entry = {.kind = WRIT_ENTRY_REVIEW_AWAIT,
                              .arena = writ_arena_new(WRIT_POLL_ARENA),
                              .done = woken,
                              .user = w,
                              .review_await = {.id = writ_view_str(id),
                                  .until_us = atomic_load(&kit->wall_us) + for_us}}};
    ck_assert_int_eq(sem_init(&w->done, 0, 0), 0);
    ck_assert_ok(writ_ledger_submit(kit->ledger, &entry, 1));
    writ_kit_turn(kit); /* it waits before time passes */
}

static enum writ_review_state
ended(struct waiting *w, enum writ_code code)
{
    while (sem_wait(&w->done) != 0) {
    }
    ck_assert_int_eq(w->entry.code, code);
    writ_arena_free(w->entry.arena);
    (void)sem_destroy(&w->done);
    return w->entry.review_await.state;
}

static bool
still_waits(struct waiting *w)
{
    return sem_trywait(&w->done) != 0;
}

START_TEST(waiter_wakes_on_the_verdict_and_not_on_a_vote)
{
    struct writ_kit kit;
    struct waiting a, b, over, none;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){0});
    await(&kit, &a, id, HOUR_US);
    await(&kit, &b, id, HOUR_US);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_turn(&kit);
    ck_assert(still_waits(&a) && still_waits(&b));
    writ_poll_vote(&kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    ck_assert_int_eq(ended(&a, WRIT_OK), WRIT_REVIEW_APPROVED);
    ck_assert_int_eq(ended(&b, WRIT_OK), WRIT_REVIEW_APPROVED);
    await(&kit, &over, id, HOUR_US);
    ck_assert_int_eq(ended(&over, WRIT_OK), WRIT_REVIEW_APPROVED);
    await(&kit, &none, "none", HOUR_US);
    ck_assert_int_eq(ended(&none, WRIT_OK), WRIT_REVIEW_ABSENT);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(waiter_wakes_on_timeout_expiry_and_close)
{
    struct writ_kit kit;
    struct waiting brief, lasting, last;
    const char *id;

    writ_poll_start(&kit);
    id = writ_poll_opened(&kit, (spec){0});
    await(&kit, &brief, id, WRIT_POLL_MINUTE_US);
    await(&kit, &lasting, id, HOUR_US);
    writ_kit_pass(&kit, 2 * WRIT_POLL_MINUTE_US);
    writ_kit_turn(&kit);
    ck_assert_int_eq(ended(&brief, WRIT_OK), WRIT_REVIEW_OPEN);
    ck_assert(still_waits(&lasting));
    writ_kit_pass(&kit, 14 * WRIT_POLL_MINUTE_US);
    writ_kit_turn(&kit);
    ck_assert_int_eq(ended(&lasting, WRIT_OK), WRIT_REVIEW_EXPIRED);
    id = writ_poll_opened(&kit, (spec){.spec = {.argument = "c"}});
    await(&kit, &last, id, HOUR_US);
    writ_kit_close(&kit);
    ck_assert_int_eq(ended(&last, WRIT_E_BUSY), WRIT_REVIEW_OPEN);
    writ_kit_open(&kit);
    ck_assert_int_eq(state_of(&kit, id), WRIT_REVIEW_OPEN);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("review_states", count_of_a_plugin_is_taken_for_the_votes_that_it_counted,
    count_of_a_plugin_in_a_review_of_another_engine_is_refused,
    failed_count_refuses_the_call_once_and_a_veto_needs_no_count,
    each_event_in_each_state_follows_the_table, each_event_after_a_restart_follows_the_table,
    each_event_on_an_unknown_review_changes_nothing, removed_rules_end_their_own_reviews_only,
    waiter_wakes_on_the_verdict_and_not_on_a_vote, waiter_wakes_on_timeout_expiry_and_close)
