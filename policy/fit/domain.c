/* domain.c - a schema as a tree of sets: NODE, the keywords of one schema object; ALL, of which a
 * value satisfies every part; ANY, of which it satisfies one. Each answer is made of the answers of
 * the parts, and a part that is not understood answers with what is true of anything. */
#include "policy/fit/domain.h"

#include "base/text.h"
#include "base/utf8.h"
#include "evidence/json/write.h"
#include "policy/decide/evaluate.h"
#include "policy/decide/value.h"

#define PARTS_MAX   64 /* of one allOf, anyOf or oneOf */
#define VALUES_TOLD 5  /* values of an enum that are named */
#define VALUE_TOLD  40 /* bytes of each */
#define FORMS_TOLD  3

#define NUMBERS   (WRIT_CONSTRAINT_NUMBER | WRIT_CONSTRAINT_INTEGER)
#define ALL_TYPES (WRIT_CONSTRAINT_ANY - 1)

struct writ_domain {
    enum { TREE_NODE = 0, TREE_ALL, TREE_ANY } kind;
    enum writ_domain_place place; /* NODE */
    const struct writ_json *node; /* NODE; NULL unless LISTED */
    const struct writ_domain **parts;
    size_t n;
};

static const struct writ_domain anything = {.place = WRIT_DOMAIN_ANYTHING};
static const struct writ_domain unlisted = {.place = WRIT_DOMAIN_UNLISTED};
static const struct writ_domain absent = {.place = WRIT_DOMAIN_ABSENT};

/* ---- making */

static struct writ_domain *
tree_new(struct writ_domain_reading *reading, int kind, size_t parts)
{
    struct writ_domain *tree = writ_arena_get(reading->arena, sizeof *tree);

    if (tree == NULL || reading->work >= WRIT_DOMAIN_WORK_MAX) {
        return NULL;
    }
    reading->work++;
    *tree = (struct writ_domain){.kind = (__typeof__(tree->kind))kind};
    if (parts > 0) {
        tree->parts = writ_arena_get(reading->arena, parts * sizeof(void *));
    }
    return parts > 0 && tree->parts == NULL ? NULL : tree;
}

/* The one tree that says what the parts say. Impossible forms are left out. */
static const struct writ_domain *
join(struct writ_domain *tree)
{
    size_t kept = 0;

    for (size_t i = 0; i < tree->n && tree->kind == TREE_ANY; i++) {
        if (writ_domain_place(tree->parts[i]) != WRIT_DOMAIN_ABSENT) {
            tree->parts[kept++] = tree->parts[i];
        }
    }
    tree->n = tree->kind == TREE_ANY ? kept : tree->n;
    if (tree->n == 0) {
        return tree->kind == TREE_ANY ? &absent : &anything;
    }
    return tree->n == 1 ? tree->parts[0] : tree;
}

static const struct writ_domain *make(
    struct writ_domain_reading *reading, const struct writ_json *schema, unsigned depth);

static const struct writ_domain *
make_list(
    struct writ_domain_reading *reading, const struct writ_json *list, int kind, unsigned depth)
{
    struct writ_domain *tree;

    if (writ_json_type(list) != WRIT_JSON_ARRAY || list->count == 0 || list->count > PARTS_MAX) {
        return &anything;
    }
    tree = tree_new(reading, kind, list->count);
    if (tree == NULL) {
        return &anything;
    }
    WRIT_JSON_EACH(one, list)
    {
        tree->parts[tree->n++] = make(reading, one, depth + 1);
    }
    return join(tree);
}

/* A reference within the schema; one to elsewhere may say anything. */
static const struct writ_domain *
make_ref(struct writ_domain_reading *reading, const struct writ_json *node, unsigned depth)
{
    struct writ_view ref = writ_json_string(writ_json_get(node, WRIT_LIT("$ref")));

    if (!writ_view_has_prefix(ref, WRIT_LIT("#"))) {
        return &anything;
    }
    return make(
        reading, writ_json_pointer(reading->root, writ_view_sub(ref, 1, SIZE_MAX)), depth + 1);
}

