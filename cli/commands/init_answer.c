/* init_answer.c - what was proposed, what is left to do, and what the client needs. The block has
 * the agent's token, so the answer is a secret. */
#include "cli/commands/init_answer.h"

#include "base/hidden.h"
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/free_port.h"
#include "cli/commands/tools_scan.h"

#define ANSWER_MAX   (16U << 20)
#define ODDITIES_MAX 20 /* that are shown */
#define NAME_MAX     80

static void
write_server(struct writ_write *w, const struct writ_proposal *proposal)
{
    writ_write_object_begin(w);
    writ_write_text(w, "name", proposal->upstream);
    writ_write_count(w, "tools", proposal->tools);
    writ_write_count(w, "open", proposal->open);
    writ_write_count(w, "reviewed", proposal->reviewed);
    writ_write_count(w, "waiting", proposal->waiting);
    writ_write_count(w, "closed", proposal->closed);
    writ_write_object_end(w);
}

static void
write_block(const struct writ_init *init, struct writ_write *w)
{
    writ_client_block_write_all(w, init->client.row, init->client.blocks, init->client.n);
}

static void
write_client(const struct writ_init *init, struct writ_write *w)
{
    const struct writ_init_client *client = &init->client;

    writ_write_text_if(w, "client_file", client->open ? client->place.path : client->path);
    writ_write_text_if(w, "backup", client->backup);
    writ_write_name(w, WRIT_LIT("left"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < init->from.left.n; i++) {
        writ_write_string(w, init->from.left.items[i]);
    }
    writ_write_array_end(w);
    writ_write_flag(w, "applied", client->apply);
    if (!client->apply) { /* the file has it, with the token */
        writ_write_name(w, WRIT_LIT("client"));
        write_block(init, w);
    }
}

static void
write_answer(const struct writ_init *init, struct writ_write *w)
{
    const struct writ_setup_made *made = &init->made;

    writ_write_object_begin(w);
    writ_write_text(w, "config", made->config);
    writ_write_text(w, "agent_token_file", made->agent_token_file);
    writ_write_text_if(w, "owner_token_file", made->owner_token_file);
    writ_write_name(w, WRIT_LIT("servers"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < init->n && !init->present; i++) {
        write_server(w, &made->proposals[i]);
    }
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("placeholders"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < made->placeholders_n; i++) {
        writ_write_object_begin(w);
        writ_write_count(w, "line", made->placeholders[i].line);
        writ_write_text(w, "value", made->placeholders[i].text);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
    writ_write_count(w, "oddities", made->odd.total);
    writ_write_text_if(w, "exposed", init->made.exposed);
    write_client(init, w);
    writ_write_object_end(w);
}

static void
put_server(struct writ_buf *ret, const struct writ_proposal *p)
{
    writ_buf_put(ret, p->upstream);
    writ_buf_fmt(ret, ": %zu tools: %zu open within their constraints", p->tools, p->open);
    if (p->reviewed > 0) {
        writ_buf_fmt(ret, ", %zu need your approval of each call", p->reviewed);
    }
    if (p->waiting > 0) {
        writ_buf_fmt(ret, ", %zu are refused until you replace placeholders", p->waiting);
    }
    if (p->closed > 0) {
        writ_buf_fmt(ret, ", %zu are refused until you write a rule", p->closed);
    }
    writ_buf_byte(ret, '\n');
}

static void
put_placeholders(const struct writ_init *init, struct writ_buf *ret)
{
    const struct writ_setup_made *made = &init->made;

    for (size_t i = 0; i < made->placeholders_n; i++) {
        writ_print_plain(ret, made->config);
        writ_buf_fmt(ret, ":%zu: ", made->placeholders[i].line);
        writ_buf_put(ret, made->placeholders[i].text);
        writ_buf_byte(ret, '\n');
    }
}

static void
put_exposed(const struct writ_init *init, struct writ_buf *ret)
{
    if (init->made.exposed.len > 0) {
        writ_buf_str(ret, "\nWarning: these files are in ");
        writ_print_plain(ret, init->made.exposed);
        writ_buf_str(ret,
            ", which a server was given. It can read the keys and both tokens, and so can an "
            "agent that may read there. Move them, or give the server another folder.\n");
    }
}

static void
put_oddities(const struct writ_init *init, struct writ_buf *ret)
{
    const struct writ_oddities *odd = &init->made.odd;

    if (odd->total == 0) {
        return;
    }
    writ_buf_str(ret, "\nWarning: read these before you trust the server (docs/policy.md):\n");
    for (size_t i = 0; i < odd->n && i < ODDITIES_MAX; i++) {
        writ_buf_str(ret, "  ");
        writ_buf_put(ret, odd->items[i].server);
        writ_buf_byte(ret, '/');
        writ_text_safe(ret, odd->items[i].tool, NAME_MAX);
        writ_buf_str(ret, ": ");
        writ_tools_scan_put(ret, &odd->items[i]);
    }
    if (odd->total > ODDITIES_MAX) {
        writ_buf_fmt(ret, "  and %zu more: writ tools scan\n", odd->total - ODDITIES_MAX);
    }
}

/* Whether no placeholder before it has the same text. */
static bool
is_first(const struct writ_setup_made *made, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (writ_view_equal(made->placeholders[i].text, made->placeholders[at].text)) {
            return false;
        }
    }
    return true;
}

static void
put_next(const struct writ_init *init, struct writ_buf *ret)
{
    const struct writ_setup_made *made = &init->made;

    if (init->setup.port != WRIT_PORT_USUAL && !writ_cli_has(init->cli, "port")) {
        writ_buf_fmt(
            ret, "\nPort %d is taken; this gateway gets %u.\n", WRIT_PORT_USUAL, init->setup.port);
    }
    writ_buf_str(ret, "\nNext:\n");
    for (size_t i = 0; i < made->placeholders_n; i++) {
        if (is_first(made, i)) {
            writ_buf_str(ret, "  sed -i 's|");
            writ_buf_put(ret, made->placeholders[i].text);
            writ_buf_str(ret, "|YOUR_VALUE|' ");
            writ_print_word(ret, made->config);
            writ_buf_str(ret, "   (or edit each)\n");
        }
    }
    writ_buf_str(ret, "  writ check ");
    writ_print_word(ret, made->config);
    if (init->address.len > 0) {
        writ_buf_str(ret, "\n  writ serve ");
        writ_print_word(ret, made->config);
    }
    if (init->setup.port > 0) {
        writ_buf_fmt(ret, "\nApprove calls at http://127.0.0.1:%u/", init->setup.port + 1U);
    } else {
        writ_buf_str(ret, "\nApprove calls by the link in their refusal,");
    }
    writ_buf_str(ret, " with the token in ");
    writ_print_plain(ret, made->owner_token_file);
    writ_buf_byte(ret, '\n');
}

/* Servers that the client goes on to reach without Writ. */
static void
put_left(const struct writ_init *init, struct writ_buf *ret)
{
    for (size_t i = 0; i < init->from.left.n; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "\nNot behind Writ: ");
        writ_print_plain(ret, init->from.left.items[i]);
    }
    writ_buf_str(ret, init->from.left.n > 0 ? "\n" : "");
}

/* What takes it back, by the options that named the file. */
static void
put_undo(const struct writ_init *init, struct writ_buf *ret)
{
    static const char *const options[] = {"from", "file", "client"};

    writ_buf_str(ret, "writ init");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct writ_view value = writ_cli_get(init->cli, options[i]);

        if (value.ptr != NULL) {
            writ_buf_fmt(ret, " --%s ", options[i]);
            writ_print_word(ret, value);
        }
    }
}

