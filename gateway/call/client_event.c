/* client_event.c - no received event is passed on before inspect.h has classified it. */
#include "gateway/call/client_event.h"

#include "gateway/request/client_stream.h"
#include "gateway/call/inspect.h"
#include "gateway/call/task_notification.h"

#define WORDS_MAX 64 /* notices about tasks that one stream holds at once */

static void
notification_done(void *ctx, const struct writ_sse_event *event)
{
    writ_client_stream_settle(ctx, event);
}

void
writ_client_event_task(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data)
{
    writ_auto_buf id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);
    struct writ_sse_event passed = *event;
    const struct writ_task_notification notification = {.request = request,
        .from = request->forward.upstream,
        .form = writ_task_notification_form(request),
        .event = &passed,
        .done = notification_done,
        .ctx = request};

    passed.data = data;
    passed.id = writ_client_stream_event_id(request, event->id, &id);
    if (request->stream.held == WORDS_MAX) {
        writ_task_notification_drop(request);
    } else if (writ_is_ok(writ_task_notification_take(&notification))) {
        writ_client_stream_hold(request);
    }
}

static bool
pass(struct writ_request *request, const struct writ_sse_event *event, enum writ_inspected kind,
    const struct writ_buf *ret)
{
    switch (kind) {
    case WRIT_INSPECTED_FOREIGN:
    case WRIT_INSPECTED_ANSWER:
        return false;
    case WRIT_INSPECTED_TASK:
        writ_client_event_task(request, event, writ_buf_view(ret));
        return false;
    case WRIT_INSPECTED_OTHER:
        writ_client_stream_event(request, event, writ_buf_view(ret));
        return false;
    case WRIT_INSPECTED_RESPONSE:
        return true;
    }
    return false;
}

bool
writ_client_event_pass(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_buf *ret)
{
    return pass(
        request, event, writ_inspect_event(request, request->forward.upstream, event, ret), ret);
}

bool
writ_client_event_pass_of_call(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_buf *ret)
{
    return pass(
        request, event, writ_inspect_answer(request, request->forward.upstream, event, ret), ret);
}
