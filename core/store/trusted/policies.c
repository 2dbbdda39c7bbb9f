/* policies.c - a file is written whole or not at all (trusted.h), and never changed. */
#include "store/trusted/policies.h"

#include "base/folder.h"
#include "base/text.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX       ".json"
#define NAME_MAX_OWN (2 * WRIT_DIGEST_BYTES + sizeof SUFFIX)
#define NAMES_MAX    (2 * WRIT_POLICIES_MAX) /* entries of the folder */
#define NAMES_ARENA  ((size_t)1 << 20)
#define HEAD_BYTES   ((size_t)WRIT_DIGEST_TEXT) /* a line feed in place of its NUL */

static WRIT_RESULT
put_folder(const char *store, struct writ_buf *ret, struct writ_err *err)
{
    writ_buf_str(ret, store);
    writ_buf_str(ret, ".policies");
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
put_name(const struct writ_digest *digest, struct writ_buf *ret, struct writ_err *err)
{
    writ_hex_put(ret, digest->bytes, sizeof digest->bytes);
    writ_buf_str(ret, SUFFIX);
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

/* The digest of the text, as a line. */
static WRIT_RESULT
put_head(struct writ_view text, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_digest digest;
    char line[WRIT_DIGEST_TEXT];

    WRIT_TRY(writ_digest_bytes(text, &digest, err));
    writ_digest_text(&digest, line);
    writ_buf_str(ret, line);
    writ_buf_byte(ret, '\n');
    return writ_buf_check(ret, err);
}

static bool
read_name(struct writ_view name, struct writ_digest *ret)
{
    writ_auto_buf text = writ_buf_make(WRIT_DIGEST_TEXT + sizeof SUFFIX);

    writ_buf_str(&text, "sha256:");
    writ_buf_put(&text, writ_view_sub(name, 0, 2 * (size_t)WRIT_DIGEST_BYTES));
    return name.len == NAME_MAX_OWN - 1 && writ_view_has_suffix(name, WRIT_LIT(SUFFIX)) &&
           writ_is_ok(writ_digest_read(writ_buf_view(&text), ret, NULL));
}

static WRIT_RESULT
open_folder(const char *store, int *ret, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);

    WRIT_TRY(put_folder(store, &path, err));
    return writ_trusted_dir(path.ptr, ret, err);
}

static WRIT_RESULT
make_folder(const char *store, int *ret, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);

    WRIT_TRY(put_folder(store, &path, err));
    if (mkdir(path.ptr, S_IRWXU) != 0 && errno != EEXIST) {
        return writ_trusted_fail(err, errno, path.ptr, "cannot be made");
    }
    return writ_trusted_dir(path.ptr, ret, err);
}

static WRIT_RESULT
list(int dir, const char *store, struct writ_arena *arena, struct writ_kept_policy **ret,
    size_t *ret_n, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct writ_view *names = NULL;
    struct writ_kept_policy *kept;
    size_t names_n = 0, n = 0;

    WRIT_TRY(put_folder(store, &path, err));
    WRIT_TRY(writ_folder_names(path.ptr, SUFFIX, NAMES_MAX, arena, &names, &names_n, err));
    kept = writ_arena_get(arena, (names_n + 1) * sizeof *kept);
    if (kept == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the kept policies");
    }
    for (size_t i = 0; i < names_n; i++) {
        struct stat about;

        if (read_name(names[i], &kept[n].digest) &&
            fstatat(dir, names[i].ptr, &about, AT_SYMLINK_NOFOLLOW) == 0) {
            kept[n++].at_us =
                (int64_t)about.st_mtim.tv_sec * 1000000 + about.st_mtim.tv_nsec / 1000;
        }
    }
    *ret = kept;
    *ret_n = n;
    return WRIT_DONE;
}

static bool
is_there(int dir, const char *name)
{
    struct stat about;

    return fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

static WRIT_RESULT
drop_oldest(int dir, const char *store, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(NAMES_ARENA);
    writ_auto_buf name = writ_buf_make(NAME_MAX_OWN);
    struct writ_kept_policy *kept = NULL;
    size_t n = 0, oldest = 0;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the kept policies");
    }
    WRIT_TRY(list(dir, store, arena, &kept, &n, err));
    if (n < WRIT_POLICIES_MAX) {
        return WRIT_DONE;
    }
    for (size_t i = 1; i < n; i++) {
        oldest = kept[i].at_us < kept[oldest].at_us ? i : oldest;
    }
    WRIT_TRY(put_name(&kept[oldest].digest, &name, err));
    if (unlinkat(dir, name.ptr, 0) != 0) {
        return writ_trusted_fail(err, errno, name.ptr, "cannot be deleted");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_policies_keep(const char *store, const struct writ_digest *digest, struct writ_view text,
    struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    writ_auto_buf name = writ_buf_make(NAME_MAX_OWN);
    writ_auto_buf bytes = writ_buf_make(HEAD_BYTES + WRIT_POLICIES_BYTES_MAX);

    WRIT_TRY(make_folder(store, &dir, err));
    WRIT_TRY(put_name(digest, &name, err));
    if (is_there(dir, name.ptr)) {
        return WRIT_DONE;
    }
    WRIT_TRY(drop_oldest(dir, store, err));
    WRIT_TRY(put_head(text, &bytes, err));
    writ_buf_put(&bytes, text);
    WRIT_TRY(writ_buf_check(&bytes, err));
    WRIT_TRY(writ_trusted_write(dir, name.ptr, WRIT_TRUSTED_OURS, writ_buf_view(&bytes), err));
    return writ_trusted_sync(dir, err);
}

WRIT_RESULT
writ_policies_list(const char *store, struct writ_arena *arena, struct writ_kept_policy **ret,
    size_t *ret_n, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    writ_result opened = open_folder(store, &dir, err);

    if (opened.code == WRIT_E_ABSENT) {
        *ret = NULL;
        *ret_n = 0;
        return WRIT_DONE;
    }
    WRIT_TRY(opened);
    return list(dir, store, arena, ret, ret_n, err);
}

WRIT_RESULT
writ_policies_read(
    const char *store, const struct writ_digest *digest, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    writ_auto_buf name = writ_buf_make(NAME_MAX_OWN);
    writ_auto_buf bytes = writ_buf_make(HEAD_BYTES + WRIT_POLICIES_BYTES_MAX);
    writ_auto_buf head = writ_buf_make(HEAD_BYTES);
    struct writ_view text;

    WRIT_TRY(open_folder(store, &dir, err));
    WRIT_TRY(put_name(digest, &name, err));
    WRIT_TRY(writ_trusted_read(dir, name.ptr, WRIT_TRUSTED_PRIVATE, &bytes, err));
    text = writ_view_sub(writ_buf_view(&bytes), HEAD_BYTES, SIZE_MAX);
    WRIT_TRY(put_head(text, &head, err));
    if (!writ_view_has_prefix(writ_buf_view(&bytes), writ_buf_view(&head))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "%s: was changed, delete it", name.ptr);
    }
    writ_buf_put(ret, text);
    return writ_buf_check(ret, err);
}
