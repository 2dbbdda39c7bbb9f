/* guard_probes.c - takes the probe of each tool from the rules, and refuses to open when two rules
 * of a tool have different probes. */
#include "gateway/guard/guard_probes.h"

#include "policy/model/rule.h"
#include "policy/read/load.h"

struct writ_guard_probes {
    struct writ_config *config;
    struct writ_view upstream;
};

/* ---- reading */

static bool
is_same(const struct writ_state_probe *a, const struct writ_state_probe *b)
{
    return a == b || (a != NULL && b != NULL && writ_digest_equal(&a->digest, &b->digest));
}

static WRIT_RESULT
check_entry(const struct writ_tool_entry *entry, bool *found, struct writ_err *err)
{
    const struct writ_state_probe *probe = entry->rules[0].state;

    for (size_t i = 1; i < entry->rules_n; i++) {
        if (!is_same(entry->rules[i].state, probe)) {
            WRIT_FAIL(err, WRIT_E_INVALID,
                "rules of " WRIT_VIEW_FMT " differ in their state, and a guard cannot tell which "
                "of them decided about a call: give it a file with one",
                WRIT_VIEW_ARG(entry->key));
        }
    }
    if (probe != NULL && probe->kind == WRIT_PROBE_TOOL &&
        !writ_view_equal(probe->upstream, entry->upstream)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the state of " WRIT_VIEW_FMT " is asked of " WRIT_VIEW_FMT
            ", and a guard asks its own tool server alone",
            WRIT_VIEW_ARG(entry->key), WRIT_VIEW_ARG(probe->upstream));
    }
    *found = *found || probe != NULL;
    return WRIT_DONE;
}

static WRIT_RESULT
check(const struct writ_guard_probes *probes, const char *file, struct writ_err *err)
{
    const struct writ_policy *policy = probes->config->policy;
    bool found = false;

    for (size_t i = 0; i < policy->n; i++) {
        if (writ_view_equal(policy->entries[i].upstream, probes->upstream)) {
            WRIT_TRY(check_entry(&policy->entries[i], &found, err));
        }
    }
    if (!found) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: no tool of \"" WRIT_VIEW_FMT "\" has a state", file,
            WRIT_VIEW_ARG(probes->upstream));
    }
    return WRIT_DONE;
}

static void
probes_freep(struct writ_guard_probes **probes)
{
    writ_guard_probes_close(*probes);
}

WRIT_RESULT
writ_guard_probes_open(const char *file, struct writ_view upstream, struct writ_guard_probes **ret,
    struct writ_err *err)
{
    WRIT_AUTO(struct writ_guard_probes *, probes_freep) probes = writ_alloc(sizeof *probes);

    if (probes == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for probes");
    }
    probes->upstream = upstream;
    WRIT_TRY(writ_load_file(file, NULL, &probes->config, err));
    WRIT_TRY(check(probes, file, err));
    *ret = WRIT_TAKE(probes);
    return WRIT_DONE;
}

void
writ_guard_probes_close(struct writ_guard_probes *probes)
{
    if (probes != NULL) {
        writ_config_drop(probes->config);
        writ_free(probes);
    }
}

/* ---- looking */

const struct writ_tool_rule *
writ_guard_probes_find(const struct writ_guard_probes *probes, struct writ_view tool)
{
    const struct writ_tool_entry *entry =
        writ_rule_entry(probes->config->policy, probes->upstream, tool);

    return entry != NULL && entry->rules[0].state != NULL ? &entry->rules[0] : NULL;
}

bool
writ_guard_probes_asks(const struct writ_guard_probes *probes, struct writ_view tool)
{
    const struct writ_policy *policy = probes->config->policy;

    for (size_t i = 0; i < policy->n; i++) {
        const struct writ_state_probe *probe = policy->entries[i].rules[0].state;

        if (writ_view_equal(policy->entries[i].upstream, probes->upstream) && probe != NULL &&
            probe->kind == WRIT_PROBE_TOOL && writ_view_equal(probe->tool, tool)) {
            return true;
        }
    }
    return false;
}
