/* flight.c - a request between the caller's loop and the owner's loop.
 *
 * Invariants:
 * (1) The owner holds a flight until it has posted the end, the caller until the end was delivered.
 * (2) Posts to the caller's loop arrive in order, and the end is the last.
 * (3) `drain` is queued only while deliveries are held: the end, which is the last of them, removes
 *     it from its queue. */
#include "gateway/upstream/flight.h"

#include "gateway/state/session.h"

#define LAST_ID_MAX 4096

void
writ_flight_drop(struct writ_flight *flight)
{
    if (atomic_fetch_sub(&flight->holders, 1) != 1) {
        return;
    }
    writ_buf_wipe(&flight->body);
    writ_buf_wipe(&flight->scope);
    writ_buf_wipe(&flight->last_id);
    writ_buf_wipe_secret(&flight->session);
    writ_buf_wipe(&flight->client_id);
    writ_buf_wipe(&flight->client_token);
    writ_buf_wipe(&flight->end.data);
    writ_free(flight);
}

/* ---- the caller's side */

static void
deliver_event(struct writ_flight *flight, struct writ_delivery *delivery)
{
    struct writ_upcall *call = flight->call;
    const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .id = delivery->id.len > 0 ? writ_buf_view(&delivery->id) : (struct writ_view){NULL, 0},
        .data = delivery->data.len > 0 ? writ_buf_view(&delivery->data) : WRIT_LIT(""),
        .retry_ms = delivery->retry_ms};

    if (!flight->cancelling && delivery->answer.is_stream) { /* the first of its stream */
        call->events->stream(call, &delivery->answer);
    }
    if (!flight->cancelling && (delivery->data.len > 0 || delivery->id.len > 0)) {
        call->events->event(call, &event);
    }
    (void)atomic_fetch_sub(&flight->queued, delivery->data.len);
    writ_buf_wipe(&delivery->data);
    writ_buf_wipe(&delivery->id);
    writ_free(delivery);
}

static void
deliver_end(struct writ_flight *flight)
{
    struct writ_upcall *call = WRIT_TAKE(flight->call);
    struct writ_upcall_answer answer = flight->end.answer;

    WRIT_INVARIANT(call != NULL);      /* keeps (2) */
    writ_loop_undefer(&flight->drain); /* keeps (3) */
    answer.body = writ_buf_view(&flight->end.data);
    answer.session = writ_buf_view(&flight->session);
    call->state = NULL;
    call->ended(call, &answer);
    writ_flight_drop(flight);
}

static void
drain(struct writ_task *task)
{
    struct writ_flight *flight = task->ctx;

    while (flight->held != NULL && (!flight->paused || flight->cancelling)) {
        struct writ_delivery *delivery = flight->held;
        bool is_end = delivery->is_end;
        flight->held = delivery->next;
        if (flight->held == NULL) {
            flight->held_last = &flight->held;
        }
        if (is_end) {
            deliver_end(flight);
            return;
        }
        deliver_event(flight, delivery);
    }
}

static void
delivery_arrives(struct writ_post *post)
{
    struct writ_delivery *delivery = post->ctx;
    struct writ_flight *flight = delivery->flight;

    *flight->held_last = delivery;
    flight->held_last = &delivery->next;
    drain(&flight->drain);
}

static void
prepare_delivery(struct writ_delivery *delivery, struct writ_flight *flight, bool is_end)
{
    delivery->flight = flight;
    delivery->is_end = is_end;
    delivery->post = (struct writ_post){.fn = delivery_arrives, .ctx = delivery};
}

const struct writ_flight_mark writ_flight_unmarked = {{NULL, 0}, WRIT_SSE_NO_RETRY};

/* Last-Event-ID, which is borrowed for this call alone. */
static void
copy_last_id(struct writ_flight *flight, const struct writ_upcall_request *request)
{
    flight->last_id = writ_buf_make(LAST_ID_MAX);
    for (size_t i = 0; i < request->headers_n; i++) {
        if (writ_view_equal_nocase(request->headers[i].name, WRIT_LIT("Last-Event-ID"))) {
            writ_buf_put(&flight->last_id, request->headers[i].value);
        }
    }
}

