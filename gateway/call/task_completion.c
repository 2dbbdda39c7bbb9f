/* task_completion.c - reads the state of a task from a message, applies the rules for results, and
 * makes the outcome of the call. Only one message of a task records its outcome. */
#include "gateway/call/task_completion.h"

#include "gateway/call/after.h"
#include "gateway/call/follow.h"
#include "gateway/call/retain.h"
#include "gateway/mcp/rewrite.h"

#include "base/id.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "evidence/record/profile.h"
#include "gateway/request/tally.h"
#include "gateway/review/meet.h"
#include "policy/decide/output.h"

#define REWRITE_ROOM 65536
#define QUESTION_MAX 65536 /* bytes of our own tasks/result */
#define US_PER_MS    1000

/* ---- how one begins ---- */

/* The lifetime of the task that its server states; without one, as long as we wait. */
static int64_t
time_of(const struct writ_request *request, const struct writ_json *ttl_ms)
{
    int64_t most_us = writ_request_config(request)->sessions.wait_us;
    int64_t ttl = 0;

    if (!writ_is_ok(writ_json_integer(ttl_ms, 1, INT64_MAX / US_PER_MS, &ttl))) {
        return most_us;
    }
    return ttl * US_PER_MS < most_us ? ttl * US_PER_MS : most_us;
}

void
writ_task_completion_await(struct writ_request *request, const struct writ_json *result)
{
    struct writ_call *call = request->call;
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;
    const struct writ_json *task =
        modern ? result : writ_json_get_typed(result, WRIT_LIT("task"), WRIT_JSON_OBJECT);
    struct writ_view id = writ_json_string(writ_json_get(task, WRIT_LIT("taskId")));
    bool is_task =
        modern ? writ_json_is(writ_json_get(result, WRIT_LIT("resultType")), WRIT_LIT("task"))
               : writ_json_get(request->message.params, WRIT_LIT("task")) != NULL;

    if (!is_task || id.len == 0 || id.len > WRIT_TASK_COMPLETION_ID_MAX ||
        !writ_is_ok(writ_ledger_task(request->identity.agent.tenant, request->identity.agent.id,
            call->callee.name, id, &call->end.name, NULL))) {
        return;
    }
    call->end.waits = WRIT_WAIT_TASK;
    call->end.wait_us =
        time_of(request, writ_json_get(task, modern ? WRIT_LIT("ttlMs") : WRIT_LIT("ttl")));
}

#define TASK_FAILED    WRIT_LIT("task_failed")
#define TASK_CANCELLED WRIT_LIT("task_cancelled")
#define TOOL_ERROR     WRIT_LIT("tool_error")

enum writ_task_form
writ_task_completion_form(enum writ_mcp_method method, enum writ_mcp_era era)
{
    if (method == WRIT_MCP_TASKS_RESULT) {
        return WRIT_TASK_RESULT;
    }
    return era == WRIT_MCP_ERA_MODERN ? WRIT_TASK_WHOLE : WRIT_TASK_STATUS;
}

static const struct writ_json *
parse(const struct writ_task_completion *end, struct writ_view text)
{
    const struct writ_json *value = NULL;

    return writ_is_ok(writ_mcp_parse(text, end->arena, &value)) ? value : NULL;
}

/* ---- the rules for results ---- */

/* The value that would have answered the call, and its place in the message. */
struct value {
    const struct writ_json *json; /* NULL: the message has none */
    struct writ_view path[2];
    size_t depth;
    bool is_error; /* of JSON-RPC */
};

static struct writ_view
holder_of(enum writ_task_form form)
{
    return form == WRIT_TASK_NOTICE || form == WRIT_TASK_NEWS ? WRIT_LIT("params")
                                                              : WRIT_LIT("result");
}

