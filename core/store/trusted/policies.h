/* policies.h - the policies that a gateway had, by digest: for people who ask what has changed.
 *
 * Each is a file <ledger>.policies/<digest in hexadecimal>.json, readable only by the user of the
 * gateway: a line with the digest of the rest, and the policy without secrets
 * (writ_canonical_shown). Nothing is decided by them. They are no part of the ledger: without one,
 * only its differences are unknown. */
#ifndef WRIT_STORE_POLICIES_H
#define WRIT_STORE_POLICIES_H

#include "evidence/json/digest.h"

#define WRIT_POLICIES_MAX       200                /* files; the oldest ones are deleted */
#define WRIT_POLICIES_BYTES_MAX ((size_t)16 << 20) /* of one */

/** One that is kept. */
struct writ_kept_policy {
    struct writ_digest digest;
    int64_t at_us; /* when it was loaded first, wall time */
};

/**
 * Keeps a policy, once, and deletes the oldest beyond WRIT_POLICIES_MAX. Blocks. One thread at a
 * time.
 *
 * @param store   path of the ledger, NUL-terminated
 * @param digest  of the policy
 * @param text    of the policy, to be read
 *
 * WRIT_E_INVALID (the folder is not trusted), WRIT_E_IO, WRIT_E_LIMIT, WRIT_E_NOMEM.
 */
WRIT_RESULT writ_policies_keep(const char *store, const struct writ_digest *digest,
    struct writ_view text, struct writ_err *err);

/** Those that are kept, in no order, in the arena. As writ_policies_keep; none without a folder. */
WRIT_RESULT writ_policies_list(const char *store, struct writ_arena *arena,
    struct writ_kept_policy **ret, size_t *ret_n, struct writ_err *err);

/** Appends the text of one. WRIT_E_ABSENT: it is not kept; WRIT_E_MISMATCH: the file is not whole;
 * else as writ_policies_keep. */
WRIT_RESULT writ_policies_read(const char *store, const struct writ_digest *digest,
    struct writ_buf *ret, struct writ_err *err);

#endif
