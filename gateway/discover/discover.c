/* discover.c - the conversation with one server: which family of revisions it speaks, then its
 * list, page by page. It runs in the calling thread, one message after the other. */
#include "gateway/discover/discover.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "gateway/auth/tokens.h"
#include "gateway/discover/discover_http.h"
#include "gateway/discover/discover_stdio.h"
#include "gateway/mcp/mcp.h"
#include "policy/model/host.h"

#define PAGES_MAX 256
#define BODY_MAX  65536
#define TEXT_MAX  65536                      /* of what a server says of itself */
#define ERROR_MAX 200                        /* bytes of a server's error in ours */
#define FIRST_US  (INT64_C(2) * 1000 * 1000) /* for server/discover: some never answer it */

/* One discovery. */
struct talk {
    const struct writ_upstream_config *server;
    struct writ_discover_link *link;
    struct writ_discovered *found;
    int64_t last_id;
    bool modern, has_tools;
    size_t pages;
};

/* ---- servers of a command line */

static WRIT_RESULT
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to ask a tool server");
}

writ_result
writ_discover_url(struct writ_view url, struct writ_arena *arena, struct writ_upstream_config *ret,
    struct writ_err *err)
{
    struct writ_upstream_config server = {.kind = WRIT_UPSTREAM_HTTP};
    struct writ_url parts;

    if (!writ_is_ok(writ_host_read_url(url, &parts)) ||
        writ_view_find(parts.rest, '#') < parts.rest.len) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the URL of a tool server must be http or https, without userinfo and fragment");
    }
    if (!writ_host_is_protected(url)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the URL of a tool server is plain http beyond loopback, where others can read and "
            "change what it says. Use https.");
    }
    server.http = writ_view_copy(url, arena);
    server.host = writ_view_copy(parts.host, arena);
    server.port = parts.port;
    server.tls = parts.tls;
    if (writ_view_has_prefix(parts.rest, WRIT_LIT("/"))) {
        server.path = writ_view_copy(parts.rest, arena);
    } else {
        struct writ_buf path = writ_buf_in(arena, parts.rest.len + 1);
        writ_buf_byte(&path, '/');
        writ_buf_put(&path, parts.rest);
        server.path = writ_buf_view(&path);
    }
    if (server.http.ptr == NULL || server.host.ptr == NULL || server.path.ptr == NULL) {
        return no_memory(err);
    }
    *ret = server;
    return WRIT_DONE;
}

writ_result
writ_discover_command(
    const struct writ_view *argv, size_t n, struct writ_upstream_config *ret, struct writ_err *err)
{
    if (n == 0 || argv[0].len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the command of a tool server lacks a program");
    }
    *ret = (struct writ_upstream_config){
        .kind = WRIT_UPSTREAM_STDIO, .stdio = {.items = argv, .n = n}};
    return WRIT_DONE;
}

/* ---- messages */

static void
put_client(struct writ_write *w, const char *name)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_object_begin(w);
    writ_write_text(w, "name", WRIT_LIT("writ"));
    writ_write_text(w, "version", WRIT_LIT(WRIT_VERSION));
    writ_write_object_end(w);
}

static void
put_empty(struct writ_write *w, const char *name)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_object_begin(w);
    writ_write_object_end(w);
}

static void
put_params(
    struct writ_write *w, const struct talk *talk, const char *method, struct writ_view cursor)
{
    writ_write_name(w, WRIT_LIT("params"));
    writ_write_object_begin(w);
    if (writ_view_is(WRIT_LIT("initialize"), method)) {
        writ_write_text(w, "protocolVersion", WRIT_LIT(WRIT_MCP_LATEST_LEGACY));
        put_empty(w, "capabilities");
        put_client(w, "clientInfo");
    }
    if (talk->modern) {
        writ_write_name(w, WRIT_LIT("_meta"));
        writ_write_object_begin(w);
        writ_write_text(w, WRIT_META_VERSION, WRIT_LIT(WRIT_MCP_MODERN));
        put_empty(w, WRIT_META_CAPABILITIES);
        put_client(w, "io.modelcontextprotocol/clientInfo");
        writ_write_object_end(w);
    }
    if (cursor.ptr != NULL) {
        writ_write_text(w, "cursor", cursor);
    }
    writ_write_object_end(w);
}

