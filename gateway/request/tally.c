/* tally.c - builds a line of the log from the known facts when a request ends, and counts it. A
 * line has ids, names and reasons, never a value of the call. */
#include "gateway/request/tally.h"

#include "gateway/request/request_span.h"
#include "policy/model/rule.h"

#define FIELDS_MAX 24

/* The members of one line, if known, and their generated texts. */
struct line {
    struct writ_log_field fields[FIELDS_MAX];
    size_t n;
    char limit[WRIT_DECIMAL_PUT_MAX], used[WRIT_DECIMAL_PUT_MAX], time[WRIT_TIME_TEXT];
};

static void
put(struct line *line, struct writ_log_field field)
{
    WRIT_INVARIANT(line->n < FIELDS_MAX);
    line->fields[line->n++] = field;
}

static void
put_text(struct line *line, const char *key, struct writ_view text)
{
    if (text.len > 0) {
        put(line, writ_log_text(key, text));
    }
}

static void
put_flag(struct line *line, const char *key, bool value)
{
    if (value) {
        put(line, writ_log_bool(key, true));
    }
}

static void
put_reason(struct line *line, enum writ_reason reason)
{
    if (reason != WRIT_REASON_NONE) {
        put_text(line, "reason", writ_reason_name(reason));
    }
}

static void
put_agent(struct line *line, const struct writ_request *request)
{
    put_text(line, "agent_id", request->identity.agent.id);
    put_text(line, "tenant", request->identity.agent.tenant);
}

static void
put_time(struct line *line, const struct writ_request *request)
{
    struct writ_exchange *x = request->x;

    put(line, writ_log_int("duration_us", writ_loop_now_us(x->loop) - x->arrived_us));
}

/* The line of the end of a request: of the log, and of its record for the collector. */
static void
end_line(const struct writ_request *request, enum writ_event event, const struct line *line)
{
    writ_log_write(request->worker->gateway->log, event, line->fields, line->n);
    writ_request_span_end(request, event, true, line->fields, line->n);
}

/* ---- a governed call ---- */

static bool
is_decided(const struct writ_call *call)
{
    return call->record.decision.decision_id.view.len > 0;
}

static struct writ_view
verdict_of(const struct writ_call *call)
{
    return is_decided(call) && call->record.decision.decision.view.len > 0
               ? call->record.decision.decision.view
               : WRIT_LIT("deny");
}

static enum writ_reason
reason_of(const struct writ_call *call)
{
    if (call->end.refusal != WRIT_REASON_NONE) {
        return call->end.refusal;
    }
    return call->shadowed != WRIT_REASON_NONE ? call->shadowed : call->verdict.reason;
}

/* The text stays in `memory`. */
static void
put_amount(struct line *line, const char *key, const struct writ_decimal *amount, char *memory)
{
    writ_auto_buf text = writ_buf_over(memory, WRIT_DECIMAL_PUT_MAX);

    writ_decimal_put(&text, amount);
    put_text(line, key, writ_buf_view(&text));
}

/* The budget that refused the call, in numbers that its caller does not see (docs/policy.md). An
 * amount above the limit was refused by policy: the ledger did not check the used amount. */
static void
put_exceeded(
    struct line *line, const struct writ_exceeded *exceeded, const struct writ_budget *too_small)
{
    if (too_small != NULL) {
        put_text(line, "budget", too_small->name);
        put_amount(line, "budget_limit", &too_small->limit, line->limit);
    }
    if (exceeded->budget.ptr == NULL) {
        return;
    }
    put_text(line, "budget", exceeded->budget);
    put_amount(line, "budget_limit", &exceeded->limit, line->limit);
    put_amount(line, "budget_used", &exceeded->used, line->used);
    writ_time_format(exceeded->frees_us, line->time);
    put_text(line, "budget_frees_at", writ_view_str(line->time));
}

static void
put_verdict(struct line *line, const struct writ_request *request)
{
    const struct writ_endpoint_kind *kind = request->endpoint->kind;
    struct writ_view verdict = verdict_of(request->call);
    enum writ_reason reason = reason_of(request->call);

    if (request->refused != WRIT_REASON_NONE) {
        reason = request->refused;
    } else if (kind->verdict != NULL) {
        kind->verdict(request, &verdict, &reason);
    }
    put_text(line, "verdict", writ_reason_verdict(verdict, writ_reason_name(reason)));
    put_reason(line, reason);
}

/* The end of the call in the ledger: an outcome, or a wait. */
static void
put_end(struct line *line, const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    const struct writ_entry *entry = &request->entry;

    if (entry->kind == WRIT_ENTRY_OUTCOME) {
        put_text(line, "outcome",
            entry->code == WRIT_OK ? writ_outcome_kind_name(call->end.outcome)
                                   : WRIT_LIT("not_recorded"));
        if (call->end.said == NULL) { /* else it is the caller's text */
            put_text(line, "error_type", call->end.error_type);
        }
    } else if (entry->kind == WRIT_ENTRY_WAIT && entry->code == WRIT_OK) {
        put_text(line, "waits_for", writ_request_wait_name(entry->wait.kind));
    } else if (entry->kind == WRIT_ENTRY_DECISION && entry->code == WRIT_OK) {
        put_exceeded(line, &entry->decision.exceeded, call->verdict.too_small);
        put_flag(line, "replayed",
            entry->decision.prior.result.ptr != NULL &&
                call->end.refusal == entry->decision.refused); /* else rules for results withheld
                                                                  it */
    }
}

