/* disk_parts.h - what the parts of a log (disk.h) share: disk.c, disk_rows.c and disk_sqlite.c. All
 * other code uses disk.h. */
#ifndef WRIT_STORE_DISK_PARTS_H
#define WRIT_STORE_DISK_PARTS_H

#include "store/sql/sql_sqlite.h"

struct writ_disk;

/* A reader, or a migration, waits for a lock so long, and a reader for the server. */
#define WRIT_DISK_PARTS_WAIT_US INT64_C(5000000)

/* ---- disk.c ---- */

/** WRIT_E_IO when the log is poisoned: then it runs nothing. */
WRIT_RESULT writ_disk_parts_check(const struct writ_disk *disk, struct writ_err *err);
/** Poisons the log when an error has poisoned its connection. Call it after every statement;
 * returns `result`. */
WRIT_RESULT writ_disk_parts_note(struct writ_disk *disk, writ_result result);

/* ---- disk_sqlite.c ---- */

/** Connects to a file, through the VFS of that name (NULL: that of SQLite), and checks that it is a
 * ledger of this version. WRIT_E_PARSE when it is not; WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM. */
WRIT_RESULT writ_disk_parts_connect(const char *path, bool read_only, const char *vfs,
    int64_t busy_us, struct writ_sql **ret, struct writ_err *err);

#endif
