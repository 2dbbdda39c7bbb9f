/* A path adds each folder on the way to it, so that a list of folders at one depth is found later
 * without the paths. When there is no room for a folder, the depth above it is the last one that is
 * complete, and only lists of complete depths are proposed. */
#include "policy/learn/places.h"

#include "policy/model/host.h"
#include "policy/model/path.h"

#define SUFFIX_HOSTS_MIN 3 /* hosts below one name before a pattern stands for them */
#define SHORT_LABEL      3 /* co.uk, com.au, org.nz: names that many share */

static const struct writ_view root = {"/", 1};

/* ---- paths */

/* The next part of a path that is a name; {NULL, 0} at its end. `at` moves behind it. */
static struct writ_view
next_part(struct writ_view path, size_t *at)
{
    while (*at < path.len) {
        struct writ_view rest = writ_view_sub(path, *at, path.len);
        struct writ_view part = writ_view_sub(rest, 0, writ_view_find(rest, '/'));

        *at += part.len + 1;
        if (part.len > 0 && !writ_view_is(part, ".")) {
            return part;
        }
    }
    return writ_view(NULL, 0);
}

static void
keep_common(struct writ_places *places, struct writ_view path)
{
    size_t at = 0, path_at = 0, end = 0, depth = 0;

    for (;;) {
        struct writ_view known = next_part(places->common, &at), part = next_part(path, &path_at);

        if (known.ptr == NULL || part.ptr == NULL || !writ_view_equal(known, part)) {
            break;
        }
        end = (size_t)(known.ptr + known.len - places->common.ptr);
        depth++;
    }
    places->common.len = end;
    places->common_depth = depth;
}

/* Adds "/a", then "/a/b", ...; a relative path as if it had a slash before it. */
static writ_result
add_path(struct writ_places *places, struct writ_view path, struct writ_seen_in *in)
{
    writ_auto_buf prefix = writ_buf_make(WRIT_PATH_MAX + 2);
    struct writ_seen_value *value = NULL;
    size_t at = 0, depth = 0;

    places->paths.most = WRIT_PLACES_FOLDERS_MAX;
    places->paths.text_max = WRIT_PATH_MAX + 1;
    for (struct writ_view part; (part = next_part(path, &at)).ptr != NULL;) {
        depth++;
        writ_buf_byte(&prefix, '/');
        writ_buf_put(&prefix, part);
        WRIT_TRY(writ_buf_check(&prefix, NULL));
        if (depth > places->complete) {
            continue;
        }
        WRIT_TRY(
            writ_seen_add(&places->paths, writ_buf_view(&prefix), WRIT_JSON_STRING, in, &value));
        if (value == NULL) {
            places->complete = depth - 1;
        }
    }
    if (value != NULL && depth <= places->complete) {
        value->ends = true;
    }
    places->not_absolute = places->not_absolute || depth == 0; /* "/" is no folder to name */
    if (places->n > 0) {
        keep_common(places, writ_buf_view(&prefix));
        return WRIT_DONE;
    }
    places->common = writ_view_copy(writ_buf_view(&prefix), in->arena);
    places->common_depth = depth;
    return (writ_result){places->common.ptr != NULL ? WRIT_OK : WRIT_E_NOMEM};
}

static bool
is_relative(struct writ_view text)
{
    if (text.len == 0 || text.len > WRIT_PATH_MAX || text.ptr[0] == '/' || text.ptr[0] == '~' ||
        writ_view_find(text, ':') < text.len || writ_view_find(text, ' ') < text.len) {
        return false;
    }
    return !writ_path_is_devious(text);
}

/* ---- hosts */

static void
put_lower(struct writ_buf *ret, struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        writ_buf_byte(ret, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
    }
}

static writ_result
add_host(struct writ_places *places, const struct writ_url *url, struct writ_seen_in *in)
{
    writ_auto_buf host = writ_buf_make(WRIT_HOST_MAX + 16);

    places->hosts.most = WRIT_PLACES_HOSTS_MAX;
    places->hosts.text_max = WRIT_HOST_MAX + 16;
    writ_buf_str(&host, url->ipv6 ? "[" : "");
    put_lower(&host, url->host);
    writ_buf_str(&host, url->ipv6 ? "]" : "");
    if (!url->port_is_default) {
        writ_buf_byte(&host, ':');
        writ_buf_u64(&host, url->port);
    }
    WRIT_TRY(writ_buf_check(&host, NULL));
    return writ_seen_add(&places->hosts, writ_buf_view(&host), WRIT_JSON_STRING, in, NULL);
}

