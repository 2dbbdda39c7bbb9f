/* wal_vfs.h - a file system for SQLite that writes all frames of a commit at once.
 *
 * SQLite appends to its write-ahead log in two writes a page. Opened through this file system, the
 * log keeps them in memory until it is synced, and then makes one write of them (or one for
 * every WRIT_WAL_VFS_MAX bytes); every other file is the default file system's own, and so is the
 * sync.
 *
 * Why that is safe: with synchronous=FULL a commit is published in the shared memory after the
 * sync, so no other reader sees a frame before it is written, and a process that dies before the
 * sync has not reported the commit. Writes reach the disk in their order, and every other operation
 * on the log (read, size, truncate, close) writes the pending bytes first. Do not use it for a
 * connection that commits with less than synchronous=FULL.
 *
 * When a delayed write fails, the sync or a later write reports the code of that write. */
#ifndef WRIT_STORE_WAL_VFS_H
#define WRIT_STORE_WAL_VFS_H

#include "base/result.h"

#define WRIT_WAL_VFS_NAME "writ-wal" /* for sqlite3_open_v2, once it is installed */
/** Pending bytes at most; more are written at once. The file systems of SQLite take less than 128
 * KiB in one write. */
#define WRIT_WAL_VFS_MAX (124 << 10)

/** Registers it with SQLite. Idempotent, thread-safe. WRIT_E_IO. */
WRIT_RESULT writ_wal_vfs_install(struct writ_err *err);

#endif
