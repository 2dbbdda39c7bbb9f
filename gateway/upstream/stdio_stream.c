/* stdio_stream.c - numbers a session's events and keeps them, so that a lost stream can be resumed.
 *
 * Invariant (1): a request is either a flight in the buckets of its instance, or an orphan, or
 * answered; its stream has at most one taker. */
#include "gateway/upstream/stdio_stream.h"

#include "gateway/mcp/line_list.h"
#include "gateway/upstream/stdio_refuse.h"

#include "base/id.h"

#define REPLAY_BYTES_MAX (1u << 20)
#define REPLAY_COUNT_MAX 256
#define ORPHANS_MAX      64
#define PRIME_AFTER_US   1000000
#define RETRY_MS         1000

writ_result
writ_stdio_stream_init(struct writ_instance *instance)
{
    uint32_t nonce;

    WRIT_TRY(writ_random(&nonce, sizeof nonce, NULL));
    writ_replay_init(&instance->replay, nonce, REPLAY_BYTES_MAX, REPLAY_COUNT_MAX);
    return WRIT_DONE;
}

/* ---- events */

static bool
has_ids(const struct writ_instance *instance)
{
    return instance->kind == WRIT_INSTANCE_SESSION;
}

static uint64_t
stream_of(const struct writ_flight *flight)
{
    return flight->method == WRIT_METHOD_GET ? flight->stream : flight->id;
}

static bool
tell_at(struct writ_flight *flight, uint64_t seq, int64_t retry_ms, struct writ_view data)
{
    writ_auto_buf id = writ_buf_make(WRIT_REPLAY_ID_MAX);

    writ_replay_put_id(&flight->instance->replay, stream_of(flight), seq, &id);
    return writ_flight_event(flight, (struct writ_flight_mark){writ_buf_view(&id), retry_ms}, data);
}

/* An event that only has the position of the client. */
static void
prime(struct writ_flight *flight)
{
    struct writ_instance *instance = flight->instance;

    if (has_ids(instance) && instance->primes) {
        (void)tell_at(
            flight, writ_replay_mark(&instance->replay), RETRY_MS, (struct writ_view){NULL, 0});
    }
}

static void
answer_takes_long(struct writ_timer *timer)
{
    struct writ_flight *flight = timer->ctx;

    if (!flight->streaming) {
        prime(flight);
    }
}

void
writ_stdio_stream_expect(struct writ_flight *flight)
{
    struct writ_loop *loop = flight->stdio->loop;

    if (has_ids(flight->instance) && flight->takes_stream) {
        flight->prime = (struct writ_timer){.fn = answer_takes_long, .ctx = flight};
        writ_loop_timer_set(loop, &flight->prime, writ_loop_now_us(loop) + PRIME_AFTER_US);
    }
}

/* A kept event is not lost: it can be requested. */
bool
writ_stdio_stream_tell(
    struct writ_instance *instance, struct writ_flight *flight, struct writ_view data)
{
    uint64_t seq;

    if (!has_ids(instance)) {
        return writ_flight_event(flight, writ_flight_unmarked, data);
    }
    if (!flight->streaming) {
        prime(flight);
    }
    seq = writ_replay_add(&instance->replay, stream_of(flight), data, false);
    return seq == 0 ? writ_flight_event(flight, writ_flight_unmarked, data)
                    : (tell_at(flight, seq, WRIT_SSE_NO_RETRY, data), true);
}

void
writ_stdio_stream_respond(struct writ_instance *instance, struct writ_flight *flight,
    unsigned status, struct writ_view data)
{
    struct writ_flight_mark mark = writ_flight_unmarked;
    writ_auto_buf id = writ_buf_make(WRIT_REPLAY_ID_MAX);
    uint64_t seq;

    if (has_ids(instance) && flight->streaming) {
        seq = writ_replay_add(&instance->replay, stream_of(flight), data, true);
        if (seq > 0) {
            writ_replay_put_id(&instance->replay, stream_of(flight), seq, &id);
            mark.id = writ_buf_view(&id);
        }
    }
    writ_flight_respond(flight, status, mark, data);
}

/* ---- orphans */

static void
free_orphan(struct writ_instance *instance, struct writ_orphan **link)
{
    struct writ_orphan *orphan = *link;

    *link = orphan->next;
    instance->orphans_n--;
    writ_buf_wipe(&orphan->client_id);
    writ_buf_wipe(&orphan->client_token);
    writ_free(orphan);
}

static void
drop_oldest(struct writ_instance *instance)
{
    struct writ_orphan **link = &instance->orphans;

    while ((*link)->next != NULL) {
        link = &(*link)->next;
    }
    free_orphan(instance, link);
}

bool
writ_stdio_stream_leave(struct writ_flight *flight)
{
    struct writ_instance *instance = flight->instance;
    struct writ_orphan *orphan;

    if (instance == NULL || !has_ids(instance) || !flight->streaming || !flight->sent ||
        flight->method != WRIT_METHOD_POST) {
        return false;
    }
    orphan = writ_alloc(sizeof *orphan);
    if (orphan == NULL) {
        return false;
    }
    *orphan = (struct writ_orphan){.id = flight->id,
        .client_id = flight->client_id,
        .client_token = flight->client_token,
        .next = instance->orphans};
    flight->client_id = flight->client_token = (struct writ_buf){0};
    instance->orphans = orphan;
    if (++instance->orphans_n > ORPHANS_MAX) {
        drop_oldest(instance);
    }
    return true;
}

