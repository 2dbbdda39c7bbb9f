/* Groups whose checkpoint is signed later: what stands in its place, who signs it and when, and
 * what a ledger that was killed before opens with. */
#include "support/evidence/keys.h"
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/disk/disk.h"
#include "store/read/proofs.h"
#include "store/read/tail.h"
#include "store/read/verify.h"
#include "store/write/signing.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;

#define HEADS_MAX 16

static const struct writ_view other_key = {"another key of it, with 32 bytes", 32};

/* ---- what is there ---- */

/* The lengths of the notes, in order. */
static size_t
notes(const struct writ_kit *kit, size_t ret[HEADS_MAX])
{
    struct writ_sql *sql = NULL;
    struct writ_sql_statement *s = NULL;
    bool row = false;
    size_t n = 0;

    ck_assert_ok(writ_disk_connect(kit->path, false, 0, &sql, NULL));
    ck_assert_ok(writ_sql_prepare(sql, "SELECT length(note) FROM head ORDER BY leaf", &s, NULL));
    ck_assert_ok(writ_sql_step(s, &row, NULL));
    while (row && n < HEADS_MAX) {
        ret[n++] = (size_t)writ_sql_int(s, 0);
        ck_assert_ok(writ_sql_step(s, &row, NULL));
    }
    writ_sql_finalize(s);
    writ_sql_close(sql);
    return n;
}

static size_t
macs(const struct writ_kit *kit)
{
    size_t lengths[HEADS_MAX] = {0}, n = notes(kit, lengths), found = 0;

    for (size_t i = 0; i < n; i++) {
        found += lengths[i] == WRIT_HEADS_MAC ? 1 : 0;
    }
    return found;
}

static bool
is_last_signed(const struct writ_kit *kit)
{
    size_t lengths[HEADS_MAX] = {0}, n = notes(kit, lengths);

    return n > 0 && lengths[n - 1] != WRIT_HEADS_MAC;
}

static struct writ_verify_report
verified(const struct writ_kit *kit, struct writ_view key)
{
    const struct writ_verify_sources sources = {
        .path = kit->path, .ring = kit->ring, .tail_key = key, .signed_all = key.ptr != NULL};
    struct writ_verify_report report = {0};

    ck_assert_ok(writ_verify_joined(&sources, NULL, NULL, &report, NULL));
    return report;
}

/* A ledger of three calls whose process died: the first group is signed, five are not. */
static void
leave_unsigned(struct writ_kit *kit)
{
    int status = 0;
    pid_t child;

    writ_kit_init(kit);
    writ_kit_sign_together(kit);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        writ_kit_open(kit);
        writ_kit_run(kit, (spec){.argument = "1"});
        writ_kit_run(kit, (spec){.argument = "2"});
        writ_kit_run(kit, (spec){.argument = "3"});
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    writ_kit_pass(kit, WRIT_KIT_S);
}

static void
refused(struct writ_kit *kit, struct writ_view key)
{
    struct writ_ledger *ledger = NULL;
    struct writ_err err = {0};

    kit->options.tail_key = key;
    ck_assert_code(writ_ledger_open(kit->path, &kit->options, &ledger, &err), WRIT_E_MISMATCH);
    ck_assert_ptr_null(ledger);
    ck_assert_msg(strstr(err.text, "mark.key") != NULL, "%s", err.text);
}

/* ---- when it is signed ---- */

