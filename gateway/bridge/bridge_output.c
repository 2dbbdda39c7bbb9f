/* bridge_output.c - writes whole lines, and waits for the reader of standard output: the client's
 * pipe makes the gateway wait. keeps (4) */
#include "gateway/bridge/bridge_output.h"

#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define SAY_MAX 1024

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

static void
put_all(struct writ_bridge *bridge, struct writ_view bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes.ptr, bytes.len);

        if (n < 0 && errno == EAGAIN) { /* a program that shares the pipe made it so */
            (void)poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
        } else if (n < 0 && errno != EINTR) {
            writ_bridge_output_give_up(bridge);
            return;
        }
        bytes = writ_view_sub(bytes, n > 0 ? (size_t)n : 0, bytes.len);
    }
}

/* Between the values of JSON a line break is white space; inside of a string there is none. */
void
writ_bridge_output_put(struct writ_bridge *bridge, struct writ_view message)
{
    writ_auto_buf line = writ_buf_make(message.len + 1);

    writ_buf_put(&line, message);
    writ_buf_byte(&line, '\n');
    if (!writ_is_ok(writ_buf_check(&line, NULL))) {
        writ_bridge_output_give_up(bridge); /* a line that is lost would be waited for */
        return;
    }
    for (size_t i = 0; i + 1 < line.len; i++) {
        if (line.ptr[i] == '\n' || line.ptr[i] == '\r') {
            line.ptr[i] = ' ';
        }
    }
    put_all(bridge, writ_buf_view(&line));
}
