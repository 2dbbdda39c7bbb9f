/* Every change is a splice at the place of a node, found again in the text by its JSON Pointer
 * after each change before. What stands in braces or brackets stays so and gets JSON; what is a
 * block gets lines with comments. */
#include "policy/learn/apply.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "policy/model/quote.h"
#include "policy/model/trail.h"
#include "policy/propose/proposal_text.h"
#include "policy/read/place.h"

#define PIECE_MAX   ((size_t)16 << 20) /* one change */
#define POINTER_MAX 8192

struct apply {
    struct writ_view text;
    const struct writ_apply_change *change;
    struct writ_buf *ret;
};

static struct writ_view
slice(const struct apply *a, size_t start, size_t end)
{
    return writ_view_sub(a->text, start, end - start);
}

static writ_result
splice(struct apply *a, size_t start, size_t end, const struct writ_buf *with)
{
    WRIT_TRY(writ_buf_check(with, NULL));
    writ_buf_clear(a->ret);
    writ_buf_put(a->ret, slice(a, 0, start));
    writ_buf_put(a->ret, writ_buf_view(with));
    writ_buf_put(a->ret, slice(a, end, a->text.len));
    return writ_buf_check(a->ret, NULL);
}

/* Puts lines in place of a value in braces or brackets; its comment stays on the line of the key.
 */
static writ_result
splice_lines(struct apply *a, const struct writ_place *value, struct writ_buf *lines)
{
    writ_auto_buf whole = writ_buf_make(PIECE_MAX);
    size_t start = value->start, end = writ_place_line_end(a->text, value->end);

    while (start > 0 && a->text.ptr[start - 1] == ' ') {
        start--;
    }
    writ_buf_put(&whole, slice(a, value->end, end));
    writ_buf_put(&whole, writ_buf_view(lines));
    WRIT_TRY(writ_buf_check(lines, NULL));
    return splice(a, start, end, &whole);
}

static void
put_spaces(struct writ_buf *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        writ_buf_byte(ret, ' ');
    }
}

/* ---- whether a rule says it already */

static bool
is_bound(enum writ_op op, bool *ret_greatest)
{
    *ret_greatest = op == WRIT_OP_LE || op == WRIT_OP_MAX_LENGTH || op == WRIT_OP_MAX_ITEMS;
    return *ret_greatest || op == WRIT_OP_GE || op == WRIT_OP_MIN_LENGTH || op == WRIT_OP_MIN_ITEMS;
}

static bool
is_value(const struct writ_yaml *node, const struct writ_json *value)
{
    struct writ_view text = writ_json_type(value) == WRIT_JSON_TRUE    ? WRIT_LIT("true")
                            : writ_json_type(value) == WRIT_JSON_FALSE ? WRIT_LIT("false")
                                                                       : writ_json_text(value);

    return node->type == WRIT_YAML_SCALAR && writ_view_equal(node->text, text) &&
           (writ_json_type(value) == WRIT_JSON_STRING || node->plain);
}

static bool
has_values(const struct writ_yaml *list, const struct writ_proposal_value *values)
{
    const struct writ_yaml *element = list->first;

    for (; values != NULL && element != NULL; values = values->next, element = element->next) {
        if (!is_value(element, values->json)) {
            return false;
        }
    }
    return list->type == WRIT_YAML_LIST && values == NULL && element == NULL;
}

static bool
is_true(const struct writ_yaml *node, struct writ_view key)
{
    const struct writ_yaml *value = writ_yaml_get(node, key);

    return value != NULL && writ_view_is(value->text, "true");
}

static bool says_all(const struct writ_yaml *list, const struct writ_proposal_constraint *learned);

