/* writ review delegations: the list of a running gateway, page by page, or that of a ledger, as its
 * facts have it. Each delegation is printed as it is read, so the list may have any length. */
#include "cli/commands/review_delegations.h"

#include "cli/base/print.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "gateway/service/anchor.h"
#include "store/read/reader.h"
#include "store/sql/sql_uri.h"
#include "store/tables/delegations.h"

#define PATH_MAX   128
#define OUT_MAX    ((size_t)1 << 20) /* of one delegation; of the head of a list */
#define FACT_ARENA ((size_t)1 << 20)

/* ---- one delegation ---- */

static struct writ_view
text_at(const struct writ_json *object, const char *name)
{
    return writ_json_string(writ_json_get(object, writ_view_str(name)));
}

static void
put_list(struct writ_buf *line, const struct writ_json *list)
{
    bool first = true;

    WRIT_JSON_EACH(item, list)
    {
        writ_buf_str(line, first ? "" : ",");
        writ_print_plain(line, writ_json_string(item));
        first = false;
    }
}

void
writ_review_delegations_put_line(struct writ_buf *out, const struct writ_json *delegation)
{
    const struct writ_json *tools = writ_json_get(delegation, WRIT_LIT("tools"));
    const struct writ_json *reviews = writ_json_get(delegation, WRIT_LIT("reviews"));

    writ_print_plain(out, text_at(delegation, "id"));
    writ_buf_str(out, "  ");
    writ_print_plain(out, text_at(delegation, "voter"));
    writ_buf_str(out, " to ");
    writ_print_plain(out, text_at(delegation, "delegate"));
    if (text_at(delegation, "from").ptr != NULL) {
        writ_buf_str(out, " from ");
        writ_print_plain(out, text_at(delegation, "from"));
    }
    writ_buf_str(out, " until ");
    writ_print_plain(out, text_at(delegation, "until"));
    if (tools != NULL) {
        writ_buf_str(out, ", for ");
        put_list(out, tools);
    }
    if (reviews != NULL && reviews->count > 0) {
        writ_buf_str(out, ", in ");
        put_list(out, reviews);
    }
    writ_buf_byte(out, '\n');
}

/* ---- what is printed ---- */

static WRIT_RESULT
put_value(struct writ_buf *out, const struct writ_json *value, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);

    writ_write_ordered(&w, value);
    return writ_write_end(&w, err);
}

/** The list as it is printed: lines, or one object with all of its pages. */
struct listing {
    bool json, any;
    struct writ_buf out; /* of one delegation */
};

static WRIT_RESULT
put_one(struct listing *listing, const struct writ_json *delegation, struct writ_err *err)
{
    writ_buf_clear(&listing->out);
    if (!listing->json) {
        writ_review_delegations_put_line(&listing->out, delegation);
    } else {
        writ_buf_str(&listing->out, listing->any ? "," : "");
        WRIT_TRY(put_value(&listing->out, delegation, err));
    }
    WRIT_TRY(writ_buf_check(&listing->out, err));
    writ_cli_put(writ_buf_view(&listing->out));
    listing->any = true;
    return WRIT_DONE;
}

/* ---- the list of a ledger ---- */

/** The delegations of a ledger, as its facts have them. */
struct reading {
    struct writ_delegations standing;
    struct writ_arena *arena; /* of one fact */
};

static WRIT_RESULT
take_fact(void *ctx, const struct writ_fact *fact, struct writ_err *err)
{
    struct reading *reading = ctx;
    struct writ_delegated *delegated = NULL;
    struct writ_delegation delegation;
    struct writ_view id, by;

    if (fact->event == WRIT_FACT_DELEGATION_REVOKED) {
        WRIT_TRY(writ_delegation_read_revoked(fact->data, &id, &by, err));
        delegated = writ_delegations_find(&reading->standing, id);
        if (delegated != NULL) {
            writ_delegations_remove(&reading->standing, delegated);
        }
        return WRIT_DONE;
    }
    if (fact->event != WRIT_FACT_DELEGATED) {
        return WRIT_DONE;
    }
    writ_arena_reset(reading->arena);
    WRIT_TRY(writ_delegation_read(fact->data, reading->arena, &delegation, err));
    return writ_delegations_add(&reading->standing, &delegation, fact->at_us, &delegated, err);
}

static WRIT_RESULT
put_delegated(struct listing *listing, const struct writ_delegated *delegated,
    struct writ_arena *arena, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(4 * WRIT_DELEGATION_BYTES_MAX);
    struct writ_write w = writ_write_to(&text);
    const struct writ_json *value = NULL;

    writ_write_object_begin(&w);
    writ_delegation_show(
        &w, &delegated->delegation, writ_view_str(delegated->digest_text), delegated->at_us);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_arena_reset(arena);
    WRIT_TRY(writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, err));
    return put_one(listing, value, err);
}

