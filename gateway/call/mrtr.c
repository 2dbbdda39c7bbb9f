/* mrtr.c - the name of a waiting call is a digest of the call and of the requestState, so only the
 * same call with the same state finds it. The ledger decides which request takes it. */
#include "gateway/call/mrtr.h"

#include "evidence/record/derive.h"
#include "gateway/call/call_key.h"
#include "gateway/request/refusal.h"

#include "evidence/json/jcs.h"
#include "policy/decide/exact.h"
#include "policy/model/trail.h"

/* ---- what the client brings ---- */

static void
put_member(struct writ_buf *text, const char *name, const struct writ_json *value, writ_result *r)
{
    if (value == NULL || !writ_is_ok(*r)) {
        return;
    }
    writ_buf_str(text, text->len > 1 ? "," : "");
    writ_buf_str(text, name);
    *r = writ_jcs_put(text, value, NULL);
}

static writ_result
digest_input(
    const struct writ_json *responses, const struct writ_json *state, struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make(WRIT_MRTR_INPUT_MAX);
    writ_result r = WRIT_DONE;

    writ_buf_byte(&text, '{');
    put_member(&text, "\"inputResponses\":", responses, &r);
    put_member(&text, "\"requestState\":", state, &r);
    WRIT_TRY(r);
    writ_buf_byte(&text, '}');
    WRIT_TRY(writ_buf_check(&text, NULL));
    return writ_digest_bytes(writ_buf_view(&text), ret, NULL);
}

static bool
is_exact(const struct writ_request *request, const char *name, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(request->message.params, writ_view_str(name));
    writ_auto_buf pointer = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    writ_buf_byte(&pointer, '/');
    writ_buf_str(&pointer, name);
    if (value == NULL || writ_exact_holds(value, &pointer)) {
        return true;
    }
    *ret = writ_trail_keep(&pointer, request->x->arena);
    return false;
}

bool
writ_mrtr_is_exact(const struct writ_request *request, struct writ_view *ret)
{
    return is_exact(request, "inputResponses", ret) && is_exact(request, "requestState", ret);
}

writ_result
writ_mrtr_read(const struct writ_request *request, struct writ_mrtr *ret)
{
    const struct writ_json *params = request->message.params;
    const struct writ_json *responses = writ_json_get(params, WRIT_LIT("inputResponses"));
    const struct writ_json *state = writ_json_get(params, WRIT_LIT("requestState"));
    struct writ_mrtr round = {0};
    struct writ_view inexact;

    if ((responses == NULL && state == NULL) || !writ_mrtr_is_exact(request, &inexact)) {
        *ret = round;
        return WRIT_DONE;
    }
    WRIT_TRY(digest_input(responses, state, &round.input));
    round.has_input = true;
    round.state = writ_json_string(state);
    round.answers = request->message.era == WRIT_MCP_ERA_MODERN &&
                    (round.state.ptr != NULL || writ_json_type(responses) == WRIT_JSON_OBJECT);
    *ret = round;
    return WRIT_DONE;
}

/* ---- MRTR: the call that waits for it ---- */

/* The name under which the call waits: as it was made when its upstream asked. */
static writ_result
name_of(struct writ_request *request, struct writ_digest *ret)
{
    struct writ_call *call = request->call;
    struct writ_decision identity = {
        .agent_id = writ_member_text(request->identity.agent.id),
        .tool = writ_member_text(call->callee.tool),
        .normalized_scope = writ_member_text_or_absent(call->verdict.scope),
    };

    WRIT_TRY(
        writ_call_key_arguments(request, request->call->callee.arguments, &identity.params_hash));
    WRIT_TRY(writ_decision_state_free(&identity, request->identity.agent.tenant, call->callee.name,
        &call->record.state_free, NULL));
    return writ_ledger_round(&call->record.state_free, call->mrtr.state, ret, NULL);
}

/* Takes the run and the key from the call that it continues. Of equal calls that wait, one that
 * states no key continues the one that stated none either. */
static writ_result
state_which(struct writ_request *request, struct writ_entry_waiting *ret)
{
    const struct writ_call *call = request->call;
    struct writ_view runs[WRIT_WAITING_KEYS];
    struct writ_member_text key;

    ret->boundary = call->caller_claims.boundary;
    ret->keyed = call->caller_claims.key.ptr != NULL;
    if (ret->keyed) {
        ret->keys[ret->keys_n++] = call->caller_claims.key;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_call_key_run(request));
    runs[0] = call->run.id;
    runs[1] = call->run.next;
    runs[2] = call->run.previous;
    for (size_t i = 0; i < WRIT_WAITING_KEYS && runs[i].ptr != NULL; i++) {
        WRIT_TRY(writ_decision_auto_key(
            runs[i], &call->record.state_free, request->x->arena, &key, NULL));
        ret->keys[ret->keys_n++] = key.view;
    }
    return WRIT_DONE;
}

static writ_result
take(struct writ_call *call, struct writ_entry_waiting *found, struct writ_arena *arena)
{
    struct writ_extension extension;

    WRIT_TRY(writ_extension_read(&found->decision.extensions, arena, &extension, NULL));
    call->mrtr.follows = true;
    call->mrtr.before = found->leaf;
    call->mrtr.previous = found->decision;
    call->mrtr.number = (extension.round.is == WRIT_PRESENT ? extension.round.value : 0) + 1;
    return WRIT_DONE;
}

static enum writ_step
found(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct writ_entry *entry = &request->entry;

    if (entry->code == WRIT_OK) {
        if (!writ_is_ok(take(call, &entry->waiting, request->x->arena))) {
            return writ_refusal_http(
                request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
        }
    } else if (entry->code != WRIT_E_ABSENT) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    } else if (call->mrtr.state.ptr != NULL) {
        /* without a state it may be a first call that answers before the question */
        call->mrtr.fault = WRIT_REASON_INPUT_NOT_AWAITED;
    }
    return WRIT_STEP_LATE;
}

enum writ_step
writ_mrtr_find(struct writ_request *request)
{
    struct writ_mrtr *round = &request->call->mrtr;

    if (request->entry.kind == WRIT_ENTRY_WAITING) {
        return found(request);
    }
    if (!writ_is_ok(name_of(request, &round->name))) {
        return WRIT_STEP_FOLLOW; /* and the record has the reason */
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_WAITING};
    request->entry.waiting.name = round->name;
    if (!writ_is_ok(state_which(request, &request->entry.waiting))) {
        return WRIT_STEP_FOLLOW;
    }
    return writ_request_submit(request, WRIT_STEP_MRTR);
}

/* ---- what the upstream asks ---- */

void
writ_mrtr_look(struct writ_request *request, const struct writ_json *result)
{
    struct writ_call *call = request->call;
    const struct writ_json *state = writ_json_get(result, WRIT_LIT("requestState"));

    if (request->message.era != WRIT_MCP_ERA_MODERN ||
        !writ_json_is(writ_json_get(result, WRIT_LIT("resultType")), WRIT_LIT("input_required")) ||
        !writ_is_ok(writ_ledger_round(
            &call->record.state_free, writ_json_string(state), &call->end.name, NULL))) {
        return;
    }
    call->end.waits = WRIT_WAIT_INPUT;
    call->end.wait_us = writ_request_config(request)->sessions.wait_us;
}
