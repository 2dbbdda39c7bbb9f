#include "policy/config.h"

#include "base/text.h"
#include "policy/authorization.h"
#include "policy/host.h"
#include "policy/approval.h"
#include "policy/reviewer.h"
#include "policy/rule.h"
#include "policy/scopes.h"

#include <stdatomic.h>

#define AGENTS_MAX     4096
#define UPSTREAMS_MAX  256
#define NAME_MAX_BYTES 32
#define CANONICAL_MAX  (16 * 1024 * 1024) /* preimage of policy_digest */
#define ISSUER_MAX     600

/* A configuration with what it lives on. */
struct writ_config_owner {
    struct writ_config config;
    atomic_uint references;
    struct writ_arena *arena;
    struct writ_compile_pattern *patterns;
};

/* A reading under way. */
struct loading {
    struct writ_options o;
    struct writ_config_owner *owned;
    struct writ_config *config;
    const struct writ_yaml *root;
    struct writ_raw_top top;
};

static const struct writ_yaml *
option_of(const struct writ_yaml *map, const char *name)
{
    return writ_yaml_get(map, writ_view_str(name));
}

/* ---- agents */

static bool
is_url(struct writ_view text)
{
    return writ_view_search(text, WRIT_LIT("://")) < text.len;
}

static enum writ_identity_kind
identity_kind(const struct writ_raw_agent *raw, const struct writ_yaml *node)
{
    bool bearer = option_of(node, "bearer_sha256") != NULL;
    bool jwt = option_of(node, "issuer") != NULL || option_of(node, "jwks") != NULL ||
               option_of(node, "audience") != NULL || option_of(node, "claims") != NULL;

    bool certificate = option_of(node, "certificate") != NULL;

    if (bearer + jwt + certificate + raw->anonymous != 1) {
        return WRIT_IDENTITY_NONE;
    }
    return bearer        ? WRIT_IDENTITY_BEARER
           : jwt         ? WRIT_IDENTITY_JWT
           : certificate ? WRIT_IDENTITY_CERTIFICATE
                         : WRIT_IDENTITY_ANONYMOUS;
}

static void
check_jwt(struct loading *l, const struct writ_raw_agent *raw, const struct writ_yaml *node)
{
    if (raw->issuer.len == 0) {
        WRIT_OPTION_FAULT(&l->o, node, "tokens of an issuer want issuer");
    } else if (raw->jwks.len == 0 && !writ_host_is_protected(raw->issuer)) {
        WRIT_OPTION_FAULT(&l->o, option_of(node, "issuer"),
            "without jwks this wants to be an https URL, or an http URL on loopback");
    }
    if (raw->audience.len == 0 && l->config->public_origin.len == 0) {
        WRIT_OPTION_FAULT(&l->o, node, "wants an audience, or a public_url for the file");
    }
    if (raw->scopes.n > 0) {
        WRIT_OPTION_FAULT(
            &l->o, option_of(node, "scopes"), "come from the token of an issuer: see claims");
    }
    (void)writ_scopes_check(&l->o, option_of(node, "required_scopes"), &raw->required_scopes);
    if (raw->agent.id.len > 0) {
        WRIT_OPTION_FAULT(
            &l->o, option_of(node, "id"), "comes from the token of an issuer: see claims");
    }
    if (is_url(raw->jwks) && !writ_host_is_protected(raw->jwks)) {
        WRIT_OPTION_FAULT(&l->o, option_of(node, "jwks"),
            "wants a file, an https URL, or an http URL on loopback");
    }
}

static void
check_anonymous(struct loading *l, const struct writ_yaml *node)
{
    const struct writ_listen_address *admin = &l->config->admin_listen;

    if (!l->config->listen.loopback || (admin->text.len > 0 && !admin->loopback)) {
        WRIT_OPTION_FAULT(&l->o, node, "an anonymous agent needs all listeners on loopback");
    }
}

/* What a token does not say about its scopes, the file does. */
static void
take_scopes(struct loading *l, const struct writ_raw_agent *raw, const struct writ_yaml *node,
    struct writ_agent *ret)
{
    writ_auto_buf list = writ_buf_make(WRIT_SCOPES_MAX);

