/* why_label.tbl.h - how a label came into a run: NAME, the word in JSON, and the sentence for
 * people.
 */
#ifndef WRIT_POLICY_WHY_LABEL_TBL_H
#define WRIT_POLICY_WHY_LABEL_TBL_H

/* clang-format off */
#define WRIT_WHY_LABELS(X)                                                                         \
    X(UNKNOWN, "unknown", "no record of the run that was looked at brought it")                    \
    X(POLICY, "policy", "results of that tool have it by the policy")                              \
    X(DETECTED, "detected", "a detector found something in the result, or could not answer")       \
    X(SERVER, "server", "the server said so in its result")                                        \
    X(KEPT, "kept", "the caller may have got a kept result that has it")                           \
    X(UNRECORDED, "unrecorded", "the labels of that call are not recorded: the run has every label")
/* clang-format on */

#endif
