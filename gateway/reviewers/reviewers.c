/* reviewers.c - watches the reviews, and has one request for each open review and configured
 * reviewer: never two for the same. */
#include "gateway/reviewers/reviewers.h"

#include "base/text.h"
#include "crew/prompt.h"
#include "gateway/admin/review_answer.h"
#include "gateway/reviewers/crew_roster.h"
#include "gateway/reviewers/review_request.h"
#include "gateway/reviewers/review_watch.h"
#include "gateway/reviewers/reviewer_crew.h"
#include "gateway/reviewers/reviewer_hook.h"
#include "gateway/reviewers/reviewer_worker.h"
#include "policy/decide/opinion.h"

#define JSON_MAX ((size_t)32 << 20)
#define REQUESTS 65536 /* of a reviewer; more only make it slower */

struct writ_reviewers {
    struct writ_gateway *gateway;
    struct writ_worker *worker; /* of the first loop */
    struct writ_reviewer *list;
    size_t n;
    struct writ_review_watch watch;
};

/* ---- asking */

/* The reviewer that is a policy itself: it votes at once, or never. */
static void
give_opinion(struct writ_review_request *request, const struct writ_entry_review_get *get,
    const struct writ_reviewer_config *now)
{
    const struct writ_json *arguments = NULL;
    const struct writ_opinion *opinion = NULL;
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE,
        .by = request->reviewer->config->id,
        .digest = writ_view_str(request->digest)};

    if (now != NULL && writ_is_ok(writ_json_read(get->arguments, &writ_json_limits_default,
                           request->arena, &arguments, NULL))) {
        opinion = writ_opinion_of(now, arguments, request->arena);
    }
    if (opinion == NULL) {
        writ_review_request_rests(request);
        return;
    }
    r.vote = opinion->vote;
    if (opinion->feedback.ptr != NULL) {
        r.feedback = writ_view_copy(opinion->feedback, request->arena);
    }
    writ_review_request_vote(request, &r);
}

static WRIT_RESULT
put_review(struct writ_review_request *request, const struct writ_entry_review_get *get,
    const struct writ_config *config, struct writ_buf *ret)
{
    struct writ_view voter = request->reviewer->config->id;
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "type", WRIT_LIT("review"));
    writ_write_text(&w, "voter", voter);
    WRIT_TRY(writ_review_answer_put_call(&w, get, voter, config, request->arena, NULL));
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
ask(struct writ_review_request *request, const struct writ_entry_review_get *get)
{
    struct writ_worker *worker = request->reviewer->worker;
    const struct writ_config *config = worker->generation->config;
    struct writ_buf json = writ_buf_in(request->arena, JSON_MAX);

    for (size_t i = 0; i < sizeof request->digest; i++) {
        request->digest[i] = get->told.digest[i];
    }
    request->whole = writ_prompt_is_whole(writ_entry_review_shown(get));
    request->stage = WRIT_REVIEW_REQUEST_OUT;
    if (request->reviewer->config->kind == WRIT_REVIEWER_OPINIONS) {
        give_opinion(request, get, writ_config_reviewer(config, request->reviewer->config->id));
    } else if (!writ_is_ok(put_review(request, get, config, &json))) {
        writ_review_request_failed(request, "memory");
    } else if (request->reviewer->config->kind == WRIT_REVIEWER_WEBHOOK) {
        writ_reviewer_hook_ask(request, writ_buf_view(&json));
    } else if (request->reviewer->config->kind == WRIT_REVIEWER_CREW) {
        writ_reviewer_crew_ask(request, writ_buf_view(&json));
    } else {
        writ_reviewer_worker_ask(request, writ_buf_view(&json));
        writ_review_requests_wake(request->reviewer); /* it has a time */
    }
}

/* A stand-in whose delegation has ended votes no more. */
static bool
wants_vote(const struct writ_reviewer *reviewer, const struct writ_review_told *told)
{
    const struct writ_review_voter *seat = writ_review_voter(&told->review, reviewer->config->id);

    return told->state == WRIT_REVIEW_OPEN && seat != NULL && seat->vote == WRIT_REVIEW_NO_VOTE &&
           writ_review_may_vote(
               &told->review, seat, writ_clock_wall_us(reviewer->worker->gateway->clock));
}

