/* Each review has a crew of its own, which shares nothing with those of other reviews. */
#include "gateway/reviewers/crew_roster.h"

#include "policy/read/yaml.h"

static WRIT_RESULT
read_texts(const struct writ_crew_config *config, struct writ_roster *ret, struct writ_err *err)
{
    for (size_t i = 0; i < config->nested_n; i++) {
        WRIT_TRY(writ_roster_nest(
            ret, config->nested[i].name, config->nested[i].name.ptr, config->nested[i].text, err));
    }
    WRIT_TRY(writ_roster_shape(ret, config->shape.name.ptr, config->shape.text, err));
    return config->agents.name.len > 0
               ? writ_roster_agents(ret, config->agents.name.ptr, config->agents.text, err)
               : writ_roster_agents(ret, "agents", writ_view(NULL, 0), err);
}

WRIT_RESULT
writ_crew_roster_open(
    const struct writ_crew_config *config, struct writ_roster *ret, struct writ_err *err)
{
    WRIT_TRY(read_texts(config, ret, err));
    WRIT_TRY(writ_fail_in(err, writ_roster_build(ret, err), config->shape.name.ptr));
    if (writ_crew_graph_count(ret->graph) == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: no role has an agent", config->shape.name.ptr);
    }
    if (!config->shared && writ_roster_exceeds(ret, WRIT_CREW_ROSTER_PROCESSES)) {
        WRIT_FAIL(err, WRIT_E_LIMIT,
            "%s: the crew has more than %d agents, and each needs a process: use shared: true, so "
            "that one serves all of them",
            config->shape.name.ptr, WRIT_CREW_ROSTER_PROCESSES);
    }
    return WRIT_DONE;
}

/* ---- checks */

static void
warn_shape(const struct writ_crew_shape *shape, const struct writ_yaml *node,
    struct writ_findings *findings)
{
    struct writ_crew_findings *found = writ_crew_findings_new();

    if (found == NULL || !writ_is_ok(writ_crew_shape_doubts(shape, found))) {
        writ_yaml_find(findings, WRIT_SEVERITY_ERROR, node, "no memory to check the crew");
    }
    for (size_t i = 0; found != NULL && i < writ_crew_findings_count(found); i++) {
        struct writ_view path = writ_crew_findings_at(found, i)->path;

        writ_yaml_find(findings, WRIT_SEVERITY_WARNING, node, WRIT_VIEW_FMT " has no effect",
            WRIT_VIEW_ARG(path));
    }
    writ_crew_findings_free(found);
}

static void
find_one(const struct writ_crew_config *crew, struct writ_findings *findings)
{
    WRIT_AUTO(struct writ_roster, writ_roster_wipe) roster = {0};
    struct writ_err err = {0};

    if (!writ_is_ok(writ_crew_roster_open(crew, &roster, &err))) {
        writ_yaml_find(findings, WRIT_SEVERITY_ERROR, crew->node, "%s", err.text);
        return;
    }
    warn_shape(roster.shape, crew->node, findings);
    for (size_t i = 0; i < roster.nested_n; i++) {
        warn_shape(roster.nested[i].shape, crew->node, findings);
    }
}

void
writ_crew_roster_find(const struct writ_config *config, struct writ_findings *findings)
{
    for (size_t i = 0; i < config->reviewers_n; i++) {
        if (config->reviewers[i].crew != NULL) {
            find_one(config->reviewers[i].crew, findings);
        }
    }
}

WRIT_RESULT
writ_crew_roster_check(const struct writ_config *config, struct writ_err *err)
{
    for (size_t i = 0; i < config->reviewers_n; i++) {
        const struct writ_reviewer_config *reviewer = &config->reviewers[i];
        WRIT_AUTO(struct writ_roster, writ_roster_wipe) roster = {0};
        struct writ_err below = {0};
        writ_result opened = WRIT_DONE;

        if (reviewer->crew != NULL) {
            opened = writ_crew_roster_open(reviewer->crew, &roster, &below);
        }
        if (!writ_is_ok(opened)) {
            WRIT_FAIL(err, opened.code, "reviewer " WRIT_VIEW_FMT ": %s",
                WRIT_VIEW_ARG(reviewer->id), below.text);
        }
    }
    return WRIT_DONE;
}
