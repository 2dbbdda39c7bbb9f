/* client_place.c - (1) Nothing is lost by a kill at any step: the backup is whole before the record
 * names it, the record before the file changes. (2) A backup is never overwritten by other bytes.
 */
#include "cli/commands/client_place.h"

#include "base/text.h"
#include "cli/commands/client_record.h"
#include "gateway/discover/client_entry.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define UNDO        ".writ-undo"
#define BACKUP      ".writ-backup"
#define BACKUPS_MAX 99

/* ---- finding */

/* `folder` and `below`, NUL-terminated. */
static WRIT_RESULT
join(struct writ_view folder, struct writ_view below, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf path = writ_buf_in(arena, PATH_MAX);

    writ_buf_put(&path, folder);
    if (folder.len > 0 && !writ_view_has_suffix(folder, WRIT_LIT("/"))) {
        writ_buf_byte(&path, '/');
    }
    writ_buf_put(&path, below);
    writ_buf_byte(&path, '\0');
    WRIT_TRY(writ_buf_check(&path, err));
    *ret = writ_view(path.ptr, path.len - 1);
    return WRIT_DONE;
}

WRIT_RESULT
writ_client_place_find(const struct writ_client *client, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_view user = writ_view_str(client->user), config = WRIT_LIT("~/.config/");
    struct writ_view folder = writ_view_str(getenv("XDG_CONFIG_HOME"));
    size_t cut = config.len;

    if (user.len == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "the documentation of %s names no file on Linux (on macOS %s): pass --file",
            client->title, client->macos);
    }
    if (!writ_view_has_prefix(user, config) || !writ_view_has_prefix(folder, WRIT_LIT("/"))) {
        folder = writ_view_str(getenv("HOME"));
        cut = 2; /* ~/ */
    }
    if (!writ_view_has_prefix(folder, WRIT_LIT("/"))) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "HOME does not name a folder: pass --file");
    }
    return join(folder, writ_view_sub(user, cut, user.len), arena, ret, err);
}

/* ---- opening */

/* The folder of a file that is not there. */
static WRIT_RESULT
find_folder(struct writ_view path, bool make, char real[PATH_MAX], struct writ_err *err)
{
    writ_auto_buf folder = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct stat about;

    if (lstat(path.ptr, &about) == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: is a link to a file that does not exist", path.ptr);
    }
    WRIT_TRY(writ_text_folder(path.ptr, &folder, err));
    writ_buf_byte(&folder, '\0');
    WRIT_TRY(writ_buf_check(&folder, err));
    if (make && mkdir(folder.ptr, S_IRWXU) != 0 && errno != EEXIST) {
        return writ_trusted_fail(err, errno, folder.ptr, "cannot be made");
    }
    if (realpath(folder.ptr, real) == NULL) {
        return writ_trusted_fail(err, errno, folder.ptr, "cannot be opened");
    }
    return WRIT_DONE;
}

/* The path without links. */
static WRIT_RESULT
resolve(struct writ_client_place *place, struct writ_view path, bool make, struct writ_err *err)
{
    char real[PATH_MAX];
    size_t slash = path.len;

    if (realpath(path.ptr, real) != NULL) {
        place->path = writ_view_copy(writ_view_str(real), place->arena);
        place->there = true;
    } else if (errno == ENOENT) {
        WRIT_TRY(find_folder(path, make, real, err));
        while (slash > 0 && path.ptr[slash - 1] != '/') {
            slash--;
        }
        WRIT_TRY(join(writ_view_str(real), writ_view_sub(path, slash, path.len), place->arena,
            &place->path, err));
    } else {
        return writ_trusted_fail(err, errno, path.ptr, "cannot be opened");
    }
    if (place->path.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a path");
    }
    return WRIT_DONE;
}

