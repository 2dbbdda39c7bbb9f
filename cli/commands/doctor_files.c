/* The files and folders that a configuration names: they are there, and no other user reads a
 * secret or changes what is trusted. The key directory and the ledger have areas of their own. */
#include "base/folder.h"
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "gateway/service/anchor.h"
#include "policy/model/rule.h"
#include "policy/read/include.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET         (S_IRWXO | S_IWGRP) /* a group may have been given to read it */
#define TRUST          (S_IWGRP | S_IWOTH) /* changes by others are not accepted */
#define PATH_MAX_BYTES WRIT_TEXT_PATH_MAX

/* One file; an empty path is none. `place` is where the configuration names it. */
static void
look_at(struct writ_doctor *d, struct writ_doctor_place place, struct writ_view path, mode_t forbid)
{
    struct stat status;

    if (path.len == 0) {
        return;
    }
    if (stat(path.ptr, &status) != 0 || access(path.ptr, R_OK) != 0) {
        writ_doctor_add(d, WRIT_DOCTOR_FILE_MISSING, place, WRIT_VIEW_FMT ": %s",
            WRIT_VIEW_ARG(path), strerrordesc_np(errno));
        return;
    }
    if ((status.st_mode & forbid) != 0) {
        writ_doctor_add(d, WRIT_DOCTOR_FILE_OPEN, writ_doctor_path(path),
            "mode %04o lets other users %s", (unsigned)(status.st_mode & 07777),
            (status.st_mode & forbid & (S_IWGRP | S_IWOTH)) != 0 ? "change it" : "read it");
    }
}

static void
look_at_tls(struct writ_doctor *d, const struct writ_tls_config *tls, bool admin)
{
    look_at(d, writ_doctor_option(d, admin ? "/admin_tls/cert" : "/tls/cert"), tls->cert, TRUST);
    look_at(d, writ_doctor_option(d, admin ? "/admin_tls/key" : "/tls/key"), tls->key, SECRET);
    look_at(d, writ_doctor_option(d, admin ? "/admin_tls/client_ca" : "/tls/client_ca"),
        tls->client_ca, TRUST);
}

static void
look_at_upstream(struct writ_doctor *d, const struct writ_upstream_config *upstream)
{
    struct writ_doctor_place place = writ_doctor_node(d, upstream->node);

    look_at(d, place, upstream->ca, TRUST);
    look_at(d, place, upstream->directory, 0);
    if (upstream->authorization != NULL) {
        look_at(d, place, upstream->authorization->file, SECRET);
        look_at(d, place, upstream->authorization->key, SECRET);
    }
}

/* Rules may stand in every included file, and a user who can write to the folder can replace them
 * and add more. */
static WRIT_RESULT
look_at_included(struct writ_doctor *d, struct writ_err *err)
{
    struct writ_doctor_place place = writ_doctor_option(d, "/include");
    struct writ_view folder = d->config->include, *names = NULL;
    size_t n = 0;
    writ_result result;

    if (folder.len == 0) {
        return WRIT_DONE;
    }
    look_at(d, place, folder, TRUST);
    result = writ_folder_names(
        folder.ptr, WRIT_INCLUDE_SUFFIX, WRIT_INCLUDE_FILES_MAX, d->arena, &names, &n, err);
    if (!writ_is_ok(result)) {
        return result.code == WRIT_E_NOMEM ? result : WRIT_DONE; /* gone since it was read */
    }
    for (size_t i = 0; i < n; i++) {
        struct writ_buf path = writ_buf_in(d->arena, folder.len + names[i].len + 2);

        writ_buf_fmt(&path, "%s/%s", folder.ptr, names[i].ptr);
        writ_buf_byte(&path, '\0');
        WRIT_TRY(writ_buf_check(&path, err));
        look_at(d, place, writ_view(path.ptr, path.len - 1), TRUST);
    }
    return WRIT_DONE;
}

/* The folder of a file that the gateway makes or replaces. */
static void
look_at_folder(struct writ_doctor *d, struct writ_doctor_place place, struct writ_view path)
{
    struct writ_buf folder = writ_buf_in(d->arena, PATH_MAX_BYTES);

    if (path.len == 0 || !writ_is_ok(writ_text_folder(path.ptr, &folder, NULL))) {
        return;
    }
    writ_buf_byte(&folder, '\0');
    if (access(folder.ptr, F_OK) != 0) {
        writ_doctor_add(
            d, WRIT_DOCTOR_FILE_MISSING, place, "%s: %s", folder.ptr, strerrordesc_np(errno));
    } else if (access(folder.ptr, W_OK | X_OK) != 0) {
        writ_doctor_add(
            d, WRIT_DOCTOR_FOLDER_READ_ONLY, place, "%s: %s", folder.ptr, strerrordesc_np(errno));
    }
}

static void
look_at_ledger_files(struct writ_doctor *d)
{
    const struct writ_config *config = d->config;

    look_at(d, writ_doctor_option(d, "/ledger/pinned"), config->ledger.pinned, TRUST);
    look_at_folder(d, writ_doctor_option(d, "/store"), config->store);
    look_at_folder(d, writ_doctor_option(d, "/ledger/remember"), config->ledger.remember);
    for (size_t i = 0; i < config->ledger.anchors_n; i++) {
        const struct writ_anchor_config *anchor = &config->ledger.anchors[i];

        look_at(d, writ_doctor_option(d, "/ledger/anchors"), anchor->ca, TRUST);
        if (!writ_anchor_is_url(anchor->to)) {
            look_at_folder(d, writ_doctor_option(d, "/ledger/anchors"), anchor->to);
        }
    }
}

WRIT_RESULT
writ_doctor_files(struct writ_doctor *d, struct writ_err *err)
{
    const struct writ_config *config = d->config;

    WRIT_TRY(look_at_included(d, err));
    look_at(d, writ_doctor_path(writ_view_str(d->file)), writ_view_str(d->file), TRUST);
    look_at_tls(d, &config->tls, false);
    look_at_tls(d, &config->admin_tls, true);
    for (size_t i = 0; i < config->upstreams_n; i++) {
        look_at_upstream(d, &config->upstreams[i]);
    }
    for (size_t i = 0; i < config->reviewers_n; i++) {
        look_at(d, writ_doctor_option(d, "/reviewers"), config->reviewers[i].secret, SECRET);
        look_at(d, writ_doctor_option(d, "/reviewers"), config->reviewers[i].ca, TRUST);
    }
    look_at_ledger_files(d);
    return WRIT_DONE;
}
