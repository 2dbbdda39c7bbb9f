/* The entries of clients' files become upstreams; one that cannot be asked has a reason, and does
 * not hide the others. */
#include "support/unit.h"

#include "gateway/discover/client_file.h"

#define MEMORY       ((size_t)16 << 20)
#define WEB(headers) "{\"url\":\"https://example.com/\",\"headers\":" headers "}"

static size_t
read_file(struct writ_arena *arena, const char *text, const struct writ_client_file_server **ret)
{
    struct writ_client_file file = {0};

    ck_assert_ok(writ_client_file_read(writ_view_str(text), arena, &file, NULL));
    *ret = file.servers;
    return file.n;
}

START_TEST(read_of_a_desktop_client_gives_commands_and_urls)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_client_file_server *servers;

    ck_assert_uint_eq(read_file(arena,
                          "{\"theme\":\"dark\",\"mcpServers\":{"
                          "\"files\":{\"command\":\"npx\",\"args\":[\"-y\",\"files\"],"
                          "\"env\":{\"HOME\":\"/h\",\"E\":\"\"},\"cwd\":\"/srv\"},"
                          "\"web\":{\"type\":\"http\",\"url\":\"https://example.com/mcp\"}}}",
                          &servers),
        2);
    ck_assert_ptr_null(servers[0].fault);
    ck_assert_view(servers[0].config.name, "files");
    ck_assert_int_eq(servers[0].config.kind, WRIT_UPSTREAM_STDIO);
    ck_assert_uint_eq(servers[0].config.stdio.n, 3);
    ck_assert_view(servers[0].config.stdio.items[0], "npx");
    ck_assert_view(servers[0].config.stdio.items[2], "files");
    ck_assert_uint_eq(servers[0].config.environment.n, 2);
    ck_assert_view(servers[0].config.environment.items[0].name, "HOME");
    ck_assert_view(servers[0].config.environment.items[0].value, "/h");
    ck_assert_view(servers[0].config.environment.items[1].value, "");
    ck_assert_view(servers[0].config.directory, "/srv");
    ck_assert_ptr_null(servers[1].fault);
    ck_assert_int_eq(servers[1].config.kind, WRIT_UPSTREAM_HTTP);
    ck_assert_view(servers[1].config.path, "/mcp");
}
END_TEST

START_TEST(read_of_vscode_finds_its_list)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_client_file_server *servers;

    ck_assert_uint_eq(
        read_file(arena, "{\"servers\":{\"a\":{\"command\":\"x\"}},\"inputs\":[]}", &servers), 1);
    ck_assert_uint_eq(
        read_file(arena, "{\"mcp\":{\"servers\":{\"a\":{\"command\":\"x\"}}}}", &servers), 1);
    ck_assert_uint_eq(read_file(arena, "{\"mcpServers\":{}}", &servers), 0);
}
END_TEST

START_TEST(read_of_a_server_that_cannot_be_asked_says_why)
{
    static const char *const bad[] = {"7", "{}", "{\"command\":7}", "{\"command\":\"\"}",
        "{\"command\":\"x\",\"args\":7}", "{\"command\":\"x\",\"args\":[7]}",
        "{\"command\":\"x\",\"args\":[\"a\\u0000b\"]}", "{\"command\":\"x\",\"env\":[]}",
        "{\"command\":\"x\",\"env\":{\"A\":7}}", "{\"command\":\"x\",\"env\":{\"A=B\":\"c\"}}",
        "{\"command\":\"x\",\"disabled\":true}", "{\"url\":\"http://example.com/\"}", "{\"url\":7}",
        "{\"type\":\"sse\",\"url\":\"https://example.com/\"}",
        "{\"command\":\"x\",\"enabled\":false}", "{\"command\":\"${HOME}/x\"}",
        "{\"command\":\"x\",\"args\":[\"${input:a}\"]}",
        "{\"command\":\"x\",\"env\":{\"A\":\"${B}\"}}",
        "{\"command\":\"x\",\"env\":{\"A\":\"$B\"}}",
        "{\"command\":\"x\",\"env\":{\"A\":\"${input:A}\"}}", "{\"command\":\"x\",\"cwd\":7}",
        "{\"command\":\"x\",\"cwd\":\"${workspaceFolder}\"}",
        "{\"command\":\"x\",\"envFile\":\".env\"}", "{\"url\":\"https://${HOST}/\"}", WEB("[]"),
        WEB("{\"A\":\"b\",\"C\":\"d\"}"), WEB("{\"A\":7}"), WEB("{\"A\":\"\"}"),
        WEB("{\"A\":\"a\\nb\"}"), WEB("{\"Content-Type\":\"x\"}"), WEB("{\"a b\":\"x\"}"),
        WEB("{\"Authorization\":\"Bearer ${input:t}\"}"), WEB("{\"A\":\"x${T}\"}")};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        writ_auto_arena arena = writ_arena_new(MEMORY);
        writ_auto_buf text = writ_buf_make(4096);
        const struct writ_client_file_server *servers;

        writ_buf_fmt(&text, "{\"mcpServers\":{\"bad\":%s,\"good\":{\"command\":\"x\"}}}", bad[i]);
        writ_buf_byte(&text, '\0');
        ck_assert_uint_eq(read_file(arena, text.ptr, &servers), 2);
        ck_assert_msg(servers[0].fault != NULL, "%s", bad[i]);
        ck_assert_view(servers[0].config.name, "bad");
        ck_assert_ptr_null(servers[1].fault);
    }
}
END_TEST