static struct value
find_value(enum writ_task_form form, const struct writ_json *message)
{
    static const struct writ_view names[] = {
        {"result", sizeof "result" - 1}, {"error", sizeof "error" - 1}};
    bool whole = form == WRIT_TASK_RESULT;
    const struct writ_json *holder = whole ? message : writ_json_get(message, holder_of(form));
    struct value value = {.depth = whole ? 1 : 2};

    value.path[0] = holder_of(form);
    for (size_t i = 0; i < 2 && form != WRIT_TASK_STATUS && form != WRIT_TASK_NOTICE; i++) {
        value.json = writ_json_get(holder, names[i]);
        if (value.json != NULL) {
            value.path[value.depth - 1] = names[i];
            value.is_error = i == 1;
            return value;
        }
    }
    return value;
}

/* The digest in the arena, empty for a value without canonical form: the tool ran nevertheless. The
 * result is kept among the contents. */
static struct writ_view
hash(struct writ_task_completion *end, const struct value *found, const struct writ_json *value,
    size_t *ret_bytes)
{
    writ_auto_buf canonical = writ_buf_make((size_t)end->config->limits.response_bytes * 2);
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    end->contents.result = (struct writ_view){NULL, 0};
    if (!writ_is_ok(writ_jcs_put(&canonical, value, NULL)) ||
        !writ_is_ok(writ_digest_bytes(writ_buf_view(&canonical), &digest, NULL))) {
        return (struct writ_view){NULL, 0};
    }
    *ret_bytes = canonical.len;
    if (!found->is_error && writ_retain_takes(&end->contents, canonical.len)) {
        end->contents.result = writ_view_copy(writ_buf_view(&canonical), end->arena);
    }
    writ_digest_text(&digest, text);
    return writ_view_copy(writ_view_str(text), end->arena);
}

static enum writ_reason
take_changed(struct writ_task_completion *end, const struct writ_json *message,
    const struct value *value, const struct writ_output *output, struct writ_view *text)
{
    struct writ_buf changed =
        writ_buf_in(end->arena, 8 * text->len + WRIT_OUTPUT_GROWTH_MAX + REWRITE_ROOM);
    const struct writ_json *told = parse(end, output->text);
    size_t bytes = 0;

    if (told == NULL ||
        !writ_is_ok(writ_rewrite_at(message, value->path, value->depth, output->text, &changed))) {
        return WRIT_REASON_RESULT_RULE_FAILED;
    }
    end->after_hash = hash(end, value, told, &bytes);
    end->shown = told;
    *text = writ_buf_view(&changed);
    return WRIT_REASON_NONE;
}

/* Returns whether a rule wants the result recorded as an error. */
static bool
apply_rules(struct writ_task_completion *end, const struct writ_json *message,
    const struct value *value, struct writ_view *text)
{
    const struct writ_tool_rule *rule = writ_policy_find(
        end->config, end->agent, end->upstream, end->call.decision.tool.view, NULL);
    struct writ_output output;
    size_t bytes = text->len;

    end->contents =
        writ_retain_of(end->config, end->upstream, &end->call.decision, rule, end->arena);
    end->output_hash = hash(end, value, value->json, &bytes);
    end->rule = rule;
    end->shown = value->json;
    if (rule == NULL || rule->result == NULL) {
        return false;
    }
    if (value->is_error) {
        writ_output_apply_error(rule->result, end->clock, value->json, bytes, end->arena, &output);
    } else {
        writ_output_apply(rule->result, end->clock, value->json, bytes, end->arena, &output);
    }
    end->output_rules = output.applied;
    end->withheld = output.refused;
    if (output.refused == WRIT_REASON_NONE && output.changed) {
        end->withheld = take_changed(end, message, value, &output, text);
    }
    if (end->withheld != WRIT_REASON_NONE) {
        end->shown = NULL;
        end->contents.result = (struct writ_view){NULL, 0};
        end->contents.too_large = false;
    }
    return output.is_error;
}

/* ---- what a message says ---- */

static enum writ_task_says
failed(struct writ_task_completion *end, struct writ_view error_type)
{
    end->kind = WRIT_OUTCOME_ERROR;
    end->error_type = error_type;
    return WRIT_TASK_SAYS_OVER;
}

