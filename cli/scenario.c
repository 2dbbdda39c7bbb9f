/* A scenario of crew-vector/1: inputs, steps, and a record of what each step must give. Each step
 * is run by a row of the table of operations, which writes its own record; the two records are
 * compared as canonical texts. */
#include "cli/scenario.h"

#include "evidence/bridge.h"
#include "base/text.h"
#include "evidence/jcs.h"
#include "evidence/write.h"
#include "writ/crew.h"

#define SHOWN        160                /* bytes of a difference that are shown */
#define TEXT_MAX     ((size_t)64 << 20) /* of one record */
#define REGISTRY_MAX 64

/** A running scenario. */
struct scenario {
    const struct writ_json *json;
    struct writ_buf *report;
    bool same;
    struct writ_crew_shape *shape;
    struct writ_crew_agents *agents;
    struct writ_crew_registered registry[REGISTRY_MAX];
    size_t registry_n;
    struct writ_crew_graph *graph;
    struct writ_crew_options options;
    struct writ_crew_hooks hooks;
    struct writ_crew_memory memory;
    struct writ_crew_session *session;
    struct writ_crew_checkpoints *labels, *store;
    double now;
    struct writ_buf hook_calls; /* canonical records, each ended by a newline */
    struct writ_buf log;
};

/** One step: its input, and the members of its record, in the order in which they are written. */
struct step {
    const struct writ_json *json;
    bool has_allowed, allowed;
    const char *error;
    bool has_events;
    struct writ_crew_events events;
    bool has_found, found;
    bool has_ids;
    struct writ_crew_value *memory, *resolved, *snapshot;
    bool has_pending;
    bool has_resolved;
    struct writ_buf result; /* empty: none */
    bool has_result;
    bool has_status;
};

/* ---- small things */

static struct writ_view
text_of(const struct writ_json *object, const char *member)
{
    return writ_json_string(writ_json_get(object, writ_view_str(member)));
}

static double
clock_now(void *user)
{
    return ((const struct scenario *)user)->now;
}

/* The JSON of a member, or absent. */
static struct writ_view
json_of(struct writ_buf *buf, const struct writ_json *object, const char *member)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    writ_buf_clear(buf);
    if (value == NULL || !writ_is_ok(writ_jcs_put_rounded(buf, value, NULL))) {
        return writ_view(NULL, 0);
    }
    return writ_buf_view(buf);
}

static void
differ(
    struct scenario *s, const char *where, size_t at, struct writ_view want, struct writ_view got)
{
    size_t same = 0, from;

    while (same < want.len && same < got.len && want.ptr[same] == got.ptr[same]) {
        same++;
    }
    from = same > SHOWN / 4 ? same - SHOWN / 4 : 0;
    s->same = false;
    writ_buf_fmt(s->report,
        "  %s %zu, byte %zu:\n    expected ..." WRIT_VIEW_FMT "\n    got      ..." WRIT_VIEW_FMT
        "\n",
        where, at, same, WRIT_VIEW_ARG(writ_view_sub(want, from, SHOWN)),
        WRIT_VIEW_ARG(writ_view_sub(got, from, SHOWN)));
}

static void
compare(struct scenario *s, const char *where, size_t at, const struct writ_json *want,
    struct writ_view got)
{
    writ_auto_buf canonical = writ_buf_make(TEXT_MAX);

    if (want == NULL) {
        writ_buf_str(&canonical, "nothing");
    } else {
        WRIT_IGNORE(writ_jcs_put_rounded(&canonical, want, NULL)); /* compared all the same */
    }
    if (!writ_view_equal(writ_buf_view(&canonical), got)) {
        differ(s, where, at, writ_buf_view(&canonical), got);
    }
}

/* ---- hooks */

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
        writ_write_name(w, writ_view_str(name));
        writ_write_bool(w, flag > 0);
    }
}

static void
record_hook(struct scenario *s, const struct writ_crew_hook *hook)
{
    struct writ_write w = writ_write_to(&s->hook_calls);

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
    writ_buf_byte(&s->hook_calls, '\n');
}

