/* handshake.c - HANDSHAKE: initialize opens a session with every upstream of the endpoint and one
 * with the client; server/discover returns their capabilities. The answer of a single upstream is
 * passed on unchanged; several are joined. */
#include "base/utf8.h"
#include "gateway/mcp/abilities.h"
#include "gateway/relay/fanout.h"
#include "gateway/request/refusal.h"
#include "gateway/state/session_row.h"

#include "base/hidden.h"
#include "evidence/json/write.h"

#define ANSWER_MAX       (4u << 20)
#define INSTRUCTIONS_MAX (16u << 10) /* bytes of the instructions of all upstreams together */
#define VERSION_MAX      64          /* bytes of a revision's name; known ones have 10 */

/* ---- joining results ---- */

static size_t
count_results(const struct writ_fanout *fanout, const struct writ_branch **ret_first)
{
    size_t n = 0;

    for (size_t i = 0; i < fanout->n; i++) {
        if (writ_json_type(writ_fanout_result(&fanout->branches[i])) == WRIT_JSON_OBJECT) {
            *ret_first = n == 0 ? &fanout->branches[i] : *ret_first;
            n++;
        }
    }
    return n;
}

/* The oldest revision in the upstreams' answers: all of them speak it or a newer one. */
static struct writ_view
lowest_version(const struct writ_fanout *fanout)
{
    struct writ_view lowest = {NULL, 0};

    for (size_t i = 0; i < fanout->n; i++) {
        struct writ_view version = writ_json_string(
            writ_json_get(writ_fanout_result(&fanout->branches[i]), WRIT_LIT("protocolVersion")));
        if (version.ptr != NULL && (lowest.ptr == NULL || writ_view_compare(version, lowest) < 0)) {
            lowest = version;
        }
    }
    return lowest;
}

static const struct writ_json *
capability_of(const struct writ_branch *branch, struct writ_view name)
{
    return writ_json_get(writ_json_get(writ_fanout_result(branch), WRIT_LIT("capabilities")), name);
}

/* True when an earlier upstream has the capability (and, with `flag`, the flag in it) as well. */
static bool
said_before(
    const struct writ_fanout *fanout, size_t before, struct writ_view name, struct writ_view flag)
{
    for (size_t i = 0; i < before; i++) {
        const struct writ_json *capability = capability_of(&fanout->branches[i], name);
        if (capability != NULL && (flag.ptr == NULL || writ_json_get(capability, flag) != NULL)) {
            return true;
        }
    }
    return false;
}

/* An upstream that comes late changes the list (back.h). */
static bool
will_change(const struct writ_fanout *fanout, struct writ_view name)
{
    return writ_fanout_any_incomplete(fanout) &&
           (writ_view_is(name, "tools") || writ_view_is(name, "prompts") ||
               writ_view_is(name, "resources"));
}

/* One capability: its flags of all upstreams, each once. */
static void
put_capability(struct writ_write *w, const struct writ_request *request,
    const struct writ_fanout *fanout, struct writ_view name)
{
    bool changes = request->method == WRIT_MCP_INITIALIZE && will_change(fanout, name);

    writ_write_name(w, name);
    writ_write_object_begin(w);
    if (changes) {
        writ_write_flag(w, "listChanged", true);
    }
    for (size_t i = 0; i < fanout->n; i++) {
        const struct writ_json *capability = capability_of(&fanout->branches[i], name);
        WRIT_JSON_EACH(flag, capability)
        {
            if (writ_json_type(capability) == WRIT_JSON_OBJECT &&
                !(changes && writ_view_is(writ_json_string(flag), "listChanged")) &&
                !said_before(fanout, i, name, writ_json_string(flag))) {
                writ_write_name(w, writ_json_string(flag));
                writ_write_verbatim(w, writ_json_value(flag));
            }
        }
    }
    writ_write_object_end(w);
}

/* An upstream that comes late may have tools, which a client would not request otherwise. */
static void
put_late_tools(struct writ_write *w, const struct writ_fanout *fanout)
{
    static const struct writ_view any = {NULL, 0};

    if (writ_fanout_any_incomplete(fanout) &&
        !said_before(fanout, fanout->n, WRIT_LIT("tools"), any)) {
        writ_write_name(w, WRIT_LIT("tools"));
        writ_write_object_begin(w);
        writ_write_flag(w, "listChanged", true);
        writ_write_object_end(w);
    }
}

static void
put_capabilities(
    struct writ_write *w, const struct writ_request *request, const struct writ_fanout *fanout)
{
    static const struct writ_view any = {NULL, 0};

