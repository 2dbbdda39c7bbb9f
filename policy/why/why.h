/* why.h - why a recorded call was decided as it was, by a configuration: the rule and the
 * constraint, the nearest rule that allows the call, and the smallest edit that would allow it.
 *
 *     struct writ_why why;
 *     WRIT_TRY(writ_why_begin(&question, arena, &why, err));
 *     WRIT_TRY(writ_why_arguments(&why, text, WRIT_WHY_GIVEN, err));    when they are known
 *     WRIT_TRY(writ_why_judge(&why, err));
 *     writ_why_json(&why, &w);
 *
 * The call is judged again by the code of the gateway. Arguments with another digest than the
 * recorded one are refused. An edit is tried before it is returned, and no file is written. One
 * thread; reads the files of the configuration, when it tries an edit. */
#ifndef WRIT_POLICY_WHY_H
#define WRIT_POLICY_WHY_H

#include "evidence/json/write.h"
#include "evidence/record/decision.h"
#include "evidence/record/extension.h"
#include "policy/decide/policy.h"
#include "policy/read/repair.h"
#include "policy/why/why_flow.h"
#include "policy/why/why_note.tbl.h"
#include "policy/why/why_source.tbl.h"

#define WRIT_WHY_ARGUMENTS_MAX ((size_t)64 << 20)

enum writ_why_source {
#define WRIT_WHY_SOURCE_ENUM(NAME, word, note) WRIT_WHY_##NAME,
    WRIT_WHY_SOURCES(WRIT_WHY_SOURCE_ENUM)
#undef WRIT_WHY_SOURCE_ENUM
};

enum writ_why_note {
#define WRIT_WHY_NOTE_ENUM(NAME, text, advice) WRIT_WHY_NOTE_##NAME,
    WRIT_WHY_NOTES(WRIT_WHY_NOTE_ENUM)
#undef WRIT_WHY_NOTE_ENUM
};

/** What is asked. All borrowed until the explanation is written. */
struct writ_why_question {
    const struct writ_config *config;
    const struct writ_decision *decision;
    const struct writ_extension *extension;
    struct writ_view tenant;
    bool own_rule_only; /* the reader may not see rules of others: no nearest rule, no edit */
    bool rules_only;    /* an edit shows lines of rules, and no line that has other options */
};

/** The explanation. Views live in the arena and in the configuration. */
struct writ_why {
    struct writ_why_question asked;
    struct writ_arena *arena;
    enum writ_reason reason; /* the recorded one */
    bool same_policy;
    char policy_digest[WRIT_DIGEST_TEXT]; /* of the configuration */
    struct writ_agent agent;
    enum writ_why_source source;
    const struct writ_json *arguments; /* NULL: not known */
    struct writ_verdict now;           /* with arguments alone */
    const struct writ_tool_rule *rule; /* NULL: none is for this caller and tool */
    struct writ_repair_near nearest;   /* no rule: none is near */
    const struct writ_constraint *constraint;
    struct writ_view argument, constraint_name, accepted, hint;
    struct writ_why_flow flow; /* what the run of the call says about it */
    struct writ_view advice;   /* about it, as sentences; empty: none */
    struct writ_view edit;     /* a unified difference; ptr NULL: none is known, or shown */
    enum writ_why_note note;
};

/** Finds the rule of the call, and reads what its record says about its run. The caller may add the
 * `tool` of each value of `flow`. WRIT_E_NOMEM. */
WRIT_RESULT writ_why_begin(const struct writ_why_question *question, struct writ_arena *arena,
    struct writ_why *ret, struct writ_err *err);

/** Takes the arguments of the call, as JSON. WRIT_E_MISMATCH: they are those of another call, or
 * the decision has no digest of them; WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_why_arguments(
    struct writ_why *why, struct writ_view text, enum writ_why_source source, struct writ_err *err);

/** Says why the arguments are not known: NONE, ERASED, LOCKED or PARTIAL. */
void writ_why_without(struct writ_why *why, enum writ_why_source source);

/** Explains with what is known. An edit is tried for arguments that are GIVEN or CONTENTS; else its
 * values would be printed without permission. WRIT_E_NOMEM. */
WRIT_RESULT writ_why_judge(struct writ_why *why, struct writ_err *err);

/** Whether rules refused the call, so that an edit of them can allow it. */
bool writ_why_in_policy(const struct writ_why *why);

/** What is missing, or where else to look; may be empty. Static storage. */
struct writ_view writ_why_note_text(const struct writ_why *why);
/** What to pass to `writ why` about it; may be empty. Static storage. */
struct writ_view writ_why_note_advice(const struct writ_why *why);

/** Appends whom a rule is for that the caller is not: "roles admin, root; tenants acme". */
void writ_why_difference(
    const struct writ_why *why, const struct writ_tool_rule *rule, struct writ_buf *ret);

/** Writes the object that docs/json.md describes at `writ why`. A failure stays in the writer. */
void writ_why_json(const struct writ_why *why, struct writ_write *w);

#endif