    (void)writ_scopes_check(&l->o, option_of(node, "scopes"), &raw->scopes);
    if (raw->required_scopes.n > 0) {
        WRIT_OPTION_FAULT(
            &l->o, option_of(node, "required_scopes"), "is only for tokens of an issuer");
    }
    if (raw->scopes.n == 0) {
        return;
    }
    writ_scopes_add_all(&list, &raw->scopes);
    if (list.failed == WRIT_E_LIMIT) {
        WRIT_OPTION_FAULT(
            &l->o, option_of(node, "scopes"), "are longer than %d bytes", WRIT_SCOPES_MAX);
        return;
    }
    ret->scopes = writ_view_copy(writ_buf_view(&list), l->o.arena);
    l->o.nomem = l->o.nomem || ret->scopes.ptr == NULL;
}

static void
read_agent(struct loading *l, const struct writ_yaml *node, struct writ_identity_config *ret)
{
    struct writ_raw_agent raw = {0};

    writ_option_read(&l->o, WRIT_SECTION_agent, node, &raw);
    if (node->type != WRIT_YAML_MAP) {
        return;
    }
    *ret = (struct writ_identity_config){.kind = identity_kind(&raw, node),
        .agent = raw.agent,
        .bearer = raw.bearer,
        .certificate = raw.certificate,
        .issuer = raw.issuer,
        .audience = raw.audience,
        .jwks = raw.jwks,
        .claims = raw.claims,
        .required_scopes = raw.required_scopes};
    switch (ret->kind) {
    case WRIT_IDENTITY_NONE:
        WRIT_OPTION_FAULT(
            &l->o, node, "wants exactly one of bearer_sha256, issuer, certificate, anonymous");
        return;
    case WRIT_IDENTITY_JWT:
        ret->claims.id = raw.claims.id.len > 0 ? raw.claims.id : WRIT_LIT("sub");
        ret->claims.scopes = raw.claims.scopes.len > 0 ? raw.claims.scopes : WRIT_LIT("scope");
        check_jwt(l, &raw, node);
        return;
    case WRIT_IDENTITY_ANONYMOUS:
        check_anonymous(l, node);
        break;
    case WRIT_IDENTITY_CERTIFICATE:
        if (l->config->admin_tls.client_ca.len == 0) {
            WRIT_OPTION_FAULT(&l->o, option_of(node, "certificate"),
                "wants admin_tls with client_ca: else nobody is asked for one");
        }
        break;
    case WRIT_IDENTITY_BEARER:
        break;
    }
    take_scopes(l, &raw, node, &ret->agent);
    if (raw.agent.id.len == 0 && option_of(node, "id") == NULL) {
        WRIT_OPTION_FAULT(&l->o, node, "lacks id: the agent_id");
    }
}

static bool
same_identity(const struct writ_identity_config *a, const struct writ_identity_config *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    switch (a->kind) {
    case WRIT_IDENTITY_NONE:
        return false;
    case WRIT_IDENTITY_BEARER:
        return writ_digest_equal(&a->bearer, &b->bearer);
    case WRIT_IDENTITY_CERTIFICATE:
        return writ_view_equal(a->certificate, b->certificate);
    case WRIT_IDENTITY_JWT:
        return writ_view_equal(a->issuer, b->issuer) && writ_view_equal(a->audience, b->audience);
    case WRIT_IDENTITY_ANONYMOUS:
        return true;
    }
    return false;
}

static void
refuse_same_identity(struct loading *l, const struct writ_identity_config *agents, size_t n,
    const struct writ_yaml *node)
{
    for (size_t i = 0; i < n; i++) {
        if (same_identity(&agents[i], &agents[n])) {
            WRIT_OPTION_FAULT(
                &l->o, node, "is known by the same as entry %zu: who would it be?", i);
            return;
        }
    }
}

static void
read_agents(struct loading *l)
{
    const struct writ_yaml *node = l->top.agents;
    struct writ_identity_config *agents;

    if (node == NULL) {
        writ_yaml_find(
            l->o.findings, WRIT_SEVERITY_WARNING, l->root, "no agents: nobody can call anything");
        return;
    }
    if (node->type != WRIT_YAML_LIST || node->count > AGENTS_MAX) {
        WRIT_OPTION_FAULT(&l->o, node, "wants a list of at most %d agents", AGENTS_MAX);
        return;
    }
    agents = writ_option_memory(&l->o, node->count, sizeof *agents);
    if (agents == NULL) {
        return;
    }
    WRIT_YAML_EACH(element, node)
    {
        agents[element->index] = (struct writ_identity_config){0};
        read_agent(l, element, &agents[element->index]);
        refuse_same_identity(l, agents, element->index, element);
    }
    l->config->agents = agents;
    l->config->agents_n = node->count;
}

