/* guard_http_look.c - one POST to the tool server, and the one JSON-RPC answer in its body or its
 * stream. An answer that is cut, too long or not JSON counts as unknown. */
#include "gateway/guard/guard_http_look.h"

#include "gateway/guard/guard_state.h"
#include "gateway/http/sse.h"

#define FIELDS_MAX 7

struct writ_guard_http_look {
    struct writ_guard_ask *ask;
    struct writ_http_call *call;
    struct writ_sse *sse; /* NULL: the answer is not a stream */
    struct writ_buf text; /* the answer, or its error */
    bool failed, found;
};

/* ---- the answer */

static void
fail(struct writ_guard_http_look *look)
{
    look->failed = true;
    writ_http_client_cancel(look->call);
}

static void
on_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    static const struct writ_sse_limits limits = {
        .line_bytes = WRIT_PROBE_ANSWER_MAX, .event_bytes = WRIT_PROBE_ANSWER_MAX};
    struct writ_guard_http_look *look = ctx;
    struct writ_view type = {NULL, 0};

    (void)call;
    if (head->status < 200 || head->status > 299 ||
        writ_http_response_field(head, "Content-Type", &type) != 1) {
        fail(look);
        return;
    }
    if (writ_header_has_type(type, WRIT_LIT("text/event-stream"))) {
        look->sse = writ_sse_new(&limits);
        if (look->sse == NULL) {
            fail(look);
        }
    } else if (!writ_header_has_type(type, WRIT_LIT("application/json"))) {
        fail(look);
    }
}

/* Reads the event of a stream that answers; does not wait for the rest. */
static void
take_events(struct writ_guard_http_look *look, struct writ_view bytes)
{
    struct writ_sse_event event;

    do {
        if (!writ_is_ok(writ_sse_next(look->sse, &bytes, &event, NULL))) {
            fail(look);
            return;
        }
        if (event.kind == WRIT_SSE_EVENT &&
            writ_guard_state_is_answer(look->ask, event.data) == WRIT_GUARD_ANSWER) {
            writ_buf_put(&look->text, event.data);
            look->found = true;
            writ_http_client_cancel(look->call);
            return;
        }
    } while (event.kind != WRIT_SSE_NONE);
}

static void
on_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct writ_guard_http_look *look = ctx;

    (void)call;
    if (look->failed || look->found) {
        return;
    }
    if (look->sse != NULL) {
        take_events(look, bytes);
    } else {
        writ_buf_put(&look->text, bytes);
    }
}

static void
on_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct writ_guard_http_look *look = ctx;
    bool whole = end->reason == WRIT_HTTP_OK && look->sse == NULL && !look->failed;
    struct writ_view text = writ_buf_view(&look->text);

    (void)call;
    writ_sse_free(look->sse);
    if (whole && writ_guard_state_is_answer(look->ask, text) == WRIT_GUARD_ANSWER) {
        look->found = true;
    }
    if (!look->found || !writ_is_ok(writ_buf_check(&look->text, NULL))) {
        text = writ_view(NULL, 0);
    }
    writ_guard_state_told(look->ask, text);
}

static const struct writ_http_handler handler = {on_head, on_body, on_end};

/* ---- the question */

static void
add(struct writ_header *fields, size_t *n, const char *name, struct writ_view value)
{
    if (value.len > 0) {
        fields[(*n)++] = (struct writ_header){writ_view_str(name), value};
    }
}

/* The fields of the call's head for the probe, and those that repeat its own body (2026-07-28). */
static WRIT_RESULT
put_fields(struct writ_exchange *x, const struct writ_guard_ask *ask,
    struct writ_header fields[FIELDS_MAX], size_t *ret_n)
{
    struct writ_view name =
        ask->wanted.probe->kind == WRIT_PROBE_TOOL ? ask->wanted.probe->tool : ask->wanted.uri;
    struct writ_buf mirrored = writ_buf_in(x->arena, 2 * name.len + 64);
    static const char *const kept[] = {"MCP-Protocol-Version", "Mcp-Session-Id", "Authorization"};
    size_t n = 0;

    add(fields, &n, "Accept", WRIT_LIT("application/json, text/event-stream"));
    add(fields, &n, "Content-Type", WRIT_LIT("application/json"));
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        add(fields, &n, kept[i], writ_exchange_header(x, writ_view_str(kept[i])));
    }
    if (ask->call->era == WRIT_MCP_ERA_MODERN) {
        writ_mcp_header_encode(&mirrored, name);
        WRIT_TRY(writ_buf_check(&mirrored, NULL));
        add(fields, &n, "Mcp-Method", writ_probe_method(&ask->wanted));
        add(fields, &n, "Mcp-Name", writ_buf_view(&mirrored));
    }
    *ret_n = n;
    return WRIT_DONE;
}

writ_result
writ_guard_http_look_start(struct writ_http_client *client, struct writ_exchange *x,
    struct writ_view target, struct writ_guard_ask *ask, struct writ_view question,
    struct writ_guard_http_look **ret)
{
    struct writ_guard_http_look *look = writ_arena_get(x->arena, sizeof *look);
    struct writ_header fields[FIELDS_MAX];
    struct writ_http_request request = {
        .method = WRIT_LIT("POST"),
        .target = target,
        .fields = fields,
        .body = question,
        .body_max = WRIT_PROBE_ANSWER_MAX,
        .total_us = ask->wanted.probe->timeout_us,
    };

    if (look == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *look = (struct writ_guard_http_look){
        .ask = ask, .text = writ_buf_in(x->arena, WRIT_PROBE_ANSWER_MAX)};
    WRIT_TRY(put_fields(x, ask, fields, &request.count));
    WRIT_TRY(writ_http_client_send(client, &request, &handler, look, &look->call, NULL));
    *ret = look;
    return WRIT_DONE;
}

void
writ_guard_http_look_cancel(struct writ_guard_http_look *look)
{
    writ_http_client_cancel(look->call);
}
