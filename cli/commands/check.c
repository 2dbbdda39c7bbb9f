/* writ check: the faults of a configuration file. It reads the file as the gateway would and opens
 * no file that it names. */
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "policy/model/rule.h"
#include "policy/read/findings.h"
#include "policy/read/load.h"
#include "policy/read/schema.h"

#define OUTPUT_MAX (4 * 1024 * 1024)

static void
config_release(struct writ_config **config)
{
    writ_config_drop(*config);
}

static void
put_finding(struct writ_write *w, struct writ_view file, const struct writ_finding *finding)
{
    bool warning = finding->severity == WRIT_SEVERITY_WARNING;

    writ_write_object_begin(w);
    writ_write_text(w, "severity", warning ? WRIT_LIT("warning") : WRIT_LIT("error"));
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

static void
put_json(struct writ_view file, const struct writ_findings *findings,
    const struct writ_config *config, struct writ_buf *ret)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    writ_write_text(&w, "file", file);
    writ_write_flag(&w, "valid", config != NULL);
    writ_write_count(&w, "errors", findings->errors);
    writ_write_count(&w, "warnings", findings->warnings);
    writ_write_name(&w, WRIT_LIT("findings"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < findings->n; i++) {
        put_finding(&w, file, &findings->items[i]);
    }
    writ_write_array_end(&w);
    if (config != NULL) {
        put_summary(&w, config);
    }
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(ret, '\n');
}

static void
put_text(struct writ_view file, const struct writ_findings *findings,
    const struct writ_config *config, struct writ_buf *ret)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_findings_put(findings, file, ret);
    if (config == NULL) {
        writ_buf_fmt(ret, WRIT_VIEW_FMT ": not valid (errors: %zu, warnings: %zu)\n",
            WRIT_VIEW_ARG(file), findings->errors, findings->warnings);
        return;
    }
    writ_digest_text(&config->policy_digest, digest);
    writ_buf_fmt(ret,
        WRIT_VIEW_FMT ": valid (agents: %zu, upstreams: %zu, tools: %zu, warnings: %zu)\n"
                      "policy_digest %s\n",
        WRIT_VIEW_ARG(file), config->agents_n, config->upstreams_n, config->policy->n,
        findings->warnings, digest);
}

static enum writ_exit
check_file(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    WRIT_AUTO(struct writ_config *, config_release) config = NULL;
    writ_auto_buf output = writ_buf_make(OUTPUT_MAX);
    struct writ_view file = writ_cli_operand(cli, 0);
    struct writ_err err = {0};
    writ_result result = writ_load_file(file.ptr, &findings, &config, &err);

    if (!writ_is_ok(result) && findings.errors == 0) {
        return writ_cli_fail(cli, result, &err); /* not even readable */
    }
    if (cli->json) {
        put_json(file, &findings, config, &output);
    } else {
        put_text(file, &findings, config, &output);
    }
    result = writ_buf_check(&output, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&output));
    return config != NULL ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
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
    if (schema || manual) {
        return print_page(cli, schema ? writ_schema_put : writ_schema_manual);
    }
    return check_file(cli);
}
