/* logins.h - logins to the page: the Authorization field for each cookie and key.
 *
 * A login keeps the Authorization field of the client, and identity.h checks it again at every
 * request. So a login ends with its token (a reload drops the entry, or the token expires).
 *
 * It is found by two secrets at once: a cookie, which scripts cannot read, and a key that only
 * pages of the same origin (scheme, host and port) can. Browsers send a cookie to every port of a
 * host, so the cookie alone, in the hands of another server on this machine, is useless. Only the
 * SHA-256 of both are kept.
 *
 * Bounded: WRIT_LOGINS_MAX in all, WRIT_LOGINS_EACH of one agent, whose oldest makes room. Nothing
 * survives a restart. Any thread; a short lock. */
#ifndef WRIT_GATEWAY_LOGINS_H
#define WRIT_GATEWAY_LOGINS_H

#include "base/clock.h"
#include "evidence/json/digest.h"

#define WRIT_LOGINS_MAX     256
#define WRIT_LOGINS_EACH    8
#define WRIT_LOGINS_TEXT    44                         /* a secret of 256 bits and NUL */
#define WRIT_LOGINS_SHOWN   8256                       /* bytes of an Authorization field */
#define WRIT_LOGINS_IDLE_US (INT64_C(1800) * 1000000)  /* ends so long after the last request */
#define WRIT_LOGINS_LIFE_US (INT64_C(28800) * 1000000) /* and at the latest */

struct writ_logins;

/** The secrets of a new login. */
struct writ_logins_pass {
    char cookie[WRIT_LOGINS_TEXT], key[WRIT_LOGINS_TEXT];
    int64_t expires_us; /* at the latest, by the wall clock */
};

/** `clock` NULL: the system's. WRIT_E_NOMEM. */
WRIT_RESULT writ_logins_new(
    const struct writ_clock *clock, struct writ_logins **ret, struct writ_err *err);
/** Wipes the kept fields. NULL is permitted. */
void writ_logins_free(struct writ_logins *logins);

/**
 * Adds a login of a caller that identity.h has accepted.
 *
 * @param agent  digest of its identity: for the limit of each agent
 * @param shown  the Authorization field, copied
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY     WRIT_LOGINS_MAX others are logged in
 *         WRIT_E_INVALID  `shown` is empty
 *         WRIT_E_LIMIT    `shown` is longer than WRIT_LOGINS_SHOWN
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_logins_open(struct writ_logins *logins, const struct writ_digest *agent,
    struct writ_view shown, struct writ_logins_pass *ret, struct writ_err *err);

/** Copies the field kept for this cookie and this key into the arena, and restarts the idle time of
 * the login. WRIT_E_ABSENT: no login has both, or it has ended; WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_logins_find(struct writ_logins *logins, struct writ_view cookie,
    struct writ_view key, struct writ_arena *arena, struct writ_view *ret);

/** Ends a login; an unknown one is ignored. */
void writ_logins_close(struct writ_logins *logins, struct writ_view cookie, struct writ_view key);

#endif