/* Sends one message; of a request, reads the answer into `arena`. */
static WRIT_RESULT
ask(struct talk *talk, const char *method, struct writ_view cursor, int64_t within_us, bool wanted,
    struct writ_arena **ret_arena, const struct writ_json **ret, struct writ_err *err)
{
    writ_auto_buf body = writ_buf_make(BODY_MAX + 6 * cursor.len);
    WRIT_AUTO(struct writ_arena *, writ_arena_release) arena = NULL;
    struct writ_write w = writ_write_to(&body);
    struct writ_discover_message message = {.method = writ_view_str(method),
        .id = wanted ? ++talk->last_id : 0,
        .modern = talk->modern,
        .revision = talk->modern ? WRIT_LIT(WRIT_MCP_MODERN) : talk->found->revision,
        .within_us = within_us};
    struct writ_view answer;

    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    if (wanted) {
        writ_write_integer(&w, "id", message.id);
    }
    writ_write_text(&w, "method", message.method);
    put_params(&w, talk, method, cursor);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    message.body = writ_buf_view(&body);
    WRIT_TRY(talk->link->ops->ask(talk->link, &message, &answer, err));
    if (!wanted) {
        return WRIT_DONE;
    }
    arena = writ_arena_new(65 * answer.len + 65536);
    if (arena == NULL) {
        return no_memory(err);
    }
    answer = writ_view_copy(answer, arena);
    WRIT_TRY(writ_mcp_parse(answer, arena, ret)); /* the link read it already */
    *ret_arena = WRIT_TAKE(arena);
    return WRIT_DONE;
}

static const struct writ_json *
result_of(const struct writ_json *answer)
{
    return writ_json_get_typed(answer, WRIT_LIT("result"), WRIT_JSON_OBJECT);
}

static WRIT_RESULT
fail_answer(const struct talk *talk, const char *method, const struct writ_json *answer,
    struct writ_err *err)
{
    writ_auto_buf said = writ_buf_make(16 * ERROR_MAX);

    writ_text_safe(
        &said, writ_json_string(writ_json_pointer(answer, WRIT_LIT("/error/message"))), ERROR_MAX);
    if (writ_json_get(answer, WRIT_LIT("error")) == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "%s: its answer to %s is not what the protocol says",
            talk->link->label, method);
    }
    WRIT_FAIL(err, WRIT_E_IO, "%s: it refuses %s: " WRIT_VIEW_FMT, talk->link->label, method,
        WRIT_VIEW_ARG(writ_buf_view(&said)));
}

/* ---- the handshake */

static WRIT_RESULT
keep(struct writ_discovered *found, struct writ_view text, struct writ_view *ret,
    struct writ_err *err)
{
    if (text.len > TEXT_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "what the server says of itself is longer than %d bytes", TEXT_MAX);
    }
    *ret = text.len > 0 ? writ_view_copy(text, found->arena) : writ_view(NULL, 0);
    return text.len > 0 && ret->ptr == NULL ? no_memory(err) : WRIT_DONE;
}

/* What both families say of the server in their first answer. */
static WRIT_RESULT
keep_server(struct talk *talk, const struct writ_json *result, const struct writ_json *info,
    struct writ_view revision, struct writ_err *err)
{
    struct writ_discovered *found = talk->found;

    WRIT_TRY(
        keep(found, writ_json_string(writ_json_get(info, WRIT_LIT("name"))), &found->server, err));
    WRIT_TRY(keep(
        found, writ_json_string(writ_json_get(info, WRIT_LIT("version"))), &found->version, err));
    WRIT_TRY(keep(found, writ_json_string(writ_json_get(result, WRIT_LIT("instructions"))),
        &found->instructions, err));
    WRIT_TRY(keep(found, revision, &found->revision, err));
    talk->has_tools = writ_json_pointer(result, WRIT_LIT("/capabilities/tools")) != NULL;
    return WRIT_DONE;
}

static bool
lists_modern(const struct writ_json *result)
{
    const struct writ_json *versions = writ_json_get(result, WRIT_LIT("supportedVersions"));

    WRIT_JSON_EACH(version, versions)
    {
        if (writ_json_is(version, WRIT_LIT(WRIT_MCP_MODERN))) {
            return true;
        }
    }
    return false;
}

