/* task.c - TASK: requests about a task, and their answers, in both forms: 2025-11-25
 * (`params.task`, tasks/get, tasks/result, tasks/list, tasks/cancel) and the extension of
 * 2026-07-28 (`resultType: task`, tasks/get, tasks/update, tasks/cancel).
 *
 * A tools/call that is answered with a task has no outcome yet: it waits in the ledger, for the
 * lifetime of the task. Only the agent whose call began a task may send requests about it; such a
 * request is not governed. The first answer that ends the task, on any connection and loop, records
 * the call's outcome, and is passed on when that is durable. A task without such an answer in time
 * is task_expired.
 *
 * Invariants:
 * 1. No request about a task goes upstream before the ledger has confirmed that it is this agent's.
 * 2. An answer that ends the task is held until the outcome of its call is durable. */
#include "gateway/call/client_event.h"
#include "gateway/call/inspect.h"
#include "gateway/call/mrtr.h"
#include "gateway/call/task_completion.h"
#include "gateway/mcp/rewrite.h"
#include "gateway/relay/pass.h"
#include "gateway/request/client_stream.h"
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"
#include "gateway/request/upcall_request.h"
#include "gateway/review/meet.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "policy/model/trail.h"

#define LISTED_MAX       1000 /* tasks of one list that are checked; the rest is left out */
#define INEXACT_TEXT_MAX 8192
#define OWN_BODY_MAX     65536 /* bytes of our own tasks/result */

#define EXTENSION WRIT_LIT("io.modelcontextprotocol/tasks")

/** A request about a task. Lives in the arena of its request. */
struct task_request {
    struct writ_request *request;
    size_t at;                   /* the candidate among all upstreams whose task it may be */
    struct writ_upstream *whose; /* found: */
    struct writ_task_completion end;
    bool answered;
    struct writ_sse_event last;       /* on a stream: the response */
    struct writ_upcall_answer answer; /* else: the whole answer */
    bool lost;                        /* there was no memory for it */
    enum writ_reason withheld;        /* why it is withheld, or NONE */
    /* tasks/list */
    const struct writ_json *list; /* the response */
    const struct writ_json **listed;
    size_t listed_n, looked_at, kept_n;
    struct writ_task_question question;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    bool noted; /* the answer may come by GET */
};

/* ---- TASK: whose it is ---- */

static struct writ_view
task_id(const struct writ_request *request)
{
    return writ_json_string(writ_json_get(request->message.params, WRIT_LIT("taskId")));
}

static enum writ_step
not_found(struct writ_request *request)
{
    return writ_refusal_http(
        request, 200, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_TASK_NOT_FOUND, NULL);
}

/* The stateless revision has tasks for clients that declare them in the request (SEP-2663). */
static bool
is_declared(const struct writ_request *request)
{
    const struct writ_json *capabilities =
        writ_json_get(request->message.meta, WRIT_LIT(WRIT_META_CAPABILITIES));

    return request->message.era != WRIT_MCP_ERA_MODERN ||
           writ_json_get(writ_json_get(capabilities, WRIT_LIT("extensions")), EXTENSION) != NULL;
}

/* The answer of any server of that revision, before it searches the task. */
static enum writ_step
undeclared(struct writ_request *request)
{
    static const struct writ_header json = WRIT_HEADER_JSON;
    writ_auto_buf body = writ_buf_make(OWN_BODY_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("error"));
    writ_write_raw(
        &w, WRIT_LIT("{\"code\":-32021,\"message\":\"Missing required client capability\","
                     "\"data\":{\"requiredCapabilities\":{\"extensions\":{"
                     "\"io.modelcontextprotocol/tasks\":{}}}}}"));
    writ_write_object_end(&w);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    return writ_finish_reply(request, 400, &json, 1, writ_buf_view(&body));
}