static void
act(struct scenario *s, const struct writ_crew_hook *hook, const struct writ_json *action,
    struct writ_crew_control *control)
{
    struct writ_view from = text_of(action, "from"), to = text_of(action, "to");
    struct writ_view name = text_of(action, "action");
    enum writ_crew_action asked = WRIT_CREW_TALK_TO;
    struct writ_write w;
    bool allowed;

    if (writ_view_is(text_of(action, "do"), "checkpoint")) {
        writ_crew_control_checkpoint(control, text_of(action, "id"));
        return;
    }
    if (!writ_crew_action_read(name, &asked)) {
        return;
    }
    allowed = writ_crew_control_request(control, from, to, asked);
    w = writ_write_to(&s->hook_calls);
    writ_write_object_begin(&w);
    put_flag(&w, "allowed", allowed);
    put_optional(&w, "hook", hook->name, true);
    writ_write_name(&w, WRIT_LIT("request_action"));
    writ_write_object_begin(&w);
    put_optional(&w, "action", name, true);
    put_optional(&w, "from", from, true);
    put_optional(&w, "to", to, true);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_buf_byte(&s->hook_calls, '\n');
}

static void
call_hook(void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control)
{
    struct scenario *s = user;
    const struct writ_json *known =
        writ_json_get(writ_json_get(s->json, WRIT_LIT("options")), WRIT_LIT("hooks"));
    const struct writ_json *actions = writ_json_get(known, hook->name);

    if (actions == NULL) {
        return;
    }
    record_hook(s, hook);
    WRIT_JSON_EACH(action, actions)
    {
        act(s, hook, action, control);
    }
}

/* ---- operations */

/* What a call came to: the error's name, or nothing. */
static bool
failed(struct step *step, writ_result result, const struct writ_crew_err *err)
{
    if (!writ_is_ok(result)) {
        step->error = writ_crew_error_name(err->error);
    }
    return !writ_is_ok(result);
}

static void
op_start(struct scenario *s, struct step *step)
{
    writ_auto_buf input = writ_buf_make(TEXT_MAX);
    writ_auto_buf task = writ_buf_make(TEXT_MAX);
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_start(s->session, json_of(&input, step->json, "input"),
            json_of(&task, step->json, "task"), &step->events, &err),
        &err);
}

static void
op_deliver(struct scenario *s, struct step *step)
{
    writ_auto_buf event = writ_buf_make(TEXT_MAX);
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_deliver(
            s->session, json_of(&event, step->json, "event"), &step->events, &err),
        &err);
}

static double
number_of(const struct writ_json *object, const char *member)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    return writ_json_type(value) == WRIT_JSON_NUMBER ? value->number : 0;
}

static void
op_clock(struct scenario *s, struct step *step)
{
    s->now = writ_json_get(step->json, WRIT_LIT("set")) != NULL
                 ? number_of(step->json, "set")
                 : s->now + number_of(step->json, "advance");
}

static void
op_tick(struct scenario *s, struct step *step)
{
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_tick(s->session, number_of(step->json, "now"), &step->events, &err),
        &err);
}

static void
op_cancel(struct scenario *s, struct step *step)
{
    enum writ_crew_abort reason = writ_view_is(text_of(step->json, "reason"), "timeout")
                                      ? WRIT_CREW_TIMEOUT
                                      : WRIT_CREW_CANCELLED;
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events =
        !failed(step, writ_crew_session_cancel(s->session, reason, &step->events, &err), &err);
}

static void
op_action(struct scenario *s, struct step *step)
{
    enum writ_crew_action action = WRIT_CREW_TALK_TO;
    struct writ_crew_err err = {0};

    writ_crew_action_read(text_of(step->json, "action"), &action);
    step->has_status = true;
    step->has_events = step->has_allowed = !failed(step,
        writ_crew_session_request(s->session, text_of(step->json, "from"),
            text_of(step->json, "to"), action, &step->allowed, &step->events, &err),
        &err);
}

