/* A look is recorded on the thread of the lookups, because the record is durable before the answer.
 * (1) between ask and back_on_loop a request belongs to the lookup thread, with the arena of its
 *     exchange. (2) the answer is sent when the record is on disk. */
#include "gateway/admin/contents_looks.h"

#include "evidence/json/write.h"
#include "evidence/record/content_fact.h"
#include "gateway/admin/api.h"
#include "gateway/admin/contents_api.h"
#include "gateway/state/ledger_query.h"
#include "store/ledger/ledger.h"

#define MAGIC     0x6c6f6f6bU
#define DATA_MAX  8192
#define COUNT_MAX (INT64_C(1) << 53)

/** One request; in the arena of its exchange. */
struct look_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_review_viewer viewer; /* until the answer */
    struct writ_content_look look;
    bool recorded;
    struct writ_lookup lookup;
    struct writ_post post;
};

static void
refuse(struct look_request *a, unsigned status, enum writ_reason reason)
{
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_problem(a->x, status, reason);
}

/* keeps (2) */
static void
back_on_loop(struct writ_post *post)
{
    struct look_request *a = post->ctx;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    WRIT_INVARIANT(a->magic == MAGIC);
    if (!a->recorded) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    writ_write_object_begin(&w);
    writ_write_flag(&w, "recorded", true);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_json(a->x, 200, &body);
}

static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct look_request *a = lookup->ctx;
    writ_auto_buf data = writ_buf_make(DATA_MAX);

    (void)reader;
    a->recorded = writ_is_ok(writ_content_fact_look(&a->look, &data, NULL)) &&
                  writ_is_ok(writ_ledger_record(a->worker->gateway->ledger,
                      WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), NULL));
    writ_loop_answer(a->worker->loop, &a->post);
}

static bool
read_look(struct look_request *a)
{
    static const char *const known[] = {"purpose", "count", "since", NULL};
    const struct writ_json *body = NULL, *since;
    struct writ_content_look *look = &a->look;
    int64_t count = 0;

    if (!writ_is_ok(
            writ_json_read(a->x->body, &writ_json_limits_default, a->x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    since = writ_json_get(body, WRIT_LIT("since"));
    look->by = writ_review_viewer_subject(&a->viewer);
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

/* keeps (1) */
static void
ask(struct look_request *a)
{
    a->lookup = (struct writ_lookup){.work = work, .ctx = a};
    if (!writ_is_ok(writ_ledger_query_ask(a->worker->gateway->queries, &a->lookup))) {
        refuse(a, 503, WRIT_REASON_OVERLOADED);
    }
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct writ_gateway *gateway = ctx;
    struct look_request *a = writ_arena_get(x->arena, sizeof *a);
    enum writ_reason refused;

    if (a == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    *a = (struct look_request){.magic = MAGIC,
        .x = x,
        .worker = writ_gateway_worker(gateway, x->loop),
        .post = {.fn = back_on_loop, .ctx = a}};
    refused = writ_review_viewer_ask(a->worker, x, x->arena, &a->viewer);
    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
    } else if (!writ_contents_api_may_read(&a->viewer, WRIT_LIT(""))) { /* of all tenants */
        refuse(a, 403, WRIT_REASON_NOT_CONTENT_READER);
    } else if (!read_look(a)) {
        refuse(a, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        ask(a);
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