/* On the endpoint of all upstreams, they are tried in order. */
static struct writ_upstream *
candidate(const struct task_request *task)
{
    const struct writ_request *request = task->request;
    const struct writ_gateway *gateway = request->worker->gateway;

    if (request->endpoint->only != NULL) {
        return task->at == 0 ? request->endpoint->only : NULL;
    }
    return task->at < gateway->upstreams_n ? gateway->upstreams[task->at] : NULL;
}

static enum writ_step ask_upstream(struct task_request *task);

static enum writ_step
ask_ledger(struct task_request *task)
{
    struct writ_request *request = task->request;
    struct writ_upstream *upstream = candidate(task);

    if (upstream == NULL) { /* all were tried: two may have a task of one id */
        return task->whose != NULL ? ask_upstream(task) : not_found(request);
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAITING};
    if (!writ_is_ok(writ_ledger_task(request->identity.agent.tenant, request->identity.agent.id,
            writ_upstream_config(upstream)->name, task_id(request), &request->entry.waiting.name,
            NULL))) {
        return writ_refusal_http(
            request, 500, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_INTERNAL_ERROR, NULL);
    }
    return writ_request_submit(request, WRIT_STEP_TASK);
}

/* The data sent to a running task has the same limit as the input of a call (mrtr.h). */
static bool
is_bounded(const struct writ_request *request)
{
    const struct writ_json *input =
        writ_json_get(request->message.params, WRIT_LIT("inputResponses"));
    writ_auto_buf text = writ_buf_make(WRIT_MRTR_INPUT_MAX);

    return input == NULL || writ_is_ok(writ_jcs_put(&text, input, NULL));
}

static enum writ_step
refuse_inexact(struct writ_request *request, struct writ_view pointer)
{
    struct writ_buf text = writ_buf_in(request->x->arena, INEXACT_TEXT_MAX);

    writ_buf_put(&text, writ_reason_sentence(WRIT_REASON_NUMBER_NOT_EXACT));
    writ_buf_str(&text, "; at ");
    writ_text_json_safe(&text, pointer, WRIT_TRAIL_MAX);
    writ_buf_byte(&text, '\0');
    return writ_refusal_http(request, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_NUMBER_NOT_EXACT,
        writ_is_ok(writ_buf_check(&text, NULL)) ? text.ptr : NULL);
}

static enum writ_step
begin(struct writ_request *request)
{
    struct task_request *task = writ_arena_get(request->x->arena, sizeof *task);
    struct writ_view inexact;

    if (task == NULL) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    *task = (struct task_request){.request = request};
    request->part = task;
    if (!is_declared(request)) {
        return undeclared(request);
    }
    if (request->method == WRIT_MCP_TASKS_LIST) {
        task->whose = request->endpoint->only;
        return ask_upstream(task);
    }
    if (task_id(request).len == 0 || task_id(request).len > WRIT_TASK_COMPLETION_ID_MAX) {
        return not_found(request);
    }
    if (!writ_mrtr_is_exact(request, &inexact)) {
        return refuse_inexact(request, inexact);
    }
    if (!is_bounded(request)) {
        return writ_refusal_http(
            request, 400, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_REQUEST_TOO_LARGE, NULL);
    }
    return ask_ledger(task);
}

enum writ_step
writ_task_find(struct writ_request *request)
{
    struct task_request *task = request->part;

    if (task == NULL) {
        return begin(request);
    }
    if (task->whose != NULL && request->late.tried == task->whose) {
        return ask_upstream(task);
    }
    if (request->entry.code != WRIT_OK && request->entry.code != WRIT_E_ABSENT) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    if (request->entry.code == WRIT_OK && task->whose != NULL) {
        return writ_refusal_http(request, 200, WRIT_RPC_INVALID_PARAMS, WRIT_REASON_TASK_NOT_FOUND,
            "two upstreams have a task of that id: ask on the path of the one that is meant");
    }
    if (request->entry.code == WRIT_OK) {
        task->whose = candidate(task);
        task->end = (struct writ_task_completion){.clock = request->worker->gateway->clock,
            .config = writ_request_config(request),
            .keys = request->generation->keyring,
            .gateway = request->worker->gateway,
            .generation = request->generation,
            .agent = &request->identity.agent,
            .upstream = writ_upstream_config(task->whose)->name,
            .arena = request->x->arena,
            .call = request->entry.waiting};
    }
    task->at++;
    return ask_ledger(task);
}