static const struct writ_domain *
make(struct writ_domain_reading *reading, const struct writ_json *schema, unsigned depth)
{
    struct writ_domain *tree, *own;

    if (writ_json_type(schema) == WRIT_JSON_FALSE) {
        return &absent;
    }
    if (writ_json_type(schema) != WRIT_JSON_OBJECT || depth > WRIT_DOMAIN_DEPTH_MAX) {
        return &anything;
    }
    tree = tree_new(reading, TREE_ALL, 5);
    own = tree_new(reading, TREE_NODE, 0);
    if (tree == NULL || own == NULL) {
        return &anything;
    }
    own->place = WRIT_DOMAIN_LISTED;
    own->node = schema;
    tree->parts[tree->n++] = own;
    if (writ_json_get(schema, WRIT_LIT("$ref")) != NULL) {
        tree->parts[tree->n++] = make_ref(reading, schema, depth);
    }
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"allOf", "anyOf", "oneOf"};
        const struct writ_json *list = writ_json_get(schema, writ_view_str(names[i]));
        if (list != NULL) {
            tree->parts[tree->n++] = make_list(reading, list, i == 0 ? TREE_ALL : TREE_ANY, depth);
        }
    }
    return join(tree);
}

const struct writ_domain *
writ_domain_of(struct writ_domain_reading *reading, const struct writ_json *schema)
{
    return make(reading, schema, 0);
}

/* ---- places */

/* Of all that hold, the one that says most; of several forms, what one of them allows. */
enum writ_domain_place
writ_domain_place(const struct writ_domain *domain)
{
    bool has[WRIT_DOMAIN_LISTED + 1] = {false};

    if (domain->kind == TREE_NODE) {
        return domain->place;
    }
    for (size_t i = 0; i < domain->n; i++) {
        has[writ_domain_place(domain->parts[i])] = true;
    }
    if (domain->kind == TREE_ALL) {
        return has[WRIT_DOMAIN_ABSENT]     ? WRIT_DOMAIN_ABSENT
               : has[WRIT_DOMAIN_LISTED]   ? WRIT_DOMAIN_LISTED
               : has[WRIT_DOMAIN_UNLISTED] ? WRIT_DOMAIN_UNLISTED
                                           : WRIT_DOMAIN_ANYTHING;
    }
    return has[WRIT_DOMAIN_LISTED]     ? WRIT_DOMAIN_LISTED
           : has[WRIT_DOMAIN_ANYTHING] ? WRIT_DOMAIN_ANYTHING
           : has[WRIT_DOMAIN_UNLISTED] ? WRIT_DOMAIN_UNLISTED
                                       : WRIT_DOMAIN_ABSENT;
}

static unsigned
bit_of_name(struct writ_view name)
{
#define BIT_OF(NAME, word, bit)                                                                    \
    if (writ_view_is(name, word)) {                                                                \
        return WRIT_CONSTRAINT_##NAME;                                                             \
    }
    WRIT_CONSTRAINT_TYPES(BIT_OF)
#undef BIT_OF
    return 0;
}

/* A number may be an integer. */
static unsigned
spread(unsigned types)
{
    return types & WRIT_CONSTRAINT_ANY ? (unsigned)ALL_TYPES
                                       : types | (types & WRIT_CONSTRAINT_NUMBER ? NUMBERS : 0u);
}

