/* constrain.h - proposed constraints for one argument of a tool, from its schema and its name. */
#ifndef WRIT_POLICY_CONSTRAIN_H
#define WRIT_POLICY_CONSTRAIN_H

#include "policy/propose/facets.h"
#include "policy/propose/proposal.h"
#include "policy/propose/words.h"

/** A list of constraints that is being made. */
struct writ_constrain_list {
    struct writ_proposal_constraint *first, *last;
    size_t n, paths; /* constraints; different arguments that they name */
};

/** One tool that is being read. */
struct writ_constrain {
    const struct writ_json *root; /* its inputSchema */
    struct writ_words tool;
    unsigned described; /* kinds of the words of its description */
    bool stored;        /* an argument names a repository or the like */
    struct writ_arena *arena;
    size_t work; /* schemas read so far */
    bool nomem;
    bool closed;          /* an argument that is needed is refused */
    bool runs;            /* an argument is run by something */
    struct writ_view sum; /* the first needed amount, as a configuration names it; may be empty */
    size_t placeholders;  /* made so far */
};

/** Where a value stands. */
struct writ_constrain_spot {
    struct writ_view arg;  /* as in a configuration; ptr NULL: the element of an `each` */
    struct writ_view path; /* the same as a JSON Pointer */
    struct writ_view name; /* the last name on the way to it */
    bool optional;         /* it, or something around it, may be absent or null */
    bool needed;           /* the tool cannot be called without it */
    unsigned depth, each;  /* objects and lists around it; lists alone */
};

/** Adds the constraints of the value at `spot`, which `schema` describes. Without memory it sets
 * `nomem`, and the list is of no use. */
void writ_constrain_value(struct writ_constrain *c, const struct writ_json *schema,
    const struct writ_constrain_spot *spot, struct writ_constrain_list *ret);

/** Adds the constraints of the members of an object. */
void writ_constrain_members(struct writ_constrain *c, const struct writ_facets *facets,
    const struct writ_constrain_spot *spot, struct writ_constrain_list *ret);

#endif
