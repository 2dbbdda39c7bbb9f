/* jsonschema_compile.c - makes the rules of a schema in two passes: first all schemas with their
 * keywords, identifiers and anchors, then the references between them. A reference may lead to a
 * place that no keyword makes a schema; that place becomes one then. */
#include "policy/schema/keyword.h"

#include "policy/model/ecma.h"
#include "policy/model/trail.h"
#include "policy/schema/uri_reference.h"

#define ARENA_MAX    ((size_t)256 << 20)
#define PATTERNS_MAX 4096

struct compiling {
    struct writ_jsonschema *s;
    struct writ_err *err;
    size_t depth;
};

/* One schema while its keywords are read. */
struct reading {
    struct compiling *c;
    struct writ_keyword_rule *rule;
    const struct writ_trail *at;   /* of the schema */
    const struct writ_json *value; /* of the keyword */
    const char *keyword;
};

static WRIT_RESULT compile(struct compiling *c, const struct writ_json *node,
    const struct writ_keyword_resource *resource, const struct writ_trail *at,
    const struct writ_keyword_rule **ret);

static WRIT_RESULT
refuse(struct compiling *c, const struct writ_trail *at, const char *keyword, const char *what)
{
    writ_auto_buf pointer = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    writ_trail_put(at, &pointer);
    WRIT_FAIL(c->err, WRIT_E_INVALID, WRIT_VIEW_FMT "/%s: %s",
        WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&pointer), 0, 200)), keyword, what);
}

static WRIT_RESULT
refuse_value(struct reading *r, const char *what)
{
    return refuse(r->c, r->at, r->keyword, what);
}

static WRIT_RESULT
no_memory(struct compiling *c)
{
    WRIT_FAIL(c->err, WRIT_E_NOMEM, "no memory for a schema");
}

/* ---- schemas in keywords ---- */

static WRIT_RESULT
one_schema(struct reading *r, const struct writ_keyword_rule **ret)
{
    const struct writ_trail at = {.up = r->at, .name = writ_view_str(r->keyword)};

    return compile(r->c, r->value, r->rule->resource, &at, ret);
}

