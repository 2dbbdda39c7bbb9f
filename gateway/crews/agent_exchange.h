/* agent_exchange.h - what the agent of an open step requests besides answering: the pool of the
 * crew, and actions, which its role must permit.
 *
 *   {"type":"pool.put", ...}                 writ_crew_pool_request
 *       {"type":"pool.answered","agentId","correlationId","id","request","result"|"error"}
 *       {"type":"pool.insight","agentId","insight"} for each agent that subscribed to it
 *   {"type":"agent.action.requested","action":"talk_to","to":AGENT,"message":any}
 *       {"type":"agent.action.resolved","agentId","correlationId","id","action","to","allowed"}
 *       {"type":"agent.message","agentId":AGENT,"from","action","message"} when it is allowed
 *
 * `id` is the requester's own, and comes back. A request that is refused is answered with `error`;
 * nothing of it has happened. */
#ifndef WRIT_GATEWAY_AGENT_EXCHANGE_H
#define WRIT_GATEWAY_AGENT_EXCHANGE_H

#include "base/bytes.h"
#include "evidence/json/json.h"
#include "writ/crew.h"

/** The lines that a request leads to. Zero-initialise; wipe. */
struct writ_agent_exchange {
    struct writ_crew_pool *pool; /* borrowed; NULL: the crew has none */
    struct writ_buf text;
    size_t *ends;
    struct writ_view *lines; /* the events of the session, then those of `text` */
    size_t ends_n, ends_cap, lines_n, lines_cap;
    double now_ms;
    bool exhausted;
};

void writ_agent_exchange_wipe(struct writ_agent_exchange *exchange);

/** Whether an event of this type is for the worker of its agentId. */
bool writ_agent_exchange_is_for_worker(const struct writ_json *event);

/** Whether a line of a worker is a request of this kind. */
bool writ_agent_exchange_is_request(const struct writ_json *line);

/**
 * Does what a request says.
 *
 * @param agent_id  that of the open step `correlationId` of the message
 * @param text      of the message
 * @param ret       all events; borrowed until the next call with the exchange or the session
 *
 * @return WRIT_OK, also when it is refused; WRIT_E_ABSENT (the step is not open), WRIT_E_INVALID (a
 *         session that is broken), WRIT_E_NOMEM
 */
WRIT_RESULT writ_agent_exchange_take(struct writ_agent_exchange *exchange,
    struct writ_crew_session *session, double now_ms, struct writ_view agent_id,
    const struct writ_json *message, struct writ_view text, struct writ_crew_events *ret,
    struct writ_err *err);

#endif
