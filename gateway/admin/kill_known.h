/* kill_known.h - whether a stop names something that there is, and what it stops, in words. A name
 * with a typing error in it stops nothing, and the operator has to learn that at once. */
#ifndef WRIT_GATEWAY_KILL_KNOWN_H
#define WRIT_GATEWAY_KILL_KNOWN_H

#include "gateway/stops/kill.h"
#include "policy/model/config.h"
#include "store/read/reader.h"

#define WRIT_KILL_KNOWN_LOOKS 100000 /* the newest decisions that are looked through */

/** Whether the configuration names what the stop names. A credential always is: it was found. */
bool writ_kill_known_is_configured(const struct writ_config *config, const struct writ_kill *kill);

/** Whether one of the newest decisions is of what the stop names. False also when the ledger cannot
 * be read. Blocks. */
bool writ_kill_known_is_seen(struct writ_reader *reader, const struct writ_kill *kill);

/** Appends what is stopped: "calls of agent dev, in tenant acme". */
void writ_kill_known_put(const struct writ_kill *kill, struct writ_buf *ret);

#endif
