/* task_notification.c - holds a notice about a task until the ledger has said whose task it is, and
 * passes it on, replaces it or drops it. */
#include "gateway/call/task_notification.h"

#include "gateway/request/refusal.h"

#define ARENA_ROOM ((size_t)1 << 20)

/* Invariant: lives from writ_task_notification_take until `done`; the ledger and our own request
 * use it one after the other. Its arena is its own, because the request may be an endless
 * stream. */
struct pending_event {
    struct writ_request *request;
    struct writ_upstream *from;
    enum writ_task_form form;
    void (*done)(void *ctx, const struct writ_sse_event *event);
    void *ctx;
    struct writ_arena *arena;
    struct writ_sse_event event;
    struct writ_view task_id;
    struct writ_task_completion end;
    enum writ_reason withheld; /* why it is dropped, although it is this agent's; or NONE */
    struct writ_task_question question;
    struct writ_entry entry;
    struct writ_post post;
    void (*next)(struct pending_event *pending);
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
tell(struct pending_event *pending, const struct writ_sse_event *event)
{
    pending->done(pending->ctx, event);
    writ_arena_free(pending->arena);
    writ_free(pending);
}

static const struct writ_json *
parse(const struct pending_event *pending)
{
    const struct writ_json *message = NULL;

    return writ_is_ok(writ_mcp_parse(pending->event.data, pending->arena, &message)) ? message
                                                                                     : NULL;
}

/* The client waits for an answer, but not for a notice. */
static void
refuse(struct pending_event *pending, enum writ_reason reason)
{
    writ_auto_buf message = writ_buf_make(WRIT_REFUSAL_MAX);

    if (pending->form == WRIT_TASK_NOTICE || pending->form == WRIT_TASK_NEWS) {
        writ_task_notification_drop(pending->request);
        tell(pending, NULL);
        return;
    }
    writ_metrics_mark(pending->request->x->metrics, WRIT_VECTOR_REFUSALS, reason);
    writ_refusal_put_error(&message, writ_json_get(parse(pending), WRIT_LIT("id")), reason);
    pending->event.data = writ_buf_view(&message);
    tell(pending, writ_is_ok(writ_buf_check(&message, NULL)) ? &pending->event : NULL);
}

/* ---- the ledger ---- */

static void
back_on_loop(struct writ_post *post)
{
    struct pending_event *pending = post->ctx;

    writ_request_count_outcome(pending->request, &pending->entry);
    pending->next(pending);
}

/* On the writer's thread: reads nothing. */
static void
entry_done(struct writ_entry *entry)
{
    struct pending_event *pending = entry->user;

    writ_loop_answer(pending->request->worker->loop, &pending->post);
}

static void
submit(struct pending_event *pending, void (*next)(struct pending_event *pending))
{
    pending->next = next;
    pending->entry.done = entry_done;
    pending->entry.user = pending;
    pending->entry.arena = pending->arena;
    pending->post = (struct writ_post){.fn = back_on_loop, .ctx = pending};
    writ_worker_submit(pending->request->worker, &pending->entry);
}

static void
recorded(struct pending_event *pending)
{
    writ_task_completion_tell(pending->request, &pending->end, &pending->entry);
    if (!writ_task_completion_is_settled(&pending->entry)) {
        pending->withheld = WRIT_REASON_LEDGER_UNAVAILABLE;
    }
    if (pending->withheld != WRIT_REASON_NONE) {
        refuse(pending, pending->withheld);
    } else {
        tell(pending, &pending->event);
    }
}

static void
record(void *ctx)
{
    struct pending_event *pending = ctx;

