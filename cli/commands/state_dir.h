/* state_dir.h - small notes in a folder, between two runs of a command: a file for each. */
#ifndef WRIT_CLI_STATE_DIR_H
#define WRIT_CLI_STATE_DIR_H

#include "evidence/json/digest.h"

#define WRIT_STATE_DIR_NAME 65    /* of a note, with its NUL */
#define WRIT_STATE_DIR_MAX  65536 /* bytes of a note */

/** The name of a note, from a digest. */
void writ_state_dir_name(const struct writ_digest *digest, char ret[WRIT_STATE_DIR_NAME]);

/**
 * Writes a note, mode 0600; replaces one of the same name.
 *
 * @param folder  created with mode 0700 if absent; its parent must exist
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  the folder belongs to another user, or others can write to it
 *         WRIT_E_LIMIT    longer than WRIT_STATE_DIR_MAX
 *         WRIT_E_IO
 */
WRIT_RESULT writ_state_dir_put(
    const char *folder, const char *name, struct writ_view text, struct writ_err *err);

/** Reads a note and removes it, so that it is taken once. WRIT_E_ABSENT, WRIT_E_LIMIT, WRIT_E_IO.
 */
WRIT_RESULT writ_state_dir_take(
    const char *folder, const char *name, struct writ_buf *ret, struct writ_err *err);

#endif
