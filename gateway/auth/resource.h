/* resource.h - an endpoint of the gateway as a protected resource of OAuth 2.0: its metadata for
 * clients (RFC 9728), and its challenges for a token, or for one with more scopes (RFC 6750 3).
 * Pure; appends to buffers, which keep failures. */
#ifndef WRIT_GATEWAY_RESOURCE_H
#define WRIT_GATEWAY_RESOURCE_H

#include "policy/decide/policy.h"

#define WRIT_RESOURCE_WELL_KNOWN "/.well-known/oauth-protected-resource"

/** One endpoint, under one configuration. */
struct writ_resource {
    const struct writ_config *config;
    struct writ_view path;     /* "/mcp", "/mcp/fs" */
    struct writ_view upstream; /* the only upstream that it serves; empty: all */
};

/** True when there are metadata: a public URL, and an issuer of tokens. */
bool writ_resource_is_announced(const struct writ_config *config);

/** Whether the path after WRIT_RESOURCE_WELL_KNOWN names this endpoint: its own path, with or
 * without the path of the public URL, or for /mcp nothing at all. */
bool writ_resource_is_asked_for(const struct writ_resource *resource, struct writ_view suffix);

/** Appends the metadata, as JSON: resource, authorization_servers, scopes_supported,
 * bearer_methods_supported. For a configuration that is announced. */
void writ_resource_put_metadata(const struct writ_resource *resource, struct writ_buf *buf);

/** The contents of a challenge. */
struct writ_resource_challenge {
    const char *error;               /* RFC 6750 3.1; NULL or "": none */
    const char *description;         /* with an error: never a part of a token */
    const struct writ_agent *agent;  /* the agent that lacks scopes; NULL: not known yet */
    const struct writ_views *wanted; /* scopes that it lacks or has; NULL: only the usual ones */
};

/** Appends the value of WWW-Authenticate. Its scope lists everything that the client should
 * request: the scopes that every token must have, the wanted ones, and the agent's own scopes that
 * are useful here, so that a request for more loses nothing. */
void writ_resource_put_challenge(const struct writ_resource *resource,
    const struct writ_resource_challenge *challenge, struct writ_buf *buf);

#endif
