/* writ check: the faults of a configuration file. It reads the file as the gateway would, with
 * the files of crews, and opens no other file that it names; with --tools it asks the servers too.
 */
#include "cli/commands/check_tools.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "gateway/reviewers/crew_roster.h"
#include "gateway/reviewers/review_counts.h"
#include "policy/decide/kept.h"
#include "policy/model/constraint.h"
#include "policy/model/rule.h"
#include "policy/read/findings.h"
#include "policy/read/load.h"
#include "policy/read/manual.h"
#include "policy/read/schema.h"

#define OUTPUT_MAX         (16 * 1024 * 1024)
#define TOOLS_FINDINGS_MAX 4096

static void
put_finding(struct writ_write *w, struct writ_view file, const struct writ_finding *finding)
{
    writ_write_object_begin(w);
    writ_write_text(w, "severity", writ_view_str(writ_findings_severity(finding->severity)));
    writ_write_text(w, "file", finding->file.len > 0 ? finding->file : file);
    writ_write_count(w, "line", finding->line);
    writ_write_text(w, "pointer", finding->pointer);
    writ_write_text(w, "message", finding->message);
    writ_write_object_end(w);
}

/* The contents of a valid configuration. */
static void
put_summary(struct writ_write *w, const struct writ_config *config)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&config->policy_digest, digest);
    writ_write_text(w, "policy_digest", writ_view_str(digest));
    writ_write_count(w, "agents", config->agents_n);
    writ_write_count(w, "upstreams", config->upstreams_n);
    writ_write_count(w, "tools", config->policy->n);
}

/* ---- the contents of calls that are kept */

typedef void put_contents_fn(
    void *to, struct writ_view rule, const struct writ_retention *contents, bool secrets);

/* Gives each rule that keeps contents, and calls of tools without a rule. */
static void
each_contents(const struct writ_config *config, put_contents_fn *put, void *to)
{
    struct writ_retention unlisted =
        writ_kept_terms(config, writ_view(NULL, 0), writ_view(NULL, 0), NULL);

    for (size_t i = 0; i < config->policy->n; i++) {
        const struct writ_tool_entry *entry = &config->policy->entries[i];

        for (size_t r = 0; r < entry->rules_n; r++) {
            const struct writ_tool_rule *rule = &entry->rules[r];
            if (rule->contents.keep_us > 0 && !entry->may_be_else) {
                put(to, rule->ref, &rule->contents, rule->arguments->root.hides);
            }
        }
    }
    if (unlisted.keep_us > 0) {
        put(to, WRIT_LIT("defaults#unlisted_tool"), &unlisted, false);
    }
}

static void
put_contents_json(
    void *to, struct writ_view rule, const struct writ_retention *contents, bool secrets)
{
    struct writ_write *w = to;

    writ_write_object_begin(w);
    writ_write_text(w, "rule", rule);
    writ_write_count(w, "keep_us", (uint64_t)contents->keep_us);
    writ_write_count(w, "results_bytes", (uint64_t)contents->results_bytes);
    writ_write_flag(w, "secrets", secrets);
    writ_write_object_end(w);
}

/* "30d", "90m": the largest unit that divides it. */
static void
put_duration(struct writ_buf *ret, int64_t us)
{
    static const struct {
        const char *unit;
        int64_t us;
    } units[] = {{"d", INT64_C(86400000000)}, {"h", INT64_C(3600000000)}, {"m", 60000000},
        {"s", 1000000}, {"ms", 1000}, {"us", 1}};
    size_t i = 0;

    while (us % units[i].us != 0) {
        i++;
    }
    writ_buf_i64(ret, us / units[i].us);
    writ_buf_str(ret, units[i].unit);
}

static void
put_contents_text(
    void *to, struct writ_view rule, const struct writ_retention *contents, bool secrets)
{
    struct writ_buf *ret = to;

    writ_buf_fmt(ret, "contents " WRIT_VIEW_FMT ": arguments", WRIT_VIEW_ARG(rule));
    writ_buf_str(ret, secrets ? " without secrets" : "");
    if (contents->results_bytes > 0) {
        writ_buf_fmt(ret, ", results of at most %lld bytes", (long long)contents->results_bytes);
    }
    writ_buf_str(ret, ", for ");
    put_duration(ret, contents->keep_us);
    writ_buf_byte(ret, '\n');
}

/* ---- output */

/* One checking of one file. */
struct checking {
    const struct writ_cli *cli;
    struct writ_view file;
    struct writ_findings findings;
    struct writ_config *config; /* NULL: it is not valid */
    bool asks;                  /* the servers were asked */
    struct writ_check_tools asked;
};

