/* follow.c - see follow.h. The lock of a state is held for the time of one judgement. */
#include "gateway/call/follow.h"

#include "evidence/json/write.h"
#include "gateway/call/call_key.h"
#include "gateway/call/overrule.h"
#include "gateway/mcp/tool_name.h"
#include "gateway/request/refusal.h"
#include "gateway/state/runs.h"
#include "policy/decide/flow_rules.h"
#include "policy/decide/labels.h"
#include "policy/model/flow.h"
#include "policy/model/glob.h"

#define RUN_WINDOW_US (INT64_C(31) * 86400 * 1000000) /* longer than any run: of `at_most` */
#define TOOLS_MAX     ((size_t)256 << 10)             /* bytes of the tools of a task */
#define READS_MAX     8                               /* of a run that gets records all the time */

/* ---- the task ---- */

static enum writ_step
bad_task(struct writ_request *request)
{
    return writ_refusal_http(request, request->endpoint->kind->problems ? 422 : 400,
        WRIT_RPC_INVALID_PARAMS, WRIT_REASON_MALFORMED_REQUEST,
        "a task is a text of at most 65536 bytes, or {text, tools}, with at most 256 tools as "
        "upstream/tool, as they are listed, or as a pattern of these");
}

/* "upstream/tool" of a name as the client sees it, or as the policy has it. */
static bool
put_tool(const struct writ_request *request, struct writ_view name, struct writ_write *w)
{
    struct writ_buf whole = writ_buf_in(request->x->arena, 2 * WRIT_LEDGER_NAME_MAX);
    struct writ_view upstream, tool;

    if (name.len == 0 || name.len > WRIT_LEDGER_NAME_MAX || writ_glob_fault(name) != NULL) {
        return false;
    }
    if (writ_view_find(name, '/') < name.len) {
        writ_write_string(w, name);
        return true;
    }
    if (request->endpoint->only != NULL) {
        upstream = writ_upstream_config(request->endpoint->only)->name;
        tool = name;
    } else if (!writ_tool_name_split(
                   writ_request_config(request)->separator, name, &upstream, &tool)) {
        return false;
    }
    writ_buf_put(&whole, upstream);
    writ_buf_byte(&whole, '/');
    writ_buf_put(&whole, tool);
    writ_write_string(w, writ_buf_view(&whole));
    return writ_is_ok(writ_buf_check(&whole, NULL));
}

static bool
read_tools(
    const struct writ_request *request, const struct writ_json *tools, struct writ_task_stated *ret)
{
    struct writ_buf text = writ_buf_in(request->x->arena, TOOLS_MAX);
    struct writ_write w = writ_write_to(&text);
    bool good = writ_json_type(tools) == WRIT_JSON_ARRAY && tools->count <= WRIT_TASK_TOOLS_MAX;

    if (tools == NULL) {
        return true;
    }
    writ_write_array_begin(&w);
    WRIT_JSON_EACH(tool, tools)
    {
        good = good && put_tool(request, writ_json_string(tool), &w);
    }
    writ_write_array_end(&w);
    return writ_is_ok(writ_write_end(&w, NULL)) && good &&
           writ_is_ok(writ_json_read(writ_buf_view(&text), &writ_json_limits_default,
               request->x->arena, &ret->tools, NULL));
}

/* False: a statement of another form. A policy without `tasks` takes none. */
static bool
read_task(const struct writ_request *request, struct writ_task_stated *ret)
{
    static const char *const known[] = {"text", "tools", NULL};
    const struct writ_json *task = request->call->caller_claims.task;
    const struct writ_json *text = task;

    if (task == NULL || writ_request_config(request)->tasks == NULL) {
        return true;
    }
    if (writ_json_type(task) == WRIT_JSON_OBJECT) {
        text = writ_json_get(task, WRIT_LIT("text"));
        if (!writ_json_has_only(task, known) ||
            !read_tools(request, writ_json_get(task, WRIT_LIT("tools")), ret)) {
            return false;
        }
    }
    ret->text = writ_json_string(text);
    return ret->text.ptr != NULL && ret->text.len <= WRIT_TASK_MAX;
}

/* ---- the state of the run ---- */

/* A state that is read from the ledger, on the thread of the queries. */
struct writ_follow_read {
    struct writ_run_waiter waiter; /* while another request reads it */
    struct writ_request *request;
    struct writ_run *run;         /* that was read */
    bool known;                   /* of a shared ledger: the state is that of now */
    struct writ_run_state *state; /* held while it is read */
    uint64_t records;             /* of the state, before it was read */
    int reads;
};

