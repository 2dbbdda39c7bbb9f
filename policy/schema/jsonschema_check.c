/* jsonschema_check.c - checks a value against a compiled schema. A check returns whether it holds;
 * a limit ends all of them, and the answer is then LIMIT.
 *
 * Which members and elements were evaluated is kept only where the schema has unevaluatedItems or
 * unevaluatedProperties: a byte for each child of the value, of the schemas that held. */
#include "policy/schema/keyword.h"

#include "base/utf8.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "policy/model/trail.h"

#include <stdlib.h>

#define CANONICAL_MAX ((size_t)16 << 20) /* bytes of an element that must be unique */

/* The resources that the check is in, the innermost first. */
struct scope {
    const struct writ_keyword_resource *resource;
    const struct scope *up;
};

struct checking {
    const struct writ_jsonschema *s;
    struct writ_arena *arena;
    size_t steps, depth;
    bool limit;
    unsigned quiet; /* inside not, anyOf, ...: a fault is no fault of the whole */
    struct writ_jsonschema_fault *fault;
    bool told;
};

/* One value under one schema. */
struct under {
    struct checking *c;
    const struct writ_keyword_rule *rule;
    const struct writ_json *value;
    const struct writ_trail *at;
    const struct scope *scope;
    uint8_t *seen; /* children that were evaluated; NULL: not kept */
};

static bool check(struct checking *c, const struct writ_keyword_rule *rule,
    const struct writ_json *value, const struct writ_trail *at, const struct scope *scope,
    uint8_t *seen);

static bool
reached(struct checking *c)
{
    c->limit = true;
    return false;
}

static bool
fails(const struct under *u, const char *keyword)
{
    struct checking *c = u->c;
    writ_auto_buf place = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    if (c->quiet == 0 && !c->told && c->fault != NULL) {
        writ_trail_put(u->at, &place);
        c->fault->place = writ_trail_keep(&place, c->arena);
        c->fault->keyword = writ_view_str(keyword);
        c->told = true;
    }
    return false;
}

/* ---- what was evaluated ---- */

static size_t
children(const struct writ_json *value)
{
    enum writ_json_type type = writ_json_type(value);

    return type == WRIT_JSON_ARRAY || type == WRIT_JSON_OBJECT ? value->count : 0;
}

static void
mark(const struct under *u, size_t child)
{
    if (u->seen != NULL) {
        u->seen[child] = 1;
    }
}

/* A schema in the same place: what it evaluated counts if it holds. */
static bool
holds_here(const struct under *u, const struct writ_keyword_rule *rule)
{
    size_t n = children(u->value);
    uint8_t *seen = u->seen != NULL ? writ_arena_zeroed(u->c->arena, n + 1) : NULL;

    if (u->seen != NULL && seen == NULL) {
        return reached(u->c);
    }
    if (!check(u->c, rule, u->value, u->at, u->scope, seen)) {
        return false;
    }
    for (size_t i = 0; u->seen != NULL && i < n; i++) {
        u->seen[i] |= seen[i];
    }
    return true;
}

static bool
holds_quietly(const struct under *u, const struct writ_keyword_rule *rule)
{
    bool holds;

    u->c->quiet++;
    holds = holds_here(u, rule);
    u->c->quiet--;
    return holds;
}

static bool
child_holds(const struct under *u, const struct writ_keyword_rule *rule,
    const struct writ_json *child, struct writ_view name, size_t index)
{
    const struct writ_trail at = {.up = u->at, .name = name, .index = index};

    return check(u->c, rule, child, &at, u->scope, NULL);
}

/* ---- values of any type ---- */

