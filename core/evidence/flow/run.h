/* run.h - what a run has seen: its labels, the marks of its task, results and approved arguments,
 * and the calls that it made. Made from its records alone, in their order, so that the same records
 * always give the same state (at another gateway, after a restart, for a third party).
 *
 * A record adds `extensions.writ.flow` (member.tbl.h), a canonical object:
 *   of a decision  {"arguments"?: [{"argument", "found"?: {"at"?, "decision_id"?, "source"},
 *                   "joined"?, "marks"}], "detected"?: [...], "key", "labels": [...], "meta"?,
 *                   "rule"?, "run": [...], "task"?: {"digest", "marks", "tools"?}}
 *   of an outcome  {"cut"?, "detected"?: [{"at"?, "detector"?, "label"}], "failed"?,
 *                   "fields": [...] (fields.h), "key", "labels": [...]}
 * An argument without `found` was not asked where it comes from: rules compare it with other calls.
 * `labels` are those that the result brings into the run; they count from the decision on, because
 * the call may be under way. `run` are those that the run had when it was judged. `detected` of a
 * decision are labels that detectors may add: the outcome has them in `labels` with those that did,
 * and the run of a call that may get a kept result has all of them. A decision about a resource or
 * prompt that was read (content_read) permits no call, and has the `flow` of an outcome.
 *
 * A call that was let through without `flow`, or whose result has none, brought labels that are
 * unknown: the run counts as having each one (writ_run_is_blind). So does one that may get a kept
 * result whose labels are the server's own (`meta`): they are in the record of another run.
 *
 * Labels only accumulate. Marks under another key are not taken: what they stand for is unknown.
 * One thread at a time. */
#ifndef WRIT_EVIDENCE_RUN_H
#define WRIT_EVIDENCE_RUN_H

#include "evidence/flow/fields.h"
#include "evidence/flow/mark.h"
#include "evidence/json/json.h"

#define WRIT_RUN_LABELS     32                /* different labels of one run */
#define WRIT_RUN_LABEL_MAX  64                /* bytes of one */
#define WRIT_RUN_MARKS_MAX  ((size_t)1 << 20) /* bytes of marks of one run, with their places */
#define WRIT_RUN_CALLS_MAX  4096
#define WRIT_RUN_GRANTS_MAX 256

#define WRIT_LABEL_UNTRUSTED "untrusted"

/** Where a value may come from, as bits. */
enum writ_source {
    WRIT_SOURCE_TASK = 1,      /* the text of the task */
    WRIT_SOURCE_OPERATOR = 2,  /* a list in the policy */
    WRIT_SOURCE_TRUSTED = 4,   /* a trusted field of a result */
    WRIT_SOURCE_APPROVED = 8,  /* an argument of an approved call */
    WRIT_SOURCE_UNTRUSTED = 16 /* anything else that was seen */
};

/** "task", "operator", "trusted", "approved", "untrusted". Static storage. */
struct writ_view writ_run_source_name(enum writ_source source);
/** The source of that name, or 0. */
unsigned writ_run_source_named(struct writ_view name);

/** Marks from one place. Views are in the run. */
struct writ_run_marks {
    enum writ_source source;
    struct writ_view decision_id, at; /* of the task: empty */
    struct writ_view marks;
    struct writ_run_marks *next;
};

/** A call that was let through. */
struct writ_run_call {
    struct writ_view upstream, tool, decision_id;
    struct writ_view arguments; /* marks of those that rules compare, each behind its pointer */
    int64_t issued_us;
    bool done; /* it has an outcome: executed, without an error of the tool */
    struct writ_run_call *next;
};

struct writ_run;

/** An empty state. Free with writ_run_free. WRIT_E_NOMEM. */
WRIT_RESULT writ_run_new(struct writ_run **ret, struct writ_err *err);
void writ_run_free(struct writ_run *run);

/** Bytes that it takes. */
size_t writ_run_size(const struct writ_run *run);

/**
 * Adds a decision or an outcome, by its canonical text. Records without `flow` add the call alone.
 *
 * @param key  the name of the key (writ_mark_key_id): marks under another one are left out
 *
 * WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM: the state is incomplete, and refuses (`incomplete`).
 */
WRIT_RESULT writ_run_add_decision(
    struct writ_run *run, struct writ_view key, struct writ_view record, struct writ_err *err);
WRIT_RESULT writ_run_add_outcome(
    struct writ_run *run, struct writ_view key, struct writ_view record, struct writ_err *err);

/** What counts of a decision. Borrowed. */
struct writ_run_decision {
    struct writ_view decision_id, upstream, tool;
    int64_t issued_us;
    bool let_through;      /* the call may be made */
    bool approved;         /* by people */
    bool repeated;         /* refused as a duplicate: its caller may get a result of another run */
    bool read;             /* of a resource or prompt: `flow` is that of an outcome */
    struct writ_view flow; /* extensions.writ.flow, canonical; empty: none */
};

/** `flow` of an outcome, and what its text is made of. */
struct writ_run_flow {
    struct writ_view text;            /* canonical; empty: none, and nothing else counts */
    const struct writ_fields *fields; /* that writ_fields_put has put */
    struct writ_view key;
    const struct writ_view *labels;
    size_t labels_n;
    bool failed;
};

/** What counts of an outcome. Borrowed. */
struct writ_run_outcome {
    struct writ_view decision_id;
    bool executed;
    struct writ_run_flow flow;
};

/** Whether a decision with this reason has a resource or prompt that was read. */
bool writ_run_is_read(struct writ_view reason);

/** Whether a decision with this reason was refused as a duplicate. */
bool writ_run_is_repeat(struct writ_view reason);

/** The same without the record, for its maker. */
WRIT_RESULT writ_run_decided(struct writ_run *run, struct writ_view key,
    const struct writ_run_decision *decision, struct writ_err *err);
WRIT_RESULT writ_run_ended(struct writ_run *run, struct writ_view key,
    const struct writ_run_outcome *outcome, struct writ_err *err);

/** Adds a label. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_run_add_label(struct writ_run *run, struct writ_view label);

/** Whether some call brought labels without a record: made before rules asked for them, or
 * while the state of the run was unknown. The run then has every label. */
bool writ_run_is_blind(const struct writ_run *run);

/** Whether a result brought the label. */
bool writ_run_has(const struct writ_run *run, struct writ_view label);
size_t writ_run_labels(const struct writ_run *run);
/** Label `i` in the order of bytes. */
struct writ_view writ_run_label(const struct writ_run *run, size_t i);

/** The first place, the newest first, that has these marks in one piece, of the sources of `from`;
 * or NULL. */
const struct writ_run_marks *writ_run_find(
    const struct writ_run *run, unsigned from, struct writ_view wanted);

/** The newest place with marks, or NULL; the others by `next`. */
const struct writ_run_marks *writ_run_places(const struct writ_run *run);

/** The newest call, or NULL; the others by `next`. */
const struct writ_run_call *writ_run_calls(const struct writ_run *run);

/** The digest of the task that it has, as text; empty: none. */
struct writ_view writ_run_task(const struct writ_run *run);
/** Whether a task that names `granted` permits the tool, an "upstream/tool". */
typedef bool (*writ_run_names)(struct writ_view granted, struct writ_view tool);
/** Whether each statement of the task permits the tool: yes without one that names tools. */
bool writ_run_grants(const struct writ_run *run, writ_run_names names, struct writ_view tool);

/** Whether calls were left out, being more than WRIT_RUN_CALLS_MAX: what is not found may have been
 * there. Of marks that were left out no value is found. */
bool writ_run_is_cut(const struct writ_run *run);

#endif
