/* why_flow.h - the part of an explanation that a run has: where the values of a recorded call had
 * come from, the rule about the run that applied, and what a person may change. From the record and
 * the configuration; no value, key or mark is read. No edit is made of any of this: whether a
 * source deserves trust, or a task needs a tool, is not in the configuration. Pure. */
#ifndef WRIT_POLICY_WHY_FLOW_H
#define WRIT_POLICY_WHY_FLOW_H

#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "evidence/record/reason.h"
#include "policy/model/flow.h"
#include "policy/why/why_label.h"
#include "policy/why/why_text.h"

/** Where one value of the arguments had come from. Views are in the record, and in the arena. */
struct writ_why_value {
    struct writ_view argument; /* JSON Pointer */
    struct writ_view source;   /* "task", "operator", "trusted", "approved", "untrusted"; "unknown":
                                  the run had not seen it */
    struct writ_view at, decision_id; /* the field and the call that brought it; or empty */
    struct writ_view marks;           /* of its words (evidence/flow/mark.h) */
    struct writ_view tool;     /* "upstream/tool" of that call; empty until it is looked up */
    struct writ_why_text text; /* around it, there; zeroed until it is looked up */
};

struct writ_why_flow {
    bool known;                        /* the record has a flow, or its reason is about a run */
    const struct writ_flow_rule *rule; /* that applied, of the configuration; NULL: none */
    struct writ_view rule_ref;         /* the recorded one; empty: none */
    struct writ_why_value *values;     /* in the arena */
    size_t values_n;
    struct writ_view key;          /* the name of the key of their marks */
    struct writ_why_label *labels; /* of the run, that the rule looked at */
    size_t labels_n;
};

/** Reads the values of `flow` of a decision, with the texts that none can have, and the labels that
 * its rule looked at. WRIT_E_PARSE, WRIT_E_NOMEM.
 * @param config  has the rule; NULL: not known, all labels of the run are taken */
WRIT_RESULT writ_why_flow_values(const struct writ_config *config, const struct writ_json *flow,
    struct writ_arena *arena, struct writ_why_flow *ret, struct writ_err *err);

/** Reads the flow of a recorded decision. WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_why_flow_read(const struct writ_config *config,
    const struct writ_extension *extension, enum writ_reason reason, struct writ_arena *arena,
    struct writ_why_flow *ret, struct writ_err *err);

/** Whether the reason is about what the run has seen, and not about the arguments alone. */
bool writ_why_flow_is_reason(enum writ_reason reason);

/** Appends when a rule of `flows` applies: "after untrusted, private". */
void writ_why_flow_condition(const struct writ_flow_rule *rule, struct writ_buf *ret);

/** Writes the object of one value (docs/json.md). */
void writ_why_flow_put_value(const struct writ_why_value *value, struct writ_write *w);

/** Writes the member `labels`, a list, into an open object. */
void writ_why_flow_put_labels(const struct writ_why_flow *flow, struct writ_write *w);

/** Appends it for people: "/to: untrusted, at /bills/0/note of bank/bills, decision D". */
void writ_why_flow_value_text(const struct writ_why_value *value, struct writ_buf *ret);

/** Appends what a person may change so that such a call passes, as sentences; nothing when no run
 * stood against the call. `tool` is the "upstream/tool" of the call. */
void writ_why_flow_advice(const struct writ_why_flow *flow, enum writ_reason reason,
    struct writ_view argument, struct writ_view tool, struct writ_buf *ret);

#endif