static unsigned
types_of(const struct writ_json *value)
{
    struct writ_decimal number;

    switch (writ_json_type(value)) {
    case WRIT_JSON_NULL:
        return WRIT_KEYWORD_NULL;
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return WRIT_KEYWORD_BOOLEAN;
    case WRIT_JSON_NUMBER: /* 1.0 is an integer */
        return writ_is_ok(writ_decimal_read(writ_json_text(value), &number)) && number.exponent < 0
                   ? WRIT_KEYWORD_NUMBER
                   : WRIT_KEYWORD_NUMBER | WRIT_KEYWORD_INTEGER;
    case WRIT_JSON_STRING:
        return WRIT_KEYWORD_STRING;
    case WRIT_JSON_ARRAY:
        return WRIT_KEYWORD_ARRAY;
    case WRIT_JSON_OBJECT:
        return WRIT_KEYWORD_OBJECT;
    case WRIT_JSON_NONE:
        break;
    }
    return 0;
}

static bool
holds_any_type(const struct under *u)
{
    const struct writ_keyword_rule *rule = u->rule;

    if (rule->types != 0 && (rule->types & types_of(u->value)) == 0) {
        return fails(u, "type");
    }
    if (rule->one_of_values != NULL && !writ_json_has(rule->one_of_values, u->value)) {
        return fails(u, "enum");
    }
    return rule->constant == NULL || writ_json_equal(rule->constant, u->value) || fails(u, "const");
}

/* ---- numbers ---- */

/* Exact: the digits of the one are divided by those of the other, digit by digit. */
static bool
is_multiple(const struct writ_decimal *number, const struct writ_decimal *of)
{
    int exponent = number->exponent - of->exponent;
    unsigned __int128 divisor = of->coefficient, rest;

    if (number->coefficient == 0) {
        return true;
    }
    for (; exponent < 0; exponent++) { /* the divisor has the larger exponent */
        if (divisor > (~(unsigned __int128)0) / 10 || divisor > number->coefficient) {
            return false;
        }
        divisor *= 10;
    }
    rest = number->coefficient % divisor;
    for (; exponent > 0 && rest != 0; exponent--) {
        unsigned __int128 times = 0; /* rest * 10 mod divisor, without overflow */
        for (int i = 0; i < 10; i++) {
            times = times >= divisor - rest ? times - (divisor - rest) : times + rest;
        }
        rest = times;
    }
    return rest == 0;
}

static bool
holds_number(const struct under *u)
{
    const struct writ_keyword_rule *rule = u->rule;
    struct writ_decimal n;

    if (rule->given == 0 || writ_json_type(u->value) != WRIT_JSON_NUMBER) {
        return true;
    }
    if (!writ_is_ok(writ_decimal_read(writ_json_text(u->value), &n))) {
        return reached(u->c);
    }
    if ((rule->given & WRIT_KEYWORD_MULTIPLE_OF) != 0 && !is_multiple(&n, &rule->multiple_of)) {
        return fails(u, "multipleOf");
    }
    if ((rule->given & WRIT_KEYWORD_MAXIMUM) != 0 && writ_decimal_compare(&n, &rule->maximum) > 0) {
        return fails(u, "maximum");
    }
    if ((rule->given & WRIT_KEYWORD_EXCLUSIVE_MAXIMUM) != 0 &&
        writ_decimal_compare(&n, &rule->exclusive_maximum) >= 0) {
        return fails(u, "exclusiveMaximum");
    }
    if ((rule->given & WRIT_KEYWORD_MINIMUM) != 0 && writ_decimal_compare(&n, &rule->minimum) < 0) {
        return fails(u, "minimum");
    }
    return (rule->given & WRIT_KEYWORD_EXCLUSIVE_MINIMUM) == 0 ||
           writ_decimal_compare(&n, &rule->exclusive_minimum) > 0 || fails(u, "exclusiveMinimum");
}

/* ---- strings ---- */

static bool
holds_pattern(const struct under *u, const struct writ_pattern *pattern, struct writ_view text)
{
    enum writ_pattern_answer answer = writ_pattern_match(pattern, text, u->c->arena);

    return answer == WRIT_PATTERN_LIMIT ? reached(u->c) : answer == WRIT_PATTERN_YES;
}

