/* guard_ask.h - a question to a guard about one call: is its credential good, is its target in the
 * state that it is for, and was it not used before? Part of guard.h. */
#ifndef WRIT_GATEWAY_GUARD_ASK_H
#define WRIT_GATEWAY_GUARD_ASK_H

#include "gateway/guard/guard.h"

/** The texts of guard_keys.h. */
enum writ_guard_text { WRIT_GUARD_KEYS = 0, WRIT_GUARD_STATUS };

/** Asks. Of a credential whose key is not known, the keys are fetched first, if that was not done a
 * moment ago. */
void writ_guard_ask(struct writ_guard *guard, struct writ_guard_ask *ask);

/** Drops the answer: `done` is not called. False: a look at the target is open, and `done` comes
 * when it has ended. */
bool writ_guard_ask_forget(struct writ_guard *guard, struct writ_guard_ask *ask);

/** A text was fetched, or not (guard_keys.h): verifies with it, and goes on with what waited.
 * @param ctx  the guard */
void writ_guard_ask_told(void *ctx, size_t place, const struct writ_buf *text);

#endif
