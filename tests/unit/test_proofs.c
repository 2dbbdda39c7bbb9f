#include "support/kit.h"
#include "support/unit.h"

#include "store/proofs.h"
#include "store/reader.h"

#include <stdio.h>
#include <sqlite3.h>

typedef struct writ_kit_spec spec;

static struct writ_proofs *
proofs_of(struct writ_kit *kit)
{
    struct writ_proofs *proofs = NULL;
    struct writ_err err = {0};
    writ_result result = writ_proofs_open(kit->path, &proofs, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return proofs;
}

static struct writ_checkpoint
head_of(struct writ_proofs *proofs)
{
    struct writ_checkpoint head;

    ck_assert_ok(writ_proofs_head(proofs, &head, NULL));
    return head;
}

static bool
grow(void *ctx, uint64_t leaf, enum writ_reader_kind kind, struct writ_view record)
{
    struct writ_tree_edge *edge = ctx;
    struct writ_digest digest;

    (void)kind;
    ck_assert_uint_eq(leaf, edge->size);
    ck_assert_ok(writ_tree_leaf(record, &digest, NULL));
    ck_assert_ok(writ_tree_append(edge, &digest, NULL));
    return true;
}

#define LEAVES_MAX 1100 /* four tiles and some */

struct leaves {
    struct writ_digest leaf[LEAVES_MAX];
    size_t n;
};

static bool
take_leaf(void *ctx, uint64_t leaf, enum writ_reader_kind kind, struct writ_view record)
{
    struct leaves *leaves = ctx;

    (void)kind;
    ck_assert_uint_eq(leaf, leaves->n);
    ck_assert_uint_lt(leaves->n, LEAVES_MAX);
    ck_assert_ok(writ_tree_leaf(record, &leaves->leaf[leaves->n++], NULL));
    return true;
}

/* The root over the records of the one boundary that the ledger has, as an export tells them. */
static struct writ_digest
exported_root(struct writ_kit *kit)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_reader *reader = NULL;
    struct writ_tree_edge edge = {0};
    struct writ_completeness report;
    struct writ_digest root;

    ck_assert_ok(writ_reader_open(kit->path, &reader, NULL));
    ck_assert_ok(writ_reader_export(
        reader, writ_view(NULL, 0), WRIT_LIT("one"), grow, &edge, arena, &report, NULL));
    ck_assert_ok(writ_tree_root(&edge, &root, NULL));
    writ_reader_close(reader);
    writ_arena_free(arena);
    return root;
}

START_TEST(an_empty_ledger_has_the_empty_tree)
{
    struct writ_kit kit;
    struct writ_proofs *proofs;
    struct writ_digest nothing;
    struct writ_checkpoint head;

    writ_kit_init(&kit);
    proofs = proofs_of(&kit);
    head = head_of(proofs);
    ck_assert_ok(writ_digest_bytes(WRIT_LIT(""), &nothing, NULL));
    ck_assert_uint_eq(head.size, 0);
    ck_assert(writ_digest_equal(&head.root, &nothing));
    ck_assert(writ_view_has_prefix(head.origin, WRIT_LIT("writ-ledger/")));
    ck_assert_uint_eq(head.origin.len, 12 + 36);
    ck_assert_uint_eq(head.extensions.len, 0);
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(the_tree_grows_with_the_ledger_that_is_being_written)
{
    struct writ_kit kit;
    struct writ_proofs *proofs;
    char argument[16];

    writ_kit_start(&kit);
    proofs = proofs_of(&kit);
    for (int i = 0; i < 20; i++) {
        struct writ_checkpoint head;
        struct writ_digest want;

        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.boundary = "one", .argument = argument});
        head = head_of(proofs);
        want = exported_root(&kit);
        ck_assert_uint_eq(head.size, 2 * (uint64_t)(i + 1));
        ck_assert(writ_digest_equal(&head.root, &want));
    }
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
}
END_TEST

