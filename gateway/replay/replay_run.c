/* The calls come in the order of their decisions, so that each draws on what those before it left.
 * A call is compared once, at its first decision. A return to a review draws its amounts, and is a
 * change of its own when they are no longer there. */
#include "gateway/replay/replay_run.h"

#include "base/alloc.h"
#include "store/tables/budgets.h"
#include "store/tables/charge.h"

#define CALL_ARENA   ((size_t)64 << 20)
#define COUNTERS_MAX ((size_t)1 << 20)
#define PRUNE_EACH   4096 /* calls after which counters of past windows are dropped */

/* ---- a run */

static WRIT_RESULT
begin_side(struct writ_replay_run_side *side, struct writ_err *err)
{
    if (side->rejudge.config == NULL) {
        return WRIT_DONE;
    }
    side->budgets = writ_alloc(sizeof *side->budgets);
    if (side->budgets == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a replay");
    }
    return writ_budgets_init(side->budgets, COUNTERS_MAX, err);
}

static void
end_side(struct writ_replay_run_side *side)
{
    if (side->budgets != NULL) {
        writ_budgets_wipe(side->budgets);
        writ_free(side->budgets);
    }
}

static void
prune_side(struct writ_replay_run_side *side, int64_t now_us)
{
    if (side->budgets != NULL) {
        writ_budgets_prune(side->budgets, now_us);
    }
}

WRIT_RESULT
writ_replay_run_begin(struct writ_replay_run *run, bool keeps_arguments, struct writ_err *err)
{
    run->groups = writ_rejudge_groups_new(keeps_arguments);
    run->arena = writ_arena_new(CALL_ARENA);
    if (run->groups == NULL || run->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a replay");
    }
    WRIT_TRY(begin_side(&run->now, err));
    return begin_side(&run->before, err);
}

void
writ_replay_run_wipe(struct writ_replay_run *run)
{
    end_side(&run->now);
    end_side(&run->before);
    writ_rejudge_groups_free(run->groups);
    writ_arena_free(run->arena);
    *run = (struct writ_replay_run){0};
}

static int64_t
window_begin(const struct writ_replay_run_side *side, int64_t since_us)
{
    int64_t window_us =
        side->rejudge.config != NULL ? writ_rule_longest_window(side->rejudge.config->policy) : 0;

    return window_us > 0 ? since_us - since_us % window_us : since_us;
}

int64_t
writ_replay_run_from(const struct writ_replay_run *run)
{
    int64_t now = window_begin(&run->now, run->since_us);
    int64_t before = window_begin(&run->before, run->since_us);

    return now < before ? now : before;
}

/* ---- budgets */

/* All counters of one side whose windows are over. */
static void
prune(struct writ_replay_run *run, int64_t now_us)
{
    if (run->decisions % PRUNE_EACH != 0) {
        return;
    }
    prune_side(&run->now, now_us);
    prune_side(&run->before, now_us);
}

static WRIT_RESULT
draw(struct writ_replay_run_side *side, const struct writ_past *past, bool nothing_ran,
    struct writ_rejudge_verdict *verdict, struct writ_err *err)
{
    struct writ_booking bookings[WRIT_RESERVATIONS_MAX];
    size_t n = verdict->policy.reservations_n, refused = 0;
    writ_result booked;

    if (!writ_rejudge_draws(past, verdict)) {
        return WRIT_DONE;
    }
    booked = writ_budgets_book(
        side->budgets, verdict->policy.reservations, n, past->issued_us, bookings, &refused);
    if (booked.code == WRIT_E_MISMATCH) {
        writ_rejudge_exceed(refused, verdict);
    } else if (!writ_is_ok(booked)) {
        return writ_fail(err, booked.code,
            "the budgets have more counters in their windows than the %zu that fit: choose a later "
            "--since",
            COUNTERS_MAX);
    } else {
        if (nothing_ran && past->effect == WRIT_EFFECT_ALLOWED) {
            writ_budgets_return(side->budgets, bookings, n);
        }
        writ_budgets_end(bookings, n);
    }
    writ_budgets_commit(side->budgets);
    return WRIT_DONE;
}

/* The amount of a call that cannot be decided again, as its record states it. */
static void
charge(struct writ_replay_run_side *side, struct writ_view text, int64_t issued_us)
{
    struct writ_budget_charge charge;
    struct writ_reservation taken = {.limit = writ_decimal_of(INT64_MAX)};
    struct writ_booking booking;
    size_t refused;

    if (side->rejudge.config == NULL || !writ_charge_read(text, &charge) || charge.held) {
        return;
    }
    writ_tag_put(charge.tag, taken.key.bytes);
    taken.window_us = charge.window_us;
    taken.amount = charge.amount;
    if (writ_is_ok(writ_budgets_book(side->budgets, &taken, 1, issued_us, &booking, &refused))) {
        writ_budgets_end(&booking, 1);
    }
    writ_budgets_commit(side->budgets);
}

