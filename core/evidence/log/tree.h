/* tree.h - the Merkle tree over the records of a ledger (RFC 6962 2.1, SHA-256).
 *
 * A leaf is H(0x00 || record), a node H(0x01 || left || right); a tree of n leaves has at its left
 * the largest power of two below n. Appending needs only the right edge: one digest for each bit of
 * the size, so that it costs the same at every size of the tree. Proofs are made from complete
 * nodes, which never change again; checking a proof needs neither tree nor edge.
 *
 * Does not block; one thread at a time may use a value; all else is thread-safe. Every function
 * that digests can fail with WRIT_E_CRYPTO; `ret` is then untouched. */
#ifndef WRIT_EVIDENCE_TREE_H
#define WRIT_EVIDENCE_TREE_H

#include "evidence/json/digest.h"

/** Most leaves: the largest integer that JSON counts exactly. */
#define WRIT_TREE_SIZE_MAX ((UINT64_C(1) << 53) - 1)
#define WRIT_TREE_LEVELS   53
/** Most digests of a proof: an inclusion has one less (RFC 6962 2.1.1, 2.1.2). */
#define WRIT_TREE_PROOF_MAX (WRIT_TREE_LEVELS + 1)

/** The digest of a leaf with this content. */
WRIT_RESULT writ_tree_leaf(struct writ_view record, struct writ_digest *ret, struct writ_err *err);

/** The digest of a node over these two. */
WRIT_RESULT writ_tree_node(const struct writ_digest *left, const struct writ_digest *right,
    struct writ_digest *ret, struct writ_err *err);

/** The right edge of a tree: the roots of its complete subtrees, from left to right, one for each
 * bit that is set in `size`. Zeroed it is the empty tree. Owns nothing. */
struct writ_tree_edge {
    uint64_t size;
    struct writ_digest roots[WRIT_TREE_LEVELS];
};

/** Appends one leaf. WRIT_E_LIMIT at WRIT_TREE_SIZE_MAX. The edge is as it was on failure. */
WRIT_RESULT writ_tree_append(
    struct writ_tree_edge *edge, const struct writ_digest *leaf, struct writ_err *err);

/** Appends a complete subtree of 2^level leaves by its root. WRIT_E_INVALID where the tree cannot
 * have one, WRIT_E_LIMIT. The edge is as it was on failure. */
WRIT_RESULT writ_tree_append_node(struct writ_tree_edge *edge, unsigned level,
    const struct writ_digest *node, struct writ_err *err);

/** As writ_tree_append, and appends the digests of all nodes that are complete with it: of the
 * leaf, then of those above it, upwards. The caller checks the buffer. */
WRIT_RESULT writ_tree_grow(struct writ_tree_edge *edge, const struct writ_digest *leaf,
    struct writ_buf *nodes, struct writ_err *err);

/** The number of complete nodes in a tree of `size` leaves, the leaves included. It is the number
 * of digests that writ_tree_grow appended since the first leaf. `size` at most
 * WRIT_TREE_SIZE_MAX. */
uint64_t writ_tree_nodes(uint64_t size);

/** The last leaf of the node `index` of `level`: it completes the node, which stands
 * writ_tree_nodes(leaf) + level places behind the first leaf of all. */
uint64_t writ_tree_last_leaf(unsigned level, uint64_t index);

/** The root of the whole tree; of an empty one it is the digest of nothing. */
WRIT_RESULT writ_tree_root(
    const struct writ_tree_edge *edge, struct writ_digest *ret, struct writ_err *err);

/** The number of roots of the edge. */
size_t writ_tree_edge_count(const struct writ_tree_edge *edge);

/** The source of the nodes for proofs. `node` gives the root of the complete subtree of 2^level
 * leaves that begins at leaf index * 2^level. It is never called for a node beyond the size of the
 * proof. */
struct writ_tree_source {
    WRIT_RESULT(*node)
    (void *ctx, unsigned level, uint64_t index, struct writ_digest *ret, struct writ_err *err);
    void *ctx;
};

/** Digests in the order of RFC 6962: from the leaf to the root. Owns nothing. */
struct writ_tree_proof {
    size_t count;
    struct writ_digest digests[WRIT_TREE_PROOF_MAX];
};

/** The edge of the tree of the first `size` leaves. WRIT_E_LIMIT beyond WRIT_TREE_SIZE_MAX, and the
 * failures of the source. */
WRIT_RESULT writ_tree_edge_of(const struct writ_tree_source *source, uint64_t size,
    struct writ_tree_edge *ret, struct writ_err *err);

/** Proves that leaf `index` is in the tree of the first `size` leaves (RFC 6962 2.1.1).
 * WRIT_E_INVALID when it is not, WRIT_E_LIMIT beyond WRIT_TREE_SIZE_MAX, and the failures of the
 * source. */
WRIT_RESULT writ_tree_prove_inclusion(const struct writ_tree_source *source, uint64_t index,
    uint64_t size, struct writ_tree_proof *ret, struct writ_err *err);

/** Proves that the tree of the first `older` leaves became that of the first `size` by appending
 * (RFC 6962 2.1.2). Empty when `older` is 0 or `size`. Fails as writ_tree_prove_inclusion. */
WRIT_RESULT writ_tree_prove_consistency(const struct writ_tree_source *source, uint64_t older,
    uint64_t size, struct writ_tree_proof *ret, struct writ_err *err);

/** Checks an inclusion (RFC 9162 2.1.3.2). WRIT_E_MISMATCH for every fault. */
WRIT_RESULT writ_tree_check_inclusion(const struct writ_digest *leaf, uint64_t index, uint64_t size,
    const struct writ_tree_proof *proof, const struct writ_digest *root, struct writ_err *err);

/** Checks that `root` at `size` only appends to `older_root` at `older` (RFC 9162 2.1.4.2). A tree
 * is consistent with itself by an empty proof, and so is the empty tree with any.
 * WRIT_E_MISMATCH. */
WRIT_RESULT writ_tree_check_consistency(uint64_t older, const struct writ_digest *older_root,
    uint64_t size, const struct writ_digest *root, const struct writ_tree_proof *proof,
    struct writ_err *err);

#endif
