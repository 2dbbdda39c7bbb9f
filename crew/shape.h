/* shape.h - a shape and an agents file, as read. Views live in the arena of their owner. */
#ifndef WRIT_CREW_SHAPE_H
#define WRIT_CREW_SHAPE_H

#include "crew/value.h"
#include "crew/voting.h"

/** X(NAME, text): the stages at which a role may have a hook. */
#define WRIT_SHAPE_HOOKS(X)                                                                        \
    X(BEFORE_ROLE, "before_role")                                                                  \
    X(AFTER_ROLE, "after_role")                                                                    \
    X(BEFORE_AGENT, "before_agent")                                                                \
    X(AFTER_AGENT, "after_agent")                                                                  \
    X(ON_FAULT, "on_fault")                                                                        \
    X(ON_STALL, "on_stall")                                                                        \
    X(ON_TIMEOUT, "on_timeout")                                                                    \
    X(ON_PERMISSION_DENIED, "on_permission_denied")                                                \
    X(ON_CHECKPOINT, "on_checkpoint")

enum writ_shape_hook {
#define HOOK_ENUM(name, text) WRIT_SHAPE_##name,
    WRIT_SHAPE_HOOKS(HOOK_ENUM)
#undef HOOK_ENUM
        WRIT_SHAPE_HOOKS_N,
};

/** X(NAME, activation flag, reason): the reasons to invoke a fixer. */
#define WRIT_SHAPE_REASONS(X)                                                                      \
    X(FAULT, "on_fault", "fault")                                                                  \
    X(STALL, "on_stall", "stall")                                                                  \
    X(TIMEOUT, "on_timeout", "timeout")                                                            \
    X(PERMISSION_DENIED, "on_permission_denied", "permission_denied")

enum writ_shape_reason {
#define REASON_ENUM(name, flag, text) WRIT_SHAPE_REASON_##name,
    WRIT_SHAPE_REASONS(REASON_ENUM)
#undef REASON_ENUM
        WRIT_SHAPE_REASONS_N,
};

/** A role of a shape. */
struct writ_shape_role {
    struct writ_view name;
    struct writ_view description, system_prompt; /* absent: ptr NULL */
    bool thinking_allowed;
    bool has_tools;
    struct writ_scan_texts tools;
    struct writ_view model;
    struct writ_scan_texts lists[3];           /* by enum writ_crew_action */
    struct writ_scan_texts invite;             /* the roles alone; checked, without effect */
    bool modify_structure, delegation, serial; /* given, and without effect */
    double amount, max_allowed;                /* -1: absent */
    bool activation, activates[WRIT_SHAPE_REASONS_N];
    bool first_input, final_output;
    struct writ_view nested_crew; /* empty: none */
    struct writ_view hooks[WRIT_SHAPE_HOOKS_N];
    bool has_voting;
    struct writ_crew_voting voting; /* without one: first_valid */
    struct writ_scan_texts checkpoints;
    double timeout_ms; /* -1: absent */
    bool memex;        /* memory is to be sampled */
    struct writ_view memex_view;
    bool memex_hard;
    struct writ_crew_value *retrieval; /* owned */
};

struct writ_crew_shape {
    struct writ_arena *arena;
    struct writ_view name;
    bool consensual;            /* process: the agents choose who does a task */
    struct writ_view consensus; /* the engine that elects; absent: ptr NULL */
    struct writ_shape_role *roles;
    size_t roles_n;
    struct writ_names names; /* of the roles */
};

/** One entry of an agents file. */
struct writ_shape_agents {
    struct writ_view role;
    double amount;
    struct writ_view system_prompt; /* absent: ptr NULL */
};

struct writ_crew_agents {
    struct writ_arena *arena;
    struct writ_view name;
    struct writ_shape_agents *list;
    size_t n;
};

/** The first role of this name, or roles_n. */
size_t writ_shape_find(const struct writ_crew_shape *shape, struct writ_view name);

/** "before_role". Static storage. */
const char *writ_shape_hook_name(enum writ_shape_hook hook);

#endif
