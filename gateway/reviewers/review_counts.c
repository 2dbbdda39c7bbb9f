/* 1. A review has at most one count.
 * 2. A count has at most one operation open: an entry in the ledger (READS, SUBMITS) or its thread
 *    (COUNTS). It is freed when none is open.
 * 3. The thread has the count for itself until it posts it, which is its last act.
 * 4. A count that cannot be made here is left open: another gateway of the ledger makes it, this
 * one later, or the review ends at its deadline. Only what a plug-in does fails a review.
 * 5. What is submitted names the number of records that was read; only the writer decides whether
 *    it is still true. */
#include "gateway/reviewers/review_counts.h"

#include "base/thread.h"
#include "gateway/engines/engine_count.h"
#include "gateway/reviewers/review_watch.h"
#include "policy/read/yaml.h"
#include "evidence/record/review_judge.h"

#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#define COUNT_ARENA ((size_t)64 << 20)
#define OWN_ARENA   ((size_t)64 << 10)
#define AGAIN_US    INT64_C(1000000) /* after the ledger, memory, a thread or a process has failed */
#define LACKS_US    INT64_C(5000000) /* until the next look whether the plug-in is here now */
#define NOTHING     (-1)

enum stage { WAITS = 0, READS, COUNTS, SUBMITS };

struct count {
    TAILQ_ENTRY(count) link;
    struct writ_review_counts *all;
    enum stage stage;
    int64_t due_us;           /* WAITS: not earlier */
    struct writ_view id;      /* of the review */
    struct writ_arena *own;   /* it lies in there itself */
    struct writ_arena *arena; /* of one try; NULL: none */
    struct writ_entry entry;
    struct writ_post post;
    /* a try */
    const struct writ_config *config; /* held: it has the plug-in */
    const struct writ_engine_config *engine;
    struct writ_review_told told;
    struct writ_review_finding finding;
    pthread_t thread;
    writ_result result; /* of the thread */
    struct writ_err why;
    bool is_told; /* that it waits, in the log */
};

struct writ_review_counts {
    struct writ_gateway *gateway;
    struct writ_worker *worker; /* of the first loop */
    struct writ_review_watch watch;
    TAILQ_HEAD(counts, count) list;
    size_t out; /* not WAITS */
    struct writ_timer timer;
    int stop; /* readable when all counts end */
};

static void pump(struct writ_review_counts *all);

/* ---- one count */

static void
count_free(struct count *count)
{
    TAILQ_REMOVE(&count->all->list, count, link);
    writ_config_drop(count->config);
    writ_arena_free(count->arena);
    writ_arena_free(count->own); /* the arena holds the count itself */
}

static struct count *
count_new(struct writ_review_counts *all, struct writ_view id)
{
    struct writ_arena *own = writ_arena_new_small(OWN_ARENA);
    struct count *count = own != NULL ? writ_arena_get(own, sizeof *count) : NULL;

    if (count != NULL) {
        *count = (struct count){.all = all, .own = own, .id = writ_view_copy(id, own)};
    }
    if (count == NULL || count->id.ptr == NULL) {
        writ_arena_free(own);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&all->list, count, link);
    return count;
}

/* Ends the try; the next one is due after `pause_us`. */
static void
try_again(struct count *count, int64_t pause_us)
{
    struct writ_review_counts *all = count->all;

    count->due_us = writ_loop_now_us(all->worker->loop) + pause_us;
    count->stage = WAITS;
    writ_config_drop(count->config);
    count->config = NULL;
    writ_arena_free(WRIT_TAKE(count->arena));
    all->out--;
    pump(all);
}

static void
finish(struct count *count)
{
    struct writ_review_counts *all = count->all;

    all->out--;
    count_free(count);
    pump(all);
}

static void
entry_done(struct writ_entry *entry)
{
    struct count *count = entry->user;

    writ_loop_answer(count->all->worker->loop, &count->post);
}

static void
submit(struct count *count, writ_post_fn *back)
{
    count->entry.done = entry_done;
    count->entry.user = count;
    count->entry.arena = count->arena;
    count->post = (struct writ_post){.fn = back, .ctx = count};
    writ_worker_submit(count->all->worker, &count->entry);
}

/* keeps (4) */
static void
wait_here(struct count *count, const char *why, int64_t pause_us)
{
    if (!count->is_told) {
        WRIT_LOG(count->all->gateway->log, WRIT_EVENT_COUNT_WAITS,
            writ_log_text("review", count->id), writ_log_text("engine", count->told.review.engine),
            writ_log_str("why", why));
        count->is_told = true;
    }
    try_again(count, pause_us);
}