static bool
holds_string(const struct under *u)
{
    const struct writ_keyword_rule *rule = u->rule;
    struct writ_view text = writ_json_string(u->value);
    size_t points;

    if (writ_json_type(u->value) != WRIT_JSON_STRING) {
        return true;
    }
    if (rule->max_length != UINT64_MAX || rule->min_length > 0) {
        points = writ_utf8_points(text);
        if (points > rule->max_length) {
            return fails(u, "maxLength");
        }
        if (points < rule->min_length) {
            return fails(u, "minLength");
        }
    }
    if (rule->pattern != NULL && !holds_pattern(u, rule->pattern, text)) {
        return fails(u, "pattern");
    }
    return rule->format.len == 0 || writ_keyword_has_format(rule->format, text) ||
           fails(u, "format");
}

/* ---- arrays ---- */

static int
by_digest(const void *a, const void *b)
{
    const struct writ_digest *left = a, *right = b;

    return writ_view_compare(
        writ_view(left->bytes, WRIT_DIGEST_BYTES), writ_view(right->bytes, WRIT_DIGEST_BYTES));
}

static bool
are_unique(const struct under *u)
{
    struct writ_digest *all;
    size_t n = 0;

    if (!u->rule->unique || u->value->count < 2) {
        return true;
    }
    all = writ_arena_get(u->c->arena, u->value->count * sizeof *all);
    if (all == NULL) {
        return reached(u->c);
    }
    WRIT_JSON_EACH(element, u->value)
    {
        if (!writ_is_ok(writ_digest_json_lossless(element, CANONICAL_MAX, &all[n++], NULL))) {
            return reached(u->c);
        }
    }
    qsort(all, n, sizeof *all, by_digest);
    for (size_t i = 1; i < n; i++) {
        if (by_digest(&all[i - 1], &all[i]) == 0) {
            return fails(u, "uniqueItems");
        }
    }
    return true;
}

static bool
holds_contains(const struct under *u)
{
    uint64_t found = 0;
    size_t index = 0;

    if (u->rule->contains == NULL) {
        return true;
    }
    WRIT_JSON_EACH(element, u->value)
    {
        bool holds;
        u->c->quiet++;
        holds = child_holds(u, u->rule->contains, element, writ_view(NULL, 0), index);
        u->c->quiet--;
        if (holds) {
            mark(u, index);
            found++;
        }
        index++;
    }
    if (found < u->rule->min_contains) {
        return fails(u, u->rule->min_contains == 1 ? "contains" : "minContains");
    }
    return found <= u->rule->max_contains || fails(u, "maxContains");
}

static bool
holds_elements(const struct under *u)
{
    size_t index = 0;

    WRIT_JSON_EACH(element, u->value)
    {
        const struct writ_keyword_rule *rule =
            index < u->rule->prefix.n ? u->rule->prefix.items[index] : u->rule->items;
        if (rule != NULL) {
            if (!child_holds(u, rule, element, writ_view(NULL, 0), index)) {
                return false;
            }
            mark(u, index);
        }
        index++;
    }
    return true;
}

static bool
holds_array(const struct under *u)
{
    if (writ_json_type(u->value) != WRIT_JSON_ARRAY) {
        return true;
    }
    if (u->value->count > u->rule->max_items) {
        return fails(u, "maxItems");
    }
    if (u->value->count < u->rule->min_items) {
        return fails(u, "minItems");
    }
    return holds_elements(u) && holds_contains(u) && are_unique(u);
}

/* ---- objects ---- */

static const struct writ_keyword_rule *
named(const struct writ_keyword_names *names, struct writ_view name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (writ_view_equal(names->items[i].name, name)) {
            return names->items[i].rule;
        }
    }
    return NULL;
}

