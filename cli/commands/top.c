/* writ top: a running gateway in a terminal, from its admin listener.
 *
 * Invariants:
 * (1) Signals that end the program, and the one of a new window size, arrive in a descriptor, so
 *     that the terminal always gets its former state back.
 * (2) A reading that fails is shown, and tried again; only the first one ends the command. */
#include "base/secret.h"
#include "base/text.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/command.h"
#include "cli/commands/top_view.h"
#include "gateway/http/fetch.h"
#include "gateway/io/end_signals.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define METRICS_MAX ((size_t)4 << 20)
#define SCREEN_MAX  ((size_t)1 << 20)
#define READY_MAX   4096
#define URL_MAX     4096
#define FETCH_MS    10000
#define US_PER_S    1000000
#define EVERY_S     2
#define EVERY_MAX_S 3600

#define SCREEN_ENTER "\x1b[?1049h\x1b[?25l"
#define SCREEN_LEAVE "\x1b[?25h\x1b[?1049l"
#define SCREEN_HOME  "\x1b[H"
#define LINE_REST    "\x1b[K"
#define SCREEN_REST  "\x1b[J"

struct top {
    const struct writ_cli *cli;
    int64_t every_us;
    struct writ_buf metrics[2]; /* the last two readings */
    int64_t at_us[2];           /* monotonic */
    size_t readings;
    struct writ_buf not_ready;
    int64_t stops;
    struct writ_err failure; /* of the last reading; empty: none */
    struct termios before;
    bool raw;
    int signals;
    bool ends;
};

static void
top_wipe(struct top *top)
{
    writ_buf_wipe(&top->metrics[0]);
    writ_buf_wipe(&top->metrics[1]);
    writ_buf_wipe(&top->not_ready);
    if (top->signals >= 0) {
        (void)close(top->signals);
    }
}

/* ---- reading */

static WRIT_RESULT
ask(const struct top *top, const char *path, long *ret_status, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_view base = writ_cli_operand(top->cli, 0);
    const struct writ_fetch_request request = {
        .accept = "Accept: */*", .ca_file = writ_cli_get(top->cli, "ca").ptr};
    writ_auto_buf url = writ_buf_make(URL_MAX);

    while (base.len > 0 && base.ptr[base.len - 1] == '/') {
        base.len--;
    }
    writ_buf_put(&url, base);
    writ_buf_str(&url, path);
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    writ_buf_clear(ret);
    return writ_fetch_ask(url.ptr, &request, FETCH_MS, NULL, ret_status, ret, err);
}

static WRIT_RESULT
read_ready(struct top *top, struct writ_err *err)
{
    writ_auto_buf answer = writ_buf_make(METRICS_MAX);
    struct writ_view rest;
    long status = 0;

    WRIT_TRY(ask(top, "/readyz", &status, &answer, err));
    writ_buf_clear(&top->not_ready);
    rest = writ_buf_view(&answer);
    while (status != 200 && rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');
        struct writ_view line = writ_view_sub(rest, 0, end);

        if (writ_view_search(line, WRIT_LIT("not ready")) < line.len) {
            writ_buf_str(&top->not_ready, top->not_ready.len > 0 ? "; " : "");
            writ_buf_put(&top->not_ready, writ_view_sub(line, 0, READY_MAX / 4));
        }
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    return WRIT_DONE;
}

/* Stops are for administrators: without a token, or with another, their number is not known. */
static void
read_stops(struct top *top)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client = {0};

    top->stops = -1;
    if (!writ_cli_has(top->cli, "token")) {
        return;
    }
    if (writ_is_ok(writ_admin_client_begin(&client, top->cli)) &&
        writ_is_ok(writ_admin_client_ask(&client, "/v1/kills", NULL))) {
        top->stops = 0;
        WRIT_JSON_EACH(stop, writ_json_get(client.value, WRIT_LIT("kills")))
        {
            top->stops += stop != NULL;
        }
    }
}

static WRIT_RESULT
read_gateway(struct top *top, struct writ_err *err)
{
    writ_auto_buf fresh = writ_buf_make(METRICS_MAX);
    struct writ_buf oldest;
    long status = 0;

    WRIT_TRY(ask(top, "/metrics", &status, &fresh, err));
    if (status != 200 ||
        writ_view_search(writ_buf_view(&fresh), WRIT_LIT("writ_build_info")) >= fresh.len) {
        WRIT_FAIL(err, WRIT_E_IO,
            "status %ld, and no metrics of Writ: check that the URL is that of the admin listener",
            status);
    }
    WRIT_TRY(read_ready(top, err));
    read_stops(top);
    oldest = top->metrics[0];
    top->metrics[0] = top->metrics[1];
    top->at_us[0] = top->at_us[1];
    top->metrics[1] = fresh;
    top->at_us[1] = writ_clock_mono_us(top->cli->clock);
    fresh = oldest;
    top->readings++;
    return WRIT_DONE;
}

/* ---- showing */

static struct writ_top_view
view_of(const struct top *top)
{
    bool rates = top->readings > 1;

    return (struct writ_top_view){.url = writ_cli_operand(top->cli, 0),
        .before = rates ? writ_buf_view(&top->metrics[0]) : writ_view(NULL, 0),
        .now = writ_buf_view(&top->metrics[1]),
        .seconds = rates ? (double)(top->at_us[1] - top->at_us[0]) / US_PER_S : 0,
        .not_ready = writ_buf_view(&top->not_ready),
        .stops = top->stops,
        .failure = writ_view_str(top->failure.text),
        .wall_us = writ_clock_wall_us(top->cli->clock)};
}

