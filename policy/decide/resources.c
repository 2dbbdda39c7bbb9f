/* resources.c - see resources.h. A server may undo escapes and take dots for folders, so that a URI
 * means a resource whose labels are others: where that could be, no pattern decides. */
#include "policy/decide/resources.h"

#include "policy/model/glob.h"

const struct writ_resources *
writ_resources_in(const struct writ_config *config, struct writ_view upstream)
{
    for (size_t i = 0; config->resources != NULL && i < config->written_n; i++) {
        if (writ_view_equal(config->written[i].name, upstream)) {
            return config->resources[i].n > 0 ? &config->resources[i] : NULL;
        }
    }
    return NULL;
}

static int
digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static void
undo(struct writ_view uri, struct writ_buf *ret)
{
    while (uri.len > 0) {
        int high = uri.ptr[0] == '%' && uri.len > 2 ? digit_of(uri.ptr[1]) : -1;
        int low = high >= 0 ? digit_of(uri.ptr[2]) : -1;

        writ_buf_byte(ret, low >= 0 ? (char)(16 * high + low) : uri.ptr[0]);
        uri = writ_view_sub(uri, low >= 0 ? 3 : 1, uri.len);
    }
}

/* A server may undo escapes again, and end a path at a NUL. */
static bool
is_odd(struct writ_view uri)
{
    while (uri.len > 0) {
        size_t end = writ_view_find(uri, '/');
        struct writ_view segment = writ_view_sub(uri, 0, end);

        if (writ_view_is(segment, ".") || writ_view_is(segment, "..")) {
            return true;
        }
        for (size_t i = 0; i < segment.len; i++) {
            char c = segment.ptr[i];
            if (c == '\\' || c == '%' || (unsigned char)c < ' ') {
                return true;
            }
        }
        uri = writ_view_sub(uri, end + 1, uri.len);
    }
    return false;
}

static bool
find(const struct writ_resources *resources, struct writ_view uri, const struct writ_labels **ret)
{
    const struct writ_labels *found = NULL;

    for (size_t i = 0; found == NULL && i < resources->n; i++) {
        switch (writ_glob_match(resources->items[i]->resource, uri)) {
        case WRIT_GLOB_LIMIT:
            return false;
        case WRIT_GLOB_YES:
            found = resources->items[i];
            break;
        case WRIT_GLOB_NO:
            break;
        }
    }
    *ret = found;
    return true;
}

bool
writ_resources_find(
    const struct writ_resources *resources, struct writ_view uri, const struct writ_labels **ret)
{
    writ_auto_buf undone = writ_buf_make(WRIT_RESOURCE_URI_MAX);
    const struct writ_labels *as_it_is, *without;

    *ret = NULL;
    if (resources == NULL) {
        return true;
    }
    undo(uri, &undone);
    if (!writ_is_ok(writ_buf_check(&undone, NULL)) || is_odd(writ_buf_view(&undone)) ||
        !find(resources, uri, &as_it_is) || !find(resources, writ_buf_view(&undone), &without) ||
        as_it_is != without) {
        return false;
    }
    *ret = as_it_is;
    return true;
}

const struct writ_labels *
writ_resources_of(const struct writ_resources *resources, struct writ_view pattern)
{
    for (size_t i = 0; resources != NULL && i < resources->n; i++) {
        if (writ_view_equal(resources->items[i]->resource, pattern)) {
            return resources->items[i];
        }
    }
    return NULL;
}
