/* The checkpoint that an opened ledger must match. A ledger that was cut off, rolled back,
 * exchanged or signed with keys that are not trusted does not open. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/disk/heads.h"

#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* Records 0 to 3, each in its own group, then 4 and 5 in one. */
static void
fill(struct writ_kit *kit)
{
    call *c;

    writ_kit_start(kit);
    writ_kit_run(kit, (spec){.argument = "1"});
    writ_kit_run(kit, (spec){.argument = "2"});
    c = writ_kit_call(kit, (spec){.argument = "3"});
    ck_assert_int_eq(writ_kit_decide(kit, c), WRIT_OK);
    writ_kit_call_free(c);
    writ_kit_close(kit);
}

static struct writ_sql *
connection(const struct writ_kit *kit)
{
    struct writ_sql *sql = NULL;

    ck_assert_ok(writ_disk_connect(kit->path, true, 0, &sql, NULL));
    return sql;
}

/* The signed checkpoint with which the group of a record ended. */
static struct writ_view
note_at(const struct writ_kit *kit, uint64_t leaf, struct writ_arena *arena)
{
    struct writ_sql *sql = connection(kit);
    struct writ_heads heads = {0};
    struct writ_head head;

    ck_assert_ok(writ_heads_open(sql, &heads, NULL));
    ck_assert_ok(writ_heads_at(&heads, leaf, arena, &head, NULL));
    ck_assert_uint_eq(head.nodes.len,
        (writ_tree_nodes(head.size) - writ_tree_nodes(head.leaf)) * WRIT_DIGEST_BYTES);
    writ_heads_close(&heads);
    writ_sql_close(sql);
    return head.note;
}

static void
refused(struct writ_kit *kit, enum writ_code code, const char *word)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};

    ck_assert_code(writ_ledger_open(kit->path, &kit->options, &ledger, &err), code);
    ck_assert_ptr_null(ledger);
    ck_assert_msg(strstr(err.text, word) != NULL, "%s", err.text);
}

START_TEST(group_ends_with_a_signed_checkpoint)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 6, 6};
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_heads_trust trust = {0};
    struct writ_checkpoint checkpoint;
    struct writ_kit kit;
    struct writ_sql *sql;

    fill(&kit);
    sql = connection(&kit);
    ck_assert_ok(writ_heads_trust(sql, kit.ring, &trust, NULL));
    for (uint64_t leaf = 0; leaf < 6; leaf++) {
        ck_assert_ok(
            writ_heads_believe(&trust, note_at(&kit, leaf, arena), true, &checkpoint, NULL));
        ck_assert_uint_eq(checkpoint.size, sizes[leaf]);
    }
    writ_heads_trust_wipe(&trust);
    writ_sql_close(sql);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "4"});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

