/* bearer.h - the bearer token of a command's requests to a running gateway. */
#ifndef WRIT_CLI_BEARER_H
#define WRIT_CLI_BEARER_H

#include "base/bytes.h"

#define WRIT_BEARER_MAX       8192 /* bytes of a token's file */
#define WRIT_BEARER_FIELD_MAX (WRIT_BEARER_MAX + 64)

/**
 * Reads the file of a token (- for standard input), without the line ends after it.
 *
 * @param ret  a buffer for WRIT_BEARER_FIELD_MAX bytes: the whole field, "Authorization: Bearer
 *             ...", NUL-terminated; a secret: wipe it. Untouched on failure
 *
 * @return WRIT_OK, WRIT_E_INVALID (not a token), as writ_cli_read
 */
WRIT_RESULT writ_bearer_read(const char *path, struct writ_buf *ret, struct writ_err *err);

#endif