/* A folder in which everybody may rename files is refused, unless it is sticky. */
static WRIT_RESULT
open_folder(struct writ_client_place *place, struct writ_err *err)
{
    size_t slash = place->path.len;
    struct writ_view folder;
    struct stat about;

    while (place->path.ptr[slash - 1] != '/') {
        slash--;
    }
    place->name = place->path.ptr + slash;
    WRIT_TRY(join(writ_view_sub(place->path, 0, slash), WRIT_LIT(""), place->arena, &folder, err));
    place->folder = open(folder.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place->folder < 0 || fstat(place->folder, &about) != 0) {
        return writ_trusted_fail(err, errno, folder.ptr, "cannot be opened");
    }
    if ((about.st_uid != geteuid() && about.st_uid != 0) ||
        ((about.st_mode & S_IWOTH) != 0 && (about.st_mode & S_ISVTX) == 0)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: belongs to another user, or every user can write there: a token is not safe in it",
            folder.ptr);
    }
    if (flock(place->folder, LOCK_EX) != 0) {
        return writ_trusted_fail(err, errno, folder.ptr, "cannot be locked");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_file(struct writ_client_place *place, struct writ_buf *ret, struct writ_err *err)
{
    struct stat about;

    if (fstatat(place->folder, place->name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return writ_trusted_fail(err, errno, place->path.ptr, "cannot be inspected");
    }
    if (about.st_uid != geteuid()) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: belongs to another user", place->path.ptr);
    }
    place->mode = about.st_mode & 0777;
    return writ_fail_in(
        err, writ_trusted_read(place->folder, place->name, 0, ret, err), place->path.ptr);
}

/* The name with something behind it. */
static WRIT_RESULT
name_beside(const struct writ_client_place *place, const char *suffix, int number,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf name = writ_buf_in(place->arena, WRIT_TRUSTED_NAME_MAX);

    writ_buf_str(&name, place->name);
    writ_buf_str(&name, suffix);
    if (number > 1) {
        writ_buf_fmt(&name, "-%d", number);
    }
    writ_buf_byte(&name, '\0');
    WRIT_TRY(writ_buf_check(&name, err));
    *ret = writ_view(name.ptr, name.len - 1);
    return WRIT_DONE;
}

static WRIT_RESULT
read_record(struct writ_client_place *place, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_RECORD_MAX);
    struct writ_view name;
    writ_result result;

    WRIT_TRY(name_beside(place, UNDO, 0, &name, err));
    result = writ_trusted_read(place->folder, name.ptr, WRIT_TRUSTED_PRIVATE, &text, err);
    if (result.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    if (writ_is_ok(result)) {
        result = writ_client_record_read(writ_buf_view(&text), place->arena, &place->record, err);
    }
    return writ_fail_in(err, result, name.ptr);
}

WRIT_RESULT
writ_client_place_record(
    const struct writ_client_place *place, struct writ_view *ret, struct writ_err *err)
{
    return name_beside(place, UNDO, 0, ret, err);
}

WRIT_RESULT
writ_client_place_open(struct writ_view path, bool make, struct writ_arena *arena,
    struct writ_client_place *ret, struct writ_err *err)
{
    *ret = (struct writ_client_place){.arena = arena,
        .folder = -1,
        .mode = WRIT_TRUSTED_OURS,
        .text = writ_buf_make(WRIT_CLIENT_TEXT_MAX)};
    WRIT_TRY(resolve(ret, path, make, err));
    WRIT_TRY(open_folder(ret, err));
    if (ret->there) {
        WRIT_TRY(read_file(ret, &ret->text, err));
    }
    WRIT_TRY(read_record(ret, err));
    return writ_fail_in(err,
        writ_client_text_read(writ_buf_view(&ret->text), arena, &ret->root, err), ret->path.ptr);
}

void
writ_client_place_close(struct writ_client_place *place)
{
    writ_trusted_close(&place->folder);
    writ_buf_wipe_secret(&place->text);
}

/* ---- what is there */

static struct writ_client_written *
find_written(const struct writ_client_record *record, struct writ_view name)
{
    for (size_t i = 0; record != NULL && i < record->n; i++) {
        if (writ_view_equal(record->entries[i].name, name)) {
            return &record->entries[i];
        }
    }
    return NULL;
}

bool
writ_client_place_is_ours(const struct writ_client_place *place,
    const struct writ_client_path *list, struct writ_view name)
{
    const struct writ_client_written *written = find_written(place->record, name);
    const struct writ_json *entry = writ_client_entry_find(place->root, list, name);
    struct writ_digest way;

    return written != NULL && entry != NULL &&
           writ_is_ok(writ_client_entry_digest(entry, &way, NULL)) &&
           writ_client_record_has(&written->ways, &way);
}

/* Every value on the way to the servers is an object, or is not there. */
static WRIT_RESULT
check_list(const struct writ_client_place *place, const struct writ_client_path *list,
    struct writ_err *err)
{
    const struct writ_json *value = place->root;

    for (size_t i = 0; i < list->n; i++) {
        value = writ_json_get(value, list->names[i]);
        if (value != NULL && writ_json_type(value) != WRIT_JSON_OBJECT) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "%s: " WRIT_VIEW_FMT
                " is not an object. Without --apply, `writ init` shows what to "
                "add by hand",
                place->path.ptr, WRIT_VIEW_ARG(list->names[i]));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_client_place_check(const struct writ_client_place *place, const struct writ_client_path *list,
    const struct writ_client_place_entry *entries, size_t n, struct writ_err *err)
{
    WRIT_TRY(check_list(place, list, err));
    for (size_t i = 0; i < n; i++) {
        bool there = writ_client_entry_find(place->root, list, entries[i].name) != NULL;

        if (there && !entries[i].replaces &&
            !writ_client_place_is_ours(place, list, entries[i].name)) {
            writ_auto_buf name = writ_buf_make(4096);

            writ_text_safe(&name, entries[i].name, 80);
            WRIT_FAIL(err, WRIT_E_INVALID,
                "%s: has a server " WRIT_VIEW_FMT
                " that Writ did not write. Remove it or give it another name, or put all servers "
                "behind Writ with --from",
                place->path.ptr, WRIT_VIEW_ARG(writ_buf_view(&name)));
        }
    }
    return WRIT_DONE;
}

/* ---- writing */

WRIT_RESULT
writ_client_place_unchanged(struct writ_client_place *place, struct writ_err *err)
{
    struct writ_buf now = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    struct stat about;
    bool there = fstatat(place->folder, place->name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    writ_result result = there == place->there ? WRIT_DONE : (writ_result){WRIT_E_MISMATCH};

    if (there && writ_is_ok(result)) {
        result = read_file(place, &now, err);
    }
    if (writ_is_ok(result) && !writ_view_equal(writ_buf_view(&now), writ_buf_view(&place->text))) {
        result = (writ_result){WRIT_E_MISMATCH};
    }
    writ_buf_wipe_secret(&now);
    if (result.code == WRIT_E_MISMATCH) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "%s: changed while Writ worked, and is not written. Run the command again",
            place->path.ptr);
    }
    return result;
}

/* keeps (2) */
static WRIT_RESULT
write_backup(const struct writ_client_place *place, struct writ_view *ret, struct writ_err *err)
{
    for (int number = 1; number <= BACKUPS_MAX; number++) {
        struct writ_buf there = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
        writ_result result;
        bool same;

        WRIT_TRY(name_beside(place, BACKUP, number, ret, err));
        result = writ_trusted_read(place->folder, ret->ptr, WRIT_TRUSTED_PRIVATE, &there, NULL);
        same = writ_is_ok(result) &&
               writ_view_equal(writ_buf_view(&there), writ_buf_view(&place->text));
        writ_buf_wipe_secret(&there);
        if (same) {
            return WRIT_DONE;
        }
        if (result.code == WRIT_E_ABSENT) {
            return writ_trusted_write(
                place->folder, ret->ptr, WRIT_TRUSTED_OURS, writ_buf_view(&place->text), err);
        }
    }
    WRIT_FAIL(
        err, WRIT_E_LIMIT, "%s: has %d backups: remove old ones", place->path.ptr, BACKUPS_MAX);
}

static bool
is_same_list(const struct writ_client_path *a, const struct writ_client_path *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++) {
        same = writ_view_equal(a->names[i], b->names[i]);
    }
    return same;
}

