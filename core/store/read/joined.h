/* joined.h - a ledger together with its archive (archive.h): the records of some runs, those that
 * were removed among them, in a database of this process alone, which readers read as a ledger.
 *
 * A record of the archive is taken when it is the one of the ledger's tree, by its digest. One
 * thread; everything blocks. */
#ifndef WRIT_STORE_JOINED_H
#define WRIT_STORE_JOINED_H

#include "base/bytes.h"
#include "store/sql/sql.h"

/** Which records. */
struct writ_joined_order {
    const char *path;   /* of the ledger; a gateway may write it */
    const char *folder; /* of the archive */
    /** The run of this call, and the runs of the decisions before and after it that belong to it;
     * ptr NULL: by the name of a run. */
    struct writ_view decision_id;
    /** The run of that name; ptr NULL: all runs. `tenant` may be NULL: of any tenant. */
    struct writ_view boundary_id, tenant;
};

/**
 * Makes the database. It has the tables of a ledger, of which `record`, `body` and `boundary` are
 * filled, and is temporary: SQLite keeps what is large in its folder for temporary files.
 *
 * @param ret  new, written only on success; runs or calls that are nowhere are not in it
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no ledger, or no archive
 *         WRIT_E_MISMATCH  a record of the archive is missing, or is not the ledger's
 *         WRIT_E_LIMIT     more than 1,024 tenants have a run of that name
 *         WRIT_E_PARSE, WRIT_E_INVALID, WRIT_E_BUSY, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_joined_connect(
    const struct writ_joined_order *order, struct writ_sql **ret, struct writ_err *err);

#endif
