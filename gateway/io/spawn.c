/* spawn.c - fork and exec with three pipes and a status pipe. Everything that needs memory is
 * prepared before the fork; between fork and exec only async-signal-safe calls are made. The child
 * inherits only the variables listed here. */
#include "gateway/io/spawn.h"

#include "base/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAN_BYTES_MAX (1 << 20)
#define PATH_BYTES_MAX 4096
#define PATH_DEFAULT   "/usr/local/bin:/usr/bin:/bin"

static const char *const inherited[] = {
    "PATH=", "HOME=", "USER=", "LOGNAME=", "SHELL=", "TERM=", "TZ=", "TMPDIR=", "LANG=", "LC_ALL=",
    "LC_CTYPE=", "LC_MESSAGES=", "LC_NUMERIC=", "LC_TIME=", "LC_COLLATE=", "LC_MONETARY="};

struct writ_spawn_plan {
    struct writ_arena *arena; /* of every string below */
    char **argv;
    char *environment[WRIT_SPAWN_ENVIRONMENT_MAX + 1];
    size_t variables;
    const char *directory; /* NULL: ours */
};

/* ---- the plan */

static char *
keep(struct writ_spawn_plan *plan, const char *text)
{
    return (char *)writ_view_copy(writ_view_str(text), plan->arena).ptr;
}

static WRIT_RESULT
plan_argv(struct writ_spawn_plan *plan, const char *const *argv, struct writ_err *err)
{
    size_t count = 0;

    while (argv != NULL && argv[count] != NULL) {
        count++;
    }
    if (count == 0 || argv[0][0] == '\0') {
        WRIT_FAIL(err, WRIT_E_INVALID, "no program to start");
    }
    plan->argv = writ_arena_get(plan->arena, (count + 1) * sizeof *plan->argv);
    if (plan->argv == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the arguments of %s", argv[0]);
    }
    for (size_t i = 0; i < count; i++) {
        plan->argv[i] = keep(plan, argv[i]);
        if (plan->argv[i] == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the arguments of %s", argv[0]);
        }
    }
    plan->argv[count] = NULL;
    return WRIT_DONE;
}

static bool
has_variable(const struct writ_spawn_plan *plan, struct writ_view name)
{
    for (size_t i = 0; i < plan->variables; i++) {
        if (writ_view_has_prefix(writ_view_str(plan->environment[i]), name)) {
            return true;
        }
    }
    return false;
}

/* adds "NAME=value" unless the name, with its '=', is there already */
static WRIT_RESULT
add_variable(struct writ_spawn_plan *plan, const char *text, struct writ_err *err)
{
    struct writ_view all = writ_view_str(text);
    size_t equals = writ_view_find(all, '=');

    if (equals == 0 || equals == all.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an environment variable is not NAME=value");
    }
    if (has_variable(plan, writ_view_sub(all, 0, equals + 1))) {
        return WRIT_DONE;
    }
    if (plan->variables == WRIT_SPAWN_ENVIRONMENT_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "more than %d environment variables", WRIT_SPAWN_ENVIRONMENT_MAX);
    }
    plan->environment[plan->variables] = keep(plan, text);
    if (plan->environment[plan->variables] == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the environment");
    }
    plan->variables++;
    return WRIT_DONE;
}

bool
writ_spawn_inherits(struct writ_view name)
{
    for (size_t i = 0; i < sizeof inherited / sizeof inherited[0]; i++) {
        struct writ_view known = writ_view_str(inherited[i]);

        if (writ_view_equal(writ_view_sub(known, 0, known.len - 1), name)) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
plan_environment(struct writ_spawn_plan *plan, const char *const *environment, struct writ_err *err)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        WRIT_TRY(add_variable(plan, *environment, err));
    }
    for (char **own = environ; own != NULL && *own != NULL; own++) {
        struct writ_view all = writ_view_str(*own);

        if (writ_spawn_inherits(writ_view_sub(all, 0, writ_view_find(all, '=')))) {
            WRIT_TRY(add_variable(plan, *own, err));
        }
    }
    return WRIT_DONE;
}

