/* stream_merge.c - requests the streams of the upstreams, and merges their events: an answer goes
 * first to the call that awaits it. A source is not over while its upcall is open, its timer set,
 * or its handover away. keeps (1) of merged_stream.c */
#include "gateway/relay/stream_merge.h"

#include "gateway/relay/back.h"
#include "gateway/request/client_stream.h"
#include "gateway/call/inspect.h"
#include "gateway/relay/merged_stream.h"
#include "gateway/relay/listen.h"
#include "gateway/relay/recorded_answer.h"
#include "gateway/request/resume.h"
#include "gateway/review/meet.h"
#include "gateway/relay/pass.h"
#include "gateway/mcp/event_id.h"
#include "gateway/request/refusal.h"
#include "gateway/call/task_notification.h"
#include "gateway/request/upcall_request.h"

#define AGAIN_US      1000000  /* before a source is asked again, when its server did not say */
#define AGAIN_MIN_MS  50       /* at least, and */
#define AGAIN_MAX_US  30000000 /* at most, also when it stated one */
#define CONFLICT_US   200000   /* before asking again for what another connection still has */
#define CONFLICTS_MAX 15       /* in a row; then the refusal counts */
#define ANSWER_ARENA  65536
#define AWAY_MAX      64 /* notices about tasks and answers that one source holds at once */

static void start(struct writ_merge_source *source);

/* ---- the end ---- */

enum writ_step
writ_stream_merge_ended(struct writ_request *request)
{
    struct writ_merged_stream *merged = request->part;

    merged->live++; /* keeps (1) */
    writ_back_stop(merged->back);
    writ_listen_finish(merged);
    writ_merged_stream_wipe(merged);
    if (merged->resumes) {
        (void)atomic_fetch_sub(&request->session->resuming, 1);
    }
    return request->stream.open ? writ_client_stream_end(request, merged->whole)
                                : writ_pass_answer(request, &merged->refusal);
}

/* ---- an answer on a GET ---- */

/* An event that is away: carried to its call. */
struct away {
    struct writ_handover handover;
    struct writ_merge_source *source;
    struct writ_buf id; /* of its event */
};

static void source_ended(struct writ_merge_source *source);

static struct writ_sse_event
answer_event(struct writ_view event_id, struct writ_view message)
{
    return (struct writ_sse_event){.kind = WRIT_SSE_EVENT,
        .id = event_id.len > 0 ? event_id : (struct writ_view){NULL, 0},
        .event = WRIT_LIT("message"),
        .data = message,
        .retry_ms = WRIT_SSE_NO_RETRY};
}

static void
put_answer(struct writ_merge_source *source, struct writ_view event_id, struct writ_view message)
{
    const struct writ_sse_event event = answer_event(event_id, message);

    writ_merged_stream_put(source, &event);
}

/* It belongs to no known request, or differs from the recorded answer. The waiting client gets an
 * error. */
static void
put_unknown(struct writ_merge_source *source, struct writ_view event_id, const struct writ_json *id)
{
    writ_auto_buf message = writ_buf_make(WRIT_REFUSAL_MAX);

    writ_refusal_put_error(&message, id, WRIT_REASON_ANSWER_UNKNOWN);
    if (writ_is_ok(writ_buf_check(&message, NULL))) {
        put_answer(source, event_id, writ_buf_view(&message));
    }
}

static void take_answer(
    struct writ_merge_source *source, struct writ_view event_id, struct writ_view message);

static void
away_free(struct away *away)
{
    writ_buf_wipe(&away->handover.message);
    writ_buf_wipe(&away->id);
    writ_free(away);
}

static void
is_back(struct writ_merge_source *source)
{
    source->away--;
    source->back = true;
    if (source->away == 0 && source->open) {
        writ_upcall_resume(&source->upcall);
    }
}

static void
go_on_behind(struct writ_merge_source *source)
{
    source->back = false;
    if (source->away > 0) {
        return;
    }
    writ_merged_stream_catch_up(source);
    if (!source->open && source->away == 0) {
        source_ended(source);
    }
}

