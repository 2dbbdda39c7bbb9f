/* One shape, the one that most clients share. The token stands in it, so its text is
 * a secret. */
#include "cli/commands/client_block.h"

#define AUTHORIZATION_MAX 9000

void
writ_client_block_write(struct writ_write *w, const struct writ_client_block *block)
{
    struct writ_buf authorization = writ_buf_make(AUTHORIZATION_MAX);

    writ_buf_str(&authorization, "Bearer ");
    writ_buf_put(&authorization, block->token);
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("mcpServers"));
    writ_write_object_begin(w);
    writ_write_name(w, block->name);
    writ_write_object_begin(w);
    writ_write_text(w, "type", WRIT_LIT("http"));
    writ_write_text(w, "url", block->url);
    writ_write_name(w, WRIT_LIT("headers"));
    writ_write_object_begin(w);
    writ_write_text(w, "Authorization", writ_buf_view(&authorization));
    writ_write_object_end(w);
    writ_write_object_end(w);
    writ_write_object_end(w);
    writ_write_object_end(w);
    w->buf->failed = w->buf->failed != WRIT_E_UNSET ? w->buf->failed : authorization.failed;
    writ_buf_wipe_secret(&authorization);
}
