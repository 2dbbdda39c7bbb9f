/* seal.h - GovernanceSeal: the record of the end of a run, with the number of its
 * decisions. */
#ifndef WRIT_EVIDENCE_SEAL_H
#define WRIT_EVIDENCE_SEAL_H

#include "evidence/json/digest.h"
#include "evidence/record/faults.h"
#include "evidence/record/member.h"

/** Zero-initialised: a record without any member. Fields as in member.tbl.h. */
struct writ_seal {
    WRIT_SEAL_MEMBERS(WRIT_MEMBER_FIELD)
    struct writ_member_others others;
};

/** As writ_decision_read. */
WRIT_RESULT writ_seal_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_seal *ret, struct writ_err *err);

/** As writ_decision_put. */
WRIT_RESULT writ_seal_put(const struct writ_seal *seal, struct writ_buf *ret, struct writ_err *err);

/** As writ_decision_validate; `sealed` must be true and final_seq be total - 1. */
void writ_seal_validate(const struct writ_seal *seal, struct writ_faults *ret);

/** The running seal_hash of one boundary: SHA-256 over its decision ids in seq order, without
 * separator. After a restart, continue from the saved state, or add the stored ids again. Zeroed
 * owns nothing. */
struct writ_seal_hash {
    struct writ_digest_stream ids;
    uint64_t total; /* ids added */
};

/** Starts with no id. WRIT_E_NOMEM, WRIT_E_CRYPTO. Wipe with writ_seal_hash_wipe. */
WRIT_RESULT writ_seal_hash_init(struct writ_seal_hash *ret, struct writ_err *err);
/** A zeroed one is permitted. */
void writ_seal_hash_wipe(struct writ_seal_hash *hash);
/** Adds the decision with the next seq. WRIT_E_CRYPTO; the hash is then unusable. */
WRIT_RESULT writ_seal_hash_add(
    struct writ_seal_hash *hash, struct writ_view decision_id, struct writ_err *err);
/** The digest over the ids so far; more may follow. WRIT_E_CRYPTO. */
WRIT_RESULT writ_seal_hash_now(
    const struct writ_seal_hash *hash, struct writ_digest *ret, struct writ_err *err);

#define WRIT_SEAL_HASH_BYTES WRIT_DIGEST_STREAM_BYTES

/** Writes the state of the hash; continues from a state with this number of ids. */
void writ_seal_hash_save(const struct writ_seal_hash *hash, uint8_t ret[WRIT_SEAL_HASH_BYTES]);
void writ_seal_hash_restore(
    struct writ_seal_hash *ret, const uint8_t bytes[WRIT_SEAL_HASH_BYTES], uint64_t total);

/**
 * Fills a complete seal: boundary_id, sealed, total, final_seq (-1 without a decision), sealed_at
 * and seal_hash.
 *
 * @param boundary_id  borrowed as long as the record is used
 *
 * @return WRIT_OK, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_seal_make(struct writ_view boundary_id, const struct writ_seal_hash *hash,
    int64_t sealed_at_us, struct writ_arena *arena, struct writ_seal *ret, struct writ_err *err);

#endif