writ_result
writ_flight_new(struct writ_stdio *stdio, struct writ_worker *worker, struct writ_upcall *call,
    struct writ_flight **ret)
{
    const struct writ_upcall_request *request = &call->request;
    const struct writ_mcp_message *message = request->message;
    struct writ_flight *flight = writ_alloc(sizeof *flight);

    if (flight == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    flight->stdio = stdio;
    flight->worker = worker;
    flight->call = call;
    flight->request = request;
    atomic_init(&flight->holders, 2); /* keeps (1) */
    atomic_init(&flight->queued, 0);
    prepare_delivery(&flight->end, flight, true);
    flight->held_last = &flight->held;
    flight->drain = (struct writ_task){.fn = drain, .ctx = flight};
    flight->method = request->method;
    flight->kind = message != NULL ? message->kind : WRIT_MCP_REFUSED;
    flight->era = message != NULL ? message->era : WRIT_MCP_LEGACY;
    flight->name = message != NULL ? writ_method_find(message->method) : WRIT_MCP_UNKNOWN;
    flight->timeout_us = request->timeout_us;
    flight->total_due_us =
        request->total_us > 0 ? writ_loop_now_us(worker->loop) + request->total_us : 0;
    flight->body_max = request->body_max;
    flight->takes_stream = call->events->stream != NULL && call->events->event != NULL;
    flight->body = writ_buf_make(request->body.len);
    flight->scope = writ_buf_make(WRIT_SESSION_ID_TEXT);
    writ_buf_put(&flight->body, request->body);
    writ_buf_put(&flight->scope, writ_view_str(request->scope));
    copy_last_id(flight, request);
    if (!writ_is_ok(writ_buf_check(&flight->body, NULL)) ||
        !writ_is_ok(writ_buf_check(&flight->scope, NULL))) {
        atomic_store(&flight->holders, 1);
        writ_flight_drop(flight);
        return (writ_result){WRIT_E_NOMEM};
    }
    call->state = flight;
    *ret = flight;
    return WRIT_DONE;
}

void
writ_flight_pause(struct writ_flight *flight)
{
    flight->paused = true;
}

void
writ_flight_resume(struct writ_flight *flight)
{
    flight->paused = false;
    if (flight->held != NULL) {
        writ_loop_defer(flight->worker->loop, &flight->drain, WRIT_LOOP_SOON);
    }
}

void
writ_flight_forsake(struct writ_flight *flight)
{
    flight->cancelling = true;
    (void)atomic_fetch_add(&flight->holders, 1);
    writ_flight_resume(flight);
}

/* ---- the owner's side */

void
writ_flight_unlink(struct writ_flight *flight)
{
    if (flight->link == NULL) {
        return;
    }
    *flight->link = flight->next;
    if (flight->next != NULL) {
        flight->next->link = flight->link;
    }
    flight->link = NULL;
}

void
writ_flight_link(struct writ_flight *flight, struct writ_flight **head)
{
    writ_flight_unlink(flight);
    flight->next = *head;
    flight->link = head;
    if (*head != NULL) {
        (*head)->link = &flight->next;
    }
    *head = flight;
}

void
writ_flight_end(struct writ_flight *flight, struct writ_upcall_answer answer, struct writ_view body)
{
    WRIT_INVARIANT(!flight->over);
    flight->over = true;
    if (flight->counted != NULL) {
        --*flight->counted;
    }
    if (flight->counted_by != NULL) {
        --*flight->counted_by;
    }
    writ_flight_unlink(flight);
    writ_loop_timer_cancel(&flight->timer);
    writ_loop_timer_cancel(&flight->prime);
    flight->end.data = writ_buf_make(body.len);
    writ_buf_put(&flight->end.data, body);
    if (!writ_is_ok(writ_buf_check(&flight->end.data, NULL))) {
        writ_buf_wipe(&flight->end.data);
        answer = (struct writ_upcall_answer){.end = WRIT_UPCALL_BROKEN, .detail = "nomem"};
    }
    answer.is_stream = flight->streaming;
    answer.sent = flight->sent ? WRIT_SENT : WRIT_NOT_SENT;
    flight->end.answer = answer;
    writ_loop_answer(flight->worker->loop, &flight->end.post);
    writ_flight_drop(flight); /* keeps (1) */
}

void
writ_flight_break(struct writ_flight *flight, enum writ_upcall_end end, const char *detail)
{
    writ_flight_end(flight, (struct writ_upcall_answer){.end = end, .detail = detail},
        (struct writ_view){NULL, 0});
}

void
writ_flight_answer(struct writ_flight *flight, unsigned status, struct writ_view body)
{
    writ_flight_end(flight,
        (struct writ_upcall_answer){.end = WRIT_UPCALL_ANSWERED,
            .status = status,
            .content_type =
                body.len > 0 ? WRIT_LIT("application/json") : (struct writ_view){NULL, 0},
            .detail = "ok"},
        body);
}

static bool
tell_event(struct writ_flight *flight, struct writ_flight_mark mark, struct writ_view data)
{
    struct writ_delivery *delivery = writ_alloc(sizeof *delivery);

    if (delivery == NULL) {
        return false;
    }
    prepare_delivery(delivery, flight, false);
    delivery->data = writ_buf_make(data.len);
    delivery->id = writ_buf_make(mark.id.len);
    delivery->retry_ms = mark.retry_ms;
    writ_buf_put(&delivery->data, data);
    writ_buf_put(&delivery->id, mark.id);
    if (!writ_is_ok(writ_buf_check(&delivery->data, NULL)) ||
        !writ_is_ok(writ_buf_check(&delivery->id, NULL))) {
        writ_buf_wipe(&delivery->data);
        writ_buf_wipe(&delivery->id);
        writ_free(delivery);
        return false;
    }
    if (!flight->streaming) {
        flight->streaming = true;
        delivery->answer = (struct writ_upcall_answer){
            .status = 200, .content_type = WRIT_LIT("text/event-stream"), .is_stream = true};
    }
    (void)atomic_fetch_add(&flight->queued, data.len);
    writ_loop_answer(flight->worker->loop, &delivery->post);
    return true;
}

bool
writ_flight_event(struct writ_flight *flight, struct writ_flight_mark mark, struct writ_view data)
{
    return atomic_load(&flight->queued) + data.len <= WRIT_FLIGHT_QUEUED_MAX &&
           tell_event(flight, mark, data);
}

void
writ_flight_respond(struct writ_flight *flight, unsigned status, struct writ_flight_mark mark,
    struct writ_view data)
{
    if (!flight->streaming) {
        writ_flight_answer(flight, status, data);
    } else if (tell_event(flight, mark, data)) {
        writ_flight_answer(flight, 200, (struct writ_view){NULL, 0});
    } else {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
    }
}

/* Within its total time. */
static void
arm(struct writ_flight *flight, struct writ_loop *loop, int64_t due)
{
    if (flight->total_due_us > 0 && flight->total_due_us < due) {
        due = flight->total_due_us;
    }
    if (due < INT64_MAX) {
        writ_loop_timer_set(loop, &flight->timer, due);
    }
}

void
writ_flight_arm(struct writ_flight *flight, struct writ_loop *loop)
{
    int64_t due = INT64_MAX;

    if (flight->let_go) {
        return;
    }
    if (flight->timeout_us > 0) {
        due = writ_loop_now_us(loop) + flight->timeout_us;
    }
    arm(flight, loop, due);
}

void
writ_flight_let_go(
    struct writ_flight *flight, struct writ_loop *loop, int64_t left_us, writ_timer_fn *fn)
{
    if (!flight->let_go) {
        flight->let_go = true;
        flight->timer.fn = fn;
        arm(flight, loop, writ_loop_now_us(loop) + left_us);
    }
}
