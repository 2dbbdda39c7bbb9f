/* keyword.h - a compiled schema: one rule for each schema in it, with its keywords. For
 * jsonschema_compile.c, which makes it, and jsonschema_check.c. */
#ifndef WRIT_POLICY_KEYWORD_H
#define WRIT_POLICY_KEYWORD_H

#include "base/decimal.h"
#include "policy/model/pattern.h"
#include "policy/schema/jsonschema.h"

struct writ_keyword_rule;

/** A part of the schema with a URI of its own: the whole, and each schema with `$id`. */
struct writ_keyword_resource {
    struct writ_view uri; /* without fragment */
    const struct writ_json *root;
    struct writ_keyword_resource *next;
};

/** `$anchor` and `$dynamicAnchor`. */
struct writ_keyword_anchor {
    const struct writ_keyword_resource *resource;
    struct writ_view name;
    const struct writ_keyword_rule *rule;
    bool dynamic;
    struct writ_keyword_anchor *next;
};

/** Schemas in a list (allOf, prefixItems). */
struct writ_keyword_list {
    const struct writ_keyword_rule **items;
    size_t n;
};

/** A schema by a name or a pattern (properties, patternProperties, dependentSchemas). */
struct writ_keyword_named {
    struct writ_view name;
    struct writ_pattern *pattern; /* NULL: by name */
    const struct writ_keyword_rule *rule;
};

struct writ_keyword_names {
    const struct writ_keyword_named *items;
    size_t n;
};

/** Numbers of a rule, as bits of `given`. */
enum writ_keyword_number {
    WRIT_KEYWORD_MULTIPLE_OF = 1,
    WRIT_KEYWORD_MAXIMUM = 2,
    WRIT_KEYWORD_EXCLUSIVE_MAXIMUM = 4,
    WRIT_KEYWORD_MINIMUM = 8,
    WRIT_KEYWORD_EXCLUSIVE_MINIMUM = 16,
};

/** The types of `type`, as bits. */
enum writ_keyword_type {
    WRIT_KEYWORD_NULL = 1,
    WRIT_KEYWORD_BOOLEAN = 2,
    WRIT_KEYWORD_INTEGER = 4,
    WRIT_KEYWORD_NUMBER = 8,
    WRIT_KEYWORD_STRING = 16,
    WRIT_KEYWORD_ARRAY = 32,
    WRIT_KEYWORD_OBJECT = 64,
};

/** One schema. */
struct writ_keyword_rule {
    const struct writ_json *node;
    const struct writ_keyword_resource *resource;
    bool never;     /* false */
    unsigned types; /* 0: any */
    const struct writ_json *one_of_values, *constant;
    unsigned given;
    struct writ_decimal multiple_of, maximum, exclusive_maximum, minimum, exclusive_minimum;
    uint64_t max_length, min_length, max_items, min_items, max_contains, min_contains,
        max_properties, min_properties; /* UINT64_MAX: no most */
    bool unique;
    struct writ_pattern *pattern;
    struct writ_view format; /* asserted; empty: none */
    const struct writ_json *required, *dependent_required;
    struct writ_keyword_names properties, patterns, dependent;
    const struct writ_keyword_rule *additional, *names, *items, *contains, *negated, *condition,
        *then, *otherwise, *unevaluated_items, *unevaluated_properties;
    struct writ_keyword_list all, any, one, prefix;
    struct writ_view reference, dynamic_reference; /* as written; ptr NULL: none */
    const struct writ_keyword_rule *target, *dynamic_target;
    struct writ_view dynamic_name;  /* of the anchor, when the reference is dynamic; else empty */
    struct writ_keyword_rule *next; /* all rules */
};

struct writ_jsonschema {
    struct writ_arena *arena;
    const struct writ_json *root;
    struct writ_keyword_rule **rules; /* by the distance of their node from the root */
    struct writ_keyword_rule *first;
    struct writ_keyword_resource *resources;
    struct writ_keyword_anchor *anchors;
    struct writ_pattern **patterns;
    size_t patterns_n, patterns_max;
    size_t rules_n;
    bool tracks; /* some rule asks what was not evaluated */
    bool old;    /* draft-07 */
    enum writ_jsonschema_formats formats;
};

/** Whether a text has the format. False for an unknown one: see writ_keyword_knows. */
bool writ_keyword_has_format(struct writ_view format, struct writ_view text);
/** Whether the format can be asserted. */
bool writ_keyword_knows_format(struct writ_view format);

#endif
