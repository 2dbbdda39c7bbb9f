/* facets.h - what a JSON Schema (2020-12, draft-07) says about one value: the schemas that must all
 * hold, with local references, allOf, and the choice of one form out of several undone.
 *
 * Every step allows fewer values than the schema, never more, as far as a keyword is read at all;
 * what is not read (`multipleOf`, `uniqueItems`, `contains`, and what an object says about which
 * members come together) is left to the tool server, and only narrows. */
#ifndef WRIT_POLICY_FACETS_H
#define WRIT_POLICY_FACETS_H

#include "evidence/json/json.h"

#define WRIT_FACETS_NODES_MAX 24 /* schemas that must hold at once */
#define WRIT_FACETS_DEPTH_MAX 16 /* references, allOf and anyOf inside each other */

/** Types of values, as bits. */
enum writ_facets_type {
    WRIT_FACETS_STRING = 1,
    WRIT_FACETS_NUMBER = 2,
    WRIT_FACETS_INTEGER = 4,
    WRIT_FACETS_BOOLEAN = 8,
    WRIT_FACETS_ARRAY = 16,
    WRIT_FACETS_OBJECT = 32,
};

struct writ_facets {
    const struct writ_json *root;                         /* what local references refer to */
    const struct writ_json *nodes[WRIT_FACETS_NODES_MAX]; /* objects; all of them hold */
    size_t n;
    const struct writ_json *choices; /* anyOf or oneOf of constants alone; or NULL */
    enum writ_facets_type type;      /* the one type; 0 with `lost` or values */
    bool nullable;                   /* null passes as well */
    bool only_null;                  /* nothing else passes */
    bool one_of_many;                /* the schema allows other forms too */
    bool untyped;                    /* the schema names no type, and no keyword of one */
    const char *lost; /* why no constraint can say it; a clause, static storage; NULL: it can */
};

/** What `schema`, a part of `root`, says. Total. */
void writ_facets_read(
    const struct writ_json *root, const struct writ_json *schema, struct writ_facets *ret);

/** The first member of that name in any of the schemas; NULL without one. */
const struct writ_json *writ_facets_find(const struct writ_facets *facets, const char *name);

/** Whether the value is an enum or a constant, in any of the schemas. */
bool writ_facets_is_listed(const struct writ_facets *facets);

#endif