static bool
holds_member(const struct under *u, const struct writ_json *name, size_t index)
{
    const struct writ_keyword_rule *rule = named(&u->rule->properties, writ_json_string(name));
    const struct writ_json *value = writ_json_value(name);
    bool matched = rule != NULL;

    if (rule != NULL && !child_holds(u, rule, value, writ_json_string(name), 0)) {
        return false;
    }
    for (size_t i = 0; i < u->rule->patterns.n; i++) {
        const struct writ_keyword_named *one = &u->rule->patterns.items[i];
        if (holds_pattern(u, one->pattern, writ_json_string(name))) {
            matched = true;
            if (!child_holds(u, one->rule, value, writ_json_string(name), 0)) {
                return false;
            }
        }
        if (u->c->limit) {
            return false;
        }
    }
    if (!matched && u->rule->additional != NULL) {
        matched = true;
        if (u->rule->additional->never) {
            return fails(u, "additionalProperties");
        }
        if (!child_holds(u, u->rule->additional, value, writ_json_string(name), 0)) {
            return false;
        }
    }
    if (matched) {
        mark(u, index);
    }
    return true;
}

static bool
holds_members(const struct under *u)
{
    size_t index = 0;

    WRIT_JSON_EACH(name, u->value)
    {
        if (u->rule->names != NULL &&
            !child_holds(u, u->rule->names, name, writ_json_string(name), 0)) {
            return fails(u, "propertyNames");
        }
        if (!holds_member(u, name, index++)) {
            return false;
        }
    }
    return true;
}

static bool
has_all(const struct writ_json *object, const struct writ_json *names)
{
    WRIT_JSON_EACH(name, names)
    {
        if (writ_json_get(object, writ_json_string(name)) == NULL) {
            return false;
        }
    }
    return true;
}

static bool
holds_dependent(const struct under *u)
{
    WRIT_JSON_EACH(name, u->rule->dependent_required)
    {
        if (writ_json_get(u->value, writ_json_string(name)) != NULL &&
            !has_all(u->value, writ_json_value(name))) {
            return fails(u, "dependentRequired");
        }
    }
    for (size_t i = 0; i < u->rule->dependent.n; i++) {
        const struct writ_keyword_named *one = &u->rule->dependent.items[i];
        if (writ_json_get(u->value, one->name) != NULL && !holds_here(u, one->rule)) {
            return false;
        }
    }
    return true;
}

static bool
holds_object(const struct under *u)
{
    if (writ_json_type(u->value) != WRIT_JSON_OBJECT) {
        return true;
    }
    if (u->value->count > u->rule->max_properties) {
        return fails(u, "maxProperties");
    }
    if (u->value->count < u->rule->min_properties) {
        return fails(u, "minProperties");
    }
    if (!has_all(u->value, u->rule->required)) {
        return fails(u, "required");
    }
    return holds_members(u) && holds_dependent(u);
}

/* ---- schemas in the same place ---- */

