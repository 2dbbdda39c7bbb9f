/* A log on disk. What a flush has confirmed is there after a power failure too; after a write that
 * failed nothing is written any more: a log has no gaps. The lock
 * lasts as long as the program, and a moment longer when it is killed: until the process that it
 * was just starting is gone too. So taking it has some patience. */
#include "cli/crew/log_file.h"

#include "base/alloc.h"
#include "base/text.h"
#include "gateway/crews/rerun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES    100
#define LOCK_PAUSE_NS (20 * 1000 * 1000)

struct writ_log_file {
    FILE *stream;
    size_t len;
    bool failed;
};

static WRIT_RESULT
fault(struct writ_err *err)
{
    return writ_fail(err, WRIT_E_IO, "the log: %s", strerrordesc_np(errno));
}

/* Nothing is written after a gap. */
static WRIT_RESULT
check(const struct writ_log_file *file, struct writ_err *err)
{
    if (file->failed) {
        WRIT_FAIL(err, WRIT_E_IO, "the log: a write has failed before");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
settle(struct writ_log_file *file, bool whole, struct writ_err *err)
{
    file->failed = !whole;
    return whole ? WRIT_DONE : fault(err);
}

/* False: another program has it. */
static bool
lock(int fd)
{
    const struct timespec pause = {0, LOCK_PAUSE_NS};

    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        (void)nanosleep(&pause, NULL);
    }
    return false;
}

static WRIT_RESULT
take(int fd, const char *path, struct writ_log_file **ret, struct writ_err *err)
{
    struct writ_log_file *file = writ_alloc(sizeof *file);

    if (!lock(fd)) {
        (void)close(fd);
        writ_free(file);
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: another program writes this log", path);
    }
    if (file != NULL) {
        file->stream = fdopen(fd, "r+");
    }
    if (file == NULL || file->stream == NULL) {
        (void)close(fd);
        writ_free(file);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    *ret = file;
    return WRIT_DONE;
}

/* Makes the name of a new file durable. */
static WRIT_RESULT
sync_folder(const char *path, struct writ_err *err)
{
    struct writ_view whole = writ_view_str(path);
    writ_auto_buf folder = writ_buf_make(WRIT_TEXT_PATH_MAX);
    size_t slash = whole.len;
    writ_result result = WRIT_DONE;
    int fd;

    while (slash > 0 && path[slash - 1] != '/') {
        slash--;
    }
    writ_buf_put(&folder, slash > 0 ? writ_view_sub(whole, 0, slash) : WRIT_LIT("."));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    fd = open(folder.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        result = fault(err);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return result;
}

WRIT_RESULT
writ_log_file_create(const char *path, struct writ_log_file **ret, struct writ_err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) {
        WRIT_FAIL(err, errno == EEXIST ? WRIT_E_INVALID : WRIT_E_IO, "%s: %s", path,
            strerrordesc_np(errno));
    }
    WRIT_TRY(take(fd, path, ret, err));
    return sync_folder(path, err);
}

WRIT_RESULT
writ_log_file_open(const char *path, struct writ_log_file **ret, struct writ_err *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0) {
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO, "%s: %s", path,
            strerrordesc_np(errno));
    }
    return take(fd, path, ret, err);
}

WRIT_RESULT
writ_log_file_cut(struct writ_log_file *file, size_t len, struct writ_err *err)
{
    if (ftruncate(fileno(file->stream), (off_t)len) != 0 ||
        fseeko(file->stream, (off_t)len, SEEK_SET) != 0) {
        return fault(err);
    }
    file->len = len;
    return WRIT_DONE;
}

WRIT_RESULT
writ_log_file_bytes(struct writ_log_file *file, struct writ_view bytes, struct writ_err *err)
{
    if (file == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(check(file, err));
    if (bytes.len > WRIT_RERUN_LOG_MAX - file->len) {
        file->failed = true;
        WRIT_FAIL(err, WRIT_E_IO, "the log: it would be longer than %zu bytes", WRIT_RERUN_LOG_MAX);
    }
    file->len += bytes.len;
    return settle(file, fwrite(bytes.ptr, 1, bytes.len, file->stream) == bytes.len, err);
}

WRIT_RESULT
writ_log_file_line(struct writ_log_file *file, struct writ_view line, struct writ_err *err)
{
    WRIT_TRY(writ_log_file_bytes(file, line, err));
    return writ_log_file_bytes(file, WRIT_LIT("\n"), err);
}

WRIT_RESULT
writ_log_file_flush(struct writ_log_file *file, struct writ_err *err)
{
    if (file == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(check(file, err));
    return settle(file, fflush(file->stream) == 0 && fdatasync(fileno(file->stream)) == 0, err);
}

void
writ_log_file_close(struct writ_log_file *file)
{
    if (file != NULL) {
        (void)fclose(file->stream); /* flushed and checked before */
        writ_free(file);
    }
}
