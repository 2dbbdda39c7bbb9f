/* tool_discovery.h - the definitions of tools that their servers list, and how the gateway learns
 * them.
 *
 * A catalog is learned in four ways: before the first call to a server (the step DISCOVER requests
 * its list in the client's own session), from lists on their way to a client, and again after the
 * server said that its list has changed, or when the known list is too old (`refresh` of the
 * upstream, or sooner by the ttlMs of the list; for a pinned tool after 5 seconds). One request of
 * a loop asks; others that need the same list wait for it. A server that does not answer is asked
 * again after a while; calls of tools that are not pinned continue without. */
#ifndef WRIT_GATEWAY_TOOL_DISCOVERY_H
#define WRIT_GATEWAY_TOOL_DISCOVERY_H

#include "gateway/request/request.h"

/** Whether a definition may be shown and called under the rule: it is the accepted one, or neither
 * pinned nor withheld as odd. `digest` NULL: unknown. `odd`: its oddities (odd.h). Returns
 * WRIT_REASON_NONE, or the reason. */
enum writ_reason writ_tool_discovery_judge(const struct writ_request *request,
    const struct writ_tool_rule *rule, struct writ_view upstream, struct writ_view tool,
    const struct writ_digest *digest, unsigned odd);

/** The oddities for which the tool is withheld unless it is accepted: of its definition, and of its
 * name beside the tools of upstreams that the configuration names earlier. */
unsigned writ_tool_discovery_withheld(const struct writ_request *request,
    const struct writ_upstream *upstream, struct writ_view tool, const struct writ_digest *digest,
    unsigned odd);

/** Whether a structured result is valid under the outputSchema of the definition by which the call
 * was judged. NONE, or the reason for withholding it. */
enum writ_reason writ_tool_discovery_result(
    struct writ_request *request, const struct writ_json *result);

/** When a page of a list of tools that arrived now becomes too old; monotonic. */
int64_t writ_tool_discovery_stale_us(
    struct writ_loop *loop, struct writ_upstream *upstream, const struct writ_json *result);

/** Takes one element of a list of tools on its way to a client: gives its digest and its
 * oddities, and marks the catalog as doubtful when the digest differs. WRIT_E_LIMIT, WRIT_E_NOMEM,
 * WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_tool_discovery_notice(struct writ_request *request, struct writ_upstream *upstream,
    const struct writ_json *item, struct writ_digest *ret, unsigned *ret_odd);

#endif
