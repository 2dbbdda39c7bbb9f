/* keys.h - keys and JSON for tests of signatures. Keys are made for every run: the tree has none. A
 * failure in here fails the test. */
#ifndef WRIT_TESTS_KEYS_H
#define WRIT_TESTS_KEYS_H

#include "evidence/jose/jwks.h"
#include "evidence/jose/signer.h"

/** A new key; free with writ_signer_free. */
struct writ_signer *writ_keys_signer(enum writ_jwk_alg alg);

/** A set of the public halves; free with writ_jwks_free. */
struct writ_jwks *writ_keys_set(const struct writ_signer *const *signers, size_t n);

/** Reads JSON text, which must outlive the arena's content. */
const struct writ_json *writ_keys_json(const char *text, struct writ_arena *arena);

/** Appends the members of a JWK that are public, so that published example keys, which hold their
 * private half, can be used for verifying. */
void writ_keys_public(const struct writ_json *jwk, struct writ_buf *ret);

/** A PEM private key of the named kind ("P-256", "RSA-1024", "ED448", ...) that OpenSSL made and
 * wrote without our code, encrypted when there is a passphrase. */
void writ_keys_pem(const char *kind, const char *passphrase, struct writ_buf *ret);

/** Appends the PEM of the public half of a PEM private key, with NUL behind it (not counted). */
void writ_keys_public_pem(struct writ_view pem, struct writ_buf *ret);

#endif
