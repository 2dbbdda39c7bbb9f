/* ledger_stream.c - a stream compares the number of records with what it has sent, on a timer, and
 * queries only when there are more. Several changes of one call shortly after each other are one
 * event.
 *
 * Invariants:
 * 1. From ask to back_on_loop a stream is busy: it belongs to the lookup thread, and does not end.
 * 2. `at` grows only when everything up to there was sent, or is not for this caller.
 * 3. The caller is authenticated before each query, and holds its generation until the answer. */
#include "gateway/admin/ledger_stream.h"

#include "gateway/admin/api.h"
#include "gateway/admin/event_stream.h"
#include "gateway/admin/ledger_list.h"

#define MAGIC       0x7374636cU
#define LOOK_US     500000 /* between two looks at the number of records */
#define ROUND_LOOKS 10     /* after so many looks the caller is checked without any change */
#define EVENTS_MAX  ((size_t)4 << 20) /* bytes of the events of one query */
#define RECORDS_MAX 1000              /* records that one query covers */

/** One stream; in the arena of its exchange. */
struct writ_ledger_stream {
    uint32_t magic;
    struct writ_ledger_stream *next; /* of the same loop */
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_view subject;
    struct writ_ledger_list list;
    uint64_t at;   /* records that were sent */
    uint64_t upto; /* of the present query */
    unsigned looks;
    bool begun; /* `at` is a place that the client or a reset named */
    bool busy;
    struct writ_timer again;
    /* one query */
    struct writ_arena *arena;
    struct writ_review_viewer viewer;
    struct writ_ledger_sight sight;
    struct writ_buf events;
    size_t left; /* events that were written */
    writ_result result;
    struct writ_lookup lookup;
    struct writ_post post;
};

static bool
is_one_too_many(const struct writ_worker *worker, struct writ_view subject)
{
    size_t all = 0, own = 0;

    for (const struct writ_ledger_stream *s = worker->ledger_streams; s != NULL; s = s->next) {
        all++;
        own += writ_view_equal(s->subject, subject);
    }
    return all >= WRIT_LEDGER_STREAMS_MAX || own >= WRIT_LEDGER_STREAMS_EACH;
}

/* Frees what one query had. */
static void
clear(struct writ_ledger_stream *s)
{
    writ_buf_wipe(&s->events);
    writ_review_viewer_wipe(&s->viewer);
    writ_arena_free(WRIT_TAKE(s->arena));
}

static void
leave(struct writ_ledger_stream *s)
{
    struct writ_ledger_stream **at = &s->worker->ledger_streams;

    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    writ_loop_timer_cancel(&s->again);
    clear(s);
}

void
writ_ledger_stream_wipe(struct writ_worker *worker)
{
    while (worker->ledger_streams != NULL) {
        leave(worker->ledger_streams);
    }
}

static void
end(struct writ_ledger_stream *s)
{
    leave(s);
    writ_exchange_end(s->x);
}

static void
rest(struct writ_ledger_stream *s)
{
    writ_loop_timer_set(s->worker->loop, &s->again, writ_loop_now_us(s->x->loop) + LOOK_US);
}

/* ---- events ---- */

static WRIT_RESULT
put_call(void *ctx, struct writ_view call)
{
    struct writ_ledger_stream *s = ctx;

    s->left++;
    return writ_event_stream_put(&s->events, "call", call, (struct writ_view){NULL, 0});
}

/* After all others: a client that reconnects with its id has read them. */
static WRIT_RESULT
put_place(struct writ_ledger_stream *s, const char *name)
{
    char id[WRIT_EVENT_STREAM_PLACE];

    return writ_event_stream_put(
        &s->events, name, WRIT_LIT("{}"), writ_event_stream_place(s->upto, id));
}

/* ---- asking ---- */

/* On the thread of the lookups. */
static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct writ_ledger_stream *s = lookup->ctx;

    s->result = (writ_result){WRIT_E_IO};
    if (reader != NULL) {
        s->result =
            writ_ledger_list_changes(&s->list, &s->sight, reader, s->at, s->upto, put_call, s);
    }
    if (writ_is_ok(s->result) && s->left > 0) {
        s->result = put_place(s, "at");
    }
    writ_loop_answer(s->worker->loop, &s->post);
}

/* keeps (2): events that do not fit now are queried again when there is room */
static void
push(struct writ_ledger_stream *s)
{
    writ_result result =
        s->events.len > 0 ? writ_exchange_write(s->x, writ_buf_view(&s->events)) : WRIT_DONE;

    clear(s);
    if (writ_is_ok(result)) {
        s->at = s->upto;
        s->begun = true;
        rest(s);
    } else if (result.code != WRIT_E_BUSY) {
        end(s);
    }
}

