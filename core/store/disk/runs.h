/* runs.h - a digest over the rows of runs. Their records were removed, and with them what the rows
 * were compared with: a name that is missing would be free for a second run. */
#ifndef WRIT_STORE_RUNS_H
#define WRIT_STORE_RUNS_H

#include "evidence/json/digest.h"
#include "store/sql/sql.h"

/* The statement: parameters are the first record and the one after the last. */
#define WRIT_RUNS_BETWEEN                                                                          \
    "SELECT first_leaf, coalesce(seal_leaf, -1), tenant, name FROM boundary "                      \
    "WHERE first_leaf >= ?1 AND first_leaf < ?2 ORDER BY first_leaf, id"

/**
 * Digests the runs that began with a record from `from` on and before `until`. For each, in the
 * order of first records: "FIRST SEAL TENANT_BYTES NAME_BYTES\n" with decimal numbers (SEAL -1: not
 * sealed), then tenant and name.
 *
 * @param s  WRIT_RUNS_BETWEEN; it is reset
 *
 * @return WRIT_OK
 *         WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_runs_digest(struct writ_sql_statement *s, uint64_t from, uint64_t until,
    struct writ_digest *ret, struct writ_err *err);

#endif