/* ---- addresses */

static bool
is_word(char c, const char *signs)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           writ_view_find(writ_view_str(signs), c) < writ_view_str(signs).len;
}

/* The domain of an address such as ann@example.com; {NULL, 0} for another text. */
static struct writ_view
domain_of(struct writ_view text)
{
    size_t at = writ_view_find(text, '@');
    struct writ_view domain = writ_view_sub(text, at + 1, text.len);

    if (at == 0 || at > 64 || domain.len < 3 || domain.len > WRIT_HOST_MAX ||
        writ_view_find(domain, '.') == domain.len) {
        return writ_view(NULL, 0);
    }
    for (size_t i = 0; i < text.len; i++) {
        if (i != at && !is_word(text.ptr[i], i < at ? "._%+-" : ".-")) {
            return writ_view(NULL, 0);
        }
    }
    return domain;
}

static writ_result
add_domain(struct writ_places *places, struct writ_view domain, struct writ_seen_in *in)
{
    writ_auto_buf lower = writ_buf_make(WRIT_HOST_MAX + 1);

    places->domains.most = WRIT_PLACES_HOSTS_MAX;
    places->domains.text_max = WRIT_HOST_MAX;
    put_lower(&lower, domain);
    WRIT_TRY(writ_buf_check(&lower, NULL));
    return writ_seen_add(&places->domains, writ_buf_view(&lower), WRIT_JSON_STRING, in, NULL);
}

/* ---- all of them */

WRIT_RESULT
writ_places_add(struct writ_places *places, struct writ_view text, struct writ_seen_in *in)
{
    struct writ_view domain = domain_of(text);
    struct writ_url url = {.tls = false};

    places->complete = places->n == 0 ? SIZE_MAX : places->complete;
    places->not_absolute = places->not_absolute || !writ_path_is_under(text, &root, 1);
    places->not_relative = places->not_relative || !is_relative(text);
    places->not_url = places->not_url || !writ_is_ok(writ_host_read_url(text, &url));
    places->not_address = places->not_address || domain.ptr == NULL;
    places->slashes = places->slashes || writ_view_find(text, '/') < text.len;
    if (!places->not_absolute || !places->not_relative) {
        WRIT_TRY(add_path(places, text, in));
    }
    if (!places->not_url) {
        WRIT_TRY(add_host(places, &url, in));
    }
    if (!places->not_address) {
        WRIT_TRY(add_domain(places, domain, in));
    }
    places->n++;
    return WRIT_DONE;
}

bool
writ_places_are_absolute(const struct writ_places *places)
{
    return places->n > 0 && !places->not_absolute;
}

bool
writ_places_are_relative(const struct writ_places *places)
{
    return places->n > 0 && !places->not_relative && places->slashes;
}

bool
writ_places_are_urls(const struct writ_places *places)
{
    return places->n > 0 && !places->not_url;
}

bool
writ_places_are_addresses(const struct writ_places *places)
{
    return places->n > 0 && !places->not_address;
}

static size_t
depth_of(struct writ_view path)
{
    size_t depth = 0;

    for (size_t i = 0; i < path.len; i++) {
        depth += path.ptr[i] == '/' ? 1 : 0;
    }
    return depth;
}

/* Whether the common folder would be a deeper one without one run (call): then what is elsewhere is
 * its cost. */
static uint64_t
common_cost(const struct writ_places *places, bool by_run)
{
    uint64_t cost = 0;
    size_t firm = 0, loose = 0;

    for (size_t i = 0; i < places->paths.n; i++) {
        const struct writ_seen_value *value = &places->paths.items[i];
        size_t depth = depth_of(value->text);

        if (depth == places->common_depth && value->ends) {
            return 0; /* the folder itself was seen; the others are below it */
        }
        if (depth == places->common_depth + 1) {
            uint64_t single = writ_seen_sighting_cost(&value->seen, by_run);
            firm += single == 0 ? 1 : 0;
            loose += single > 0 ? 1 : 0;
            cost += single;
        }
    }
    return firm >= 2 || firm + loose > 2 ? 0 : cost;
}

struct writ_views
writ_places_cover(const struct writ_places *places, size_t depth, bool by_run,
    struct writ_arena *arena, uint64_t *cost)
{
    struct writ_view *items = writ_arena_get(arena, WRIT_PLACES_COVER_MAX * sizeof *items);
    struct writ_views none = {.n = 0}, found = {.n = 0};

