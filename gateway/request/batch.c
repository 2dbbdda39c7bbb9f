/* batch.c - BATCH and WHOLE: several JSON-RPC messages in one POST, which revision 2025-03-26 has.
 *
 * Each message is a request of its own, with its own memory and its own way through the steps: it
 * is read, judged, claimed and recorded as if it had come alone, and all run at once. The answers
 * go back together: as one array, or, as soon as one of them is a stream, as events.
 *
 * Refused as a whole, before any of them is processed: an empty batch, more than MESSAGES_MAX
 * messages, an initialize or a message of the stateless revision in it, and every batch under a
 * revision that has none (2025-06-18 and later).
 *
 * Invariants:
 * (1) A part belongs to its request until that has answered, and is counted in `open` until then.
 * (2) The whole request continues once, from a task, when no part is open: no part is used after
 *     that, and no function that answers a part is on the stack when its memory is freed.
 * (3) `pending` contains only whole events. */
#include "gateway/request/finish.h"
#include "gateway/request/refusal.h"
#include "gateway/http/sse.h"

#include "evidence/json/write.h"

#define MESSAGES_MAX  32
#define ANSWERS_MAX   ((size_t)64 << 20)
#define LAST_REVISION "2025-03-26" /* the last revision with batches */

struct batch;

/* One message of a batch. */
struct part {
    struct writ_exchange x; /* first: its request's pointer is this struct's */
    struct batch *batch;
    bool over;
    void (*on_gone)(struct writ_exchange *x, void *ctx);
    void *on_gone_ctx;
    void (*on_room)(struct writ_exchange *x, void *ctx);
    void *on_room_ctx;
};

struct batch {
    struct writ_request *request;
    struct part *parts;
    size_t n, open;
    unsigned status;         /* of all answers so far, or 200 when they differ; 0: none yet */
    struct writ_buf answers; /* JSON texts, one after the other, while there is no stream */
    size_t *ends;            /* of each of them */
    size_t answers_n;
    struct writ_buf pending; /* events that the client's queue did not take yet */
    bool streaming, cut;
};

/* ---- answers */

static struct part *
part_of(struct writ_exchange *x)
{
    return (struct part *)x;
}

/* Passes waiting bytes to the client's queue, as far as it takes them. False: more is left. */
static bool
flush(struct batch *batch)
{
    writ_result r;

    if (batch->pending.len == 0) {
        return true;
    }
    r = writ_exchange_write(batch->request->x, writ_buf_view(&batch->pending));
    if (r.code == WRIT_E_NOMEM) { /* no callback would come when there is room again */
        batch->cut = true;
    }
    if (!writ_is_ok(r) && !batch->cut) {
        return false;
    }
    writ_buf_clear(&batch->pending);
    return true;
}

/* The nth answer. */
static struct writ_view
answer_at(const struct batch *batch, size_t nth)
{
    size_t from = nth > 0 ? batch->ends[nth - 1] : 0;

    return writ_view_sub(writ_buf_view(&batch->answers), from, batch->ends[nth] - from);
}

static enum writ_step
answer_whole(struct batch *batch)
{
    static const struct writ_header json_type = WRIT_HEADER_JSON;
    unsigned status = batch->status;
    writ_auto_buf body = writ_buf_make(ANSWERS_MAX);

    for (size_t i = 0; i < batch->answers_n; i++) {
        writ_buf_byte(&body, i == 0 ? '[' : ',');
        writ_buf_put(&body, answer_at(batch, i));
    }
    writ_buf_str(&body, batch->answers_n > 0 ? "]" : "");
    if (!writ_is_ok(writ_buf_check(&body, NULL)) ||
        !writ_is_ok(writ_buf_check(&batch->answers, NULL))) {
        status = 500;
        writ_buf_clear(&body);
    }
    writ_buf_wipe(&batch->answers);
    return writ_finish_reply(
        batch->request, status, &json_type, body.len > 0 ? 1 : 0, writ_buf_view(&body));
}

static void
free_parts(struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        writ_arena_free(batch->parts[i].x.arena);
    }
}

enum writ_step
writ_batch_answer(struct writ_request *request)
{
    struct batch *batch = request->part;

    if (batch->streaming && !batch->cut && !flush(batch)) {
        return writ_request_wait(request, WRIT_STEP_WHOLE); /* room_again continues */
    }
    free_parts(batch); /* keeps (2) */
    if (!batch->streaming) {
        return answer_whole(batch);
    }
    writ_buf_wipe(&batch->answers);
    writ_buf_wipe(&batch->pending);
    return writ_finish_stream(request, !batch->cut);
}