/* WRIT_E_ABSENT: it does not speak the newer family, or does not say so. */
static WRIT_RESULT
discover(struct talk *talk, int64_t within_us, struct writ_err *err)
{
    writ_auto_arena arena = NULL;
    const struct writ_json *answer, *result, *info;
    writ_result r;

    talk->modern = true;
    r = ask(talk, "server/discover", (struct writ_view){NULL, 0}, within_us, true, &arena, &answer,
        err);
    talk->modern = false;
    WRIT_TRY(r);
    result = result_of(answer);
    if (!lists_modern(result)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    talk->modern = true;
    info = writ_json_get(
        writ_json_get(result, WRIT_LIT("_meta")), WRIT_LIT("io.modelcontextprotocol/serverInfo"));
    return keep_server(talk, result,
        info != NULL ? info : writ_json_get(result, WRIT_LIT("serverInfo")),
        WRIT_LIT(WRIT_MCP_MODERN), err);
}

static WRIT_RESULT
initialize(struct talk *talk, struct writ_err *err)
{
    static const struct writ_view none = {NULL, 0};
    writ_auto_arena arena = NULL;
    const struct writ_json *answer, *result;
    struct writ_view revision;

    WRIT_TRY(ask(talk, "initialize", none, 0, true, &arena, &answer, err));
    result = result_of(answer);
    revision = writ_json_string(writ_json_get(result, WRIT_LIT("protocolVersion")));
    if (result == NULL) {
        WRIT_IGNORE(fail_answer(talk, "initialize", answer, err)); /* told if nothing else helps */
        return (writ_result){WRIT_E_MISMATCH};
    }
    if (!writ_mcp_is_legacy_version(revision)) {
        return fail_answer(talk, "initialize", NULL, err);
    }
    WRIT_TRY(
        keep_server(talk, result, writ_json_get(result, WRIT_LIT("serverInfo")), revision, err));
    return ask(talk, "notifications/initialized", none, 0, false, NULL, NULL, err);
}

/* A program that takes long to start has not answered server/discover in the time for it. One that
 * refuses initialize is asked again: now it is there. */
static WRIT_RESULT
shake_hands(struct talk *talk, struct writ_err *err)
{
    struct writ_err again = {{0}, 0, 0};
    writ_result r = discover(talk, FIRST_US, err);

    if (r.code == WRIT_E_ABSENT) {
        r = initialize(talk, err);
    }
    if (r.code == WRIT_E_MISMATCH) {
        r = discover(talk, 0, &again);
        if (!writ_is_ok(r)) {
            return (writ_result){r.code == WRIT_E_ABSENT ? WRIT_E_IO : r.code};
        }
    }
    return r;
}

/* ---- the list */

/* Takes one page; gives the cursor of the next one in the arena of what is found, or ptr NULL. */
static WRIT_RESULT
take_page(struct talk *talk, const struct writ_json *answer, struct writ_view *ret_cursor,
    struct writ_err *err)
{
    const struct writ_json *result = result_of(answer);
    const struct writ_json *tools = writ_json_get_typed(result, WRIT_LIT("tools"), WRIT_JSON_ARRAY);

    if (tools == NULL) {
        return fail_answer(talk, "tools/list", answer, err);
    }
    WRIT_JSON_EACH(item, tools)
    {
        writ_result r = writ_catalog_add(talk->found->catalog, item);
        if (!writ_is_ok(r) && r.code != WRIT_E_INVALID) {
            WRIT_FAIL(err, r.code,
                "%s: a definition is longer than the gateway keeps, or there are too many",
                talk->link->label);
        }
    }
    return keep(talk->found, writ_json_string(writ_json_get(result, WRIT_LIT("nextCursor"))),
        ret_cursor, err);
}

static WRIT_RESULT
list(struct talk *talk, struct writ_err *err)
{
    struct writ_view cursor = {NULL, 0};

    do {
        writ_auto_arena arena = NULL;
        const struct writ_json *answer;

        if (talk->pages++ == PAGES_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "%s: its list of tools has more than %d pages",
                talk->link->label, PAGES_MAX);
        }
        WRIT_TRY(ask(talk, "tools/list", cursor, 0, true, &arena, &answer, err));
        WRIT_TRY(take_page(talk, answer, &cursor, err));
    } while (cursor.ptr != NULL);
    return WRIT_DONE;
}

