/* The archive of a ledger. It holds records of every length; without memory it is the former one or
 * the new one, and what is written verifies. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "base/alloc.h"
#include "evidence/log/checkpoint.h"
#include "store/read/archive.h"
#include "store/read/archive_check.h"
#include "store/read/proofs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG (70 << 10)

struct fixture {
    struct writ_kit kit;
    struct writ_archive archive;
    struct writ_archive_report report;
    struct writ_archive_state state;
    struct writ_err err;
    char folder[128], checkpoint[160];
    struct writ_note_key *key; /* of the ledger */
};

static void
take_key(struct fixture *f)
{
    writ_auto_proofs proofs = NULL;
    writ_auto_buf lines = writ_buf_make(4096);

    ck_assert_ok(writ_proofs_open(f->kit.path, f->kit.ring, &proofs, NULL));
    ck_assert_ok(
        writ_checkpoint_keys(f->kit.ring, writ_proofs_origin(proofs), false, &lines, NULL));
    ck_assert_ok(
        writ_note_key_read(writ_view_sub(writ_buf_view(&lines), 0, lines.len - 1), &f->key, NULL));
}

static void
fixture_init(struct fixture *f)
{
    *f = (struct fixture){.key = NULL};
    writ_kit_start(&f->kit);
    writ_kit_two_runs(&f->kit, NULL);
    (void)snprintf(f->folder, sizeof f->folder, "%s/log", f->kit.dir);
    (void)snprintf(f->checkpoint, sizeof f->checkpoint, "%s/checkpoint", f->folder);
    f->archive =
        (struct writ_archive){.ledger = f->kit.path, .folder = f->folder, .ring = f->kit.ring};
    take_key(f);
}

static void
fixture_wipe(struct fixture *f)
{
    writ_unit_remove(f->folder);
    writ_note_key_free(f->key);
    writ_buf_wipe(&f->state.origin);
    writ_kit_wipe(&f->kit);
}

static enum writ_code
archive(struct fixture *f)
{
    return writ_archive_write(&f->archive, &f->report, &f->err).code;
}

static enum writ_code
verify(struct fixture *f)
{
    const struct writ_note_key *const keys[] = {f->key};
    const struct writ_archive_check check = {.folder = f->folder, .keys = keys, .keys_n = 1};

    writ_buf_wipe(&f->state.origin);
    return writ_archive_check_run(&check, &f->state, &f->err).code;
}

static void
add_long_record(struct fixture *f)
{
    writ_auto_buf data = writ_buf_make(LONG + 64);

    writ_buf_str(&data, "{\"tool\":\"");
    for (size_t i = 0; i < LONG; i++) {
        writ_buf_byte(&data, 'x');
    }
    writ_buf_str(&data, "\"}");
    ck_assert_ok(writ_ledger_record(f->kit.ledger, WRIT_FACT_RELEASED, writ_buf_view(&data), NULL));
}

START_TEST(archive_of_a_long_record_holds_it_in_a_file_of_its_own)
{
    struct fixture f;
    char path[192];
    struct stat st;

    fixture_init(&f);
    add_long_record(&f);
    ck_assert_msg(archive(&f) == WRIT_OK, "%s", f.err.text);
    ck_assert_uint_eq(f.report.size, 11);
    (void)snprintf(path, sizeof path, "%s/tile/long/010", f.folder);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_gt(st.st_size, LONG);
    ck_assert_msg(verify(&f) == WRIT_OK, "%s", f.err.text);
    ck_assert_uint_eq(f.state.size, 11);
    ck_assert_int_eq(truncate(path, st.st_size - 1), 0);
    ck_assert_int_eq(verify(&f), WRIT_E_MISMATCH);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(verify(&f), WRIT_E_MISMATCH);
    fixture_wipe(&f);
}
END_TEST

static bool
stop(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx;
    ck_assert_uint_le(done, all);
    return false;
}

START_TEST(archive_when_stopped_has_no_checkpoint)
{
    struct fixture f;

    fixture_init(&f);
    f.archive.progress = stop;
    ck_assert_int_eq(archive(&f), WRIT_E_BUSY);
    ck_assert_int_ne(access(f.checkpoint, F_OK), 0);
    f.archive.progress = NULL;
    ck_assert_int_eq(archive(&f), WRIT_OK);
    ck_assert_int_eq(verify(&f), WRIT_OK);
    fixture_wipe(&f);
}
END_TEST

START_TEST(archive_without_memory_is_the_former_or_the_new_one)
{
    struct fixture f;
    bool reached = true;

    fixture_init(&f);
    ck_assert_int_eq(archive(&f), WRIT_OK);
    writ_kit_run(&f.kit, (struct writ_kit_spec){.argument = "later"});
    writ_kit_close(&f.kit); /* its threads would take the faults */
    for (long nth = 1; reached; nth++) {
        enum writ_code code;

        writ_fault_arm(nth);
        code = archive(&f);
        reached = writ_fault_disarm();
        ck_assert_msg(
            code == WRIT_OK || code == WRIT_E_NOMEM, "allocation %ld: %s", nth, f.err.text);
        ck_assert_int_eq(verify(&f), WRIT_OK);
        ck_assert_uint_eq(f.state.size, code == WRIT_OK ? 12 : 10);
    }
    fixture_wipe(&f);
}
END_TEST

START_TEST(verify_without_memory_is_never_a_finding)
{
    struct fixture f;
    bool reached = true;

    fixture_init(&f);
    ck_assert_int_eq(archive(&f), WRIT_OK);
    writ_kit_close(&f.kit);
    for (long nth = 1; reached; nth++) {
        enum writ_code code;

        writ_fault_arm(nth);
        code = verify(&f);
        reached = writ_fault_disarm();
        ck_assert_msg(code == (reached ? WRIT_E_NOMEM : WRIT_OK), "allocation %ld: %d", nth, code);
    }
    fixture_wipe(&f);
}
END_TEST

WRIT_UNIT_MAIN("archive", archive_of_a_long_record_holds_it_in_a_file_of_its_own,
    archive_when_stopped_has_no_checkpoint, archive_without_memory_is_the_former_or_the_new_one,
    verify_without_memory_is_never_a_finding)
