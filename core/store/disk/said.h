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
    struct writ_row row; /* without leaf, boundary and about, and without FOLLOWS among its flags;
                            `claim` is `tags`, or NULL */
    uint8_t tags[WRIT_DISK_CLAIM_BYTES];
    int64_t claimed_us; /* how long its claim is kept, when it has one */
    struct writ_view boundary_id;
    struct writ_view tenant;     /* of a decision */
    struct writ_view supersedes; /* of a decision; ptr NULL: none */
};

/** Reads a decision. WRIT_E_MISMATCH: no ledger writes such a record; WRIT_E_CRYPTO. */
WRIT_RESULT writ_said_decision(const struct writ_decision *decision,
    const struct writ_extension *extension, struct writ_said *ret, struct writ_err *err);
/** Reads an outcome. WRIT_E_MISMATCH. */
WRIT_RESULT writ_said_outcome(
    const struct writ_outcome *outcome, struct writ_said *ret, struct writ_err *err);

/** Reads the record with these bytes, of any kind. WRIT_E_MISMATCH: no ledger writes such a record;
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_said_read(
    struct writ_view body, struct writ_arena *arena, struct writ_said *ret, struct writ_err *err);

/** True when the columns agree with the record. FOLLOWS is not compared, nor the seq of a review,
 * which its records do not contain. */
bool writ_said_same(const struct writ_said *said, const struct writ_row *row);

#endif