/* Whether one constraint of a file is at least as tight as a learned one. */
static bool
says(const struct writ_yaml *node, const struct writ_proposal_constraint *learned)
{
    const struct writ_yaml *arg = writ_yaml_get(node, WRIT_LIT("arg"));
    const struct writ_yaml *op = writ_yaml_get(node, WRIT_LIT("op"));
    const struct writ_yaml *value = writ_yaml_get(node, WRIT_LIT("value"));
    struct writ_decimal own, other;
    bool greatest;

    if (op == NULL || value == NULL || !writ_view_is(op->text, writ_op_row(learned->op)->word) ||
        (arg == NULL) != (learned->arg.ptr == NULL) ||
        (arg != NULL && !writ_view_equal(arg->text, learned->arg)) ||
        (is_true(node, WRIT_LIT("optional")) && !learned->optional) ||
        (is_true(node, WRIT_LIT("nullable")) && !learned->nullable)) {
        return false;
    }
    if (learned->each != NULL) {
        return says_all(value, learned->each);
    }
    if (learned->values != NULL) {
        return has_values(value, learned->values);
    }
    if (is_bound(learned->op, &greatest) && writ_is_ok(writ_decimal_read(value->text, &own)) &&
        writ_is_ok(writ_decimal_read(learned->text, &other))) {
        int order = writ_decimal_compare(&own, &other);
        return greatest ? order <= 0 : order >= 0;
    }
    return value->type == WRIT_YAML_SCALAR && writ_view_equal(value->text, learned->text);
}

