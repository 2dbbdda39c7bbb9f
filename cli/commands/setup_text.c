/* Every text of others is written as a quoted scalar; ids and names that stand in comments have
 * plain characters alone. */
#include "cli/commands/setup_text.h"

#include "policy/propose/proposal_text.h"

static void
put_agent(
    struct writ_buf *ret, struct writ_view id, const struct writ_digest *digest, const char *rest)
{
    writ_buf_str(ret, "  - {id: ");
    writ_proposal_text_scalar(ret, id);
    writ_buf_str(ret, rest);
    writ_buf_str(ret, ", bearer_sha256: \"");
    writ_hex_put(ret, digest->bytes, sizeof digest->bytes);
    writ_buf_str(ret, "\"}\n");
}

void
writ_setup_text_agents(struct writ_buf *ret, struct writ_view agent,
    const struct writ_digest *agent_token, const struct writ_digest *owner_token)
{
    writ_buf_str(ret, "agents:\n  # calls tools; its token is in ");
    writ_buf_put(ret, agent); /* letters, digits, - and _ */
    writ_buf_str(ret, ".token\n");
    put_agent(ret, agent, agent_token, "");
    writ_buf_str(ret, "  # you: log in to the page with the token in " WRIT_SETUP_OWNER ".token\n");
    put_agent(ret, WRIT_LIT(WRIT_SETUP_OWNER), owner_token, ", role: " WRIT_SETUP_OWNER);
    writ_buf_str(ret, "auditors: [" WRIT_SETUP_OWNER "] # sees every call in the ledger\n"
                      "administrators: [" WRIT_SETUP_OWNER "] # may stop calls (writ kill)\n\n"
                      "reviews:\n"
                      "  " WRIT_SETUP_OWNER ": # calls that need an approval wait for yours\n"
                      "    voters: [{id: " WRIT_SETUP_OWNER "}]\n"
                      "    expires: 15m\n\n");
}

static void
put_texts(struct writ_buf *ret, const char *name, const struct writ_views *texts)
{
    writ_buf_fmt(ret, "    %s: [", name);
    for (size_t i = 0; i < texts->n; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        writ_proposal_text_scalar(ret, texts->items[i]);
    }
    writ_buf_str(ret, "]\n");
}

static void
put_text(struct writ_buf *ret, const char *name, struct writ_view text)
{
    writ_buf_fmt(ret, "    %s: ", name);
    writ_proposal_text_scalar(ret, text);
    writ_buf_byte(ret, '\n');
}

void
writ_setup_text_server(struct writ_buf *ret, const struct writ_upstream_config *server)
{
    writ_buf_str(ret, "  ");
    writ_proposal_text_scalar(ret, server->name);
    writ_buf_str(ret, ":\n");
    if (server->kind != WRIT_UPSTREAM_STDIO) {
        put_text(ret, "http", server->http);
        return;
    }
    put_texts(ret, "stdio", &server->stdio);
    if (server->inherit.n > 0) {
        put_texts(ret, "inherit", &server->inherit);
    }
    if (server->directory.len > 0) {
        put_text(ret, "directory", server->directory);
    }
}
