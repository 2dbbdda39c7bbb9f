/* resource.h - an endpoint of the gateway as a protected resource of OAuth 2.0: what it tells
 * clients about itself (RFC 9728), and how it asks them for a token, or for a better one (RFC 6750
 * 3). Pure; in buffers, which remember failures. */
#ifndef WRIT_GATEWAY_RESOURCE_H
#define WRIT_GATEWAY_RESOURCE_H

#include "policy/decide/policy.h"

#define WRIT_RESOURCE_WELL_KNOWN "/.well-known/oauth-protected-resource"

/** One endpoint, under one configuration. */
struct writ_resource {
    const struct writ_config *config;
    struct writ_view path;     /* "/mcp", "/mcp/fs" */
    struct writ_view upstream; /* the only one that it serves; empty: all */
};

/** True when there is something to tell: a public URL, and an issuer of tokens. */
bool writ_resource_is_announced(const struct writ_config *config);

/** Whether what follows WRIT_RESOURCE_WELL_KNOWN in a path asks for this endpoint: its own path,
 * with or without the path of the public URL, or for /mcp nothing at all. */
bool writ_resource_is_asked_for(const struct writ_resource *resource, struct writ_view suffix);

/** Appends the metadata, as JSON: resource, authorization_servers, scopes_supported,
 * bearer_methods_supported. For a configuration that is announced. */
void writ_resource_put_metadata(const struct writ_resource *resource, struct writ_buf *buf);

/** What a challenge says. */
struct writ_resource_challenge {
    const char *error;               /* RFC 6750 3.1; NULL or "": none */
    const char *description;         /* with an error: never a part of a token */
    const struct writ_agent *agent;  /* who lacks scopes; NULL: not known yet */
    const struct writ_views *wanted; /* scopes that he lacks or has; NULL: none besides the usual */
};

/** Appends the value of WWW-Authenticate. Its scope lists all that the client should ask for: what
 * every token must have, what is wanted, and what of the agent's own scopes is of use here, so
 * that asking for more loses nothing. */
void writ_resource_put_challenge(const struct writ_resource *resource,
    const struct writ_resource_challenge *challenge, struct writ_buf *buf);

#endif
