/* resume.c - requests the rest of a call's answer, or takes it from another request's stream.
 *
 * Invariants:
 * (1) `noted` is true exactly while the table of answers may hand out the request.
 * (2) Every handover that arrived is sent home exactly once. */
#include "gateway/request/resume.h"

#define ID_MAX       1024   /* of an event id; a longer one cannot be resumed from */
#define ASK_AFTER_US 500000 /* when the server did not state a time */
#define RETRY_MIN_MS 50     /* whatever time it stated */
#define RETRY_MAX_US 60000000
#define LEFT_US      2000000 /* for a client that left to come back */
#define LOOK_US      200000  /* while asking, between checks whether the client has come back */

/* The part of a governed call. Zero-initialised. */
struct writ_resume {
    struct writ_buf id; /* of the last event that had one */
    int64_t retry_us;   /* the pause that the server requested; 0: none */
    int64_t ask_us;     /* when the rest is requested, by the clock of the loop */
    struct writ_digest key;
    bool noted;   /* in the table of answers, until it is settled */
    bool left;    /* the client has left */
    bool asking;  /* the upcall is a GET for the rest */
    bool carried; /* the answer came on another stream */
    bool over;    /* the outcome is being recorded */
    const struct writ_upcall_events *rest;
    struct writ_handover *ferries;
};

bool
writ_resume_prepare(struct writ_request *request, const struct writ_upcall_events *rest)
{
    struct writ_resume *resume = writ_arena_get(request->x->arena, sizeof *resume);

    if (resume == NULL) {
        return false;
    }
    *resume = (struct writ_resume){.rest = rest};
    request->call->reply.resume = resume;
    return true;
}

static int64_t
until_us(const struct writ_request *request)
{
    return request->forward.sent_us + request->call->reply.total_us;
}

static void
arm(struct writ_request *request, writ_timer_fn *fn, int64_t after_us)
{
    struct writ_loop *loop = request->x->loop;

    writ_loop_timer_cancel(&request->timer);
    request->timer = (struct writ_timer){.fn = fn, .ctx = request};
    writ_loop_timer_set(loop, &request->timer, writ_loop_now_us(loop) + after_us);
}

static bool
client_is_asking(const struct writ_request *request)
{
    return request->call->reply.resume->left && atomic_load(&request->session->resuming) > 0;
}

/* ---- where to go on from ---- */

/* A client that got progress of its wait continues from there also when it requests the rest
 * itself. */
static void
enter_progress(struct writ_request *request)
{
    const struct writ_json *token = writ_json_get(request->message.meta, WRIT_LIT("progressToken"));
    struct writ_digest key;

    if (token != NULL && writ_is_ok(writ_pending_responses_progress_key(
                             request->session, request->call->callee.name, token, &key))) {
        WRIT_IGNORE(writ_pending_responses_note_progress(request->worker->gateway->answers, &key,
            request->hold.progress)); /* no memory: unmoved */
    }
}

static void
enter(struct writ_request *request)
{
    struct writ_resume *resume = request->call->reply.resume;
    struct writ_pending_responses *answers = request->worker->gateway->answers;

    if (request->message.era != WRIT_MCP_LEGACY ||
        request->forward.upcall.request.session.len == 0 ||
        !writ_is_ok(writ_pending_responses_key(
            request->session, request->call->callee.name, request->message.id, &resume->key)) ||
        !writ_is_ok(
            writ_pending_responses_note(answers, &resume->key, request, request->x->loop))) {
        return;
    }
    resume->noted = true;
    enter_progress(request);
}

void
writ_resume_note(struct writ_request *request, const struct writ_sse_event *event)
{
    struct writ_resume *resume = request->call->reply.resume;

    if (event->retry_ms != WRIT_SSE_NO_RETRY) {
        resume->retry_us = (event->retry_ms > RETRY_MIN_MS ? event->retry_ms : RETRY_MIN_MS) * 1000;
    }
    if (event->id.ptr == NULL || event->id.len > ID_MAX) {
        return;
    }
    if (resume->id.max == 0) {
        resume->id = writ_buf_make(ID_MAX);
        enter(request);
    }
    writ_buf_clear(&resume->id);
    writ_buf_put(&resume->id, event->id);
}

void
writ_resume_conclude(struct writ_request *request, const struct writ_upcall_answer *answer)
{
    request->forward.answer = *answer;
    writ_request_continue(request);
}

/* ---- asking for the rest ---- */

static void wait_and_ask(struct writ_request *request, int64_t after_us);

