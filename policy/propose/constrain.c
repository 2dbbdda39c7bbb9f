/* One pass over a schema, value by value. Invariants:
 *
 * (1) A value gets all of its constraints or is refused: nothing that is read is dropped on the
 * way, so what passes is allowed by every keyword that is read. (2) Every value has a bound that
 * its schema or this file sets: a length, a range, a number of elements, a list of values. (3) A
 * path, a URL, a host or an amount has a placeholder, so that it is refused as proposed. */
#include "policy/propose/constrain.h"

#include "base/decimal.h"
#include "base/hidden.h"
#include "base/utf8.h"
#include "policy/model/trail.h"
#include "policy/model/constraint.h"
#include "policy/model/ecma.h"
#include "policy/propose/values.h"

#define WORK_MAX     2000 /* schemas of one tool */
#define SPOT_MAX     64   /* constraints that one value may take at most */
#define ARG_MAX      512  /* bytes of a name or pointer */
#define SAME_MAX     4    /* schemas that describe one member */
#define OPENING      5    /* words with which a description begins */
#define DESCRIBED    200  /* words of a description that are read */
#define LENGTH_ID    "256"
#define LENGTH_SHORT "4096"
#define LENGTH_LONG  "65536"
#define ITEMS_MOST   "100"
#define NUMBER_MOST  10000000000000LL /* milliseconds since 1970 are below it */
#define ID_MOST      9007199254740991LL
#define SMALL_MOST   10000
#define SECONDS_MOST 3600

/* A value on its way. */
struct value {
    struct writ_constrain *c;
    const struct writ_constrain_spot *spot;
    struct writ_constrain_list *ret;
    struct writ_facets facets;
    struct writ_words_context about;
};

/* ---- adding */

static struct writ_proposal_constraint *
add(struct value *v, enum writ_op op, const char *why)
{
    struct writ_proposal_constraint *one = writ_arena_get(v->c->arena, sizeof *one);
    struct writ_constrain_list *list = v->ret;

    if (one == NULL) {
        static struct writ_proposal_constraint nowhere;
        v->c->nomem = true;
        return &nowhere;
    }
    *one = (struct writ_proposal_constraint){.op = op,
        .arg = v->spot->arg,
        .optional = v->spot->optional,
        .nullable = v->facets.nullable,
        .why = why};
    if (list->last == NULL) {
        list->first = one;
    } else {
        list->last->next = one;
    }
    list->last = one;
    list->n++;
    return one;
}

static void
add_text(struct value *v, enum writ_op op, struct writ_view text, const char *why)
{
    add(v, op, why)->text = text;
}

static void
add_number(struct value *v, enum writ_op op, const struct writ_decimal *number, const char *why)
{
    struct writ_buf text = writ_buf_in(v->c->arena, WRIT_DECIMAL_PUT_MAX);

    writ_decimal_put(&text, number);
    v->c->nomem = v->c->nomem || !writ_is_ok(writ_buf_check(&text, NULL));
    add_text(v, op, writ_buf_view(&text), why);
}

static void
add_placeholder(struct value *v, enum writ_op op, struct writ_view text, const char *why)
{
    struct writ_proposal_constraint *one = add(v, op, why);

    one->text = text;
    one->placeholder = true;
    v->c->placeholders++;
}

/* Keeps (1): in place of all its constraints. */
static void
refuse(struct value *v, const char *why)
{
    struct writ_proposal_constraint *one = add(v, WRIT_OP_FORBIDDEN, why);

    one->optional = one->nullable = false;
    v->c->closed = v->c->closed || v->spot->needed;
}

/* ---- bounds of a schema */

static bool
has_keyword(const struct writ_facets *facets, size_t at, const char *name)
{
    return writ_json_get(facets->nodes[at], writ_view_str(name)) != NULL;
}