    writ_write_name(w, WRIT_LIT("capabilities"));
    writ_write_object_begin(w);
    put_late_tools(w, fanout);
    for (size_t i = 0; i < fanout->n; i++) {
        const struct writ_json *all =
            writ_json_get(writ_fanout_result(&fanout->branches[i]), WRIT_LIT("capabilities"));
        WRIT_JSON_EACH(name, all)
        {
            if (!said_before(fanout, i, writ_json_string(name), any)) {
                put_capability(w, request, fanout, writ_json_string(name));
            }
        }
    }
    writ_write_object_end(w);
}

static void
put_server_info(struct writ_write *w, struct writ_view name)
{
    writ_write_name(w, name);
    writ_write_object_begin(w);
    writ_write_text(w, "name", WRIT_LIT("writ"));
    writ_write_text(w, "version", WRIT_LIT(WRIT_VERSION));
    writ_write_object_end(w);
}

static void
put_meta(struct writ_write *w, const struct writ_request *request, const struct writ_fanout *fanout)
{
    bool modern = request->method != WRIT_MCP_INITIALIZE;

    if (!modern && !writ_fanout_any_incomplete(fanout)) {
        return;
    }
    writ_write_name(w, WRIT_LIT("_meta"));
    writ_write_object_begin(w);
    if (modern) {
        put_server_info(w, WRIT_LIT("io.modelcontextprotocol/serverInfo"));
    }
    writ_fanout_put_unavailable(w, fanout);
    writ_write_object_end(w);
}

/* ---- what they say for the model ---- */

/* The first line without its end; `ret_next`: the begin of the next one. Every character at which a
 * reader begins a line is an end; other ones are controls, and stripped. */
static struct writ_view
first_line(struct writ_view text, size_t *ret_next)
{
    size_t at = 0, len = 0;

    for (; at<text.len; at += len> 0 ? len : 1) {
        uint32_t point = 0;
        len = writ_utf8_character(writ_view_sub(text, at, text.len), &point);
        if (point == '\n' || point == '\r' || writ_hidden_kind(point) == WRIT_HIDDEN_LINE) {
            break;
        }
    }
    *ret_next = at + (at < text.len ? len : 0);
    if (writ_view_has_prefix(writ_view_sub(text, at, text.len), WRIT_LIT("\r\n"))) {
        ++*ret_next;
    }
    return writ_view_sub(text, 0, at);
}

/* Each line is marked with its upstream, so that none can speak in the name of another. */
static void
quote(struct writ_buf *text, struct writ_view said, size_t most)
{
    struct writ_view rest = writ_utf8_cut(said, most);
    bool cut = rest.len < said.len;

    while (rest.len > 0) {
        size_t next = 0;
        writ_buf_str(text, "> ");
        writ_buf_put(text, first_line(rest, &next));
        writ_buf_byte(text, '\n');
        rest = writ_view_sub(rest, next, rest.len);
    }
    writ_buf_str(text, cut ? "> [cut]\n" : "");
}

static void
put_instructions(
    struct writ_write *w, const struct writ_request *request, const struct writ_fanout *fanout)
{
    writ_auto_buf text = writ_buf_make(ANSWER_MAX), seen = writ_buf_make(ANSWER_MAX);
    size_t most = INSTRUCTIONS_MAX / (fanout->n > 0 ? fanout->n : 1);

    for (size_t i = 0; i < fanout->n; i++) {
        struct writ_view said = writ_json_string(
            writ_json_get(writ_fanout_result(&fanout->branches[i]), WRIT_LIT("instructions")));
        if (said.len > 0) {
            writ_buf_str(&text, text.len > 0 ? "\n" : "");
            writ_buf_str(&text, "The server ");
            writ_buf_put(&text, writ_upstream_config(fanout->branches[i].upstream)->name);
            writ_buf_str(&text, " says:\n");
            quote(&text, said, most);
        }
    }
    if (text.len > 0 && writ_is_ok(writ_buf_check(&text, NULL))) {
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_CHARACTERS_HIDDEN,
            writ_hidden_strip(&seen, writ_buf_view(&text)));
        writ_write_text(w, "instructions", writ_buf_view(&seen));
    }
}