static void
put_written(const struct writ_init *init, struct writ_buf *ret)
{
    const struct writ_init_client *client = &init->client;

    writ_buf_str(ret, "\nWritten: ");
    writ_print_plain(ret, client->place.path);
    if (client->backup.len > 0) {
        writ_buf_str(ret, "; beside it ");
        writ_print_plain(ret, client->backup);
        writ_buf_str(ret, ", the file of before");
    }
    writ_buf_str(ret, "\nRestart the client. To take it back: ");
    put_undo(init, ret);
    writ_buf_str(ret, " --undo\n");
}

static bool
has_variables(const struct writ_init_client *client)
{
    for (size_t i = 0; i < client->n; i++) {
        if (client->blocks[i].env != NULL) {
            return true;
        }
    }
    return false;
}

static void
put_client(const struct writ_init *init, struct writ_buf *ret)
{
    const struct writ_init_client *client = &init->client;

    put_left(init, ret);
    if (client->apply) {
        put_written(init, ret);
        return;
    }
    if (client->path.len == 0) {
        writ_buf_str(ret, "\nFor the client");
    } else {
        writ_buf_str(ret, "\n--apply writes this into ");
        writ_print_plain(ret, client->path);
    }
    if (init->address.len > 0) {
        writ_buf_str(ret, "; keep it secret, because it has the agent's token:\n");
    } else {
        writ_buf_str(
            ret, has_variables(client) ? "; keep it secret, because of its env:\n" : ":\n");
    }
}

static void
put_answer(const struct writ_init *init, struct writ_buf *ret, struct writ_write *w)
{
    for (size_t i = 0; i < init->n && !init->present; i++) {
        put_server(ret, &init->made.proposals[i]);
    }
    if (init->present) {
        writ_print_plain(ret, init->made.config);
        writ_buf_str(ret, ": is there, and is used as it is\n");
    } else {
        put_placeholders(init, ret);
        put_exposed(init, ret);
        put_oddities(init, ret);
        put_next(init, ret);
    }
    put_client(init, ret);
    if (!init->client.apply) {
        write_block(init, w);
    }
}

WRIT_RESULT
writ_init_answer_put(const struct writ_init *init, struct writ_err *err)
{
    struct writ_buf answer = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&answer);
    bool block = init->cli->json || !init->client.apply;
    writ_result result = WRIT_DONE;

    if (init->cli->json) {
        write_answer(init, &w);
    } else {
        put_answer(init, &answer, &w);
    }
    if (block) {
        result = writ_write_end(&w, err);
        writ_buf_byte(&answer, '\n');
    }
    if (writ_is_ok(result)) {
        result = writ_buf_check(&answer, err);
    }
    if (writ_is_ok(result)) {
        writ_cli_put(writ_buf_view(&answer));
    }
    writ_buf_wipe_secret(&answer);
    return result;
}
