/* guard_keys.h - fetches the texts of a guard periodically: the keys of the gateway, and its list
 * of revoked credentials.
 *
 * A thread of its own fetches, and posts the text or the failure to the guard's loop. */
#ifndef WRIT_GATEWAY_GUARD_KEYS_H
#define WRIT_GATEWAY_GUARD_KEYS_H

#include "base/log.h"
#include "gateway/io/loop.h"

#define WRIT_GUARD_KEYS_PLACES 2

/** One text. */
struct writ_guard_place {
    const char *place; /* a file, or a URL (it has "://"); borrowed; NULL: there is none */
    size_t max;        /* bytes */
    int64_t every_us;  /* between two fetches */
};

struct writ_guard_keys;

/** Called on the loop after every attempt. `text` is borrowed for the call; NULL: it failed. */
typedef void writ_guard_keys_told(void *ctx, size_t place, const struct writ_buf *text);

/** Opens, and does not fetch yet. `ret` is new, free with writ_guard_keys_free when the loop has
 * ended; written only on success. WRIT_E_INVALID (a URL that is not allowed), WRIT_E_NOMEM. */
WRIT_RESULT writ_guard_keys_open(struct writ_loop *loop,
    const struct writ_guard_place places[WRIT_GUARD_KEYS_PLACES], struct writ_log *log,
    const struct writ_clock *clock, writ_guard_keys_told *told, void *ctx,
    struct writ_guard_keys **ret, struct writ_err *err);

/** Starts the thread. WRIT_E_NOMEM. */
WRIT_RESULT writ_guard_keys_start(struct writ_guard_keys *keys, struct writ_err *err);

/** NULL is permitted. Blocks briefly. */
void writ_guard_keys_free(struct writ_guard_keys *keys);

/** Starts an early fetch, or waits for the running one. False: it was fetched a moment ago, and
 * nothing will be reported. */
bool writ_guard_keys_hurry(struct writ_guard_keys *keys, size_t place);

#endif