static unsigned
bit_of_value(const struct writ_json *value)
{
    struct writ_decimal number;

    switch (writ_json_type(value)) {
    case WRIT_JSON_NULL:
        return WRIT_CONSTRAINT_NULL;
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return WRIT_CONSTRAINT_BOOLEAN;
    case WRIT_JSON_NUMBER: /* 3.0 is an integer too */
        return writ_is_ok(writ_decimal_read(writ_json_text(value), &number)) && number.exponent < 0
                   ? WRIT_CONSTRAINT_NUMBER
                   : (unsigned)NUMBERS;
    case WRIT_JSON_STRING:
        return WRIT_CONSTRAINT_STRING;
    case WRIT_JSON_ARRAY:
        return WRIT_CONSTRAINT_ARRAY;
    case WRIT_JSON_OBJECT:
        return WRIT_CONSTRAINT_OBJECT;
    case WRIT_JSON_NONE:
        break;
    }
    return 0;
}

/* The types that `type`, `enum` and `const` of one node leave. A type with a name that is not known
 * leaves all. */
static unsigned
types_of(const struct writ_json *node)
{
    const struct writ_json *type = writ_json_get(node, WRIT_LIT("type"));
    const struct writ_json *values = writ_json_get_typed(node, WRIT_LIT("enum"), WRIT_JSON_ARRAY);
    const struct writ_json *one = writ_json_get(node, WRIT_LIT("const"));
    unsigned types = ALL_TYPES, listed = 0, named = bit_of_name(writ_json_string(type));

    if (named != 0) {
        types = spread(named);
    } else if (writ_json_type(type) == WRIT_JSON_ARRAY && type->count > 0) {
        bool known = true;
        WRIT_JSON_EACH(name, type)
        {
            unsigned bit = bit_of_name(writ_json_string(name));
            known = known && bit != 0;
            named |= spread(bit);
        }
        types = known ? named : (unsigned)ALL_TYPES;
    }
    WRIT_JSON_EACH(value, values)
    {
        listed |= bit_of_value(value);
    }
    types &= values != NULL ? listed : (unsigned)ALL_TYPES;
    return types & (one != NULL ? bit_of_value(one) : (unsigned)ALL_TYPES);
}

unsigned
writ_domain_types(const struct writ_domain *domain)
{
    unsigned all = ALL_TYPES, any = 0;

    if (domain->kind == TREE_NODE) {
        return domain->node != NULL ? types_of(domain->node) : (unsigned)ALL_TYPES;
    }
    for (size_t i = 0; i < domain->n; i++) {
        all &= writ_domain_types(domain->parts[i]);
        any |= writ_domain_types(domain->parts[i]);
    }
    return domain->kind == TREE_ALL ? all : any;
}

/* A list has elements by number, an object members by name; a node that may be both says nothing
 * of a number. */
static const struct writ_domain *
node_child(
    struct writ_domain_reading *reading, const struct writ_json *node, struct writ_view token)
{
    unsigned types = types_of(node);
    const struct writ_json *properties = writ_json_get(node, WRIT_LIT("properties"));
    const struct writ_json *listed = writ_json_get(properties, token);
    const struct writ_json *rest = writ_json_get(node, WRIT_LIT("additionalProperties"));
    const struct writ_json *patterns = writ_json_get(node, WRIT_LIT("patternProperties"));
    uint64_t index;

    if ((types & WRIT_CONSTRAINT_ARRAY) != 0 && listed == NULL &&
        writ_is_ok(writ_text_u64(token, 0, UINT32_MAX, &index))) {
        return &anything;
    }
    if ((types & WRIT_CONSTRAINT_OBJECT) == 0) {
        return &absent;
    }
    if (listed != NULL) {
        return make(reading, listed, 0);
    }
    if (writ_json_first(patterns) != NULL) {
        return &anything;
    }
    rest = rest != NULL ? rest : writ_json_get(node, WRIT_LIT("unevaluatedProperties"));
    if (writ_json_type(rest) == WRIT_JSON_FALSE) {
        return writ_json_get(node, WRIT_LIT("unevaluatedProperties")) == rest ? &unlisted : &absent;
    }
    if (writ_json_type(rest) == WRIT_JSON_OBJECT) {
        return make(reading, rest, 0);
    }
    return writ_json_first(properties) != NULL ? &unlisted : &anything;
}

