/* setup_text.h - parts of a first configuration, as text. Failures stay in the buffer. */
#ifndef WRIT_CLI_SETUP_TEXT_H
#define WRIT_CLI_SETUP_TEXT_H

#include "evidence/json/digest.h"
#include "policy/model/config.h"

#define WRIT_SETUP_OWNER       "owner"   /* the agent that approves */
#define WRIT_SETUP_TEXT_SECRET ".secret" /* behind the name of a server: the file of its secret */

/** Appends the sections agents, auditors, administrators and reviews: an agent that calls tools,
 * and the owner, who approves. `agent` has letters, digits, - and _ alone.
 *
 * @param at_client  the owner is also asked in the client, which runs as the owner's user */
void writ_setup_text_agents(struct writ_buf *ret, struct writ_view agent,
    const struct writ_digest *agent_token, const struct writ_digest *owner_token, bool at_client);

/** Appends the entry of one server in the section upstreams. The `secret` of its authorization
 * stands in a file of its own, beside the configuration. */
void writ_setup_text_server(struct writ_buf *ret, const struct writ_upstream_config *server);

#endif