START_TEST(groups_within_milliseconds_are_signed_together)
{
    size_t lengths[HEADS_MAX] = {0};
    struct writ_verify_report report;
    struct writ_kit kit;

    writ_kit_init(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_run(&kit, (spec){.argument = "2"});
    writ_kit_pass(&kit, WRIT_HEADS_SIGN_US);
    writ_kit_run(&kit, (spec){.argument = "3"});
    writ_kit_close(&kit);
    ck_assert_uint_eq(notes(&kit, lengths), 6);
    ck_assert_uint_gt(lengths[0], WRIT_HEADS_MAC);
    ck_assert_uint_eq(lengths[1], WRIT_HEADS_MAC);
    ck_assert_uint_eq(lengths[2], WRIT_HEADS_MAC);
    ck_assert_uint_gt(lengths[5], WRIT_HEADS_MAC); /* closing signs the last one */
    report = verified(&kit, (struct writ_view){0});
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.unsigned_records, 0);
    ck_assert_uint_eq(report.checkpoints, 6 - macs(&kit));
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(group_without_a_key_for_the_tail_is_signed)
{
    struct writ_kit kit;

    writ_kit_start(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    writ_kit_run(&kit, (spec){.argument = "2"});
    ck_assert_uint_eq(macs(&kit), 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(idle_writer_signs_the_last_group)
{
    struct writ_kit kit;

    writ_kit_init(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    ck_assert(!is_last_signed(&kit));
    writ_kit_pass(&kit, WRIT_HEADS_SIGN_US);
    for (int i = 0; i < 5000 && !is_last_signed(&kit); i++) {
        (void)usleep(1000);
    }
    ck_assert(is_last_signed(&kit));
    ck_assert_uint_eq(verified(&kit, (struct writ_view){0}).unsigned_records, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- after a kill ---- */

START_TEST(killed_ledger_opens_with_its_key_and_is_signed)
{
    struct writ_verify_report report;
    struct writ_kit kit;

    leave_unsigned(&kit);
    ck_assert(!is_last_signed(&kit));
    writ_kit_open(&kit);
    writ_kit_close(&kit);
    ck_assert(is_last_signed(&kit));
    report = verified(&kit, (struct writ_view){0});
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.unsigned_records, 0);
    ck_assert_uint_eq(report.records, 6);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(killed_ledger_without_its_key_opens_only_to_be_resumed)
{
    struct writ_kit kit;

    leave_unsigned(&kit);
    refused(&kit, (struct writ_view){0});
    refused(&kit, other_key);
    kit.options.resume = true;
    writ_kit_open(&kit);
    writ_kit_close(&kit);
    ck_assert(is_last_signed(&kit));
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(forged_mac_is_refused)
{
    struct writ_view key;
    struct writ_kit kit;

    leave_unsigned(&kit);
    key = kit.options.tail_key;
    writ_kit_sql(&kit, "UPDATE head SET note = (SELECT note FROM head WHERE leaf = 1) WHERE leaf = "
                       "(SELECT max(leaf) FROM head)");
    refused(&kit, key);
    ck_assert_uint_eq(verified(&kit, key).problems, 1);
    ck_assert_uint_eq(verified(&kit, (struct writ_view){0}).problems, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* A group between two checkpoints needs no MAC that holds: the later one is over its records. */
START_TEST(record_of_an_unsigned_group_is_under_the_next_checkpoint)
{
    struct writ_verify_report report;
    struct writ_kit kit;

    leave_unsigned(&kit);
    writ_kit_open(&kit);
    writ_kit_close(&kit);
    writ_kit_sql(&kit, "UPDATE body SET bytes = CAST(replace(CAST(bytes AS TEXT), 'write_file', "
                       "'move_files') AS BLOB) WHERE leaf = 2");
    report = verified(&kit, kit.options.tail_key);
    ck_assert_uint_gt(report.problems, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- readers ---- */

START_TEST(verification_tells_how_many_records_are_not_signed_yet)
{
    struct writ_verify_report report;
    struct writ_kit kit;

    leave_unsigned(&kit);
    report = verified(&kit, (struct writ_view){0});
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.unsigned_records, 5);
    ck_assert(!report.tail_checked);
    report = verified(&kit, kit.options.tail_key);
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.unsigned_records, 5);
    ck_assert(report.tail_checked);
    report = verified(&kit, other_key);
    ck_assert_uint_eq(report.problems, 2); /* the last MAC, and those before it */
    ck_assert_uint_eq(report.list[0].leaf, 1);
    ck_assert_uint_eq(report.list[1].leaf, 1);
    writ_kit_wipe(&kit);
}
END_TEST

/* Who has no key for the MAC believes no record for it: else a ledger without any signature would
 * be sound. */
START_TEST(unsigned_records_are_a_problem_without_their_key)
{
    struct writ_verify_sources sources = {.signed_all = true};
    struct writ_verify_report report = {0};
    struct writ_kit kit;

    leave_unsigned(&kit);
    sources.path = kit.path;
    sources.ring = kit.ring;
    ck_assert_ok(writ_verify_joined(&sources, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 1);
    ck_assert_uint_eq(report.list[0].leaf, 1);
    writ_kit_sql(&kit, "UPDATE head SET note = zeroblob(32)");
    ck_assert_ok(writ_verify_joined(&sources, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 2); /* the first group is always signed */
    ck_assert_uint_eq(report.list[0].leaf, 0);
    ck_assert_uint_eq(report.list[1].leaf, 0);
    sources.ring = NULL; /* signatures are not asked for */
    ck_assert_ok(writ_verify_joined(&sources, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.unsigned_records, 6);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- a checkpoint that was replaced ---- */

/* Four calls, of which the first and the third follow a rest, and a ledger that is closed. Leaves
 * 0, 4 and 7 begin groups with a checkpoint. */
static void
leave_signed(struct writ_kit *kit)
{
    writ_kit_init(kit);
    writ_kit_sign_together(kit);
    writ_kit_open(kit);
    writ_kit_run(kit, (spec){.argument = "1"});
    writ_kit_run(kit, (spec){.argument = "2"});
    writ_kit_pass(kit, WRIT_HEADS_SIGN_US);
    writ_kit_run(kit, (spec){.argument = "3"});
    writ_kit_run(kit, (spec){.argument = "4"});
    writ_kit_close(kit);
    ck_assert_uint_eq(verified(kit, kit->options.tail_key).problems, 0);
}

static void
replace(struct writ_kit *kit, unsigned long long leaf)
{
    char sql[128];

    (void)snprintf(
        sql, sizeof sql, "UPDATE head SET note = randomblob(32) WHERE leaf = %llu", leaf);
    writ_kit_sql(kit, sql);
}

START_TEST(replaced_checkpoint_is_found_by_its_place)
{
    struct writ_verify_report report;
    struct writ_kit kit;

    leave_signed(&kit);
    replace(&kit, 4);
    report = verified(&kit, (struct writ_view){0}); /* with the public keys alone */
    ck_assert_uint_eq(report.problems, 1);
    ck_assert_uint_eq(report.list[0].leaf, 4);
    ck_assert_uint_eq(report.unsigned_records, 0);
    replace(&kit, 0);
    report = verified(&kit, (struct writ_view){0});
    ck_assert_uint_gt(report.problems, 1);
    ck_assert_uint_eq(report.list[0].leaf, 0);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(mac_that_does_not_hold_is_found_by_the_key)
{
    struct writ_verify_report report;
    struct writ_kit kit;

    leave_signed(&kit);
    replace(&kit, 1);
    replace(&kit, 2);
    ck_assert_uint_eq(verified(&kit, (struct writ_view){0}).problems, 0);
    report = verified(&kit, kit.options.tail_key);
    ck_assert_uint_eq(report.problems, 1);
    ck_assert_uint_eq(report.list[0].leaf, 1);
    ck_assert_msg(strstr(report.list[0].what, "2 groups") != NULL, "%s", report.list[0].what);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(macs_of_a_lost_key_are_taken_when_the_ledger_is_resumed)
{
    struct writ_kit kit;

    leave_signed(&kit);
    ck_assert_uint_eq(verified(&kit, other_key).problems, 1);
    kit.options.tail_key = other_key;
    kit.options.resume = true;
    writ_kit_open(&kit);
    kit.options.resume = false;
    writ_kit_run(&kit, (spec){.argument = "5", .boundary = "later"});
    writ_kit_run(&kit, (spec){.argument = "6", .boundary = "later"});
    writ_kit_close(&kit);
    ck_assert_uint_eq(verified(&kit, other_key).problems, 0);
    writ_kit_wipe(&kit);
}
END_TEST

/* The clocks do not go together: the time of day is set forward. */
START_TEST(group_long_after_the_last_record_is_signed)
{
    struct writ_kit kit;
    size_t before;

    writ_kit_init(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    before = macs(&kit);
    atomic_fetch_add(&kit.wall_us, WRIT_HEADS_SIGN_US);
    writ_kit_run(&kit, (spec){.argument = "2"});
    ck_assert_uint_eq(macs(&kit), before + 1); /* its outcome */
    writ_kit_close(&kit);
    ck_assert_uint_eq(verified(&kit, kit.options.tail_key).problems, 0);
    writ_kit_wipe(&kit);
}
END_TEST

struct more {
    struct writ_kit *kit;
    const char *argument; /* NULL: no more */
};

/* Another call, whose first group is signed. */
static bool
call_once_more(void *ctx, uint64_t done, uint64_t all)
{
    struct more *more = ctx;

    (void)done;
    (void)all;
    if (more->argument != NULL) {
        writ_kit_pass(more->kit, WRIT_HEADS_SIGN_US);
        writ_kit_run(more->kit, (spec){.argument = WRIT_TAKE(more->argument)});
    }
    return true;
}

START_TEST(checkpoint_that_is_made_meanwhile_is_over_the_last_records)
{
    struct writ_verify_sources sources = {.signed_all = true};
    struct writ_verify_report report = {0};
    struct more more = {0};
    struct writ_kit kit;

    writ_kit_init(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    ck_assert(!is_last_signed(&kit));
    sources.path = kit.path;
    sources.ring = kit.ring;
    more = (struct more){&kit, "2"};
    ck_assert_ok(writ_verify_joined(&sources, call_once_more, &more, &report, NULL));
    ck_assert_uint_eq(report.problems, 0);
    ck_assert_uint_eq(report.records, 2);
    ck_assert_uint_eq(report.unsigned_records, 0);
    sources.tail_key = other_key; /* mark.key was exchanged under the gateway */
    more = (struct more){&kit, "3"};
    ck_assert_ok(writ_verify_joined(&sources, call_once_more, &more, &report, NULL));
    ck_assert_uint_eq(report.unsigned_records, 0);
    ck_assert_uint_le(report.problems, 1); /* MACs before it: the idle writer may have signed */
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(proofs_and_exports_end_at_the_last_checkpoint)
{
    writ_auto_proofs proofs = NULL;
    struct writ_checkpoint head = {0};
    struct writ_view note = {0};
    writ_auto_tail tail = NULL;
    uint64_t size = 0;
    struct writ_kit kit;

    leave_unsigned(&kit);
    ck_assert_ok(writ_tail_open(kit.path, &tail, NULL));
    ck_assert_ok(writ_tail_size(tail, &size, NULL));
    ck_assert_uint_eq(size, 1);
    ck_assert_ok(writ_proofs_open(kit.path, kit.ring, &proofs, NULL));
    ck_assert_ok(writ_proofs_head(proofs, &head, &note, NULL)); /* waits for a while */
    ck_assert_uint_eq(head.size, 1);
    writ_proofs_await(proofs, false);
    ck_assert_ok(writ_proofs_head(proofs, &head, &note, NULL));
    ck_assert_uint_eq(head.size, 1);
    writ_kit_open(&kit);
    ck_assert_ok(writ_proofs_head(proofs, &head, &note, NULL));
    ck_assert_uint_eq(head.size, 6);
    ck_assert_ok(writ_tail_size(tail, &size, NULL));
    ck_assert_uint_eq(size, 6);
    writ_kit_wipe(&kit);
}
END_TEST

/* ---- other keys ---- */

/* The ring of the kit, with another active key for the ledger. */
static struct writ_keyring *
rotated(const struct writ_kit *kit)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    writ_auto_buf pem = writ_buf_make(WRIT_SIGNER_PEM_MAX);
    struct writ_keyring *ring = NULL;
    struct writ_signer *former = NULL;

    writ_keyring_put(&text, kit->ring);
    ck_assert_ok(writ_keyring_read(writ_buf_view(&text), &ring, NULL));
    ck_assert_ok(
        writ_signer_put_pem(writ_keyring_active(kit->ring, WRIT_KEY_PURPOSE_LEDGER), &pem, NULL));
    ck_assert_ok(writ_signer_read(writ_buf_view(&pem), &former, NULL));
    ck_assert_ok(writ_keyring_adopt(ring, former, NULL));
    ck_assert_ok(writ_keyring_rotate(ring, WRIT_KEY_PURPOSE_LEDGER,
        writ_keys_signer(WRIT_JWK_ALG_EDDSA), WRIT_KIT_WALL_US, NULL));
    return ring;
}

START_TEST(group_without_a_signature_gets_that_of_a_new_key)
{
    writ_auto_buf text = writ_buf_make(WRIT_KEYRING_BYTES_MAX);
    writ_auto_keyring both = NULL;
    struct writ_keyring *ring;
    struct writ_ledger_keys *keys = NULL;
    struct writ_verify_report report = {0};
    struct writ_kit kit;

    writ_kit_init(&kit);
    writ_kit_sign_together(&kit);
    writ_kit_open(&kit);
    writ_kit_run(&kit, (spec){.argument = "1"});
    ck_assert(!is_last_signed(&kit));
    ring = rotated(&kit);
    writ_keyring_put(&text, ring);
    ck_assert_ok(writ_keyring_read(writ_buf_view(&text), &both, NULL));
    ck_assert_ok(writ_ledger_keys_new(ring, &keys, NULL));
    writ_ledger_rekey(kit.ledger, keys);
    writ_kit_turn(&kit);
    ck_assert_int_eq(writ_kit_health(&kit).state, WRIT_LEDGER_READY);
    writ_kit_close(&kit);
    ck_assert(is_last_signed(&kit));
    ck_assert_ok(writ_verify_ledger(kit.path, both, NULL, NULL, &report, NULL));
    ck_assert_uint_eq(report.problems, 0);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("signing", groups_within_milliseconds_are_signed_together,
    group_without_a_key_for_the_tail_is_signed, idle_writer_signs_the_last_group,
    killed_ledger_opens_with_its_key_and_is_signed,
    killed_ledger_without_its_key_opens_only_to_be_resumed, forged_mac_is_refused,
    record_of_an_unsigned_group_is_under_the_next_checkpoint,
    verification_tells_how_many_records_are_not_signed_yet,
    unsigned_records_are_a_problem_without_their_key, replaced_checkpoint_is_found_by_its_place,
    mac_that_does_not_hold_is_found_by_the_key,
    macs_of_a_lost_key_are_taken_when_the_ledger_is_resumed,
    group_long_after_the_last_record_is_signed,
    checkpoint_that_is_made_meanwhile_is_over_the_last_records,
    proofs_and_exports_end_at_the_last_checkpoint, group_without_a_signature_gets_that_of_a_new_key)
