/* constraint.h - the constraints of a rule, compiled. Sets are immutable. evaluate.h explains
 * them. */
#ifndef WRIT_POLICY_CONSTRAINT_H
#define WRIT_POLICY_CONSTRAINT_H

#include "base/decimal.h"
#include "evidence/json/json.h"
#include "policy/model/config.h"
#include "policy/model/op.h"
#include "policy/model/pattern.h"

#define WRIT_CONSTRAINTS_MAX      256 /* constraints of one rule, or of one `each` */
#define WRIT_CONSTRAINT_PATHS_MAX 64  /* different arguments that they name */
#define WRIT_CONSTRAINT_COVER_MAX 8   /* constraints that may name one value at once */
#define WRIT_CONSTRAINT_DEPTH_MAX 4   /* each inside each */

/** The types of the op `type`: X(NAME, "word", bit). */
#define WRIT_CONSTRAINT_TYPES(X)                                                                   \
    X(STRING, "string", 0)                                                                         \
    X(NUMBER, "number", 1)                                                                         \
    X(INTEGER, "integer", 2)                                                                       \
    X(BOOLEAN, "boolean", 3)                                                                       \
    X(NULL, "null", 4)                                                                             \
    X(ARRAY, "array", 5)                                                                           \
    X(OBJECT, "object", 6)                                                                         \
    X(ANY, "any", 7)

/** The members of `types`, as bits. */
enum writ_constraint_type {
#define WRIT_CONSTRAINT_BIT(NAME, word, bit) WRIT_CONSTRAINT_##NAME = 1 << (bit),
    WRIT_CONSTRAINT_TYPES(WRIT_CONSTRAINT_BIT)
#undef WRIT_CONSTRAINT_BIT
};

struct writ_detector_set; /* policy/detect/detector.h */
struct writ_from;         /* flow.h */
struct writ_jsonschema;   /* policy/schema/jsonschema.h */
struct writ_yaml;         /* a node of the file: policy/read/yaml.h */

/** One compiled entry of `arguments`. Which of the values is used depends on the op. */
struct writ_constraint {
    enum writ_op op;
    bool optional, nullable;
    bool spans;                   /* glob: a pattern crosses slashes, so the text is a path */
    size_t path;                  /* index into the paths of its set */
    struct writ_view name;        /* "amount le": for refusals */
    struct writ_view accepted;    /* "a number not above 500.00" */
    struct writ_view hint;        /* a common mistake about it; mostly empty */
    const struct writ_yaml *node; /* where it stands */
    union {
        const struct writ_json *json;       /* eq, ne; in, not_in: an array */
        struct writ_decimal bound;          /* lt, le, gt, ge */
        uint64_t length;                    /* min_length, max_length, min_items, max_items */
        unsigned types;                     /* type */
        struct writ_view text;              /* prefix, suffix, glob */
        const struct writ_pattern *pattern; /* matches, not_matches */
        struct writ_views list;             /* under, host_in */
        const struct writ_from *from;
        const struct writ_jsonschema *schema;
        const struct writ_detector_set *detectors; /* contains, lacks */
        const struct writ_constraint_set *each;
    } value;
};

/** The tokens of an arg; without any: the value itself. */
struct writ_constraint_path {
    struct writ_views tokens;
};

/** The names below a place in the arguments. */
struct writ_constraint_place {
    struct writ_view token;
    struct writ_constraint_place *children, *next;
    bool named, whole;
    bool secret;                                   /* the value is never kept */
    bool hides;                                    /* this place, or one below it, is secret */
    const struct writ_constraint_set *const *each; /* sets that name parts of the elements */
    size_t each_n;
};

struct writ_constraint_set {
    const struct writ_constraint *items;
    size_t n;
    const struct writ_constraint_path *paths;
    size_t paths_n;
    struct writ_constraint_place root;
};

#endif
