/* review_bulk.c - the present configuration permits it, and the text of the call is short and
 * hides nothing. */
#include "gateway/admin/review_bulk.h"

#include "base/hidden.h"

#define MARKED_MAX (16 * WRIT_REVIEW_BULK_MAX) /* bytes of a text with its marks */

static bool
is_configured(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->reviews_n; i++) {
        if (writ_view_equal(config->reviews[i].name, name)) {
            return config->reviews[i].bulk;
        }
    }
    return false;
}

/* Whether a person could take a part of the text for something else, or not see it. */
static bool
hides(struct writ_view json)
{
    writ_auto_buf marked = writ_buf_make(MARKED_MAX);

    return json.len > 0 &&
           (writ_hidden_mark(&marked, json) > 0 || !writ_is_ok(writ_buf_check(&marked, NULL)));
}

const char *
writ_review_bulk_refused(const struct writ_entry_review_get *get, const struct writ_config *config)
{
    struct writ_view state = get->target_state;

    if (!is_configured(config, get->told.review.name)) {
        return "the review takes no votes in bulk";
    }
    if (get->arguments.ptr == NULL) {
        return "the arguments of the call are no longer kept";
    }
    if (get->arguments.len + state.len > WRIT_REVIEW_BULK_MAX) {
        return "the call is too long for votes in bulk";
    }
    if (get->state_before.ptr != NULL) {
        return "the target has changed since the review before";
    }
    if (hides(get->arguments) || hides(state)) {
        return "the call has characters that hide, or letters that look like others";
    }
    return NULL;
}
