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

/** The members of `types`, as bits. */
enum writ_constraint_type {
    WRIT_CONSTRAINT_NULL = 1 << 0,
    WRIT_CONSTRAINT_BOOLEAN = 1 << 1,
    WRIT_CONSTRAINT_INTEGER = 1 << 2,
    WRIT_CONSTRAINT_NUMBER = 1 << 3,
    WRIT_CONSTRAINT_STRING = 1 << 4,
    WRIT_CONSTRAINT_ARRAY = 1 << 5,
    WRIT_CONSTRAINT_OBJECT = 1 << 6,
    WRIT_CONSTRAINT_ANY = 1 << 7,
};

/** One compiled entry of `arguments`. Which of the values is used depends on the op. */
struct writ_constraint {
    enum writ_op op;
    bool optional, nullable;
    bool spans;                /* glob: the pattern crosses slashes, so the text is a path */
    size_t path;               /* index into the paths of its set */
    struct writ_view name;     /* "amount le": for refusals */
    struct writ_view accepted; /* "a number not above 500.00" */
    struct writ_view hint;     /* a common mistake about it; mostly empty */
    union {
        const struct writ_json *json;       /* eq, ne; in, not_in: an array */
        struct writ_decimal bound;          /* lt, le, gt, ge */
        uint64_t length;                    /* min_length, max_length, min_items, max_items */
        unsigned types;                     /* type */
        struct writ_view text;              /* prefix, suffix, glob */
        const struct writ_pattern *pattern; /* matches */
        struct writ_views list;             /* under, host_in */
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
