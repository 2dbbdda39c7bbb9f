/* change.tbl.h - the changes between two verdicts about one call, in the order of reports.
 *
 * X(NAME, name, title)
 * name   the word in --json and of --fail-on
 * title  the heading in a report for people */
#ifndef WRIT_POLICY_CHANGE_TBL_H
#define WRIT_POLICY_CHANGE_TBL_H

/* clang-format off */
#define WRIT_REJUDGE_CHANGES(X)                                                                       \
    X(REFUSED, refused, "newly refused")                                                           \
    X(REVIEW, review, "newly under review")                                                        \
    X(ALLOWED, allowed, "newly allowed")
/* clang-format on */

#endif
