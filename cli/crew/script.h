/* script.h - answers of agents, written in advance.
 *
 *   { "answers": { "author-1": [ {"output": "draft"}, {"fault": true} ],
 *                  "reviewer": [ {"output": "approve"} ] } }
 *
 * The k-th request to an agent gets the k-th answer of the list under its id, or else under its
 * role. An answer has the members of agent.step.completed (output, memex_commands, fault, stalled),
 * or "failed" with a text, or "silent": true: no answer before the time limit; and "messages", a
 * list of requests (agent_exchange.h) that the agent makes before it answers. An exhausted or
 * absent list fails the agent. */
#ifndef WRIT_CLI_SCRIPT_H
#define WRIT_CLI_SCRIPT_H

#include "gateway/crews/open_steps.h"

struct writ_script;

/** Reads a script; `text` is borrowed until it is freed. WRIT_E_PARSE, WRIT_E_INVALID (names the
 * fault by its JSON Pointer), WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_script_read(struct writ_view text, struct writ_script **ret, struct writ_err *err);
void writ_script_free(struct writ_script *script);

/** Counts a step of an agent; `ret` is how many it had before, its `turn`. WRIT_E_NOMEM. */
WRIT_RESULT writ_script_turn(struct writ_script *script, struct writ_view agent, size_t *ret);

/** Appends the agent's nth request during a step. False: it has made all. Check the buffer. */
bool writ_script_message(const struct writ_script *script, const struct writ_open_step *step,
    size_t nth, struct writ_buf *ret);

/**
 * The answer of the agent of a step.
 *
 * @param ret         the inbound event is appended to it
 * @param ret_silent  true: no answer before the time limit
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 */
WRIT_RESULT writ_script_answer(const struct writ_script *script, const struct writ_open_step *step,
    struct writ_buf *ret, bool *ret_silent, struct writ_err *err);

#endif
