/* Sorts by bytes, so that the order of the entries does not depend on the locale or the disk. */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
close_folder(DIR **folder)
{
    if (*folder != NULL) {
        (void)closedir(*folder);
    }
}

static int
by_bytes(const void *a, const void *b)
{
    return writ_view_compare(*(const struct writ_view *)a, *(const struct writ_view *)b);
}

static bool
is_wanted(struct writ_view name, struct writ_view suffix)
{
    return writ_view_has_suffix(name, suffix) && name.ptr[0] != '.';
}

WRIT_RESULT
writ_folder_names(const char *path, const char *suffix, size_t max, struct writ_arena *arena,
    struct writ_view **ret, size_t *ret_n, struct writ_err *err)
{
    WRIT_AUTO(DIR *, close_folder) folder = opendir(path);
    const struct dirent *entry;
    struct writ_view *names;
    size_t n = 0;

    if (folder == NULL) {
        WRIT_FAIL(err, errno == ENOENT || errno == ENOTDIR ? WRIT_E_ABSENT : WRIT_E_IO, "%s: %s",
            path, strerrordesc_np(errno));
    }
    names = writ_arena_get(arena, (max + 1) * sizeof *names);
    if (names == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "%s: no memory to list the folder", path);
    }
    for (errno = 0; (entry = readdir(folder)) != NULL; errno = 0) {
        struct writ_view name = writ_view_str(entry->d_name);
        if (!is_wanted(name, writ_view_str(suffix))) {
            continue;
        }
        if (n == max) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "%s: more than %zu files *%s", path, max, suffix);
        }
        names[n] = writ_view_copy(name, arena);
        if (names[n++].ptr == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "%s: no memory to list the folder", path);
        }
    }
    if (errno != 0) {
        WRIT_FAIL(err, WRIT_E_IO, "%s: %s", path, strerrordesc_np(errno));
    }
    if (n > 0) {
        qsort(names, n, sizeof *names, by_bytes);
    }
    *ret = names;
    *ret_n = n;
    return WRIT_DONE;
}