static bool
holds_lists(const struct under *u)
{
    size_t held = 0;

    for (size_t i = 0; i < u->rule->all.n; i++) {
        if (!holds_here(u, u->rule->all.items[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < u->rule->any.n; i++) { /* all of them: each may evaluate something */
        held += holds_quietly(u, u->rule->any.items[i]) ? 1 : 0;
        if (held > 0 && u->seen == NULL) {
            break;
        }
    }
    if (u->rule->any.n > 0 && held == 0) {
        return fails(u, "anyOf");
    }
    held = 0;
    for (size_t i = 0; i < u->rule->one.n && held < 2; i++) {
        held += holds_quietly(u, u->rule->one.items[i]) ? 1 : 0;
    }
    return u->rule->one.n == 0 || held == 1 || fails(u, "oneOf");
}

static bool
holds_not(const struct under *u)
{
    const struct under apart = {
        .c = u->c, .value = u->value, .at = u->at, .scope = u->scope, .seen = NULL};

    return u->rule->negated == NULL || !holds_quietly(&apart, u->rule->negated) || fails(u, "not");
}

static bool
holds_condition(const struct under *u)
{
    const struct writ_keyword_rule *next;

    if (u->rule->condition == NULL) {
        return true;
    }
    next = holds_quietly(u, u->rule->condition) ? u->rule->then : u->rule->otherwise;
    return next == NULL || holds_here(u, next);
}

/* The outermost resource of the scope that has a dynamic anchor of that name decides. */
static const struct writ_keyword_rule *
dynamic_target(const struct under *u)
{
    const struct writ_keyword_rule *found = u->rule->dynamic_target;

    if (u->rule->dynamic_name.len == 0) {
        return found;
    }
    for (const struct scope *scope = u->scope; scope != NULL; scope = scope->up) {
        const struct writ_keyword_anchor *anchor = u->c->s->anchors;
        for (; anchor != NULL; anchor = anchor->next) {
            if (anchor->dynamic && anchor->resource == scope->resource &&
                writ_view_equal(anchor->name, u->rule->dynamic_name)) {
                found = anchor->rule;
            }
        }
    }
    return found;
}

static bool
holds_references(const struct under *u)
{
    if (u->rule->target != NULL && !holds_here(u, u->rule->target)) {
        return false;
    }
    return u->rule->dynamic_target == NULL || holds_here(u, dynamic_target(u));
}

/* ---- what is left over ---- */

static bool
holds_rest(const struct under *u, const struct writ_keyword_rule *rule, const char *keyword)
{
    bool array = writ_json_type(u->value) == WRIT_JSON_ARRAY;
    size_t index = 0;

    if (rule == NULL) {
        return true;
    }
    WRIT_JSON_EACH(child, u->value)
    {
        if (u->seen[index] == 0) {
            if (rule->never) {
                return fails(u, keyword);
            }
            if (!child_holds(u, rule, array ? child : writ_json_value(child),
                    array ? writ_view(NULL, 0) : writ_json_string(child), index)) {
                return false;
            }
            mark(u, index);
        }
        index++;
    }
    return true;
}

static bool
holds_unevaluated(const struct under *u)
{
    if (writ_json_type(u->value) == WRIT_JSON_ARRAY) {
        return holds_rest(u, u->rule->unevaluated_items, "unevaluatedItems");
    }
    return writ_json_type(u->value) != WRIT_JSON_OBJECT ||
           holds_rest(u, u->rule->unevaluated_properties, "unevaluatedProperties");
}

static bool
holds(const struct under *u)
{
    return holds_any_type(u) && holds_number(u) && holds_string(u) && holds_array(u) &&
           holds_object(u) && holds_references(u) && holds_lists(u) && holds_not(u) &&
           holds_condition(u) && holds_unevaluated(u);
}

static bool
check(struct checking *c, const struct writ_keyword_rule *rule, const struct writ_json *value,
    const struct writ_trail *at, const struct scope *scope, uint8_t *seen)
{
    const struct scope inner = {.resource = rule->resource, .up = scope};
    struct under u = {.c = c, .rule = rule, .value = value, .at = at, .seen = seen};
    bool result;

    u.scope = scope != NULL && scope->resource == rule->resource ? scope : &inner;
    if (c->limit || c->steps++ >= WRIT_JSONSCHEMA_STEPS_MAX ||
        c->depth >= 4 * WRIT_JSONSCHEMA_DEPTH_MAX) {
        return reached(c);
    }
    if (rule->never) {
        return fails(&u, "false");
    }
    if (u.seen == NULL &&
        (rule->unevaluated_items != NULL || rule->unevaluated_properties != NULL)) {
        u.seen = writ_arena_zeroed(c->arena, children(value) + 1);
        if (u.seen == NULL) {
            return reached(c);
        }
    }
    c->depth++;
    result = holds(&u) && !c->limit;
    c->depth--;
    return result;
}

enum writ_jsonschema_answer
writ_jsonschema_check(const struct writ_jsonschema *schema, const struct writ_json *value,
    struct writ_arena *arena, struct writ_jsonschema_fault *ret_fault)
{
    static const struct writ_trail root = {.up = NULL};
    struct writ_jsonschema_fault fault = {{NULL, 0}, {NULL, 0}};
    struct checking c = {.s = schema, .arena = arena, .fault = &fault};
    bool result = check(&c, schema->rules[0], value, &root, NULL, NULL);

    if (c.limit) {
        return WRIT_JSONSCHEMA_LIMIT;
    }
    if (!result && ret_fault != NULL) {
        *ret_fault = fault;
    }
    return result ? WRIT_JSONSCHEMA_YES : WRIT_JSONSCHEMA_NO;
}
