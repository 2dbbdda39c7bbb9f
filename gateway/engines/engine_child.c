/* The order is what protects: rights are given up before foreign code is loaded, and the last
 * descriptors before it sees a ballot. What it does then is an answer of the right form, or a
 * refused count. The object is loaded from sealed memory: the checked bytes are the loaded ones. */
#include "gateway/engines/engine_child.h"

#include "base/text.h"
#include "gateway/engines/engine_message.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define ARENA_MAX  ((size_t)768 << 20)
#define LINE_MAX   1024 /* as crew/tally.c formats a line */
#define FAULT_MAX  512
#define LINK_MAX   64
#define FAILED     3
#define CHUNK_SIZE 65536

bool
writ_engine_child_asked(int argc, char **argv, unsigned *ret_seconds)
{
    uint64_t seconds = 0;

    if (argc != 3 || !writ_view_is(writ_view_str(argv[1]), WRIT_ENGINE_CHILD_WORD) ||
        !writ_is_ok(writ_text_u64(writ_view_str(argv[2]), 1, WRIT_ENGINE_SECONDS_MAX, &seconds))) {
        return false;
    }
    *ret_seconds = (unsigned)seconds;
    return true;
}

/* ---- the answer */

static void __attribute__((noreturn))
say(const struct writ_engine_answer *answer, struct writ_view lines)
{
    struct writ_buf text = writ_buf_make(WRIT_ENGINE_ANSWER_MAX);
    struct writ_view left;

    writ_engine_message_put_answer(&text, answer, lines);
    if (!writ_is_ok(writ_buf_check(&text, NULL))) {
        _exit(FAILED);
    }
    left = writ_buf_view(&text);
    while (left.len > 0) {
        ssize_t put = write(STDOUT_FILENO, left.ptr, left.len);

        if (put < 0 && errno != EINTR) {
            _exit(FAILED);
        }
        left = writ_view_sub(left, put > 0 ? (size_t)put : 0, left.len);
    }
    _exit(0); /* without the destructors of the plug-in */
}

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *fmt, ...)
{
    char raw[FAULT_MAX];
    struct writ_buf safe = writ_buf_make((size_t)FAULT_MAX * 8);
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(raw, sizeof raw, fmt, args); /* cut where it is too long */
    va_end(args);
    writ_text_safe(&safe, writ_view_str(raw), FAULT_MAX);
    say(&(struct writ_engine_answer){.fault = writ_buf_view(&safe)}, WRIT_LIT(""));
}

/* ---- the rights */

static void
limit(int resource, const char *what, size_t most)
{
    struct rlimit value = {most, most};

    if (setrlimit(resource, &value) != 0) {
        fail("its process cannot limit its %s: %s", what, strerrordesc_np(errno));
    }
}

/* Root may make processes whatever the limit is. */
static void
leave_root(void)
{
    const uid_t user = WRIT_ENGINE_CHILD_USER;

    if (geteuid() != 0) {
        return;
    }
    if (setgroups(0, NULL) != 0 || setresgid(user, user, user) != 0 ||
        setresuid(user, user, user) != 0) {
        fail("its process cannot leave root for user %u: %s; run the program as another user", user,
            strerrordesc_np(errno));
    }
    /* a change of the user resets both */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0) {
        fail("its process cannot be tied to its parent");
    }
}

static void
give_up_rights(unsigned seconds)
{
    pid_t parent = getppid();

    environ = NULL;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || chdir("/") != 0) {
        fail("its process cannot give up its rights: %s", strerrordesc_np(errno));
    }
    limit(RLIMIT_CORE, "core files", 0);
    limit(RLIMIT_CPU, "time", seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they map terabytes */
    limit(RLIMIT_AS, "memory", WRIT_ENGINE_CHILD_MEMORY);
#endif
    limit(RLIMIT_NOFILE, "descriptors", WRIT_ENGINE_CHILD_FILES);
    leave_root();
    limit(RLIMIT_NPROC, "processes", 0);
    if (getppid() != parent) {
        _exit(FAILED);
    }
}

/* ---- the plug-in */

