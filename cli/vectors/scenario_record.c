/* The results of a scenario as records of its format. Members are in canonical order, so that a
 * record is compared with the expected one byte by byte. */
#include "cli/vectors/scenario_record.h"

#include "base/text.h"
#include "cli/vectors/scenario_member.h"
#include "evidence/json/jcs.h"

#define SHOWN 160 /* bytes of a difference that are shown */

/* ---- members */

static void
put_optional(struct writ_write *w, const char *name, struct writ_view json, bool text)
{
    if (json.ptr != NULL) {
        writ_write_name(w, writ_view_str(name));
        if (text) {
            writ_write_string(w, json);
        } else {
            writ_write_raw(w, json);
        }
    }
}

static void
put_flag(struct writ_write *w, const char *name, int flag)
{
    if (flag >= 0) {
        writ_write_flag(w, name, flag > 0);
    }
}

/* ---- hooks */

void
writ_scenario_record_hook(struct writ_buf *lines, const struct writ_crew_hook *hook)
{
    struct writ_write w = writ_write_to(lines);

    writ_write_object_begin(&w);
    put_optional(&w, "agent", hook->agent_id, true);
    put_optional(&w, "crewId", hook->crew_id, true);
    put_flag(&w, "fault", hook->fault);
    put_optional(&w, "hook", hook->name, true);
    put_optional(&w, "input", hook->input, false);
    put_optional(&w, "output", hook->output, false);
    put_optional(&w, "role", hook->role_id, true);
    put_optional(&w, "stage", hook->stage, true);
    put_flag(&w, "stalled", hook->stalled);
    writ_write_object_end(&w);
    writ_buf_byte(lines, '\n');
}

void
writ_scenario_record_request(struct writ_buf *lines, struct writ_view hook, struct writ_view from,
    struct writ_view to, struct writ_view action, bool allowed)
{
    struct writ_write w = writ_write_to(lines);

    writ_write_object_begin(&w);
    put_flag(&w, "allowed", allowed);
    put_optional(&w, "hook", hook, true);
    writ_write_name(&w, WRIT_LIT("request_action"));
    writ_write_object_begin(&w);
    put_optional(&w, "action", action, true);
    put_optional(&w, "from", from, true);
    put_optional(&w, "to", to, true);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_buf_byte(lines, '\n');
}

/* ---- steps */

static void
put_texts(struct writ_write *w, const char *name, struct writ_crew_events events)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t at = 0; at < events.n; at++) {
        writ_write_string(w, events.list[at]);
    }
    writ_write_array_end(w);
}

static void
put_hooks(struct writ_write *w, struct writ_view lines)
{
    writ_write_name(w, WRIT_LIT("hooks"));
    writ_write_array_begin(w);
    while (lines.len > 0) {
        size_t end = writ_view_find(lines, '\n');
        writ_write_string(w, writ_view_sub(lines, 0, end));
        lines = writ_view_sub(lines, end + 1, lines.len);
    }
    writ_write_array_end(w);
}

void
writ_scenario_record_error(struct writ_write *w, const char *code)
{
    writ_write_object_begin(w);
    put_optional(w, "code", writ_view_str(code), true);
    writ_write_object_end(w);
}

static void
put_ids(struct writ_write *w, const struct writ_crew_checkpoints *store)
{
    writ_write_name(w, WRIT_LIT("ids"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < writ_crew_checkpoints_count(store); at++) {
        writ_write_string(w, writ_crew_checkpoints_id(store, at));
    }
    writ_write_array_end(w);
}

void
writ_scenario_record_step(const struct writ_scenario_crew *crew,
    const struct writ_scenario_step *step, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    put_flag(&w, "allowed", step->has_allowed ? step->allowed : -1);
    if (step->error != NULL) {
        writ_write_name(&w, WRIT_LIT("error"));
        writ_scenario_record_error(&w, step->error);
    }
    if (step->has_events) {
        put_texts(&w, "events", step->events);
    }
    put_flag(&w, "found", step->has_found ? step->found : -1);
    if (crew->hook_calls.len > 0) {
        put_hooks(&w, writ_buf_view(&crew->hook_calls));
    }
    if (step->has_ids) {
        put_ids(&w, crew->store);
    }
    put_optional(&w, "memory", writ_crew_value_text(step->memory), true);
    if (step->has_pending) {
        put_texts(&w, "pending", step->events);
    }
    if (step->has_resolved) {
        writ_write_text_or_null(&w, "resolved", writ_crew_value_text(step->resolved));
    }
    if (step->has_result) {
        put_optional(&w, "result", writ_buf_view(&step->result), true);
    }
    put_optional(&w, "snapshot", writ_crew_value_text(step->snapshot), true);
    if (step->has_status) {
        put_optional(&w, "status",
            writ_view_str(writ_crew_status_name(writ_crew_session_status(crew->session))), true);
    }
    writ_write_object_end(&w);
}

/* ---- shapes and graphs */

void
writ_scenario_record_findings(struct writ_write *w, const struct writ_crew_findings *findings)
{
    writ_write_array_begin(w);
    for (size_t at = 0; at < writ_crew_findings_count(findings); at++) {
        const struct writ_crew_finding *finding = writ_crew_findings_at(findings, at);
        writ_write_object_begin(w);
        put_optional(w, "code", writ_view_str(finding->code), true);
        /* a finding of the whole shape has no path; one of the whole file has the path "" */
        if (finding->path.len > 0 ||
            writ_view_has_prefix(writ_view_str(finding->code), WRIT_LIT("invalid"))) {
            put_optional(w, "path", finding->path, true);
        }
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

void
writ_scenario_record_graph(struct writ_write *w, const struct writ_crew_graph *graph)
{
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("agents"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < writ_crew_graph_count(graph); at++) {
        struct writ_crew_agent agent = writ_crew_graph_agent(graph, at);
        writ_write_object_begin(w);
        put_optional(w, "id", agent.id, true);
        if (agent.nested != NULL) {
            writ_write_name(w, WRIT_LIT("nested"));
            writ_scenario_record_graph(w, agent.nested);
        }
        put_optional(w, "role", agent.role, true);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
    put_optional(w, "name", writ_crew_graph_name(graph), true);
    writ_write_object_end(w);
}

/* ---- comparing */

static void
put_difference(struct writ_buf *report, const char *where, size_t at, struct writ_view want,
    struct writ_view got)
{
    size_t same = 0, from;

    while (same < want.len && same < got.len && want.ptr[same] == got.ptr[same]) {
        same++;
    }
    from = same > SHOWN / 4 ? same - SHOWN / 4 : 0;
    writ_buf_fmt(report,
        "  %s %zu, byte %zu:\n    expected ..." WRIT_VIEW_FMT "\n    got      ..." WRIT_VIEW_FMT
        "\n",
        where, at, same, WRIT_VIEW_ARG(writ_view_sub(want, from, SHOWN)),
        WRIT_VIEW_ARG(writ_view_sub(got, from, SHOWN)));
}

bool
writ_scenario_record_compare(struct writ_buf *report, const char *where, size_t at,
    const struct writ_json *want, struct writ_view got)
{
    writ_auto_buf canonical = writ_buf_make(WRIT_SCENARIO_TEXT_MAX);

    if (want == NULL) {
        writ_buf_str(&canonical, "nothing");
    } else {
        WRIT_IGNORE(writ_jcs_put_rounded(&canonical, want, NULL)); /* compared all the same */
    }
    if (!writ_view_equal(writ_buf_view(&canonical), got)) {
        put_difference(report, where, at, writ_buf_view(&canonical), got);
        return false;
    }
    return true;
}
