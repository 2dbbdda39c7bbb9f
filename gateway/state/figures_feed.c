/* figures_feed.c
 *
 * Invariants:
 * (1) the records from `floor` up to `next` are in the figures, each once: a block that failed is
 *     read again from where it failed, not from its beginning. (2) the lock guards the figures and
 *     the progress; the reader belongs to the thread. (3) a place of `calls` has what one decision
 *     says, from its loop or from the record, or nothing: then the record is read. Who takes it out
 *     owns it. */
#include "gateway/state/figures_feed.h"

#include "base/alloc.h"
#include "evidence/record/record.h"
#include "gateway/io/background.h"
#include "store/tables/body.h"

#define EVERY_US     INT64_C(1000000)
#define RETRY_US     INT64_C(1000000)
#define RETRY_MOST   INT64_C(60000000)
#define RECORD_ARENA ((size_t)64 << 20)
#define CALLS        32768 /* places; a power of two */

/* What the figures take from a decision, for itself and for its outcome. */
struct call {
    uint64_t leaf;
    bool of_run;
    struct writ_view agent, upstream, tool, reason, policy;
    struct writ_view rule; /* its only one, when that was for the caller; else empty */
    const struct writ_extension *extension; /* NULL: the call took nothing from a budget */
    char texts[];                           /* of a kept one */
};

struct writ_figures_feed {
    const char *path;
    struct writ_ledger *ledger;
    const struct writ_clock *clock;
    struct writ_background *thread;
    struct writ_background_job job;
    struct writ_reader *reader; /* the thread's, as all up to `figures` */
    struct writ_arena *arena;
    _Atomic(struct call *) *calls; /* by leaf; NULL: none */
    const atomic_bool *stop;
    uint64_t next, floor, groups;
    int64_t now_us;
    bool started, backwards;
    struct writ_figures *figures;
    struct writ_budget_use *budgets;
    struct writ_policy_use *policies;
    int64_t back_us; /* how far it reads back */
    struct writ_figures_progress progress;
};

static struct writ_background_job *
job_of(void *ctx, size_t i)
{
    (void)i;
    return &((struct writ_figures_feed *)ctx)->job;
}

/* ---- one record ---- */

/* What a call took from budgets, and gives back when it did not run. */
static WRIT_RESULT
add_charges(struct writ_figures_feed *feed, const struct writ_reader_record *record,
    const struct call *call)
{
    const struct writ_budget_use_call caller = {
        .agent = call->agent,
        .tenant = record->tenant,
        .upstream = call->upstream,
        .tool = call->tool,
    };
    const struct writ_json *value = NULL;
    struct writ_outcome outcome = {0};

    if (!record->granted || call->extension == NULL) {
        return WRIT_DONE;
    }
    if (record->is_outcome) {
        WRIT_TRY(writ_body_json(record->body, feed->arena, &value, NULL));
        WRIT_TRY(writ_outcome_read(value, feed->arena, &outcome, NULL));
    }
    return record->is_outcome && !writ_outcome_nothing_ran(&outcome)
               ? WRIT_DONE
               : writ_budget_use_add(feed->budgets, &call->extension->charges, &caller,
                     record->is_outcome, feed->now_us);
}

/* ---- decisions ---- */

/* A caller chooses the name of a tool that no rule lists: such names are not kept apart. Where
 * several rules are named, none of them was for the caller. */
static struct call
call_of(uint64_t leaf, const struct writ_decision *decision, const struct writ_extension *extension)
{
    struct writ_view reason = writ_member_view(&extension->reason);
    bool unlisted = writ_view_equal(reason, writ_reason_name(WRIT_REASON_TOOL_NOT_LISTED)) ||
                    writ_view_equal(reason, writ_reason_name(WRIT_REASON_UPSTREAM_NOT_LISTED));
    bool ruled = decision->policy_refs.count == 1 &&
                 !writ_view_equal(reason, writ_reason_name(WRIT_REASON_AGENT_NOT_PERMITTED));

    return (struct call){
        .leaf = leaf,
        .of_run = writ_reason_is_of_run(reason),
        .agent = decision->agent_id.view,
        .upstream = writ_member_view(&extension->upstream),
        .tool = unlisted ? WRIT_LIT("") : decision->tool.view,
        .reason = reason,
        .policy = decision->policy_digest.view,
        .rule = ruled ? decision->policy_refs.items[0] : WRIT_LIT(""),
        .extension = extension->charges.count > 0 ? extension : NULL,
    };
}

