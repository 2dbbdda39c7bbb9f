/* check_tools.c - one server after the other: its tools, the rules held against them (policy/fit),
 * and of pinned tools the accepted definitions. It calls no tool and writes nothing. */
#include "cli/commands/check_tools.h"

#include "gateway/discover/discover.h"
#include "gateway/state/accepted.h"
#include "policy/fit/fit.h"
#include "policy/model/rule.h"
#include "policy/read/yaml.h"
#include "store/trusted/keydir.h"

#define NAME_MAX 80

/* What an operator accepted, read for the first pinned tool or program. */
struct pins {
    const struct writ_config *config;
    struct writ_keyring *keys;
    struct writ_definitions *accepted;
    bool read;
};

static void
pins_wipe(struct pins *pins)
{
    writ_keyring_free(pins->keys);
    writ_definitions_free(pins->accepted);
}

static void
found_freep(struct writ_discovered **found)
{
    writ_discover_free(*found);
}

/* Without the ledger nothing is accepted yet: one note says so. */
static void
read_accepted(struct pins *pins, const struct writ_yaml *node, struct writ_findings *findings)
{
    const struct writ_config *config = pins->config;
    struct writ_err err = {{0}, 0, 0};
    writ_result r = writ_keydir_list(config->keys.ptr, &pins->keys, &err);

    pins->read = true;
    if (writ_is_ok(r)) {
        r = writ_accepted_load(config, pins->keys, NULL, &pins->accepted, &err);
    }
    if (!writ_is_ok(r)) {
        writ_yaml_find(findings, WRIT_SEVERITY_NOTE, node,
            "accepted definitions are not compared: %s", err.text);
    }
}

static const struct writ_tool_rule *
pinned_rule(const struct writ_tool_entry *entry)
{
    for (size_t i = 0; entry != NULL && i < entry->rules_n; i++) {
        if (entry->rules[i].pin && entry->rules[i].agreed) {
            return &entry->rules[i];
        }
    }
    return NULL;
}

/* As the gateway refuses: definition_not_accepted, definition_changed, definition_ambiguous. */
static void
check_pin(struct pins *pins, const struct writ_upstream_config *upstream,
    const struct writ_catalog_tool *tool, struct writ_findings *findings)
{
    const struct writ_tool_rule *rule =
        pinned_rule(writ_rule_entry(pins->config->policy, upstream->name, tool->name));
    writ_auto_buf name = writ_buf_make(upstream->name.len + tool->name.len + 1);
    const struct writ_definition *accepted;
    bool same;

    if (rule == NULL) {
        return;
    }
    if (!pins->read) {
        read_accepted(pins, rule->node, findings);
    }
    writ_buf_put(&name, upstream->name);
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, tool->name);
    accepted = writ_definitions_find(pins->accepted, writ_buf_view(&name));
    same = accepted != NULL && writ_digest_equal(&accepted->digest, &tool->digest);
    if (pins->accepted == NULL || same) {
        return;
    }
    writ_yaml_find(findings, WRIT_SEVERITY_ERROR, rule->node,
        "the tool is pinned, and %s of " WRIT_VIEW_FMT
        ": its calls are refused. Review it with writ tools diff, then writ tools accept.",
        accepted == NULL ? "no definition is accepted" : "another definition is accepted",
        WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&name), 0, NAME_MAX)));
}

static bool
is_pinned(const struct writ_program_config *program)
{
    for (size_t i = 0; i < program->n; i++) {
        if (program->files[i].accepted) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
compare(struct pins *pins, const struct writ_upstream_config *upstream,
    const struct writ_discovered *found, struct writ_findings *findings, struct writ_err *err)
{
    const struct writ_catalog *catalog = found->catalog;
    struct writ_fit_tool *tools = writ_arena_get(found->arena, (catalog->n + 1) * sizeof *tools);
    const struct writ_fit_server server = {
        .upstream = upstream->name, .tools = tools, .n = catalog->n};

    if (tools == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare rules with definitions");
    }
    for (size_t i = 0; i < catalog->n; i++) {
        tools[i] = (struct writ_fit_tool){catalog->tools[i].name, found->definitions[i]};
        check_pin(pins, upstream, &catalog->tools[i], findings);
    }
    return writ_fit_check(pins->config, &server, findings, err);
}

writ_result
writ_check_tools_run(const struct writ_config *config, struct writ_findings *findings,
    struct writ_check_tools *ret, struct writ_err *err)
{
    WRIT_AUTO(struct pins, pins_wipe) pins = {.config = config};
    struct writ_check_tools asked = {.servers = config->upstreams_n};

    for (size_t i = 0; i < config->upstreams_n; i++) {
        const struct writ_upstream_config *upstream = &config->upstreams[i];
        WRIT_AUTO(struct writ_discovered *, found_freep) found = NULL;
        struct writ_discover_options options = {0};
        struct writ_err why = {{0}, 0, 0};
        writ_result r;

        if (is_pinned(&upstream->program) && !pins.read) {
            read_accepted(&pins, upstream->node, findings);
        }
        options.accepted = pins.accepted;
        r = writ_discover_tools(upstream, &options, &found, &why);
        if (!writ_is_ok(r)) {
            writ_yaml_find(findings, WRIT_SEVERITY_ERROR, upstream->node, "%s", why.text);
            continue;
        }
        asked.answered++;
        asked.tools += found->catalog->n;
        WRIT_TRY(compare(&pins, upstream, found, findings, err));
    }
    writ_findings_sort(findings);
    *ret = asked;
    return WRIT_DONE;
}