/* ---- upstreams */

static bool
is_upstream_name(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool inside = i > 0 && i + 1 < name.len && name.ptr[i - 1] != '_';
        if (!letter && !((c == '-' || c == '_') && inside)) {
            return false;
        }
    }
    return name.len > 0 && name.len <= NAME_MAX_BYTES;
}

static void
refuse_options(
    struct loading *l, const struct writ_yaml *node, const char *const *names, const char *kind)
{
    for (; *names != NULL; names++) {
        const struct writ_yaml *option = option_of(node, *names);
        if (option != NULL) {
            WRIT_OPTION_FAULT(&l->o, option, "is only for upstreams that speak over %s", kind);
        }
    }
}

static struct writ_view
joined(struct loading *l, const char *before, struct writ_view text)
{
    writ_auto_buf buf = writ_buf_make(text.len + 64);
    struct writ_view kept = {NULL, 0};

    writ_buf_str(&buf, before);
    writ_buf_put(&buf, text);
    if (writ_is_ok(writ_buf_check(&buf, NULL))) {
        kept = writ_view_copy(writ_buf_view(&buf), l->o.arena);
    }
    l->o.nomem = l->o.nomem || kept.ptr == NULL;
    return kept;
}

static void
read_http(struct loading *l, const struct writ_yaml *node, const struct writ_raw_upstream *raw,
    struct writ_upstream_config *ret)
{
    static const char *const only_stdio[] = {"environment", "inherit", "directory", "sharing",
        "start_timeout", "children", "idle", NULL};
    struct writ_url url = {0};

    refuse_options(l, node, only_stdio, "stdio");
    if (raw->http.len == 0) {
        return;
    }
    if (!writ_is_ok(writ_host_read_url(raw->http, &url)) ||
        writ_view_find(url.rest, '#') < url.rest.len) {
        WRIT_OPTION_FAULT(&l->o, option_of(node, "http"),
            "wants an http or https URL without userinfo and fragment");
        return;
    }
    ret->http = raw->http;
    ret->host = joined(l, "", url.host);
    ret->port = url.port;
    ret->tls = url.tls;
    ret->path = writ_view_has_prefix(url.rest, WRIT_LIT("/")) ? url.rest : joined(l, "/", url.rest);
    ret->credential_header = raw->credential.header;
    if (raw->ca.len > 0 && !url.tls) {
        WRIT_OPTION_FAULT(&l->o, option_of(node, "ca"), "has no effect on an http URL");
    }
}

static void
read_stdio(struct loading *l, const struct writ_yaml *node, const struct writ_raw_upstream *raw)
{
    static const char *const only_http[] = {"ca", "connections", "connect_timeout", NULL};
    const struct writ_yaml *program = option_of(node, "stdio");
    const struct writ_yaml *header = option_of(option_of(node, "credential"), "header");
    bool nameless = raw->stdio.n > 0 && raw->stdio.items[0].len == 0;

    refuse_options(l, node, only_http, "HTTP");
    if (header != NULL) {
        WRIT_OPTION_FAULT(&l->o, header, "is only for upstreams that speak over HTTP");
    }
    if (nameless || (program->type == WRIT_YAML_LIST && program->count == 0)) {
        WRIT_OPTION_FAULT(&l->o, program, "lacks a program");
    }
}

