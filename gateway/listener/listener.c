/* listener.c - fills in the options, binds the sockets and opens one acceptor for each loop. The
 * options are copied and do not change while the listener is open; only the certificate does. */
#include "gateway/listener/listener.h"

#include "gateway/listener/acceptor.h"
#include "gateway/listener/certificate.h"
#include "gateway/listener/daemon.h"
#include "gateway/listener/intake.h"
#include "gateway/http/ipport.h"
#include "gateway/io/service_manager.h"
#include "gateway/io/unix_socket.h"
#include "gateway/listener/mhd.h"
#include "gateway/listener/site.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG           1024
#define OPTIONS_ARENA_MAX (1U << 20)

struct writ_listener {
    struct writ_listener_options options; /* with the defaults filled in */
    struct writ_arena *arena;             /* memory of the options' views */
    struct writ_site site;
    bool tls;
    _Atomic int64_t expires_s; /* the certificate for new connections; 0: unknown */
    uint16_t port;
    struct writ_unix_socket unix_socket; /* fd -1: it listens on an IP address */
    struct writ_acceptor *acceptors;
    size_t acceptor_count;
};

/* ---- options */

struct number {
    size_t offset;
    const char *name;
    int64_t least, most, standard;
};

#define SIZE_OPTION(member) offsetof(struct writ_listener_options, member), #member

static const struct number sizes[] = {
    {SIZE_OPTION(max_head_bytes), 1024, 65536, 16384},
    {SIZE_OPTION(max_arena_bytes), 65536, INT64_MAX, 8 << 20},
    {SIZE_OPTION(max_queue_bytes), 1024, 64 << 20, 256 << 10},
    {SIZE_OPTION(max_bodies_bytes), 65536, INT64_MAX, INT64_MAX},
};

static const struct number times[] = {
    {SIZE_OPTION(head_timeout_ms), 1, 86400000, 10000},
    {SIZE_OPTION(body_timeout_ms), 1, 86400000, 30000},
    {SIZE_OPTION(idle_timeout_ms), 1, 86400000, 60000},
    {SIZE_OPTION(write_timeout_ms), 1, 86400000, 60000},
};

static const struct number counts[] = {
    {SIZE_OPTION(max_connections), 1, 1 << 20, 4096},
    {SIZE_OPTION(max_exchanges), 1, 1 << 20, 2048},
};

static writ_result
check_number(const struct number *row, int64_t value, int64_t *ret, struct writ_err *err)
{
    if (value == 0) {
        value = row->standard;
    }
    if (value < row->least || value > row->most) {
        WRIT_FAIL(err, WRIT_E_INVALID, "listener: %s must be from %lld to %lld", row->name,
            (long long)row->least, (long long)row->most);
    }
    *ret = value;
    return WRIT_DONE;
}

static writ_result
fill_numbers(struct writ_listener_options *options, struct writ_err *err)
{
    char *base = (char *)options;
    int64_t value = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t *at = (size_t *)(void *)(base + sizes[i].offset);
        WRIT_TRY(check_number(&sizes[i], (int64_t)*at, &value, err));
        *at = (size_t)value;
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t *at = (int64_t *)(void *)(base + times[i].offset);
        WRIT_TRY(check_number(&times[i], *at, at, err));
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        unsigned *at = (unsigned *)(void *)(base + counts[i].offset);
        WRIT_TRY(check_number(&counts[i], *at, &value, err));
        *at = (unsigned)value;
    }
    return WRIT_DONE;
}

