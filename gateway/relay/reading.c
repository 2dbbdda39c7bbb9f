/* reading.c - see reading.h. The answer of the upstream is kept in the arena while its record goes
 * to the ledger: what is recorded and what is given are the same bytes. */
#include "gateway/relay/reading.h"

#include "gateway/call/judge.h"
#include "gateway/request/caller_claims.h"
#include "gateway/request/client_stream.h"
#include "gateway/request/refusal.h"

#include "evidence/json/write.h"
#include "policy/decide/labels.h"
#include "policy/decide/resources.h"

#define ARGUMENTS_MAX ((size_t)16 << 20)

struct writ_reading {
    struct writ_upcall_answer answer; /* a whole one */
    struct writ_sse_event event;      /* or the event with the response */
    bool has_event;
};

bool
writ_reading_is_due(const struct writ_request *request)
{
    return request->message.kind == WRIT_MCP_REQUEST &&
           writ_request_config(request)->follows_values &&
           (request->method == WRIT_MCP_RESOURCES_READ || request->method == WRIT_MCP_PROMPTS_GET ||
               request->method == WRIT_MCP_UNKNOWN);
}

static struct writ_reading *
reading_of(struct writ_request *request)
{
    if (request->reading == NULL) {
        request->reading = writ_arena_zeroed(request->x->arena, sizeof *request->reading);
    }
    return request->reading;
}

static struct writ_view
copy_or_absent(struct writ_view text, struct writ_arena *arena)
{
    return text.ptr != NULL ? writ_view_copy(text, arena) : text;
}

bool
writ_reading_take(
    struct writ_request *request, const struct writ_sse_event *event, struct writ_view data)
{
    struct writ_arena *arena = request->x->arena;
    writ_auto_buf id = writ_buf_make(WRIT_CLIENT_EVENT_ID_MAX);
    struct writ_reading *reading = reading_of(request);

    if (reading == NULL) {
        return false;
    }
    reading->event = *event;
    reading->event.data = writ_view_copy(data.len > 0 ? data : event->data, arena);
    reading->event.id = copy_or_absent(writ_client_stream_event_id(request, event->id, &id), arena);
    reading->event.event = copy_or_absent(event->event, arena);
    reading->has_event = reading->event.data.ptr != NULL;
    return reading->has_event;
}

bool
writ_reading_has(const struct writ_request *request)
{
    return request->reading != NULL && request->reading->has_event;
}

/* ---- the record */

/* The params without _meta, whose values are those of one message. */
static const struct writ_json *
arguments_of(const struct writ_request *request)
{
    struct writ_arena *arena = request->x->arena;
    struct writ_buf text = writ_buf_in(arena, ARGUMENTS_MAX);
    struct writ_write w = writ_write_to(&text);
    const struct writ_json *value = NULL;

    writ_write_object_begin(&w);
    WRIT_JSON_EACH(name, request->message.params)
    {
        if (!writ_json_is(name, WRIT_LIT("_meta"))) {
            writ_write_name(&w, writ_json_string(name));
            writ_write_verbatim(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    if (!writ_is_ok(writ_write_end(&w, NULL)) ||
        !writ_is_ok(writ_mcp_parse(writ_buf_view(&text), arena, &value))) {
        return NULL;
    }
    return value;
}

/* False: they are not known. */
static bool
labels_of(
    const struct writ_request *request, struct writ_view upstream, const struct writ_labels **ret)
{
    const struct writ_config *config = writ_request_config(request);
    struct writ_view uri =
        writ_json_string(writ_json_get(request->message.params, WRIT_LIT("uri")));
    const struct writ_labels *own = NULL;

    if (request->method == WRIT_MCP_RESOURCES_READ &&
        !writ_resources_find(writ_resources_in(config, upstream), uri, &own)) {
        return false;
    }
    *ret = own != NULL ? own : writ_config_read_labels(config, upstream);
    return true;
}

/* Without marks the run has every label. */
static struct writ_view
flow_of(struct writ_request *request, struct writ_view upstream, struct writ_view body)
{
    struct writ_run_flow flow = {.text = {NULL, 0}};
    const struct writ_json *message = NULL, *value;
    const struct writ_labels *labels;

    if (!labels_of(request, upstream, &labels)) {
        return flow.text;
    }
    WRIT_IGNORE(writ_mcp_parse(body, request->x->arena, &message));
    value = writ_json_get(message, WRIT_LIT("result"));
    value = value != NULL ? value : writ_json_get(message, WRIT_LIT("error"));
    WRIT_IGNORE(writ_labels_outcome(labels, NULL, value, value == NULL, request->generation->marks,
        request->x->arena, &flow, NULL));
    return flow.text;
}

static bool
copy_answer(struct writ_request *request, const struct writ_upcall_answer *answer)
{
    struct writ_arena *arena = request->x->arena;
    struct writ_reading *reading = reading_of(request);

    if (reading == NULL) {
        return false;
    }
    reading->answer = *answer;
    reading->answer.body = writ_view_copy(answer->body, arena);
    reading->answer.session = writ_view_copy(answer->session, arena);
    reading->answer.content_type = writ_view_copy(answer->content_type, arena);
    reading->answer.retry_after = writ_view_copy(answer->retry_after, arena);
    return reading->answer.body.ptr != NULL || answer->body.len == 0;
}

static enum writ_step
overloaded(struct writ_request *request)
{
    return writ_refusal_http(request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
}

enum writ_step
writ_reading_record(struct writ_request *request, const struct writ_upstream *upstream,
    const struct writ_upcall_answer *answer)
{
    struct writ_call *call = writ_arena_zeroed(request->x->arena, sizeof *call);
    struct writ_reading *reading;

    if (call == NULL || (!writ_reading_has(request) && !copy_answer(request, answer))) {
        return overloaded(request);
    }
    reading = request->reading;
    call->reads = true;
    call->callee = (struct writ_callee){.name = writ_upstream_config(upstream)->name,
        .tool = request->message.method,
        .arguments = arguments_of(request)};
    call->observed.digest = (struct writ_member_text){WRIT_NULL, {NULL, 0}};
    call->verdict.reason = WRIT_REASON_CONTENT_READ;
    if (call->callee.arguments == NULL ||
        !writ_caller_claims_name(
            request->stated, WRIT_LIT("io.writ/boundaryId"), &call->caller_claims.boundary) ||
        writ_caller_claims_is_reserved(call->caller_claims.boundary)) {
        return writ_refusal_http(request, 400, WRIT_RPC_INVALID_PARAMS,
            WRIT_REASON_MALFORMED_REQUEST,
            "io.writ/boundaryId is a string of 1 to 512 bytes that can all be seen, and does not "
            "begin with writ:, session: or agent:");
    }
    call->follow.record = flow_of(request, call->callee.name,
        reading->has_event ? reading->event.data : reading->answer.body);
    request->call = call;
    return WRIT_STEP_DRAFT;
}

/* ---- what waits for it */

enum writ_reason
writ_reading_fault(const struct writ_request *request)
{
    const struct writ_entry *entry = &request->entry;

    return entry->code != WRIT_OK ? WRIT_REASON_LEDGER_UNAVAILABLE : entry->decision.elsewhere;
}

const struct writ_sse_event *
writ_reading_event(const struct writ_request *request)
{
    return request->reading->has_event ? &request->reading->event : NULL;
}

const struct writ_upcall_answer *
writ_reading_answer(const struct writ_request *request)
{
    return &request->reading->answer;
}
