/* review_url.c - appends the URL of a review's page, or nothing without an admin listener. */
#include "gateway/review/review_url.h"

#include "base/text.h"

#define PAGE "/reviews/"

void
writ_review_url_put(struct writ_buf *buf, const struct writ_gateway *gateway,
    const struct writ_config *config, struct writ_view id)
{
    if (gateway->admin_url.len == 0) {
        return;
    }
    writ_buf_put(buf, config->admin_url.len > 0 ? config->admin_url : gateway->admin_url);
    writ_buf_str(buf, PAGE);
    writ_buf_put(buf, id);
}
