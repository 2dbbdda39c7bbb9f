/* Messages to a service manager, and sockets from it. A message that cannot be sent changes nothing
 * for the service: the manager decides by what it hears. A socket that is passed and not used would
 * let clients wait for ever, so the start fails over it. */
#include "gateway/io/service_manager.h"

#include "base/bytes.h"
#include "base/text.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

/* ---- messages: sd_notify(3) */

static void
notify(struct writ_view message)
{
    struct writ_view path = writ_view_str(getenv("NOTIFY_SOCKET"));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (path.len == 0 || path.len >= sizeof address.sun_path ||
        (path.ptr[0] != '/' && path.ptr[0] != '@')) {
        return;
    }
    (void)writ_view_place(path, address.sun_path);
    if (path.ptr[0] == '@') {
        address.sun_path[0] = '\0'; /* unix(7): an abstract address */
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)sendto(fd, message.ptr, message.len, MSG_NOSIGNAL, (const struct sockaddr *)&address,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path.len));
        (void)close(fd);
    }
}

void
writ_service_manager_ready(void)
{
    notify(WRIT_LIT("READY=1"));
}

void
writ_service_manager_reloading(const struct writ_clock *clock)
{
    writ_auto_buf message = writ_buf_make(64);

    writ_buf_fmt(
        &message, "RELOADING=1\nMONOTONIC_USEC=%lld", (long long)writ_clock_mono_us(clock));
    notify(writ_buf_view(&message));
}

void
writ_service_manager_stopping(void)
{
    notify(WRIT_LIT("STOPPING=1"));
}

/* ---- sockets: sd_listen_fds(3) */

/* The number of an environment variable; 0 without one. */
static uint64_t
number_of(const char *name)
{
    uint64_t number = 0;

    return writ_is_ok(writ_text_u64(writ_view_str(getenv(name)), 0, UINT32_MAX, &number)) ? number
                                                                                          : 0;
}

WRIT_RESULT
writ_service_manager_sockets_take(struct writ_service_sockets *ret, struct writ_err *err)
{
    uint64_t n = number_of("LISTEN_PID") == (uint64_t)getpid() ? number_of("LISTEN_FDS") : 0;

    *ret = (struct writ_service_sockets){0};
    if (n > WRIT_SERVICE_SOCKETS_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the service manager passes %llu sockets (LISTEN_FDS). Pass one for each listener.",
            (unsigned long long)n);
    }
    for (size_t i = 0; i < n; i++) {
        int fd = FIRST_FD + (int)i, listens = 0;
        socklen_t len = sizeof listens;

        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) != 0 || listens == 0) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "descriptor %d of the service manager is not a socket that listens. Use "
                "ListenStream= "
                "and Accept=no.",
                fd);
        }
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
        ret->fd[ret->n++] = fd;
    }
    return WRIT_DONE;
}

struct bound {
    struct sockaddr_storage address;
    socklen_t len;
};

static struct writ_view
bound_to(int fd, struct bound *ret)
{
    *ret = (struct bound){.len = sizeof ret->address};
    if (getsockname(fd, (struct sockaddr *)&ret->address, &ret->len) != 0) {
        ret->len = 0;
    }
    return (struct writ_view){(const char *)&ret->address, ret->len};
}

int
writ_service_manager_socket_at(
    struct writ_service_sockets *sockets, const struct sockaddr *address, socklen_t len)
{
    struct writ_view wanted = {(const char *)address, len};
    struct bound bound;

    for (size_t i = 0; i < sockets->n; i++) {
        int fd = sockets->fd[i];
        if (fd >= 0 && writ_view_equal(bound_to(fd, &bound), wanted)) {
            sockets->fd[i] = -1;
            return fd;
        }
    }
    return -1;
}

WRIT_RESULT
writ_service_manager_sockets_all_taken(
    const struct writ_service_sockets *sockets, struct writ_err *err)
{
    for (size_t i = 0; i < sockets->n; i++) {
        if (sockets->fd[i] >= 0) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "listen: the service manager passes a socket for another address than those of "
                "listen "
                "and admin_listen. Make ListenStream= of the socket unit the same (descriptor %d).",
                sockets->fd[i]);
        }
    }
    return WRIT_DONE;
}
