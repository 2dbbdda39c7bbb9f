/* review_tell.c - chooses the form by the client's declarations, and writes it. A client gets no
 * question that it did not declare. */
#include "gateway/review/review_tell.h"

#include "gateway/mcp/abilities.h"

#include "gateway/request/client_stream.h"
#include "gateway/review/continuation.h"
#include "gateway/review/review_question.h"
#include "gateway/review/review_return.h"

#define SINCE_URL    "2025-11-25"
#define PROGRESS_US  INT64_C(5000000) /* between two notifications */
#define US_PER_S     1000000
#define PROGRESS_MAX 8192
#define PAGE         "/reviews/"

/* Only a declared form is sent: other clients take an input_required for an empty success. */
enum writ_review_tell
writ_review_tell_form(const struct writ_request *request, const struct writ_ask *ask)
{
    const struct writ_session *session = request->session;

    if (ask == NULL || ask->id.ptr == NULL || ask->state != WRIT_REVIEW_OPEN ||
        request->call->returned.declined) {
        return WRIT_REVIEW_TELL_REFUSAL;
    }
    if (request->message.era == WRIT_MCP_ERA_MODERN &&
        (request->hold.question != NULL || request->call->returned.shown)) {
        return WRIT_REVIEW_TELL_INPUT; /* it has declared what it is asked, or was asked */
    }
    if (request->worker->gateway->admin_url.len == 0) {
        return WRIT_REVIEW_TELL_REFUSAL;
    }
    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        return writ_mcp_elicits_url(
                   writ_json_get(request->message.meta, WRIT_LIT(WRIT_META_CAPABILITIES)))
                   ? WRIT_REVIEW_TELL_INPUT
                   : WRIT_REVIEW_TELL_REFUSAL;
    }
    return session != NULL && (session->abilities & WRIT_ABLE_URL) != 0 &&
                   writ_view_compare(session->version, WRIT_LIT(SINCE_URL)) >= 0
               ? WRIT_REVIEW_TELL_ELICITATION
               : WRIT_REVIEW_TELL_REFUSAL;
}

void
writ_review_tell_put_url(struct writ_buf *buf, const struct writ_gateway *gateway,
    const struct writ_config *config, struct writ_view id)
{
    if (gateway->admin_url.len == 0) {
        return;
    }
    writ_buf_put(buf, config->admin_url.len > 0 ? config->admin_url : gateway->admin_url);
    writ_buf_str(buf, PAGE);
    writ_buf_put(buf, id);
}

static void
put_url(struct writ_write *w, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_TELL_URL_MAX);

    writ_review_tell_put_url(&url, request->worker->gateway, writ_request_config(request), ask->id);
    writ_write_text(w, "mode", WRIT_LIT("url"));
    writ_write_text(w, "url", writ_buf_view(&url));
    writ_write_text(w, "message",
        WRIT_LIT("The call waits for an approval. This page shows it to those who decide."));
}

writ_result
writ_review_tell_state(
    const struct writ_request *request, const struct writ_ask *ask, struct writ_buf *ret)
{
    static const struct writ_view none = {"", 0};
    const struct writ_call *call = request->call;
    const struct writ_review_question *question = request->hold.question;
    const struct writ_continuation continuation = {
        .review = ask->id,
        .call = ask->name,
        .expires_s = (ask->until_us + call->review.terms.redeem_us) / US_PER_S + 1,
        .shown = call->returned.shown,
        .name = question != NULL ? call->review.terms.name : none,
        .terms = question != NULL ? question->terms : none,
        .session =
            question != NULL && request->session != NULL ? request->session->boundary_id : none,
    };

    return writ_continuation_put(&continuation, request->generation->signer, ret, NULL);
}