static writ_result
keep_views(struct writ_listener *listener, const struct writ_view *views, size_t count,
    const struct writ_view **ret)
{
    struct writ_view *kept = NULL;

    if (count > 0) {
        kept = count < OPTIONS_ARENA_MAX / sizeof *kept
                   ? writ_arena_get(listener->arena, count * sizeof *kept)
                   : NULL;
        if (kept == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        for (size_t i = 0; i < count; i++) {
            kept[i] = writ_view_copy(views[i], listener->arena);
            if (kept[i].ptr == NULL) {
                return (writ_result){WRIT_E_NOMEM};
            }
        }
    }
    *ret = kept;
    return WRIT_DONE;
}

static writ_result
keep_options(
    struct writ_listener *listener, const struct writ_listener_options *given, struct writ_err *err)
{
    struct writ_listener_options *options = &listener->options;

    *options = *given;
    WRIT_TRY(fill_numbers(options, err));
    for (size_t i = 0; i < given->host_count; i++) {
        if (!writ_framing_is_host(given->hosts[i])) {
            WRIT_FAIL(err, WRIT_E_INVALID, "listener: an allowed Host is not a host");
        }
    }
    if (!writ_is_ok(keep_views(listener, given->hosts, given->host_count, &options->hosts)) ||
        !writ_is_ok(keep_views(listener, given->origins, given->origin_count, &options->origins))) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "listener: no memory for its options");
    }
    return WRIT_DONE;
}

/* The names by which a client may call the address; on a Unix socket there is only the local one.
 */
static void
fill_site(struct writ_listener *listener, const union writ_ipport *endpoint)
{
    const struct writ_listener_options *options = &listener->options;
    struct writ_view name = WRIT_LIT("localhost"), port;

    listener->site = (struct writ_site){
        .routes = options->routes,
        .route_count = options->route_count,
        .hosts = options->hosts,
        .host_count = options->host_count,
        .origins = options->origins,
        .origin_count = options->origin_count,
    };
    if (endpoint == NULL) {
        writ_site_name(&listener->site, name, true, false);
        return;
    }
    writ_framing_split_host(options->address, &name, &port);
    writ_site_name(&listener->site, name, writ_ipport_is_loopback(endpoint),
        writ_ipport_is_wildcard(endpoint));
}

/* ---- sockets */

static writ_result
fail_io(struct writ_err *err, const char *what, int fd)
{
    int code = errno;

    if (fd >= 0) {
        (void)close(fd);
    }
    WRIT_FAIL(err, WRIT_E_IO, "listener: %s: %s", what, strerrordesc_np(code));
}

