/* migrate.h - brings the tables of a ledger to a later version.
 *
 * On PostgreSQL: one transaction for each version, which locks the coordinator and ends all epochs:
 * a gateway that was paused before finds that out in its next turn, and writes nothing with older
 * statements (start/fleet_epoch.c). */
#ifndef WRIT_STORE_MIGRATE_H
#define WRIT_STORE_MIGRATE_H

#include "base/bytes.h"

/** The steps on PostgreSQL: the first brings version 1 to version 2. Static storage. */
struct writ_migrations {
    const char *const *steps; /* statements, separated by semicolons */
    size_t n;
};

/** The steps to this program's version: WRIT_POSTGRES_MIGRATIONS. */
struct writ_migrations writ_migrate_own(void);

struct writ_migrate_report {
    int from, to; /* versions; equal: nothing was done */
};

/**
 * Migrates to the version after the last step. After a failure the tables have a version on the
 * way, and another run continues.
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY      a gateway is live; the error names it
 *         WRIT_E_MISMATCH  the tables are newer than the steps, or have no version
 *         WRIT_E_PARSE     no ledger
 *         WRIT_E_INVALID, WRIT_E_IO, WRIT_E_NOMEM
 *
 * Blocks.
 */
WRIT_RESULT writ_migrate_run(const char *uri, const struct writ_migrations *migrations,
    struct writ_migrate_report *ret, struct writ_err *err);

/**
 * Migrates a ledger in a file from the version before this one, in one transaction.
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY      another process writes the ledger
 *         WRIT_E_PARSE     no ledger, or one of another version
 *         WRIT_E_ABSENT, WRIT_E_INVALID  as writ_file_check
 *         WRIT_E_IO, WRIT_E_NOMEM
 *
 * Blocks.
 */
WRIT_RESULT writ_migrate_file(
    const char *path, struct writ_migrate_report *ret, struct writ_err *err);

#endif
