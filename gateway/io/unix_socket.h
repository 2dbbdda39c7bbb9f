/* unix_socket.h - a listening Unix socket that only its own user reaches.
 *
 * The folder of the socket has to be private (mode 0700), the socket gets mode 0600, and a client
 * is accepted only when the kernel says that it runs as the same user, or as root. One process has
 * the path at a time: it holds a lock on PATH.lock for as long as it lives, so that a socket that a
 * killed process left behind can be replaced, and one in use cannot. */
#ifndef WRIT_GATEWAY_UNIX_SOCKET_H
#define WRIT_GATEWAY_UNIX_SOCKET_H

#include "base/bytes.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#define WRIT_UNIX_SOCKET_SCHEME   "unix:"
#define WRIT_UNIX_SOCKET_PATH_MAX 107 /* bytes of a path, as the system has it */

/** A listening socket with its lock. Own it, close it; `fd` and `lock` are -1 when there is none.
 */
struct writ_unix_socket {
    int fd;
    int lock;
    char path[WRIT_UNIX_SOCKET_PATH_MAX + 1];
};

/** Takes "unix:" off an address. False: it is not the address of a Unix socket. */
bool writ_unix_socket_is(struct writ_view address, struct writ_view *ret_path);

/** The address of a path, for connect. WRIT_E_LIMIT (the path), WRIT_E_INVALID (it is empty). */
WRIT_RESULT writ_unix_socket_address(
    struct writ_view path, struct sockaddr_un *ret, struct writ_err *err);

/**
 * Locks the path, removes a socket that a process left there, and listens. Non-blocking.
 *
 * @param ret  written also on failure: close it in any case
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY     another process listens there
 *         WRIT_E_INVALID  the folder is not private, or something else than a socket has the name
 *         WRIT_E_ABSENT   no such folder
 *         WRIT_E_LIMIT    the path is too long
 *         WRIT_E_IO
 */
WRIT_RESULT writ_unix_socket_listen(
    struct writ_view path, int backlog, struct writ_unix_socket *ret, struct writ_err *err);

/** Whether the other end of a connection runs as our user or as root. */
bool writ_unix_socket_is_ours(int fd);

/** The process that listens at the other end of a connection that was opened here; 0: unknown. */
pid_t writ_unix_socket_pid(int fd);

/** Removes the socket's name and gives the lock back. */
void writ_unix_socket_close(struct writ_unix_socket *listening);

#endif
