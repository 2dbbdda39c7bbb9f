/* resources.c - see resources.h. A server may take a URI for another one: it undoes escapes, takes
 * dots for folders, and does not tell apart what RFC 3986 6 calls equivalent. Where the labels
 * could then be those of an earlier pattern, which the URI passes by, no pattern decides. */
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

static void
undo(struct writ_view uri, struct writ_buf *ret)
{
    while (uri.len > 0) {
        int high = uri.ptr[0] == '%' && uri.len > 2 ? writ_hex_digit(uri.ptr[1]) : -1;
        int low = high >= 0 ? writ_hex_digit(uri.ptr[2]) : -1;

        writ_buf_byte(ret, low >= 0 ? (char)(16 * high + low) : uri.ptr[0]);
        uri = writ_view_sub(uri, low >= 0 ? 3 : 1, uri.len);
    }
}

/* A segment ends where a server may end it: also at a parameter, a query and a scheme. */
static size_t
segment_of(struct writ_view uri)
{
    size_t len = 0;

    while (len < uri.len && writ_view_find(WRIT_LIT("/?#;:"), uri.ptr[len]) == 5) {
        len++;
    }
    return len;
}

/* A server may undo escapes again, and end a path at a NUL. */
static bool
is_odd(struct writ_view uri)
{
    while (uri.len > 0) {
        size_t end = segment_of(uri);
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

/* The first pattern that matches, in `ret`; resources->n: none. */
static bool
find(const struct writ_resources *resources, struct writ_view uri, size_t *ret)
{
    for (*ret = 0; *ret < resources->n; ++*ret) {
        enum writ_glob_answer answer = writ_glob_match(resources->items[*ret]->resource, uri);

        if (answer != WRIT_GLOB_NO) {
            return answer == WRIT_GLOB_YES;
        }
    }
    return true;
}

/* ---- equivalent forms */

static void
put_lower(struct writ_buf *ret, struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        writ_buf_byte(ret, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

/* The host without user, port and the dot at its end. */
static struct writ_view
host_of(struct writ_view authority)
{
    struct writ_view host = authority;
    size_t end;

    for (size_t at = writ_view_find(host, '@'); at < host.len; at = writ_view_find(host, '@')) {
        host = writ_view_sub(host, at + 1, host.len);
    }
    end = host.len;
    while (end > 0 && host.ptr[end - 1] >= '0' && host.ptr[end - 1] <= '9') {
        end--;
    }
    host.len = end > 0 && host.ptr[end - 1] == ':' ? end - 1 : host.len;
    host.len -= writ_view_has_suffix(host, WRIT_LIT(".")) ? 1 : 0;
    return host;
}

/* Puts scheme and authority, and gives what follows. All of file: is one host. */
static struct writ_view
put_place(struct writ_view uri, bool host_alone, struct writ_buf *ret)
{
    size_t scheme = writ_view_find(uri, ':'), end;
    struct writ_view rest = writ_view_sub(uri, scheme + 1, uri.len);
    bool is_file = writ_view_equal_nocase(writ_view_sub(uri, 0, scheme), WRIT_LIT("file"));
    bool has_authority = writ_view_has_prefix(rest, WRIT_LIT("//"));

    if (!has_authority && !is_file) {
        return uri;
    }
    put_lower(ret, writ_view_sub(uri, 0, scheme));
    writ_buf_str(ret, "://");
    rest = writ_view_sub(rest, has_authority ? 2 : 0, rest.len);
    for (end = 0;
         has_authority && end < rest.len && writ_view_find(WRIT_LIT("/?#"), rest.ptr[end]) == 3;
         end++) {
    }
    if (!is_file || !host_alone) {
        struct writ_view authority = writ_view_sub(rest, 0, end);
        put_lower(ret, host_alone ? host_of(authority) : authority);
    }
    writ_buf_str(ret, end < rest.len && rest.ptr[end] == '/' ? "" : "/");
    return writ_view_sub(rest, end, rest.len);
}

/* The form in which equivalent URIs are equal, but for a slash at the end. */
static void
put_form(struct writ_view uri, bool host_alone, const char *ends, struct writ_buf *ret)
{
    struct writ_view left = put_place(uri, host_alone, ret), stops = writ_view_str(ends);
    size_t end = 0;

    while (end < left.len && writ_view_find(stops, left.ptr[end]) == stops.len) {
        if (left.ptr[end] != '/' || end == 0 || left.ptr[end - 1] != '/') {
            put_lower(ret, writ_view_sub(left, end, 1));
        }
        end++;
    }
}

/* Whether one of the first `n` patterns may match. */
static bool
may_match(const struct writ_resources *resources, size_t n, struct writ_view form)
{
    for (size_t i = 0; i < n; i++) {
        char room[WRIT_GLOB_MAX];
        struct writ_buf pattern = writ_buf_over(room, sizeof room);

        put_lower(&pattern, resources->items[i]->resource);
        if (!writ_is_ok(writ_buf_check(&pattern, NULL)) ||
            writ_glob_match(writ_buf_view(&pattern), form) != WRIT_GLOB_NO) {
            return true;
        }
    }
    return false;
}

/* Whether the URI passes by one of the first `n` patterns, which an equivalent one matches. */
static bool
passes_by(const struct writ_resources *resources, size_t n, struct writ_view uri)
{
    static const struct {
        char begins;
        const char *stops;
    } cut[] = {{'\0', ""}, {'#', "#"}, {'?', "?#"}};
    writ_auto_buf form = writ_buf_make(WRIT_RESOURCE_URI_MAX);

    for (size_t i = 0; n > 0 && i < 2 * (sizeof cut / sizeof cut[0]); i++) {
        struct writ_view whole;
        size_t len;

        if (i > 1 && writ_view_find(uri, cut[i / 2].begins) == uri.len) {
            continue; /* as the form before */
        }
        writ_buf_clear(&form);
        put_form(uri, i % 2 != 0, cut[i / 2].stops, &form);
        whole = writ_buf_view(&form);
        len = whole.len - (writ_view_has_suffix(whole, WRIT_LIT("/")) ? 1 : 0);
        if (!writ_is_ok(writ_buf_check(&form, NULL)) || may_match(resources, n, whole) ||
            (len < whole.len && may_match(resources, n, writ_view_sub(whole, 0, len)))) {
            return true;
        }
    }
    return false;
}

bool
writ_resources_find(
    const struct writ_resources *resources, struct writ_view uri, const struct writ_labels **ret)
{
    writ_auto_buf undone = writ_buf_make(WRIT_RESOURCE_URI_MAX);
    size_t as_it_is = 0, without = 0;

    *ret = NULL;
    if (resources == NULL) {
        return true;
    }
    if (uri.ptr == NULL || uri.len * resources->n > WRIT_RESOURCES_WORK_MAX) {
        return false;
    }
    undo(uri, &undone);
    if (!writ_is_ok(writ_buf_check(&undone, NULL)) || is_odd(writ_buf_view(&undone)) ||
        !find(resources, uri, &as_it_is) || !find(resources, writ_buf_view(&undone), &without) ||
        as_it_is != without || passes_by(resources, as_it_is, writ_buf_view(&undone))) {
        return false;
    }
    *ret = as_it_is < resources->n ? resources->items[as_it_is] : NULL;
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
