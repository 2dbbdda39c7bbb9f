/* The one form of an explanation for programs: of `writ why --json`, and of the page. */
#include "base/text.h"
#include "policy/read/standing.h"
#include "policy/why/why.h"

#define TEXT_MAX ((size_t)1 << 20)

static void
put_place(const struct writ_why *why, struct writ_write *w, const struct writ_yaml *node)
{
    struct writ_buf pointer = writ_buf_in(why->arena, TEXT_MAX);

    writ_yaml_pointer(node, &pointer);
    writ_write_text(w, "file", writ_standing_file(why->asked.config, node));
    writ_write_count(w, "line", node->key_line);
    writ_write_text(w, "pointer", writ_buf_view(&pointer));
}

/* Open: the caller adds members and ends the object. */
static void
begin_rule(const struct writ_why *why, struct writ_write *w, const struct writ_tool_rule *rule)
{
    writ_write_object_begin(w);
    writ_write_text(w, "ref", rule->ref);
    put_place(why, w, rule->node);
}

static void
put_rule(const struct writ_why *why, struct writ_write *w)
{
    writ_write_name(w, WRIT_LIT("rule"));
    if (why->rule == NULL) {
        writ_write_null(w);
        return;
    }
    begin_rule(why, w, why->rule);
    writ_write_object_end(w);
}

static void
put_nearest(const struct writ_why *why, struct writ_write *w)
{
    const struct writ_constraint_failure none = {.at = NULL};
    const struct writ_constraint_failure *failure =
        why->nearest.failure != NULL ? why->nearest.failure : &none;
    struct writ_buf text = writ_buf_in(why->arena, TEXT_MAX);

    writ_write_name(w, WRIT_LIT("nearest"));
    if (why->nearest.rule == NULL) {
        writ_write_null(w);
        return;
    }
    begin_rule(why, w, why->nearest.rule);
    writ_why_difference(why, why->nearest.rule, &text);
    writ_write_text(w, "is_for", writ_buf_view(&text));
    writ_write_text_or_null(w, "argument", failure->argument);
    writ_write_text_or_null(w, "constraint", failure->constraint);
    writ_write_text_or_null(w, "accepted", failure->accepted);
    writ_write_object_end(w);
}

static void
put_constraint(const struct writ_why *why, struct writ_write *w)
{
    struct writ_buf bound = writ_buf_in(why->arena, TEXT_MAX);

    writ_write_name(w, WRIT_LIT("constraint"));
    if (why->constraint == NULL) {
        writ_write_null(w);
        return;
    }
    writ_standing_bound(why->constraint, &bound);
    writ_write_object_begin(w);
    writ_write_text(w, "name", why->constraint_name);
    put_place(why, w, why->constraint->node);
    writ_write_text(w, "bound", writ_buf_view(&bound));
    writ_write_object_end(w);
}

static void
put_flow_rule(const struct writ_why *why, struct writ_write *w)
{
    struct writ_buf condition = writ_buf_in(why->arena, TEXT_MAX);
    const struct writ_flow_rule *rule = why->flow.rule;

    writ_write_name(w, WRIT_LIT("rule"));
    if (rule == NULL) {
        writ_write_null(w);
        return;
    }
    writ_why_flow_condition(rule, &condition);
    writ_write_object_begin(w);
    writ_write_text(w, "ref", rule->ref);
    put_place(why, w, rule->node);
    writ_write_text(w, "condition", writ_buf_view(&condition));
    writ_write_object_end(w);
}

static void
put_flow(const struct writ_why *why, struct writ_write *w)
{
    writ_write_name(w, WRIT_LIT("flow"));
    if (!why->flow.known && why->flow.rule == NULL) {
        writ_write_null(w);
        return;
    }
    writ_write_object_begin(w);
    put_flow_rule(why, w);
    writ_write_name(w, WRIT_LIT("values"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < why->flow.values_n; i++) {
        writ_why_flow_put_value(&why->flow.values[i], w);
    }
    writ_write_array_end(w);
    writ_why_flow_put_labels(&why->flow, w);
    writ_write_text(w, "advice", why->advice);
    writ_write_object_end(w);
}

/* What is recorded, and the policy of now. */
static void
put_recorded(const struct writ_why *why, struct writ_write *w)
{
    const struct writ_decision *d = why->asked.decision;

    writ_write_text(w, "decision_id", writ_member_view(&d->decision_id));
    writ_write_text(w, "decision", writ_member_view(&d->decision));
    writ_write_text(w, "reason", writ_reason_name(why->reason));
    writ_write_text(w, "sentence", writ_reason_sentence(why->reason));
    writ_write_flag(w, "in_policy", writ_why_in_policy(why));
    writ_write_text(w, "agent_id", why->agent.id);
    writ_write_text_or_null(w, "agent_role", why->agent.role);
    writ_write_text_or_null(w, "tenant", why->agent.tenant);
    writ_write_text_or_null(w, "upstream", writ_member_view(&why->asked.extension->upstream));
    writ_write_text(w, "tool", writ_member_view(&d->tool));
    writ_write_text_or_null(w, "policy_digest", writ_member_view(&d->policy_digest));
    writ_write_text(w, "config_policy_digest", writ_view_str(why->policy_digest));
    writ_write_flag(w, "same_policy", why->same_policy);
}

void
writ_why_json(const struct writ_why *why, struct writ_write *w)
{
    static const struct writ_view sources[] = {
#define SOURCE_WORD(NAME, word, note) [WRIT_WHY_##NAME] = WRIT_LIT(word),
        WRIT_WHY_SOURCES(SOURCE_WORD)
#undef SOURCE_WORD
    };

    writ_write_object_begin(w);
    put_recorded(why, w);
    writ_write_text(w, "arguments", sources[why->source]);
    writ_write_text_or_null(w, "reason_now",
        why->arguments != NULL ? writ_reason_name(why->now.reason) : writ_view(NULL, 0));
    put_rule(why, w);
    writ_write_text_or_null(w, "argument", why->argument);
    put_constraint(why, w);
    writ_write_text_or_null(w, "accepted", why->accepted);
    writ_write_text_or_null(w, "hint", why->hint);
    put_nearest(why, w);
    put_flow(why, w);
    writ_write_text_or_null(w, "edit", why->edit);
    writ_write_text(w, "note", writ_why_note_text(why));
    writ_write_object_end(w);
}
