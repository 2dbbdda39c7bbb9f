/* after.c - applies the rules for results to a message and keeps their effect for the outcome. A
 * result that cannot be rewritten is withheld. */
#include "gateway/call/after.h"

#include "base/text.h"
#include "gateway/call/retain.h"
#include "gateway/call/tool_discovery.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "policy/decide/output.h"

#define RESULT_ROOM 4096 /* canonical bytes that need no memory of their own */

/* The digest and the length of a value's canonical form, and the form itself where it is kept. */
struct digested {
    struct writ_view hash; /* empty: it has no canonical form */
    struct writ_view text; /* ptr NULL: it is not kept */
    size_t bytes;
};

static bool
replays(const struct writ_tool_rule *rule, size_t bytes)
{
    return rule->duplicates == WRIT_DUPLICATES_REPLAY && bytes <= (size_t)rule->replay_bytes;
}

/* The digest of a result that is kept needs the whole form anyway. */
static writ_result
digest_form(struct writ_request *request, const struct writ_json *value, size_t max,
    struct writ_digest *ret, struct digested *found)
{
    struct writ_call *call = request->call;
    char room[RESULT_ROOM];
    writ_auto_buf canonical = writ_buf_from(room, sizeof room, max);
    bool is_kept;

    WRIT_TRY(writ_jcs_put(&canonical, value, NULL));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&canonical), ret, NULL));
    found->bytes = canonical.len;
    is_kept = writ_retain_takes(&call->contents, canonical.len);
    if (is_kept || replays(call->verdict.rule, canonical.len)) {
        found->text = writ_buf_give(&canonical, request->x->arena);
    }
    return WRIT_DONE;
}

/* In the request's arena. */
static struct digested
digest_of(struct writ_request *request, const struct writ_json *value)
{
    const struct writ_call *call = request->call;
    size_t max = (size_t)writ_request_config(request)->limits.response_bytes * 2;
    bool may_keep = call->contents.terms.keep_us > 0 || replays(call->verdict.rule, 0);
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];
    struct digested found = {{NULL, 0}, {NULL, 0}, 0};
    writ_result r =
        may_keep ? digest_form(request, value, max, &digest, &found)
                 : writ_ahead_digest(call->reply.ahead, value, max, &digest, &found.bytes, NULL);

    if (!writ_is_ok(r)) {
        return (struct digested){{NULL, 0}, {NULL, 0}, 0};
    }
    writ_digest_text(&digest, text);
    found.hash = writ_view_copy(writ_view_str(text), request->x->arena);
    return found;
}

/* Keeps the result that ends the call: for a duplicate, and among the contents. */
static void
keep(struct writ_call *call, const struct digested *found, bool is_result)
{
    static const struct writ_view none = {NULL, 0};

    call->end.result = replays(call->verdict.rule, found->bytes) ? found->text : none;
    call->contents.result =
        is_result && writ_retain_takes(&call->contents, found->bytes) ? found->text : none;
}