static void
come_back(struct writ_handover *handover)
{
    struct away *away = handover->ctx;
    struct writ_merge_source *source = away->source;
    struct writ_merged_stream *merged = source->merged;

    is_back(source);
    merged->live++; /* keeps (1) */
    if (handover->taken) {
        put_answer(source, writ_buf_view(&away->id), writ_buf_view(&handover->message));
    } else {
        take_answer(source, writ_buf_view(&away->id), writ_buf_view(&handover->message));
    }
    away_free(away);
    go_on_behind(source);
    writ_merged_stream_release(merged);
}

/* Carries it to the call that awaits it. False: failed, or no call awaits it any more. */
static bool
carry(struct writ_merge_source *source, const struct writ_digest *key, struct writ_view event_id,
    struct writ_view message)
{
    struct writ_request *request = source->merged->request;
    struct away *away = writ_alloc(sizeof *away);

    if (away == NULL) {
        return false;
    }
    away->source = source;
    away->id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);
    away->handover = (struct writ_handover){
        .post = {.fn = writ_resume_arrive, .ctx = &away->handover},
        .answers = request->worker->gateway->answers,
        .key = *key,
        .home = request->x->loop,
        .done = come_back,
        .ctx = away,
        .message = writ_buf_make(WRIT_CLIENT_EVENT_MAX),
    };
    writ_buf_put(&away->id, event_id);
    writ_buf_put(&away->handover.message, message);
    source->away++;
    if (!writ_is_ok(writ_buf_check(&away->id, NULL)) ||
        !writ_is_ok(writ_buf_check(&away->handover.message, NULL)) ||
        !writ_pending_responses_carry(away->handover.answers, &away->handover)) {
        source->away--;
        away_free(away);
        return false;
    }
    if (source->open) {
        writ_upcall_pause(&source->upcall);
    }
    return true;
}

/* ---- answers to calls that this process did not make ---- */

/* An answer that waits for the ledger. */
struct recorded {
    struct writ_merge_source *source;
    struct writ_buf id; /* of its event */
    struct writ_buf message;
};

static void
recorded_free(struct recorded *recorded)
{
    writ_buf_wipe(&recorded->id);
    writ_buf_wipe(&recorded->message);
    writ_free(recorded);
}

static void
recorded_done(void *ctx, struct writ_view message)
{
    struct recorded *recorded = ctx;
    struct writ_merge_source *source = recorded->source;
    struct writ_merged_stream *merged = source->merged;

    is_back(source);
    merged->live++; /* keeps (1) */
    if (!merged->over && message.len > 0) {
        put_answer(source, writ_buf_view(&recorded->id), message);
    }
    recorded_free(recorded);
    go_on_behind(source);
    writ_merged_stream_release(merged);
}

/* False: it cannot be asked. */
static bool
ask_ledger(struct writ_merge_source *source, struct writ_view event_id, struct writ_view message)
{
    struct recorded *recorded = source->away < AWAY_MAX ? writ_alloc(sizeof *recorded) : NULL;

    if (recorded == NULL) {
        return false;
    }
    *recorded = (struct recorded){.source = source,
        .id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX),
        .message = writ_buf_make(WRIT_CLIENT_EVENT_MAX)};
    writ_buf_put(&recorded->id, event_id);
    writ_buf_put(&recorded->message, message);
    const struct writ_recorded_answer asked = {.request = source->merged->request,
        .upstream = writ_upstream_config(source->upstream)->name,
        .message = writ_buf_view(&recorded->message),
        .over = &source->merged->over,
        .done = recorded_done,
        .ctx = recorded};
    if (!writ_is_ok(writ_buf_check(&recorded->id, NULL)) ||
        !writ_is_ok(writ_buf_check(&recorded->message, NULL)) ||
        !writ_is_ok(writ_recorded_answer_ask(&asked))) {
        recorded_free(recorded);
        return false;
    }
    source->away++;
    if (source->open) {
        writ_upcall_pause(&source->upcall);
    }
    return true;
}

