/* secret.h - secrets outside the configuration: in a file of their own, or in an environment
 * variable. Errors name the place, never its content. */
#ifndef WRIT_BASE_SECRET_H
#define WRIT_BASE_SECRET_H

#include "base/bytes.h"

#define WRIT_SECRET_MAX ((size_t)16384) /* longest secret */

/**
 * Reads a file that only its owner, and perhaps the owner's group, can read: the checked file is
 * the one that is read. Follows a symbolic link, because secrets are often mounted so. A final line
 * end is not part of a text; a PEM file does not need it.
 *
 * @param ret  the secret is appended; wipe it with writ_buf_wipe_secret
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   no such file
 *         WRIT_E_INVALID  not a regular file; owned by neither the user of the process nor root;
 *                         others can read it, or others or its group can write it; it is empty
 *         WRIT_E_LIMIT    it is longer than WRIT_SECRET_MAX, or than `ret` may become
 *         WRIT_E_IO, WRIT_E_NOMEM
 *
 * Blocks for the disk.
 */
WRIT_RESULT writ_secret_file(const char *path, struct writ_buf *ret, struct writ_err *err);

/** As writ_secret_file, from an environment variable of Writ: WRIT_E_ABSENT when it is not set,
 * WRIT_E_INVALID when it is empty. Call it while no thread changes the environment. */
WRIT_RESULT writ_secret_variable(const char *name, struct writ_buf *ret, struct writ_err *err);

#endif
