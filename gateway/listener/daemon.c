/* daemon.c
 *
 * A daemon in external-epoll mode does not report work in three cases: after a connection was
 * resumed, after an answer was queued, and for bytes that it has already seen. So the code that
 * causes work states how many more runs it needs (writ_daemon_poke), and the daemon runs before the
 * turn ends.
 *
 * While exchanges wait without being suspended (intake.c, 3), the daemon's list of ready
 * connections is never empty; only without them does "no timeout" mean work. With them, a timer
 * runs daemons that were not poked. A daemon also reports "no timeout" for a connection that it
 * cannot continue (connection.c, 3), so runs that it requests itself become rare. */
#include "gateway/listener/daemon.h"

#include "gateway/listener/certificate.h"
#include "gateway/listener/mhd.h"

#include <sys/epoll.h>

#define RUNS_MAX      32   /* of all daemons together at once: other events need their turn too */
#define SPINS_MAX     8    /* runs in a row that the daemon requested itself */
#define POKE_AFTER_US 5000 /* of the timer for the remaining runs */
#define REST_MAX_US   250000
#define POOL_EXTRA    10240 /* bytes beyond the head: its fields' records, and the answer's head */
#define POOL_MARGIN   8     /* connections that libmicrohttpd closes later than we count */
#define PRIORITIES    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE"

size_t
writ_daemon_memory(const struct writ_listener_options *options)
{
    return options->max_head_bytes + POOL_EXTRA;
}

/* libmicrohttpd would unescape the path; accepted paths have no escapes (framing.c). */
static size_t
leave_as_is(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return writ_view_str(text).len;
}

static struct MHD_Daemon *
daemon_start(const struct writ_listener_options *options,
    const struct writ_daemon_callbacks *callbacks, const struct writ_certificate *certificate,
    struct writ_daemon *daemon)
{
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET |
                     writ_mhd_flags() | (certificate != NULL ? MHD_USE_TLS : MHD_USE_TURBO);
    struct MHD_OptionItem strict[2] = {writ_mhd_option(), {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem tls[5] = {{MHD_OPTION_END, 0, NULL}};
    size_t n = 0;

    if (certificate != NULL) {
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, certificate->chain.ptr};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, certificate->key.ptr};
        tls[n++] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)PRIORITIES};
        if (certificate->client_ca.len > 0) {
            tls[n++] =
                (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0, certificate->client_ca.ptr};
        }
        tls[n] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
    }
    return MHD_start_daemon(flags, 0, NULL, NULL, callbacks->on_access, daemon,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(WRIT_DAEMON_CONNECTIONS + POOL_MARGIN),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, writ_daemon_memory(options),
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->on_completed, daemon, MHD_OPTION_NOTIFY_CONNECTION,
        callbacks->on_notify, daemon, MHD_OPTION_URI_LOG_CALLBACK, callbacks->on_line, daemon,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_as_is, NULL, MHD_OPTION_ARRAY, strict, MHD_OPTION_ARRAY,
        tls, MHD_OPTION_END);
}

WRIT_RESULT
writ_daemon_try(const struct writ_listener_options *options,
    const struct writ_daemon_callbacks *callbacks, const struct writ_certificate *certificate,
    struct writ_err *err)
{
    struct MHD_Daemon *mhd = daemon_start(options, callbacks, certificate, NULL);

    if (mhd == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            certificate != NULL
                ? "the TLS certificate, its key or the client authority cannot be used"
                : "libmicrohttpd does not start");
    }
    MHD_stop_daemon(mhd);
    return WRIT_DONE;
}

static void
on_ready(struct writ_watch *watch, uint32_t events)
{
    (void)events;
    writ_daemon_poke(watch->ctx, 1);
}

static void
pool_stop(struct writ_daemon *daemon)
{
    writ_loop_unwatch(&daemon->watch);
    MHD_stop_daemon(daemon->mhd);
    writ_certificate_drop(daemon->certificate);
    writ_free(daemon);
}

static struct writ_daemon *
pool_new(struct writ_acceptor *acceptor)
{
    struct writ_daemon *daemon = writ_alloc(sizeof *daemon);
    const union MHD_DaemonInfo *info;

    if (daemon == NULL) {
        return NULL;
    }
    daemon->acceptor = acceptor;
    daemon->certificate = writ_certificate_hold(acceptor->certificate);
    daemon->mhd = daemon_start(acceptor->options, acceptor->callbacks, daemon->certificate, daemon);
    if (daemon->mhd == NULL) {
        writ_certificate_drop(daemon->certificate);
        writ_free(daemon);
        return NULL;
    }
    info = MHD_get_daemon_info(daemon->mhd, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL || !writ_is_ok(writ_loop_watch(acceptor->loop, &daemon->watch, info->epoll_fd,
                            EPOLLIN, on_ready, daemon, NULL))) {
        pool_stop(daemon);
        return NULL;
    }
    daemon->next = acceptor->daemons;
    acceptor->daemons = daemon;
    return daemon;
}

