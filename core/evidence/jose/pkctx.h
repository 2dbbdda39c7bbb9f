/* pkctx.h - the OpenSSL contexts that a thread keeps for the keys it used last.
 *
 * Making a context costs about 6 us of a signature's 32, so every thread keeps a few, prepared for
 * one key and one operation. A context holds its own reference to the key: freeing a key while a
 * thread still keeps a context for it is safe, and its number is never given out again, so that a
 * context is never taken for that of another key. They are freed when the thread ends. */
#ifndef WRIT_EVIDENCE_PKCTX_H
#define WRIT_EVIDENCE_PKCTX_H

#include <openssl/evp.h>
#include <stdint.h>

#define WRIT_PKCTX_KEPT 8 /* contexts that a thread keeps */

enum writ_pkctx_use { WRIT_PKCTX_NONE = 0, WRIT_PKCTX_SIGN, WRIT_PKCTX_VERIFY };

/** A number that no other key of this process has or had. */
uint64_t writ_pkctx_number(void);

/** This thread's context for the key, prepared for SHA-256 and what the type of the key signs with
 * (ES256 or RS256), or NULL when the library fails. Borrowed until the next call on this thread. */
EVP_PKEY_CTX *writ_pkctx_get(uint64_t number, EVP_PKEY *key, enum writ_pkctx_use use);

/** Throws it away: after a failure nobody knows what state it is in. */
void writ_pkctx_drop(uint64_t number, enum writ_pkctx_use use);

#endif
