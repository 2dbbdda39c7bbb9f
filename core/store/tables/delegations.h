/* delegations.h - the delegations that voters set, in the memory of the writer: those whose time is
 * not over, in the order of their records. A revoked one stays until its end, so that its id is not
 * used again. One thread. */
#ifndef WRIT_STORE_DELEGATIONS_H
#define WRIT_STORE_DELEGATIONS_H

#include "evidence/record/delegation.h"
#include "store/tables/map.h"

/** One delegation. */
struct writ_delegated {
    struct writ_map_node by_id, by_voter;
    struct writ_delegated *next, *prev; /* in the order of the records */
    struct writ_delegation delegation;  /* in its arena */
    struct writ_digest digest;          /* of its data */
    char digest_text[WRIT_DIGEST_TEXT]; /* the same */
    int64_t at_us;                      /* of its record */
    bool revoked;
    struct writ_arena *arena;
};

/** Zeroed: none. */
struct writ_delegations {
    struct writ_map by_id, by_voter;
    struct writ_delegated *first, *last;
    size_t count;
};

/** WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_delegations_init(struct writ_delegations *ret, struct writ_err *err);
/** Frees all. A zeroed table is fine. */
void writ_delegations_wipe(struct writ_delegations *delegations);

/** Adds a copy, as the last one, and removes one with its id, whose time is over. WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_delegations_add(struct writ_delegations *delegations,
    const struct writ_delegation *delegation, int64_t at_us, struct writ_delegated **ret,
    struct writ_err *err);
void writ_delegations_remove(
    struct writ_delegations *delegations, struct writ_delegated *delegated);
/** Removes those whose time is over. */
void writ_delegations_prune(struct writ_delegations *delegations, int64_t now_us);

/** Whether it was not revoked, and its time is not over. */
static inline bool
writ_delegations_stands(const struct writ_delegated *delegated, int64_t now_us)
{
    return !delegated->revoked && now_us < delegated->delegation.until_us;
}

/** The one with that id, or NULL. */
struct writ_delegated *writ_delegations_find(
    const struct writ_delegations *delegations, struct writ_view id);
/** The latest one of a voter, and the one of the same voter before another; or NULL. */
struct writ_delegated *writ_delegations_of(
    const struct writ_delegations *delegations, struct writ_view voter);
struct writ_delegated *writ_delegations_before(const struct writ_delegated *delegated);

/** A copy for another thread. WRIT_E_NOMEM. */
WRIT_RESULT writ_delegations_copy(const struct writ_delegation *from, struct writ_arena *arena,
    struct writ_delegation *ret, struct writ_err *err);

#endif
