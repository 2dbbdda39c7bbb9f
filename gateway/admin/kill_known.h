/* kill_known.h - whether a stop names something that exists, and a description of the calls that it
 * stops. A misspelt name stops nothing, and the operator must learn that at once. */
#ifndef WRIT_GATEWAY_KILL_KNOWN_H
#define WRIT_GATEWAY_KILL_KNOWN_H

#include "gateway/stops/kill.h"
#include "policy/model/config.h"
#include "store/read/reader.h"

#define WRIT_KILL_KNOWN_LOOKS 100000 /* newest decisions that are searched, at most */

/** Whether the configuration has what the stop names. True for a credential: it was found. */
bool writ_kill_known_is_configured(const struct writ_config *config, const struct writ_kill *kill);

/** Whether one of the newest decisions matches the stop. False also when the ledger cannot be read.
 * Blocks. */
bool writ_kill_known_is_seen(struct writ_reader *reader, const struct writ_kill *kill);

/** Appends the description: "calls of agent dev, in tenant acme". */
void writ_kill_known_put(const struct writ_kill *kill, struct writ_buf *ret);

#endif