static void
close_part(struct part *part)
{
    struct batch *batch = part->batch;

    WRIT_INVARIANT(!part->over); /* keeps (1) */
    part->over = true;
    part->on_gone = NULL;
    part->on_room = NULL;
    if (--batch->open == 0) {
        writ_request_continue_later(batch->request); /* keeps (2) */
    }
}

static void
put_event(struct batch *batch, struct writ_view message)
{
    const struct writ_sse_event event = {.kind = WRIT_SSE_EVENT,
        .event = WRIT_LIT("message"),
        .data = message,
        .retry_ms = WRIT_SSE_NO_RETRY};

    batch->cut =
        batch->cut || !writ_is_ok(writ_sse_put(&batch->pending, &event, NULL)); /* keeps (3) */
}

static void
part_reply(struct writ_exchange *x, unsigned status, struct writ_view body)
{
    struct batch *batch = part_of(x)->batch;

    batch->status = batch->status == 0 || batch->status == status ? status : 200;
    if (batch->streaming && body.len > 0) {
        put_event(batch, body);
        (void)flush(batch);
    } else if (body.len > 0) {
        writ_buf_put(&batch->answers, body);
        batch->ends[batch->answers_n++] = batch->answers.len;
    }
    close_part(part_of(x));
}

/* The answers that are there already become events. */
static void
part_stream(struct writ_exchange *x)
{
    static const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), WRIT_LIT("text/event-stream")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-cache, no-transform")},
        {WRIT_LIT("X-Accel-Buffering"), WRIT_LIT("no")},
    };
    struct batch *batch = part_of(x)->batch;

    if (batch->streaming) {
        return;
    }
    batch->streaming = true;
    writ_exchange_stream(batch->request->x, 200, headers, sizeof headers / sizeof *headers);
    batch->cut = !writ_is_ok(writ_buf_check(&batch->answers, NULL));
    for (size_t i = 0; i < batch->answers_n && !batch->cut; i++) {
        put_event(batch, answer_at(batch, i));
    }
}

static writ_result
part_write(struct writ_exchange *x, struct writ_view bytes)
{
    struct batch *batch = part_of(x)->batch;

    if (!flush(batch)) {
        return (writ_result){WRIT_E_BUSY};
    }
    return writ_exchange_write(batch->request->x, bytes);
}

static void
part_end(struct writ_exchange *x, bool whole)
{
    part_of(x)->batch->cut = part_of(x)->batch->cut || !whole;
    close_part(part_of(x));
}

/* ---- the client */

static void
client_left(struct writ_exchange *whole, void *ctx)
{
    struct batch *batch = ctx;

    (void)whole;
    for (size_t i = 0; i < batch->n; i++) {
        struct part *part = &batch->parts[i];
        part->x.gone = true;
        if (part->on_gone != NULL) {
            void (*fn)(struct writ_exchange *, void *) = part->on_gone;
            part->on_gone = NULL; /* once */
            fn(&part->x, part->on_gone_ctx);
        }
    }
    if (batch->open == 0) { /* it waits for room, which a client that has left cannot make */
        writ_request_continue_later(batch->request);
    }
}

static void
room_again(struct writ_exchange *whole, void *ctx)
{
    struct batch *batch = ctx;

    (void)whole;
    if (!flush(batch)) {
        return;
    }
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->parts[i].on_room != NULL) {
            batch->parts[i].on_room(&batch->parts[i].x, batch->parts[i].on_room_ctx);
        }
    }
    if (batch->open == 0) {
        writ_request_continue_later(batch->request);
    }
}

/* A client that has already left is handled in the same turn: no callback comes later. */
static void
part_on_gone(struct writ_exchange *x, void (*fn)(struct writ_exchange *, void *), void *ctx)
{
    part_of(x)->on_gone = fn;
    part_of(x)->on_gone_ctx = ctx;
    if (x->gone && fn != NULL) {
        writ_exchange_on_gone(x->whole, client_left, part_of(x)->batch);
    }
}

static void
part_on_room(struct writ_exchange *x, void (*fn)(struct writ_exchange *, void *), void *ctx)
{
    part_of(x)->on_room = fn;
    part_of(x)->on_room_ctx = ctx;
}

