/* archive_fact.h - what the ledger records when it gives up the records that an archive has. The
 * data of WRIT_FACT_ARCHIVED:
 *
 *     {"before":N,"by":WHO,"last":TIME,"root":DIGEST,"runs":DIGEST}
 *
 * Records before N may be missing from the ledger from then on, and no other ones. */
#ifndef WRIT_EVIDENCE_ARCHIVE_FACT_H
#define WRIT_EVIDENCE_ARCHIVE_FACT_H

#include "evidence/json/digest.h"
#include "evidence/json/json.h"

struct writ_archive_fact {
    struct writ_view by;     /* the person, or the command and the user that ran it */
    uint64_t before;         /* the first record that is kept */
    int64_t last_us;         /* the time of the record before it */
    struct writ_digest root; /* of the tree over the records before it */
    struct writ_digest runs; /* of the rows of the runs that began before it, and not before the one
                                of the former fact (store/disk/runs.h) */
};

/** Appends the data of the fact, a canonical object. WRIT_E_INVALID: `by` is empty; WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_archive_fact_put(
    const struct writ_archive_fact *fact, struct writ_buf *ret, struct writ_err *err);

/** Reads it; `ret` borrows from `data`. WRIT_E_MISMATCH: not of this form. */
WRIT_RESULT writ_archive_fact_read(
    const struct writ_json *data, struct writ_archive_fact *ret, struct writ_err *err);

#endif
