/* review_stream.c - lists of reviews, and streams that query the ledger repeatedly.
 *
 * Invariants:
 * 1. A stream has at most one query in the ledger (`busy`), and does not end before its answer.
 * 2. `at` and `from` move on only when everything up to there was sent, or is hidden from the
 *    caller.
 * 3. The caller is authenticated again before each answer. */
#include "gateway/admin/review_stream.h"

#include "base/text.h"
#include "gateway/admin/api.h"
#include "gateway/admin/event_stream.h"
#include "gateway/admin/review_answer.h"
#include "gateway/admin/review_viewer.h"

#define MAGIC    0x73766572U
#define ROUND_US 5000000 /* between two checks of client and token, without any change */
#define AGAIN_US 1000000 /* after the ledger has failed */
#define US_PER_S 1000000

/** One request that lists, waits or streams; in the arena of its exchange. */
struct writ_review_stream {
    uint32_t magic;
    struct writ_review_stream *next; /* of the same loop */
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_view subject;
    bool waits;  /* waits for later changes: not only a list */
    bool events; /* a stream; else one answer */
    bool busy;
    uint64_t at, from; /* struct writ_entry_review_watch: `since` and `from` of the next query */
    int64_t until_us;  /* of one answer: the end of waiting, by the wall clock */
    struct writ_arena *arena; /* of the present query */
    struct writ_entry entry;
    struct writ_post post;
    struct writ_timer again;
};

/* ---- the streams of a loop ---- */

static bool
is_one_too_many(const struct writ_worker *worker, struct writ_view subject)
{
    size_t all = 0, own = 0;

    for (const struct writ_review_stream *s = worker->review_streams; s != NULL; s = s->next) {
        all += s->waits;
        own += s->waits && writ_view_equal(s->subject, subject);
    }
    return all >= WRIT_REVIEW_STREAMS_MAX || own >= WRIT_REVIEW_STREAMS_EACH;
}

static void
leave(struct writ_review_stream *s)
{
    struct writ_review_stream **at = &s->worker->review_streams;

    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    writ_loop_timer_cancel(&s->again);
    writ_arena_free(WRIT_TAKE(s->arena));
}

void
writ_review_stream_wipe(struct writ_worker *worker)
{
    while (worker->review_streams != NULL) {
        leave(worker->review_streams);
    }
}

static void
end(struct writ_review_stream *s)
{
    leave(s);
    writ_exchange_end(s->x);
}

/* ---- telling ---- */

static void
put_review(struct writ_write *w, const struct writ_review_told *told)
{
    writ_write_object_begin(w);
    writ_review_answer_put(w, told);
    writ_write_object_end(w);
}

static void
reply(struct writ_review_stream *s, const struct writ_review_viewer *viewer)
{
    const struct writ_entry_review_watch *watch = &s->entry.review_watch;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "reset", watch->reset);
    writ_write_count(&w, "at", watch->at);
    if (watch->next > 0) {
        writ_write_count(&w, "next", watch->next);
    }
    writ_write_name(&w, WRIT_LIT("reviews"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < watch->n; i++) {
        if (writ_review_viewer_sees(viewer, &watch->items[i].review)) {
            put_review(&w, &watch->items[i]);
        }
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    leave(s);
    writ_api_answer_json(s->x, 200, &body);
}

/* The last event has the id, that of a list at its end only: a client that reconnects with it has
 * read all events before it. */
static WRIT_RESULT
put_events(const struct writ_entry_review_watch *watch, const struct writ_review_viewer *viewer,
    struct writ_buf *out)
{
    const struct writ_view none = {NULL, 0};
    char digits[WRIT_EVENT_STREAM_PLACE];
    struct writ_view id = watch->next > 0 ? none : writ_event_stream_place(watch->at, digits);
    size_t left = 0;

    for (size_t i = 0; i < watch->n; i++) {
        left += writ_review_viewer_sees(viewer, &watch->items[i].review);
    }
    if (watch->reset && watch->from == 0) {
        /* a list that breaks off begins again, at whatever gateway */
        WRIT_TRY(writ_event_stream_put(
            out, "reset", WRIT_LIT("{}"), left == 0 && watch->next == 0 ? id : WRIT_LIT("0")));
    }
    for (size_t i = 0; left > 0; i++) {
        writ_auto_buf data = writ_buf_make(WRIT_API_ANSWER_MAX);
        struct writ_write w = writ_write_to(&data);

        if (writ_review_viewer_sees(viewer, &watch->items[i].review)) {
            left--;
            put_review(&w, &watch->items[i]);
            WRIT_TRY(writ_write_end(&w, NULL));
            WRIT_TRY(
                writ_event_stream_put(out, "review", writ_buf_view(&data), left == 0 ? id : none));
        }
    }
    return writ_buf_check(out, NULL);
}

/* ---- asking ---- */

static void back_on_loop(struct writ_post *post);

/* On the writer's thread: reads nothing. */
static void
entry_done(struct writ_entry *entry)
{
    struct writ_review_stream *s = entry->user;

    writ_loop_answer(s->worker->loop, &s->post);
}

static void
ask(struct writ_review_stream *s)
{
    int64_t now_us = writ_clock_wall_us(s->worker->gateway->clock);
    int64_t until_us = now_us + ROUND_US;

    if (!s->events && s->until_us < until_us) {
        until_us = s->until_us;
    }
    writ_arena_free(WRIT_TAKE(s->arena));
    s->arena = writ_arena_new(WRIT_API_ANSWER_MAX);
    s->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_WATCH,
        .done = entry_done,
        .user = s,
        .arena = s->arena,
        .review_watch = {.since = s->at,
            .from = s->from,
            .until_us = until_us,
            .most = WRIT_REVIEW_STREAM_PAGE}};
    s->post = (struct writ_post){.fn = back_on_loop, .ctx = s};
    s->busy = s->arena != NULL;
    if (s->busy) {
        writ_worker_submit(s->worker, &s->entry);
    } else {
        writ_loop_timer_set(s->worker->loop, &s->again, writ_loop_now_us(s->x->loop) + AGAIN_US);
    }
}

