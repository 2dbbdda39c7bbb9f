/* issuers.h - the key sets of the issuers of agents' tokens.
 *
 * A set comes from a file, read once, or from a URL, fetched by a thread of its own (found in the
 * issuer's metadata when no URL is given: discovery.h): at once, then at an interval, sooner with
 * growing pauses while it fails, and when a token has an unknown kid (but then at most once per
 * `unknown_us`, so that made-up kids cannot cause fetches). A fetch that fails or does not return a
 * key set changes nothing: the last set is used until it is older than `stale_us`.
 *
 * Any thread may call. One lock guards the sets; it is never held during a fetch or a verification.
 * The version of a set can be read without it. */
#ifndef WRIT_GATEWAY_ISSUERS_H
#define WRIT_GATEWAY_ISSUERS_H

#include "base/clock.h"
#include "base/log.h"
#include "evidence/jose/jwks.h"

#define WRIT_ISSUERS_REFRESH_S     300         /* how often a JWKS URL is fetched */
#define WRIT_ISSUERS_UNKNOWN_KID_S 30          /* how soon again for a kid that is not in the set */
#define WRIT_ISSUERS_STALE_MAX_S   (24 * 3600) /* oldest set that still serves */
#define WRIT_ISSUERS_FETCH_MS      10000       /* longest time of one fetch */

/** When things are fetched. Zero members stand for the defaults above. */
struct writ_issuers_times {
    int64_t refresh_us; /* The times of fetches. Zero members stand for the defaults above. */
    int64_t retry_us;   /* after the first failure; doubled with each, at most refresh_us */
    int64_t unknown_us; /* between fetches for an unknown kid */
    int64_t stale_us;   /* oldest set that serves */
    int64_t fetch_ms;   /* longest time of one fetch */
};

/** The source of one set. NUL-terminated; borrowed until free. */
struct writ_issuers_place {
    struct writ_view jwks;   /* a file name, or a URL (it has "://"); empty: the URL in the
                                metadata */
    struct writ_view issuer; /* of this issuer, a URL; else only for the log */
};

struct writ_issuers;

/** A set that was current when it was held. */
struct writ_issuers_set;

/**
 * Opens the sources: reads the files, checks the URLs, starts the thread when there are any.
 *
 * @param places  may contain the same place twice
 * @param times   NULL: the defaults
 * @param clock   NULL: the system's; borrowed
 * @param log     gets a line `keys_failed` for each fetch that fails; may be NULL. Borrowed
 * @param ret     new, free with writ_issuers_free; written only on success
 *
 * @return WRIT_OK; what writ_text_file and writ_jwks_read return for a file; WRIT_E_INVALID also
 *         for a file without a usable key and for a URL that is not allowed; WRIT_E_NOMEM
 */
WRIT_RESULT writ_issuers_new(const struct writ_issuers_place *places, size_t n,
    const struct writ_issuers_times *times, const struct writ_clock *clock, struct writ_log *log,
    struct writ_issuers **ret, struct writ_err *err);

/** Takes over the sets that `before` fetched from the same places, with their age, where nothing
 * was fetched yet: so a reload keeps the keys. Any thread. */
void writ_issuers_inherit(struct writ_issuers *issuers, struct writ_issuers *before);

/** Ends the thread, cancels a running fetch, and frees. Held sets stay valid. Blocks briefly. NULL
 * is permitted. */
void writ_issuers_free(struct writ_issuers *issuers);

/** The version of the set of place `i`: 0 while it has no usable set, else a number that changes
 * whenever the keys do. Does not block. */
uint64_t writ_issuers_version(struct writ_issuers *issuers, size_t i);

/** Holds the set of place `i`; NULL when it has no usable one. */
struct writ_issuers_set *writ_issuers_hold(struct writ_issuers *issuers, size_t i);
void writ_issuers_drop(struct writ_issuers_set *set);

/** Its keys, valid until it is dropped, and its version. */
const struct writ_jwks *writ_issuers_keys(const struct writ_issuers_set *set, uint64_t *ret);

/** Reports a token whose kid is not in place `i`. */
void writ_issuers_unknown(struct writ_issuers *issuers, size_t i);

/** True when every place has a usable set. */
bool writ_issuers_ready(struct writ_issuers *issuers);

#endif
