/* remove.tbl.h - what keeps records in the ledger that could be removed by their time.
 *
 * X(NAME, name, "sentence"): what it is, and what ends it. */
#ifndef WRIT_STORE_REMOVE_TBL_H
#define WRIT_STORE_REMOVE_TBL_H

/* clang-format off */
#define WRIT_REMOVE_LIMITS(X)                                                                      \
    X(NONE, none, "")                                                                              \
    X(ARCHIVE, archive, "later records are not in the archive: run the command again")             \
    X(LAST, last, "the last records always stay")                                                  \
    X(RUN, run, "a run is open: end it with a seal, or wait until it ends as idle")                \
    X(REVIEW, review, "a review or an approval is open: decide or cancel it, or wait for its end") \
    X(CALL, call, "a call waits for input or for the end of its task: wait for its end")           \
    X(CLAIMS, claims, "keys of calls are still claimed: wait until `ledger.claims_kept` is over")  \
    X(BUDGET, budget, "amounts count in the window of a budget: wait until it is over")            \
    X(RESULT, result, "the result of a call is kept for replay: wait until its time is over")      \
    X(CONTENT, content, "the contents of a call are kept: wait for the end of their time, or "     \
      "destroy them with `writ ledger erase`")                                                     \
    X(GATEWAY, gateway, "a live gateway has not read later records: see `writ store status`")
/* clang-format on */

#endif
