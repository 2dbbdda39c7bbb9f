/* stream_merge.c - asks the upstreams, and gives what they send to the lanes: an answer first to
 * the call that awaits it. A lane is not over while its upcall is open, its timer set, or its
 * handover away. keeps (1) of lanes.c */
#include "gateway/relay/stream_merge.h"

#include "gateway/relay/back.h"
#include "gateway/request/client_stream.h"
#include "gateway/call/inspect.h"
#include "gateway/relay/lanes.h"
#include "gateway/relay/listen.h"
#include "gateway/request/resume.h"
#include "gateway/review/meet.h"
#include "gateway/relay/pass.h"
#include "gateway/mcp/event_id.h"
#include "gateway/request/refusal.h"
#include "gateway/call/task_notification.h"
#include "gateway/request/upcall_request.h"

#define AGAIN_US      1000000  /* before a lane is asked again, when its server did not say */
#define AGAIN_MIN_MS  50       /* at least, and */
#define AGAIN_MAX_US  30000000 /* at most, also when it stated one */
#define CONFLICT_US   200000   /* before asking again for what another connection still has */
#define CONFLICTS_MAX 15       /* notices about tasks that one lane holds at once */
#define ANSWER_ARENA  65536
#define AWAY_MAX      64 /* notices about tasks that one lane holds at once */

static void start(struct writ_lane *lane);

/* ---- the end ---- */

enum writ_step
writ_stream_merge_ended(struct writ_request *request)
{
    struct writ_lanes *lanes = request->part;

    lanes->live++; /* keeps (1) */
    writ_back_stop(lanes->back);
    writ_listen_finish(lanes);
    writ_lanes_wipe(lanes);
    if (lanes->resumes) {
        (void)atomic_fetch_sub(&request->session->resuming, 1);
    }
    return request->stream.open ? writ_client_stream_end(request, lanes->whole)
                                : writ_pass_answer(request, &lanes->refusal);
}

/* ---- an answer on a GET ---- */

/* An event that is away: carried to its call. */
struct away {
    struct writ_handover handover;
    struct writ_lane *lane;
    struct writ_buf id; /* of its event */
};

static void lane_ended(struct writ_lane *lane);

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
put_answer(struct writ_lane *lane, struct writ_view event_id, struct writ_view message)
{
    const struct writ_sse_event event = answer_event(event_id, message);

    writ_lanes_put(lane, &event);
}

/* It belongs to no known request, or differs from the recorded answer. The waiting client gets an
 * error. */
static void
put_unknown(struct writ_lane *lane, struct writ_view event_id, const struct writ_json *id)
{
    writ_auto_buf message = writ_buf_make(WRIT_REFUSAL_MAX);

    writ_refusal_put_error(&message, id, WRIT_REASON_ANSWER_UNKNOWN);
    if (writ_is_ok(writ_buf_check(&message, NULL))) {
        put_answer(lane, event_id, writ_buf_view(&message));
    }
}

static void take_answer(
    struct writ_lane *lane, struct writ_view event_id, struct writ_view message);

static void
away_free(struct away *away)
{
    writ_buf_wipe(&away->handover.message);
    writ_buf_wipe(&away->id);
    writ_free(away);
}

static void
is_back(struct writ_lane *lane)
{
    lane->away--;
    lane->back = true;
    if (lane->away == 0 && lane->open) {
        writ_upcall_resume(&lane->upcall);
    }
}

static void
go_on_behind(struct writ_lane *lane)
{
    lane->back = false;
    if (lane->away > 0) {
        return;
    }
    writ_lanes_catch_up(lane);
    if (!lane->open && lane->away == 0) {
        lane_ended(lane);
    }
}

static void
come_back(struct writ_handover *handover)
{
    struct away *away = handover->ctx;
    struct writ_lane *lane = away->lane;
    struct writ_lanes *lanes = lane->lanes;

    is_back(lane);
    lanes->live++; /* keeps (1) */
    if (handover->taken) {
        put_answer(lane, writ_buf_view(&away->id), writ_buf_view(&handover->message));
    } else {
        take_answer(lane, writ_buf_view(&away->id), writ_buf_view(&handover->message));
    }
    away_free(away);
    go_on_behind(lane);
    writ_lanes_let_go(lanes);
}

/* Carries it to the call that awaits it. False: failed, or no call awaits it any more. */
static bool
carry(struct writ_lane *lane, const struct writ_digest *key, struct writ_view event_id,
    struct writ_view message)
{
    struct writ_request *request = lane->lanes->request;
    struct away *away = writ_alloc(sizeof *away);