/* A length or a number of elements: the tightest of all schemas. False for one that is not. */
static bool
length_of(
    const struct writ_facets *facets, const char *keyword, bool least, uint64_t *ret, bool *set)
{
    *set = false;
    for (size_t i = 0; i < facets->n; i++) {
        const struct writ_json *bound = writ_json_get(facets->nodes[i], writ_view_str(keyword));
        uint64_t length;

        if (bound == NULL) {
            continue;
        }
        if (writ_json_type(bound) != WRIT_JSON_NUMBER || !(bound->number >= 0) ||
            bound->number > (double)(1ULL << 40)) {
            return false;
        }
        length = (uint64_t)bound->number;
        if (!*set || (least ? length > *ret : length < *ret)) {
            *ret = length;
        }
        *set = true;
    }
    return true;
}

struct bound {
    bool set, strict;
    struct writ_decimal at;
};

static bool
tighten(struct bound *bound, const struct writ_json *number, bool strict, bool least)
{
    struct writ_decimal at;
    int order;

    if (writ_json_type(number) != WRIT_JSON_NUMBER ||
        !writ_is_ok(writ_decimal_read(writ_json_text(number), &at))) {
        return false;
    }
    order = bound->set ? writ_decimal_compare(&at, &bound->at) : 0;
    if (!bound->set || (least ? order > 0 : order < 0) || (order == 0 && strict)) {
        *bound = (struct bound){true, strict, at};
    }
    return true;
}

/* The lower or the upper bound of a number; draft-04 says by true that the other one is strict. */
static bool
bound_of(const struct writ_facets *facets, bool least, struct bound *ret)
{
    const char *keyword = least ? "minimum" : "maximum";
    const char *strictly = least ? "exclusiveMinimum" : "exclusiveMaximum";

    *ret = (struct bound){.set = false};
    for (size_t i = 0; i < facets->n; i++) {
        const struct writ_json *plain = writ_json_get(facets->nodes[i], writ_view_str(keyword));
        const struct writ_json *strict = writ_json_get(facets->nodes[i], writ_view_str(strictly));
        enum writ_json_type type = writ_json_type(strict);
        bool flag = type == WRIT_JSON_TRUE || type == WRIT_JSON_FALSE;

        if ((plain != NULL && !tighten(ret, plain, type == WRIT_JSON_TRUE, least)) ||
            (strict != NULL && !flag && !tighten(ret, strict, true, least))) {
            return false;
        }
    }
    return true;
}

/* `max_length` and the like; `fallback` where no schema has one. False for one that is not. */
static bool
add_length(struct value *v, enum writ_op op, const char *keyword, bool least, const char *fallback,
    const char *why)
{
    struct writ_buf text = writ_buf_in(v->c->arena, 32);
    uint64_t length;
    bool set;

    if (!length_of(&v->facets, keyword, least, &length, &set)) {
        return false;
    }
    if (set && !(least && length == 0)) {
        writ_buf_u64(&text, length);
        v->c->nomem = v->c->nomem || !writ_is_ok(writ_buf_check(&text, NULL));
        add_text(v, op, writ_buf_view(&text), "by the schema");
    } else if (!set && fallback != NULL) {
        add_text(v, op, writ_view_str(fallback), why);
    }
    return true;
}

/* ---- listed values */

static void
add_values(struct value *v, const struct writ_json *list, enum writ_values_form form)
{
    struct writ_values values;

    if (!writ_values_read(list, form, v->c->arena, &values)) {
        v->c->nomem = v->c->nomem || values.nomem;
        refuse(v, "its values are too many or too long for a constraint");
        return;
    }
    if (values.pattern.len > 0) { /* a text as REPLACE_ALL, which would be a placeholder */
        add_text(v, WRIT_OP_MATCHES, values.pattern, "the values of the schema");
    } else if (values.first == NULL) {
        if (v->facets.nullable) {
            add_text(v, WRIT_OP_EQ, WRIT_LIT("null"), "by the schema");
        } else {
            refuse(v, "its schema allows no value");
        }
    } else {
        add(v, WRIT_OP_IN, "the values of the schema")->values = values.first;
    }
}