static writ_result
bind_socket(const union writ_ipport *endpoint, bool shared, int *ret, struct writ_err *err)
{
    int fd = socket(endpoint->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1, off = 0;

    if (fd < 0) {
        return fail_io(err, "cannot make a socket", -1);
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0)) {
        return fail_io(err, "cannot prepare a socket", fd);
    }
    if (endpoint->any.sa_family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (bind(fd, &endpoint->any, writ_ipport_len(endpoint)) != 0) {
        return fail_io(err, "cannot bind the address", fd);
    }
    *ret = fd;
    return WRIT_DONE;
}

static uint16_t
bound_port(int fd)
{
    union writ_ipport endpoint = {0};
    socklen_t len = sizeof endpoint;

    return getsockname(fd, &endpoint.any, &len) == 0 ? writ_ipport_port(&endpoint) : 0;
}

/* SO_REUSEPORT lets several loops share a port, and would let a second gateway share it as well,
 * unnoticed. A socket without it tests first whether the port is free. */
static writ_result
find_port(union writ_ipport *endpoint, uint16_t *ret, struct writ_err *err)
{
    int fd = -1;

    WRIT_TRY(bind_socket(endpoint, false, &fd, err));
    if (listen(fd, 1) != 0) {
        return fail_io(err, "cannot listen", fd);
    }
    *ret = bound_port(fd);
    (void)close(fd);
    writ_ipport_set_port(endpoint, *ret);
    return WRIT_DONE;
}

/* takes the descriptor */
static writ_result
give_acceptor(struct writ_listener *listener, struct writ_loop *loop, int fd,
    struct writ_certificate *certificate, struct writ_err *err)
{
    struct writ_acceptor *acceptor = &listener->acceptors[listener->acceptor_count];

    acceptor->options = &listener->options;
    acceptor->site = &listener->site;
    acceptor->callbacks = &writ_intake_callbacks;
    listener->acceptor_count++;
    return writ_acceptor_open(acceptor, loop, fd, certificate, err);
}

static writ_result
open_acceptor(struct writ_listener *listener, struct writ_loop *loop,
    const union writ_ipport *endpoint, bool shared, struct writ_certificate *certificate,
    struct writ_err *err)
{
    int fd = -1;

    WRIT_TRY(bind_socket(endpoint, shared, &fd, err));
    if (listen(fd, BACKLOG) != 0) {
        return fail_io(err, "cannot listen", fd);
    }
    listener->port = bound_port(fd);
    return give_acceptor(listener, loop, fd, certificate, err);
}

/* The loops accept from one queue: of a Unix socket, which has no SO_REUSEPORT, or of a socket that
 * the process was started with. */
static writ_result
share_socket(struct writ_listener *listener, int shared, struct writ_loop *const *loops,
    size_t count, struct writ_certificate *certificate, struct writ_err *err)
{
    for (size_t i = 0; i < count; i++) {
        int fd = fcntl(shared, F_DUPFD_CLOEXEC, 0);

        if (fd < 0) {
            return fail_io(err, "cannot share a socket", -1);
        }
        WRIT_TRY(give_acceptor(listener, loops[i], fd, certificate, err));
    }
    return WRIT_DONE;
}

static writ_result
open_unix_acceptors(struct writ_listener *listener, struct writ_view path,
    struct writ_loop *const *loops, size_t count, struct writ_err *err)
{
    if (listener->tls) {
        WRIT_FAIL(err, WRIT_E_INVALID, "listener: a Unix socket has no TLS");
    }
    fill_site(listener, NULL);
    WRIT_TRY(writ_unix_socket_listen(path, BACKLOG, &listener->unix_socket, err));
    return share_socket(listener, listener->unix_socket.fd, loops, count, NULL, err);
}

/* takes the descriptor */
static writ_result
open_passed_acceptors(struct writ_listener *listener, int passed, struct writ_loop *const *loops,
    size_t count, struct writ_certificate *certificate, struct writ_err *err)
{
    writ_result result = share_socket(listener, passed, loops, count, certificate, err);

    listener->port = bound_port(passed);
    (void)close(passed);
    return result;
}

static writ_result
open_acceptors(struct writ_listener *listener, struct writ_loop *const *loops, size_t count,
    struct writ_certificate *certificate, struct writ_err *err)
{
    union writ_ipport endpoint = {0};
    struct writ_view path;
    int passed = -1;

    listener->acceptors = writ_alloc(count * sizeof *listener->acceptors);
    if (listener->acceptors == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "listener: no memory");
    }
    if (writ_unix_socket_is(listener->options.address, &path)) {
        return open_unix_acceptors(listener, path, loops, count, err);
    }
    WRIT_TRY(writ_ipport_read(listener->options.address, &endpoint, err));
    fill_site(listener, &endpoint);
    if (listener->options.passed != NULL) {
        passed = writ_service_manager_socket_at(
            listener->options.passed, &endpoint.any, writ_ipport_len(&endpoint));
    }
    if (passed < 0) {
        listener->options.passed = NULL;
    } else {
        return open_passed_acceptors(listener, passed, loops, count, certificate, err);
    }
    if (count > 1) {
        WRIT_TRY(find_port(&endpoint, &listener->port, err));
    }
    for (size_t i = 0; i < count; i++) {
        WRIT_TRY(open_acceptor(listener, loops[i], &endpoint, count > 1, certificate, err));
    }
    return WRIT_DONE;
}

/* A gateway has two listeners: the address names the one that could not be opened. */
static writ_result
fail_of(const struct writ_listener *listener, writ_result result, struct writ_err *err)
{
    writ_auto_buf address = writ_buf_make(listener->options.address.len + 1);

    writ_buf_put(&address, listener->options.address);
    writ_buf_byte(&address, '\0');
    return writ_is_ok(writ_buf_check(&address, NULL)) ? writ_fail_in(err, result, address.ptr)
                                                      : result;
}

/* ---- opening and closing */

static void
certificate_dropp(struct writ_certificate **certificate)
{
    writ_certificate_drop(*certificate);
}