static void
op_pending(struct scenario *s, struct step *step)
{
    struct writ_crew_err err = {0};

    step->has_pending =
        !failed(step, writ_crew_session_pending(s->session, &step->events, &err), &err);
}

static void
op_snapshot(struct scenario *s, struct step *step)
{
    struct writ_crew_err err = {0};

    if (!failed(step, writ_crew_session_snapshot(s->session, &step->snapshot, &err), &err)) {
        WRIT_IGNORE(writ_crew_checkpoints_put(
            s->labels, text_of(step->json, "as"), step->snapshot)); /* missing at its use */
    }
}

static enum writ_crew_resume
policy_of(struct writ_view text)
{
    return writ_view_is(text, "re-emit-request")   ? WRIT_CREW_RESUME_RE_EMIT
           : writ_view_is(text, "treat-as-failed") ? WRIT_CREW_RESUME_TREAT_AS_FAILED
                                                   : WRIT_CREW_RESUME_ABORT;
}

#define LATER_MAX 1024

static void
op_resume(struct scenario *s, struct step *step)
{
    writ_auto_buf texts = writ_buf_make(TEXT_MAX);
    struct writ_view later[LATER_MAX], other = text_of(step->json, "crewId");
    struct writ_crew_options options = s->options;
    struct writ_crew_session *session = NULL;
    struct writ_crew_err err = {0};
    size_t ends[LATER_MAX], n = 0, from = 0;

    options.crew_id = other.ptr != NULL ? other : options.crew_id;
    WRIT_JSON_EACH(event, writ_json_get(step->json, WRIT_LIT("later")))
    {
        if (n == LATER_MAX || !writ_is_ok(writ_jcs_put_rounded(&texts, event, NULL))) {
            break;
        }
        ends[n++] = texts.len;
    }
    for (size_t at = 0; at < n; at++) { /* the buffer does not move any more */
        later[at] = writ_view(texts.ptr + from, ends[at] - from);
        from = ends[at];
    }
    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_resume(&options,
            writ_crew_value_text(writ_crew_checkpoints_get(s->labels, text_of(step->json, "from"))),
            later, n, policy_of(text_of(step->json, "policy")), &session, &step->events, &err),
        &err);
    if (session != NULL) {
        writ_crew_session_free(s->session);
        s->session = session;
    }
}

static void
op_memory(struct scenario *s, struct step *step)
{
    if (s->memory.ops == NULL ||
        !writ_is_ok(s->memory.ops->snapshot(s->memory.self, &step->memory))) {
        step->error = "no memory";
    }
}

static void
op_store(struct scenario *s, struct step *step)
{
    struct writ_view verb = text_of(step->json, "do"), id = text_of(step->json, "id");

    if (writ_view_is(verb, "put")) {
        WRIT_IGNORE(writ_crew_checkpoints_put(
            s->store, id, writ_crew_checkpoints_get(s->labels, text_of(step->json, "from"))));
    } else if (writ_view_is(verb, "get")) {
        step->snapshot = writ_crew_value_ref(writ_crew_checkpoints_get(s->store, id));
        step->has_found = true;
        step->found = step->snapshot != NULL;
    } else if (writ_view_is(verb, "delete")) {
        writ_crew_checkpoints_delete(s->store, id);
    } else {
        step->has_ids = true;
    }
}