/* ---- the result */

static void
log_failure(const struct count *count)
{
    WRIT_LOG(count->all->gateway->log, WRIT_EVENT_COUNT_FAILED, writ_log_text("review", count->id),
        writ_log_text("engine", count->told.review.engine),
        writ_log_text("why", count->finding.fault));
}

static void
was_taken(struct writ_post *post)
{
    struct count *count = post->ctx;

    if (count->entry.code != WRIT_OK) {
        try_again(count, AGAIN_US);
    } else if (count->entry.review.refused == WRIT_REASON_REVIEW_MISMATCH) {
        try_again(count, 0); /* a voter voted meanwhile */
    } else {
        if (count->entry.review.refused == WRIT_REASON_NONE && count->finding.fault.len > 0) {
            log_failure(count);
        }
        finish(count);
    }
}

/* keeps (5) */
static void
give(struct count *count)
{
    count->stage = SUBMITS;
    count->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW,
        .review = {.event = count->finding.verdict,
            .id = count->id,
            .digest = writ_view_str(count->told.digest),
            .finding = &count->finding,
            .counted = count->told.n}};
    submit(count, was_taken);
}

/* ---- the count */

static void
was_counted(struct writ_post *post)
{
    struct count *count = post->ctx;

    (void)pthread_join(count->thread, NULL); /* it has posted: keeps (3) */
    if (!writ_is_ok(count->result)) {
        wait_here(count, count->why.text, AGAIN_US);
    } else if (count->finding.verdict == WRIT_REVIEW_DO_VOTE) {
        finish(count);
    } else {
        give(count);
    }
}

static void *
run(void *arg)
{
    struct count *count = arg;
    const struct writ_engine_count how = {
        count->engine->object, WRIT_ENGINE_SECONDS, count->all->stop};
    const struct writ_panel_plugin plugin = writ_engine_count_plugin(&how);
    const struct writ_review_judge judge = writ_panel_judge_with(&plugin);

    count->result = writ_review_judge_look(
        &judge, &count->told.review, count->arena, &count->finding, &count->why);
    writ_loop_answer(count->all->worker->loop, &count->post);
    return NULL;
}

static bool
is_to_count(const struct writ_review_told *told)
{
    return told->state == WRIT_REVIEW_OPEN && writ_review_is_plugin(told->review.engine) &&
           writ_review_all_spoke(&told->review);
}

/* A review of another file than the present one of that name gets no verdict of this one. During a
 * reload of several gateways one has the file before the others. */
static void
start_count(struct count *count)
{
    const struct writ_review *review = &count->told.review;

    count->config = writ_config_hold(count->all->worker->generation->config);
    count->engine = writ_config_engine(count->config, review->engine, review->engine_digest);
    if (count->engine == NULL) {
        wait_here(count, "no file here has the engine_digest of the review", LACKS_US);
        return;
    }
    count->stage = COUNTS;
    count->finding = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    count->why = (struct writ_err){0};
    count->post = (struct writ_post){.fn = was_counted, .ctx = count};
    if (!writ_thread_start(&count->thread, run, count, "writ-counts")) {
        wait_here(count, "no thread can be started", AGAIN_US);
    }
}

static void
was_read(struct writ_post *post)
{
    struct count *count = post->ctx;

    if (count->entry.code == WRIT_E_ABSENT) {
        finish(count);
        return;
    }
    if (count->entry.code != WRIT_OK) {
        try_again(count, AGAIN_US);
        return;
    }
    count->told = count->entry.review_get.told;
    if (is_to_count(&count->told)) {
        start_count(count);
    } else {
        finish(count);
    }
}

static void
begin_try(struct count *count)
{
    count->stage = READS;
    count->all->out++;
    count->arena = writ_arena_new(COUNT_ARENA);
    if (count->arena == NULL) {
        try_again(count, AGAIN_US);
        return;
    }
    count->entry =
        (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = count->id}};
    submit(count, was_read);
}

/* ---- all of them */

