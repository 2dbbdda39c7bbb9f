/* abilities.h - the requests of servers that a client declared at initialize, and a check of a
 * server's request against them (2025-11-25, client/). Pure. */
#ifndef WRIT_GATEWAY_ABILITIES_H
#define WRIT_GATEWAY_ABILITIES_H

#include "evidence/json/json.h"

/** Bits; none: a client that takes no requests. */
enum writ_ability {
    WRIT_ABLE_SAMPLING = 1,
    WRIT_ABLE_SAMPLING_TOOLS = 2, /* with tools for the model */
    WRIT_ABLE_FORM = 4,           /* elicitation by a form, and by the page at a URL */
    WRIT_ABLE_URL = 8,
    WRIT_ABLE_ROOTS = 16,
    WRIT_ABLE_TASKS = 32,
    WRIT_ABLE_ALL = 63,
};

/** Reads `capabilities` of initialize; NULL is none. */
unsigned writ_abilities_read(const struct writ_json *capabilities);

/** 0 when the client takes a server's request, or the request needs no ability; else the code of
 * the JSON-RPC error of such a client. */
int writ_abilities_refuse(unsigned abilities, const struct writ_json *message);

#endif