START_TEST(head_node_of_each_level_is_found)
{
    struct writ_heads heads = {0};
    struct writ_tree_source source;
    struct writ_digest node = {{7}}, left, right, over;
    struct writ_kit kit;
    struct writ_sql *sql;

    fill(&kit);
    sql = connection(&kit);
    ck_assert_ok(writ_heads_open(sql, &heads, NULL));
    source = writ_heads_source(&heads);
    ck_assert_ok(source.node(source.ctx, 1, 0, &left, NULL));
    ck_assert_ok(source.node(source.ctx, 1, 1, &right, NULL));
    ck_assert_ok(writ_tree_node(&left, &right, &over, NULL));
    ck_assert_ok(source.node(source.ctx, 2, 0, &node, NULL));
    ck_assert(writ_digest_equal(&node, &over));
    for (uint64_t leaf = 0; leaf < 6; leaf++) {
        ck_assert_ok(source.node(source.ctx, 0, leaf, &node, NULL));
    }
    over = node;
    ck_assert_code(source.node(source.ctx, 0, 6, &node, NULL), WRIT_E_MISMATCH);
    ck_assert_code(source.node(source.ctx, 2, 1, &node, NULL), WRIT_E_MISMATCH);
    ck_assert_code(source.node(source.ctx, 40, 0, &node, NULL), WRIT_E_MISMATCH);
    ck_assert(writ_digest_equal(&node, &over));
    writ_heads_close(&heads);
    writ_sql_close(sql);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_of_records_unlike_the_last_checkpoint_is_refused)
{
    static const struct {
        const char *sql, *word;
    } changes[] = {
        /* cut off, with and without the checkpoint */
        {"DELETE FROM record WHERE leaf = 5; DELETE FROM body WHERE leaf = 5", "cut off"},
        {"DELETE FROM head WHERE leaf = 4", "cut off"},
        {"DELETE FROM head", "cut off"},
        {"DELETE FROM record; DELETE FROM body", "cut off"},
        {"DELETE FROM record WHERE leaf >= 4; DELETE FROM body WHERE leaf >= 4; "
         "UPDATE head SET size = 4 WHERE leaf = 4",
            "stands where"},
        /* the tail and the edge */
        {"UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), 'as the policy', 'as a "
         "policy') "
         "AS BLOB) WHERE leaf = 4",
            "record 4"},
        {"DELETE FROM body WHERE leaf = 4", "record"},
        {"UPDATE head SET nodes = zeroblob(length(nodes)) WHERE leaf = 3", "root"},
        {"UPDATE head SET nodes = X'' WHERE leaf = 3", "missing"},
        {"UPDATE head SET nodes = zeroblob(length(nodes)) WHERE leaf = 4", "root"},
        /* the checkpoint */
        {"UPDATE head SET note = (SELECT note FROM head WHERE leaf = 3) WHERE leaf = 4", "stands"},
        {"UPDATE head SET note = X'00' WHERE leaf = 4", "not a checkpoint"},
        {"UPDATE meta SET value = '00000000-0000-4000-8000-000000000000' WHERE name = 'ledger'",
            "another ledger"},
        {"DELETE FROM meta WHERE name = 'ledger'", "no id"},
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct writ_kit kit;

        fill(&kit);
        writ_kit_sql(&kit, changes[i].sql);
        refused(&kit, WRIT_E_MISMATCH, changes[i].word);
        writ_kit_wipe(&kit);
    }
}
END_TEST

START_TEST(open_with_other_keys_is_refused)
{
    struct writ_kit kit, other;

    fill(&kit);
    writ_kit_init(&other);
    kit.options.keyring = other.ring;
    refused(&kit, WRIT_E_MISMATCH, "not signed");
    kit.options.keyring = kit.ring;
    writ_kit_open(&kit);
    writ_kit_wipe(&kit);
    writ_kit_wipe(&other);
}
END_TEST

START_TEST(open_with_a_rotated_key_succeeds)
{
    struct writ_signer *signer = NULL;
    struct writ_kit kit;

    fill(&kit);
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(
        writ_keyring_rotate(kit.ring, WRIT_KEY_PURPOSE_LEDGER, signer, WRIT_KIT_WALL_US, NULL));
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "4"});
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* Puts the files of a ledger in the place of another. */
static void
roll_back(struct writ_kit *kit)
{
    writ_kit_sql(kit, "DELETE FROM record WHERE leaf >= 2; DELETE FROM body WHERE leaf >= 2; "
                      "DELETE FROM head WHERE leaf >= 2; DELETE FROM segment");
}

/* Revokes the current key; another one takes over. */
static void
revoke(struct writ_kit *kit, int64_t since_us)
{
    struct writ_jwk *public = writ_keyring_key(kit->ring, 0)->public;
    struct writ_signer *fresh = NULL;

    if (writ_keyring_key(kit->ring, 0)->state == WRIT_KEY_STATE_ACTIVE) {
        ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &fresh, NULL));
    }
    ck_assert_ok(writ_keyring_revoke(kit->ring, writ_jwk_kid(public), since_us, fresh,
        WRIT_KIT_WALL_US + WRIT_KIT_S * 3600, NULL));
}

