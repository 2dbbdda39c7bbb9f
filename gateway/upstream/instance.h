/* instance.h - one running server of a stdio upstream: its child, from the first start to the last
 * end. Inside of stdio. */
#ifndef WRIT_GATEWAY_INSTANCE_H
#define WRIT_GATEWAY_INSTANCE_H

#include "gateway/upstream/stdio_owner.h"

/**
 * A new instance; its child starts in the loop's next turn.
 *
 * @param key    copied: the session or agent that it serves
 * @param hello  copied: params of its initialize; empty: the gateway's own
 * @param given  environment of its client (client_env.h); empty: the gateway's own
 *
 * @return WRIT_OK, WRIT_E_BUSY (no more children are allowed), WRIT_E_NOMEM, WRIT_E_INVALID
 */
WRIT_RESULT writ_instance_new(struct writ_stdio *stdio, enum writ_instance_kind kind,
    struct writ_view key, struct writ_view hello, struct writ_view given,
    struct writ_instance **ret);

/**
 * Counts one child against an agent. An agent with a full share loses its own child that was unused
 * for longest.
 *
 * @return WRIT_OK, WRIT_E_LIMIT (its share is full, and all of it in use), WRIT_E_NOMEM,
 *         WRIT_E_CRYPTO
 */
WRIT_RESULT writ_instance_take_share(
    struct writ_stdio *stdio, const struct writ_agent *agent, struct writ_charge *ret);

/** The instance of that kind and key that is not ending, or NULL. */
struct writ_instance *writ_instance_find(
    struct writ_stdio *stdio, enum writ_instance_kind kind, struct writ_view key);

/** Takes a flight: it begins now, or when the child is up. */
void writ_instance_take(struct writ_instance *instance, struct writ_flight *flight);

/** Ends it: every client that it serves gets `why`; the child is stopped, and the instance is freed
 * when the child has ended. */
void writ_instance_end(struct writ_instance *instance, const char *why);

/** Frees it at once, with its child. After the loops have ended. */
void writ_instance_free(struct writ_instance *instance);

/** The child answered: from here on its flights are served. */
void writ_instance_came_up(struct writ_instance *instance);

/** The child refuses its session's initialize: the client gets its `error`, and the instance
 * ends. */
void writ_instance_refused(struct writ_instance *instance, const struct writ_json *error);

/** Restarts the child for its output, or for its silence. */
void writ_instance_reject(struct writ_instance *instance, const char *why);

#endif
