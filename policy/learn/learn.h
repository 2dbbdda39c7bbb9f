/* learn.h - rules from calls that were made: for each tool the tightest constraints that allow
 * every call that was seen, generalised only by the steps of step.tbl.h.
 *
 * How far an argument is generalised: each step is asked which of the seen calls it would have
 * refused if it had been learned from the other runs (seen.h). All arguments begin at their
 * tightest step; while those calls are more than the share that the caller accepts, the argument
 * with the most of them takes its next step that has fewer. An argument with too few calls stays
 * where it is, and its comment says so. Hosts, domains and folders never generalise to "any".
 *
 * Memory is bounded for each tool, whatever the calls hold: values beyond a limit are counted, and
 * the steps that would need them are not taken. Pure: no I/O, no clock; one thread. */
#ifndef WRIT_POLICY_LEARN_H
#define WRIT_POLICY_LEARN_H

#include "policy/learn/ladder.h"

#define WRIT_LEARN_AGENTS_MAX    32 /* agents that a new rule names */
#define WRIT_LEARN_DECISIONS_MAX 8  /* calls that the report names for each constraint */
#define WRIT_LEARN_LEAST         20 /* calls below which an argument is not generalised */
#define WRIT_LEARN_PER_MILLE     10 /* of the calls, which may be refused */

/** A call that was made and executed. All borrowed for the call. */
struct writ_learn_call {
    struct writ_view upstream, tool;
    struct writ_view
        rule; /* what the calls of a tool are divided by: the rule that they are under */
    struct writ_view agent;
    struct writ_view run;              /* its boundary; empty: a run of its own */
    struct writ_view decision;         /* its id */
    const struct writ_json *arguments; /* an object */
};

/** One tool under one rule. */
struct writ_learn_tool {
    struct writ_view upstream, tool, rule;
    uint64_t calls, runs; /* runs: at most WRIT_SPOT_VALUES_MAX are distinguished */
    bool repeats;         /* an identical call came again in one run */
    struct writ_seen agents;
    const struct writ_json *first; /* arguments of the first call, unless they are long */
    struct writ_spot *root;
    struct writ_learn_tool *next;
};

struct writ_learn;

/** WRIT_E_NOMEM. Free with writ_learn_free. */
WRIT_RESULT writ_learn_new(struct writ_learn **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_learn_free(struct writ_learn *learn);

/** Takes one call.
 * WRIT_OK; WRIT_E_INVALID (the arguments are not an object); WRIT_E_NOMEM, WRIT_E_CRYPTO: use
 * `learn` no more. */
WRIT_RESULT writ_learn_add(
    struct writ_learn *learn, const struct writ_learn_call *call, struct writ_err *err);

/** The tools, in the order of their first calls. */
const struct writ_learn_tool *writ_learn_tools(const struct writ_learn *learn);

/** What stands behind the constraints of one argument. */
struct writ_learned_argument {
    struct writ_view pointer; /* a JSON Pointer, with "*" for the elements of a list */
    enum writ_learn_step step;
    uint64_t calls, values; /* calls with it; distinct values */
    bool more_values;       /* there are more, uncounted */
    bool few;               /* too few calls to generalise */
    uint64_t cost;          /* calls that would have been refused if their run had not been seen */
    uint64_t without;       /* the same without the step: with a list of the values */
    struct writ_view decisions[WRIT_LEARN_DECISIONS_MAX]; /* the first of these */
    size_t decisions_n;
    struct writ_learned_argument *next;
};

/** The proposal for one tool. */
struct writ_learned {
    const struct writ_proposal_constraint *constraints;
    const struct writ_learned_argument *arguments;
    struct writ_views agents; /* n 0: too many, or every run has its own */
    uint64_t cost;            /* an estimate: calls in `calls` that a next run would have refused */
    bool by_run;              /* that counts runs; else there were too few, and it counts calls */
    bool open;                /* some value passes unchecked */
};

/**
 * Proposes the constraints for a tool.
 *
 * @param least      an argument in fewer calls is not generalised
 * @param per_mille  of the calls, which the estimate may refuse
 * @param arena      for the result
 * @return WRIT_OK, WRIT_E_NOMEM
 */
WRIT_RESULT writ_learn_propose(const struct writ_learn *learn, const struct writ_learn_tool *tool,
    uint64_t least, uint64_t per_mille, struct writ_arena *arena, struct writ_learned *ret,
    struct writ_err *err);

#endif
