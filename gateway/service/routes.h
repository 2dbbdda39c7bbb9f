/* routes.h - the paths that the gateway serves: those of clients, and of the listener for
 * administration. */
#ifndef WRIT_GATEWAY_ROUTES_H
#define WRIT_GATEWAY_ROUTES_H

#include "gateway/admin/archive_api.h"
#include "gateway/admin/budgets_api.h"
#include "gateway/admin/contents_api.h"
#include "gateway/admin/contents_looks.h"
#include "gateway/admin/delegation_api.h"
#include "gateway/admin/kill_api.h"
#include "gateway/admin/ledger_api.h"
#include "gateway/admin/login.h"
#include "gateway/admin/login_guard.h"
#include "gateway/admin/overview_api.h"
#include "gateway/admin/page.h"
#include "gateway/admin/policy_api.h"
#include "gateway/admin/policy_history.h"
#include "gateway/admin/policy_replay.h"
#include "gateway/admin/review_api.h"
#include "gateway/admin/tools_api.h"
#include "gateway/hook/hook.h"
#include "gateway/state/gateway.h"

#define WRIT_ROUTES_FIXED 4
#define WRIT_ROUTES_MAX   (WRIT_UPSTREAMS_MAX + WRIT_ROUTES_FIXED + WRIT_HOOK_ROUTES)
#define WRIT_ROUTES_ADMIN                                                                          \
    (WRIT_ADMIN_ROUTES + WRIT_REVIEW_API_ROUTES + WRIT_LOGIN_ROUTES + WRIT_LEDGER_API_ROUTES +     \
        WRIT_PAGE_ROUTES + WRIT_KILL_API_ROUTES + WRIT_CONTENTS_API_ROUTES +                       \
        WRIT_ARCHIVE_API_ROUTES + WRIT_DELEGATION_API_ROUTES + WRIT_CONTENTS_LOOKS_ROUTES +        \
        WRIT_OVERVIEW_API_ROUTES + WRIT_TOOLS_API_ROUTES + WRIT_POLICY_API_ROUTES +                \
        WRIT_POLICY_HISTORY_ROUTES + WRIT_POLICY_REPLAY_ROUTES + WRIT_BUDGETS_API_ROUTES)
#define WRIT_ROUTES_PATH_MAX 64 /* bytes */

/** Zeroed before it is made; stays until both listeners are freed. */
struct writ_routes {
    struct writ_gateway *gateway;
    struct writ_endpoint endpoints[WRIT_UPSTREAMS_MAX + 1]; /* of all upstreams, then of each */
    struct writ_endpoint hooks[WRIT_HOOK_ROUTES];
    char paths[WRIT_UPSTREAMS_MAX + 1][WRIT_ROUTES_PATH_MAX];
    struct writ_route list[WRIT_ROUTES_MAX];
    size_t n;
    struct writ_route admin[WRIT_ROUTES_ADMIN];
    struct writ_login_guard guards[WRIT_ROUTES_ADMIN];
};

/** Those of clients: `list` and `n`. The gateway has its upstreams. */
void writ_routes_make(struct writ_routes *routes, struct writ_gateway *gateway);

/** Those of administration: `admin`. */
void writ_routes_make_admin(struct writ_routes *ret, struct writ_gateway *gateway);

#endif