/* Every list of every schema: all of them hold. */
static void
add_listed(struct value *v)
{
    if (writ_facets_find(&v->facets, "not") != NULL) {
        refuse(v, "its `not` has no constraint that says the same");
        return;
    }
    for (size_t i = 0; i < v->facets.n; i++) {
        const struct writ_json *node = v->facets.nodes[i];

        if (writ_json_get(node, WRIT_LIT("enum")) != NULL) {
            add_values(v, writ_json_get(node, WRIT_LIT("enum")), WRIT_VALUES_ENUM);
        }
        if (writ_json_get(node, WRIT_LIT("const")) != NULL) {
            add_values(v, writ_json_get(node, WRIT_LIT("const")), WRIT_VALUES_CONST);
        }
    }
    if (v->facets.choices != NULL) {
        add_values(v, v->facets.choices, WRIT_VALUES_FORMS);
    }
}

/* `not` with values, for a value of the type `type`. False for one that no constraint says. */
static bool
add_denied(struct value *v, enum writ_json_type type)
{
    for (size_t i = 0; i < v->facets.n; i++) {
        const struct writ_json *not = writ_json_get(v->facets.nodes[i], WRIT_LIT("not"));
        const struct writ_json *list = writ_json_get(not, WRIT_LIT("enum"));
        struct writ_values values;

        if (not == NULL || writ_json_get(not, WRIT_LIT("required")) != NULL) {
            continue;
        }
        if (!writ_values_read(list != NULL ? list : writ_json_get(not, WRIT_LIT("const")),
                list != NULL ? WRIT_VALUES_ENUM : WRIT_VALUES_CONST, v->c->arena, &values) ||
            values.pattern.len > 0 || not ->count > 1) {
            return false;
        }
        writ_values_keep_type(&values, type);
        if (values.first != NULL) {
            add(v, WRIT_OP_NOT_IN, "the schema denies them")->values = values.first;
        }
    }
    return true;
}

/* ---- texts */

enum kind {
    KIND_PLAIN = 0,
    KIND_PATH,
    KIND_INSIDE, /* a path in what another argument names */
    KIND_URL,
    KIND_HOST,
    KIND_AMOUNT,
    KIND_PATTERN, /* of its format */
};

struct format {
    struct writ_view name;
    enum kind kind;
    struct writ_view pattern;
    const char *why, *most; /* about the pattern; the usual length, NULL: that of other texts */
};

#define TEXT(text)                                                                                 \
    {                                                                                              \
        "" text, sizeof(text) - 1                                                                  \
    }
#define FORMAT(name, kind, pattern)                                                                \
    {                                                                                              \
        TEXT(name), KIND_##kind, TEXT(pattern), "its format", NULL                                 \
    }
#define NAMED(pattern, why, most)                                                                  \
    {                                                                                              \
        TEXT(""), KIND_PATTERN, TEXT(pattern), why, most                                           \
    }

static const struct format formats[] = {
#define WRIT_FORMAT(name, kind, pattern) FORMAT(name, kind, pattern),
#include "policy/propose/format.tbl.h"
#undef WRIT_FORMAT
};

static const struct format *
format_of(const struct writ_facets *facets)
{
    struct writ_view name = writ_json_string(writ_facets_find(facets, "format"));

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (writ_view_equal(formats[i].name, name)) {
            return &formats[i];
        }
    }
    return NULL;
}

/* Of an identifier: visible, without what ends or leaves its place in a path, URL, query or line of
 * a shell, and not an option of a program. */
#define SIGN  "[^\\p{C}\\s\"'`;<>|&$*?#%\\\\/]"
#define START "(?!-[^0-9])"

static const struct format file_name = NAMED(
    "(?!\\.{1,2}\\z)[^/\\\\\\x00-\\x1f\\x7f]{1,255}", "the name of a file, without a folder", NULL);
static const struct format identifier =
    NAMED(START "(?!(?:.*/)?\\.{1,2}(?:/|\\z))" SIGN "+(?:/" SIGN "+)*",
        "it identifies a thing, as its name says", LENGTH_ID);
