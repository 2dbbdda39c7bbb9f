/* client_file.c - each entry becomes the upstream that a configuration would have for it. A part
 * that an upstream cannot say the same way is a fault, never left out. */
#include "gateway/discover/client_file.h"

#include "base/secret.h"
#include "base/text.h"
#include "evidence/json/json.h"
#include "gateway/discover/client.h"
#include "gateway/discover/discover.h"
#include "gateway/io/exec_env.h"
#include "policy/read/authorization.h"

#define WORDS_MAX  (WRIT_EXEC_ENV_MAX - 1) /* of a command; variables */
#define HEADER_MAX 128                     /* bytes of a name, as option.tbl.h has it */
#define SCHEME_MAX 64

#define FILLED_IN                                                                                  \
    "has ${...}, which the client fills in: write the value itself into the client's file"

static struct writ_view
copy_text(const struct writ_json *value, struct writ_arena *arena)
{
    struct writ_view text = writ_json_string(value);

    return text.ptr != NULL && writ_view_find(text, '\0') == text.len ? writ_view_copy(text, arena)
                                                                      : writ_view(NULL, 0);
}

static bool
is_filled_in(struct writ_view text)
{
    return writ_view_search(text, WRIT_LIT("${")) < text.len;
}

static bool
is_variable(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9')) {
            return false;
        }
    }
    return name.len > 0;
}

/* The variable that the whole text stands for: ${NAME}, ${env:NAME}, $NAME. ptr NULL: none. */
static struct writ_view
variable_of(struct writ_view text)
{
    struct writ_view name = writ_view_sub(text, 1, text.len);

    if (!writ_view_has_prefix(text, WRIT_LIT("$"))) {
        return writ_view(NULL, 0);
    }
    if (writ_view_has_prefix(name, WRIT_LIT("{")) && writ_view_has_suffix(name, WRIT_LIT("}"))) {
        name = writ_view_sub(name, 1, name.len - 2);
        name =
            writ_view_has_prefix(name, WRIT_LIT("env:")) ? writ_view_sub(name, 4, name.len) : name;
    }
    return is_variable(name) ? name : writ_view(NULL, 0);
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
        if (is_filled_in(words[i])) {
            return "its command " FILLED_IN;
        }
    }
    return writ_is_ok(writ_discover_command(words, n, ret, NULL)) ? NULL : "command is empty";
}

/* One variable: inherited when it stands for itself in the client's own environment. */
static const char *
read_variable(const struct writ_json *name, struct writ_arena *arena, struct writ_pair *ret,
    bool *ret_inherited)
{
    *ret = (struct writ_pair){copy_text(name, arena), copy_text(writ_json_value(name), arena)};
    if (ret->name.len == 0 || writ_view_find(ret->name, '=') < ret->name.len ||
        ret->value.ptr == NULL) {
        return "env is not an object of texts";
    }
    *ret_inherited = writ_view_equal(variable_of(ret->value), ret->name);
    if (!*ret_inherited && (is_filled_in(ret->value) || variable_of(ret->value).ptr != NULL)) {
        return "its env " FILLED_IN;
    }
    return NULL;
}

static const char *
read_environment(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    const struct writ_json *env = writ_json_get(entry, WRIT_LIT("env"));
    struct writ_pair *pairs;
    struct writ_view *names;
    size_t n = 0, inherited = 0;

    if (env == NULL || writ_json_type(env) == WRIT_JSON_NULL) {
        return NULL;
    }
    if (writ_json_type(env) != WRIT_JSON_OBJECT || env->count > WORDS_MAX) {
        return "env is not an object of texts, or too long";
    }
    pairs = writ_arena_get(arena, (env->count + 1) * sizeof *pairs);
    names = writ_arena_get(arena, (env->count + 1) * sizeof *names);
    if (pairs == NULL || names == NULL) {
        return "no memory for it";
    }
    WRIT_JSON_EACH(name, env)
    {
        bool inherits = false;
        const char *fault = read_variable(name, arena, &pairs[n], &inherits);

        if (fault != NULL) {
            return fault;
        }
        names[inherited] = pairs[n].name;
        inherited += inherits;
        n += !inherits;
    }
    ret->environment = (struct writ_pairs){pairs, n};
    ret->inherit = (struct writ_views){names, inherited};
    return NULL;
}