static const struct writ_domain *
node_element(struct writ_domain_reading *reading, const struct writ_json *node)
{
    if ((types_of(node) & WRIT_CONSTRAINT_ARRAY) == 0) {
        return &absent;
    }
    if (writ_json_get(node, WRIT_LIT("prefixItems")) != NULL) {
        return &anything;
    }
    return make(reading, writ_json_get(node, WRIT_LIT("items")), 0);
}

/* `token` NULL: an element. */
static const struct writ_domain *
below(struct writ_domain_reading *reading, const struct writ_domain *domain,
    const struct writ_view *token)
{
    struct writ_domain *tree;

    if (domain->kind == TREE_NODE) {
        if (domain->node == NULL) {
            return domain;
        }
        return token != NULL ? node_child(reading, domain->node, *token)
                             : node_element(reading, domain->node);
    }
    tree = tree_new(reading, domain->kind, domain->n);
    if (tree == NULL) {
        return &anything;
    }
    for (size_t i = 0; i < domain->n; i++) {
        tree->parts[tree->n++] = below(reading, domain->parts[i], token);
    }
    return join(tree);
}

const struct writ_domain *
writ_domain_child(
    struct writ_domain_reading *reading, const struct writ_domain *domain, struct writ_view token)
{
    return below(reading, domain, &token);
}

const struct writ_domain *
writ_domain_element(struct writ_domain_reading *reading, const struct writ_domain *domain)
{
    return below(reading, domain, NULL);
}

bool
writ_domain_requires(const struct writ_domain *domain, struct writ_view token)
{
    if (domain->kind == TREE_NODE) {
        const struct writ_json *required = writ_json_get(domain->node, WRIT_LIT("required"));
        WRIT_JSON_EACH(name, required)
        {
            if (writ_json_is(name, token)) {
                return true;
            }
        }
        return false;
    }
    for (size_t i = 0; i < domain->n; i++) {
        bool wants = writ_domain_requires(domain->parts[i], token);
        if (wants == (domain->kind == TREE_ALL)) {
            return wants; /* one of all is enough; of several forms, one without it */
        }
    }
    return domain->kind == TREE_ANY;
}

void
writ_domain_each(const struct writ_domain *domain, writ_domain_fn *fn, void *ctx)
{
    const struct writ_json *properties =
        writ_json_get_typed(domain->node, WRIT_LIT("properties"), WRIT_JSON_OBJECT);

    WRIT_JSON_EACH(name, properties)
    {
        fn(ctx, writ_json_string(name));
    }
    for (size_t i = 0; i < domain->n; i++) {
        writ_domain_each(domain->parts[i], fn, ctx);
    }
}

bool
writ_domain_is_open(const struct writ_domain *domain)
{
    if (domain->kind == TREE_NODE) {
        const struct writ_json *rest =
            writ_json_get(domain->node, WRIT_LIT("additionalProperties"));
        return writ_json_type(rest) == WRIT_JSON_OBJECT || writ_json_type(rest) == WRIT_JSON_TRUE ||
               writ_json_first(writ_json_get(domain->node, WRIT_LIT("patternProperties"))) !=
                   NULL ||
               (rest == NULL &&
                   writ_json_first(writ_json_get(domain->node, WRIT_LIT("properties"))) == NULL);
    }
    for (size_t i = 0; i < domain->n; i++) {
        bool open = writ_domain_is_open(domain->parts[i]);
        if (open == (domain->kind == TREE_ANY)) {
            return open;
        }
    }
    return domain->kind == TREE_ALL;
}

/* ---- values */

/* The bound that a keyword sets. False: it sets none. */
static bool
number_of(const struct writ_json *node, const char *name, struct writ_decimal *ret)
{
    const struct writ_json *value = writ_json_get(node, writ_view_str(name));

    return writ_json_type(value) == WRIT_JSON_NUMBER &&
           writ_is_ok(writ_decimal_read(writ_json_text(value), ret));
}