/* Draws over the former picture, line by line, so that nothing flickers. */
static void
draw(struct top *top)
{
    struct writ_top_view view = view_of(top);
    writ_auto_buf text = writ_buf_make(SCREEN_MAX), screen = writ_buf_make(SCREEN_MAX);
    struct winsize size = {0};
    struct writ_view rest;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2 || size.ws_col < 1) {
        size.ws_row = 24;
        size.ws_col = 80;
    }
    writ_top_view_text(&view, size.ws_row - 1U, size.ws_col, &text);
    writ_buf_str(&screen, SCREEN_HOME);
    rest = writ_buf_view(&text);
    while (rest.len > 0) {
        size_t end = writ_view_find(rest, '\n');

        writ_buf_put(&screen, writ_view_sub(rest, 0, end));
        writ_buf_str(&screen, LINE_REST "\r\n");
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    writ_buf_str(&screen, SCREEN_REST "q ends");
    if (!writ_cli_write_all(STDOUT_FILENO, writ_buf_view(&screen))) {
        top->ends = true; /* the terminal is gone */
    }
}

/* ---- the terminal */

static void
enter(struct top *top)
{
    struct termios now;

    if (tcgetattr(STDIN_FILENO, &top->before) == 0) {
        now = top->before;
        now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        now.c_cc[VMIN] = 0;
        now.c_cc[VTIME] = 0;
        top->raw = tcsetattr(STDIN_FILENO, TCSANOW, &now) == 0;
    }
    (void)!writ_cli_write_all(STDOUT_FILENO, WRIT_LIT(SCREEN_ENTER));
}

static void
leave(const struct top *top)
{
    (void)!writ_cli_write_all(STDOUT_FILENO, WRIT_LIT(SCREEN_LEAVE));
    if (top->raw) {
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &top->before);
    }
}

/* Nothing to read, although poll said so: the terminal is gone. */
static void
take_key(struct top *top)
{
    char key = '\0';
    ssize_t n = read(STDIN_FILENO, &key, 1);

    top->ends = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN) || key == 'q' || key == 'Q';
}

/* keeps (1) */
static void
take_signal(struct top *top)
{
    struct signalfd_siginfo info;

    if (read(top->signals, &info, sizeof info) == (ssize_t)sizeof info &&
        info.ssi_signo != SIGWINCH) {
        top->ends = true;
    }
}

/* Waits for a key, a signal or the time of the next reading. True when it is that time. */
static bool
wait_for(struct top *top, int64_t until_us)
{
    struct pollfd fds[] = {
        {.fd = top->signals, .events = POLLIN},
        {.fd = top->raw ? STDIN_FILENO : -1, .events = POLLIN},
    };
    int64_t left_us = until_us - writ_clock_mono_us(top->cli->clock);

    if (left_us > 0 && poll(fds, 2, (int)(left_us / 1000) + 1) > 0) {
        if ((fds[0].revents & POLLIN) != 0) {
            take_signal(top);
        }
        if (fds[1].revents != 0 && !top->ends) {
            take_key(top);
        }
    }
    return writ_clock_mono_us(top->cli->clock) >= until_us;
}

static void
follow(struct top *top)
{
    int64_t next_us = writ_clock_mono_us(top->cli->clock) + top->every_us;

    enter(top);
    while (!top->ends) {
        draw(top);
        if (wait_for(top, next_us) && !top->ends) {
            struct writ_err err = {0};

            (void)writ_is_ok(read_gateway(top, &err)); /* keeps (2): err has the failure */
            top->failure = err;
            next_us = writ_clock_mono_us(top->cli->clock) + top->every_us;
        }
    }
    leave(top);
}

/* ---- one table */

static WRIT_RESULT
show_once(struct top *top, struct writ_err *err)
{
    const struct timespec pause = {
        .tv_sec = top->every_us / US_PER_S, .tv_nsec = (long)(top->every_us % US_PER_S) * 1000};
    writ_auto_buf output = writ_buf_make(SCREEN_MAX);
    struct writ_top_view view;

    (void)nanosleep(&pause, NULL);
    WRIT_TRY(read_gateway(top, err));
    view = view_of(top);
    if (top->cli->json) {
        writ_top_view_json(&view, &output);
    } else {
        writ_top_view_text(&view, 0, 0, &output);
    }
    WRIT_TRY(writ_buf_check(&output, err));
    writ_cli_put(writ_buf_view(&output));
    return WRIT_DONE;
}

static WRIT_RESULT
run(struct top *top, struct writ_err *err)
{
    sigset_t signals;

    WRIT_TRY(read_gateway(top, err));
    if (writ_cli_has(top->cli, "once") || top->cli->json || isatty(STDOUT_FILENO) == 0) {
        return show_once(top, err);
    }
    writ_end_signals_block(&signals);
    (void)sigaddset(&signals, SIGWINCH);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    top->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (top->signals < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "no descriptor for signals");
    }
    follow(top);
    return WRIT_DONE;
}

enum writ_exit
writ_command_top(const struct writ_cli *cli)
{
    WRIT_AUTO(struct top, top_wipe)
    top = {.cli = cli,
        .metrics = {writ_buf_make(METRICS_MAX), writ_buf_make(METRICS_MAX)},
        .not_ready = writ_buf_make(READY_MAX),
        .stops = -1,
        .signals = -1};
    struct writ_err err = {0};
    uint64_t every_s = EVERY_S;
    writ_result result;

    if (writ_cli_has(cli, "every") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "every"), 1, EVERY_MAX_S, &every_s))) {
        return writ_cli_usage(cli, "--every is a number of 1 to %d seconds", EVERY_MAX_S);
    }
    top.every_us = (int64_t)every_s * US_PER_S;
    result = run(&top, &err);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
