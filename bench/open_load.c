/* open_load.c - an open load of HTTP requests, for bench/run --open.
 *
 *     open_load PORT PATH BODYFILE TOKEN PREFIX CONNECTIONS RATE SECONDS
 *
 * Requests arrive at random times (a Poisson process) at RATE a second, whether or not earlier ones
 * were answered. One that finds every connection taken waits for the next free one. Its latency
 * counts from its arrival, so that a pause of the server is seen by all that came in it: a closed
 * load would not have sent them. PREFIX begins the idempotency key of each request; "-": none.
 *
 * Prints one line: RESULT {"requests":N,"errors":N,"us":N,"p50_us":N,"p99_us":N}. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define US_PER_S     1000000.0
#define REST_US      INT64_C(5000000) /* for the answers of the last requests */
#define ANSWER_ROOM  65536
#define REQUEST_ROOM 65536
#define EVENTS       64
#define BODY_MAX     (1 << 20)

struct connection {
    int fd;
    bool busy;
    int64_t arrived_us; /* of its request */
    size_t len, want;   /* of the answer; want 0: its head is not whole */
    char answer[ANSWER_ROOM];
};

struct load {
    int epoll_fd, port;
    struct connection *connections;
    size_t connections_n;
    struct writ_view head, body; /* of a request, up to the value of its key, and from its end */
    bool keyed;
    int64_t *latencies; /* of those answered */
    size_t sent, answered, errors, room;
    int64_t *queue; /* arrivals that wait, from `first` to `last` */
    size_t first, last;
};

static void
fail(const char *what)
{
    (void)fprintf(stderr, "open_load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t
now_us(void)
{
    return writ_clock_mono_us(writ_clock_system());
}

/* ---- connections ---- */

static void
connect_to(struct load *load, struct connection *c)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)load->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    int yes = 1;

    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0) {
        fail("cannot connect");
    }
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (epoll_ctl(load->epoll_fd, EPOLL_CTL_ADD, c->fd, &event) != 0) {
        fail("cannot watch a connection");
    }
}

static void
send_on(struct load *load, struct connection *c, int64_t arrived_us)
{
    char room[REQUEST_ROOM];
    struct writ_buf request = writ_buf_from(room, sizeof room, sizeof room + BODY_MAX);
    struct writ_view all;

    writ_buf_put(&request, load->head);
    if (load->keyed) {
        writ_buf_fmt(&request, "%zu", load->sent);
    }
    writ_buf_put(&request, load->body);
    all = writ_buf_view(&request);
    c->busy = true;
    c->arrived_us = arrived_us;
    c->len = c->want = 0;
    load->sent++;
    if (send(c->fd, all.ptr, all.len, MSG_NOSIGNAL) != (ssize_t)all.len) {
        fail("cannot send a request");
    }
    writ_buf_wipe(&request);
}

/* The connection takes the next request that waits. */
static void
answered(struct load *load, struct connection *c)
{
    if (load->answered < load->room) {
        load->latencies[load->answered++] = now_us() - c->arrived_us;
    }
    if (strncmp(c->answer, "HTTP/1.1 200", 12) != 0) {
        load->errors++;
    }
    c->busy = false;
    if (load->first < load->last) {
        send_on(load, c, load->queue[load->first++]);
    }
}

static void
read_head(struct connection *c)
{
    const char *end = memmem(c->answer, c->len, "\r\n\r\n", 4);
    const char *length;

    if (end == NULL) {
        return;
    }
    c->answer[c->len] = 0;
    length = strcasestr(c->answer, "\r\ncontent-length:");
    if (length == NULL || length > end) {
        errno = EPROTO;
        fail("an answer has no Content-Length");
    }
    c->want = (size_t)(end + 4 - c->answer) + strtoul(length + 17, NULL, 10);
    if (c->want >= sizeof c->answer) {
        errno = EMSGSIZE;
        fail("an answer is too long");
    }
}

static void
receive(struct load *load, struct connection *c)
{
    ssize_t n = recv(c->fd, c->answer + c->len, sizeof c->answer - 1 - c->len, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        fail("a connection ended");
    }
    c->len += (size_t)n;
    if (c->want == 0) {
        read_head(c);
    }
    if (c->want != 0 && c->len >= c->want && c->busy) {
        answered(load, c);
    }
}

/* ---- arrivals ---- */

static struct connection *
free_one(struct load *load)
{
    for (size_t i = 0; i < load->connections_n; i++) {
        if (!load->connections[i].busy) {
            return &load->connections[i];
        }
    }
    return NULL;
}

