/* authorization.h - `authorization` of an upstream: read and checked. */
#ifndef WRIT_POLICY_AUTHORIZATION_H
#define WRIT_POLICY_AUTHORIZATION_H

#include "policy/read/option.h"

/**
 * Checks the options.
 *
 * @param node  of the upstream in the file
 * @param to    the upstream; its kind, URL, resource and credential header are filled in
 *
 * @return in the arena of `o`; NULL without one, or after a fault (in the findings)
 */
const struct writ_authorization_config *writ_authorization_read(struct writ_options *o,
    const struct writ_yaml *node, const struct writ_raw_authorization *raw,
    const struct writ_upstream_config *to);

/** True for the name of an HTTP header (RFC 9110 5.6.2) that an option may give to a secret or a
 * credential: not one of field.tbl.h. */
bool writ_authorization_is_header(struct writ_view name);

#endif
