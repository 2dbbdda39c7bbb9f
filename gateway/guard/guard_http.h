/* guard_http.h - a guard over HTTP: a reverse proxy, or the check for another proxy. Part of
 * guard.h. */
#ifndef WRIT_GATEWAY_GUARD_HTTP_H
#define WRIT_GATEWAY_GUARD_HTTP_H

#include "gateway/guard/guard.h"

/** Fields of heads that another proxy sends and gets; docs/guard.md has their table. */
#define WRIT_GUARD_FIELD_TOOL        "Writ-Tool"
#define WRIT_GUARD_FIELD_PARAMS_HASH "Writ-Params-Hash"
#define WRIT_GUARD_FIELD_STATE       "Writ-Target-State"
#define WRIT_GUARD_FIELD_AGENT       "Writ-Agent"
#define WRIT_GUARD_FIELD_TENANT      "Writ-Tenant"
#define WRIT_GUARD_FIELD_DECISION    "Writ-Decision"
#define WRIT_GUARD_FIELD_REASON      "Writ-Reason"

/** Opens the listener, and in the form HTTP the client to the server. WRIT_E_INVALID, WRIT_E_IO,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. `ret` is written in any case, close with writ_guard_http_close. */
WRIT_RESULT writ_guard_http_open(struct writ_guard *guard, void **ret, struct writ_err *err);

/** Never by itself. */
bool writ_guard_http_is_over(void *form);

/** Stops accepting and waits for open exchanges, a few seconds at most. */
void writ_guard_http_drain(void *form);

/** Call it when the loop has ended. NULL is permitted. */
void writ_guard_http_close(void *form);

#endif