static bool
count_of(const struct writ_json *node, const char *name, uint64_t *ret)
{
    int64_t value = 0;
    bool found = writ_is_ok(
        writ_json_integer(writ_json_get(node, writ_view_str(name)), 0, INT64_MAX, &value));

    *ret = (uint64_t)value;
    return found;
}

/* Whether all numbers that a node takes are below, or above, this one; with `even`, or equal it. */
static bool
lie_below(const struct writ_json *node, const struct writ_decimal *number, bool even)
{
    struct writ_decimal end;

    return (number_of(node, "maximum", &end) &&
               writ_decimal_compare(&end, number) < (even ? 1 : 0)) ||
           (number_of(node, "exclusiveMaximum", &end) && writ_decimal_compare(&end, number) <= 0);
}

static bool
lie_above(const struct writ_json *node, const struct writ_decimal *number, bool even)
{
    struct writ_decimal end;

    return (number_of(node, "minimum", &end) &&
               writ_decimal_compare(&end, number) > (even ? -1 : 0)) ||
           (number_of(node, "exclusiveMinimum", &end) && writ_decimal_compare(&end, number) >= 0);
}

static bool
fits_length(const struct writ_json *node, const char *least, const char *most, uint64_t length)
{
    uint64_t end;

    return !(count_of(node, least, &end) && length < end) &&
           !(count_of(node, most, &end) && length > end);
}

static bool
is_listed(const struct writ_json *node, const struct writ_json *value)
{
    const struct writ_json *values = writ_json_get_typed(node, WRIT_LIT("enum"), WRIT_JSON_ARRAY);
    const struct writ_json *one = writ_json_get(node, WRIT_LIT("const"));
    bool found = values == NULL;

    WRIT_JSON_EACH(listed, values)
    {
        found = found || writ_value_same(listed, value) != WRIT_SAME_NO;
    }
    return found && (one == NULL || writ_value_same(one, value) != WRIT_SAME_NO);
}

/* False only when the schema surely does not take it. */
static bool
takes(const struct writ_domain *domain, const struct writ_json *value)
{
    struct writ_decimal number;
    bool any = false;

    if (domain->kind != TREE_NODE) {
        for (size_t i = 0; i < domain->n; i++) {
            bool one = takes(domain->parts[i], value);
            if (!one && domain->kind == TREE_ALL) {
                return false;
            }
            any = any || one;
        }
        return any;
    }
    if (domain->node == NULL) {
        return true;
    }
    if ((types_of(domain->node) & bit_of_value(value)) == 0 || !is_listed(domain->node, value)) {
        return false;
    }
    if (writ_json_type(value) == WRIT_JSON_STRING) {
        return fits_length(
            domain->node, "minLength", "maxLength", writ_utf8_points(writ_json_string(value)));
    }
    if (writ_json_type(value) == WRIT_JSON_ARRAY) {
        return fits_length(domain->node, "minItems", "maxItems", value->count);
    }
    return writ_json_type(value) != WRIT_JSON_NUMBER ||
           !writ_is_ok(writ_decimal_read(writ_json_text(value), &number)) ||
           (!lie_below(domain->node, &number, false) && !lie_above(domain->node, &number, false));
}

/* ---- relations */

static enum writ_domain_answer
answer(bool never, bool always)
{
    return never ? WRIT_DOMAIN_NEVER : always ? WRIT_DOMAIN_ALWAYS : WRIT_DOMAIN_SOMETIMES;
}