/* Reads as ECMAScript does, of duplicate members the last: what is tested is the canonical form. */
static void
op_canonicalize(struct scenario *s, struct step *step)
{
    struct writ_view text = text_of(step->json, "text");
    json_auto_t *read = json_loadb(
        text.ptr, text.len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    struct writ_arena *arena = writ_arena_new(TEXT_MAX);
    const struct writ_json *value = NULL;

    (void)s;
    step->has_result = read != NULL && arena != NULL &&
                       writ_is_ok(writ_bridge_from_jansson(
                           read, &writ_json_limits_default, arena, &value, NULL)) &&
                       writ_is_ok(writ_jcs_put_rounded(&step->result, value, NULL));
    if (!step->has_result) {
        step->error = "non_finite";
    }
    writ_arena_free(arena);
}

static void
op_hash(struct scenario *s, struct step *step)
{
    char hash[16];

    (void)s;
    writ_crew_hash(text_of(step->json, "text"), hash);
    writ_buf_put(&step->result, writ_view(hash, sizeof hash));
    step->has_result = true;
}

static void
op_correlation(struct scenario *s, struct step *step)
{
    const struct writ_json *parts = writ_json_get(step->json, WRIT_LIT("parts"));
    char id[16] = {0};

    (void)s;
    step->has_result = writ_is_ok(writ_crew_correlation(text_of(parts, "crewId"),
        text_of(parts, "roleId"), text_of(parts, "agentId"), number_of(parts, "attempt"), id));
    writ_buf_put(&step->result, writ_view(id, sizeof id));
}

#define VOTES_MAX 4096

static void
op_vote(struct scenario *s, struct step *step)
{
    static struct writ_crew_entry entries[VOTES_MAX];
    struct writ_crew_value *outputs[VOTES_MAX];
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_err err = {0};
    size_t n = 0;

    (void)s;
    WRIT_JSON_EACH(vote, writ_json_get(step->json, WRIT_LIT("votes")))
    {
        struct writ_view output = json_of(&text, vote, "output");
        outputs[n] = NULL;
        if (n + 1 == VOTES_MAX || (output.ptr != NULL && !writ_is_ok(writ_crew_value_read(
                                                             output, NULL, &outputs[n], &err)))) {
            break;
        }
        entries[n] = (struct writ_crew_entry){text_of(vote, "agentId"), text_of(vote, "roleId"),
            writ_crew_value_text(outputs[n]),
            writ_json_type(writ_json_get(vote, WRIT_LIT("fault"))) == WRIT_JSON_TRUE,
            writ_json_type(writ_json_get(vote, WRIT_LIT("stalled"))) == WRIT_JSON_TRUE};
        n++;
    }
    step->has_resolved =
        !failed(step,
            writ_crew_voting_read(json_of(&text, step->json, "config"), NULL, &voting, &err),
            &err) &&
        !failed(step, writ_crew_vote(voting, NULL, entries, n, n, &verdict, &err), &err);
    step->resolved = writ_crew_value_ref(verdict.value);
    writ_crew_verdict_wipe(&verdict);
    writ_crew_voting_free(voting);
    while (n-- > 0) {
        writ_crew_value_free(outputs[n]);
    }
}

static void
op_permission(struct scenario *s, struct step *step)
{
    enum writ_crew_action action = WRIT_CREW_TALK_TO;

    step->has_allowed = true;
    step->allowed = writ_crew_action_read(text_of(step->json, "action"), &action) &&
                    writ_crew_graph_allows(
                        s->graph, text_of(step->json, "from"), text_of(step->json, "to"), action);
}

static const struct operation {
    const char *name;
    void (*run)(struct scenario *s, struct step *step);
} operations[] = {
    {"start", op_start},
    {"deliver", op_deliver},
    {"clock", op_clock},
    {"tick", op_tick},
    {"cancel", op_cancel},
    {"action", op_action},
    {"pending", op_pending},
    {"snapshot", op_snapshot},
    {"resume", op_resume},
    {"memory", op_memory},
    {"store", op_store},
    {"canonicalize", op_canonicalize},
    {"hash", op_hash},
    {"correlation", op_correlation},
    {"vote", op_vote},
    {"permission", op_permission},
};

/* ---- records */

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

static void
put_error(struct writ_write *w, const char *code)
{
    writ_write_name(w, WRIT_LIT("error"));
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

/* The record of a step, members in canonical order. */
static void
put_record(struct scenario *s, const struct step *step, struct writ_buf *buf)
{
    struct writ_write w = writ_write_to(buf);

    w.sorted = true;
    writ_write_object_begin(&w);
    put_flag(&w, "allowed", step->has_allowed ? step->allowed : -1);
    if (step->error != NULL) {
        put_error(&w, step->error);
    }
    if (step->has_events) {
        put_texts(&w, "events", step->events);
    }
    put_flag(&w, "found", step->has_found ? step->found : -1);
    if (s->hook_calls.len > 0) {
        put_hooks(&w, writ_buf_view(&s->hook_calls));
    }
    if (step->has_ids) {
        put_ids(&w, s->store);
    }
    put_optional(&w, "memory", writ_crew_value_text(step->memory), true);
    if (step->has_pending) {
        put_texts(&w, "pending", step->events);
    }
    if (step->has_resolved) {
        writ_write_name(&w, WRIT_LIT("resolved"));
        writ_write_string_or_null(&w, writ_crew_value_text(step->resolved));
    }
    if (step->has_result) {
        put_optional(&w, "result", writ_buf_view(&step->result), true);
    }
    put_optional(&w, "snapshot", writ_crew_value_text(step->snapshot), true);
    if (step->has_status) {
        put_optional(&w, "status",
            writ_view_str(writ_crew_status_name(writ_crew_session_status(s->session))), true);
    }
    writ_write_object_end(&w);
}

static void
add_to_log(struct scenario *s, const struct step *step)
{
    for (size_t at = 0; step->has_events && at < step->events.n; at++) {
        writ_buf_str(&s->log, s->log.len > 0 ? "," : "[");
        writ_text_json(&s->log, step->events.list[at]);
    }
}

/* A parser may refuse what has no canonical form, or one of its own (the format's README). */
static bool
may_refuse(const struct step *step, const struct writ_json *want)
{
    struct writ_view result = text_of(want, "result");

    return step->error != NULL &&
           writ_json_is(writ_json_get(step->json, WRIT_LIT("op")), WRIT_LIT("canonicalize")) &&
           (result.ptr == NULL || writ_view_search(result, WRIT_LIT("\\ud")) < result.len);
}

static void
run_step(struct scenario *s, size_t at, const struct writ_json *json, const struct writ_json *want)
{
    writ_auto_buf record = writ_buf_make(TEXT_MAX);
    struct step step = {.json = json, .result = writ_buf_make(TEXT_MAX)};
    const struct operation *found = NULL;

    writ_buf_clear(&s->hook_calls);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        found = writ_view_is(text_of(json, "op"), operations[i].name) ? &operations[i] : found;
    }
    if (found != NULL) {
        found->run(s, &step);
    } else {
        step.error = "unknown operation";
    }
    put_record(s, &step, &record);
    add_to_log(s, &step);
    if (!may_refuse(&step, want)) {
        compare(s, "step", at, want, writ_buf_view(&record));
    }
    writ_crew_value_free(step.memory);
    writ_crew_value_free(step.resolved);
    writ_crew_value_free(step.snapshot);
    writ_buf_wipe(&step.result);
}

/* ---- before the steps */

static void
put_findings(struct writ_write *w, const struct writ_crew_findings *findings)
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

static void
compare_faults(struct scenario *s, const char *member, const struct writ_crew_findings *faults)
{
    const struct writ_json *want =
        writ_json_get(writ_json_get(s->json, WRIT_LIT("expect")), writ_view_str(member));
    writ_auto_buf got = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&got);

    put_findings(&w, faults);
    if (want != NULL || writ_crew_findings_count(faults) > 0) {
        compare(s, member, 0, want, writ_buf_view(&got));
    }
}

