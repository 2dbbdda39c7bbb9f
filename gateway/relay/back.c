/* back.c - retries absent upstreams and notifies the client when their lists are back.
 *
 * Invariants:
 * (1) For one stream an upstream has at most one join or request open.
 * (2) A request may outlive its stream; its answer is dropped then. */
#include "gateway/relay/back.h"

#include "gateway/relay/merged_stream.h"
#include "gateway/review/meet.h"
#include "gateway/probe/probe.h"

#include "evidence/json/write.h"

#define LOOK_US    INT64_C(2000000) /* between two checks */
#define PAUSE_US   INT64_C(2000000) /* after a try in vain; then twice as long, up to */
#define PAUSES_US  INT64_C(60000000)
#define ANSWER_MAX (4u << 20)
#define ASK_ARENA  (64u << 20)

/* One upstream for the client of the stream. */
struct attempt {
    struct writ_back *back;
    struct writ_upstream *upstream;
    struct writ_late_wait late;
    struct question *question; /* NULL: none is open */
    int64_t next_us, pause_us;
};

struct writ_back {
    struct writ_merged_stream *merged;
    struct writ_timer timer;
    struct attempt *attempts;
    size_t n;
    bool stopped;
};

/* A request for a list. */
struct question {
    struct attempt *attempt;      /* NULL: the stream is over */
    struct writ_session *session; /* held */
    struct writ_arena *arena;
    struct writ_agent agent;
    struct writ_mcp_message message;
    struct writ_upcall upcall;
};

static const struct {
    unsigned kind;
    struct writ_view list, changed;
} kinds[] = {
    {WRIT_SESSION_TOOLS, WRIT_LIT("tools/list"),
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}")},
    {WRIT_SESSION_PROMPTS, WRIT_LIT("prompts/list"),
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\"}")},
    {WRIT_SESSION_RESOURCES, WRIT_LIT("resources/list"),
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}")},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static struct writ_request *
request_of(const struct attempt *attempt)
{
    return attempt->back->merged->request;
}

static struct writ_view
name_of(const struct attempt *attempt)
{
    return writ_upstream_config(attempt->upstream)->name;
}

static void
in_vain(struct attempt *attempt, enum writ_upcall_end end)
{
    const struct writ_request *request = request_of(attempt);
    int64_t pause_us = attempt->pause_us > 0 ? 2 * attempt->pause_us : PAUSE_US;

    if (end == WRIT_UPCALL_TIMEOUT) {
        writ_upstream_was_silent(attempt->upstream, request->worker);
    }
    attempt->pause_us = pause_us < PAUSES_US ? pause_us : PAUSES_US;
    attempt->next_us = writ_loop_now_us(request->worker->loop) + attempt->pause_us;
}

/* ---- it is back */

static void
tell(struct attempt *attempt)
{
    struct writ_merged_stream *merged = attempt->back->merged;
    unsigned missed = writ_session_take_missed(merged->request->session, name_of(attempt));

    attempt->pause_us = 0;
    merged->live++; /* it may end meanwhile */
    for (size_t i = 0; i < KINDS; i++) {
        const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
            .event = WRIT_LIT("message"),
            .data = kinds[i].changed,
            .retry_ms = WRIT_SSE_NO_RETRY};
        if ((missed & kinds[i].kind) != 0 && !merged->over) {
            writ_merged_stream_put_now(merged, &event);
        }
    }
    writ_merged_stream_release(merged);
}

/* ---- a question */

static void
question_free(struct question *question)
{
    writ_session_drop(question->session);
    writ_arena_free(question->arena);
    writ_free(question);
}

/* A list, or the answer that there is none. */
static bool
is_list(struct question *question, const struct writ_upcall_answer *answer)
{
    const struct writ_json *message = NULL;

    return answer->end == WRIT_UPCALL_ANSWERED && answer->status < 300 &&
           writ_is_ok(writ_mcp_parse(answer->body, question->arena, &message)) &&
           writ_json_equal(writ_json_get(message, WRIT_LIT("id")), question->message.id) &&
           (writ_json_get(message, WRIT_LIT("result")) != NULL ||
               writ_json_get(message, WRIT_LIT("error")) != NULL);
}

static void
question_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct question *question = upcall->ctx;
    struct attempt *attempt = question->attempt;
    bool good = is_list(question, answer);
    enum writ_upcall_end end = answer->end;

    if (attempt != NULL) { /* then the next check lets it join again */
        (void)writ_meet_is_lost(request_of(attempt), attempt->upstream, &upcall->request, answer);
    }
    question_free(question);
    if (attempt == NULL) {
        return;
    }
    attempt->question = NULL;
    if (good) {
        tell(attempt);
    } else {
        in_vain(attempt, end);
    }
}

static const struct writ_upcall_events question_events = {.end = question_end};

static writ_result
put_question(struct question *question, struct writ_view method, struct writ_view *ret)
{
    struct writ_buf body = writ_buf_in(question->arena, 1024);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *message = NULL;
    char id[WRIT_PROBE_ID_MAX];

    WRIT_TRY(writ_probe_make_id("writ-back-", id));
    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(&w, "id", writ_view_str(id));
    writ_write_text(&w, "method", method);
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    WRIT_TRY(writ_json_read(
        writ_buf_view(&body), &writ_json_limits_default, question->arena, &message, NULL));
    question->message = (struct writ_mcp_message){.kind = WRIT_MCP_REQUEST,
        .body = message,
        .id = writ_json_get(message, WRIT_LIT("id")),
        .params = writ_json_get(message, WRIT_LIT("params")),
        .method = method};
    *ret = writ_buf_view(&body);
    return WRIT_DONE;
}

