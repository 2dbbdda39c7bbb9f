/* hook_after.c - the outcome of a call that its caller made, and the end of a run. */
#include "gateway/hook/hook.h"

#include "evidence/record/derive.h"
#include "gateway/call/after.h"
#include "gateway/call/retain.h"
#include "gateway/listener/api_answer.h"
#include "gateway/request/caller_claims.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "evidence/record/profile.h"
#include "gateway/request/finish.h"

#define ANSWER_MAX  ((size_t)4 << 20)
#define FAULTS_MAX  1024
#define OWN_VALUES  4096     /* of a record, for the members that the ledger adds */
#define MEMBER_KEPT "result" /* of the request, and of no record */

/* Members that only the ledger may set, or that a record lacks: a caller's value of any type is
 * dropped. */
static const char *const not_said[] = {MEMBER_KEPT, "completed_at", "receipt_ref"};

/* ---- after: the report ---- */

static bool
is_said(struct writ_view name)
{
    for (size_t i = 0; i < sizeof not_said / sizeof *not_said; i++) {
        if (writ_view_is(name, not_said[i])) {
            return false;
        }
    }
    return true;
}

/* Place and time of the record come from the ledger; the caller's values are ignored. */
static writ_result
read_outcome(struct writ_request *request, struct writ_hook *hook)
{
    struct writ_outcome *o = &hook->outcome;
    const struct writ_json **others;
    size_t n = 0;

    WRIT_TRY(writ_outcome_read(hook->body, request->x->arena, o, NULL));
    others = writ_arena_get(request->x->arena, (o->others.count + 1) * sizeof *others);
    if (others == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < o->others.count; i++) {
        if (is_said(writ_json_string(o->others.names[i]))) {
            others[n++] = o->others.names[i];
        }
    }
    o->others = (struct writ_member_others){others, n};
    o->completed_at = writ_member_text(WRIT_LIT("1970-01-01T00:00:00Z"));
    o->receipt_ref = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    hook->result = writ_json_get(hook->body, WRIT_LIT(MEMBER_KEPT));
    return WRIT_DONE;
}

static enum writ_step
malformed(struct writ_request *request, const struct writ_faults *faults)
{
    writ_auto_buf text = writ_buf_make(FAULTS_MAX);

    writ_faults_put(faults, &text);
    writ_buf_byte(&text, '\0');
    return writ_hook_refuse(request, 422, WRIT_REASON_OUTCOME_MALFORMED,
        writ_is_ok(writ_buf_check(&text, NULL)) ? text.ptr : NULL);
}

/* Whether a verifier of the ledger can read a record with this outcome: within the limits of
 * records, which differ from those of requests. */
static bool
can_be_read(const struct writ_outcome *outcome, struct writ_arena *arena)
{
    struct writ_json_limits limits = writ_json_limits_default;
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    const struct writ_json *record;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    limits.values -= OWN_VALUES;
    return writ_is_ok(writ_outcome_put(outcome, &text, NULL)) &&
           writ_is_ok(writ_json_read(writ_buf_view(&text), &limits, arena, &record, NULL));
}

enum writ_step
writ_hook_after_read(struct writ_request *request)
{
    struct writ_hook *hook = writ_hook_of(request);
    struct writ_outcome *o = &hook->outcome;
    struct writ_faults faults = {0};
    writ_result r = read_outcome(request, hook);

    if (!writ_is_ok(r)) {
        return r.code == WRIT_E_NOMEM
                   ? writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL)
                   : writ_hook_refuse(request, 422, WRIT_REASON_OUTCOME_MALFORMED, NULL);
    }
    writ_outcome_validate(o, &faults);
    if (writ_json_get(o->extensions.value, WRIT_LIT("writ")) != NULL) {
        writ_faults_add(&faults, "/extensions/writ", "is the gateway's own");
    }
    if (faults.count > 0) {
        return malformed(request, &faults);
    }
    if (!can_be_read(o, request->x->arena)) {
        return writ_hook_refuse(request, 422, WRIT_REASON_OUTCOME_MALFORMED,
            "what is said beside result is too large or nested too deep for a record");
    }
    return writ_hook_find(request, o->decision_id.view, WRIT_STEP_JOIN);
}