static const struct format part =
    NAMED(START "(?!\\.{1,2}\\z)" SIGN "+", "one part of a name, without a slash", LENGTH_ID);

/* The pattern of a text by its name alone; NULL: none. */
static const struct format *
format_of_name(const struct value *v)
{
    if (writ_words_file_name(&v->about)) {
        return &file_name;
    }
    if (writ_facets_find(&v->facets, "pattern") != NULL) {
        return NULL; /* the schema says it better */
    }
    return writ_words_part(&v->about)         ? &part
           : writ_words_identifier(&v->about) ? &identifier
                                              : NULL;
}

static enum kind
kind_of(const struct value *v, const struct format *format)
{
    if (format != NULL && format->kind != KIND_PATTERN) {
        return format->kind;
    }
    if (writ_words_url(&v->about)) {
        return KIND_URL;
    }
    if (writ_words_path(&v->about)) {
        return writ_words_inside(&v->about) ? KIND_INSIDE : KIND_PATH;
    }
    if (format != NULL) {
        return format->kind;
    }
    return writ_words_host(&v->about)     ? KIND_HOST
           : writ_words_amount(&v->about) ? KIND_AMOUNT
                                          : KIND_PLAIN;
}

/* Keeps (3). */
static void
add_kind(struct value *v, enum kind kind, const struct format *format)
{
    switch (kind) {
    case KIND_PATH:
        add_placeholder(v, WRIT_OP_UNDER, WRIT_LIT(WRIT_PROPOSAL_FOLDER),
            "a path, as its name says: the folder in which it must be");
        break;
    case KIND_INSIDE:
        add_placeholder(v, WRIT_OP_GLOB, WRIT_LIT(WRIT_PROPOSAL_GLOB),
            "a path in a repository or the like, as the names say: such as src/**");
        break;
    case KIND_URL:
        add_placeholder(v, WRIT_OP_HOST_IN, WRIT_LIT(WRIT_PROPOSAL_HOST),
            "a URL, as its name or format says: the hosts that it may name");
        break;
    case KIND_HOST:
        add_placeholder(v, WRIT_OP_IN, WRIT_LIT(WRIT_PROPOSAL_HOST),
            "a host, as its name or format says: those that are permitted");
        break;
    case KIND_AMOUNT:
        add_placeholder(v, WRIT_OP_MATCHES, WRIT_LIT(WRIT_PROPOSAL_PATTERN),
            "an amount as a text, which has no range: the texts that are permitted");
        break;
    case KIND_PATTERN:
        add_text(v, WRIT_OP_MATCHES, format->pattern, format->why);
        break;
    case KIND_PLAIN:
        break;
    }
}

static bool
add_patterns(struct value *v)
{
    for (size_t i = 0; i < v->facets.n; i++) {
        const struct writ_json *pattern = writ_json_get(v->facets.nodes[i], WRIT_LIT("pattern"));
        struct writ_buf text = writ_buf_in(v->c->arena, WRIT_PATTERN_MAX);

        if (pattern == NULL) {
            continue;
        }
        if (writ_json_type(pattern) != WRIT_JSON_STRING ||
            !writ_ecma_pattern(writ_json_string(pattern), &text)) {
            v->c->nomem = v->c->nomem || text.failed == WRIT_E_NOMEM;
            return false;
        }
        add_text(v, WRIT_OP_MATCHES, writ_buf_view(&text), "the pattern of the schema");
    }
    return true;
}

