/* reviewer_hook.c - a webhook. The review is posted, signed (webhook_signature.h). An answer over
 * the verified TLS connection to the configured URL is that reviewer's. A redirect is not an answer
 * and is not followed.
 */
#include "gateway/reviewers/reviewer_hook.h"

#include "base/text.h"
#include "gateway/admin/review_ballot.h"
#include "gateway/http/webhook_signature.h"

#define STATUS_OK       200
#define STATUS_ACCEPTED 202
#define STATUS_LATER    204
#define STATUS_GONE     410
#define US_PER_S        1000000
#define CONNECTIONS_MAX WRIT_REVIEW_REQUESTS_MAX
#define FIELDS          6

/* ---- opening */

WRIT_RESULT
writ_reviewer_hook_open(struct writ_reviewer *reviewer, struct writ_err *err)
{
    const struct writ_reviewer_config *config = reviewer->config;
    const struct writ_http_options options = {.url = config->url,
        .ca_file = config->ca.len > 0 ? config->ca.ptr : NULL,
        .connections_max = CONNECTIONS_MAX};

    WRIT_TRY(writ_webhook_signature_read(reviewer->config->secret.ptr, &reviewer->secret, err));
    return writ_http_client_open(
        reviewer->worker->loop, reviewer->gateway->resolver, &options, &reviewer->client, err);
}

/* ---- the answer */

static void
on_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    struct writ_review_request *request = ctx;

    (void)call;
    request->status = head->status;
}

static void
on_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct writ_review_request *request = ctx;

    (void)call;
    writ_buf_put(&request->answer, bytes);
}

static void
on_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct writ_review_request *request = ctx;

    (void)call;
    request->call = NULL;
    if (end->reason != WRIT_HTTP_OK) {
        writ_review_request_failed(request, writ_http_response_reason(end->reason));
    } else if (request->status == STATUS_GONE || request->status == STATUS_ACCEPTED ||
               request->status == STATUS_LATER) {
        writ_review_request_rests(request);
    } else if (request->status != STATUS_OK) {
        writ_review_request_failed(request, "status");
    } else if (!writ_is_ok(writ_buf_check(&request->answer, NULL))) {
        writ_review_request_failed(request, "memory");
    } else if (request->answer.len == 0) {
        writ_review_request_rests(request);
    } else {
        writ_review_request_answered(request, writ_buf_view(&request->answer));
    }
}

/* ---- asking */

/* {"type", "timestamp", "data"}, as in Standard Webhooks. */
static WRIT_RESULT
make_body(struct writ_view json, int64_t now_us, struct writ_buf *ret)
{
    char text[WRIT_TIME_TEXT];

    writ_time_format(now_us, text);
    writ_buf_fmt(ret, "{\"type\":\"review.opened\",\"timestamp\":\"%s\",\"data\":", text);
    writ_buf_put(ret, json);
    writ_buf_byte(ret, '}');
    return writ_buf_check(ret, NULL);
}

static WRIT_RESULT
send_signed(struct writ_review_request *request, struct writ_view body, int64_t now_us)
{
    static const struct writ_http_handler handler = {on_head, on_body, on_end};
    const struct writ_reviewer *reviewer = request->reviewer;
    char digits[24], mac[WRIT_WEBHOOK_SIGNATURE_BYTES];
    struct writ_buf time_s = writ_buf_over(digits, sizeof digits);
    struct writ_buf signature = writ_buf_over(mac, sizeof mac);

    writ_buf_i64(&time_s, now_us / US_PER_S);
    WRIT_TRY(writ_webhook_signature_put(
        &reviewer->secret, request->id, writ_buf_view(&time_s), body, &signature));
    const struct writ_header fields[FIELDS] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("application/json")},
        {WRIT_LIT("Accept"), WRIT_LIT("application/json")},
        {WRIT_LIT("User-Agent"), WRIT_LIT("writ/" WRIT_VERSION)},
        {WRIT_LIT("webhook-id"), request->id},
        {WRIT_LIT("webhook-timestamp"), writ_buf_view(&time_s)},
        {WRIT_LIT("webhook-signature"), writ_buf_view(&signature)},
    };
    const struct writ_http_request http = {.method = WRIT_LIT("POST"),
        .target = reviewer->config->path,
        .fields = fields,
        .count = FIELDS,
        .body = body,
        .body_max = WRIT_REVIEW_BALLOT_MAX,
        .total_us = reviewer->config->timeout_us};

    return writ_http_client_send(reviewer->client, &http, &handler, request, &request->call, NULL);
}

void
writ_reviewer_hook_ask(struct writ_review_request *request, struct writ_view json)
{
    int64_t now_us = writ_clock_wall_us(request->reviewer->gateway->clock);
    struct writ_buf body = writ_buf_in(request->arena, json.len + 128);

    request->status = 0;
    request->answer = writ_buf_in(request->arena, WRIT_REVIEW_BALLOT_MAX);
    if (!writ_is_ok(make_body(json, now_us, &body)) ||
        !writ_is_ok(send_signed(request, writ_buf_view(&body), now_us))) {
        writ_review_request_failed(request, "not_sent");
    }
}