static void
put_joined(
    struct writ_write *w, const struct writ_request *request, const struct writ_fanout *fanout)
{
    writ_write_object_begin(w);
    if (request->method == WRIT_MCP_INITIALIZE) {
        writ_write_text(w, "protocolVersion", lowest_version(fanout));
        put_server_info(w, WRIT_LIT("serverInfo"));
    } else {
        writ_write_text(w, "resultType", WRIT_LIT("complete"));
        writ_write_name(w, WRIT_LIT("supportedVersions"));
        writ_write_array_begin(w);
        writ_write_string(w, WRIT_LIT(WRIT_MCP_MODERN));
        writ_write_array_end(w);
        writ_write_count(w, "ttlMs", 0);
        writ_write_text(w, "cacheScope", WRIT_LIT("private"));
    }
    put_capabilities(w, request, fanout);
    put_instructions(w, request, fanout);
    put_meta(w, request, fanout);
    writ_write_object_end(w);
}

static void
put_response(struct writ_buf *body, const struct writ_request *request,
    const struct writ_fanout *fanout, const struct writ_branch *alone)
{
    struct writ_write w = writ_write_to(body);

    writ_mcp_open(&w, request->message.id);
    writ_write_name(&w, WRIT_LIT("result"));
    if (alone != NULL) {
        writ_metrics_count(request->x->metrics, WRIT_COUNTER_CHARACTERS_HIDDEN,
            writ_write_visible(&w, writ_fanout_result(alone)));
    } else {
        put_joined(&w, request, fanout);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
}

static enum writ_step
answer(struct writ_request *request)
{
    const struct writ_fanout *fanout = request->part;
    const struct writ_branch *first = NULL;
    size_t n = count_results(fanout, &first);
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_header session = {0};
    char id[WRIT_SESSION_ID_TEXT];

    put_response(&body, request, fanout, n == 1 && !writ_request_is_merged(request) ? first : NULL);
    if (request->session != NULL) {
        for (size_t i = 0; i < sizeof id; i++) {
            id[i] = request->session->id[i];
        }
        session = (struct writ_header){WRIT_LIT("Mcp-Session-Id"), writ_view(id, sizeof id - 1)};
    }
    return writ_fanout_answer(request, &body, session);
}

/* ---- the session ---- */

/* A child that is not up: it joins the session when it is, and then gets the client's initialize
 * (stdio_handshake.h). */
static bool
comes_late(const struct writ_branch *branch)
{
    return writ_fanout_gave_nothing(branch) &&
           writ_upstream_config(branch->upstream)->kind == WRIT_UPSTREAM_STDIO;
}

/* The id of its session; {NULL, 0}: it is late. */
static struct writ_view
session_of(const struct writ_branch *branch)
{
    struct writ_view id = {NULL, 0};

    if (writ_fanout_result(branch) != NULL) {
        id = branch->answer.session;
    } else if (comes_late(branch)) {
        id = branch->upcall.request.session;
    } else {
        return id;
    }
    return id.ptr != NULL ? id : WRIT_LIT("");
}

static writ_result
fill_upstream(const struct writ_branch *branch, struct writ_session *session)
{
    if (writ_fanout_result(branch) == NULL && !writ_fanout_gave_nothing(branch)) {
        return WRIT_DONE; /* it answered that it is not part of the session */
    }
    return writ_session_add_upstream(
        session, writ_upstream_config(branch->upstream)->name, session_of(branch));
}

static writ_result
fill_session(struct writ_session *session, const struct writ_fanout *fanout)
{
    WRIT_TRY(writ_session_make_room(session, fanout->n));
    for (size_t i = 0; i < fanout->n; i++) {
        WRIT_TRY(fill_upstream(&fanout->branches[i], session));
    }
    session->version = writ_view_copy(lowest_version(fanout), session->arena);
    return session->version.ptr != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

/* The client's data for a server that is started again or joins late. */
static writ_result
keep_client(struct writ_request *request)
{
    struct writ_session *session = request->session;
    writ_auto_buf client = writ_buf_make(WRIT_SESSION_CLIENT_MAX);
    struct writ_write w = writ_write_to(&client);

    if (request->message.params == NULL) {
        return WRIT_DONE;
    }
    writ_write_verbatim(&w, request->message.params);
    if (!writ_is_ok(writ_write_end(&w, NULL))) {
        return WRIT_DONE;
    }
    session->client = writ_view_copy(writ_buf_view(&client), session->arena);
    return session->client.ptr != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

/* The client's data is kept if the row has room for it. */
static writ_result
put_row(struct writ_session *session, struct writ_buf *ret)
{
    writ_session_put(session, ret);
    if (!writ_is_ok(writ_buf_check(ret, NULL)) && session->client.len > 0) {
        session->client = (struct writ_view){NULL, 0};
        writ_buf_clear(ret);
        writ_session_put(session, ret);
    }
    return writ_buf_check(ret, NULL);
}

static writ_result
make_session(
    struct writ_request *request, const struct writ_fanout *fanout, struct writ_view *ret_row)
{
    writ_auto_buf row = writ_buf_make(WRIT_LEDGER_SESSION_MAX);

    WRIT_TRY(writ_session_new(&request->identity.agent, request->endpoint->path,
        request->worker->gateway->clock, &request->session, NULL));
    WRIT_TRY(fill_session(request->session, fanout));
    WRIT_TRY(keep_client(request));
    request->session->abilities =
        writ_abilities_read(writ_json_get(request->message.params, WRIT_LIT("capabilities")));
    writ_session_keep_environment(request->session, writ_request_environment(request));
    WRIT_TRY(put_row(request->session, &row));
    *ret_row = writ_view_copy(writ_buf_view(&row), request->x->arena);
    return ret_row->ptr != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

static enum writ_step
failed(struct writ_request *request, enum writ_reason reason)
{
    unsigned status = reason == WRIT_REASON_SHARE_EXCEEDED ? 429 : 503;

    return writ_refusal_http(request, status, WRIT_RPC_INTERNAL_ERROR, reason, NULL);
}

/* The session takes its place before its row is written, so that no client fills the ledger with
 * rows of sessions without a place; no client knows its id before. */
static enum writ_step
store_session(struct writ_request *request, struct writ_view row)
{
    struct writ_gateway *gateway = request->worker->gateway;
    enum writ_reason crowded;

    if (!writ_is_ok(writ_sessions_add(
            gateway->sessions, &request->session, writ_loop_now_us(request->x->loop)))) {
        crowded = writ_sessions_crowded(gateway->sessions, &request->identity.agent);
        return failed(request, crowded != WRIT_REASON_NONE ? crowded : WRIT_REASON_OVERLOADED);
    }
    writ_session_row_put(&request->entry, request->session, row, gateway->clock,
        writ_request_config(request)->sessions.idle_expires_us);
    return writ_request_submit(request, WRIT_STEP_OPENED);
}

enum writ_step
writ_handshake_agree(struct writ_request *request)
{
    struct writ_fanout *fanout = request->part;
    const struct writ_branch *first = NULL;
    struct writ_view row = {NULL, 0};
    writ_result made;

    for (size_t i = 0; i < fanout->n; i++) {
        fanout->branches[i].incomplete = writ_fanout_gave_nothing(&fanout->branches[i]);
    }
    if (count_results(fanout, &first) == 0) {
        if (fanout->n == 0) {
            return failed(request, WRIT_REASON_UPSTREAM_UNAVAILABLE);
        }
        return writ_fanout_tell(request, &fanout->branches[0]);
    }
    if (request->method != WRIT_MCP_INITIALIZE) {
        return answer(request);
    }
    made = make_session(request, fanout, &row);
    if (made.code == WRIT_E_LIMIT) { /* because of the upstreams' revision and session ids */
        return writ_refusal_http(
            request, 502, WRIT_REFUSAL_CODE, WRIT_REASON_UPSTREAM_MALFORMED, NULL);
    }
    return writ_is_ok(made) ? store_session(request, row) : failed(request, WRIT_REASON_OVERLOADED);
}

enum writ_step
writ_handshake_opened(struct writ_request *request)
{
    struct writ_gateway *gateway = request->worker->gateway;

    if (request->entry.code != WRIT_OK) {
        writ_sessions_remove(gateway->sessions, &request->session->hash);
        return failed(request, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
    atomic_store(&request->session->stored_us, request->entry.session.expires_us);
    return answer(request);
}

enum writ_step
writ_handshake_start(struct writ_request *request)
{
    struct writ_view version =
        writ_json_string(writ_json_get(request->message.params, WRIT_LIT("protocolVersion")));
    enum writ_reason crowded;

    if (version.len > VERSION_MAX) { /* an upstream may repeat it */
        return writ_refusal_http(request, 400, WRIT_RPC_INVALID_PARAMS,
            WRIT_REASON_MALFORMED_REQUEST, "protocolVersion is longer than 64 bytes");
    }
    crowded =
        request->method == WRIT_MCP_INITIALIZE
            ? writ_sessions_crowded(request->worker->gateway->sessions, &request->identity.agent)
            : WRIT_REASON_NONE;
    if (crowded != WRIT_REASON_NONE) { /* before the upstreams open a session for it */
        return failed(request, crowded);
    }
    return writ_fanout_begin(request, request->x->body, WRIT_STEP_AGREE);
}