static const char *
read_program(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    const struct writ_json *cwd = writ_json_get(entry, WRIT_LIT("cwd"));
    const char *fault = read_command(entry, arena, ret);

    fault = fault == NULL ? read_environment(entry, arena, ret) : fault;
    if (fault == NULL && writ_json_get(entry, WRIT_LIT("envFile")) != NULL) {
        return "it has envFile: put the variables of that file into env";
    }
    if (fault == NULL && cwd != NULL && writ_json_type(cwd) != WRIT_JSON_NULL) {
        ret->directory = copy_text(cwd, arena);
        fault = ret->directory.len == 0        ? "cwd is not a text"
                : is_filled_in(ret->directory) ? "its cwd " FILLED_IN
                                               : NULL;
    }
    return fault;
}

/* ---- servers with a URL */

static bool
is_word(struct writ_view text, size_t most)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len > 0 && text.len <= most;
}

/* "Bearer abc" in Authorization has a scheme; other headers have the secret alone. */
static const char *
read_secret(struct writ_view value, struct writ_arena *arena, struct writ_authorization_config *ret)
{
    size_t space = writ_view_find(value, ' ');
    bool scheme = writ_view_equal_nocase(ret->header, WRIT_LIT("Authorization")) &&
                  is_word(writ_view_sub(value, 0, space), SCHEME_MAX) && space < value.len;
    struct writ_view secret = value, variable;

    if (scheme) {
        ret->scheme = writ_view_copy(writ_view_sub(value, 0, space), arena);
        secret = writ_view_trim(writ_view_sub(value, space, value.len));
    }
    variable = variable_of(secret);
    if (variable.ptr != NULL) {
        ret->variable = writ_view_copy(variable, arena);
        return ret->variable.ptr != NULL ? NULL : "no memory for it";
    }
    if (is_filled_in(value)) {
        return "its header " FILLED_IN;
    }
    if (secret.len == 0 || secret.len > WRIT_SECRET_MAX || !writ_text_is_field(secret)) {
        return "its header has a value that is empty, too long, or has control bytes";
    }
    ret->secret = writ_view_copy(secret, arena);
    return ret->secret.ptr != NULL ? NULL : "no memory for it";
}

static const char *
read_headers(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    const struct writ_json *headers = writ_json_get(entry, WRIT_LIT("headers"));
    const struct writ_json *name = writ_json_first(headers);
    struct writ_authorization_config *authorization = writ_arena_get(arena, sizeof *authorization);
    struct writ_view value;

    if (headers == NULL || writ_json_type(headers) == WRIT_JSON_NULL ||
        (writ_json_type(headers) == WRIT_JSON_OBJECT && name == NULL)) {
        return NULL;
    }
    if (writ_json_type(headers) != WRIT_JSON_OBJECT) {
        return "headers is not an object of texts";
    }
    if (headers->count > 1) {
        return "it needs several headers, and an upstream is shown one (`authorization`)";
    }
    value = copy_text(writ_json_value(name), arena);
    if (authorization == NULL) {
        return "no memory for it";
    }
    *authorization = (struct writ_authorization_config){.header = copy_text(name, arena)};
    if (authorization->header.len > HEADER_MAX || value.ptr == NULL ||
        !writ_authorization_is_header(authorization->header)) {
        return "headers has a name that Writ sets itself, or is not an object of texts";
    }
    ret->authorization = authorization;
    return read_secret(value, arena, authorization);
}