/* reads the material and tests it */
static WRIT_RESULT
load_certificate(const struct writ_listener *listener, const struct writ_listener_tls *tls,
    struct writ_certificate **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_certificate *, certificate_dropp) certificate = NULL;

    WRIT_TRY(writ_certificate_load(tls, &certificate, err));
    WRIT_TRY(writ_daemon_try(&listener->options, &writ_intake_callbacks, certificate, err));
    *ret = WRIT_TAKE(certificate);
    return WRIT_DONE;
}

static void
listener_freep(struct writ_listener **listener)
{
    writ_listener_free(*listener);
}

WRIT_RESULT
writ_listener_open(const struct writ_listener_options *options, struct writ_loop *const *loops,
    size_t loop_count, struct writ_listener **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_certificate *, certificate_dropp) certificate = NULL;
    WRIT_AUTO(struct writ_listener *, listener_freep) listener = NULL;
    writ_result result;

    WRIT_TRY(writ_mhd_check(err));
    if (loop_count == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "listener: there is no loop");
    }
    listener = writ_alloc(sizeof *listener);
    if (listener == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "listener: no memory");
    }
    listener->unix_socket = (struct writ_unix_socket){.fd = -1, .lock = -1};
    listener->arena = writ_arena_new(OPTIONS_ARENA_MAX);
    if (listener->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "listener: no memory");
    }
    WRIT_TRY(keep_options(listener, options, err));
    listener->options.address = writ_view_copy(options->address, listener->arena);
    if (options->tls.certificate.len > 0 || options->tls.key.len > 0) {
        WRIT_TRY(load_certificate(listener, &options->tls, &certificate, err));
        listener->tls = true;
        listener->expires_s = certificate->expires_s;
    }
    result = open_acceptors(listener, loops, loop_count, certificate, err);
    if (!writ_is_ok(result)) {
        return fail_of(listener, result, err);
    }
    *ret = WRIT_TAKE(listener);
    return WRIT_DONE;
}

void
writ_listener_free(struct writ_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    for (size_t i = 0; i < listener->acceptor_count; i++) {
        writ_acceptor_close(&listener->acceptors[i]);
    }
    writ_unix_socket_close(&listener->unix_socket);
    writ_free(listener->acceptors);
    writ_arena_free(listener->arena);
    writ_free(listener);
}

uint16_t
writ_listener_port(const struct writ_listener *listener)
{
    return listener->port;
}

WRIT_RESULT
writ_listener_prepare(const struct writ_listener *listener, const struct writ_listener_tls *tls,
    struct writ_certificate **ret, struct writ_err *err)
{
    if (!listener->tls) {
        WRIT_FAIL(err, WRIT_E_INVALID, "listener: TLS cannot be switched on while it runs");
    }
    return load_certificate(listener, tls, ret, err);
}

void
writ_listener_take(struct writ_listener *listener, struct writ_certificate *certificate)
{
    WRIT_INVARIANT(listener->tls);
    listener->expires_s = certificate->expires_s;
    for (size_t i = 0; i < listener->acceptor_count; i++) {
        writ_acceptor_reload(&listener->acceptors[i], certificate);
    }
}

void
writ_listener_drain(struct writ_listener *listener)
{
    for (size_t i = 0; i < listener->acceptor_count; i++) {
        writ_acceptor_drain(&listener->acceptors[i]);
    }
}

bool
writ_listener_is_settled(const struct writ_listener *listener)
{
    bool settled = true;

    for (size_t i = 0; i < listener->acceptor_count; i++) {
        settled = settled && atomic_load(&listener->acceptors[i].settled);
    }
    return settled;
}

int64_t
writ_listener_expires_s(const struct writ_listener *listener)
{
    return listener->expires_s;
}

unsigned
writ_listener_open_connections(const struct writ_listener *listener)
{
    unsigned open = 0;

    for (size_t i = 0; i < listener->acceptor_count; i++) {
        open +=
            atomic_load_explicit(&listener->acceptors[i].connections_seen, memory_order_relaxed);
    }
    return open;
}

unsigned
writ_listener_open_exchanges(const struct writ_listener *listener)
{
    unsigned open = 0;

    for (size_t i = 0; i < listener->acceptor_count; i++) {
        open += atomic_load_explicit(&listener->acceptors[i].exchanges_seen, memory_order_relaxed);
    }
    return open;
}