static void
checking_wipe(struct checking *c)
{
    writ_findings_wipe(&c->findings);
    writ_config_drop(c->config);
}

static void
put_json(const struct checking *c, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "file", c->file);
    writ_write_flag(&w, "valid", c->config != NULL);
    writ_write_count(&w, "errors", c->findings.errors);
    writ_write_count(&w, "warnings", c->findings.warnings);
    writ_write_count(&w, "notes", c->findings.notes);
    writ_write_name(&w, WRIT_LIT("findings"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < c->findings.n; i++) {
        put_finding(&w, c->file, &c->findings.items[i]);
    }
    writ_write_array_end(&w);
    if (c->config != NULL) {
        put_summary(&w, c->config);
        writ_write_name(&w, WRIT_LIT("contents"));
        writ_write_array_begin(&w);
        each_contents(c->config, put_contents_json, &w);
        writ_write_array_end(&w);
    }
    if (c->asks) {
        writ_write_name(&w, WRIT_LIT("asked"));
        writ_write_object_begin(&w);
        writ_write_count(&w, "servers", c->asked.servers);
        writ_write_count(&w, "answered", c->asked.answered);
        writ_write_count(&w, "tools", c->asked.tools);
        writ_write_object_end(&w);
    }
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}

static void
put_text(const struct checking *c, struct writ_buf *ret)
{
    const struct writ_findings *findings = &c->findings;
    char digest[WRIT_DIGEST_TEXT];

    writ_findings_put(findings, c->file, ret);
    if (c->config == NULL) {
        writ_buf_fmt(ret, WRIT_VIEW_FMT ": not valid (errors: %zu, warnings: %zu)\n",
            WRIT_VIEW_ARG(c->file), findings->errors, findings->warnings);
        return;
    }
    writ_digest_text(&c->config->policy_digest, digest);
    writ_buf_fmt(ret,
        WRIT_VIEW_FMT ": valid (agents: %zu, upstreams: %zu, tools: %zu, warnings: %zu)\n"
                      "policy_digest %s\n",
        WRIT_VIEW_ARG(c->file), c->config->agents_n, c->config->upstreams_n, c->config->policy->n,
        findings->warnings, digest);
    each_contents(c->config, put_contents_text, ret);
    if (c->asks) {
        writ_buf_fmt(ret,
            WRIT_VIEW_FMT ": compared with %zu tools of %zu servers (errors: %zu, notes: %zu)\n",
            WRIT_VIEW_ARG(c->file), c->asked.tools, c->asked.answered, findings->errors,
            findings->notes);
    }
}

static enum writ_exit
check_file(const struct writ_cli *cli)
{
    WRIT_AUTO(struct checking, checking_wipe) c = {.cli = cli, .file = writ_cli_operand(cli, 0)};
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result;

    c.findings.max = writ_cli_has(cli, "tools") ? TOOLS_FINDINGS_MAX : 0;
    result = writ_load_file(c.file.ptr, &c.findings, &c.config, &err);
    if (!writ_is_ok(result) && c.findings.errors == 0) {
        return writ_cli_fail(cli, result, &err); /* not even readable */
    }
    if (c.config != NULL) {
        writ_crew_roster_find(c.config, &c.findings);
        writ_review_counts_find(c.config, &c.findings);
    }
    if (c.findings.errors > 0) {
        writ_config_drop(c.config);
        c.config = NULL;
    }
    c.asks = c.config != NULL && writ_cli_has(cli, "tools");
    if (c.asks) {
        result = writ_check_tools_run(c.config, &c.findings, &c.asked, &err);
        if (!writ_is_ok(result)) {
            return writ_cli_fail(cli, result, &err);
        }
    }
    if (cli->json) {
        put_json(&c, &output);
    } else {
        put_text(&c, &output);
    }
    result = writ_buf_check(&output, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return c.config != NULL && c.findings.errors == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

static enum writ_exit
print_page(
    const struct writ_cli *cli, WRIT_RESULT (*page)(struct writ_buf *ret, struct writ_err *err))
{
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_err err = {0};
    writ_result result = page(&output, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return WRIT_EXIT_OK;
}

enum writ_exit
writ_command_check(const struct writ_cli *cli)
{
    bool schema = writ_cli_has(cli, "schema"), manual = writ_cli_has(cli, "manual");

    if (schema + manual + (cli->operand_count > 0) != 1) {
        return writ_cli_usage(cli, "one of CONFIG, --schema and --manual is needed");
    }
    if ((schema || manual) && writ_cli_has(cli, "tools")) {
        return writ_cli_usage(cli, "--tools needs CONFIG");
    }
    if (schema || manual) {
        return print_page(cli, schema ? writ_schema_put : writ_manual_put);
    }
    return check_file(cli);
}