static bool
read_inputs(struct scenario *s)
{
    struct writ_crew_findings *faults[2] = {writ_crew_findings_new(), writ_crew_findings_new()};
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    bool ok[2] = {false, false};

    if (faults[0] != NULL && faults[1] != NULL) {
        ok[0] = writ_is_ok(writ_crew_shape_read(
            json_of(&text, s->json, "shape"), NULL, faults[0], &s->shape, NULL));
        ok[1] = writ_is_ok(writ_crew_agents_read(
            json_of(&text, s->json, "agents"), NULL, faults[1], &s->agents, NULL));
        compare_faults(s, "shape_errors", faults[0]);
        compare_faults(s, "agents_errors", faults[1]);
    }
    writ_crew_findings_free(faults[0]);
    writ_crew_findings_free(faults[1]);
    return ok[0] && ok[1];
}

static bool
read_registry(struct scenario *s, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_err below = {0};

    WRIT_JSON_EACH(key, writ_json_get(s->json, WRIT_LIT("registry")))
    {
        struct writ_crew_shape *shape = NULL;
        writ_buf_clear(&text);
        if (s->registry_n == REGISTRY_MAX ||
            !writ_is_ok(writ_jcs_put_rounded(&text, writ_json_value(key), NULL)) ||
            !writ_is_ok(writ_crew_shape_read(writ_buf_view(&text), NULL, NULL, &shape, &below))) {
            writ_fail(err, WRIT_E_PARSE, "a registered shape cannot be read: %s", below.err.text);
            return false;
        }
        s->registry[s->registry_n++] = (struct writ_crew_registered){writ_json_string(key), shape};
    }
    return true;
}

