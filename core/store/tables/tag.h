/* tag.h - the first 16 bytes of a digest, by which claims, boundaries and budgets are found.
 *
 * 128 bits are enough: it takes 2^64 work to make two things that share a tag, and the worst result
 * is that a call is refused. */
#ifndef WRIT_STORE_TAG_H
#define WRIT_STORE_TAG_H

#include "evidence/json/digest.h"

#define WRIT_TAG_BYTES 16

/** The first 16 bytes of a digest, big-endian. */
struct writ_tag {
    uint64_t high, low;
};

/** The first 16 bytes of a digest. */
struct writ_tag writ_tag_of(const struct writ_digest *digest);
/** A tag that is a number: leaf indexes. */
struct writ_tag writ_tag_number(uint64_t number);
/** Writes the 16 bytes; reads them back. */
void writ_tag_put(struct writ_tag tag, uint8_t ret[WRIT_TAG_BYTES]);
struct writ_tag writ_tag_read(const uint8_t bytes[WRIT_TAG_BYTES]);
bool writ_tag_equal(struct writ_tag a, struct writ_tag b);

/** The tag of a name or an id. WRIT_E_CRYPTO. */
WRIT_RESULT writ_tag_name(struct writ_view name, struct writ_tag *ret, struct writ_err *err);
/** The tag of an intent, from its tenant, intent_ref and idempotency key. WRIT_E_CRYPTO. */
WRIT_RESULT writ_tag_intent(struct writ_view tenant, struct writ_view intent_ref,
    struct writ_view idempotency_key, struct writ_tag *ret, struct writ_err *err);

#endif