static void
read_upstream(struct loading *l, const struct writ_yaml *node, struct writ_upstream_config *ret)
{
    struct writ_raw_upstream raw = {0};
    bool stdio = option_of(node, "stdio") != NULL, http = option_of(node, "http") != NULL;

    writ_option_read(&l->o, WRIT_SECTION_upstream, node, &raw);
    *ret = (struct writ_upstream_config){.name = node->key,
        .stdio = raw.stdio,
        .environment = raw.environment,
        .inherit = raw.inherit,
        .directory = raw.directory,
        .sharing = (enum writ_sharing)raw.sharing,
        .children = raw.children,
        .idle_us = raw.idle_us,
        .start_timeout_us = raw.start_timeout_us,
        .ca = raw.ca,
        .connections = raw.connections,
        .connect_timeout_us = raw.connect_timeout_us,
        .credential_meta = raw.credential.meta,
        .timeout_us = raw.timeout_us,
        .refresh_us = raw.refresh_us,
        .required = raw.required,
        .ref = joined(l, "/upstreams/", node->key)};
    if (!is_upstream_name(node->key)) {
        WRIT_OPTION_FAULT(&l->o, node,
            "the name of an upstream has 1 to %d letters, digits, - and single _, these two inside",
            NAME_MAX_BYTES);
    }
    if (node->type != WRIT_YAML_MAP) {
        return;
    }
    if (stdio == http) {
        WRIT_OPTION_FAULT(&l->o, node, "wants exactly one of stdio and http");
        return;
    }
    if (!writ_authorization_is_header(raw.credential.header)) {
        WRIT_OPTION_FAULT(&l->o, option_of(node, "credential"), "header wants a header's name");
    }
    ret->kind = stdio ? WRIT_UPSTREAM_STDIO : WRIT_UPSTREAM_HTTP;
    if (stdio) {
        read_stdio(l, node, &raw);
    } else {
        read_http(l, node, &raw, ret);
    }
    ret->resource = raw.resource.len > 0 ? raw.resource
                    : stdio              ? joined(l, "stdio:", node->key)
                                         : ret->http;
    ret->authorization = writ_authorization_read(&l->o, node, &raw.authorization, ret);
}

/* A joined name has to come apart where it was joined. */
static void
check_separator(struct loading *l, const struct writ_yaml *upstream)
{
    struct writ_view separator = l->config->separator;
    writ_auto_buf joined = writ_buf_make(upstream->key.len + separator.len);
    const struct writ_yaml *node = option_of(l->root, "separator");

    writ_buf_put(&joined, upstream->key);
    writ_buf_put(&joined, separator);
    if (separator.len > 0 && writ_is_ok(writ_buf_check(&joined, NULL)) &&
        writ_view_search(writ_buf_view(&joined), separator) != upstream->key.len) {
        WRIT_OPTION_FAULT(&l->o, node != NULL ? node : upstream,
            "cannot be told from the name of the upstream \"" WRIT_VIEW_FMT "\"",
            WRIT_VIEW_ARG(writ_view_sub(upstream->key, 0, 64)));
    }
}

static void
read_upstreams(struct loading *l)
{
    const struct writ_yaml *node = l->top.upstreams;
    struct writ_upstream_config *upstreams;
    size_t n = 0;

    if (node == NULL) {
        if (l->top.frameworks == NULL) {
            writ_yaml_find(l->o.findings, WRIT_SEVERITY_WARNING, l->root,
                "no upstreams: there is nothing to call");
        }
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > UPSTREAMS_MAX) {
        WRIT_OPTION_FAULT(&l->o, node, "wants a map of at most %d upstreams", UPSTREAMS_MAX);
        return;
    }
    upstreams = writ_option_memory(&l->o, node->count, sizeof *upstreams);
    if (upstreams == NULL) {
        return;
    }
    WRIT_YAML_EACH(member, node)
    {
        read_upstream(l, member, &upstreams[n++]);
        if (is_upstream_name(member->key)) {
            check_separator(l, member);
        }
    }
    l->config->upstreams = upstreams;
    l->config->upstreams_n = n;
}

/* ---- frameworks */

static void
read_framework(struct loading *l, const struct writ_yaml *node, struct writ_framework_config *ret)
{
    struct writ_raw_framework raw = {0};

    writ_option_read(&l->o, WRIT_SECTION_framework, node, &raw);
    *ret = (struct writ_framework_config){
        .name = node->key,
        .resource = raw.resource.len > 0 ? raw.resource : joined(l, "framework:", node->key),
        .timeout_us = raw.timeout_us,
    };
    if (!is_upstream_name(node->key)) {
        WRIT_OPTION_FAULT(&l->o, node, "the name of a framework is one as of an upstream");
    } else if (writ_config_upstream(l->config, node->key) != NULL) {
        WRIT_OPTION_FAULT(&l->o, node, "an upstream has this name");
    }
}

static void
read_frameworks(struct loading *l)
{
    const struct writ_yaml *node = l->top.frameworks;
    struct writ_framework_config *frameworks;
    size_t n = 0;

    if (node == NULL) {
        return;
    }
    if (node->type != WRIT_YAML_MAP || node->count > UPSTREAMS_MAX) {
        WRIT_OPTION_FAULT(&l->o, node, "wants a map of at most %d frameworks", UPSTREAMS_MAX);
        return;
    }
    frameworks = writ_option_memory(&l->o, node->count, sizeof *frameworks);
    if (frameworks == NULL) {
        return;
    }
    WRIT_YAML_EACH(member, node)
    {
        read_framework(l, member, &frameworks[n++]);
    }
    l->config->frameworks = frameworks;
    l->config->frameworks_n = n;
}

