/* One run of a crew for one try of a request.
 *
 * 1. A run concludes once, when its processes are gone, in a task of its own: nothing is freed
 * inside a function that it calls.
 * 2. It votes only when its session has completed with a value that is a vote, and its log is whole
 *    and sealed. Every other end is a failed try. */
#include "gateway/reviewers/reviewer_crew.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "gateway/crews/drive.h"
#include "gateway/io/exec_env.h"
#include "gateway/reviewers/crew_roster.h"
#include "gateway/reviewers/crew_verdict.h"

#define CREW_ID_MAX 512
#define NAME_BYTES  8 /* of the digest of the reviewer's name, in the id of the crew */

struct writ_reviewer_crew {
    struct writ_review_request *request;
    const struct writ_config *config; /* held: the texts and terms of the run */
    struct writ_exec_env around;
    struct writ_roster roster;
    struct writ_recording *recording;
    struct writ_drive drive;
    struct writ_buf id, log;
    struct writ_timer limit;
    struct writ_task task; /* concludes */
};

static struct writ_loop *
loop_of(const struct writ_reviewer_crew *crew)
{
    return crew->request->reviewer->worker->loop;
}

static const struct writ_crew_config *
config_of(const struct writ_reviewer_crew *crew)
{
    return writ_config_reviewer(crew->config, crew->request->reviewer->config->id)->crew;
}

void
writ_reviewer_crew_free(struct writ_reviewer_crew *crew)
{
    if (crew == NULL) {
        return;
    }
    writ_loop_timer_cancel(&crew->limit);
    writ_loop_undefer(&crew->task);
    writ_drive_wipe(&crew->drive);
    writ_recording_free(crew->recording);
    writ_roster_wipe(&crew->roster);
    writ_exec_env_wipe(&crew->around);
    writ_buf_wipe(&crew->id);
    writ_buf_wipe(&crew->log);
    writ_config_drop(crew->config);
    writ_free(crew);
}

/* ---- the verdict: keeps (2) */

/* Why the crew gave no output; NULL when it gave one. */
static const char *
why_undecided(const struct writ_reviewer_crew *crew)
{
    if (crew->drive.failed.code != WRIT_E_UNSET) {
        return crew->drive.failed.code == WRIT_E_LIMIT ? "crew_too_large" : "crew_failed";
    }
    if (writ_drive_resolved(&crew->drive)) {
        return NULL;
    }
    return crew->drive.timed_out ? "timeout" : "undecided";
}

static const struct writ_sealed *
seal_log(const struct writ_reviewer_crew *crew, struct writ_arena *arena)
{
    const struct writ_worker *worker = crew->request->reviewer->worker;
    const struct writ_wrap_key *key = writ_keyring_wrap(worker->generation->keyring);
    struct writ_sealed *sealed = writ_arena_get(arena, sizeof *sealed);
    const struct writ_content_of of = {.decision_id = crew->request->id,
        .part = WRIT_CONTENT_CREW_LOG,
        .expires_us = writ_clock_wall_us(crew->request->reviewer->gateway->clock) +
                      config_of(crew)->keep_log_us};

    return key != NULL && sealed != NULL &&
                   writ_is_ok(
                       writ_content_seal(key, &of, writ_buf_view(&crew->log), arena, sealed, NULL))
               ? sealed
               : NULL;
}

/* Reads the vote and seals the log, in the arena of the try. Returns why it cannot, or NULL. */
static const char *
take_verdict(struct writ_reviewer_crew *crew, struct writ_entry_review *ret)
{
    struct writ_review_request *request = crew->request;
    struct writ_view output = writ_view_copy(writ_buf_view(&crew->drive.output), request->arena);
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    if (output.ptr == NULL || !writ_is_ok(writ_recording_close(crew->recording, NULL)) ||
        !writ_is_ok(writ_digest_bytes(writ_buf_view(&crew->log), &digest, NULL))) {
        return "crew_too_large";
    }
    if (!writ_is_ok(writ_crew_verdict_read(output, writ_view_str(request->digest),
            request->reviewer->config->id, request->arena, ret, NULL))) {
        return "no_vote";
    }
    writ_digest_text(&digest, text);
    ret->first = true;
    ret->crew_log = writ_view_copy(writ_view_str(text), request->arena);
    ret->content = seal_log(crew, request->arena);
    return ret->content != NULL && ret->crew_log.ptr != NULL ? NULL : "log_not_sealed";
}

