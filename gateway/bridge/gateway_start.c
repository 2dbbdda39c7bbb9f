/* gateway_start.c - one lock for those who start, beside the socket's own lock. A gateway inherits
 * the first one from the process that starts it, and holds it until its own process has ended:
 * when that process is killed, the next one waits for the gateway that it started. The second one
 * covers a gateway that a person started: while it is ending, it still has the ledger. */
#include "gateway/bridge/gateway_start.h"

#include "base/text.h"
#include "evidence/json/json.h"
#include "gateway/io/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_ROOM   (WRIT_UNIX_SOCKET_PATH_MAX + 16)
#define STEP_NS     10000000
#define STEPS_START 12000 /* of 10 ms: a large ledger takes its time */
#define STEPS_END   4000
#define LOG_MAX     ((off_t)16 << 20)
#define LOG_TAIL    ((size_t)65536)
#define ARENA_MAX   ((size_t)4 << 20)
#define SELF        "/proc/self/exe"

static void
close_fd(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* "<socket>.<what>": the folder of the socket is the gateway's own. */
static void
name_file(const struct writ_gateway_start *start, const char *what, char ret[PATH_ROOM])
{
    (void)snprintf(ret, PATH_ROOM, "%s.%s", start->socket, what);
}

static bool
connects(const struct writ_gateway_start *start, int fd)
{
    struct sockaddr_un address;

    return fd >= 0 &&
           writ_is_ok(writ_unix_socket_address(writ_view_str(start->socket), &address, NULL)) &&
           connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
           writ_unix_socket_is_ours(fd); /* another user's is none */
}

bool
writ_gateway_start_is_up(const struct writ_gateway_start *start)
{
    WRIT_AUTO(int, close_fd) fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    return connects(start, fd);
}

void
writ_gateway_start_signal(const struct writ_gateway_start *start, int signal)
{
    WRIT_AUTO(int, close_fd) fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t pid = connects(start, fd) ? writ_unix_socket_pid(fd) : 0;

    if (pid > 0) {
        (void)kill(pid, signal);
    }
}

/* ---- locks ---- */

/* False: a signal asked for the end. */
static bool
pause_once(const sigset_t *stops)
{
    const struct timespec step = {.tv_nsec = STEP_NS};
    int signal = sigtimedwait(stops, NULL, &step);

    return signal != SIGTERM && signal != SIGINT && signal != SIGHUP;
}

/* `unless_up`: gives the lock up, with -1 in `ret`, when a gateway accepts connections. */
static WRIT_RESULT
take_lock(const struct writ_gateway_start *start, const char *what, int steps, bool unless_up,
    const sigset_t *stops, int *ret, struct writ_err *err)
{
    char path[PATH_ROOM];

    name_file(start, what, path);
    *ret = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*ret < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path, strerrordesc_np(errno));
    }
    for (int i = 0; flock(*ret, LOCK_EX | LOCK_NB) != 0; i++) {
        if (errno != EWOULDBLOCK || i >= steps) {
            WRIT_FAIL(err, WRIT_E_IO, "%s: another process holds this lock for too long", path);
        }
        if (unless_up && writ_gateway_start_is_up(start)) {
            close_fd(ret);
            return WRIT_DONE;
        }
        if (!pause_once(stops)) {
            WRIT_FAIL(err, WRIT_E_BUSY, "ended by a signal");
        }
    }
    return WRIT_DONE;
}

/* ---- the log of the gateway ---- */

static WRIT_RESULT
open_log(const struct writ_gateway_start *start, int *ret, off_t *ret_end, struct writ_err *err)
{
    char path[PATH_ROOM], old[PATH_ROOM];
    struct stat about;

    name_file(start, "log", path);
    name_file(start, "log.1", old);
    if (stat(path, &about) == 0 && about.st_size > LOG_MAX) {
        (void)rename(path, old);
    }
    *ret = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*ret < 0 || fstat(*ret, &about) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path, strerrordesc_np(errno));
    }
    *ret_end = about.st_size;
    return WRIT_DONE;
}

/* All of it, also what is added meanwhile. */
static bool
copy_all(int from, int to)
{
    off_t at = 0;
    ssize_t n = 1;

    while (n > 0) {
        n = sendfile(to, from, &at, LOG_MAX);
    }
    return n == 0;
}

/* The log of a gateway that runs for long: its lines move to log.1, and it goes on writing at the
 * end of the same file. Without the room for it the log stays as it is. */
