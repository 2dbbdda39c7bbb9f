/* unix_socket.c - binds under a lock. The name of a socket is removed only while the lock is held,
 * so a process never removes the socket of another one. */
#include "gateway/io/unix_socket.h"

#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_SUFFIX ".lock"

bool
writ_unix_socket_is(struct writ_view address, struct writ_view *ret_path)
{
    struct writ_view scheme = WRIT_LIT(WRIT_UNIX_SOCKET_SCHEME);

    if (!writ_view_has_prefix(address, scheme)) {
        return false;
    }
    *ret_path = writ_view_sub(address, scheme.len, address.len);
    return true;
}

WRIT_RESULT
writ_unix_socket_address(struct writ_view path, struct sockaddr_un *ret, struct writ_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (path.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the path of the Unix socket is empty");
    }
    if (path.len > WRIT_UNIX_SOCKET_PATH_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT,
            "the path of the Unix socket has %zu bytes; the system takes at most %d", path.len,
            WRIT_UNIX_SOCKET_PATH_MAX);
    }
    for (size_t i = 0; i < path.len; i++) {
        address.sun_path[i] = path.ptr[i];
    }
    *ret = address;
    return WRIT_DONE;
}

/* Every user who can enter the folder could connect, or wait for the name. */
static WRIT_RESULT
check_folder(int dir, const char *path, struct writ_err *err)
{
    struct stat about;

    if (fstat(dir, &about) != 0) {
        return writ_trusted_fail(err, errno, path, "cannot inspect its folder");
    }
    if ((about.st_mode & WRIT_TRUSTED_PRIVATE) != 0 || about.st_uid != geteuid()) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: the folder of a Unix socket must belong to the user that the gateway runs as, "
            "with "
            "mode 0700",
            path);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_lock(const struct writ_unix_socket *socket, int dir, const char *name, int *ret,
    struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_TRUSTED_NAME_MAX);
    int fd;

    writ_buf_str(&text, name);
    writ_buf_str(&text, LOCK_SUFFIX);
    writ_buf_byte(&text, '\0');
    WRIT_TRY(writ_buf_check(&text, err));
    fd = openat(dir, text.ptr, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return writ_trusted_fail(err, errno, socket->path, "cannot open its lock");
    }
    *ret = fd;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        return WRIT_DONE;
    }
    if (errno == EWOULDBLOCK) {
        WRIT_FAIL(err, WRIT_E_BUSY, "%s: another process listens there", socket->path);
    }
    return writ_trusted_fail(err, errno, socket->path, "cannot lock it");
}

static WRIT_RESULT
remove_stale(const struct writ_unix_socket *socket, int dir, const char *name, struct writ_err *err)
{
    struct stat about;

    if (fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT
                   ? WRIT_DONE
                   : writ_trusted_fail(err, errno, socket->path, "cannot inspect the file there");
    }
    if (!S_ISSOCK(about.st_mode)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s exists and is not a socket", socket->path);
    }
    return unlinkat(dir, name, 0) == 0
               ? WRIT_DONE
               : writ_trusted_fail(err, errno, socket->path, "cannot remove the old socket");
}

static WRIT_RESULT
bind_and_listen(const struct writ_unix_socket *given, const struct sockaddr_un *address,
    int backlog, int *ret, struct writ_err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return writ_trusted_fail(err, errno, given->path, "cannot make a socket");
    }
    *ret = fd;
    if (fchmod(fd, WRIT_TRUSTED_OURS) != 0 || /* what bind gives to the name */
        bind(fd, (const struct sockaddr *)address, sizeof *address) != 0 ||
        listen(fd, backlog) != 0) {
        return writ_trusted_fail(err, errno, given->path, "cannot listen");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_unix_socket_listen(
    struct writ_view path, int backlog, struct writ_unix_socket *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    struct sockaddr_un address = {0};
    const char *name = NULL;

    *ret = (struct writ_unix_socket){.fd = -1, .lock = -1};
    WRIT_TRY(writ_unix_socket_address(path, &address, err));
    for (size_t i = 0; i < path.len; i++) {
        ret->path[i] = path.ptr[i];
    }
    WRIT_TRY(writ_trusted_folder(ret->path, &dir, &name, err));
    WRIT_TRY(check_folder(dir, ret->path, err));
    WRIT_TRY(take_lock(ret, dir, name, &ret->lock, err));
    WRIT_TRY(remove_stale(ret, dir, name, err));
    return bind_and_listen(ret, &address, backlog, &ret->fd, err);
}

static bool
peer_of(int fd, struct ucred *ret)
{
    socklen_t size = sizeof *ret;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret, &size) == 0 && size == sizeof *ret;
}

bool
writ_unix_socket_is_ours(int fd)
{
    struct ucred peer = {0};

    return peer_of(fd, &peer) && (peer.uid == geteuid() || peer.uid == 0);
}

pid_t
writ_unix_socket_pid(int fd)
{
    struct ucred peer = {0};

    return peer_of(fd, &peer) ? peer.pid : 0;
}

void
writ_unix_socket_close(struct writ_unix_socket *listening)
{
    if (listening->fd >= 0) {
        (void)unlink(listening->path);
        (void)close(listening->fd);
        listening->fd = -1;
    }
    writ_trusted_close(&listening->lock);
}