static _Atomic(struct call *) *
place_of(struct writ_figures_feed *feed, uint64_t leaf)
{
    return &feed->calls[leaf & (CALLS - 1)];
}

/* Owned; NULL: its record must be read. */
static struct call *
take(struct writ_figures_feed *feed, uint64_t leaf)
{
    struct call *call = atomic_exchange(place_of(feed, leaf), NULL);

    if (call != NULL && call->leaf != leaf) {
        writ_free(call);
        return NULL;
    }
    return call;
}

static void
put(struct writ_figures_feed *feed, struct call *owned)
{
    writ_free(atomic_exchange(place_of(feed, owned->leaf), owned));
}

/* Without memory the record is read when it is needed; so is that of a call with budgets. */
static void
put_copy(struct writ_figures_feed *feed, const struct call *call)
{
    struct call *kept;
    char *end;

    if (call->extension != NULL) {
        return;
    }
    kept = writ_alloc(sizeof *kept + call->agent.len + call->upstream.len + call->tool.len +
                      call->reason.len + call->policy.len + call->rule.len);
    if (kept == NULL) {
        return;
    }
    *kept = *call;
    end = kept->texts;
    for (size_t i = 0; i < 6; i++) {
        struct writ_view *texts[] = {
            &kept->agent, &kept->upstream, &kept->tool, &kept->reason, &kept->policy, &kept->rule};

        *texts[i] = writ_view_place(*texts[i], end);
        end += texts[i]->len;
    }
    put(feed, kept);
}

void
writ_figures_feed_grant(struct writ_figures_feed *feed, uint64_t leaf,
    const struct writ_decision *decision, const struct writ_extension *extension)
{
    const struct call call = call_of(leaf, decision, extension);

    put_copy(feed, &call);
}

static WRIT_RESULT
read_decision(
    struct writ_figures_feed *feed, uint64_t leaf, struct writ_view text, struct call *ret)
{
    struct writ_extension *extension = writ_arena_get(feed->arena, sizeof *extension);
    struct writ_decision decision;

    if (extension == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_body_decision(text, feed->arena, &decision, NULL));
    WRIT_TRY(writ_extension_read(&decision.extensions, feed->arena, extension, NULL));
    *ret = call_of(leaf, &decision, extension);
    return WRIT_DONE;
}

/* What the decision of a record says: `ret_kept`, or in the arena. */
static WRIT_RESULT
find_call(struct writ_figures_feed *feed, const struct writ_reader_record *record, struct call *ret,
    struct call **ret_kept)
{
    struct writ_view text = record->body;

    *ret_kept = take(feed, record->decision_leaf);
    if (*ret_kept != NULL) {
        *ret = **ret_kept;
        return WRIT_DONE;
    }
    if (record->is_outcome) {
        WRIT_TRY(writ_reader_record(feed->reader, record->decision_leaf, feed->arena, &text, NULL));
    }
    return read_decision(feed, record->decision_leaf, text, ret);
}

/* For its outcome, which is likely to be read soon. */
static void
keep_call(struct writ_figures_feed *feed, const struct call *call, struct call *kept)
{
    if (kept != NULL) {
        put(feed, kept);
    } else {
        put_copy(feed, call);
    }
}

/* ---- records ---- */

/* A record without a digest of a policy is whole: it is missing in the history alone. */
static WRIT_RESULT
add_policy(struct writ_figures_feed *feed, const struct writ_reader_record *record,
    struct writ_view policy)
{
    writ_result result =
        writ_policy_use_add(feed->policies, policy, record->tenant, record->time_us);

    return result.code == WRIT_E_NOMEM ? result : WRIT_DONE;
}

static WRIT_RESULT
add_decision(struct writ_figures_feed *feed, const struct writ_reader_record *record,
    const struct call *call)
{
    struct writ_figures_point point = {
        .kind = WRIT_FIGURES_DECISION,
        .value = record->verdict,
        .tenant = record->tenant,
        .agent = call->agent,
        .upstream = call->upstream,
        .tool = call->tool,
        .reason = call->reason,
    };

    writ_figures_add(feed->figures, &point, record->time_us, feed->now_us);
    if (call->rule.len > 0) {
        point = (struct writ_figures_point){.kind = WRIT_FIGURES_RULE,
            .value = record->verdict,
            .tenant = record->tenant,
            .reason = call->rule};
        writ_figures_add(feed->figures, &point, record->time_us, feed->now_us);
    }
    WRIT_TRY(add_policy(feed, record, call->policy));
    return add_charges(feed, record, call);
}