static enum writ_task_says
executed(struct writ_task_completion *end, bool is_error)
{
    end->kind = is_error ? WRIT_OUTCOME_ERROR : WRIT_OUTCOME_EXECUTED;
    end->error_type = is_error ? TOOL_ERROR : (struct writ_view){NULL, 0};
    return WRIT_TASK_SAYS_OVER;
}

/* tasks/result: an unknown task is not a failed one. */
static enum writ_task_says
learn_result(struct writ_task_completion *end, const struct value *value, bool is_error)
{
    int64_t code = 0;

    if (value->json == NULL) {
        return WRIT_TASK_SAYS_NOTHING;
    }
    if (!value->is_error) {
        return executed(end, is_error);
    }
    if (!writ_is_ok(writ_json_integer(
            writ_json_get(value->json, WRIT_LIT("code")), INT32_MIN, INT32_MAX, &code)) ||
        code == WRIT_RPC_INVALID_PARAMS) {
        return WRIT_TASK_SAYS_NOTHING;
    }
    return failed(end, TASK_FAILED);
}

static void
know_status(struct writ_task_completion *end, bool has_failed)
{
    end->kind = has_failed ? WRIT_OUTCOME_ERROR : WRIT_OUTCOME_EXECUTED;
    end->error_type = has_failed ? TASK_FAILED : (struct writ_view){NULL, 0};
}

static enum writ_task_says
learn_status(struct writ_task_completion *end, enum writ_task_form form,
    const struct writ_json *task, const struct value *value, bool is_error)
{
    const struct writ_json *status = writ_json_get(task, WRIT_LIT("status"));
    bool has_failed = writ_json_is(status, WRIT_LIT("failed"));

    if (writ_json_is(status, WRIT_LIT("cancelled"))) {
        return failed(end, TASK_CANCELLED);
    }
    if (!has_failed && !writ_json_is(status, WRIT_LIT("completed"))) {
        return WRIT_TASK_SAYS_NOTHING;
    }
    if (form == WRIT_TASK_STATUS || form == WRIT_TASK_NOTICE) {
        know_status(end, has_failed); /* until the result was requested */
        return WRIT_TASK_SAYS_ASK;
    }
    if (has_failed) {
        return failed(end, TASK_FAILED);
    }
    if (value->json == NULL || value->is_error) {
        end->output_hash = (struct writ_view){NULL, 0};
    }
    return executed(end, is_error);
}

enum writ_task_says
writ_task_completion_learn(
    struct writ_task_completion *end, enum writ_task_form form, struct writ_view *text)
{
    const struct writ_json *message = parse(end, *text);
    struct value value = find_value(form, message);
    bool is_error = value.json != NULL && apply_rules(end, message, &value, text);

    if (end->call.ended || message == NULL) {
        return WRIT_TASK_SAYS_NOTHING;
    }
    if (form == WRIT_TASK_RESULT) {
        return learn_result(end, &value, is_error);
    }
    return learn_status(end, form, writ_json_get(message, holder_of(form)), &value, is_error);
}

/* ---- asking for the result ---- */

static void
question_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_task_question *question = upcall->ctx;
    struct writ_view body = writ_view_copy(answer->body, question->end->arena);
    bool lost = writ_meet_is_lost(question->request, question->upstream, &upcall->request, answer);

    if (!lost && answer->end == WRIT_UPCALL_ANSWERED && body.ptr != NULL) {
        (void)writ_task_completion_learn(question->end, WRIT_TASK_RESULT, &body);
    }
    question->done(question->ctx);
}

static const struct writ_upcall_events question_events = {.end = question_end};

