/* backlog.c - two buffers: callers append to one while the thread writes the other.
 *
 * (1) `filling` and `ending` are used under `lock`; `writing` belongs to the thread.
 * (2) The lock is never held across poll(2), write(2) or a pause. */
#include "base/backlog.h"

#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct writ_backlog {
    int fd;
    atomic_ulong *lost;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t filled; /* `filling` is not empty any more, or `ending` */
    struct writ_buf filling, writing;
    bool ending, idle; /* idle: the thread waits for `filled` */
};

static bool
is_ending(struct writ_backlog *backlog)
{
    bool ending;

    (void)pthread_mutex_lock(&backlog->lock);
    ending = backlog->ending;
    (void)pthread_mutex_unlock(&backlog->lock);
    return ending;
}

/* As many whole lines as fit a piece. */
static struct writ_view
piece_of(struct writ_view text)
{
    size_t len = text.len < WRIT_BACKLOG_PIECE ? text.len : WRIT_BACKLOG_PIECE;

    while (len > 0 && text.ptr[len - 1] != '\n') {
        len--;
    }
    return writ_view_sub(text, 0, len > 0 ? len : text.len);
}

/* Waits for the reader; from the end of the backlog on, no longer than WRIT_BACKLOG_END_MS. */
static bool
find_room(struct writ_backlog *backlog)
{
    struct pollfd at = {.fd = backlog->fd, .events = POLLOUT};
    bool ending;

    do {
        ending = is_ending(backlog);
        if (poll(&at, 1, WRIT_BACKLOG_END_MS) == 1) {
            return true; /* write(2) reports the error */
        }
    } while (!ending);
    return false;
}

bool
writ_backlog_write(int fd, struct writ_view text)
{
    while (text.len > 0) {
        ssize_t sent = write(fd, text.ptr, text.len);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        text = writ_view_sub(text, (size_t)sent, text.len);
    }
    return true;
}

static unsigned long
lines_of(struct writ_view text)
{
    unsigned long lines = 0;

    for (size_t i = 0; i < text.len; i++) {
        lines += text.ptr[i] == '\n';
    }
    return lines;
}

static void
write_out(struct writ_backlog *backlog)
{
    struct writ_view left = writ_buf_view(&backlog->writing);
    bool room = true;

    while (left.len > 0) {
        struct writ_view piece = piece_of(left);
        room = room && find_room(backlog);
        if (!room || !writ_backlog_write(backlog->fd, piece)) {
            (void)atomic_fetch_add(backlog->lost, lines_of(piece));
        }
        left = writ_view_sub(left, piece.len, left.len);
    }
    writ_buf_clear(&backlog->writing);
}

/* False: the backlog ends, and nothing is left to write. */
static bool
take(struct writ_backlog *backlog)
{
    bool more;

    (void)pthread_mutex_lock(&backlog->lock);
    while (backlog->filling.len == 0 && !backlog->ending) {
        backlog->idle = true;
        (void)pthread_cond_wait(&backlog->filled, &backlog->lock);
    }
    backlog->idle = false;
    more = backlog->filling.len > 0;
    if (more) {
        struct writ_buf empty = backlog->writing;
        backlog->writing = backlog->filling;
        backlog->filling = empty;
    }
    (void)pthread_mutex_unlock(&backlog->lock);
    return more;
}

static void *
run(void *ctx)
{
    const struct timespec pause = {.tv_nsec = WRIT_BACKLOG_PAUSE_MS * 1000000L};
    struct writ_backlog *backlog = ctx;

    while (take(backlog)) {
        write_out(backlog);
        if (!is_ending(backlog)) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

static void
discard(struct writ_backlog *backlog)
{
    (void)pthread_cond_destroy(&backlog->filled);
    (void)pthread_mutex_destroy(&backlog->lock);
    writ_buf_wipe(&backlog->filling);
    writ_buf_wipe(&backlog->writing);
    writ_free(backlog);
}

writ_result
writ_backlog_new(int fd, atomic_ulong *lost, struct writ_backlog **ret, struct writ_err *err)
{
    struct writ_backlog *backlog = writ_alloc(sizeof *backlog);

    if (backlog == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the log");
    }
    backlog->fd = fd;
    backlog->lost = lost;
    backlog->filling = writ_buf_make(WRIT_BACKLOG_MAX);
    backlog->writing = writ_buf_make(WRIT_BACKLOG_MAX);
    (void)pthread_mutex_init(&backlog->lock, NULL);
    (void)pthread_cond_init(&backlog->filled, NULL);
    if (!writ_thread_start(&backlog->thread, run, backlog, "writ-log")) {
        discard(backlog);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no thread for the log");
    }
    *ret = backlog;
    return WRIT_DONE;
}

bool
writ_backlog_put(struct writ_backlog *backlog, struct writ_view line)
{
    struct writ_buf *to = &backlog->filling;
    size_t before;
    bool idle, fits;

    (void)pthread_mutex_lock(&backlog->lock);
    before = to->len;
    writ_buf_put(to, line);
    fits = to->failed == WRIT_E_UNSET;
    if (!fits) {
        writ_buf_clear(to);
        to->len = before;
    }
    idle = WRIT_TAKE(backlog->idle);
    (void)pthread_mutex_unlock(&backlog->lock);
    if (idle) {
        (void)pthread_cond_signal(&backlog->filled);
    }
    return fits;
}

void
writ_backlog_free(struct writ_backlog *backlog)
{
    if (backlog == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&backlog->lock);
    backlog->ending = true;
    (void)pthread_mutex_unlock(&backlog->lock);
    (void)pthread_cond_signal(&backlog->filled);
    (void)pthread_join(backlog->thread, NULL);
    discard(backlog);
}