static WRIT_RESULT
add_outcome(struct writ_figures_feed *feed, const struct writ_reader_record *record,
    const struct call *call)
{
    struct writ_figures_point point = {
        .kind = WRIT_FIGURES_OUTCOME,
        .value = record->verdict,
        .tenant = record->tenant,
        .agent = call->agent,
        .upstream = call->upstream,
        .tool = call->tool,
    };

    writ_figures_add(feed->figures, &point, record->time_us, feed->now_us);
    WRIT_TRY(add_charges(feed, record, call));
    if (record->verdict != WRIT_OUTCOME_BLOCKED) {
        point.kind = WRIT_FIGURES_DURATION;
        point.value = writ_figures_bucket(record->time_us - record->issued_at_us);
        writ_figures_add(feed->figures, &point, record->time_us, feed->now_us);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_record(struct writ_figures_feed *feed, const struct writ_reader_record *record,
    const struct call *call)
{
    if (call->of_run) {
        return WRIT_DONE;
    }
    return record->is_outcome ? add_outcome(feed, record, call) : add_decision(feed, record, call);
}

/* keeps (1) */
static bool
take_record(void *ctx, const struct writ_reader_record *record)
{
    struct writ_figures_feed *feed = ctx;
    struct call call, *kept = NULL;
    writ_result found, result;

    writ_arena_reset(feed->arena);
    result = found = find_call(feed, record, &call, &kept);
    writ_background_lock(feed->thread);
    if (writ_is_ok(found)) {
        result = add_record(feed, record, &call);
    }
    if (!writ_is_ok(result)) {
        feed->progress.lost++;
    }
    if (feed->progress.since_us == 0 || record->time_us < feed->progress.since_us) {
        feed->progress.since_us = record->time_us;
    }
    if (!feed->backwards) {
        feed->next = record->leaf + 1;
    }
    writ_background_unlock(feed->thread);
    if (writ_is_ok(found) && !record->is_outcome && record->granted) {
        keep_call(feed, &call, kept);
    } else {
        writ_free(kept);
    }
    return !atomic_load(feed->stop);
}

/* ---- blocks ---- */

static WRIT_RESULT
read_forwards(struct writ_figures_feed *feed, uint64_t records)
{
    uint64_t end = records - feed->next > WRIT_FIGURES_FEED_BLOCK
                       ? feed->next + WRIT_FIGURES_FEED_BLOCK
                       : records;

    feed->backwards = false;
    WRIT_TRY(writ_reader_records(feed->reader, feed->next, end, take_record, feed, NULL));
    if (!atomic_load(feed->stop)) {
        feed->next = end; /* the last ones may be of another kind */
    }
    return WRIT_DONE;
}

/* A block that fails in its middle would be counted twice, so it is given up: the figures then
 * begin after it. */
static WRIT_RESULT
read_backwards(struct writ_figures_feed *feed)
{
    uint64_t end = feed->floor;

    feed->floor = end > WRIT_FIGURES_FEED_BLOCK ? end - WRIT_FIGURES_FEED_BLOCK : 0;
    feed->backwards = true;
    return writ_reader_records(feed->reader, feed->floor, end, take_record, feed, NULL);
}

static bool
is_complete(const struct writ_figures_feed *feed)
{
    return feed->floor == 0 ||
           (feed->progress.since_us != 0 && feed->progress.since_us < feed->now_us - feed->back_us);
}

static void
take_commit(struct writ_figures_feed *feed, const struct writ_ledger_health *health)
{
    const struct writ_figures_point point = {
        .kind = WRIT_FIGURES_COMMIT, .value = writ_figures_bucket(health->last_commit_us)};

    if (health->groups != feed->groups) {
        feed->groups = health->groups;
        writ_figures_add(feed->figures, &point, feed->now_us, feed->now_us);
    }
}

static WRIT_RESULT
turn(struct writ_figures_feed *feed, bool *ret_more)
{
    struct writ_ledger_health health;

    if (feed->reader == NULL) {
        WRIT_TRY(writ_reader_open(feed->path, &feed->reader, NULL));
    }
    writ_ledger_health(feed->ledger, &health);
    feed->now_us = writ_clock_wall_us(feed->clock);
    if (!feed->started) {
        feed->started = true;
        feed->next = feed->floor = health.records;
    }
    writ_background_lock(feed->thread);
    take_commit(feed, &health);
    writ_background_unlock(feed->thread);
    if (feed->next < health.records) {
        WRIT_TRY(read_forwards(feed, health.records));
    }
    if (!is_complete(feed)) {
        WRIT_TRY(read_backwards(feed));
    }
    *ret_more = feed->next < health.records || !is_complete(feed);
    return WRIT_DONE;
}

/* Between two blocks it rests as long as it worked, so that a long ledger does not take a core from
 * the calls. */
static void
work(void *ctx, size_t i, const atomic_bool *stop)
{
    struct writ_figures_feed *feed = ctx;
    int64_t began_us = writ_background_now_us(feed->thread);
    bool more = false;
    writ_result result;

    (void)i;
    feed->stop = stop;
    result = turn(feed, &more);
    writ_background_lock(feed->thread);
    feed->progress.records = feed->next;
    feed->progress.complete = feed->started && is_complete(feed);
    if (writ_is_ok(result)) {
        writ_background_succeeded(feed->thread, &feed->job,
            more ? writ_background_now_us(feed->thread) - began_us : EVERY_US);
    } else {
        writ_background_failed(feed->thread, &feed->job, RETRY_US, RETRY_MOST);
    }
    writ_background_unlock(feed->thread);
}

/* ---- the whole ---- */

void
writ_figures_feed_free(struct writ_figures_feed *feed)
{
    if (feed == NULL) {
        return;
    }
    writ_background_free(feed->thread);
    writ_reader_close(feed->reader);
    writ_arena_free(feed->arena);
    for (size_t i = 0; feed->calls != NULL && i < CALLS; i++) {
        writ_free(atomic_load(&feed->calls[i]));
    }
    writ_free(feed->calls);
    writ_figures_free(feed->figures);
    writ_budget_use_free(feed->budgets);
    writ_policy_use_free(feed->policies);
    writ_free(feed);
}

static void
feed_release(struct writ_figures_feed **feed)
{
    writ_figures_feed_free(*feed);
}

WRIT_RESULT
writ_figures_feed_new(const char *path, struct writ_ledger *ledger, const struct writ_clock *clock,
    int64_t window_us, struct writ_figures_feed **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_figures_feed *, feed_release) feed = writ_alloc(sizeof *feed);
    struct writ_background_options options = {.clock = clock, .n = 1, .job = job_of, .work = work};

    if (feed == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the figures of the page");
    }
    options.ctx = feed;
    feed->path = path;
    feed->ledger = ledger;
    feed->clock = clock;
    feed->back_us = window_us > WRIT_FIGURES_LONGEST_US ? window_us : WRIT_FIGURES_LONGEST_US;
    feed->arena = writ_arena_new(RECORD_ARENA);
    feed->calls = writ_alloc(CALLS * sizeof *feed->calls);
    if (feed->arena == NULL || feed->calls == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the figures of the page");
    }
    WRIT_TRY(writ_figures_new(&feed->figures, err));
    WRIT_TRY(writ_budget_use_new(&feed->budgets, err));
    WRIT_TRY(writ_policy_use_new(&feed->policies, err));
    WRIT_TRY(writ_background_new(&options, &feed->thread, err));
    WRIT_TRY(writ_background_start(feed->thread, err));
    *ret = WRIT_TAKE(feed);
    return WRIT_DONE;
}

void
writ_figures_feed_each(struct writ_figures_feed *feed, enum writ_figures_span span, int64_t now_us,
    void (*each)(void *ctx, const struct writ_figures_cell *cell), void *ctx,
    struct writ_figures_progress *ret)
{
    writ_background_lock(feed->thread);
    writ_figures_each(feed->figures, span, now_us, each, ctx);
    *ret = feed->progress;
    ret->lost += writ_figures_lost(feed->figures);
    writ_background_unlock(feed->thread);
}

void
writ_figures_feed_budgets(struct writ_figures_feed *feed, int64_t now_us,
    bool (*each)(void *ctx, const struct writ_budget_use_row *row), void *ctx,
    struct writ_figures_progress *ret)
{
    writ_background_lock(feed->thread);
    writ_budget_use_each(feed->budgets, now_us, each, ctx);
    *ret = feed->progress;
    ret->lost += writ_figures_lost(feed->figures);
    writ_background_unlock(feed->thread);
}

void
writ_figures_feed_policies(struct writ_figures_feed *feed,
    void (*each)(void *ctx, const struct writ_policy_use_row *row), void *ctx,
    struct writ_figures_progress *ret)
{
    writ_background_lock(feed->thread);
    writ_policy_use_each(feed->policies, each, ctx);
    *ret = feed->progress;
    ret->lost += writ_figures_lost(feed->figures);
    writ_background_unlock(feed->thread);
}
