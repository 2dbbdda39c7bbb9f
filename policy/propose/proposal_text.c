/* Writes lists of constraints in flow style, one a line, so that each has room for its comment; an
 * `each` alone is a block. Plain scalars are letters, digits and a few signs, and never a word or a
 * number of any YAML. */
#include "policy/propose/proposal_text.h"

#include "policy/model/quote.h"

#define INDENT_RULE   4
#define CALLS_AN_HOUR 120

/* ---- scalars */

static bool
is_word_of_yaml(struct writ_view text)
{
    static const char *const words[] = {
        "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (writ_view_equal_nocase(text, writ_view_str(words[i]))) {
            return true;
        }
    }
    return false;
}

/* A letter, then letters, digits and - _ . / */
static bool
is_plain(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool other = (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '/';

        if (!letter && !(other && i > 0)) {
            return false;
        }
    }
    return text.len > 0 && text.len <= 200 && !is_word_of_yaml(text);
}

void
writ_proposal_text_scalar(struct writ_buf *ret, struct writ_view text)
{
    if (is_plain(text)) {
        writ_buf_put(ret, text);
        return;
    }
    writ_quote_text(ret, text, WRIT_QUOTE_YAML);
}

static void
put_json(struct writ_buf *ret, const struct writ_json *value)
{
    bool first = true;

    switch (writ_json_type(value)) {
    case WRIT_JSON_STRING:
        writ_proposal_text_scalar(ret, writ_json_string(value));
        return;
    case WRIT_JSON_NUMBER:
        writ_buf_put(ret, writ_json_text(value));
        return;
    case WRIT_JSON_TRUE:
    case WRIT_JSON_FALSE:
        writ_buf_str(ret, writ_json_type(value) == WRIT_JSON_TRUE ? "true" : "false");
        return;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
        writ_buf_str(ret, "null");
        return;
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        break;
    }
    writ_buf_byte(ret, writ_json_type(value) == WRIT_JSON_ARRAY ? '[' : '{');
    WRIT_JSON_EACH(child, value)
    {
        writ_buf_str(ret, first ? "" : ", ");
        first = false;
        put_json(ret, child);
        if (writ_json_type(value) == WRIT_JSON_OBJECT) {
            writ_buf_str(ret, ": ");
            put_json(ret, writ_json_value(child));
        }
    }
    writ_buf_byte(ret, writ_json_type(value) == WRIT_JSON_ARRAY ? ']' : '}');
}

/* ---- constraints */

static void
put_indent(struct writ_buf *ret, unsigned spaces)
{
    for (unsigned i = 0; i < spaces; i++) {
        writ_buf_byte(ret, ' ');
    }
}

static void
put_value(struct writ_buf *ret, const struct writ_proposal_constraint *c)
{
    enum writ_op_value kind = writ_op_row(c->op)->value;

    if (c->values != NULL) {
        writ_buf_byte(ret, '[');
        for (const struct writ_proposal_value *one = c->values; one != NULL; one = one->next) {
            writ_buf_str(ret, one == c->values ? "" : ", ");
            put_json(ret, one->json);
        }
        writ_buf_byte(ret, ']');
    } else if (kind == WRIT_OP_VALUE_JSONS) {
        writ_buf_byte(ret, '[');
        writ_proposal_text_scalar(ret, c->text);
        writ_buf_byte(ret, ']');
    } else if (kind == WRIT_OP_VALUE_NUMBER || kind == WRIT_OP_VALUE_LENGTH ||
               kind == WRIT_OP_VALUE_JSON) {
        writ_buf_put(ret, c->text);
    } else {
        writ_proposal_text_scalar(ret, c->text);
    }
}

static void
put_options(struct writ_buf *ret, const struct writ_proposal_constraint *c, const char *before,
    const char *between)
{
    if (c->optional) {
        writ_buf_str(ret, before);
        writ_buf_str(ret, "optional: true");
    }
    if (c->nullable) {
        writ_buf_str(ret, c->optional ? between : before);
        writ_buf_str(ret, "nullable: true");
    }
}

static void
put_line(struct writ_buf *ret, const struct writ_proposal_constraint *c)
{
    writ_buf_str(ret, "- {");
    if (c->arg.ptr != NULL) {
        writ_buf_str(ret, "arg: ");
        writ_proposal_text_scalar(ret, c->arg);
        writ_buf_str(ret, ", ");
    }
    writ_buf_str(ret, "op: ");
    writ_buf_str(ret, writ_op_row(c->op)->word);
    if (writ_op_row(c->op)->value != WRIT_OP_VALUE_NOTHING) {
        writ_buf_str(ret, ", value: ");
        put_value(ret, c);
    }
    put_options(ret, c, ", ", ", ");
    writ_buf_str(ret, "} # ");
    writ_buf_str(ret, c->why);
    writ_buf_byte(ret, '\n');
}

/* A block, because a list with comments stands in it. */
static void
put_each(struct writ_buf *ret, const struct writ_proposal_constraint *c, unsigned indent)
{
    writ_buf_str(ret, "- ");
    if (c->arg.ptr != NULL) {
        writ_buf_str(ret, "arg: ");
        writ_proposal_text_scalar(ret, c->arg);
        writ_buf_byte(ret, '\n');
        put_indent(ret, indent + 2);
    }
    writ_buf_str(ret, "op: each # ");
    writ_buf_str(ret, c->why);
    writ_buf_byte(ret, '\n');
    if (c->optional) {
        put_indent(ret, indent + 2);
        writ_buf_str(ret, "optional: true\n");
    }
    if (c->nullable) {
        put_indent(ret, indent + 2);
        writ_buf_str(ret, "nullable: true\n");
    }
    put_indent(ret, indent + 2);
    writ_buf_str(ret, "value:\n");
    writ_proposal_text_constraints(ret, c->each, indent + 4);
}