static const char *
constrain_text(struct value *v)
{
    const struct format *format = format_of(&v->facets);
    bool document = (v->about.name.last & WRIT_WORD_LONG) != 0;
    bool runs = writ_words_command(&v->about);
    const char *most = document ? LENGTH_LONG : LENGTH_SHORT;
    enum kind kind;

    format = format != NULL ? format : format_of_name(v);
    kind = kind_of(v, format);
    if (kind == KIND_PATH || kind == KIND_URL || kind == KIND_HOST) {
        most = NULL; /* their ops have one */
    } else if (kind == KIND_PATTERN && format->most != NULL) {
        most = format->most;
    }
    add_kind(v, kind, format);
    if (!add_length(v, WRIT_OP_MIN_LENGTH, "minLength", true, NULL, NULL) ||
        !add_length(v, WRIT_OP_MAX_LENGTH, "maxLength", false, most,
            runs                ? "the schema has no bound; something runs it: see approval"
            : v->facets.untyped ? "the schema names no type: a text, not too long"
                                : "the schema has no bound")) {
        return "a length in its schema is not a number of characters";
    }
    if (!add_patterns(v)) {
        return "its pattern has no equal in `matches`";
    }
    v->c->runs = v->c->runs || runs;
    return add_denied(v, WRIT_JSON_STRING) ? NULL
                                           : "its `not` has no constraint that says the same";
}

/* ---- numbers */

static void
add_bound(struct value *v, bool least, const struct bound *bound, const char *why)
{
    enum writ_op op = least ? (bound->strict ? WRIT_OP_GT : WRIT_OP_GE)
                            : (bound->strict ? WRIT_OP_LT : WRIT_OP_LE);

    add_number(v, op, &bound->at, why);
}

struct range {
    int64_t least, most;
};

/* The usual range of a number with this name. */
static struct range
range_of(const struct writ_words *name)
{
    unsigned last = (name->all & WRIT_WORD_LASTING) != 0 ? WRIT_WORD_POSITIVE : name->last;
    static const struct {
        unsigned kind;
        struct range range;
    } ranges[] = {{WRIT_WORD_SECONDS, {0, SECONDS_MOST}}, {WRIT_WORD_SMALL, {0, SMALL_MOST}},
        {WRIT_WORD_ID, {0, ID_MOST}}, {WRIT_WORD_POSITIVE, {0, NUMBER_MOST}},
        {WRIT_WORD_LATITUDE, {-90, 90}}, {WRIT_WORD_LONGITUDE, {-180, 180}}};

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if ((last & ranges[i].kind) != 0) {
            return ranges[i].range;
        }
    }
    return (struct range){-NUMBER_MOST, NUMBER_MOST};
}

/* Where the schema has no bound; keeps (2), unless the schema's other bound is beyond it. */
static void
add_usual(struct value *v, bool least, const struct bound *other)
{
    struct range range = range_of(&v->about.name);
    struct bound usual = {.set = true, .at = writ_decimal_of(least ? range.least : range.most)};
    int order = other->set ? writ_decimal_compare(&usual.at, &other->at) : 0;

    if (!other->set || (least ? order < 0 : order > 0)) {
        add_bound(v, least, &usual, "the schema has no bound");
    }
}

static const char *
constrain_number(struct value *v)
{
    bool whole = v->facets.type == WRIT_FACETS_INTEGER, amount = writ_words_amount(&v->about);
    struct bound least, most;

    if (!bound_of(&v->facets, true, &least) || !bound_of(&v->facets, false, &most)) {
        return "a bound in its schema is not a number that constraints can hold";
    }
    add_text(v, WRIT_OP_TYPE, whole ? WRIT_LIT("integer") : WRIT_LIT("number"), "by the schema");
    if (least.set) {
        add_bound(v, true, &least, "by the schema");
    } else if (amount) {
        add_text(v, WRIT_OP_GT, WRIT_LIT("0"), "an amount, as its name says");
    } else {
        add_usual(v, true, &most);
    }
    if (most.set) {
        add_bound(v, false, &most, "by the schema");
    } else if (!amount) {
        add_usual(v, false, &least);
    }
    if (amount) {
        add_placeholder(v, WRIT_OP_LE, WRIT_LIT(WRIT_PROPOSAL_AMOUNT),
            "an amount, as its name says: the most that one call may have");
        if (v->spot->needed && v->spot->each == 0 && v->c->sum.len == 0) {
            v->c->sum = v->spot->arg;
        }
    }
    return add_denied(v, WRIT_JSON_NUMBER) ? NULL
                                           : "its `not` has no constraint that says the same";
}

/* ---- lists */

