/* faults.c */
#include "support/store/faults.h"

#include "store/read/verify.h"
#include "support/unit.h"

#include <sqlite3.h>

static const struct writ_vfs_fault faults[] = {
    {"open", WRIT_VFS_OPEN, WRIT_VFS_FAIL, SQLITE_CANTOPEN},
    {"read", WRIT_VFS_READ, WRIT_VFS_FAIL, SQLITE_IOERR_READ},
    {"write", WRIT_VFS_WRITE, WRIT_VFS_FAIL, SQLITE_IOERR_WRITE},
    {"disk full", WRIT_VFS_WRITE, WRIT_VFS_TEAR, SQLITE_FULL},
    {"sync", WRIT_VFS_SYNC, WRIT_VFS_FAIL, SQLITE_IOERR_FSYNC},
    {"locked", WRIT_VFS_WRITE_LOCK, WRIT_VFS_FAIL, SQLITE_BUSY},
    {"lock error", WRIT_VFS_LOCK, WRIT_VFS_FAIL, SQLITE_IOERR_LOCK},
    {"size", WRIT_VFS_SIZE, WRIT_VFS_FAIL, SQLITE_IOERR_FSTAT},
    {"shared memory", WRIT_VFS_SHM, WRIT_VFS_FAIL, SQLITE_IOERR_SHMMAP},
};

void
writ_faults_try(writ_fault_trial *trial, bool persistent, long most)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        long nth = 1;

        while (trial(&faults[i], nth, persistent)) {
            nth++;
            ck_assert_int_lt(nth, most);
        }
    }
}

void
writ_faults_sound(const struct writ_kit *kit, const char *where, long nth)
{
    struct writ_verify_report report;
    struct writ_err err = {0};
    writ_result verified = writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, &err);

    ck_assert_msg(writ_is_ok(verified), "%s %ld: %s", where, nth, err.text);
    ck_assert_msg(report.problems == 0, "%s %ld: record %llu: %s", where, nth,
        (unsigned long long)report.list[0].leaf, report.list[0].what);
}
