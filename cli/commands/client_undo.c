/* client_undo.c - the file of before is put back when the file is as Writ wrote it, else Writ's
 * entries alone, and the backup stays. The record goes after that: the next run ends an undo that
 * was cut short. */
#include "cli/commands/client_undo.h"

#include "cli/commands/client_record.h"
#include "gateway/discover/client_entry.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <unistd.h>

static WRIT_RESULT
remove_file(const struct writ_client_place *place, const char *name, struct writ_err *err)
{
    if (name[0] != '\0' && unlinkat(place->folder, name, 0) != 0 && errno != ENOENT) {
        return writ_trusted_fail(err, errno, name, "cannot be removed");
    }
    return WRIT_DONE;
}

/* The record goes first: without it the backup is only a file, which stays when it has bytes that
 * the file has not. */
static WRIT_RESULT
forget(struct writ_client_place *place, bool with_backup, struct writ_err *err)
{
    struct writ_view name;

    WRIT_TRY(writ_client_place_record(place, &name, err));
    WRIT_TRY(remove_file(place, name.ptr, err));
    WRIT_TRY(writ_trusted_sync(place->folder, err));
    if (with_backup) {
        WRIT_TRY(remove_file(place, place->record->backup.ptr, err));
    }
    return writ_trusted_sync(place->folder, err);
}

/* What the file was, or nothing. */
static WRIT_RESULT
read_before(const struct writ_client_place *place, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_client_record *record = place->record;

    if (!record->before) {
        return WRIT_DONE;
    }
    return writ_fail_in(err,
        writ_trusted_read(place->folder, record->backup.ptr, WRIT_TRUSTED_PRIVATE, ret, err),
        record->backup.ptr);
}

static WRIT_RESULT
put_back_file(struct writ_client_place *place, struct writ_view before,
    struct writ_client_undone *ret, struct writ_err *err)
{
    if (place->record->before) {
        WRIT_TRY(writ_trusted_write(place->folder, place->name, place->record->mode, before, err));
    } else {
        WRIT_TRY(remove_file(place, place->name, err));
    }
    WRIT_TRY(writ_trusted_sync(place->folder, err));
    ret->what = place->record->before ? WRIT_CLIENT_UNDO_FILE : WRIT_CLIENT_UNDO_REMOVED;
    ret->entries = place->record->n;
    return forget(place, true, err);
}

/* Each entry that is as it was written leads where it led before; others are left. */
static WRIT_RESULT
put_back_entries(struct writ_client_place *place, struct writ_view before, struct writ_buf *changed,
    struct writ_client_undone *ret, struct writ_err *err)
{
    const struct writ_client_record *record = place->record;
    struct writ_view *left = writ_arena_get(place->arena, record->n * sizeof *left);

    if (left == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for names");
    }
    ret->left.items = left;
    for (size_t i = 0; i < record->n; i++) {
        struct writ_view name = record->entries[i].name;

        if (writ_client_place_is_ours(place, &record->list, name)) {
            WRIT_TRY(writ_client_entry_restore(changed, before, &record->list, name, err));
            ret->entries++;
        } else if (writ_client_entry_find(place->root, &record->list, name) != NULL) {
            left[ret->left.n++] = name;
        }
    }
    return WRIT_DONE;
}

/* An object that was made for the entries goes when it is empty. */
static WRIT_RESULT
remove_list(struct writ_client_place *place, struct writ_view before, struct writ_buf *changed,
    struct writ_err *err)
{
    const struct writ_client_path *list = &place->record->list;
    struct writ_view was = {NULL, 0};
    const struct writ_json *root;

    WRIT_TRY(writ_client_text_get(before, list, &was, err));
    WRIT_TRY(writ_client_text_read(writ_buf_view(changed), place->arena, &root, err));
    for (size_t i = 0; i < list->n; i++) {
        root = writ_json_get(root, list->names[i]);
    }
    return was.ptr == NULL && root != NULL && writ_json_first(root) == NULL
               ? writ_client_text_remove(changed, list, err)
               : WRIT_DONE;
}

static WRIT_RESULT
undo(struct writ_client_place *place, struct writ_buf *before, struct writ_buf *changed,
    struct writ_client_undone *ret, struct writ_err *err)
{
    struct writ_client_record *record = place->record;
    struct writ_digest now;

    WRIT_TRY(read_before(place, before, err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&place->text), &now, err));
    if (place->there == record->before &&
        writ_view_equal(writ_buf_view(before), writ_buf_view(&place->text))) {
        return forget(place, true, err); /* a write that was cut short */
    }
    if (!place->there) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "%s: does not exist any more; its bytes of before are in %s",
            place->path.ptr, record->backup.ptr);
    }
    WRIT_TRY(writ_client_place_unchanged(place, err));
    if (writ_client_record_has(&record->files, &now)) {
        return put_back_file(place, writ_buf_view(before), ret, err);
    }
    writ_buf_put(changed, writ_buf_view(&place->text));
    WRIT_TRY(writ_buf_check(changed, err));
    WRIT_TRY(put_back_entries(place, writ_buf_view(before), changed, ret, err));
    if (ret->entries > 0) {
        WRIT_TRY(remove_list(place, writ_buf_view(before), changed, err));
        WRIT_TRY(writ_trusted_write(place->folder, place->name,
            ret->left.n == 0 && record->before ? record->mode : WRIT_TRUSTED_OURS,
            writ_buf_view(changed), err));
        WRIT_TRY(writ_trusted_sync(place->folder, err));
    }
    ret->what = WRIT_CLIENT_UNDO_ENTRIES;
    ret->backup = record->backup;
    return ret->left.n > 0 ? WRIT_DONE : forget(place, false, err);
}

WRIT_RESULT
writ_client_undo_run(
    struct writ_client_place *place, struct writ_client_undone *ret, struct writ_err *err)
{
    struct writ_buf before = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    struct writ_buf changed = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    writ_result result = WRIT_DONE;

    *ret = (struct writ_client_undone){.what = WRIT_CLIENT_UNDO_NOTHING};
    if (place->record != NULL) {
        result = undo(place, &before, &changed, ret, err);
    }
    writ_buf_wipe_secret(&before);
    writ_buf_wipe_secret(&changed);
    return result;
}
