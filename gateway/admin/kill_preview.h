/* kill_preview.h - what a stop would stop, before it is pulled: the calls that the policy allowed
 * in the last hour and day and that the stop names, with their agents and tools. */
#ifndef WRIT_GATEWAY_KILL_PREVIEW_H
#define WRIT_GATEWAY_KILL_PREVIEW_H

#include "gateway/state/gateway.h"
#include "gateway/stops/kill.h"

/** Answers the exchange: {"stops", "known", "hour": {"calls", "agent", "tool"}, "day": ...}. The
 * caller is an administrator, and the stop within its tenant; its texts live in the arena of the
 * exchange. */
void writ_kill_preview_answer(
    struct writ_exchange *x, struct writ_gateway *gateway, const struct writ_kill *kill);

#endif
