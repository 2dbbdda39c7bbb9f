/* logins.h - people who are logged in to the page: who has shown what, under which cookie and key.
 *
 * A login remembers the Authorization field that was shown, and every request asks identity.h about
 * it anew: a login is worth what the token is worth at that moment, and ends with it (a reload that
 * drops the entry, a token that expires).
 *
 * It is found by two secrets at once: a cookie, which scripts cannot read, and a key that only
 * pages of the same origin (scheme, host and port) can. Browsers send a cookie to every port of a
 * host, so the cookie alone, in the hands of another server on this machine, opens nothing. Kept
 * are the SHA-256 of both.
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

/** What a new login is known by. */
struct writ_logins_pass {
    char cookie[WRIT_LOGINS_TEXT], key[WRIT_LOGINS_TEXT];
    int64_t expires_us; /* at the latest, by the wall clock */
};

/** `clock` NULL: the system's. WRIT_E_NOMEM. */
WRIT_RESULT writ_logins_new(
    const struct writ_clock *clock, struct writ_logins **ret, struct writ_err *err);
/** Wipes what was shown. NULL is fine. */
void writ_logins_free(struct writ_logins *logins);

/**
 * Lets somebody in who has been found right.
 *
 * @param agent  digest of who it is: for the bound of each
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

/** What was shown for this cookie and this key, copied into the arena; WRIT_E_ABSENT when nobody is
 * logged in with both, or no longer; WRIT_E_NOMEM, WRIT_E_CRYPTO. Puts the end of an idle login
 * off. */
WRIT_RESULT writ_logins_find(struct writ_logins *logins, struct writ_view cookie,
    struct writ_view key, struct writ_arena *arena, struct writ_view *ret);

/** Ends a login; one that is not there is fine. */
void writ_logins_close(struct writ_logins *logins, struct writ_view cookie, struct writ_view key);

#endif
