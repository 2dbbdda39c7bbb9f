/* bridge_output.c - writes whole lines. A client that does not take them makes the gateway wait,
 * and is not read itself. keeps (4) and (5) */
#include "gateway/bridge/bridge_output.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define SAY_MAX 1024
#define LAST_US 1000000 /* for the client to take its last lines, when the bridge is stopped */

void
writ_bridge_output_say(const char *fmt, ...)
{
    char text[SAY_MAX];
    struct writ_log log;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0) {
        writ_log_init(&log, STDERR_FILENO, WRIT_LOG_INFO, writ_clock_system());
        WRIT_LOG(&log, WRIT_EVENT_WRAP_TROUBLE, writ_log_str("why", text));
    }
}

void
writ_bridge_output_give_up(struct writ_bridge *bridge)
{
    atomic_store(&bridge->over, true);
    (void)pthread_kill(bridge->waiter, SIGUSR1);
}

/* ---- the client's pace ---- */

/* keeps (5) */
static void
pace(struct writ_bridge *bridge)
{
    struct writ_bridge_call *call;

    bridge->paused = bridge->output.full;
    TAILQ_FOREACH(call, &bridge->calls, link)
    {
        if (call->http != NULL && bridge->paused) {
            writ_bridge_output_hold(call);
        } else if (call->http != NULL) {
            writ_http_client_resume(call->http);
        }
    }
}

void
writ_bridge_output_hold(struct writ_bridge_call *call)
{
    if (call->bridge->paused && call->kind != WRIT_BRIDGE_LEAVE) { /* it has no line */
        writ_http_client_pause(call->http);
    }
}

void
writ_bridge_output_changed(struct writ_bridge *bridge)
{
    const struct writ_line_output *output = &bridge->output;

    if (output->gone || (bridge->left && writ_line_output_waits(output) == 0)) {
        writ_bridge_output_give_up(bridge);
    } else if (output->full != bridge->paused) {
        pace(bridge);
    }
}

/* Between the values of JSON a line break is white space; inside of a string there is none. */
void
writ_bridge_output_put(struct writ_bridge *bridge, struct writ_view message)
{
    writ_auto_buf line = writ_buf_make(message.len);

    writ_buf_put(&line, message);
    if (!writ_is_ok(writ_buf_check(&line, NULL))) {
        writ_bridge_output_give_up(bridge); /* a line that is lost would be waited for */
        return;
    }
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '\n' || line.ptr[i] == '\r') {
            line.ptr[i] = ' ';
        }
    }
    writ_line_output_put(&bridge->output, writ_buf_view(&line));
    if (bridge->output.lost) {
        writ_bridge_output_give_up(bridge);
    } else if (bridge->output.full && !bridge->paused) {
        pace(bridge);
    }
}

/* ---- the end ---- */

static void
on_last(struct writ_timer *timer)
{
    writ_bridge_output_give_up(timer->ctx);
}

void
writ_bridge_output_finish(struct writ_bridge *bridge)
{
    if (writ_line_output_waits(&bridge->output) == 0) {
        writ_bridge_output_give_up(bridge);
        return;
    }
    bridge->left = true;
    bridge->last_timer = (struct writ_timer){.fn = on_last, .ctx = bridge};
    writ_loop_timer_set(
        bridge->loop, &bridge->last_timer, writ_loop_now_us(bridge->loop) + LAST_US);
}
