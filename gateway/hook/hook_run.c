/* hook_run.c - /v1/runs: opens a run with what it is for, or adds to that. The statement is
 * recorded as a decision that permits no call, so the run has it wherever its records are read:
 * after a restart, at another gateway, in a bundle. It is durable before the answer. */
#include "gateway/hook/hook.h"

#include "gateway/call/judge.h"
#include "gateway/listener/api_answer.h"
#include "gateway/request/caller_claims.h"

#include "base/id.h"
#include "evidence/json/write.h"
#include "policy/decide/flow.h"

#define ANSWER_MAX 4096
#define BY         "writ" /* in place of an upstream and its tool, in the record */
#define STATEMENT  "run"

static const struct writ_json no_arguments = {.type = WRIT_JSON_OBJECT, .span = 1};

/* The run that the caller names, or a new one. */
static bool
name_run(struct writ_request *request, struct writ_call *call)
{
    char *id = writ_arena_get(request->x->arena, WRIT_ID_TEXT);

    if (call->caller_claims.boundary.ptr != NULL) {
        return true;
    }
    if (id == NULL || !writ_is_ok(writ_id_new(request->worker->gateway->clock, id, NULL))) {
        return false;
    }
    call->caller_claims.boundary = writ_view(id, WRIT_ID_TEXT - 1);
    return true;
}

enum writ_step
writ_hook_run(struct writ_request *request)
{
    static const char *const known[] = {"boundary_id", "task", NULL};
    const struct writ_json *body = writ_hook_of(request)->body;
    struct writ_call *call = writ_arena_zeroed(request->x->arena, sizeof *call);

    if (call == NULL) {
        return writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
    }
    call->states = true;
    call->callee = (struct writ_callee){
        .name = WRIT_LIT(BY), .tool = WRIT_LIT(STATEMENT), .arguments = &no_arguments};
    call->observed.digest = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    call->verdict.reason = WRIT_REASON_TASK_STATED;
    call->caller_claims.task = writ_json_get(body, WRIT_LIT("task"));
    if (!writ_json_has_only(body, known) || call->caller_claims.task == NULL ||
        !writ_caller_claims_name(body, WRIT_LIT("boundary_id"), &call->caller_claims.boundary) ||
        writ_caller_claims_is_reserved(call->caller_claims.boundary)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "wants task, and may have boundary_id, a string of 1 to 512 bytes that does not begin "
            "with writ:, session: or agent:, and nothing else");
    }
    if (!writ_flow_may_state(writ_request_config(request), &request->identity.agent)) {
        return writ_hook_refuse(request, 403, WRIT_REASON_TASK_NOT_PERMITTED, NULL);
    }
    if (writ_judge_is_stopped(request, call, NULL)) {
        return writ_hook_refuse(request, 403, WRIT_REASON_KILLED, NULL);
    }
    if (!name_run(request, call)) {
        return writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
    }
    request->call = call;
    return WRIT_STEP_FOLLOW;
}

/* ---- ANSWER */

/* Why the run does not have the statement; TASK_STATED: it has it. */
static enum writ_reason
fault_of(const struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;

    return entry->code == WRIT_OK && entry->decision.elsewhere != WRIT_REASON_NONE
               ? entry->decision.elsewhere
               : request->call->end.refusal;
}

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_BOUNDARY_SEALED  ? 409
           : reason == WRIT_REASON_SHARE_EXCEEDED ? 429
                                                  : 503;
}

enum writ_step
writ_hook_run_answer(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    enum writ_reason fault = fault_of(request);
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    if (fault != WRIT_REASON_TASK_STATED) {
        return writ_hook_refuse(request, status_of(fault), fault, NULL);
    }
    writ_write_object_begin(&w);
    writ_write_text_if(&w, "boundary_id", call->run.id);
    writ_write_text_if(&w, "decision_id", call->record.decision.decision_id.view);
    return writ_hook_reply(request, &w, &body);
}
