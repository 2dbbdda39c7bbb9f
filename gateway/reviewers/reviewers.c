/* reviewers.c - one errand for each open review and configured reviewer.
 *
 * Invariants:
 * 1. There is at most one errand for a reviewer and a review, and it has at most one operation
 *    open: an entry in the ledger (READS, VOTES) or a question (OUT).
 * 2. An errand is freed when it has no open operation: at once, or when that has come back.
 * 3. `out` counts the errands with an open operation. */
#include "gateway/reviewers/review_request.h"

#include "base/text.h"
#include "crew/prompt.h"
#include "gateway/admin/review_answer.h"
#include "gateway/reviewers/reviewer_hook.h"
#include "gateway/reviewers/reviewer_worker.h"
#include "policy/decide/opinion.h"

#define TRY_ARENA   ((size_t)64 << 20)
#define OWN_ARENA   ((size_t)64 << 10)
#define WATCH_ARENA ((size_t)64 << 20)
#define ROUND_US    INT64_C(30000000) /* of one watch without any change */
#define AGAIN_US    INT64_C(1000000)  /* after the ledger has failed */
#define JSON_MAX    ((size_t)32 << 20)

/* ---- errands */

static void
drop(struct writ_review_request *errand)
{
    TAILQ_REMOVE(&errand->reviewer->errands, errand, link);
    writ_arena_free(errand->arena);
    writ_arena_free(errand->own); /* it lies in there itself */
}

/* What is to be done is looked at in the next turn. */
static void
again_soon(struct writ_reviewer *reviewer)
{
    struct writ_loop *loop = reviewer->all->worker->loop;

    if (!reviewer->all->ending) {
        writ_loop_timer_set(loop, &reviewer->timer, writ_loop_now_us(loop));
    }
}

/* Nothing of it is under way any more. keeps (2) (3) */
static void
end_try(struct writ_review_request *errand, enum writ_review_request_stage next)
{
    struct writ_reviewer *reviewer = errand->reviewer;

    reviewer->out--;
    errand->stage = next;
    writ_arena_free(WRIT_TAKE(errand->arena));
    if (errand->over) {
        drop(errand);
    }
    again_soon(reviewer);
}

void
writ_review_request_rests(struct writ_review_request *errand)
{
    end_try(errand, WRIT_REVIEW_REQUEST_RESTS);
}

void
writ_review_request_failed(struct writ_review_request *errand, const char *why)
{
    const struct writ_reviewers *all = errand->reviewer->all;
    int64_t pause_us = WRIT_REVIEWERS_PAUSE_US;

    if (errand->over) {
        end_try(errand, WRIT_REVIEW_REQUEST_RESTS);
        return;
    }
    for (unsigned i = 0; i < errand->tries && pause_us < WRIT_REVIEWERS_LONGEST_US; i++) {
        pause_us *= 2;
    }
    pause_us = pause_us < WRIT_REVIEWERS_LONGEST_US ? pause_us : WRIT_REVIEWERS_LONGEST_US;
    errand->tries++;
    WRIT_LOG(all->gateway->log, WRIT_LOG_WARN, "ballot_failed",
        writ_log_text("reviewer", errand->reviewer->config->id),
        writ_log_text("review", errand->id), writ_log_str("why", why),
        writ_log_int("tries", (int64_t)errand->tries),
        writ_log_bool("last", errand->tries >= WRIT_REVIEWERS_TRIES));
    errand->due_us = writ_loop_now_us(all->worker->loop) + pause_us;
    end_try(errand, errand->tries >= WRIT_REVIEWERS_TRIES ? WRIT_REVIEW_REQUEST_RESTS
                                                          : WRIT_REVIEW_REQUEST_WAITS);
}

static void
entry_done(struct writ_entry *entry)
{
    struct writ_review_request *errand = entry->user;

    writ_loop_answer(errand->reviewer->all->worker->loop, &errand->post);
}

static void
submit(struct writ_review_request *errand, writ_post_fn *back)
{
    errand->entry.done = entry_done;
    errand->entry.user = errand;
    errand->entry.arena = errand->arena;
    errand->post = (struct writ_post){.fn = back, .ctx = errand};
    writ_worker_submit(errand->reviewer->all->worker, &errand->entry);
}

