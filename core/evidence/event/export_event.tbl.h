/* export_event.tbl.h - the meaning of each word of a record, for other systems.
 *
 * WRIT_EXPORT_EVENTS  X(KIND, word, "text", SEVERITY, activity, action, disposition, status)
 *   KIND, word   enum writ_export_kind, and the verdict, outcome, event or fact in the record; of a
 *                decision that is about no call its reason;
 *                `other` is for words without a row
 *   text         what happened, for people; the name of a CEF event
 *   SEVERITY     enum writ_export_severity
 *   activity     of OCSF: of Entity Management (3004), or 99 with the word as its name
 *   action, disposition, status   ids of OCSF for API Activity (6003); 99: the word is the name.
 *                0 leaves action and disposition out
 *
 * WRIT_EXPORT_NAMES   X(list, id, "caption"): captions of ids that the rows use, from the published
 *                     schema; tests/integration/export.test.mjs compares. */
#ifndef WRIT_EVIDENCE_EXPORT_EVENT_TBL_H
#define WRIT_EVIDENCE_EXPORT_EVENT_TBL_H

/* clang-format off */
#define WRIT_EXPORT_EVENTS(X)                                                                      \
    X(DECISION, allow, "Tool call allowed", INFORMATIONAL, 99, 1, 1, 1)                            \
    X(DECISION, deny, "Tool call refused", MEDIUM, 99, 2, 2, 2)                                    \
    X(DECISION, require_approval, "Tool call waits for an approval", LOW, 99, 99, 14, 99)          \
    X(DECISION, revise, "Tool call sent back for a revision", LOW, 99, 2, 25, 2)                   \
    X(DECISION, shadow, "Tool call let through by shadow mode", MEDIUM, 99, 3, 17, 1)              \
    X(DECISION, task_stated, "Task of a run stated", INFORMATIONAL, 99, 0, 0, 1)                   \
    X(DECISION, content_read, "Resource or prompt read", INFORMATIONAL, 99, 0, 0, 1)               \
    X(DECISION, other, "Decision", MEDIUM, 99, 0, 0, 0)                                            \
    X(OUTCOME, executed, "Tool call executed", INFORMATIONAL, 99, 1, 1, 1)                         \
    X(OUTCOME, blocked, "Tool call blocked", INFORMATIONAL, 99, 2, 2, 2)                           \
    X(OUTCOME, error, "Tool call failed", LOW, 99, 1, 27, 2)                                       \
    X(OUTCOME, timeout, "Tool call without an answer in time", LOW, 99, 1, 27, 2)                  \
    X(OUTCOME, other, "Outcome", LOW, 99, 0, 0, 0)                                                 \
    X(SEAL, sealed, "Run ended", INFORMATIONAL, 99, 0, 0, 1)                                       \
    X(SEAL, other, "Run", LOW, 99, 0, 0, 0)                                                        \
    X(REVIEW, open, "Review opened", LOW, 1, 0, 0, 1)                                              \
    X(REVIEW, join, "Review joined by the same call", INFORMATIONAL, 3, 0, 0, 1)                   \
    X(REVIEW, vote, "Vote on a review", INFORMATIONAL, 3, 0, 0, 1)                                 \
    X(REVIEW, accept, "Review accepted", LOW, 99, 0, 0, 1)                                         \
    X(REVIEW, reject, "Review rejected", LOW, 99, 0, 0, 1)                                         \
    X(REVIEW, revise, "Review asks for a revision", LOW, 99, 0, 0, 1)                              \
    X(REVIEW, redeem, "Approval redeemed", LOW, 99, 0, 0, 1)                                       \
    X(REVIEW, expire, "Review or approval expired", LOW, 99, 0, 0, 1)                              \
    X(REVIEW, withdraw, "Review withdrawn", INFORMATIONAL, 99, 0, 0, 1)                            \
    X(REVIEW, cancel, "Review cancelled by an administrator", LOW, 99, 0, 0, 1)                    \
    X(REVIEW, outdate, "Review ended by a change of the policy", LOW, 99, 0, 0, 1)                 \
    X(REVIEW, drift, "Review ended by a change of the target", LOW, 99, 0, 0, 1)                   \
    X(REVIEW, revoke, "Delegation of a voter ended in a review", LOW, 99, 0, 0, 1)                 \
    X(REVIEW, other, "Review", LOW, 99, 0, 0, 0)                                                   \
    X(FACT, kill_pulled, "Stop pulled", HIGH, 10, 0, 0, 1)                                         \
    X(FACT, kill_lifted, "Stop lifted", MEDIUM, 11, 0, 0, 1)                                       \
    X(FACT, resumed, "Ledger continued after a loss of records", HIGH, 13, 0, 0, 1)                \
    X(FACT, released, "Keys of a tool released after a loss of records", HIGH, 3, 0, 0, 1)         \
    X(FACT, tool_accepted, "Definition of a tool accepted", LOW, 3, 0, 0, 1)                       \
    X(FACT, kept, "Time of claims changed", LOW, 3, 0, 0, 1)                                       \
    X(FACT, contents_erased, "Kept contents destroyed", MEDIUM, 4, 0, 0, 1)                        \
    X(FACT, contents_looked, "Kept contents read", LOW, 2, 0, 0, 1)                                \
    X(FACT, archived, "Records moved to an archive", LOW, 4, 0, 0, 1)                              \
    X(FACT, pool_put, "Insight shared by an agent", INFORMATIONAL, 1, 0, 0, 1)                     \
    X(FACT, pool_removed, "Shared insight removed", INFORMATIONAL, 4, 0, 0, 1)                     \
    X(FACT, delegated, "Delegation set by a voter", LOW, 1, 0, 0, 1)                               \
    X(FACT, delegation_revoked, "Delegation revoked", LOW, 4, 0, 0, 1)                             \
    X(FACT, other, "Fact", LOW, 99, 0, 0, 0)

#define WRIT_EXPORT_NAMES(X)                                                                       \
    X(severity, 1, "Informational")                                                                \
    X(severity, 2, "Low")                                                                          \
    X(severity, 3, "Medium")                                                                       \
    X(severity, 4, "High")                                                                         \
    X(activity, 1, "Create")                                                                       \
    X(activity, 2, "Read")                                                                         \
    X(activity, 3, "Update")                                                                       \
    X(activity, 4, "Delete")                                                                       \
    X(activity, 10, "Activate")                                                                    \
    X(activity, 11, "Deactivate")                                                                  \
    X(activity, 13, "Resume")                                                                      \
    X(action, 1, "Allowed")                                                                        \
    X(action, 2, "Denied")                                                                         \
    X(action, 3, "Observed")                                                                       \
    X(disposition, 1, "Allowed")                                                                   \
    X(disposition, 2, "Blocked")                                                                   \
    X(disposition, 14, "Delayed")                                                                  \
    X(disposition, 17, "Logged")                                                                   \
    X(disposition, 25, "Rejected")                                                                 \
    X(disposition, 27, "Error")                                                                    \
    X(status, 0, "Unknown")                                                                        \
    X(status, 1, "Success")                                                                        \
    X(status, 2, "Failure")
/* clang-format on */

#endif
