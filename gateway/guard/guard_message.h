/* guard_message.h - one message of a client in front of a guard: it passes, is refused, or is a
 * call that the guard must check. Part of guard.h. */
#ifndef WRIT_GATEWAY_GUARD_MESSAGE_H
#define WRIT_GATEWAY_GUARD_MESSAGE_H

#include "gateway/guard/guard.h"

/** The prefix of the ids of the guard's own requests; clients cannot use such ids. */
#define WRIT_GUARD_MESSAGE_ID "writ-guard-"

/** What is read of a message, of a client or a server. */
extern const struct writ_json_limits writ_guard_message_limits;

/** The treatment of a message. */
enum writ_guard_way {
    WRIT_GUARD_REFUSE = 0, /* with the fault */
    WRIT_GUARD_PASS,
    WRIT_GUARD_DROP, /* an unknown notification */
    WRIT_GUARD_CALL, /* `ask` is filled in but for `done` */
};

/** One message, read. */
struct writ_guard_message {
    const struct writ_json *id; /* or NULL */
    struct writ_mcp_fault fault;
    struct writ_mcp_message call; /* `ask` points here: a message stays where it was read */
    char params_hash[WRIT_DIGEST_TEXT];
    struct writ_guard_ask ask;
};

/**
 * Reads a message.
 *
 * @param guard    whose probes need no credential; not changed
 * @param text     borrowed as long as `ret`
 * @param headers  of its request; NULL: it has none (stdio)
 * @param token    of its head; empty: none there
 */
enum writ_guard_way writ_guard_message_read(const struct writ_guard *guard, struct writ_view text,
    const struct writ_mcp_headers *headers, struct writ_view token, struct writ_arena *arena,
    struct writ_guard_message *ret);

/** Appends the JSON-RPC error of a message that is refused. */
void writ_guard_message_put_fault(struct writ_buf *buf, const struct writ_guard_message *message);

/** Appends the JSON-RPC error of a call whose credential is refused. */
void writ_guard_message_put_no(struct writ_buf *buf, const struct writ_guard_message *message);

/** Whether an id is kept for the guard's questions. */
bool writ_guard_message_is_own(const struct writ_json *id);

#endif