/* ---- the vote */

static void
voted(struct writ_post *post)
{
    struct writ_review_request *errand = post->ctx;
    const struct writ_entry_review *r = &errand->entry.review;

    if (errand->entry.code != WRIT_OK) {
        writ_review_request_failed(errand, "ledger_unavailable");
    } else if (r->refused == WRIT_REASON_NONE || r->refused == WRIT_REASON_REVIEW_CLOSED ||
               r->refused == WRIT_REASON_REVIEW_UNKNOWN) {
        writ_review_request_rests(errand);
    } else {
        writ_review_request_failed(errand, writ_reason_name(r->refused).ptr);
    }
}

static void
vote(struct writ_review_request *errand, const struct writ_entry_review *r)
{
    errand->stage = WRIT_REVIEW_REQUEST_VOTES;
    errand->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = *r};
    errand->entry.review.id = errand->id;
    submit(errand, voted);
}

void
writ_review_request_answered(struct writ_review_request *errand, struct writ_view text)
{
    const struct writ_review_seat seat = {.voter = errand->reviewer->config->id,
        .digest = writ_view_str(errand->digest),
        .whole = errand->whole,
        .asked = true};
    struct writ_view kept = writ_view_copy(text, errand->arena);
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE};

    if (errand->over || kept.ptr == NULL) {
        writ_review_request_failed(errand, "memory");
    } else if (!writ_is_ok(writ_review_ballot_read(kept, &seat, errand->arena, &r, NULL))) {
        writ_review_request_failed(errand, "no_vote");
    } else {
        vote(errand, &r);
    }
}

/* ---- asking */

/* The reviewer that is a policy itself: it answers at once, or has nothing to say. */
static void
give_opinion(struct writ_review_request *errand, const struct writ_entry_review_get *get,
    const struct writ_reviewer_config *now)
{
    const struct writ_json *arguments = NULL;
    const struct writ_opinion *opinion = NULL;
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE,
        .by = errand->reviewer->config->id,
        .digest = writ_view_str(errand->digest)};

    if (now != NULL && writ_is_ok(writ_json_read(get->arguments, &writ_json_limits_default,
                           errand->arena, &arguments, NULL))) {
        opinion = writ_opinion_of(now, arguments, errand->arena);
    }
    if (opinion == NULL) {
        writ_review_request_rests(errand);
        return;
    }
    r.vote = opinion->vote;
    if (opinion->feedback.ptr != NULL) {
        r.feedback = writ_view_copy(opinion->feedback, errand->arena);
    }
    vote(errand, &r);
}

static WRIT_RESULT
put_review(struct writ_review_request *errand, const struct writ_entry_review_get *get,
    const struct writ_config *config, struct writ_buf *ret)
{
    struct writ_view voter = errand->reviewer->config->id;
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "type", WRIT_LIT("review"));
    writ_write_text(&w, "voter", voter);
    WRIT_TRY(writ_review_answer_put_call(&w, get, voter, config, errand->arena, NULL));
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
ask(struct writ_review_request *errand, const struct writ_entry_review_get *get)
{
    struct writ_worker *worker = errand->reviewer->all->worker;
    const struct writ_config *config = worker->generation->config;
    struct writ_buf json = writ_buf_in(errand->arena, JSON_MAX);

    for (size_t i = 0; i < sizeof errand->digest; i++) {
        errand->digest[i] = get->told.digest[i];
    }
    errand->whole = writ_prompt_is_whole(get->arguments);
    errand->stage = WRIT_REVIEW_REQUEST_OUT;
    if (errand->reviewer->config->kind == WRIT_REVIEWER_OPINIONS) {
        give_opinion(errand, get, writ_config_reviewer(config, errand->reviewer->config->id));
    } else if (!writ_is_ok(put_review(errand, get, config, &json))) {
        writ_review_request_failed(errand, "memory");
    } else if (errand->reviewer->config->kind == WRIT_REVIEWER_WEBHOOK) {
        writ_reviewer_hook_ask(errand, writ_buf_view(&json));
    } else {
        writ_reviewer_worker_ask(errand, writ_buf_view(&json));
        again_soon(errand->reviewer); /* it has a time */
    }
}

