/* task_notification.h - messages about a task without a waiting request: the notices
 * notifications/tasks (2026-07-28) and notifications/tasks/status (2025-11-25), and the answer to a
 * request whose stream was lost, on a GET.
 *
 * A server knows only one client, the gateway, and may mention another agent's task. So a notice is
 * held until the ledger confirms that the task is this agent's and, when it ends the task, until
 * the outcome of its call is durable. A notice about a task of no call here, or one that may not be
 * passed on, is dropped and counted; an answer is replaced by the refusal. */
#ifndef WRIT_GATEWAY_TASK_NOTIFICATION_H
#define WRIT_GATEWAY_TASK_NOTIFICATION_H

#include "gateway/call/task_completion.h"

/** Borrowed for the call of writ_task_notification_take, but for `request` and `from`: until
 * `done`. */
struct writ_task_notification {
    struct writ_request *request; /* the request on whose stream it came */
    struct writ_upstream *from;
    enum writ_task_form form;
    const struct writ_digest *task; /* its name in the ledger; NULL: the notice names it */
    const struct writ_sse_event *event;
    /** Called once, later, from the loop: the event to send, borrowed for the call, or NULL. */
    void (*done)(void *ctx, const struct writ_sse_event *event);
    void *ctx;
};

/** Takes a notice. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO, WRIT_E_PARSE: it is dropped, and
 * `done` will not be called. */
WRIT_RESULT writ_task_notification_take(const struct writ_task_notification *notification);

/** The form of a notice on a stream of the request. */
enum writ_task_form writ_task_notification_form(const struct writ_request *request);

/** Counts a notification that is dropped unseen. */
void writ_task_notification_drop(const struct writ_request *request);

#endif