/* ---- what the answer says ---- */

static const struct writ_json *
parse(struct task_request *task, struct writ_view text)
{
    const struct writ_json *value = NULL;

    return writ_is_ok(writ_mcp_parse(text, task->request->x->arena, &value)) ? value : NULL;
}

static void
result_arrived(void *ctx)
{
    struct task_request *task = ctx;

    writ_request_continue(task->request);
}

/* The first form separates the end of a task from its result: the outcome has the digest of the
 * result, so it is requested. */
static enum writ_step
ask_result(struct task_request *task)
{
    task->question =
        (struct writ_task_question){.end = &task->end, .done = result_arrived, .ctx = task};
    return writ_is_ok(writ_task_completion_ask(
               task->request, task->whose, task_id(task->request), &task->question))
               ? writ_request_wait(task->request, WRIT_STEP_SETTLE)
               : WRIT_STEP_SETTLE;
}

/* Whether the answer ends the task, and how; `text` becomes the text for the client. */
static enum writ_step
learn(struct task_request *task, struct writ_view *text)
{
    const struct writ_request *request = task->request;
    enum writ_task_says says = writ_task_completion_learn(
        &task->end, writ_task_completion_form(request->method, request->message.era), text);

    task->withheld = task->end.withheld;
    switch (says) {
    case WRIT_TASK_SAYS_NOTHING:
        return WRIT_STEP_REPORT;
    case WRIT_TASK_SAYS_OVER:
        return WRIT_STEP_SETTLE;
    case WRIT_TASK_SAYS_ASK:
        break;
    }
    return ask_result(task);
}

/* ---- the answer as it comes ---- */

static void
on_stream(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)answer;
    writ_client_stream_begin(upcall->ctx);
}

static void
stop_listening(struct writ_timer *timer)
{
    struct writ_request *request = timer->ctx;

    writ_upcall_cancel(&request->forward.upcall, false);
}

static struct writ_view
copy_or_absent(struct writ_view text, struct writ_arena *arena)
{
    return text.ptr != NULL ? writ_view_copy(text, arena) : text;
}

/* From its first id on the rest of the stream, with the answer, can be requested by GET. */
static void
note(struct task_request *task)
{
    const struct writ_request *request = task->request;
    struct writ_digest key;

    if (!task->noted && request->session != NULL &&
        writ_is_ok(writ_pending_responses_key(request->session,
            writ_upstream_config(task->whose)->name, request->message.id, &key)) &&
        writ_is_ok(writ_pending_responses_note_task(
            request->worker->gateway->answers, &key, &task->end.call.name, request->method))) {
        task->noted = true;
    }
}

static void
on_event(struct writ_upcall *upcall, const struct writ_sse_event *event)
{
    struct writ_request *request = upcall->ctx;
    struct task_request *task = request->part;
    struct writ_arena *arena = request->x->arena;
    writ_auto_buf data = writ_buf_make(WRIT_CLIENT_EVENT_MAX);
    writ_auto_buf id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);

    if (task->answered) {
        return;
    }
    if (event->id.len > 0) {
        note(task);
    }
    if (!writ_client_event_pass(request, event, &data)) {
        return;
    }
    task->answered = true;
    task->last = *event;
    task->last.data = writ_view_copy(writ_buf_view(&data), arena);
    task->last.id = copy_or_absent(writ_client_stream_event_id(request, event->id, &id), arena);
    task->last.event = copy_or_absent(event->event, arena);
    request->timer = (struct writ_timer){.fn = stop_listening, .ctx = request};
    writ_loop_timer_set(request->x->loop, &request->timer,
        writ_loop_now_us(request->x->loop) + WRIT_UPCALL_REST_US);
}

