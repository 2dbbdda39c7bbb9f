/* pool.h - the shared pool inside the library: what a request in JSON is made of. */
#ifndef WRIT_CREW_POOL_H
#define WRIT_CREW_POOL_H

#include "evidence/json/write.h"
#include "writ/crew.h"

/** The place of the agent's insight with this key; the count of all: there is none. */
size_t writ_pool_find(
    const struct writ_crew_pool *pool, struct writ_view agent_id, struct writ_view key);
size_t writ_pool_count(const struct writ_crew_pool *pool);

/** The next insights have this number in the store that keeps them, as the member `insight` of what
 * is written of them. */
void writ_pool_number(struct writ_crew_pool *pool, uint64_t number);

/** Writes what writ_crew_pool_read gives, up to the insight with which it has `bytes_max` bytes.
 * `ret_more` gets the number of those that were left out. WRIT_E_NOMEM. */
WRIT_RESULT writ_pool_write(const struct writ_crew_pool *pool,
    const struct writ_crew_filter *filter, size_t bytes_max, struct writ_write *w,
    size_t *ret_more);

/** WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_pool_subscribe(struct writ_crew_pool *pool, struct writ_view agent_id,
    const struct writ_crew_filter *filter, struct writ_crew_err *err);
void writ_pool_unsubscribe(struct writ_crew_pool *pool, struct writ_view agent_id);
/** The number of them that an agent has. */
size_t writ_pool_subscriptions(const struct writ_crew_pool *pool, struct writ_view agent_id);

/** Hands the newest insight to every other agent that wants it, once. WRIT_E_NOMEM. */
WRIT_RESULT writ_pool_notify(
    const struct writ_crew_pool *pool, const struct writ_crew_pool_reader *reader);

#endif