static void
was_read(struct writ_post *post)
{
    struct writ_review_request *request = post->ctx;
    const struct writ_entry_review_get *get = &request->entry.review_get;

    if (request->entry.code == WRIT_E_ABSENT) {
        writ_review_request_rests(request);
    } else if (request->entry.code != WRIT_OK) {
        writ_review_request_failed(request, "ledger_unavailable");
    } else if (request->over || get->arguments.ptr == NULL ||
               !wants_vote(request->reviewer, &get->told)) {
        writ_review_request_rests(request);
    } else if (request->reviewer->config->kind == WRIT_REVIEWER_WORKER &&
               !writ_reviewer_worker_is_up(request->reviewer)) {
        writ_review_request_waits(request);
    } else {
        ask(request, get);
    }
}

/* ---- one reviewer */

static bool
may_start(const struct writ_reviewer *reviewer)
{
    size_t most = reviewer->config->kind == WRIT_REVIEWER_CREW ? WRIT_REVIEWER_CREW_RUNS
                                                               : WRIT_REVIEW_REQUESTS_MAX;

    return reviewer->out < most &&
           (reviewer->config->kind != WRIT_REVIEWER_WORKER || writ_reviewer_worker_is_up(reviewer));
}

static bool
is_timed(const struct writ_review_request *request)
{
    return request->stage == WRIT_REVIEW_REQUEST_OUT &&
           request->reviewer->config->kind == WRIT_REVIEWER_WORKER;
}

/* The one that waits and is due first, or NULL. */
static struct writ_review_request *
first_waiting(const struct writ_reviewer *reviewer)
{
    return WRIT_ORDER_OF(
        writ_order_from(&reviewer->waiting, 0), struct writ_review_request, by_due);
}

/* When the next request is due; INT64_MAX: when an operation ends, or the worker is up. */
static int64_t
next_due(const struct writ_reviewer *reviewer, int64_t now_us)
{
    const struct writ_review_request *request = first_waiting(reviewer);
    int64_t next_us = INT64_MAX;

    if (request != NULL && ((int64_t)request->by_due.key > now_us || may_start(reviewer))) {
        next_us = (int64_t)request->by_due.key;
    }
    TAILQ_FOREACH(request, &reviewer->going, beside)
    {
        if (is_timed(request) && request->due_us < next_us) {
            next_us = request->due_us;
        }
    }
    return next_us;
}

static void
pump(struct writ_reviewer *reviewer)
{
    struct writ_loop *loop = reviewer->worker->loop;
    int64_t now_us = writ_loop_now_us(loop), next_us;
    struct writ_review_request *request, *next;

    for (request = TAILQ_FIRST(&reviewer->going); request != NULL; request = next) {
        next = TAILQ_NEXT(request, beside);
        if (is_timed(request) && request->due_us <= now_us) {
            writ_reviewer_worker_recall(request);
            writ_review_request_failed(request, "timeout");
        }
    }
    for (request = first_waiting(reviewer);
         request != NULL && (int64_t)request->by_due.key <= now_us && may_start(reviewer);
         request = first_waiting(reviewer)) {
        writ_review_request_read(request, was_read); /* one that fails waits for later */
    }
    next_us = next_due(reviewer, now_us);
    if (next_us != INT64_MAX) {
        writ_loop_timer_set(loop, &reviewer->timer, next_us);
    }
}

static void
pump_again(struct writ_timer *timer)
{
    pump(timer->ctx);
}

/* Its answer is no longer needed. */
static void
take_back(struct writ_review_request *request)
{
    switch (request->stage) {
    case WRIT_REVIEW_REQUEST_WAITS:
    case WRIT_REVIEW_REQUEST_RESTS:
        writ_review_request_free(request);
        break;
    case WRIT_REVIEW_REQUEST_READS:
    case WRIT_REVIEW_REQUEST_VOTES:
        request->over = true;
        break;
    case WRIT_REVIEW_REQUEST_OUT:
        request->over = true;
        if (request->call != NULL) {
            writ_http_client_cancel(request->call);
        } else if (request->crew != NULL) {
            writ_reviewer_crew_recall(request);
        } else {
            writ_reviewer_worker_recall(request);
            writ_review_request_rests(request);
        }
        break;
    }
}

