/* export_event.h - what one record of a ledger says, as a flat event for other systems.
 *
 * An event names who, what, the verdict and why, and carries what proves its place: the record's
 * index, its hash as a leaf of the tree (RFC 6962), and the signed checkpoint of its group. It has
 * no value of an argument or a result, and no text that is made of them (target, scope): only the
 * record itself has those, which the plain form carries unchanged.
 *
 * Pure but for allocations in the arena. */
#ifndef WRIT_EVIDENCE_EXPORT_EVENT_H
#define WRIT_EVIDENCE_EXPORT_EVENT_H

#include "evidence/event/export_event.tbl.h"
#include "evidence/json/digest.h"

/** The kind of a record; the numbers of a ledger's rows. */
#define WRIT_EXPORT_KINDS(X)                                                                       \
    X(DECISION, decision)                                                                          \
    X(OUTCOME, outcome)                                                                            \
    X(SEAL, seal)                                                                                  \
    X(REVIEW, review)                                                                              \
    X(FACT, fact)
enum writ_export_kind {
    WRIT_EXPORT_NONE = 0,
#define WRIT_EXPORT_KIND_ENUM(NAME, name) WRIT_EXPORT_##NAME,
    WRIT_EXPORT_KINDS(WRIT_EXPORT_KIND_ENUM)
#undef WRIT_EXPORT_KIND_ENUM
};

/** severity_id of OCSF. */
enum writ_export_severity {
    WRIT_EXPORT_INFORMATIONAL = 1,
    WRIT_EXPORT_LOW,
    WRIT_EXPORT_MEDIUM,
    WRIT_EXPORT_HIGH,
};

/** A row of export_event.tbl.h. */
struct writ_export_meaning {
    enum writ_export_kind kind;
    struct writ_view word;
    const char *text;
    enum writ_export_severity severity;
    int activity, action, disposition, status;
};

/** A record as it stands in a ledger. Borrowed. */
struct writ_export_source {
    enum writ_export_kind kind;
    uint64_t leaf;               /* its index */
    int64_t time_us;             /* wall */
    struct writ_view record;     /* canonical form */
    struct writ_view decision;   /* that an outcome or an event of a review is about; or empty */
    struct writ_view checkpoint; /* the signed note of its group */
};

/** An event. Views are borrowed from the source and the arena; an empty one is absent. */
struct writ_export_event {
    const struct writ_export_source *source;
    const struct writ_export_meaning *meaning;
    struct writ_digest leaf_hash;
    struct writ_view origin; /* of the checkpoint: the name of the ledger */
    struct writ_view word;   /* the verdict, outcome, event or fact as the record has it; of
                              a decision about no call its reason (writ_reason_verdict) */
    struct writ_view decision_id, boundary_id, supersedes;
    struct writ_view agent_id, agent_role, tenant, upstream, tool;
    struct writ_view reason;     /* its name, or the error_type of an outcome */
    struct writ_view constraint; /* that failed */
    struct writ_view policy_digest, rule, trace_id;
    struct writ_view by;      /* who voted, stopped, looked */
    struct writ_view subject; /* of a fact: the agent, tool or decision that it is about */
    struct writ_view comment; /* of a stop: its reason */
    bool shadow;              /* the call was made whatever the verdict says */
};

/** "decision", "outcome", "seal", "review", "fact"; "none". Static storage. */
struct writ_view writ_export_event_kind_name(enum writ_export_kind kind);
/** The caption of an id in a list of WRIT_EXPORT_NAMES ("severity", ...); NULL: it has none. Static
 * storage. */
const char *writ_export_event_caption(const char *list, int id);

/**
 * Makes the event of a record.
 *
 * @param source  borrowed as long as `ret` is used
 *
 * @return WRIT_OK
 *         WRIT_E_MISMATCH  the record, its decision or its checkpoint is not readable
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_export_event_make(const struct writ_export_source *source,
    struct writ_arena *arena, struct writ_export_event *ret, struct writ_err *err);

#endif
