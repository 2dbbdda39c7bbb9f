/* A server is asked in both families of revisions, over either transport. No process stays. Errors
 * name the server and hold no secret. */
#include "support/unit.h"

#include "gateway/discover/discover.h"
#include "support/gateway/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS INT64_C(1000)

/* A server of lines: the answer that each method gets, and silence where there is none. `$id` is
 * the id that was asked with. */
#define SERVER                                                                                     \
    "while read -r line; do\n"                                                                     \
    "  id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n"                   \
    "  say() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\\n' \"$id\" \"$1\"; }\n"                 \
    "  case $line in\n"

#define INITIALIZED                                                                                \
    "*'\"initialize\"'*) say '\"result\":{\"protocolVersion\":\"2025-06-18\","                     \
    "\"capabilities\":{\"tools\":{}},\"instructions\":\"be kind\","                                \
    "\"serverInfo\":{\"name\":\"shell\",\"version\":\"1.2\"}}';;\n"
#define UNKNOWN "*) say '\"error\":{\"code\":-32601,\"message\":\"what\\u0007?\"}';;\n"
#define NOTICE  "*notifications/*) : ;;\n"
#define END     "esac; done\n"

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

static struct writ_discovered *
discover_script(
    const char *script, int64_t timeout_us, writ_result *ret_result, struct writ_err *err)
{
    const struct writ_view argv[] = {WRIT_LIT("sh"), WRIT_LIT("-c"), writ_view_str(script)};
    const struct writ_discover_options options = {.timeout_us = timeout_us};
    struct writ_upstream_config server;
    struct writ_discovered *found = NULL;

    ck_assert_ok(writ_discover_command(argv, 3, &server, err));
    *ret_result = writ_discover_tools(&server, &options, &found, err);
    return found;
}

static struct writ_discovered *
discover_good(const char *script)
{
    struct writ_err err = {{0}, 0, 0};
    writ_result r;
    struct writ_discovered *found = discover_script(script, 0, &r, &err);

    ck_assert_msg(writ_is_ok(r), "%s", err.text);
    return found;
}

static void
expect_failure(const char *script, int64_t timeout_us, enum writ_code code, const char *text)
{
    struct writ_err err = {{0}, 0, 0};
    writ_result r;

    ck_assert_ptr_null(discover_script(script, timeout_us, &r, &err));
    ck_assert_msg(r.code == code, "%s: %s", writ_code_name(r.code), err.text);
    ck_assert_msg(strstr(err.text, text) != NULL, "\"%s\" lacks \"%s\"", err.text, text);
}

/* ---- programs */

START_TEST(discover_of_a_legacy_program_gives_every_page)
{
    struct writ_discovered *found = discover_good(
        SERVER INITIALIZED NOTICE "*tools/list*cursor*) say '\"result\":{\"tools\":[" TOOL(
            "a") ",{\"nameless\":1}]}';;\n"
                 "*tools/list*) say '\"result\":{\"tools\":[" TOOL(
                     "b") "],\"nextCursor\":\"2\"}';;\n" UNKNOWN END);

    ck_assert_view(found->server, "shell");
    ck_assert_view(found->version, "1.2");
    ck_assert_view(found->instructions, "be kind");
    ck_assert_view(found->revision, "2025-06-18");
    ck_assert_uint_eq(found->catalog->n, 2);
    ck_assert_view(found->catalog->tools[0].name, "a");
    ck_assert_view(found->catalog->tools[1].name, "b");
    ck_assert_view(
        writ_json_string(writ_json_pointer(found->definitions[1], WRIT_LIT("/inputSchema/type"))),
        "object");
    writ_discover_free(found);
}
END_TEST

START_TEST(discover_of_a_modern_program_sends_no_initialize)
{
    struct writ_discovered *found = discover_good(SERVER
        "*server/discover*2026-07-28*) say '\"result\":{\"supportedVersions\":[\"2026-07-28\"],"
        "\"capabilities\":{\"tools\":{}},\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
        "{\"name\":\"new\",\"version\":\"9\"}}}';;\n"
        "*tools/list*io.modelcontextprotocol/clientCapabilities*)"
        " say '\"result\":{\"tools\":[" TOOL("only") "]}';;\n" UNKNOWN END);

    ck_assert_view(found->server, "new");
    ck_assert_view(found->revision, "2026-07-28");
    ck_assert_uint_eq(found->catalog->n, 1);
    writ_discover_free(found);
}
END_TEST

