/* Collects the schemas that hold at once. null is counted apart, because it is an option of a
 * constraint: a schema says it, or denies it by a type or a list without null; inside the form that
 * was chosen out of several its other forms have said it already. */
#include "policy/propose/facets.h"

#include "base/text.h"

#define DENIES(f, counts) ((f)->denies_null = (f)->denies_null || (counts))

struct reading {
    struct writ_facets *ret;
    unsigned types; /* that every schema permits */
    bool typed, says_null, denies_null;
};

static const struct {
    struct writ_view word;
    unsigned types;
} words[] = {
    {{"string", 6}, WRIT_FACETS_STRING},
    {{"number", 6}, WRIT_FACETS_NUMBER | WRIT_FACETS_INTEGER},
    {{"integer", 7}, WRIT_FACETS_INTEGER},
    {{"boolean", 7}, WRIT_FACETS_BOOLEAN},
    {{"array", 5}, WRIT_FACETS_ARRAY},
    {{"object", 6}, WRIT_FACETS_OBJECT},
};

#define ANY_TYPE 63U

static void
lose(struct reading *r, const char *why)
{
    if (r->ret->lost == NULL) {
        r->ret->lost = why;
    }
}

/* ---- types */

static unsigned
type_of(const struct writ_json *word)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (writ_json_is(word, words[i].word)) {
            return words[i].types;
        }
    }
    return 0;
}

static void
read_types(struct reading *r, const struct writ_json *type, bool counts)
{
    bool null = writ_json_is(type, WRIT_LIT("null"));
    unsigned types = type_of(type);

    WRIT_JSON_EACH(word, writ_json_type(type) == WRIT_JSON_ARRAY ? type : NULL)
    {
        null = null || writ_json_is(word, WRIT_LIT("null"));
        types |= type_of(word);
    }
    r->types &= types;
    r->typed = true;
    r->says_null = r->says_null || null;
    DENIES(r, counts && !null);
}

/* The types that keywords speak of, for a schema without `type`. */
static unsigned
implied_types(const struct writ_json *node)
{
    static const struct {
        struct writ_view keyword;
        unsigned types;
    } implied[] = {
        {{"properties", 10}, WRIT_FACETS_OBJECT},
        {{"additionalProperties", 20}, WRIT_FACETS_OBJECT},
        {{"items", 5}, WRIT_FACETS_ARRAY},
        {{"prefixItems", 11}, WRIT_FACETS_ARRAY},
        {{"maxItems", 8}, WRIT_FACETS_ARRAY},
        {{"minLength", 9}, WRIT_FACETS_STRING},
        {{"maxLength", 9}, WRIT_FACETS_STRING},
        {{"pattern", 7}, WRIT_FACETS_STRING},
        {{"format", 6}, WRIT_FACETS_STRING},
        {{"minimum", 7}, WRIT_FACETS_NUMBER},
        {{"maximum", 7}, WRIT_FACETS_NUMBER},
    };
    unsigned types = 0;

    for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++) {
        types |= writ_json_get(node, implied[i].keyword) != NULL ? implied[i].types : 0;
    }
    return types;
}

/* ---- constants */

static bool
lists_null(const struct writ_json *node)
{
    const struct writ_json *values = writ_json_get(node, WRIT_LIT("enum"));

    WRIT_JSON_EACH(value, writ_json_type(values) == WRIT_JSON_ARRAY ? values : NULL)
    {
        if (writ_json_type(value) == WRIT_JSON_NULL) {
            return true;
        }
    }
    return writ_json_type(writ_json_get(node, WRIT_LIT("const"))) == WRIT_JSON_NULL;
}

static bool
is_listed(const struct writ_json *node)
{
    return writ_json_get(node, WRIT_LIT("enum")) != NULL ||
           writ_json_get(node, WRIT_LIT("const")) != NULL;
}

/* {"type": "null"}, {"const": null}, {"enum": [null]} */
static bool
is_null(const struct writ_json *form)
{
    const struct writ_json *values = writ_json_get(form, WRIT_LIT("enum"));

    return writ_json_is(writ_json_get(form, WRIT_LIT("type")), WRIT_LIT("null")) ||
           (lists_null(form) && (values == NULL || values->count == 1));
}

