/* definitions.h - stored definitions of tools: those that an operator accepted, and those that a
 * gateway saw last.
 *
 * Both are files beside the ledger, <ledger>.accepted.json and <ledger>.seen.json, readable only by
 * the user of the gateway and trusted as keys are (trusted.h):
 *     {"signature":"<JWS>",
 *      "tools":{"fs/read_file":{"at":"<time>","definition":{...},"digest":"sha256:..."},...},
 *      "version":2}
 * A key of the ledger signs the digest of all names, times and digests; the typ of the JWS says
 * which of the two files it is. A wrong digest, a signature by a key that is not the ledger's or
 * was revoked, another version and any other doubt refuse the whole file (the file of seen
 * definitions counts as absent when a revoked key signed it: the gateway makes it again). An older
 * file that was put back has a valid signature: the ledger protects against that
 * (gateway/state/accepted.h).
 */
#ifndef WRIT_STORE_DEFINITIONS_H
#define WRIT_STORE_DEFINITIONS_H

#include "evidence/jose/keyring.h"
#include "evidence/json/digest.h"

#define WRIT_DEFINITIONS_MAX       16384              /* tools in one file */
#define WRIT_DEFINITIONS_BYTES_MAX ((size_t)64 << 20) /* of one file */
#define WRIT_DEFINITION_BYTES_MAX                                                                  \
    ((size_t)4 << 20) /* of one definition in lossless form (jcs.h)                                \
                       */

enum writ_definitions_kind {
    WRIT_DEFINITIONS_SEEN = 0,
    WRIT_DEFINITIONS_ACCEPTED,
};

struct writ_definition {
    struct writ_view name; /* "upstream/tool" */
    struct writ_digest digest;
    struct writ_view text; /* the definition in that form; empty: unknown */
    struct writ_view at;   /* RFC 3339: when it was accepted, or seen first */
};

/** Definitions by name. Immutable once it is shared. */
struct writ_definitions {
    struct writ_arena *arena; /* owns all texts */
    struct writ_definition *items;
    size_t n, cap; /* in the order of names */
};

/** An empty list; free with writ_definitions_free. WRIT_E_NOMEM. */
WRIT_RESULT writ_definitions_new(struct writ_definitions **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_definitions_free(struct writ_definitions *definitions);

/**
 * Adds one, or replaces another of that name. Everything is copied.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  WRIT_DEFINITIONS_MAX
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_definitions_put(struct writ_definitions *definitions,
    const struct writ_definition *definition, struct writ_err *err);

/** The definition of that name, or NULL. NULL has none. */
const struct writ_definition *writ_definitions_find(
    const struct writ_definitions *definitions, struct writ_view name);

/**
 * Reads the file beside a ledger. Blocks.
 *
 * @param store  path of the ledger, NUL-terminated
 * @param keys   with the keys of the ledger
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    no such file; for seen definitions also: a revoked key signed it
 *         WRIT_E_INVALID   the file or its directory is not trusted, or has another form
 *         WRIT_E_MISMATCH  a digest is not its definition's, or no key of the ledger signed it
 *         WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_IO, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_definitions_load(const char *store, enum writ_definitions_kind kind,
    const struct writ_keyring *keys, struct writ_definitions **ret, struct writ_err *err);

/** The file at the last check. Zero: absent. */
struct writ_definitions_mark {
    uint64_t inode;
    int64_t size, changed_s, changed_ns;
};

/** Whether the file beside a ledger changed since the last check, which `mark` keeps. A file that
 * cannot be examined counts as absent. Blocks. */
bool writ_definitions_changed(
    const char *store, enum writ_definitions_kind kind, struct writ_definitions_mark *mark);

/** Signs the definitions whose texts are known, and replaces the file atomically and durably.
 * Blocks. WRIT_E_INVALID, WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_IO, WRIT_E_CRYPTO; WRIT_E_ABSENT
 * without a signer. */
WRIT_RESULT writ_definitions_save(const char *store, enum writ_definitions_kind kind,
    const struct writ_definitions *definitions, const struct writ_signer *signer,
    struct writ_err *err);

#endif