/* As rmcp does, which takes nothing before initialize. */
START_TEST(discover_of_a_program_that_ends_at_the_first_question_starts_it_again)
{
    struct writ_discovered *found =
        discover_good(SERVER "*server/discover*) exit 1;;\n" INITIALIZED NOTICE
                             "*tools/list*) say '\"result\":{\"tools\":[" TOOL("t") "]}';;\n" END);

    ck_assert_uint_eq(found->catalog->n, 1);
    writ_discover_free(found);
}
END_TEST

/* It answers server/discover only when it is asked for the second time: as one that was not there
 * the first time. */
START_TEST(discover_of_a_slow_modern_program_asks_again)
{
    struct writ_discovered *found = discover_good(
        "n=0\n" SERVER
        "*server/discover*) n=$((n + 1)); [ $n = 1 ] || say '\"result\":{\"supportedVersions\":"
        "[\"2026-07-28\"],\"capabilities\":{}}';;\n" UNKNOWN END);

    ck_assert_view(found->revision, "2026-07-28");
    ck_assert_uint_eq(found->catalog->n, 0);
    writ_discover_free(found);
}
END_TEST

START_TEST(discover_answers_a_ping_of_the_server)
{
    struct writ_discovered *found = discover_good(
        SERVER INITIALIZED "*notifications/initialized*)"
                           " printf '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\\n';;\n"
                           "*tools/list*) kept=$id;;\n"
                           "*'\"id\":\"p\",\"result\"'*) pong=1;;\n" UNKNOWN "esac\n"
                           "if [ -n \"$kept\" ] && [ -n \"$pong\" ]; then id=$kept;"
                           " say '\"result\":{\"tools\":[" TOOL("t") "]}'; kept=; fi\n"
                                                                     "done\n");

    ck_assert_uint_eq(found->catalog->n, 1);
    writ_discover_free(found);
}
END_TEST

START_TEST(discover_of_a_program_that_is_not_there_names_it)
{
    const struct writ_view argv[] = {WRIT_LIT("/nowhere/server"), WRIT_LIT("secret")};
    struct writ_upstream_config server;
    struct writ_discovered *found = NULL;
    struct writ_err err = {{0}, 0, 0};

    ck_assert_ok(writ_discover_command(argv, 2, &server, &err));
    ck_assert_code(writ_discover_tools(&server, NULL, &found, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "/nowhere/server: it cannot be started: No such file"));
    ck_assert_ptr_null(strstr(err.text, "secret"));
    server.name = WRIT_LIT("files");
    ck_assert_code(writ_discover_tools(&server, NULL, &found, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "\"files\" (/nowhere/server): it cannot be started"));
    ck_assert_ptr_null(found);
    ck_assert_code(writ_discover_command(argv, 0, &server, &err), WRIT_E_INVALID);
}
END_TEST

START_TEST(discover_of_a_program_that_ends_repeats_its_words_without_its_stack)
{
    expect_failure("echo 'Usage: server \033[31mDIR' >&2; echo '    at main (x.js)' >&2; exit 4", 0,
        WRIT_E_IO,
        "sh: it ended with exit code 4 before it answered initialize. It said: "
        "Usage: server \\u001b[31mDIR");
    expect_failure("kill -9 $$", 0, WRIT_E_IO, "sh: it was ended by signal 9 before");
}
END_TEST

START_TEST(discover_of_a_silent_program_ends_it_and_reports_its_stderr)
{
    expect_failure("echo waiting for a login >&2; cat >/dev/null", 100 * MS, WRIT_E_IO,
        "did not answer initialize in time. Run the program by itself to see what it waits "
        "for. It said: waiting for a login");
}
END_TEST

START_TEST(discover_of_a_program_that_refuses_gives_its_error)
{
    expect_failure(SERVER UNKNOWN END, 0, WRIT_E_IO, "sh: it refuses initialize: what\\u0007?");
    expect_failure(SERVER INITIALIZED NOTICE UNKNOWN END, 0, WRIT_E_IO,
        "sh: it refuses tools/list: what\\u0007?");
    expect_failure(SERVER INITIALIZED NOTICE "*tools/list*) say '\"result\":{}';;\n" UNKNOWN END, 0,
        WRIT_E_PARSE, "its answer to tools/list is not what the protocol says");
    expect_failure(SERVER
        "*'\"initialize\"'*) say '\"result\":{\"protocolVersion\":\"1\"}';;\n" UNKNOWN END,
        0, WRIT_E_PARSE, "its answer to initialize is not what the protocol says");
}
END_TEST

