/* trust.h - the keys that a verification trusts, out of files that its user names. */
#ifndef WRIT_CLI_TRUST_H
#define WRIT_CLI_TRUST_H

#include "cli/base/cli.h"
#include "evidence/log/note.h"

#define WRIT_TRUST_KEYS_MAX 64

/** Keys. Zeroed: none, which trusts nothing. */
struct writ_trust {
    struct writ_note_key *keys[WRIT_TRUST_KEYS_MAX];
    size_t n;
    size_t unknown; /* names of which there are only keys of types that are not known */
};

/** Reads vkeys, one a line; empty lines, and those that begin with #, are left out, and so are keys
 * of a type that is not known. A file without any is refused. WRIT_E_INVALID with the number of the
 * line; WRIT_E_LIMIT for more than WRIT_TRUST_KEYS_MAX; as writ_cli_read. */
WRIT_RESULT writ_trust_read(const char *path, struct writ_trust *ret, struct writ_err *err);

/** As writ_trust_read, of witnesses: WRIT_E_INVALID for a key of another type than
 * WRIT_NOTE_COSIGNATURE too. */
WRIT_RESULT writ_trust_read_witnesses(
    const char *path, struct writ_trust *ret, struct writ_err *err);

/** Frees them. */
void writ_trust_wipe(struct writ_trust *trust);

#endif
