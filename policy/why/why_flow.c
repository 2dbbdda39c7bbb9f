/* why_flow.c - see why_flow.h. The record says where a value was found; the words about it are made
 * here.
 */
#include "policy/why/why_flow.h"

#include "base/text.h"

#define NAME_BYTES 300

bool
writ_why_flow_is_reason(enum writ_reason reason)
{
    return reason == WRIT_REASON_SOURCE_NOT_PERMITTED || reason == WRIT_REASON_FLOW_NOT_PERMITTED ||
           reason == WRIT_REASON_TASK_NOT_GRANTED || reason == WRIT_REASON_RUN_STATE_UNKNOWN;
}

static const struct writ_flow_rule *
rule_of(const struct writ_config *config, struct writ_view ref)
{
    for (size_t i = 0; ref.len > 0 && i < config->flows_n; i++) {
        if (writ_view_equal(config->flows[i].ref, ref)) {
            return &config->flows[i];
        }
    }
    return NULL;
}

/* `at_most` is a budget of the run, with the name of the rule. The record does not say which of
 * several budgets was used up. */
static struct writ_view
ref_of(
    const struct writ_extension *extension, const struct writ_json *flow, enum writ_reason reason)
{
    if (reason == WRIT_REASON_BUDGET_EXCEEDED) {
        return extension->budgets.is == WRIT_PRESENT && extension->budgets.count == 1
                   ? extension->budgets.items[0]
                   : writ_view(NULL, 0);
    }
    return writ_json_string(writ_json_get(flow, WRIT_LIT("rule")));
}

static enum writ_why_text_state
text_state(const struct writ_why_value *value)
{
    return writ_view_is(value->source, "task") ? WRIT_WHY_TEXT_OF_TASK
           : value->decision_id.len == 0       ? WRIT_WHY_TEXT_NOWHERE
                                               : WRIT_WHY_TEXT_UNASKED;
}

static WRIT_RESULT
read_value(const struct writ_json *value, const struct writ_json *found, struct writ_arena *arena,
    struct writ_why_value *ret, struct writ_err *err)
{
    struct writ_view marks = writ_json_string(writ_json_get(value, WRIT_LIT("marks")));
    struct writ_buf bytes = writ_buf_in(arena, marks.len);

    *ret = (struct writ_why_value){
        .argument = writ_json_string(writ_json_get(value, WRIT_LIT("argument"))),
        .source = writ_json_string(writ_json_get(found, WRIT_LIT("source"))),
        .at = writ_json_string(writ_json_get(found, WRIT_LIT("at"))),
        .decision_id = writ_json_string(writ_json_get(found, WRIT_LIT("decision_id")))};
    if (!writ_is_ok(writ_base64url_read(marks, &bytes))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the marks of a value in a decision are not base64url");
    }
    ret->marks = writ_buf_view(&bytes);
    ret->text.state = text_state(ret);
    return WRIT_DONE;
}

static WRIT_RESULT
read_values(const struct writ_json *arguments, struct writ_arena *arena, struct writ_why_flow *ret,
    struct writ_err *err)
{
    ret->values = writ_arena_get(arena, (arguments->count + 1) * sizeof *ret->values);
    if (ret->values == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the values of a call");
    }
    WRIT_JSON_EACH(value, arguments)
    {
        const struct writ_json *found = writ_json_get(value, WRIT_LIT("found"));

        if (found == NULL) {
            continue; /* only compared with other calls */
        }
        WRIT_TRY(read_value(value, found, arena, &ret->values[ret->values_n], err));
        ret->values_n++;
    }
    return WRIT_DONE;
}

/* A rule that applied saw each label of its `after`; a run whose labels are not known has each, and
 * its record lists some. */
static WRIT_RESULT
read_labels(const struct writ_json *run, const struct writ_flow_rule *rule,
    struct writ_arena *arena, struct writ_why_flow *ret, struct writ_err *err)
{
    size_t most = (rule != NULL ? rule->after.n : run->count) + 1;