/* ---- notifications about tasks ---- */

static void
notification_done(void *ctx, const struct writ_sse_event *event)
{
    struct writ_merge_source *source = ctx;
    struct writ_merged_stream *merged = source->merged;

    is_back(source);
    merged->live++; /* keeps (1) */
    if (event != NULL && !merged->over) {
        writ_merged_stream_put(source, event);
    }
    go_on_behind(source);
    writ_merged_stream_release(merged);
}

/* `task` NULL: a notice. False: it was dropped. */
static bool
take_notification(struct writ_merge_source *source, enum writ_task_form form,
    const struct writ_digest *task, const struct writ_sse_event *event)
{
    const struct writ_task_notification notification = {.request = source->merged->request,
        .from = source->upstream,
        .form = form,
        .task = task,
        .event = event,
        .done = notification_done,
        .ctx = source};

    if (source->away == AWAY_MAX) {
        writ_task_notification_drop(notification.request);
        return false;
    }
    if (!writ_is_ok(writ_task_notification_take(&notification))) {
        return false;
    }
    source->away++;
    if (source->open) {
        writ_upcall_pause(&source->upcall);
    }
    return true;
}

/* ---- answers ---- */

static bool
is_what_was_shown(const struct writ_digest *shown, struct writ_view message)
{
    struct writ_digest digest;

    return writ_is_ok(writ_digest_bytes(message, &digest, NULL)) &&
           writ_digest_equal(&digest, shown);
}

static void
judge_answer(struct writ_merge_source *source, struct writ_view event_id,
    const struct writ_json *id, struct writ_view message)
{
    struct writ_request *request = source->merged->request;
    struct writ_pending_responses *answers = request->worker->gateway->answers;
    struct writ_pending_responses_found found = {.state = WRIT_PENDING_RESPONSES_UNKNOWN};
    struct writ_digest key;

    if (writ_is_ok(writ_pending_responses_key(
            request->session, writ_upstream_config(source->upstream)->name, id, &key))) {
        found = writ_pending_responses_find(answers, &key);
    }
    if (found.state == WRIT_PENDING_RESPONSES_AWAITED) {
        if (carry(source, &key, event_id, message)) {
            return;
        }
        found = writ_pending_responses_find(answers, &key); /* it ended in between */
    }
    if (found.state == WRIT_PENDING_RESPONSES_TASK) {
        const struct writ_sse_event event = answer_event(event_id, message);
        if (take_notification(source, writ_task_completion_form(found.method, WRIT_MCP_LEGACY),
                &found.task, &event)) {
            return;
        }
    }
    if (found.state == WRIT_PENDING_RESPONSES_FREE ||
        (found.state == WRIT_PENDING_RESPONSES_SETTLED &&
            is_what_was_shown(&found.shown, message))) {
        put_answer(source, event_id, message);
    } else if (found.state != WRIT_PENDING_RESPONSES_UNKNOWN ||
               !ask_ledger(source, event_id, message)) {
        put_unknown(source, event_id, id);
    }
}

/* Parses an answer a second time: only those of a GET, which are rare. */
static void
take_answer(struct writ_merge_source *source, struct writ_view event_id, struct writ_view message)
{
    struct writ_arena *scratch = writ_arena_new(64 * message.len + ANSWER_ARENA);
    const struct writ_json *value;

    if (scratch != NULL && writ_is_ok(writ_mcp_parse(message, scratch, &value))) {
        judge_answer(source, event_id, writ_json_get(value, WRIT_LIT("id")), message);
    }
    writ_arena_free(scratch);
}

/* ---- from the upstream ---- */