/* The answer's own bytes die with the callback. */
static void
keep(struct task_request *task, const struct writ_upcall_answer *answer)
{
    struct writ_arena *arena = task->request->x->arena;

    task->answer = *answer;
    task->answer.content_type = copy_or_absent(answer->content_type, arena);
    task->answer.retry_after = copy_or_absent(answer->retry_after, arena);
    task->answer.session = (struct writ_view){NULL, 0};
    task->answer.body = copy_or_absent(answer->body, arena);
    task->lost = answer->body.len > 0 && task->answer.body.ptr == NULL;
}

static void
on_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_request *request = upcall->ctx;

    request->forward.open = false;
    request->late.lost = writ_meet_is_lost(
        request, request->forward.upstream, &request->forward.upcall.request, answer);
    writ_loop_timer_cancel(&request->timer);
    keep(request->part, answer);
    writ_request_continue(request);
}

static const struct writ_upcall_events task_events = {
    .stream = on_stream, .event = on_event, .end = on_end};

static const struct writ_upcall_events list_events = {.end = on_end};

static enum writ_step
ask_upstream(struct task_request *task)
{
    struct writ_request *request = task->request;
    bool lists = request->method == WRIT_MCP_TASKS_LIST;

    if (writ_meet_is_due(request, task->whose)) {
        return writ_meet_start(request, task->whose, WRIT_STEP_TASK);
    }
    if (writ_meet_is_late(request, task->whose)) {
        return writ_meet_refuse(request);
    }
    if (!writ_is_ok(writ_upcall_request_make(request, task->whose, request->message.name,
            task->headers, &request->forward.upcall.request))) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    request->forward.upcall.events = lists ? &list_events : &task_events;
    request->forward.upcall.ctx = request;
    request->forward.upstream = task->whose;
    request->forward.open = true;
    writ_client_stream_watch(request);
    writ_upcall_start(task->whose, request->worker, &request->forward.upcall);
    return writ_request_wait(request, lists ? WRIT_STEP_LIST : WRIT_STEP_STATUS);
}

/* ---- STATUS ---- */

