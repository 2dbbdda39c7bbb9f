/* crew.h - a deterministic crew machine: roles and agents, phases, votes, fixers, nested crews.
 *
 * A crew is a synchronous state machine: events go in, events come out. It performs no I/O, starts
 * no threads or timers, reads only the clock that it gets and draws no random numbers. The same
 * shape, agents, options, clock readings and events give the same events, byte for byte.
 *
 * Values (inputs, outputs, tasks, memory items) are JSON texts. Input is read strictly (duplicate
 * members, invalid UTF-8 and trailing bytes are refused); output is canonical: no white space,
 * members in the order of UTF-16 code units, numbers as ECMAScript prints the nearest double. An
 * absent value is not null: it is a view whose `ptr` is NULL.
 *
 * The order of use: read a shape and an agents file, lint, build the graph, open a session, start
 * it; then deliver the answers of the agents, and tick with the time.
 *
 * Ownership: the object of a `_read`, `_build` or `_new` is freed by its `_free`, and `_free(NULL)`
 * does nothing. A graph borrows its shapes and engines, a session its graph, clock, hooks, memory
 * and limits, until it is freed. One thread at a time may use an object; shapes, agents and graphs
 * never change and may be shared. Nothing blocks. */
#ifndef WRIT_CREW_H
#define WRIT_CREW_H

#include "writ/types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- errors */

/** X(NAME, text): why a call failed, in a word for machines. */
/* clang-format off */
#define WRIT_CREW_ERRORS(X)                                                                        \
    X(NONE, "none")                                                                                \
    X(MALFORMED, "malformed")                          /* not JSON, or not of the expected form */ \
    X(SCHEMA, "schema")                                /* see the findings */                      \
    X(NAME_MISMATCH, "name_mismatch")                  /* shape and agents file differ */          \
    X(CYCLIC_NESTED_CREW, "cyclic_nested_crew")                                                    \
    X(LINT_FAILED, "lint_failed")                                                                  \
    X(UNKNOWN_ROLE, "unknown_role")                    /* the agents file names it */              \
    X(UNKNOWN_NESTED_CREW, "unknown_nested_crew")      /* the registry lacks it */                 \
    X(EXCEEDS_MAX_ALLOWED, "exceeds_max_allowed")                                                  \
    X(LIMIT_EXCEEDED, "limit_exceeded")                /* of struct writ_crew_limits */            \
    X(CANNOT_START, "cannot_start")                    /* the session is not idle */               \
    X(NOT_IMPLEMENTED, "not_implemented")              /* a vote that cannot be counted */         \
    X(NON_FINITE, "non_finite")                        /* a number beyond the doubles */           \
    X(CREW_ID_MISMATCH, "crew_id_mismatch")            /* the snapshot is another crew's */        \
    X(CANNOT_RESTORE_NESTED, "cannot_restore_nested")                                              \
    X(RESUME_UNRESOLVED, "resume_unresolved")          /* steps are pending, and policy is abort */\
    X(UNKNOWN_ENGINE, "unknown_engine")                                                            \
    X(INVALID_BALLOT, "invalid_ballot")                /* a ranking that an engine refuses */      \
    X(DUPLICATE_ROLE, "duplicate_role")                                                            \
    X(NO_QUORUM, "no_quorum")                                                                      \
    X(BROKEN, "broken")                                /* an earlier call ran out of memory */     \
    X(NO_MEMORY, "no_memory")
/* clang-format on */

enum writ_crew_error {
#define WRIT_CREW_ERROR_ENUM(name, text) WRIT_CREW_##name,
    WRIT_CREW_ERRORS(WRIT_CREW_ERROR_ENUM)
#undef WRIT_CREW_ERROR_ENUM
};

/** Zero-initialise before use; every parameter of this type may be NULL. */
struct writ_crew_err {
    enum writ_crew_error error;
    struct writ_err err; /* for people; never holds a value of the crew */
};

/** "name_mismatch". Static storage. */
const char *writ_crew_error_name(enum writ_crew_error error);

/** One error in a shape or agents file, or one doubt. */
struct writ_crew_finding {
    const char *code;      /* "invalid_type", "duplicate_role": static storage */
    struct writ_view path; /* schema: a JSON Pointer; lint: "role.permissions.talk_to" */
};

