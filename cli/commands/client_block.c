/* client_block.c - the names of the members are those of client.tbl.h. The token stands in the
 * text, which is a secret. */
#include "cli/commands/client_block.h"

#define AUTHORIZATION_MAX 9000

static const struct writ_client most_clients = {
    .name = "", .member = "mcpServers", .http_type = "http", .url = "url", .stdio_type = ""};

static void
write_http(
    struct writ_write *w, const struct writ_client *client, const struct writ_client_block *block)
{
    struct writ_buf authorization = writ_buf_make(AUTHORIZATION_MAX);

    writ_buf_str(&authorization, "Bearer ");
    writ_buf_put(&authorization, block->token);
    writ_write_text_if(w, "type", writ_view_str(client->http_type));
    writ_write_text(w, client->url, block->url);
    writ_write_name(w, WRIT_LIT("headers"));
    writ_write_object_begin(w);
    writ_write_text(w, "Authorization", writ_buf_view(&authorization));
    writ_write_object_end(w);
    w->buf->failed = w->buf->failed != WRIT_E_UNSET ? w->buf->failed : authorization.failed;
    writ_buf_wipe_secret(&authorization);
}

static void
write_program(
    struct writ_write *w, const struct writ_client *client, const struct writ_client_block *block)
{
    writ_write_text_if(w, "type", writ_view_str(client->stdio_type));
    writ_write_text(w, "command", block->program.items[0]);
    writ_write_name(w, WRIT_LIT("args"));
    writ_write_array_begin(w);
    for (size_t i = 1; i < block->program.n; i++) {
        writ_write_string(w, block->program.items[i]);
    }
    writ_write_array_end(w);
    if (block->env != NULL) {
        writ_write_name(w, WRIT_LIT("env"));
        writ_write_verbatim(w, block->env);
    }
}

void
writ_client_block_write(
    struct writ_write *w, const struct writ_client *client, const struct writ_client_block *block)
{
    client = client != NULL ? client : &most_clients;
    writ_write_object_begin(w);
    if (block->url.len > 0) {
        write_http(w, client, block);
    } else {
        write_program(w, client, block);
    }
    writ_write_object_end(w);
}

void
writ_client_block_write_all(struct writ_write *w, const struct writ_client *client,
    const struct writ_client_block *blocks, size_t n)
{
    writ_write_object_begin(w);
    writ_write_name(w, writ_view_str(client != NULL ? client->member : most_clients.member));
    writ_write_object_begin(w);
    for (size_t i = 0; i < n; i++) {
        writ_write_name(w, blocks[i].name);
        writ_client_block_write(w, client, &blocks[i]);
    }
    writ_write_object_end(w);
    writ_write_object_end(w);
}