static void
nobody_asked(struct writ_request *request)
{
    const struct writ_upcall_answer end = {
        .end = WRIT_UPCALL_TIMEOUT, .sent = WRIT_SENT, .detail = "total_timeout"};

    request->call->reply.resume->over = true;
    writ_resume_conclude(request, &end);
}

/* The client has come back while the gateway was asking: the stream is its own. */
static void
look(struct writ_timer *timer)
{
    struct writ_request *request = timer->ctx;

    if (client_is_asking(request)) {
        writ_upcall_cancel(&request->forward.upcall, false);
    } else {
        arm(request, look, LOOK_US);
    }
}

static void
ask(struct writ_request *request)
{
    struct writ_upcall_request *wanted = &request->forward.upcall.request;
    struct writ_resume *resume = request->call->reply.resume;
    struct writ_header last = {WRIT_LIT("Last-Event-ID"), writ_buf_view(&resume->id)};

    wanted->method = WRIT_METHOD_GET;
    wanted->may_begin = NULL; /* the call was sent */
    wanted->body = (struct writ_view){NULL, 0};
    wanted->message = NULL;
    wanted->headers = &last;
    wanted->headers_n = 1;
    wanted->total_us = until_us(request) - writ_loop_now_us(request->x->loop);
    request->forward.upcall.events = resume->rest;
    request->forward.open = true;
    resume->asking = true;
    writ_upcall_start(request->forward.upstream, request->worker, &request->forward.upcall);
    arm(request, look, LOOK_US);
}

static void tick(struct writ_timer *timer);

/* The gateway may stop meanwhile: checks that now and then. */
static void
wait_on(struct writ_request *request)
{
    int64_t until = until_us(request), ask_us = request->call->reply.resume->ask_us;
    int64_t left_us = (ask_us < until ? ask_us : until) - writ_loop_now_us(request->x->loop);

    arm(request, tick, left_us < LOOK_US ? left_us : LOOK_US);
}

static void
tick(struct writ_timer *timer)
{
    struct writ_request *request = timer->ctx;
    int64_t now_us = writ_loop_now_us(request->x->loop);

    if (now_us >= until_us(request) || request->worker->expired) {
        nobody_asked(request);
    } else if (now_us < request->call->reply.resume->ask_us) {
        wait_on(request);
    } else if (client_is_asking(request)) {
        wait_and_ask(request, ASK_AFTER_US);
    } else {
        ask(request);
    }
}

static void
wait_and_ask(struct writ_request *request, int64_t after_us)
{
    request->call->reply.resume->ask_us = writ_loop_now_us(request->x->loop) + after_us;
    wait_on(request);
}

/* ---- the stream has ended ---- */

static bool
may_go_on(const struct writ_request *request, const struct writ_upcall_answer *answer)
{
    const struct writ_call *call = request->call;
    const struct writ_resume *resume = call->reply.resume;

    if (!resume->noted || resume->id.len == 0 || call->reply.answered || call->reply.malformed ||
        writ_loop_now_us(request->x->loop) >= until_us(request)) {
        return false;
    }
    switch (answer->end) {
    case WRIT_UPCALL_ANSWERED: /* 409: the server has not yet noticed that the other stream is
                                  closed */
        return answer->is_stream || (resume->asking && answer->status == 409);
    case WRIT_UPCALL_BROKEN: /* a child that ended has nothing to resume */
        return answer->is_stream && !request->worker->ending &&
               writ_upstream_config(request->forward.upstream)->kind == WRIT_UPSTREAM_HTTP;
    case WRIT_UPCALL_CANCELLED:
        return resume->left && !request->worker->ending;
    case WRIT_UPCALL_NO_TOKEN: /* there may be a token again in time */
        return resume->asking && !request->worker->ending;
    case WRIT_UPCALL_TIMEOUT:
    case WRIT_UPCALL_PROGRAM:
    case WRIT_UPCALL_CROWDED:
    case WRIT_UPCALL_TOO_LARGE:
        break;
    }
    return false;
}

bool
writ_resume_is_asking(const struct writ_request *request)
{
    return request->call->reply.resume->asking;
}

/* The answer refuses the rest of the stream, not the call: its client did not ask for that. */
static bool
is_refused_rest(const struct writ_request *request, const struct writ_upcall_answer *answer)
{
    return request->call->reply.resume->asking && !request->call->reply.answered &&
           answer->end == WRIT_UPCALL_ANSWERED && !answer->is_stream;
}

