/* first_keys.h - the first keys of a gateway: one signs credentials, one the ledger's checkpoints.
 */
#ifndef WRIT_CLI_FIRST_KEYS_H
#define WRIT_CLI_FIRST_KEYS_H

#include "base/clock.h"
#include "evidence/jose/keyring.h"

/** The default algorithm of a purpose: checkpoints are signed with Ed25519 only
 * (c2sp.org/tlog-checkpoint). */
enum writ_jwk_alg writ_first_keys_alg(enum writ_key_purpose purpose);

/** Adds an active key to a ring that has none of that purpose. As writ_signer_new and
 * writ_keyring_add. */
WRIT_RESULT writ_first_keys_add(struct writ_keyring *ring, enum writ_key_purpose purpose,
    enum writ_jwk_alg alg, const struct writ_clock *clock, struct writ_err *err);

/** Makes a key directory with both. As writ_keydir_open with `create`; WRIT_E_INVALID when it has
 * keys. Blocks. */
WRIT_RESULT writ_first_keys_make(
    const char *path, const struct writ_clock *clock, struct writ_err *err);

#endif
