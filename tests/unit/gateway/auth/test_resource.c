/* Metadata of the protected resource (RFC 9728) and the challenges that point to them. Only a
 * public gateway with an issuer announces itself. */
#include "gateway/auth/resource.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#define BUF_MAX 8192

static const char announced[] =
    "public_url: https://gw.example/writ\n"
    "agents:\n"
    "  - {issuer: https://as.example, required_scopes: [mcp]}\n"
    "  - {issuer: https://other.example, audience: x, required_scopes: [mcp, other]}\n"
    "  - {issuer: https://as.example, audience: y}\n"
    "  - {anonymous: true, id: any, scopes: [a, b, a]}\n"
    "upstreams: {fs: {stdio: [x]}, pay: {stdio: [x]}}\n"
    "tools:\n"
    "  fs/read: {scope: s, scopes: [files:read]}\n"
    "  fs/write:\n"
    "    - {scope: s, agents: [ann], scopes: [files:read, files:write]}\n"
    "    - {scope: s}\n"
    "  pay/pay: {scope: s, scopes: [pay]}\n";

static const struct writ_view no_upstream = {NULL, 0};

static struct writ_resource
resource_of(const struct writ_config *config, const char *path, struct writ_view upstream)
{
    return (struct writ_resource){config, writ_view_str(path), upstream};
}