static void
ask_again(struct writ_timer *timer)
{
    ask(timer->ctx);
}

static void
room_again(struct writ_exchange *x, void *ctx)
{
    struct writ_review_stream *s = ctx;

    (void)x;
    if (!s->busy && !s->again.armed) {
        ask(s);
    }
}

static void
client_gone(struct writ_exchange *x, void *ctx)
{
    struct writ_review_stream *s = ctx;

    (void)x;
    if (!s->busy && s->events) { /* keeps (1): else the end comes with its answer */
        end(s);
    }
}

/* keeps (2) */
static void
go_on(struct writ_review_stream *s)
{
    s->at = s->entry.review_watch.at;
    s->from = s->entry.review_watch.next;
    ask(s);
}

/* keeps (2): events that do not fit now are queried again when there is room */
static void
push(struct writ_review_stream *s, const struct writ_review_viewer *viewer)
{
    writ_auto_buf out = writ_buf_make(WRIT_API_ANSWER_MAX);
    writ_result result = put_events(&s->entry.review_watch, viewer, &out);

    if (writ_is_ok(result)) {
        result = writ_exchange_write(s->x, writ_buf_view(&out));
    }
    if (writ_is_ok(result)) {
        go_on(s);
    } else if (result.code != WRIT_E_BUSY) {
        end(s);
    }
}

/* A page that the caller sees nothing of is not an answer while there are more. */
static bool
is_answer(const struct writ_review_stream *s, const struct writ_review_viewer *viewer)
{
    const struct writ_entry_review_watch *watch = &s->entry.review_watch;
    bool any = !watch->more &&
               (watch->reset || writ_clock_wall_us(s->worker->gateway->clock) >= s->until_us);

    for (size_t i = 0; !any && i < watch->n; i++) {
        any = writ_review_viewer_sees(viewer, &watch->items[i].review);
    }
    return any;
}

static void
tell(struct writ_review_stream *s, const struct writ_review_viewer *viewer)
{
    if (s->events) {
        push(s, viewer);
    } else if (is_answer(s, viewer)) {
        reply(s, viewer);
    } else {
        go_on(s);
    }
}

/* Ends the stream; one that only waited gets the reason. */
static void
refuse(struct writ_review_stream *s, unsigned status, enum writ_reason reason)
{
    if (s->events) {
        end(s);
    } else {
        leave(s);
        writ_api_answer_problem(s->x, status, reason);
    }
}

