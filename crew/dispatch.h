/* dispatch.h - the ballots of a choice of handler, read from answers. */
#ifndef WRIT_CREW_DISPATCH_H
#define WRIT_CREW_DISPATCH_H

#include "base/alloc.h"
#include "writ/crew.h"

/** The engine without a name. */
#define WRIT_DISPATCH_ENGINE "majority"

/**
 * Reads the ballots of writ_crew_dispatch.
 *
 * @param arena  owns the ballots
 * @param ret    of each agent, in the order of `roles`; `list` is NULL where the answer is absent
 *               or cannot be read
 *
 * @return WRIT_OK; WRIT_E_INVALID (DUPLICATE_ROLE), WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_dispatch_read(const struct writ_view *roles, const struct writ_view *answers,
    size_t n, struct writ_arena *arena, const struct writ_crew_ranking **ret,
    struct writ_crew_err *err);

/** Elects by the ballots that were read. As writ_crew_dispatch. */
WRIT_RESULT writ_dispatch_elect(const struct writ_view *roles,
    const struct writ_crew_ranking *ballots, size_t n, struct writ_view engine,
    const struct writ_crew_engines *engines, size_t *ret, struct writ_crew_text *why,
    struct writ_crew_err *err);

#endif