/* The types of which an op says something: of another one it does not hold. */
static unsigned
types_of_op(const struct writ_constraint *c)
{
    unsigned types = 0;

    switch (c->op) {
    case WRIT_OP_LT:
    case WRIT_OP_LE:
    case WRIT_OP_GT:
    case WRIT_OP_GE:
        return NUMBERS;
    case WRIT_OP_MIN_LENGTH:
    case WRIT_OP_MAX_LENGTH:
    case WRIT_OP_PREFIX:
    case WRIT_OP_SUFFIX:
    case WRIT_OP_MATCHES:
    case WRIT_OP_NOT_MATCHES:
    case WRIT_OP_GLOB:
    case WRIT_OP_UNDER:
    case WRIT_OP_HOST_IN:
        return WRIT_CONSTRAINT_STRING;
    case WRIT_OP_EACH:
    case WRIT_OP_MIN_ITEMS:
    case WRIT_OP_MAX_ITEMS:
        return WRIT_CONSTRAINT_ARRAY;
    case WRIT_OP_TYPE:
        return spread(c->value.types);
    case WRIT_OP_EQ:
        return bit_of_value(c->value.json);
    case WRIT_OP_NE:
        return spread(bit_of_value(c->value.json));
    case WRIT_OP_IN:
    case WRIT_OP_NOT_IN:
        WRIT_JSON_EACH(value, c->value.json)
        {
            types |= c->op == WRIT_OP_IN ? bit_of_value(value) : spread(bit_of_value(value));
        }
        return types;
    case WRIT_OP_FROM:
    case WRIT_OP_SCHEMA:
        return ALL_TYPES;
    case WRIT_OP_CONTAINS:
    case WRIT_OP_LACKS:
    case WRIT_OP_REQUIRED:
        return ALL_TYPES & ~WRIT_CONSTRAINT_NULL;
    case WRIT_OP_NONE:
    case WRIT_OP_FORBIDDEN:
    case WRIT_OP_COUNT:
        break;
    }
    return 0;
}

/* Each listed value by the op itself. */
static enum writ_domain_answer
relate_values(struct writ_domain_reading *reading, const struct writ_json *node,
    const struct writ_constraint *c)
{
    static const struct writ_constraint_path here = {{NULL, 0}};
    const struct writ_json *values = writ_json_get_typed(node, WRIT_LIT("enum"), WRIT_JSON_ARRAY);
    const struct writ_json *one = writ_json_get(node, WRIT_LIT("const"));
    struct writ_constraint own = *c;
    const struct writ_constraint_set set = {.items = &own, .n = 1, .paths = &here, .paths_n = 1};
    size_t yes = 0, no = 0, error = 0;

    own.path = 0;
    for (const struct writ_json *value = one != NULL ? one : writ_json_first(values); value != NULL;
         value = one != NULL ? NULL : writ_json_next(values, value)) {
        enum writ_holds holds = writ_evaluate_one(&set, &own, value, reading->arena, NULL);
        if (writ_json_type(value) != WRIT_JSON_NULL) {
            yes += holds == WRIT_HOLDS_YES;
            no += holds == WRIT_HOLDS_NO;
            error += holds == WRIT_HOLDS_ERROR;
        }
    }
    return answer(yes == 0 && error == 0 && no > 0, yes > 0 && no == 0 && error == 0);
}

/* What `minimum` and the like say of a comparison. */
static enum writ_domain_answer
relate_number(const struct writ_json *node, const struct writ_constraint *c)
{
    const struct writ_decimal *bound = &c->value.bound;

    if (c->op == WRIT_OP_LT) {
        return answer(lie_above(node, bound, true), lie_below(node, bound, false));
    }
    if (c->op == WRIT_OP_LE) {
        return answer(lie_above(node, bound, false), lie_below(node, bound, true));
    }
    if (c->op == WRIT_OP_GT) {
        return answer(lie_below(node, bound, true), lie_above(node, bound, false));
    }
    return answer(lie_below(node, bound, false), lie_above(node, bound, true));
}

static enum writ_domain_answer
relate_least(const struct writ_json *node, const char *least, const char *most, uint64_t wanted)
{
    uint64_t from, to;

    return answer(count_of(node, most, &to) && to < wanted,
        wanted == 0 || (count_of(node, least, &from) && from >= wanted));
}

