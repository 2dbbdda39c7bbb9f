/* The tree of RFC 6962 by its right edge: appending keeps the roots of the complete subtrees, and
 * everything else is computed from complete nodes, which never change. */
#include "evidence/log/tree.h"

/* RFC 6962 2.1: the prefixes that distinguish a leaf from a node */
#define LEAF WRIT_LIT("\x00")
#define NODE WRIT_LIT("\x01")

static struct writ_view
bytes_of(const struct writ_digest *digest)
{
    return writ_view(digest->bytes, sizeof digest->bytes);
}

WRIT_RESULT
writ_tree_leaf(struct writ_view record, struct writ_digest *ret, struct writ_err *err)
{
    return writ_digest_pieces((struct writ_view[]){LEAF, record}, 2, ret, err);
}

WRIT_RESULT
writ_tree_node(const struct writ_digest *left, const struct writ_digest *right,
    struct writ_digest *ret, struct writ_err *err)
{
    return writ_digest_pieces(
        (struct writ_view[]){NODE, bytes_of(left), bytes_of(right)}, 3, ret, err);
}

/* The level of the largest complete subtree at the left of a tree with `size` leaves, at least
 * one. */
static unsigned
level_of(uint64_t size)
{
    return 63 - (unsigned)__builtin_clzll(size);
}

/* The leaves in the left subtree of a tree of `size` leaves, at least two. */
static uint64_t
left_of(uint64_t size)
{
    return UINT64_C(1) << level_of(size - 1);
}

static WRIT_RESULT
check_size(uint64_t size, struct writ_err *err)
{
    if (size > WRIT_TREE_SIZE_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a tree has at most %llu leaves",
            (unsigned long long)WRIT_TREE_SIZE_MAX);
    }
    return WRIT_DONE;
}

size_t
writ_tree_edge_count(const struct writ_tree_edge *edge)
{
    return (size_t)__builtin_popcountll(edge->size);
}

WRIT_RESULT
writ_tree_grow(struct writ_tree_edge *edge, const struct writ_digest *leaf, struct writ_buf *nodes,
    struct writ_err *err)
{
    struct writ_digest root = *leaf;
    size_t count = writ_tree_edge_count(edge);

    WRIT_TRY(check_size(edge->size + 1, err));
    writ_buf_put(nodes, bytes_of(&root));
    for (uint64_t rest = edge->size; (rest & 1) != 0; rest >>= 1) {
        WRIT_TRY(writ_tree_node(&edge->roots[--count], &root, &root, err));
        writ_buf_put(nodes, bytes_of(&root));
    }
    edge->roots[count] = root;
    edge->size++;
    return WRIT_DONE;
}

WRIT_RESULT
writ_tree_append_node(struct writ_tree_edge *edge, unsigned level, const struct writ_digest *node,
    struct writ_err *err)
{
    struct writ_digest root = *node;
    size_t count = writ_tree_edge_count(edge);
    uint64_t leaves;

    if (level >= WRIT_TREE_LEVELS || edge->size % (leaves = UINT64_C(1) << level) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "a tree of %llu leaves cannot continue with a node of level %u",
            (unsigned long long)edge->size, level);
    }
    WRIT_TRY(check_size(edge->size + leaves, err));
    for (uint64_t rest = edge->size >> level; (rest & 1) != 0; rest >>= 1) {
        WRIT_TRY(writ_tree_node(&edge->roots[--count], &root, &root, err));
    }
    edge->roots[count] = root;
    edge->size += leaves;
    return WRIT_DONE;
}

WRIT_RESULT
writ_tree_append(struct writ_tree_edge *edge, const struct writ_digest *leaf, struct writ_err *err)
{
    return writ_tree_append_node(edge, 0, leaf, err);
}

uint64_t
writ_tree_nodes(uint64_t size)
{
    return 2 * size - (uint64_t)__builtin_popcountll(size);
}

uint64_t
writ_tree_last_leaf(unsigned level, uint64_t index)
{
    return ((index + 1) << level) - 1;
}

WRIT_RESULT
writ_tree_root(const struct writ_tree_edge *edge, struct writ_digest *ret, struct writ_err *err)
{
    size_t count = writ_tree_edge_count(edge);
    struct writ_digest root;

    if (count == 0) {
        return writ_digest_bytes(WRIT_LIT(""), ret, err);
    }
    root = edge->roots[--count];
    while (count > 0) {
        WRIT_TRY(writ_tree_node(&edge->roots[--count], &root, &root, err));
    }
    *ret = root;
    return WRIT_DONE;
}

