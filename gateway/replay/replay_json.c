/* replay_json.c - an example is the id of a decision; its arguments are written only when they were
 * asked for. */
#include "gateway/replay/replay_json.h"

#include "policy/read/standing.h"

/* The budget of that name in a rule; else the rule. */
static const struct writ_yaml *
node_of_budget(const struct writ_tool_rule *rule, struct writ_view name)
{
    for (size_t i = 0; i < rule->budgets_n; i++) {
        if (writ_view_equal(rule->budgets[i].name, name)) {
            return rule->budgets[i].node;
        }
    }
    return rule->node;
}

const struct writ_yaml *
writ_replay_json_place(const struct writ_rejudge_group *group)
{
    const struct writ_constraint *constraint;

    if (group->rule == NULL || group->change == WRIT_REJUDGE_ALLOWED) {
        return group->rule != NULL ? group->rule->node : NULL;
    }
    if (group->reason == WRIT_REASON_BUDGET_EXCEEDED) {
        return node_of_budget(group->rule, group->constraint);
    }
    constraint = writ_standing_named(group->rule->arguments, group->constraint);
    return constraint != NULL ? constraint->node : group->rule->node;
}

void
writ_replay_json_counts(const struct writ_replay_run *run, struct writ_write *w)
{
    writ_write_count(w, "calls", run->decisions - run->continued);
    writ_write_count(w, "continuing_decisions", run->continued);
    writ_write_count(w, "decided", run->decided);
    writ_write_count(w, "in_part", run->in_part);
    writ_write_count(w, "not_kept", run->gaps[WRIT_REPLAY_RUN_NOT_KEPT]);
    writ_write_count(w, "erased", run->gaps[WRIT_REPLAY_RUN_ERASED]);
    writ_write_count(w, "locked", run->gaps[WRIT_REPLAY_RUN_LOCKED]);
    writ_write_count(w, "not_compared", run->apart);
    writ_write_count(w, "uncertain", run->groups->unknown);
    writ_write_count(w, "shadowed", run->shadowed);
    writ_write_count(w, "unchanged", run->groups->changes[WRIT_REJUDGE_SAME]);
#define CHANGE(NAME, name, title)                                                                  \
    writ_write_count(w, #name, run->groups->changes[WRIT_REJUDGE_##NAME]);
    WRIT_REJUDGE_CHANGES(CHANGE)
#undef CHANGE
}

static struct writ_view
reason_or_null(enum writ_reason reason)
{
    return reason != WRIT_REASON_NONE ? writ_reason_name(reason) : writ_view(NULL, 0);
}

static struct writ_view
text_or_null(struct writ_view text)
{
    return text.len > 0 ? text : writ_view(NULL, 0);
}

static void
write_example(const struct writ_rejudge_group *group, bool shows_values, struct writ_write *w)
{
    char issued[WRIT_TIME_TEXT];

    writ_time_format(group->issued_us, issued);
    writ_write_name(w, WRIT_LIT("example"));
    writ_write_object_begin(w);
    writ_write_text(w, "decision_id", writ_buf_view(&group->example));
    writ_write_text(w, "issued_at", writ_view_str(issued));
    writ_write_count(w, "bytes", group->bytes);
    if (shows_values) {
        writ_write_name(w, WRIT_LIT("arguments"));
        if (group->arguments.len > 0) {
            writ_write_raw(w, writ_buf_view(&group->arguments));
        } else {
            writ_write_null(w);
        }
    }
    writ_write_object_end(w);
}

static void
write_group(const struct writ_replay_run *run, const struct writ_rejudge_group *group,
    bool shows_values, struct writ_write *w)
{
    const struct writ_yaml *node = writ_replay_json_place(group);

    writ_write_object_begin(w);
    writ_write_text(w, "change", writ_rejudge_change_name(group->change));
    writ_write_count(w, "calls", group->calls);
    writ_write_text(w, "was", writ_past_effect_word(group->was));
    writ_write_text_or_null(w, "was_reason", reason_or_null(group->was_reason));
    writ_write_text_or_null(w, "reason", reason_or_null(group->reason));
    writ_write_text(w, "upstream", group->upstream);
    writ_write_text(w, "tool", group->tool);
    writ_write_text(w, "agent_id", group->agent);
    writ_write_text_or_null(w, "tenant", text_or_null(group->tenant));
    writ_write_text_or_null(w, "argument", text_or_null(group->argument));
    writ_write_text_or_null(w, "constraint", text_or_null(group->constraint));
    writ_write_text_or_null(w, "rule", group->rule != NULL ? group->rule->ref : writ_view(NULL, 0));
    writ_write_text_or_null(w, "file",
        node != NULL ? writ_standing_file(run->now.rejudge.config, node) : writ_view(NULL, 0));
    writ_write_count(w, "line", node != NULL ? node->line : 0);
    write_example(group, shows_values, w);
    writ_write_object_end(w);
}

void
writ_replay_json_changes(const struct writ_replay_run *run, bool shows_values, struct writ_write *w)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_write_name(w, WRIT_LIT("recorded_policies"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < run->policies_n; i++) {
        writ_digest_text(&run->policies[i], digest);
        writ_write_string(w, writ_view_str(digest));
    }
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("groups"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < run->groups->n; i++) {
        write_group(run, run->groups->list[i], shows_values, w);
    }
    writ_write_array_end(w);
    writ_write_count(w, "ungrouped", run->groups->others);
}
