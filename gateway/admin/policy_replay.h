/* policy_replay.h - an edit of the rules, tried on kept calls, on the admin listener.
 *
 *   POST /v1/policy/replay  {"text", "file"?, "since"?}: `text` has the option `tools`, which takes
 *                           the place of that of `file`, the configuration file when it is left
 *                           out. Nothing of it is kept
 *
 * The answer compares the verdicts with those of the present policy, as writ policy replay
 * --against does. Only for auditors and administrators without a tenant who are in content_readers;
 * the ledger has the look before they get the answer. One replay runs at a time, on a thread of its
 * own, and ends after WRIT_POLICY_REPLAY_CALLS calls or WRIT_POLICY_REPLAY_US: the answer says
 * where. */
#ifndef WRIT_GATEWAY_POLICY_REPLAY_H
#define WRIT_GATEWAY_POLICY_REPLAY_H

#include "gateway/state/gateway.h"

#define WRIT_POLICY_REPLAY_ROUTES   1
#define WRIT_POLICY_REPLAY_BODY_MAX ((size_t)1 << 20)
#define WRIT_POLICY_REPLAY_CALLS    20000
#define WRIT_POLICY_REPLAY_US       INT64_C(10000000)

void writ_policy_replay_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_REPLAY_ROUTES]);

#endif
