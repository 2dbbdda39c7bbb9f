/* yaml.h - a YAML text as a tree of nodes that know their line and their JSON Pointer.
 *
 * Only the part of YAML that a configuration needs: one document of maps, lists and scalars.
 * Anchors, aliases, tags, merge keys and maps as keys are refused, and so are members written
 * twice; each is a finding with its line, and reading continues to the next fault. Nothing is
 * resolved here: a scalar is text, and its reader converts it to a number or a switch.
 *
 * Nodes and their texts live in the arena and never change. Nothing blocks. */
#ifndef WRIT_POLICY_YAML_H
#define WRIT_POLICY_YAML_H

#include "base/bytes.h"
#include "policy/read/findings.h"

#define WRIT_YAML_DEPTH_MAX   32     /* deepest nesting of maps and lists */
#define WRIT_YAML_NODES_MAX   262144 /* most scalars, lists and maps; keys count too */
#define WRIT_YAML_MEMBERS_MAX 16384  /* most members of one map, elements of one list */

enum writ_yaml_type {
    WRIT_YAML_NONE = 0, /* a node that was refused, with a finding */
    WRIT_YAML_SCALAR,
    WRIT_YAML_LIST,
    WRIT_YAML_MAP,
};

/** An included file, of the root of its tree. */
struct writ_yaml_source {
    struct writ_view file;
    bool agreed;
};

struct writ_yaml {
    enum writ_yaml_type type;
    bool plain;            /* scalar: written without quotes and not as a block */
    size_t line;           /* 1-based; of a member, the line of its value */
    struct writ_view text; /* scalar; NUL-terminated, may hold NUL */
    struct writ_view key;  /* member of a map; NUL-terminated */
    size_t key_line;
    size_t index; /* element of a list */
    size_t count; /* elements or members */
    const struct writ_yaml *parent;
    const struct writ_yaml_source *source; /* of a root; NULL: the file that is read */
    struct writ_yaml *first, *last, *next; /* first and last child, next sibling */
};

/**
 * Reads one document.
 *
 * @param text      borrowed for the call; UTF-8, a byte order mark is skipped
 * @param findings  gets every fault
 * @param ret       the root; written only on success; check findings->errors for faults
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE  not YAML, no document, or two of them; reading stopped there
 *         WRIT_E_LIMIT  one of WRIT_YAML_*_MAX
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_yaml_read(struct writ_view text, struct writ_arena *arena,
    struct writ_findings *findings, const struct writ_yaml **ret);

/** The same tree from strict JSON (json.h), read without YAML's rules: writ_yaml_read tries it
 * first for a text that begins with a brace or bracket. False for other text, over a limit, or
 * without memory: `ret` is then untouched, and reading it as YAML finds the reason. */
bool writ_yaml_from_json(
    struct writ_view text, struct writ_arena *arena, const struct writ_yaml **ret);

/** The member called `key`, or NULL when it is absent or `map` is not a map (NULL included). */
const struct writ_yaml *writ_yaml_get(const struct writ_yaml *map, struct writ_view key);

/** The included file that the node stands in; NULL: the file that is read. */
const struct writ_yaml_source *writ_yaml_source(const struct writ_yaml *node);

/** Walks elements or members; not at all for a scalar or NULL. */
#define WRIT_YAML_EACH(child, parent)                                                              \
    for (const struct writ_yaml *child = (parent) != NULL ? (parent)->first : NULL;                \
         (child) != NULL; (child) = (child)->next)

/** True for a scalar without a value, as after `key:`. */
bool writ_yaml_is_empty(const struct writ_yaml *node);

/** "a list", "a map", "a text", "nothing": for messages. */
const char *writ_yaml_type_name(const struct writ_yaml *node);

/** Appends the JSON Pointer of the node (RFC 6901). */
void writ_yaml_pointer(const struct writ_yaml *node, struct writ_buf *ret);

/** Adds a finding about `node` at its file, line and pointer. */
void writ_yaml_find(struct writ_findings *findings, enum writ_severity severity,
    const struct writ_yaml *node, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