static struct question *
make_question(struct attempt *attempt, struct writ_view method, struct writ_view *ret_body)
{
    struct writ_session *session = request_of(attempt)->session;
    struct question *question = writ_alloc(sizeof *question);

    if (question == NULL) {
        return NULL;
    }
    (void)atomic_fetch_add(&session->holders, 1);
    *question = (struct question){.attempt = attempt,
        .session = session,
        .arena = writ_arena_new_small(ASK_ARENA),
        .agent = {.id = session->agent_id, .tenant = session->tenant}};
    if (question->arena == NULL || !writ_is_ok(put_question(question, method, ret_body))) {
        question_free(question);
        return NULL;
    }
    return question;
}

static void
ask(struct attempt *attempt, struct writ_view method)
{
    const struct writ_upstream_config *to = writ_upstream_config(attempt->upstream);
    struct writ_view body = {NULL, 0};
    struct question *question = make_question(attempt, method, &body);

    if (question == NULL) {
        in_vain(attempt, WRIT_UPCALL_BROKEN);
        return;
    }
    question->upcall = (struct writ_upcall){.events = &question_events,
        .ctx = question,
        .request = {.method = WRIT_METHOD_POST,
            .message = &question->message,
            .body = body,
            .session = writ_session_upstream(question->session, to->name),
            .version = question->session->version,
            .body_max = ANSWER_MAX,
            .event_max = ANSWER_MAX,
            .timeout_us = to->list_timeout_us,
            .total_us = WRIT_UPSTREAM_LIST_TIMES * to->list_timeout_us,
            .scope = question->session->id,
            .agent = &question->agent,
            .environment = writ_session_environment(question->session),
            .client = question->session->client}};
    attempt->question = question;
    writ_upcall_start(attempt->upstream, request_of(attempt)->worker, &question->upcall);
}

/* ---- looking */

static void look(struct attempt *attempt);

static void
met(struct writ_late_wait *wait)
{
    struct attempt *attempt = wait->ctx;

    if (writ_meet_is_late(request_of(attempt), attempt->upstream)) {
        in_vain(attempt, wait->answer.end);
    } else {
        look(attempt);
    }
}

static void
join(struct attempt *attempt)
{
    struct writ_request *request = request_of(attempt);

    attempt->late = (struct writ_late_wait){.done = met, .ctx = attempt};
    if (!writ_is_ok(writ_late_start(
            request->worker, request->session, attempt->upstream, &attempt->late))) {
        in_vain(attempt, WRIT_UPCALL_BROKEN);
    }
}

static struct writ_view
list_of(unsigned missed)
{
    size_t i = 0;

    while (i + 1 < KINDS && (missed & kinds[i].kind) == 0) {
        i++;
    }
    return kinds[i].list;
}

static void
look(struct attempt *attempt)
{
    struct writ_request *request = request_of(attempt);
    unsigned missed = writ_session_missed(request->session, name_of(attempt));

    if (attempt->late.join != NULL || attempt->question != NULL) { /* keeps (1) */
        return;
    }
    attempt->back->merged->ops->join(attempt->back->merged, attempt->upstream);
    if (missed == 0 || writ_loop_now_us(request->worker->loop) < attempt->next_us ||
        !writ_upstream_lets(attempt->upstream, request->worker)) {
        return;
    }
    if (writ_meet_is_late(request, attempt->upstream)) {
        join(attempt);
    } else {
        ask(attempt, list_of(missed));
    }
}

static void
tick(struct writ_timer *timer)
{
    struct writ_back *back = timer->ctx;
    struct writ_request *request = back->merged->request;
    struct writ_loop *loop = request->worker->loop;

    if (atomic_load(&request->session->left)) { /* no upstream would end the stream any more */
        writ_merged_stream_cancel(back->merged);
        return;
    }
    for (size_t i = 0; i < back->n; i++) {
        look(&back->attempts[i]);
    }
    writ_loop_timer_set(loop, &back->timer, writ_loop_now_us(loop) + LOOK_US);
}

/* ---- life */

static bool
speaks_for_itself(struct writ_upstream *upstream)
{
    const struct writ_upstream_config *config = writ_upstream_config(upstream);

    return config->kind == WRIT_UPSTREAM_STDIO && config->sharing == WRIT_SHARING_SESSION;
}

struct writ_back *
writ_back_start(struct writ_merged_stream *merged)
{
    struct writ_request *request = merged->request;
    const struct writ_gateway *gateway = request->worker->gateway;
    struct writ_back *back = writ_arena_get(request->x->arena, sizeof *back);

    if (back == NULL) {
        return NULL;
    }
    *back = (struct writ_back){.merged = merged,
        .timer = {.fn = tick, .ctx = back},
        .attempts =
            writ_arena_get(request->x->arena, (gateway->upstreams_n + 1) * sizeof *back->attempts)};
    if (back->attempts == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (!speaks_for_itself(gateway->upstreams[i])) {
            back->attempts[back->n++] =
                (struct attempt){.back = back, .upstream = gateway->upstreams[i]};
        }
    }
    writ_loop_timer_set(
        request->worker->loop, &back->timer, writ_loop_now_us(request->worker->loop) + LOOK_US);
    return back;
}

void
writ_back_stop(struct writ_back *back)
{
    if (back == NULL || back->stopped) {
        return;
    }
    back->stopped = true;
    writ_loop_timer_cancel(&back->timer);
    for (size_t i = 0; i < back->n; i++) {
        struct attempt *attempt = &back->attempts[i];
        writ_late_leave(&attempt->late);
        if (attempt->question != NULL) {
            attempt->question->attempt = NULL; /* keeps (2) */
            writ_upcall_cancel(&attempt->question->upcall, true);
            attempt->question = NULL;
        }
    }
}