/** Findings in the order in which they are made. */
struct writ_crew_findings;
struct writ_crew_findings *writ_crew_findings_new(void);
void writ_crew_findings_free(struct writ_crew_findings *findings);
size_t writ_crew_findings_count(const struct writ_crew_findings *findings);
/** Borrowed until the findings are freed; `at` is below the count. */
const struct writ_crew_finding *writ_crew_findings_at(
    const struct writ_crew_findings *findings, size_t at);

/* ---- limits
 *
 * Each value is still accepted; what is beyond gives WRIT_E_LIMIT with LIMIT_EXCEEDED, if nothing
 * else is said. Those of the table can be set, the others are fixed. */

/** X(name, default, the amount that it limits) */
/* clang-format off */
#define WRIT_CREW_LIMITS(X)                                                                        \
    X(text_bytes,       16 << 20,    "bytes of a shape or an agents file")                         \
    X(event_bytes,      1 << 20,     "bytes of one value or event that is handed in")              \
    X(snapshot_bytes,   512 << 20,   "bytes of a snapshot that is resumed")                        \
    X(crew_roles,       100 * 1000,  "roles of a crew and all that it nests")                      \
    X(role_agents,      100 * 1000,  "agents of one role; no more than WRIT_CREW_BALLOTS_MAX")     \
    X(crew_agents,      1000 * 1000, "agents of a crew and all that it nests")                     \
    X(nesting,          16,          "crews inside each other; 1: none are nested")                \
    X(phase_fixers,     100 * 1000,  "fixers invoked in one phase; then faults stand")             \
    X(action_recursion, 16,          "requested actions inside the hooks of each other; then they " \
                                     "are denied and nothing follows")
/* clang-format on */

/** Start from writ_crew_limits_default. */
struct writ_crew_limits {
#define WRIT_CREW_LIMIT_MEMBER(name, value, what) size_t name;
    WRIT_CREW_LIMITS(WRIT_CREW_LIMIT_MEMBER)
#undef WRIT_CREW_LIMIT_MEMBER
};

extern const struct writ_crew_limits writ_crew_limits_default;

/** Nested objects and arrays in a text that a caller passes in. A snapshot, which contains such
 * values, may be deeper. */
#define WRIT_CREW_DEPTH_MAX 256

#define WRIT_CREW_VOTING_MAX      (1 << 20)  /* bytes of a voting object that is read by itself */
#define WRIT_CREW_WEIGHT_MAX      1000000000 /* weight of one voter; beyond: a fault, too_big */
#define WRIT_CREW_BALLOTS_MAX     1000000    /* entries of a vote, rankings of an election */
#define WRIT_CREW_CANDIDATES_MAX  10000      /* of an election; more is not a ranking */
#define WRIT_CREW_WHY_MAX         (1 << 20)  /* bytes of an explanation; then no line is added */
#define WRIT_CREW_ENGINE_NAME_MAX 64         /* bytes; beyond: WRIT_E_INVALID */
#define WRIT_CREW_OPTIONS_MAX     1000       /* roles in a prompt, agents of a dispatch */
#define WRIT_CREW_DESCRIPTION_MAX 2000       /* characters of a task; a prompt shows no more */
#define WRIT_CREW_PROMPT_MAX      (16 << 20) /* bytes of a prompt */
#define WRIT_CREW_ANSWER_MAX      (1 << 20)  /* bytes of an answer to the prompt */
#define WRIT_CREW_ITEMS_MAX       100000     /* items of the reference memory, at most */
#define WRIT_CREW_ITEM_MAX        (4 << 20)  /* bytes of an item; a larger one is not added */
#define WRIT_CREW_TAGS_MAX        1000       /* tags of an insight */
#define WRIT_CREW_POOL_BYTES_MAX  (64 << 20) /* bytes of all insights of a pool */
#define WRIT_CREW_FOUND_MAX       1000       /* insights in an answer of a pool */
#define WRIT_CREW_FOUND_BYTES_MAX (1 << 20)  /* bytes of them; the rest is counted as `more` */
#define WRIT_CREW_SUBSCRIBED_MAX  1000       /* subscriptions of a pool */

/* ---- shapes and agents */

struct writ_crew_shape;
struct writ_crew_agents;
struct writ_crew_graph;
struct writ_crew_engines;

