/* Drives the crew library with the steps of a scenario: one row of the table of operations for
 * each. Results, also failures, are noted only in the step. */
#include "cli/vectors/scenario_step.h"

#include "cli/vectors/scenario_member.h"
#include "evidence/json/jcs.h"
#include "writ/jansson.h"

#define TEXT_MAX WRIT_SCENARIO_TEXT_MAX

/* ---- what the session calls */

double
writ_scenario_step_clock(void *user)
{
    return ((const struct writ_scenario_crew *)user)->now;
}

static void
act(struct writ_scenario_crew *crew, const struct writ_crew_hook *hook,
    const struct writ_json *action, struct writ_crew_control *control)
{
    struct writ_view from = writ_scenario_member_text(action, "from"),
                     to = writ_scenario_member_text(action, "to");
    struct writ_view name = writ_scenario_member_text(action, "action");
    enum writ_crew_action asked = WRIT_CREW_TALK_TO;
    bool allowed;

    if (writ_view_is(writ_scenario_member_text(action, "do"), "checkpoint")) {
        writ_crew_control_checkpoint(control, writ_scenario_member_text(action, "id"));
        return;
    }
    if (!writ_crew_action_read(name, &asked)) {
        return;
    }
    allowed = writ_crew_control_request(control, from, to, asked);
    writ_scenario_record_request(&crew->hook_calls, hook->name, from, to, name, allowed);
}

void
writ_scenario_step_hook(
    void *user, const struct writ_crew_hook *hook, struct writ_crew_control *control)
{
    struct writ_scenario_crew *crew = user;
    const struct writ_json *actions = writ_json_get(crew->hook_actions, hook->name);

    if (actions == NULL) {
        return;
    }
    writ_scenario_record_hook(&crew->hook_calls, hook);
    WRIT_JSON_EACH(action, actions)
    {
        act(crew, hook, action, control);
    }
}

/* ---- operations */

/* The result of a call: the error's name, or nothing. */
static bool
failed(struct writ_scenario_step *step, writ_result result, const struct writ_crew_err *err)
{
    if (!writ_is_ok(result)) {
        step->error = writ_crew_error_name(err->error);
    }
    return !writ_is_ok(result);
}

static void
op_start(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    writ_auto_buf input = writ_buf_make(TEXT_MAX);
    writ_auto_buf task = writ_buf_make(TEXT_MAX);
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_start(crew->session,
            writ_scenario_member_json(&input, step->json, "input"),
            writ_scenario_member_json(&task, step->json, "task"), &step->events, &err),
        &err);
}

static void
op_deliver(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    writ_auto_buf event = writ_buf_make(TEXT_MAX);
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_deliver(crew->session,
            writ_scenario_member_json(&event, step->json, "event"), &step->events, &err),
        &err);
}

static void
op_clock(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    crew->now = writ_json_get(step->json, WRIT_LIT("set")) != NULL
                    ? writ_scenario_member_number(step->json, "set")
                    : crew->now + writ_scenario_member_number(step->json, "advance");
}

static void
op_tick(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events = !failed(step,
        writ_crew_session_tick(
            crew->session, writ_scenario_member_number(step->json, "now"), &step->events, &err),
        &err);
}

static void
op_cancel(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    enum writ_crew_abort reason =
        writ_view_is(writ_scenario_member_text(step->json, "reason"), "timeout")
            ? WRIT_CREW_TIMEOUT
            : WRIT_CREW_CANCELLED;
    struct writ_crew_err err = {0};

    step->has_status = true;
    step->has_events =
        !failed(step, writ_crew_session_cancel(crew->session, reason, &step->events, &err), &err);
}

static void
op_action(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    enum writ_crew_action action = WRIT_CREW_TALK_TO;
    struct writ_crew_err err = {0};

    writ_crew_action_read(writ_scenario_member_text(step->json, "action"), &action);
    step->has_status = true;
    step->has_events = step->has_allowed = !failed(step,
        writ_crew_session_request(crew->session, writ_scenario_member_text(step->json, "from"),
            writ_scenario_member_text(step->json, "to"), action, &step->allowed, &step->events,
            &err),
        &err);
}

static void
op_pending(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    struct writ_crew_err err = {0};

    step->has_pending =
        !failed(step, writ_crew_session_pending(crew->session, &step->events, &err), &err);
}

static void
op_snapshot(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    struct writ_crew_err err = {0};

    if (!failed(step, writ_crew_session_snapshot(crew->session, &step->snapshot, &err), &err)) {
        WRIT_IGNORE(writ_crew_checkpoints_put(crew->labels,
            writ_scenario_member_text(step->json, "as"), step->snapshot)); /* missing at its use */
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
op_resume(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    writ_auto_buf texts = writ_buf_make(TEXT_MAX);
    struct writ_view later[LATER_MAX], other = writ_scenario_member_text(step->json, "crewId");
    struct writ_crew_options options = crew->options;
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
            writ_crew_value_text(writ_crew_checkpoints_get(
                crew->labels, writ_scenario_member_text(step->json, "from"))),
            later, n, policy_of(writ_scenario_member_text(step->json, "policy")), &session,
            &step->events, &err),
        &err);
    if (session != NULL) {
        writ_crew_session_free(crew->session);
        crew->session = session;
    }
}

