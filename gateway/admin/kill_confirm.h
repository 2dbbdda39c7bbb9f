/* kill_confirm.h - whether a stop or a lift holds at every gateway that shares the ledger.
 *
 * A gateway that is live says in the database how much of the ledger it knows. A stop is confirmed
 * when all of them know its record: from then on they refuse its calls. One whose lease is over
 * sends nothing before it knows it. */
#ifndef WRIT_GATEWAY_KILL_CONFIRM_H
#define WRIT_GATEWAY_KILL_CONFIRM_H

#include "gateway/state/gateway.h"

#define WRIT_KILL_CONFIRM_NAMES 64 /* gateways that an answer names */

struct writ_kill_confirm {
    bool confirmed;
    struct writ_view names[WRIT_KILL_CONFIRM_NAMES]; /* where it is not */
    size_t n;
};

/** Waits until all know the record at `leaf`, at most 2 s. `durable` false: it has no record, and
 * holds here alone. `reader` NULL: the ledger cannot be read. The names are in the arena. On the
 * thread of the lookups, and only where the ledger is shared; blocks. */
void writ_kill_confirm_wait(const struct writ_gateway *gateway, struct writ_reader *reader,
    bool durable, uint64_t leaf, struct writ_arena *arena, struct writ_kill_confirm *ret);

/** Writes the members `confirmed` and `unconfirmed`. */
void writ_kill_confirm_put(const struct writ_kill_confirm *confirm, struct writ_write *w);

#endif