/* The received message, with the permitted result or error in place of its own. */
static writ_result
rewrite(struct writ_request *request, const struct writ_json *response, struct writ_view member,
    struct writ_view text, struct writ_view *ret)
{
    struct writ_buf message = writ_buf_in(request->x->arena, text.len + 65536);
    struct writ_write w = writ_write_to(&message);

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, response)
    {
        writ_write_name(&w, writ_json_string(name));
        if (writ_view_equal(writ_json_string(name), member)) {
            writ_write_raw(&w, text);
        } else {
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    *ret = writ_buf_view(&message);
    return WRIT_DONE;
}

/* A round that is withheld from the client is the last one: the client cannot continue it. */
static void
refuse(struct writ_call *call, enum writ_reason reason)
{
    struct writ_conclusion *end = &call->end;

    call->contents.result = (struct writ_view){NULL, 0};
    call->contents.too_large = false;
    end->refusal = reason;
    end->result = (struct writ_view){NULL, 0};
    end->output_hash = end->outcome == WRIT_OUTCOME_EXECUTED ? end->before_hash : end->output_hash;
    end->waits = WRIT_WAIT_NONE;
}

/* From here on the answer is the output of the rules. */
static void
take_changed(struct writ_request *request, const struct writ_json *response,
    struct writ_view member, const struct writ_output *output)
{
    struct writ_call *call = request->call;
    const struct writ_json *value;
    struct writ_view message;
    struct digested after;

    if (!writ_is_ok(writ_mcp_parse(output->text, request->x->arena, &value)) ||
        !writ_is_ok(rewrite(request, response, member, output->text, &message))) {
        refuse(call, WRIT_REASON_RESULT_RULE_FAILED);
        return;
    }
    after = digest_of(request, value);
    call->end.after_hash = after.hash;
    if (call->end.waits == WRIT_WAIT_NONE) {
        keep(call, &after, writ_view_is(member, "result"));
    }
    call->reply.last.data = message;
}

static void
apply(struct writ_request *request, const struct writ_json *response, struct writ_view member,
    size_t bytes)
{
    struct writ_call *call = request->call;
    const struct writ_output_rules *rules = call->verdict.rule->result;
    const struct writ_json *value = writ_json_get(response, member);
    struct writ_output output;

    if (writ_view_is(member, "result")) {
        writ_output_apply(
            rules, request->worker->gateway->clock, value, bytes, request->x->arena, &output);
    } else {
        writ_output_apply_error(
            rules, request->worker->gateway->clock, value, bytes, request->x->arena, &output);
    }
    call->end.output_rules = output.applied;
    if (output.refused != WRIT_REASON_NONE) {
        refuse(call, output.refused);
        return;
    }
    if (output.changed) {
        take_changed(request, response, member, &output);
    }
    if (output.is_error) {
        call->end.outcome = WRIT_OUTCOME_ERROR;
        call->end.error_type = WRIT_LIT("tool_error");
        call->end.result = (struct writ_view){NULL, 0};
    }
}

void
writ_after_response(struct writ_request *request, const struct writ_json *response)
{
    struct writ_conclusion *end = &request->call->end;
    bool is_result = writ_json_get(response, WRIT_LIT("result")) != NULL;
    struct writ_view member = is_result ? WRIT_LIT("result") : WRIT_LIT("error");
    struct digested found;
    enum writ_reason invalid =
        is_result && end->waits == WRIT_WAIT_NONE
            ? writ_tool_discovery_result(request, writ_json_get(response, member))
            : WRIT_REASON_NONE;

    if (!is_result && request->call->verdict.rule->result == NULL) {
        return;
    }
    found = digest_of(request, writ_json_get(response, member));
    end->before_hash = found.hash;
    if (is_result && end->waits == WRIT_WAIT_NONE) {
        end->output_hash = end->before_hash;
        keep(request->call, &found, true);
    }
    if (request->call->verdict.rule->result != NULL) {
        /* without a canonical form its received length counts */
        apply(request, response, member,
            found.bytes > 0 ? found.bytes : request->call->reply.last.data.len);
    }
    if (invalid != WRIT_REASON_NONE && end->refusal == WRIT_REASON_NONE) {
        refuse(request->call, invalid);
    }
}

static WRIT_RESULT
put_said(const struct writ_json *name, struct writ_buf *ret)
{
    writ_buf_str(ret, ret->len > 1 ? "," : "");
    writ_text_json(ret, writ_json_string(name));
    writ_buf_byte(ret, ':');
    return writ_jcs_put(ret, writ_json_value(name), NULL);
}

/* Keeps the caller's extension beside our own, {"writ":...}, in canonical order. */
static WRIT_RESULT
add_said(const struct writ_json *said, struct writ_arena *arena, struct writ_member_object *ret)
{
    struct writ_view own = writ_view_sub(ret->canonical, 1, ret->canonical.len - 2);
    struct writ_buf text = writ_buf_in(arena, WRIT_RECORD_MAX_BYTES);
    const struct writ_json *name = writ_json_sorted_first(said);

    writ_buf_byte(&text, '{');
    while (name != NULL && writ_jcs_compare(writ_json_string(name), WRIT_LIT("writ")) < 0) {
        WRIT_TRY(put_said(name, &text));
        name = writ_json_sorted_next(name);
    }
    writ_buf_str(&text, text.len > 1 ? "," : "");
    writ_buf_put(&text, own);
    for (; name != NULL; name = writ_json_sorted_next(name)) {
        WRIT_TRY(put_said(name, &text));
    }
    writ_buf_byte(&text, '}');
    WRIT_TRY(writ_buf_check(&text, NULL));
    ret->canonical = writ_buf_view(&text);
    return WRIT_DONE;
}

writ_result
writ_after_extend(
    const struct writ_after_marks *marks, struct writ_arena *arena, struct writ_member_object *ret)
{
    struct writ_extension extension = {0};
    const struct writ_json *said = ret->is == WRIT_PRESENT ? ret->value : NULL;
    /* a rule that could not be applied has no name to be recorded, and withholds the result */
    bool is_ours = marks->rules.n > 0 || marks->too_large || marks->blocked ||
                   marks->refused == WRIT_REASON_RESULT_RULE_FAILED ||
                   marks->refused == WRIT_REASON_RESULT_NOT_VALID;

    if (!is_ours && marks->flow.ptr == NULL) {
        return WRIT_DONE;
    }
    if (marks->flow.ptr != NULL) {
        extension.flow = (struct writ_member_object){WRIT_PRESENT, NULL, marks->flow, NULL};
    }
    if (marks->too_large) {
        extension.contents_too_large = writ_member_flag(true);
    }
    if (marks->rules.n > 0) {
        extension.output_rules = writ_member_list(marks->rules.items, marks->rules.n);
    }
    if (marks->rules.n > 0 && marks->before.len > 0) {
        extension.output_before = writ_member_text(marks->before);
    }
    if (marks->after.len > 0) {
        extension.output_after = writ_member_text(marks->after);
    }
    if (is_ours && marks->refused != WRIT_REASON_NONE) {
        extension.reason = writ_member_text(writ_reason_name(marks->refused));
    }
    WRIT_TRY(writ_extension_make(&extension, arena, ret, NULL));
    return said != NULL ? add_said(said, arena, ret) : WRIT_DONE;
}

enum writ_reason
writ_after_replay(struct writ_request *request, struct writ_view *result)
{
    const struct writ_output_rules *rules = request->call->verdict.rule->result;
    const struct writ_json *value;
    struct writ_output output;

    if (rules == NULL) {
        return WRIT_REASON_NONE;
    }
    if (!writ_is_ok(writ_mcp_parse(*result, request->x->arena, &value))) {
        return WRIT_REASON_RESULT_RULE_FAILED;
    }
    writ_output_apply(
        rules, request->worker->gateway->clock, value, result->len, request->x->arena, &output);
    if (output.changed) {
        *result = output.text;
    }
    return output.refused;
}
