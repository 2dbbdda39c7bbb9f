/* stream.c - STREAM and LEAVE: the session's own stream of events (GET), and its end (DELETE). */
#include "gateway/refusal.h"
#include "gateway/spread.h"

#define CODE_SERVER   (-32000)
#define CODE_INTERNAL (-32603)

/* A seal waits until the calls of its run have ended, so it outlives the request. */
struct seal {
    struct writ_entry entry;
    struct writ_session *session;
    struct writ_arena *arena;
};

/* ---- LEAVE ---- */

static void
seal_done(struct writ_entry *entry)
{
    struct seal *seal = entry->user;

    writ_session_drop(seal->session);
    writ_arena_free(seal->arena);
    writ_free(seal);
}

static void
submit_seal(struct writ_request *request)
{
    struct seal *seal = writ_alloc(sizeof *seal);

    if (seal == NULL) {
        return; /* it will be sealed when it is idle */
    }
    seal->arena = writ_arena_new(65536);
    if (seal->arena == NULL) {
        writ_free(seal);
        return;
    }
    (void)atomic_fetch_add(&request->session->holders, 1);
    seal->session = request->session;
    seal->entry = (struct writ_entry){.kind = WRIT_ENTRY_SEAL,
        .done = seal_done,
        .user = seal,
        .arena = seal->arena,
        .seal = {.tenant = seal->session->tenant, .boundary_id = seal->session->boundary_id}};
    writ_worker_submit(request->worker, &seal->entry);
}

static void
left(struct writ_request *request, struct writ_legs *legs)
{
    (void)legs;
    writ_sessions_remove(request->worker->gateway->sessions, request->session);
    submit_seal(request);
    request->entry = (struct writ_entry){
        .kind = WRIT_ENTRY_SESSION_DROP, .session = {.hash = request->session->hash}};
    (void)writ_request_submit(request, WRIT_STEP_LEAVE);
}

enum writ_step
writ_stream_leave(struct writ_request *request)
{
    struct writ_exchange *x = request->x;

    if (request->entry.kind != WRIT_ENTRY_SESSION_DROP) {
        return writ_spread_begin(request, (struct writ_view){NULL, 0}, left) != NULL
                   ? WRIT_STEP_WAIT
                   : writ_refusal_http(request, 503, CODE_INTERNAL, WRIT_REASON_OVERLOADED, NULL);
    }
    if (request->entry.code != WRIT_OK && request->entry.code != WRIT_E_ABSENT) {
        return writ_refusal_http(
            request, 503, CODE_INTERNAL, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
    }
    writ_request_finish(request);
    writ_exchange_reply(x, 200, NULL, 0, (struct writ_view){NULL, 0});
    return WRIT_STEP_DONE;
}

/* ---- STREAM ---- */

static bool
accepts_events(const struct writ_request *request)
{
    struct writ_view accept = writ_exchange_header(request->x, WRIT_LIT("Accept"));

    return writ_view_search(accept, WRIT_LIT("text/event-stream")) < accept.len;
}

/* One upstream's stream is passed on as it comes. Several are not joined: their clients poll
 * lists, and every call has a stream of its own. */
enum writ_step
writ_stream_open(struct writ_request *request)
{
    if (!accepts_events(request)) {
        return writ_refusal_http(request, 406, CODE_SERVER, WRIT_REASON_MALFORMED_REQUEST,
            "Not Acceptable: Client must accept text/event-stream");
    }
    if (request->endpoint->only == NULL && request->worker->gateway->upstreams_n != 1) {
        return writ_refusal_http(request, 405, CODE_SERVER, WRIT_REASON_MALFORMED_REQUEST,
            "no stream is offered here: use the endpoint of one upstream");
    }
    return WRIT_STEP_PASS;
}
