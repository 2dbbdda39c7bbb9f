/* contents_api.h - kept contents over HTTP, on the admin listener.
 *
 *   GET  /v1/contents/ID     arguments and result of one decision (contents_answer.h)
 *   GET  /v1/contents/ID/why why it was decided so, with the kept arguments (why_answer.h); for
 *                            those who may read the policy too
 *   POST /v1/contents/erase  {"decision"?, "agent"?, "tenant"?, "before"?, "count"?}: destroys the
 *                            contents of the calls that all given members select; with
 *                            "count": true it only counts them
 *
 * Contents are for `content_readers` of the configuration, by subject, and for no other caller,
 * whatever else it may do: of their own tenant, or of all when they have none. A look is recorded
 * in the ledger before it is answered. Erasing is for `administrators`, in the same way. */
#ifndef WRIT_GATEWAY_CONTENTS_API_H
#define WRIT_GATEWAY_CONTENTS_API_H

#include "gateway/admin/review_viewer.h"

#define WRIT_CONTENTS_API_ROUTES   2
#define WRIT_CONTENTS_API_BODY_MAX 16384

/** Whether the viewer may read kept contents of that tenant. */
bool writ_contents_api_may_read(const struct writ_review_viewer *viewer, struct writ_view tenant);

/** Fills the routes of a listener. */
void writ_contents_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_CONTENTS_API_ROUTES]);

#endif
