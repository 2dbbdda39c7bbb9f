/* bundle_keys.h - the keys that the calls of a bundle have claimed, to name two calls under one
 * key.
 *
 * A claim stands for the time that the decision states (extensions.writ.claim_seconds), unless its
 * outcome proves that nothing ran. Memory grows with the keys that are claimed at one time; expired
 * claims take none. For one thread; nothing blocks. */
#ifndef WRIT_EVIDENCE_BUNDLE_KEYS_H
#define WRIT_EVIDENCE_BUNDLE_KEYS_H

#include "evidence/json/digest.h"
#include "evidence/record/decision.h"
#include "evidence/record/extension.h"

/** The claim of a decision. */
struct writ_bundle_claim {
    bool is;
    struct writ_digest key;
    uint64_t leaf; /* of the decision */
};

struct writ_bundle_key;

/** Zeroed: none. */
struct writ_bundle_keys {
    struct writ_bundle_key *slots; /* by the digest of the key: callers cannot choose collisions */
    size_t size, used;
    int64_t now_us; /* the latest decision that claimed one */
};

/** Adds the claim of a decision, if it has one. *ret_twice: the decision at leaf *ret_first had
 * claimed its key. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_bundle_keys_claim(struct writ_bundle_keys *keys,
    const struct writ_decision *decision, const struct writ_extension *extension, uint64_t leaf,
    struct writ_bundle_claim *ret, bool *ret_twice, uint64_t *ret_first, struct writ_err *err);

/** Removes a claim: its call did not run, or nothing is known of it. */
void writ_bundle_keys_release(struct writ_bundle_keys *keys, const struct writ_bundle_claim *claim);

/** A zeroed one is permitted. */
void writ_bundle_keys_wipe(struct writ_bundle_keys *keys);

#endif