static void
arrive(struct load *load, int64_t at_us)
{
    struct connection *c = load->first == load->last ? free_one(load) : NULL;

    if (c != NULL) {
        send_on(load, c, at_us);
    } else if (load->last < load->room) {
        load->queue[load->last++] = at_us;
    }
}

static void
wait_until(struct load *load, int64_t until_us)
{
    struct epoll_event events[EVENTS];
    int64_t left_us = until_us - now_us();
    struct timespec timeout = {.tv_sec = left_us / 1000000, .tv_nsec = left_us % 1000000 * 1000};
    int n = epoll_pwait2(
        load->epoll_fd, events, EVENTS, left_us > 0 ? &timeout : &(struct timespec){0}, NULL);

    for (int i = 0; i < n; i++) {
        receive(load, events[i].data.ptr);
    }
}

/* Between two arrivals of a Poisson process. */
static double
gap_us(double rate)
{
    return -log(1.0 - drand48()) / rate * US_PER_S;
}

static int64_t
run(struct load *load, double rate, double seconds)
{
    int64_t began_us = now_us();
    double next_us = gap_us(rate), end_us = seconds * US_PER_S;

    while (next_us < end_us) {
        int64_t at_us = began_us + (int64_t)next_us;

        wait_until(load, at_us);
        if (now_us() >= at_us) {
            arrive(load, at_us);
            next_us += gap_us(rate);
        }
    }
    for (int64_t last_us = now_us() + REST_US; load->answered < load->sent && now_us() < last_us;) {
        wait_until(load, now_us() + 1000);
    }
    return now_us() - began_us;
}

/* ---- the whole ---- */

static int
compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static long long
percentile(const struct load *load, size_t of_hundred)
{
    return load->answered == 0 ? 0 : load->latencies[(load->answered - 1) * of_hundred / 100];
}

static void
prepare(struct load *load, char **argv, struct writ_buf *head, struct writ_buf *body)
{
    writ_auto_buf text = writ_buf_make(BODY_MAX);

    if (!writ_is_ok(writ_text_file(argv[3], BODY_MAX, &text, NULL))) {
        fail(argv[3]);
    }
    load->keyed = strcmp(argv[5], "-") != 0;
    writ_buf_fmt(head,
        "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\n"
        "Content-Length: %zu\r\n",
        argv[2], load->port, argv[4], writ_buf_view(&text).len);
    if (load->keyed) {
        writ_buf_fmt(head, "Idempotency-Key: %s-", argv[5]);
    }
    writ_buf_str(body, load->keyed ? "\r\n\r\n" : "\r\n");
    writ_buf_put(body, writ_buf_view(&text));
    load->head = writ_buf_view(head);
    load->body = writ_buf_view(body);
}

int
main(int argc, char **argv)
{
    struct load load = {.epoll_fd = epoll_create1(0)};
    writ_auto_buf head = writ_buf_make(REQUEST_ROOM), body = writ_buf_make(REQUEST_ROOM + BODY_MAX);
    double rate, seconds;
    int64_t us;

    if (argc != 9) {
        (void)fputs(
            "usage: open_load PORT PATH BODYFILE TOKEN PREFIX CONNECTIONS RATE SECONDS\n", stderr);
        return 2;
    }
    load.port = atoi(argv[1]);
    load.connections_n = strtoul(argv[6], NULL, 10);
    rate = strtod(argv[7], NULL);
    seconds = strtod(argv[8], NULL);
    load.room = (size_t)(rate * seconds * 2) + EVENTS;
    load.connections = writ_alloc(load.connections_n * sizeof *load.connections);
    load.latencies = writ_alloc(load.room * sizeof *load.latencies);
    load.queue = writ_alloc(load.room * sizeof *load.queue);
    if (load.connections == NULL || load.latencies == NULL || load.queue == NULL) {
        fail("no memory");
    }
    prepare(&load, argv, &head, &body);
    for (size_t i = 0; i < load.connections_n; i++) {
        connect_to(&load, &load.connections[i]);
    }
    srand48(1);
    us = run(&load, rate, seconds);
    qsort(load.latencies, load.answered, sizeof *load.latencies, compare);
    (void)printf(
        "RESULT {\"requests\":%zu,\"errors\":%zu,\"us\":%lld,\"p50_us\":%lld,\"p99_us\":%lld}\n",
        load.answered, load.errors + load.sent - load.answered + load.last - load.first,
        (long long)us, percentile(&load, 50), percentile(&load, 99));
    writ_free(load.connections);
    writ_free(load.latencies);
    writ_free(load.queue);
    return 0;
}