static void
on_stream(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_merge_source *source = upcall->ctx;
    struct writ_request *request = source->merged->request;

    (void)answer;
    source->streams = true;
    source->conflicts = 0;
    source->again_us = AGAIN_US;
    if (!request->stream.open) {
        writ_merged_stream_begin(source->merged);
    }
}

static void
on_event(struct writ_upcall *upcall, const struct writ_sse_event *event)
{
    struct writ_merge_source *source = upcall->ctx;
    writ_auto_buf data = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    writ_auto_buf event_id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);
    struct writ_sse_event changed = *event;
    enum writ_inspected kind =
        writ_inspect_event(source->merged->request, source->upstream, event, &data);

    if (event->retry_ms != WRIT_SSE_NO_RETRY) {
        source->again_us =
            event->retry_ms > AGAIN_MIN_MS ? event->retry_ms * 1000 : AGAIN_MIN_MS * 1000;
    }
    if (source->merged->over || kind == WRIT_INSPECTED_FOREIGN) {
        return;
    }
    if (event->kind == WRIT_SSE_EVENT) {
        changed.data = data.len > 0 ? writ_buf_view(&data) : event->data;
        changed.id = writ_merged_stream_event_id(source, event->id, &event_id);
    }
    if (kind == WRIT_INSPECTED_ANSWER) {
        take_answer(source, changed.id, changed.data);
    } else if (kind == WRIT_INSPECTED_TASK) {
        (void)take_notification(
            source, writ_task_notification_form(source->merged->request), NULL, &changed);
    } else if (!writ_listen_takes(source, kind, &changed)) {
        writ_merged_stream_put(source, &changed);
    }
}

/* Its client has ended the session: a request for its stream would start a child for it again. */
static bool
is_left(const struct writ_merged_stream *merged)
{
    const struct writ_session *session = merged->request->session;

    return session != NULL && atomic_load(&session->left);
}

static void
again(struct writ_timer *timer)
{
    struct writ_merge_source *source = timer->ctx;

    if (is_left(source->merged)) {
        source_ended(source);
    } else {
        start(source);
    }
}

static void
start_in(struct writ_merge_source *source, int64_t after_us)
{
    struct writ_loop *loop = source->merged->request->x->loop;

    source->timer = (struct writ_timer){.fn = again, .ctx = source};
    writ_loop_timer_set(loop, &source->timer,
        writ_loop_now_us(loop) + (after_us < AGAIN_MAX_US ? after_us : AGAIN_MAX_US));
}

/* Its stream is over, and no event of it is away. */
static void
source_ended(struct writ_merge_source *source)
{
    struct writ_merged_stream *merged = source->merged;
    bool left = is_left(merged);

    if (source->again && !merged->over && !left) {
        start_in(source, source->again_us);
        source->again_us *= 2;
        return;
    }
    source->ended = true;
    if (left && !merged->over) { /* no upstream has anything more to say */
        writ_merged_stream_cancel(merged);
    }
    writ_listen_source_ended(source);
    writ_merged_stream_release(merged);
}

static void
keep_refusal(struct writ_merged_stream *merged, const struct writ_upcall_answer *answer)
{
    struct writ_arena *arena = merged->request->x->arena;

    if (merged->refused) {
        return;
    }
    merged->refused = true;
    merged->refusal = *answer;
    merged->refusal.body = writ_view_copy(answer->body, arena);
    merged->refusal.content_type = writ_view_copy(answer->content_type, arena);
    merged->refusal.retry_after = writ_view_copy(answer->retry_after, arena);
}

/* Another connection has the stream: one that the client has left, or our own that requests it. The
 * server notices soon that it is closed. */
static bool
is_conflict(struct writ_merge_source *source, const struct writ_upcall_answer *answer)
{
    return answer->end == WRIT_UPCALL_ANSWERED && answer->status == 409 &&
           source->upcall.request.method == WRIT_METHOD_GET && !source->merged->over &&
           source->conflicts++ < CONFLICTS_MAX;
}

