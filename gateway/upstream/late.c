/* late.c - joins a session to an upstream that was absent when the session began.
 *
 * Invariants:
 * (1) A join is in its worker's list until its initialize has ended, so that requests share it.
 * (2) It lives as long as one of its upcalls is open, whether or not requests wait for it. */
#include "gateway/upstream/late.h"

#include "gateway/state/gateway.h"
#include "gateway/probe/probe.h"
#include "gateway/state/session_row.h"

#include "evidence/json/write.h"

#define BODY_MAX   (WRIT_SESSION_CLIENT_MAX + 1024)
#define ANSWER_MAX (1u << 20) /* bytes of the answer to initialize */
#define JOIN_ARENA (1u << 22)

struct writ_late_join {
    struct writ_late_join *next, **link; /* of its worker; keeps (1) */
    struct writ_worker *worker;
    struct writ_session *session; /* held */
    struct writ_upstream *upstream;
    struct writ_late_wait *waits;
    struct writ_arena *arena;
    struct writ_agent agent;
    struct writ_upcall upcall;
    struct writ_mcp_message message;
    struct writ_view id; /* the session id that the upstream gave */
};

static void
join_free(struct writ_late_join *join)
{
    writ_session_drop(join->session);
    writ_arena_free(join->arena);
    writ_free(join);
}

/* ---- what is sent */

/* The client's params, with the revision of the session. */
static void
put_params(struct writ_write *w, const struct writ_late_join *join)
{
    struct writ_view client = join->session->client;
    const struct writ_json *said = NULL;

    if (client.len == 0) {
        client = WRIT_LIT("{\"capabilities\":{},"
                          "\"clientInfo\":{\"name\":\"writ\",\"version\":\"" WRIT_VERSION "\"}}");
    }
    WRIT_IGNORE(writ_json_read(client, &writ_json_limits_default, join->arena, &said, NULL));
    writ_write_object_begin(w);
    WRIT_JSON_EACH(name, said)
    {
        if (!writ_view_is(writ_json_string(name), "protocolVersion")) {
            writ_write_name(w, writ_json_string(name));
            writ_write_verbatim(w, writ_json_value(name));
        }
    }
    writ_write_text(w, "protocolVersion", join->session->version);
    writ_write_object_end(w);
}

static writ_result
put_initialize(struct writ_late_join *join, struct writ_buf *body)
{
    struct writ_write w = writ_write_to(body);
    char id[WRIT_PROBE_ID_MAX];

    WRIT_TRY(writ_probe_make_id("writ-initialize-", id));
    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(&w, "id", writ_view_str(id));
    writ_write_text(&w, "method", WRIT_LIT("initialize"));
    writ_write_name(&w, WRIT_LIT("params"));
    put_params(&w, join);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

/* Waits for an answer no longer than a handshake may take. */
static void
say(struct writ_late_join *join, enum writ_method method, struct writ_view body,
    const struct writ_upcall_events *events)
{
    const struct writ_upstream_config *to = writ_upstream_config(join->upstream);
    int64_t most_us = WRIT_UPSTREAM_LIST_TIMES * to->list_timeout_us;
    bool first = join->message.kind == WRIT_MCP_REQUEST;

    join->upcall = (struct writ_upcall){.events = events,
        .ctx = join,
        .request = {.method = method,
            .message = &join->message,
            .body = body,
            .session = join->id,
            .version = first ? (struct writ_view){NULL, 0} : join->session->version,
            .body_max = ANSWER_MAX,
            .event_max = ANSWER_MAX,
            .timeout_us = to->timeout_us < most_us ? to->timeout_us : most_us,
            .total_us = to->timeout_us < most_us ? to->timeout_us : most_us,
            .scope = join->session->id,
            .agent = &join->agent,
            .environment = writ_session_environment(join->session),
            .client = join->session->client}};
    writ_upcall_start(join->upstream, join->worker, &join->upcall);
}

/* ---- the end */

static void
last_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    (void)answer;
    join_free(upcall->ctx);
}

static const struct writ_upcall_events last_events = {.end = last_end};

/* The upstream has opened a session that is not used: ends it. */
static void
end_unused(struct writ_late_join *join)
{
    if (join->id.len == 0) {
        join_free(join);
        return;
    }
    join->message = (struct writ_mcp_message){.kind = WRIT_MCP_NOTIFICATION};
    say(join, WRIT_METHOD_DELETE, (struct writ_view){NULL, 0}, &last_events);
}

/* Removes it from the list: a later request begins another join. */
static void
unlink_join(struct writ_late_join *join)
{
    if (join->link != NULL) {
        *join->link = join->next;
        if (join->next != NULL) {
            join->next->link = join->link;
        }
        join->link = NULL;
    }
}

static void
tell(struct writ_late_join *join, const struct writ_upcall_answer *answer)
{
    struct writ_late_wait *waits = WRIT_TAKE(join->waits);

    while (waits != NULL) {
        struct writ_late_wait *wait = waits;
        waits = wait->next;
        wait->answer = (struct writ_upcall_answer){.status = answer->status,
            .end = answer->end,
            .sent = WRIT_NOT_SENT,
            .detail = answer->detail};
        wait->join = NULL;
        wait->done(wait);
    }
}

static void
fail(struct writ_late_join *join, const struct writ_upcall_answer *answer)
{
    struct writ_upcall_answer failed = *answer;

    if (failed.end == WRIT_UPCALL_ANSWERED) {
        failed.end = WRIT_UPCALL_BROKEN; /* it has answered that it cannot join */
    }
    unlink_join(join);
    tell(join, &failed);
    end_unused(join);
}