START_TEST(resource_is_announced_by_a_public_gateway_with_an_issuer_only)
{
    static const char *const no[] = {"public_url: https://gw.example\n",
        "public_url: https://gw.example\nagents: [{anonymous: true, id: a}]\n",
        "agents: [{issuer: https://as.example, audience: a}]\n"};
    struct writ_config *config = writ_ruling_config(announced);

    ck_assert(writ_resource_is_announced(config));
    writ_config_drop(config);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        config = writ_ruling_config(no[i]);
        ck_assert(!writ_resource_is_announced(config));
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(resource_find_gives_an_endpoint_at_its_well_known_urls)
{
    struct writ_config *config = writ_ruling_config(announced);
    struct writ_resource all = resource_of(config, "/mcp", no_upstream);
    struct writ_resource one = resource_of(config, "/mcp/fs", WRIT_LIT("fs"));

    ck_assert(writ_resource_is_asked_for(&all, WRIT_LIT("")));
    ck_assert(writ_resource_is_asked_for(&all, WRIT_LIT("/mcp")));
    ck_assert(writ_resource_is_asked_for(&all, WRIT_LIT("/writ/mcp")));
    ck_assert(!writ_resource_is_asked_for(&all, WRIT_LIT("/mcp/")));
    ck_assert(!writ_resource_is_asked_for(&all, WRIT_LIT("/mcp/fs")));
    ck_assert(!writ_resource_is_asked_for(&all, WRIT_LIT("/writ")));
    ck_assert(!writ_resource_is_asked_for(&all, WRIT_LIT("x")));
    ck_assert(!writ_resource_is_asked_for(&one, WRIT_LIT("")));
    ck_assert(writ_resource_is_asked_for(&one, WRIT_LIT("/writ/mcp/fs")));
    writ_config_drop(config);
}
END_TEST

START_TEST(resource_metadata_follow_rfc_9728)
{
    struct writ_config *config = writ_ruling_config(announced);
    struct writ_resource all = resource_of(config, "/mcp", no_upstream);
    struct writ_resource one = resource_of(config, "/mcp/fs", WRIT_LIT("fs"));
    writ_auto_buf text = writ_buf_make(BUF_MAX);

    writ_resource_put_metadata(&all, &text);
    ck_assert_view(writ_buf_view(&text),
        "{\"resource\":\"https://gw.example/writ/mcp\",\"authorization_servers\":"
        "[\"https://as.example\",\"https://other.example\"],\"scopes_supported\":"
        "[\"mcp\",\"other\",\"files:read\",\"files:write\",\"pay\"],"
        "\"bearer_methods_supported\":[\"header\"]}");
    writ_buf_clear(&text);
    writ_resource_put_metadata(&one, &text);
    ck_assert_uint_lt(writ_view_search(writ_buf_view(&text),
                          WRIT_LIT("[\"mcp\",\"other\",\"files:read\",\"files:write\"]")),
        text.len);
    writ_config_drop(config);
}
END_TEST

START_TEST(challenge_names_the_metadata_and_the_scopes)
{
    struct writ_config *config = writ_ruling_config(announced);
    struct writ_resource one = resource_of(config, "/mcp/fs", WRIT_LIT("fs"));
    const struct writ_agent agent = {.scopes = WRIT_LIT("openid files:write mcp")};
    const struct writ_view read[] = {WRIT_LIT("files:read")};
    const struct writ_views wanted = {read, 1};
    writ_auto_buf text = writ_buf_make(BUF_MAX);

    writ_resource_put_challenge(&one, &(struct writ_resource_challenge){.error = NULL}, &text);
    ck_assert_view(writ_buf_view(&text), "Bearer realm=\"writ\", "
                                         "resource_metadata=\"https://gw.example/.well-known/"
                                         "oauth-protected-resource/writ/mcp/fs\", "
                                         "scope=\"mcp other\"");
    writ_buf_clear(&text);
    writ_resource_put_challenge(&one,
        &(struct writ_resource_challenge){"insufficient_scope", "why", &agent, &wanted}, &text);
    ck_assert_view(writ_buf_view(&text),
        "Bearer realm=\"writ\", error=\"insufficient_scope\", error_description=\"why\", "
        "resource_metadata=\"https://gw.example/.well-known/oauth-protected-resource/writ/mcp/"
        "fs\", "
        "scope=\"mcp other files:read files:write\"");
    writ_config_drop(config);
}
END_TEST

START_TEST(challenge_without_metadata_has_the_bare_scheme)
{
    struct writ_config *config =
        writ_ruling_config("agents: [{issuer: https://as.example, audience: a}]\n");
    struct writ_resource all = resource_of(config, "/mcp", no_upstream);
    writ_auto_buf text = writ_buf_make(BUF_MAX);

    writ_resource_put_challenge(&all,
        &(struct writ_resource_challenge){.error = "invalid_token", .description = "why"}, &text);
    ck_assert_view(writ_buf_view(&text),
        "Bearer realm=\"writ\", error=\"invalid_token\", error_description=\"why\"");
    writ_config_drop(config);
}
END_TEST

START_TEST(challenge_with_too_many_scopes_omits_them)
{
    writ_auto_buf yaml = writ_buf_make(1 << 20), text = writ_buf_make(BUF_MAX);
    struct writ_config *config;
    struct writ_resource all;

    writ_buf_str(&yaml, "public_url: https://gw.example\n"
                        "agents:\n  - issuer: https://as.example\n    required_scopes:\n");
    for (int i = 0; i < 64; i++) {
        writ_buf_fmt(&yaml, "      - a-scope-with-a-rather-long-name-and-a-number-%d\n", i);
    }
    writ_buf_byte(&yaml, '\0');
    config = writ_ruling_config(yaml.ptr);
    all = resource_of(config, "/mcp", no_upstream);
    writ_resource_put_challenge(&all, &(struct writ_resource_challenge){.error = NULL}, &text);
    ck_assert_view(writ_buf_view(&text),
        "Bearer realm=\"writ\", "
        "resource_metadata=\"https://gw.example/.well-known/oauth-protected-resource/mcp\"");
    writ_config_drop(config);
}
END_TEST

WRIT_UNIT_MAIN("resource", resource_is_announced_by_a_public_gateway_with_an_issuer_only,
    resource_find_gives_an_endpoint_at_its_well_known_urls, resource_metadata_follow_rfc_9728,
    challenge_names_the_metadata_and_the_scopes, challenge_without_metadata_has_the_bare_scheme,
    challenge_with_too_many_scopes_omits_them)
