/* vfs.h - an SQLite file system that fails, or kills the process, at the n-th step.
 *
 * It wraps the system's own and is the default one while installed, so that the code under test
 * needs no hooks. Steps are counted over all threads and files of the process. */
#ifndef WRIT_TESTS_VFS_H
#define WRIT_TESTS_VFS_H

#include <stdbool.h>

/** The kinds of steps. */
enum writ_vfs_step {
    WRIT_VFS_NONE = 0,
    WRIT_VFS_OPEN,
    WRIT_VFS_READ,
    WRIT_VFS_WRITE,
    WRIT_VFS_SYNC,
    WRIT_VFS_LOCK,       /* any lock but the next */
    WRIT_VFS_WRITE_LOCK, /* the lock of the one writer: what another process would hold */
    WRIT_VFS_SIZE,       /* file size, truncate, access, delete */
    WRIT_VFS_SHM,        /* mapping the shared memory */
    WRIT_VFS_STEPS
};

enum writ_vfs_action {
    WRIT_VFS_FAIL = 0,  /* the step fails without effect */
    WRIT_VFS_TEAR,      /* a write does its first half, then fails */
    WRIT_VFS_KILL,      /* the process dies before the step */
    WRIT_VFS_KILL_TORN, /* a write does its first half, then the process dies */
    WRIT_VFS_KILL_DONE, /* the process dies after the step */
};

/** Makes it the default file system. Idempotent. */
void writ_vfs_install(void);
void writ_vfs_uninstall(void);

/** From now on the n-th step of that kind (1 = the next) gets the action; `code` is SQLite's result
 * for those that fail. Persistent: every later one too. */
void writ_vfs_arm(
    enum writ_vfs_step step, long nth, bool persistent, enum writ_vfs_action action, int code);

/** Back to normal; says whether the armed step was reached. */
bool writ_vfs_disarm(void);

#endif
