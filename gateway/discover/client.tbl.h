/* client.tbl.h - MCP clients: their file of tool servers, and its form. A row has what the client's
 * documentation says, read in November 2026; the source stands above it. A cell that the
 * documentation leaves open is "": Writ then asks for --file, or uses `writ wrap`.
 *
 * X(NAME, name, title, linux, macos, project, member, http_type, url, stdio_type)
 *   linux, macos  the user's file; ~/ is HOME, and ~/.config/ is XDG_CONFIG_HOME where that is set
 *   project       the file of one project, below its folder
 *   member        the object of servers, by name
 *   url           the member with the URL of a server over Streamable HTTP, beside `headers`
 *   http_type, stdio_type  the value of `type`; "": the client knows no `type` */
#define WRIT_CLIENTS(X)                                                                            \
    /* Connect to local MCP servers, https://modelcontextprotocol.io/docs/develop/connect-local-servers */ \
    X(CLAUDE_DESKTOP, "claude-desktop", "Claude Desktop", "",                                      \
        "~/Library/Application Support/Claude/claude_desktop_config.json", "", "mcpServers", "",   \
        "", "")                                                                                    \
    /* Connect Claude Code to tools via MCP, https://code.claude.com/docs/en/mcp */                \
    X(CLAUDE_CODE, "claude-code", "Claude Code", "~/.claude.json", "~/.claude.json", ".mcp.json",  \
        "mcpServers", "http", "url", "stdio")                                                      \
    /* MCP configuration reference,                                                                \
     * https://code.visualstudio.com/docs/copilot/reference/mcp-configuration */                   \
    X(VSCODE, "vscode", "Visual Studio Code", "~/.config/Code/User/mcp.json",                      \
        "~/Library/Application Support/Code/User/mcp.json", ".vscode/mcp.json", "servers", "http", \
        "url", "stdio")                                                                            \
    /* Model Context Protocol (MCP), https://cursor.com/docs/mcp */                                \
    X(CURSOR, "cursor", "Cursor", "~/.cursor/mcp.json", "~/.cursor/mcp.json", ".cursor/mcp.json",  \
        "mcpServers", "", "url", "")                                                               \
    /* Cascade MCP Integration, https://docs.windsurf.com/windsurf/cascade/mcp */                  \
    X(WINDSURF, "windsurf", "Windsurf", "~/.codeium/windsurf/mcp_config.json",                     \
        "~/.codeium/windsurf/mcp_config.json", "", "mcpServers", "", "serverUrl", "")              \
    /* MCP Overview, https://docs.cline.bot/mcp/mcp-overview: it shows `url` for SSE */            \
    X(CLINE, "cline", "Cline", "~/.cline/data/settings/cline_mcp_settings.json",                   \
        "~/.cline/data/settings/cline_mcp_settings.json", "", "mcpServers", "", "", "")            \
    /* Model Context Protocol, https://zed.dev/docs/ai/mcp */                                      \
    X(ZED, "zed", "Zed", "~/.config/zed/settings.json", "~/.config/zed/settings.json",             \
        ".zed/settings.json", "context_servers", "", "url", "")                                    \
    /* MCP servers with Gemini CLI, https://geminicli.com/docs/tools/mcp-server/ */                \
    X(GEMINI_CLI, "gemini-cli", "Gemini CLI", "~/.gemini/settings.json",                           \
        "~/.gemini/settings.json", ".gemini/settings.json", "mcpServers", "", "httpUrl", "")