static const struct writ_exchange_hooks part_hooks = {.reply = part_reply,
    .stream = part_stream,
    .write = part_write,
    .end = part_end,
    .on_gone = part_on_gone,
    .on_room = part_on_room};

/* ---- BATCH */

/* The reason of a refusal, or NULL. The header states the revision of the session; without it, a
 * revision that has no such header (2025-06-18, basic/transports). */
static const char *
fault_of(const struct writ_request *request)
{
    const struct writ_json *all = request->message.body;
    struct writ_view version = writ_exchange_header(request->x, WRIT_LIT("MCP-Protocol-Version"));

    if (request->x->whole != NULL) {
        return "a batch holds messages, not batches";
    }
    if (version.ptr != NULL && writ_view_compare(version, WRIT_LIT(LAST_REVISION)) > 0) {
        return "this revision has no batches: send each message alone";
    }
    if (all->count == 0 || all->count > MESSAGES_MAX) {
        return "a batch has 1 to 32 messages";
    }
    WRIT_JSON_EACH(message, all)
    {
        if (writ_json_is(writ_json_get(message, WRIT_LIT("method")), WRIT_LIT("initialize"))) {
            return "initialize must not be in a batch";
        }
        if (writ_json_pointer(message, WRIT_LIT("/params/_meta/io.modelcontextprotocol~1"
                                                "protocolVersion")) != NULL) {
            return "the stateless revision has no batches";
        }
    }
    return NULL;
}

/* Gives the part its own memory and its own unchanged text: it is parsed and checked like any
 * other. */
static writ_result
fill_part(struct batch *batch, struct part *part, const struct writ_json *message)
{
    struct writ_exchange *whole = batch->request->x;
    const struct writ_limits *limits = &writ_request_config(batch->request)->limits;
    writ_auto_buf text = writ_buf_make((size_t)limits->body_bytes);
    struct writ_write w = writ_write_to(&text);

    *part = (struct part){.x = *whole, .batch = batch};
    part->x.arena = writ_arena_new((size_t)limits->request_bytes);
    part->x.whole = whole;
    part->x.hooks = &part_hooks;
    part->x.user = NULL;
    if (part->x.arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_write_verbatim(&w, message);
    WRIT_TRY(writ_write_end(&w, NULL));
    part->x.body = writ_view_copy(writ_buf_view(&text), part->x.arena);
    return part->x.body.ptr != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

static writ_result
make_batch(struct writ_request *request, struct batch **ret)
{
    const struct writ_json *all = request->message.body;
    struct batch *batch = writ_arena_get(request->x->arena, sizeof *batch);
    size_t i = 0;

    if (batch == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *batch = (struct batch){.request = request,
        .answers = writ_buf_make(ANSWERS_MAX),
        .pending = writ_buf_make(ANSWERS_MAX)};
    batch->parts = writ_arena_get(request->x->arena, all->count * sizeof *batch->parts);
    batch->ends = writ_arena_get(request->x->arena, all->count * sizeof *batch->ends);
    if (batch->parts == NULL || batch->ends == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (; i < all->count; i++) {
        batch->parts[i] = (struct part){0};
    }
    batch->n = batch->open = all->count;
    i = 0;
    WRIT_JSON_EACH(message, all)
    {
        writ_result r = fill_part(batch, &batch->parts[i++], message);
        if (!writ_is_ok(r)) {
            free_parts(batch);
            return r;
        }
    }
    *ret = batch;
    return WRIT_DONE;
}

enum writ_step
writ_batch_start(struct writ_request *request)
{
    const char *fault = fault_of(request);
    struct batch *batch = NULL;

    if (fault != NULL) {
        return writ_refusal_http(
            request, 400, WRIT_RPC_INVALID_REQUEST, WRIT_REASON_BATCH_REFUSED, fault);
    }
    if (!writ_is_ok(make_batch(request, &batch))) {
        return writ_refusal_http(
            request, 503, WRIT_RPC_INTERNAL_ERROR, WRIT_REASON_OVERLOADED, NULL);
    }
    writ_exchange_on_gone(request->x, client_left, batch);
    writ_exchange_on_room(request->x, room_again, batch);
    request->part = batch;
    for (size_t i = 0; i < batch->n; i++) { /* the end comes from a task: no part is the last one
                                               here */
        writ_request_start(&batch->parts[i].x, (void *)request->endpoint);
    }
    return writ_request_wait(request, WRIT_STEP_WHOLE);
}
