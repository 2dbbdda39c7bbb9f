/* reviewer_worker.c - a worker: a process (child.h) that reads reviews as lines of JSON and writes
 * votes, each with the id of its review. It is started at once, and again when it ends, with
 * back-off; its open requests are failed tries then, so that one review that crashes it does not
 * stop the others.
 */
#include "gateway/reviewers/reviewer_worker.h"

#include "gateway/admin/review_ballot.h"
#include "gateway/io/child.h"
#include "gateway/io/exec_env.h"

#define LINE_ARENA ((size_t)4 << 20) /* to find out which review a line is for */

/* ---- what it says */

static void
on_up(void *ctx, struct writ_child *child)
{
    struct writ_reviewer *reviewer = ctx;

    (void)child;
    reviewer->told = false;
    writ_review_requests_wake(reviewer);
}

/* A line for no open request is late, or nonsense: it is skipped. */
static void
on_line(void *ctx, struct writ_child *child, struct writ_view line)
{
    struct writ_arena *arena = writ_arena_new(LINE_ARENA);
    const struct writ_json *value = NULL;
    struct writ_review_request *request = NULL;

    (void)child;
    if (arena != NULL &&
        writ_is_ok(writ_json_read(line, &writ_json_limits_default, arena, &value, NULL))) {
        request =
            writ_review_request_find(ctx, writ_json_string(writ_json_get(value, WRIT_LIT("id"))));
    }
    writ_arena_free(arena);
    if (request != NULL && request->stage == WRIT_REVIEW_REQUEST_OUT) {
        writ_review_request_answered(request, line);
    }
}

/* For a worker that got no call, also its last text on standard error. */
static void
log_end(const struct writ_reviewer *reviewer, const struct writ_child_end *end)
{
    struct writ_log_field fields[3 + WRIT_CHILD_LOG_FIELDS] = {
        writ_log_text("reviewer", reviewer->config->id),
        writ_log_text("program", reviewer->config->argv.items[0]),
        writ_log_int("restart_us", end->restart_us),
    };
    size_t n = 3 + writ_child_log_end(end, !reviewer->told, fields + 3);

    writ_log_write(reviewer->gateway->log, WRIT_EVENT_REVIEWER_ENDED, fields, n);
}

static void
on_down(void *ctx, struct writ_child *child, const struct writ_child_end *end)
{
    struct writ_reviewer *reviewer = ctx;
    struct writ_review_request *request, *next;

    (void)child;
    log_end(reviewer, end);
    for (request = TAILQ_FIRST(&reviewer->going); request != NULL; request = next) {
        next = TAILQ_NEXT(request, beside);
        if (request->stage == WRIT_REVIEW_REQUEST_OUT) {
            writ_review_request_failed(request, "worker_ended");
        }
    }
}

static void
on_log(void *ctx, struct writ_child *child, struct writ_view line, uint64_t dropped)
{
    struct writ_reviewer *reviewer = ctx;

    (void)child;
    WRIT_LOG(reviewer->gateway->log, WRIT_EVENT_REVIEWER_STDERR,
        writ_log_text("reviewer", reviewer->config->id), writ_log_text("line", line),
        writ_log_int("dropped", (int64_t)dropped));
}

/* ---- what it gets */

WRIT_RESULT
writ_reviewer_worker_open(struct writ_reviewer *reviewer, struct writ_err *err)
{
    static const struct writ_child_handler handler = {
        .on_up = on_up, .on_line = on_line, .on_down = on_down, .on_log = on_log};
    const struct writ_reviewer_config *config = reviewer->config;
    WRIT_AUTO(struct writ_exec_env, writ_exec_env_wipe) around = {.argv = {NULL}};
    const struct writ_child_options options = {.argv = around.argv,
        .environment = around.environment,
        .directory = config->directory.len > 0 ? config->directory.ptr : NULL,
        .line_max = WRIT_REVIEW_BALLOT_MAX};

    WRIT_TRY(
        writ_exec_env_make(&config->argv, &config->inherit, &config->environment, &around, err));
    return writ_child_open(
        reviewer->worker->loop, &options, &handler, reviewer, &reviewer->child, err);
}

bool
writ_reviewer_worker_is_up(const struct writ_reviewer *reviewer)
{
    return writ_child_is_up(reviewer->child);
}

void
writ_reviewer_worker_ask(struct writ_review_request *request, struct writ_view json)
{
    struct writ_reviewer *reviewer = request->reviewer;
    uint64_t ticket = 0;

    request->due_us = writ_loop_now_us(reviewer->worker->loop) + reviewer->config->timeout_us;
    reviewer->told = true;
    if (!writ_is_ok(writ_child_send(reviewer->child, json, &ticket))) {
        writ_review_request_failed(request, "not_sent");
    }
}

void
writ_reviewer_worker_recall(struct writ_review_request *request)
{
    struct writ_buf line = writ_buf_in(request->arena, 1024 + request->id.len);
    uint64_t ticket = 0;

    writ_buf_str(&line, "{\"type\":\"closed\",\"id\":\"");
    writ_buf_put(&line, request->id); /* an id of the gateway: it needs no escape */
    writ_buf_str(&line, "\"}");
    if (writ_is_ok(writ_buf_check(&line, NULL))) {
        WRIT_IGNORE(writ_child_send(request->reviewer->child, writ_buf_view(&line), &ticket));
    }
}
