/* evaluate.h - evaluates the constraints of a rule on the arguments of a call.
 *
 * Closed coverage: every leaf of the arguments (a string, number, boolean, null, empty array or
 * empty object, at any depth) must be named. It is named by
 * - a constraint whose arg leads to it;
 * - a constraint on something around it whose op decides the whole of that: eq, in, type any;
 * - a constraint inside an `each` on the array around it.
 * `{arg: options, op: type, value: object}` names the object alone: its members need names of their
 * own. `{arg: "", op: type, value: any}` names all arguments.
 *
 * A constraint on an absent argument does not hold, unless it is optional or says forbidden; one on
 * null does not either, unless it is nullable or its op asks for null. No op holds for a value of
 * another type than its own; numbers are compared exactly (value.h). A check without an answer (a
 * limit, a number that cannot be held exactly) is an error, which denies.
 *
 * Sets are immutable; any number of threads may evaluate one. */
#ifndef WRIT_POLICY_EVALUATE_H
#define WRIT_POLICY_EVALUATE_H

#include "evidence/json/json.h"
#include "evidence/record/reason.h"
#include "policy/model/constraint.h"

enum writ_holds {
    WRIT_HOLDS_ERROR = 0, /* without an answer, which denies */
    WRIT_HOLDS_NO,
    WRIT_HOLDS_YES,
};

/** The failed constraint of a call, in words that hold no value of it. */
struct writ_constraint_failure {
    struct writ_view argument;   /* JSON Pointer of the argument: "/items/1/count" */
    struct writ_view constraint; /* "items each, count le", "body lacks: secret.jwt@1"; empty: no
                                  * constraint names the argument */
    struct writ_view accepted;   /* "a number not above 10", by the innermost constraint */
    struct writ_view hint;       /* a common mistake about that one; mostly empty */
    const struct writ_constraint *at; /* the innermost constraint; NULL: none */
};

/**
 * Evaluates all constraints.
 *
 * @param arguments   an object
 * @param arena       working memory, and for texts in `ret_failed`
 * @param ret_failed  the first constraint that does not hold, or the first leaf that is not named;
 *                    zeroed without either. Without memory `argument` stays empty and `constraint`
 *                    is the outermost name
 *
 * @return WRIT_REASON_POLICY_OK            everything is named and all constraints hold
 *         WRIT_REASON_ARGUMENT_NOT_LISTED  some leaf is not named
 *         WRIT_REASON_CONSTRAINT_FAILED, WRIT_REASON_CONSTRAINT_ERROR
 */
enum writ_reason writ_evaluate_arguments(const struct writ_constraint_set *set,
    const struct writ_json *arguments, struct writ_arena *arena,
    struct writ_constraint_failure *ret_failed);

/** Whether one constraint of `set` holds. `ret_failed` (may be NULL) is written as above. */
enum writ_holds writ_evaluate_one(const struct writ_constraint_set *set,
    const struct writ_constraint *constraint, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_constraint_failure *ret_failed);

/** The value at these tokens, of members and elements; NULL: there is none. */
const struct writ_json *writ_evaluate_argument(
    const struct writ_json *arguments, const struct writ_views *tokens);

#endif