/* Decides from the present state of a review whether this reviewer must be asked. */
static bool
look(struct writ_reviewer *reviewer, const struct writ_review_told *told)
{
    struct writ_review_request *request = writ_review_request_find(reviewer, told->review.id);

    if (!wants_vote(reviewer, told)) {
        if (request != NULL) {
            take_back(request);
        }
        return true;
    }
    if (request == NULL) {
        request = writ_review_request_new(reviewer, told->review.id);
    }
    if (request != NULL) {
        request->seen = true;
    }
    return request != NULL;
}

/* ---- watching */

/* At the end of a list of all that are open: the other ones are over. */
static void
forget_unseen(struct writ_reviewer *reviewer)
{
    struct writ_review_request *request, *next;

    for (request = TAILQ_FIRST(&reviewer->requests); request != NULL; request = next) {
        next = TAILQ_NEXT(request, link);
        if (!request->seen && !request->over) {
            take_back(request);
        }
    }
}

/* False: no memory for one of them, and all are checked again. */
static bool
look_at_all(struct writ_reviewer *reviewer, const struct writ_entry_review_watch *now)
{
    struct writ_review_request *request;
    bool done = true;

    TAILQ_FOREACH(request, &reviewer->requests, link)
    {
        request->seen = request->seen && (!now->reset || now->from > 0);
    }
    for (size_t i = 0; i < now->n; i++) {
        done = look(reviewer, &now->items[i]) && done;
    }
    if (now->reset && now->next == 0 && done) {
        forget_unseen(reviewer);
    }
    pump(reviewer);
    return done;
}

static bool
changed(void *ctx, const struct writ_entry_review_watch *now)
{
    struct writ_reviewers *all = ctx;
    bool done = true;

    for (size_t i = 0; i < all->n; i++) {
        done = look_at_all(&all->list[i], now) && done;
    }
    return done;
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
    case WRIT_REVIEWER_CREW:
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

    WRIT_TRY(writ_crew_roster_check(config, err));
    for (size_t i = 0; i < config->reviewers_n; i++) {
        struct writ_reviewer *reviewer = &all->list[all->n];

        if (config->reviewers[i].kind != WRIT_REVIEWER_ASKS) {
            *reviewer = (struct writ_reviewer){
                .gateway = all->gateway, .worker = all->worker, .config = &config->reviewers[i]};
            TAILQ_INIT(&reviewer->requests);
            TAILQ_INIT(&reviewer->going);
            reviewer->timer = (struct writ_timer){.fn = pump_again, .ctx = reviewer};
            all->n++;
            WRIT_TRY(writ_map_init(&reviewer->by_id, REQUESTS, err));
            WRIT_TRY(open_one(reviewer, err));
        }
    }
    return writ_review_watch_start(&all->watch);
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
    all->watch = (struct writ_review_watch){.worker = all->worker, .changed = changed, .ctx = all};
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
    writ_review_watch_end(&reviewers->watch);
    for (size_t i = 0; i < reviewers->n; i++) {
        struct writ_reviewer *reviewer = &reviewers->list[i];
        struct writ_review_request *request;

        reviewer->ending = true;
        TAILQ_FOREACH(request, &reviewer->requests, link)
        {
            request->over = true; /* later answers are ignored */
            writ_reviewer_crew_free(WRIT_TAKE(request->crew));
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
        while (!TAILQ_EMPTY(&reviewers->list[i].requests)) {
            writ_review_request_free(TAILQ_FIRST(&reviewers->list[i].requests));
        }
        writ_map_wipe(&reviewers->list[i].by_id);
        writ_buf_wipe_secret(&reviewers->list[i].secret);
    }
    writ_review_watch_wipe(&reviewers->watch);
    writ_free(reviewers->list);
    writ_free(reviewers);
}
