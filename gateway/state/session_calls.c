/* A list: a client has few calls under way. */
#include "gateway/state/session_calls.h"

void
writ_session_calls_init(struct writ_session_calls *calls)
{
    (void)pthread_mutex_init(&calls->lock, NULL);
    calls->first = NULL;
}

void
writ_session_calls_wipe(struct writ_session_calls *calls)
{
    (void)pthread_mutex_destroy(&calls->lock);
}

void
writ_session_calls_add(struct writ_session_calls *calls, struct writ_session_call *call)
{
    (void)pthread_mutex_lock(&calls->lock);
    if (call->link == NULL) {
        call->next = calls->first;
        call->link = &calls->first;
        if (call->next != NULL) {
            call->next->link = &call->next;
        }
        calls->first = call;
    }
    (void)pthread_mutex_unlock(&calls->lock);
}

void
writ_session_calls_remove(struct writ_session_calls *calls, struct writ_session_call *call)
{
    (void)pthread_mutex_lock(&calls->lock);
    if (call->link != NULL) {
        *call->link = call->next;
        if (call->next != NULL) {
            call->next->link = call->link;
        }
        call->link = NULL;
    }
    (void)pthread_mutex_unlock(&calls->lock);
}

void
writ_session_calls_cancel(struct writ_session_calls *calls, const struct writ_json *id)
{
    (void)pthread_mutex_lock(&calls->lock);
    for (struct writ_session_call *call = calls->first; call != NULL; call = call->next) {
        if (writ_json_equal(call->id, id)) {
            atomic_store(&call->cancelled, true);
        }
    }
    (void)pthread_mutex_unlock(&calls->lock);
}