static struct writ_constrain_spot
element_spot(const struct value *v, bool needed)
{
    return (struct writ_constrain_spot){.name = v->spot->name,
        .needed = v->spot->needed && needed,
        .depth = v->spot->depth + 1,
        .each = v->spot->each + 1};
}

static const char *
constrain_each(struct value *v, const struct writ_json *items, bool needed)
{
    struct writ_constrain_spot spot = element_spot(v, needed);
    struct writ_constrain_list list = {.first = NULL};

    if (v->spot->each == WRIT_CONSTRAINT_DEPTH_MAX) {
        return "it is a list in too many lists";
    }
    writ_constrain_value(v->c, items, &spot, &list);
    if (list.first != NULL) {
        add(v, WRIT_OP_EACH, "every element")->each = list.first;
    }
    return list.first != NULL || v->c->nomem ? NULL : "its elements have no constraint";
}

static bool
join(struct writ_constrain *c, struct writ_view path, struct writ_view name, struct writ_view *ret)
{
    struct writ_buf text = writ_buf_in(c->arena, ARG_MAX);

    writ_buf_put(&text, path);
    writ_buf_byte(&text, '/');
    writ_trail_token(name, &text);
    c->nomem = c->nomem || text.failed == WRIT_E_NOMEM;
    *ret = writ_buf_view(&text);
    return text.failed == WRIT_E_UNSET;
}

/* Elements that have a schema each; there are no others. */
static const char *
constrain_places(struct value *v, const struct writ_json *schemas, uint64_t least)
{
    struct writ_constrain_spot spot = *v->spot;
    size_t index = 0;

    spot.depth++;
    WRIT_JSON_EACH(schema, schemas)
    {
        struct writ_buf token = writ_buf_in(v->c->arena, 24);

        writ_buf_u64(&token, index);
        if (!join(v->c, v->spot->path, writ_buf_view(&token), &spot.path)) {
            return "its name is too long";
        }
        spot.arg = spot.path;
        spot.optional = v->spot->optional || v->facets.nullable || index >= least;
        spot.needed = v->spot->needed && index < least;
        writ_constrain_value(v->c, schema, &spot, v->ret);
        index++;
    }
    return NULL;
}

static const char *
constrain_tuple(struct value *v, const struct writ_json *schemas, uint64_t least)
{
    struct writ_buf most = writ_buf_in(v->c->arena, 32);

    writ_buf_u64(&most, schemas->count);
    v->c->nomem = v->c->nomem || !writ_is_ok(writ_buf_check(&most, NULL));
    add_text(v, WRIT_OP_MAX_ITEMS, writ_buf_view(&most), "the elements that the schema names");
    return schemas->count > SPOT_MAX / 2 ? "it has too many places"
                                         : constrain_places(v, schemas, least);
}

/* How many of the schemas describe elements. */
static size_t
describers(const struct writ_facets *facets)
{
    size_t n = 0;

    for (size_t i = 0; i < facets->n; i++) {
        n += has_keyword(facets, i, "items") || has_keyword(facets, i, "prefixItems");
    }
    return n;
}

static const char *
constrain_list(struct value *v)
{
    const struct writ_json *items = writ_facets_find(&v->facets, "items");
    const struct writ_json *places = writ_facets_find(&v->facets, "prefixItems");
    uint64_t least = 0;
    bool set;

    if (describers(&v->facets) > 1) {
        return "several schemas describe its elements";
    }
    if (!length_of(&v->facets, "minItems", true, &least, &set) ||
        !add_length(v, WRIT_OP_MIN_ITEMS, "minItems", true, NULL, NULL) ||
        !add_length(
            v, WRIT_OP_MAX_ITEMS, "maxItems", false, ITEMS_MOST, "the schema has no bound")) {
        return "a length in its schema is not a number of elements";
    }
    least = set ? least : 0;
    if (writ_json_type(places) != WRIT_JSON_ARRAY && writ_json_type(items) == WRIT_JSON_ARRAY) {
        places = items; /* draft-07 */
    }
    if (writ_json_type(places) == WRIT_JSON_ARRAY && places->count > 0) {
        return constrain_tuple(v, places, least);
    }
    if (writ_json_type(items) == WRIT_JSON_OBJECT) {
        return constrain_each(v, items, least > 0);
    }
    add_text(v, WRIT_OP_MAX_ITEMS, WRIT_LIT("0"),
        "the schema does not describe its elements: none passes");
    v->c->closed = v->c->closed || v->spot->needed;
    return NULL;
}

