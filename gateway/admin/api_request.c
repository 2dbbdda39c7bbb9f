/* The generation of the viewer is held until the answer, and is let go before it: the answer can
 * end the exchange, whose arena has the request. */
#include "gateway/admin/api_request.h"

#include "base/secret.h"
#include "gateway/admin/api.h"

#define MAGIC 0x61707271U

static void
back_on_loop(struct writ_post *post)
{
    struct writ_api_request *request = post->ctx;

    WRIT_INVARIANT(request->magic == MAGIC);
    request->back(request);
}

/* NULL: answered. */
static struct writ_api_request *
make(struct writ_exchange *x, struct writ_gateway *gateway, size_t size,
    void (*back)(struct writ_api_request *request))
{
    struct writ_api_request *request = writ_arena_zeroed(x->arena, size);

    if (request == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *request = (struct writ_api_request){.magic = MAGIC,
        .x = x,
        .worker = writ_gateway_worker(gateway, x->loop),
        .body = writ_buf_make(WRIT_API_ANSWER_MAX),
        .queries = gateway->queries,
        .post = {.fn = back_on_loop, .ctx = request},
        .back = back};
    return request;
}

void *
writ_api_request_open(struct writ_exchange *x, struct writ_gateway *gateway, size_t size,
    void (*back)(struct writ_api_request *request))
{
    struct writ_api_request *request = make(x, gateway, size, back);
    enum writ_reason refused;

    if (request == NULL) {
        return NULL;
    }
    refused = writ_review_viewer_ask(request->worker, x, x->arena, &request->viewer);
    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
        return NULL;
    }
    return request;
}

void *
writ_api_request_open_public(struct writ_exchange *x, struct writ_gateway *gateway, size_t size,
    void (*back)(struct writ_api_request *request))
{
    struct writ_api_request *request = make(x, gateway, size, back);

    if (request != NULL) {
        request->viewer.generation = writ_generation_hold(request->worker->generation);
    }
    return request;
}

void
writ_api_request_done(struct writ_api_request *request)
{
    writ_loop_answer(request->worker->loop, &request->post);
}

/* On the writer's thread: reads nothing. */
static void
entry_done(struct writ_entry *entry)
{
    writ_api_request_done(entry->user);
}

void
writ_api_request_submit(struct writ_api_request *request)
{
    request->entry.done = entry_done;
    request->entry.user = request;
    request->entry.arena = request->x->arena;
    writ_worker_submit(request->worker, &request->entry);
}

WRIT_RESULT
writ_api_request_try(struct writ_api_request *request,
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader))
{
    request->lookup = (struct writ_lookup){.work = work, .ctx = request};
    return writ_ledger_query_ask(request->queries, &request->lookup);
}

void
writ_api_request_ask(struct writ_api_request *request,
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader))
{
    if (!writ_is_ok(writ_api_request_try(request, work))) {
        writ_api_request_refuse(request, 503, WRIT_REASON_OVERLOADED);
    }
}

void
writ_api_request_refuse(struct writ_api_request *request, unsigned status, enum writ_reason reason)
{
    writ_buf_wipe_secret(&request->body);
    writ_review_viewer_wipe(&request->viewer);
    writ_api_answer_problem(request->x, status, reason);
}

void
writ_api_request_reply(struct writ_api_request *request)
{
    struct writ_buf body = request->body;

    writ_review_viewer_wipe(&request->viewer);
    writ_api_answer_json(request->x, 200, &body);
    writ_buf_wipe_secret(&body);
}
