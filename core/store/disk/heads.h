/* heads.h - the tree over the records, as the ledger keeps it (evidence/log/tree.h).
 *
 * Every group that appends records ends with a row of `head`: the signed checkpoint over all
 * records up to its last one, and the digests of the nodes that are complete since the group
 * before, in the order of writ_tree_grow. So a group costs the same however long the log is, and a
 * few reads of the table find every node of every tree, and with it every proof.
 *
 * A signature takes longer than all else of a small group. So a group that follows a signed one
 * within milliseconds may have the MAC of its edge in place of a checkpoint: the next checkpoint,
 * which follows as soon (write/signing.h), is over its records too.
 *
 * Any connection can read. One thread; everything blocks on the disk. */
#ifndef WRIT_STORE_HEADS_H
#define WRIT_STORE_HEADS_H

#include "evidence/jose/keyring.h"
#include "evidence/log/checkpoint.h"
#include "store/sql/sql.h"

#include <openssl/evp.h>

/** A key that signs checkpoints, or did. */
struct writ_heads_key {
    struct writ_note_key *key;
    int64_t revoked_us; /* the key is not trusted from then on; 0: not revoked */
};

/** The keys that sign the checkpoints of a ledger, and the trusted ones. Zeroed: none. */
struct writ_heads_trust {
    struct writ_sql *sql; /* borrowed: it has the times of the records */
    struct writ_buf origin;
    struct writ_heads_key keys[WRIT_KEYRING_KEYS_MAX]; /* of the ledger, in whatever state */
    size_t keys_n;
    const struct writ_signer *signer; /* the active one, borrowed from the ring; NULL: none */
    const struct writ_note_key *own;  /* its public half, one of `keys` */
    EVP_MAC_CTX *mac;                 /* of writ_heads_mac, which sets its key */
};

/** Reads the origin from the ledger and the keys from a ring (NULL: none); both outlive it. `ret`
 * is written only on success; end with writ_heads_trust_wipe. WRIT_E_MISMATCH for a ledger without
 * an id, WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_heads_trust(struct writ_sql *sql, const struct writ_keyring *ring,
    struct writ_heads_trust *ret, struct writ_err *err);
/** A zeroed one is fine. */
void writ_heads_trust_wipe(struct writ_heads_trust *trust);

/** Appends the signed checkpoint over a tree. WRIT_E_CRYPTO, and the failures of the buffer. */
WRIT_RESULT writ_heads_sign(const struct writ_heads_trust *trust, const struct writ_tree_edge *edge,
    struct writ_buf *note, struct writ_err *err);

/**
 * Reads a checkpoint of this ledger.
 *
 * A revoked key is trusted for a checkpoint whose last record is older than the revocation. A
 * checkpoint has no time of its own: one over no records, or over more than there are, has no time
 * at all, and a revoked key is not trusted for it.
 *
 * @param signed  whether a trusted signature is required
 * @param ret     borrowed from `note`
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  not a checkpoint, of another ledger, or not signed by a trusted key
 *         WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_heads_believe(const struct writ_heads_trust *trust, struct writ_view note,
    bool is_signed, struct writ_checkpoint *ret, struct writ_err *err);

/** Whether a checkpoint that is not trusted has a signature of a key that was revoked since, and no
 * failing signature of a key of the ledger. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_heads_is_late(
    const struct writ_heads_trust *trust, struct writ_view note, bool *ret, struct writ_err *err);

#define WRIT_HEADS_MAC   32                  /* bytes; no note is as short */
#define WRIT_HEADS_NOTED "length(note) > 32" /* SQL: the row has a checkpoint */

/** The last record of a group with a MAC is less than this after the last record under the
 * checkpoint before (write/signing.h); the first group of a ledger has a checkpoint. */
#define WRIT_HEADS_SIGN_US INT64_C(20000)

