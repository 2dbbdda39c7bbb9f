/* bearer.h - bearer tokens: a new one, and that of a command's requests to a running gateway. */
#ifndef WRIT_CLI_BEARER_H
#define WRIT_CLI_BEARER_H

#include "evidence/json/digest.h"

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

#define WRIT_BEARER_MAKE_MAX 64 /* bytes of a new token */

/** Makes a static token of 256 random bits. `token` is a secret: wipe it. The digest is what a
 * configuration has of it. WRIT_E_CRYPTO, WRIT_E_NOMEM. */
WRIT_RESULT writ_bearer_make(
    struct writ_buf *token, struct writ_digest *digest, struct writ_err *err);

#endif