static bool
says_all(const struct writ_yaml *list, const struct writ_proposal_constraint *learned)
{
    for (; learned != NULL; learned = learned->next) {
        bool found = false;

        WRIT_YAML_EACH(node, list)
        {
            found = found || says(node, learned);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static const struct writ_yaml *
own_arguments(const struct writ_apply_change *change)
{
    return change->rule != NULL ? writ_yaml_get(change->rule->node, WRIT_LIT("arguments")) : NULL;
}

static bool
is_dropped(const struct writ_apply_change *change, const struct writ_yaml *node)
{
    return change->drop != NULL && change->drop[node->index];
}

static bool
is_new(const struct writ_apply_change *change, const struct writ_proposal_constraint *learned)
{
    WRIT_YAML_EACH(node, own_arguments(change))
    {
        if (!is_dropped(change, node) && says(node, learned)) {
            return false;
        }
    }
    return true;
}

/* The learned constraints that are new, as a list of their own. */
static const struct writ_proposal_constraint *
news(const struct writ_apply_change *change, struct writ_arena *arena, size_t *ret_n)
{
    struct writ_ladder_list list = {.arena = arena};

    for (const struct writ_proposal_constraint *one = change->learned->constraints; one != NULL;
         one = one->next) {
        if (is_new(change, one)) {
            (void)writ_ladder_add(&list, one, one->op, one->text);
        }
    }
    *ret_n = list.nomem ? SIZE_MAX : list.n;
    return list.first;
}

size_t
writ_apply_news(const struct writ_apply_change *change)
{
    size_t n = 0;

    for (const struct writ_proposal_constraint *one = change->learned->constraints; one != NULL;
         one = one->next) {
        n += is_new(change, one) ? 1 : 0;
    }
    return n;
}

/* ---- where things stand */

static writ_result
put_pointer(const struct apply *a, struct writ_view key, struct writ_buf *ret)
{
    const struct writ_yaml *node = a->change->rule != NULL ? a->change->rule->node : NULL;

    writ_buf_str(ret, "/tools/");
    writ_trail_token(key, ret);
    if (node != NULL && node->parent != NULL && node->parent->type == WRIT_YAML_LIST) {
        writ_buf_byte(ret, '/');
        writ_buf_u64(ret, node->index);
    }
    return writ_buf_check(ret, NULL);
}

static writ_result
find(const struct apply *a, const struct writ_buf *pointer, const char *below, size_t index,
    struct writ_place *ret)
{
    writ_auto_buf whole = writ_buf_make(POINTER_MAX);

    writ_buf_put(&whole, writ_buf_view(pointer));
    writ_buf_str(&whole, below);
    if (index < SIZE_MAX) {
        writ_buf_byte(&whole, '/');
        writ_buf_u64(&whole, index);
    }
    WRIT_TRY(writ_buf_check(&whole, NULL));
    return writ_place_find(a->text, writ_buf_view(&whole), ret);
}

static writ_result
put_name(const struct apply *a, struct writ_buf *ret)
{
    writ_buf_put(ret, a->change->tool->upstream);
    writ_buf_byte(ret, '/');
    writ_buf_put(ret, a->change->tool->tool);
    return writ_buf_check(ret, NULL);
}

/* ---- constraints in brackets, as JSON */

/* What was made as JSON, in a configuration. */
static void
put_json(struct writ_buf *ret, const struct writ_buf *json)
{
    if (!writ_is_ok(writ_buf_check(json, NULL))) {
        ret->failed = json->failed;
        return;
    }
    writ_quote_json(ret, writ_view(json->ptr, json->len), WRIT_QUOTE_YAML);
}

static void
put_json_text(struct writ_buf *ret, struct writ_view text)
{
    writ_auto_buf json = writ_buf_make(PIECE_MAX);

    writ_text_json(&json, text);
    put_json(ret, &json);
}

static void put_json_list(struct writ_buf *ret, const struct writ_proposal_constraint *list);

static void
put_json_one(struct writ_buf *ret, const struct writ_json *value)
{
    writ_auto_buf json = writ_buf_make(PIECE_MAX);

    if (writ_json_type(value) == WRIT_JSON_NUMBER) {
        writ_buf_put(ret, writ_json_text(value));
    } else if (writ_is_ok(writ_jcs_put(&json, value, NULL))) {
        put_json(ret, &json);
    } else {
        ret->failed = WRIT_E_PARSE;
    }
}

static void
put_json_value(struct writ_buf *ret, const struct writ_proposal_constraint *one)
{
    enum writ_op_value kind = writ_op_row(one->op)->value;

    if (one->each != NULL) {
        writ_buf_byte(ret, '[');
        put_json_list(ret, one->each);
        writ_buf_byte(ret, ']');
    } else if (one->values != NULL) {
        writ_buf_byte(ret, '[');
        for (const struct writ_proposal_value *value = one->values; value != NULL;
             value = value->next) {
            writ_buf_str(ret, value == one->values ? "" : ", ");
            put_json_one(ret, value->json);
        }
        writ_buf_byte(ret, ']');
    } else if (kind == WRIT_OP_VALUE_NUMBER || kind == WRIT_OP_VALUE_LENGTH ||
               kind == WRIT_OP_VALUE_JSON) {
        writ_buf_put(ret, one->text);
    } else {
        put_json_text(ret, one->text);
    }
}

static void
put_json_list(struct writ_buf *ret, const struct writ_proposal_constraint *list)
{
    for (const struct writ_proposal_constraint *one = list; one != NULL; one = one->next) {
        writ_buf_str(ret, one == list ? "{" : ", {");
        if (one->arg.ptr != NULL) {
            writ_buf_str(ret, "\"arg\": ");
            put_json_text(ret, one->arg);
            writ_buf_str(ret, ", ");
        }
        writ_buf_fmt(ret, "\"op\": \"%s\", \"value\": ", writ_op_row(one->op)->word);
        put_json_value(ret, one);
        writ_buf_str(ret, one->optional ? ", \"optional\": true" : "");
        writ_buf_str(ret, one->nullable ? ", \"nullable\": true" : "");
        writ_buf_byte(ret, '}');
    }
}

/* ---- the arguments of a rule */

/* A rule in a block gets a list in a block: its own constraints as they are written, then the
 * others.
 */
static writ_result
replace_by_block(struct apply *a, const struct writ_buf *pointer, const struct writ_place *list,
    size_t column, const struct writ_proposal_constraint *learned)
{
    writ_auto_buf piece = writ_buf_make(PIECE_MAX);
    bool any = learned != NULL;

    for (size_t i = 0; i < list->count; i++) {
        struct writ_place item;

        if (a->change->drop != NULL && a->change->drop[i]) {
            continue;
        }
        WRIT_TRY(find(a, pointer, "/arguments", i, &item));
        writ_buf_byte(&piece, '\n');
        put_spaces(&piece, column + 2);
        writ_buf_str(&piece, "- ");
        writ_buf_put(&piece, slice(a, item.start, item.end));
        any = true;
    }
    if (!any) {
        writ_buf_str(&piece, "[]");
        return splice(a, list->start, list->end, &piece);
    }
    if (learned != NULL) {
        writ_buf_byte(&piece, '\n');
        writ_proposal_text_constraints(&piece, learned, (unsigned)column + 2);
        piece.len--; /* the line end is there */
    }
    return splice_lines(a, list, &piece);
}

static writ_result
take_out(struct apply *a, const struct writ_place *item)
{
    writ_auto_buf nothing = writ_buf_make(1);
    size_t start = item->start, end = writ_place_line_end(a->text, item->end);

    while (start > 0 && a->text.ptr[start - 1] != '\n') {
        start--;
        if (a->text.ptr[start] != ' ' && a->text.ptr[start] != '-') {
            return (writ_result){WRIT_E_ABSENT};
        }
    }
    return splice(a, start, end + (end < a->text.len ? 1 : 0), &nothing);
}

/* Lines behind the last one of a list; what is dropped leaves from the end on. */
static writ_result
extend_block(struct apply *a, const struct writ_buf *pointer, const struct writ_place *list,
    const struct writ_proposal_constraint *learned)
{
    writ_auto_buf piece = writ_buf_make(PIECE_MAX), before = writ_buf_make(PIECE_MAX);
    size_t left = list->count;

    for (size_t i = 0; i < list->count; i++) {
        left -= a->change->drop != NULL && a->change->drop[i] ? 1 : 0;
    }
    if (left == 0) {
        writ_buf_byte(&piece, '\n');
        writ_proposal_text_constraints(&piece, learned, (unsigned)list->column);
        if (learned == NULL) {
            return (writ_result){WRIT_E_ABSENT};
        }
        piece.len--;
        /* the list begins on the line behind its key */
        return splice(
            a, list->start - list->column - 1, writ_place_line_end(a->text, list->end), &piece);
    }
    if (learned != NULL) {
        size_t end = writ_place_line_end(a->text, list->end);

        writ_buf_byte(&piece, '\n');
        writ_proposal_text_constraints(&piece, learned, (unsigned)list->column);
        piece.len--;
        WRIT_TRY(splice(a, end, end, &piece));
    } else {
        writ_buf_put(a->ret, a->text);
    }
    for (size_t i = list->count; i-- > 0;) {
        struct writ_place item;

        if (a->change->drop == NULL || !a->change->drop[i]) {
            continue;
        }
        writ_buf_clear(&before);
        writ_buf_put(&before, writ_buf_view(a->ret));
        WRIT_TRY(writ_buf_check(&before, NULL));
        a->text = writ_buf_view(&before);
        WRIT_TRY(find(a, pointer, "/arguments", i, &item));
        WRIT_TRY(take_out(a, &item));
    }
    return WRIT_DONE;
}

/* In brackets: own items as they are, and JSON. */
static writ_result
replace_by_flow(struct apply *a, const struct writ_buf *pointer, const struct writ_place *list,
    const struct writ_proposal_constraint *learned)
{
    writ_auto_buf piece = writ_buf_make(PIECE_MAX);

    writ_buf_byte(&piece, '[');
    for (size_t i = 0; i < list->count; i++) {
        struct writ_place item;

        if (a->change->drop != NULL && a->change->drop[i]) {
            continue;
        }
        WRIT_TRY(find(a, pointer, "/arguments", i, &item));
        writ_buf_str(&piece, piece.len > 1 ? ", " : "");
        writ_buf_put(&piece, slice(a, item.start, item.end));
    }
    writ_buf_str(&piece, piece.len > 1 && learned != NULL ? ", " : "");
    put_json_list(&piece, learned);
    writ_buf_byte(&piece, ']');
    return splice(a, list->start, list->end, &piece);
}

/* `arguments` for a rule that has none. */
static writ_result
add_arguments(
    struct apply *a, const struct writ_place *rule, const struct writ_proposal_constraint *learned)
{
    writ_auto_buf piece = writ_buf_make(PIECE_MAX);
    size_t at = rule->block ? writ_place_line_end(a->text, rule->end) : rule->end - 1;

    if (rule->block) {
        writ_buf_byte(&piece, '\n');
        put_spaces(&piece, rule->column);
        writ_buf_str(&piece, learned != NULL ? "arguments:\n" : "arguments: []\n");
        writ_proposal_text_constraints(&piece, learned, (unsigned)rule->column + 2);
        piece.len--;
    } else {
        while (
            at > rule->start + 1 && writ_view_find(WRIT_LIT(" \t\r\n"), a->text.ptr[at - 1]) < 4) {
            at--;
        }
        writ_buf_str(&piece, rule->count > 0 ? ", \"arguments\": [" : "\"arguments\": [");
        put_json_list(&piece, learned);
        writ_buf_byte(&piece, ']');
    }
    return splice(a, at, at, &piece);
}

static writ_result
set_arguments(struct apply *a, struct writ_view key, const struct writ_proposal_constraint *learned)
{
    writ_auto_buf pointer = writ_buf_make(POINTER_MAX);
    struct writ_place rule, list;
    writ_result found;

    WRIT_TRY(put_pointer(a, key, &pointer));
    WRIT_TRY(find(a, &pointer, "", SIZE_MAX, &rule));
    if (rule.type != WRIT_YAML_MAP) {
        return (writ_result){WRIT_E_ABSENT};
    }
    found = find(a, &pointer, "/arguments", SIZE_MAX, &list);
    if (found.code == WRIT_E_ABSENT) {
        return add_arguments(a, &rule, learned);
    }
    WRIT_TRY(found);
    if (list.type != WRIT_YAML_LIST) {
        return (writ_result){WRIT_E_ABSENT};
    }
    return list.block   ? extend_block(a, &pointer, &list, learned)
           : rule.block ? replace_by_block(a, &pointer, &list, rule.column, learned)
                        : replace_by_flow(a, &pointer, &list, learned);
}

/* ---- a rule of its own for a tool that a pattern is for */

/* A map in braces becomes a block, so that constraints get their comments. */
static writ_result
put_as_block(const struct apply *a, const struct writ_yaml *map, const struct writ_buf *pointer,
    size_t column, struct writ_buf *ret)
{
    WRIT_YAML_EACH(member, map)
    {
        writ_auto_buf below = writ_buf_make(POINTER_MAX);
        struct writ_place value;

        writ_buf_byte(&below, '/');
        writ_trail_token(member->key, &below);
        writ_buf_byte(&below, '\0');
        WRIT_TRY(writ_buf_check(&below, NULL));
        WRIT_TRY(find(a, pointer, below.ptr, SIZE_MAX, &value));
        writ_buf_byte(ret, '\n');
        put_spaces(ret, column);
        writ_proposal_text_scalar(ret, member->key);
        writ_buf_str(ret, ": ");
        writ_buf_put(ret, slice(a, value.start, value.end));
    }
    return WRIT_DONE;
}

static writ_result
copy_pattern(struct apply *a, struct writ_view name)
{
    const struct writ_tool_entry *entry = a->change->entry;
    const struct writ_yaml *map = entry->rules_n == 1 ? entry->rules[0].node : NULL;
    writ_auto_buf piece = writ_buf_make(PIECE_MAX), pointer = writ_buf_make(POINTER_MAX);
    struct writ_place tools, value;
    size_t end;

    writ_buf_str(&pointer, "/tools");
    WRIT_TRY(find(a, &pointer, "", SIZE_MAX, &tools));
    writ_buf_byte(&pointer, '/');
    writ_trail_token(entry->key, &pointer);
    WRIT_TRY(find(a, &pointer, "", SIZE_MAX, &value));
    end = value.end;
    if (!tools.block) {
        writ_buf_str(&piece, ", ");
        put_json_text(&piece, name);
        writ_buf_str(&piece, ": ");
        writ_buf_put(&piece, slice(a, value.start, value.end));
        return splice(a, end, end, &piece);
    }
    end = writ_place_line_end(a->text, end);
    writ_buf_byte(&piece, '\n');
    put_spaces(&piece, tools.column);
    writ_proposal_text_scalar(&piece, name);
    writ_buf_byte(&piece, ':');
    if (value.block) {
        writ_buf_byte(&piece, '\n');
        put_spaces(&piece, value.column);
        writ_buf_put(&piece, slice(a, value.start, end));
    } else if (map != NULL && map->parent != NULL && map->parent->type == WRIT_YAML_MAP) {
        WRIT_TRY(put_as_block(a, map, &pointer, tools.column + 2, &piece));
    } else {
        writ_buf_byte(&piece, ' ');
        writ_buf_put(&piece, slice(a, value.start, value.end));
    }
    return splice(a, end, end, &piece);
}

/* ---- a new rule */

static void
put_scope(const struct apply *a, struct writ_view name, struct writ_buf *ret, bool json)
{
    writ_auto_buf scope = writ_buf_make(POINTER_MAX);

    (void)a;
    for (size_t i = 0; i < name.len; i++) { /* in a scope, a brace begins an argument */
        writ_buf_byte(&scope, name.ptr[i]);
        if (name.ptr[i] == '{' || name.ptr[i] == '}') {
            writ_buf_byte(&scope, name.ptr[i]);
        }
    }
    ret->failed = writ_is_ok(writ_buf_check(&scope, NULL)) ? ret->failed : WRIT_E_LIMIT;
    if (json) {
        put_json_text(ret, writ_buf_view(&scope));
    } else {
        writ_proposal_text_scalar(ret, writ_buf_view(&scope));
    }
}

static void
put_agents(const struct apply *a, struct writ_buf *ret, bool json)
{
    const struct writ_views *agents = &a->change->learned->agents;

    writ_buf_byte(ret, '[');
    for (size_t i = 0; i < agents->n; i++) {
        writ_buf_str(ret, i > 0 ? ", " : "");
        if (json) {
            put_json_text(ret, agents->items[i]);
        } else {
            writ_proposal_text_scalar(ret, agents->items[i]);
        }
    }
    writ_buf_byte(ret, ']');
}

static void
put_rule(const struct apply *a, struct writ_view name, size_t column,
    const struct writ_proposal_constraint *learned, struct writ_buf *ret)
{
    bool repeats = a->change->tool->repeats;

    writ_buf_byte(ret, '\n');
    put_spaces(ret, column);
    writ_proposal_text_scalar(ret, name);
    writ_buf_str(ret, ":\n");
    put_spaces(ret, column + 2);
    writ_buf_str(ret, "scope: ");
    put_scope(a, name, ret, false);
    if (a->change->learned->agents.n > 0) {
        writ_buf_byte(ret, '\n');
        put_spaces(ret, column + 2);
        writ_buf_str(ret, "agents: ");
        put_agents(a, ret, false);
        writ_buf_str(ret, " # those that called it");
    }
    writ_buf_byte(ret, '\n');
    put_spaces(ret, column + 2);
    writ_buf_fmt(ret, "duplicates: %s\n",
        repeats ? "allow # an identical call came again in one run"
                : "forbid # no identical call came again in one run");
    put_spaces(ret, column + 2);
    writ_buf_str(ret, learned != NULL ? "arguments:\n" : "arguments: []\n");
    writ_proposal_text_constraints(ret, learned, (unsigned)column + 4);
}

static void
put_json_rule(const struct apply *a, struct writ_view name,
    const struct writ_proposal_constraint *learned, struct writ_buf *ret)
{
    put_json_text(ret, name);
    writ_buf_str(ret, ": {\"scope\": ");
    put_scope(a, name, ret, true);
    if (a->change->learned->agents.n > 0) {
        writ_buf_str(ret, ", \"agents\": ");
        put_agents(a, ret, true);
    }
    writ_buf_fmt(ret, ", \"duplicates\": \"%s\", \"arguments\": [",
        a->change->tool->repeats ? "allow" : "forbid");
    put_json_list(ret, learned);
    writ_buf_str(ret, "]}");
}

static writ_result
add_rule(struct apply *a, struct writ_view name, const struct writ_proposal_constraint *learned)
{
    writ_auto_buf piece = writ_buf_make(PIECE_MAX);
    struct writ_place root, tools;
    size_t end;

    WRIT_TRY(writ_place_find(a->text, WRIT_LIT(""), &root));
    WRIT_TRY(writ_place_find(a->text, WRIT_LIT("/tools"), &tools));
    if (tools.type != WRIT_YAML_MAP) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (tools.block || (root.block && tools.count == 0)) {
        put_rule(a, name, tools.block ? tools.column : root.column + 2, learned, &piece);
        piece.len--; /* the line end is there */
        end = writ_place_line_end(a->text, tools.end);
        return tools.block ? splice(a, end, end, &piece) : splice_lines(a, &tools, &piece);
    }
    end = tools.end - 1;
    while (end > tools.start + 1 && writ_view_find(WRIT_LIT(" \t\r\n"), a->text.ptr[end - 1]) < 4) {
        end--;
    }
    writ_buf_str(&piece, tools.count > 0 ? ", " : "");
    put_json_rule(a, name, learned, &piece);
    return splice(a, end, end, &piece);
}

static writ_result
apply(struct apply *a, struct writ_arena *arena)
{
    const struct writ_apply_change *change = a->change;
    writ_auto_buf name = writ_buf_make(POINTER_MAX), copied = writ_buf_make(PIECE_MAX * 4);
    size_t n;
    const struct writ_proposal_constraint *learned = news(change, arena, &n);
    struct writ_buf *ret = a->ret;

    if (n == SIZE_MAX) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(put_name(a, &name));
    if (change->entry == NULL) {
        return add_rule(a, writ_buf_view(&name), learned);
    }
    if (change->rule == NULL) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (change->entry->pattern) {
        writ_auto_buf pointer = writ_buf_make(POINTER_MAX);
        struct writ_place there;

        writ_buf_str(&pointer, "/tools/");
        writ_trail_token(writ_buf_view(&name), &pointer);
        if (find(a, &pointer, "", SIZE_MAX, &there).code == WRIT_E_ABSENT) {
            a->ret = &copied;
            WRIT_TRY(copy_pattern(a, writ_buf_view(&name)));
            a->text = writ_buf_view(&copied);
            a->ret = ret;
        }
    }
    return set_arguments(a, writ_buf_view(&name), learned);
}

WRIT_RESULT
writ_apply_put(struct writ_view text, const struct writ_apply_change *change, struct writ_buf *ret)
{
    struct apply a = {.text = text, .change = change, .ret = ret};
    writ_auto_arena arena = writ_arena_new(PIECE_MAX);

    return arena != NULL ? apply(&a, arena) : (writ_result){WRIT_E_NOMEM};
}