static bool
wants_vote(const struct writ_review_told *told, struct writ_view voter)
{
    const struct writ_review_voter *seat = writ_review_voter(&told->review, voter);

    return told->state == WRIT_REVIEW_OPEN && seat != NULL && seat->vote == WRIT_REVIEW_NO_VOTE;
}

static void
was_read(struct writ_post *post)
{
    struct writ_review_request *errand = post->ctx;
    const struct writ_entry_review_get *get = &errand->entry.review_get;

    if (errand->entry.code == WRIT_E_ABSENT) {
        writ_review_request_rests(errand);
    } else if (errand->entry.code != WRIT_OK) {
        writ_review_request_failed(errand, "ledger_unavailable");
    } else if (errand->over || get->arguments.ptr == NULL ||
               !wants_vote(&get->told, errand->reviewer->config->id)) {
        writ_review_request_rests(errand);
    } else if (errand->reviewer->config->kind == WRIT_REVIEWER_WORKER &&
               !writ_reviewer_worker_is_up(errand->reviewer)) {
        end_try(errand, WRIT_REVIEW_REQUEST_WAITS);
    } else {
        ask(errand, get);
    }
}

static void
start(struct writ_review_request *errand)
{
    struct writ_reviewer *reviewer = errand->reviewer;

    reviewer->out++;
    errand->stage = WRIT_REVIEW_REQUEST_READS;
    errand->arena = writ_arena_new(TRY_ARENA);
    if (errand->arena == NULL) {
        writ_review_request_failed(errand, "memory");
        return;
    }
    errand->entry =
        (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = errand->id}};
    submit(errand, was_read);
}

/* ---- one reviewer */

static bool
may_start(const struct writ_reviewer *reviewer)
{
    return reviewer->out < WRIT_REVIEWERS_OUT_MAX &&
           (reviewer->config->kind != WRIT_REVIEWER_WORKER || writ_reviewer_worker_is_up(reviewer));
}

static bool
is_timed(const struct writ_review_request *errand)
{
    return errand->stage == WRIT_REVIEW_REQUEST_OUT &&
           errand->reviewer->config->kind == WRIT_REVIEWER_WORKER;
}

/* When there is something to do again; INT64_MAX: when something comes back, or the worker is up.
 */
static int64_t
next_due(const struct writ_reviewer *reviewer, int64_t now_us)
{
    const struct writ_review_request *errand;
    int64_t next_us = INT64_MAX;

    TAILQ_FOREACH(errand, &reviewer->errands, link)
    {
        bool waits = errand->stage == WRIT_REVIEW_REQUEST_WAITS &&
                     (errand->due_us > now_us || may_start(reviewer));

        if ((waits || is_timed(errand)) && errand->due_us < next_us) {
            next_us = errand->due_us;
        }
    }
    return next_us;
}

void
writ_review_requests_pump(struct writ_reviewer *reviewer)
{
    struct writ_loop *loop = reviewer->all->worker->loop;
    int64_t now_us = writ_loop_now_us(loop), next_us;
    struct writ_review_request *errand, *next;

    for (errand = TAILQ_FIRST(&reviewer->errands); errand != NULL; errand = next) {
        next = TAILQ_NEXT(errand, link);
        if (is_timed(errand) && errand->due_us <= now_us) {
            writ_reviewer_worker_recall(errand);
            writ_review_request_failed(errand, "timeout");
        } else if (errand->stage == WRIT_REVIEW_REQUEST_WAITS && errand->due_us <= now_us &&
                   may_start(reviewer)) {
            start(errand);
        }
    }
    next_us = next_due(reviewer, now_us);
    if (next_us != INT64_MAX) {
        writ_loop_timer_set(loop, &reviewer->timer, next_us);
    }
}

static void
pump_again(struct writ_timer *timer)
{
    writ_review_requests_pump(timer->ctx);
}

