/* resources.h - the labels of a resource by its URI: `resources` of its upstream. Pure. */
#ifndef WRIT_POLICY_RESOURCES_H
#define WRIT_POLICY_RESOURCES_H

#include "policy/model/flow.h"

#define WRIT_RESOURCE_URI_MAX   65536
#define WRIT_RESOURCES_WORK_MAX 262144 /* bytes of a URI times patterns: the loop waits for it */

/** `resources` of the upstream of that name; NULL: it has none. */
const struct writ_resources *writ_resources_in(
    const struct writ_config *config, struct writ_view upstream);

/**
 * Finds the entry of the first pattern that matches the URI, as it is and with its percent escapes
 * undone.
 *
 * @param resources  NULL: there is none
 * @param uri        ptr NULL: there is none that can be read, so it is not known
 * @param ret        NULL: no pattern matches
 *
 * Returns false when it is not known which one, and the resource may have every label: the two
 * forms of the URI have different entries, a segment is `.` or `..`, there is a backslash or an
 * escape of an escape, an earlier pattern matches an equivalent URI (in case, user and port, query
 * or fragment, doubled or last slashes), or a limit or memory was reached.
 */
bool writ_resources_find(
    const struct writ_resources *resources, struct writ_view uri, const struct writ_labels **ret);

/** The entry of that pattern, or NULL. `resources` may be NULL. */
const struct writ_labels *writ_resources_of(
    const struct writ_resources *resources, struct writ_view pattern);

#endif
