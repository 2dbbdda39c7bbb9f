/* scenario_record.h - a step of a scenario and its results, written in the format and compared with
 * the expected ones. A writer that runs out of memory gives a text that differs.
 */
#ifndef WRIT_CLI_SCENARIO_RECORD_H
#define WRIT_CLI_SCENARIO_RECORD_H

#include "evidence/json/json.h"
#include "evidence/json/write.h"
#include "writ/crew.h"

/** The crew that steps run against. */
struct writ_scenario_crew {
    const struct writ_json *hook_actions; /* by the name of the hook; borrowed */
    struct writ_crew_graph *graph;
    struct writ_crew_options options;
    struct writ_crew_hooks hooks;
    struct writ_crew_memory memory;
    struct writ_crew_session *session;
    struct writ_crew_checkpoints *labels, *store;
    double now;
    struct writ_buf hook_calls; /* of the step: canonical records, each ended by a newline */
};

/** One step, and its results. */
struct writ_scenario_step {
    const struct writ_json *json; /* the only input; borrowed */
    const char *error;            /* NULL: none */
    bool has_allowed, allowed;
    bool has_events, has_pending; /* `events` is of this kind */
    struct writ_crew_events events;
    bool has_found, found;
    bool has_ids;
    struct writ_crew_value *memory, *resolved, *snapshot;
    bool has_resolved;
    struct writ_buf result;
    bool has_result;
    bool has_status;
};

/** Appends one line for a hook that was called. */
void writ_scenario_record_hook(struct writ_buf *lines, const struct writ_crew_hook *hook);

/** Appends one line for an action that a hook requested, and the answer. */
void writ_scenario_record_request(struct writ_buf *lines, struct writ_view hook,
    struct writ_view from, struct writ_view to, struct writ_view action, bool allowed);

/** The record of a step that was run. */
void writ_scenario_record_step(const struct writ_scenario_crew *crew,
    const struct writ_scenario_step *step, struct writ_buf *ret);

/** {code} */
void writ_scenario_record_error(struct writ_write *w, const char *code);

/** [{code, path?}, ...] */
void writ_scenario_record_findings(struct writ_write *w, const struct writ_crew_findings *findings);

/** {agents: [{id, nested?, role}, ...], name} */
void writ_scenario_record_graph(struct writ_write *w, const struct writ_crew_graph *graph);

/**
 * Whether `got`, a canonical text, equals the expected one; if not, `report` gets a line with the
 * first difference.
 *
 * @param where  the kind of value, and `at`, its number
 * @param want   NULL: the file expects nothing
 */
bool writ_scenario_record_compare(struct writ_buf *report, const char *where, size_t at,
    const struct writ_json *want, struct writ_view got);

#endif
