/* constraint.h - evaluates the constraints of a rule on the arguments of a call.
 *
 * Closed coverage: every leaf of the arguments (a string, number, boolean, null, empty array or
 * empty object, at any depth) must be named. It is named by
 * - a constraint whose arg leads to it;
 * - a constraint on something around it whose op decides the whole of that: eq, in, type any;
 * - a constraint inside an `each` on the array around it.
 * `{arg: options, op: type, value: object}` names the object alone: its members have to be named
 * themselves. `{arg: "", op: type, value: any}` names all arguments, whatever they are.
 *
 * A constraint on an absent argument does not hold, unless it is optional or says forbidden; one on
 * null does not either, unless it is nullable or its op asks for null. No op holds for a value of
 * another type than its own; numbers are compared exactly (value.h). What has no answer (a limit
 * hit, a number that cannot be held exactly) is an error, which denies.
 *
 * Sets are immutable; any number of threads may evaluate one. */
#ifndef WRIT_POLICY_CONSTRAINT_H
#define WRIT_POLICY_CONSTRAINT_H

#include "base/decimal.h"
#include "evidence/json.h"
#include "evidence/reason.h"
#include "policy/config.h"
#include "policy/op.h"
#include "policy/pattern.h"

#define WRIT_CONSTRAINTS_MAX      256 /* constraints of one rule, or of one `each` */
#define WRIT_CONSTRAINT_PATHS_MAX 64  /* different arguments that they name */
#define WRIT_CONSTRAINT_COVER_MAX 8   /* ways in which one value may be named at once */
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
    struct writ_view hint;     /* what is easily missed about it; mostly empty */
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

/** The tokens of an arg; none: the value itself. */
struct writ_constraint_path {
    struct writ_views tokens;
};

/** What is named below a place in the arguments. */
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

enum writ_holds {
    WRIT_HOLDS_ERROR = 0, /* no answer, which denies */
    WRIT_HOLDS_NO,
    WRIT_HOLDS_YES,
};

/** What a call does not satisfy, in words that hold no value of it. */
struct writ_constraint_failure {
    struct writ_view argument; /* JSON Pointer of what failed, or is not named: "/items/1/count" */
    struct writ_view constraint; /* "items each, count le"; empty: nothing names the argument */
    struct writ_view accepted;   /* "a number not above 10", by the innermost constraint */
    struct writ_view hint;       /* what is easily missed about that one; mostly empty */
};

/**
 * Evaluates all constraints.
 *
 * @param arguments   an object
 * @param arena       working memory, and for texts in `ret_failed`
 * @param ret_failed  the first constraint that does not hold, or the first leaf that is not named;
 *                    zeroed when there is neither. On no memory `argument` stays empty and
 *                    `constraint` is the outermost name
 *
 * @return WRIT_REASON_POLICY_OK            everything is named and all constraints hold
 *         WRIT_REASON_ARGUMENT_NOT_LISTED  some leaf is not named
 *         WRIT_REASON_CONSTRAINT_FAILED, WRIT_REASON_CONSTRAINT_ERROR
 */
enum writ_reason writ_constraint_check(const struct writ_constraint_set *set,
    const struct writ_json *arguments, struct writ_arena *arena,
    struct writ_constraint_failure *ret_failed);

/** Whether one constraint of `set` holds. `ret_failed` (may be NULL) is written as above. */
enum writ_holds writ_constraint_holds(const struct writ_constraint_set *set,
    const struct writ_constraint *constraint, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_constraint_failure *ret_failed);

#endif