static void
compare_lint(struct scenario *s)
{
    struct writ_crew_findings *errors = writ_crew_findings_new();
    struct writ_crew_findings *warnings = writ_crew_findings_new();
    writ_auto_buf got = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&got);

    if (errors != NULL && warnings != NULL &&
        writ_is_ok(writ_crew_shape_lint(s->shape, NULL, errors, warnings))) {
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("errors"));
        put_findings(&w, errors);
        writ_write_name(&w, WRIT_LIT("warnings"));
        put_findings(&w, warnings);
        writ_write_object_end(&w);
    }
    compare(s, "lint", 0,
        writ_json_get(writ_json_get(s->json, WRIT_LIT("expect")), WRIT_LIT("lint")),
        writ_buf_view(&got));
    writ_crew_findings_free(errors);
    writ_crew_findings_free(warnings);
}

static void
put_graph(struct writ_write *w, const struct writ_crew_graph *graph)
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
            put_graph(w, agent.nested);
        }
        put_optional(w, "role", agent.role, true);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
    put_optional(w, "name", writ_crew_graph_name(graph), true);
    writ_write_object_end(w);
}

/* Builds the graph and compares it, or why there is none. False: there is none. */
static bool
build(struct scenario *s)
{
    const struct writ_crew_plan plan = {.shape = s->shape,
        .agents = s->agents,
        .registry = s->registry,
        .registry_n = s->registry_n};
    const struct writ_json *expect = writ_json_get(s->json, WRIT_LIT("expect"));
    const struct writ_json *error = writ_json_get(expect, WRIT_LIT("build_error"));
    struct writ_crew_err err = {0};
    writ_auto_buf got = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&got);

    if (!writ_is_ok(writ_crew_graph_build(&plan, &s->graph, &err))) {
        writ_write_object_begin(&w);
        put_optional(&w, "code", writ_view_str(writ_crew_error_name(err.error)), true);
        writ_write_object_end(&w);
        compare(s, "build_error", 0, error, writ_buf_view(&got));
        return false;
    }
    put_graph(&w, s->graph);
    compare(s, error != NULL ? "build_error" : "graph", 0,
        error != NULL ? error : writ_json_get(expect, WRIT_LIT("graph")), writ_buf_view(&got));
    return true;
}

/* ---- the session */

