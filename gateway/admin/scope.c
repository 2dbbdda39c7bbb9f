/* scope.c - by the present configuration: roles in `auditors`, subjects in `administrators`. */
#include "gateway/admin/scope.h"

static bool
has(const struct writ_views *all, struct writ_view one)
{
    for (size_t i = 0; i < all->n; i++) {
        if (writ_view_equal(all->items[i], one)) {
            return true;
        }
    }
    return false;
}

enum writ_scope
writ_scope_of(const struct writ_review_viewer *viewer)
{
    if (!has(&viewer->generation->config->auditors, viewer->agent.role)) {
        return WRIT_SCOPE_OWN;
    }
    return viewer->agent.tenant.len > 0 ? WRIT_SCOPE_TENANT : WRIT_SCOPE_ALL;
}

struct writ_view
writ_scope_name(enum writ_scope scope)
{
    static const struct writ_view names[] = {
        [WRIT_SCOPE_OWN] = WRIT_LIT("own"),
        [WRIT_SCOPE_TENANT] = WRIT_LIT("tenant"),
        [WRIT_SCOPE_ALL] = WRIT_LIT("all"),
    };

    return names[scope];
}

bool
writ_scope_administers(const struct writ_review_viewer *viewer)
{
    return has(&viewer->generation->config->administrators, writ_review_viewer_subject(viewer));
}