/* ---- JOIN ---- */

static const struct writ_profile *
profile_of(struct writ_request *request, const struct writ_extension *extension)
{
    const struct writ_profile *named =
        extension->profile.is == WRIT_PRESENT ? writ_profile_find(extension->profile.view) : NULL;

    return named != NULL ? named : request->worker->gateway->profile;
}

static enum writ_outcome_kind
kind_of(const struct writ_outcome *outcome)
{
    enum writ_outcome_kind kind = WRIT_OUTCOME_ERROR;

    (void)writ_outcome_kind_of(outcome, &kind);
    return kind;
}

/* The rules for results apply as if the tool had answered the gateway. False: the result does not
 * have the digest that was sent. */
static bool
look_at_result(struct writ_request *request, const struct writ_extension *extension)
{
    struct writ_hook *hook = writ_hook_of(request);
    struct writ_call *call = request->call;
    const struct writ_member_text *told = &hook->outcome.tool_output_hash;

    call->verdict.rule = writ_policy_find(writ_request_config(request), &request->identity.agent,
        writ_member_view(&extension->upstream), call->record.decision.tool.view, NULL);
    if (hook->result == NULL || call->verdict.rule == NULL) {
        call->end.output_hash = writ_member_view(told);
        return true;
    }
    call->contents =
        writ_retain_of(writ_request_config(request), writ_member_view(&extension->upstream),
            &call->record.decision, call->verdict.rule, request->x->arena);
    call->reply.last.data = request->x->body;
    writ_after_response(request, hook->body);
    call->end.result = (struct writ_view){NULL, 0}; /* the caller has the result already */
    return told->is != WRIT_PRESENT || writ_view_equal(told->view, call->end.before_hash);
}

static enum writ_step
record(struct writ_request *request, const struct writ_extension *extension)
{
    struct writ_hook *hook = writ_hook_of(request);
    struct writ_call *call = writ_arena_get(request->x->arena, sizeof *call);

    if (call == NULL) {
        return writ_hook_refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
    }
    *call = (struct writ_call){
        .record = {.decision = request->entry.call.decision, .leaf = request->entry.call.leaf},
        .end = {.outcome = kind_of(&hook->outcome),
            .said = &hook->outcome,
            .error_type = hook->outcome.error_type.view}};
    request->call = call;
    if (!look_at_result(request, extension)) {
        return writ_hook_refuse(request, 409, WRIT_REASON_OUTCOME_MISMATCH,
            "the result has another digest than tool_output_hash");
    }
    return WRIT_STEP_RECORD;
}

enum writ_step
writ_hook_after_join(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;
    const struct writ_decision *decision = &entry->call.decision;
    const struct writ_outcome *outcome = &writ_hook_of(request)->outcome;
    struct writ_extension extension = {0};

    if (entry->code != WRIT_OK && entry->code != WRIT_E_ABSENT) {
        return writ_hook_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    if (entry->code != WRIT_OK || !writ_hook_is_of_tenant(request, decision) ||
        !writ_view_equal(decision->agent_id.view, request->identity.agent.id) ||
        !writ_is_ok(
            writ_extension_read(&decision->extensions, request->x->arena, &extension, NULL))) {
        return writ_hook_refuse(request, 404, WRIT_REASON_AUTHORIZATION_UNKNOWN, NULL);
    }
    if (!writ_is_ok(writ_outcome_join(outcome, decision, profile_of(request, &extension), NULL))) {
        return writ_hook_refuse(request, 409, WRIT_REASON_OUTCOME_MISMATCH, NULL);
    }
    if (entry->call.stage == WRIT_CALL_OVER) {
        return writ_hook_refuse(request, 409, WRIT_REASON_DUPLICATE_OUTCOME, NULL);
    }
    if (entry->call.stage == WRIT_CALL_BINDS && !writ_outcome_nothing_ran(outcome)) {
        return writ_hook_refuse(request, 409, WRIT_REASON_CALL_NOT_BOUND, NULL);
    }
    return record(request, &extension);
}

/* ---- after: the answer ---- */

/* The result after the rules, if they changed it. */
static void
put_result(struct writ_write *w, struct writ_request *request)
{
    const struct writ_json *body = NULL;

    if (writ_is_ok(writ_mcp_parse(request->call->reply.last.data, request->x->arena, &body))) {
        writ_write_name(w, WRIT_LIT(MEMBER_KEPT));
        writ_write_value(w, writ_json_get(body, WRIT_LIT(MEMBER_KEPT)));
    }
}

static enum writ_step
answer(struct writ_request *request)
{
    const struct writ_call *call = request->call;
    writ_auto_buf body = writ_buf_make(ANSWER_MAX + call->reply.last.data.len * 6);
    writ_auto_buf record = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("outcome"));
    if (writ_is_ok(writ_outcome_put(&call->outcome, &record, NULL))) {
        writ_write_raw(&w, writ_buf_view(&record));
    } else {
        writ_write_null(&w);
    }
    if (call->end.refusal != WRIT_REASON_NONE) { /* of its result: the call has run */
        writ_write_text(&w, "withheld", writ_reason_name(call->end.refusal));
    } else if (call->end.after_hash.len > 0) {
        put_result(&w, request);
    }
    return writ_hook_reply(request, &w, &body);
}