writ_result
writ_spawn_plan_new(const char *const *argv, const char *const *environment, const char *directory,
    struct writ_spawn_plan **ret, struct writ_err *err)
{
    struct writ_spawn_plan *plan = writ_alloc(sizeof *plan);
    writ_result r = {WRIT_E_NOMEM};

    if (plan != NULL) {
        plan->arena = writ_arena_new(PLAN_BYTES_MAX);
    }
    if (plan != NULL && plan->arena != NULL) {
        r = plan_argv(plan, argv, err);
        if (writ_is_ok(r)) {
            r = plan_environment(plan, environment, err);
        }
        if (writ_is_ok(r) && directory != NULL) {
            plan->directory = keep(plan, directory);
            r.code = plan->directory != NULL ? WRIT_OK : WRIT_E_NOMEM;
        }
    }
    if (!writ_is_ok(r)) {
        writ_spawn_plan_free(plan);
        return r;
    }
    *ret = plan;
    return WRIT_DONE;
}

void
writ_spawn_plan_free(struct writ_spawn_plan *plan)
{
    if (plan != NULL) {
        writ_arena_free(plan->arena);
        writ_free(plan);
    }
}

/* ---- the program */

static bool
is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static struct writ_view
search_path(const struct writ_spawn_plan *plan)
{
    const struct writ_view name = WRIT_LIT("PATH=");

    for (size_t i = 0; i < plan->variables; i++) {
        struct writ_view text = writ_view_str(plan->environment[i]);
        if (writ_view_has_prefix(text, name)) {
            return writ_view_sub(text, name.len, text.len);
        }
    }
    return WRIT_LIT("");
}

bool
writ_spawn_find(struct writ_view name, struct writ_view path, struct writ_buf *ret)
{
    struct writ_view left = path.len > 0 ? path : WRIT_LIT(PATH_DEFAULT);

    if (writ_view_find(name, '/') < name.len) {
        writ_buf_put(ret, name);
        writ_buf_byte(ret, '\0');
        return writ_is_ok(writ_buf_check(ret, NULL));
    }
    while (left.len > 0) {
        size_t end = writ_view_find(left, ':');
        writ_buf_clear(ret);
        writ_buf_put(ret, writ_view_sub(left, 0, end));
        writ_buf_byte(ret, '/');
        writ_buf_put(ret, name);
        writ_buf_byte(ret, '\0');
        if (writ_is_ok(writ_buf_check(ret, NULL)) && left.ptr[0] == '/' && is_program(ret->ptr)) {
            return true;
        }
        left = writ_view_sub(left, end + 1, left.len);
    }
    return false;
}

bool
writ_spawn_program(const struct writ_spawn_plan *plan, struct writ_buf *ret)
{
    return writ_spawn_find(writ_view_str(plan->argv[0]), search_path(plan), ret);
}

const char *
writ_spawn_name(const struct writ_spawn_plan *plan)
{
    return plan->argv[0];
}

const char *
writ_spawn_directory(const struct writ_spawn_plan *plan)
{
    return plan->directory;
}

/* ---- the pipes: [0] to read, [1] to write */

enum { IN, OUT, ERR, STATUS, PIPES };

static void
close_pipes(int pipes[PIPES][2])
{
    for (int i = 0; i < PIPES; i++) {
        for (int k = 0; k < 2; k++) {
            if (pipes[i][k] >= 0) {
                (void)close(pipes[i][k]);
                pipes[i][k] = -1;
            }
        }
    }
}

/* moves a descriptor below 3, which the standard streams would overwrite */
static int
above_streams(int fd)
{
    int moved = fd;

    if (fd >= 0 && fd <= STDERR_FILENO) {
        moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        (void)close(fd);
    }
    return moved;
}

