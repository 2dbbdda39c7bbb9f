/* logins.h - logins to the page: the Authorization field for each cookie and key. Pure.
 *
 * A login keeps the Authorization field of the client, and identity.h checks it again at every
 * request. So a login ends with its token (a reload drops the entry, or the token expires).
 *
 * It is found by two secrets at once: a cookie, which scripts cannot read, and a key that only
 * pages of the same origin (scheme, host and port) can. Browsers send a cookie to every port of a
 * host, so the cookie alone, in the hands of another server on this machine, is useless. Only the
 * SHA-256 of both are kept.
 *
 * Gateways that share a ledger share the logins by rows of it. A row is named by a digest of both
 * secrets, and has the field encrypted under a key that is made of them: neither the database nor
 * its backups can log in. There a login in this table is a copy of its row, and holds for
 * WRIT_LOGINS_FRESH_US after the row was seen: a logout at another gateway removes the row.
 *
 * Bounded: WRIT_LOGINS_MAX in all, WRIT_LOGINS_EACH of one agent, whose oldest makes room. Without
 * rows nothing survives a restart. Any thread; a short lock. */
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

#define WRIT_LOGINS_FRESH_US                                                                       \
    (INT64_C(30) * 1000000) /* a copy holds so long after a look at its row */
#define WRIT_LOGINS_LOOK_US (INT64_C(2) * 1000000) /* between two looks for one stream */
#define WRIT_LOGINS_ROW_MAX 8448                   /* bytes of the value of a row */
#define WRIT_LOGINS_RENEW_US                                                                       \
    (INT64_C(60) * 1000000) /* a row's idle time may be so much too short */

struct writ_logins;

/** The secrets of a new login. */
struct writ_logins_pass {
    char cookie[WRIT_LOGINS_TEXT], key[WRIT_LOGINS_TEXT];
    int64_t expires_us;          /* at the latest, by the wall clock */
    bool replaces;               /* the agent's oldest login made room: */
    struct writ_digest replaced; /* the name of its row */
};

/** The row of a login. */
struct writ_logins_row {
    struct writ_digest name;
    struct writ_view value;
    int64_t expires_us; /* wall time: idle, or at the end of its life */
};

/** `clock` NULL: the system's. `shared`: other gateways have the same rows. WRIT_E_NOMEM. */
WRIT_RESULT writ_logins_new(
    const struct writ_clock *clock, bool shared, struct writ_logins **ret, struct writ_err *err);
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
 * the login. WRIT_E_ABSENT: no login has both, it has ended, or its row was not seen for too long;
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_logins_find(struct writ_logins *logins, struct writ_view cookie,
    struct writ_view key, struct writ_arena *arena, struct writ_view *ret);

/** True, at most once in WRIT_LOGINS_LOOK_US: the row of this login must be looked at again. */
bool writ_logins_is_due(struct writ_logins *logins, struct writ_view cookie, struct writ_view key);

/** The name of the row of these secrets. WRIT_E_LIMIT: they are none; WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_logins_row_name(
    struct writ_view cookie, struct writ_view key, struct writ_digest *ret);

/** The row of a login of this table, in use now, in the arena. As writ_logins_find. */
WRIT_RESULT writ_logins_row_make(struct writ_logins *logins, struct writ_view cookie,
    struct writ_view key, struct writ_arena *arena, struct writ_logins_row *ret);

/**
 * Takes a login from its row, which was seen now.
 *
 * @param ret_renew  whether the row must be written again, because the login is in use
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    it has expired
 *         WRIT_E_MISMATCH  the row is not of these secrets
 *         WRIT_E_BUSY, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 *         After a failure the table has no such login.
 */
WRIT_RESULT writ_logins_row_take(struct writ_logins *logins, struct writ_view cookie,
    struct writ_view key, const struct writ_logins_row *row, bool *ret_renew);

/** Ends a login; an unknown one is ignored. */
void writ_logins_close(struct writ_logins *logins, struct writ_view cookie, struct writ_view key);

#endif
