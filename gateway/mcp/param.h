/* param.h - the headers Mcp-Param-*, which repeat arguments of a call (2026-07-28,
 * basic/transports/streamable-http): finds the arguments that have one, by the x-mcp-header members
 * of a tool's definition, and compares head and body of a call. Pure. */
#ifndef WRIT_GATEWAY_PARAM_H
#define WRIT_GATEWAY_PARAM_H

#include "evidence/json/json.h"

#define WRIT_PARAMS_MAX 32 /* of one tool; a definition with more has none */

enum writ_param_type {
    WRIT_PARAM_NONE = 0,
    WRIT_PARAM_STRING,
    WRIT_PARAM_INTEGER,
    WRIT_PARAM_BOOLEAN,
};

/** One argument that has a header. */
struct writ_param {
    struct writ_view header;  /* "Mcp-Param-Region" */
    struct writ_view pointer; /* JSON Pointer into the arguments */
    enum writ_param_type type;
};

struct writ_params {
    const struct writ_param *items;
    size_t n;
};

/**
 * Reads which arguments have headers: properties, at any depth that `properties` alone lead to, of
 * type string, integer or boolean, whose x-mcp-header is a token. A definition with two headers
 * that differ at most by case, or with an invalid one, has none at all: clients must not use such a
 * tool.
 *
 * @param definition  an element of tools/list
 * @param arena       for `ret`
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 */
WRIT_RESULT writ_param_read(
    const struct writ_json *definition, struct writ_arena *arena, struct writ_params *ret);

enum writ_param_answer {
    WRIT_PARAM_DIFFERS = 0, /* the header contradicts the argument, or there is no argument */
    WRIT_PARAM_AGREES,
    WRIT_PARAM_MISSING, /* the argument is there and the header is not */
};

/**
 * Compares one header with the argument: texts exactly, integers by their value (42.0 is 42). An
 * argument that is null, absent, or not representable in a header needs no header.
 *
 * @param value  of the header; ptr NULL: absent
 */
enum writ_param_answer writ_param_check(
    const struct writ_param *param, const struct writ_json *arguments, struct writ_view value);

/** Appends the header's value for the argument, which WRIT_PARAM_MISSING asks for. */
void writ_param_put(
    const struct writ_param *param, const struct writ_json *arguments, struct writ_buf *ret);

#endif
