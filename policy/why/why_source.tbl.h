/* why_source.tbl.h - from where the arguments of a call are known, or why they are not: NAME, the
 * word in JSON, and the note (why_note.tbl.h) when they are not known. */
#ifndef WRIT_POLICY_WHY_SOURCE_TBL_H
#define WRIT_POLICY_WHY_SOURCE_TBL_H

/* clang-format off */
#define WRIT_WHY_SOURCES(X)                                                                        \
    X(UNKNOWN,  "unknown",  UNKNOWN)    /* they were not given */                                  \
    X(NONE,     "none",     NEVER_KEPT) /* the ledger keeps none */                                \
    X(ERASED,   "erased",   ERASED)                                                                \
    X(LOCKED,   "locked",   LOCKED)                                                                \
    X(PARTIAL,  "partial",  PARTIAL)    /* kept without secret members */                          \
    X(REVIEW,   "review",   NONE)       /* kept by a review, in the ledger */                      \
    X(GIVEN,    "given",    NONE)       /* in a file */                                            \
    X(CONTENTS, "contents", NONE)       /* kept contents, after the look was recorded */
/* clang-format on */

#endif
