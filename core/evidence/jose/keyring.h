/* keyring.h - the keys of a gateway, with their purposes and states. No I/O: store/trusted/keydir.h
 * keeps a ring on disk.
 *
 * A key has one purpose for life, so that the key of the credentials never signs the ledger, and
 * one state:
 *     active     signs and verifies; at most one per purpose
 *     verifying  rotated out; still verifies its signatures
 *     retired    verifies nothing new; kept so that its kid stays known, and so that its signatures
 *                of that time can still be checked (writ_keyring_jwks, history)
 *     revoked    compromised: its signatures are rejected
 * Transitions: new -> active, active -> verifying (rotate), verifying -> retired (retire), any of
 * them -> revoked (revoke). None leads back.
 *
 * A key has a window (key_validity.h): from its creation until an hour after its rotation, so that
 * a gateway has time to load the new key, and at most until it is retired. The key that is rotated
 * out signs a statement that names its successor (rotation.h); the successor carries it.
 *
 * One thread changes a ring before it is shared; then threads only read it. Nothing here blocks. */
#ifndef WRIT_EVIDENCE_KEYRING_H
#define WRIT_EVIDENCE_KEYRING_H

#include "evidence/jose/jwks.h"
#include "evidence/jose/signer.h"
#include "evidence/jose/wrap_key.h"

#define WRIT_KEYRING_KEYS_MAX  64                   /* keys of a ring, retired ones included */
#define WRIT_KEYRING_BYTES_MAX ((size_t)256 * 1024) /* longest text of a ring */
#define WRIT_KEYRING_GRACE_S   3600                 /* how long a rotated key may go on signing */

enum writ_key_purpose {
    WRIT_KEY_PURPOSE_NONE = 0,
    WRIT_KEY_PURPOSE_CREDENTIAL,
    WRIT_KEY_PURPOSE_LEDGER,
    WRIT_KEY_PURPOSE_CONTENTS, /* encrypts the keys of kept contents: wrap_key.h */
};

enum writ_key_state {
    WRIT_KEY_STATE_NONE = 0,
    WRIT_KEY_STATE_ACTIVE,
    WRIT_KEY_STATE_VERIFYING,
    WRIT_KEY_STATE_RETIRED,
    WRIT_KEY_STATE_REVOKED,
};

/** One key of a ring. Borrowed until the ring is changed or freed. */
struct writ_keyring_key {
    enum writ_key_purpose purpose;
    enum writ_key_state state;
    int64_t created_us;         /* wall clock */
    int64_t changed_us;         /* when it entered its state */
    int64_t until_us;           /* later signatures are rejected; 0: no end yet */
    int64_t revoked_us;         /* revoked since then; 0: not revoked */
    struct writ_buf rotation;   /* the previous key's statement that names this one; empty: none */
    struct writ_jwk *public;    /* NULL: a key of contents */
    struct writ_signer *signer; /* the private half, where it is known; active keys only */
    struct writ_wrap_key *wrap; /* a key of contents, with its secret where that is known: active
                                   and verifying keys only; else NULL */
};

struct writ_keyring;

/** "credential", "ledger", "contents"; "active", "verifying", "retired", "revoked"; "" for NONE.
 * Static storage.
 */
const char *writ_keyring_purpose_name(enum writ_key_purpose purpose);
const char *writ_keyring_state_name(enum writ_key_state state);
/** The purpose of exactly that name, or NONE. */
enum writ_key_purpose writ_keyring_purpose_named(struct writ_view name);

/** An empty ring. Free with writ_keyring_free. WRIT_E_NOMEM. */
WRIT_RESULT writ_keyring_new(struct writ_keyring **ret, struct writ_err *err);
void writ_keyring_free(struct writ_keyring *ring);

/** Frees at the end of the scope: writ_auto_keyring x = NULL; */
#define writ_auto_keyring WRIT_AUTO(struct writ_keyring *, writ_keyring_release)

static inline void
writ_keyring_release(struct writ_keyring **keyring)
{
    writ_keyring_free(*keyring);
}

/**
 * Reads the public part of a ring: what writ_keyring_put wrote (keys.json).
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE, WRIT_E_LIMIT
 *         WRIT_E_INVALID  unknown or missing members, a kid twice, two active keys of one purpose,
 *                         or a kid that is not the thumbprint of its key
 *         WRIT_E_MISMATCH private key material in it
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_keyring_read(
    struct writ_view text, struct writ_keyring **ret, struct writ_err *err);

/** Appends it: every key, without private halves. One line per key, for people and for diff. */
void writ_keyring_put(struct writ_buf *buf, const struct writ_keyring *ring);

/** The number of keys, of every purpose and state. */
size_t writ_keyring_count(const struct writ_keyring *ring);
/** Key `i`, which is below the count; borrowed until the ring changes. */
const struct writ_keyring_key *writ_keyring_key(const struct writ_keyring *ring, size_t i);

/** The kid of a key of any purpose. Borrowed until the ring is changed or freed. */
struct writ_view writ_keyring_kid(const struct writ_keyring_key *key);

/** "ES256", ..., "A256KW". Static storage. */
const char *writ_keyring_alg_name(const struct writ_keyring_key *key);