/* The edge of the tree of the `size` leaves from `begin` on, where a tree can have a subtree: each
 * of its complete subtrees begins at a multiple of its own size. */
static WRIT_RESULT
edge_at(const struct writ_tree_source *source, uint64_t begin, uint64_t size,
    struct writ_tree_edge *ret, struct writ_err *err)
{
    size_t count = 0;

    ret->size = size;
    while (size > 0) {
        unsigned level = level_of(size);

        WRIT_TRY(source->node(source->ctx, level, begin >> level, &ret->roots[count++], err));
        begin += UINT64_C(1) << level;
        size -= UINT64_C(1) << level;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_tree_edge_of(const struct writ_tree_source *source, uint64_t size, struct writ_tree_edge *ret,
    struct writ_err *err)
{
    struct writ_tree_edge edge = {0};

    WRIT_TRY(check_size(size, err));
    WRIT_TRY(edge_at(source, 0, size, &edge, err));
    *ret = edge;
    return WRIT_DONE;
}

/* Adds the root of the `size` leaves from `begin` on to the proof. */
static WRIT_RESULT
prove_subtree(const struct writ_tree_source *source, uint64_t begin, uint64_t size,
    struct writ_tree_proof *proof, struct writ_err *err)
{
    struct writ_tree_edge edge;

    WRIT_TRY(edge_at(source, begin, size, &edge, err));
    return writ_tree_root(&edge, &proof->digests[proof->count++], err);
}

/* Proofs are found from the root on, and are written from the leaf on. */
static void
turn(struct writ_tree_proof *proof)
{
    for (size_t i = 0; i < proof->count / 2; i++) {
        struct writ_digest digest = proof->digests[i];

        proof->digests[i] = proof->digests[proof->count - 1 - i];
        proof->digests[proof->count - 1 - i] = digest;
    }
}

WRIT_RESULT
writ_tree_prove_inclusion(const struct writ_tree_source *source, uint64_t index, uint64_t size,
    struct writ_tree_proof *ret, struct writ_err *err)
{
    struct writ_tree_proof proof = {0};
    uint64_t begin = 0;

    WRIT_TRY(check_size(size, err));
    if (index >= size) {
        WRIT_FAIL(err, WRIT_E_INVALID, "leaf %llu is not in a tree of %llu",
            (unsigned long long)index, (unsigned long long)size);
    }
    while (size > 1) {
        uint64_t left = left_of(size);

        if (index - begin < left) {
            WRIT_TRY(prove_subtree(source, begin + left, size - left, &proof, err));
            size = left;
        } else {
            WRIT_TRY(prove_subtree(source, begin, left, &proof, err));
            begin += left;
            size -= left;
        }
    }
    turn(&proof);
    *ret = proof;
    return WRIT_DONE;
}

WRIT_RESULT
writ_tree_prove_consistency(const struct writ_tree_source *source, uint64_t older, uint64_t size,
    struct writ_tree_proof *ret, struct writ_err *err)
{
    struct writ_tree_proof proof = {0};
    uint64_t begin = 0;

    WRIT_TRY(check_size(size, err));
    if (older > size) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a tree of %llu leaves is not older than one of %llu",
            (unsigned long long)older, (unsigned long long)size);
    }
    /* RFC 6962 2.1.2, SUBPROOF(older - begin, D[begin:begin + size]) */
    while (older != 0 && older - begin != size) {
        uint64_t left = left_of(size);

        if (older - begin <= left) {
            WRIT_TRY(prove_subtree(source, begin + left, size - left, &proof, err));
            size = left;
        } else {
            WRIT_TRY(prove_subtree(source, begin, left, &proof, err));
            begin += left;
            size -= left;
        }
    }
    if (begin != 0) { /* otherwise it ends with the older tree's own root, which the checker has */
        WRIT_TRY(prove_subtree(source, begin, size, &proof, err));
    }
    turn(&proof);
    *ret = proof;
    return WRIT_DONE;
}

static writ_result
not_proved(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_MISMATCH, "the proof does not hold for this tree");
}