struct writ_orphan *
writ_stdio_stream_orphan(struct writ_instance *instance, uint64_t id)
{
    struct writ_orphan *orphan = instance->orphans;

    while (orphan != NULL && orphan->id != id) {
        orphan = orphan->next;
    }
    return orphan;
}

static struct writ_flight *
heir_of(struct writ_instance *instance, uint64_t stream)
{
    struct writ_flight *heir = instance->heirs;

    while (heir != NULL && heir->stream != stream) {
        heir = heir->next;
    }
    return heir;
}

void
writ_stdio_stream_tell_heir(
    struct writ_instance *instance, const struct writ_orphan *orphan, struct writ_view data)
{
    struct writ_flight *heir = heir_of(instance, orphan->id);

    if (heir != NULL) {
        (void)writ_stdio_stream_tell(instance, heir, data);
    } else {
        (void)writ_replay_add(&instance->replay, orphan->id, data, false);
    }
}

void
writ_stdio_stream_respond_heir(
    struct writ_instance *instance, const struct writ_orphan *orphan, struct writ_view data)
{
    struct writ_flight *heir = heir_of(instance, orphan->id);

    if (heir != NULL) {
        writ_stdio_stream_respond(instance, heir, 200, data);
    } else {
        (void)writ_replay_add(&instance->replay, orphan->id, data, true);
    }
    for (struct writ_orphan **link = &instance->orphans; *link != NULL; link = &(*link)->next) {
        if (*link == orphan) {
            free_orphan(instance, link);
            return;
        }
    }
}

void
writ_stdio_stream_forget(struct writ_instance *instance)
{
    while (instance->orphans != NULL) {
        free_orphan(instance, &instance->orphans);
    }
}

/* ---- GET */

/* Sends the kept events of the stream after that one. True: the response was among them. */
static bool
replay(struct writ_flight *flight, uint64_t after)
{
    struct writ_replay *kept = &flight->instance->replay;
    const struct writ_replay_event *event;

    while ((event = writ_replay_next(kept, flight->stream, after)) != NULL) {
        (void)tell_at(flight, event->seq, WRIT_SSE_NO_RETRY, writ_buf_view(&event->data));
        if (event->ends) {
            return true;
        }
        after = event->seq;
    }
    return false;
}

static bool
begin(struct writ_flight *flight)
{
    if (writ_flight_event(flight, writ_flight_unmarked, (struct writ_view){NULL, 0})) {
        return true; /* the head alone */
    }
    writ_flight_break(flight, WRIT_UPCALL_BROKEN, "nomem");
    return false;
}

static bool
is_taken(struct writ_instance *instance, uint64_t stream)
{
    struct writ_flight *flight = instance->buckets[stream % WRIT_FLIGHT_BUCKETS];

    while (flight != NULL && flight->id != stream) {
        flight = flight->next;
    }
    return flight != NULL || heir_of(instance, stream) != NULL;
}

static void
refuse_lost(struct writ_flight *flight)
{
    writ_stdio_refuse(
        flight, 400, WRIT_RPC_SERVER_ERROR, "Bad Request: nothing is known of this event any more");
}

/* The rest of a request's stream. */
static void
go_on(struct writ_flight *flight, uint64_t after)
{
    struct writ_instance *instance = flight->instance;
    bool open = writ_stdio_stream_orphan(instance, flight->stream) != NULL;

    if (is_taken(instance, flight->stream)) { /* keeps (1) */
        writ_flight_answer(flight, 409, (struct writ_view){NULL, 0});
    } else if (!open && writ_replay_next(&instance->replay, flight->stream, after) == NULL) {
        refuse_lost(flight);
    } else if (begin(flight)) {
        if (replay(flight, after)) {
            writ_flight_answer(flight, 200, (struct writ_view){NULL, 0});
        } else if (open) {
            writ_flight_link(flight, &instance->heirs);
        } else {
            writ_flight_break(flight, WRIT_UPCALL_BROKEN, "stream_lost");
        }
    }
}

static void
flush_backlog(struct writ_flight *flight)
{
    struct writ_instance *instance = flight->instance;
    size_t at = 0;

    for (;;) {
        struct writ_view line = writ_line_list_next(&instance->backlog, &at);
        if (line.ptr == NULL) {
            break;
        }
        (void)writ_stdio_stream_tell(instance, flight, line);
    }
    writ_buf_clear(&instance->backlog);
}

void
writ_stdio_stream_listen(struct writ_flight *flight)
{
    struct writ_instance *instance = flight->instance;
    uint64_t stream = 0, after = 0;

    if (flight->last_id.len > 0 &&
        !(has_ids(instance) && writ_replay_read_id(&instance->replay,
                                   writ_buf_view(&flight->last_id), &stream, &after))) {
        stream = after = 0; /* an event of another child: only new events are left */
        if (writ_view_search(writ_buf_view(&flight->last_id), WRIT_LIT("-0-")) ==
            flight->last_id.len) {
            refuse_lost(flight);
            return;
        }
    }
    flight->stream = stream;
    if (stream > 0) {
        go_on(flight, after);
        return;
    }
    writ_flight_link(flight, &instance->listeners);
    if (!begin(flight)) {
        return;
    }
    if (after > 0) {
        (void)replay(flight, after);
    } else {
        prime(flight);
    }
    flush_backlog(flight);
}