/** True when the private half of the key belongs into its directory: of an active key; of a key of
 * contents also while it is verifying, because earlier contents are under it. */
bool writ_keyring_keeps_secret(const struct writ_keyring_key *key);

/** Adds the private half of an active key; the ring takes `signer` on success. WRIT_E_MISMATCH when
 * no active key of the ring is its public half. */
WRIT_RESULT writ_keyring_adopt(
    struct writ_keyring *ring, struct writ_signer *signer, struct writ_err *err);

/** Adds a first active key; takes `signer` on success. WRIT_E_INVALID when the purpose has an
 * active key already, or the ring has this key for any purpose. WRIT_E_LIMIT. */
WRIT_RESULT writ_keyring_add(struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_signer *signer, int64_t now_us, struct writ_err *err);

/** Makes `signer` the active key (taken on success) and the previous one verifying. The previous
 * key signs a statement that names its successor; then its private half is freed. WRIT_E_ABSENT
 * when the purpose has no active key, or its private half is not known; WRIT_E_CRYPTO; else as
 * writ_keyring_add. */
WRIT_RESULT writ_keyring_rotate(struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_signer *signer, int64_t now_us, struct writ_err *err);

/** Adds the secret of a key of contents that keeps it; the ring takes `wrap` on success.
 * WRIT_E_MISMATCH when no such key of the ring has its kid. */
WRIT_RESULT writ_keyring_adopt_wrap(
    struct writ_keyring *ring, struct writ_wrap_key *wrap, struct writ_err *err);

/** Makes `wrap` the active key of contents; the ring takes it on success. A previous one becomes
 * verifying: it still decrypts what is under it, and encrypts nothing more. No statement connects
 * the two. WRIT_E_INVALID when the ring has this key already; WRIT_E_LIMIT. */
WRIT_RESULT writ_keyring_add_wrap(
    struct writ_keyring *ring, struct writ_wrap_key *wrap, int64_t now_us, struct writ_err *err);

/** The active key of contents, with its secret, or NULL. Borrowed until the ring is changed or
 * freed. */
const struct writ_wrap_key *writ_keyring_wrap(const struct writ_keyring *ring);

/** The key of contents of exactly this kid, with its secret, or NULL: it was retired or revoked, or
 * the ring never had it. Borrowed until the ring is changed or freed. */
const struct writ_wrap_key *writ_keyring_unwrap(
    const struct writ_keyring *ring, struct writ_view kid);

/** Trusts the public keys of another gateway that writes the same ledger, as the ring in its
 * directory names them: its active keys become verifying ones here, and a key that is known from it
 * gets its later state. Keys of contents and own active keys stay as they are. *ret_changed: how
 * many keys are new or have another state. `other` is spent. WRIT_E_INVALID: a key serves another
 * purpose here; WRIT_E_LIMIT. */
WRIT_RESULT writ_keyring_trust(struct writ_keyring *ring, struct writ_keyring *other,
    int64_t now_us, size_t *ret_changed, struct writ_err *err);

/** Retires a verifying key. The secret of a key of contents ends with it, and with the secret every
 * content that is under it. WRIT_E_ABSENT: no such kid. WRIT_E_INVALID: it is active (rotate
 * first) or retired already. */
WRIT_RESULT writ_keyring_retire(
    struct writ_keyring *ring, struct writ_view kid, int64_t now_us, struct writ_err *err);

/**
 * Revokes a key from a time on. `fresh` replaces an active key without a statement: a compromised
 * key cannot vouch for its successor.
 *
 * @param since_us  above 0, not later than now; for a revoked key, earlier than before
 * @param fresh     taken on success when the key is active; else NULL. An active key of contents is
 *                  not revoked before writ_keyring_add_wrap has replaced it
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   no such kid
 *         WRIT_E_INVALID  since_us; or `fresh` is given for a key that is not active, or missing
 *                         for one that is; else as writ_keyring_add
 */
WRIT_RESULT writ_keyring_revoke(struct writ_keyring *ring, struct writ_view kid, int64_t since_us,
    struct writ_signer *fresh, int64_t now_us, struct writ_err *err);

/** The window of a key. */
struct writ_key_validity writ_keyring_window(const struct writ_keyring_key *key);

/** The key that signs for this purpose, or NULL when the ring lacks it or its private half.
 * Borrowed until the ring is changed or freed. */
const struct writ_signer *writ_keyring_active(
    const struct writ_keyring *ring, enum writ_key_purpose purpose);

/** The key with exactly this kid that verifies for this purpose (active or verifying), or NULL. */
const struct writ_jwk *writ_keyring_find(
    const struct writ_keyring *ring, enum writ_key_purpose purpose, struct writ_view kid);

/** Appends the JWKS of a purpose (never of contents, which has no public keys): active and
 * verifying keys, active first, each with its window; `revoked`, the kids that are revoked and
 * since when; and `rotations`, the statements of all its keys. Revoked keys are left out of `keys`,
 * because other readers would trust them. With `history` they and the retired keys follow the
 * others: for checks of old signatures against the windows, never for admitting calls. */
void writ_keyring_jwks(struct writ_buf *buf, const struct writ_keyring *ring,
    enum writ_key_purpose purpose, bool history);

#endif
