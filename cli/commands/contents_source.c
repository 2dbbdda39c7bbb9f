/* Contents are decrypted by the process that reads the ledger, so the record of a look is its own
 * duty: it is made when the number is known, and before anything is printed. */
#include "cli/commands/contents_source.h"

#include "cli/commands/admin_client.h"
#include "evidence/json/write.h"
#include "evidence/record/content_fact.h"
#include "gateway/service/ledgers.h"
#include "store/read/reader.h"
#include "store/trusted/keydir.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#define DATA_MAX 8192

static WRIT_RESULT
count_records(const char *path, uint64_t *ret, struct writ_err *err)
{
    writ_auto_reader reader = NULL;
    struct writ_reader_extent extent;

    WRIT_TRY(writ_reader_open(path, &reader, err));
    WRIT_TRY(writ_reader_extent(reader, 0, &extent, err));
    *ret = extent.records;
    return WRIT_DONE;
}

WRIT_RESULT
writ_contents_source_open(const struct writ_contents_source_order *order,
    struct writ_contents_source *ret, struct writ_err *err)
{
    ret->order = *order;
    ret->keys = writ_cli_get(order->cli, "keys").ptr;
    if (ret->keys == NULL) {
        ret->keys = order->config->keys.ptr;
    }
    if (ret->keys == NULL || ret->keys[0] == '\0') {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "the configuration names no key directory: pass --keys with the one of the gateway");
    }
    if (writ_cli_has(order->cli, "url") && !writ_cli_has(order->cli, "token")) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--url needs --token");
    }
    WRIT_TRY(writ_keydir_load(ret->keys, &ret->ring, err));
    WRIT_TRY(count_records(order->path, &ret->records, err));
    return writ_contents_open(order->path, ret->ring, order->cli->clock, &ret->contents, err);
}

void
writ_contents_source_wipe(struct writ_contents_source *source)
{
    writ_contents_close(source->contents);
    writ_keyring_free(source->ring);
    *source = (struct writ_contents_source){0};
}

/* One reading, and how far it is. */
struct counted {
    bool (*each)(void *ctx, const struct writ_contents_call *call);
    void *ctx;
    uint64_t first, records;
    bool begun;
    struct writ_progress progress;
};

static bool
each_counted(void *ctx, const struct writ_contents_call *call)
{
    struct counted *counted = ctx;

    counted->first = counted->begun ? counted->first : call->leaf;
    counted->begun = true;
    (void)writ_progress_step(&counted->progress, call->leaf - counted->first + 1,
        counted->records > call->leaf ? counted->records - counted->first : 0);
    return counted->each(counted->ctx, call);
}

WRIT_RESULT
writ_contents_source_each(const struct writ_contents_source *source,
    const struct writ_contents_filter *filter,
    bool (*each)(void *ctx, const struct writ_contents_call *call), void *ctx, struct writ_err *err)
{
    struct counted counted = {.each = each,
        .ctx = ctx,
        .records = source->records,
        .progress = writ_progress_begin(source->order.cli, "records")};
    writ_result result = writ_contents_each(source->contents, filter, each_counted, &counted, err);

    writ_progress_end(&counted.progress);
    return result;
}

/* "writ policy replay, run by ann" */
static void
put_by(const struct writ_cli *cli, struct writ_buf *ret)
{
    const struct passwd *user = getpwuid(geteuid());

    writ_buf_fmt(ret, "writ %s, run by ", cli->command->words);
    if (user != NULL) {
        writ_buf_str(ret, user->pw_name);
    } else {
        writ_buf_fmt(ret, "user %lu", (unsigned long)geteuid());
    }
}

/* The configuration for the ledger at the path. Another ledger than the configuration's own has no
 * checkpoints elsewhere that the configuration knows of, but for the gateway's own file beside it.
 */
static WRIT_RESULT
config_of(const struct writ_contents_source *source, struct writ_buf *remember,
    struct writ_config *ret, struct writ_err *err)
{
    char given[PATH_MAX], own[PATH_MAX];