static void
initialized_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_late_join *join = upcall->ctx;
    writ_result joined = {WRIT_E_INVALID};

    if (answer->end == WRIT_UPCALL_ANSWERED && answer->status < 300 &&
        !atomic_load(&join->session->left)) {
        joined =
            writ_session_join(join->session, writ_upstream_config(join->upstream)->name, join->id);
    }
    if (!writ_is_ok(joined) && joined.code != WRIT_E_ABSENT) {
        fail(join, answer);
        return;
    }
    unlink_join(join);
    tell(join, answer);
    if (writ_is_ok(joined)) {
        writ_session_row_refresh(join->worker, join->session);
        join_free(join);
    } else {
        end_unused(join); /* another loop was faster */
    }
}

static const struct writ_upcall_events initialized_events = {.end = initialized_end};

/* A whole result, in the revision of the session. */
static bool
is_welcome(struct writ_late_join *join, const struct writ_upcall_answer *answer)
{
    const struct writ_json *response = NULL, *result;

    if (answer->end != WRIT_UPCALL_ANSWERED || answer->status >= 300 ||
        !writ_is_ok(writ_mcp_parse(answer->body, join->arena, &response)) ||
        !writ_mcp_is_unambiguous(response) ||
        !writ_json_equal(writ_json_get(response, WRIT_LIT("id")), join->message.id)) {
        return false;
    }
    result = writ_json_get_typed(response, WRIT_LIT("result"), WRIT_JSON_OBJECT);
    return writ_json_is(writ_json_get(result, WRIT_LIT("protocolVersion")), join->session->version);
}

/* Nothing else is sent to the upstream before it knows that the handshake is over. */
static void
initialize_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct writ_late_join *join = upcall->ctx;

    join->id = writ_view_copy(answer->session, join->arena);
    if (join->id.ptr == NULL || !is_welcome(join, answer)) {
        fail(join, answer);
        return;
    }
    join->message = (struct writ_mcp_message){
        .kind = WRIT_MCP_NOTIFICATION, .method = WRIT_LIT("notifications/initialized")};
    say(join, WRIT_METHOD_POST,
        WRIT_LIT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
        &initialized_events);
}

static const struct writ_upcall_events initialize_events = {.end = initialize_end};

/* ---- the beginning */

static struct writ_late_join *
find(const struct writ_worker *worker, const struct writ_session *session,
    const struct writ_upstream *upstream)
{
    for (struct writ_late_join *join = worker->joins; join != NULL; join = join->next) {
        if (join->session == session && join->upstream == upstream) {
            return join;
        }
    }
    return NULL;
}

static writ_result
begin(struct writ_late_join *join)
{
    struct writ_buf body = writ_buf_in(join->arena, 2 * BODY_MAX);
    const struct writ_json *message = NULL;

    WRIT_TRY(put_initialize(join, &body));
    WRIT_TRY(writ_json_read(
        writ_buf_view(&body), &writ_json_limits_default, join->arena, &message, NULL));
    join->message = (struct writ_mcp_message){.kind = WRIT_MCP_REQUEST,
        .body = message,
        .id = writ_json_get(message, WRIT_LIT("id")),
        .params = writ_json_get(message, WRIT_LIT("params")),
        .method = WRIT_LIT("initialize")};
    say(join, WRIT_METHOD_POST, writ_buf_view(&body), &initialize_events);
    return WRIT_DONE;
}

static writ_result
make(struct writ_worker *worker, struct writ_session *session, struct writ_upstream *upstream,
    struct writ_late_join **ret)
{
    struct writ_late_join *join = writ_alloc(sizeof *join);
    writ_result r = {WRIT_E_NOMEM};

    if (join == NULL) {
        return r;
    }
    (void)atomic_fetch_add(&session->holders, 1);
    *join = (struct writ_late_join){.worker = worker,
        .session = session,
        .upstream = upstream,
        .arena = writ_arena_new_small(JOIN_ARENA),
        .agent = {.id = session->agent_id, .tenant = session->tenant}};
    if (join->arena != NULL) {
        r = begin(join);
    }
    if (!writ_is_ok(r)) {
        join_free(join);
        return r;
    }
    join->next = worker->joins;
    join->link = &worker->joins;
    if (join->next != NULL) {
        join->next->link = &join->next;
    }
    worker->joins = join; /* keeps (1) */
    *ret = join;
    return WRIT_DONE;
}

writ_result
writ_late_start(struct writ_worker *worker, struct writ_session *session,
    struct writ_upstream *upstream, struct writ_late_wait *wait)
{
    struct writ_late_join *join = find(worker, session, upstream);

    if (join == NULL) {
        WRIT_TRY(make(worker, session, upstream, &join));
    }
    wait->join = join;
    wait->next = join->waits;
    join->waits = wait;
    return WRIT_DONE;
}

void
writ_late_leave(struct writ_late_wait *wait)
{
    struct writ_late_join *join = wait->join;
    struct writ_late_wait **link;

    if (join == NULL) {
        return;
    }
    for (link = &join->waits; *link != wait; link = &(*link)->next) {
    }
    *link = wait->next;
    wait->join = NULL;
    if (join->waits == NULL && join->message.kind == WRIT_MCP_REQUEST) {
        unlink_join(join);
        writ_upcall_cancel(&join->upcall, false); /* its end frees it: keeps (2) */
    }
}
