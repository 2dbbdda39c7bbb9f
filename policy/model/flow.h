/* flow.h - where the values of a call may come from, compiled: labels of results, the sources of an
 * argument, rules about the flow of a run, and who states tasks. decide/flow.h judges them. */
#ifndef WRIT_POLICY_MODEL_FLOW_H
#define WRIT_POLICY_MODEL_FLOW_H

#include "evidence/flow/run.h"
#include "policy/model/config.h"

#define WRIT_FLOWS_MAX 256 /* entries of `flows` */

#define WRIT_DETECTED_MAX 16 /* entries of `detected` */

struct writ_approval;
struct writ_detector_set; /* policy/detect/detector.h */

/** The value of the op `from`. */
struct writ_from {
    unsigned sources;                      /* a set of enum writ_source */
    const struct writ_json *operator_list; /* an array; NULL: none */
    bool addresses; /* only the URLs and addresses of mail in a text are asked for */
    bool host;      /* the host of a URL or address decides */
    const struct writ_approval *approval; /* of a value from elsewhere; NULL: it is refused */
};

/** One entry of `detected`: a label that a result has in which a detector finds something. */
struct writ_detected {
    const struct writ_detector_set *detectors;
    struct writ_view names; /* as written: "secret.*, card.number" */
    struct writ_view label;
};

/** `labels` of a rule: those of the tool's results. Zero: untrusted. */
struct writ_labels {
    bool trusted;
    struct writ_views confidentiality;          /* labels such as "private" */
    struct writ_views trusted_at, untrusted_at; /* JSON Pointers with `*` for any one token */
    bool believe_annotations, believe_meta;
    const struct writ_detected *detected;
    size_t detected_n;
    struct writ_view
        resource; /* of resources whose URI this pattern matches; empty: of no pattern */
};

#define WRIT_RESOURCES_MAX 256 /* entries of `resources` of an upstream */

/** `resources` of an upstream: labels with a pattern, in the order of the file. */
struct writ_resources {
    const struct writ_labels *const *items;
    size_t n;
};

/** `requires` of a flow: a call that must have been made before. */
struct writ_flow_requires {
    struct writ_view call;  /* pattern of upstream/tool */
    struct writ_pairs same; /* argument of the sink, and that of the call: JSON Pointers */
    int64_t within_us;      /* 0: at any time of the run */
};

/** One entry of `flows`. */
struct writ_flow_rule {
    struct writ_view ref;          /* "flows#0" */
    const struct writ_yaml *node;  /* where it stands */
    struct writ_views tools;       /* patterns of upstream/tool: the sinks */
    struct writ_views after;       /* labels that the run must have, all of them */
    struct writ_views after_calls; /* patterns: calls of which it must have made one */
    const struct writ_flow_requires *requires;
    int64_t at_most;                      /* calls of these sinks in one run; 0: not limited */
    const struct writ_approval *approval; /* NULL: the call is refused */
};

/** `tasks`: callers that may say what a run is for. */
struct writ_tasks {
    struct writ_views agents; /* ids */
    struct writ_views scopes; /* callers whose token has all of these; none: no scope suffices */
    struct writ_views always; /* patterns of upstream/tool that no task need name */
    const struct writ_approval *approval; /* of a tool that is not named; NULL: it is refused */
};

#endif
