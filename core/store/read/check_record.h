/* check_record.h - the checks of one record after the other; verify.c walks the log with them.
 * Those of the tree are in check_tree.h, those of the reviews in check_story.h.
 *
 * Only verify.c includes this. */
#ifndef WRIT_STORE_CHECK_RECORD_H
#define WRIT_STORE_CHECK_RECORD_H

#include "store/read/check.h"

/** Looks at the record in the columns of RECORDS, which should be number `leaf`. WRIT_OK whatever
 * is wrong with it; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_record(struct writ_check *v, sqlite3_stmt *s, uint64_t leaf);

/** What is left when the last record was seen. `last_now`: the last one that there is by now, in a
 * ledger that is written meanwhile. */
void writ_check_record_rest(struct writ_check *v, uint64_t last, uint64_t last_now);

/** Frees what the checks remember. */
void writ_check_record_wipe(struct writ_check *v);

#endif