static WRIT_RESULT
open_memory(struct scenario *s, const struct writ_json *memory)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);

    WRIT_TRY(writ_crew_memory_new(s->options.crew_id, &s->memory));
    s->options.memory = &s->memory;
    WRIT_JSON_EACH(entry, writ_json_get(memory, WRIT_LIT("seed")))
    {
        const struct writ_json *context = writ_json_get(entry, WRIT_LIT("context"));
        const struct writ_crew_scope scope = {text_of(context, "agentId"),
            text_of(context, "crewId"), text_of(context, "roleId"), {NULL, 0}};
        WRIT_TRY(s->memory.ops->apply(s->memory.self, &scope, json_of(&text, entry, "command")));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_session(struct scenario *s, struct writ_err *err)
{
    const struct writ_json *options = writ_json_get(s->json, WRIT_LIT("options"));
    const struct writ_json *memory = writ_json_get(options, WRIT_LIT("memory"));
    struct writ_crew_err below = {0};

    s->now = number_of(options, "clock");
    s->hooks = (struct writ_crew_hooks){call_hook, s};
    s->options = (struct writ_crew_options){
        .crew_id = text_of(options, "crewId"),
        .graph = s->graph,
        .clock = {clock_now, s},
        .hooks = writ_json_get(options, WRIT_LIT("hooks")) != NULL ? &s->hooks : NULL,
        .has_default_timeout = writ_json_get(options, WRIT_LIT("defaultTimeoutMs")) != NULL,
        .default_timeout_ms = number_of(options, "defaultTimeoutMs"),
        .auto_checkpoint = writ_json_get(options, WRIT_LIT("autoCheckpoint")) != NULL,
    };
    if (memory != NULL) {
        WRIT_TRY(open_memory(s, memory));
    }
    if (!writ_is_ok(writ_crew_session_new(&s->options, &s->session, &below))) {
        return writ_fail(err, WRIT_E_PARSE, "no session: %s", below.err.text);
    }
    return WRIT_DONE;
}

static void
scenario_wipe(struct scenario *s)
{
    writ_crew_session_free(s->session);
    if (s->memory.ops != NULL) {
        s->memory.ops->free(s->memory.self);
    }
    writ_crew_graph_free(s->graph);
    while (s->registry_n > 0) {
        writ_crew_shape_free((struct writ_crew_shape *)s->registry[--s->registry_n].shape);
    }
    writ_crew_agents_free(s->agents);
    writ_crew_shape_free(s->shape);
    writ_crew_checkpoints_free(s->labels);
    writ_crew_checkpoints_free(s->store);
    writ_buf_wipe(&s->hook_calls);
    writ_buf_wipe(&s->log);
}

static void
run_steps(struct scenario *s)
{
    const struct writ_json *expect = writ_json_get(s->json, WRIT_LIT("expect"));
    const struct writ_json *wanted = writ_json_get(expect, WRIT_LIT("steps"));
    const struct writ_json *want = writ_json_first(wanted);
    size_t at = 0;

    WRIT_JSON_EACH(step, writ_json_get(s->json, WRIT_LIT("steps")))
    {
        run_step(s, at++, step, want);
        want = want != NULL ? writ_json_next(wanted, want) : NULL;
    }
    writ_buf_str(&s->log, s->log.len > 0 ? "]" : "[]");
    compare(s, "log", 0, writ_json_get(expect, WRIT_LIT("log")), writ_buf_view(&s->log));
}

WRIT_RESULT
writ_scenario_run(
    const struct writ_json *scenario, struct writ_buf *report, bool *ret_same, struct writ_err *err)
{
    WRIT_AUTO(struct scenario, scenario_wipe)
    s = {.json = scenario, .report = report, .same = true};

    if (!writ_json_is(writ_json_get(scenario, WRIT_LIT("format")), WRIT_LIT("crew-vector/1"))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a scenario: its format is not crew-vector/1");
    }
    s.hook_calls = writ_buf_make(TEXT_MAX);
    s.log = writ_buf_make(TEXT_MAX);
    s.labels = writ_crew_checkpoints_new();
    s.store = writ_crew_checkpoints_new();
    if (s.labels == NULL || s.store == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    if (read_inputs(&s)) {
        if (!read_registry(&s, err)) {
            return (writ_result){WRIT_E_PARSE};
        }
        compare_lint(&s);
        if (build(&s)) {
            WRIT_TRY(open_session(&s, err));
            run_steps(&s);
        }
    }
    *ret_same = s.same;
    return WRIT_DONE;
}