static WRIT_RESULT
read_ledger(struct reading *reading, struct writ_view path, struct writ_err *err)
{
    struct writ_reader *reader = NULL;
    writ_result result;

    WRIT_TRY(writ_reader_open(path.ptr, &reader, err));
    result = writ_reader_facts(reader, take_fact, reading, err);
    writ_reader_close(reader);
    WRIT_TRY(result);
    writ_delegations_prune(&reading->standing, writ_clock_wall_us(writ_clock_system()));
    return WRIT_DONE;
}

static WRIT_RESULT
put_ledger(struct reading *reading, const struct writ_cli *cli, struct writ_err *err)
{
    struct listing listing = {.json = cli->json, .out = writ_buf_make(OUT_MAX)};
    writ_result result = read_ledger(reading, writ_cli_operand(cli, 0), err);

    if (writ_is_ok(result) && cli->json) {
        writ_cli_print("{\"delegations\":[");
    }
    for (const struct writ_delegated *at = reading->standing.first;
         writ_is_ok(result) && at != NULL; at = at->next) {
        result = put_delegated(&listing, at, reading->arena, err);
    }
    if (writ_is_ok(result) && cli->json) {
        writ_cli_print("]}\n");
    }
    writ_buf_wipe(&listing.out);
    return result;
}

static enum writ_exit
list_ledger(const struct writ_cli *cli)
{
    struct reading reading = {.arena = writ_arena_new(FACT_ARENA)};
    struct writ_err err = {0};
    writ_result result = reading.arena == NULL
                             ? writ_fail(&err, WRIT_E_NOMEM, "no memory to read delegations")
                             : writ_delegations_init(&reading.standing, &err);

    if (writ_is_ok(result)) {
        result = put_ledger(&reading, cli, &err);
    }
    writ_delegations_wipe(&reading.standing);
    writ_arena_free(reading.arena);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}

/* ---- the list of a gateway ---- */

/* The members of the first page, up to its first delegation. */
static WRIT_RESULT
put_head(const struct writ_json *page, struct writ_err *err)
{
    writ_auto_buf out = writ_buf_make(OUT_MAX);

    writ_buf_byte(&out, '{');
    WRIT_JSON_EACH(name, page)
    {
        struct writ_view text = writ_json_string(name);

        if (!writ_view_is(text, "delegations") && !writ_view_is(text, "next")) {
            WRIT_TRY(put_value(&out, name, err));
            writ_buf_byte(&out, ':');
            WRIT_TRY(put_value(&out, writ_json_value(name), err));
            writ_buf_byte(&out, ',');
        }
    }
    writ_buf_str(&out, "\"delegations\":[");
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

/* *ret_next: where the next page begins; 0: there is none. */
static WRIT_RESULT
put_page(struct listing *listing, struct writ_admin_client *s, uint64_t after, uint64_t *ret_next)
{
    char path[PATH_MAX];
    struct writ_buf buf = writ_buf_over(path, sizeof path);

    writ_buf_str(&buf, "/v1/delegations");
    if (after > 0) {
        writ_buf_fmt(&buf, "?after=%llu", (unsigned long long)after);
    }
    writ_buf_byte(&buf, '\0');
    writ_arena_reset(s->arena); /* of the page before */
    WRIT_TRY(writ_admin_client_ask(s, path, NULL));
    if (after == 0 && listing->json) {
        WRIT_TRY(put_head(s->value, &s->err));
    }
    WRIT_JSON_EACH(delegation, writ_json_get(s->value, WRIT_LIT("delegations")))
    {
        WRIT_TRY(put_one(listing, delegation, &s->err));
    }
    *ret_next = writ_admin_client_count(s->value, "next");
    return WRIT_DONE;
}

static WRIT_RESULT
put_pages(struct listing *listing, struct writ_admin_client *s)
{
    uint64_t after = 0, next = 0;

    do {
        after = next;
        WRIT_TRY(put_page(listing, s, after, &next));
    } while (next > after);
    if (listing->json) {
        writ_cli_print("]}\n");
    }
    return WRIT_DONE;
}

static enum writ_exit
list_gateway(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_admin_client, writ_admin_client_wipe) s;
    struct listing listing = {.json = cli->json, .out = writ_buf_make(OUT_MAX)};
    writ_result result = writ_admin_client_begin(&s, cli);

    if (writ_is_ok(result)) {
        result = put_pages(&listing, &s);
    }
    writ_buf_wipe(&listing.out);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_admin_client_end(&s, result);
}

enum writ_exit
writ_command_review_delegations(const struct writ_cli *cli)
{
    struct writ_view source = writ_cli_operand(cli, 0);
    bool is_url = writ_anchor_is_url(source) && !writ_sql_is_uri(source);

    if (is_url && !writ_cli_has(cli, "token")) {
        return writ_cli_usage(cli, "a URL needs --token FILE");
    }
    if (!is_url && (writ_cli_has(cli, "token") || writ_cli_has(cli, "ca"))) {
        return writ_cli_usage(cli, "--token and --ca are for a URL");
    }
    return is_url ? list_gateway(cli) : list_ledger(cli);
}