static void
back_on_loop(struct writ_post *post)
{
    struct writ_ledger_stream *s = post->ctx;

    WRIT_INVARIANT(s->magic == MAGIC);
    s->busy = false;
    if (s->x->gone) {
        end(s);
    } else if (writ_is_ok(s->result)) {
        push(s);
    } else {
        clear(s);
        rest(s);
    }
}

/* keeps (1), (3) */
static void
ask(struct writ_ledger_stream *s, uint64_t records)
{
    s->upto = records > s->at + RECORDS_MAX ? s->at + RECORDS_MAX : records;
    s->events = writ_buf_make(EVENTS_MAX);
    s->left = 0;
    s->sight = writ_ledger_viewer_sight(&s->viewer);
    s->lookup = (struct writ_lookup){.work = work, .ctx = s};
    s->post = (struct writ_post){.fn = back_on_loop, .ctx = s};
    s->busy = writ_is_ok(writ_ledger_query_ask(s->worker->gateway->queries, &s->lookup));
    if (!s->busy) {
        clear(s);
        rest(s);
    }
}

static void
reset(struct writ_ledger_stream *s, uint64_t records)
{
    s->upto = records;
    s->events = writ_buf_make(EVENTS_MAX);
    if (writ_is_ok(put_place(s, "reset"))) {
        push(s);
    } else {
        end(s);
    }
}

static void
look(struct writ_timer *timer)
{
    struct writ_ledger_stream *s = timer->ctx;
    struct writ_ledger_health health;

    writ_ledger_health(s->worker->ledger, &health);
    if (s->begun && health.records == s->at && ++s->looks < ROUND_LOOKS) {
        rest(s);
        return;
    }
    s->looks = 0;
    s->arena = writ_arena_new(WRIT_API_ANSWER_MAX);
    if (s->arena == NULL || writ_review_viewer_ask(s->worker, s->x, s->arena, &s->viewer) !=
                                WRIT_REASON_NONE) { /* keeps (3) */
        end(s);
    } else if (!s->begun || health.records < s->at ||
               health.records - s->at > WRIT_LEDGER_STREAM_BEHIND) {
        reset(s, health.records);
    } else if (health.records > s->at) {
        ask(s, health.records);
    } else {
        clear(s);
        rest(s);
    }
}

static void
room_again(struct writ_exchange *x, void *ctx)
{
    struct writ_ledger_stream *s = ctx;

    (void)x;
    if (!s->busy && !s->again.armed) {
        rest(s);
    }
}

static void
client_gone(struct writ_exchange *x, void *ctx)
{
    struct writ_ledger_stream *s = ctx;

    (void)x;
    if (!s->busy) { /* keeps (1): else the end comes with its answer */
        end(s);
    }
}

/* ---- what is asked ---- */

/* NULL: answered. */
static struct writ_ledger_stream *
begin(struct writ_exchange *x, struct writ_gateway *gateway)
{
    struct writ_worker *worker = writ_gateway_worker(gateway, x->loop);
    struct writ_ledger_stream *s = writ_arena_get(x->arena, sizeof *s);
    struct writ_ledger_list list = {0};
    struct writ_view subject;
    WRIT_AUTO(struct writ_review_viewer, writ_review_viewer_wipe) viewer = {0};
    enum writ_reason refused = writ_review_viewer_ask(worker, x, x->arena, &viewer);

    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
        return NULL;
    }
    if (!writ_ledger_list_read(x->query, x->arena, &list)) {
        writ_api_answer_problem(x, 422, WRIT_REASON_MALFORMED_REQUEST);
        return NULL;
    }
    if (s == NULL || is_one_too_many(worker, writ_review_viewer_subject(&viewer))) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    subject = writ_view_copy(writ_review_viewer_subject(&viewer), x->arena);
    if (subject.ptr == NULL) { /* it counts among those of its subject */
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *s = (struct writ_ledger_stream){.magic = MAGIC,
        .x = x,
        .worker = worker,
        .list = list,
        .subject = subject,
        .again = {.fn = look, .ctx = s},
        .next = worker->ledger_streams};
    worker->ledger_streams = s;
    return s;
}

static void
handle_events(struct writ_exchange *x, void *ctx)
{
    struct writ_ledger_stream *s = begin(x, ctx);

    if (s == NULL) {
        return;
    }
    /* a foreign id counts as none: the stream begins with a reset */
    s->begun = writ_event_stream_last(x, &s->at);
    writ_event_stream_begin(x, client_gone, room_again, s);
    look(&s->again);
}

void
writ_ledger_stream_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_LEDGER_STREAM_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/ledger/events"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_events,
        .ctx = gateway};
}
