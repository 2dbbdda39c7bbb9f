/* identity.h - identifies the caller: from the Authorization field to a struct writ_agent.
 *
 * The entries of `agents` in the configuration are tried in order:
 * - a static token, known by its SHA-256 only and compared in constant time with every entry;
 * - a JWT (jws.h: compact, at most 8 KiB, header alg, typ, kid only) whose `iss` an entry names and
 *   whose `aud` is that entry's, or the URL of the endpoint that was called (RFC 8707 2), signed by
 *   a key of that entry's issuer, within its lifetime, with the scopes that the entry requires of
 *   every token; claims map to the agent;
 * - a client certificate that the listener has verified, by its name, only for the page;
 * - anonymous, without any token, for listeners on loopback only. A token that is not accepted is
 * invalid, also when anonymous callers are served: its caller does not become anonymous.
 *
 * Two objects. struct writ_identity_keys, one per configuration, holds the key sets: files are read
 * once, URLs by a thread of its own with libcurl (https, or http to loopback; no redirects, no
 * proxies, limits on size and time; refreshed at an interval, with back-off on failure; an unknown
 * kid causes a refresh, at most one per interval; while the URL fails the last set is used until it
 * is too old, after that its entry refuses). struct writ_identity, one per loop, answers, and
 * caches the verdict on a JWT by the token's digest until its exp, and while the key set stays the
 * same (token_cache.h). */
#ifndef WRIT_GATEWAY_IDENTITY_H
#define WRIT_GATEWAY_IDENTITY_H

#include "base/clock.h"
#include "policy/model/config.h"

#define WRIT_IDENTITY_TOKEN_MAX      8192 /* longest token */
#define WRIT_IDENTITY_VALUE_MAX      256  /* longest id, tenant, role, ... taken from a claim */
#define WRIT_IDENTITY_SKEW_S         5    /* difference of clocks that is forgiven */
#define WRIT_IDENTITY_LIFETIME_MAX_S (24 * 3600) /* longest exp - iat */

/** The result. INVALID is 0. */
enum writ_identity_answer {
    WRIT_IDENTITY_INVALID = 0, /* 401 with an error word */
    WRIT_IDENTITY_MISSING,     /* 401 without one (RFC 6750 3.1) */
    WRIT_IDENTITY_MALFORMED,   /* 400: not a Bearer field */
    WRIT_IDENTITY_NARROW,      /* 403: the token lacks scopes that the entry requires */
    WRIT_IDENTITY_UNAVAILABLE, /* 503: the keys of the issuer cannot be had at the moment */
    WRIT_IDENTITY_KNOWN,
};

struct writ_identity_result {
    enum writ_identity_answer answer;
    struct writ_agent agent; /* KNOWN; views live in the arena or in the configuration. NARROW: only
                                the scopes */
    const struct writ_identity_config *issuer; /* KNOWN, NARROW: the entry of its token; else
                                                  NULL */
    int64_t expires_us;      /* KNOWN: wall time at which the token expires; 0: never */
    const char *error;       /* RFC 6750 3.1: "invalid_token", "invalid_request", ..., or "" */
    const char *description; /* for error_description and logs; never a part of the token */
};

/** The evidence of one request. */
struct writ_identity_question {
    struct writ_view authorization; /* value of the Authorization field; ptr NULL: none */
    struct writ_view certificate;   /* name in a verified client certificate, in place of a token;
                                       empty: none */
    bool loopback;                  /* the listener is on loopback (not the peer: a proxy may stand
                                     * between) */
    struct writ_view endpoint;      /* its path: "/mcp/fs"; must outlive the struct writ_identity */
};

struct writ_identity_keys;
struct writ_identity;

/**
 * Reads the key files of a configuration and starts to fetch its URLs. Blocks for the files only.
 *
 * @param config  one reference is held until free
 * @param clock   NULL: the system's
 * @param log     as in issuers.h
 * @param ret     new, free with writ_identity_keys_free; written only on success
 *
 * @return WRIT_OK; WRIT_E_ABSENT, WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_MISMATCH, WRIT_E_LIMIT,
 *         WRIT_E_IO of a key file, WRIT_E_INVALID a URL that is not allowed; WRIT_E_NOMEM,
 *         WRIT_E_CRYPTO
 */
WRIT_RESULT writ_identity_keys_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_log *log, struct writ_identity_keys **ret, struct writ_err *err);

/** Takes over the key sets that `before` has of the same issuers: issuers.h. */
void writ_identity_keys_inherit(
    struct writ_identity_keys *keys, const struct writ_identity_keys *before);

/** Ends the thread (within WRIT_ISSUERS_FETCH_MS of issuers.h) and frees. No struct writ_identity
 * of it may be in use any more. NULL is permitted. */
void writ_identity_keys_free(struct writ_identity_keys *keys);

/** True when every URL has given a set that is not too old: for readiness. Any thread. */
bool writ_identity_keys_ready(struct writ_identity_keys *keys);

/** For one loop; free with writ_identity_free before the keys. WRIT_E_NOMEM. */
WRIT_RESULT writ_identity_new(
    struct writ_identity_keys *keys, struct writ_identity **ret, struct writ_err *err);
void writ_identity_free(struct writ_identity *identity);

/**
 * Identifies the caller. Does not block; only for the thread of its loop.
 *
 * @param arena  of the request
 * @param ret    always written; INVALID when anything failed
 */
void writ_identity_ask(struct writ_identity *identity,
    const struct writ_identity_question *question, struct writ_arena *arena,
    struct writ_identity_result *ret);

#endif