/* A change behind the ledger's back. */
static void
change(struct writ_kit *kit, const char *sql)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(kit->path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

START_TEST(records_that_are_missing_are_no_tree)
{
    struct writ_kit kit;
    struct writ_proofs *proofs;
    struct writ_checkpoint head = {.size = 7};

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_run(&kit, (spec){.argument = "2"});
    writ_kit_close(&kit);
    change(&kit, "DELETE FROM body WHERE leaf = 1");
    proofs = proofs_of(&kit);
    ck_assert_code(writ_proofs_head(proofs, &head, NULL), WRIT_E_MISMATCH);
    ck_assert_uint_eq(head.size, 7);
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(a_ledger_without_an_id_has_no_checkpoints)
{
    static const char *const changes[] = {"DELETE FROM meta WHERE name = 'ledger'",
        "INSERT INTO meta(name, value) VALUES('ledger', 'a b')"};
    struct writ_kit kit;
    struct writ_proofs *proofs = NULL;

    writ_kit_init(&kit);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        change(&kit, changes[i]);
        ck_assert_code(writ_proofs_open(kit.path, &proofs, NULL), WRIT_E_INVALID);
        ck_assert_ptr_null(proofs);
    }
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(proofs_hold_at_every_place_of_a_tree_of_several_tiles)
{
    struct writ_kit kit;
    struct writ_proofs *proofs;
    struct writ_tree_proof proof;
    struct writ_checkpoint half, head;
    struct leaves seen = {0};
    struct writ_reader *reader = NULL;
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_completeness report;
    char argument[16];

    writ_kit_start(&kit);
    proofs = proofs_of(&kit);
    for (int i = 0; i < LEAVES_MAX / 2; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.boundary = "one", .argument = argument});
        if (2 * i == 300) {
            half = head_of(proofs);
        }
    }
    head = head_of(proofs);
    ck_assert_ok(writ_reader_open(kit.path, &reader, NULL));
    ck_assert_ok(writ_reader_export(
        reader, writ_view(NULL, 0), WRIT_LIT("one"), take_leaf, &seen, arena, &report, NULL));
    ck_assert_uint_eq(seen.n, head.size);
    for (uint64_t i = 0; i < head.size; i += i % 256 < 3 || i % 256 > 252 ? 1 : 17) {
        ck_assert_ok(writ_proofs_inclusion(proofs, i, head.size, &proof, NULL));
        ck_assert_ok(
            writ_tree_check_inclusion(&seen.leaf[i], i, head.size, &proof, &head.root, NULL));
        if (i < half.size) {
            ck_assert_ok(writ_proofs_inclusion(proofs, i, half.size, &proof, NULL));
            ck_assert_ok(
                writ_tree_check_inclusion(&seen.leaf[i], i, half.size, &proof, &half.root, NULL));
        }
    }
    ck_assert_ok(writ_proofs_consistency(proofs, half.size, head.size, &proof, NULL));
    ck_assert_ok(
        writ_tree_check_consistency(half.size, &half.root, head.size, &head.root, &proof, NULL));
    proof.count = 7;
    ck_assert_code(
        writ_proofs_inclusion(proofs, head.size, head.size, &proof, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_proofs_inclusion(proofs, 0, head.size + 1, &proof, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_proofs_consistency(proofs, 1, head.size + 1, &proof, NULL), WRIT_E_INVALID);
    ck_assert_uint_eq(proof.count, 7);
    writ_arena_free(arena);
    writ_reader_close(reader);
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(what_is_no_ledger_is_not_opened)
{
    struct writ_proofs *proofs = NULL;

    ck_assert_code(writ_proofs_open("/nowhere/ledger.db", &proofs, NULL), WRIT_E_ABSENT);
    ck_assert_ptr_null(proofs);
    writ_proofs_close(NULL);
}
END_TEST

WRIT_UNIT_MAIN("proofs", an_empty_ledger_has_the_empty_tree,
    the_tree_grows_with_the_ledger_that_is_being_written, records_that_are_missing_are_no_tree,
    proofs_hold_at_every_place_of_a_tree_of_several_tiles,
    a_ledger_without_an_id_has_no_checkpoints, what_is_no_ledger_is_not_opened)