static void
read_run(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct writ_follow_read *read = lookup->ctx;
    const struct writ_request *request = read->request;

    if (reader != NULL) {
        WRIT_IGNORE(writ_runs_read(reader, request->identity.agent.tenant, request->call->run.id,
            request->generation->marks, &read->run, NULL));
    }
}

static void
read_shared(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct writ_follow_read *read = lookup->ctx;
    const struct writ_request *request = read->request;

    read->known = reader != NULL &&
                  writ_is_ok(writ_runs_follow(reader, read->state, request->identity.agent.tenant,
                      request->call->run.id, request->generation->marks, NULL));
    writ_request_looked(read->request);
}

/* Wakes all that wait for the state. Each may be gone as soon as it is woken. */
static void
wake(struct writ_run_waiter *waiting, bool failed)
{
    while (waiting != NULL) {
        struct writ_run_waiter *next = waiting->next;
        waiting->failed = failed;
        waiting->wake(waiting);
        waiting = next;
    }
}

/* The state that was read counts if no record was added meanwhile: it may lack that one. */
static void
read_kept(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct writ_follow_read *read = lookup->ctx;
    struct writ_run_state *state = read->state;
    struct writ_run_waiter *waiting;

    read_run(lookup, reader);
    read->waiter.failed = read->run == NULL;
    (void)pthread_mutex_lock(&state->lock);
    if (state->run == NULL && state->records == read->records) {
        state->run = WRIT_TAKE(read->run);
    }
    state->reading = false;
    waiting = WRIT_TAKE(state->waiting);
    (void)pthread_mutex_unlock(&state->lock);
    writ_run_free(WRIT_TAKE(read->run));
    wake(waiting, read->waiter.failed);
    writ_request_looked(read->request);
}

static void
wake_request(struct writ_run_waiter *waiter)
{
    struct writ_follow_read *read = (struct writ_follow_read *)waiter; /* its first member */

    writ_request_looked(read->request);
}

static struct writ_run_state *
hold(const struct writ_gateway *gateway, struct writ_view tenant, struct writ_view run)
{
    struct writ_run_state *state = NULL;

    WRIT_IGNORE(writ_runs_hold(gateway->runs, tenant, run, &state, NULL));
    if (state != NULL) {
        (void)pthread_mutex_lock(&state->lock);
    }
    return state;
}

static void
let_go(const struct writ_gateway *gateway, struct writ_run_state *state)
{
    (void)pthread_mutex_unlock(&state->lock);
    writ_runs_drop(gateway->runs, state);
}

/* ---- judging ---- */

/* `at_most` of a flow is a budget of the run: the ledger counts, for all gateways. */
static bool
reserve_one(
    struct writ_request *request, const struct writ_flow_rule *flow, struct writ_reservation *ret)
{
    *ret = (struct writ_reservation){.name = flow->ref,
        .window_us = RUN_WINDOW_US,
        .counts_calls = true,
        .limit = writ_decimal_of(flow->at_most),
        .amount = writ_decimal_of(1)};
    return writ_is_ok(writ_flow_rules_counter(
        flow, request->identity.agent.tenant, request->call->run.id, &ret->key));
}

static bool
reserve(struct writ_request *request)
{
    const struct writ_config *config = writ_request_config(request);
    struct writ_call *call = request->call;
    struct writ_verdict *verdict = &call->verdict;
    struct writ_reservation *all =
        writ_arena_get(request->x->arena, WRIT_RESERVATIONS_MAX * sizeof *all);
    size_t n = verdict->reservations_n;

    if (all == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        all[i] = verdict->reservations[i];
    }
    for (size_t i = 0; i < config->flows_n; i++) {
        const struct writ_flow_rule *flow = &config->flows[i];
        if (flow->at_most == 0 ||
            !writ_flow_rules_is_sink(flow, call->callee.name, call->callee.tool)) {
            continue;
        }
        if (n == WRIT_RESERVATIONS_MAX || !reserve_one(request, flow, &all[n])) {
            return false;
        }
        n++;
    }
    verdict->reservations = all;
    verdict->reservations_n = n;
    return true;
}

static void
refuse(struct writ_request *request, const struct writ_flow_verdict *found)
{
    struct writ_call *call = request->call;

    writ_overrule_verdict(call, found->reason);
    call->verdict.argument = found->argument;
    call->verdict.constraint = found->constraint.len > 0 ? found->constraint : found->rule;
    call->verdict.accepted = found->accepted;
}