/**
 * Reads a shape.
 *
 * @param json    borrowed for the call
 * @param limits  NULL: the defaults
 * @param faults  gets every fault, with a JSON Pointer and a kind; may be NULL
 * @param ret     written only on success; free with writ_crew_shape_free
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not JSON
 *         WRIT_E_INVALID  JSON, but not a shape: see `faults`
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_shape_read(struct writ_view json, const struct writ_crew_limits *limits,
    struct writ_crew_findings *faults, struct writ_crew_shape **ret, struct writ_crew_err *err);
/** As writ_crew_shape_read, where the names of these engines are modes of voting too. */
WRIT_RESULT writ_crew_shape_read_with(struct writ_view json,
    const struct writ_crew_engines *engines, const struct writ_crew_limits *limits,
    struct writ_crew_findings *faults, struct writ_crew_shape **ret, struct writ_crew_err *err);
void writ_crew_shape_free(struct writ_crew_shape *shape);
/** Borrowed until the shape is freed. */
struct writ_view writ_crew_shape_name(const struct writ_crew_shape *shape);

/** The same for an agents file. */
WRIT_RESULT writ_crew_agents_read(struct writ_view json, const struct writ_crew_limits *limits,
    struct writ_crew_findings *faults, struct writ_crew_agents **ret, struct writ_crew_err *err);
void writ_crew_agents_free(struct writ_crew_agents *agents);

/**
 * Finds mistakes in a well-formed shape.
 *
 * @param engines   the known voting engines; NULL: the built-in ones
 * @param errors    gets the faults that prevent a crew from running
 * @param warnings  gets the doubts
 *
 * @return WRIT_OK, also with findings; WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_shape_lint(const struct writ_crew_shape *shape,
    const struct writ_crew_engines *engines, struct writ_crew_findings *errors,
    struct writ_crew_findings *warnings);

/** Finds the members of a shape that are read and have no effect (code "no_effect"). WRIT_OK, also
 * with findings; WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_shape_doubts(
    const struct writ_crew_shape *shape, struct writ_crew_findings *warnings);

/** A shape that other shapes may nest under this key. */
struct writ_crew_registered {
    struct writ_view key;
    const struct writ_crew_shape *shape;
};

/** The parts of a graph. */
struct writ_crew_plan {
    const struct writ_crew_shape *shape;
    const struct writ_crew_agents *agents;
    const struct writ_crew_registered *registry; /* may be NULL with n 0 */
    size_t registry_n;
    const struct writ_crew_engines *engines; /* NULL: the built-in ones */
    const struct writ_crew_limits *limits;   /* NULL: the defaults */
    bool consensual;                         /* whatever the shape says */
    struct writ_view consensus;              /* the engine that elects; absent: as the shape says */
};

/**
 * The agents of a crew, nested crews included.
 *
 * @param plan  borrowed; its shapes and engines until the graph is freed, the rest for the call
 * @param ret   written only on success; free with writ_crew_graph_free
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  err->error is one of NAME_MISMATCH, CYCLIC_NESTED_CREW, LINT_FAILED,
 *                         UNKNOWN_ROLE, UNKNOWN_NESTED_CREW, EXCEEDS_MAX_ALLOWED; in a consensual
 *                         crew also DUPLICATE_ROLE, UNKNOWN_ENGINE
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_graph_build(
    const struct writ_crew_plan *plan, struct writ_crew_graph **ret, struct writ_crew_err *err);
void writ_crew_graph_free(struct writ_crew_graph *graph);
struct writ_view writ_crew_graph_name(const struct writ_crew_graph *graph);

/** An agent, as the graph lists it. */
struct writ_crew_agent {
    struct writ_view id, role;
    const struct writ_crew_graph *nested; /* NULL: an ordinary agent */
};

size_t writ_crew_graph_count(const struct writ_crew_graph *graph);
/** `at` is below the count; views are borrowed until the graph is freed. */
struct writ_crew_agent writ_crew_graph_agent(const struct writ_crew_graph *graph, size_t at);

/** The requests of an agent to another one. */
enum writ_crew_action {
    WRIT_CREW_TALK_TO,
    WRIT_CREW_DELEGATE_TO,
    WRIT_CREW_ESCALATE_TO,
};

/** "talk_to". Static storage. */
const char *writ_crew_action_name(enum writ_crew_action action);
/** True when `text` names an action; `ret` is then written. */
bool writ_crew_action_read(struct writ_view text, enum writ_crew_action *ret);
/** True when both agents exist and the role of `to` is in that list of `from`'s role. */
bool writ_crew_graph_allows(const struct writ_crew_graph *graph, struct writ_view from,
    struct writ_view to, enum writ_crew_action action);

/* ---- values */

/** A JSON value as its canonical text; shared, never changed. */
struct writ_crew_value;

