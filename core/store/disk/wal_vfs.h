/* wal_vfs.h - a file system for SQLite that writes all frames of a commit at once.
 *
 * SQLite appends to its write-ahead log in two writes a page. Opened through this file system, the
 * log keeps them in memory until it is synced, and then makes one write of them (or one for
 * every WRIT_WAL_VFS_MAX bytes); every other file is the default file system's own, and so is the
 * sync.
 *
 * Why that is safe: with synchronous=FULL a commit is published in the shared memory after the
 * sync, so no other reader sees a frame before it is written, and a process that dies before the
 * sync has not reported the commit. Writes reach the disk in their order, and whatever else is done
 * with the log (read, size, truncate, close) writes what is pending first. Do not use it for a
 * connection that commits with less than synchronous=FULL.
 *
 * The sync, or a later write, reports a write that fails late, with the code of the write. */
#ifndef WRIT_STORE_WAL_VFS_H
#define WRIT_STORE_WAL_VFS_H

#include "base/result.h"

#define WRIT_WAL_VFS_NAME "writ-wal" /* for sqlite3_open_v2, once it is installed */
/** Bytes that are kept; then they are written. The file systems of SQLite take less than 128 KiB at
 * once. */
#define WRIT_WAL_VFS_MAX (124 << 10)

/** Makes it known to SQLite. Idempotent, thread-safe. WRIT_E_IO. */
WRIT_RESULT writ_wal_vfs_install(struct writ_err *err);

#endif
