/* review_url.h - where people find a review: on the page of it that the admin listener serves. */
#ifndef WRIT_GATEWAY_REVIEW_URL_H
#define WRIT_GATEWAY_REVIEW_URL_H

#include "gateway/state/gateway.h"

#define WRIT_REVIEW_URL_MAX 2048 /* bytes of such a URL */

/** Appends "https://admin.example/reviews/ID": by `admin_url`, or by the address that the admin
 * listener is bound to. Nothing when there is no such listener. The URL gives no access: the page
 * asks its reader to log in. */
void writ_review_url_put(struct writ_buf *buf, const struct writ_gateway *gateway,
    const struct writ_config *config, struct writ_view id);

#endif
