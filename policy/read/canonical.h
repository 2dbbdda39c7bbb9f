/* canonical.h - the preimage of policy_digest: everything that can change a decision, as canonical
 * JSON. */
#ifndef WRIT_POLICY_CANONICAL_H
#define WRIT_POLICY_CANONICAL_H

#include "evidence/json/digest.h"
#include "policy/model/config.h"
#include "policy/read/raw.h"

/**
 * Appends everything that can change a decision, as canonical JSON: the preimage of policy_digest.
 *     {"policy":"writ-policy-v1","tools":[{"rules":[...],"tool":"fs/write_file"},...]}
 * with "reviews":{...} after it if there are any, and "defaults":{...} before it if `defaults`
 * says more than that zero means no, with "definitions":{...} after it if there are any. Upstreams
 * and frameworks of included files that are not agreed are "not_agreed":[...] before it, and the
 * tools of such a file have "agreed":false. The files of crews of reviewers are
 * "crews":{"NAME":"sha256:..."} at the beginning, and those of plug-ins that count votes
 * "engines":{"FILE":"sha256:..."} before flows. Texts are strings; in values of constraints and
 * arguments of probes numbers are ["n","500.00"], lists
 * ["l",...] and maps ["m",{...}], so that two different values never look the same.
 */
WRIT_RESULT writ_canonical_policy(const struct writ_raw_top *top, const struct writ_yaml *root,
    const struct writ_config *config, struct writ_arena *arena, struct writ_buf *ret);

/** As writ_canonical_policy, for people: URLs of probes have no query, those of reviewers no path,
 * and their commands no arguments and no environment, because these may be secrets. */
WRIT_RESULT writ_canonical_shown(const struct writ_raw_top *top, const struct writ_yaml *root,
    const struct writ_config *config, struct writ_arena *arena, struct writ_buf *ret);

/** The digest of one entry of the file in that form. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_canonical_digest(
    const struct writ_yaml *node, struct writ_arena *arena, struct writ_digest *ret);

#endif
