/* stdio_refuse.c - writes the errors of an HTTP server in place of a child, which cannot. A
 * function answers its flight once; one that returns a bool answers only when it returns true. */
#include "gateway/upstream/stdio_refuse.h"

#include "evidence/json/write.h"

#define ANSWER_MAX (1u << 22) /* bytes of an answer with a part of the child's own */

/* {"jsonrpc":"2.0","id":<the client's>,"error":, to be followed by the error. */
static struct writ_write
begin_error(struct writ_buf *body, const struct writ_flight *flight)
{
    const struct writ_mcp_message *message = flight->request->message;
    struct writ_write w = writ_write_to(body);

    writ_mcp_open(&w, message != NULL ? message->id : NULL);
    writ_write_name(&w, WRIT_LIT("error"));
    return w;
}

void
writ_stdio_refuse(struct writ_flight *flight, unsigned status, int code, const char *text)
{
    writ_auto_buf body = writ_buf_make(8192);
    struct writ_write w = begin_error(&body, flight);

    writ_mcp_put_error(&w, code, text);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_flight_answer(flight, status, writ_buf_view(&body));
}

void
writ_stdio_refuse_session(struct writ_flight *flight)
{
    writ_stdio_refuse(flight, 404, WRIT_RPC_SESSION_NOT_FOUND, "Session not found");
}

void
writ_stdio_refuse_initialize(struct writ_flight *flight, const struct writ_json *error)
{
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = begin_error(&body, flight);
    int64_t code = 0;
    bool old = writ_is_ok(writ_json_integer(
                   writ_json_get(error, WRIT_LIT("code")), INT64_MIN, INT64_MAX, &code)) &&
               code == WRIT_RPC_UNSUPPORTED_VERSION;

    writ_write_verbatim(&w, error);
    writ_write_object_end(&w);
    if (writ_is_ok(writ_write_end(&w, NULL))) { /* a server of the stateless revision alone: 400 */
        writ_flight_answer(flight, old ? 400 : 200, writ_buf_view(&body));
    } else {
        writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
    }
}

/* A server over stdio may check the version only in the first request. Without its list the server
 * judges. */
static bool
is_supported(const struct writ_flight *flight, struct writ_view version)
{
    struct writ_arena *scratch = writ_arena_new(ANSWER_MAX);
    const struct writ_json *versions = NULL;
    bool found =
        scratch == NULL || !writ_is_ok(writ_json_read(writ_buf_view(&flight->stdio->versions),
                               &writ_json_limits_default, scratch, &versions, NULL));

    WRIT_JSON_EACH(each, versions)
    {
        found = found || writ_json_is(each, version);
    }
    writ_arena_free(scratch);
    return found;
}

bool
writ_stdio_refuse_version(struct writ_flight *flight)
{
    struct writ_view version = writ_json_string(
        writ_json_get(flight->request->message->meta, WRIT_LIT(WRIT_META_VERSION)));
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w;

    if (flight->era != WRIT_MCP_ERA_MODERN || is_supported(flight, version)) {
        return false;
    }
    w = begin_error(&body, flight);
    writ_write_object_begin(&w);
    writ_write_integer(&w, "code", WRIT_RPC_UNSUPPORTED_VERSION);
    writ_write_text(&w, "message", WRIT_LIT("Unsupported protocol version"));
    writ_write_name(&w, WRIT_LIT("data"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("supported"));
    writ_write_raw(&w, writ_buf_view(&flight->stdio->versions));
    writ_write_text(&w, "requested", version);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_flight_answer(flight, 400, writ_buf_view(&body));
    return true;
}

/* The answer of a server over HTTP without that family: a client that can falls back to initialize
 * (specification 2026-07-28, basic/versioning), and one that only knows initialize gets the list of
 * versions. */
void
writ_stdio_refuse_family(struct writ_stdio *stdio, struct writ_flight *flight)
{
    bool modern = flight->era == WRIT_MCP_ERA_MODERN;
    writ_auto_buf body = writ_buf_make(stdio->no_legacy.len + 8192);
    struct writ_write w;

    if (flight->method != WRIT_METHOD_POST || flight->kind != WRIT_MCP_REQUEST) {
        writ_flight_answer(
            flight, flight->method == WRIT_METHOD_POST ? 202 : 405, (struct writ_view){NULL, 0});
        return;
    }
    if (modern) {
        writ_stdio_refuse(
            flight, 400, WRIT_RPC_SERVER_ERROR, "Bad Request: this server needs initialize first");
        return;
    }
    w = begin_error(&body, flight);
    writ_write_raw(&w, writ_buf_view(&stdio->no_legacy));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL));
    writ_flight_answer(flight, 400, writ_buf_view(&body));
}

/* ---- the head of a request ---- */

static struct writ_view
next_of(struct writ_view *list)
{
    size_t end = writ_view_find(*list, ',');
    struct writ_view range = writ_view_sub(*list, 0, end);

    *list = writ_view_sub(*list, end < list->len ? end + 1 : end, SIZE_MAX);
    return range;
}

/* `kind`: all types that begin like this one. */
static bool
accepts(struct writ_view list, struct writ_view type, struct writ_view kind)
{
    bool found = list.len == 0;

    while (list.len > 0) {
        struct writ_view range = next_of(&list);
        found = found || writ_header_has_type(range, type) || writ_header_has_type(range, kind) ||
                writ_header_has_type(range, WRIT_LIT("*/*"));
    }
    return found;
}

static bool
accepts_both(struct writ_view list)
{
    return accepts(list, WRIT_LIT("application/json"), WRIT_LIT("application/*")) &&
           accepts(list, WRIT_LIT("text/event-stream"), WRIT_LIT("text/*"));
}

bool
writ_stdio_refuse_head(struct writ_flight *flight)
{
    const struct writ_upcall_request *request = flight->request;
    bool says_version = request->version.ptr != NULL && flight->name != WRIT_MCP_INITIALIZE;

    if (flight->era != WRIT_MCP_LEGACY) {
        return false;
    }
    if (says_version && !writ_mcp_is_legacy_version(request->version)) {
        writ_stdio_refuse(
            flight, 400, WRIT_RPC_SERVER_ERROR, "Bad Request: Unsupported protocol version");
        return true;
    }
    if (flight->method == WRIT_METHOD_POST && !accepts_both(request->accept)) {
        writ_stdio_refuse(flight, 406, WRIT_RPC_SERVER_ERROR,
            "Not Acceptable: Client must accept both application/json and text/event-stream");
        return true;
    }
    return false;
}
