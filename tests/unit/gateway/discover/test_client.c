/* The table of clients: each is found by its name and by the path of its file. */
#include "support/unit.h"

#include "gateway/discover/client.h"

START_TEST(find_of_a_name_of_the_list_gives_its_row)
{
    writ_auto_buf names = writ_buf_make(1024);
    struct writ_view rest;
    size_t n = 0;

    writ_client_put_names(&names);
    for (rest = writ_buf_view(&names); rest.len > 0; n++) {
        size_t comma = writ_view_search(rest, WRIT_LIT(", "));
        const struct writ_client *client = writ_client_find(writ_view_sub(rest, 0, comma));

        ck_assert_ptr_nonnull(client);
        ck_assert_str_ne(client->member, "");
        rest = writ_view_sub(rest, comma + 2, rest.len);
    }
    ck_assert_uint_ge(n, 8);
    ck_assert_ptr_null(writ_client_find(WRIT_LIT("claude")));
    ck_assert_ptr_null(writ_client_find(WRIT_LIT("")));
}
END_TEST

START_TEST(of_path_compares_the_names_of_file_and_folder)
{
    static const struct {
        const char *path, *name;
    } cases[] = {{"/u/.cursor/mcp.json", "cursor"}, {".cursor/mcp.json", "cursor"},
        {"/u/x.cursor/mcp.json", NULL}, {"mcp.json", NULL}, {"/u/.claude.json", "claude-code"},
        {"p/.mcp.json", "claude-code"}, {"x.mcp.json", NULL}, {".vscode/mcp.json", "vscode"},
        {"/mnt/Claude/claude_desktop_config.json", "claude-desktop"},
        {"/u/.config/zed/settings.json", "zed"}, {"/u/.gemini/settings.json", "gemini-cli"},
        {"settings.json", NULL}, {"", NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_client *client = writ_client_of_path(writ_view_str(cases[i].path));

        ck_assert_msg((client == NULL) == (cases[i].name == NULL), "%s", cases[i].path);
        if (client != NULL) {
            ck_assert_str_eq(client->name, cases[i].name);
        }
    }
}
END_TEST

START_TEST(member_gives_each_object_of_servers_once)
{
    ck_assert_str_eq(writ_client_member(0), "mcpServers");
    ck_assert_str_eq(writ_client_member(1), "servers");
    ck_assert_str_eq(writ_client_member(2), "context_servers");
    ck_assert_ptr_null(writ_client_member(3));
}
END_TEST

WRIT_UNIT_MAIN("client", find_of_a_name_of_the_list_gives_its_row,
    of_path_compares_the_names_of_file_and_folder, member_gives_each_object_of_servers_once)
