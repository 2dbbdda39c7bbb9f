/* service_manager.h - messages to a service manager such as systemd, and sockets from it.
 *
 * The protocols are those of sd_notify(3) and sd_listen_fds(3), which systemd promises to keep:
 * a datagram to NOTIFY_SOCKET, and open sockets from descriptor 3 on. Without a service manager
 * every function does nothing. */
#ifndef WRIT_GATEWAY_SERVICE_MANAGER_H
#define WRIT_GATEWAY_SERVICE_MANAGER_H

#include "base/clock.h"
#include "base/result.h"

#include <sys/socket.h>

/** The service takes requests. */
void writ_service_manager_ready(void);

/** The service reads its configuration again; writ_service_manager_ready says that it is done. */
void writ_service_manager_reloading(const struct writ_clock *clock);

/** The service takes no further requests and ends. */
void writ_service_manager_stopping(void);

#define WRIT_SERVICE_SOCKETS_MAX 8

/** The listening sockets that the process was started with. */
struct writ_service_sockets {
    int fd[WRIT_SERVICE_SOCKETS_MAX]; /* -1: it was taken */
    size_t n;
};

/**
 * Takes over the sockets of LISTEN_FDS: they are closed on exec and do not block from now on. Call
 * it once, before the process opens anything else.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  there are more than WRIT_SERVICE_SOCKETS_MAX, or one does not listen
 */
WRIT_RESULT writ_service_manager_sockets_take(
    struct writ_service_sockets *ret, struct writ_err *err);

/** The socket that is bound to this address, which the caller closes; -1 without one. */
int writ_service_manager_socket_at(
    struct writ_service_sockets *sockets, const struct sockaddr *address, socklen_t len);

/** WRIT_E_INVALID when a socket is left that no listener took, with its address; else WRIT_OK. */
WRIT_RESULT writ_service_manager_sockets_all_taken(
    const struct writ_service_sockets *sockets, struct writ_err *err);

#endif