static void
back_on_loop(struct writ_post *post)
{
    struct writ_review_stream *s = post->ctx;
    WRIT_AUTO(struct writ_review_viewer, writ_review_viewer_wipe) viewer = {0};
    enum writ_reason refused;

    WRIT_INVARIANT(s->magic == MAGIC);
    s->busy = false;
    refused = writ_review_viewer_ask(s->worker, s->x, s->arena, &viewer); /* keeps (3) */
    if (refused != WRIT_REASON_NONE) {
        refuse(s, writ_api_status(refused), refused);
    } else if (s->x->gone) {
        refuse(s, 503, WRIT_REASON_OVERLOADED); /* the client has left: it is dropped */
    } else if (s->entry.code == WRIT_OK) {
        tell(s, &viewer);
    } else if (s->events) {
        writ_loop_timer_set(s->worker->loop, &s->again, writ_loop_now_us(s->x->loop) + AGAIN_US);
    } else {
        refuse(s, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
}

/* ---- what is asked ---- */

/* What a list is asked with, each once at most and nothing else. */
struct query {
    uint64_t after, from, wait_s;
};

static bool
read_query(struct writ_view query, struct query *ret)
{
    struct {
        struct writ_view name;
        uint64_t most, *place;
    } members[] = {{WRIT_LIT("after"), INT64_MAX, &ret->after},
        {WRIT_LIT("from"), INT64_MAX, &ret->from},
        {WRIT_LIT("wait"), WRIT_REVIEW_WAIT_MAX_S, &ret->wait_s}};
    const size_t n = sizeof members / sizeof members[0];

    while (query.len > 0) {
        size_t end_at = writ_view_find(query, '&'), i = 0;
        struct writ_view pair = writ_view_sub(query, 0, end_at);
        size_t equals = writ_view_find(pair, '=');
        struct writ_view value = writ_view_sub(pair, equals + 1, pair.len);

        while (i < n && !writ_view_equal(writ_view_sub(pair, 0, equals), members[i].name)) {
            i++;
        }
        if (i == n || equals == pair.len || members[i].place == NULL ||
            !writ_is_ok(writ_text_u64(value, 0, members[i].most, members[i].place))) {
            return false;
        }
        members[i].place = NULL;
        query = writ_view_sub(query, end_at + 1, query.len);
    }
    return true;
}

/* NULL: answered. */
static struct writ_review_stream *
begin(struct writ_exchange *x, struct writ_gateway *gateway, bool waits)
{
    struct writ_worker *worker = writ_gateway_worker(gateway, x->loop);
    struct writ_review_stream *s = writ_arena_get(x->arena, sizeof *s);
    struct writ_view subject;
    WRIT_AUTO(struct writ_review_viewer, writ_review_viewer_wipe) viewer = {0};
    enum writ_reason refused = writ_review_viewer_ask(worker, x, x->arena, &viewer);

    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
        return NULL;
    }
    if (s == NULL || (waits && is_one_too_many(worker, writ_review_viewer_subject(&viewer)))) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    subject = writ_view_copy(writ_review_viewer_subject(&viewer), x->arena);
    if (subject.ptr == NULL) { /* it counts among those of its subject */
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *s = (struct writ_review_stream){.magic = MAGIC,
        .x = x,
        .worker = worker,
        .waits = waits,
        .subject = subject,
        .again = {.fn = ask_again, .ctx = s},
        .next = worker->review_streams};
    worker->review_streams = s;
    return s;
}

static void
handle_list(struct writ_exchange *x, void *ctx)
{
    struct query query = {0};
    struct writ_review_stream *s;

    if (!read_query(x->query, &query)) {
        writ_api_answer_problem(x, 404, WRIT_REASON_PATH_UNKNOWN);
        return;
    }
    s = begin(x, ctx, query.wait_s > 0);
    if (s != NULL) {
        s->at = query.after;
        s->from = query.from;
        s->until_us =
            writ_clock_wall_us(s->worker->gateway->clock) + (int64_t)query.wait_s * US_PER_S;
        writ_exchange_probe(x, WRIT_EVENT_STREAM_PROBE_MS);
        ask(s);
    }
}

static void
handle_events(struct writ_exchange *x, void *ctx)
{
    struct writ_review_stream *s = begin(x, ctx, true);

    if (s == NULL) {
        return;
    }
    s->events = true;
    /* a foreign id counts as none: the stream begins at the start */
    (void)writ_event_stream_last(x, &s->at);
    writ_event_stream_begin(x, client_gone, room_again, s);
    ask(s);
}

void
writ_review_stream_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_STREAM_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/reviews"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_list,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/reviews/events"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_events,
        .ctx = gateway};
}
