/* guard_probes.h - the probes by which a guard observes the targets of calls: the `state` of the
 * rules of its tool server, in the policy of the gateway or in a file with these rules alone.
 *
 * Read once. Only the gateway knows which of several rules of a tool decided about a call, so all
 * of them must have the same probe. */
#ifndef WRIT_GATEWAY_GUARD_PROBES_H
#define WRIT_GATEWAY_GUARD_PROBES_H

#include "policy/decide/policy.h"

struct writ_guard_probes;

/**
 * Reads them.
 *
 * @param file      a configuration file (config.h)
 * @param upstream  the name of the guarded server in it; borrowed as long as `ret`
 * @param ret       new, close with writ_guard_probes_close; written only on success
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  no rule of this upstream has a `state`, or rules of one tool differ in
 *                         it, or a probe asks a tool of another upstream
 *         as writ_load_file
 */
WRIT_RESULT writ_guard_probes_open(const char *file, struct writ_view upstream,
    struct writ_guard_probes **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_guard_probes_close(struct writ_guard_probes *probes);

/** The rule with the probe of a tool; NULL without one. */
const struct writ_tool_rule *writ_guard_probes_find(
    const struct writ_guard_probes *probes, struct writ_view tool);

/** Whether a probe calls this tool. */
bool writ_guard_probes_asks(const struct writ_guard_probes *probes, struct writ_view tool);

#endif