    if (away == NULL) {
        return false;
    }
    away->lane = lane;
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
    lane->away++;
    if (!writ_is_ok(writ_buf_check(&away->id, NULL)) ||
        !writ_is_ok(writ_buf_check(&away->handover.message, NULL)) ||
        !writ_pending_responses_carry(away->handover.answers, &away->handover)) {
        lane->away--;
        away_free(away);
        return false;
    }
    if (lane->open) {
        writ_upcall_pause(&lane->upcall);
    }
    return true;
}

/* ---- a word about a task ---- */

static void
word_told(void *ctx, const struct writ_sse_event *event)
{
    struct writ_lane *lane = ctx;
    struct writ_lanes *lanes = lane->lanes;

    is_back(lane);
    lanes->live++; /* keeps (1) */
    if (event != NULL && !lanes->over) {
        writ_lanes_put(lane, event);
    }
    go_on_behind(lane);
    writ_lanes_let_go(lanes);
}

/* `task` NULL: a notice. False: it was dropped. */
static bool
take_word(struct writ_lane *lane, enum writ_task_form form, const struct writ_digest *task,
    const struct writ_sse_event *event)
{
    const struct writ_task_notification word = {.request = lane->lanes->request,
        .from = lane->upstream,
        .form = form,
        .task = task,
        .event = event,
        .told = word_told,
        .ctx = lane};

    if (lane->away == AWAY_MAX) {
        writ_task_notification_drop(word.request);
        return false;
    }
    if (!writ_is_ok(writ_task_notification_take(&word))) {
        return false;
    }
    lane->away++;
    if (lane->open) {
        writ_upcall_pause(&lane->upcall);
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
judge_answer(struct writ_lane *lane, struct writ_view event_id, const struct writ_json *id,
    struct writ_view message)
{
    struct writ_request *request = lane->lanes->request;
    struct writ_pending_responses *answers = request->worker->gateway->answers;
    struct writ_pending_responses_found found = {.state = WRIT_PENDING_RESPONSES_UNKNOWN};
    struct writ_digest key;

    if (writ_is_ok(writ_pending_responses_key(
            request->session, writ_upstream_config(lane->upstream)->name, id, &key))) {
        found = writ_pending_responses_find(answers, &key);
    }
    if (found.state == WRIT_PENDING_RESPONSES_AWAITED) {
        if (carry(lane, &key, event_id, message)) {
            return;
        }
        found = writ_pending_responses_find(answers, &key); /* it ended in between */
    }
    if (found.state == WRIT_PENDING_RESPONSES_TASK) {
        const struct writ_sse_event event = answer_event(event_id, message);
        if (take_word(lane, writ_task_completion_form(found.method, WRIT_MCP_LEGACY), &found.task,
                &event)) {
            return;
        }
    }
    if (found.state == WRIT_PENDING_RESPONSES_FREE ||
        (found.state == WRIT_PENDING_RESPONSES_SETTLED &&
            is_what_was_shown(&found.shown, message))) {
        put_answer(lane, event_id, message);
    } else {
        put_unknown(lane, event_id, id);
    }
}

/* Parses an answer a second time: only those of a GET, which are rare. */
static void
take_answer(struct writ_lane *lane, struct writ_view event_id, struct writ_view message)
{
    struct writ_arena *scratch = writ_arena_new(64 * message.len + ANSWER_ARENA);
    const struct writ_json *value;

    if (scratch != NULL && writ_is_ok(writ_mcp_parse(message, scratch, &value))) {
        judge_answer(lane, event_id, writ_json_get(value, WRIT_LIT("id")), message);
    }
    writ_arena_free(scratch);
}

/* ---- from the upstream ---- */

static void
on_stream(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_lane *lane = upcall->ctx;
    struct writ_request *request = lane->lanes->request;

    (void)answer;
    lane->streams = true;
    lane->conflicts = 0;
    lane->again_us = AGAIN_US;
    if (!request->stream.open) {
        writ_lanes_begin(lane->lanes);
    }
}

static void
on_event(struct writ_upcall *upcall, const struct writ_sse_event *event)
{
    struct writ_lane *lane = upcall->ctx;
    writ_auto_buf data = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    writ_auto_buf place = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);
    struct writ_sse_event changed = *event;
    enum writ_inspected kind =
        writ_inspect_event(lane->lanes->request, lane->upstream, event, &data);

    if (event->retry_ms != WRIT_SSE_NO_RETRY) {
        lane->again_us =
            event->retry_ms > AGAIN_MIN_MS ? event->retry_ms * 1000 : AGAIN_MIN_MS * 1000;
    }
    if (lane->lanes->over || kind == WRIT_INSPECTED_FOREIGN) {
        return;
    }
    if (event->kind == WRIT_SSE_EVENT) {
        changed.data = data.len > 0 ? writ_buf_view(&data) : event->data;
        changed.id = writ_lanes_place(lane, event->id, &place);
    }
    if (kind == WRIT_INSPECTED_ANSWER) {
        take_answer(lane, changed.id, changed.data);
    } else if (kind == WRIT_INSPECTED_TASK) {
        (void)take_word(lane, writ_task_notification_form(lane->lanes->request), NULL, &changed);
    } else if (!writ_listen_takes(lane, kind, &changed)) {
        writ_lanes_put(lane, &changed);
    }
}

static void
again(struct writ_timer *timer)
{
    start(timer->ctx);
}

static void
start_in(struct writ_lane *lane, int64_t after_us)
{
    struct writ_loop *loop = lane->lanes->request->x->loop;

    lane->timer = (struct writ_timer){.fn = again, .ctx = lane};
    writ_loop_timer_set(loop, &lane->timer,
        writ_loop_now_us(loop) + (after_us < AGAIN_MAX_US ? after_us : AGAIN_MAX_US));
}

/* Its stream is over, and no event of it is away. */
static void
lane_ended(struct writ_lane *lane)
{
    struct writ_lanes *lanes = lane->lanes;

    if (lane->again && !lanes->over) {
        start_in(lane, lane->again_us);
        lane->again_us *= 2;
        return;
    }
    lane->ended = true;
    writ_listen_lane_ended(lane);
    writ_lanes_let_go(lanes);
}

static void
keep_refusal(struct writ_lanes *lanes, const struct writ_upcall_answer *answer)
{
    struct writ_arena *arena = lanes->request->x->arena;

    if (lanes->refused) {
        return;
    }
    lanes->refused = true;
    lanes->refusal = *answer;
    lanes->refusal.body = writ_view_copy(answer->body, arena);
    lanes->refusal.content_type = writ_view_copy(answer->content_type, arena);
    lanes->refusal.retry_after = writ_view_copy(answer->retry_after, arena);
}

/* Another connection has the stream: one that the client has left, or our own that requests it. The
 * server notices soon that it is closed. */
static bool
is_conflict(struct writ_lane *lane, const struct writ_upcall_answer *answer)
{
    return answer->end == WRIT_UPCALL_ANSWERED && answer->status == 409 &&
           lane->upcall.request.method == WRIT_METHOD_GET && !lane->lanes->over &&
           lane->conflicts++ < CONFLICTS_MAX;
}

/* The server was restarted: its lists may have changed. */
static void
look_whether_lost(struct writ_lane *lane, const struct writ_upcall_answer *answer)
{
    const struct writ_request *request = lane->lanes->request;

    if (!lane->lanes->listens &&
        writ_meet_is_lost(request, lane->upstream, &lane->upcall.request, answer)) {
        lane->lost = true;
        writ_session_note_list(
            request->session, writ_upstream_config(lane->upstream)->name, WRIT_SESSION_LISTS, true);
    }
}

static void
on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_lane *lane = upcall->ctx;
    struct writ_lanes *lanes = lane->lanes;

    lane->open = false;
    look_whether_lost(lane, answer);
    if (is_conflict(lane, answer)) {
        start_in(lane, CONFLICT_US);
        return;
    }
    if (!answer->is_stream) {
        keep_refusal(lanes, answer);
    } else if (answer->end != WRIT_UPCALL_ANSWERED && !lanes->merged) {
        lanes->whole = false;
    }
    /* a stream over several upstreams is not over when one of them ends */
    lane->again = lanes->merged && !lanes->listens &&
                  (lane->streams || answer->end == WRIT_UPCALL_BROKEN) &&
                  (answer->is_stream || answer->end != WRIT_UPCALL_ANSWERED);
    if (lane->away == 0) {
        lane_ended(lane);
    }
}