    ret->labels = writ_arena_zeroed(arena, most * sizeof *ret->labels);
    if (ret->labels == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the labels of a run");
    }
    for (size_t i = 0; rule != NULL && i < rule->after.n; i++) {
        ret->labels[ret->labels_n++].label = rule->after.items[i];
    }
    WRIT_JSON_EACH(label, rule == NULL ? run : NULL)
    {
        ret->labels[ret->labels_n++].label = writ_json_string(label);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_why_flow_values(const struct writ_config *config, const struct writ_json *flow,
    struct writ_arena *arena, struct writ_why_flow *ret, struct writ_err *err)
{
    const struct writ_json *arguments =
        writ_json_get_typed(flow, WRIT_LIT("arguments"), WRIT_JSON_ARRAY);
    const struct writ_json *labels = writ_json_get_typed(flow, WRIT_LIT("run"), WRIT_JSON_ARRAY);
    struct writ_view rule = writ_json_string(writ_json_get(flow, WRIT_LIT("rule")));

    ret->key = writ_json_string(writ_json_get(flow, WRIT_LIT("key")));
    if (arguments != NULL) {
        WRIT_TRY(read_values(arguments, arena, ret, err));
    }
    if (labels != NULL && rule.len > 0) {
        WRIT_TRY(
            read_labels(labels, config != NULL ? rule_of(config, rule) : NULL, arena, ret, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_why_flow_read(const struct writ_config *config, const struct writ_extension *extension,
    enum writ_reason reason, struct writ_arena *arena, struct writ_why_flow *ret,
    struct writ_err *err)
{
    const struct writ_json *flow = NULL;

    *ret = (struct writ_why_flow){.known = writ_why_flow_is_reason(reason)};
    if (extension->flow.is == WRIT_PRESENT) {
        flow = extension->flow.value;
        ret->known = true;
        WRIT_TRY(writ_why_flow_values(config, flow, arena, ret, err));
    }
    ret->rule_ref = ref_of(extension, flow, reason);
    ret->rule = rule_of(config, ret->rule_ref);
    if (ret->rule == NULL && reason == WRIT_REASON_BUDGET_EXCEEDED) {
        ret->rule_ref = writ_view(NULL, 0); /* a budget of a tool's rule */
    }
    return WRIT_DONE;
}

void
writ_why_flow_put_value(const struct writ_why_value *value, struct writ_write *w)
{
    writ_write_object_begin(w);
    writ_write_text(w, "argument", value->argument);
    writ_write_text(w, "source", value->source);
    writ_write_text_or_null(w, "at", value->at);
    writ_write_text_or_null(w, "decision_id", value->decision_id);
    writ_write_text_or_null(w, "tool", value->tool);
    writ_why_text_put(&value->text, w);
    writ_write_object_end(w);
}

void
writ_why_flow_put_labels(const struct writ_why_flow *flow, struct writ_write *w)
{
    writ_write_name(w, WRIT_LIT("labels"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < flow->labels_n; i++) {
        writ_why_label_put(&flow->labels[i], w);
    }
    writ_write_array_end(w);
}

/* ---- in words */

void
writ_why_flow_value_text(const struct writ_why_value *value, struct writ_buf *ret)
{
    writ_buf_put(ret, value->argument);
    writ_buf_str(ret, ": ");
    if (writ_view_is(value->source, "unknown")) {
        writ_buf_str(ret, "not seen in this run");
    } else {
        writ_buf_put(ret, value->source);
    }
    writ_buf_str(ret, value->at.len > 0 ? ", at " : "");
    writ_buf_put(ret, value->at);
    writ_buf_str(ret, value->tool.len > 0 ? " of " : "");
    writ_buf_put(ret, value->tool);
    writ_buf_str(ret, value->decision_id.len > 0 ? ", decision " : "");
    writ_buf_put(ret, value->decision_id);
}

static void
put_names(struct writ_buf *ret, const char *what, const struct writ_views *names)
{
    for (size_t i = 0; i < names->n; i++) {
        writ_buf_str(ret, i == 0 ? what : ", ");
        writ_text_safe(ret, names->items[i], NAME_BYTES);
    }
}

void
writ_why_flow_condition(const struct writ_flow_rule *rule, struct writ_buf *ret)
{
    put_names(ret, "after ", &rule->after);
    put_names(ret, "after_calls ", &rule->after_calls);
    if (rule->requires != NULL) {
        writ_buf_str(ret, "requires ");
        writ_text_safe(ret, rule->requires->call, NAME_BYTES);
    }
    if (rule->at_most > 0) {
        writ_buf_fmt(ret, "at_most %lld", (long long)rule->at_most);
    }
}

/* The value that was refused; else the first of no source that a policy can permit, which was held.
 */
static const struct writ_why_value *
value_of(const struct writ_why_flow *flow, enum writ_reason reason, struct writ_view argument)
{
    for (size_t i = 0; i < flow->values_n; i++) {
        const struct writ_why_value *value = &flow->values[i];
        bool outside =
            writ_view_is(value->source, "untrusted") || writ_view_is(value->source, "unknown");

        if (reason == WRIT_REASON_SOURCE_NOT_PERMITTED ? writ_view_equal(value->argument, argument)
                                                       : outside) {
            return value;
        }
    }
    return NULL;
}

static void
advise_value(const struct writ_why_value *value, struct writ_buf *ret)
{
    if (writ_view_is(value->source, "unknown")) {
        writ_buf_str(ret, "The run had not seen the value: let the task name it, list it in "
                          "`operator` of the constraint, or let a trusted result show it first. ");
    } else if (!writ_view_is(value->source, "untrusted")) {
        writ_buf_fmt(ret,
            "The constraint does not permit the source " WRIT_VIEW_FMT
            ": add it to its `value` if such values may be used. ",
            WRIT_VIEW_ARG(value->source));
    } else {
        writ_buf_str(ret, "If no one else can write that field, add ");
        writ_text_safe(ret, value->at, NAME_BYTES);
        writ_buf_str(ret, " to `labels.trusted_at` of ");
        if (value->tool.len > 0) {
            writ_text_safe(ret, value->tool, NAME_BYTES);
        } else {
            writ_buf_str(ret, "the tool that returned it");
        }
        writ_buf_str(ret, "; else give the constraint an `approval`. ");
    }
}

static void
advise_rule(const struct writ_flow_rule *rule, struct writ_buf *ret)
{
    if (rule->requires != NULL) {
        writ_buf_str(ret, "Make the call that the rule requires first: ");
        writ_text_safe(ret, rule->requires->call, NAME_BYTES);
        writ_buf_str(ret, rule->requires->same.n > 0 ? ", with the same arguments. " : ". ");
    } else if (rule->at_most > 0) {
        writ_buf_str(ret, "The run has made its calls of these tools: begin another run, or raise "
                          "`at_most`. ");
    } else {
        writ_buf_str(ret, "Begin another run for this call, or give the rule an `approval`. ");
    }
}

void
writ_why_flow_advice(const struct writ_why_flow *flow, enum writ_reason reason,
    struct writ_view argument, struct writ_view tool, struct writ_buf *ret)
{
    const struct writ_why_value *value = value_of(flow, reason, argument);
    const size_t before = ret->len;

    if (reason == WRIT_REASON_TASK_NOT_GRANTED) {
        writ_buf_str(ret, "Add ");
        writ_text_safe(ret, tool, NAME_BYTES);
        writ_buf_str(ret, " to the tools of the task, or to `tasks.always` if it only reads. ");
    } else if (reason == WRIT_REASON_RUN_STATE_UNKNOWN) {
        writ_buf_str(ret, "Repeat the call. If that does not help, a limit of docs/flows.md is "
                          "reached: open a new run. ");
    } else if (reason != WRIT_REASON_POLICY_OK && value != NULL) {
        advise_value(value, ret);
    }
    if (flow->rule != NULL && reason != WRIT_REASON_POLICY_OK) {
        advise_rule(flow->rule, ret);
    }
    if (ret->len > before) {
        writ_buf_str(ret, "No edit was made: only a person can decide this.");
    }
}