/* The state of a walk from a leaf to the root: at this level, the index of the present node and of
 * the last node of the tree. */
struct walk {
    uint64_t at, last;
};

static void
walk_up(struct walk *walk)
{
    walk->at >>= 1;
    walk->last >>= 1;
}

/* True when the next digest of the proof is at the left. A last node without a sibling moves up
 * unchanged, without a digest. */
static bool
walk_is_left(struct walk *walk)
{
    if ((walk->at & 1) == 0 && walk->at != walk->last) {
        return false;
    }
    while (walk->at != 0 && (walk->at & 1) == 0) {
        walk_up(walk);
    }
    return true;
}

WRIT_RESULT
writ_tree_check_inclusion(const struct writ_digest *leaf, uint64_t index, uint64_t size,
    const struct writ_tree_proof *proof, const struct writ_digest *root, struct writ_err *err)
{
    struct walk walk = {index, size - 1};
    struct writ_digest digest = *leaf;

    if (index >= size || proof->count > WRIT_TREE_PROOF_MAX) {
        return not_proved(err);
    }
    for (size_t i = 0; i < proof->count; i++) {
        const struct writ_digest *sibling = &proof->digests[i];

        if (walk.last == 0) {
            return not_proved(err); /* one too many */
        }
        if (walk_is_left(&walk)) {
            WRIT_TRY(writ_tree_node(sibling, &digest, &digest, err));
        } else {
            WRIT_TRY(writ_tree_node(&digest, sibling, &digest, err));
        }
        walk_up(&walk);
    }
    return walk.last == 0 && writ_digest_equal(&digest, root) ? WRIT_DONE : not_proved(err);
}

/* The walk of a consistency proof, from the digest `first` that both trees have. */
static WRIT_RESULT
check_growth(struct walk walk, const struct writ_digest *first, const struct writ_digest *proof,
    size_t count, struct writ_digest *ret_older, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_digest older = *first;
    struct writ_digest digest = *first;

    for (size_t i = 0; i < count; i++) {
        if (walk.last == 0) {
            return not_proved(err);
        }
        if (walk_is_left(&walk)) {
            WRIT_TRY(writ_tree_node(&proof[i], &older, &older, err));
            WRIT_TRY(writ_tree_node(&proof[i], &digest, &digest, err));
        } else {
            WRIT_TRY(writ_tree_node(&digest, &proof[i], &digest, err));
        }
        walk_up(&walk);
    }
    if (walk.last != 0) {
        return not_proved(err);
    }
    *ret_older = older;
    *ret = digest;
    return WRIT_DONE;
}

static WRIT_RESULT
check_grown(uint64_t older, const struct writ_digest *older_root, uint64_t size,
    const struct writ_digest *root, const struct writ_tree_proof *proof, struct writ_err *err)
{
    struct walk walk = {older - 1, size - 1};
    bool is_complete = (older & (older - 1)) == 0; /* then its root begins the proof, unwritten */
    const struct writ_digest *first = is_complete ? older_root : &proof->digests[0];
    size_t skip = is_complete ? 0 : 1;
    struct writ_digest made_older, made;

    if (proof->count == 0 || proof->count > WRIT_TREE_PROOF_MAX) {
        return not_proved(err);
    }
    while ((walk.at & 1) != 0) {
        walk_up(&walk);
    }
    WRIT_TRY(check_growth(
        walk, first, proof->digests + skip, proof->count - skip, &made_older, &made, err));
    if (!writ_digest_equal(&made_older, older_root) || !writ_digest_equal(&made, root)) {
        return not_proved(err);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_tree_check_consistency(uint64_t older, const struct writ_digest *older_root, uint64_t size,
    const struct writ_digest *root, const struct writ_tree_proof *proof, struct writ_err *err)
{
    struct writ_digest nothing;

    if (older > size || ((older == 0 || older == size) && proof->count != 0)) {
        return not_proved(err);
    }
    if (older == size && !writ_digest_equal(older_root, root)) {
        return not_proved(err);
    }
    if (older == 0) {
        WRIT_TRY(writ_digest_bytes(WRIT_LIT(""), &nothing, err));
        return writ_digest_equal(older_root, &nothing) ? WRIT_DONE : not_proved(err);
    }
    if (older == size) {
        return WRIT_DONE;
    }
    return check_grown(older, older_root, size, root, proof, err);
}