static void
charge_all(struct writ_replay_run *run, const struct writ_replay_run_record *record,
    const struct writ_past *past)
{
    const struct writ_member_list *charges = &record->extension->charges;

    for (size_t i = 0; charges->is == WRIT_PRESENT && i < charges->count; i++) {
        if (!record->nothing_ran) {
            charge(&run->now, charges->items[i], past->issued_us);
            charge(&run->before, charges->items[i], past->issued_us);
        }
    }
}

/* ---- one call */

static void
note_policy(struct writ_replay_run *run, struct writ_view text)
{
    struct writ_digest digest;

    if (!writ_is_ok(writ_digest_read(text, &digest, NULL))) {
        return;
    }
    for (size_t i = run->policies_n; i > 0; i--) {
        if (writ_digest_equal(&run->policies[i - 1], &digest)) {
            return;
        }
    }
    if (run->policies_n == WRIT_REPLAY_RUN_POLICIES_MAX) {
        run->more_policies = true;
        return;
    }
    run->policies[run->policies_n++] = digest;
}

static WRIT_RESULT
decide(struct writ_replay_run *run, struct writ_replay_run_side *side,
    const struct writ_replay_run_record *record, const struct writ_past *past,
    struct writ_rejudge_verdict *ret, struct writ_err *err)
{
    const struct writ_rejudge_call call = {
        .past = past, .arguments = record->arguments, .in_part = record->in_part};

    if (side->rejudge.config == NULL) {
        writ_rejudge_recorded(past, ret);
        return WRIT_DONE;
    }
    writ_rejudge_decide(&side->rejudge, &call, run->arena, ret);
    return draw(side, past, record->nothing_ran, ret, err);
}

/* A later decision about a call counts only when its budgets refuse it: the call itself was
 * compared at the first one. */
static bool
is_compared(const struct writ_replay_run *run, const struct writ_rejudge_comparison *one)
{
    if (one->past->continues) {
        return one->past->approved && one->after->reason == WRIT_REASON_BUDGET_EXCEEDED &&
               writ_rejudge_compare(one->before, one->after) != WRIT_REJUDGE_SAME;
    }
    return !one->past->apart || run->before.rejudge.config != NULL;
}

static WRIT_RESULT
judge(struct writ_replay_run *run, const struct writ_replay_run_record *record,
    const struct writ_past *past, bool counts, struct writ_err *err)
{
    struct writ_rejudge_verdict before, after;
    const struct writ_rejudge_comparison one = {past, &before, &after, record->canonical};

    WRIT_TRY(decide(run, &run->before, record, past, &before, err));
    WRIT_TRY(decide(run, &run->now, record, past, &after, err));
    if (!counts) {
        return WRIT_DONE;
    }
    if (!past->continues) {
        run->decided++;
        run->in_part += record->in_part ? 1 : 0;
        run->shadowed += after.shadowed ? 1 : 0;
        run->apart += past->apart && run->before.rejudge.config == NULL ? 1 : 0;
        note_policy(run, past->policy_digest);
    }
    return is_compared(run, &one) ? writ_rejudge_groups_add(run->groups, &one, err) : WRIT_DONE;
}

WRIT_RESULT
writ_replay_run_take(
    struct writ_replay_run *run, const struct writ_replay_run_record *record, struct writ_err *err)
{
    struct writ_past past;
    bool counts;

    writ_arena_reset(run->arena);
    WRIT_TRY(writ_past_of(record->decision, record->extension, &past, err));
    counts = past.issued_us >= run->since_us;
    if (counts) {
        run->decisions++;
        run->continued += past.continues ? 1 : 0;
        prune(run, past.issued_us);
    }
    if (record->arguments != NULL) {
        return judge(run, record, &past, counts, err);
    }
    charge_all(run, record, &past);
    if (counts && !past.continues) {
        run->gaps[record->gap]++;
    }
    return WRIT_DONE;
}

uint64_t
writ_replay_run_undecided(const struct writ_replay_run *run)
{
    uint64_t n = run->groups->unknown;

    for (size_t i = 0; i < WRIT_REPLAY_RUN_GAPS; i++) {
        n += run->gaps[i];
    }
    return n;
}
