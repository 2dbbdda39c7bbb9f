/* login_look.h - the rows of logins in a ledger that several gateways share (logins.h): looks at
 * them, on the thread of the lookups, and keeps those in use. From the loop of the worker. */
#ifndef WRIT_GATEWAY_LOGIN_LOOK_H
#define WRIT_GATEWAY_LOGIN_LOOK_H

#include "gateway/auth/logins.h"
#include "gateway/state/gateway.h"
#include "gateway/state/ledger_query.h"

/** One look. The caller fills the first members, and keeps all until `done`. */
struct writ_login_look {
    struct writ_worker *worker;
    struct writ_arena *arena; /* belongs to the look until `done` */
    struct writ_view cookie, key;
    /** On the loop. WRIT_OK: the row was read, and the table of logins agrees with it, whether
     * there is one or not; else it could not be read. */
    void (*done)(struct writ_login_look *look, writ_result result);
    void *ctx;

    /* its own */
    struct writ_logins_row row;
    writ_result result;
    struct writ_lookup lookup;
    struct writ_post post;
};

/** Begins a look. WRIT_E_BUSY: too many wait, and `done` is not called; WRIT_E_LIMIT: these are no
 * secrets of a login. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_login_look(struct writ_login_look *look);

/** Looks at the row of a login that a stream uses, if that is due. Later than FRESH_US without a
 * look, the login does not hold any more. */
void writ_login_look_again(
    struct writ_worker *worker, struct writ_view cookie, struct writ_view key);

/** Fills the entry that writes the row of a login in use; `value` in the arena. As
 * writ_logins_row_make. */
WRIT_RESULT writ_login_look_put(struct writ_worker *worker, struct writ_view cookie,
    struct writ_view key, struct writ_arena *arena, struct writ_entry *ret);

#endif
