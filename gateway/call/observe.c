/* observe.c - OBSERVE: the state of a call's target, right before its decision, or before it is
 * bound: in `call->observed`, or the reason why it is unknown.
 *
 * The gateway itself sends the probe (probe.h): a probe has no decision, is counted separately, and
 * carries neither the client's credential nor ours. */
#include "gateway/review/meet.h"
#include "gateway/probe/probe.h"
#include "gateway/request/request.h"
#include "gateway/request/upcall_request.h"

struct probe {
    struct writ_request *request;
    struct writ_probe_request wanted;
    struct writ_upcall upcall;
    struct writ_mcp_message message;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_probe_get get;
};

/* ---- what was observed ---- */

static bool
is_shown(const struct probe *probe)
{
    return probe->request->call->verdict.approval != NULL;
}

static void
keep(struct writ_request *request, const struct writ_probe_state *state)
{
    struct writ_call *call = request->call;
    char text[WRIT_DIGEST_TEXT];
    struct writ_view copy = {NULL, 0};

    if (state->known) {
        writ_digest_text(&state->digest, text);
        copy = writ_view_copy(writ_view_str(text), request->x->arena);
    }
    call->observed.text = state->known ? state->text : writ_view(NULL, 0);
    call->observed.fault =
        copy.ptr != NULL ? WRIT_REASON_NONE : WRIT_REASON_TARGET_STATE_UNAVAILABLE;
    call->observed.digest =
        copy.ptr != NULL ? writ_member_text(copy) : (struct writ_member_text){WRIT_NULL, {NULL, 0}};
}

static enum writ_step
unavailable(struct writ_request *request)
{
    keep(request, &(struct writ_probe_state){0});
    return request->endpoint->kind->observed;
}

/* ---- by an MCP upstream ---- */

static void
upcall_end(struct writ_upcall *upcall, const struct writ_upcall_answer *answer)
{
    struct probe *probe = upcall->ctx;
    struct writ_probe_state state = {0};

    (void)writ_meet_is_lost(probe->request, upcall->upstream, &upcall->request, answer);
    if (answer->end == WRIT_UPCALL_ANSWERED && answer->status < 300) {
        writ_probe_read_response(
            &probe->wanted, answer->body, is_shown(probe), probe->request->x->arena, &state);
    }
    keep(probe->request, &state);
    writ_request_continue(probe->request);
}

static const struct writ_upcall_events probe_events = {.end = upcall_end};

/* The probe's own message, as if a client had sent it. Its id is unique in that session, also among
 * the probes of other calls. */
static writ_result
prepare_upcall(struct probe *probe, struct writ_upstream *upstream)
{
    writ_auto_buf body = writ_buf_make(WRIT_PROBE_QUESTION_MAX);
    char id[WRIT_PROBE_ID_MAX];
    struct writ_view copy;

    WRIT_TRY(writ_probe_make_id("writ-probe-", id));
    WRIT_TRY(writ_probe_put(&body, &probe->wanted, writ_view_str(id), &probe->request->message));
    copy = writ_view_copy(writ_buf_view(&body), probe->request->x->arena);
    if (copy.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return writ_upcall_request_own(
        probe->request, upstream, copy, &probe->message, probe->headers, &probe->upcall.request);
}

static enum writ_step
ask_upstream(struct probe *probe)
{
    struct writ_request *request = probe->request;
    struct writ_upstream *upstream =
        writ_upstream_find(request->worker->gateway, probe->wanted.probe->upstream);

    if (writ_meet_is_due(request, upstream)) {
        return writ_meet_start(request, upstream, WRIT_STEP_OBSERVE);
    }
    if (upstream == NULL || writ_meet_is_late(request, upstream) ||
        !writ_is_ok(prepare_upcall(probe, upstream))) {
        return unavailable(request);
    }
    probe->upcall.request.body_max = probe->upcall.request.event_max = WRIT_PROBE_ANSWER_MAX;
    probe->upcall.request.timeout_us = probe->wanted.probe->timeout_us;
    probe->upcall.request.total_us = probe->wanted.probe->timeout_us;
    probe->upcall.events = &probe_events;
    probe->upcall.ctx = probe;
    writ_upcall_start(upstream, request->worker, &probe->upcall);
    return writ_request_wait(request, request->endpoint->kind->observed);
}

/* ---- by an HTTP GET ---- */

static void
got_page(struct writ_probe_get *get)
{
    struct probe *probe = get->ctx;
    struct writ_probe_state state;

    writ_probe_read_page(
        &probe->wanted, get->status, get->body, is_shown(probe), probe->request->x->arena, &state);
    keep(probe->request, &state);
    writ_request_continue(probe->request);
}

static enum writ_step
ask_http(struct probe *probe)
{
    probe->get = (struct writ_probe_get){.done = got_page, .ctx = probe};
    return writ_is_ok(writ_probe_get_start(&probe->request->worker->probed, probe->wanted.uri,
               probe->wanted.probe->timeout_us, &probe->get))
               ? writ_request_wait(probe->request, probe->request->endpoint->kind->observed)
               : unavailable(probe->request);
}

/* ---- OBSERVE ---- */

enum writ_step
writ_observe_start(struct writ_request *request)
{
    struct writ_call *call = request->call;
    struct probe *probe = writ_arena_get(request->x->arena, sizeof *probe);

    if (probe == NULL) {
        return unavailable(request);
    }
    *probe = (struct probe){.request = request};
    writ_metrics_count(request->x->metrics, WRIT_COUNTER_PROBES, 1);
    if (!writ_is_ok(writ_policy_probe(
            call->verdict.rule, call->callee.arguments, request->x->arena, &probe->wanted, NULL))) {
        return unavailable(request);
    }
    switch (probe->wanted.probe->kind) {
    case WRIT_PROBE_TOOL:
    case WRIT_PROBE_RESOURCE:
        return ask_upstream(probe);
    case WRIT_PROBE_HTTP:
        return ask_http(probe);
    case WRIT_PROBE_NONE:
        break;
    }
    return unavailable(request);
}
