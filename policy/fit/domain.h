/* domain.h - the values that a tool takes at one place of its arguments, by its inputSchema (JSON
 * Schema 2020-12 and draft-07).
 *
 * A domain never leaves a value out that the schema takes: a keyword that is not read (pattern,
 * not, if, a reference to elsewhere) only makes it larger. So NEVER and ALWAYS are certain, and
 * SOMETIMES is also the answer where it is unknown.
 *
 * Pure. Domains lie in the arena, and borrow the schema. A schema is a stranger's: its depth and
 * what is read of it have limits; beyond them a domain takes anything. */
#ifndef WRIT_POLICY_DOMAIN_H
#define WRIT_POLICY_DOMAIN_H

#include "evidence/json/json.h"
#include "policy/model/constraint.h"

#define WRIT_DOMAIN_DEPTH_MAX 16   /* references, allOf, anyOf inside each other */
#define WRIT_DOMAIN_WORK_MAX  8192 /* parts of one schema that are read */

/** What a schema says about a place. */
enum writ_domain_place {
    WRIT_DOMAIN_ANYTHING = 0, /* nothing */
    WRIT_DOMAIN_UNLISTED,     /* it lists other members, and does not forbid this one */
    WRIT_DOMAIN_ABSENT,       /* there is no such place */
    WRIT_DOMAIN_LISTED,
};

struct writ_domain;

/** One schema that is read. */
struct writ_domain_reading {
    const struct writ_json *root; /* what references refer to */
    struct writ_arena *arena;
    size_t work;
};

/** The domain of a schema that is the root itself. Never NULL. */
const struct writ_domain *writ_domain_of(
    struct writ_domain_reading *reading, const struct writ_json *schema);

enum writ_domain_place writ_domain_place(const struct writ_domain *domain);

/** Of a member, or of an element when the token is a number and the value a list. */
const struct writ_domain *writ_domain_child(
    struct writ_domain_reading *reading, const struct writ_domain *domain, struct writ_view token);

/** Of the elements of a list. */
const struct writ_domain *writ_domain_element(
    struct writ_domain_reading *reading, const struct writ_domain *domain);

/** Whether an object must have that member. */
bool writ_domain_requires(const struct writ_domain *domain, struct writ_view token);

/** Calls `fn` for each member that the schema lists; a name may come twice. */
typedef void writ_domain_fn(void *ctx, struct writ_view name);
void writ_domain_each(const struct writ_domain *domain, writ_domain_fn *fn, void *ctx);

/** The types of its values, as bits of enum writ_constraint_type without ANY. */
unsigned writ_domain_types(const struct writ_domain *domain);

/** Whether it may have members that the schema does not list. */
bool writ_domain_is_open(const struct writ_domain *domain);

enum writ_domain_answer {
    WRIT_DOMAIN_SOMETIMES = 0,
    WRIT_DOMAIN_NEVER,  /* the constraint holds for no value of the domain but null */
    WRIT_DOMAIN_ALWAYS, /* for every one but null */
};

/** Whether values of the domain satisfy the constraint, by its op and value alone; `each` by its
 * type alone. */
enum writ_domain_answer writ_domain_relate(struct writ_domain_reading *reading,
    const struct writ_domain *domain, const struct writ_constraint *constraint);

/** Appends what the domain takes, in a few words: `an integer from 1 to 100`. Texts of the schema
 * are made safe. Nothing when that is anything. */
void writ_domain_describe(const struct writ_domain *domain, struct writ_buf *ret);

#endif