static const struct writ_upcall_events lane_events = {
    .stream = on_stream, .event = on_event, .end = on_end};

/* ---- to the upstream ---- */

static void
start(struct writ_lane *lane)
{
    struct writ_request *request = lane->lanes->request;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_upcall_request *wanted = &lane->upcall.request;
    bool prepared = writ_is_ok(writ_upcall_request_make(
        request, lane->upstream, (struct writ_view){NULL, 0}, headers, wanted));

    if (!prepared) {
        wanted->headers_n = 0;
    }
    if (lane->place.len > 0) {
        headers[wanted->headers_n++] =
            (struct writ_header){WRIT_LIT("Last-Event-ID"), writ_buf_view(&lane->place)};
    }
    wanted->timeout_us = 0; /* such a stream may be silent for ever */
    wanted->lines = lane->lanes->listens;
    lane->upcall.events = &lane_events;
    lane->upcall.ctx = lane;
    lane->open = true;
    writ_upcall_start(lane->upstream, request->worker, &lane->upcall);
}

static void
client_left(struct writ_exchange *x, void *ctx)
{
    struct writ_request *request = ctx;

    (void)x;
    if (request->stream.closing) { /* all lanes are over */
        writ_client_stream_left(request);
    } else {
        writ_lanes_cancel(request->part);
    }
}

