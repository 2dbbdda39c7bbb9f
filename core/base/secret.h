/* secret.h - secrets that stand outside the configuration: in a file of their own, or in an
 * environment variable. Errors name the place, never what is there. */
#ifndef WRIT_BASE_SECRET_H
#define WRIT_BASE_SECRET_H

#include "base/bytes.h"

#define WRIT_SECRET_MAX ((size_t)16384) /* longest secret */

/**
 * Reads a file that only its owner, and perhaps his group, can read: what is checked is what is
 * read. A symbolic link is followed (secrets are mounted so). A line end at the end is no part of
 * a text; of a PEM file it does no harm.
 *
 * @param ret  the secret is appended; wipe it with writ_buf_wipe_secret
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   there is no such file
 *         WRIT_E_INVALID  it is no regular file; it belongs neither to us nor to root; others can
 *                         read it, or others or its group can write it; it is empty
 *         WRIT_E_LIMIT    it is longer than WRIT_SECRET_MAX, or than `ret` may become
 *         WRIT_E_IO, WRIT_E_NOMEM
 *
 * Blocks for the disk.
 */
WRIT_RESULT writ_secret_file(const char *path, struct writ_buf *ret, struct writ_err *err);

/** The same from an environment variable of ours: WRIT_E_ABSENT when it is not set,
 * WRIT_E_INVALID when it is empty. While no thread changes the environment. */
WRIT_RESULT writ_secret_variable(const char *name, struct writ_buf *ret, struct writ_err *err);

#endif
