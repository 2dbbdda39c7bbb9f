/* The end of a gateway for its clients.
 *
 * Invariants:
 * (1) A call under way gets its answer, or one that says that its end is unknown, as far as the
 *     time goes.
 * (2) No message meets an upstream that stops: it is refused, and its client may send it again. */
#include "gateway/service/shutdown.h"

#include "gateway/listener/listener.h"
#include "gateway/relay/stream_merge.h"

#define DRAIN_US 10000000 /* for calls under way */
#define TELL_US  2000000  /* to record and answer the calls that DRAIN_US cut off */
#define STOP_US  8000000  /* for children to end */

static void
wait_until(bool (*holds)(void *ctx), struct writ_shutdown *shutdown, int64_t most_us)
{
    writ_clock_wait(shutdown->clock, most_us, holds, shutdown);
}

/* When a service manager holds the sockets, the next process serves new connections: this one keeps
 * its own until each had its last answer, or nothing came over it for a while. */
static bool
is_drained(void *ctx)
{
    const struct writ_shutdown *shutdown = ctx;
    const struct writ_listener *listener = shutdown->gateway->listener;

    return writ_listener_is_settled(listener) && writ_listener_open_exchanges(listener) == 0 &&
           (!shutdown->sockets_passed || writ_listener_open_connections(listener) == 0);
}

static bool
upstreams_stopped(void *ctx)
{
    const struct writ_shutdown *shutdown = ctx;

    for (size_t i = 0; i < shutdown->gateway->upstreams_n; i++) {
        if (!writ_upstream_is_stopped(shutdown->gateway->upstreams[i])) {
            return false;
        }
    }
    return true;
}

static void
end_streams(struct writ_post *post)
{
    struct writ_worker *worker = post->ctx;

    writ_stream_merge_end_all(worker);
}

/* Records that the end of a call that continues elsewhere is unknown, and informs its client. */
static void
expire(struct writ_post *post)
{
    struct writ_worker *worker = post->ctx;
    const struct writ_gateway *gateway = worker->gateway;

    worker->expired = true; /* and no new call begins */
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        writ_upstream_expire(gateway->upstreams[i], worker);
    }
    writ_probe_get_close(&worker->probed);
}

static void
refuse(struct writ_post *post)
{
    struct writ_worker *worker = post->ctx;

    atomic_store(&worker->refuses, true);
}

static bool
all_refuse(void *ctx)
{
    const struct writ_shutdown *shutdown = ctx;
    bool all = true;

    for (size_t i = 0; i < shutdown->gateway->workers_n; i++) {
        all = all && atomic_load(&shutdown->gateway->workers[i].refuses);
    }
    return all;
}

/* A message that came since the last look still has its upstream; the next one is refused, so that
 * none meets an upstream that stops, and its client may send it again. */
static void
refuse_messages(struct writ_shutdown *shutdown)
{
    struct writ_gateway *gateway = shutdown->gateway;
    bool drained = is_drained(shutdown);

    for (size_t i = 0; i < gateway->workers_n; i++) {
        struct writ_worker *worker = &gateway->workers[i];
        worker->refusing = (struct writ_post){.fn = refuse, .ctx = worker};
        writ_loop_answer(worker->loop, &worker->refusing);
    }
    wait_until(all_refuse, shutdown, TELL_US);
    if (drained) {
        wait_until(is_drained, shutdown, DRAIN_US);
    }
}

void
writ_shutdown_run(struct writ_shutdown *shutdown)
{
    struct writ_gateway *gateway = shutdown->gateway;

    writ_listener_drain(gateway->listener);
    for (size_t i = 0; i < gateway->workers_n; i++) {
        struct writ_worker *worker = &gateway->workers[i];
        worker->stopping = (struct writ_post){.fn = end_streams, .ctx = worker};
        writ_loop_answer(worker->loop, &worker->stopping);
    }
    wait_until(is_drained, shutdown, DRAIN_US);
    refuse_messages(shutdown);
    for (size_t i = 0; i < gateway->workers_n && !is_drained(shutdown); i++) {
        struct writ_worker *worker = &gateway->workers[i];
        worker->expiring = (struct writ_post){.fn = expire, .ctx = worker};
        writ_loop_answer(worker->loop, &worker->expiring);
    }
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        writ_upstream_stop(gateway->upstreams[i]);
    }
    wait_until(upstreams_stopped, shutdown, STOP_US);
    writ_ledger_query_stop(gateway->replays);
    writ_ledger_query_stop(gateway->lookups);
    writ_ledger_query_stop(gateway->queries); /* while the loops still hear what it answers */
    wait_until(is_drained, shutdown, TELL_US);
}
