/* contents_looks.h - looks at kept contents that a program beside the gateway made, on the admin
 * listener.
 *
 *   POST /v1/contents/looks  {"purpose": "learn" or "replay", "count", "since"?}: records that so
 * many contents of calls since that time were read; {"recorded": true}
 *
 * A program with the ledger's files and the key directory decrypts contents itself, and must have
 * its look recorded before it prints; only the gateway writes the ledger while it runs. The route
 * is for `content_readers` without a tenant, because such a program reads those of all tenants. */
#ifndef WRIT_GATEWAY_CONTENTS_LOOKS_H
#define WRIT_GATEWAY_CONTENTS_LOOKS_H

#include "gateway/state/gateway.h"

#define WRIT_CONTENTS_LOOKS_ROUTES   1
#define WRIT_CONTENTS_LOOKS_BODY_MAX 4096

/** Fills the routes of a listener. */
void writ_contents_looks_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_CONTENTS_LOOKS_ROUTES]);

#endif