static void
begin_due(struct writ_timer *timer)
{
    struct writ_review_counts *all = timer->ctx;
    int64_t now_us = writ_loop_now_us(all->worker->loop), next_us = INT64_MAX;
    struct count *count, *next;

    for (count = TAILQ_FIRST(&all->list); count != NULL; count = next) {
        next = TAILQ_NEXT(count, link);
        if (count->stage == WAITS && count->due_us <= now_us && all->out < WRIT_REVIEW_COUNTS_MAX) {
            begin_try(count);
        } else if (count->stage == WAITS && count->due_us > now_us && count->due_us < next_us) {
            next_us = count->due_us;
        }
    }
    if (next_us != INT64_MAX) {
        writ_loop_timer_set(all->worker->loop, &all->timer, next_us);
    }
}

/* In the loop's next turn, so that no count is freed below its caller. */
static void
pump(struct writ_review_counts *all)
{
    writ_loop_timer_set(all->worker->loop, &all->timer, writ_loop_now_us(all->worker->loop));
}

static bool
has_count(const struct writ_review_counts *all, struct writ_view id)
{
    const struct count *count;

    TAILQ_FOREACH(count, &all->list, link)
    {
        if (writ_view_equal(count->id, id)) {
            return true;
        }
    }
    return false;
}

/* keeps (1) */
static bool
changed(void *ctx, const struct writ_entry_review_watch *now)
{
    struct writ_review_counts *all = ctx;
    bool done = true;

    for (size_t i = 0; i < now->n; i++) {
        const struct writ_review_told *told = &now->items[i];

        if (is_to_count(told) && !has_count(all, told->review.id)) {
            done = count_new(all, told->review.id) != NULL && done;
        }
    }
    pump(all);
    return done;
}

/* ---- opening and closing */

WRIT_RESULT
writ_review_counts_open(
    struct writ_gateway *gateway, struct writ_review_counts **ret, struct writ_err *err)
{
    struct writ_review_counts *all = writ_alloc(sizeof *all);

    if (all == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to count votes");
    }
    *all = (struct writ_review_counts){
        .gateway = gateway, .worker = &gateway->workers[0], .stop = eventfd(0, EFD_CLOEXEC)};
    TAILQ_INIT(&all->list);
    all->timer = (struct writ_timer){.fn = begin_due, .ctx = all};
    all->watch = (struct writ_review_watch){.worker = all->worker, .changed = changed, .ctx = all};
    *ret = all; /* closed by its owner, whatever happens here */
    if (all->stop < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "no descriptor to count votes");
    }
    WRIT_TRY(writ_review_counts_check(gateway->config, err));
    return writ_review_watch_start(&all->watch);
}

void
writ_review_counts_end(struct writ_review_counts *counts)
{
    struct count *count;

    if (counts == NULL) {
        return;
    }
    writ_review_watch_end(&counts->watch);
    writ_loop_timer_cancel(&counts->timer);
    if (counts->stop >= 0) {
        (void)eventfd_write(counts->stop, 1);
    }
    TAILQ_FOREACH(count, &counts->list, link)
    {
        if (count->stage == COUNTS) {
            (void)pthread_join(count->thread, NULL); /* its result is not submitted any more */
        }
    }
}

void
writ_review_counts_free(struct writ_review_counts *counts)
{
    if (counts == NULL) {
        return;
    }
    while (!TAILQ_EMPTY(&counts->list)) {
        count_free(TAILQ_FIRST(&counts->list));
    }
    writ_review_watch_wipe(&counts->watch);
    if (counts->stop >= 0) {
        (void)close(counts->stop);
    }
    writ_free(counts);
}

/* ---- checks */

static WRIT_RESULT
check_one(const struct writ_engine_config *engine, struct writ_err *err)
{
    const struct writ_engine_count how = {engine->object, WRIT_ENGINE_SECONDS, NOTHING};

    return writ_engine_count_check(&how, err);
}

WRIT_RESULT
writ_review_counts_check(const struct writ_config *config, struct writ_err *err)
{
    for (const struct writ_engine_config *at = config->engines; at != NULL; at = at->next) {
        struct writ_err why = {0};
        writ_result result = check_one(at, &why);

        if (!writ_is_ok(result)) {
            WRIT_FAIL(err, result.code, "engine " WRIT_VIEW_FMT ": %s", WRIT_VIEW_ARG(at->name),
                why.text);
        }
    }
    return WRIT_DONE;
}

void
writ_review_counts_find(const struct writ_config *config, struct writ_findings *findings)
{
    for (const struct writ_engine_config *at = config->engines; at != NULL; at = at->next) {
        struct writ_err why = {0};

        if (!writ_is_ok(check_one(at, &why))) {
            writ_yaml_find(findings, WRIT_SEVERITY_ERROR, at->node, "cannot count: %s", why.text);
        }
    }
}
