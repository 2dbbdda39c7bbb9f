/* Proofs of a ledger that is being written. They hold at every place, and a checkpoint is pinned
 * only when it is of these records. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/proofs.h"
#include "store/read/reader.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct writ_kit_spec spec;

#define LEAVES_MAX 600

static struct writ_proofs *
proofs_of(struct writ_kit *kit)
{
    struct writ_proofs *proofs = NULL;
    struct writ_err err = {0};
    writ_result result = writ_proofs_open(kit->path, kit->ring, &proofs, &err);

    ck_assert_msg(writ_is_ok(result), "%s", err.text);
    return proofs;
}

static struct writ_checkpoint
head_of(struct writ_proofs *proofs)
{
    struct writ_checkpoint head;
    struct writ_view note;

    ck_assert_ok(writ_proofs_head(proofs, &head, &note, NULL));
    return head;
}

struct leaves {
    struct writ_digest leaf[LEAVES_MAX];
    struct writ_tree_edge edge;
};

static bool
take_leaf(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct leaves *leaves = ctx;

    (void)kind;
    ck_assert_uint_eq(leaf, leaves->edge.size);
    ck_assert_uint_lt(leaf, LEAVES_MAX);
    ck_assert_ok(writ_tree_leaf(record, &leaves->leaf[leaf], NULL));
    ck_assert_ok(writ_tree_append(&leaves->edge, &leaves->leaf[leaf], NULL));
    return true;
}

/* The leaves of the one boundary of the ledger, as an export lists them. */
static void
exported(struct writ_kit *kit, struct leaves *ret)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_reader *reader = NULL;
    struct writ_completeness report;

    *ret = (struct leaves){0};
    ck_assert_ok(writ_reader_open(kit->path, &reader, NULL));
    ck_assert_ok(writ_reader_export(
        reader, writ_view(NULL, 0), WRIT_LIT("one"), take_leaf, ret, arena, &report, NULL));
    writ_reader_close(reader);
    writ_arena_free(arena);
}

START_TEST(proofs_of_an_empty_ledger_have_an_origin_and_no_checkpoint)
{
    struct writ_checkpoint head = {.size = 7};
    struct writ_proofs *proofs;
    struct writ_view note;
    struct writ_kit kit;

    writ_kit_init(&kit);
    proofs = proofs_of(&kit);
    ck_assert(writ_view_has_prefix(writ_proofs_origin(proofs), WRIT_LIT("writ-ledger/")));
    ck_assert_uint_eq(writ_proofs_origin(proofs).len, 12 + 36);
    ck_assert_code(writ_proofs_head(proofs, &head, &note, NULL), WRIT_E_ABSENT);
    ck_assert_uint_eq(head.size, 7);
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(proofs_head_follows_the_writer)
{
    struct leaves *seen = calloc(1, sizeof *seen);
    struct writ_proofs *proofs;
    struct writ_kit kit;
    char argument[16];

    writ_kit_start(&kit);
    proofs = proofs_of(&kit);
    for (int i = 0; i < 20; i++) {
        struct writ_checkpoint head;
        struct writ_digest root;

        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.boundary = "one", .argument = argument});
        head = head_of(proofs);
        exported(&kit, seen);
        ck_assert_uint_eq(head.size, seen->edge.size);
        ck_assert_ok(writ_tree_root(&seen->edge, &root, NULL));
        ck_assert(writ_digest_equal(&head.root, &root));
    }
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
    free(seen);
}
END_TEST

START_TEST(proofs_hold_at_every_place)
{
    struct leaves *seen = calloc(1, sizeof *seen);
    struct writ_tree_source source;
    struct writ_checkpoint half = {0}, head;
    struct writ_tree_proof proof;
    struct writ_proofs *proofs;
    struct writ_kit kit;
    char argument[16];

    writ_kit_start(&kit);
    proofs = proofs_of(&kit);
    source = writ_proofs_source(proofs);
    for (int i = 0; i < 150; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        writ_kit_run(&kit, (spec){.boundary = "one", .argument = argument});
        if (i == 70) {
            half = head_of(proofs);
        }
    }
    head = head_of(proofs);
    exported(&kit, seen);
    for (uint64_t i = 0; i < head.size; i++) {
        ck_assert_ok(writ_tree_prove_inclusion(&source, i, head.size, &proof, NULL));
        ck_assert_ok(
            writ_tree_check_inclusion(&seen->leaf[i], i, head.size, &proof, &head.root, NULL));
    }
    ck_assert_ok(writ_tree_prove_consistency(&source, half.size, head.size, &proof, NULL));
    ck_assert_ok(
        writ_tree_check_consistency(half.size, &half.root, head.size, &head.root, &proof, NULL));
    writ_proofs_close(proofs);
    writ_kit_wipe(&kit);
    free(seen);
}
END_TEST