/* Of the texts that the catalog keeps, so that digest and value are of the same bytes. */
static WRIT_RESULT
read_definitions(struct writ_discovered *found, struct writ_err *err)
{
    const struct writ_catalog *catalog = found->catalog;

    found->definitions =
        writ_arena_get(found->arena, (catalog->n + 1) * sizeof *found->definitions);
    if (found->definitions == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < catalog->n; i++) {
        WRIT_TRY(writ_mcp_parse(catalog->tools[i].text, found->arena, &found->definitions[i]));
    }
    return WRIT_DONE;
}

/* ---- all of it */

static void
found_freep(struct writ_discovered **found)
{
    writ_discover_free(*found);
}

void
writ_discover_free(struct writ_discovered *found)
{
    if (found != NULL) {
        writ_catalog_drop(found->catalog);
        writ_arena_free(found->arena);
        writ_free(found);
    }
}

static WRIT_RESULT
found_new(struct writ_discovered **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_discovered *, found_freep) found = writ_alloc(sizeof *found);

    if (found == NULL || (found->arena = writ_arena_new(64 * WRIT_CATALOG_BYTES_MAX)) == NULL ||
        !writ_is_ok(writ_catalog_new(&found->catalog))) {
        return no_memory(err);
    }
    *ret = WRIT_TAKE(found);
    return WRIT_DONE;
}

/* A message without an answer is the end of it here, whatever came of it. */
static WRIT_RESULT
converse(struct talk *talk, struct writ_err *err)
{
    writ_result r = shake_hands(talk, err);

    if (writ_is_ok(r) && talk->has_tools) {
        r = list(talk, err);
    }
    WRIT_TRY(r.code == WRIT_E_ABSENT ? (writ_result){WRIT_E_IO} : r);
    writ_catalog_seal(talk->found->catalog);
    return read_definitions(talk->found, err);
}

struct means {
    struct writ_tokens_shown *shown;
    struct writ_header header; /* of `shown` */
    struct writ_loop *loop;
    struct writ_resolver *resolver;
    struct writ_discover_link *link;
};

/* The link before what it uses. */
static void
means_wipe(struct means *means)
{
    if (means->link != NULL) {
        means->link->ops->close(means->link);
    }
    writ_resolver_close(means->resolver);
    writ_loop_free(means->loop);
    writ_tokens_drop(means->shown);
}

static WRIT_RESULT
open_means(struct means *means, const struct writ_upstream_config *server,
    const struct writ_discover_options *o, struct writ_err *err)
{
    const struct writ_clock *clock = o->clock != NULL ? o->clock : writ_clock_system();
    const struct writ_loop_options options = {.clock = clock};
    int64_t ends_us;

    WRIT_TRY(writ_tokens_once(server, clock, &means->shown, err));
    ends_us =
        writ_clock_mono_us(clock) + (o->timeout_us > 0 ? o->timeout_us : WRIT_DISCOVER_TIMEOUT_US);
    WRIT_TRY(writ_loop_new(&options, &means->loop, err));
    if (server->kind == WRIT_UPSTREAM_STDIO) {
        return writ_discover_stdio_open(
            server, o->accepted, means->loop, ends_us, &means->link, err);
    }
    WRIT_TRY(writ_resolver_open(&means->resolver, err));
    if (means->shown != NULL) {
        means->header = writ_tokens_header(means->shown);
    }
    return writ_discover_http_open(server, means->loop, means->resolver,
        means->shown != NULL ? &means->header : NULL, ends_us, &means->link, err);
}

writ_result
writ_discover_tools(const struct writ_upstream_config *server,
    const struct writ_discover_options *options, struct writ_discovered **ret, struct writ_err *err)
{
    static const struct writ_discover_options defaults = {0};
    const struct writ_discover_options *o = options != NULL ? options : &defaults;
    WRIT_AUTO(struct writ_discovered *, found_freep) found = NULL;
    WRIT_AUTO(struct means, means_wipe) means = {0};
    struct talk talk = {.server = server};

    WRIT_TRY(found_new(&found, err));
    WRIT_TRY(open_means(&means, server, o, err));
    talk.link = means.link;
    talk.found = found;
    WRIT_TRY(converse(&talk, err));
    *ret = WRIT_TAKE(found);
    return WRIT_DONE;
}
