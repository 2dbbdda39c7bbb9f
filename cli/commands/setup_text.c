/* Every text of others is written as a quoted scalar; ids and names that stand in comments have
 * plain characters alone. */
#include "cli/commands/setup_text.h"

#include "policy/propose/proposal_text.h"

#define FILE_MAX 256

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
    const struct writ_digest *agent_token, const struct writ_digest *owner_token, bool at_client)
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
                      "    expires: 15m\n");
    writ_buf_str(ret, at_client
                          ? "    # your client shows the call and asks you; a client that you "
                            "do not trust with the answer:\n"
                            "    # remove this line, and approve on the page alone\n"
                            "    elicitation: " WRIT_SETUP_OWNER "\n\n"
                          : "\n");
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

static void
put_environment(struct writ_buf *ret, const struct writ_pairs *environment)
{
    writ_buf_str(ret, "    environment: # may be secrets: keep the mode 0600 of this file\n");
    for (size_t i = 0; i < environment->n; i++) {
        writ_buf_str(ret, "      ");
        writ_proposal_text_scalar(ret, environment->items[i].name);
        writ_buf_str(ret, ": ");
        writ_proposal_text_scalar(ret, environment->items[i].value);
        writ_buf_byte(ret, '\n');
    }
}

static void
put_inner(struct writ_buf *ret, const char *name, struct writ_view text)
{
    writ_buf_str(ret, "  ");
    put_text(ret, name, text);
}

static void
put_authorization(struct writ_buf *ret, const struct writ_upstream_config *server)
{
    const struct writ_authorization_config *shown = server->authorization;
    writ_auto_buf file = writ_buf_make(FILE_MAX);

    writ_buf_put(&file, server->name);
    writ_buf_str(&file, WRIT_SETUP_TEXT_SECRET);
    writ_buf_str(ret, "    authorization:\n");
    if (shown->variable.len > 0) {
        put_inner(ret, "variable", shown->variable);
    } else {
        put_inner(ret, "file", shown->file.len > 0 ? shown->file : writ_buf_view(&file));
    }
    if (!writ_view_is(shown->header, "Authorization")) {
        put_inner(ret, "header", shown->header);
    }
    if (!writ_view_is(shown->scheme, "Bearer")) {
        put_inner(ret, "scheme", shown->scheme);
    }
}

void
writ_setup_text_server(struct writ_buf *ret, const struct writ_upstream_config *server)
{
    writ_buf_str(ret, "  ");
    writ_proposal_text_scalar(ret, server->name);
    writ_buf_str(ret, ":\n");
    if (server->kind != WRIT_UPSTREAM_STDIO) {
        put_text(ret, "http", server->http);
        if (server->authorization != NULL) {
            put_authorization(ret, server);
        }
        return;
    }
    put_texts(ret, "stdio", &server->stdio);
    if (server->inherit.n > 0) {
        put_texts(ret, "inherit", &server->inherit);
    }
    if (server->client_environment) {
        writ_buf_str(ret, "    client_environment: true # from the wrap that the server is for\n");
    }
    if (server->environment.n > 0) {
        put_environment(ret, &server->environment);
    }
    if (server->directory.len > 0) {
        put_text(ret, "directory", server->directory);
    }
}
