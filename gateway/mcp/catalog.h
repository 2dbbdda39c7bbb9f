/* catalog.h - the tools of one server: the definitions of its tools/list, each with its digest
 * H(definition). Built once, then immutable and counted; any thread may read it.
 *
 * A tool that the server lists twice with different definitions has no definition, because it is
 * unknown which one a client saw. */
#ifndef WRIT_GATEWAY_CATALOG_H
#define WRIT_GATEWAY_CATALOG_H

#include "evidence/json/digest.h"
#include "gateway/mcp/param.h"

#include <stdatomic.h>

#define WRIT_CATALOG_TOOLS_MAX 4096               /* tools of one server */
#define WRIT_CATALOG_BYTES_MAX ((size_t)64 << 20) /* memory of one catalog */
#define WRIT_CATALOG_TOOL_MAX  ((size_t)4 << 20)  /* bytes of one definition in that form */

struct writ_catalog_schemas;
struct writ_jsonschema;

struct writ_catalog_tool {
    struct writ_view name; /* the server's own */
    struct writ_view text; /* the definition in its lossless form (jcs.h) */
    struct writ_digest digest;
    struct writ_params params;            /* arguments that the head of a call repeats */
    unsigned hints;                       /* its annotations: policy/decide/approval.h */
    bool doubled;                         /* listed again, with another definition */
    unsigned odd;                         /* its oddities alone: odd.h; after look_at */
    struct writ_catalog_schemas *schemas; /* of what goes in and out */
};

/** A schema of a definition. */
enum writ_catalog_schema {
    WRIT_CATALOG_INPUT = 0,
    WRIT_CATALOG_OUTPUT,
};

struct writ_catalog {
    struct writ_arena *arena; /* owns all texts */
    struct writ_catalog_tool *tools;
    size_t n, cap; /* in the order of names once sealed */
    struct writ_view
        *skeletons; /* of their names (oddity.h), in order; after look_at; `n` of them */
    atomic_uint holders;
};

/** An empty one, held once. WRIT_E_NOMEM. */
WRIT_RESULT writ_catalog_new(struct writ_catalog **ret);

/**
 * Adds one element of a list of tools; everything is copied. Before writ_catalog_seal.
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  not an object with a name that is a string: nothing was added
 *         WRIT_E_LIMIT    too many, or too large
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_catalog_add(struct writ_catalog *catalog, const struct writ_json *item);

/** Ends the building. */
void writ_catalog_seal(struct writ_catalog *catalog);

/** After the sealing: notes what is odd about each tool, as `known` has it for an equal definition.
 * `known` may be NULL. */
void writ_catalog_look_at(struct writ_catalog *catalog, const struct writ_catalog *known);

/** What is odd about the name of another server's tool beside these: bits of odd.h. REPEATS: one
 * has it, with another definition; IMITATES: one has a name that differs in case, separators and
 * letters that look alike.
 *
 * @param catalog   NULL: nothing
 * @param digest    of the other definition; NULL: unknown
 * @param skeleton  of the name: oddity.h */
unsigned writ_catalog_odd_name(const struct writ_catalog *catalog, struct writ_view name,
    const struct writ_digest *digest, struct writ_view skeleton);

/** The tool of that name, or NULL: not listed, or doubled. `catalog` may be NULL. */
const struct writ_catalog_tool *writ_catalog_find(
    const struct writ_catalog *catalog, struct writ_view name);

/**
 * The compiled inputSchema or outputSchema of a tool, borrowed as long as its catalog is held; made
 * when it is first asked for. Any thread.
 *
 * @return WRIT_OK
 *         WRIT_E_ABSENT   the definition has no such schema
 *         WRIT_E_INVALID  it is not a schema that can be evaluated
 *         WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_catalog_schema(const struct writ_catalog_tool *tool,
    enum writ_catalog_schema which, const struct writ_jsonschema **ret);

/** Whether the name has two definitions. `catalog` may be NULL. */
bool writ_catalog_is_doubled(const struct writ_catalog *catalog, struct writ_view name);

/** True when both list the same tools with the same definitions. Either may be NULL: an empty
 * list. */
bool writ_catalog_equal(const struct writ_catalog *a, const struct writ_catalog *b);

/** Adds a hold; returns it. Any thread. */
struct writ_catalog *writ_catalog_hold(struct writ_catalog *catalog);

/** Drops one hold; the last one frees. NULL is permitted. Any thread. */
void writ_catalog_drop(struct writ_catalog *catalog);

#endif
