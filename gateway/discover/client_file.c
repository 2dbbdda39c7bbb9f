/* client_file.c - each entry becomes the upstream that a configuration would have for it. What a
 * client fills in itself (${...} in VS Code) stays as it is written. */
#include "gateway/discover/client_file.h"

#include "evidence/json/json.h"
#include "gateway/discover/discover.h"
#include "gateway/io/exec_env.h"

#define WORDS_MAX (WRIT_EXEC_ENV_MAX - 1) /* of a command; variables */

static struct writ_view
copy_text(const struct writ_json *value, struct writ_arena *arena)
{
    struct writ_view text = writ_json_string(value);

    return text.ptr != NULL && writ_view_find(text, '\0') == text.len ? writ_view_copy(text, arena)
                                                                      : writ_view(NULL, 0);
}

/* The program and its arguments. NULL: good. */
static const char *
read_command(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    const struct writ_json *args = writ_json_get(entry, WRIT_LIT("args"));
    size_t most = writ_json_type(args) == WRIT_JSON_ARRAY ? args->count + 1 : 1, n = 0;
    struct writ_view *words;

    if (most > WORDS_MAX || (args != NULL && writ_json_type(args) != WRIT_JSON_ARRAY)) {
        return "args is not a list of texts, or too long";
    }
    words = writ_arena_get(arena, most * sizeof *words);
    if (words == NULL) {
        return "no memory for it";
    }
    words[n++] = copy_text(writ_json_get(entry, WRIT_LIT("command")), arena);
    WRIT_JSON_EACH(word, args)
    {
        words[n++] = copy_text(word, arena);
    }
    for (size_t i = 0; i < n; i++) {
        if (words[i].ptr == NULL) {
            return "command and args are not texts";
        }
    }
    return writ_is_ok(writ_discover_command(words, n, ret, NULL)) ? NULL : "command is empty";
}

static const char *
read_environment(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    const struct writ_json *env = writ_json_get(entry, WRIT_LIT("env"));
    struct writ_pair *pairs;
    size_t n = 0;

    if (env == NULL || writ_json_type(env) == WRIT_JSON_NULL) {
        return NULL;
    }
    if (writ_json_type(env) != WRIT_JSON_OBJECT || env->count > WORDS_MAX) {
        return "env is not an object of texts, or too long";
    }
    pairs = writ_arena_get(arena, (env->count + 1) * sizeof *pairs);
    WRIT_JSON_EACH(name, env)
    {
        if (pairs == NULL) {
            return "no memory for it";
        }
        pairs[n].name = copy_text(name, arena);
        pairs[n].value = copy_text(writ_json_value(name), arena);
        if (pairs[n].name.len == 0 || writ_view_find(pairs[n].name, '=') < pairs[n].name.len ||
            pairs[n].value.ptr == NULL) {
            return "env is not an object of texts";
        }
        n++;
    }
    ret->environment = (struct writ_pairs){pairs, n};
    return NULL;
}

static const char *
read_url(const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    struct writ_view url = copy_text(writ_json_get(entry, WRIT_LIT("url")), arena);

    if (writ_json_is(writ_json_get(entry, WRIT_LIT("type")), WRIT_LIT("sse"))) {
        return "it has the transport of 2024-11-05 (HTTP+SSE), which Writ does not speak";
    }
    if (writ_json_first(writ_json_get(entry, WRIT_LIT("headers"))) != NULL) {
        return "it needs headers: give its URL to a configuration, with `authorization`";
    }
    return url.ptr != NULL && writ_is_ok(writ_discover_url(url, arena, ret, NULL))
               ? NULL
               : "its URL is not https, or http on loopback";
}

static const char *
read_server(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    const char *fault;

    if (writ_json_type(entry) != WRIT_JSON_OBJECT) {
        return "it is not an object";
    }
    if (writ_json_type(writ_json_get(entry, WRIT_LIT("disabled"))) == WRIT_JSON_TRUE) {
        return "it is disabled";
    }
    if (writ_json_get(entry, WRIT_LIT("url")) != NULL) {
        return read_url(entry, arena, ret);
    }
    if (writ_json_get(entry, WRIT_LIT("command")) == NULL) {
        return "it has neither command nor url";
    }
    fault = read_command(entry, arena, ret);
    fault = fault == NULL ? read_environment(entry, arena, ret) : fault;
    ret->directory = copy_text(writ_json_get(entry, WRIT_LIT("cwd")), arena);
    return fault;
}

static const struct writ_json *
servers_of(const struct writ_json *root)
{
    static const char *const places[] = {"/mcpServers", "/servers", "/mcp/servers"};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const struct writ_json *servers = writ_json_pointer(root, writ_view_str(places[i]));
        if (writ_json_type(servers) == WRIT_JSON_OBJECT) {
            return servers;
        }
    }
    return NULL;
}

writ_result
writ_client_file_read(struct writ_view text, struct writ_arena *arena,
    const struct writ_client_file_server **ret, size_t *ret_n, struct writ_err *err)
{
    struct writ_client_file_server *servers;
    const struct writ_json *root, *listed;
    size_t n = 0;

    text = writ_view_copy(text, arena);
    WRIT_TRY(writ_json_read(text, &writ_json_limits_default, arena, &root, err));
    listed = servers_of(root);
    if (listed == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "it has neither an object mcpServers nor servers");
    }
    if (listed->count > WRIT_UPSTREAMS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "it lists more than %d servers", WRIT_UPSTREAMS_MAX);
    }
    servers = writ_arena_get(arena, (listed->count + 1) * sizeof *servers);
    if (servers == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a list of servers");
    }
    WRIT_JSON_EACH(name, listed)
    {
        servers[n] = (struct writ_client_file_server){.fault = NULL};
        servers[n].fault = read_server(writ_json_value(name), arena, &servers[n].config);
        servers[n++].config.name = writ_json_string(name);
    }
    *ret = servers;
    *ret_n = n;
    return WRIT_DONE;
}
