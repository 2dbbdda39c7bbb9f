/* tool_name.c - splits at the first separator. A short name ends in a hash of the joined name, so
 * it is found again by computing the short name of every tool in the catalog. */
#include "gateway/mcp/tool_name.h"

#define HASH_DIGITS 8
#define JOINED_MAX  (64 * 1024)

bool
writ_tool_name_split(struct writ_view separator, struct writ_view name,
    struct writ_view *ret_upstream, struct writ_view *ret_own)
{
    size_t at = writ_view_search(name, separator);

    if (at >= name.len) {
        return false;
    }
    *ret_upstream = writ_view_sub(name, 0, at);
    *ret_own = writ_view_sub(name, at + separator.len, SIZE_MAX);
    return true;
}

void
writ_tool_name_join(struct writ_view separator, struct writ_view upstream, struct writ_view own,
    struct writ_buf *ret)
{
    writ_buf_put(ret, upstream);
    writ_buf_put(ret, separator);
    writ_buf_put(ret, own);
}

static bool
is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static bool
is_good(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!is_safe(name.ptr[i])) {
            return false;
        }
    }
    return name.len <= WRIT_TOOL_NAME_NAME_MAX;
}

static void
put_short(struct writ_view joined, size_t prefix, struct writ_buf *ret)
{
    const size_t most = WRIT_TOOL_NAME_NAME_MAX - HASH_DIGITS - 1;
    struct writ_digest digest;

    if (!writ_is_ok(writ_digest_bytes(joined, &digest, NULL))) {
        ret->failed = WRIT_E_CRYPTO;
        return;
    }
    for (size_t i = 0; i < joined.len && i < most; i++) {
        writ_buf_byte(ret, i < prefix || is_safe(joined.ptr[i]) ? joined.ptr[i] : '_');
    }
    writ_buf_byte(ret, '-');
    writ_hex_put(ret, digest.bytes, HASH_DIGITS / 2);
}

void
writ_tool_name_put_tool(struct writ_view separator, struct writ_view upstream, struct writ_view own,
    struct writ_buf *ret)
{
    writ_auto_buf joined = writ_buf_make(upstream.len + separator.len + own.len);

    writ_tool_name_join(separator, upstream, own, &joined);
    if (!writ_is_ok(writ_buf_check(&joined, NULL))) {
        ret->failed = WRIT_E_NOMEM;
    } else if (is_good(writ_buf_view(&joined))) {
        writ_buf_put(ret, writ_buf_view(&joined));
    } else {
        put_short(writ_buf_view(&joined), upstream.len + separator.len, ret);
    }
}

/* Whether `own` can be the end of a short name: a cheap check, so that only such names are
 * searched. */
static bool
may_be_short(struct writ_view own)
{
    return own.len > HASH_DIGITS && own.ptr[own.len - HASH_DIGITS - 1] == '-' &&
           writ_hex_is(writ_view_sub(own, own.len - HASH_DIGITS, SIZE_MAX));
}

struct writ_view
writ_tool_name_tool(struct writ_view separator, struct writ_view upstream, struct writ_view own,
    const struct writ_catalog *catalog)
{
    writ_auto_buf wanted = writ_buf_make(JOINED_MAX);

    if (catalog == NULL || !may_be_short(own) || writ_catalog_find(catalog, own) != NULL) {
        return own;
    }
    writ_tool_name_join(separator, upstream, own, &wanted);
    for (size_t i = 0; i < catalog->n; i++) {
        writ_auto_buf shown = writ_buf_make(JOINED_MAX);
        writ_tool_name_put_tool(separator, upstream, catalog->tools[i].name, &shown);
        if (writ_is_ok(writ_buf_check(&shown, NULL)) && writ_is_ok(writ_buf_check(&wanted, NULL)) &&
            writ_view_equal(writ_buf_view(&shown), writ_buf_view(&wanted))) {
            return catalog->tools[i].name;
        }
    }
    return own;
}
