/* task_notification.c - holds a notice about a task until the ledger has said whose task it is, and
 * passes it on, replaces it or drops it. */
#include "gateway/call/task_notification.h"

#include "gateway/request/refusal.h"

#define ARENA_ROOM ((size_t)1 << 20)

/* Invariant: lives from writ_task_notification_take until `told`; the ledger and our own request
 * use it one after the other. Its arena is its own, because the request may be an endless
 * stream. */
struct held {
    struct writ_request *request;
    struct writ_upstream *from;
    enum writ_task_form form;
    void (*told)(void *ctx, const struct writ_sse_event *event);
    void *ctx;
    struct writ_arena *arena;
    struct writ_sse_event event;
    struct writ_view task_id;
    struct writ_task_completion end;
    enum writ_reason withheld; /* why it is dropped, although it is this agent's; or NONE */
    struct writ_task_question question;
    struct writ_entry entry;
    struct writ_post post;
    void (*next)(struct held *held);
};

void
writ_task_notification_drop(const struct writ_request *request)
{
    writ_metrics_count(request->x->metrics, WRIT_COUNTER_TASK_WORDS_DROPPED, 1);
}

enum writ_task_form
writ_task_notification_form(const struct writ_request *request)
{
    return request->message.era == WRIT_MCP_ERA_MODERN ? WRIT_TASK_NEWS : WRIT_TASK_NOTICE;
}

/* ---- telling ---- */

static void
tell(struct held *held, const struct writ_sse_event *event)
{
    held->told(held->ctx, event);
    writ_arena_free(held->arena);
    writ_free(held);
}

static const struct writ_json *
parse(const struct held *held)
{
    const struct writ_json *message = NULL;

    return writ_is_ok(writ_mcp_parse(held->event.data, held->arena, &message)) ? message : NULL;
}

/* The client waits for an answer, but not for a notice. */
static void
refuse(struct held *held, enum writ_reason reason)
{
    writ_auto_buf message = writ_buf_make(WRIT_REFUSAL_MAX);

    if (held->form == WRIT_TASK_NOTICE || held->form == WRIT_TASK_NEWS) {
        writ_task_notification_drop(held->request);
        tell(held, NULL);
        return;
    }
    writ_metrics_mark(held->request->x->metrics, WRIT_VECTOR_REFUSALS, reason);
    writ_refusal_put_error(&message, writ_json_get(parse(held), WRIT_LIT("id")), reason);
    held->event.data = writ_buf_view(&message);
    tell(held, writ_is_ok(writ_buf_check(&message, NULL)) ? &held->event : NULL);
}

/* ---- the ledger ---- */

static void
back_on_loop(struct writ_post *post)
{
    struct held *held = post->ctx;

    held->next(held);
}

/* On the writer's thread: reads nothing. */
static void
entry_done(struct writ_entry *entry)
{
    struct held *held = entry->user;

    writ_loop_answer(held->request->worker->loop, &held->post);
}

static void
submit(struct held *held, void (*next)(struct held *held))
{
    held->next = next;
    held->entry.done = entry_done;
    held->entry.user = held;
    held->entry.arena = held->arena;
    held->post = (struct writ_post){.fn = back_on_loop, .ctx = held};
    writ_worker_submit(held->request->worker, &held->entry);
}

static void
recorded(struct held *held)
{
    writ_task_completion_tell(held->request, &held->end, &held->entry);
    if (!writ_task_completion_is_settled(&held->entry)) {
        held->withheld = WRIT_REASON_LEDGER_UNAVAILABLE;
    }
    if (held->withheld != WRIT_REASON_NONE) {
        refuse(held, held->withheld);
    } else {
        tell(held, &held->event);
    }
}

static void
record(void *ctx)
{
    struct held *held = ctx;

    if (!writ_is_ok(
            writ_task_completion_record(&held->end, held->request->x->metrics, &held->entry))) {
        held->withheld = WRIT_REASON_OVERLOADED;
    }
    submit(held, recorded);
}

/* keeps the order of task.h: the outcome first, then the notice */
static void
learn(struct held *held)
{
    enum writ_task_says says =
        writ_task_completion_learn(&held->end, held->form, &held->event.data);

    held->withheld = held->end.withheld;
    switch (says) {
    case WRIT_TASK_SAYS_NOTHING:
        held->entry.kind = WRIT_ENTRY_NONE;
        recorded(held);
        return;
    case WRIT_TASK_SAYS_OVER:
        record(held);
        return;
    case WRIT_TASK_SAYS_ASK:
        break;
    }
    held->question = (struct writ_task_question){.end = &held->end, .done = record, .ctx = held};
    if (!writ_is_ok(
            writ_task_completion_ask(held->request, held->from, held->task_id, &held->question))) {
        record(held);
    }
}

static void
found(struct held *held)
{
    struct writ_request *request = held->request;

    if (held->entry.code != WRIT_OK) {
        refuse(held, held->entry.code == WRIT_E_ABSENT ? WRIT_REASON_TASK_NOT_FOUND
                                                       : WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    held->end = (struct writ_task_completion){.config = writ_request_config(request),
        .clock = request->worker->gateway->clock,
        .agent = &request->identity.agent,
        .upstream = writ_upstream_config(held->from)->name,
        .arena = held->arena,
        .call = held->entry.waiting};
    learn(held);
}

/* ---- taking ---- */

static struct writ_view
copy_or_absent(struct writ_view text, struct writ_arena *arena)
{
    return text.ptr != NULL ? writ_view_copy(text, arena) : text;
}

/* Reads the task, and the name under which its call waits. */
static writ_result
name_task(struct held *held, const struct writ_digest *task)
{
    const struct writ_agent *agent = &held->request->identity.agent;
    struct writ_digest *name = &held->entry.waiting.name;
    const struct writ_json *message = parse(held);
    bool is_status = held->form == WRIT_TASK_STATUS;

    held->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAITING};
    held->task_id = writ_json_string(writ_json_pointer(
        message, is_status ? WRIT_LIT("/result/taskId") : WRIT_LIT("/params/taskId")));
    if (task != NULL) {
        *name = *task;
        return WRIT_DONE;
    }
    if (held->task_id.len == 0) {
        return (writ_result){WRIT_E_PARSE};
    }
    return writ_ledger_task(agent->tenant, agent->id, writ_upstream_config(held->from)->name,
        held->task_id, name, NULL);
}

static writ_result
fill(struct held *held, const struct writ_task_notification *word)
{
    held->event = *word->event;
    held->event.data = writ_view_copy(word->event->data, held->arena);
    held->event.id = copy_or_absent(word->event->id, held->arena);
    held->event.event = copy_or_absent(word->event->event, held->arena);
    if (held->event.data.ptr == NULL ||
        (word->event->id.ptr != NULL && held->event.id.ptr == NULL)) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return name_task(held, word->task);
}

writ_result
writ_task_notification_take(const struct writ_task_notification *word)
{
    struct held *held = writ_alloc(sizeof *held);
    writ_result r = {WRIT_E_NOMEM};

    if (held != NULL) {
        *held = (struct held){.request = word->request,
            .from = word->from,
            .form = word->form,
            .told = word->told,
            .ctx = word->ctx,
            /* the values of two parses, and the output of the rules */
            .arena = writ_arena_new(192 * word->event->data.len + 4 * ARENA_ROOM)};
        r = held->arena != NULL ? fill(held, word) : r;
    }
    if (!writ_is_ok(r)) {
        writ_task_notification_drop(word->request);
        writ_arena_free(held != NULL ? held->arena : NULL);
        writ_free(held);
        return r;
    }
    submit(held, found);
    return WRIT_DONE;
}
