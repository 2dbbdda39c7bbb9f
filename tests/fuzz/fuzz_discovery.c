/* Metadata that an authorization server publishes. The first byte picks the expected issuer and
 * the member wanted; the rest is the metadata.
 *
 * For every input: a URL comes of them only when they name exactly that issuer, and it is the
 * wanted member, may be fetched, has no NUL, and never leads from https to another scheme. */
#include "support/fuzz.h"

#include "evidence/json/json.h"
#include "gateway/auth/discovery.h"
#include "gateway/http/fetch.h"

#define ARENA_MAX ((size_t)16 << 20)

static const char *const issuers[] = {
    "https://as.example", "https://as.example/tenant/", "http://127.0.0.1:9/as"};
static const char *const members[] = {"jwks_uri", "token_endpoint"};

static void
check(struct writ_view text, const char *issuer, const char *member, const struct writ_buf *found)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_view url = writ_buf_view(found);
    const struct writ_json *metadata = NULL;

    WRIT_INVARIANT(arena != NULL && writ_is_ok(writ_json_read(
                                        text, &writ_json_limits_default, arena, &metadata, NULL)));
    WRIT_INVARIANT(
        writ_json_is(writ_json_get(metadata, WRIT_LIT("issuer")), writ_view_str(issuer)));
    WRIT_INVARIANT(writ_json_is(writ_json_get(metadata, writ_view_str(member)), url));
    WRIT_INVARIANT(url.len < WRIT_DISCOVERY_URL_MAX && writ_view_find(url, '\0') == url.len);
    WRIT_INVARIANT(url.ptr[url.len] == '\0' && writ_is_ok(writ_fetch_check(url.ptr, NULL)));
    WRIT_INVARIANT(!writ_view_has_prefix(writ_view_str(issuer), WRIT_LIT("https:")) ||
                   writ_view_has_prefix(url, WRIT_LIT("https:")));
    writ_arena_free(arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t pick = size > 0 ? data[0] : 0;
    const char *issuer = issuers[pick / 2 % (sizeof issuers / sizeof *issuers)];
    const char *member = members[pick % 2];
    struct writ_view text = writ_view_sub(writ_view(data, size), 1, size);
    writ_auto_buf found = writ_buf_make(WRIT_DISCOVERY_URL_MAX);

    if (writ_is_ok(writ_discovery_read(issuer, member, text, &found, NULL))) {
        check(text, issuer, member, &found);
    }
    return 0;
}