static enum writ_domain_answer
relate_most(const struct writ_json *node, const char *least, const char *most, uint64_t wanted)
{
    uint64_t from, to;

    return answer(
        count_of(node, least, &from) && from > wanted, count_of(node, most, &to) && to <= wanted);
}

/* By the keywords of one node, of which all values have a type that the op is about. */
static enum writ_domain_answer
relate_node(struct writ_domain_reading *reading, const struct writ_json *node,
    const struct writ_constraint *c)
{
    if (writ_json_get(node, WRIT_LIT("enum")) != NULL ||
        writ_json_get(node, WRIT_LIT("const")) != NULL) {
        return relate_values(reading, node, c);
    }
    if (writ_op_row(c->op)->value == WRIT_OP_VALUE_NUMBER) {
        return relate_number(node, c);
    }
    if (c->op == WRIT_OP_MIN_LENGTH) {
        return relate_least(node, "minLength", "maxLength", c->value.length);
    }
    if (c->op == WRIT_OP_MAX_LENGTH) {
        return relate_most(node, "minLength", "maxLength", c->value.length);
    }
    if (c->op == WRIT_OP_MIN_ITEMS) {
        return relate_least(node, "minItems", "maxItems", c->value.length);
    }
    if (c->op == WRIT_OP_MAX_ITEMS) {
        return relate_most(node, "minItems", "maxItems", c->value.length);
    }
    return c->op == WRIT_OP_TYPE || c->op == WRIT_OP_REQUIRED ? WRIT_DOMAIN_ALWAYS
                                                              : WRIT_DOMAIN_SOMETIMES;
}

static enum writ_domain_answer
relate(struct writ_domain_reading *reading, const struct writ_domain *domain,
    const struct writ_constraint *c)
{
    size_t never = 0, always = 0;

    if (domain->kind == TREE_NODE) {
        unsigned types = domain->node != NULL ? types_of(domain->node) : (unsigned)ALL_TYPES;
        unsigned wanted = types_of_op(c);

        if ((types & wanted) == 0) {
            return WRIT_DOMAIN_NEVER;
        }
        if (domain->node == NULL) {
            return WRIT_DOMAIN_SOMETIMES;
        }
        if ((types & ~wanted & ~(unsigned)WRIT_CONSTRAINT_NULL) == 0) {
            return relate_node(reading, domain->node, c);
        }
        return relate_node(reading, domain->node, c) == WRIT_DOMAIN_NEVER ? WRIT_DOMAIN_NEVER
                                                                          : WRIT_DOMAIN_SOMETIMES;
    }
    for (size_t i = 0; i < domain->n; i++) {
        enum writ_domain_answer one = relate(reading, domain->parts[i], c);
        never += one == WRIT_DOMAIN_NEVER;
        always += one == WRIT_DOMAIN_ALWAYS;
    }
    if (domain->kind == TREE_ALL) { /* what one part says, holds for all of it */
        return answer(never > 0, always > 0);
    }
    return answer(never == domain->n, always == domain->n);
}

/* The values that an op lists: whether the schema takes any of them. */
static bool
takes_any(const struct writ_domain *domain, const struct writ_json *values)
{
    WRIT_JSON_EACH(value, values)
    {
        if (takes(domain, value)) {
            return true;
        }
    }
    return false;
}

enum writ_domain_answer
writ_domain_relate(struct writ_domain_reading *reading, const struct writ_domain *domain,
    const struct writ_constraint *constraint)
{
    enum writ_domain_answer answered = relate(reading, domain, constraint);

    if (answered == WRIT_DOMAIN_NEVER) {
        return answered;
    }
    if ((constraint->op == WRIT_OP_EQ && !takes(domain, constraint->value.json)) ||
        (constraint->op == WRIT_OP_IN && !takes_any(domain, constraint->value.json))) {
        return WRIT_DOMAIN_NEVER;
    }
    return answered;
}

/* ---- words */

