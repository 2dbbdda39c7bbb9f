/* scopes.h - OAuth scopes: words with spaces between them (RFC 6749 3.3), as in tokens and
 * challenges. Pure. */
#ifndef WRIT_POLICY_SCOPES_H
#define WRIT_POLICY_SCOPES_H

#include "policy/model/config.h"

#define WRIT_SCOPES_MAX 4096 /* longest list, in bytes */

/** True for one scope: visible ASCII without space, quotation mark and backslash. */
bool writ_scopes_is_one(struct writ_view text);

/** Takes the first scope off `list`; the empty view at the end. */
struct writ_view writ_scopes_next(struct writ_view *list);

/** True when `list` has this scope; scopes are compared exactly. */
bool writ_scopes_has(struct writ_view list, struct writ_view scope);

/** True when `list` has all of `wanted`. */
bool writ_scopes_has_all(struct writ_view list, const struct writ_views *wanted);

/** Appends a scope to a list that does not have it. The buffer keeps failures. */
void writ_scopes_add(struct writ_buf *list, struct writ_view scope);
void writ_scopes_add_all(struct writ_buf *list, const struct writ_views *scopes);

#endif