/* Of a file that has no record, with room for the entries; else the one that it has. Once others
 * changed the file, the record has none of its digests: an undo then keeps their changes. */
static WRIT_RESULT
begin_record(struct writ_client_place *place, const struct writ_client_path *list, size_t n,
    struct writ_client_record *ret, struct writ_err *err)
{
    const struct writ_client_record *old = place->record;
    struct writ_digest now;

    *ret = (struct writ_client_record){
        .before = place->there, .mode = place->mode, .list = *list, .backup = WRIT_LIT("")};
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&place->text), &now, err));
    ret->entries =
        writ_arena_get(place->arena, ((old != NULL ? old->n : 0) + n) * sizeof *ret->entries);
    if (ret->entries == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the record of a client's file");
    }
    if (old == NULL) {
        writ_client_record_add(&ret->files, &now);
        return place->there ? write_backup(place, &ret->backup, err) : WRIT_DONE;
    }
    if (!is_same_list(&old->list, list)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: Writ wrote into another list of it: run --undo first",
            place->path.ptr);
    }
    *ret = (struct writ_client_record){
        old->before, old->mode, old->backup, old->list, {.n = 0}, ret->entries, old->n};
    if (writ_client_record_has(&old->files, &now)) {
        writ_client_record_add(&ret->files, &now);
    }
    for (size_t i = 0; i < old->n; i++) {
        ret->entries[i] = old->entries[i];
    }
    return WRIT_DONE;
}