/* ---- the rest of the file */

static void
check_tls(struct loading *l, const struct writ_tls_config *tls, const char *name)
{
    const struct writ_yaml *node = option_of(l->root, name);

    if (node != NULL && (tls->cert.len == 0 || tls->key.len == 0)) {
        WRIT_OPTION_FAULT(&l->o, node, "wants both cert and key");
    }
}

static void
read_store(struct loading *l)
{
    struct writ_view store = l->top.store;

    if (writ_view_has_prefix(store, WRIT_LIT("sqlite://"))) {
        store = writ_view_sub(store, 9, store.len);
    } else if (writ_view_search(store, WRIT_LIT("://")) < store.len ||
               writ_view_has_prefix(store, WRIT_LIT("sqlite:"))) {
        WRIT_OPTION_FAULT(&l->o, option_of(l->root, "store"), "wants sqlite:// and a path");
    }
    if (store.len == 0 && l->top.store.len > 0) {
        WRIT_OPTION_FAULT(&l->o, option_of(l->root, "store"), "lacks the path");
    }
    l->config->store = joined(l, "", store);
}

static void
check_hosts(struct loading *l)
{
    for (size_t i = 0; i < l->top.hosts.n; i++) {
        if (!writ_host_is_entry(l->top.hosts.items[i])) {
            WRIT_OPTION_FAULT(&l->o, option_of(l->root, "hosts"),
                "element %zu is no host in lower case, maybe with a port", i);
        }
    }
    for (size_t i = 0; i < l->top.origins.n; i++) {
        struct writ_url url;
        if (!writ_is_ok(writ_host_read_url(l->top.origins.items[i], &url)) || url.rest.len > 0) {
            WRIT_OPTION_FAULT(&l->o, option_of(l->root, "origins"),
                "element %zu is no origin such as https://app.example.com", i);
        }
    }
}

/* A URL that something is put behind; other people quote it. */
static bool
read_base_url(struct loading *l, const char *name, struct writ_view text, struct writ_url *ret)
{
    bool odd = false;

    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) { /* it stands in quotes in a header */
        odd = odd || text.ptr[i] == '"' || text.ptr[i] == '?' || text.ptr[i] == '#';
    }
    if (odd || text.ptr[text.len - 1] == '/' || !writ_is_ok(writ_host_read_url(text, ret))) {
        WRIT_OPTION_FAULT(&l->o, option_of(l->root, name),
            "wants an http or https URL without query, fragment and a slash at its end");
        return false;
    }
    return true;
}

static void
read_base_urls(struct loading *l)
{
    struct writ_view text = l->top.public_url;
    struct writ_url url;

    /* "https://gateway.example/writ" in two parts: clients look for what is announced between them
     * (RFC 9728 3.1) */
    if (read_base_url(l, "public_url", text, &url)) {
        l->config->public_path = url.rest;
        l->config->public_origin = writ_view_sub(text, 0, text.len - url.rest.len);
    }
    if (read_base_url(l, "admin_url", l->top.admin_url, &url)) {
        l->config->admin_url = l->top.admin_url;
    }
}

/* What SDKs and model APIs take in names. */
static void
read_separator(struct loading *l)
{
    struct writ_view text = l->top.separator;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-' && c != '.') {
            WRIT_OPTION_FAULT(
                &l->o, option_of(l->root, "separator"), "wants letters, digits, '_', '-' and '.'");
            return;
        }
    }
    l->config->separator = text;
}

static void
read_anchor(struct loading *l, const struct writ_yaml *node, struct writ_anchor_config *ret)
{
    struct writ_raw_anchor raw = {0};
    bool url;

    writ_option_read(&l->o, WRIT_SECTION_anchor, node, &raw);
    url = is_url(raw.to);
    if (url && !writ_host_is_protected(raw.to)) {
        WRIT_OPTION_FAULT(
            &l->o, option_of(node, "to"), "wants a file, an https URL, or an http URL on loopback");
    }
    if (raw.ca.len > 0 && !(url && writ_view_has_prefix(raw.to, WRIT_LIT("https:")))) {
        WRIT_OPTION_FAULT(&l->o, option_of(node, "ca"), "is only for an https URL");
    }
    *ret = (struct writ_anchor_config){.to = raw.to, .ca = raw.ca, .every_us = raw.every_us};
}

