/* init_present.c - a configuration that is there is used as it is: it gives the address and the
 * names of the servers, and its folder the token. Nothing of it is written. */
#include "cli/commands/init_present.h"

#include "base/secret.h"
#include "policy/read/load.h"

/* The address of the endpoint of all servers; none for a Unix socket. */
static WRIT_RESULT
find_address(struct writ_init *init, const struct writ_config *config, struct writ_err *err)
{
    struct writ_buf address = writ_buf_in(init->arena, WRIT_INIT_ADDRESS_MAX);
    const struct writ_listen_address *listen = &config->listen;
    bool any = writ_view_is(listen->host, "0.0.0.0") || writ_view_is(listen->host, "::");

    init->address = WRIT_LIT("");
    if (listen->path.len > 0) {
        return WRIT_DONE;
    }
    if (writ_cli_has(init->cli, "socket")) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: listens on an address, and --socket needs `listen: unix:` and the path of a "
            "socket",
            init->made.config.ptr);
    }
    if (listen->port == 0 && config->public_origin.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: listen has port 0: a client needs one that stays",
            init->made.config.ptr);
    }
    if (config->public_origin.len > 0) {
        writ_buf_put(&address, config->public_origin);
        writ_buf_put(&address, config->public_path);
    } else {
        writ_buf_str(&address, config->tls.cert.len > 0 ? "https://" : "http://");
        writ_buf_str(&address, listen->ipv6 && !any ? "[" : "");
        writ_buf_put(&address, any ? WRIT_LIT("127.0.0.1") : listen->host);
        writ_buf_fmt(&address, "%s:%u", listen->ipv6 && !any ? "]" : "", listen->port);
    }
    writ_buf_str(&address, "/mcp");
    WRIT_TRY(writ_buf_check(&address, err));
    init->address = writ_buf_view(&address);
    return WRIT_DONE;
}

/* Each server of the client is one of the configuration; one that is led to Writ already stands for
 * the one that it was made from. */
static WRIT_RESULT
match_servers(struct writ_init *init, const struct writ_config *config, struct writ_err *err)
{
    for (size_t i = 0; i < init->n; i++) {
        const struct writ_upstream_config *server = &init->servers[i];
        const struct writ_upstream_config *known = writ_config_upstream(config, server->name);
        bool ours = init->client.open && writ_client_place_is_ours(&init->client.place,
                                             &init->client.list, init->from.servers[i].client);

        if (known == NULL || (!ours && !writ_init_from_is_same(known, server))) {
            WRIT_FAIL(err, WRIT_E_MISMATCH,
                "%s: has no upstream " WRIT_VIEW_FMT
                " with this command or URL. Give another folder with --out, or --skip it",
                init->made.config.ptr, WRIT_VIEW_ARG(server->name));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_upstreams(struct writ_init *init, const struct writ_config *config, struct writ_err *err)
{
    if (config->upstreams_n > WRIT_SETUP_SERVERS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d servers", WRIT_SETUP_SERVERS_MAX);
    }
    for (size_t i = 0; i < config->upstreams_n; i++) {
        init->servers[init->n++] = (struct writ_upstream_config){
            .name = writ_view_copy(config->upstreams[i].name, init->arena)};
    }
    return WRIT_DONE;
}

static WRIT_RESULT
use_config(struct writ_init *init, const struct writ_config *config, struct writ_err *err)
{
    WRIT_TRY(find_address(init, config, err));
    if (init->from.n > 0) {
        WRIT_TRY(match_servers(init, config, err));
    } else {
        WRIT_TRY(take_upstreams(init, config, err));
    }
    init->made.token = writ_buf_make(WRIT_SECRET_MAX);
    return writ_secret_file(init->made.agent_token_file.ptr, &init->made.token, err);
}

WRIT_RESULT
writ_init_present_use(struct writ_init *init, struct writ_err *err)
{
    struct writ_config *config = NULL;
    writ_result result = writ_load_file(init->made.config.ptr, NULL, &config, err);

    if (writ_is_ok(result)) {
        result = use_config(init, config, err);
    }
    writ_config_drop(config);
    return result;
}