void
writ_proposal_text_constraints(
    struct writ_buf *ret, const struct writ_proposal_constraint *list, unsigned indent)
{
    for (const struct writ_proposal_constraint *c = list; c != NULL; c = c->next) {
        put_indent(ret, indent);
        if (c->each != NULL) {
            put_each(ret, c, indent);
        } else {
            put_line(ret, c);
        }
    }
}

/* ---- rules */

/* The name of the rule, or of its scope, in which `{` begins an argument. */
static void
put_name(
    struct writ_buf *ret, const struct writ_proposal *proposal, struct writ_view tool, bool scope)
{
    writ_auto_buf name = writ_buf_make(2048);

    writ_buf_put(&name, proposal->upstream);
    writ_buf_byte(&name, '/');
    for (size_t i = 0; i < tool.len; i++) {
        writ_buf_byte(&name, tool.ptr[i]);
        if (scope && (tool.ptr[i] == '{' || tool.ptr[i] == '}')) {
            writ_buf_byte(&name, tool.ptr[i]);
        }
    }
    if (!writ_is_ok(writ_buf_check(&name, NULL))) {
        ret->failed = name.failed;
        return;
    }
    writ_proposal_text_scalar(ret, writ_buf_view(&name));
}

static void
put_budgets(struct writ_buf *ret, const struct writ_proposal_rule *rule)
{
    if (!rule->reads) {
        writ_buf_fmt(ret, "      - {per: [agent], window: 1h, calls: %d} # a loop ends here\n",
            CALLS_AN_HOUR);
    }
    if (rule->sum.len > 0) {
        writ_buf_str(ret, "      - {per: [agent], window: 24h, sum: {arg: ");
        writ_proposal_text_scalar(ret, rule->sum);
        writ_buf_str(ret, ", max: " WRIT_PROPOSAL_TOTAL "}} # an amount: the most of a day\n");
    }
}

static void
put_end(struct writ_buf *ret, const struct writ_proposal_rule *rule, struct writ_view review)
{
    if (rule->review != NULL) {
        writ_buf_str(ret, "    approval: {review: ");
        writ_proposal_text_scalar(ret, review);
        writ_buf_fmt(ret, "} # %s\n", rule->review);
    }
    if (rule->reads && rule->review == NULL) {
        writ_buf_str(ret, "    duplicates: allow # its server says readOnlyHint: true; an agent "
                          "reads a thing twice\n");
    } else {
        writ_buf_str(
            ret, "    duplicates: forbid # a second identical call of a session is refused\n");
    }
    if (!rule->reads || rule->sum.len > 0) {
        writ_buf_str(ret, "    budgets:\n");
        put_budgets(ret, rule);
    }
}

static void
put_rule(struct writ_buf *ret, const struct writ_proposal *proposal,
    const struct writ_proposal_rule *rule, struct writ_view review)
{
    writ_buf_str(ret, "  ");
    put_name(ret, proposal, rule->tool, false);
    writ_buf_str(ret, ":\n");
    if (rule->closed) {
        writ_buf_str(ret,
            "    # An argument that the tool needs is refused: write its constraint by hand.\n");
    }
    if (rule->narrowed != NULL) {
        writ_buf_fmt(ret, "    # Of the schema as a whole: %s. Its server checks the rest.\n",
            rule->narrowed);
    }
    writ_buf_str(ret, "    scope: ");
    put_name(ret, proposal, rule->tool, true);
    writ_buf_byte(ret, '\n');
    if (rule->target.len > 0) {
        writ_buf_str(ret, "    target: ");
        writ_proposal_text_scalar(ret, rule->target);
        writ_buf_byte(ret, '\n');
    }
    if (rule->arguments != NULL) {
        writ_buf_str(ret, "    arguments:\n");
        writ_proposal_text_constraints(ret, rule->arguments, INDENT_RULE + 2);
    } else {
        writ_buf_str(ret, "    arguments: [] # none passes\n");
    }
    put_end(ret, rule, review);
}

static void
put_rules(struct writ_buf *ret, const struct writ_proposal *proposal, struct writ_view review)
{
    for (const struct writ_proposal_rule *rule = proposal->rules; rule != NULL; rule = rule->next) {
        if (rule->left_out != NULL) {
            writ_buf_fmt(
                ret, "  # A tool has no rule, so its calls are refused: %s.\n", rule->left_out);
        } else {
            put_rule(ret, proposal, rule, review);
        }
    }
}

static bool
has_rule(const struct writ_proposal *proposal)
{
    for (const struct writ_proposal_rule *rule = proposal->rules; rule != NULL; rule = rule->next) {
        if (rule->left_out == NULL) {
            return true;
        }
    }
    return false;
}

void
writ_proposal_text_tools(
    struct writ_buf *ret, const struct writ_proposal *proposals, size_t n, struct writ_view review)
{
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        any = any || has_rule(&proposals[i]);
    }
    writ_buf_str(ret, any ? "tools:\n" : "tools: {} # every call is refused\n");
    for (size_t i = 0; i < n; i++) {
        put_rules(ret, &proposals[i], review);
    }
}