static void
read_anchors(struct loading *l, const struct writ_yaml *list)
{
    struct writ_anchor_config *anchors;
    size_t n = 0;

    if (list == NULL) {
        return;
    }
    if (list->type != WRIT_YAML_LIST || list->count > WRIT_ANCHORS_MAX) {
        WRIT_OPTION_FAULT(&l->o, list, "wants a list of at most %d anchors", WRIT_ANCHORS_MAX);
        return;
    }
    anchors = writ_option_memory(&l->o, list->count, sizeof *anchors);
    for (const struct writ_yaml *node = list->first; anchors != NULL && node != NULL;
         node = node->next) {
        read_anchor(l, node, &anchors[n++]);
    }
    l->config->ledger.anchors = anchors;
    l->config->ledger.anchors_n = n;
}

static void
read_ledger(struct loading *l)
{
    const struct writ_raw_ledger *raw = &l->top.ledger;

    l->config->ledger = (struct writ_ledger_config){
        .claims_kept_us = raw->claims_kept_us,
        .clock_tolerance_us = raw->clock_tolerance_us,
        .busy_timeout_us = raw->busy_timeout_us,
        .scrub_every_us = raw->scrub_every_us,
    };
    if (raw->pinned.len > 0) {
        l->config->ledger.pinned = joined(l, "", raw->pinned);
    }
    read_anchors(l, raw->anchors);
}

static void
read_top(struct loading *l)
{
    struct writ_config *c = l->config;
    const struct writ_yaml *profile = option_of(l->root, "profile");

    writ_option_read(&l->o, WRIT_SECTION_top, l->root, &l->top);
    c->listen = l->top.listen;
    c->admin_listen = l->top.admin_listen;
    c->tls = l->top.tls;
    c->admin_tls = l->top.admin_tls;
    c->loops = l->top.loops;
    c->hosts = l->top.hosts;
    c->origins = l->top.origins;
    c->auditors = l->top.auditors;
    c->administrators = l->top.administrators;
    c->issuer = l->top.issuer;
    c->keys = l->top.keys;
    c->profile = profile != NULL && profile->type == WRIT_YAML_SCALAR ? profile->text
                                                                      : WRIT_LIT("crewai-v1");
    c->limits = l->top.limits;
    c->sessions = l->top.sessions;
    c->credential = l->top.credential;
    read_ledger(l);
    c->log = l->top.log;
    check_tls(l, &c->tls, "tls");
    check_tls(l, &c->admin_tls, "admin_tls");
    check_hosts(l);
    read_store(l);
    read_separator(l);
    read_base_urls(l);
}

/* The digest over everything that can change a decision. */
static WRIT_RESULT
digest_policy(struct loading *l)
{
    writ_auto_buf canonical = writ_buf_make(CANONICAL_MAX);
    writ_result result =
        writ_rule_canonical(&l->top, option_of(l->root, "defaults"), l->o.arena, &canonical);

    if (result.code == WRIT_E_LIMIT) {
        WRIT_OPTION_FAULT(
            &l->o, l->root, "the tools take more than %d bytes as JSON", CANONICAL_MAX);
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    return writ_digest_bytes(writ_buf_view(&canonical), &l->config->policy_digest, NULL);
}

static WRIT_RESULT
read_all(struct loading *l, struct writ_view text)
{
    WRIT_TRY(writ_yaml_read(text, l->o.arena, l->o.findings, &l->root));
    if (l->root->type != WRIT_YAML_MAP) {
        WRIT_OPTION_FAULT(&l->o, l->root, "a configuration is a map of options");
        return (writ_result){WRIT_E_INVALID};
    }
    read_top(l);
    read_agents(l);
    read_upstreams(l);
    read_frameworks(l);
    WRIT_TRY(writ_reviewer_read(&l->o, l->top.reviewers, l->config, &l->owned->patterns));
    WRIT_TRY(writ_approval_reviews(&l->o, l->top.reviews, l->config));
    l->config->policy =
        writ_rule_read(&l->o, l->top.tools, &l->top.defaults, l->config, &l->owned->patterns);
    if (l->top.tools == NULL) {
        WRIT_OPTION_WARN(&l->o, l->root, "no tools: every call is denied");
    }
    if (l->o.nomem) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(digest_policy(l));
    return l->o.findings->errors > 0 ? (writ_result){WRIT_E_INVALID} : WRIT_DONE;
}

static void
owned_free(struct writ_config_owner *owned)
{
    if (owned != NULL) {
        writ_compile_free(owned->patterns);
        writ_arena_free(owned->arena);
        writ_free(owned);
    }
}

static void
owned_freep(struct writ_config_owner **owned)
{
    owned_free(*owned);
}

/* The first error, for callers that show one line. */
static writ_result
tell_first(const struct writ_findings *findings, const char *file, writ_result result,
    struct writ_err *err)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct writ_finding *f = &findings->items[i];
        if (f->severity == WRIT_SEVERITY_ERROR) {
            (void)writ_fail(err, result.code, "%s:%zu: " WRIT_VIEW_FMT "%s" WRIT_VIEW_FMT, file,
                f->line, WRIT_VIEW_ARG(f->pointer), f->pointer.len > 0 ? ": " : "",
                WRIT_VIEW_ARG(f->message));
            if (err != NULL) {
                err->line = f->line;
            }
            return result;
        }
    }
    WRIT_FAIL(err, result.code, "%s: %s", file,
        result.code == WRIT_E_NOMEM ? "no memory for the configuration" : "cannot be read");
}

