/* copy.h - moves the history of a ledger from SQLite to PostgreSQL, or back.
 *
 * The copy has the id and the origin of the ledger: its receipts, proofs and checkpoints stay
 * valid. Records come in their groups, in transactions of bounded size, then the tables beside
 * them; then the copy is verified. Until its last transaction a note in `meta` keeps gateways
 * away (start/opening.h), and another run continues where this one ended. */
#ifndef WRIT_STORE_COPY_H
#define WRIT_STORE_COPY_H

#include "base/clock.h"
#include "evidence/jose/keyring.h"
#include "store/read/verify_report.h"

/** Called now and then with the records that are done and all of them; false ends the work. */
typedef bool writ_copy_progress(void *ctx, uint64_t done, uint64_t all);

/** How a ledger is copied. Borrowed for the call. */
struct writ_copy {
    const char *from, *to;           /* path or URI */
    struct writ_view role;           /* gets the rights of a gateway, when `to` is made on a server;
                                        empty: nobody */
    const struct writ_keyring *ring; /* as of writ_verify_ledger; NULL: signatures not verified */
    const struct writ_clock *clock;
    writ_copy_progress *copied, *verified; /* may be NULL */
    void *ctx;                             /* of both */
};

struct writ_copy_report {
    uint64_t before; /* records that an earlier run had copied */
    uint64_t sessions, waits, reviews, results, contents; /* rows that the copy has */
    struct writ_verify_report verified;                   /* of the copy */
};

/**
 * Copies, or continues.
 *
 * @param ret  with ret->verified.problems above 0 the copy is not complete: no gateway opens it
 *
 * Blocks. Memory is bounded by a few groups, and a few rows of the other tables.
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY      a gateway has one of the ledgers open, or a progress function ended it
 *         WRIT_E_INVALID   `to` is neither empty nor an earlier run's copy of this ledger
 *         WRIT_E_MISMATCH  the records contradict each other, or `from` was written meanwhile
 *         WRIT_E_ABSENT, WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_copy_ledger(
    const struct writ_copy *copy, struct writ_copy_report *ret, struct writ_err *err);

#endif
