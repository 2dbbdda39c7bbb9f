/* abilities.h - what a client said at initialize that servers may ask of it, and whether a request
 * of a server asks for more (2025-11-25, client/). Pure. */
#ifndef WRIT_GATEWAY_ABILITIES_H
#define WRIT_GATEWAY_ABILITIES_H

#include "evidence/json/json.h"

/** Bits; none: a client of which nothing may be asked. */
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

/** 0 when the client takes a server's request, or it is not one that needs an ability; else the
 * code of the JSON-RPC error that such a client gives. */
int writ_abilities_refuse(unsigned abilities, const struct writ_json *message);

#endif
