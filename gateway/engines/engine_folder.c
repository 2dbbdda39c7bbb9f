/* An engine of the crew library is a function without data; so the tally names the engine that
 * counts, and that engine is the first member of its plug-in. */
#include "gateway/engines/engine_folder.h"

#include "gateway/engines/engine_child.h"
#include "gateway/engines/engine_count.h"
#include "store/trusted/trusted.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define WARNING_MAX 1024
#define NOTHING     (-1) /* stops a count before its time */

/** A plug-in. */
struct plugin {
    struct writ_crew_engine engine; /* the first member */
    char name[WRIT_CREW_ENGINE_NAME_MAX + 1];
    struct writ_buf object;
    struct writ_engine_count how;
};

struct writ_engine_folder {
    struct plugin **list;
    size_t n;
};

static void
plugin_free(struct plugin *plugin)
{
    if (plugin != NULL) {
        writ_buf_wipe(&plugin->object);
        writ_free(plugin);
    }
}

static void
plugin_freep(struct plugin **plugin)
{
    plugin_free(*plugin);
}

void
writ_engine_folder_free(struct writ_engine_folder *folder)
{
    if (folder != NULL) {
        for (size_t at = 0; at < folder->n; at++) {
            plugin_free(folder->list[at]);
        }
        writ_free(folder->list);
        writ_free(folder);
    }
}

static void
folder_freep(struct writ_engine_folder **folder)
{
    writ_engine_folder_free(*folder);
}

/* ---- a count */

static int
count(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)
{
    const struct plugin *plugin = (const struct plugin *)writ_tally_engine(tally);
    struct writ_err err = {0};
    bool refused = true;

    if (!writ_is_ok(writ_engine_count_run(&plugin->how, poll, tally, &refused, &err))) {
        tally->explain(tally, "%s", err.text);
        return 1;
    }
    return refused;
}

/* ---- loading */

/** A loading. */
struct loading {
    int dir;
    unsigned seconds;
    struct writ_crew_engines *engines;
    struct writ_engine_folder_warn warn;
    struct writ_engine_folder *folder;
};

static void __attribute__((format(printf, 2, 3)))
tell(const struct loading *loading, const char *fmt, ...)
{
    char text[WARNING_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* cut where it is too long */
    va_end(args);
    loading->warn.tell(loading->warn.user, text);
}

static WRIT_RESULT
describe(struct plugin *plugin, struct writ_err *err)
{
    struct writ_engine_about about = {0};

    WRIT_TRY(writ_engine_count_describe(&plugin->how, &about, err));
    (void)writ_view_place(writ_view_str(about.name), plugin->name);
    plugin->engine = (struct writ_crew_engine){about.abi, plugin->name, "", count};
    return WRIT_DONE;
}

static WRIT_RESULT
add(const struct loading *loading, const char *name, struct writ_err *err)
{
    WRIT_AUTO(struct plugin *, plugin_freep) plugin = writ_alloc(sizeof *plugin);
    struct writ_crew_err refused = {0};
    bool replaced = false;
    writ_result added;

    if (plugin == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    plugin->object = writ_buf_make(WRIT_ENGINE_LIBRARY_MAX);
    WRIT_TRY(writ_trusted_read(loading->dir, name, WRIT_TRUSTED_UNWRITABLE, &plugin->object, err));
    plugin->how =
        (struct writ_engine_count){writ_buf_view(&plugin->object), loading->seconds, NOTHING};
    WRIT_TRY(describe(plugin, err));
    added = writ_crew_engines_add(loading->engines, &plugin->engine, &replaced, &refused);
    if (!writ_is_ok(added)) {
        WRIT_FAIL(err, added.code, "%s", refused.err.text);
    }
    if (replaced) {
        tell(loading, "%s: engine %s is taken from this file now", name, plugin->name);
    }
    loading->folder->list[loading->folder->n++] = WRIT_TAKE(plugin);
    return WRIT_DONE;
}

static void
try_to_add(const struct loading *loading, const char *name)
{
    struct writ_err err = {0};
    struct writ_view why, whole = writ_view_str(name);

    if (writ_is_ok(add(loading, name, &err))) {
        return;
    }
    why = writ_view_str(err.text);
    if (writ_view_has_prefix(why, whole)) { /* the file itself is not as it must be */
        why = writ_view_sub(why, whole.len + 2, why.len);
    }
    tell(loading, "%s: skipped: " WRIT_VIEW_FMT, name, WRIT_VIEW_ARG(why));
}

static int
is_plugin(const struct dirent *entry)
{
    return writ_view_has_suffix(writ_view_str(entry->d_name), WRIT_LIT(".so"));
}

WRIT_RESULT
writ_engine_folder_load(const char *path, unsigned seconds, struct writ_crew_engines *engines,
    struct writ_engine_folder_warn warn, struct writ_engine_folder **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_engine_folder *, folder_freep) folder = writ_alloc(sizeof *folder);
    WRIT_AUTO(int, writ_trusted_close) dir = -1;
    struct loading loading = {-1, seconds, engines, warn, folder};
    struct dirent **entries = NULL;
    int n;

    if (folder == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_trusted_dir(path, &dir, err));
    loading.dir = dir;
    n = scandirat(dir, ".", &entries, is_plugin, alphasort);
    if (n < 0) {
        return writ_trusted_fail(err, errno, path, "cannot be read");
    }
    folder->list = writ_alloc(((size_t)n + 1) * sizeof(struct plugin *));
    for (int at = 0; at < n; at++) {
        if (folder->list != NULL) {
            try_to_add(&loading, entries[at]->d_name);
        }
        free(entries[at]);
    }
    free(entries);
    if (folder->list == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    *ret = WRIT_TAKE(folder);
    return WRIT_DONE;
}
