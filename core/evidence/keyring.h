/* keyring.h - the keys of a gateway and what each may do. No I/O: store/keydir.h keeps a ring on
 * disk.
 *
 * A key has one purpose for life, so that the key of the credentials never signs the ledger, and
 * one state:
 *     active     signs and verifies; at most one per purpose
 *     verifying  was rotated out; still verifies what it signed
 *     retired    verifies nothing any more; kept so that its kid is never taken for unknown
 * Transitions: new -> active, active -> verifying (rotate), verifying -> retired (retire). None
 * leads back.
 *
 * A ring is changed by one thread, before it is shared; afterwards threads only read it. Nothing
 * here blocks. */
#ifndef WRIT_EVIDENCE_KEYRING_H
#define WRIT_EVIDENCE_KEYRING_H

#include "evidence/jwks.h"
#include "evidence/signer.h"

#define WRIT_KEYRING_KEYS_MAX  64                   /* keys of a ring, retired ones included */
#define WRIT_KEYRING_BYTES_MAX ((size_t)256 * 1024) /* longest text of a ring */

enum writ_key_purpose {
    WRIT_KEY_PURPOSE_NONE = 0,
    WRIT_KEY_PURPOSE_CREDENTIAL,
    WRIT_KEY_PURPOSE_LEDGER,
};

enum writ_key_state {
    WRIT_KEY_STATE_NONE = 0,
    WRIT_KEY_STATE_ACTIVE,
    WRIT_KEY_STATE_VERIFYING,
    WRIT_KEY_STATE_RETIRED,
};

/** One key of a ring. Borrowed until the ring is changed or freed. */
struct writ_keyring_key {
    enum writ_key_purpose purpose;
    enum writ_key_state state;
    int64_t created_us; /* wall clock */
    int64_t changed_us; /* when it got its state */
    struct writ_jwk *public;
    struct writ_signer *signer; /* the private half, where it is known; active keys only */
};

struct writ_keyring;

/** "credential", "ledger"; "active", "verifying", "retired"; "" for NONE. Static storage. */
const char *writ_keyring_purpose_name(enum writ_key_purpose purpose);
const char *writ_keyring_state_name(enum writ_key_state state);
/** The purpose of exactly that name, or NONE. */
enum writ_key_purpose writ_keyring_purpose_named(struct writ_view name);

/** An empty ring. Free with writ_keyring_free. WRIT_E_NOMEM. */
WRIT_RESULT writ_keyring_new(struct writ_keyring **ret, struct writ_err *err);
void writ_keyring_free(struct writ_keyring *ring);

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

size_t writ_keyring_count(const struct writ_keyring *ring);
const struct writ_keyring_key *writ_keyring_key(const struct writ_keyring *ring, size_t i);

/** Gives the private half of an active key to the ring, which takes `signer` on success.
 * WRIT_E_MISMATCH when no active key of the ring is its public half. */
WRIT_RESULT writ_keyring_adopt(
    struct writ_keyring *ring, struct writ_signer *signer, struct writ_err *err);

/** Adds a first active key; takes `signer` on success. WRIT_E_INVALID when the purpose has an
 * active key already or the ring knows this key, under whatever purpose. WRIT_E_LIMIT. */
WRIT_RESULT writ_keyring_add(struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_signer *signer, int64_t now_us, struct writ_err *err);

/** Makes `signer` the active key (taken on success) and the one before verifying; its private half
 * is freed. WRIT_E_ABSENT when the purpose has no active key; else as writ_keyring_add. */
WRIT_RESULT writ_keyring_rotate(struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_signer *signer, int64_t now_us, struct writ_err *err);

/** Retires a verifying key. WRIT_E_ABSENT: no such kid. WRIT_E_INVALID: it is active (rotate
 * first) or retired already. */
WRIT_RESULT writ_keyring_retire(
    struct writ_keyring *ring, struct writ_view kid, int64_t now_us, struct writ_err *err);

/** The key that signs for this purpose, or NULL when there is none or its private half is not
 * known. Borrowed until the ring is changed or freed. */
const struct writ_signer *writ_keyring_active(
    const struct writ_keyring *ring, enum writ_key_purpose purpose);

/** The key with exactly this kid that verifies for this purpose (active or verifying), or NULL. */
const struct writ_jwk *writ_keyring_find(
    const struct writ_keyring *ring, enum writ_key_purpose purpose, struct writ_view kid);

/** Appends the JWKS of a purpose: active and verifying keys, active first. */
void writ_keyring_jwks(
    struct writ_buf *buf, const struct writ_keyring *ring, enum writ_key_purpose purpose);

#endif
