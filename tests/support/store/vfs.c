/* An SQLite file system that counts its steps and fails, or kills the process, at a given one. All
 * other calls go to the system's own. */
#include "support/store/vfs.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define SHM_WRITE_LOCK 0 /* WAL_WRITE_LOCK of the file format, section 2.3 */

struct file {
    sqlite3_file base;
    sqlite3_file *real; /* right behind this struct */
};

static struct {
    _Atomic int step;
    _Atomic long left; /* steps until the armed one */
    _Atomic bool persistent, reached;
    enum writ_vfs_action action;
    int code;
} armed;

static sqlite3_vfs shim;
static bool installed;

static void
die(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;) {
        (void)pause();
    }
}

/* Counts a step; true when it is the one. */
static bool
hit(enum writ_vfs_step step)
{
    long left;

    if (atomic_load(&armed.step) != (int)step) {
        return false;
    }
    left = atomic_fetch_sub(&armed.left, 1);
    if (left == 1 || (left < 1 && atomic_load(&armed.persistent))) {
        atomic_store(&armed.reached, true);
        return true;
    }
    return false;
}

/* Runs before a step: SQLITE_OK to continue. Sets *kill_after. */
static int
before(enum writ_vfs_step step, bool *kill_after)
{
    *kill_after = false;
    if (!hit(step)) {
        return SQLITE_OK;
    }
    switch (armed.action) {
    case WRIT_VFS_FAIL:
    case WRIT_VFS_TEAR:
        return armed.code;
    case WRIT_VFS_KILL:
    case WRIT_VFS_KILL_TORN:
        die();
        break;
    case WRIT_VFS_KILL_DONE:
        *kill_after = true;
        break;
    }
    return SQLITE_OK;
}

static int
after(int rc, bool kill_after)
{
    if (kill_after) {
        die();
    }
    return rc;
}

/* Runs `call` as a step of that kind. */
#define STEP(kind, call)                                                                           \
    do {                                                                                           \
        bool kill_after;                                                                           \
        int rc = before((kind), &kill_after);                                                      \
        return rc != SQLITE_OK ? rc : after((call), kill_after);                                   \
    } while (0)

static sqlite3_file *
real_of(sqlite3_file *file)
{
    return ((struct file *)(void *)file)->real;
}

static int
file_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int
file_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    STEP(WRIT_VFS_READ, real_of(file)->pMethods->xRead(real_of(file), to, n, at));
}

static int
file_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    sqlite3_file *real = real_of(file);
    bool kill_after = false;

    if (hit(WRIT_VFS_WRITE)) {
        if (armed.action == WRIT_VFS_TEAR || armed.action == WRIT_VFS_KILL_TORN) {
            (void)real->pMethods->xWrite(real, from, n / 2, at);
        }
        if (armed.action == WRIT_VFS_KILL || armed.action == WRIT_VFS_KILL_TORN) {
            die();
        }
        if (armed.action != WRIT_VFS_KILL_DONE) {
            return armed.code;
        }
        kill_after = true;
    }
    return after(real->pMethods->xWrite(real, from, n, at), kill_after);
}

static int
file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    STEP(WRIT_VFS_SIZE, real_of(file)->pMethods->xTruncate(real_of(file), size));
}

static int
file_sync(sqlite3_file *file, int flags)
{
    STEP(WRIT_VFS_SYNC, real_of(file)->pMethods->xSync(real_of(file), flags));
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    STEP(WRIT_VFS_SIZE, real_of(file)->pMethods->xFileSize(real_of(file), size));
}

static int
file_lock(sqlite3_file *file, int level)
{
    STEP(WRIT_VFS_LOCK, real_of(file)->pMethods->xLock(real_of(file), level));
}

static int
file_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int
file_check_reserved(sqlite3_file *file, int *ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int
file_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int
file_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int
file_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int
file_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    STEP(WRIT_VFS_SHM, real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret));
}

static int
file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    /* unlocking cannot fail, so only locking is a step */
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
        return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
    }
    STEP(offset == SHM_WRITE_LOCK ? WRIT_VFS_WRITE_LOCK : WRIT_VFS_LOCK,
        real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags));
}

static void
file_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int
file_shm_unmap(sqlite3_file *file, int drop)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), drop);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static sqlite3_vfs *
real_vfs(void)
{
    return shim.pAppData;
}

static int
vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *ret, int flags, int *ret_flags)
{
    struct file *file = (struct file *)(void *)ret;
    bool kill_after;
    int rc = before(WRIT_VFS_OPEN, &kill_after);

    (void)vfs;
    file->base.pMethods = NULL;
    if (rc != SQLITE_OK) {
        return rc;
    }
    file->real = (sqlite3_file *)(void *)(file + 1);
    rc = real_vfs()->xOpen(real_vfs(), name, file->real, flags, ret_flags);
    if (rc == SQLITE_OK) {
        file->base.pMethods = &methods;
    }
    return after(rc, kill_after);
}

static int
vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    STEP(WRIT_VFS_SIZE, real_vfs()->xDelete(real_vfs(), name, sync));
}

static int
vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    STEP(WRIT_VFS_SIZE, real_vfs()->xAccess(real_vfs(), name, flags, ret));
}

static int
vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    return real_vfs()->xFullPathname(real_vfs(), name, size, ret);
}

void
writ_vfs_install(void)
{
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);

    if (installed) {
        return;
    }
    shim = *real;
    shim.zName = "writ-test";
    shim.pNext = NULL;
    shim.pAppData = real;
    shim.szOsFile = (int)sizeof(struct file) + real->szOsFile;
    shim.xOpen = vfs_open;
    shim.xDelete = vfs_delete;
    shim.xAccess = vfs_access;
    shim.xFullPathname = vfs_full_path;
    (void)sqlite3_vfs_register(&shim, 1);
    installed = true;
}

void
writ_vfs_uninstall(void)
{
    if (installed) {
        (void)sqlite3_vfs_unregister(&shim);
        (void)sqlite3_vfs_register(real_vfs(), 1);
        installed = false;
    }
}

void
writ_vfs_arm(
    enum writ_vfs_step step, long nth, bool persistent, enum writ_vfs_action action, int code)
{
    atomic_store(&armed.step, WRIT_VFS_NONE);
    armed.action = action;
    armed.code = code;
    atomic_store(&armed.left, nth);
    atomic_store(&armed.persistent, persistent);
    atomic_store(&armed.reached, false);
    atomic_store(&armed.step, (int)step);
}

bool
writ_vfs_disarm(void)
{
    atomic_store(&armed.step, WRIT_VFS_NONE);
    return atomic_load(&armed.reached);
}