START_TEST(checkpoint_without_a_trusted_signature_is_refused)
{
    struct writ_checkpoint head = {.size = 7};
    struct writ_proofs *proofs = NULL;
    struct writ_view note;
    struct writ_kit kit, other;

    writ_kit_start(&kit);
    writ_kit_init(&other);
    writ_kit_run(&kit, (spec){.argument = "1"});
    ck_assert_ok(writ_proofs_open(kit.path, other.ring, &proofs, NULL));
    ck_assert_code(writ_proofs_head(proofs, &head, &note, NULL), WRIT_E_MISMATCH);
    writ_proofs_close(proofs);
    proofs = NULL;
    ck_assert_ok(writ_proofs_open(kit.path, NULL, &proofs, NULL));
    ck_assert_code(writ_proofs_head(proofs, &head, &note, NULL), WRIT_E_MISMATCH);
    ck_assert_uint_eq(head.size, 7);
    writ_proofs_close(proofs);
    writ_kit_wipe(&other);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(proofs_pin_of_an_older_checkpoint_of_these_records_succeeds)
{
    struct writ_checkpoint head, then;
    struct writ_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_proofs *proofs, *others;
    struct writ_kit kit, other;
    struct writ_view last;

    writ_kit_start(&kit);
    writ_kit_start(&other);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_run(&other, (spec){.argument = "1"});
    proofs = proofs_of(&kit);
    others = proofs_of(&other);
    ck_assert_ok(writ_proofs_head(proofs, &then, &last, NULL));
    writ_buf_put(&note, last);
    writ_buf_str(&note, "\xe2\x80\x94 witness.example AAAAAAAA\n"); /* an unknown witness */
    then = head_of(proofs);
    writ_kit_run(&kit, (spec){.argument = "2"});
    ck_assert_uint_gt(head_of(proofs).size, then.size);
    ck_assert_code(writ_proofs_pin(others, writ_buf_view(&note), NULL), WRIT_E_MISMATCH);
    ck_assert_code(writ_proofs_pin(proofs, WRIT_LIT(""), NULL), WRIT_E_MISMATCH);
    ck_assert_uint_gt(head_of(proofs).size, then.size);
    ck_assert_ok(writ_proofs_pin(proofs, writ_buf_view(&note), NULL));
    ck_assert_ok(writ_proofs_head(proofs, &head, &last, NULL));
    ck_assert_uint_eq(head.size, then.size);
    ck_assert(writ_digest_equal(&head.root, &then.root));
    ck_assert(writ_view_equal(last, writ_buf_view(&note)));
    writ_proofs_close(others);
    writ_proofs_close(proofs);
    writ_buf_wipe(&note);
    writ_kit_wipe(&other);
    writ_kit_wipe(&kit);
}
END_TEST

/* Signed as a ledger's own, and not of its records. */
START_TEST(proofs_pin_of_a_checkpoint_of_other_records_is_refused)
{
    struct writ_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_buf text = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    const struct writ_signer *signer;
    struct writ_note_key *key = NULL;
    struct writ_checkpoint head;
    struct writ_proofs *proofs;
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    proofs = proofs_of(&kit);
    signer = writ_keyring_active(kit.ring, WRIT_KEY_PURPOSE_LEDGER);
    ck_assert_ok(
        writ_checkpoint_key(writ_proofs_origin(proofs), writ_signer_jwk(signer), &key, NULL));
    for (int i = 0; i < 2; i++) {
        head = head_of(proofs);
        head.size += i == 0 ? 1 : 0;
        head.root.bytes[0] ^= i == 0 ? 0 : 1;
        writ_buf_clear(&text);
        writ_buf_clear(&note);
        writ_checkpoint_put(&text, &head);
        writ_buf_put(&note, writ_buf_view(&text));
        writ_buf_byte(&note, '\n');
        ck_assert_ok(writ_note_sign(writ_buf_view(&text), key, signer, 0, &note, NULL));
        ck_assert_code(writ_proofs_pin(proofs, writ_buf_view(&note), NULL), WRIT_E_MISMATCH);
    }
    writ_note_key_free(key);
    writ_proofs_close(proofs);
    writ_buf_wipe(&text);
    writ_buf_wipe(&note);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(proofs_open_of_another_file_is_refused)
{
    struct writ_proofs *proofs = NULL;

    ck_assert_code(writ_proofs_open("/nowhere/ledger.db", NULL, &proofs, NULL), WRIT_E_ABSENT);
    ck_assert_ptr_null(proofs);
    writ_proofs_close(NULL);
}
END_TEST

WRIT_UNIT_MAIN("proofs", proofs_of_an_empty_ledger_have_an_origin_and_no_checkpoint,
    proofs_head_follows_the_writer, proofs_hold_at_every_place,
    checkpoint_without_a_trusted_signature_is_refused,
    proofs_pin_of_an_older_checkpoint_of_these_records_succeeds,
    proofs_pin_of_a_checkpoint_of_other_records_is_refused, proofs_open_of_another_file_is_refused)
