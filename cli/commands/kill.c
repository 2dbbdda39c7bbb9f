/* writ kill ...: stops calls at a running gateway, through its admin listener. A stop that the
 * gateway did not confirm is a failure. */
#include "base/text.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"

#include <stdio.h>

#define KILLS     "/v1/kills"
#define BODY_MAX  32768
#define PATH_MAX  4096
#define LINE_TEXT 200 /* bytes of a text in a line for people */
#define WARN_MAX  65536

static WRIT_RESULT
put_stop(const struct writ_cli *cli, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "by", writ_cli_operand(cli, 1));
    writ_write_text_if(&w, "value", writ_cli_operand(cli, 2));
    writ_write_text_if(&w, "tenant", writ_cli_get(cli, "tenant"));
    writ_write_text_if(&w, "reason", writ_cli_get(cli, "reason"));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

/* Where several gateways share the ledger. */
static void
print_unconfirmed(const char *what, const char *then, const struct writ_json *answer)
{
    writ_auto_buf line = writ_buf_make(WARN_MAX);
    bool some = false;

    if (writ_json_is_true(answer, WRIT_LIT("confirmed"))) {
        return;
    }
    writ_buf_fmt(&line, "writ kill %s: warning: not confirmed", what);
    WRIT_JSON_EACH(name, writ_json_get(answer, WRIT_LIT("unconfirmed")))
    {
        writ_buf_str(&line, some ? ", " : " by gateway ");
        writ_text_safe(&line, writ_json_string(name), LINE_TEXT);
        some = true;
    }
    writ_buf_fmt(&line, "%s: %s\n%c", some ? "" : " by any other gateway", then, '\0');
    if (writ_is_ok(writ_buf_check(&line, NULL))) {
        (void)fputs(line.ptr, stderr);
    }
}

static void
print_pulled(const struct writ_json *answer)
{
    writ_auto_buf line = writ_buf_make(16 * LINE_TEXT);

    writ_text_safe(&line, writ_json_string(writ_json_get(answer, WRIT_LIT("id"))), LINE_TEXT);
    writ_buf_str(&line, "  stops ");
    writ_text_safe(
        &line, writ_json_string(writ_json_get(answer, WRIT_LIT("stops"))), 2 * LINE_TEXT);
    writ_buf_str(&line, writ_json_is_true(answer, WRIT_LIT("durable"))
                            ? "\n"
                            : "; it could not be written: a restart loses it\n");
    writ_cli_put(writ_buf_view(&line));
    if (!writ_json_is_true(answer, WRIT_LIT("known"))) {
        (void)fputs("writ kill pull: warning: the stop holds, but names nothing that the gateway "
                    "knows: it is "
                    "not in the configuration, and none of the last 100000 calls was of it. "
                    "Compare the name, "
                    "and lift the stop if it is wrong.\n",
            stderr);
    }
    print_unconfirmed("pull",
        "until it reads the ledger or its lease is over, it may run such calls. See whether it "
        "works, or end its process.",
        answer);
}

static WRIT_RESULT
put_lift(const struct writ_cli *cli, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text_if(&w, "reason", writ_cli_get(cli, "reason"));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

enum writ_exit
writ_command_kill_pull(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    writ_result result = writ_admin_client_begin(&client, cli);

    if (writ_is_ok(result)) {
        result = put_stop(cli, &body, &client.err);
    }
    if (writ_is_ok(result)) {
        result = writ_admin_client_ask(&client, KILLS, body.ptr);
    }
    if (writ_is_ok(result) && !cli->json) {
        print_pulled(client.value);
    }
    return writ_admin_client_end(&client, result);
}

static void
print_stop(const struct writ_json *stop)
{
    static const char *const members[] = {"id", "at", "by", "value", "tenant", "who", "reason"};
    writ_auto_buf line = writ_buf_make(16 * LINE_TEXT);

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        struct writ_view text = writ_json_string(writ_json_get(stop, writ_view_str(members[i])));

        writ_buf_str(&line, i > 0 ? "  " : "");
        writ_text_safe(&line, text.len > 0 ? text : WRIT_LIT("-"), LINE_TEXT);
    }
    writ_buf_byte(&line, '\n');
    writ_cli_put(writ_buf_view(&line));
}

enum writ_exit
writ_command_kill_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_result result = writ_admin_client_begin(&client, cli);

    if (writ_is_ok(result)) {
        result = writ_admin_client_ask(&client, KILLS, NULL);
    }
    if (writ_is_ok(result) && !cli->json) {
        WRIT_JSON_EACH(stop, writ_json_get(client.value, WRIT_LIT("kills")))
        {
            print_stop(stop);
        }
    }
    return writ_admin_client_end(&client, result);
}

enum writ_exit
writ_command_kill_lift(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client = {0};
    struct writ_view id = writ_cli_operand(cli, 1);
    writ_auto_buf path = writ_buf_make(PATH_MAX);
    writ_auto_buf body = writ_buf_make(BODY_MAX);
    struct writ_err err = {0};
    writ_result result;

    if (!writ_is_ok(writ_admin_client_check_id(id, "a stop", &err))) {
        return writ_cli_usage(cli, "%s", err.text);
    }
    writ_buf_fmt(&path, KILLS "/" WRIT_VIEW_FMT "/lift%c", WRIT_VIEW_ARG(id), '\0');
    result = writ_admin_client_begin(&client, cli);
    if (writ_is_ok(result)) {
        result = writ_buf_check(&path, &client.err);
    }
    if (writ_is_ok(result)) {
        result = put_lift(cli, &body, &client.err);
    }
    if (writ_is_ok(result)) {
        result = writ_admin_client_ask(&client, path.ptr, body.ptr);
    }
    if (writ_is_ok(result) && !cli->json) {
        print_unconfirmed(
            "lift", "until it reads the ledger, it refuses such calls.", client.value);
    }
    return writ_admin_client_end(&client, result);
}
