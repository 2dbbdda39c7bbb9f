/* bridge.h - between our own JSON value and jansson's.
 *
 * jansson reads configuration, the API and whatever else is not per call, and is the oracle of
 * our reader. The two agree on every value but one kind of number: jansson has 64-bit integers,
 * we have the source text and a double, so integers cross unchanged and a number with a fraction
 * or an exponent crosses as its double. */
#ifndef WRIT_EVIDENCE_BRIDGE_H
#define WRIT_EVIDENCE_BRIDGE_H

#include "evidence/json.h"

#include <jansson.h>

/**
 * A jansson value with the same content.
 *
 * @param value  borrowed for the call
 * @param ret    new, free with json_decref; written only on success
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 *         WRIT_E_PARSE  an integer is beyond 64 bits
 */
WRIT_RESULT writ_bridge_to_jansson(
    const struct writ_json *value, json_t **ret, struct writ_err *err);

/**
 * Our value with the content of a jansson value, which may be freed afterwards.
 *
 * @param limits  depth, values, names and strings are held to them; bytes and number_bytes say
 *                nothing here
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 *         WRIT_E_LIMIT  a limit was exceeded; err names it
 */
WRIT_RESULT writ_bridge_from_jansson(const json_t *value, const struct writ_json_limits *limits,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err);

#endif