/* ---- forms */

/* A form that says nothing but which members are required: the server checks that. */
static bool
is_about_presence(const struct writ_json *form)
{
    return writ_json_type(form) == WRIT_JSON_OBJECT && form->count == 1 &&
           writ_json_get(form, WRIT_LIT("required")) != NULL;
}

static void collect(struct reading *r, const struct writ_json *node, unsigned depth, bool counts);

struct forms {
    const struct writ_json *first; /* that is not null alone */
    size_t others;
    bool null, constants, presence;
};

static struct forms
forms_of(const struct writ_json *list)
{
    struct forms forms = {.constants = true, .presence = true};

    WRIT_JSON_EACH(form, list)
    {
        forms.presence = forms.presence && is_about_presence(form);
        if (is_null(form)) {
            forms.null = true;
            continue;
        }
        forms.constants = forms.constants && writ_json_type(form) == WRIT_JSON_OBJECT &&
                          writ_json_get(form, WRIT_LIT("const")) != NULL;
        if (forms.first == NULL) {
            forms.first = form;
        } else {
            forms.others++;
        }
    }
    return forms;
}

/* anyOf and oneOf: one form is chosen, the first; what it allows they allow. */
static void
read_forms(struct reading *r, const struct writ_json *list, unsigned depth, bool counts)
{
    struct forms forms;

    if (writ_json_type(list) != WRIT_JSON_ARRAY || list->count == 0) {
        lose(r, "its anyOf or oneOf is not a list of schemas");
        return;
    }
    forms = forms_of(list);
    if (forms.presence) {
        return;
    }
    r->says_null = r->says_null || forms.null;
    DENIES(r, counts && !forms.null);
    if (forms.first == NULL) {
        r->types = 0;
        r->typed = true;
    } else if (forms.constants && r->ret->choices == NULL) {
        r->ret->choices = list;
    } else {
        r->ret->one_of_many = r->ret->one_of_many || forms.others > 0;
        collect(r, forms.first, depth + 1, false);
    }
}

/* ---- references */

static void
read_reference(struct reading *r, const struct writ_json *ref, unsigned depth, bool counts)
{
    struct writ_view text = writ_json_string(ref);
    const struct writ_json *target = NULL;

    if (writ_view_has_prefix(text, WRIT_LIT("#")) && writ_view_find(text, '%') == text.len) {
        target = writ_json_pointer(r->ret->root, writ_view_sub(text, 1, text.len));
    }
    if (target == NULL) {
        lose(r, "its $ref is not a place in the same schema");
        return;
    }
    collect(r, target, depth + 1, counts);
}

static void
read_parts(struct reading *r, const struct writ_json *node, unsigned depth, bool counts)
{
    const struct writ_json *ref = writ_json_get(node, WRIT_LIT("$ref"));
    const struct writ_json *all = writ_json_get(node, WRIT_LIT("allOf"));
    const struct writ_json *any = writ_json_get(node, WRIT_LIT("anyOf"));
    const struct writ_json *one = writ_json_get(node, WRIT_LIT("oneOf"));

    if (ref != NULL) {
        read_reference(r, ref, depth, counts);
    }
    WRIT_JSON_EACH(part, writ_json_type(all) == WRIT_JSON_ARRAY ? all : NULL)
    {
        collect(r, part, depth + 1, counts);
    }
    if (any != NULL) {
        read_forms(r, any, depth, counts);
    }
    if (one != NULL) {
        read_forms(r, one, depth, counts);
    }
}

/* Keywords that allow less in a way that no constraint says. */
static void
read_losses(struct reading *r, const struct writ_json *node)
{
    const struct writ_json *not = writ_json_get(node, WRIT_LIT("not"));

    if (not != NULL && !is_listed(not ) && !is_about_presence(not )) {
        lose(r, "its `not` has no constraint that says the same");
    }
    if (writ_json_get(node, WRIT_LIT("if")) != NULL) {
        lose(r, "its `if` has no constraint that says the same");
    }
    if (writ_json_get(node, WRIT_LIT("$dynamicRef")) != NULL ||
        writ_json_get(node, WRIT_LIT("$recursiveRef")) != NULL) {
        lose(r, "its schema is found only while it is used");
    }
}