static struct writ_review_request *
errand_for(struct writ_reviewer *reviewer, struct writ_view id)
{
    struct writ_review_request *errand;

    TAILQ_FOREACH(errand, &reviewer->errands, link)
    {
        if (!errand->over && writ_view_equal(errand->id, id)) {
            return errand;
        }
    }
    return NULL;
}

static struct writ_review_request *
add(struct writ_reviewer *reviewer, struct writ_view id)
{
    struct writ_arena *own = writ_arena_new_small(OWN_ARENA);
    struct writ_review_request *errand = own != NULL ? writ_arena_get(own, sizeof *errand) : NULL;

    if (errand != NULL) {
        *errand = (struct writ_review_request){
            .reviewer = reviewer, .own = own, .id = writ_view_copy(id, own)};
    }
    if (errand == NULL || errand->id.ptr == NULL) {
        writ_arena_free(own);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&reviewer->errands, errand, link);
    return errand;
}

/* Its answer is no longer wanted. */
static void
take_back(struct writ_review_request *errand)
{
    switch (errand->stage) {
    case WRIT_REVIEW_REQUEST_WAITS:
    case WRIT_REVIEW_REQUEST_RESTS:
        drop(errand);
        break;
    case WRIT_REVIEW_REQUEST_READS:
    case WRIT_REVIEW_REQUEST_VOTES:
        errand->over = true;
        break;
    case WRIT_REVIEW_REQUEST_OUT:
        errand->over = true;
        if (errand->call != NULL) {
            writ_http_client_cancel(errand->call);
        } else {
            writ_reviewer_worker_recall(errand);
            writ_review_request_rests(errand);
        }
        break;
    }
}

/* What a review looks like now: is there something to ask this reviewer? */
static bool
look(struct writ_reviewer *reviewer, const struct writ_review_told *told)
{
    struct writ_review_request *errand = errand_for(reviewer, told->review.id);

    if (!wants_vote(told, reviewer->config->id)) {
        if (errand != NULL) {
            take_back(errand);
        }
        return true;
    }
    if (errand == NULL) {
        errand = add(reviewer, told->review.id);
    }
    if (errand != NULL) {
        errand->seen = true;
    }
    return errand != NULL;
}

/* ---- watching */

static void watch(struct writ_reviewers *all);

/* After all that live were told: what was not among them is over. */
static void
forget_unseen(struct writ_reviewer *reviewer)
{
    struct writ_review_request *errand, *next;

    for (errand = TAILQ_FIRST(&reviewer->errands); errand != NULL; errand = next) {
        next = TAILQ_NEXT(errand, link);
        if (!errand->seen && !errand->over) {
            take_back(errand);
        }
    }
}

/* False: there is no memory for one of them, and all are looked at again. */
static bool
look_at_all(struct writ_reviewer *reviewer, const struct writ_entry_review_watch *now)
{
    struct writ_review_request *errand;
    bool done = true;

    TAILQ_FOREACH(errand, &reviewer->errands, link)
    {
        errand->seen = !now->anew;
    }
    for (size_t i = 0; i < now->n; i++) {
        done = look(reviewer, &now->items[i]) && done;
    }
    forget_unseen(reviewer);
    writ_review_requests_pump(reviewer);
    return done;
}

static void
changed(struct writ_post *post)
{
    struct writ_reviewers *all = post->ctx;
    const struct writ_entry_review_watch *now = &all->entry.review_watch;
    bool done = all->entry.code == WRIT_OK;

    for (size_t i = 0; all->entry.code == WRIT_OK && i < all->n; i++) {
        done = look_at_all(&all->list[i], now) && done;
    }
    if (done) {
        all->at = now->at;
        watch(all);
    } else {
        writ_loop_timer_set(
            all->worker->loop, &all->again, writ_loop_now_us(all->worker->loop) + AGAIN_US);
    }
}

static void
watch_done(struct writ_entry *entry)
{
    struct writ_reviewers *all = entry->user;

    writ_loop_answer(all->worker->loop, &all->post);
}