static const struct writ_json *
url_of(const struct writ_json *entry)
{
    static const char *const names[] = {"url", "serverUrl", "httpUrl"};
    const struct writ_json *url = NULL;

    for (size_t i = 0; url == NULL && i < sizeof names / sizeof names[0]; i++) {
        url = writ_json_get(entry, writ_view_str(names[i]));
    }
    return url;
}

static const char *
read_url(const struct writ_json *entry, struct writ_arena *arena, struct writ_upstream_config *ret)
{
    struct writ_view url = copy_text(url_of(entry), arena);

    if (writ_json_is(writ_json_get(entry, WRIT_LIT("type")), WRIT_LIT("sse"))) {
        return "it has the transport of 2024-11-05 (HTTP+SSE), which Writ does not speak";
    }
    if (is_filled_in(url)) {
        return "its URL " FILLED_IN;
    }
    if (url.ptr == NULL || !writ_is_ok(writ_discover_url(url, arena, ret, NULL))) {
        return "its URL is not https, or http on loopback";
    }
    return read_headers(entry, arena, ret);
}

static const char *
read_server(
    const struct writ_json *entry, struct writ_arena *arena, struct writ_client_file_server *ret)
{
    if (writ_json_type(entry) != WRIT_JSON_OBJECT) {
        return "it is not an object";
    }
    ret->disabled = writ_json_is_true(entry, WRIT_LIT("disabled")) ||
                    writ_json_type(writ_json_get(entry, WRIT_LIT("enabled"))) == WRIT_JSON_FALSE;
    if (ret->disabled) {
        return "it is disabled";
    }
    if (url_of(entry) != NULL) {
        return read_url(entry, arena, &ret->config);
    }
    ret->env = writ_json_get_typed(entry, WRIT_LIT("env"), WRIT_JSON_OBJECT);
    if (writ_json_get(entry, WRIT_LIT("command")) == NULL) {
        return "it has neither command nor url";
    }
    return read_program(entry, arena, &ret->config);
}

/* ---- the file */

static const struct writ_view vscode_settings[] = {{"mcp", 3}, {"servers", 7}};

static const struct writ_json *
walk(const struct writ_json *root, const struct writ_client_path *path)
{
    for (size_t i = 0; i < path->n; i++) {
        root = writ_json_get_typed(root, path->names[i], WRIT_JSON_OBJECT);
    }
    return root;
}

/* The first list that the file has: a client reads one. */
static WRIT_RESULT
find_list(const struct writ_json *root, struct writ_arena *arena, struct writ_client_path *ret,
    const struct writ_json **ret_list, struct writ_err *err)
{
    struct writ_view *name = writ_arena_get(arena, sizeof *name);
    const char *member;

    if (name == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a list of servers");
    }
    *ret = (struct writ_client_path){name, 1};
    for (size_t i = 0; (member = writ_client_member(i)) != NULL; i++) {
        *name = writ_view_str(member);
        *ret_list = walk(root, ret);
        if (*ret_list != NULL) {
            return WRIT_DONE;
        }
    }
    *ret = (struct writ_client_path){vscode_settings, 2};
    *ret_list = walk(root, ret);
    if (*ret_list == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "it has no object of servers: mcpServers, servers or context_servers");
    }
    return WRIT_DONE;
}

writ_result
writ_client_file_read(struct writ_view text, struct writ_arena *arena, struct writ_client_file *ret,
    struct writ_err *err)
{
    struct writ_client_file_server *servers;
    const struct writ_json *root, *listed;
    struct writ_client_path list;
    size_t n = 0;

    WRIT_TRY(writ_client_text_read(text, arena, &root, err));
    WRIT_TRY(find_list(root, arena, &list, &listed, err));
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
        servers[n].fault = read_server(writ_json_value(name), arena, &servers[n]);
        servers[n++].config.name = writ_json_string(name);
    }
    *ret = (struct writ_client_file){servers, n, list};
    return WRIT_DONE;
}
