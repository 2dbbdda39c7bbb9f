/* An untrusted file of an MCP client.
 *
 * For every input: it is refused, or its servers are listed, the same each time. A server without a
 * fault can be asked: it has a program whose words end with NUL and hold none, with named
 * variables, or a URL that is https or http on loopback; nothing that the client fills in is in
 * either. */
#include "gateway/discover/client_file.h"

#include "gateway/http/fetch.h"
#include "support/fuzz.h"

#define ARENA_MAX ((size_t)32 << 20)
#define INPUT_MAX ((size_t)1 << 20)

static void
check_text(struct writ_view text)
{
    WRIT_INVARIANT(text.ptr != NULL && text.ptr[text.len] == '\0');
    WRIT_INVARIANT(writ_view_find(text, '\0') == text.len);
}

/* No part that the client fills in: ${...}. */
static void
check_word(struct writ_view text)
{
    check_text(text);
    WRIT_INVARIANT(writ_view_search(text, WRIT_LIT("${")) == text.len);
}

static void
check_program(const struct writ_upstream_config *config)
{
    WRIT_INVARIANT(config->stdio.n > 0 && config->stdio.items[0].len > 0);
    for (size_t i = 0; i < config->stdio.n; i++) {
        check_word(config->stdio.items[i]);
    }
    for (size_t i = 0; i < config->environment.n; i++) {
        const struct writ_pair *pair = &config->environment.items[i];

        check_text(pair->name);
        check_word(pair->value);
        WRIT_INVARIANT(pair->name.len > 0 && writ_view_find(pair->name, '=') == pair->name.len);
    }
    if (config->directory.ptr != NULL) {
        check_text(config->directory);
    }
}

static void
check_url(const struct writ_upstream_config *config)
{
    check_text(config->host);
    WRIT_INVARIANT(config->host.len > 0 && config->path.len > 0 && config->path.ptr[0] == '/');
    WRIT_INVARIANT(config->port > 0);
    WRIT_INVARIANT(config->tls || writ_view_is(config->host, "localhost") ||
                   writ_view_is(config->host, "::1") ||
                   writ_view_has_prefix(config->host, WRIT_LIT("127.")));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_client_file file = {.n = 0}, again = {.n = 0};
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_view text = writ_view(data, size);

    WRIT_INVARIANT(arena != NULL);
    if (size > INPUT_MAX || !writ_is_ok(writ_client_file_read(text, arena, &file, NULL))) {
        WRIT_INVARIANT(file.servers == NULL && file.n == 0);
        return 0;
    }
    WRIT_INVARIANT(writ_is_ok(writ_client_file_read(text, arena, &again, NULL)));
    WRIT_INVARIANT(file.n == again.n && file.n <= WRIT_UPSTREAMS_MAX && file.list.n > 0);
    for (size_t i = 0; i < file.n; i++) {
        const struct writ_client_file_server *server = &file.servers[i];

        WRIT_INVARIANT(server->fault == again.servers[i].fault);
        WRIT_INVARIANT(!server->disabled || server->fault != NULL);
        WRIT_INVARIANT(writ_view_equal(server->config.name, again.servers[i].config.name));
        if (server->fault == NULL && server->config.kind == WRIT_UPSTREAM_STDIO) {
            check_program(&server->config);
        } else if (server->fault == NULL) {
            check_url(&server->config);
        }
    }
    return 0;
}
