/* definition_cache.c - collects the tools of every upstream and replaces the whole file, only when
 * a catalog has changed. An upstream without a catalog keeps its entries of the last file. */
#include "gateway/call/definition_cache.h"

#include "gateway/mcp/odd.h"
#include "gateway/upstream/upstream.h"

#define WORDS_MAX 256

writ_result
writ_definition_cache_open(const struct writ_gateway *gateway, const struct writ_keyring *keys,
    struct writ_definition_cache *ret, struct writ_err *err)
{
    struct writ_definitions *definitions = NULL;
    writ_result r = writ_definitions_load(
        gateway->config->files.ptr, WRIT_DEFINITIONS_SEEN, keys, &definitions, err);

    if (r.code == WRIT_E_ABSENT) {
        r = writ_definitions_new(&definitions, err);
    }
    if (writ_is_ok(r)) {
        *ret = (struct writ_definition_cache){.definitions = definitions};
    }
    return r;
}

void
writ_definition_cache_wipe(struct writ_definition_cache *cache)
{
    writ_definitions_free(WRIT_TAKE(cache->definitions));
}

static void
tell(const struct writ_gateway *gateway, const struct writ_definition *definition, bool changed,
    unsigned odd)
{
    writ_auto_buf words = writ_buf_make(WORDS_MAX);
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&definition->digest, digest);
    WRIT_LOG(gateway->log, changed ? WRIT_EVENT_DEFINITION_CHANGED : WRIT_EVENT_DEFINITION_SEEN,
        writ_log_text("tool", definition->name), writ_log_str("digest", digest));
    if (odd != 0) {
        writ_odd_put(&words, odd);
        WRIT_LOG(gateway->log, WRIT_EVENT_DEFINITION_ODD, writ_log_text("tool", definition->name),
            writ_log_text("odd", writ_buf_view(&words)));
    }
}

static void
tell_doubled(const struct writ_gateway *gateway, struct writ_view upstream, struct writ_view tool)
{
    WRIT_LOG(gateway->log, WRIT_EVENT_DEFINITION_AMBIGUOUS, writ_log_text("upstream", upstream),
        writ_log_text("tool", tool));
}

/* What is odd about a name beside the tools of upstreams that the configuration names earlier. */
static unsigned
odd_name(const struct writ_gateway *gateway, size_t index, const struct writ_catalog_tool *tool)
{
    writ_auto_buf skeleton = writ_buf_make(WRIT_ODDITY_SKELETON_MAX);
    unsigned odd = 0;

    writ_oddity_skeleton(&skeleton, tool->name);
    for (size_t i = 0; i < index; i++) {
        uint64_t version;
        struct writ_catalog *catalog =
            writ_catalog_snapshot_hold(writ_upstream_snapshot(gateway->upstreams[i]), &version);

        odd |= writ_catalog_odd_name(catalog, tool->name, &tool->digest, writ_buf_view(&skeleton));
        writ_catalog_drop(catalog);
    }
    return odd;
}

static writ_result
put_tool(const struct writ_gateway *gateway, size_t index, const struct writ_catalog_tool *tool,
    const struct writ_definition_cache *cache, struct writ_definitions *ret)
{
    struct writ_view upstream = writ_upstream_config(gateway->upstreams[index])->name;
    writ_auto_buf name = writ_buf_make(upstream.len + tool->name.len + 1);
    char now[WRIT_TIME_TEXT];
    struct writ_definition definition = {.digest = tool->digest, .text = tool->text};
    const struct writ_definition *before;

    writ_buf_put(&name, upstream);
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, tool->name);
    WRIT_TRY(writ_buf_check(&name, NULL));
    definition.name = writ_buf_view(&name);
    writ_time_format(writ_clock_wall_us(gateway->clock), now);
    before = writ_definitions_find(cache->definitions, definition.name);
    definition.at = writ_view(now, WRIT_TIME_TEXT - 1);
    if (before != NULL && writ_digest_equal(&before->digest, &definition.digest)) {
        definition.at = before->at;
    } else {
        tell(gateway, &definition, before != NULL, tool->odd | odd_name(gateway, index, tool));
    }
    return writ_definitions_put(ret, &definition, NULL);
}

