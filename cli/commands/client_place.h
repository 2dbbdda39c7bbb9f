/* client_place.h - an MCP client's own file on disk: read, written as a whole or not at all, and
 * put back.
 *
 * Beside the file are, for as long as Writ's entries are in it, NAME.writ-backup, the bytes before
 * the first change, and NAME.writ-undo, what was written. All three have mode 0600: they may hold
 * tokens. A link is followed, and the file that it names is written. */
#ifndef WRIT_CLI_CLIENT_PLACE_H
#define WRIT_CLI_CLIENT_PLACE_H

#include "gateway/discover/client.h"
#include "gateway/discover/client_text.h"
#include "policy/model/config.h"

#include <sys/stat.h>

/** An entry to write. */
struct writ_client_place_entry {
    struct writ_view name;  /* the client's own */
    struct writ_view value; /* JSON: the way to the server; may be a secret */
    bool replaces;          /* a server of another origin may have the name */
};

struct writ_client_record;

/** An open file. */
struct writ_client_place {
    struct writ_arena *arena; /* borrowed */
    struct writ_view path;    /* of the file itself, NUL-terminated */
    const char *name;         /* in its folder */
    int folder;               /* locked */
    bool there;
    mode_t mode;
    struct writ_buf text;              /* may be a secret */
    const struct writ_json *root;      /* of `text` */
    struct writ_client_record *record; /* what Writ wrote; NULL: nothing */
};

/** The path of the client's file of the user. WRIT_E_ABSENT: its documentation names none for this
 * system, or HOME is not set; WRIT_E_LIMIT. */
WRIT_RESULT writ_client_place_find(const struct writ_client *client, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err);

/**
 * Opens a file that may not be there yet, and locks its folder.
 *
 * @param make   whether the folder is made, if only it is missing
 * @param arena  borrowed until the close
 * @param ret    written also on failure: close it in any case
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   a folder on the way does not exist
 *         WRIT_E_INVALID  not a regular file, a link to nothing, of another user, in a folder where
 *                         every user can write; not an object
 *         WRIT_E_PARSE, WRIT_E_LIMIT  as writ_client_text_read; err has the path
 *         WRIT_E_IO, WRIT_E_NOMEM
 */
WRIT_RESULT writ_client_place_open(struct writ_view path, bool make, struct writ_arena *arena,
    struct writ_client_place *ret, struct writ_err *err);

void writ_client_place_close(struct writ_client_place *place);

/** Whether Writ wrote this entry, and its way is still as it was written. */
bool writ_client_place_is_ours(const struct writ_client_place *place,
    const struct writ_client_path *list, struct writ_view name);

/** Fails when one of the entries cannot be written: WRIT_E_INVALID, another server has its name, or
 * the servers are not in an object. */
WRIT_RESULT writ_client_place_check(const struct writ_client_place *place,
    const struct writ_client_path *list, const struct writ_client_place_entry *entries, size_t n,
    struct writ_err *err);

/**
 * Writes the entries: the backup, the record, then the file, each as a whole.
 *
 * @param ret_backup  name of the backup, in the arena; empty: the file was not there before
 *
 * @return WRIT_OK also when the file says all of it already
 *         WRIT_E_MISMATCH  the file changed since it was opened: nothing is written
 *         as writ_client_place_check, writ_client_entry_put; WRIT_E_IO
 */
WRIT_RESULT writ_client_place_write(struct writ_client_place *place,
    const struct writ_client_path *list, const struct writ_client_place_entry *entries, size_t n,
    struct writ_view *ret_backup, struct writ_err *err);

/** The name of the record beside the file, in the arena. WRIT_E_LIMIT. */
WRIT_RESULT writ_client_place_record(
    const struct writ_client_place *place, struct writ_view *ret, struct writ_err *err);

/** Fails with WRIT_E_MISMATCH when the file is not as it was opened: the client may have written it
 * since. */
WRIT_RESULT writ_client_place_unchanged(struct writ_client_place *place, struct writ_err *err);

#endif