bool
writ_resume_goes_on(struct writ_request *request, struct writ_upcall_answer *end)
{
    struct writ_resume *resume = request->call->reply.resume;
    int64_t after_us = resume->retry_us > 0 ? resume->retry_us : ASK_AFTER_US;

    if (resume->asking) {
        end->sent = WRIT_SENT; /* the call was, whatever became of asking for its answer */
    }
    if (resume->carried) {
        end->end = WRIT_UPCALL_ANSWERED;
        end->status = 200;
    }
    if (may_go_on(request, end)) {
        after_us = resume->left && after_us < LEFT_US ? LEFT_US : after_us;
        wait_and_ask(request, after_us < RETRY_MAX_US ? after_us : RETRY_MAX_US);
        return true;
    }
    resume->over = true;
    if (is_refused_rest(request, end)) {
        end->end = WRIT_UPCALL_BROKEN;
        end->detail = "stream_lost";
    }
    return false;
}

void
writ_resume_leave(struct writ_request *request)
{
    struct writ_resume *resume = request->call->reply.resume;

    if (resume == NULL || !resume->noted || request->call->reply.answered) {
        return; /* its outcome is learned on this stream or not at all */
    }
    resume->left = true;
    if (request->forward.open) {
        writ_upcall_cancel(&request->forward.upcall, false);
    }
}

/* ---- an answer that came elsewhere ---- */

static void
home(struct writ_post *post)
{
    struct writ_handover *handover = post->ctx;

    handover->done(handover);
}

static void
send_home(struct writ_handover *handover, bool taken)
{
    handover->taken = taken;
    handover->post = (struct writ_post){.fn = home, .ctx = handover};
    writ_loop_answer(handover->home, &handover->post); /* keeps (2) */
}

static void
take(struct writ_request *request, struct writ_handover *handover)
{
    static const struct writ_upcall_answer end = {
        .status = 200, .is_stream = true, .end = WRIT_UPCALL_ANSWERED, .sent = WRIT_SENT};
    struct writ_call *call = request->call;
    struct writ_resume *resume = call->reply.resume;

    handover->next = resume->ferries;
    resume->ferries = handover;
    if (resume->over || call->reply.answered) {
        return; /* it gets the rest of the call's own stream */
    }
    call->reply.answered = resume->carried = true;
    call->reply.last = (struct writ_sse_event){.kind = WRIT_SSE_EVENT,
        .data = writ_view_copy(writ_buf_view(&handover->message), request->x->arena),
        .retry_ms = WRIT_SSE_NO_RETRY};
    writ_loop_timer_cancel(&request->timer);
    if (request->forward.open) {
        writ_upcall_cancel(&request->forward.upcall, false); /* its end concludes */
        return;
    }
    resume->over = true;
    writ_resume_conclude(request, &end);
}

void
writ_resume_arrive(struct writ_post *post)
{
    struct writ_handover *handover = post->ctx;
    struct writ_pending_responses_found found =
        writ_pending_responses_find(handover->answers, &handover->key);

    if (found.state == WRIT_PENDING_RESPONSES_AWAITED) {
        take(found.call, handover);
    } else {
        send_home(handover, false);
    }
}

/* ---- the call has ended ---- */

static void
leave_table(struct writ_request *request, const struct writ_digest *shown)
{
    struct writ_resume *resume = request->call->reply.resume;

    if (resume->noted) {
        writ_pending_responses_settle(
            request->worker->gateway->answers, &resume->key, request, shown);
        resume->noted = false; /* keeps (1) */
    }
}

bool
writ_resume_settle(struct writ_request *request, struct writ_view message, bool refusal)
{
    struct writ_resume *resume = request->call->reply.resume;
    struct writ_handover *handover = resume != NULL ? WRIT_TAKE(resume->ferries) : NULL;
    bool elsewhere = handover != NULL;
    struct writ_digest shown;

    if (resume != NULL && resume->noted) {
        bool known = !refusal && writ_is_ok(writ_digest_bytes(message, &shown, NULL));
        leave_table(request, known ? &shown : NULL);
    }
    while (handover != NULL) {
        struct writ_handover *next = handover->next;
        writ_buf_clear(&handover->message);
        writ_buf_put(&handover->message, message);
        send_home(handover, true);
        handover = next;
    }
    return elsewhere;
}

void
writ_resume_forget(struct writ_request *request)
{
    struct writ_resume *resume = request->call != NULL ? request->call->reply.resume : NULL;

    if (resume == NULL) {
        return;
    }
    leave_table(request, NULL);
    while (resume->ferries != NULL) {
        struct writ_handover *next = resume->ferries->next;
        send_home(resume->ferries, false);
        resume->ferries = next;
    }
    writ_buf_wipe(&resume->id);
}
