/* writ crew check, graph, vote: crews without a gateway. Nothing runs here: a shape is checked or
 * drawn, or votes are counted. */
#include "base/text.h"
#include "cli/crew/ballots.h"
#include "cli/crew/command.h"
#include "cli/crew/crew_files.h"
#include "evidence/json/write.h"

#define SCENARIO_MAX ((size_t)16 << 20)
#define ARENA_MAX    ((size_t)1 << 30)
#define OUTPUT_MAX   ((size_t)64 << 20)

/* ---- input that several commands read */

/* Everything but the graph. */
static WRIT_RESULT
open_files(const struct writ_cli *cli, struct writ_crew_files_engines *engines,
    struct writ_roster *roster, struct writ_err *err)
{
    WRIT_TRY(writ_crew_files_engines(cli, engines, err));
    roster->engines = engines->engines;
    return writ_crew_files_read(roster, writ_cli_get(cli, "registry"), writ_cli_operand(cli, 0).ptr,
        cli->operand_count > 1 ? writ_cli_operand(cli, 1).ptr : NULL, err);
}

/* ---- crew check */

static void
put_finding(const char *severity, const struct writ_crew_finding *finding)
{
    writ_auto_buf line = writ_buf_make(OUTPUT_MAX);

    writ_buf_fmt(&line, "%s: %s", severity, finding->path.len > 0 ? "" : "the shape");
    writ_text_safe(&line, finding->path, finding->path.len);
    writ_buf_fmt(&line, ": %s\n", finding->code);
    writ_cli_put(writ_buf_view(&line));
}

static void
put_lint(const struct writ_crew_findings *findings, const char *severity, bool json,
    struct writ_write *w)
{
    for (size_t at = 0; at < writ_crew_findings_count(findings); at++) {
        const struct writ_crew_finding *finding = writ_crew_findings_at(findings, at);
        if (!json) {
            put_finding(severity, finding);
            continue;
        }
        writ_write_object_begin(w);
        writ_write_text(w, "severity", writ_view_str(severity));
        writ_write_text(w, "code", writ_view_str(finding->code));
        writ_write_text(w, "path", finding->path);
        writ_write_object_end(w);
    }
}

/* Prints the findings of lint and of the graph; false: the crew cannot run. */
static bool
tell_check(const struct writ_cli *cli, struct writ_roster *crew)
{
    struct writ_crew_findings *errors = writ_crew_findings_new();
    struct writ_crew_findings *warnings = writ_crew_findings_new();
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);
    struct writ_write w = writ_write_to(&text);
    struct writ_err err = {0};
    bool linted = errors != NULL && warnings != NULL &&
                  writ_is_ok(writ_crew_shape_lint(crew->shape, crew->engines, errors, warnings)) &&
                  writ_is_ok(writ_crew_shape_doubts(crew->shape, warnings));
    bool built = linted && writ_is_ok(writ_roster_build(crew, &err));

    if (linted) {
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("findings"));
        writ_write_array_begin(&w);
        put_lint(errors, "error", cli->json, &w);
        put_lint(warnings, "warning", cli->json, &w);
        writ_write_array_end(&w);
        writ_write_flag(&w, "valid", built);
        writ_write_object_end(&w);
    }
    if (cli->json) {
        writ_cli_put(writ_buf_view(&text));
        writ_cli_print("\n");
    } else if (built) {
        writ_cli_print("ok: %zu agents\n", writ_crew_graph_count(crew->graph));
    } else {
        writ_cli_print("%s\n", linted ? err.text : "no memory");
    }
    writ_crew_findings_free(errors);
    writ_crew_findings_free(warnings);
    return built;
}