    *cost = 0;
    if (depth == places->common_depth && depth > 0 && items != NULL) {
        items[0] = places->common;
        *cost = common_cost(places, by_run);
        return writ_path_is_normal(places->common) ? (struct writ_views){.items = items, .n = 1}
                                                   : none;
    }
    if (depth == 0 || depth > places->complete || items == NULL) {
        return none;
    }
    for (size_t i = 0; i < places->paths.n; i++) {
        const struct writ_seen_value *value = &places->paths.items[i];
        size_t own = depth_of(value->text);

        if (own != depth && !(own < depth && value->ends)) {
            continue;
        }
        if (found.n == WRIT_PLACES_COVER_MAX || !writ_path_is_normal(value->text)) {
            return none;
        }
        items[found.n++] = value->text;
        *cost += writ_seen_sighting_cost(&value->seen, by_run);
    }
    found.items = items;
    return found;
}

/* ---- suffixes */

/* "example.com" of "www.example.com"; {NULL, 0} for one that has no owner of its own. */
static struct writ_view
suffix_of(struct writ_view host)
{
    size_t dot = writ_view_find(host, '.');
    struct writ_view rest = writ_view_sub(host, dot + 1, host.len);
    size_t next = writ_view_find(rest, '.');
    bool two = next < rest.len &&
               writ_view_find(writ_view_sub(rest, next + 1, rest.len), '.') == rest.len - next - 1;

    if (dot == host.len || next == rest.len || (two && next <= SHORT_LABEL) ||
        writ_view_find(host, ':') < host.len || host.ptr[0] == '[' ||
        (rest.ptr[rest.len - 1] >= '0' && rest.ptr[rest.len - 1] <= '9')) {
        return writ_view(NULL, 0);
    }
    return rest;
}

struct group {
    size_t hosts;
    uint64_t cost;
    bool firm; /* seen in more than one run (call) */
};

static struct group
group_of(const struct writ_places *places, struct writ_view suffix, bool by_run)
{
    struct group group = {.hosts = 0};
    const struct writ_seen_value *first = NULL;

    for (size_t i = 0; i < places->hosts.n; i++) {
        const struct writ_seen_value *value = &places->hosts.items[i];
        struct writ_view own = suffix_of(value->text);

        if (own.ptr == NULL || !writ_view_equal(own, suffix)) {
            continue;
        }
        group.hosts++;
        group.cost += writ_seen_sighting_cost(&value->seen, by_run);
        group.firm = group.firm || value->seen.many || (first != NULL && !by_run) ||
                     (first != NULL && first->seen.run != value->seen.run);
        first = first == NULL ? value : first;
    }
    group.cost = group.firm ? 0 : group.cost;
    return group;
}

static bool
has_item(const struct writ_views *list, struct writ_view text)
{
    for (size_t i = 0; i < list->n; i++) {
        if (writ_view_equal(list->items[i], text)) {
            return true;
        }
    }
    return false;
}

static struct writ_view
pattern_of(struct writ_view suffix, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_HOST_MAX + 16);

    writ_buf_str(&text, "*.");
    writ_buf_put(&text, suffix);
    return writ_is_ok(writ_buf_check(&text, NULL)) ? writ_buf_view(&text) : writ_view(NULL, 0);
}

struct writ_views
writ_places_hosts(const struct writ_places *places, bool suffixes, bool by_run,
    struct writ_arena *arena, uint64_t *cost)
{
    struct writ_view *items = writ_arena_get(arena, WRIT_PLACES_LIST_MAX * sizeof *items);
    struct writ_views found = {.items = items}, none = {.n = 0};
    bool any = false;

    *cost = 0;
    for (size_t i = 0; i < places->hosts.n && items != NULL; i++) {
        const struct writ_seen_value *value = &places->hosts.items[i];
        struct writ_view suffix = suffixes ? suffix_of(value->text) : writ_view(NULL, 0);
        struct group group = {.hosts = 0};
        struct writ_view entry = value->text;

        if (suffix.ptr != NULL) {
            group = group_of(places, suffix, by_run);
        }
        if (group.hosts >= SUFFIX_HOSTS_MIN) {
            entry = pattern_of(suffix, arena);
            any = true;
        }
        if (entry.ptr == NULL || has_item(&found, entry)) {
            continue;
        }
        if (found.n == WRIT_PLACES_LIST_MAX) {
            return none;
        }
        items[found.n++] = entry;
        *cost += group.hosts >= SUFFIX_HOSTS_MIN ? group.cost
                                                 : writ_seen_sighting_cost(&value->seen, by_run);
    }
    return places->hosts.beyond > 0 || (suffixes && !any) ? none : found;
}
