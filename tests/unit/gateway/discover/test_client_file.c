/* The entries of clients' files become upstreams; one that cannot be asked has a reason, and does
 * not hide the others. */
#include "support/unit.h"

#include "gateway/discover/client_file.h"

#define MEMORY ((size_t)16 << 20)

static size_t
read_file(struct writ_arena *arena, const char *text, const struct writ_client_file_server **ret)
{
    size_t n = 0;

    ck_assert_ok(writ_client_file_read(writ_view_str(text), arena, ret, &n, NULL));
    return n;
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
        "{\"url\":\"https://example.com/\",\"headers\":{\"Authorization\":\"x\"}}"};

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

START_TEST(read_of_another_file_is_refused)
{
    writ_auto_arena arena = writ_arena_new(MEMORY);
    const struct writ_client_file_server *servers = NULL;
    size_t n = 7;

    ck_assert_code(writ_client_file_read(WRIT_LIT("{"), arena, &servers, &n, NULL), WRIT_E_PARSE);
    ck_assert_code(
        writ_client_file_read(WRIT_LIT("// x\n{}"), arena, &servers, &n, NULL), WRIT_E_PARSE);
    ck_assert_code(writ_client_file_read(WRIT_LIT("{\"servers\":[]}"), arena, &servers, &n, NULL),
        WRIT_E_INVALID);
    ck_assert_uint_eq(n, 7);
    ck_assert_ptr_null(servers);
}
END_TEST

WRIT_UNIT_MAIN("client_file", read_of_a_desktop_client_gives_commands_and_urls,
    read_of_vscode_finds_its_list, read_of_a_server_that_cannot_be_asked_says_why,
    read_of_another_file_is_refused)
