/* A copy of a ledger. It is the state at its beginning, whatever the gateway records meanwhile; and
 * when memory runs out, there is an error and no copy, or the very same copy. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "base/alloc.h"
#include "store/read/backup.h"

#include <stdio.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;

/* A copy that is being made of the ledger of a kit. */
struct fixture {
    struct writ_kit kit;
    struct writ_backup backup;
    struct writ_verify_report report;
    struct writ_err err;
    char to[128], partial[144];
    bool records, ends; /* what `copied` does, each time */
};

static bool
copied(void *ctx, uint64_t done, uint64_t all)
{
    struct fixture *f = ctx;

    ck_assert_uint_le(done, all);
    if (f->records) {
        writ_kit_run(&f->kit, (spec){.argument = "meanwhile", .key = "meanwhile"});
        f->records = false;
    }
    return !f->ends;
}

static void
fixture_init(struct fixture *f)
{
    *f = (struct fixture){.records = false};
    writ_kit_start(&f->kit);
    writ_kit_two_runs(&f->kit, NULL);
    (void)snprintf(f->to, sizeof f->to, "%s/copy.db", f->kit.dir);
    (void)snprintf(f->partial, sizeof f->partial, "%s.partial", f->to);
    f->backup = (struct writ_backup){
        .from = f->kit.path, .to = f->to, .ring = f->kit.ring, .copied = copied, .ctx = f};
}

static void
fixture_wipe(struct fixture *f)
{
    (void)unlink(f->to);
    writ_kit_wipe(&f->kit);
}

static enum writ_code
make(struct fixture *f)
{
    return writ_backup_make(&f->backup, &f->report, &f->err).code;
}

START_TEST(backup_of_a_live_ledger_has_its_state_at_the_beginning)
{
    struct fixture f;

    fixture_init(&f);
    f.records = true;
    ck_assert_msg(make(&f) == WRIT_OK, "%s", f.err.text);
    ck_assert(!f.records);
    ck_assert_uint_eq(f.report.records, 10);
    ck_assert_uint_eq(f.report.problems, 0);
    ck_assert(f.report.is_signed);
    ck_assert_int_eq(writ_kit_number(&f.kit, "SELECT count(*) FROM record"), 12);
    ck_assert_int_eq(access(f.to, F_OK), 0);
    ck_assert_int_ne(access(f.partial, F_OK), 0);
    fixture_wipe(&f);
}
END_TEST

START_TEST(backup_when_stopped_leaves_no_file)
{
    struct fixture f;

    fixture_init(&f);
    f.ends = true;
    ck_assert_int_eq(make(&f), WRIT_E_BUSY);
    ck_assert_int_ne(access(f.to, F_OK), 0);
    ck_assert_int_ne(access(f.partial, F_OK), 0);
    fixture_wipe(&f);
}
END_TEST

START_TEST(backup_over_a_present_file_is_refused)
{
    struct fixture f;

    fixture_init(&f);
    ck_assert_int_eq(make(&f), WRIT_OK);
    ck_assert_int_eq(make(&f), WRIT_E_INVALID);
    ck_assert_int_eq(access(f.to, F_OK), 0);
    fixture_wipe(&f);
}
END_TEST

START_TEST(backup_without_memory_is_complete_or_absent)
{
    struct fixture f;
    bool reached = true;

    fixture_init(&f);
    writ_kit_close(&f.kit); /* its threads would take the faults */
    for (long nth = 1; reached; nth++) {
        enum writ_code code;

        writ_fault_arm(nth);
        code = make(&f);
        reached = writ_fault_disarm();
        ck_assert_msg((code == WRIT_OK) == (access(f.to, F_OK) == 0), "allocation %ld", nth);
        ck_assert_int_ne(access(f.partial, F_OK), 0);
        if (code == WRIT_OK) {
            ck_assert_uint_eq(f.report.records, 10);
        } else {
            ck_assert_int_eq(code, WRIT_E_NOMEM);
        }
        (void)unlink(f.to);
    }
    fixture_wipe(&f);
}
END_TEST

WRIT_UNIT_MAIN("backup", backup_of_a_live_ledger_has_its_state_at_the_beginning,
    backup_when_stopped_leaves_no_file, backup_over_a_present_file_is_refused,
    backup_without_memory_is_complete_or_absent)