/* ---- objects */

static bool
is_required(const struct writ_facets *facets, struct writ_view name)
{
    for (size_t i = 0; i < facets->n; i++) {
        const struct writ_json *list = writ_json_get(facets->nodes[i], WRIT_LIT("required"));

        WRIT_JSON_EACH(one, writ_json_type(list) == WRIT_JSON_ARRAY ? list : NULL)
        {
            if (writ_json_is(one, name)) {
                return true;
            }
        }
    }
    return false;
}

/* How many of the schemas describe the member. */
static size_t
describes(const struct writ_facets *facets, struct writ_view name)
{
    size_t n = 0;

    for (size_t i = 0; i < facets->n; i++) {
        n += writ_json_get(writ_json_get(facets->nodes[i], WRIT_LIT("properties")), name) != NULL;
    }
    return n;
}

/* Greek, Cyrillic, Armenian, Cherokee, letterlike symbols, mathematical letters, full width. */
static bool
imitates_ascii(uint32_t point)
{
    return (point >= 0x370 && point <= 0x58f) || (point >= 0x13a0 && point <= 0x13ff) ||
           (point >= 0x2100 && point <= 0x214f) || (point >= 0x1d400 && point <= 0x1d7ff) ||
           (point >= 0xff01 && point <= 0xff5e);
}

/* Whether a word of the name mixes ASCII letters with others that look like them, so that a reader
 * sees a word that writ_words_of does not find: p\u0430th. */
static bool
has_mixed_word(struct writ_view name)
{
    bool ascii = false, other = false;

    while (name.len > 0) {
        uint32_t point = 0;
        size_t len = writ_utf8_character(name, &point);
        bool letter = (point | 0x20U) >= 'a' && (point | 0x20U) <= 'z';

        if (point < 0x80 && !letter) {
            ascii = other = false;
        }
        ascii = ascii || letter;
        other = other || imitates_ascii(point);
        if (ascii && other) {
            return true;
        }
        name = writ_view_sub(name, len > 0 ? len : 1, SIZE_MAX);
    }
    return false;
}

/* The spot of a member. False for a name that a configuration cannot have, or that misleads. */
static bool
member_spot(struct writ_constrain *c, const struct writ_facets *facets,
    const struct writ_constrain_spot *spot, struct writ_view name, struct writ_constrain_spot *ret)
{
    bool plain = spot->path.len == 0 && name.len > 0 && name.ptr[0] != '/' &&
                 !writ_view_has_prefix(name, WRIT_LIT("REPLACE_"));
    bool required = is_required(facets, name);

    *ret = (struct writ_constrain_spot){.name = name,
        .optional = spot->optional || facets->nullable || !required,
        .needed = spot->needed && required,
        .depth = spot->depth + 1,
        .each = spot->each};
    if (writ_hidden_in(name) || has_mixed_word(name) || !join(c, spot->path, name, &ret->path)) {
        return false;
    }
    ret->arg = plain ? name : ret->path;
    return true;
}

void
writ_constrain_members(struct writ_constrain *c, const struct writ_facets *facets,
    const struct writ_constrain_spot *spot, struct writ_constrain_list *ret)
{
    for (size_t i = 0; i < facets->n; i++) {
        const struct writ_json *members = writ_json_get(facets->nodes[i], WRIT_LIT("properties"));

        WRIT_JSON_EACH(name, writ_json_type(members) == WRIT_JSON_OBJECT ? members : NULL)
        {
            struct writ_constrain_spot member;

            if (member_spot(c, facets, spot, writ_json_string(name), &member) &&
                describes(facets, writ_json_string(name)) <= SAME_MAX) {
                writ_constrain_value(c, writ_json_value(name), &member, ret);
            } else { /* no constraint names it, so it is refused */
                c->closed = c->closed || member.needed;
            }
        }
    }
}

