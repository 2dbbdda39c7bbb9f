/* Checks the gateway's own secret for an upstream. A secret comes from exactly one place. The URL
 * that tokens come from must be protected on the way; plain http to the upstream itself is a
 * warning. */
#include "policy/read/authorization.h"

#include "policy/model/field.h"
#include "policy/model/host.h"
#include "policy/model/scopes.h"

bool
writ_authorization_is_header(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && writ_view_find(WRIT_LIT("!#$%&'*+-.^_`|~"), c) == 15) {
            return false;
        }
    }
    return name.len > 0 && writ_field_owner(name) == WRIT_FIELD_FREE;
}

/* ---- the parts */

static void
check_header(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_authorization *raw, const struct writ_upstream_config *to)
{
    if (!writ_authorization_is_header(raw->header) ||
        writ_view_equal_nocase(raw->header, to->credential_header)) {
        WRIT_OPTION_FAULT(
            o, node, "header must be the name of a header that Writ does not set itself");
    }
    for (size_t i = 0; i < raw->scheme.len; i++) {
        if (raw->scheme.ptr[i] <= ' ' || raw->scheme.ptr[i] > '~') {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "scheme"), "must be one word, or \"\"");
            return;
        }
    }
}

static void
check_place(struct writ_options *o, const struct writ_yaml *node, struct writ_view url)
{
    if (url.len > 0 && !writ_host_is_protected(url)) {
        WRIT_OPTION_FAULT(o, node, "must be an https URL, or an http URL on loopback");
    }
}

static void
check_client(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_raw_authorization *raw)
{
    check_place(o, writ_option_of(node, "issuer"), raw->issuer);
    check_place(o, writ_option_of(node, "token_endpoint"), raw->token_endpoint);
    (void)writ_option_scopes(o, writ_option_of(node, "scopes"), &raw->scopes);
}

static struct writ_view
scope_list(struct writ_options *o, const struct writ_views *scopes)
{
    writ_auto_buf list = writ_buf_make(64 * WRIT_SCOPES_MAX);
    struct writ_view kept;

    writ_scopes_add_all(&list, scopes);
    kept = writ_view_copy(writ_buf_view(&list), o->arena);
    o->nomem = o->nomem || kept.ptr == NULL || !writ_is_ok(writ_buf_check(&list, NULL));
    return kept;
}

/* A secret on a network without protection is public. */
static void
warn_plain_http(
    struct writ_options *o, const struct writ_yaml *node, const struct writ_upstream_config *to)
{
    if (!to->tls && !writ_host_is_protected(to->http)) {
        WRIT_OPTION_WARN(o, node, "sends a secret over plain http");
    }
}

const struct writ_authorization_config *
writ_authorization_read(struct writ_options *o, const struct writ_yaml *node,
    const struct writ_raw_authorization *raw, const struct writ_upstream_config *to)
{
    const struct writ_yaml *own = writ_option_of(node, "authorization");
    struct writ_authorization_config *ret;

    if (own == NULL || own->type != WRIT_YAML_MAP || to->kind != WRIT_UPSTREAM_HTTP) {
        return NULL; /* upstreams.c reports it */
    }
    check_header(o, own, raw, to);
    (void)writ_option_choice(o, WRIT_SECTION_authorization, own);
    if (raw->client_id.len > 0) {
        check_client(o, own, raw);
    }
    (void)writ_option_together(o, WRIT_SECTION_authorization, own);
    warn_plain_http(o, own, to);
    ret = writ_option_memory(o, 1, sizeof *ret);
    if (ret == NULL) {
        return NULL;
    }
    *ret = (struct writ_authorization_config){.file = raw->file,
        .variable = raw->variable,
        .key = raw->key,
        .header = raw->header,
        .scheme = raw->scheme,
        .client_id = raw->client_id,
        .issuer = raw->issuer,
        .token_endpoint = raw->token_endpoint,
        .resource = raw->resource,
        .scopes = scope_list(o, &raw->scopes)};
    return ret;
}