static void
log_call(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    struct line line = {.n = 0};

    put_text(&line, "decision_id", call->record.decision.decision_id.view);
    put_agent(&line, request);
    put_text(&line, "upstream", call->callee.name);
    put_text(&line, "tool",
        call->callee.tool.len > 0 ? call->callee.tool : call->record.decision.tool.view);
    put(&line, writ_log_str("by", request->endpoint->kind->by));
    put_verdict(&line, request);
    put_text(&line, "constraint", call->verdict.constraint);
    put_flag(&line, "shadow", call->shadowed != WRIT_REASON_NONE);
    put_text(
        &line, "review", call->review.asks ? call->review.ask.id : (struct writ_view){NULL, 0});
    put_end(&line, request);
    put_time(&line, request);
    end_line(request, WRIT_EVENT_CALL, &line);
}

void
writ_tally_task(const struct writ_request *request, const struct writ_tally_task *task,
    const struct writ_entry *entry)
{
    struct line line = {.n = 0};

    if (entry->kind != WRIT_ENTRY_OUTCOME || entry->code == WRIT_E_INVALID) {
        return;
    }
    put_text(&line, "decision_id", task->decision->decision_id.view);
    put_agent(&line, request);
    put_text(&line, "upstream", task->upstream);
    put_text(&line, "tool", task->decision->tool.view);
    put_reason(&line, task->withheld);
    put_text(&line, "outcome",
        entry->code == WRIT_OK ? writ_outcome_kind_name(task->kind) : WRIT_LIT("not_recorded"));
    put_text(&line, "error_type", task->error_type);
    writ_log_write(request->worker->gateway->log, WRIT_EVENT_TASK_ENDED, line.fields, line.n);
    writ_request_span_line(request, WRIT_EVENT_TASK_ENDED, line.fields, line.n);
}

void
writ_tally_given_up(void *ctx, const struct writ_decision *decision,
    const struct writ_extension *extension, enum writ_reason reason)
{
    struct writ_gateway *gateway = ctx;
    struct line line = {.n = 0};

    put_text(&line, "decision_id", decision->decision_id.view);
    put_text(&line, "agent_id", decision->agent_id.view);
    put_text(&line, "tenant", writ_member_view(&extension->tenant));
    put_text(&line, "upstream", writ_member_view(&extension->upstream));
    put_text(&line, "tool", decision->tool.view);
    put_text(&line, "outcome", writ_outcome_kind_name(WRIT_OUTCOME_ERROR));
    put_text(&line, "error_type", writ_reason_name(reason));
    writ_metrics_mark(gateway->ledger_metrics, WRIT_VECTOR_OUTCOMES, WRIT_OUTCOME_ERROR);
    writ_log_write(gateway->log,
        reason == WRIT_REASON_TASK_EXPIRED ? WRIT_EVENT_TASK_ENDED : WRIT_EVENT_WAIT_EXPIRED,
        line.fields, line.n);
}

/* ---- what was no call ---- */

static void
log_refused(const struct writ_request *request)
{
    struct line line = {.n = 0};

    put_agent(&line, request);
    put_reason(&line, request->refused);
    put_text(&line, "path", request->endpoint->path);
    put_text(&line, "method", request->message.method);
    put_time(&line, request);
    end_line(request, WRIT_EVENT_REFUSED, &line);
}

static void
count_call(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    bool known = call->callee.upstream != NULL || call->callee.framework != NULL;
    enum writ_decision_route route = WRIT_DECISION_DENY;
    const struct writ_gateway *gateway = request->worker->gateway;
    struct writ_labels_call counted = {
        .upstream = known ? call->callee.name : (struct writ_view){NULL, 0},
        .rule = call->verdict.rule,
        .refused = request->refused != WRIT_REASON_NONE ? request->refused : call->end.refusal,
    };

    (void)writ_decision_route_of(&call->record.decision, &route);
    counted.verdict = route;
    writ_labels_count(gateway->labels, &counted);
    for (size_t i = 0; call->used != NULL && i < call->verdict.reservations_n; i++) {
        writ_labels_budget(gateway->labels, &counted, &call->verdict.reservations[i],
            &call->used[i], writ_clock_wall_us(gateway->clock));
    }
}

/* Every other request has no line, but spans. */
static void
trace_other(const struct writ_request *request)
{
    struct line line = {.n = 0};

    if (request->trace != NULL) {
        put_agent(&line, request);
        put_time(&line, request);
        writ_request_span_end(request, WRIT_EVENT_CALL, false, line.fields, line.n);
    }
}

void
writ_tally_end(const struct writ_request *request)
{
    bool told = request->worker->gateway->log->level >= WRIT_LOG_INFO ||
                writ_request_span_wants_line(request);

    if (request->call != NULL && !request->call->reads) {
        if (request->endpoint->kind->counted) {
            count_call(request);
        }
        if (told) {
            log_call(request);
        }
    } else if (told && request->refused != WRIT_REASON_NONE) {
        log_refused(request);
    } else {
        trace_other(request);
    }
}

void
writ_tally_stranger(struct writ_worker *worker, const struct writ_exchange *x,
    const struct writ_identity_result *identity)
{
    uint64_t dropped;

    if (identity->answer == WRIT_IDENTITY_MISSING ||
        !writ_log_rate_take(&worker->strangers, writ_loop_now_us(x->loop), &dropped)) {
        return;
    }
    WRIT_LOG(worker->gateway->log, WRIT_EVENT_TOKEN_REFUSED,
        writ_log_str("why", identity->description), writ_log_text("path", x->path),
        writ_log_text("peer", x->peer->address), writ_log_int("dropped", (int64_t)dropped));
}