static const char *
constrain_object(struct value *v)
{
    struct writ_constrain_list *list = v->ret;
    size_t before;

    if (v->spot->depth >= WRIT_FACETS_DEPTH_MAX) {
        return "it is in too many objects";
    }
    add_text(v, WRIT_OP_TYPE, WRIT_LIT("object"), "members that no constraint names are refused");
    before = list->n;
    writ_constrain_members(v->c, &v->facets, v->spot, list);
    if (list->n == before && v->spot->needed) {
        v->c->closed = true; /* only {} passes */
    }
    return NULL;
}

/* ---- values */

static const char *
constrain_type(struct value *v)
{
    switch (v->facets.type) {
    case WRIT_FACETS_STRING:
        return constrain_text(v);
    case WRIT_FACETS_NUMBER:
    case WRIT_FACETS_INTEGER:
        return constrain_number(v);
    case WRIT_FACETS_BOOLEAN:
        add_text(v, WRIT_OP_TYPE, WRIT_LIT("boolean"), "by the schema");
        return add_denied(v, WRIT_JSON_TRUE) ? NULL
                                             : "its `not` has no constraint that says the same";
    case WRIT_FACETS_ARRAY:
        return constrain_list(v);
    case WRIT_FACETS_OBJECT:
        return constrain_object(v);
    }
    return "its schema allows no value";
}

static struct writ_words_context
about(const struct writ_constrain *c, const struct writ_constrain_spot *spot,
    const struct writ_facets *facets)
{
    struct writ_view described = writ_json_string(writ_facets_find(facets, "description"));

    return (struct writ_words_context){.name = writ_words_of(spot->name, DESCRIBED),
        .tool = c->tool,
        .opening = writ_words_of(described, OPENING).all,
        .described = writ_words_of(described, DESCRIBED).all | c->described,
        .stored = c->stored};
}

/* Whether another value has room; one without is not named, so it is refused. */
static bool
has_room(struct writ_constrain *c, const struct writ_constrain_spot *spot,
    struct writ_constrain_list *ret)
{
    if (c->work++ < WORK_MAX && ret->n + SPOT_MAX <= WRIT_CONSTRAINTS_MAX &&
        ret->paths < WRIT_CONSTRAINT_PATHS_MAX) {
        ret->paths++;
        return true;
    }
    c->closed = c->closed || spot->needed;
    return false;
}

void
writ_constrain_value(struct writ_constrain *c, const struct writ_json *schema,
    const struct writ_constrain_spot *spot, struct writ_constrain_list *ret)
{
    struct value v = {.c = c, .spot = spot, .ret = ret};
    struct writ_constrain_list before = *ret;
    struct writ_proposal_constraint *first;
    size_t placeholders = c->placeholders;
    const char *why;

    if (!has_room(c, spot, ret)) {
        return;
    }
    writ_facets_read(c->root, schema, &v.facets);
    v.about = about(c, spot, &v.facets);
    if (v.facets.lost != NULL) {
        refuse(&v, v.facets.lost);
    } else if (writ_facets_is_listed(&v.facets)) {
        add_listed(&v);
    } else if (v.facets.only_null) {
        add_text(&v, WRIT_OP_EQ, WRIT_LIT("null"), "by the schema");
    } else if ((why = constrain_type(&v)) != NULL) {
        *ret = before; /* keeps (1) */
        ret->paths++;
        c->placeholders = placeholders;
        if (ret->last != NULL) {
            ret->last->next = NULL;
        }
        refuse(&v, why);
    }
    first = before.last != NULL ? before.last->next : ret->first;
    if (v.facets.one_of_many && first != NULL && first->op != WRIT_OP_FORBIDDEN) {
        first->why = "the first of several forms of the schema; the others are refused";
    }
}