enum writ_step
writ_hook_after_answer(struct writ_request *request)
{
    switch (request->entry.code) {
    case WRIT_OK:
        return answer(request);
    case WRIT_E_INVALID: /* another request was faster */
        return writ_hook_refuse(request, 409, WRIT_REASON_DUPLICATE_OUTCOME, NULL);
    case WRIT_E_MISMATCH:
        return writ_hook_refuse(request, 409, WRIT_REASON_OUTCOME_MISMATCH, NULL);
    case WRIT_E_LIMIT:
        return writ_hook_refuse(
            request, 422, WRIT_REASON_OUTCOME_MALFORMED, "the record is too large");
    case WRIT_E_UNSET:
    case WRIT_E_PARSE:
    case WRIT_E_NOMEM:
    case WRIT_E_IO:
    case WRIT_E_CRYPTO:
    case WRIT_E_ABSENT:
    case WRIT_E_BUSY:
        break;
    }
    return writ_hook_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
}

/* ---- seal ---- */

enum writ_step
writ_hook_after_read_seal(struct writ_request *request)
{
    static const char *const known[] = {"boundary_id", NULL};
    const struct writ_json *body = writ_hook_of(request)->body;
    struct writ_view boundary_id = {NULL, 0};

    if (!writ_json_has_only(body, known) ||
        !writ_caller_claims_name(body, WRIT_LIT("boundary_id"), &boundary_id) ||
        boundary_id.ptr == NULL) {
        return writ_hook_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST,
            "wants boundary_id, a string of 1 to 512 bytes, and nothing else");
    }
    if (writ_caller_claims_is_reserved(boundary_id)) {
        return writ_hook_refuse(request, 404, WRIT_REASON_BOUNDARY_UNKNOWN, NULL);
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_SEAL,
        .seal = {.tenant = request->identity.agent.tenant,
            .boundary_id = boundary_id,
            .of_agent = true,
            .agent_id = request->identity.agent.id,
            .at_once = true}};
    return writ_request_submit(request, WRIT_STEP_SEALED);
}

enum writ_step
writ_hook_after_seal(struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;
    struct writ_exchange *x = request->x;
    writ_auto_buf body = writ_buf_make(WRIT_RECORD_MAX_BYTES);

    if (entry->code == WRIT_E_ABSENT) {
        return writ_hook_refuse(request, 404, WRIT_REASON_BOUNDARY_UNKNOWN, NULL);
    }
    if (entry->code == WRIT_E_BUSY && entry->seal.in_flight > 0) {
        return writ_hook_refuse(request, 409, WRIT_REASON_CALLS_IN_FLIGHT, NULL);
    }
    if (entry->code != WRIT_OK || entry->seal.record.ptr == NULL) {
        return writ_hook_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    writ_buf_put(&body, entry->seal.record);
    writ_finish_request(request);
    writ_api_answer_json(x, 200, &body);
    return WRIT_STEP_DONE;
}