/* Keeps the earlier definitions of an upstream that has not listed its tools yet. */
static writ_result
put_old(struct writ_view upstream, const struct writ_definition_cache *cache,
    struct writ_definitions *ret)
{
    for (size_t i = 0; i < cache->definitions->n; i++) {
        const struct writ_definition *definition = &cache->definitions->items[i];
        struct writ_view name = definition->name;
        if (writ_view_equal(writ_view_sub(name, 0, writ_view_find(name, '/')), upstream)) {
            WRIT_TRY(writ_definitions_put(ret, definition, NULL));
        }
    }
    return WRIT_DONE;
}

static writ_result
put_upstream(const struct writ_gateway *gateway, size_t index,
    const struct writ_definition_cache *cache, struct writ_definitions *ret, uint64_t *ret_version)
{
    struct writ_upstream *upstream = gateway->upstreams[index];
    struct writ_view name = writ_upstream_config(upstream)->name;
    struct writ_catalog *catalog =
        writ_catalog_snapshot_hold(writ_upstream_snapshot(upstream), ret_version);
    writ_result r = WRIT_DONE;

    if (catalog == NULL) {
        return put_old(name, cache, ret);
    }
    for (size_t i = 0; i < catalog->n && writ_is_ok(r); i++) {
        if (!catalog->tools[i].doubled) {
            r = put_tool(gateway, index, &catalog->tools[i], cache, ret);
        } else if (*ret_version != cache->versions[index]) {
            tell_doubled(gateway, name, catalog->tools[i].name);
        }
    }
    writ_catalog_drop(catalog);
    return r;
}

static struct writ_view
active_kid(const struct writ_keyring *keys)
{
    return writ_jwk_kid(writ_signer_jwk(writ_keyring_active(keys, WRIT_KEY_PURPOSE_LEDGER)));
}

static bool
is_new(const struct writ_gateway *gateway, const struct writ_keyring *keys,
    const struct writ_definition_cache *cache)
{
    if (cache->definitions->n > 0 &&
        !writ_view_equal(writ_view_str(cache->kid), active_kid(keys))) {
        return true;
    }
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_catalog_snapshot_version(writ_upstream_snapshot(gateway->upstreams[i])) !=
            cache->versions[i]) {
            return true;
        }
    }
    return false;
}

static writ_result
keep(const struct writ_gateway *gateway, const struct writ_keyring *keys,
    struct writ_definition_cache *cache, struct writ_err *err)
{
    struct writ_definition_cache fresh = {.definitions = NULL};
    writ_result r = writ_definitions_new(&fresh.definitions, err);

    (void)writ_view_place(active_kid(keys), fresh.kid);
    for (size_t i = 0; i < gateway->upstreams_n && writ_is_ok(r); i++) {
        r = put_upstream(gateway, i, cache, fresh.definitions, &fresh.versions[i]);
    }
    if (writ_is_ok(r)) {
        r = writ_definitions_save(gateway->config->files.ptr, WRIT_DEFINITIONS_SEEN,
            fresh.definitions, writ_keyring_active(keys, WRIT_KEY_PURPOSE_LEDGER), err);
    }
    if (!writ_is_ok(r)) {
        /* not again before there is something new */
        for (size_t i = 0; i < gateway->upstreams_n; i++) {
            cache->versions[i] = fresh.versions[i];
        }
        (void)writ_view_place(active_kid(keys), cache->kid);
        writ_definition_cache_wipe(&fresh);
        return r;
    }
    writ_definition_cache_wipe(cache);
    *cache = fresh;
    return r;
}

void
writ_definition_cache_keep(const struct writ_gateway *gateway, const struct writ_keyring *keys,
    struct writ_definition_cache *cache)
{
    struct writ_err err = {{0}, 0, 0};

    if (is_new(gateway, keys, cache) && !writ_is_ok(keep(gateway, keys, cache, &err))) {
        WRIT_LOG(gateway->log, WRIT_EVENT_DEFINITIONS_NOT_KEPT, writ_log_str("why", err.text));
    }
}
