/* guard_ask.h - the check of one call by a guard: its credential is valid, its target has the
 * expected state, and it was not used before. Part of guard.h. */
#ifndef WRIT_GATEWAY_GUARD_ASK_H
#define WRIT_GATEWAY_GUARD_ASK_H

#include "gateway/guard/guard.h"

/** The texts of guard_keys.h. */
enum writ_guard_text { WRIT_GUARD_KEYS = 0, WRIT_GUARD_STATUS };

/** Starts a check. For a credential with an unknown key, the keys are fetched first, unless that
 * was done a moment ago. */
void writ_guard_ask(struct writ_guard *guard, struct writ_guard_ask *ask);

/** Drops the ask: `done` is not called. False: a probe of the target is open, and `done` comes when
 * it has ended. */
bool writ_guard_ask_forget(struct writ_guard *guard, struct writ_guard_ask *ask);

/** A text was fetched, or not (guard_keys.h): verifies with it, and continues the waiting asks.
 * @param ctx  the guard */
void writ_guard_ask_told(void *ctx, size_t place, const struct writ_buf *text);

#endif