/* The server was restarted: its lists may have changed. */
static void
look_whether_lost(struct writ_merge_source *source, const struct writ_upcall_answer *answer)
{
    const struct writ_request *request = source->merged->request;

    if (!source->merged->listens &&
        writ_meet_is_lost(request, source->upstream, &source->upcall.request, answer)) {
        source->lost = true;
        writ_session_note_list(request->session, writ_upstream_config(source->upstream)->name,
            WRIT_SESSION_LISTS, true);
    }
}

static void
on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_merge_source *source = upcall->ctx;
    struct writ_merged_stream *merged = source->merged;

    source->open = false;
    look_whether_lost(source, answer);
    if (is_conflict(source, answer)) {
        start_in(source, CONFLICT_US);
        return;
    }
    if (!answer->is_stream) {
        keep_refusal(merged, answer);
    } else if (answer->end != WRIT_UPCALL_ANSWERED && !merged->several) {
        merged->whole = false;
    }
    /* a stream over several upstreams is not over when one of them ends */
    source->again = merged->several && !merged->listens &&
                    (source->streams || answer->end == WRIT_UPCALL_BROKEN) &&
                    (answer->is_stream || answer->end != WRIT_UPCALL_ANSWERED);
    if (source->away == 0) {
        source_ended(source);
    }
}

static const struct writ_upcall_events source_events = {
    .stream = on_stream, .event = on_event, .end = on_end};

/* ---- to the upstream ---- */

static void
start(struct writ_merge_source *source)
{
    struct writ_request *request = source->merged->request;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_upcall_request *wanted = &source->upcall.request;
    bool prepared = writ_is_ok(writ_upcall_request_make(
        request, source->upstream, (struct writ_view){NULL, 0}, headers, wanted));

    if (!prepared) {
        wanted->headers_n = 0;
    }
    if (source->last_id.len > 0) {
        headers[wanted->headers_n++] =
            (struct writ_header){WRIT_LIT("Last-Event-ID"), writ_buf_view(&source->last_id)};
    }
    wanted->timeout_us = 0; /* such a stream may be silent for ever */
    wanted->lines = source->merged->listens;
    source->upcall.events = &source_events;
    source->upcall.ctx = source;
    source->open = true;
    writ_upcall_start(source->upstream, request->worker, &source->upcall);
}

static void
client_left(struct writ_exchange *x, void *ctx)
{
    struct writ_request *request = ctx;

    (void)x;
    if (request->stream.closing) { /* all sources are over */
        writ_client_stream_left(request);
    } else {
        writ_merged_stream_cancel(request->part);
    }
}

static struct writ_merge_source *
add(struct writ_merged_stream *merged, struct writ_upstream *upstream)
{
    struct writ_merge_source *source = writ_merged_stream_add(merged, upstream);

    source->again_us = AGAIN_US;
    return source;
}

/* Which upstreams, and from where on. */
static void
choose(struct writ_merged_stream *merged)
{
    struct writ_request *request = merged->request;
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_view last = writ_exchange_header(request->x, WRIT_LIT("Last-Event-ID")), id = last;
    struct writ_upstream *only = request->endpoint->only;

    if (only == NULL && gateway->upstreams_n == 1) {
        only = gateway->upstreams[0];
    }
    if (only == NULL && last.len > 0 && !writ_event_id_is_merged(last)) {
        only = writ_upstream_find(gateway, writ_event_id_upstream(last, &id));
    }
    merged->several = only == NULL;
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        struct writ_upstream *upstream = gateway->upstreams[i];
        struct writ_view name = writ_upstream_config(upstream)->name;
        struct writ_merge_source *source;

        if ((only != NULL && upstream != only) ||
            (!merged->listens && (only == NULL ? !writ_session_has(request->session, name)
                                               : writ_meet_is_late(request, upstream)))) {
            continue;
        }
        source = add(merged, upstream);
        if (only == NULL) {
            (void)writ_event_id_find(last, name, &source->last_id);
        } else if (id.len <= WRIT_MERGED_STREAM_ID_MAX && !merged->listens) {
            writ_buf_put(&source->last_id, id);
        }
    }
}

