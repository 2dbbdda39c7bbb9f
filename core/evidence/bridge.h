/* bridge.h - between our own JSON value and jansson's.
 *
 * jansson reads configuration, the API and whatever else is not per call, and is the oracle of
 * our reader. Numbers are where the two differ: jansson has 64-bit integers and doubles, we have
 * the source text and its double. Integers cross unchanged; a number written with a fraction or an
 * exponent crosses as its double, and a double that is whole comes out as an integer. */
#ifndef WRIT_EVIDENCE_BRIDGE_H
#define WRIT_EVIDENCE_BRIDGE_H

#include "evidence/json.h"

#include <jansson.h>

/**
 * A jansson value with the same content.
 *
 * @param value  borrowed for the call; not NULL
 * @param ret    new, free with json_decref; written only on success
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 *         WRIT_E_PARSE  an integer has more than 64 bits
 *
 * Does not block. Thread-safe.
 */
WRIT_RESULT writ_bridge_to_jansson(
    const struct writ_json *value, json_t **ret, struct writ_err *err);

/**
 * Our value with the content of a jansson value, which may be freed afterwards. It is written as
 * JSON text and read by our own reader, so that nothing comes in that the reader would refuse.
 *
 * @param value   borrowed for the call; not NULL
 * @param limits  as for writ_json_read, for the text without white space
 * @param arena   takes that text as well
 * @param ret     written only on success. The byte offsets in it are of that text
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 *         WRIT_E_LIMIT  a limit was exceeded; err names it
 *         WRIT_E_PARSE  a string is not UTF-8 (jansson has calls that do not check)
 *
 * Does not block. Thread-safe while no other thread changes `value`.
 */
WRIT_RESULT writ_bridge_from_jansson(const json_t *value, const struct writ_json_limits *limits,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err);

#endif