struct writ_daemon *
writ_daemon_find(struct writ_acceptor *acceptor)
{
    for (struct writ_daemon *daemon = acceptor->daemons; daemon != NULL; daemon = daemon->next) {
        if (!daemon->retired && daemon->connections < WRIT_DAEMON_CONNECTIONS) {
            return daemon;
        }
    }
    return pool_new(acceptor);
}

/* ---- running */

void
writ_daemon_poke(struct writ_daemon *daemon, unsigned runs)
{
    if (daemon->runs < runs) {
        daemon->runs = runs;
    }
    daemon->spins = 0;
    daemon->rest_us = POKE_AFTER_US;
    writ_loop_defer(daemon->acceptor->loop, &daemon->acceptor->run, WRIT_LOOP_SOON);
}

void
writ_daemon_visit(struct writ_daemon *daemon)
{
    if (daemon->runs == 0) {
        daemon->runs = 1;
    }
    writ_loop_defer(daemon->acceptor->loop, &daemon->acceptor->run, WRIT_LOOP_SOON);
}

/* True when the daemon itself reports that it has work now. */
static bool
has_work(struct writ_daemon *daemon)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms = 1;

    return MHD_get_timeout(daemon->mhd, &timeout_ms) == MHD_YES && timeout_ms == 0;
}

static void
run_later(struct writ_daemon *daemon, int64_t after_us)
{
    struct writ_acceptor *acceptor = daemon->acceptor;
    int64_t at = writ_loop_now_us(acceptor->loop) + after_us;

    if (!acceptor->poke.armed || acceptor->poke.due_us > at) {
        writ_loop_timer_set(acceptor->loop, &acceptor->poke, at);
    }
}

static void
run_once(struct writ_daemon *daemon)
{
    daemon->runs--;
    (void)MHD_run(daemon->mhd);
    if (daemon->runs > 0) {
        return;
    }
    if (daemon->waiting > 0) {
        run_later(daemon, POKE_AFTER_US);
    } else if (!has_work(daemon)) {
        return;
    } else if (daemon->spins < SPINS_MAX) {
        daemon->spins++;
        daemon->runs = 1;
    } else {
        run_later(daemon, daemon->rest_us);
        daemon->rest_us = daemon->rest_us < REST_MAX_US / 2 ? daemon->rest_us * 2 : REST_MAX_US;
    }
}

static void
stop_retired(struct writ_acceptor *acceptor)
{
    for (struct writ_daemon **link = &acceptor->daemons; *link != NULL;) {
        struct writ_daemon *daemon = *link;
        if (daemon->retired && daemon->connections == 0) {
            *link = daemon->next;
            pool_stop(daemon);
        } else {
            link = &daemon->next;
        }
    }
}

void
writ_daemon_on_task(struct writ_task *task)
{
    struct writ_acceptor *acceptor = task->ctx;
    unsigned left = RUNS_MAX;
    bool more = true;

    while (more && left > 0) {
        more = false;
        for (struct writ_daemon *daemon = acceptor->daemons; daemon != NULL && left > 0;
             daemon = daemon->next) {
            if (daemon->runs > 0) {
                run_once(daemon);
                left--;
                more = more || daemon->runs > 0;
            }
        }
    }
    writ_loop_undefer(task); /* pokes from within the runs were heeded */
    if (more) {
        writ_loop_timer_set(acceptor->loop, &acceptor->poke, writ_loop_now_us(acceptor->loop));
    }
    stop_retired(acceptor);
}

void
writ_daemon_on_timer(struct writ_timer *timer)
{
    struct writ_acceptor *acceptor = timer->ctx;

    for (struct writ_daemon *daemon = acceptor->daemons; daemon != NULL; daemon = daemon->next) {
        if (daemon->runs > 0 || daemon->waiting > 0 || has_work(daemon)) {
            daemon->spins = 0;
            writ_daemon_visit(daemon);
        }
    }
}

/* ---- ends */

void
writ_daemon_retire_all(struct writ_acceptor *acceptor)
{
    for (struct writ_daemon *daemon = acceptor->daemons; daemon != NULL; daemon = daemon->next) {
        daemon->retired = true;
        writ_daemon_poke(daemon, 1);
    }
}

void
writ_daemon_stop_all(struct writ_acceptor *acceptor)
{
    for (struct writ_connection *c = acceptor->connections; c != NULL; c = c->next) {
        if (c->suspended) {
            c->suspended = false;
            MHD_resume_connection(c->mhd); /* a daemon with suspended connections cannot stop */
        }
    }
    while (acceptor->daemons != NULL) {
        struct writ_daemon *daemon = acceptor->daemons;
        acceptor->daemons = daemon->next;
        pool_stop(daemon);
    }
}