/** Reads a value. `ret` is freed with writ_crew_value_free. WRIT_E_PARSE (MALFORMED or NON_FINITE),
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_value_read(struct writ_view json, const struct writ_crew_limits *limits,
    struct writ_crew_value **ret, struct writ_crew_err *err);
/** Adds an owner; NULL stays NULL. */
struct writ_crew_value *writ_crew_value_ref(struct writ_crew_value *value);
void writ_crew_value_free(struct writ_crew_value *value);
/** Its canonical text, borrowed until it is freed; absent for NULL. */
struct writ_view writ_crew_value_text(const struct writ_crew_value *value);

/** 64-bit FNV-1a over UTF-16 code units of UTF-8 text, as 16 lower-case hex digits. Not
 * NUL-terminated. */
void writ_crew_hash(struct writ_view text, char ret[16]);
/** The correlation id of a request: the hash of {agentId, attempt, crewId, roleId}. WRIT_E_NOMEM.
 */
WRIT_RESULT writ_crew_correlation(struct writ_view crew_id, struct writ_view role_id,
    struct writ_view agent_id, double attempt, char ret[16]);

/** Text that the library allocated. Wipe to free. */
struct writ_crew_text {
    char *ptr; /* NUL-terminated after its end */
    size_t len;
};
void writ_crew_text_wipe(struct writ_crew_text *text);

/* ---- voting */

/** One entry of a vote: the answer of an agent. */
struct writ_crew_entry {
    struct writ_view agent_id, role_id;
    struct writ_view output; /* canonical JSON; absent: no output */
    bool fault, stalled;     /* with either one the entry is not valid */
};

/** How a crew votes: a mode and its parameters, as in a shape's `execution.voting`. */
struct writ_crew_voting;

/** Reads a voting object, or a string that names a mode. WRIT_E_PARSE, WRIT_E_INVALID (see
 * `faults`), WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_voting_read(struct writ_view json, struct writ_crew_findings *faults,
    struct writ_crew_voting **ret, struct writ_crew_err *err);
/** As writ_crew_voting_read, where the names of these engines are modes too. */
WRIT_RESULT writ_crew_voting_read_with(struct writ_view json,
    const struct writ_crew_engines *engines, struct writ_crew_findings *faults,
    struct writ_crew_voting **ret, struct writ_crew_err *err);
void writ_crew_voting_free(struct writ_crew_voting *voting);

/** The result of a vote. Zero-initialise; wipe to free. */
struct writ_crew_verdict {
    bool resolved;                 /* false: no value */
    struct writ_crew_value *value; /* owned; NULL with `resolved`: the absent output won */
    struct writ_crew_text why;     /* for people: tallies, ties, excluded entries with the reason;
                                      owned */
};
void writ_crew_verdict_wipe(struct writ_crew_verdict *verdict);

/**
 * Counts a vote.
 *
 * @param entries     in the order of the agents; borrowed for the call
 * @param electorate  the number of possible voters, on which a quorum is counted; at least n
 * @param engines     NULL: the built-in ones
 * @param ret         written only on success
 *
 * @return WRIT_OK, also when nothing was resolved
 *         WRIT_E_INVALID  NOT_IMPLEMENTED, UNKNOWN_ENGINE (the error lists the known ones),
 *                         INVALID_BALLOT (an engine refuses, or there are too many candidates)
 *         WRIT_E_LIMIT    more than WRIT_CREW_BALLOTS_MAX entries
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_vote(const struct writ_crew_voting *voting,
    const struct writ_crew_engines *engines, const struct writ_crew_entry *entries, size_t n,
    size_t electorate, struct writ_crew_verdict *ret, struct writ_crew_err *err);

/* ---- engines of others */

#define WRIT_CREW_ENGINE_ABI 1
/** A plug-in exports one object of type struct writ_crew_engine under this name. */
#define WRIT_CREW_ENGINE_SYMBOL "writ_crew_engine"

/** A ballot in the form that an engine gets. */
struct writ_crew_ballot {
    struct writ_view agent_id, role_id;
    struct writ_view output;         /* canonical JSON; absent: none */
    const struct writ_view *ranking; /* the output as names, best first; NULL: not an array of
                                        different strings, or too many */
    size_t ranking_n;
};

/** The input of an engine: the valid entries of a vote, and the candidates that they rank. */
struct writ_crew_poll {
    const struct writ_crew_ballot *ballots; /* at least one */
    size_t ballots_n;
    const struct writ_view *candidates; /* in a fixed order; of rankings alone */
    size_t candidates_n;
};

