/* The parts of a crew from files (gateway/crews/roster.h), and its log. */
#include "cli/crew/crew_files.h"

#include "base/text.h"
#include "cli/base/cli.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define PATH_BYTES_MAX 4096

/* ---- folders */

static int
is_json(const struct dirent *entry)
{
    return writ_view_has_suffix(writ_view_str(entry->d_name), WRIT_LIT(".json"));
}

static WRIT_RESULT
hand_file(
    const char *folder, const char *name, writ_crew_files_fn *fn, void *user, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(PATH_BYTES_MAX);
    struct writ_view whole = writ_view_str(name);

    writ_buf_str(&path, folder);
    writ_buf_byte(&path, '/');
    writ_buf_put(&path, whole);
    writ_buf_byte(&path, '\0');
    WRIT_TRY(writ_buf_check(&path, err));
    return fn(user, path.ptr, writ_view_sub(whole, 0, whole.len - 5), err);
}

WRIT_RESULT
writ_crew_files_folder(
    const char *folder, writ_crew_files_fn *fn, void *user, size_t *ret_n, struct writ_err *err)
{
    struct dirent **entries = NULL;
    writ_result result = WRIT_DONE;
    int n = scandir(folder, &entries, is_json, alphasort);

    if (n < 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "%s: the folder cannot be read", folder);
    }
    for (int at = 0; at < n; at++) {
        if (writ_is_ok(result)) {
            result = hand_file(folder, entries[at]->d_name, fn, user, err);
        }
        free(entries[at]);
    }
    free(entries);
    if (writ_is_ok(result) && ret_n != NULL) {
        *ret_n = (size_t)n;
    }
    return result;
}

/* ---- engines */

static void
warn_engine(void *user, const char *text)
{
    (void)user;
    (void)fprintf(stderr, "writ: warning: %s\n", text);
}

WRIT_RESULT
writ_crew_files_engines(
    const struct writ_cli *cli, struct writ_crew_files_engines *ret, struct writ_err *err)
{
    struct writ_view folder = writ_cli_get(cli, "engines");
    struct writ_view limit = writ_cli_get(cli, "engine-seconds");
    uint64_t seconds = WRIT_ENGINE_SECONDS;

    if (limit.ptr != NULL &&
        !writ_is_ok(writ_text_u64(limit, 1, WRIT_ENGINE_SECONDS_MAX, &seconds))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--engine-seconds: not a number from 1 to %d",
            WRIT_ENGINE_SECONDS_MAX);
    }
    ret->engines = writ_crew_engines_new();
    if (ret->engines == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    return folder.ptr == NULL
               ? WRIT_DONE
               : writ_engine_folder_load(folder.ptr, (unsigned)seconds, ret->engines,
                     (struct writ_engine_folder_warn){warn_engine, NULL}, &ret->folder, err);
}

void
writ_crew_files_engines_wipe(struct writ_crew_files_engines *engines)
{
    writ_crew_engines_free(engines->engines);
    writ_engine_folder_free(engines->folder);
}

/* ---- texts */

static WRIT_RESULT
nest_file(void *user, const char *path, struct writ_view stem, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_ROSTER_TEXT_MAX);

    WRIT_TRY(writ_cli_read(path, WRIT_ROSTER_TEXT_MAX, &text, err));
    return writ_roster_nest(user, stem, path, writ_buf_view(&text), err);
}

WRIT_RESULT
writ_crew_files_read(struct writ_roster *roster, struct writ_view registry, const char *shape,
    const char *agents, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_ROSTER_TEXT_MAX);

    if (registry.ptr != NULL) {
        WRIT_TRY(writ_crew_files_folder(registry.ptr, nest_file, roster, NULL, err));
    }
    WRIT_TRY(writ_cli_read(shape, WRIT_ROSTER_TEXT_MAX, &text, err));
    WRIT_TRY(writ_roster_shape(roster, shape, writ_buf_view(&text), err));
    if (agents == NULL) {
        return writ_roster_agents(roster, "agents", writ_view(NULL, 0), err);
    }
    writ_buf_clear(&text);
    WRIT_TRY(writ_cli_read(agents, WRIT_ROSTER_TEXT_MAX, &text, err));
    return writ_roster_agents(roster, agents, text.len > 0 ? writ_buf_view(&text) : WRIT_LIT(""),
        err); /* an empty file is still a file */
}

/* ---- warnings */

static WRIT_RESULT
warn_shape(const struct writ_crew_shape *shape, struct writ_err *err)
{
    struct writ_crew_findings *found = writ_crew_findings_new();
    writ_result judged = {WRIT_E_NOMEM};

    if (found != NULL) {
        judged = writ_crew_shape_doubts(shape, found);
    }
    for (size_t at = 0; writ_is_ok(judged) && at < writ_crew_findings_count(found); at++) {
        writ_auto_buf line = writ_buf_make(WRIT_ROSTER_TEXT_MAX);
        struct writ_view path = writ_crew_findings_at(found, at)->path;
        writ_text_safe(&line, path, path.len);
        (void)fprintf(stderr, "writ: warning: " WRIT_VIEW_FMT " has no effect\n",
            WRIT_VIEW_ARG(writ_buf_view(&line)));
    }
    writ_crew_findings_free(found);
    return writ_is_ok(judged) ? judged : writ_fail(err, judged.code, "no memory");
}

WRIT_RESULT
writ_crew_files_warn(const struct writ_roster *roster, struct writ_err *err)
{
    WRIT_TRY(warn_shape(roster->shape, err));
    for (size_t at = 0; at < roster->nested_n; at++) {
        WRIT_TRY(warn_shape(roster->nested[at].shape, err));
    }
    return WRIT_DONE;
}

/* ---- logs */

WRIT_RESULT
writ_crew_files_rerun(struct writ_rerun *rerun, const char *path, struct writ_err *err)
{
    writ_auto_buf log = writ_buf_make(WRIT_RERUN_LOG_MAX + 65536);
    struct writ_err below = {0};
    writ_result computed;

    WRIT_TRY(writ_cli_read(path, WRIT_RERUN_LOG_MAX, &log, err));
    computed = writ_rerun_take(rerun, &log, &below);
    return writ_is_ok(computed) ? computed
                                : writ_fail(err, computed.code, "%s: %s", path, below.text);
}
