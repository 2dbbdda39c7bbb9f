/* trust.h - the trusted keys of a verification, from files that its user names. */
#ifndef WRIT_CLI_TRUST_H
#define WRIT_CLI_TRUST_H

#include "cli/base/cli.h"
#include "evidence/log/note.h"

#define WRIT_TRUST_KEYS_MAX 64

/** Keys. Zeroed: none, which trusts nothing. */
struct writ_trust {
    struct writ_note_key *keys[WRIT_TRUST_KEYS_MAX];
    size_t n;
    size_t unknown; /* names with keys of unknown types only */
};

/** Reads vkeys, one a line; skips empty lines, lines that begin with #, and keys of an unknown
 * type. A file without any key is refused. WRIT_E_INVALID with the number of the line; WRIT_E_LIMIT
 * for more than WRIT_TRUST_KEYS_MAX; as writ_cli_read. */
WRIT_RESULT writ_trust_read(const char *path, struct writ_trust *ret, struct writ_err *err);

/** As writ_trust_read, for witnesses: WRIT_E_INVALID for a key of another type than
 * WRIT_NOTE_COSIGNATURE too. */
WRIT_RESULT writ_trust_read_witnesses(
    const char *path, struct writ_trust *ret, struct writ_err *err);

/** Frees them. */
void writ_trust_wipe(struct writ_trust *trust);

#endif