START_TEST(open_with_a_revoked_key_accepts_older_signatures_only)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_heads_trust trust = {0};
    struct writ_checkpoint checkpoint = {.size = 77};
    struct writ_err err = {0};
    int64_t last_us, middle_us;
    struct writ_view old;
    struct writ_kit kit;
    struct writ_sql *sql;

    fill(&kit);
    old = note_at(&kit, 5, arena);
    last_us = writ_kit_number(&kit, "SELECT time_us FROM record WHERE leaf = 5");
    middle_us = writ_kit_number(&kit, "SELECT time_us FROM record WHERE leaf = 3");
    revoke(&kit, last_us + 1);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "4"});
    writ_kit_close(&kit);
    writ_kit_open(&kit); /* the key after it signed meanwhile */
    writ_kit_close(&kit);
    revoke(&kit, last_us);
    sql = connection(&kit);
    ck_assert_ok(writ_heads_trust(sql, kit.ring, &trust, NULL));
    ck_assert_code(writ_heads_believe(&trust, old, true, &checkpoint, &err), WRIT_E_MISMATCH);
    ck_assert_msg(strstr(err.text, "revoked") != NULL, "%s", err.text);
    ck_assert_uint_eq(checkpoint.size, 77);
    ck_assert_ok(writ_heads_believe(&trust, note_at(&kit, 3, arena), true, &checkpoint, NULL));
    ck_assert_ok(writ_heads_believe(&trust, note_at(&kit, 6, arena), true, &checkpoint, NULL));
    writ_heads_trust_wipe(&trust);
    revoke(&kit, middle_us);
    ck_assert_ok(writ_heads_trust(sql, kit.ring, &trust, NULL));
    ck_assert_code(writ_heads_believe(&trust, note_at(&kit, 3, arena), true, &checkpoint, NULL),
        WRIT_E_MISMATCH);
    ck_assert_ok(writ_heads_believe(&trust, note_at(&kit, 2, arena), true, &checkpoint, NULL));
    writ_heads_trust_wipe(&trust);
    writ_sql_close(sql);
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

START_TEST(late_checkpoint_has_valid_signatures_only)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_buf both = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_heads_trust trust = {0};
    struct writ_note parts, other;
    struct writ_view late;
    struct writ_kit kit;
    bool is_late = false;
    struct writ_sql *sql;

    fill(&kit);
    late = note_at(&kit, 5, arena);
    revoke(&kit, writ_kit_number(&kit, "SELECT time_us FROM record WHERE leaf = 5"));
    sql = connection(&kit);
    ck_assert_ok(writ_heads_trust(sql, kit.ring, &trust, NULL));
    ck_assert_ok(writ_heads_is_late(&trust, late, &is_late, NULL));
    ck_assert(is_late);

    /* the next key signed something else */
    ck_assert_ok(writ_note_read(late, &parts, NULL));
    ck_assert_ok(writ_note_read(note_at(&kit, 3, arena), &other, NULL));
    writ_buf_put(&both, late);
    ck_assert_ok(writ_note_sign(parts.text, trust.own, trust.signer, 0, &both, NULL));
    ck_assert_ok(writ_heads_is_late(&trust, writ_buf_view(&both), &is_late, NULL));
    ck_assert(is_late);
    writ_buf_clear(&both);
    writ_buf_put(&both, late);
    ck_assert_ok(writ_note_sign(other.text, trust.own, trust.signer, 0, &both, NULL));
    ck_assert_ok(writ_heads_is_late(&trust, writ_buf_view(&both), &is_late, NULL));
    ck_assert(!is_late);

    is_late = true;
    ck_assert_ok(writ_heads_is_late(&trust, WRIT_LIT("no note"), &is_late, NULL));
    ck_assert(!is_late);
    writ_heads_trust_wipe(&trust);
    writ_sql_close(sql);
    writ_buf_wipe(&both);
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