static void
conclude(struct writ_task *task)
{
    struct writ_reviewer_crew *crew = task->ctx;
    struct writ_review_request *request = crew->request;
    struct writ_entry_review vote = {.event = WRIT_REVIEW_DO_VOTE};
    const char *why = NULL;

    if (!request->over) {
        why = why_undecided(crew);
        why = why != NULL ? why : take_verdict(crew, &vote);
    }
    writ_reviewer_crew_free(WRIT_TAKE(request->crew));
    if (request->over) {
        writ_review_request_rests(request);
    } else if (why != NULL) {
        writ_review_request_failed(request, why);
    } else {
        writ_review_request_vote(request, &vote);
    }
}

/* ---- what the drive calls */

static double
now_ms(void *ctx)
{
    return writ_drive_now_ms(&((const struct writ_reviewer_crew *)ctx)->drive);
}

static void
on_failed(void *ctx, struct writ_view agent, const char *why)
{
    const struct writ_reviewer_crew *crew = ctx;
    const struct writ_reviewer *reviewer = crew->request->reviewer;

    WRIT_LOG(reviewer->gateway->log, WRIT_EVENT_REVIEWER_AGENT_FAILED,
        writ_log_text("reviewer", reviewer->config->id), writ_log_text("review", crew->request->id),
        writ_log_text("agent", agent), writ_log_str("why", why));
}

static void
on_log(void *ctx, struct writ_view worker, struct writ_view line, uint64_t dropped)
{
    const struct writ_reviewer_crew *crew = ctx;
    const struct writ_reviewer *reviewer = crew->request->reviewer;

    (void)worker;
    WRIT_LOG(reviewer->gateway->log, WRIT_EVENT_REVIEWER_STDERR,
        writ_log_text("reviewer", reviewer->config->id), writ_log_text("line", line),
        writ_log_int("dropped", (int64_t)dropped));
}

/* keeps (1) */
static void
on_gone(void *ctx)
{
    struct writ_reviewer_crew *crew = ctx;

    writ_loop_defer(loop_of(crew), &crew->task, WRIT_LOOP_SOON);
}

static writ_result
keep_line(void *user, struct writ_view line, struct writ_err *err)
{
    struct writ_buf *log = user;

    writ_buf_put(log, line);
    writ_buf_byte(log, '\n');
    return writ_buf_check(log, err);
}

/* One that has ended only waits for its processes. */
static void
cancel(struct writ_drive *drive, enum writ_crew_abort reason)
{
    if (!drive->ending) {
        writ_drive_cancel(drive, reason);
    }
}

static void
on_limit(struct writ_timer *timer)
{
    cancel(timer->ctx, WRIT_CREW_TIMEOUT);
}

/* ---- a run */

/* The id of the review and, since it may have several crews, what stands for the reviewer. */
static WRIT_RESULT
put_id(struct writ_reviewer_crew *crew, struct writ_err *err)
{
    struct writ_digest name;

    WRIT_TRY(writ_digest_bytes(crew->request->reviewer->config->id, &name, err));
    writ_buf_put(&crew->id, crew->request->id);
    writ_buf_byte(&crew->id, '.');
    writ_hex_put(&crew->id, name.bytes, NAME_BYTES);
    return writ_buf_check(&crew->id, err);
}

static WRIT_RESULT
open_workers(struct writ_reviewer_crew *crew, struct writ_err *err)
{
    const struct writ_reviewer_config *config = crew->request->reviewer->config;
    const struct writ_workers_options options = {.argv = crew->around.argv,
        .environment = crew->around.environment,
        .directory = config->directory.len > 0 ? config->directory.ptr : NULL,
        .shared = config_of(crew)->shared};

    WRIT_TRY(writ_exec_env_make(
        &config->argv, &config->inherit, &config->environment, &crew->around, err));
    return writ_drive_work(&crew->drive, &options, loop_of(crew), err);
}

