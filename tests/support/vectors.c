/* Calls a function for each file of a folder, in the order of names, so that every run is the
 * same. */
#include "support/vectors.h"

#include "base/text.h"
#include "support/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_MAX      ((size_t)64 << 20)
#define PATH_MAX_HERE 512

struct writ_buf
writ_vectors_read(const char *path)
{
    struct writ_buf content = writ_buf_make(FILE_MAX);
    char full[PATH_MAX_HERE];
    struct writ_err err = {0};

    (void)snprintf(full, sizeof full, "%s/%s", WRIT_VECTORS, path);
    ck_assert_msg(writ_is_ok(writ_text_file(full, FILE_MAX, &content, &err)), "%s", err.text);
    return content;
}

static int
not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_type != DT_DIR;
}

size_t
writ_vectors_each(const char *folder, const char *suffix,
    void (*fn)(const char *name, struct writ_view content, void *arg), void *arg)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX_HERE];
    size_t count = 0;
    int found;

    (void)snprintf(path, sizeof path, "%s/%s", WRIT_VECTORS, folder);
    found = scandir(path, &entries, not_hidden, alphasort);
    ck_assert_msg(found >= 0, "%s cannot be read", path);
    for (int i = 0; i < found; i++) {
        const char *name = entries[i]->d_name;
        if (writ_view_has_suffix(writ_view_str(name), writ_view_str(suffix))) {
            (void)snprintf(path, sizeof path, "%s/%s", folder, name);
            writ_auto_buf content = writ_vectors_read(path);
            fn(name, writ_buf_view(&content), arg);
            count++;
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}
