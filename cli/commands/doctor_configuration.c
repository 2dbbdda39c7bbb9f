/* What the file itself says: the findings of writ check, placeholders, rules that only watch, and
 * included files that are not agreed. */
#include "base/text.h"
#include "cli/commands/doctor.h"
#include "policy/model/rule.h"
#include "policy/read/load.h"

#define FINDINGS_KEPT 4096
#define NAME_SHOWN    80

/* What other rows say better: the admin listener without TLS, and shadow mode. */
static bool
is_in_other_row(const struct writ_finding *finding)
{
    return finding->severity == WRIT_SEVERITY_WARNING &&
           (writ_view_is(finding->pointer, "/admin_listen") ||
               writ_view_is(finding->pointer, "/defaults/shadow"));
}

static enum writ_doctor_check
check_of(const struct writ_finding *finding)
{
    if (writ_view_has_prefix(finding->message, WRIT_LIT("is still the placeholder"))) {
        return WRIT_DOCTOR_PLACEHOLDER;
    }
    return finding->severity == WRIT_SEVERITY_ERROR ? WRIT_DOCTOR_CONFIGURATION_ERROR
                                                    : WRIT_DOCTOR_CONFIGURATION_WARNING;
}

static void
take(struct writ_doctor *d, const struct writ_findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct writ_finding *one = &findings->items[i];

        if (one->severity != WRIT_SEVERITY_NOTE && !is_in_other_row(one)) {
            writ_doctor_add(d, check_of(one),
                (struct writ_doctor_place){.path = one->file.len > 0
                                                       ? writ_view_copy(one->file, d->arena)
                                                       : writ_view_str(d->file),
                    .line = one->line,
                    .pointer = writ_view_copy(one->pointer, d->arena)},
                WRIT_VIEW_FMT, WRIT_VIEW_ARG(one->message));
        }
    }
}

/* For the lines of options. Its faults were found by the reader before. */
static void
read_lines(struct writ_doctor *d)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {0};
    struct writ_buf text = writ_buf_in(d->arena, WRIT_CONFIG_BYTES_MAX);

    if (writ_is_ok(writ_text_file(d->file, WRIT_CONFIG_BYTES_MAX, &text, NULL)) &&
        !writ_is_ok(writ_yaml_read(writ_buf_view(&text), d->arena, &findings, &d->root))) {
        d->root = NULL;
    }
}

static void
find_shadow(struct writ_doctor *d)
{
    const struct writ_policy *policy = d->config->policy;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            const struct writ_tool_rule *rule = &policy->entries[i].rules[r];

            if (rule->shadow) {
                writ_doctor_add(d, WRIT_DOCTOR_SHADOW, writ_doctor_node(d, rule->node),
                    "calls of " WRIT_VIEW_FMT " run whatever the verdict is",
                    WRIT_VIEW_ARG(writ_view_sub(policy->entries[i].key, 0, NAME_SHOWN)));
            }
        }
    }
}

WRIT_RESULT
writ_doctor_configuration(struct writ_doctor *d, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {.max = FINDINGS_KEPT};
    struct writ_err why = {0};
    writ_result result = writ_load_file(d->file, &findings, &d->config, &why);

    if (!writ_is_ok(result) && findings.errors == 0) {
        WRIT_FAIL(err, result.code, "%s", why.text); /* not even readable */
    }
    take(d, &findings);
    if (d->config == NULL) {
        return WRIT_DONE;
    }
    read_lines(d);
    for (size_t i = 0; i < d->config->not_agreed.n; i++) {
        writ_doctor_add(d, WRIT_DOCTOR_NOT_AGREED, writ_doctor_option(d, "/include"),
            "the rules for \"" WRIT_VIEW_FMT "\" are not agreed",
            WRIT_VIEW_ARG(writ_view_sub(d->config->not_agreed.items[i], 0, NAME_SHOWN)));
    }
    find_shadow(d);
    return WRIT_DONE;
}