static struct writ_merge_source *
find_source(struct writ_merged_stream *merged, const struct writ_upstream *upstream)
{
    for (size_t i = 0; i < merged->n; i++) {
        if (merged->sources[i].upstream == upstream) {
            return &merged->sources[i];
        }
    }
    return NULL;
}

static void
join(struct writ_merged_stream *merged, struct writ_upstream *upstream)
{
    struct writ_merge_source *source;

    if (merged->over ||
        !writ_session_has(merged->request->session, writ_upstream_config(upstream)->name)) {
        return;
    }
    source = find_source(merged, upstream);
    if (source == NULL) {
        source = add(merged, upstream);
    } else if (!source->lost || !source->ended) {
        return;
    }
    source->lost = source->ended = source->streams = false;
    writ_buf_clear(&source->last_id); /* in the stream of the session before */
    merged->live++;
    start(source);
}

/* A client whose lists lack an upstream gets a stream in any case, to be notified when it is
 * back. */
static void
look_for_missed(struct writ_merged_stream *merged)
{
    struct writ_request *request = merged->request;

    if (!merged->several || merged->listens) {
        return;
    }
    merged->back = writ_back_start(merged);
    merged->waits = merged->back != NULL && writ_session_is_short(request->session);
    if (merged->waits) {
        merged->live++;
        writ_merged_stream_begin(merged);
    }
}

static void
stopped(struct writ_merged_stream *merged)
{
    writ_back_stop(merged->back);
}

static const struct writ_merged_stream_ops merged_ops = {.join = join, .stopped = stopped};

/* ---- the streams of a worker ---- */

static void
remember(struct writ_request *request)
{
    struct writ_request **head = &request->worker->streams;

    request->stream_next = *head;
    request->stream_link = head;
    if (*head != NULL) {
        (*head)->stream_link = &request->stream_next;
    }
    *head = request;
}

void
writ_stream_merge_stop(struct writ_request *request)
{
    writ_merged_stream_cancel(request->part);
}

void
writ_stream_merge_end_all(struct writ_worker *worker)
{
    struct writ_request *next;

    worker->ending = true;
    for (struct writ_request *r = worker->streams; r != NULL; r = next) {
        next = r->stream_next;
        writ_stream_merge_stop(r);
    }
}

enum writ_step
writ_stream_merge_open(struct writ_request *request)
{
    struct writ_arena *arena = request->x->arena;
    size_t most = request->worker->gateway->upstreams_n;
    struct writ_merged_stream *merged = writ_arena_get(arena, sizeof *merged);

    if (request->worker->ending) { /* nothing would end it: the streams that were open have ended */
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_SHUTTING_DOWN, NULL);
    }
    if (merged != NULL) {
        *merged = (struct writ_merged_stream){.ops = &merged_ops,
            .request = request,
            .whole = true,
            .listens = request->x->method == WRIT_METHOD_POST,
            .sources = writ_arena_get(arena, (most + 1) * sizeof *merged->sources)};
    }
    if (merged == NULL || merged->sources == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    choose(merged);
    merged->holds = merged->listens && merged->several;
    if (merged->n == 0) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    request->part = merged;
    remember(request);
    merged->resumes =
        !merged->listens && writ_exchange_header(request->x, WRIT_LIT("Last-Event-ID")).len > 0;
    if (merged->resumes) {
        (void)atomic_fetch_add(&request->session->resuming, 1);
    }
    merged->live = merged->n;
    writ_exchange_on_gone(request->x, client_left, request);
    writ_exchange_probe(request->x, WRIT_CLIENT_PROBE_MS);
    look_for_missed(merged);
    for (size_t i = 0; i < merged->n; i++) { /* ends come in a later turn */
        start(&merged->sources[i]);
    }
    return writ_request_wait(request, WRIT_STEP_ENDED);
}
