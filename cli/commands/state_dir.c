/* Notes as files of a folder that only this user can write to. A note is complete or absent, and is
 * taken once: it is written and taken under a name of the process's own, and renamed. */
#include "cli/commands/state_dir.h"

#include "base/text.h"
#include "cli/base/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

void
writ_state_dir_name(const struct writ_digest *digest, char ret[WRIT_STATE_DIR_NAME])
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_view hex;

    writ_digest_text(digest, text);
    hex = writ_view_sub(writ_view_str(text), WRIT_DIGEST_TEXT - WRIT_STATE_DIR_NAME, SIZE_MAX);
    for (size_t i = 0; i < hex.len; i++) {
        ret[i] = hex.ptr[i];
    }
    ret[hex.len] = '\0';
}

static WRIT_RESULT
path_of(const char *folder, const char *name, const char *after, struct writ_buf *ret,
    struct writ_err *err)
{
    writ_buf_fmt(ret, "%s/%s%s", folder, name, after);
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
open_folder(const char *folder, struct writ_err *err)
{
    struct stat st;

    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        WRIT_FAIL(err, WRIT_E_IO, "the folder of --state cannot be created");
    }
    if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--state needs a folder of this user that no other user can write to");
    }
    return WRIT_DONE;
}

/* First under its own name, then renamed: a note is complete or absent. */
WRIT_RESULT
writ_state_dir_put(
    const char *folder, const char *name, struct writ_view text, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(PATH_BYTES), made = writ_buf_make(PATH_BYTES);
    char own[32];
    bool good;
    int fd;

    if (text.len > WRIT_STATE_DIR_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a note is longer than %d bytes", WRIT_STATE_DIR_MAX);
    }
    WRIT_TRY(open_folder(folder, err));
    (void)snprintf(own, sizeof own, ".%ld", (long)getpid());
    WRIT_TRY(path_of(folder, name, "", &path, err));
    WRIT_TRY(path_of(folder, name, own, &made, err));
    fd = open(made.ptr, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        WRIT_FAIL(err, WRIT_E_IO, "the folder of --state cannot be written");
    }
    good = writ_cli_write_all(fd, text);
    good = close(fd) == 0 && good;
    if (!good || rename(made.ptr, path.ptr) != 0) {
        (void)unlink(made.ptr);
        WRIT_FAIL(err, WRIT_E_IO, "the folder of --state cannot be written");
    }
    return WRIT_DONE;
}

/* First renamed, then read: of two processes only one gets it. */
WRIT_RESULT
writ_state_dir_take(
    const char *folder, const char *name, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(PATH_BYTES), mine = writ_buf_make(PATH_BYTES);
    char own[32];
    writ_result result;

    (void)snprintf(own, sizeof own, ".%ld", (long)getpid());
    WRIT_TRY(path_of(folder, name, "", &path, err));
    WRIT_TRY(path_of(folder, name, own, &mine, err));
    if (rename(path.ptr, mine.ptr) != 0) {
        if (errno == ENOENT) {
            return (writ_result){WRIT_E_ABSENT};
        }
        WRIT_FAIL(err, WRIT_E_IO, "a note in the folder of --state cannot be taken");
    }
    result = writ_text_file(mine.ptr, WRIT_STATE_DIR_MAX, ret, err);
    (void)unlink(mine.ptr);
    return result;
}
