/* checkpoint.h - signed states of a log, and proofs under them, in the formats of C2SP.
 *
 * A checkpoint (c2sp.org/tlog-checkpoint) is the text of a signed note: the log's origin, the size
 * of its tree, its root. A proof (c2sp.org/tlog-proof) is one file that proves a record to be in a
 * log: index, inclusion, checkpoint, and optional cosignatures.
 *
 * Pure functions; results borrow from the text that was read. */
#ifndef WRIT_EVIDENCE_CHECKPOINT_H
#define WRIT_EVIDENCE_CHECKPOINT_H

#include "evidence/jose/keyring.h"
#include "evidence/log/note.h"
#include "evidence/log/tree.h"
#include "evidence/record/reason.h"

struct writ_checkpoint {
    struct writ_view origin; /* one line that is not empty */
    uint64_t size;           /* leaves, at most WRIT_TREE_SIZE_MAX */
    struct writ_digest root;
    struct writ_view extensions; /* further lines, each with its newline; ours have none */
};

/** Appends the text that is to be signed. */
void writ_checkpoint_put(struct writ_buf *buf, const struct writ_checkpoint *checkpoint);

/** Appends the origin of one of our ledgers: `writ-ledger/` and its id. */
void writ_checkpoint_origin_put(struct writ_buf *buf, struct writ_view ledger_id);

/** The key of a ledger under its origin, as which it signs and is trusted. `jwk` is borrowed for
 * the call. `ret` is new, free with writ_note_key_free. As writ_note_key_of. */
WRIT_RESULT writ_checkpoint_key(struct writ_view origin, const struct writ_jwk *jwk,
    struct writ_note_key **ret, struct writ_err *err);

/** Appends the vkeys under which checkpoints of an origin verify, a line each, the active key of
 * the ring first. Nothing without a key. With `history` the retired keys follow: for checkpoints of
 * their time. Revoked ones are always left out. WRIT_E_INVALID for an origin that cannot be a name,
 * WRIT_E_NOMEM, WRIT_E_CRYPTO, and the failures of the buffer. */
WRIT_RESULT writ_checkpoint_keys(const struct writ_keyring *ring, struct writ_view origin,
    bool history, struct writ_buf *buf, struct writ_err *err);

/** Reads the text of a note. WRIT_E_PARSE, WRIT_E_LIMIT for a size beyond WRIT_TREE_SIZE_MAX. */
WRIT_RESULT writ_checkpoint_read(
    struct writ_view text, struct writ_checkpoint *ret, struct writ_err *err);

/**
 * Verifies that one of these keys signed a checkpoint of its log, and reads it.
 *
 * @param bytes  the note; borrowed as long as `ret` is used
 * @param keys   of logs; the name of a key is the origin of its checkpoints
 * @param ret    written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    it is signed by none of the keys
 *         WRIT_E_MISMATCH  a signature of one of them does not hold, or its origin is not the key's
 *         WRIT_E_PARSE     not a note, or not a checkpoint in it
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_checkpoint_verify(struct writ_view bytes, const struct writ_note_key *const *keys,
    size_t n, struct writ_checkpoint *ret, struct writ_err *err);

/** The keys that a verifier trusts, all borrowed. Zeroed: none. */
struct writ_checkpoint_trust {
    const struct writ_note_key *const *keys; /* of logs: a signature of one of them is enough */
    size_t keys_n;
    const struct writ_note_key *const *witnesses; /* of cosigners; keys of one name are one
                                                     witness, and other types count for nothing */
    size_t witnesses_n;
    size_t quorum; /* how many witnesses must have signed, besides the log */
};

/** The number of witnesses among keys: their distinct names. */
size_t writ_checkpoint_witnesses(const struct writ_note_key *const *keys, size_t n);

/**
 * Judges whether a checkpoint is trustworthy, and reads it.
 *
 * @param bytes    the note; borrowed as long as `ret` is used
 * @param ret      written only when *ret_why is EVIDENCE_OK
 * @param ret_why  the first reason against it: EVIDENCE_MALFORMED, CHECKPOINT_UNSIGNED,
 *                 CHECKPOINT_INVALID (of a witness's signature too), CHECKPOINT_UNWITNESSED; or
 *                 EVIDENCE_OK. Written on WRIT_OK
 * @param err      explains the reason on WRIT_OK
 *
 * @return WRIT_OK, whatever is wrong with it
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_checkpoint_judge(struct writ_view bytes, const struct writ_checkpoint_trust *trust,
    struct writ_checkpoint *ret, enum writ_reason *ret_why, struct writ_err *err);

/** One proof; see above. */
struct writ_checkpoint_proof {
    struct writ_view extra; /* base64 of an application's data, not covered by the proof; or
                               empty */
    uint64_t index;         /* of the leaf */
    struct writ_tree_proof inclusion;
    struct writ_view note; /* the signed checkpoint, byte for byte */
};

/** Appends the file. */
void writ_checkpoint_proof_put(struct writ_buf *buf, const struct writ_checkpoint_proof *proof);

/** Reads a file; nothing in it is verified. WRIT_E_PARSE, WRIT_E_LIMIT. */
WRIT_RESULT writ_checkpoint_proof_read(
    struct writ_view text, struct writ_checkpoint_proof *ret, struct writ_err *err);

#endif