static void
watch(struct writ_reviewers *all)
{
    writ_arena_free(WRIT_TAKE(all->arena));
    all->arena = writ_arena_new(WATCH_ARENA);
    if (all->arena == NULL) {
        writ_loop_timer_set(
            all->worker->loop, &all->again, writ_loop_now_us(all->worker->loop) + AGAIN_US);
        return;
    }
    all->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_WATCH,
        .done = watch_done,
        .user = all,
        .arena = all->arena,
        .review_watch = {
            .since = all->at, .until_us = writ_clock_wall_us(all->gateway->clock) + ROUND_US}};
    all->post = (struct writ_post){.fn = changed, .ctx = all};
    writ_worker_submit(all->worker, &all->entry);
}

static void
watch_again(struct writ_timer *timer)
{
    watch(timer->ctx);
}

static void
begin(struct writ_post *post)
{
    watch(post->ctx);
}

/* ---- opening and closing */

static WRIT_RESULT
open_one(struct writ_reviewer *reviewer, struct writ_err *err)
{
    switch (reviewer->config->kind) {
    case WRIT_REVIEWER_WEBHOOK:
        return writ_reviewer_hook_open(reviewer, err);
    case WRIT_REVIEWER_WORKER:
        return writ_reviewer_worker_open(reviewer, err);
    case WRIT_REVIEWER_OPINIONS:
    case WRIT_REVIEWER_ASKS:
        break;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_all(struct writ_reviewers *all, struct writ_err *err)
{
    const struct writ_config *config = all->gateway->config;

    for (size_t i = 0; i < config->reviewers_n; i++) {
        struct writ_reviewer *reviewer = &all->list[all->n];

        if (config->reviewers[i].kind != WRIT_REVIEWER_ASKS) {
            *reviewer = (struct writ_reviewer){.all = all, .config = &config->reviewers[i]};
            TAILQ_INIT(&reviewer->errands);
            reviewer->timer = (struct writ_timer){.fn = pump_again, .ctx = reviewer};
            all->n++;
            WRIT_TRY(open_one(reviewer, err));
        }
    }
    all->post = (struct writ_post){.fn = begin, .ctx = all};
    return writ_loop_post(all->worker->loop, &all->post);
}

WRIT_RESULT
writ_reviewers_open(struct writ_gateway *gateway, struct writ_reviewers **ret, struct writ_err *err)
{
    size_t n = gateway->config->reviewers_n;
    struct writ_reviewers *all = n > 0 ? writ_alloc(sizeof *all) : NULL;

    if (n == 0) {
        return WRIT_DONE;
    }
    if (all == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the reviewers");
    }
    *all = (struct writ_reviewers){.gateway = gateway,
        .worker = &gateway->workers[0],
        .list = writ_alloc(n * sizeof *all->list)};
    all->again = (struct writ_timer){.fn = watch_again, .ctx = all};
    *ret = all; /* closed by its owner, whatever happens here */
    if (all->list == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the reviewers");
    }
    return open_all(all, err);
}

void
writ_reviewers_end(struct writ_reviewers *reviewers)
{
    if (reviewers == NULL) {
        return;
    }
    reviewers->ending = true;
    writ_loop_timer_cancel(&reviewers->again);
    for (size_t i = 0; i < reviewers->n; i++) {
        struct writ_reviewer *reviewer = &reviewers->list[i];
        struct writ_review_request *errand;

        TAILQ_FOREACH(errand, &reviewer->errands, link)
        {
            errand->over = true; /* whatever comes now is not told */
        }
        writ_loop_timer_cancel(&reviewer->timer);
        writ_http_client_close(WRIT_TAKE(reviewer->client));
        writ_child_close(WRIT_TAKE(reviewer->child));
    }
}

void
writ_reviewers_free(struct writ_reviewers *reviewers)
{
    if (reviewers == NULL) {
        return;
    }
    for (size_t i = 0; i < reviewers->n; i++) {
        while (!TAILQ_EMPTY(&reviewers->list[i].errands)) {
            drop(TAILQ_FIRST(&reviewers->list[i].errands));
        }
        writ_buf_wipe_secret(&reviewers->list[i].secret);
    }
    writ_arena_free(reviewers->arena);
    writ_free(reviewers->list);
    writ_free(reviewers);
}
