/* pkctx.h - the OpenSSL contexts that a thread keeps for the keys it used last.
 *
 * Making a context costs about 6 us of a signature's 32, so every thread keeps a few, prepared for
 * one key and one operation. A context holds its own reference to the key: a key may be freed while
 * a thread still has a context for it, and its number is never reused, so a context never serves
 * another key. The contexts are freed when the thread ends. */
#ifndef WRIT_EVIDENCE_PKCTX_H
#define WRIT_EVIDENCE_PKCTX_H

#include <openssl/evp.h>
#include <stdint.h>

#define WRIT_PKCTX_KEPT 8 /* contexts that a thread keeps */

enum writ_pkctx_use { WRIT_PKCTX_NONE = 0, WRIT_PKCTX_SIGN, WRIT_PKCTX_VERIFY };

/** A number that is unique among all keys of this process, past ones included. */
uint64_t writ_pkctx_number(void);

/** This thread's context for the key, prepared for SHA-256 and what the type of the key signs with
 * (ES256 or RS256), or NULL when the library fails. Borrowed until the next call on this thread. */
EVP_PKEY_CTX *writ_pkctx_get(uint64_t number, EVP_PKEY *key, enum writ_pkctx_use use);

/** Frees it: after a failure its state is unknown. */
void writ_pkctx_drop(uint64_t number, enum writ_pkctx_use use);

#endif
