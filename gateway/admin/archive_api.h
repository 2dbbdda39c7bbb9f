/* archive_api.h - the removal of archived records over HTTP, on the admin listener.
 *
 *   POST /v1/archive  {"archived": N, "before": TIME, "root": DIGEST}: the ledger gives up its
 * records from before that time, of which an archive has the first N, whose tree has that root
 * (core/store/write/removing.h); 409 when those of the ledger have another
 *
 * Answers when they are gone (writ_archive_api_answer). For `administrators` of all tenants: the
 * gateway does not see the archive, and believes that the caller has verified it. */
#ifndef WRIT_GATEWAY_ARCHIVE_API_H
#define WRIT_GATEWAY_ARCHIVE_API_H

#include "evidence/json/write.h"
#include "gateway/admin/review_viewer.h"

#define WRIT_ARCHIVE_API_ROUTES   1
#define WRIT_ARCHIVE_API_BODY_MAX 1024

/** Writes what a removal did:
 *
 *     {"first": F, "removed": N, "limit": NAME or null, "name": TEXT or null, "since": TIME or
 * null}
 *
 * F is the first record that the ledger has; `limit` (remove.tbl.h) keeps later ones, from before
 * the time that was asked for, since that of record F. */
void writ_archive_api_answer(const struct writ_entry_remove *remove, struct writ_write *w);

/** Fills the routes of a listener. */
void writ_archive_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_ARCHIVE_API_ROUTES]);

#endif
