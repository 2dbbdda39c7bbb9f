/* A crew from its texts, part by part: shape, agents, nested shapes, and then the graph. Each
 * text is kept as it was read, because the log of the crew contains it. */
#include "gateway/crews/roster.h"

#include "base/text.h"
#include "crew/vec.h"

/* ---- parts */

void
writ_roster_wipe(struct writ_roster *roster)
{
    writ_crew_graph_free(roster->graph);
    writ_crew_agents_free(roster->agents);
    writ_crew_shape_free(roster->shape);
    for (size_t at = 0; at < roster->nested_n; at++) {
        writ_buf_wipe(&roster->nested[at].key);
        writ_buf_wipe(&roster->nested[at].text);
        writ_crew_shape_free(roster->nested[at].shape);
    }
    writ_free(roster->nested);
    writ_buf_wipe(&roster->consensus);
    writ_buf_wipe(&roster->shape_text);
    writ_buf_wipe(&roster->agents_text);
}

/* Names the file and its faults, as many as fit a line. Returns the code. */
static writ_result
refuse_file(const char *name, writ_result result, const struct writ_crew_findings *faults,
    const struct writ_crew_err *below, struct writ_err *err)
{
    writ_auto_buf list = writ_buf_make(WRIT_ROSTER_TEXT_MAX);

    for (size_t at = 0; faults != NULL && at < writ_crew_findings_count(faults); at++) {
        const struct writ_crew_finding *finding = writ_crew_findings_at(faults, at);
        writ_buf_str(&list, at > 0 ? "; " : "");
        writ_buf_put(&list, finding->path.len > 0 ? finding->path : WRIT_LIT("the whole"));
        writ_buf_fmt(&list, ": %s", finding->code);
    }
    if (list.len > 0) {
        return writ_fail(
            err, result.code, "%s: " WRIT_VIEW_FMT, name, WRIT_VIEW_ARG(writ_buf_view(&list)));
    }
    return writ_fail(err, result.code, "%s: %s", name, below->err.text);
}

static WRIT_RESULT
keep_text(struct writ_buf *to, struct writ_view text, struct writ_err *err)
{
    *to = writ_buf_make(WRIT_ROSTER_TEXT_MAX);
    writ_buf_put(to, text);
    return writ_buf_check(to, err);
}

static WRIT_RESULT
parse_shape(const struct writ_roster *roster, const char *name, struct writ_view text,
    struct writ_crew_shape **ret, struct writ_err *err)
{
    struct writ_crew_findings *faults = writ_crew_findings_new();
    struct writ_crew_err below = {0};
    writ_result result =
        writ_crew_shape_read_with(text, roster->engines, NULL, faults, ret, &below);

    if (!writ_is_ok(result)) {
        result = refuse_file(name, result, faults, &below, err);
    }
    writ_crew_findings_free(faults);
    return result;
}

WRIT_RESULT
writ_roster_shape(
    struct writ_roster *roster, const char *name, struct writ_view text, struct writ_err *err)
{
    WRIT_TRY(keep_text(&roster->shape_text, text, err));
    return parse_shape(roster, name, text, &roster->shape, err);
}

/* An agents file that leaves all choices to the shape. */
static void
put_nobody(struct writ_buf *text, struct writ_view crew)
{
    writ_buf_str(text, "{\"schema_version\":\"1.0\",\"agents\":[],\"name\":");
    writ_text_json(text, crew);
    writ_buf_byte(text, '}');
}

WRIT_RESULT
writ_roster_agents(
    struct writ_roster *roster, const char *name, struct writ_view text, struct writ_err *err)
{
    struct writ_crew_findings *faults;
    struct writ_crew_err below = {0};
    writ_result result;

    WRIT_TRY(keep_text(&roster->agents_text, text, err));
    if (text.ptr == NULL) {
        put_nobody(&roster->agents_text, writ_crew_shape_name(roster->shape));
        WRIT_TRY(writ_buf_check(&roster->agents_text, err));
    }
    faults = writ_crew_findings_new();
    result = writ_crew_agents_read(
        writ_buf_view(&roster->agents_text), NULL, faults, &roster->agents, &below);
    if (!writ_is_ok(result)) {
        result = refuse_file(name, result, faults, &below, err);
    }
    writ_crew_findings_free(faults);
    return result;
}

WRIT_RESULT
writ_roster_nest(struct writ_roster *roster, struct writ_view key, const char *name,
    struct writ_view text, struct writ_err *err)
{
    struct writ_roster_nested *nested;

    WRIT_TRY(writ_vec_room(
        &roster->nested, &roster->nested_cap, roster->nested_n, sizeof *roster->nested));
    nested = &roster->nested[roster->nested_n++];
    *nested = (struct writ_roster_nested){0};
    WRIT_TRY(keep_text(&nested->key, key, err));
    WRIT_TRY(keep_text(&nested->text, text, err));
    return parse_shape(roster, name, text, &nested->shape, err);
}

/* ---- the graph */

WRIT_RESULT
writ_roster_build(struct writ_roster *roster, struct writ_err *err)
{
    struct writ_crew_registered *registry = writ_alloc((roster->nested_n + 1) * sizeof *registry);
    struct writ_crew_err below = {0};
    writ_result built;

    if (registry == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    for (size_t at = 0; at < roster->nested_n; at++) {
        registry[at] = (struct writ_crew_registered){
            writ_buf_view(&roster->nested[at].key), roster->nested[at].shape};
    }
    const struct writ_crew_plan plan = {.shape = roster->shape,
        .agents = roster->agents,
        .registry = registry,
        .registry_n = roster->nested_n,
        .engines = roster->engines,
        .consensual = roster->consensual,
        .consensus =
            roster->consensus.len > 0 ? writ_buf_view(&roster->consensus) : writ_view(NULL, 0)};
    built = writ_crew_graph_build(&plan, &roster->graph, &below);
    writ_free(registry);
    return writ_is_ok(built) ? built
                             : writ_fail(err, built.code, "%s: %s",
                                   writ_crew_error_name(below.error), below.err.text);
}

WRIT_RESULT
writ_roster_elect(struct writ_roster *roster, struct writ_view engine, struct writ_err *err)
{
    roster->consensual = true;
    return keep_text(&roster->consensus, engine, err);
}

/* ---- processes */

/** The first ids of agents that need a process of their own. */
struct processes {
    struct writ_view *ids;
    size_t n, max;
};

/* False: there are more than `max`. Crews of a role share a graph, and agents of one id a process.
 */
static bool
count_processes(const struct writ_crew_graph *graph, struct processes *found)
{
    for (size_t at = 0; at < writ_crew_graph_count(graph); at++) {
        struct writ_crew_agent agent = writ_crew_graph_agent(graph, at);
        size_t same = 0;
        if (agent.nested != NULL) {
            if ((at == 0 || writ_crew_graph_agent(graph, at - 1).nested != agent.nested) &&
                !count_processes(agent.nested, found)) {
                return false;
            }
            continue;
        }
        while (same < found->n && !writ_view_equal(found->ids[same], agent.id)) {
            same++;
        }
        if (same == found->max) {
            return false;
        }
        found->ids[same] = agent.id;
        found->n += same == found->n;
    }
    return true;
}

bool
writ_roster_exceeds(const struct writ_roster *roster, size_t max)
{
    struct processes found = {.ids = writ_alloc((max + 1) * sizeof *found.ids), .max = max};
    bool fits = found.ids != NULL && count_processes(roster->graph, &found);

    writ_free(found.ids);
    return !fits;
}