static enum writ_step
malformed(struct writ_request *request)
{
    return writ_refusal_http(request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
}

static bool
is_usable(const struct task_request *task)
{
    return !task->lost && !writ_inspect_is_another(task->request, task->whose, &task->answer);
}

static enum writ_step
refuse_unusable(const struct task_request *task)
{
    return task->lost ? writ_refusal_http(task->request, 503, WRIT_RPC_INTERNAL_ERROR,
                            WRIT_REASON_OVERLOADED, NULL)
                      : malformed(task->request);
}

static bool
is_good(const struct writ_upcall_answer *answer)
{
    return answer->end == WRIT_UPCALL_ANSWERED && answer->status < 300;
}

enum writ_step
writ_task_status(struct writ_request *request)
{
    struct task_request *task = request->part;

    if (!request->stream.open) {
        return !is_usable(task)         ? refuse_unusable(task)
               : is_good(&task->answer) ? learn(task, &task->answer.body)
                                        : WRIT_STEP_REPORT;
    }
    if (task->answered && task->last.data.ptr != NULL) {
        return learn(task, &task->last.data);
    }
    return writ_client_stream_end(
        request, task->answer.end == WRIT_UPCALL_ANSWERED && !task->answered);
}

/* ---- LIST and FILTER: a server that knows one client, us, lists the tasks of all ---- */

enum writ_step
writ_task_list(struct writ_request *request)
{
    struct task_request *task = request->part;
    const struct writ_json *tasks;

    if (!is_usable(task)) {
        return refuse_unusable(task);
    }
    if (!is_good(&task->answer)) {
        return WRIT_STEP_REPORT;
    }
    task->list = parse(task, task->answer.body);
    tasks = writ_json_get_typed(
        writ_json_get(task->list, WRIT_LIT("result")), WRIT_LIT("tasks"), WRIT_JSON_ARRAY);
    task->listed = writ_arena_get(request->x->arena, LISTED_MAX * sizeof(*task->listed));
    if (task->listed == NULL ||
        (tasks == NULL && writ_json_get(task->list, WRIT_LIT("error")) == NULL)) {
        return malformed(request); /* an unchecked answer is not passed on */
    }
    if (tasks == NULL) {
        return WRIT_STEP_REPORT;
    }
    WRIT_JSON_EACH(item, tasks)
    {
        if (task->listed_n < LISTED_MAX) {
            task->listed[task->listed_n++] = item;
        }
    }
    return WRIT_STEP_FILTER;
}

/* The list with this agent's tasks, in their order. */
static enum writ_step
show_list(struct task_request *task)
{
    static const struct writ_view path[] = {
        {"result", sizeof "result" - 1}, {"tasks", sizeof "tasks" - 1}};
    size_t most = 2 * task->answer.body.len + OWN_BODY_MAX;
    writ_auto_buf tasks = writ_buf_make(most);
    struct writ_buf message = writ_buf_in(task->request->x->arena, most);
    struct writ_write w = writ_write_to(&tasks);

    writ_write_array_begin(&w);
    for (size_t i = 0; i < task->kept_n; i++) {
        writ_write_value(&w, task->listed[i]);
    }
    writ_write_array_end(&w);
    if (!writ_is_ok(writ_write_end(&w, NULL)) ||
        !writ_is_ok(writ_rewrite_at(task->list, path, 2, writ_buf_view(&tasks), &message))) {
        return writ_refusal_http(
            task->request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    task->answer.body = writ_buf_view(&message);
    return WRIT_STEP_REPORT;
}

enum writ_step
writ_task_filter(struct writ_request *request)
{
    struct task_request *task = request->part;
    const struct writ_json *item;

    if (request->entry.kind == WRIT_ENTRY_WAITING) {
        if (request->entry.code == WRIT_OK) {
            task->listed[task->kept_n++] = task->listed[task->looked_at];
        } else if (request->entry.code != WRIT_E_ABSENT) {
            return writ_refusal_http(
                request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
        }
        task->looked_at++;
    }
    if (task->looked_at == task->listed_n) {
        return show_list(task);
    }
    item = task->listed[task->looked_at];
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAITING};
    if (!writ_is_ok(writ_ledger_task(request->identity.agent.tenant, request->identity.agent.id,
            writ_upstream_config(task->whose)->name,
            writ_json_string(writ_json_get(item, WRIT_LIT("taskId"))), &request->entry.waiting.name,
            NULL))) {
        return writ_refusal_http(
            request, 500, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_INTERNAL_ERROR, NULL);
    }
    return writ_request_submit(request, WRIT_STEP_FILTER);
}

/* ---- SETTLE and REPORT ---- */

enum writ_step
writ_task_settle(struct writ_request *request)
{
    struct task_request *task = request->part;

    if (!writ_is_ok(writ_task_completion_record(&task->end, &request->entry))) {
        task->withheld = WRIT_REASON_OVERLOADED;
    }
    return writ_request_submit(request, WRIT_STEP_REPORT);
}

enum writ_step
writ_task_report(struct writ_request *request)
{
    struct task_request *task = request->part;
    enum writ_reason withheld = task->withheld;

    writ_task_completion_tell(request, &task->end, &request->entry);
    if (withheld != WRIT_REASON_NONE && !request->stream.open) {
        return writ_refusal_http(request, 200, WRIT_REFUSAL_CODE, withheld, NULL);
    }
    if (withheld != WRIT_REASON_NONE) {
        return writ_client_stream_end(request, false);
    }
    if (!request->stream.open) {
        return writ_task_completion_is_settled(&request->entry)
                   ? writ_pass_answer(request, &task->answer)
                   : writ_refusal_http(request, 503, WRIT_RPC_INTERNAL_ERROR,
                         WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    return writ_client_stream_end(
        request, writ_task_completion_is_settled(&request->entry) &&
                     writ_is_ok(writ_sse_put(&request->stream.pending, &task->last, NULL)));
}
