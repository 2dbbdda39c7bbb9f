/* content.h - the arguments or the result of one call, encrypted, for records that have only
 * their digests.
 *
 * Each content has a key of its own (evidence/jose/wrap_key.h). The decision_id, the part, the mark
 * of left-out members and the time of its end are authenticated with it: a content that is moved to
 * another record, taken for another part, or given more time, does not open. What opens is then
 * compared with the digest that the signed record has, at every look.
 *
 * The signed digest of arguments is params_hash; of a result it is extensions.writ.output_after
 * where that is present (what the caller got), else tool_output_hash; of the log of a crew that is
 * a reviewer, extensions.writ.crew_log of its vote. A content without the members that are secret
 * has another digest: its record must have it in extensions.writ.contents_kept.
 *
 * Pure; any thread. */
#ifndef WRIT_EVIDENCE_CONTENT_H
#define WRIT_EVIDENCE_CONTENT_H

#include "evidence/jose/keyring.h"
#include "evidence/record/decision.h"
#include "evidence/record/extension.h"
#include "evidence/record/outcome.h"

#define WRIT_CONTENT_MAX WRIT_WRAP_SEALED_MAX /* bytes of one content */

/** These numbers are part of what is authenticated, and are on disk. */
enum writ_content_part {
    WRIT_CONTENT_NONE = 0,
    WRIT_CONTENT_ARGUMENTS = 1, /* canonical; of a decision */
    WRIT_CONTENT_RESULT = 2,    /* canonical; of an outcome */
    WRIT_CONTENT_CREW_LOG = 3,  /* lines of canonical JSON; of a vote */
};

/** A sealed content, as an entry takes it to the ledger and the ledger keeps it. */
struct writ_sealed {
    struct writ_view kid; /* of the key that wrapped its key */
    uint8_t wrapped[WRIT_WRAPPED_BYTES];
    struct writ_view bytes; /* nonce, ciphertext and tag */
    bool redacted;          /* secret members were left out */
    int64_t expires_us;     /* wall time from which it is deleted */
};

/** What is authenticated with a content. */
struct writ_content_of {
    struct writ_view decision_id;
    enum writ_content_part part;
    bool redacted;
    int64_t expires_us;
};

/** "arguments", "result", "crew_log"; "" for NONE. Static storage. */
const char *writ_content_part_name(enum writ_content_part part);

/**
 * Encrypts a content under a new key, and that key under `key`.
 *
 * @param key    the active key of contents (writ_keyring_wrap)
 * @param plain  canonical JSON; borrowed for the call
 * @param ret    views live in the arena and in `key`
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  no decision_id, no part, or the secret of `key` is not known
 *         WRIT_E_LIMIT    longer than WRIT_CONTENT_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_content_seal(const struct writ_wrap_key *key, const struct writ_content_of *of,
    struct writ_view plain, struct writ_arena *arena, struct writ_sealed *ret,
    struct writ_err *err);

/**
 * Decrypts a content. It proves only that the ledger's key was used: compare it with its record
 * before use (writ_content_arguments, writ_content_result).
 *
 * @param ring  finds the key by the kid
 * @param ret   in the arena
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT    the ring has no key of that kid with its secret
 *         WRIT_E_MISMATCH  edited, truncated, of another record, part or key; `redacted` or the
 *                          time changed
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_content_open(const struct writ_keyring *ring, struct writ_view decision_id,
    enum writ_content_part part, const struct writ_sealed *sealed, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err);

/** The signed digest of the arguments that a decision's content must have. Of a redacted content
 * contents_kept, of any other params_hash; ptr NULL: the record has none. */
struct writ_view writ_content_arguments(
    const struct writ_decision *decision, const struct writ_extension *extension, bool redacted);

/** The signed digest that an outcome's content must have. */
struct writ_view writ_content_result(
    const struct writ_outcome *outcome, const struct writ_extension *extension, bool redacted);

/** Compares an opened content with that digest. WRIT_E_MISMATCH: another one, or the record has
 * none; WRIT_E_CRYPTO. */
WRIT_RESULT writ_content_check(
    struct writ_view plain, struct writ_view signed_digest, struct writ_err *err);

#endif
