/* What contradicts the records of a run: X(NAME, word, is_mismatch, sentence). A kind that is no
 * mismatch leaves later decisions of its run unjudged. */
#define WRIT_REFLOW_KINDS(X)                                                                       \
    X(INCOMPLETE, "incomplete", false,                                                             \
        "a decision of the run before this one is not in the bundle")                              \
    X(KEY, "key", false, "the marks of the run are under another key than those of its decision")  \
    X(LIMIT, "limit", false, "the records of the run are more than the state of a run holds")      \
    X(LABELS, "labels", true, "the run had other labels than the decision states")                 \
    X(FOUND, "found", true, "the place that the decision names does not have the value")           \
    X(LEFT_OUT, "left_out", true,                                                                  \
        "an earlier record has the value, and the decision does not say so")                       \
    X(LABELLING, "labelling", true, "the policy gives the result other labels")                    \
    X(VERDICT, "verdict", true, "the rules about the run give another verdict")
