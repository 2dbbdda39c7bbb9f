/* uri_reference.h - references between parts of a schema: resolving and taking apart URIs (RFC 3986
 * 5.2). Nothing is fetched. */
#ifndef WRIT_POLICY_URI_REFERENCE_H
#define WRIT_POLICY_URI_REFERENCE_H

#include "base/bytes.h"

#define WRIT_URI_REFERENCE_MAX 4096 /* bytes of a URI */

/** The URI that `reference` is under `base` (which may be empty), without its fragment, in the
 * arena. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_uri_reference_resolve(struct writ_view base, struct writ_view reference,
    struct writ_arena *arena, struct writ_view *ret);

/** The fragment with its percent escapes undone, in the arena; empty without one. WRIT_E_PARSE,
 * WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_uri_reference_fragment(
    struct writ_view reference, struct writ_arena *arena, struct writ_view *ret);

#endif