/** Takes the result of an engine. */
struct writ_crew_tally {
    /** The value of this ballot wins. */
    void (*ballot)(struct writ_crew_tally *tally, size_t ballot);
    /** This candidate wins: the resolved value is its name. */
    void (*candidate)(struct writ_crew_tally *tally, size_t candidate);
    /** Adds a line to the explanation. */
    void (*explain)(struct writ_crew_tally *tally, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
};

/** A voting engine. Stateless and deterministic; called from any thread. It gets everything that it
 * needs, so that a plug-in links nothing. */
struct writ_crew_engine {
    uint32_t abi;     /* WRIT_CREW_ENGINE_ABI */
    const char *name; /* a mode of voting: letters, digits, '_', '-' and '.' */
    const char *about;
    /** Counts. Calls tally->ballot or tally->candidate; neither means no value. Returns 0; another
     * value means that it refuses these ballots, with the reason in the explanation.
     */
    int (*count)(const struct writ_crew_poll *poll, struct writ_crew_tally *tally);
};

/** The engines by name: the built-in ones, and added ones. NULL when memory is exhausted. */
struct writ_crew_engines *writ_crew_engines_new(void);
void writ_crew_engines_free(struct writ_crew_engines *engines);
/** Adds one, borrowed until `engines` is freed. It replaces one of the same name, and `replaced`
 * (may be NULL) says so. WRIT_E_INVALID (another ABI, a name with other characters), WRIT_E_NOMEM.
 */
WRIT_RESULT writ_crew_engines_add(struct writ_crew_engines *engines,
    const struct writ_crew_engine *engine, bool *replaced, struct writ_crew_err *err);

/* ---- rankings, and choosing a handler by them */

/** The preference of one voter: candidates, best first. */
struct writ_crew_ranking {
    struct writ_view voter;
    const struct writ_view *list;
    size_t n;
};

/**
 * Elects one of the candidates.
 *
 * @param engine      "majority" (first places; tie: the earliest candidate), "borda" (tie: by
 *                    name), "first_valid", "unanimous", "weighted_consensus" (of the first places),
 *                    or the name of an added engine
 * @param candidates  in the order in which `majority` decides ties
 * @param ret         index of the winner; written only on success
 * @param why         NULL, or gets the explanation; wipe it
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  UNKNOWN_ENGINE (the error lists the known names; an empty name has its
 *                         own text), INVALID_BALLOT (no rankings; an empty one, or one with unknown
 *                         entries, which are named), NOT_IMPLEMENTED (the engine elects none).
 *                         Checked in this order
 *         WRIT_E_LIMIT    too many candidates or rankings
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_elect(struct writ_view engine, const struct writ_crew_engines *engines,
    const struct writ_view *candidates, size_t candidates_n,
    const struct writ_crew_ranking *rankings, size_t rankings_n, size_t *ret,
    struct writ_crew_text *why, struct writ_crew_err *err);

/** The prompt that asks for a ranking of `options` for a task. The description is fenced, cut and
 * escaped, so that nothing in it ends the fence. WRIT_E_LIMIT (options, or bytes of the prompt),
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_prompt(struct writ_view description, const struct writ_view *options,
    size_t n, struct writ_crew_text *ret);

/** Reads a ranking of all options from the answer of a model: the first array without arrays in it,
 * or else the order in which the options are first named. `ret` gets n indexes, best first.
 * WRIT_E_PARSE: no ranking found; WRIT_E_LIMIT (options, or bytes of the answer), WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_prompt_parse(
    struct writ_view answer, const struct writ_view *options, size_t n, size_t *ret);

/**
 * Chooses the handler of a task: every agent ranks the others, and comes last itself. A tie goes to
 * the earliest of `roles`, with borda too.
 *
 * @param roles    of the agents, all different
 * @param answers  the answer of each agent to the prompt with the others, in the same order;
 *                 absent: it failed
 * @param engine   as for writ_crew_elect; empty: "majority"
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  DUPLICATE_ROLE, NO_QUORUM (less than half of the answers can be read),
 *                         and the errors of writ_crew_elect
 *         WRIT_E_LIMIT    too many agents; an answer that is too long counts as unreadable
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_dispatch(const struct writ_view *roles, const struct writ_view *answers,
    size_t n, struct writ_view engine, const struct writ_crew_engines *engines, size_t *ret,
    struct writ_crew_text *why, struct writ_crew_err *err);

/* ---- memory */

/** The agent for which memory is read or changed. */
struct writ_crew_scope {
    struct writ_view agent_id, crew_id, role_id;
    struct writ_view view; /* of a retrieval: "self", "role", "crew" or "all" */
};

/** A crew's memory, as a table of functions. Values that they return are new, free with
 * writ_crew_value_free. A failure breaks the session. */
struct writ_crew_memory_ops {
    writ_result (*retrieve)(void *self, const struct writ_crew_scope *scope,
        struct writ_view options, struct writ_crew_value **ret);
    writ_result (*apply)(void *self, const struct writ_crew_scope *scope, struct writ_view command);
    /** A deep copy for the crew `crew_id`; free with `free`. */
    writ_result (*fork)(void *self, struct writ_view crew_id, void **ret);
    /** Adds the items of `other` (a fork of `self`) whose id is missing. */
    writ_result (*import)(void *self, void *other);
    writ_result (*snapshot)(void *self, struct writ_crew_value **ret);
    /** A new memory for `crew_id` with the content of a snapshot. */
    writ_result (*restore)(
        void *self, struct writ_view snapshot, struct writ_view crew_id, void **ret);
    void (*free)(void *self);
};

struct writ_crew_memory {
    const struct writ_crew_memory_ops *ops;
    void *self;
};

/** The reference memory: an ordered list of items. Free with memory.ops->free(memory.self). No
 * command of an agent makes it fail: a command that would add an item to a full memory, or make one
 * too large, changes nothing. WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_memory_new(struct writ_view crew_id, struct writ_crew_memory *ret);

/* ---- sessions */

struct writ_crew_session;
struct writ_crew_control;

/** The time, in the unit of the timeouts (milliseconds). A finite number. */
struct writ_crew_clock {
    double (*now)(void *user);
    void *user;
};

/** The arguments of a hook. Absent: `ptr` is NULL, or -1. */
struct writ_crew_hook {
    struct writ_view name;  /* as in the shape */
    struct writ_view stage; /* "before_role" */
    struct writ_view crew_id, role_id;
    struct writ_view agent_id, input, output;
    int fault, stalled;
};

/** The hooks of a crew: one function that selects by name and ignores unknown names. It must not
 * touch the session except by `control`, which is valid during the call. */
struct writ_crew_hooks {
    void (*call)(void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control);
    void *user;
};

/** Emits checkpoint.taken at this point. Does nothing for an id that is not UTF-8. */
void writ_crew_control_checkpoint(struct writ_crew_control *control, struct writ_view id);
/** As writ_crew_session_request, with its events at this point. A request that is nested too
 * deeply, or has ids that are not UTF-8, is denied without any event. */
bool writ_crew_control_request(struct writ_crew_control *control, struct writ_view from,
    struct writ_view to, enum writ_crew_action action);

/** The options of a session. Zero-initialise, then set at least crew_id, graph and clock. */
struct writ_crew_options {
    struct writ_view crew_id; /* unique among the caller's crews; copied */
    const struct writ_crew_graph *graph;
    struct writ_crew_clock clock;
    const struct writ_crew_hooks *hooks;   /* NULL: none */
    const struct writ_crew_memory *memory; /* NULL: none */
    const struct writ_crew_limits *limits; /* NULL: the defaults */
    bool has_default_timeout;
    double default_timeout_ms; /* of roles without one; 0 expires at once */
    bool auto_checkpoint;      /* one after each phase */
};

/** Events in canonical form, in order; borrowed until the next call with the session. */
struct writ_crew_events {
    const struct writ_view *list;
    size_t n;
};

enum writ_crew_status {
    WRIT_CREW_IDLE,
    WRIT_CREW_AWAITING_RESPONSES,
    WRIT_CREW_COMPLETED,
    WRIT_CREW_ABORTED,
};

/** "awaiting_responses". Static storage. */
const char *writ_crew_status_name(enum writ_crew_status status);

/* All functions below return WRIT_E_INVALID with BROKEN after a call that ran out of memory, or
 * whose memory failed, half way: resume from the last snapshot. Any other error changes nothing. */

/** WRIT_E_INVALID: a crew_id that is empty or not UTF-8. WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_session_new(const struct writ_crew_options *options,
    struct writ_crew_session **ret, struct writ_crew_err *err);
void writ_crew_session_free(struct writ_crew_session *session);
enum writ_crew_status writ_crew_session_status(const struct writ_crew_session *session);

/** Begins. `input` and `task` are JSON or absent. WRIT_E_INVALID (CANNOT_START), WRIT_E_PARSE,
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_session_start(struct writ_crew_session *session, struct writ_view input,
    struct writ_view task, struct writ_crew_events *ret, struct writ_crew_err *err);

/** Takes one inbound event. A late, unknown or duplicate one gives no events. WRIT_E_PARSE: not a
 * JSON object. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_session_deliver(struct writ_crew_session *session, struct writ_view event,
    struct writ_crew_events *ret, struct writ_crew_err *err);

/** Expires the steps that are due at `now`, in nested crews too. WRIT_E_INVALID: not finite. */
WRIT_RESULT writ_crew_session_tick(struct writ_crew_session *session, double now,
    struct writ_crew_events *ret, struct writ_crew_err *err);

/** Why a crew ended before its last phase. */
enum writ_crew_abort {
    WRIT_CREW_CANCELLED,
    WRIT_CREW_TIMEOUT,
    WRIT_CREW_UNDECIDED, /* a consensual crew elected no candidate */
};

/** Ends a session that has not ended. */
WRIT_RESULT writ_crew_session_cancel(struct writ_crew_session *session, enum writ_crew_abort reason,
    struct writ_crew_events *ret, struct writ_crew_err *err);

/** Requests permission for an agent to do something with another one; a denial is an event and may
 * invoke a fixer. WRIT_E_INVALID: an id that is not UTF-8 (MALFORMED). */
WRIT_RESULT writ_crew_session_request(struct writ_crew_session *session, struct writ_view from,
    struct writ_view to, enum writ_crew_action action, bool *ret_allowed,
    struct writ_crew_events *ret, struct writ_crew_err *err);

/** As writ_crew_session_request, by the agent of an open step, in a nested crew too: who answers
 * for the step speaks for its agent and for no other. WRIT_E_ABSENT: no step with this id is open.
 */
WRIT_RESULT writ_crew_session_act(struct writ_crew_session *session,
    struct writ_view correlation_id, struct writ_view to, enum writ_crew_action action,
    bool *ret_allowed, struct writ_crew_events *ret, struct writ_crew_err *err);

/** The requests without an answer, as canonical objects. */
WRIT_RESULT writ_crew_session_pending(
    struct writ_crew_session *session, struct writ_crew_events *ret, struct writ_crew_err *err);

/** The complete state of a session. `ret` is freed with writ_crew_value_free. */
WRIT_RESULT writ_crew_session_snapshot(
    struct writ_crew_session *session, struct writ_crew_value **ret, struct writ_crew_err *err);

/** How to resume unanswered steps. */
enum writ_crew_resume {
    WRIT_CREW_RESUME_ABORT, /* refuse: RESUME_UNRESOLVED */
    WRIT_CREW_RESUME_RE_EMIT,
    WRIT_CREW_RESUME_TREAT_AS_FAILED,
};

/**
 * Makes a session that continues from a snapshot.
 *
 * @param snapshot  from writ_crew_session_snapshot, possibly from storage
 * @param later     inbound events since then, in order; delivered before `policy` applies
 * @param ret       written only on success
 * @param events    of the deliveries and the policy; borrowed until the next call with `*ret`
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not a snapshot (MALFORMED)
 *         WRIT_E_INVALID  CREW_ID_MISMATCH, CANNOT_RESTORE_NESTED, RESUME_UNRESOLVED
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_crew_session_resume(const struct writ_crew_options *options,
    struct writ_view snapshot, const struct writ_view *later, size_t later_n,
    enum writ_crew_resume policy, struct writ_crew_session **ret, struct writ_crew_events *events,
    struct writ_crew_err *err);

/* ---- checkpoints */

/** Snapshots by id, in memory, in the order in which the ids were added. */
struct writ_crew_checkpoints;
struct writ_crew_checkpoints *writ_crew_checkpoints_new(void);
void writ_crew_checkpoints_free(struct writ_crew_checkpoints *store);
/** Keeps a snapshot (adds an owner); it replaces one of the same id in its place. WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_checkpoints_put(
    struct writ_crew_checkpoints *store, struct writ_view id, struct writ_crew_value *snapshot);
/** Borrowed, or NULL. */
struct writ_crew_value *writ_crew_checkpoints_get(
    const struct writ_crew_checkpoints *store, struct writ_view id);
/** False when there is none. */
bool writ_crew_checkpoints_delete(struct writ_crew_checkpoints *store, struct writ_view id);
size_t writ_crew_checkpoints_count(const struct writ_crew_checkpoints *store);
/** `at` is below the count; borrowed until it is deleted. */
struct writ_view writ_crew_checkpoints_id(const struct writ_crew_checkpoints *store, size_t at);

/* ---- a memory that agents share */

/** A finding of one agent for others to use. Views are copied. */
struct writ_crew_insight {
    struct writ_view agent_id;
    struct writ_view content;  /* text */
    struct writ_view segment;  /* a part of the pool: "design", "risks"; may be empty */
    struct writ_view metadata; /* JSON; absent: none */
    const struct writ_view *tags;
    size_t tags_n;
    double importance; /* finite */
    struct writ_view
        key; /* absent: none; an agent adds one insight of a key, whatever it repeats */
};

/** Which insights to read. Zeroed: all of them. */
struct writ_crew_filter {
    const struct writ_view *any_tags, *all_tags;
    size_t any_tags_n, all_tags_n;
    struct writ_view segment;   /* absent: all */
    struct writ_view agent_id;  /* absent: all */
    struct writ_view not_agent; /* absent: no agent's are left out */
    bool has_least;
    double least_importance;
    size_t limit; /* 0: no limit */
};

/** Insights, in the order in which they were added. */
struct writ_crew_pool;

/** An empty pool for at most `max` insights. NULL when memory is exhausted. */
struct writ_crew_pool *writ_crew_pool_new(size_t max);
void writ_crew_pool_free(struct writ_crew_pool *pool);

/** Adds an insight, unless the agent has added one with its key. WRIT_E_INVALID (metadata that is
 * not JSON, text that is not UTF-8, an importance that is not finite), WRIT_E_LIMIT (the pool is
 * full, too many tags, too long metadata), WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_pool_add(struct writ_crew_pool *pool, const struct writ_crew_insight *insight,
    struct writ_crew_err *err);

/** The insights that a filter admits, the most important first and the oldest first among equals,
 * as a JSON array of {agentId, content, importance, metadata?, segment, tags}. `ret` is freed with
 * writ_crew_value_free. WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_pool_read(const struct writ_crew_pool *pool,
    const struct writ_crew_filter *filter, struct writ_crew_value **ret);

/** {agents: {id: count}, averageImportance, insights, segments: {name: count}, tags: {tag: count}}.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_crew_pool_statistics(
    const struct writ_crew_pool *pool, struct writ_crew_value **ret);

/** Takes an insight, in the form of writ_crew_pool_read, for an agent that subscribed to it. Both
 * borrowed for the call. */
struct writ_crew_pool_reader {
    void (*take)(void *user, struct writ_view agent_id, struct writ_view insight);
    void *user;
};

/**
 * Does what an agent requests in JSON, so that a process or a hook can use the pool. The caller has
 * authenticated the agent.
 *
 *   {"type":"pool.put","content":TEXT,"tags"?:[...],"segment"?,"importance"?:0.5,"metadata"?,"key"?}
 *       gives {"added":true,"insight":its number}, counted from 1
 *   {"type":"pool.search","anyTags"?,"allTags"?,"segment"?,"agentId"?,"notAgent"?,"importance"?: at
 *       least,"limit"?:100} gives {"insights":[...],"more": how many were left out}
 *   {"type":"pool.statistics"} gives {"statistics":{...}}
 *   {"type":"pool.subscribe", members of a search without limit} gives {"subscriptions":n}
 *   {"type":"pool.unsubscribe"} ends those of the agent
 *
 * The members correlationId and id are the caller's; an unknown one is refused, because a misspelt
 * filter would find everything.
 *
 * @param agent_id  the agent, which an insight is credited to
 * @param request   a JSON object; borrowed for the call
 * @param reader    gets what a put adds, for each other agent that subscribed; may be NULL
 * @param ret       new; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not JSON
 *         WRIT_E_INVALID  a type, a member or a value that is not one of these (SCHEMA)
 *         WRIT_E_LIMIT    as writ_crew_pool_add; too many subscriptions
 *         WRIT_E_NOMEM
 *         After a failure, but WRIT_E_NOMEM, the pool is as before.
 */
WRIT_RESULT writ_crew_pool_request(struct writ_crew_pool *pool, struct writ_view agent_id,
    struct writ_view request, const struct writ_crew_pool_reader *reader,
    struct writ_crew_value **ret, struct writ_crew_err *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