static WRIT_RESULT
open_run(struct writ_reviewer_crew *crew, struct writ_err *err)
{
    const struct writ_recording_options options = {.roster = &crew->roster,
        .crew_id = writ_buf_view(&crew->id),
        .default_timeout_ms = (double)(crew->request->reviewer->config->timeout_us / 1000),
        .has_pool = true,
        .pool_max = WRIT_REVIEWER_CREW_POOL,
        .sink = keep_line,
        .user = &crew->log};

    WRIT_TRY(writ_crew_roster_open(config_of(crew), &crew->roster, err));
    WRIT_TRY(writ_recording_open(&options, &crew->recording, err));
    crew->drive.recording = crew->recording;
    return open_workers(crew, err);
}

static struct writ_reviewer_crew *
run_new(struct writ_review_request *request)
{
    static const struct writ_drive_owner owner = {
        .now_ms = now_ms, .on_failed = on_failed, .on_log = on_log, .on_gone = on_gone};
    struct writ_reviewer_crew *crew = writ_alloc(sizeof *crew);

    if (crew != NULL) {
        *crew = (struct writ_reviewer_crew){.request = request,
            .config = writ_config_hold(request->reviewer->worker->generation->config),
            .id = writ_buf_make(CREW_ID_MAX),
            .log = writ_buf_make(WRIT_REVIEWER_CREW_LOG_MAX)};
        crew->limit = (struct writ_timer){.fn = on_limit, .ctx = &crew->drive};
        crew->task = (struct writ_task){.fn = conclude, .ctx = crew};
        writ_drive_init(&crew->drive, &owner, crew);
    }
    return crew;
}

/* The prompt is the task: agents of a consensual crew see it when they choose who judges the call.
 */
static WRIT_RESULT
put_task(struct writ_review_request *request, struct writ_view json, struct writ_buf *ret)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *review = NULL;
    struct writ_write w = writ_write_to(ret);

    limits.bytes = json.len;
    WRIT_TRY(writ_json_read(json, &limits, request->arena, &review, NULL));
    writ_write_object_begin(&w);
    writ_write_text(&w, "description", writ_json_string(writ_json_get(review, WRIT_LIT("prompt"))));
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
start_run(struct writ_reviewer_crew *crew, struct writ_view json, struct writ_view task)
{
    struct writ_review_request *request = crew->request;
    int64_t wall_us = writ_clock_wall_us(request->reviewer->gateway->clock);

    writ_loop_timer_set(loop_of(crew), &crew->limit,
        writ_loop_now_us(loop_of(crew)) + request->reviewer->config->timeout_us);
    writ_drive_begin(&crew->drive, (double)(wall_us / 1000));
    writ_drive_start(&crew->drive, json, task);
}

void
writ_reviewer_crew_ask(struct writ_review_request *request, struct writ_view json)
{
    const struct writ_config *config = request->reviewer->worker->generation->config;
    const struct writ_reviewer_config *now =
        writ_config_reviewer(config, request->reviewer->config->id);
    struct writ_buf task = writ_buf_in(request->arena, json.len + WRIT_REVIEW_NAME_MAX);
    struct writ_reviewer_crew *crew = NULL;

    if (now == NULL || now->crew == NULL) {
        writ_review_request_failed(request, "not_a_crew_any_more");
        return;
    }
    crew = run_new(request);
    if (crew == NULL || !writ_is_ok(put_id(crew, NULL)) || !writ_is_ok(open_run(crew, NULL)) ||
        !writ_is_ok(put_task(request, json, &task))) {
        writ_reviewer_crew_free(crew);
        writ_review_request_failed(request, "crew_not_started");
        return;
    }
    request->crew = crew;
    start_run(crew, json, writ_buf_view(&task));
}

void
writ_reviewer_crew_recall(struct writ_review_request *request)
{
    cancel(&request->crew->drive, WRIT_CREW_CANCELLED);
}