static WRIT_RESULT
list_of_schemas(struct reading *r, struct writ_keyword_list *ret)
{
    const struct writ_trail at = {.up = r->at, .name = writ_view_str(r->keyword)};

    if (writ_json_type(r->value) != WRIT_JSON_ARRAY || r->value->count == 0) {
        return refuse_value(r, "is not a list of schemas");
    }
    ret->items = writ_arena_get(r->c->s->arena, r->value->count * sizeof *ret->items);
    if (ret->items == NULL) {
        return no_memory(r->c);
    }
    WRIT_JSON_EACH(element, r->value)
    {
        const struct writ_trail down = {.up = &at, .index = ret->n};
        WRIT_TRY(compile(r->c, element, r->rule->resource, &down, &ret->items[ret->n]));
        ret->n++;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
new_pattern(struct reading *r, struct writ_view text, struct writ_pattern **ret)
{
    struct writ_jsonschema *s = r->c->s;
    writ_auto_buf translated = writ_buf_make((size_t)16 * WRIT_PATTERN_MAX);

    if (s->patterns_n == PATTERNS_MAX) {
        WRIT_FAIL(r->c->err, WRIT_E_LIMIT, "a schema has more than %d patterns", PATTERNS_MAX);
    }
    if (!writ_ecma_pattern(text, &translated) ||
        !writ_is_ok(writ_pattern_new(writ_buf_view(&translated), ret, NULL))) {
        return refuse_value(r, "has a pattern that is not supported");
    }
    s->patterns[s->patterns_n++] = *ret;
    return WRIT_DONE;
}

static WRIT_RESULT
named_schemas(struct reading *r, bool by_pattern, struct writ_keyword_names *ret)
{
    const struct writ_trail at = {.up = r->at, .name = writ_view_str(r->keyword)};
    struct writ_keyword_named *items;
    size_t n = 0;

    if (writ_json_type(r->value) != WRIT_JSON_OBJECT) {
        return refuse_value(r, "is not an object of schemas");
    }
    items = writ_arena_zeroed(r->c->s->arena, (r->value->count + 1) * sizeof *items);
    if (items == NULL) {
        return no_memory(r->c);
    }
    WRIT_JSON_EACH(name, r->value)
    {
        const struct writ_trail down = {.up = &at, .name = writ_json_string(name)};
        items[n].name = writ_json_string(name);
        if (by_pattern) {
            WRIT_TRY(new_pattern(r, items[n].name, &items[n].pattern));
        }
        WRIT_TRY(compile(r->c, writ_json_value(name), r->rule->resource, &down, &items[n].rule));
        n++;
    }
    *ret = (struct writ_keyword_names){items, n};
    return WRIT_DONE;
}

/* ---- plain values ---- */

/* 2.0 is an integer too. */
static WRIT_RESULT
count_of(struct reading *r, uint64_t *ret)
{
    struct writ_decimal number;

    if (writ_json_type(r->value) != WRIT_JSON_NUMBER ||
        !writ_is_ok(writ_decimal_read(writ_json_text(r->value), &number)) || number.negative ||
        number.exponent < 0 || number.exponent > 18 || number.coefficient > 1000000000) {
        return refuse_value(r, "is not a whole number from 0");
    }
    *ret = (uint64_t)number.coefficient;
    for (int i = 0; i < number.exponent && *ret < UINT64_MAX / 16; i++) {
        *ret *= 10;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
number_of(struct reading *r, enum writ_keyword_number bit, struct writ_decimal *ret)
{
    if (writ_json_type(r->value) != WRIT_JSON_NUMBER ||
        !writ_is_ok(writ_decimal_read(writ_json_text(r->value), ret))) {
        return refuse_value(r, "is not a number of at most 34 digits");
    }
    if (bit == WRIT_KEYWORD_MULTIPLE_OF && (ret->negative || ret->coefficient == 0)) {
        return refuse_value(r, "is not above 0");
    }
    r->rule->given |= bit;
    return WRIT_DONE;
}

static unsigned
type_named(struct writ_view name)
{
    static const struct {
        struct writ_view name;
        unsigned type;
    } types[] = {{{"null", 4}, WRIT_KEYWORD_NULL}, {{"boolean", 7}, WRIT_KEYWORD_BOOLEAN},
        {{"integer", 7}, WRIT_KEYWORD_INTEGER}, {{"number", 6}, WRIT_KEYWORD_NUMBER},
        {{"string", 6}, WRIT_KEYWORD_STRING}, {{"array", 5}, WRIT_KEYWORD_ARRAY},
        {{"object", 6}, WRIT_KEYWORD_OBJECT}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (writ_view_equal(types[i].name, name)) {
            return types[i].type;
        }
    }
    return 0;
}

static WRIT_RESULT
types_of(struct reading *r)
{
    unsigned one = type_named(writ_json_string(r->value));

    r->rule->types = one;
    WRIT_JSON_EACH(name, r->value)
    {
        one = writ_json_type(r->value) == WRIT_JSON_ARRAY ? type_named(writ_json_string(name)) : 0;
        if (one == 0) {
            return refuse_value(r, "has a type that does not exist");
        }
        r->rule->types |= one;
    }
    return r->rule->types != 0 ? WRIT_DONE : refuse_value(r, "has a type that does not exist");
}

static WRIT_RESULT
text_of(struct reading *r, struct writ_view *ret)
{
    if (writ_json_type(r->value) != WRIT_JSON_STRING) {
        return refuse_value(r, "is not a string");
    }
    *ret = writ_json_string(r->value);
    return WRIT_DONE;
}

static bool
are_strings(const struct writ_json *list)
{
    bool good = writ_json_type(list) == WRIT_JSON_ARRAY;

    WRIT_JSON_EACH(element, list)
    {
        good = good && writ_json_type(element) == WRIT_JSON_STRING;
    }
    return good;
}

/* ---- the keywords, a function each ---- */

typedef WRIT_RESULT keyword_fn(struct reading *r);

#define SCHEMA(name, field)                                                                        \
    static WRIT_RESULT name(struct reading *r)                                                     \
    {                                                                                              \
        return one_schema(r, &r->rule->field);                                                     \
    }
#define LIST(name, field)                                                                          \
    static WRIT_RESULT name(struct reading *r)                                                     \
    {                                                                                              \
        return list_of_schemas(r, &r->rule->field);                                                \
    }
#define COUNT(name, field)                                                                         \
    static WRIT_RESULT name(struct reading *r)                                                     \
    {                                                                                              \
        return count_of(r, &r->rule->field);                                                       \
    }
#define NUMBER(name, bit, field)                                                                   \
    static WRIT_RESULT name(struct reading *r)                                                     \
    {                                                                                              \
        return number_of(r, bit, &r->rule->field);                                                 \
    }

SCHEMA(read_additional, additional)
SCHEMA(read_names, names)
SCHEMA(read_items, items)
SCHEMA(read_contains, contains)
SCHEMA(read_not, negated)
SCHEMA(read_if, condition)
SCHEMA(read_then, then)
SCHEMA(read_else, otherwise)
LIST(read_all, all)
LIST(read_any, any)
LIST(read_one, one)
LIST(read_prefix, prefix)
COUNT(read_max_length, max_length)
COUNT(read_min_length, min_length)
COUNT(read_max_items, max_items)
COUNT(read_min_items, min_items)
COUNT(read_max_contains, max_contains)
COUNT(read_min_contains, min_contains)
COUNT(read_max_properties, max_properties)
COUNT(read_min_properties, min_properties)
NUMBER(read_multiple, WRIT_KEYWORD_MULTIPLE_OF, multiple_of)
NUMBER(read_maximum, WRIT_KEYWORD_MAXIMUM, maximum)
NUMBER(read_above, WRIT_KEYWORD_EXCLUSIVE_MAXIMUM, exclusive_maximum)
NUMBER(read_minimum, WRIT_KEYWORD_MINIMUM, minimum)
NUMBER(read_below, WRIT_KEYWORD_EXCLUSIVE_MINIMUM, exclusive_minimum)
#undef SCHEMA
#undef LIST
#undef COUNT
#undef NUMBER

static WRIT_RESULT
read_properties(struct reading *r)
{
    return named_schemas(r, false, &r->rule->properties);
}

static WRIT_RESULT
read_patterns(struct reading *r)
{
    return named_schemas(r, true, &r->rule->patterns);
}

static WRIT_RESULT
read_dependent(struct reading *r)
{
    return named_schemas(r, false, &r->rule->dependent);
}

/* Their places are schemas, which references may name. */
static WRIT_RESULT
read_definitions(struct reading *r)
{
    struct writ_keyword_names ignored;

    return named_schemas(r, false, &ignored);
}

static WRIT_RESULT
read_unevaluated_items(struct reading *r)
{
    r->c->s->tracks = true;
    return one_schema(r, &r->rule->unevaluated_items);
}

static WRIT_RESULT
read_unevaluated_properties(struct reading *r)
{
    r->c->s->tracks = true;
    return one_schema(r, &r->rule->unevaluated_properties);
}

static WRIT_RESULT
read_enum(struct reading *r)
{
    r->rule->one_of_values = r->value;
    return writ_json_type(r->value) == WRIT_JSON_ARRAY ? WRIT_DONE
                                                       : refuse_value(r, "is not a list");
}

static WRIT_RESULT
read_const(struct reading *r)
{
    r->rule->constant = r->value;
    return WRIT_DONE;
}

static WRIT_RESULT
read_unique(struct reading *r)
{
    r->rule->unique = writ_json_type(r->value) == WRIT_JSON_TRUE;
    return r->rule->unique || writ_json_type(r->value) == WRIT_JSON_FALSE
               ? WRIT_DONE
               : refuse_value(r, "is neither true nor false");
}

static WRIT_RESULT
read_pattern(struct reading *r)
{
    struct writ_view text = {NULL, 0};

    WRIT_TRY(text_of(r, &text));
    return new_pattern(r, text, &r->rule->pattern);
}

static WRIT_RESULT
read_format(struct reading *r)
{
    struct writ_view format = {NULL, 0};

    WRIT_TRY(text_of(r, &format));
    if (r->c->s->formats == WRIT_JSONSCHEMA_FORMATS_ANNOTATE) {
        return WRIT_DONE;
    }
    r->rule->format = format;
    return writ_keyword_knows_format(format) ? WRIT_DONE
                                             : refuse_value(r, "has a format that is not known");
}

static WRIT_RESULT
read_required(struct reading *r)
{
    r->rule->required = r->value;
    return are_strings(r->value) ? WRIT_DONE : refuse_value(r, "is not a list of strings");
}

static WRIT_RESULT
read_dependent_required(struct reading *r)
{
    r->rule->dependent_required = r->value;
    if (writ_json_type(r->value) != WRIT_JSON_OBJECT) {
        return refuse_value(r, "is not an object");
    }
    WRIT_JSON_EACH(name, r->value)
    {
        if (!are_strings(writ_json_value(name))) {
            return refuse_value(r, "has a member that is not a list of strings");
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_ref(struct reading *r)
{
    return text_of(r, &r->rule->reference);
}

static WRIT_RESULT
read_dynamic_ref(struct reading *r)
{
    return text_of(r, &r->rule->dynamic_reference);
}

static WRIT_RESULT
add_anchor(struct reading *r, bool dynamic)
{
    struct writ_keyword_anchor *anchor = writ_arena_zeroed(r->c->s->arena, sizeof *anchor);

    if (anchor == NULL) {
        return no_memory(r->c);
    }
    WRIT_TRY(text_of(r, &anchor->name));
    anchor->resource = r->rule->resource;
    anchor->rule = r->rule;
    anchor->dynamic = dynamic;
    anchor->next = r->c->s->anchors;
    r->c->s->anchors = anchor;
    return WRIT_DONE;
}

static WRIT_RESULT
read_anchor(struct reading *r)
{
    return add_anchor(r, false);
}

static WRIT_RESULT
read_dynamic_anchor(struct reading *r)
{
    return add_anchor(r, true);
}

static const struct {
    const char *name;
    keyword_fn *read;
} keywords[] = {{"$anchor", read_anchor}, {"$defs", read_definitions},
    {"$dynamicAnchor", read_dynamic_anchor}, {"$dynamicRef", read_dynamic_ref}, {"$ref", read_ref},
    {"additionalProperties", read_additional}, {"allOf", read_all}, {"anyOf", read_any},
    {"const", read_const}, {"contains", read_contains}, {"definitions", read_definitions},
    {"dependentRequired", read_dependent_required}, {"dependentSchemas", read_dependent},
    {"else", read_else}, {"enum", read_enum}, {"exclusiveMaximum", read_above},
    {"exclusiveMinimum", read_below}, {"format", read_format}, {"if", read_if},
    {"items", read_items}, {"maxContains", read_max_contains}, {"maxItems", read_max_items},
    {"maxLength", read_max_length}, {"maxProperties", read_max_properties},
    {"maximum", read_maximum}, {"minContains", read_min_contains}, {"minItems", read_min_items},
    {"minLength", read_min_length}, {"minProperties", read_min_properties},
    {"minimum", read_minimum}, {"multipleOf", read_multiple}, {"not", read_not},
    {"oneOf", read_one}, {"pattern", read_pattern}, {"patternProperties", read_patterns},
    {"prefixItems", read_prefix}, {"properties", read_properties}, {"propertyNames", read_names},
    {"required", read_required}, {"then", read_then}, {"type", types_of},
    {"unevaluatedItems", read_unevaluated_items},
    {"unevaluatedProperties", read_unevaluated_properties}, {"uniqueItems", read_unique}};

/* What 2020-12 defines beside them. None of it limits a value. */
static const char *const annotations[] = {"$comment", "$id", "$schema", "$vocabulary",
    "contentEncoding", "contentMediaType", "contentSchema", "default", "deprecated", "description",
    "examples", "readOnly", "title", "writeOnly"};

#define ANNOTATIONS_N (sizeof annotations / sizeof *annotations)
#define KEYWORDS_N    (sizeof keywords / sizeof *keywords)
_Static_assert(ANNOTATIONS_N + KEYWORDS_N <= WRIT_JSONSCHEMA_NAMES_MAX, "room for all names");

/* ---- one schema ---- */

static WRIT_RESULT
add_resource(struct compiling *c, const struct writ_json *node, struct writ_view base,
    struct writ_view id, const struct writ_keyword_resource **ret)
{
    struct writ_keyword_resource *resource = writ_arena_zeroed(c->s->arena, sizeof *resource);

    if (resource == NULL) {
        return no_memory(c);
    }
    WRIT_TRY(writ_uri_reference_resolve(base, id, c->s->arena, &resource->uri));
    resource->root = node;
    resource->next = c->s->resources;
    c->s->resources = resource;
    *ret = resource;
    return WRIT_DONE;
}

/* The keywords of draft-07 that 2020-12 reads in another way. */
static WRIT_RESULT
check_old(struct reading *r, const struct writ_json *node)
{
    static const char *const other[] = {"additionalItems", "dependencies"};

    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        if (writ_json_get(node, writ_view_str(other[i])) != NULL) {
            return refuse(r->c, r->at, other[i], "is a keyword of draft-07 that is not supported");
        }
    }
    return writ_json_type(writ_json_get(node, WRIT_LIT("items"))) != WRIT_JSON_ARRAY
               ? WRIT_DONE
               : refuse(r->c, r->at, "items", "is a list, as in draft-07: write prefixItems");
}

/* In draft-07 nothing counts beside `$ref`. */
static bool
counts(const struct writ_jsonschema *s, const struct writ_json *node, const char *keyword)
{
    return !s->old || writ_json_get(node, WRIT_LIT("$ref")) == NULL ||
           writ_view_is(WRIT_LIT("$ref"), keyword) ||
           writ_view_is(WRIT_LIT("definitions"), keyword);
}

static WRIT_RESULT
read_keywords(struct reading *r, const struct writ_json *node)
{
    WRIT_TRY(check_old(r, node));
    for (size_t i = 0; i < KEYWORDS_N; i++) {
        r->keyword = keywords[i].name;
        r->value = writ_json_get(node, writ_view_str(r->keyword));
        if (r->value != NULL && counts(r->c->s, node, r->keyword)) {
            WRIT_TRY(keywords[i].read(r));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
new_rule(struct compiling *c, const struct writ_json *node, struct writ_keyword_rule **ret)
{
    struct writ_keyword_rule *rule = writ_arena_zeroed(c->s->arena, sizeof *rule);

    if (c->s->rules_n++ == WRIT_JSONSCHEMA_RULES_MAX) {
        WRIT_FAIL(
            c->err, WRIT_E_LIMIT, "a schema has more than %d schemas", WRIT_JSONSCHEMA_RULES_MAX);
    }
    if (rule == NULL) {
        return no_memory(c);
    }
    rule->node = node;
    rule->max_length = rule->max_items = rule->max_contains = rule->max_properties = UINT64_MAX;
    rule->min_contains = 1;
    rule->next = c->s->first;
    c->s->first = rule;
    c->s->rules[node - c->s->root] = rule;
    *ret = rule;
    return WRIT_DONE;
}

static WRIT_RESULT
compile(struct compiling *c, const struct writ_json *node,
    const struct writ_keyword_resource *resource, const struct writ_trail *at,
    const struct writ_keyword_rule **ret)
{
    const struct writ_json *id = writ_json_get(node, WRIT_LIT("$id"));
    struct writ_keyword_rule *rule = c->s->rules[node - c->s->root];
    writ_result r = WRIT_DONE;

    if (rule != NULL) {
        *ret = rule;
        return WRIT_DONE;
    }
    if (writ_json_type(node) != WRIT_JSON_OBJECT && writ_json_type(node) != WRIT_JSON_TRUE &&
        writ_json_type(node) != WRIT_JSON_FALSE) {
        return refuse(c, at, "", "is not a schema: an object, true or false");
    }
    if (c->depth == WRIT_JSONSCHEMA_DEPTH_MAX) {
        WRIT_FAIL(
            c->err, WRIT_E_LIMIT, "schemas are nested deeper than %d", WRIT_JSONSCHEMA_DEPTH_MAX);
    }
    WRIT_TRY(new_rule(c, node, &rule));
    rule->never = writ_json_type(node) == WRIT_JSON_FALSE;
    rule->resource = resource;
    if (writ_json_type(id) == WRIT_JSON_STRING && node != c->s->root) {
        WRIT_TRY(add_resource(c, node, resource->uri, writ_json_string(id), &rule->resource));
    }
    if (writ_json_type(node) == WRIT_JSON_OBJECT) {
        struct reading reading = {.c = c, .rule = rule, .at = at};
        c->depth++;
        r = read_keywords(&reading, node);
        c->depth--;
    }
    *ret = rule;
    return r;
}

/* ---- references ---- */

static const struct writ_keyword_anchor *
find_anchor(const struct writ_jsonschema *s, const struct writ_keyword_resource *resource,
    struct writ_view name)
{
    const struct writ_keyword_anchor *anchor = s->anchors;

    while (
        anchor != NULL && (anchor->resource != resource || !writ_view_equal(anchor->name, name))) {
        anchor = anchor->next;
    }
    return anchor;
}

static const struct writ_keyword_resource *
find_resource(const struct writ_jsonschema *s, struct writ_view uri)
{
    const struct writ_keyword_resource *resource = s->resources;

    while (resource != NULL && !writ_view_equal(resource->uri, uri)) {
        resource = resource->next;
    }
    return resource;
}

static WRIT_RESULT
leads_nowhere(struct compiling *c, struct writ_view reference)
{
    WRIT_FAIL(c->err, WRIT_E_INVALID,
        "$ref \"" WRIT_VIEW_FMT
        "\" leads to no place in the schema, and nothing is fetched: put what it means into $defs",
        WRIT_VIEW_ARG(writ_view_sub(reference, 0, 200)));
}

/* The rule that a reference leads to; `ret_anchor` (may be NULL): by which anchor. */
static WRIT_RESULT
follow(struct compiling *c, const struct writ_keyword_rule *from, struct writ_view reference,
    const struct writ_keyword_rule **ret, const struct writ_keyword_anchor **ret_anchor)
{
    static const struct writ_trail root = {.up = NULL};
    const struct writ_keyword_resource *resource;
    const struct writ_keyword_anchor *anchor;
    const struct writ_json *node;
    struct writ_view uri = {NULL, 0}, fragment = {NULL, 0};

    WRIT_TRY(writ_uri_reference_resolve(from->resource->uri, reference, c->s->arena, &uri));
    resource = find_resource(c->s, uri);
    if (resource == NULL ||
        !writ_is_ok(writ_uri_reference_fragment(reference, c->s->arena, &fragment))) {
        return leads_nowhere(c, reference);
    }
    if (fragment.len > 0 && fragment.ptr[0] != '/') {
        anchor = find_anchor(c->s, resource, fragment);
        if (anchor == NULL) {
            return leads_nowhere(c, reference);
        }
        *ret = anchor->rule;
        *ret_anchor = anchor;
        return WRIT_DONE;
    }
    node = writ_json_pointer(resource->root, fragment);
    if (node == NULL) {
        return leads_nowhere(c, reference);
    }
    return compile(c, node, resource, &root, ret);
}

static WRIT_RESULT
resolve(struct compiling *c, struct writ_keyword_rule *rule)
{
    const struct writ_keyword_anchor *anchor = NULL;

    if (rule->reference.ptr != NULL) {
        WRIT_TRY(follow(c, rule, rule->reference, &rule->target, &anchor));
    }
    anchor = NULL;
    if (rule->dynamic_reference.ptr != NULL) {
        WRIT_TRY(follow(c, rule, rule->dynamic_reference, &rule->dynamic_target, &anchor));
        if (anchor != NULL && anchor->dynamic) {
            rule->dynamic_name = anchor->name;
        }
    }
    return WRIT_DONE;
}

/* Resolving may make further rules, in front of those that are resolved. */
static WRIT_RESULT
resolve_all(struct compiling *c)
{
    struct writ_keyword_rule *done = NULL;

    while (c->s->first != done) {
        struct writ_keyword_rule *begin = c->s->first;
        for (struct writ_keyword_rule *rule = begin; rule != done; rule = rule->next) {
            WRIT_TRY(resolve(c, rule));
        }
        done = begin;
    }
    return WRIT_DONE;
}

/* ---- the whole ---- */

/* 2020-12, or draft-07 as far as it means the same. */
static WRIT_RESULT
read_dialect(struct compiling *c)
{
    static const struct writ_trail root = {.up = NULL};
    struct writ_view dialect = writ_json_string(writ_json_get(c->s->root, WRIT_LIT("$schema")));

    if (dialect.len > 0 && dialect.ptr[dialect.len - 1] == '#') {
        dialect.len--;
    }
    c->s->old = writ_view_is(dialect, "http://json-schema.org/draft-07/schema") ||
                writ_view_is(dialect, "https://json-schema.org/draft-07/schema");
    if (dialect.ptr == NULL || c->s->old ||
        writ_view_is(dialect, "https://json-schema.org/draft/2020-12/schema")) {
        return WRIT_DONE;
    }
    return refuse(c, &root, "$schema", "names a dialect that is neither 2020-12 nor draft-07");
}

static WRIT_RESULT
build(struct compiling *c, const struct writ_json *schema)
{
    static const struct writ_trail root = {.up = NULL};
    const struct writ_keyword_resource *resource;
    const struct writ_keyword_rule *rule;
    struct writ_jsonschema *s = c->s;
    struct writ_view id;

    s->root = writ_json_copy(schema, s->arena);
    if (s->root == NULL) {
        return no_memory(c);
    }
    s->rules = writ_arena_zeroed(s->arena, s->root->span * sizeof *s->rules);
    s->patterns = writ_arena_zeroed(s->arena, PATTERNS_MAX * sizeof *s->patterns);
    if (s->rules == NULL || s->patterns == NULL) {
        return no_memory(c);
    }
    WRIT_TRY(read_dialect(c));
    id = writ_json_string(writ_json_get(s->root, WRIT_LIT("$id")));
    WRIT_TRY(add_resource(c, s->root, WRIT_LIT(""), id.ptr != NULL ? id : WRIT_LIT(""), &resource));
    WRIT_TRY(compile(c, s->root, resource, &root, &rule));
    return resolve_all(c);
}

WRIT_RESULT
writ_jsonschema_new(const struct writ_json *schema, enum writ_jsonschema_formats formats,
    struct writ_jsonschema **ret, struct writ_err *err)
{
    struct writ_jsonschema *s = writ_alloc(sizeof *s);
    struct compiling c = {.s = s, .err = err};
    writ_result r;

    if (s == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a schema");
    }
    *s = (struct writ_jsonschema){.arena = writ_arena_new(ARENA_MAX), .formats = formats};
    r = s->arena != NULL ? build(&c, schema) : no_memory(&c);
    if (!writ_is_ok(r)) {
        writ_jsonschema_free(s);
        return r;
    }
    *ret = s;
    return WRIT_DONE;
}

/* ---- members that are no keywords ---- */

size_t
writ_jsonschema_names(const char *ret[WRIT_JSONSCHEMA_NAMES_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < ANNOTATIONS_N; i++) {
        ret[n++] = annotations[i];
    }
    for (size_t i = 0; i < KEYWORDS_N; i++) {
        ret[n++] = keywords[i].name;
    }
    return n;
}

static bool
is_known(struct writ_view name)
{
    const char *names[WRIT_JSONSCHEMA_NAMES_MAX];
    size_t n = writ_jsonschema_names(names);

    for (size_t i = 0; i < n; i++) {
        if (writ_view_is(name, names[i])) {
            return true;
        }
    }
    return writ_view_has_prefix(name, WRIT_LIT("x-"));
}

struct seeking {
    const struct writ_jsonschema *s;
    void (*found)(void *to, const struct writ_trail *at);
    void *to;
};

/* All nodes are visited, because a reference can make a schema of any. */
static void
seek(const struct seeking *k, const struct writ_json *node, const struct writ_trail *at)
{
    bool is_schema = k->s->rules[node - k->s->root] != NULL;
    bool is_object = writ_json_type(node) == WRIT_JSON_OBJECT;
    struct writ_trail down = {.up = at};

    WRIT_JSON_EACH(child, node)
    {
        if (is_object) {
            down.name = writ_json_string(child);
        }
        if (is_object && is_schema && !is_known(down.name)) {
            k->found(k->to, &down);
        }
        seek(k, is_object ? writ_json_value(child) : child, &down);
        down.index++;
    }
}

void
writ_jsonschema_unknown(const struct writ_jsonschema *schema,
    void (*found)(void *to, const struct writ_trail *at), void *to)
{
    static const struct writ_trail root = {.up = NULL};

    seek(&(struct seeking){schema, found, to}, schema->root, &root);
}

void
writ_jsonschema_free(struct writ_jsonschema *schema)
{
    if (schema == NULL) {
        return;
    }
    for (size_t i = 0; i < schema->patterns_n; i++) {
        writ_pattern_free(schema->patterns[i]);
    }
    writ_arena_free(schema->arena);
    writ_free(schema);
}
