/* resource.c - metadata and challenges are made only from the configuration. A challenge names only
 * scopes that are useful at this endpoint, and never more of an agent's scopes than that. */
#include "gateway/auth/resource.h"

#include "evidence/json/write.h"
#include "policy/model/rule.h"
#include "policy/model/scopes.h"

#define SCOPES_MAX ((size_t)16384) /* of one endpoint, in bytes; more are left out */
#define CHALLENGED_MAX                                                                             \
    ((size_t)2048) /* of one challenge; more, and the metadata tell all of them */

bool
writ_resource_is_announced(const struct writ_config *config)
{
    for (size_t i = 0; config->public_origin.len > 0 && i < config->agents_n; i++) {
        if (config->agents[i].kind == WRIT_IDENTITY_JWT) {
            return true;
        }
    }
    return false;
}

bool
writ_resource_is_asked_for(const struct writ_resource *resource, struct writ_view suffix)
{
    struct writ_view before = resource->config->public_path;

    if (suffix.len == 0) {
        return resource->upstream.len == 0;
    }
    if (writ_view_equal(suffix, resource->path)) {
        return true;
    }
    return before.len > 0 && writ_view_has_prefix(suffix, before) &&
           writ_view_equal(writ_view_sub(suffix, before.len, suffix.len), resource->path);
}

/* ---- scopes */

/* Adds the scopes that every token must have. */
static void
add_required(const struct writ_config *config, struct writ_buf *list)
{
    for (size_t i = 0; i < config->agents_n; i++) {
        writ_scopes_add_all(list, &config->agents[i].required_scopes);
    }
}

/* Adds the scopes that some tool of the endpoint requires. */
static void
add_useful(const struct writ_resource *resource, struct writ_buf *list)
{
    const struct writ_policy *policy = resource->config->policy;

    for (size_t i = 0; i < policy->n; i++) {
        const struct writ_tool_entry *entry = &policy->entries[i];
        bool served =
            resource->upstream.len == 0 || writ_view_equal(entry->upstream, resource->upstream);
        for (size_t r = 0; served && r < entry->rules_n; r++) {
            writ_scopes_add_all(list, &entry->rules[r].scopes);
        }
    }
}

/* Adds the agent's own scopes that are useful here. */
static void
add_own(const struct writ_resource *resource, const struct writ_agent *agent, struct writ_buf *list)
{
    writ_auto_buf useful = writ_buf_make(SCOPES_MAX);
    struct writ_view own = agent->scopes, scope;

    add_useful(resource, &useful);
    while ((scope = writ_scopes_next(&own)).len > 0) {
        if (writ_scopes_has(writ_buf_view(&useful), scope)) {
            writ_scopes_add(list, scope);
        }
    }
}

/* ---- metadata */

static void
put_url(const struct writ_resource *resource, const char *between, struct writ_buf *buf)
{
    writ_buf_put(buf, resource->config->public_origin);
    writ_buf_str(buf, between);
    writ_buf_put(buf, resource->config->public_path);
    writ_buf_put(buf, resource->path);
}

/* Each issuer once, in the order of the file. */
static void
put_issuers(const struct writ_config *config, struct writ_write *w)
{
    writ_write_array_begin(w);
    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *entry = &config->agents[i];
        bool first = entry->kind == WRIT_IDENTITY_JWT;
        for (size_t j = 0; first && j < i; j++) {
            first = config->agents[j].kind != WRIT_IDENTITY_JWT ||
                    !writ_view_equal(config->agents[j].issuer, entry->issuer);
        }
        if (first) {
            writ_write_string(w, entry->issuer);
        }
    }
    writ_write_array_end(w);
}

static void
put_scopes(const struct writ_resource *resource, struct writ_write *w)
{
    writ_auto_buf list = writ_buf_make(SCOPES_MAX);
    struct writ_view all, scope;

    add_required(resource->config, &list);
    add_useful(resource, &list);
    if (list.len == 0) {
        return;
    }
    all = writ_buf_view(&list);
    writ_write_name(w, WRIT_LIT("scopes_supported"));
    writ_write_array_begin(w);
    while ((scope = writ_scopes_next(&all)).len > 0) {
        writ_write_string(w, scope);
    }
    writ_write_array_end(w);
}

void
writ_resource_put_metadata(const struct writ_resource *resource, struct writ_buf *buf)
{
    struct writ_write w = writ_write_to(buf);
    writ_auto_buf url = writ_buf_make(SCOPES_MAX);

    put_url(resource, "", &url);
    writ_write_object_begin(&w);
    writ_write_text(&w, "resource", writ_buf_view(&url));
    writ_write_name(&w, WRIT_LIT("authorization_servers"));
    put_issuers(resource->config, &w);
    put_scopes(resource, &w);
    writ_write_name(&w, WRIT_LIT("bearer_methods_supported"));
    writ_write_array_begin(&w);
    writ_write_string(&w, WRIT_LIT("header"));
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
}

/* ---- challenges */

void
writ_resource_put_challenge(const struct writ_resource *resource,
    const struct writ_resource_challenge *challenge, struct writ_buf *buf)
{
    writ_auto_buf scopes = writ_buf_make(CHALLENGED_MAX);

    writ_buf_str(buf, "Bearer realm=\"writ\"");
    if (challenge->error != NULL && challenge->error[0] != '\0') {
        writ_buf_fmt(buf, ", error=\"%s\", error_description=\"%s\"", challenge->error,
            challenge->description);
    }
    if (!writ_resource_is_announced(resource->config)) {
        return;
    }
    writ_buf_str(buf, ", resource_metadata=\""); /* RFC 9728 5.1 */
    put_url(resource, WRIT_RESOURCE_WELL_KNOWN, buf);
    writ_buf_byte(buf, '"');
    add_required(resource->config, &scopes);
    if (challenge->wanted != NULL) {
        writ_scopes_add_all(&scopes, challenge->wanted);
    }
    if (challenge->agent != NULL) {
        add_own(resource, challenge->agent, &scopes);
    }
    if (writ_is_ok(writ_buf_check(&scopes, NULL)) && scopes.len > 0) {
        writ_buf_fmt(buf, ", scope=\"" WRIT_VIEW_FMT "\"", WRIT_VIEW_ARG(writ_buf_view(&scopes)));
    }
}
