/* Reads `agents`. An entry is known in exactly one way, and two entries that the same caller would
 * match are refused. */
#include "policy/read/agents.h"

#include "policy/model/host.h"
#include "policy/model/scopes.h"

static enum writ_identity_kind
identity_kind(const struct writ_raw_agent *raw, const struct writ_yaml *node)
{
    bool bearer = writ_option_of(node, "bearer_sha256") != NULL;
    bool jwt = writ_option_of(node, "issuer") != NULL || writ_option_of(node, "jwks") != NULL ||
               writ_option_of(node, "audience") != NULL || writ_option_of(node, "claims") != NULL;

    bool certificate = writ_option_of(node, "certificate") != NULL;

    if (bearer + jwt + certificate + raw->anonymous != 1) {
        return WRIT_IDENTITY_NONE;
    }
    return bearer        ? WRIT_IDENTITY_BEARER
           : jwt         ? WRIT_IDENTITY_JWT
           : certificate ? WRIT_IDENTITY_CERTIFICATE
                         : WRIT_IDENTITY_ANONYMOUS;
}

static void
check_jwt(struct writ_options *o, const struct writ_config *config,
    const struct writ_raw_agent *raw, const struct writ_yaml *node)
{
    if (raw->issuer.len == 0) {
        WRIT_OPTION_FAULT(o, node, "tokens of an issuer need issuer");
    } else if (raw->jwks.len == 0 && !writ_host_is_protected(raw->issuer)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "issuer"),
            "without jwks it must be an https URL, or an http URL on loopback");
    }
    if (raw->audience.len == 0 && config->public_origin.len == 0) {
        WRIT_OPTION_FAULT(o, node, "needs an audience, or a public_url for the file");
    }
    if (raw->scopes.n > 0) {
        WRIT_OPTION_FAULT(
            o, writ_option_of(node, "scopes"), "come from the token of an issuer: see claims");
    }
    (void)writ_option_scopes(o, writ_option_of(node, "required_scopes"), &raw->required_scopes);
    if (raw->agent.id.len > 0) {
        WRIT_OPTION_FAULT(
            o, writ_option_of(node, "id"), "comes from the token of an issuer: see claims");
    }
    if (writ_host_is_url(raw->jwks) && !writ_host_is_protected(raw->jwks)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "jwks"),
            "must be a file, an https URL, or an http URL on loopback");
    }
}

static void
check_anonymous(
    struct writ_options *o, const struct writ_config *config, const struct writ_yaml *node)
{
    const struct writ_listen_address *admin = &config->admin_listen;

    if (!config->listen.loopback || (admin->text.len > 0 && !admin->loopback)) {
        WRIT_OPTION_FAULT(
            o, node, "an anonymous agent needs all listeners on loopback or Unix sockets");
    }
}

/* Scopes from the file, for tokens that carry none. */
static void
take_scopes(struct writ_options *o, const struct writ_raw_agent *raw, const struct writ_yaml *node,
    struct writ_agent *ret)
{
    writ_auto_buf list = writ_buf_make(WRIT_SCOPES_MAX);

    (void)writ_option_scopes(o, writ_option_of(node, "scopes"), &raw->scopes);
    (void)writ_option_together(o, WRIT_SECTION_agent, node);
    if (raw->scopes.n == 0) {
        return;
    }
    writ_scopes_add_all(&list, &raw->scopes);
    if (list.failed == WRIT_E_LIMIT) {
        WRIT_OPTION_FAULT(
            o, writ_option_of(node, "scopes"), "are longer than %d bytes", WRIT_SCOPES_MAX);
        return;
    }
    ret->scopes = writ_view_copy(writ_buf_view(&list), o->arena);
    o->nomem = o->nomem || ret->scopes.ptr == NULL;
}

static void
read_agent(struct writ_options *o, const struct writ_config *config, const struct writ_yaml *node,
    struct writ_identity_config *ret)
{
    struct writ_raw_agent raw = {0};

    writ_option_read(o, WRIT_SECTION_agent, node, &raw);
    if (node->type != WRIT_YAML_MAP) {
        return;
    }
    *ret = (struct writ_identity_config){.kind = identity_kind(&raw, node),
        .agent = raw.agent,
        .bearer = raw.bearer,
        .certificate = raw.certificate,
        .issuer = raw.issuer,
        .audience = raw.audience,
        .jwks = writ_host_is_url(raw.jwks) ? raw.jwks : writ_option_path(o, raw.jwks),
        .claims = raw.claims,
        .required_scopes = raw.required_scopes};
    switch (ret->kind) {
    case WRIT_IDENTITY_NONE:
        writ_option_needs_one(o, WRIT_SECTION_agent, node);
        return;
    case WRIT_IDENTITY_JWT:
        ret->claims.id = raw.claims.id.len > 0 ? raw.claims.id : WRIT_LIT("sub");
        ret->claims.scopes = raw.claims.scopes.len > 0 ? raw.claims.scopes : WRIT_LIT("scope");
        check_jwt(o, config, &raw, node);
        return;
    case WRIT_IDENTITY_ANONYMOUS:
        check_anonymous(o, config, node);
        break;
    case WRIT_IDENTITY_CERTIFICATE:
        if (config->admin_tls.client_ca.len == 0) {
            WRIT_OPTION_FAULT(o, writ_option_of(node, "certificate"),
                "needs admin_tls with client_ca, which asks for certificates");
        }
        break;
    case WRIT_IDENTITY_BEARER:
        break;
    }
    take_scopes(o, &raw, node, &ret->agent);
    if (raw.agent.id.len == 0 && writ_option_of(node, "id") == NULL) {
        WRIT_OPTION_FAULT(o, node, "lacks id: the agent_id");
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
refuse_same_identity(struct writ_options *o, const struct writ_identity_config *agents, size_t n,
    const struct writ_yaml *node)
{
    for (size_t i = 0; i < n; i++) {
        if (same_identity(&agents[i], &agents[n])) {
            WRIT_OPTION_FAULT(o, node, "has the same identification as entry %zu", i);
            return;
        }
    }
}

void
writ_agents_read(struct writ_options *o, const struct writ_yaml *root, const struct writ_yaml *node,
    struct writ_config *config)
{
    struct writ_identity_config *agents;

    if (node == NULL) {
        writ_yaml_find(
            o->findings, WRIT_SEVERITY_WARNING, root, "no agents: every caller is refused");
        return;
    }
    if (node->type != WRIT_YAML_LIST || node->count > WRIT_AGENTS_MAX) {
        WRIT_OPTION_FAULT(o, node, "must be a list of at most %d agents", WRIT_AGENTS_MAX);
        return;
    }
    agents = writ_option_memory(o, node->count, sizeof *agents);
    if (agents == NULL) {
        return;
    }
    WRIT_YAML_EACH(element, node)
    {
        agents[element->index] = (struct writ_identity_config){0};
        read_agent(o, config, element, &agents[element->index]);
        refuse_same_identity(o, agents, element->index, element);
    }
    config->agents = agents;
    config->agents_n = node->count;
}
