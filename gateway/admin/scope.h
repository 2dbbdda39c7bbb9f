/* scope.h - which calls a caller of the admin listener may see: its own; all of its tenant, with
 * one of the roles in `auditors`; all, when such a caller has no tenant. */
#ifndef WRIT_GATEWAY_SCOPE_H
#define WRIT_GATEWAY_SCOPE_H

#include "gateway/admin/review_viewer.h"

enum writ_scope { WRIT_SCOPE_OWN = 0, WRIT_SCOPE_TENANT, WRIT_SCOPE_ALL };

enum writ_scope writ_scope_of(const struct writ_review_viewer *viewer);

/** "own", "tenant", "all". Static storage. */
struct writ_view writ_scope_name(enum writ_scope scope);

/** Whether the caller is one of the `administrators`. */
bool writ_scope_administers(const struct writ_review_viewer *viewer);

#endif
