/* client_env.c - an object of JSON in base64url: {"directory": ..., "variables": {NAME: value}}. */
#include "gateway/upstream/client_env.h"

#include "base/utf8.h"
#include "evidence/json/json.h"
#include "evidence/json/write.h"
#include "gateway/io/spawn.h"

static bool
is_inherited(const struct writ_upstream_config *server, struct writ_view name)
{
    for (size_t i = 0; i < server->inherit.n; i++) {
        if (writ_view_equal(server->inherit.items[i], name)) {
            return true;
        }
    }
    return writ_spawn_inherits(name);
}

/* ---- putting */

static WRIT_RESULT
check_utf8(struct writ_view name, struct writ_view value, struct writ_err *err)
{
    if (!writ_utf8_is_valid(value, NULL)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the variable " WRIT_VIEW_FMT
            " is not UTF-8: unset it, or write its value into `environment` of the server",
            WRIT_VIEW_ARG(name));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_client_env_put(const struct writ_upstream_config *server, const char *const *environment,
    struct writ_view directory, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_make(WRIT_CLIENT_ENV_MAX);
    struct writ_write w = writ_write_to(&text);
    struct writ_view longest = WRIT_LIT("");
    writ_result result =
        writ_utf8_is_valid(directory, NULL) ? WRIT_DONE : (writ_result){WRIT_E_INVALID};

    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the name of the current folder is not UTF-8");
    }
    writ_write_object_begin(&w);
    writ_write_text(&w, "directory", directory);
    writ_write_name(&w, WRIT_LIT("variables"));
    writ_write_object_begin(&w);
    for (; *environment != NULL && writ_is_ok(result); environment++) {
        struct writ_view all = writ_view_str(*environment);
        struct writ_view name = writ_view_sub(all, 0, writ_view_find(all, '='));

        if (name.len > 0 && name.len < all.len && is_inherited(server, name)) {
            longest = all.len > longest.len ? all : longest;
            result = check_utf8(name, writ_view_sub(all, name.len + 1, all.len), err);
            writ_write_name(&w, name);
            writ_write_string(&w, writ_view_sub(all, name.len + 1, all.len));
        }
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    if (writ_is_ok(result) && !writ_is_ok(writ_write_end(&w, NULL))) {
        result = writ_fail(err, WRIT_E_LIMIT,
            "the variables for this server take more than %d bytes, " WRIT_VIEW_FMT
            " the most: unset it, or take its name from `inherit` of the server",
            WRIT_CLIENT_ENV_MAX,
            WRIT_VIEW_ARG(writ_view_sub(longest, 0, writ_view_find(longest, '='))));
    }
    if (writ_is_ok(result)) {
        writ_base64url_put(ret, writ_buf_view(&text));
        result = writ_buf_check(ret, err);
    }
    writ_buf_wipe_secret(&text);
    return result;
}

/* ---- reading */

static WRIT_RESULT
terminated(
    struct writ_view text, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf copy = writ_buf_in(arena, text.len + 1);

    if (writ_view_find(text, '\0') < text.len) {
        WRIT_FAIL(err, WRIT_E_PARSE, WRIT_CLIENT_ENV_FIELD " has a NUL");
    }
    writ_buf_put(&copy, text);
    writ_buf_byte(&copy, '\0');
    WRIT_TRY(writ_buf_check(&copy, err));
    *ret = writ_view(copy.ptr, text.len);
    return WRIT_DONE;
}

static WRIT_RESULT
read_variables(const struct writ_json *object, const struct writ_upstream_config *server,
    struct writ_arena *arena, struct writ_pairs *ret, struct writ_err *err)
{
    struct writ_pair *items = writ_arena_get(arena, WRIT_SPAWN_ENVIRONMENT_MAX * sizeof *items);
    size_t n = 0;

    if (items == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an environment");
    }
    WRIT_JSON_EACH(name, object)
    {
        if (n == WRIT_SPAWN_ENVIRONMENT_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d variables", WRIT_SPAWN_ENVIRONMENT_MAX);
        }
        if (!is_inherited(server, writ_json_string(name))) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "the server does not inherit the variable " WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(writ_json_string(name)));
        }
        if (writ_json_type(writ_json_value(name)) != WRIT_JSON_STRING) {
            WRIT_FAIL(err, WRIT_E_PARSE, WRIT_CLIENT_ENV_FIELD " has a value that is not a string");
        }
        WRIT_TRY(terminated(writ_json_string(name), arena, &items[n].name, err));
        WRIT_TRY(
            terminated(writ_json_string(writ_json_value(name)), arena, &items[n++].value, err));
    }
    *ret = (struct writ_pairs){items, n};
    return WRIT_DONE;
}

WRIT_RESULT
writ_client_env_read(struct writ_view field, const struct writ_upstream_config *server,
    struct writ_arena *arena, struct writ_client_env *ret, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(arena, WRIT_CLIENT_ENV_MAX);
    struct writ_client_env env = {0};
    const struct writ_json *value = NULL, *variables;
    struct writ_view directory;

    if (field.len > WRIT_CLIENT_ENV_FIELD_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, WRIT_CLIENT_ENV_FIELD " has more than %d bytes",
            WRIT_CLIENT_ENV_FIELD_MAX);
    }
    if (!writ_is_ok(writ_base64url_read(field, &text))) {
        WRIT_FAIL(err, WRIT_E_PARSE, WRIT_CLIENT_ENV_FIELD " is not base64url");
    }
    WRIT_TRY(writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, err));
    variables = writ_json_get_typed(value, WRIT_LIT("variables"), WRIT_JSON_OBJECT);
    directory = writ_json_string(writ_json_get(value, WRIT_LIT("directory")));
    if (variables == NULL || directory.len == 0 || directory.ptr[0] != '/') {
        WRIT_FAIL(err, WRIT_E_PARSE,
            WRIT_CLIENT_ENV_FIELD " must be an object with directory, a whole path, and variables");
    }
    WRIT_TRY(terminated(directory, arena, &env.directory, err));
    WRIT_TRY(read_variables(variables, server, arena, &env.variables, err));
    *ret = env;
    return WRIT_DONE;
}