/** Whether a group ends with a MAC in place of a checkpoint. */
static inline bool
writ_heads_is_mac(struct writ_view note)
{
    return note.len == WRIT_HEADS_MAC;
}

/** The MAC of a tree of this ledger: HMAC-SHA256 (RFC 2104) of its origin, its size and the roots
 * of its edge. WRIT_E_CRYPTO. */
WRIT_RESULT writ_heads_mac(const struct writ_heads_trust *trust, struct writ_view key,
    const struct writ_tree_edge *edge, uint8_t ret[WRIT_HEADS_MAC], struct writ_err *err);

/** Whether a MAC is that of a tree, in constant time. WRIT_E_MISMATCH, WRIT_E_CRYPTO. */
WRIT_RESULT writ_heads_check_mac(const struct writ_heads_trust *trust, struct writ_view key,
    const struct writ_tree_edge *edge, struct writ_view mac, struct writ_err *err);

/** Appends a signature of the ledger's key under a text that is not a checkpoint. WRIT_E_CRYPTO,
 * and the failures of the buffer. */
WRIT_RESULT writ_heads_sign_text(const struct writ_heads_trust *trust, struct writ_view text,
    struct writ_buf *note, struct writ_err *err);

/** The key that signed a note. */
enum writ_heads_signed {
    WRIT_HEADS_UNSIGNED = 0, /* no key of the ledger, or one of their signatures fails */
    WRIT_HEADS_REVOKED,      /* keys that were revoked by then, and no other */
    WRIT_HEADS_SIGNED,
};

/** Whether a key of the ledger that was not revoked at `at_us` (wall time) signed a note that
 * existed then. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_heads_who_signed(const struct writ_heads_trust *trust,
    const struct writ_note *note, int64_t at_us, enum writ_heads_signed *ret, struct writ_err *err);

/** The heads of a ledger, on the caller's connection. */
struct writ_heads {
    struct writ_sql *sql;
    struct writ_sql_statement *at, *last;
};

WRIT_RESULT writ_heads_open(struct writ_sql *sql, struct writ_heads *ret, struct writ_err *err);
/** Call it before the connection is closed. A zeroed one is fine. */
void writ_heads_close(struct writ_heads *heads);

/** One row. */
struct writ_head {
    uint64_t leaf, size;    /* the first record of its group; how many there are after it */
    struct writ_view nodes; /* that are complete with the records from `leaf` on */
    struct writ_view note;  /* or a MAC */
};

/** The head of the group that contains record `leaf`; for UINT64_MAX the last head. Texts are in
 * the arena; with NULL they are not read, and empty. WRIT_E_ABSENT when there is none, WRIT_E_BUSY,
 * WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_heads_at(struct writ_heads *heads, uint64_t leaf, struct writ_arena *arena,
    struct writ_head *ret, struct writ_err *err);

/** The digest of a record of the group, among the nodes of its head. False: it is not there. */
bool writ_heads_digest(const struct writ_head *head, uint64_t leaf, struct writ_digest *ret);

/** The last head with a checkpoint, as writ_heads_at. */
WRIT_RESULT writ_heads_last(struct writ_heads *heads, struct writ_arena *arena,
    struct writ_head *ret, struct writ_err *err);

/** The last head with a checkpoint, once it is over `size` records. A gateway that lives signs
 * within WRIT_HEADS_AWAIT_US; after `most_us` the last one, whatever it is over. As
 * writ_heads_last. Resets the arena. */
WRIT_RESULT writ_heads_await(struct writ_heads *heads, uint64_t size, int64_t most_us,
    struct writ_arena *arena, struct writ_head *ret, struct writ_err *err);
#define WRIT_HEADS_AWAIT_US INT64_C(1000000)

/** The stored nodes, for proofs. A missing node is WRIT_E_MISMATCH. Borrowed until the heads are
 * closed. */
struct writ_tree_source writ_heads_source(struct writ_heads *heads);

#endif