enum writ_exit
writ_command_crew_check(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_crew_files_engines, writ_crew_files_engines_wipe) engines = {0};
    WRIT_AUTO(struct writ_roster, writ_roster_wipe) crew = {0};
    struct writ_err err = {0};
    writ_result result = open_files(cli, &engines, &crew, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return tell_check(cli, &crew) ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

/* ---- crew graph */

/* A DOT string: quoted, with its own quotes escaped. */
static void
put_quoted(struct writ_buf *buf, const char *prefix, struct writ_view text)
{
    writ_buf_byte(buf, '"');
    writ_buf_str(buf, prefix);
    for (size_t at = 0; at < text.len; at++) {
        char c = text.ptr[at];
        writ_buf_str(buf, c == '"' || c == '\\' ? "\\" : "");
        writ_buf_byte(buf, (unsigned char)c < 0x20 ? ' ' : c);
    }
    writ_buf_byte(buf, '"');
}

/* One crew, with `prefix` before the names of its roles, and its nested crews. */
static void
put_dot(struct writ_buf *buf, const struct writ_crew_graph *graph, const char *prefix, int depth)
{
    size_t n = writ_crew_graph_count(graph), from = 0;

    writ_buf_fmt(buf, "subgraph \"cluster%s\" {\nlabel=", prefix);
    put_quoted(buf, "", writ_crew_graph_name(graph));
    writ_buf_str(buf, ";\n");
    while (from < n) {
        struct writ_crew_agent first = writ_crew_graph_agent(graph, from);
        size_t to = from + 1;
        while (to < n && writ_view_equal(writ_crew_graph_agent(graph, to).role, first.role)) {
            to++;
        }
        put_quoted(buf, prefix, first.role);
        writ_buf_str(buf, " [label=");
        put_quoted(buf, "", first.role);
        writ_buf_fmt(buf, ",xlabel=\"%zu\"];\n", to - from);
        for (size_t other = 0; other < n; other++) {
            struct writ_crew_agent target = writ_crew_graph_agent(graph, other);
            if (other > 0 &&
                writ_view_equal(writ_crew_graph_agent(graph, other - 1).role, target.role)) {
                continue; /* once per role */
            }
            for (int action = WRIT_CREW_TALK_TO; action <= WRIT_CREW_ESCALATE_TO; action++) {
                if (writ_crew_graph_allows(
                        graph, first.id, target.id, (enum writ_crew_action)action)) {
                    put_quoted(buf, prefix, first.role);
                    writ_buf_str(buf, " -> ");
                    put_quoted(buf, prefix, target.role);
                    writ_buf_fmt(buf, " [label=\"%s\"];\n",
                        writ_crew_action_name((enum writ_crew_action)action));
                }
            }
        }
        if (first.nested != NULL) {
            writ_auto_buf inner = writ_buf_make(OUTPUT_MAX);
            writ_buf_fmt(&inner, "%s%d.%zu/%c", prefix, depth, from, '\0');
            if (writ_is_ok(writ_buf_check(&inner, NULL))) {
                put_dot(buf, first.nested, inner.ptr, depth + 1);
            }
        }
        from = to;
    }
    writ_buf_str(buf, "}\n");
}

enum writ_exit
writ_command_crew_graph(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_crew_files_engines, writ_crew_files_engines_wipe) engines = {0};
    WRIT_AUTO(struct writ_roster, writ_roster_wipe) crew = {0};
    writ_auto_buf dot = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result = open_files(cli, &engines, &crew, &err);

    if (writ_is_ok(result)) {
        result = writ_roster_build(&crew, &err);
    }
    if (writ_is_ok(result)) {
        writ_buf_str(&dot, "digraph crew {\n");
        put_dot(&dot, crew.graph, "", 0);
        writ_buf_str(&dot, "}\n");
        result = writ_buf_check(&dot, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        struct writ_buf text = writ_buf_make(OUTPUT_MAX);
        writ_text_json(&text, writ_buf_view(&dot));
        writ_cli_print("{\"dot\":" WRIT_VIEW_FMT "}\n", WRIT_VIEW_ARG(writ_buf_view(&text)));
        writ_buf_wipe(&text);
    } else {
        writ_cli_put(writ_buf_view(&dot));
    }
    return WRIT_EXIT_OK;
}

/* ---- crew vote */

static void
put_verdict(const struct writ_cli *cli, const struct writ_ballots_result *verdict)
{
    struct writ_view value = writ_crew_value_text(verdict->value);
    writ_auto_buf text = writ_buf_make(OUTPUT_MAX);
    struct writ_write w = writ_write_to(&text);

    if (!cli->json) {
        writ_cli_put(writ_view(verdict->why.ptr, verdict->why.len));
        writ_buf_str(&text, !verdict->resolved  ? "no value"
                            : value.ptr == NULL ? "resolved: no output"
                                                : "resolved: ");
        writ_text_safe(&text, value, value.len);
        writ_buf_byte(&text, '\n');
        writ_cli_put(writ_buf_view(&text));
        return;
    }
    writ_write_object_begin(&w);
    writ_write_flag(&w, "resolved", verdict->resolved);
    if (value.ptr != NULL) {
        writ_write_name(&w, WRIT_LIT("value"));
        writ_write_raw(&w, value);
    }
    writ_write_text(&w, "why", writ_view(verdict->why.ptr, verdict->why.len));
    writ_write_object_end(&w);
    writ_cli_put(writ_buf_view(&text));
    writ_cli_print("\n");
}

static WRIT_RESULT
count_file(const struct writ_cli *cli, const struct writ_crew_engines *engines,
    struct writ_ballots_result *ret, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    writ_auto_buf text = writ_buf_make(SCENARIO_MAX);
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *ballots = NULL;
    writ_result result;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    limits.bytes = limits.values = limits.string_bytes = SCENARIO_MAX;
    result = writ_cli_read(writ_cli_operand(cli, 1).ptr, SCENARIO_MAX, &text, err);
    if (writ_is_ok(result)) {
        result =
            writ_fail_in(err, writ_json_read(writ_buf_view(&text), &limits, arena, &ballots, err),
                writ_cli_operand(cli, 1).ptr);
    }
    if (writ_is_ok(result)) {
        result = writ_ballots_count(ballots, writ_cli_operand(cli, 0), engines, ret, err);
    }
    writ_arena_free(arena);
    return result;
}

enum writ_exit
writ_command_crew_vote(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_crew_files_engines, writ_crew_files_engines_wipe) engines = {0};
    struct writ_ballots_result verdict = {0};
    struct writ_err err = {0};
    writ_result result = writ_crew_files_engines(cli, &engines, &err);
    bool resolved;

    if (writ_is_ok(result)) {
        result = count_file(cli, engines.engines, &verdict, &err);
    }
    resolved = verdict.resolved;
    if (writ_is_ok(result)) {
        put_verdict(cli, &verdict);
    }
    writ_crew_value_free(verdict.value);
    writ_crew_text_wipe(&verdict.why);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return resolved ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
