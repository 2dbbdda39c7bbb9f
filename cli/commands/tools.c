/* writ tools ...: definitions of tools, and their acceptance. Only accept writes, and it accepts
 * exactly the definition that it shows. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "gateway/io/program_files.h"
#include "gateway/mcp/odd.h"
#include "gateway/state/acceptance.h"
#include "policy/model/config.h"
#include "policy/model/glob.h"
#include "policy/read/load.h"
#include "store/trusted/keydir.h"

#define OUTPUT_MAX ((size_t)64 << 20)
#define SAFE_MAX   200 /* bytes of one name in a line for people */

struct tools {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_keyring *keys;
    struct writ_acceptance definitions;
    struct writ_buf output;
};

static void
tools_wipe(struct tools *tools)
{
    writ_config_drop(tools->config);
    writ_keyring_free(tools->keys);
    writ_acceptance_wipe(&tools->definitions);
    writ_buf_wipe(&tools->output);
}

static WRIT_RESULT
open_tools(struct tools *tools, bool signs, struct writ_err *err)
{
    const struct writ_config *config;

    tools->output = writ_buf_make(OUTPUT_MAX);
    WRIT_TRY(writ_load_file(writ_cli_operand(tools->cli, 0).ptr, NULL, &tools->config, err));
    config = tools->config;
    WRIT_TRY(signs ? writ_keydir_load(config->keys.ptr, &tools->keys, err)
                   : writ_keydir_list(config->keys.ptr, &tools->keys, err));
    return writ_acceptance_open(config, tools->keys, &tools->definitions, err);
}

/* ---- the state of one tool */

static void
put_digest(struct writ_write *w, const char *name, const struct writ_definition *definition)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_write_name(w, writ_view_str(name));
    if (definition == NULL) {
        writ_write_null(w);
        return;
    }
    writ_digest_text(&definition->digest, digest);
    writ_write_string(w, writ_view(digest, WRIT_DIGEST_TEXT - 1));
}

static void
put_safe(struct writ_buf *ret, struct writ_view name)
{
    writ_auto_buf text = writ_buf_make(8 * SAFE_MAX);

    writ_text_json_safe(&text, name, SAFE_MAX);
    writ_buf_put(ret, writ_view_sub(writ_buf_view(&text), 1, text.len - 2)); /* without quotes */
}

static void
put_odd(const struct tools *tools, struct writ_write *w, struct writ_view name)
{
    writ_odd_write(w, writ_acceptance_odd(&tools->definitions, tools->config, name));
}

/* "fs/read  odd: hidden, addresses" */
static void
put_name_line(struct tools *tools, struct writ_view name)
{
    unsigned odd = writ_acceptance_odd(&tools->definitions, tools->config, name);

    put_safe(&tools->output, name);
    writ_buf_str(&tools->output, odd != 0 ? "  odd: " : "");
    writ_odd_put(&tools->output, odd);
    writ_buf_byte(&tools->output, '\n');
}

static void
put_names(const struct tools *tools, struct writ_write *w, struct writ_view name)
{
    writ_write_text(w, "tool", name);
    writ_write_text(w, "state", writ_view_str(writ_acceptance_state(&tools->definitions, name)));
    put_digest(w, "seen", writ_definitions_find(tools->definitions.seen, name));
    put_digest(w, "accepted", writ_definitions_find(tools->definitions.accepted, name));
    put_odd(tools, w, name);
}

static enum writ_exit
finish(struct tools *tools, writ_result result, struct writ_err *err, enum writ_exit good)
{
    if (writ_is_ok(result)) {
        result = writ_buf_check(&tools->output, err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(tools->cli, result, err);
    }
    writ_cli_put(writ_buf_view(&tools->output));
    return good;
}

/* ---- list */

static void
list_one(struct tools *tools, struct writ_write *w, struct writ_view name)
{
    const struct writ_definition *seen = writ_definitions_find(tools->definitions.seen, name);
    const struct writ_definition *accepted =
        writ_definitions_find(tools->definitions.accepted, name);
    char digest[WRIT_DIGEST_TEXT];

    if (writ_program_files_is_entry(name)) {
        return; /* writ tools program shows it */
    }
    if (tools->cli->json) {
        writ_write_object_begin(w);
        put_names(tools, w, name);
        writ_write_object_end(w);
        return;
    }
    writ_digest_text(seen != NULL ? &seen->digest : &accepted->digest, digest);
    writ_buf_fmt(
        &tools->output, "%-9s %s  ", writ_acceptance_state(&tools->definitions, name), digest);
    put_name_line(tools, name);
}

/* Both lists are in the order of names. */
static void
list_all(struct tools *tools)
{
    struct writ_write w = writ_write_to(&tools->output);
    size_t s = 0, a = 0;

    if (tools->cli->json) {
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("tools"));
        writ_write_array_begin(&w);
    }
    while (s < tools->definitions.seen->n || a < tools->definitions.accepted->n) {
        int order = s == tools->definitions.seen->n ? 1
                    : a == tools->definitions.accepted->n
                        ? -1
                        : writ_view_compare(tools->definitions.seen->items[s].name,
                              tools->definitions.accepted->items[a].name);
        list_one(tools, &w,
            order <= 0 ? tools->definitions.seen->items[s].name
                       : tools->definitions.accepted->items[a].name);
        s += order <= 0 ? 1 : 0;
        a += order >= 0 ? 1 : 0;
    }
    if (tools->cli->json) {
        writ_write_array_end(&w);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
        writ_buf_byte(&tools->output, '\n');
    }
}