static void
describe_values(const struct writ_json *values, struct writ_buf *ret)
{
    size_t told = 0;

    WRIT_JSON_EACH(value, values)
    {
        writ_auto_buf text = writ_buf_make(4096);
        if (told++ == VALUES_TOLD) {
            writ_buf_str(ret, " and others");
            return;
        }
        writ_buf_str(ret, told > 1 ? ", " : "one of ");
        if (writ_json_type(value) == WRIT_JSON_STRING) {
            writ_text_json_safe(&text, writ_json_string(value), VALUE_TOLD);
        } else {
            struct writ_write w = writ_write_to(&text);
            writ_write_verbatim(&w, value);
            WRIT_IGNORE(writ_write_end(&w, NULL)); /* what is too long is left out */
        }
        writ_buf_put(ret, writ_view_sub(writ_buf_view(&text), 0, 2 * VALUE_TOLD));
    }
}

static void
put_end(const struct writ_json *node, const char *name, const char *words, struct writ_buf *ret)
{
    const struct writ_json *end = writ_json_get(node, writ_view_str(name));

    if (writ_json_type(end) == WRIT_JSON_NUMBER) {
        writ_buf_str(ret, words);
        writ_buf_put(ret, writ_view_sub(writ_json_text(end), 0, VALUE_TOLD));
    }
}

static void
describe_node(const struct writ_json *node, struct writ_buf *ret)
{
    static const struct {
        unsigned bit;
        const char *words;
    } names[] = {{WRIT_CONSTRAINT_STRING, "a string"}, {WRIT_CONSTRAINT_NUMBER, "a number"},
        {WRIT_CONSTRAINT_INTEGER, "an integer"}, {WRIT_CONSTRAINT_BOOLEAN, "a boolean"},
        {WRIT_CONSTRAINT_ARRAY, "a list"}, {WRIT_CONSTRAINT_OBJECT, "an object"},
        {WRIT_CONSTRAINT_NULL, "null"}};
    unsigned types = types_of(node);
    const char *before = "";

    if (writ_json_get(node, WRIT_LIT("enum")) != NULL) {
        describe_values(writ_json_get(node, WRIT_LIT("enum")), ret);
        return;
    }
    if (types == ALL_TYPES) {
        return;
    }
    types &= types & WRIT_CONSTRAINT_NUMBER ? ~(unsigned)WRIT_CONSTRAINT_INTEGER : ~0u;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((types & names[i].bit) != 0) {
            writ_buf_str(ret, before);
            writ_buf_str(ret, names[i].words);
            before = " or ";
        }
    }
    put_end(node, "minimum", " from ", ret);
    put_end(node, "exclusiveMinimum", " above ", ret);
    put_end(node, "maximum", " up to ", ret);
    put_end(node, "exclusiveMaximum", " below ", ret);
    put_end(node, "minLength", " of length from ", ret);
    put_end(node, "maxLength", " of length up to ", ret);
    put_end(node, "minItems", " with items from ", ret);
    put_end(node, "maxItems", " with items up to ", ret);
}

void
writ_domain_describe(const struct writ_domain *domain, struct writ_buf *ret)
{
    size_t start = ret->len, told = 0;

    if (domain->kind == TREE_NODE) {
        if (domain->node != NULL) {
            describe_node(domain->node, ret);
        }
        return;
    }
    for (size_t i = 0; i < domain->n && told < FORMS_TOLD; i++) {
        size_t before = ret->len;
        writ_buf_str(ret, told == 0 ? "" : domain->kind == TREE_ALL ? ", " : " or ");
        size_t begin = ret->len;
        writ_domain_describe(domain->parts[i], ret);
        if (ret->len == begin) {
            writ_buf_cut(ret, before);
        } else {
            told++;
        }
    }
    if (domain->kind == TREE_ANY && told < domain->n && told < FORMS_TOLD) {
        writ_buf_cut(ret, start); /* one of the forms takes anything */
    }
}
