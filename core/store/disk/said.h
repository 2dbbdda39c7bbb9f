/* said.h - the parts of a record that the writer keeps: the columns beside it, and the
 * claim that its call made. The record is signed, the columns are not: compare them before use.
 *
 * Nothing blocks; everything is borrowed from the record. */
#ifndef WRIT_STORE_SAID_H
#define WRIT_STORE_SAID_H

#include "evidence/json/json.h"
#include "evidence/record/extension.h"
#include "evidence/record/record.h"
#include "store/disk/disk.h"

struct writ_said {
    struct writ_row row; /* but for leaf, boundary and about, and FOLLOWS among its flags; `claim`
                            is `tags`, or NULL */
    uint8_t tags[WRIT_DISK_CLAIM_BYTES];
    int64_t claimed_us; /* for how long, when it has a claim */
    struct writ_view boundary_id;
    struct writ_view tenant;     /* of a decision */
    struct writ_view supersedes; /* of a decision; ptr NULL: none */
};

/** What a decision says. WRIT_E_MISMATCH: no ledger writes one like it; WRIT_E_CRYPTO. */
WRIT_RESULT writ_said_decision(const struct writ_decision *decision,
    const struct writ_extension *extension, struct writ_said *ret, struct writ_err *err);
/** What an outcome says. WRIT_E_MISMATCH. */
WRIT_RESULT writ_said_outcome(
    const struct writ_outcome *outcome, struct writ_said *ret, struct writ_err *err);

/** What the record with these bytes says, whatever kind it is of. WRIT_E_MISMATCH: no ledger
 * writes one like it; WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_said_read(
    struct writ_view body, struct writ_arena *arena, struct writ_said *ret, struct writ_err *err);

/** True when the columns say the same. FOLLOWS is not compared, and neither is the seq of a review,
 * whose records do not say it. */
bool writ_said_same(const struct writ_said *said, const struct writ_row *row);

#endif