    *ret = *source->order.config;
    ret->keys = writ_view_str(source->keys);
    if (writ_view_is(ret->store, source->order.path)) { /* a URI, too */
        return WRIT_DONE;
    }
    if (realpath(source->order.path, given) != NULL && realpath(ret->store.ptr, own) != NULL &&
        writ_view_is(writ_view_str(given), own)) {
        return WRIT_DONE;
    }
    ret->store = writ_view_str(source->order.path);
    ret->ledger.pinned = writ_view("", 0);
    ret->ledger.anchors_n = 0;
    writ_buf_str(remember, source->order.path);
    writ_buf_str(remember, ".remembered");
    writ_buf_byte(remember, '\0');
    WRIT_TRY(writ_buf_check(remember, err));
    ret->ledger.remember = writ_view(remember->ptr, remember->len - 1);
    return WRIT_DONE;
}

/* In the ledger itself, as its only writer. */
static WRIT_RESULT
record_here(const struct writ_contents_source *source, struct writ_view data, struct writ_err *err)
{
    writ_auto_buf remember = writ_buf_make(PATH_MAX + 16);
    struct writ_keyring *ring = NULL;
    struct writ_ledger *ledger = NULL;
    struct writ_config config;
    writ_result result = config_of(source, &remember, &config, err);

    if (writ_is_ok(result)) {
        result =
            writ_ledgers_open(&config, source->order.cli->clock, false, NULL, &ring, &ledger, err);
    }
    if (writ_is_ok(result)) {
        result = writ_ledger_record(ledger, WRIT_FACT_CONTENTS_LOOKED, data, err);
    }
    writ_ledger_close(ledger);
    writ_keyring_free(ring);
    return result;
}

static WRIT_RESULT
put_request(const struct writ_content_look *look, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    char since[WRIT_TIME_TEXT];

    writ_time_format(look->since_us, since);
    writ_write_object_begin(&w);
    writ_write_text(&w, "purpose", look->purpose);
    writ_write_count(&w, "count", look->count);
    if (look->since_us > 0) {
        writ_write_text(&w, "since", writ_view_str(since));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\0');
    return writ_buf_check(ret, err);
}

/* By the gateway of --url, which has the ledger open. */
static WRIT_RESULT
record_there(const struct writ_cli *cli, const struct writ_content_look *look, struct writ_err *err)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) client;
    writ_auto_buf body = writ_buf_make(DATA_MAX);
    writ_result result = writ_admin_client_begin(&client, cli);

    client.url = writ_cli_get(cli, "url");
    if (writ_is_ok(result)) {
        result = put_request(look, &body, &client.err);
    }
    if (writ_is_ok(result)) {
        result = writ_admin_client_ask(&client, "/v1/contents/looks", body.ptr);
    }
    return writ_is_ok(result) ? WRIT_DONE : writ_fail(err, result.code, "%s", client.err.text);
}

WRIT_RESULT
writ_contents_source_record(const struct writ_contents_source *source, int64_t since_us,
    uint64_t count, struct writ_err *err)
{
    const struct writ_cli *cli = source->order.cli;
    writ_auto_buf by = writ_buf_make(DATA_MAX), data = writ_buf_make(DATA_MAX);
    struct writ_content_look look = {.purpose = writ_view_str(source->order.purpose),
        .decision_id = source->order.decision_id,
        .since_us = since_us,
        .count = count};
    writ_result result;

    if (writ_cli_has(cli, "url")) {
        return record_there(cli, &look, err);
    }
    put_by(cli, &by);
    look.by = writ_buf_view(&by);
    WRIT_TRY(writ_content_fact_look(&look, &data, err));
    result = record_here(source, writ_buf_view(&data), err);
    if (result.code == WRIT_E_BUSY) {
        WRIT_FAIL(err, WRIT_E_BUSY,
            "a gateway has the ledger open, and must record that its contents were read: pass the "
            "URL of its admin listener with --url, and --token");
    }
    return result;
}