/* `counts`: a schema that does not speak of null denies it. */
static void
collect(struct reading *r, const struct writ_json *node, unsigned depth, bool counts)
{
    const struct writ_json *type;
    unsigned implied;

    if (writ_json_type(node) == WRIT_JSON_TRUE) {
        return;
    }
    if (writ_json_type(node) != WRIT_JSON_OBJECT) {
        lose(r, writ_json_type(node) == WRIT_JSON_FALSE ? "its schema allows no value"
                                                        : "its schema is not a schema");
        return;
    }
    if (depth > WRIT_FACETS_DEPTH_MAX || r->ret->n == WRIT_FACETS_NODES_MAX) {
        lose(r, "its schema refers to itself, or to too much");
        return;
    }
    r->ret->nodes[r->ret->n++] = node;
    type = writ_json_get(node, WRIT_LIT("type"));
    implied = implied_types(node);
    if (type != NULL) {
        read_types(r, type, counts);
    } else if (implied != 0 && !r->typed && !is_listed(node)) {
        r->types &= implied;
        r->typed = true;
    }
    if (is_listed(node)) {
        bool null = lists_null(node);
        r->says_null = r->says_null || null;
        DENIES(r, counts && !null);
    }
    read_losses(r, node);
    read_parts(r, node, depth, counts);
}

/* The type of the word, as far as all schemas permit it; every integer is a number. */
static enum writ_facets_type
permitted(const struct reading *r, unsigned types)
{
    static const enum writ_facets_type order[] = {WRIT_FACETS_STRING, WRIT_FACETS_NUMBER,
        WRIT_FACETS_INTEGER, WRIT_FACETS_BOOLEAN, WRIT_FACETS_ARRAY, WRIT_FACETS_OBJECT};

    types |= (types & WRIT_FACETS_INTEGER) != 0 ? WRIT_FACETS_NUMBER : 0;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if ((types & r->types & order[i]) != 0) {
            return order[i];
        }
    }
    return 0;
}

/* Of several types the one that a schema names first: it is what its author thinks of. */
static enum writ_facets_type
first_type(const struct reading *r)
{
    enum writ_facets_type found = 0;

    for (size_t i = 0; i < r->ret->n && found == 0; i++) {
        const struct writ_json *type = writ_json_get(r->ret->nodes[i], WRIT_LIT("type"));

        WRIT_JSON_EACH(word, writ_json_type(type) == WRIT_JSON_ARRAY ? type : NULL)
        {
            found = found != 0 ? found : permitted(r, type_of(word));
        }
    }
    return found != 0 ? found : permitted(r, ANY_TYPE);
}

static void
choose_type(struct reading *r)
{
    unsigned others;

    r->ret->type = first_type(r);
    others = r->types & ~(unsigned)r->ret->type;
    others &= r->ret->type == WRIT_FACETS_NUMBER ? ~(unsigned)WRIT_FACETS_INTEGER : ~0U;
    r->ret->one_of_many = r->ret->one_of_many || (r->typed && others != 0);
}

void
writ_facets_read(
    const struct writ_json *root, const struct writ_json *schema, struct writ_facets *ret)
{
    struct reading r = {.ret = ret, .types = ANY_TYPE};
    bool listed;

    *ret = (struct writ_facets){.root = root};
    collect(&r, schema, 0, true);
    listed = writ_facets_is_listed(ret);
    ret->nullable = r.says_null && !r.denies_null;
    ret->untyped = !r.typed && !listed;
    choose_type(&r);
    if (ret->type == 0 && !listed) {
        ret->only_null = ret->nullable && r.typed;
        if (!ret->only_null) {
            lose(&r, "its schemas allow no value together");
        }
    }
}

const struct writ_json *
writ_facets_find(const struct writ_facets *facets, const char *name)
{
    const struct writ_json *found = NULL;

    for (size_t i = 0; i < facets->n && found == NULL; i++) {
        found = writ_json_get(facets->nodes[i], writ_view_str(name));
    }
    return found;
}

bool
writ_facets_is_listed(const struct writ_facets *facets)
{
    return facets->choices != NULL || writ_facets_find(facets, "enum") != NULL ||
           writ_facets_find(facets, "const") != NULL;
}
