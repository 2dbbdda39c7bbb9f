/* why_note.tbl.h - what is missing from an explanation, or where else to look: NAME, the sentence,
 * and what to pass to `writ why` about it. */
#ifndef WRIT_POLICY_WHY_NOTE_TBL_H
#define WRIT_POLICY_WHY_NOTE_TBL_H

/* clang-format off */
#define WRIT_WHY_NOTES(X)                                                                          \
    X(NONE, "", "")                                                                                \
    X(ALLOWED, "The policy allowed the call.", "")                                                 \
    X(NOT_THE_RULE, "The rule is not what refused the call: see the reason.", "")                  \
    X(RUN, "What the run had seen refused the call, and not its arguments alone.", "")              \
    X(NO_EDIT, "No small edit allows this call.", "")                                              \
    X(OF_REVIEW, "An edit would contain values of the call, and arguments that a review keeps are never printed.", \
        "Pass --arguments FILE to see it.")                                                        \
    X(FILE_CHANGED, "No edit is tried: the files of the configuration do not have the rules that the gateway has loaded.", "") \
    X(SHARED_LINE, "An edit is known, and is not shown: its line has other options beside rules. `writ why` prints it.", "") \
    X(OTHER_TENANTS, "An edit and the nearest rule are for those who may read the rules of all tenants.", "") \
    X(UNKNOWN, "Without the arguments nothing more is known.",                                     \
        "Pass them with --arguments FILE, as they were sent, or --contents to open kept ones.")    \
    X(NEVER_KEPT, "No arguments of this call were kept, and without them nothing more is known.",  \
        "Pass them with --arguments FILE, as they were sent.")                                     \
    X(ERASED, "The kept arguments were erased, or their time is over, and without them nothing more is known.", \
        "Pass them with --arguments FILE, as they were sent.")                                     \
    X(LOCKED, "The key of the kept arguments is not in the key directory, and without them nothing more is known.", \
        "Pass them with --arguments FILE, as they were sent.")                                     \
    X(PARTIAL, "Secret members of the arguments were never kept, and without them the call cannot be judged again.", \
        "Pass all of them with --arguments FILE, as they were sent.")                              \
    X(OUTSIDE, "The rule allows these arguments: what refused the call is outside of it, such as a budget that was used up.", "") \
    X(ALLOWS_NOW, "The configuration as it is now allows the call.", "")
/* clang-format on */

#endif