static void
op_memory(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    if (crew->memory.ops == NULL ||
        !writ_is_ok(crew->memory.ops->snapshot(crew->memory.self, &step->memory))) {
        step->error = "no memory";
    }
}

static void
op_store(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    struct writ_view verb = writ_scenario_member_text(step->json, "do"),
                     id = writ_scenario_member_text(step->json, "id");

    if (writ_view_is(verb, "put")) {
        WRIT_IGNORE(writ_crew_checkpoints_put(crew->store, id,
            writ_crew_checkpoints_get(
                crew->labels, writ_scenario_member_text(step->json, "from"))));
    } else if (writ_view_is(verb, "get")) {
        step->snapshot = writ_crew_value_ref(writ_crew_checkpoints_get(crew->store, id));
        step->has_found = true;
        step->found = step->snapshot != NULL;
    } else if (writ_view_is(verb, "delete")) {
        writ_crew_checkpoints_delete(crew->store, id);
    } else {
        step->has_ids = true;
    }
}

/* The format reads as ECMAScript does: the last of duplicate members counts, and numbers are
 * doubles. jansson does so; our own reader would refuse such a text, and gets the text that jansson
 * made from it.
 */
static void
op_canonicalize(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    struct writ_view text = writ_scenario_member_text(step->json, "text");
    json_auto_t *read = json_loadb(
        text.ptr, text.len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
    struct writ_crew_value *value = NULL;
    struct writ_crew_err err = {0};
    char *canonical = NULL;
    size_t len = 0;

    (void)crew;
    if (read == NULL || !writ_is_ok(writ_jansson_write(read, &canonical, &len, NULL))) {
        step->error = "non_finite";
        return;
    }
    step->has_result =
        !failed(step, writ_crew_value_read(writ_view(canonical, len), NULL, &value, &err), &err);
    writ_buf_put(&step->result, writ_crew_value_text(value));
    writ_crew_value_free(value);
    writ_free(canonical);
}

static void
op_hash(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    char hash[16];

    (void)crew;
    writ_crew_hash(writ_scenario_member_text(step->json, "text"), hash);
    writ_buf_put(&step->result, writ_view(hash, sizeof hash));
    step->has_result = true;
}

static void
op_correlation(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    const struct writ_json *parts = writ_json_get(step->json, WRIT_LIT("parts"));
    char id[16] = {0};

    (void)crew;
    step->has_result = writ_is_ok(writ_crew_correlation(writ_scenario_member_text(parts, "crewId"),
        writ_scenario_member_text(parts, "roleId"), writ_scenario_member_text(parts, "agentId"),
        writ_scenario_member_number(parts, "attempt"), id));
    writ_buf_put(&step->result, writ_view(id, sizeof id));
}

#define VOTES_MAX 4096

static void
op_vote(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    static struct writ_crew_entry entries[VOTES_MAX];
    struct writ_crew_value *outputs[VOTES_MAX];
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_err err = {0};
    size_t n = 0;

    (void)crew;
    WRIT_JSON_EACH(vote, writ_json_get(step->json, WRIT_LIT("votes")))
    {
        struct writ_view output = writ_scenario_member_json(&text, vote, "output");
        outputs[n] = NULL;
        if (n + 1 == VOTES_MAX || (output.ptr != NULL && !writ_is_ok(writ_crew_value_read(
                                                             output, NULL, &outputs[n], &err)))) {
            break;
        }
        entries[n] = (struct writ_crew_entry){writ_scenario_member_text(vote, "agentId"),
            writ_scenario_member_text(vote, "roleId"), writ_crew_value_text(outputs[n]),
            writ_json_is_true(vote, WRIT_LIT("fault")),
            writ_json_is_true(vote, WRIT_LIT("stalled"))};
        n++;
    }
    step->has_resolved =
        !failed(step,
            writ_crew_voting_read(
                writ_scenario_member_json(&text, step->json, "config"), NULL, &voting, &err),
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
op_permission(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    enum writ_crew_action action = WRIT_CREW_TALK_TO;

    step->has_allowed = true;
    step->allowed =
        writ_crew_action_read(writ_scenario_member_text(step->json, "action"), &action) &&
        writ_crew_graph_allows(crew->graph, writ_scenario_member_text(step->json, "from"),
            writ_scenario_member_text(step->json, "to"), action);
}

static const struct operation {
    const char *name;
    void (*run)(struct writ_scenario_crew *crew, struct writ_scenario_step *step);
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

void
writ_scenario_step_run(struct writ_scenario_crew *crew, struct writ_scenario_step *step)
{
    struct writ_view name = writ_scenario_member_text(step->json, "op");

    writ_buf_clear(&crew->hook_calls);
    for (size_t at = 0; at < sizeof operations / sizeof *operations; at++) {
        if (writ_view_is(name, operations[at].name)) {
            operations[at].run(crew, step);
            return;
        }
    }
    step->error = "unknown operation";
}

void
writ_scenario_step_wipe(struct writ_scenario_step *step)
{
    writ_crew_value_free(step->memory);
    writ_crew_value_free(step->resolved);
    writ_crew_value_free(step->snapshot);
    writ_buf_wipe(&step->result);
}