static void
read_fully(struct writ_buf *ret, size_t size)
{
    while (size > 0) {
        char *room = writ_buf_reserve(ret, size < CHUNK_SIZE ? size : CHUNK_SIZE);
        ssize_t got =
            room != NULL ? read(STDIN_FILENO, room, size < CHUNK_SIZE ? size : CHUNK_SIZE) : 0;

        if (got > 0) {
            ret->len += (size_t)got;
            size -= (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            return;
        }
    }
}

/* The object in memory that nothing can change any more. */
static int
seal(struct writ_view object)
{
    int fd = memfd_create("engine", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    while (fd >= 0 && object.len > 0) {
        ssize_t put = write(fd, object.ptr, object.len);

        if (put < 0 && errno != EINTR) {
            fail("no memory for it: %s", strerrordesc_np(errno));
        }
        object = writ_view_sub(object, put > 0 ? (size_t)put : 0, object.len);
    }
    if (fd < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        fail("no sealed memory for it: %s", strerrordesc_np(errno));
    }
    return fd;
}

static const struct writ_crew_engine *
load(void)
{
    struct writ_buf object = writ_buf_make(WRIT_ENGINE_LIBRARY_MAX);
    struct writ_buf head = writ_buf_make(sizeof(uint64_t));
    const struct writ_crew_engine *engine;
    char path[LINK_MAX];
    uint64_t size = 0;
    void *handle;

    read_fully(&head, sizeof size);
    if (head.len == sizeof size) {
        size = writ_view_load64(head.ptr);
    }
    if (size == 0 || size > WRIT_ENGINE_LIBRARY_MAX) {
        fail("no plug-in to load");
    }
    read_fully(&object, size);
    if (object.len != size) {
        fail("the plug-in is cut off");
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", seal(writ_buf_view(&object)));
    writ_buf_wipe(&object);
    limit(RLIMIT_FSIZE, "files", 0); /* not earlier: sealed memory is a file too */
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fail("it cannot be loaded: %s", dlerror());
    }
    engine = dlsym(handle, WRIT_CREW_ENGINE_SYMBOL);
    if (engine == NULL) {
        fail("it exports no %s", WRIT_CREW_ENGINE_SYMBOL);
    }
    /* also what its constructors opened; with a limit of 0 there is no other one */
    if (close_range(STDERR_FILENO, ~0U, 0) != 0) {
        fail("its process cannot close its descriptors: %s", strerrordesc_np(errno));
    }
    limit(RLIMIT_NOFILE, "descriptors", 0);
    return engine;
}

/* ---- the count */

/** A result in the making. */
struct tally {
    struct writ_crew_tally face; /* the first member */
    struct writ_engine_answer answer;
    struct writ_buf lines;
};

static void
take_ballot(struct writ_crew_tally *face, size_t ballot)
{
    struct tally *tally = (struct tally *)face;

    tally->answer.winner = WRIT_TALLY_BALLOT;
    tally->answer.index = ballot;
}

static void
take_candidate(struct writ_crew_tally *face, size_t candidate)
{
    struct tally *tally = (struct tally *)face;

    tally->answer.winner = WRIT_TALLY_CANDIDATE;
    tally->answer.index = candidate;
}

static void __attribute__((format(printf, 2, 3)))
take_line(struct writ_crew_tally *face, const char *fmt, ...)
{
    struct tally *tally = (struct tally *)face;
    char line[LINE_MAX];
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (len >= 0) {
        writ_engine_message_put_line(&tally->lines,
            writ_view(line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1));
    }
}

void
writ_engine_child_run(unsigned seconds)
{
    struct writ_buf text = writ_buf_make(WRIT_ENGINE_REQUEST_MAX);
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct tally tally = {.face = {take_ballot, take_candidate, take_line},
        .lines = writ_buf_make(WRIT_ENGINE_ANSWER_MAX)};
    const struct writ_crew_engine *engine;
    struct writ_crew_poll poll = {0};
    struct writ_err err = {0};

    give_up_rights(seconds);
    engine = load();
    read_fully(&text, WRIT_ENGINE_REQUEST_MAX);
    if (arena == NULL || !writ_is_ok(writ_buf_check(&text, &err)) ||
        !writ_is_ok(writ_engine_message_read_request(writ_buf_view(&text), arena, &poll, &err))) {
        fail("its process cannot read the poll: %s", err.text);
    }
    if (poll.ballots == NULL || engine->abi != WRIT_CREW_ENGINE_ABI) {
        tally.answer.abi = engine->abi;
        if (engine->abi == WRIT_CREW_ENGINE_ABI && engine->count != NULL) {
            tally.answer.name = writ_view_str(engine->name);
        }
        if (engine->abi == 0) {
            fail("its engine has ABI 0");
        }
    } else {
        tally.answer.refused = engine->count(&poll, &tally.face) != 0;
    }
    say(&tally.answer, writ_buf_view(&tally.lines));
}