static bool
open_pipes(int pipes[PIPES][2])
{
    bool ok = true;

    for (int i = 0; i < PIPES; i++) {
        pipes[i][0] = pipes[i][1] = -1;
    }
    for (int i = 0; i < PIPES && ok; i++) {
        int ours = i == IN ? 1 : 0;
        ok = pipe2(pipes[i], O_CLOEXEC) == 0;
        if (ok) {
            pipes[i][0] = above_streams(pipes[i][0]);
            pipes[i][1] = above_streams(pipes[i][1]);
            ok = pipes[i][0] >= 0 && pipes[i][1] >= 0 &&
                 fcntl(pipes[i][ours], F_SETFL, O_NONBLOCK) == 0;
        }
    }
    return ok;
}

/* ---- the process */

/* What is executed: an open file, or with -1 a path. */
struct program {
    const char *path;
    int fd;
};

static void
execute(const struct writ_spawn_plan *plan, const struct program *program)
{
    if (program->fd >= 0) {
        (void)execveat(program->fd, "", plan->argv, plan->environment, AT_EMPTY_PATH);
    } else {
        (void)execve(program->path, plan->argv, plan->environment);
    }
}

/* Between fork and exec: only calls that signal-safety(7) allows. Memory is shared with the parent
 * and never written. */
static void __attribute__((noreturn)) become(const struct writ_spawn_plan *plan,
    const struct program *program, int pipes[PIPES][2], pid_t parent)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    int fault;

    (void)setsid();
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127); /* the parent ended before the line above */
    }
    for (int signal = 1; signal < NSIG; signal++) {
        (void)sigaction(signal, &usual, NULL);
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(pipes[IN][0], STDIN_FILENO) >= 0 && dup2(pipes[OUT][1], STDOUT_FILENO) >= 0 &&
        dup2(pipes[ERR][1], STDERR_FILENO) >= 0 &&
        close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0 &&
        (plan->directory == NULL || chdir(plan->directory) == 0)) {
        execute(plan, program);
    }
    fault = errno;
    (void)!write(pipes[STATUS][1], &fault, sizeof fault);
    _exit(127);
}

static WRIT_RESULT
start(const struct writ_spawn_plan *plan, const struct program *program, int pipes[PIPES][2],
    struct writ_spawned *ret)
{
    pid_t parent = getpid(), pid = fork();
    int pidfd;

    if (pid == 0) {
        become(plan, program, pipes, parent);
    }
    if (pid < 0) {
        return (writ_result){WRIT_E_IO};
    }
    pidfd = pidfd_open(pid, 0); /* not reaped yet: the id is still this child's */
    if (pidfd < 0) {
        int fault = errno;
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        errno = fault;
        return (writ_result){WRIT_E_IO};
    }
    *ret = (struct writ_spawned){
        .pid = pid,
        .pidfd = pidfd,
        .in = pipes[IN][1],
        .out = pipes[OUT][0],
        .err = pipes[ERR][0],
        .status = pipes[STATUS][0],
    };
    pipes[IN][1] = pipes[OUT][0] = pipes[ERR][0] = pipes[STATUS][0] = -1; /* taken */
    return WRIT_DONE;
}

/* before the fork, where memory can be had */
static WRIT_RESULT
find_program(const struct writ_spawn_plan *plan, int fd, struct writ_buf *path, struct program *ret)
{
    if (fd >= 0) {
        ret->fd = above_streams(fd);
        return (writ_result){ret->fd >= 0 ? WRIT_OK : WRIT_E_IO};
    }
    if (!writ_spawn_program(plan, path)) {
        errno = ENOENT;
        return (writ_result){WRIT_E_ABSENT};
    }
    ret->path = path->ptr;
    return WRIT_DONE;
}

writ_result
writ_spawn_start(
    const struct writ_spawn_plan *plan, int program, struct writ_spawned *ret, int *ret_errno)
{
    writ_auto_buf path = writ_buf_make(PATH_BYTES_MAX);
    struct program found = {NULL, -1};
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    writ_result r = find_program(plan, program, &path, &found);

    if (writ_is_ok(r)) {
        r = open_pipes(pipes) ? start(plan, &found, pipes, ret) : (writ_result){WRIT_E_IO};
    }
    if (!writ_is_ok(r)) {
        *ret_errno = errno;
    }
    close_pipes(pipes);
    if (found.fd >= 0) {
        (void)close(found.fd);
    }
    return r;
}