START_TEST(discover_of_a_list_without_an_end_is_refused)
{
    expect_failure(SERVER INITIALIZED NOTICE
        "*tools/list*) say '\"result\":{\"tools\":[],\"nextCursor\":\"again\"}';;\n" UNKNOWN END,
        0, WRIT_E_LIMIT, "more than 256 pages");
}
END_TEST

/* The program is gone when the function returns. */
START_TEST(discover_leaves_no_process_behind)
{
    char path[] = "/tmp/writ-discover-XXXXXX", script[2048], line[64] = "";
    FILE *file;
    long pid;

    ck_assert_int_ge(close(mkstemp(path)), 0);
    (void)snprintf(script, sizeof script, "echo $$ >%s\n%ssleep 1000\n", path,
        SERVER INITIALIZED NOTICE "*tools/list*) say '\"result\":{\"tools\":[]}';;\n" UNKNOWN END);
    writ_discover_free(discover_good(script));
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    (void)fclose(file);
    (void)unlink(path);
    pid = strtol(line, NULL, 10);
    ck_assert_int_gt(pid, 0);
    (void)snprintf(line, sizeof line, "/proc/%ld", pid);
    ck_assert_int_ne(access(line, F_OK), 0);
}
END_TEST

/* ---- URLs */

struct requests {
    char text[16384];
    size_t len;
};

static void
note(void *ctx, const char *request)
{
    struct requests *all = ctx;
    int n = snprintf(all->text + all->len, sizeof all->text - all->len, "%s\n====\n", request);

    ck_assert_int_gt(n, 0);
    all->len += (size_t)n;
    ck_assert_uint_lt(all->len, sizeof all->text);
}

static writ_result
discover_url(const struct peer_step *script, struct requests *all,
    const struct writ_authorization_config *authorization, struct writ_discovered **ret,
    struct writ_err *err)
{
    const struct peer_step *const scripts[] = {script};
    struct peer_options options = {.scripts = scripts, .count = 1, .on_request = note, .ctx = all};
    writ_auto_arena arena = writ_arena_new(65536);
    struct peer *peer = peer_open(&options);
    struct writ_upstream_config server;
    char url[64];
    writ_result r;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/mcp?key=s3cret", peer_port(peer));
    ck_assert_ok(writ_discover_url(writ_view_str(url), arena, &server, err));
    server.authorization = authorization;
    r = writ_discover_tools(&server, NULL, ret, err);
    peer_close(peer);
    ck_assert_ptr_null(strstr(err->text, "s3cret"));
    return r;
}

/* A session, its answers as a body and as a stream, and its end. */
START_TEST(discover_of_a_legacy_url_keeps_the_session_and_ends_it)
{
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\nwhat"), PEER_DO(READ),
        PEER_SAY(SEND,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nMcp-Session-Id: s1\r\n"
            "\r\n"
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"
            "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":\"2025-06-18\","
            "\"capabilities\":{\"tools\":{}}}}\n\n"),
        PEER_DO(END)};
    static const struct peer_step rest[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"), PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 69"
                       "\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":["
                       "{\"name\":\"t\",\"x\":\"----\"}]}}"),
        PEER_DO(READ), PEER_SAY(SEND, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        PEER_DO(END)};
    const struct peer_step *const scripts[] = {script, rest};
    struct requests all = {.len = 0};
    struct peer_options options = {.scripts = scripts, .count = 2, .on_request = note, .ctx = &all};
    writ_auto_arena arena = writ_arena_new(65536);
    struct peer *peer = peer_open(&options);
    struct writ_discovered *found = NULL;
    struct writ_upstream_config server;
    struct writ_err err = {{0}, 0, 0};
    char url[64];
    writ_result r;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", peer_port(peer));
    ck_assert_ok(writ_discover_url(writ_view_str(url), arena, &server, &err));
    r = writ_discover_tools(&server, NULL, &found, &err);
    peer_await_requests(peer, 5);
    peer_close(peer);
    ck_assert_msg(writ_is_ok(r), "%s", err.text);
    ck_assert_uint_eq(found->catalog->n, 1);
    ck_assert_view(found->catalog->tools[0].name, "t");
    writ_discover_free(found);
    ck_assert_ptr_nonnull(strstr(all.text, "POST / HTTP/1.1"));
    ck_assert_ptr_nonnull(strstr(all.text, "Mcp-Method: server/discover"));
    ck_assert_ptr_nonnull(strstr(all.text, "DELETE / HTTP/1.1"));
    ck_assert_ptr_nonnull(strstr(strstr(all.text, "DELETE /"), "Mcp-Session-Id: s1"));
    ck_assert_ptr_nonnull(strstr(strstr(all.text, "DELETE /"), "MCP-Protocol-Version: 2025-06-18"));
}
END_TEST