static WRIT_RESULT
read_config(struct writ_view text, const char *file, struct writ_findings *findings,
    struct writ_config_owner **ret)
{
    WRIT_AUTO(struct writ_config_owner *, owned_freep) owned = writ_alloc(sizeof *owned);
    struct loading l = {.owned = owned};

    if (owned == NULL || (owned->arena = writ_arena_new(WRIT_CONFIG_MEMORY_MAX)) == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (text.len > WRIT_CONFIG_BYTES_MAX) {
        writ_findings_add(findings, WRIT_SEVERITY_ERROR, 0, writ_view(NULL, 0),
            "longer than %d bytes", WRIT_CONFIG_BYTES_MAX);
        return (writ_result){WRIT_E_LIMIT};
    }
    atomic_init(&owned->references, 1);
    l.config = &owned->config;
    l.config->owner = owned;
    l.o = (struct writ_options){.arena = owned->arena, .findings = findings};
    owned->config.file = writ_view_copy(writ_view_str(file), owned->arena);
    if (owned->config.file.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(read_all(&l, text));
    *ret = WRIT_TAKE(owned);
    return WRIT_DONE;
}

WRIT_RESULT
writ_config_read(struct writ_view text, const char *file, struct writ_findings *findings,
    struct writ_config **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) own = {0};
    struct writ_findings *used = findings != NULL ? findings : &own;
    struct writ_config_owner *owned = NULL;
    writ_result result = read_config(text, file, used, &owned);

    writ_findings_sort(used);
    if (!writ_is_ok(result)) {
        return tell_first(used, file, result, err);
    }
    *ret = &owned->config;
    return WRIT_DONE;
}

WRIT_RESULT
writ_config_load(const char *path, struct writ_findings *findings, struct writ_config **ret,
    struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_CONFIG_BYTES_MAX);

    WRIT_TRY(writ_text_file(path, WRIT_CONFIG_BYTES_MAX, &text, err));
    return writ_config_read(writ_buf_view(&text), path, findings, ret, err);
}

const struct writ_config *
writ_config_hold(const struct writ_config *config)
{
    (void)atomic_fetch_add_explicit(&config->owner->references, 1, memory_order_relaxed);
    return config;
}

void
writ_config_drop(const struct writ_config *config)
{
    if (config != NULL &&
        atomic_fetch_sub_explicit(&config->owner->references, 1, memory_order_acq_rel) == 1) {
        owned_free(config->owner);
    }
}

const struct writ_upstream_config *
writ_config_upstream(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->upstreams_n; i++) {
        if (writ_view_equal(config->upstreams[i].name, name)) {
            return &config->upstreams[i];
        }
    }
    return NULL;
}

const struct writ_framework_config *
writ_config_framework(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->frameworks_n; i++) {
        if (writ_view_equal(config->frameworks[i].name, name)) {
            return &config->frameworks[i];
        }
    }
    return NULL;
}

bool
writ_config_runs_tools(const struct writ_config *config, struct writ_view name)
{
    return (config->upstreams_n == 0 && config->frameworks_n == 0) ||
           writ_config_upstream(config, name) != NULL ||
           writ_config_framework(config, name) != NULL;
}