static struct writ_lane *
add(struct writ_lanes *lanes, struct writ_upstream *upstream)
{
    struct writ_lane *lane = writ_lanes_add(lanes, upstream);

    lane->again_us = AGAIN_US;
    return lane;
}

/* Which upstreams, and from where on. */
static void
choose(struct writ_lanes *lanes)
{
    struct writ_request *request = lanes->request;
    struct writ_gateway *gateway = request->worker->gateway;
    struct writ_view last = writ_exchange_header(request->x, WRIT_LIT("Last-Event-ID")), id = last;
    struct writ_upstream *only = request->endpoint->only;

    if (only == NULL && gateway->upstreams_n == 1) {
        only = gateway->upstreams[0];
    }
    if (only == NULL && last.len > 0 && !writ_event_id_is_merged(last)) {
        only = writ_upstream_find(gateway, writ_event_id_upstream(last, &id));
    }
    lanes->merged = only == NULL;
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        struct writ_upstream *upstream = gateway->upstreams[i];
        struct writ_view name = writ_upstream_config(upstream)->name;
        struct writ_lane *lane;

        if ((only != NULL && upstream != only) ||
            (!lanes->listens && (only == NULL ? !writ_session_has(request->session, name)
                                              : writ_meet_is_late(request, upstream)))) {
            continue;
        }
        lane = add(lanes, upstream);
        if (only == NULL) {
            (void)writ_event_id_find(last, name, &lane->place);
        } else if (id.len <= WRIT_LANES_PLACE_MAX && !lanes->listens) {
            writ_buf_put(&lane->place, id);
        }
    }
}

static struct writ_lane *
find_lane(struct writ_lanes *lanes, const struct writ_upstream *upstream)
{
    for (size_t i = 0; i < lanes->n; i++) {
        if (lanes->all[i].upstream == upstream) {
            return &lanes->all[i];
        }
    }
    return NULL;
}

static void
join(struct writ_lanes *lanes, struct writ_upstream *upstream)
{
    struct writ_lane *lane;

    if (lanes->over ||
        !writ_session_has(lanes->request->session, writ_upstream_config(upstream)->name)) {
        return;
    }
    lane = find_lane(lanes, upstream);
    if (lane == NULL) {
        lane = add(lanes, upstream);
    } else if (!lane->lost || !lane->ended) {
        return;
    }
    lane->lost = lane->ended = lane->streams = false;
    writ_buf_clear(&lane->place); /* in the stream of the session before */
    lanes->live++;
    start(lane);
}

/* A client whose lists lack an upstream gets a stream in any case, to be notified when it is
 * back. */
static void
look_for_missed(struct writ_lanes *lanes)
{
    struct writ_request *request = lanes->request;

    if (!lanes->merged || lanes->listens) {
        return;
    }
    lanes->back = writ_back_start(lanes);
    lanes->waits = lanes->back != NULL && writ_session_is_short(request->session);
    if (lanes->waits) {
        lanes->live++;
        writ_lanes_begin(lanes);
    }
}

static void
stopped(struct writ_lanes *lanes)
{
    writ_back_stop(lanes->back);
}

static const struct writ_lanes_ops lanes_ops = {.join = join, .stopped = stopped};

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
    writ_lanes_cancel(request->part);
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
    struct writ_lanes *lanes = writ_arena_get(arena, sizeof *lanes);

    if (lanes != NULL) {
        *lanes = (struct writ_lanes){.ops = &lanes_ops,
            .request = request,
            .whole = true,
            .listens = request->x->method == WRIT_METHOD_POST,
            .all = writ_arena_get(arena, (most + 1) * sizeof *lanes->all)};
    }
    if (lanes == NULL || lanes->all == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    choose(lanes);
    lanes->holds = lanes->listens && lanes->merged;
    if (lanes->n == 0) {
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_UNAVAILABLE, NULL);
    }
    request->part = lanes;
    remember(request);
    lanes->resumes =
        !lanes->listens && writ_exchange_header(request->x, WRIT_LIT("Last-Event-ID")).len > 0;
    if (lanes->resumes) {
        (void)atomic_fetch_add(&request->session->resuming, 1);
    }
    lanes->live = lanes->n;
    writ_exchange_on_gone(request->x, client_left, request);
    writ_exchange_probe(request->x, WRIT_CLIENT_PROBE_MS);
    look_for_missed(lanes);
    for (size_t i = 0; i < lanes->n; i++) { /* ends come in a later turn */
        start(&lanes->all[i]);
    }
    return writ_request_wait(request, WRIT_STEP_ENDED);
}