START_TEST(discover_of_a_url_shows_its_authorization)
{
    static const struct peer_step script[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), PEER_DO(END)};
    const struct writ_authorization_config authorization = {.variable = WRIT_LIT("WRIT_TEST_SHOWN"),
        .header = WRIT_LIT("Authorization"),
        .scheme = WRIT_LIT("Bearer")};
    struct writ_discovered *found = NULL;
    struct requests all = {.len = 0};
    struct writ_err err = {{0}, 0, 0};

    ck_assert_int_eq(setenv("WRIT_TEST_SHOWN", "a-token", 1), 0);
    ck_assert_code(discover_url(script, &all, &authorization, &found, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "it refuses with status 401"));
    ck_assert_ptr_null(strstr(err.text, "a-token"));
    ck_assert_ptr_nonnull(strstr(all.text, "Authorization: Bearer a-token"));
    ck_assert_ptr_nonnull(strstr(all.text, "POST /mcp?key=s3cret HTTP/1.1"));

    ck_assert_int_eq(unsetenv("WRIT_TEST_SHOWN"), 0);
    ck_assert_code(discover_url(script, &all, &authorization, &found, &err), WRIT_E_ABSENT);
    ck_assert_ptr_nonnull(strstr(err.text, "WRIT_TEST_SHOWN"));
}
END_TEST

START_TEST(discover_of_a_url_that_is_no_server_says_so)
{
    static const struct peer_step page[] = {PEER_DO(READ),
        PEER_SAY(SEND, "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\n404"), PEER_DO(AGAIN)};
    static const struct peer_step closes[] = {PEER_DO(READ), PEER_DO(END)};
    struct writ_discovered *found = NULL;
    struct requests all = {.len = 0};
    struct writ_err err = {{0}, 0, 0};

    ck_assert_code(discover_url(page, &all, NULL, &found, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "answers initialize with status 404 and no message"));
    ck_assert_code(discover_url(closes, &all, NULL, &found, &err), WRIT_E_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "closed the connection before the response was whole"));
    ck_assert_ptr_null(found);
}
END_TEST

START_TEST(discover_url_of_another_form_is_refused)
{
    static const char *const bad[] = {"ftp://x/", "x", "", "http://example.com/mcp",
        "https://u:p@example.com/", "https://example.com/#f"};
    writ_auto_arena arena = writ_arena_new(65536);
    struct writ_upstream_config server = {.port = 7};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_code(
            writ_discover_url(writ_view_str(bad[i]), arena, &server, NULL), WRIT_E_INVALID);
    }
    ck_assert_uint_eq(server.port, 7);
    ck_assert_ok(writ_discover_url(WRIT_LIT("https://example.com?a=1"), arena, &server, NULL));
    ck_assert_view(server.path, "/?a=1");
    ck_assert_view(server.host, "example.com");
    ck_assert_uint_eq(server.port, 443);
    ck_assert(server.tls);
}
END_TEST

WRIT_UNIT_MAIN("discover", discover_of_a_legacy_program_gives_every_page,
    discover_of_a_modern_program_sends_no_initialize,
    discover_of_a_program_that_ends_at_the_first_question_starts_it_again,
    discover_of_a_slow_modern_program_asks_again, discover_answers_a_ping_of_the_server,
    discover_of_a_program_that_is_not_there_names_it,
    discover_of_a_program_that_ends_repeats_its_words_without_its_stack,
    discover_of_a_silent_program_ends_it_and_reports_its_stderr,
    discover_of_a_program_that_refuses_gives_its_error,
    discover_of_a_list_without_an_end_is_refused, discover_leaves_no_process_behind,
    discover_of_a_legacy_url_keeps_the_session_and_ends_it,
    discover_of_a_url_shows_its_authorization, discover_of_a_url_that_is_no_server_says_so,
    discover_url_of_another_form_is_refused)