/* Its id is unique, because a server may distinguish the requests of a session only by it. */
static writ_result
question_body(const struct writ_task_completion *end, struct writ_view task, struct writ_view *ret)
{
    writ_auto_buf id = writ_buf_make(64);
    struct writ_buf body = writ_buf_in(end->arena, QUESTION_MAX);
    struct writ_write w = writ_write_to(&body);
    uint64_t random;

    WRIT_TRY(writ_random(&random, sizeof random, NULL));
    writ_buf_str(&id, "writ-task-");
    writ_buf_u64(&id, random);
    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(&w, "id", writ_buf_view(&id));
    writ_write_text(&w, "method", WRIT_LIT("tasks/result"));
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    writ_write_text(&w, "taskId", task);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    *ret = writ_buf_view(&body);
    return WRIT_DONE;
}

writ_result
writ_task_completion_ask(struct writ_request *request, struct writ_upstream *upstream,
    struct writ_view id, struct writ_task_question *question)
{
    struct writ_upcall_request *wanted = &question->upcall.request;
    struct writ_view body;

    WRIT_TRY(question_body(question->end, id, &body));
    WRIT_TRY(writ_upcall_request_own(
        request, upstream, body, &question->message, question->headers, wanted));
    wanted->total_us = wanted->timeout_us;
    question->request = request;
    question->upstream = upstream;
    question->upcall.events = &question_events;
    question->upcall.ctx = question;
    writ_upcall_start(upstream, request->worker, &question->upcall);
    return WRIT_DONE;
}

/* ---- the outcome ---- */

static const struct writ_profile *
profile_of(const struct writ_task_completion *end)
{
    struct writ_extension extension = {0};
    const struct writ_profile *profile = NULL;

    if (writ_is_ok(
            writ_extension_read(&end->call.decision.extensions, end->arena, &extension, NULL)) &&
        extension.profile.is == WRIT_PRESENT) {
        profile = writ_profile_find(extension.profile.view);
    }
    return profile != NULL ? profile : writ_profile_default();
}

writ_result
writ_task_completion_record(struct writ_task_completion *end, struct writ_entry *ret)
{
    const struct writ_run_flow flow =
        writ_follow_result(end->generation, end->rule, NULL, end->shown, false, end->arena);
    const struct writ_after_marks marks = {.rules = end->output_rules,
        .before = end->output_hash,
        .after = end->after_hash,
        .refused = end->withheld,
        .flow = flow.text,
        .too_large = end->contents.too_large};

    end->outcome = writ_outcome_for(&end->call.decision, end->kind);
    if (end->kind == WRIT_OUTCOME_ERROR) {
        end->outcome.error_type = writ_member_text(end->error_type);
    }
    if (end->output_hash.len > 0 && !writ_view_equal(end->error_type, TASK_FAILED)) {
        end->outcome.tool_output_hash = writ_member_text(end->output_hash);
    }
    *ret = (struct writ_entry){
        .kind = WRIT_ENTRY_OUTCOME,
        .outcome = {.leaf = end->call.leaf,
            .decision = &end->call.decision,
            .profile = profile_of(end),
            .outcome = &end->outcome,
            .content = writ_retain_result(end->keys, &end->contents, &end->call.decision,
                &end->outcome, writ_clock_wall_us(end->clock), end->arena)},
    };
    WRIT_TRY(writ_after_extend(&marks, end->arena, &end->outcome.extensions));
    writ_follow_ended(end->gateway, end->generation, end->agent->tenant, &end->call.decision,
        &end->outcome, &flow);
    return WRIT_DONE;
}

/* WRIT_E_INVALID: another request recorded it at the same time. */
bool
writ_task_completion_is_settled(const struct writ_entry *entry)
{
    return entry->kind != WRIT_ENTRY_OUTCOME || entry->code == WRIT_OK ||
           entry->code == WRIT_E_INVALID;
}

void
writ_task_completion_tell(const struct writ_request *request,
    const struct writ_task_completion *end, const struct writ_entry *entry)
{
    const struct writ_tally_task task = {
        .decision = &end->call.decision,
        .upstream = end->upstream,
        .kind = end->kind,
        .error_type = writ_member_view(&end->outcome.error_type),
        .withheld = end->withheld,
    };

    writ_tally_task(request, &task, entry);
}
