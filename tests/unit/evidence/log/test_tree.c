/* The Merkle tree of the log (RFC 9162). Its roots are the published ones; inclusion and
 * consistency proofs hold for their own leaf and size, and for no other. */
#include "support/unit.h"

#include "evidence/log/tree.h"

#define LEAVES 70

/* The leaves and roots that implementations of RFC 6962 test themselves with. */
static const struct writ_view known_leaf[] = {
    {"", 0},
    {"\x00", 1},
    {"\x10", 1},
    {"\x20\x21", 2},
    {"\x30\x31", 2},
    {"\x40\x41\x42\x43", 4},
    {"\x50\x51\x52\x53\x54\x55\x56\x57", 8},
    {"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16},
};
static const char *const known_root[] = {
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "sha256:fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "sha256:aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "sha256:d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "sha256:4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "sha256:76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "sha256:ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "sha256:5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
};

/* Counts the nodes beyond its tree that a proof requested. */
struct forest {
    struct writ_digest leaf[LEAVES];
    uint64_t size; /* requests beyond this size are errors */
    bool is_broken;
};

static struct writ_digest
node(const struct writ_digest *left, const struct writ_digest *right)
{
    struct writ_digest ret;

    ck_assert_ok(writ_tree_node(left, right, &ret, NULL));
    return ret;
}

/* MTH of RFC 6962 2.1, word for word. */
static struct writ_digest
mth(const struct writ_digest *leaf, uint64_t n)
{
    struct writ_digest left, right;
    uint64_t k = 1;

    if (n == 0) {
        ck_assert_ok(writ_digest_bytes(WRIT_LIT(""), &left, NULL));
        return left;
    }
    if (n == 1) {
        return leaf[0];
    }
    while (k * 2 < n) {
        k *= 2;
    }
    left = mth(leaf, k);
    right = mth(leaf + k, n - k);
    return node(&left, &right);
}

static WRIT_RESULT
forest_node(
    void *ctx, unsigned level, uint64_t index, struct writ_digest *ret, struct writ_err *err)
{
    struct forest *forest = ctx;
    uint64_t n = UINT64_C(1) << level;

    ck_assert_uint_le((index + 1) * n, forest->size);
    if (forest->is_broken) {
        WRIT_FAIL(err, WRIT_E_IO, "broken");
    }
    *ret = mth(forest->leaf + index * n, n);
    return WRIT_DONE;
}

static struct forest
forest_of(uint64_t size)
{
    struct forest ret = {.size = size};

    for (size_t i = 0; i < LEAVES; i++) {
        char byte = (char)i;
        ck_assert_ok(writ_tree_leaf(writ_view(&byte, 1), &ret.leaf[i], NULL));
    }
    return ret;
}

START_TEST(tree_root_is_the_published_one)
{
    struct writ_tree_edge edge = {0};
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest root, leaf;

    for (size_t i = 0;; i++) {
        ck_assert_ok(writ_tree_root(&edge, &root, NULL));
        writ_digest_text(&root, text);
        ck_assert_str_eq(text, known_root[i]);
        if (i == sizeof known_leaf / sizeof known_leaf[0]) {
            break;
        }
        ck_assert_ok(writ_tree_leaf(known_leaf[i], &leaf, NULL));
        ck_assert_ok(writ_tree_append(&edge, &leaf, NULL));
    }
}
END_TEST

START_TEST(tree_edge_grown_equals_the_edge_read)
{
    struct forest forest = forest_of(0);
    struct writ_tree_source source = {forest_node, &forest};
    struct writ_tree_edge edge = {0}, made;
    struct writ_digest root, want;

    for (uint64_t n = 0; n < LEAVES; n++) {
        forest.size = n;
        ck_assert_ok(writ_tree_edge_of(&source, n, &made, NULL));
        ck_assert_uint_eq(edge.size, n);
        ck_assert_uint_eq(writ_tree_edge_count(&edge), (unsigned)__builtin_popcountll(n));
        for (size_t i = 0; i < writ_tree_edge_count(&edge); i++) {
            ck_assert(writ_digest_equal(&edge.roots[i], &made.roots[i]));
        }
        want = mth(forest.leaf, n);
        ck_assert_ok(writ_tree_root(&edge, &root, NULL));
        ck_assert(writ_digest_equal(&root, &want));
        ck_assert_ok(writ_tree_append(&edge, &forest.leaf[n], NULL));
    }
}
END_TEST

START_TEST(tree_append_to_a_full_tree_is_refused)
{
    struct writ_tree_edge edge = {.size = WRIT_TREE_SIZE_MAX};
    struct writ_digest leaf = {{1}};
    struct writ_tree_source source = {forest_node, NULL};
    struct writ_tree_proof proof = {.count = 7};

    ck_assert_code(writ_tree_append(&edge, &leaf, NULL), WRIT_E_LIMIT);
    ck_assert_uint_eq(edge.size, WRIT_TREE_SIZE_MAX);
    edge.size--;
    ck_assert_ok(writ_tree_append(&edge, &leaf, NULL));
    ck_assert_code(writ_tree_edge_of(&source, WRIT_TREE_SIZE_MAX + 1, &edge, NULL), WRIT_E_LIMIT);
    ck_assert_code(
        writ_tree_prove_inclusion(&source, 0, WRIT_TREE_SIZE_MAX + 1, &proof, NULL), WRIT_E_LIMIT);
    ck_assert_code(writ_tree_prove_consistency(&source, 0, WRIT_TREE_SIZE_MAX + 1, &proof, NULL),
        WRIT_E_LIMIT);
    ck_assert_uint_eq(edge.size, WRIT_TREE_SIZE_MAX);
    ck_assert_uint_eq(proof.count, 7);
}
END_TEST

START_TEST(tree_prove_of_a_missing_leaf_is_refused)
{
    struct forest forest = forest_of(5);
    struct writ_tree_source source = {forest_node, &forest};
    struct writ_tree_proof proof = {.count = 7};

    ck_assert_code(writ_tree_prove_inclusion(&source, 5, 5, &proof, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_tree_prove_inclusion(&source, 0, 0, &proof, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_tree_prove_consistency(&source, 6, 5, &proof, NULL), WRIT_E_INVALID);
    forest.is_broken = true;
    ck_assert_code(writ_tree_prove_inclusion(&source, 1, 5, &proof, NULL), WRIT_E_IO);
    ck_assert_code(writ_tree_prove_consistency(&source, 3, 5, &proof, NULL), WRIT_E_IO);
    ck_assert_uint_eq(proof.count, 7);
}
END_TEST

/* Every proof that differs a little from this one fails `check`. */
static void
assert_no_other(struct writ_tree_proof proof,
    writ_result (*check)(const struct writ_tree_proof *proof, void *ctx), void *ctx)
{
    struct writ_tree_proof other;

    for (size_t i = 0; i < proof.count; i++) {
        other = proof;
        other.digests[i].bytes[i] ^= 1;
        ck_assert_code(check(&other, ctx), WRIT_E_MISMATCH);
        other = proof;
        other.count = i;
        ck_assert_code(check(&other, ctx), WRIT_E_MISMATCH);
    }
    other = proof;
    other.count++; /* with zeros */
    ck_assert_code(check(&other, ctx), WRIT_E_MISMATCH);
    if (proof.count > 0) {
        other.digests[proof.count] = other.digests[proof.count - 1];
        ck_assert_code(check(&other, ctx), WRIT_E_MISMATCH);
    }
    other.count = WRIT_TREE_PROOF_MAX + 1;
    ck_assert_code(check(&other, ctx), WRIT_E_MISMATCH);
}

struct inclusion {
    const struct writ_digest *leaf;
    uint64_t index, size;
    struct writ_digest root;
};

static writ_result
check_inclusion(const struct writ_tree_proof *proof, void *ctx)
{
    struct inclusion *in = ctx;

    return writ_tree_check_inclusion(in->leaf, in->index, in->size, proof, &in->root, NULL);
}

START_TEST(tree_inclusion_holds_for_its_own_leaf_only)
{
    struct forest forest = forest_of(0);
    struct writ_tree_source source = {forest_node, &forest};
    struct writ_tree_proof proof;

    for (uint64_t size = 1; size < LEAVES; size++) {
        forest.size = size;
        for (uint64_t index = 0; index < size; index++) {
            struct inclusion in = {&forest.leaf[index], index, size, mth(forest.leaf, size)};

            ck_assert_ok(writ_tree_prove_inclusion(&source, index, size, &proof, NULL));
            ck_assert_ok(check_inclusion(&proof, &in));
            assert_no_other(proof, check_inclusion, &in);
            for (in.index = 0; in.index <= size; in.index++) {
                ck_assert_int_eq(writ_is_ok(check_inclusion(&proof, &in)), in.index == index);
            }
            in.index = index;
            in.leaf = &forest.leaf[(index + 1) % LEAVES];
            ck_assert_code(check_inclusion(&proof, &in), WRIT_E_MISMATCH);
        }
    }
}
END_TEST

START_TEST(tree_inclusion_in_an_empty_tree_fails)
{
    struct writ_tree_proof proof = {0};
    struct inclusion in = {&(struct writ_digest){{0}}, 0, 0, mth(NULL, 0)};

    ck_assert_code(check_inclusion(&proof, &in), WRIT_E_MISMATCH);
    in.size = UINT64_MAX;
    in.index = UINT64_MAX - 1;
    ck_assert_code(check_inclusion(&proof, &in), WRIT_E_MISMATCH);
}
END_TEST

struct growth {
    uint64_t older, size;
    struct writ_digest older_root, root;
};

static writ_result
check_growth(const struct writ_tree_proof *proof, void *ctx)
{
    struct growth *g = ctx;

    return writ_tree_check_consistency(g->older, &g->older_root, g->size, &g->root, proof, NULL);
}

START_TEST(tree_consistency_holds_for_older_trees_only)
{
    struct forest forest = forest_of(0);
    struct writ_tree_source source = {forest_node, &forest};
    struct writ_tree_proof proof;

    for (uint64_t size = 0; size < LEAVES; size++) {
        forest.size = size;
        for (uint64_t older = 0; older <= size; older++) {
            struct growth g = {older, size, mth(forest.leaf, older), mth(forest.leaf, size)};

            ck_assert_ok(writ_tree_prove_consistency(&source, older, size, &proof, NULL));
            ck_assert_ok(check_growth(&proof, &g));
            assert_no_other(proof, check_growth, &g);
            g.older_root.bytes[0] ^= 1;
            ck_assert_code(check_growth(&proof, &g), WRIT_E_MISMATCH);
            g.older_root.bytes[0] ^= 1;
            g.root.bytes[31] ^= 1;
            if (older != 0 || size == 0) { /* every tree grows from the empty one */
                ck_assert_code(check_growth(&proof, &g), WRIT_E_MISMATCH);
            }
        }
    }
}
END_TEST

START_TEST(tree_consistency_of_a_larger_old_tree_fails)
{
    struct writ_tree_proof proof = {0};
    struct growth g = {2, 1, {{0}}, {{0}}};

    ck_assert_code(check_growth(&proof, &g), WRIT_E_MISMATCH);
}
END_TEST

START_TEST(tree_append_keeps_the_places_of_its_nodes)
{
    struct forest forest = forest_of(LEAVES);
    struct writ_tree_edge edge = {0}, appended = {0};
    writ_auto_buf nodes = writ_buf_make(1 << 20);

    for (uint64_t i = 0; i < LEAVES; i++) {
        struct writ_digest leaf;

        ck_assert_uint_eq(nodes.len, writ_tree_nodes(i) * WRIT_DIGEST_BYTES);
        ck_assert_ok(forest_node(&forest, 0, i, &leaf, NULL));
        ck_assert_ok(writ_tree_grow(&edge, &leaf, &nodes, NULL));
        ck_assert_ok(writ_tree_append(&appended, &leaf, NULL));
        ck_assert_mem_eq(edge.roots, appended.roots, sizeof edge.roots);
    }
    ck_assert_uint_eq(nodes.len, writ_tree_nodes(LEAVES) * WRIT_DIGEST_BYTES);
    for (unsigned level = 0; UINT64_C(1) << level <= LEAVES; level++) {
        for (uint64_t i = 0; (i + 1) << level <= LEAVES; i++) {
            size_t at = (size_t)(writ_tree_nodes(writ_tree_last_leaf(level, i)) + level);
            struct writ_digest node;

            ck_assert_uint_eq(writ_tree_last_leaf(level, i), ((i + 1) << level) - 1);
            ck_assert_ok(forest_node(&forest, level, i, &node, NULL));
            ck_assert_mem_eq(nodes.ptr + at * WRIT_DIGEST_BYTES, node.bytes, WRIT_DIGEST_BYTES);
        }
    }
    ck_assert_uint_eq(writ_tree_nodes(WRIT_TREE_SIZE_MAX), 2 * WRIT_TREE_SIZE_MAX - 53);
}
END_TEST

WRIT_UNIT_MAIN("tree", tree_append_keeps_the_places_of_its_nodes, tree_root_is_the_published_one,
    tree_edge_grown_equals_the_edge_read, tree_append_to_a_full_tree_is_refused,
    tree_prove_of_a_missing_leaf_is_refused, tree_inclusion_holds_for_its_own_leaf_only,
    tree_inclusion_in_an_empty_tree_fails, tree_consistency_holds_for_older_trees_only,
    tree_consistency_of_a_larger_old_tree_fails)
