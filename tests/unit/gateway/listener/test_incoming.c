/* An exchange whose client has left, without libmicrohttpd: which callbacks of its handler run,
 * and which do not. */
#include "support/unit.h"

#include "gateway/listener/incoming.h"
#include "gateway/listener/metrics.h"

/* A request on a connection that no daemon serves. */
struct fixture {
    struct writ_loop *loop;
    struct writ_metrics *metrics;
    struct writ_listener_options options;
    struct writ_acceptor acceptor;
    struct writ_daemon daemon;
    struct writ_connection connection;
    struct writ_incoming *request;
    int rooms, goes;
};

static void
note_room(struct writ_exchange *x, void *ctx)
{
    (void)x;
    ((struct fixture *)ctx)->rooms++;
}

static void
note_gone(struct writ_exchange *x, void *ctx)
{
    (void)x;
    ((struct fixture *)ctx)->goes++;
}

/* A stream whose handler waits for room. */
static void
open_stream(struct fixture *f)
{
    const struct writ_loop_options loop = {.index = 0, .mailbox_max = 16};

    *f = (struct fixture){.options = {.max_arena_bytes = 65536}};
    ck_assert_ok(writ_loop_new(&loop, &f->loop, NULL));
    ck_assert_ok(writ_metrics_new(1, &f->metrics, NULL));
    f->acceptor = (struct writ_acceptor){
        .options = &f->options, .loop = f->loop, .metrics = writ_metrics_shard(f->metrics, 0)};
    f->daemon = (struct writ_daemon){.acceptor = &f->acceptor};
    f->connection = (struct writ_connection){.daemon = &f->daemon};
    f->request = writ_incoming_new(&f->connection);
    ck_assert_ptr_nonnull(f->request);
    f->request->state = WRIT_INCOMING_STREAM;
    f->request->on_room = note_room;
    f->request->on_gone = note_gone;
    f->request->on_room_ctx = f->request->on_gone_ctx = f;
}

static void
stop_loop(struct writ_task *task)
{
    writ_loop_stop(task->ctx);
}

/* One turn of the loop, with the news of room that a read of libmicrohttpd left behind. */
static void
turn_with_room(struct fixture *f)
{
    struct writ_task stop = {.fn = stop_loop, .ctx = f->loop};

    writ_loop_defer(f->loop, &f->request->room_task, WRIT_LOOP_SOON);
    writ_loop_defer(f->loop, &stop, WRIT_LOOP_SOON);
    ck_assert_ok(writ_loop_run(f->loop, NULL));
}

static void
close_stream(struct fixture *f)
{
    writ_incoming_free(f->request);
    writ_incoming_free_all(&f->acceptor);
    writ_loop_free(f->loop);
    writ_metrics_free(f->metrics);
}

START_TEST(room_calls_the_handler_of_a_stream)
{
    struct fixture f;

    open_stream(&f);
    turn_with_room(&f);
    ck_assert_int_eq(f.rooms, 1);
    ck_assert_int_eq(f.goes, 0);
    close_stream(&f);
}
END_TEST

/* Every write to it succeeds: its handler would write and get room without an end. */
START_TEST(room_after_the_client_left_calls_nothing_but_gone)
{
    struct fixture f;

    open_stream(&f);
    writ_incoming_detach(f.request);
    turn_with_room(&f);
    turn_with_room(&f);
    ck_assert_int_eq(f.rooms, 0);
    ck_assert_int_eq(f.goes, 1);
    close_stream(&f);
}
END_TEST

START_TEST(room_of_a_cut_stream_calls_nothing)
{
    struct fixture f;

    open_stream(&f);
    f.request->failed = true;
    turn_with_room(&f);
    ck_assert_int_eq(f.rooms, 0);
    close_stream(&f);
}
END_TEST

WRIT_UNIT_MAIN("incoming", room_calls_the_handler_of_a_stream,
    room_after_the_client_left_calls_nothing_but_gone, room_of_a_cut_stream_calls_nothing)