enum writ_exit
writ_command_tools_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct tools, tools_wipe) tools = {.cli = cli};
    struct writ_err err = {0};
    writ_result result = open_tools(&tools, false, &err);

    if (writ_is_ok(result)) {
        list_all(&tools);
    }
    return finish(&tools, result, &err, WRIT_EXIT_OK);
}

/* ---- diff */

static WRIT_RESULT
put_difference(struct tools *tools, struct writ_view name, struct writ_buf *ret, size_t *ret_lines,
    struct writ_err *err)
{
    return writ_acceptance_difference(&tools->definitions, name, ret, ret_lines, err);
}

static void
put_diff_json(struct tools *tools, struct writ_view name, struct writ_view lines)
{
    struct writ_write w = writ_write_to(&tools->output);

    writ_write_object_begin(&w);
    put_names(tools, &w, name);
    writ_write_name(&w, WRIT_LIT("difference"));
    writ_write_array_begin(&w);
    while (lines.len > 0) {
        struct writ_view line = writ_view_sub(lines, 0, writ_view_find(lines, '\n'));
        writ_write_string(&w, line);
        lines = writ_view_sub(lines, line.len + 1, SIZE_MAX);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(&tools->output, '\n');
}

enum writ_exit
writ_command_tools_diff(const struct writ_cli *cli)
{
    WRIT_AUTO(struct tools, tools_wipe) tools = {.cli = cli};
    writ_auto_buf lines = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    size_t n = 0;
    writ_result result = open_tools(&tools, false, &err);

    if (writ_is_ok(result)) {
        result = put_difference(&tools, writ_cli_operand(cli, 1), &lines, &n, &err);
    }
    if (writ_is_ok(result) && cli->json) {
        put_diff_json(&tools, writ_cli_operand(cli, 1), writ_buf_view(&lines));
    } else {
        writ_buf_put(&tools.output, writ_buf_view(&lines));
    }
    return finish(&tools, result, &err, n == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE);
}

/* ---- accept */

static bool
is_named(struct writ_view pattern, struct writ_view name)
{
    size_t slash = writ_view_find(pattern, '/');

    return writ_view_equal(pattern, name) ||
           (writ_view_equal(
                writ_view_sub(pattern, 0, slash + 1), writ_view_sub(name, 0, slash + 1)) &&
               writ_glob_match(writ_view_sub(pattern, slash + 1, SIZE_MAX),
                   writ_view_sub(name, slash + 1, SIZE_MAX)) == WRIT_GLOB_YES);
}

static WRIT_RESULT
check_digest(const struct tools *tools, const struct writ_definition *seen, struct writ_err *err)
{
    struct writ_view text = writ_cli_get(tools->cli, "digest");
    struct writ_digest wanted;

    if (text.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_digest_read(text, &wanted, err));
    if (!writ_digest_equal(&wanted, &seen->digest)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the definition changed since: review it again");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
accept_one(
    struct tools *tools, const struct writ_definition *seen, bool further, struct writ_err *err)
{
    writ_auto_buf lines = writ_buf_make(OUTPUT_MAX);
    size_t n;

    WRIT_TRY(check_digest(tools, seen, err));
    WRIT_TRY(put_difference(tools, seen->name, &lines, &n, err));
    if (n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_acceptance_permit(tools->config, seen->name,
        writ_acceptance_odd(&tools->definitions, tools->config, seen->name),
        writ_cli_has(tools->cli, "odd"), err));
    if (tools->cli->json) {
        writ_buf_str(&tools->output, further ? "," : "");
        put_diff_json(tools, seen->name, writ_buf_view(&lines));
        writ_buf_cut(&tools->output, tools->output.len - 1); /* one of several: no line end */
    } else {
        put_name_line(tools, seen->name);
        writ_buf_put(&tools->output, writ_buf_view(&lines));
    }
    return writ_acceptance_take(
        &tools->definitions, seen, writ_clock_wall_us(tools->cli->clock), err);
}

static WRIT_RESULT
accept_all(struct tools *tools, struct writ_err *err)
{
    struct writ_view pattern = writ_cli_operand(tools->cli, 1);
    size_t named = 0, start;

    WRIT_TRY(open_tools(tools, true, err));
    writ_buf_str(&tools->output, tools->cli->json ? "{\"accepted\":[" : "");
    start = tools->output.len;
    for (size_t i = 0; i < tools->definitions.seen->n; i++) {
        if (is_named(pattern, tools->definitions.seen->items[i].name)) {
            named++;
            WRIT_TRY(accept_one(
                tools, &tools->definitions.seen->items[i], tools->output.len > start, err));
        }
    }
    if (named == 0) {
        return writ_acceptance_never_seen(pattern, err);
    }
    writ_buf_str(&tools->output,
        tools->cli->json ? "]}\n"
                         : "A running gateway takes this by itself, within about a second.\n");
    return writ_definitions_save(tools->config->files.ptr, WRIT_DEFINITIONS_ACCEPTED,
        tools->definitions.accepted, writ_keyring_active(tools->keys, WRIT_KEY_PURPOSE_LEDGER),
        err);
}

enum writ_exit
writ_command_tools_accept(const struct writ_cli *cli)
{
    WRIT_AUTO(struct tools, tools_wipe) tools = {.cli = cli};
    struct writ_err err = {0};
    writ_result result = accept_all(&tools, &err);

    return finish(&tools, result, &err, WRIT_EXIT_OK);
}