static void
apply(struct writ_request *request, const struct writ_flow_verdict *found)
{
    struct writ_call *call = request->call;

    call->follow = *found;
    if (found->reason != WRIT_REASON_NONE) {
        refuse(request, found);
    } else if (found->approval != NULL && call->verdict.shadow) {
        call->shadowed = WRIT_REASON_APPROVAL_REQUIRED;
    } else if (found->approval != NULL && call->verdict.approval == NULL) {
        call->verdict.approval = found->approval;
    }
}

static enum writ_step
unknown(struct writ_request *request)
{
    static const struct writ_flow_verdict found = {.reason = WRIT_REASON_RUN_STATE_UNKNOWN};

    apply(request, &found);
    return WRIT_STEP_DRAFT;
}

static void
judge(struct writ_request *request, const struct writ_run *run, const struct writ_task_stated *task)
{
    struct writ_call *call = request->call;
    const struct writ_policy_call asked = {.agent = &request->identity.agent,
        .upstream = call->callee.name,
        .tool = call->callee.tool,
        .arguments = call->callee.arguments};
    const struct writ_flow_call of = {.call = &asked,
        .rule = call->states ? NULL : call->verdict.rule,
        .task = task,
        .hints = call->learned.known ? &call->learned.hints : NULL,
        .now_us = writ_clock_wall_us(request->worker->gateway->clock)};
    struct writ_flow_verdict found;

    writ_flow_judge(writ_request_config(request), run, request->generation->marks, &of,
        request->x->arena, &found);
    if (found.reason == WRIT_REASON_NONE && !call->states && !reserve(request)) {
        found.reason = WRIT_REASON_RUN_STATE_UNKNOWN;
        found.approval = NULL;
    }
    apply(request, &found);
}

static void
drop_read(const struct writ_gateway *gateway, struct writ_follow_read *read)
{
    if (read->state != NULL) {
        writ_runs_drop(gateway->runs, WRIT_TAKE(read->state));
    }
    writ_run_free(WRIT_TAKE(read->run));
}

/* Reads the state that this gateway keeps, or waits for the request that reads it. Under its lock.
 */
static bool
look_kept(struct writ_request *request)
{
    struct writ_follow_read *read = request->call->follow_read;
    struct writ_run_state *state = read->state;

    if (read->waiter.failed || read->reads++ == READS_MAX) {
        return false;
    }
    if (state->reading) {
        read->waiter.wake = wake_request;
        read->waiter.next = state->waiting;
        writ_request_park(request, WRIT_STEP_FOLLOW);
        state->waiting = &read->waiter;
        return true;
    }
    read->records = state->records;
    state->reading = writ_is_ok(writ_request_look(request, read_kept, read, WRIT_STEP_FOLLOW));
    return state->reading;
}

/* Judges by the state that is kept, or reads it first. */
static enum writ_step
judge_kept(struct writ_request *request, const struct writ_task_stated *task)
{
    struct writ_follow_read *read = request->call->follow_read;
    struct writ_run *run;
    bool waits = false;

    (void)pthread_mutex_lock(&read->state->lock);
    run = read->state->run;
    if (run != NULL) {
        judge(request, run, task);
    } else {
        waits = look_kept(request);
    }
    (void)pthread_mutex_unlock(&read->state->lock);
    if (waits) {
        return WRIT_STEP_WAIT;
    }
    drop_read(request->worker->gateway, read);
    return run != NULL ? WRIT_STEP_DRAFT : unknown(request);
}

/* Judges by the state that the ledger has now, or had later. */
static enum writ_step
judge_shared(struct writ_request *request, const struct writ_task_stated *task)
{
    struct writ_follow_read *read = request->call->follow_read;
    bool known = false;

    if (read->reads++ == 0 &&
        writ_is_ok(writ_request_look(request, read_shared, read, WRIT_STEP_FOLLOW))) {
        return WRIT_STEP_WAIT;
    }
    (void)pthread_mutex_lock(&read->state->lock);
    known = read->known && read->state->run != NULL;
    if (known) {
        judge(request, read->state->run, task);
    }
    (void)pthread_mutex_unlock(&read->state->lock);
    drop_read(request->worker->gateway, read);
    return known ? WRIT_STEP_DRAFT : unknown(request);
}

