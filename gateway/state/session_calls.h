/* session_calls.h - the governed calls of a session that are under way, by their ids of JSON-RPC. A
 * client cancels a call by its id, on any connection and so on any loop (MCP 2025-11-25,
 * basic/utilities/cancellation). One that was not sent yet must not be sent then. */
#ifndef WRIT_GATEWAY_SESSION_CALLS_H
#define WRIT_GATEWAY_SESSION_CALLS_H

#include "evidence/json/json.h"

#include <pthread.h>
#include <stdatomic.h>

/** One call. In the memory of its request, which removes it before its end. */
struct writ_session_call {
    const struct writ_json *id; /* string or number; borrowed */
    atomic_bool cancelled;      /* once true, it stays so */
    struct writ_session_call *next, **link;
};

struct writ_session_calls {
    pthread_mutex_t lock;
    struct writ_session_call *first;
};

void writ_session_calls_init(struct writ_session_calls *calls);
/** It is empty by then. */
void writ_session_calls_wipe(struct writ_session_calls *calls);

/** Adds a call, which has its id; one that is there stays as it is. All functions may be called by
 * any thread. */
void writ_session_calls_add(struct writ_session_calls *calls, struct writ_session_call *call);
/** Removes a call, if it is there. */
void writ_session_calls_remove(struct writ_session_calls *calls, struct writ_session_call *call);
/** The client cancels the call of that id; none has it: nothing. */
void writ_session_calls_cancel(struct writ_session_calls *calls, const struct writ_json *id);

#endif
