/* bridge_run.c - the two threads of a bridge. The loop carries messages and never waits; the thread
 * that called waits for signals, and finds or starts the gateway when the loop wants it. */
#include "gateway/bridge/bridge.h"

#include "gateway/bridge/bridge_call.h"
#include "gateway/bridge/bridge_end.h"
#include "gateway/bridge/bridge_input.h"
#include "gateway/bridge/bridge_output.h"
#include "gateway/bridge/bridge_session.h"
#include "gateway/io/end_signals.h"

#include <sys/prctl.h>
#include <unistd.h>

#define CONNECTIONS   1024
#define HEADER_MAX    1024
#define CONNECT_US    INT64_C(5000000)
#define CONNECTION_US 1 /* an idle connection is not used again */

/* ---- on the loop ---- */

/* What waits is sent; or, without a gateway, refused: the next line asks for it again. */
static void
on_linked(struct writ_post *post)
{
    struct writ_bridge *bridge = post->ctx;
    struct writ_bridge_call *call = TAILQ_FIRST(&bridge->calls), *next;

    bridge->linked = true;
    for (; !bridge->found && call != NULL; call = next) {
        next = TAILQ_NEXT(call, link);
        if (call->http != NULL) {
            continue;
        }
        if (call->kind == WRIT_BRIDGE_STREAM) {
            writ_bridge_session_unheard(call);
        } else if (call->kind == WRIT_BRIDGE_RESUMED) {
            writ_bridge_call_lose(call); /* it was sent */
        } else {
            writ_bridge_call_refuse(
                call, WRIT_REASON_UPSTREAM_UNAVAILABLE, writ_view_str(bridge->why.text));
        }
    }
    if (!bridge->found && bridge->state == WRIT_BRIDGE_REOPENING) {
        bridge->state = WRIT_BRIDGE_OPEN; /* its id is tried again, and found unknown again */
    }
    writ_bridge_call_send_all(bridge);
    writ_bridge_input_pump(bridge);
}

static void
on_stop(struct writ_post *post)
{
    writ_bridge_session_leave(post->ctx);
}

static void
on_output(struct writ_line_output *output)
{
    writ_bridge_output_changed(output->ctx);
    writ_bridge_input_pump(output->ctx);
}

static void
begin(struct writ_post *post)
{
    struct writ_bridge *bridge = post->ctx;

    writ_line_output_open(&bridge->output, bridge->loop, STDOUT_FILENO, on_output, bridge);
    writ_bridge_input_pump(bridge);
}

/* ---- on the thread that waits ---- */

/* False: a signal ended the wait, and with it the bridge. */
static bool
find_gateway(struct writ_bridge *bridge, const sigset_t *signals)
{
    struct writ_err err = {{0}, 0, 0};
    writ_result result = writ_gateway_start_ensure(bridge->options->start, signals, &err);

    if (result.code == WRIT_E_BUSY) {
        return false;
    }
    bridge->found = writ_is_ok(result);
    if (!bridge->found) {
        writ_bridge_output_say("%s", err.text);
        bridge->why = err;
    }
    bridge->linking = (struct writ_post){.fn = on_linked, .ctx = bridge};
    writ_loop_answer(bridge->loop, &bridge->linking);
    return true;
}

static void
wait_for_end(struct writ_bridge *bridge, const sigset_t *signals)
{
    bool stopping = false;

    while (!atomic_load(&bridge->over)) {
        int signal = sigwaitinfo(signals, NULL);

        if ((signal == SIGTERM || signal == SIGINT || signal == SIGHUP) && !stopping) {
            stopping = true;
            bridge->stopping = (struct writ_post){.fn = on_stop, .ctx = bridge};
            writ_loop_answer(bridge->loop, &bridge->stopping);
        } else if (signal == SIGTERM) {
            return; /* asked twice */
        }
        if (atomic_exchange(&bridge->wanted, false) && !find_gateway(bridge, signals)) {
            return;
        }
    }
}

static WRIT_RESULT
open_bridge(struct writ_bridge *bridge, struct writ_err *err)
{
    const struct writ_loop_options loop = {.clock = bridge->options->clock};
    const struct writ_http_options http = {.url = WRIT_LIT("http://localhost"),
        .socket_path = bridge->options->start->socket,
        .connections_max = CONNECTIONS,
        .waiting_max = CONNECTIONS,
        .keep_us = CONNECTION_US,
        .connect_us = CONNECT_US};

    TAILQ_INIT(&bridge->calls);
    bridge->waiter = pthread_self();
    bridge->take = writ_bridge_end_take;
    bridge->linked = true;
    bridge->pending = writ_buf_make(WRIT_BRIDGE_LINE_MAX + WRIT_BRIDGE_READ_BYTES);
    bridge->opening = writ_buf_make(WRIT_BRIDGE_LINE_MAX);
    bridge->session = writ_buf_make(HEADER_MAX);
    bridge->version = writ_buf_make(HEADER_MAX);
    bridge->stream_id = writ_buf_make(HEADER_MAX);
    WRIT_TRY(writ_loop_new(&loop, &bridge->loop, err));
    WRIT_TRY(writ_http_client_open(bridge->loop, NULL, &http, &bridge->client, err));
    bridge->linking = (struct writ_post){.fn = begin, .ctx = bridge};
    writ_loop_answer(bridge->loop, &bridge->linking);
    return writ_loop_start(bridge->loop, err);
}

static void
close_bridge(struct writ_bridge *bridge)
{
    atomic_store(&bridge->over, true); /* what ends from here on is freed alone */
    writ_http_client_close(bridge->client);
    while (!TAILQ_EMPTY(&bridge->calls)) {
        writ_bridge_call_free(TAILQ_FIRST(&bridge->calls));
    }
    writ_line_output_close(&bridge->output);
    writ_loop_free(bridge->loop);
    writ_buf_wipe(&bridge->pending);
    writ_buf_wipe(&bridge->opening);
    writ_buf_wipe_secret(&bridge->session);
    writ_buf_wipe(&bridge->version);
    writ_buf_wipe(&bridge->stream_id);
}

WRIT_RESULT
writ_bridge_run(const struct writ_bridge_options *options, struct writ_err *err)
{
    struct writ_bridge bridge = {.options = options};
    sigset_t signals;
    writ_result result;

    writ_end_signals_block(&signals);
    (void)sigaddset(&signals, SIGUSR1); /* the loop wants the thread that waits */
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)prctl(PR_SET_DUMPABLE, 0); /* the token stays out of core dumps and other processes */
    result = writ_gateway_start_ensure(options->start, &signals, err);
    if (!writ_is_ok(result)) {
        return result;
    }
    result = open_bridge(&bridge, err);
    if (writ_is_ok(result)) {
        wait_for_end(&bridge, &signals);
        writ_loop_stop(bridge.loop);
        result = writ_loop_join(bridge.loop, err);
    }
    close_bridge(&bridge);
    return result;
}