    if (!writ_is_ok(writ_task_completion_record(&pending->end, &pending->entry))) {
        pending->withheld = WRIT_REASON_OVERLOADED;
    }
    submit(pending, recorded);
}

/* keeps the order of task_notification.h: the outcome first, then the notice */
static void
learn(struct pending_event *pending)
{
    enum writ_task_says says =
        writ_task_completion_learn(&pending->end, pending->form, &pending->event.data);

    pending->withheld = pending->end.withheld;
    switch (says) {
    case WRIT_TASK_SAYS_NOTHING:
        pending->entry.kind = WRIT_ENTRY_NONE;
        recorded(pending);
        return;
    case WRIT_TASK_SAYS_OVER:
        record(pending);
        return;
    case WRIT_TASK_SAYS_ASK:
        break;
    }
    pending->question =
        (struct writ_task_question){.end = &pending->end, .done = record, .ctx = pending};
    if (!writ_is_ok(writ_task_completion_ask(
            pending->request, pending->from, pending->task_id, &pending->question))) {
        record(pending);
    }
}

static void
found(struct pending_event *pending)
{
    struct writ_request *request = pending->request;

    if (pending->entry.code != WRIT_OK) {
        refuse(pending, pending->entry.code == WRIT_E_ABSENT ? WRIT_REASON_TASK_NOT_FOUND
                                                             : WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    pending->end = (struct writ_task_completion){.config = writ_request_config(request),
        .clock = request->worker->gateway->clock,
        .keys = request->generation->keyring,
        .gateway = request->worker->gateway,
        .generation = request->generation,
        .agent = &request->identity.agent,
        .upstream = writ_upstream_config(pending->from)->name,
        .arena = pending->arena,
        .call = pending->entry.waiting};
    learn(pending);
}

/* ---- taking ---- */

static struct writ_view
copy_or_absent(struct writ_view text, struct writ_arena *arena)
{
    return text.ptr != NULL ? writ_view_copy(text, arena) : text;
}

/* Reads the task, and the name under which its call waits. */
static writ_result
name_task(struct pending_event *pending, const struct writ_digest *task)
{
    const struct writ_agent *agent = &pending->request->identity.agent;
    struct writ_digest *name = &pending->entry.waiting.name;
    const struct writ_json *message = parse(pending);
    bool is_status = pending->form == WRIT_TASK_STATUS;

    pending->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAITING};
    pending->task_id = writ_json_string(writ_json_pointer(
        message, is_status ? WRIT_LIT("/result/taskId") : WRIT_LIT("/params/taskId")));
    if (task != NULL) {
        *name = *task;
        return WRIT_DONE;
    }
    if (pending->task_id.len == 0) {
        return (writ_result){WRIT_E_PARSE};
    }
    return writ_ledger_task(agent->tenant, agent->id, writ_upstream_config(pending->from)->name,
        pending->task_id, name, NULL);
}

static writ_result
fill(struct pending_event *pending, const struct writ_task_notification *notification)
{
    pending->event = *notification->event;
    pending->event.data = writ_view_copy(notification->event->data, pending->arena);
    pending->event.id = copy_or_absent(notification->event->id, pending->arena);
    pending->event.event = copy_or_absent(notification->event->event, pending->arena);
    if (pending->event.data.ptr == NULL ||
        (notification->event->id.ptr != NULL && pending->event.id.ptr == NULL)) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return name_task(pending, notification->task);
}

writ_result
writ_task_notification_take(const struct writ_task_notification *notification)
{
    struct pending_event *pending = writ_alloc(sizeof *pending);
    writ_result r = {WRIT_E_NOMEM};

    if (pending != NULL) {
        *pending = (struct pending_event){.request = notification->request,
            .from = notification->from,
            .form = notification->form,
            .done = notification->done,
            .ctx = notification->ctx,
            /* the values of two parses, and the output of the rules */
            .arena = writ_arena_new(192 * notification->event->data.len + 4 * ARENA_ROOM)};
        r = pending->arena != NULL ? fill(pending, notification) : r;
    }
    if (!writ_is_ok(r)) {
        writ_task_notification_drop(notification->request);
        writ_arena_free(pending != NULL ? pending->arena : NULL);
        writ_free(pending);
        return r;
    }
    submit(pending, found);
    return WRIT_DONE;
}
