/* vector.h - the sets of vectors that `writ-vectors run` knows, by their format.
 *
 * A file is {"format": "writ-.../1", ..., "cases": [{"id": ..., ..., "expect": ...}]}. Common
 * members of a set are beside its cases. A runner computes the value to compare with `expect`;
 * vectors/README.md describes each format. */
#ifndef WRIT_CLI_VECTOR_H
#define WRIT_CLI_VECTOR_H

#include "evidence/json/json.h"

/**
 * Computes one case.
 *
 * @param set     the file; borrowed
 * @param vector  the case, from the same file
 * @param arena   for this case
 * @param ret     gets the JSON text that `expect` is compared with
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  the case is not of its format
 *         WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
typedef writ_result writ_vector_fn(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err);

/** Appends the text of a value, `name` of a set or case, for readers that take text. WRIT_E_PARSE
 * when `value` is NULL, WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_vector_text(
    const struct writ_json *value, const char *name, struct writ_buf *ret, struct writ_err *err);

/* WRIT_VECTOR_FORMATS(X): X(name, "format") */
#define WRIT_VECTOR_FORMATS(X)                                                                     \
    X(bindings, "writ-bindings/1")                                                                 \
    X(bundles, "writ-bundles/1")                                                                   \
    X(canonical, "writ-canonical/1")                                                               \
    X(checkpoints, "writ-checkpoints/1")                                                           \
    X(completeness, "writ-completeness/1")                                                         \
    X(credentials, "writ-credentials/1")                                                           \
    X(decisions, "writ-decisions/1")                                                               \
    X(digests, "writ-digests/1")                                                                   \
    X(foreign, "writ-foreign/1")                                                                   \
    X(ledgers, "writ-ledgers/1")                                                                   \
    X(outcomes, "writ-outcomes/1")                                                                 \
    X(proofs, "writ-proofs/1")                                                                     \
    X(receipts, "writ-receipts/1")                                                                 \
    X(rotations, "writ-rotations/1")

#define WRIT_VECTOR_DECLARE(name, format) writ_vector_fn writ_vector_##name;
WRIT_VECTOR_FORMATS(WRIT_VECTOR_DECLARE)
#undef WRIT_VECTOR_DECLARE

#endif