START_TEST(open_of_a_checkpoint_by_a_revoked_key_is_refused)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_kit kit;
    int64_t last_us;

    fill(&kit);
    last_us = writ_kit_number(&kit, "SELECT max(time_us) FROM record");
    revoke(&kit, last_us + 1);
    kit.options.pinned = note_at(&kit, 5, arena);
    roll_back(&kit); /* the pinned checkpoint covers missing records: it has no time */
    refused(&kit, WRIT_E_MISMATCH, "revoked");
    kit.options.pinned = (struct writ_view){0};
    writ_kit_open(&kit);
    writ_kit_close(&kit);
    revoke(&kit, writ_kit_number(&kit, "SELECT max(time_us) FROM record"));
    refused(&kit, WRIT_E_MISMATCH, "revoked");
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

START_TEST(open_with_a_retired_key_succeeds)
{
    struct writ_signer *signer = NULL;
    struct writ_kit kit;

    fill(&kit);
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(
        writ_keyring_rotate(kit.ring, WRIT_KEY_PURPOSE_LEDGER, signer, WRIT_KIT_WALL_US, NULL));
    ck_assert_ok(writ_keyring_retire(
        kit.ring, writ_jwk_kid(writ_keyring_key(kit.ring, 0)->public), WRIT_KIT_WALL_US, NULL));
    writ_kit_open(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(open_without_the_pinned_checkpoint_is_refused)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_kit kit, other;

    fill(&kit);
    fill(&other);
    for (uint64_t leaf = 0; leaf < 6; leaf++) {
        kit.options.pinned = note_at(&kit, leaf, arena);
        writ_kit_open(&kit);
        writ_kit_close(&kit);
    }
    /* that of another ledger: this one is in its place */
    kit.options.pinned = note_at(&other, 5, arena);
    refused(&kit, WRIT_E_MISMATCH, "another ledger");
    kit.options.pinned = WRIT_LIT("6\n");
    refused(&kit, WRIT_E_MISMATCH, "not a checkpoint");
    /* whole in itself, and older */
    kit.options.pinned = note_at(&kit, 5, arena);
    roll_back(&kit);
    refused(&kit, WRIT_E_MISMATCH, "rolled back");
    writ_kit_sql(&kit, "DELETE FROM record; DELETE FROM body; DELETE FROM head");
    refused(&kit, WRIT_E_MISMATCH, "rolled back");
    writ_kit_wipe(&kit);
    writ_kit_wipe(&other);
    writ_arena_free(arena);
}
END_TEST

START_TEST(open_of_another_history_than_the_pinned_one_is_refused)
{
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_view pinned;
    struct writ_kit kit;

    fill(&kit);
    pinned = note_at(&kit, 3, arena);
    roll_back(&kit);
    writ_kit_open(&kit); /* without a pin the loss cannot be seen */
    writ_kit_run(&kit, (spec){.argument = "another"});
    writ_kit_run(&kit, (spec){.argument = "way"});
    writ_kit_close(&kit);
    kit.options.pinned = pinned;
    refused(&kit, WRIT_E_MISMATCH, "history");
    writ_kit_wipe(&kit);
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("opening", group_ends_with_a_signed_checkpoint, head_node_of_each_level_is_found,
    open_of_records_unlike_the_last_checkpoint_is_refused, open_with_other_keys_is_refused,
    open_with_a_rotated_key_succeeds, open_with_a_revoked_key_accepts_older_signatures_only,
    late_checkpoint_has_valid_signatures_only, open_of_a_checkpoint_by_a_revoked_key_is_refused,
    open_with_a_retired_key_succeeds, open_without_the_pinned_checkpoint_is_refused,
    open_of_another_history_than_the_pinned_one_is_refused)
