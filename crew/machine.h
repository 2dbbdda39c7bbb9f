/* machine.h - one running crew inside a session. Nested crews are machines inside machines; they
 * share one event writer.
 *
 * Here are its parts and their bookkeeping; phase.h runs it, event.h writes its events. */
#ifndef WRIT_CREW_MACHINE_H
#define WRIT_CREW_MACHINE_H

#include "crew/correlation.h"
#include "crew/event_writer.h"
#include "crew/graph.h"
#include "crew/idmap.h"

/** A request to an agent, from its phase's begin to its end. */
struct writ_step {
    uint64_t id;
    size_t agent;
    size_t replaced; /* of a fixer: the slot that its answer takes; else WRIT_GRAPH_NONE */
    double ts;
    double timeout_ms;             /* below 0: none */
    struct writ_crew_value *input; /* owned, as the next two; freed when the step is done */
    struct writ_crew_value *memex;
    struct writ_crew_value *role;
    bool done;
};

/** The content of a slot: an agent's answer, or the one of the fixer that replaced it. */
struct writ_output {
    size_t slot;
    struct writ_crew_value *output;
    bool fault, has_stalled, stalled;
};

/** The contents of a terminal event. */
struct writ_terminal {
    struct writ_crew_value *output; /* borrowed */
    bool fault, stalled, timed_out;
    const struct writ_json *commands; /* an array, or NULL */
};

/** The phase that is running. */
struct writ_phase {
    bool running;
    bool held;       /* the end of the phase is not checked now: see phase.c */
    uint64_t serial; /* of the phase, in this machine */
    size_t role;     /* of the shape, or WRIT_CONSENSUAL_POLL */
    struct writ_step *steps;
    size_t steps_n, steps_cap;
    struct writ_idmap ids; /* steps that are not done, by id */
    uint64_t *seen;        /* ids of the steps that are done, in that order */
    size_t seen_n, seen_cap;
    struct writ_output *outputs;
    size_t outputs_n, outputs_cap;
    size_t in_flight; /* nested crews */
    size_t fixers;    /* invoked */
};

struct writ_machine;

/** A nested crew that is running. */
struct writ_handle {
    struct writ_handle *previous, *next; /* of the same machine */
    struct writ_machine *inner;
    uint64_t serial; /* in the order of spawning */
    uint64_t phase;  /* the serial of the phase that waits for it */
    size_t agent;
    size_t replaced;       /* as in struct writ_step */
    struct writ_idmap ids; /* of requests inside that were not answered */
    bool hard;             /* `memory` is a fork of its own */
    struct writ_crew_memory memory;
};

/** The place of an agent's output while `phase` runs. */
struct writ_slot {
    uint64_t phase;
    size_t at;
};

struct writ_machine {
    struct writ_event_writer *writer;      /* shared; borrowed */
    struct writ_crew_options options;      /* crew_id is owned; memory is not used */
    const struct writ_crew_limits *limits; /* not NULL */
    struct writ_crew_memory memory;        /* ops NULL: none */
    const struct writ_crew_graph *graph;
    enum writ_crew_status status;
    ptrdiff_t phase_index;
    struct writ_crew_value *input, *task; /* of the phase; owned */
    size_t tasks_n;                       /* of a consensual crew */
    bool tasks_listed;                    /* the task is a list of them */
    size_t elected;                       /* the role that does the task of the present phase */
    uint32_t *attempts;                   /* by agent */
    size_t *attempted;                    /* agents with attempts, in the order of the first */
    size_t attempted_n;
    struct writ_slot *slots; /* by agent, then by stranger */
    size_t slots_cap;
    struct writ_crew_value **strangers; /* ids of no agent for which a fixer of the phase answers */
    size_t strangers_n, strangers_cap;
    struct writ_phase phase;
    struct writ_handle *first, *last; /* its nested crews, in the order of spawning; owned */
    uint64_t handle_serial;
    struct writ_idmap routes; /* ids of requests inside: to the handle, as an address */
    struct writ_machine *outer;
    struct writ_handle *as; /* its handle there */
};

struct writ_crew_control {
    struct writ_machine *machine;
};

/** The ids of an agent and of a role. */
static inline struct writ_view
writ_machine_agent(const struct writ_machine *m, size_t agent)
{
    return m->graph->agents[agent].id;
}

static inline struct writ_view
writ_machine_role(const struct writ_machine *m, size_t role)
{
    return m->graph->shape->roles[role].name;
}

/** The name of a slot: an agent's id, or that of a stranger. */
struct writ_view writ_machine_slot(const struct writ_machine *m, size_t slot);
/** The slot of an id: the agent's, or one that is made for a stranger. WRIT_E_NOMEM. */
WRIT_RESULT writ_machine_slot_of(struct writ_machine *m, struct writ_view id, size_t *ret);

/** A machine for `graph`, idle. `options.crew_id` is copied. WRIT_E_NOMEM. */
WRIT_RESULT writ_machine_new(const struct writ_crew_options *options,
    const struct writ_crew_graph *graph, struct writ_crew_memory memory,
    struct writ_event_writer *writer, struct writ_machine **ret);
void writ_machine_free(struct writ_machine *m);

/* Failures go to the event writer, which is checked at the end of the call. */

/** Puts an answer into a slot of the running phase; takes `output`. */
void writ_machine_output(struct writ_machine *m, struct writ_output output);
/** Adds a step to the running phase, as pending; takes what the step owns, also on failure. */
WRIT_RESULT writ_machine_step(struct writ_machine *m, struct writ_step *step);
/** Begins or ends the bookkeeping of a phase. */
void writ_machine_phase_begin(struct writ_machine *m, size_t role);
void writ_machine_phase_end(struct writ_machine *m);
/** The next attempt of an agent. */
uint32_t writ_machine_attempt(struct writ_machine *m, size_t agent);
/** Calls a hook of the agent's or phase's role, if it has one; sets the names in `hook`. */
void writ_machine_hook(
    struct writ_machine *m, size_t role, enum writ_shape_hook stage, struct writ_crew_hook hook);

/** The content of a slot of the running phase; NULL: none. */
const struct writ_output *writ_machine_output_of(const struct writ_machine *m, size_t slot);
/** Removes a step that is done from the running phase. */
void writ_machine_step_done(struct writ_machine *m, struct writ_step *step);

/** Adds a nested crew, which is taken, at the end. */
void writ_machine_add(struct writ_machine *m, struct writ_handle *handle);
/** Removes the nested crew; its open requests are forgotten here and in all outer machines. */
void writ_machine_remove(struct writ_machine *m, struct writ_handle *handle);
/** Frees a nested crew that was removed, or never added; NULL is permitted. */
void writ_machine_handle_free(struct writ_handle *handle);

/** Registers the ids of a step's request in the outer machines, or removes them. */
void writ_machine_publish(struct writ_machine *m, uint64_t id);
void writ_machine_forget(struct writ_machine *m, uint64_t id);

#endif
