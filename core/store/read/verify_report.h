/* verify_report.h - the report of a verification of a ledger. */
#ifndef WRIT_STORE_VERIFY_REPORT_H
#define WRIT_STORE_VERIFY_REPORT_H

#include "base/bytes.h"

#define WRIT_VERIFY_PROBLEMS 100 /* problems that are listed */
#define WRIT_VERIFY_REVIEWS_MAX                                                                    \
    (1 << 21) /* reviews that are open at one time: above any limits.reviews */
#define WRIT_VERIFY_LIVE_MAX 1000000 /* open boundaries, and calls without outcome, at one time */

/** One problem. */
struct writ_verify_problem {
    uint64_t leaf; /* of the record, or of the decision that misses something */
    char what[192];
};

struct writ_verify_report {
    uint64_t records, decisions, outcomes, seals, reviews; /* checked; reviews: their events */
    uint64_t facts;                                        /* that belong to no call */
    uint64_t
        first; /* records before it are not there, and were not checked: they are in an archive */
    uint64_t boundaries, sealed; /* of them, sealed */
    uint64_t checkpoints;        /* checked */
    bool is_signed;              /* and their signatures verified */
    uint64_t unsigned_records;   /* the last ones, which no checkpoint is over yet: signing.h */
    bool tail_checked;           /* and their MAC holds */
    uint64_t late;      /* of them, by a key that was revoked by then, and covered by a later
                           trusted one */
    uint64_t in_flight; /* granted and without outcome: no problem */
    uint64_t problems;  /* all of them */
    struct writ_verify_problem list[WRIT_VERIFY_PROBLEMS]; /* the first ones, in order of finding */
};

#endif
