/* 1. The pending bytes are one run, from `at`, that SQLite has written and the file has not.
 * 2. They are written before any other operation on the file.
 * 3. They are dropped only when a write or a sync fails: only those two fail a commit. When another
 *    operation fails, they stay pending. */
#include "store/disk/wal_vfs.h"

#include "base/bytes.h"

#include <pthread.h>
#include <sqlite3.h>

/* The most that the default file system may need for one of its files; its own needs some 130. */
#define REAL_FILE_MAX 1024

struct log_file {
    sqlite3_file base;
    char *pending; /* WRIT_WAL_VFS_MAX bytes, or NULL */
    size_t len;
    sqlite3_int64 at;
    _Alignas(sqlite3_int64) char real[REAL_FILE_MAX]; /* SQLite aligns its files to 8 bytes */
};

static struct log_file *
log_of(sqlite3_file *file)
{
    return (struct log_file *)(void *)file;
}

static sqlite3_file *
real_of(sqlite3_file *file)
{
    return (sqlite3_file *)(void *)log_of(file)->real;
}

/* ---- what is pending */

/* Keeps (2). */
static int
settle(sqlite3_file *file)
{
    struct log_file *log = log_of(file);
    sqlite3_file *real = real_of(file);
    int rc = log->len == 0 ? SQLITE_OK
                           : real->pMethods->xWrite(real, log->pending, (int)log->len, log->at);

    if (rc == SQLITE_OK) {
        log->len = 0;
    }
    return rc;
}

/* The same for a write or a sync: keeps (3). */
static int
settle_or_drop(sqlite3_file *file)
{
    int rc = settle(file);

    log_of(file)->len = 0;
    return rc;
}

static int
log_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
    struct log_file *log = log_of(file);
    sqlite3_file *real = real_of(file);
    size_t len = (size_t)n;
    int rc = SQLITE_OK;

    if (at != log->at + (sqlite3_int64)log->len || len > WRIT_WAL_VFS_MAX - log->len) {
        rc = settle_or_drop(file); /* keeps (1) */
    }
    if (rc != SQLITE_OK) {
        return rc;
    }
    if (log->pending == NULL) {
        log->pending = sqlite3_malloc(WRIT_WAL_VFS_MAX);
    }
    if (log->pending == NULL || len > WRIT_WAL_VFS_MAX) {
        return real->pMethods->xWrite(real, from, n, at);
    }
    if (log->len == 0) {
        log->at = at;
    }
    (void)writ_view_place(writ_view(from, len), log->pending + log->len);
    log->len += len;
    return SQLITE_OK;
}

static int
log_sync(sqlite3_file *file, int flags)
{
    sqlite3_file *real = real_of(file);
    int rc = settle_or_drop(file);

    return rc == SQLITE_OK ? real->pMethods->xSync(real, flags) : rc;
}

/* ---- the rest of a file */

static int
log_close(sqlite3_file *file)
{
    int rc = settle(file), closed = real_of(file)->pMethods->xClose(real_of(file));

    sqlite3_free(log_of(file)->pending);
    return rc == SQLITE_OK ? closed : rc;
}

static int
log_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    int rc = settle(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xRead(real_of(file), to, n, at) : rc;
}

static int
log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = settle(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xTruncate(real_of(file), size) : rc;
}

static int
log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int rc = settle(file);

    return rc == SQLITE_OK ? real_of(file)->pMethods->xFileSize(real_of(file), size) : rc;
}

/* SQLite locks a write-ahead log through the file of its database. */
static int
log_lock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int
log_unlock(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int
log_check_reserved(sqlite3_file *file, int *ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int
log_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int
log_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int
log_characteristics(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_characteristics,
};

/* ---- the file system */

/* The default file system at the time of the call: the program may have registered another one
 * since. */
static sqlite3_vfs *
real_vfs(void)
{
    return sqlite3_vfs_find(NULL);
}

static int
open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *ret, int flags, int *ret_flags)
{
    struct log_file *log = log_of(ret);
    sqlite3_vfs *real = real_vfs();
    int rc;

    (void)vfs;
    ret->pMethods = NULL;
    if (real->szOsFile > REAL_FILE_MAX) {
        return SQLITE_CANTOPEN;
    }
    if ((flags & SQLITE_OPEN_WAL) == 0) {
        return real->xOpen(real, name, ret, flags, ret_flags); /* as without this file system */
    }
    log->pending = NULL;
    log->len = 0;
    log->at = 0;
    rc = real->xOpen(real, name, real_of(ret), flags, ret_flags);
    if (rc == SQLITE_OK) {
        ret->pMethods = &methods;
    }
    return rc;
}

static int
delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    return real_vfs()->xDelete(real_vfs(), name, sync);
}

static int
access_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    return real_vfs()->xAccess(real_vfs(), name, flags, ret);
}

static int
full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    return real_vfs()->xFullPathname(real_vfs(), name, size, ret);
}

static sqlite3_vfs wal_vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int registered = SQLITE_ERROR;

static void
install(void)
{
    sqlite3_vfs *real = real_vfs();

    if (real == NULL) {
        return;
    }
    wal_vfs = *real; /* time, randomness, sleep */
    wal_vfs.zName = WRIT_WAL_VFS_NAME;
    wal_vfs.pNext = NULL;
    wal_vfs.pAppData = NULL;
    wal_vfs.szOsFile = (int)sizeof(struct log_file);
    wal_vfs.xOpen = open_file;
    wal_vfs.xDelete = delete_file;
    wal_vfs.xAccess = access_file;
    wal_vfs.xFullPathname = full_path;
    registered = sqlite3_vfs_register(&wal_vfs, 0);
}

WRIT_RESULT
writ_wal_vfs_install(struct writ_err *err)
{
    (void)pthread_once(&once, install);
    if (registered != SQLITE_OK) {
        WRIT_FAIL(err, WRIT_E_IO, "SQLite takes no file system (%d)", registered);
    }
    return WRIT_DONE;
}