/* A person is asked once: one who agreed to open the page is not asked again in every round. */
void
writ_review_tell_put_input(struct writ_write *w, const struct writ_request *request,
    const struct writ_ask *ask, struct writ_view state)
{
    writ_write_text(w, "resultType", WRIT_LIT("input_required"));
    if (!request->call->returned.shown) {
        writ_write_name(w, WRIT_LIT("inputRequests"));
        writ_write_object_begin(w);
        writ_write_name(w, WRIT_REVIEW_RETURN_KEY);
        writ_write_object_begin(w);
        writ_write_text(w, "method", WRIT_LIT("elicitation/create"));
        writ_write_name(w, WRIT_LIT("params"));
        writ_write_object_begin(w);
        if (request->hold.question != NULL) {
            writ_review_question_put(w, request->hold.question, true);
        } else {
            put_url(w, request, ask);
        }
        writ_write_object_end(w);
        writ_write_object_end(w);
        writ_write_object_end(w);
    }
    writ_write_text(w, "requestState", state);
}

void
writ_review_tell_put_elicitations(
    struct writ_write *w, const struct writ_request *request, const struct writ_ask *ask)
{
    writ_write_name(w, WRIT_LIT("elicitations"));
    writ_write_array_begin(w);
    writ_write_object_begin(w);
    writ_write_text(w, "elicitationId", ask->id);
    put_url(w, request, ask);
    writ_write_object_end(w);
    writ_write_array_end(w);
}

/* ---- while it is held ---- */

bool
writ_review_tell_takes_stream(const struct writ_request *request)
{
    struct writ_view accept = writ_exchange_list(request->x, WRIT_LIT("Accept"));

    return !request->x->http_1_0 && request->endpoint->kind->streams &&
           writ_view_search(accept, WRIT_LIT("text/event-stream")) < accept.len;
}

void
writ_review_tell_begin(struct writ_request *request)
{
    if (!request->stream.open && writ_review_tell_takes_stream(request)) {
        writ_client_stream_begin(request);
    }
}

/* Seconds, of those for which it is held. */
static WRIT_RESULT
put_progress(const struct writ_request *request, const struct writ_json *token, double waited,
    struct writ_buf *ret)
{
    double whole = (double)(request->hold.until_us - request->hold.from_us) / US_PER_S;
    writ_auto_buf message = writ_buf_make(WRIT_REVIEW_TELL_URL_MAX);
    struct writ_write w = writ_write_to(ret);

    writ_buf_str(&message, "The call waits for an approval. ");
    writ_review_tell_put_url(&message, request->worker->gateway, writ_request_config(request),
        request->hold.decided.decision.ask->id);
    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(&w, "method", WRIT_LIT("notifications/progress"));
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("progressToken"));
    writ_write_value(&w, token);
    writ_write_number(&w, "progress", waited);
    writ_write_number(&w, "total", whole);
    writ_write_text(&w, "message", writ_buf_view(&message));
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

void
writ_review_tell_progress(struct writ_request *request)
{
    const struct writ_json *token = writ_json_get(request->message.meta, WRIT_LIT("progressToken"));
    int64_t now_us = writ_loop_now_us(request->x->loop);
    double waited = (double)((now_us - request->hold.from_us) / US_PER_S);
    writ_auto_buf data = writ_buf_make(PROGRESS_MAX);
    struct writ_sse_event event = {
        .kind = WRIT_SSE_EVENT, .event = WRIT_LIT("message"), .retry_ms = WRIT_SSE_NO_RETRY};

    if (!request->stream.open || request->hold.until_us <= now_us ||
        (request->hold.told_us != 0 && now_us - request->hold.told_us < PROGRESS_US) ||
        (writ_json_type(token) != WRIT_JSON_STRING && writ_json_type(token) != WRIT_JSON_NUMBER)) {
        return;
    }
    request->hold.told_us = now_us;
    if (!writ_is_ok(put_progress(request, token, waited, &data))) {
        return; /* a notification may be lost */
    }
    request->hold.progress = waited + 1; /* a tool begins to count at 0, and the number must grow */
    event.data = writ_buf_view(&data);
    WRIT_IGNORE(writ_sse_put(&request->stream.pending, &event, NULL));
    WRIT_IGNORE(writ_client_stream_write(request, (struct writ_view){NULL, 0}));
}