static WRIT_RESULT
note_entry(struct writ_client_record *record, const struct writ_json *root, struct writ_view name,
    struct writ_err *err)
{
    struct writ_client_written *written = find_written(record, name);
    struct writ_digest way;

    if (written == NULL) {
        if (record->n == WRIT_CLIENT_RECORD_ENTRIES) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d servers", WRIT_CLIENT_RECORD_ENTRIES);
        }
        written = &record->entries[record->n++];
        *written = (struct writ_client_written){.name = name};
    }
    WRIT_TRY(
        writ_client_entry_digest(writ_client_entry_find(root, &record->list, name), &way, err));
    writ_client_record_add(&written->ways, &way);
    return WRIT_DONE;
}

/* keeps (1): the record is durable before the file has what it says. */
static WRIT_RESULT
write_record(struct writ_client_place *place, struct writ_client_record *record,
    struct writ_view changed, const struct writ_client_place_entry *entries, size_t n,
    struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_CLIENT_RECORD_MAX);
    const struct writ_json *root;
    struct writ_digest digest;
    struct writ_view name;

    WRIT_TRY(writ_client_text_read(changed, place->arena, &root, err));
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(note_entry(record, root, entries[i].name, err));
    }
    WRIT_TRY(writ_digest_bytes(changed, &digest, err));
    if (record->files.n > 0) {
        writ_client_record_add(&record->files, &digest);
    }
    WRIT_TRY(writ_client_record_put(record, &text, err));
    WRIT_TRY(name_beside(place, UNDO, 0, &name, err));
    WRIT_TRY(
        writ_trusted_write(place->folder, name.ptr, WRIT_TRUSTED_OURS, writ_buf_view(&text), err));
    return writ_trusted_sync(place->folder, err);
}

static WRIT_RESULT
write_all(struct writ_client_place *place, const struct writ_client_path *list,
    const struct writ_client_place_entry *entries, size_t n, struct writ_buf *changed,
    struct writ_view *ret_backup, struct writ_err *err)
{
    struct writ_client_record record;

    writ_buf_put(changed, writ_buf_view(&place->text));
    WRIT_TRY(writ_buf_check(changed, err));
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(writ_fail_in(err,
            writ_client_entry_put(changed, list, entries[i].name, entries[i].value, err),
            place->path.ptr));
    }
    WRIT_TRY(writ_client_place_unchanged(place, err));
    WRIT_TRY(begin_record(place, list, n, &record, err));
    WRIT_TRY(write_record(place, &record, writ_buf_view(changed), entries, n, err));
    WRIT_TRY(writ_trusted_write(
        place->folder, place->name, WRIT_TRUSTED_OURS, writ_buf_view(changed), err));
    *ret_backup = record.backup;
    return writ_trusted_sync(place->folder, err);
}

WRIT_RESULT
writ_client_place_write(struct writ_client_place *place, const struct writ_client_path *list,
    const struct writ_client_place_entry *entries, size_t n, struct writ_view *ret_backup,
    struct writ_err *err)
{
    struct writ_buf changed = writ_buf_make(WRIT_CLIENT_TEXT_MAX);
    writ_result result;

    WRIT_TRY(writ_client_place_check(place, list, entries, n, err));
    result = write_all(place, list, entries, n, &changed, ret_backup, err);
    writ_buf_wipe_secret(&changed);
    return result;
}
