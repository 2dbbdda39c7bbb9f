/* Loads engines by dlopen(3). The folder is opened first and files are reached through that
 * descriptor, so that the checked file is the one that is loaded. */
#include "writ/plugins.h"

#include "base/bytes.h"
#include "store/trusted/trusted.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WARNING_MAX 1024
#define LINK_MAX    64

/** A loaded file. Its descriptor stays open: dlopen knows files by name, and a reused descriptor
 * would have this name. */
struct plugin {
    void *handle;
    int fd;
};

struct writ_plugins {
    struct plugin *list;
    size_t n;
};

/** A loading. */
struct loading {
    int dir;
    struct writ_crew_engines *engines;
    struct writ_plugins_warn warn;
    struct writ_plugins *plugins;
};

static void __attribute__((format(printf, 3, 4)))
tell(const struct loading *loading, const char *name, const char *fmt, ...)
{
    char text[WARNING_MAX];
    struct writ_buf buf = writ_buf_over(text, sizeof text - 1);
    char why[WARNING_MAX / 2];
    va_list args;

    if (loading->warn.tell == NULL) {
        return;
    }
    va_start(args, fmt);
    (void)vsnprintf(why, sizeof why, fmt, args); /* cut where it is too long */
    va_end(args);
    writ_buf_fmt(&buf, "%.255s: %s", name, why);
    text[buf.len] = '\0';
    loading->warn.tell(loading->warn.user, text);
}

void
writ_plugins_free(struct writ_plugins *plugins)
{
    if (plugins != NULL) {
        while (plugins->n > 0) {
            plugins->n--;
            (void)dlclose(plugins->list[plugins->n].handle);
            (void)close(plugins->list[plugins->n].fd);
        }
        writ_free(plugins->list);
        writ_free(plugins);
    }
}

static void
plugins_freep(struct writ_plugins **plugins)
{
    writ_plugins_free(*plugins);
}

/* Opens a file that no other user can have written. */
static WRIT_RESULT
open_trusted(int dir, const char *name, int *ret, struct writ_err *err)
{
    WRIT_AUTO(int, writ_trusted_close) fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || fstat(fd, &status) != 0) {
        return writ_trusted_fail(err, errno, name, "cannot be opened");
    }
    if (!S_ISREG(status.st_mode) || (status.st_mode & WRIT_TRUSTED_UNWRITABLE) != 0 ||
        (status.st_uid != geteuid() && status.st_uid != 0)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "others can change it");
    }
    *ret = fd;
    fd = -1;
    return WRIT_DONE;
}

static void
load_one(const struct loading *loading, const char *name)
{
    WRIT_AUTO(int, writ_trusted_close) fd = -1;
    const struct writ_crew_engine *engine;
    struct writ_crew_err refused = {0};
    struct writ_err err = {0};
    char path[LINK_MAX];
    struct writ_buf link = writ_buf_over(path, sizeof path - 1);
    bool replaced = false;
    void *handle;

    if (!writ_is_ok(open_trusted(loading->dir, name, &fd, &err))) {
        tell(loading, name, "skipped: %s", err.text);
        return;
    }
    writ_buf_fmt(&link, "/proc/self/fd/%d", fd);
    path[link.len] = '\0';
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        tell(loading, name, "skipped: it cannot be loaded: %s", dlerror());
        return;
    }
    engine = dlsym(handle, WRIT_CREW_ENGINE_SYMBOL);
    if (engine == NULL) {
        tell(loading, name, "skipped: it exports no %s", WRIT_CREW_ENGINE_SYMBOL);
    } else if (!writ_is_ok(writ_crew_engines_add(loading->engines, engine, &replaced, &refused))) {
        tell(loading, name, "skipped: %s", refused.err.text);
        engine = NULL;
    } else if (replaced) {
        tell(loading, name, "engine %s is taken from this file now", engine->name);
    }
    if (engine == NULL) {
        (void)dlclose(handle);
    } else {
        loading->plugins->list[loading->plugins->n++] = (struct plugin){handle, fd};
        fd = -1;
    }
}

static int
is_plugin(const struct dirent *entry)
{
    return writ_view_has_suffix(writ_view_str(entry->d_name), WRIT_LIT(".so"));
}

WRIT_RESULT
writ_plugins_load(const char *folder, struct writ_crew_engines *engines,
    struct writ_plugins_warn warn, struct writ_plugins **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_plugins *, plugins_freep) plugins = writ_alloc(sizeof *plugins);
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    struct dirent **entries = NULL;
    struct loading loading = {-1, engines, warn, plugins};
    int n;

    if (plugins == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_trusted_dir(folder, &dir, err));
    loading.dir = dir;
    n = scandirat(dir, ".", &entries, is_plugin, alphasort);
    if (n < 0) {
        return writ_trusted_fail(err, errno, folder, "cannot be read");
    }
    plugins->list = writ_alloc(((size_t)n + 1) * sizeof *plugins->list);
    for (int at = 0; at < n; at++) {
        if (plugins->list != NULL) {
            load_one(&loading, entries[at]->d_name);
        }
        free(entries[at]);
    }
    free(entries);
    if (plugins->list == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    *ret = WRIT_TAKE(plugins);
    return WRIT_DONE;
}