START_TEST(read_of_a_header_gives_the_secret_of_an_authorization)
{
    static const struct {
        const char *headers, *header, *scheme, *secret, *variable;
    } cases[] = {
        {"{\"Authorization\":\"Bearer abc\"}", "Authorization", "Bearer", "abc", ""},
        {"{\"authorization\":\"Basic a b\"}", "authorization", "Basic", "a b", ""},
        {"{\"Authorization\":\"abc\"}", "Authorization", "", "abc", ""},
        {"{\"X-Api-Key\":\"a b\"}", "X-Api-Key", "", "a b", ""},
        {"{\"Authorization\":\"Bearer ${TOKEN}\"}", "Authorization", "Bearer", "", "TOKEN"},
        {"{\"X-Api-Key\":\"${env:KEY}\"}", "X-Api-Key", "", "", "KEY"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_arena_new(MEMORY);
        writ_auto_buf text = writ_buf_make(4096);
        const struct writ_client_file_server *servers;
        const struct writ_authorization_config *shown;

        writ_buf_fmt(&text,
            "{\"mcpServers\":{\"a\":{\"serverUrl\":\"https://e.com/\",\"headers\":%s}}}",
            cases[i].headers);
        writ_buf_byte(&text, '\0');
        ck_assert_uint_eq(read_file(arena, text.ptr, &servers), 1);
        ck_assert_ptr_null(servers[0].fault);
        shown = servers[0].config.authorization;
        ck_assert_view(shown->header, cases[i].header);
        ck_assert_view(shown->scheme, cases[i].scheme);
        ck_assert_view(shown->secret, cases[i].secret);
        ck_assert_view(shown->variable, cases[i].variable);
    }
}
END_TEST

START_TEST(read_of_a_variable_that_stands_for_itself_inherits_it)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_client_file_server *servers;

    ck_assert_uint_eq(read_file(arena,
                          "// of Zed\n{\"context_servers\":{\"a\":{\"command\":\"x\",\"env\":{"
                          "\"A\":\"${A}\",\"B\":\"b\",\"C\":\"${env:C}\",\"D\":\"$D\",},}}}",
                          &servers),
        1);
    ck_assert_ptr_null(servers[0].fault);
    ck_assert_uint_eq(servers[0].config.inherit.n, 3);
    ck_assert_view(servers[0].config.inherit.items[1], "C");
    ck_assert_uint_eq(servers[0].config.environment.n, 1);
    ck_assert_view(servers[0].config.environment.items[0].value, "b");
}
END_TEST

START_TEST(read_of_another_file_is_refused)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    struct writ_client_file file = {.n = 7};

    ck_assert_code(writ_client_file_read(WRIT_LIT("{"), arena, &file, NULL), WRIT_E_PARSE);
    ck_assert_code(
        writ_client_file_read(WRIT_LIT("{\"servers\":[]}"), arena, &file, NULL), WRIT_E_INVALID);
    ck_assert_code(writ_client_file_read(WRIT_LIT("{}"), arena, &file, NULL), WRIT_E_INVALID);
    ck_assert_uint_eq(file.n, 7);
    ck_assert_ptr_null(file.servers);
}
END_TEST

WRIT_UNIT_MAIN("client_file", read_of_a_desktop_client_gives_commands_and_urls,
    read_of_vscode_finds_its_list, read_of_a_server_that_cannot_be_asked_says_why,
    read_of_a_header_gives_the_secret_of_an_authorization,
    read_of_a_variable_that_stands_for_itself_inherits_it, read_of_another_file_is_refused)
