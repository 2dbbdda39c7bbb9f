/* kill_preview.h - what a stop would stop, before it is pulled: the calls that the policy allowed
 * in the last hour and day and that the stop names, with their agents and tools. */
#ifndef WRIT_GATEWAY_KILL_PREVIEW_H
#define WRIT_GATEWAY_KILL_PREVIEW_H

#include "gateway/admin/api_view.h"
#include "gateway/stops/kill.h"

/** In the arena of its exchange. */
struct writ_kill_preview {
    struct writ_api_view view;
    struct writ_kill kill;         /* set by the caller, with texts in the same arena */
    char policy[WRIT_DIGEST_TEXT]; /* the present one */
};

/** As writ_api_request_open. */
struct writ_kill_preview *writ_kill_preview_open(
    struct writ_exchange *x, struct writ_gateway *gateway);

/** Answers with {"stops", "known", "hour": {"calls", "agent", "tool"}, "day": ...}. The caller is
 * an administrator, and the stop within its tenant. */
void writ_kill_preview_ask(struct writ_kill_preview *preview);

#endif
