/* The environment of a client in a field of the head: only variables that the configuration names
 * come out, and every limit is an error. */
#include "gateway/upstream/client_env.h"

#include "support/unit.h"

#include <string.h>

static const struct writ_view inherited[] = {{"KEY", 3}, {"EMPTY", 5}};
static const struct writ_upstream_config server = {.inherit = {inherited, 2}};
static struct writ_arena *arena;

static void
begin(void)
{
    arena = writ_arena_new(1 << 20);
}

static void
end(void)
{
    writ_arena_free(arena);
}

static enum writ_code
read_json(const char *json, struct writ_client_env *ret, struct writ_err *err)
{
    struct writ_buf field = writ_buf_in(arena, WRIT_CLIENT_ENV_FIELD_MAX);

    writ_base64url_put(&field, writ_view_str(json));
    return writ_client_env_read(writ_buf_view(&field), &server, arena, ret, err).code;
}

START_TEST(client_env_of_inherited_variables_reads_back)
{
    begin();
    const char *given[] = {"KEY=a=b", "EMPTY=", "OTHER=x", "PATH=/bin", "=odd", "KEYS=y", NULL};
    struct writ_buf field = writ_buf_in(arena, WRIT_CLIENT_ENV_FIELD_MAX);
    struct writ_client_env env;

    ck_assert_ok(writ_client_env_put(&server, given, WRIT_LIT("/home/a"), &field, NULL));
    ck_assert_ok(writ_client_env_read(writ_buf_view(&field), &server, arena, &env, NULL));
    ck_assert_str_eq(env.directory.ptr, "/home/a");
    ck_assert_uint_eq(env.variables.n, 3);
    ck_assert_str_eq(env.variables.items[0].name.ptr, "KEY");
    ck_assert_str_eq(env.variables.items[0].value.ptr, "a=b");
    ck_assert_str_eq(env.variables.items[1].value.ptr, "");
    ck_assert_str_eq(env.variables.items[2].name.ptr, "PATH");
    end();
}
END_TEST

START_TEST(client_env_put_of_too_much_names_the_variable)
{
    begin();
    char key[WRIT_CLIENT_ENV_MAX + 8] = "KEY=";
    const char *given[] = {"PATH=/bin", key, NULL};
    struct writ_buf field = writ_buf_in(arena, 2 * WRIT_CLIENT_ENV_FIELD_MAX);
    struct writ_err err = {{0}, 0, 0};

    for (size_t i = 4; i < WRIT_CLIENT_ENV_MAX; i++) {
        key[i] = 'x';
    }
    ck_assert_int_eq(
        writ_client_env_put(&server, given, WRIT_LIT("/"), &field, &err).code, WRIT_E_LIMIT);
    ck_assert(strstr(err.text, "KEY the most") != NULL && strstr(err.text, "xx") == NULL);
    key[4] = '\xff';
    key[5] = '\0';
    ck_assert_int_eq(
        writ_client_env_put(&server, given, WRIT_LIT("/"), &field, &err).code, WRIT_E_INVALID);
    ck_assert(strstr(err.text, "KEY is not UTF-8") != NULL);
    ck_assert_uint_eq(field.len, 0);
    end();
}
END_TEST

START_TEST(client_env_read_refuses_other_forms_and_names)
{
    begin();
    static const struct {
        const char *json;
        enum writ_code code;
    } rows[] = {
        {"{\"directory\":\"/\",\"variables\":{}}", WRIT_OK},
        {"{\"directory\":\"/\",\"variables\":{\"LD_PRELOAD\":\"x\"}}", WRIT_E_INVALID},
        {"{\"directory\":\"/\",\"variables\":{\"KEY\":1}}", WRIT_E_PARSE},
        {"{\"directory\":\"/\",\"variables\":{\"KEY\":\"a\\u0000b\"}}", WRIT_E_PARSE},
        {"{\"directory\":\"here\",\"variables\":{}}", WRIT_E_PARSE},
        {"{\"variables\":{}}", WRIT_E_PARSE},
        {"{\"directory\":\"/\"}", WRIT_E_PARSE},
        {"7", WRIT_E_PARSE},
    };
    static const char many[WRIT_CLIENT_ENV_FIELD_MAX + 1] = {'A'};
    struct writ_client_env env;
    struct writ_err err = {{0}, 0, 0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_int_eq(read_json(rows[i].json, &env, &err), rows[i].code);
    }
    ck_assert_int_eq(
        writ_client_env_read(WRIT_LIT("*"), &server, arena, &env, &err).code, WRIT_E_PARSE);
    ck_assert_str_eq(err.text, "Writ-Environment is not base64url");
    ck_assert_int_eq(
        writ_client_env_read(writ_view(many, sizeof many), &server, arena, &env, &err).code,
        WRIT_E_LIMIT);
    ck_assert_str_eq(err.text, "Writ-Environment has more than 12000 bytes");
    end();
}
END_TEST

WRIT_UNIT_MAIN("client_env", client_env_of_inherited_variables_reads_back,
    client_env_put_of_too_much_names_the_variable, client_env_read_refuses_other_forms_and_names)
