/* A look is recorded on the thread of the lookups, because the record is durable before the answer:
 * (1) the answer is sent when the record is on disk. */
#include "gateway/admin/contents_looks.h"

#include "evidence/json/write.h"
#include "evidence/record/content_fact.h"
#include "gateway/admin/api_request.h"
#include "gateway/admin/contents_api.h"
#include "store/ledger/ledger.h"

#define DATA_MAX  8192
#define COUNT_MAX (INT64_C(1) << 53)

/** One request; in the arena of its exchange. */
struct look_request {
    struct writ_api_request request;
    struct writ_content_look look;
    bool recorded;
};

/* keeps (1) */
static void
back_on_loop(struct writ_api_request *request)
{
    struct look_request *a = (struct look_request *)request;
    struct writ_write w = writ_write_to(&a->request.body);

    if (!a->recorded) {
        writ_api_request_refuse(&a->request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    writ_write_object_begin(&w);
    writ_write_flag(&w, "recorded", true);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_request_reply(&a->request);
}

static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct look_request *a = lookup->ctx;
    writ_auto_buf data = writ_buf_make(DATA_MAX);

    (void)reader;
    a->recorded = writ_is_ok(writ_content_fact_look(&a->look, &data, NULL)) &&
                  writ_is_ok(writ_ledger_record(a->request.worker->gateway->ledger,
                      WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), NULL));
    writ_api_request_done(&a->request);
}

static bool
read_look(struct look_request *a)
{
    static const char *const known[] = {"purpose", "count", "since", NULL};
    const struct writ_json *body = NULL, *since;
    struct writ_content_look *look = &a->look;
    int64_t count = 0;

    if (!writ_is_ok(writ_json_read(
            a->request.x->body, &writ_json_limits_default, a->request.x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    since = writ_json_get(body, WRIT_LIT("since"));
    look->by = writ_review_viewer_subject(&a->request.viewer);
    look->purpose = writ_json_string(writ_json_get(body, WRIT_LIT("purpose")));
    if ((!writ_view_is(look->purpose, "learn") && !writ_view_is(look->purpose, "replay")) ||
        !writ_is_ok(
            writ_json_integer(writ_json_get(body, WRIT_LIT("count")), 0, COUNT_MAX, &count)) ||
        (since != NULL && !writ_is_ok(writ_time_read(writ_json_string(since), &look->since_us)))) {
        return false;
    }
    look->count = (uint64_t)count;
    return true;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct look_request *a = writ_api_request_open(x, ctx, sizeof *a, back_on_loop);

    if (a == NULL) {
        return;
    }
    if (!writ_contents_api_may_read(&a->request.viewer, WRIT_LIT(""))) { /* of all tenants */
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_NOT_CONTENT_READER);
    } else if (!read_look(a)) {
        writ_api_request_refuse(&a->request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        writ_api_request_ask(&a->request, work);
    }
}

void
writ_contents_looks_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_CONTENTS_LOOKS_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/contents/looks"),
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_CONTENTS_LOOKS_BODY_MAX,
        .handler = handle,
        .ctx = gateway};
}