static void
turn_log_over(const struct writ_gateway_start *start)
{
    WRIT_AUTO(int, close_fd) log = -1;
    WRIT_AUTO(int, close_fd) old = -1;
    char path[PATH_ROOM], old_path[PATH_ROOM];
    struct stat about;

    name_file(start, "log", path);
    name_file(start, "log.1", old_path);
    if (stat(path, &about) != 0 || about.st_size <= LOG_MAX) {
        return;
    }
    log = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (log < 0 || flock(log, LOCK_EX | LOCK_NB) != 0 || fstat(log, &about) != 0 ||
        about.st_size <= LOG_MAX) {
        return; /* another wrap does it, or has done it */
    }
    old = open(old_path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (old >= 0 && copy_all(log, old)) {
        (void)!ftruncate(log, 0);
    }
}

/* What the gateway's log says since `from`: the reason of its last error. */
static void
read_reason(int log, off_t from, struct writ_buf *ret)
{
    writ_auto_buf text = writ_buf_make(LOG_TAIL);
    char *bytes = writ_buf_reserve(&text, LOG_TAIL);
    ssize_t n = bytes != NULL ? pread(log, bytes, LOG_TAIL, from) : -1;
    struct writ_view rest = writ_view(bytes, n > 0 ? (size_t)n : 0);

    while (rest.len > 0) {
        struct writ_view line = writ_view_sub(rest, 0, writ_view_find(rest, '\n'));
        writ_auto_arena arena = writ_arena_new(ARENA_MAX);
        const struct writ_json *event = NULL;

        rest = writ_view_sub(rest, line.len + 1, rest.len);
        if (arena != NULL &&
            writ_is_ok(writ_json_read(line, &writ_json_limits_default, arena, &event, NULL)) &&
            writ_json_is(writ_json_get(event, WRIT_LIT("level")), WRIT_LIT("error"))) {
            writ_buf_clear(ret);
            writ_text_safe(
                ret, writ_json_string(writ_json_get(event, WRIT_LIT("why"))), WRIT_ERR_TEXT);
        }
    }
}

/* ---- starting ---- */

/* In the new process: nothing of the client's stays open but the lock and the end of `alive`, which
 * says by its own end that the gateway has ended. */
static _Noreturn void
become_gateway(const struct writ_gateway_start *start, int lock, int log, int alive)
{
    char idle[16];
    sigset_t none;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    (void)snprintf(idle, sizeof idle, "%u", start->idle_s);
    (void)sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)umask(077);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0 ||
        close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0 ||
        fcntl(alive, F_SETFD, 0) != 0 || fcntl(lock, F_SETFD, 0) != 0) {
        _exit(1);
    }
    (void)execle(
        SELF, "writ", "serve", start->config, "--idle", idle, (char *)NULL, start->environment);
    _exit(1);
}

/* Twice, so that the gateway is nobody's child here and in no session of a terminal. */
static WRIT_RESULT
spawn(
    const struct writ_gateway_start *start, int lock, int log, int *ret_alive, struct writ_err *err)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot make a pipe: %s", strerrordesc_np(errno));
    }
    pid = fork();
    if (pid == 0) {
        (void)setsid();
        if (fork() == 0) {
            become_gateway(start, lock, log, ends[1]);
        }
        _exit(0);
    }
    (void)close(ends[1]);
    *ret_alive = ends[0];
    if (pid < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "cannot start a process: %s", strerrordesc_np(errno));
    }
    (void)waitpid(pid, NULL, 0);
    return WRIT_DONE;
}

static bool
has_ended(int alive)
{
    char byte;

    return read(alive, &byte, 1) == 0;
}

static WRIT_RESULT
wait_until_up(
    const struct writ_gateway_start *start, int alive, const sigset_t *stops, struct writ_err *err)
{
    (void)fcntl(alive, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < STEPS_START; i++) {
        if (writ_gateway_start_is_up(start)) {
            return WRIT_DONE;
        }
        if (has_ended(alive)) {
            return (writ_result){WRIT_E_IO}; /* its log says why */
        }
        if (!pause_once(stops)) {
            WRIT_FAIL(err, WRIT_E_BUSY, "ended by a signal");
        }
    }
    return (writ_result){WRIT_E_IO};
}

static WRIT_RESULT
start_gateway(
    const struct writ_gateway_start *start, int lock, const sigset_t *stops, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) log = -1;
    WRIT_AUTO(int, close_fd) alive = -1;
    writ_auto_buf why = writ_buf_make(4 * WRIT_ERR_TEXT);
    off_t from = 0;
    writ_result result;

    WRIT_TRY(open_log(start, &log, &from, err));
    WRIT_TRY(spawn(start, lock, log, &alive, err));
    result = wait_until_up(start, alive, stops, err);
    if (result.code != WRIT_E_IO) {
        return result;
    }
    read_reason(log, from, &why);
    WRIT_FAIL(err, WRIT_E_IO, "the gateway did not start: " WRIT_VIEW_FMT " (log: %s.log)",
        WRIT_VIEW_ARG(writ_buf_view(&why)), start->socket);
}

WRIT_RESULT
writ_gateway_start_ensure(
    const struct writ_gateway_start *start, const sigset_t *stops, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) mine = -1;
    WRIT_AUTO(int, close_fd) last = -1;

    if (writ_gateway_start_is_up(start)) {
        turn_log_over(start);
        return WRIT_DONE;
    }
    WRIT_TRY(take_lock(start, "start", STEPS_START, true, stops, &mine, err));
    if (mine < 0 || writ_gateway_start_is_up(start)) {
        return WRIT_DONE;
    }
    WRIT_TRY(take_lock(start, "lock", STEPS_END, true, stops, &last, err));
    if (last < 0) {
        return WRIT_DONE;
    }
    close_fd(&last); /* an earlier gateway has ended: the new one takes it */
    return start_gateway(start, mine, stops, err);
}

/* First any start that is under way: that gateway may have read its configuration already. */
WRIT_RESULT
writ_gateway_start_end(
    const struct writ_gateway_start *start, const sigset_t *stops, struct writ_err *err)
{
    WRIT_AUTO(int, close_fd) first = -1;
    WRIT_AUTO(int, close_fd) last = -1;

    WRIT_TRY(take_lock(start, "start", STEPS_START, true, stops, &first, err));
    writ_gateway_start_signal(start, SIGTERM);
    return take_lock(start, "lock", STEPS_END, false, stops, &last, err);
}
