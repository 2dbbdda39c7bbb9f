/* A gateway records the look before it answers. Without one, this program opens the content and
 * records the look itself, before its caller prints anything of it. */
#include "cli/commands/why_contents.h"

#include "cli/commands/admin_client.h"
#include "cli/commands/contents_source.h"
#include "evidence/json/jcs.h"
#include "gateway/admin/contents_answer.h"
#include "gateway/admin/why_answer.h"
#include "gateway/state/mark_key.h"

#define PATH_BYTES 4096

bool
writ_why_contents_check(const struct writ_cli *cli)
{
    static const char *const more[] = {"url", "token", "ca", "keys"};
    bool contents = writ_cli_has(cli, "contents"), url = writ_cli_has(cli, "url");
    struct writ_err err = {0};

    for (size_t i = 0; !contents && i < sizeof more / sizeof more[0]; i++) {
        if (writ_cli_has(cli, more[i])) {
            (void)writ_cli_usage(cli, "--%s is for --contents", more[i]);
            return false;
        }
    }
    if (contents && writ_cli_has(cli, "arguments")) {
        (void)writ_cli_usage(cli, "pass either --arguments or --contents");
    } else if (url != writ_cli_has(cli, "token") || (!url && writ_cli_has(cli, "ca"))) {
        (void)writ_cli_usage(cli, "--url, --token and perhaps --ca belong together");
    } else if (url && writ_cli_has(cli, "keys")) {
        (void)writ_cli_usage(cli, "--keys is for contents without --url: the gateway has its keys");
    } else if (url && !writ_is_ok(writ_admin_client_check_id(
                          writ_cli_operand(cli, 0), "a decision", &err))) {
        (void)writ_cli_usage(cli, "%s", err.text);
    } else {
        return true;
    }
    return false;
}

/* ---- from a gateway */

/* The content as the gateway tells it. */
static WRIT_RESULT
read_answer(const struct writ_json *answer, struct writ_arena *arena, struct writ_content *ret,
    struct writ_err *err)
{
    const struct writ_json *value = writ_json_get(answer, WRIT_LIT("arguments"));
    struct writ_buf text = writ_buf_in(arena, WRIT_WHY_ARGUMENTS_MAX);

    *ret = (struct writ_content){.state = writ_contents_answer_find(writ_json_string(
                                     writ_json_get(answer, WRIT_LIT("arguments_state")))),
        .redacted = !writ_json_is_true(answer, WRIT_LIT("arguments_whole"))};
    if (ret->state == WRIT_CONTENT_KEPT) {
        WRIT_TRY(writ_jcs_put(&text, value, err));
        ret->bytes = writ_buf_view(&text);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
ask(struct writ_admin_client *client, struct writ_why *why)
{
    writ_auto_buf path = writ_buf_make(PATH_BYTES);
    struct writ_content content;

    writ_buf_fmt(&path, "/v1/contents/" WRIT_VIEW_FMT "%c",
        WRIT_VIEW_ARG(writ_cli_operand(client->cli, 0)), '\0');
    WRIT_TRY(writ_buf_check(&path, &client->err));
    client->url = writ_cli_get(client->cli, "url");
    WRIT_TRY(writ_admin_client_ask(client, path.ptr, NULL));
    WRIT_TRY(read_answer(client->value, why->arena, &content, &client->err));
    return writ_why_answer_take(why, &content, &client->err);
}

static WRIT_RESULT
take_there(const struct writ_cli *cli, struct writ_why *why, struct writ_err *err)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_result result = writ_admin_client_begin(&client, cli);

    if (writ_is_ok(result)) {
        result = ask(&client, why);
    }
    return writ_is_ok(result) ? WRIT_DONE : writ_fail(err, result.code, "%s", client.err.text);
}

/* ---- from the ledger */

/* The key of the marks is looked for beside the others. Without it the texts have that state. */
static WRIT_RESULT
find_texts(struct writ_contents_source *source, struct writ_source_texts *texts,
    struct writ_why *why, struct writ_err *err)
{
    writ_auto_mark_key key = NULL;
    writ_result result = writ_mark_key_read(source->keys, &key, err);

    if (!writ_is_ok(result) && result.code != WRIT_E_ABSENT) {
        return result;
    }
    texts->contents = source->contents;
    texts->key = key;
    texts->arguments = why->arguments;
    WRIT_TRY(writ_source_texts_find(texts, &why->flow, why->arena, err));
    for (size_t i = 0; i < texts->opened_n; i++) {
        source->order.decision_id = texts->opened[i];
        WRIT_TRY(writ_contents_source_record(source, 0, 1, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_here(const struct writ_cli *cli, struct writ_source_texts *texts, struct writ_why *why,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_contents_source, writ_contents_source_wipe) source = {0};
    const struct writ_contents_source_order order = {.cli = cli,
        .path = why->asked.config->store.ptr,
        .config = why->asked.config,
        .purpose = "why",
        .decision_id = writ_cli_operand(cli, 0)};
    struct writ_contents_call call;

    WRIT_TRY(writ_contents_source_open(&order, &source, err));
    WRIT_TRY(writ_contents_get(source.contents, order.decision_id, why->arena, &call, err));
    if (call.arguments.state == WRIT_CONTENT_KEPT) {
        WRIT_TRY(writ_contents_source_record(&source, 0, 1, err));
    }
    WRIT_TRY(writ_why_answer_take(why, &call.arguments, err));
    return find_texts(&source, texts, why, err);
}

WRIT_RESULT
writ_why_contents_take(const struct writ_cli *cli, struct writ_source_texts *texts,
    struct writ_why *why, struct writ_err *err)
{
    if (!writ_cli_has(cli, "url")) {
        return take_here(cli, texts, why, err);
    }
    WRIT_TRY(take_there(cli, why, err));
    return writ_source_texts_find(texts, &why->flow, why->arena, err);
}