/* Prepares to judge: the name of the run, and a hold of its state. */
static bool
begin(struct writ_request *request)
{
    const struct writ_gateway *gateway = request->worker->gateway;
    struct writ_call *call = request->call;
    struct writ_follow_read *read = writ_arena_zeroed(request->x->arena, sizeof *read);

    if (read == NULL || !writ_is_ok(writ_call_key_run(request))) {
        return false;
    }
    read->request = request;
    call->follow_read = read;
    return writ_is_ok(writ_runs_hold(
        gateway->runs, request->identity.agent.tenant, call->run.id, &read->state, NULL));
}

enum writ_step
writ_follow_run(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct writ_task_stated task = {.text = {NULL, 0}};

    if (!writ_request_config(request)->follows_values ||
        (!call->states && (!writ_request_may_pass(request) || call->verdict.rule == NULL))) {
        return WRIT_STEP_DRAFT;
    }
    if (!read_task(request, &task)) {
        if (call->follow_read != NULL) {
            drop_read(request->worker->gateway, call->follow_read);
        }
        return bad_task(request);
    }
    if (call->follow_read == NULL && !begin(request)) {
        return unknown(request);
    }
    return writ_ledger_is_shared(request->worker->gateway->ledger) ? judge_shared(request, &task)
                                                                   : judge_kept(request, &task);
}

/* ---- what its records add ---- */

/* What a record adds to the state of its run; without memory for it the state is made again. */
static void
add(struct writ_gateway *gateway, const struct writ_mark_key *key, struct writ_view tenant,
    struct writ_view run, const struct writ_run_decision *decision,
    const struct writ_run_outcome *outcome)
{
    struct writ_run_state *state;
    writ_result r = WRIT_DONE;

    if (writ_ledger_is_shared(gateway->ledger)) {
        return; /* it is read from there */
    }
    if (key == NULL) {
        writ_runs_forget(gateway->runs, tenant, run); /* a policy with rules may have kept one */
        return;
    }
    state = hold(gateway, tenant, run);
    if (state == NULL) {
        return; /* without a state it will be read */
    }
    state->records++;
    if (state->run != NULL) {
        r = decision != NULL ? writ_run_decided(state->run, writ_mark_key_id(key), decision, NULL)
                             : writ_run_ended(state->run, writ_mark_key_id(key), outcome, NULL);
    }
    if (!writ_is_ok(r)) {
        writ_run_free(WRIT_TAKE(state->run));
    }
    let_go(gateway, state);
}

/* The decision as the ledger has it. */
static struct writ_run_decision
decided(const struct writ_call *call)
{
    const struct writ_decision *d = &call->record.decision;
    struct writ_run_decision ret = {.decision_id = d->decision_id.view,
        .upstream = call->callee.name,
        .tool = d->tool.view,
        .let_through = writ_decision_is(d, WRIT_DECISION_ALLOW) ||
                       call->record.extension.shadow.is == WRIT_PRESENT,
        .approved = d->continuation_id.is == WRIT_PRESENT,
        .read = call->reads,
        .flow = call->follow.record};

    WRIT_IGNORE(writ_time_read(writ_member_view(&d->issued_at), &ret.issued_us));
    return ret;
}

void
writ_follow_decided(struct writ_request *request)
{
    struct writ_run_decision decision = decided(request->call);

    if (decision.flow.ptr == NULL && !decision.let_through && !decision.read) {
        return;
    }
    decision.repeated = writ_run_is_repeat(writ_reason_name(request->entry.decision.refused));
    add(request->worker->gateway, request->generation->marks, request->identity.agent.tenant,
        request->call->record.decision.boundary_id.view, &decision, NULL);
}

struct writ_run_flow
writ_follow_result(const struct writ_generation *generation, const struct writ_tool_rule *rule,
    const unsigned *hints, const struct writ_json *result, bool unseen, struct writ_arena *arena)
{
    struct writ_run_flow flow = {.text = {NULL, 0}};

    if (generation->marks != NULL && rule != NULL) {
        WRIT_IGNORE(writ_labels_outcome(
            rule->labels, hints, result, unseen, generation->marks, arena, &flow, NULL));
    }
    return flow;
}

void
writ_follow_ended(struct writ_gateway *gateway, const struct writ_generation *generation,
    struct writ_view tenant, const struct writ_decision *decision,
    const struct writ_outcome *outcome, const struct writ_run_flow *flow)
{
    const struct writ_run_outcome ended = {.decision_id = decision->decision_id.view,
        .executed = writ_outcome_is(outcome, WRIT_OUTCOME_EXECUTED),
        .flow = *flow};

    add(gateway, generation->marks, tenant, decision->boundary_id.view, NULL, &ended);
}
