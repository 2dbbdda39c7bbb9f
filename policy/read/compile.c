/* Compiles one `arguments` list into a set: an array of constraints, the paths they name, and the
 * tree of places for coverage. A list with any fault yields no set. The text of accepted values is
 * made here, once. */
#include "policy/read/compile.h"

#include "evidence/json/jcs.h"
#include "policy/decide/value.h"
#include "policy/model/glob.h"
#include "policy/model/host.h"
#include "policy/model/path.h"
#include "policy/read/detectors.h"
#include "policy/read/sources.h"
#include "policy/schema/jsonschema.h"
#include "policy/read/value_read.h"

#define ACCEPTED_MAX   512  /* longest text of accepted values */
#define VALUES_MAX     1024 /* values of in, not_in; entries of under, host_in */
#define LENGTH_MAX     (1ULL << 40)
#define EACH_COUNT_MAX 4 /* each on one array */

/* One set under construction. */
struct making {
    struct writ_options *o;
    struct writ_pattern_list **patterns;
    unsigned depth; /* of each */
    struct writ_constraint *items;
    struct writ_constraint_path *paths;
    size_t n, paths_n;
    struct writ_constraint_place root;
};

/* One entry under construction. */
struct entry {
    struct making *m;
    const struct writ_yaml *node;
    struct writ_raw_constraint raw;
    struct writ_constraint *c;
    struct writ_buf *accepted;
};

/* ---- args */

/* The token with ~1 and ~0 undone (RFC 6901 4). */
static struct writ_view
unescape(struct writ_options *o, struct writ_view token)
{
    writ_auto_buf text = writ_buf_make(token.len + 1);
    struct writ_view kept;

    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] == '~' && i + 1 < token.len) {
            writ_buf_byte(&text, token.ptr[++i] == '1' ? '/' : '~');
        } else {
            writ_buf_byte(&text, token.ptr[i]);
        }
    }
    kept = writ_is_ok(writ_buf_check(&text, NULL)) ? writ_view_copy(writ_buf_view(&text), o->arena)
                                                   : writ_view(NULL, 0);
    o->nomem = o->nomem || kept.ptr == NULL;
    return kept;
}

bool
writ_compile_arg(struct writ_options *o, const struct writ_yaml *node, struct writ_view arg,
    struct writ_views *ret)
{
    bool pointer = writ_view_has_prefix(arg, WRIT_LIT("/"));
    struct writ_view *tokens = writ_option_memory(o, arg.len, sizeof *tokens);
    size_t n = 0;

    if (tokens == NULL) {
        return false;
    }
    if (!pointer && arg.len > 0) {
        tokens[n++] = arg;
    }
    if (pointer && !writ_json_is_pointer(arg)) {
        WRIT_OPTION_FAULT(o, node, "is not a JSON Pointer: ~ is written ~0, / in a name ~1");
        return false;
    }
    while (pointer && arg.len > 0) {
        arg = writ_view_sub(arg, 1, arg.len);
        tokens[n++] = unescape(o, writ_view_sub(arg, 0, writ_view_find(arg, '/')));
        arg = writ_view_sub(arg, writ_view_find(arg, '/'), arg.len);
    }
    *ret = (struct writ_views){tokens, n};
    return !o->nomem;
}

static bool
same_tokens(const struct writ_views *a, const struct writ_views *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        if (!writ_view_equal(a->items[i], b->items[i])) {
            return false;
        }
    }
    return a->n == b->n;
}

/* The index of the path in the set; a new one for its first constraint. */
static bool
add_path(
    struct making *m, const struct writ_yaml *node, const struct writ_views *tokens, size_t *ret)
{
    for (size_t i = 0; i < m->paths_n; i++) {
        if (same_tokens(&m->paths[i].tokens, tokens)) {
            *ret = i;
            return true;
        }
    }
    if (m->paths_n == WRIT_CONSTRAINT_PATHS_MAX) {
        WRIT_OPTION_FAULT(m->o, node, "names more than %d arguments", WRIT_CONSTRAINT_PATHS_MAX);
        return false;
    }
    m->paths[m->paths_n].tokens = *tokens;
    *ret = m->paths_n++;
    return true;
}

static struct writ_constraint_place *
child_place(struct making *m, struct writ_constraint_place *parent, struct writ_view token)
{
    struct writ_constraint_place *place;

    for (place = parent->children; place != NULL; place = place->next) {
        if (writ_view_equal(place->token, token)) {
            return place;
        }
    }
    place = writ_option_memory(m->o, 1, sizeof *place);
    if (place != NULL) {
        *place = (struct writ_constraint_place){.token = token, .next = parent->children};
        parent->children = place;
    }
    return place;
}

static bool
add_each(struct making *m, struct writ_constraint_place *place,
    const struct writ_constraint_set *set, const struct writ_yaml *node)
{
    const struct writ_constraint_set **sets;

    if (place->each_n == EACH_COUNT_MAX) {
        WRIT_OPTION_FAULT(m->o, node, "is the fifth `each` on one array; put them into one");
        return false;
    }
    sets = writ_option_memory(m->o, place->each_n + 1, sizeof *sets);
    if (sets == NULL) {
        return false;
    }
    for (size_t i = 0; i < place->each_n; i++) {
        sets[i] = place->each[i];
    }
    sets[place->each_n++] = set;
    place->each = sets;
    return true;
}

static bool
decides_the_whole(const struct writ_constraint *c)
{
    return c->op == WRIT_OP_EQ || c->op == WRIT_OP_IN || c->op == WRIT_OP_FROM ||
           c->op == WRIT_OP_SCHEMA ||
           (c->op == WRIT_OP_TYPE && (c->value.types & WRIT_CONSTRAINT_ANY) != 0);
}

/* Marks the place that the constraint names, for coverage, and every place around a secret. */
static bool
add_place(struct making *m, const struct writ_views *tokens, const struct writ_constraint *c,
    bool secret, const struct writ_yaml *node)
{
    bool hides = secret || (c->op == WRIT_OP_EACH && c->value.each->root.hides);
    struct writ_constraint_place *place = &m->root;

    place->hides = place->hides || hides;
    for (size_t i = 0; i < tokens->n && place != NULL; i++) {
        place = child_place(m, place, tokens->items[i]);
        if (place != NULL) {
            place->hides = place->hides || hides;
        }
    }
    if (place == NULL) {
        return false;
    }
    place->named = true;
    place->secret = place->secret || secret;
    place->whole = place->whole || decides_the_whole(c);
    return c->op != WRIT_OP_EACH || add_each(m, place, c->value.each, node);
}

/* ---- values, and the text of accepted ones */

static bool
looks_like_path(const struct writ_json *value)
{
    struct writ_view text = writ_json_string(value);

    return text.len > 1 && text.ptr[0] == '/';
}

static bool
quoted_number(const struct writ_json *value)
{
    struct writ_decimal ignored;

    return writ_json_type(value) == WRIT_JSON_STRING &&
           writ_is_ok(writ_decimal_read(writ_json_string(value), &ignored));
}

static void
warn_value(const struct entry *e, const struct writ_json *value)
{
    if (quoted_number(value)) {
        WRIT_OPTION_WARN(
            e->m->o, e->raw.value, "the quoted number is a string here, and never equals a number");
    }
    if (looks_like_path(value) && (e->c->op == WRIT_OP_IN || e->c->op == WRIT_OP_EQ)) {
        WRIT_OPTION_WARN(e->m->o, e->raw.value,
            "looks like a path: `%s` compares with exactly this text; use `under` for what is "
            "inside a "
            "directory",
            writ_op_row(e->c->op)->word);
    }
}

/* Canonical JSON, cut where it gets long. */
static void
put_json(struct writ_buf *buf, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(WRIT_VALUE_BYTES_MAX * 2);

    if (!writ_is_ok(writ_jcs_put(&text, value, NULL))) {
        text.len = 0; /* such as 9007199254740993: no call can have it either */
    }
    writ_buf_put(buf, writ_view_sub(writ_buf_view(&text), 0, 200));
    writ_buf_str(buf, text.len > 200 ? "..." : "");
}

static bool
read_json(struct entry *e)
{
    const struct writ_json *value = writ_value_read(e->m->o, e->raw.value);

    if (value == NULL) {
        return false;
    }
    e->c->value.json = value;
    warn_value(e, value);
    if (e->c->op == WRIT_OP_EQ) {
        writ_buf_str(e->accepted, "exactly ");
        put_json(e->accepted, value);
    } else { /* a refusal does not reveal denied values */
        writ_buf_str(e->accepted, "a value of the same type that the policy does not deny");
    }
    return true;
}

static bool
read_jsons(struct entry *e)
{
    const struct writ_json *value;

    if (e->raw.value->type != WRIT_YAML_LIST || e->raw.value->count == 0 ||
        e->raw.value->count > VALUES_MAX) {
        WRIT_OPTION_FAULT(e->m->o, e->raw.value, "`%s` needs a list of 1 to %d values",
            writ_op_row(e->c->op)->word, VALUES_MAX);
        return false;
    }
    value = writ_value_read(e->m->o, e->raw.value);
    if (value == NULL) {
        return false;
    }
    e->c->value.json = value;
    for (const struct writ_json *one = writ_json_first(value); one != NULL;
         one = writ_json_next(value, one)) {
        if (quoted_number(one) || looks_like_path(one)) {
            warn_value(e, one);
            break; /* one warning for a list is enough */
        }
    }
    if (e->c->op == WRIT_OP_IN) {
        writ_buf_str(e->accepted, "one of ");
        put_json(e->accepted, value);
    } else { /* a refusal does not reveal denied values */
        writ_buf_str(e->accepted, "a value of the same type that the policy does not deny");
    }
    return true;
}

static bool
read_number(struct entry *e)
{
    const char *words = e->c->op == WRIT_OP_LT   ? "a number below "
                        : e->c->op == WRIT_OP_LE ? "a number not above "
                        : e->c->op == WRIT_OP_GT ? "a number above "
                                                 : "a number not below ";

    if (!writ_value_read_number(e->m->o, e->raw.value, &e->c->value.bound)) {
        return false;
    }
    writ_buf_str(e->accepted, words);
    writ_buf_put(e->accepted, e->raw.value->text);
    return true;
}

static unsigned
type_of(struct writ_view word)
{
    static const struct {
        const char *word;
        unsigned type;
    } types[] = {
#define TYPE_ROW(NAME, word_, bit) {word_, WRIT_CONSTRAINT_##NAME},
        WRIT_CONSTRAINT_TYPES(TYPE_ROW)
#undef TYPE_ROW
    };

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (writ_view_is(word, types[i].word)) {
            return types[i].type;
        }
    }
    return 0;
}

static bool
read_one_type(struct entry *e, const struct writ_yaml *node)
{
    unsigned type = node->type == WRIT_YAML_SCALAR ? type_of(node->text) : 0;

    if (type == 0) {
        WRIT_OPTION_FAULT(
            e->m->o, node, "must be string, number, integer, boolean, null, array, object or any");
        return false;
    }
    writ_buf_str(e->accepted, e->c->value.types == 0 ? "type " : " or ");
    writ_buf_put(e->accepted, node->text);
    e->c->value.types |= type;
    return true;
}

static bool
read_types(struct entry *e)
{
    bool good = true;

    if (e->raw.value->type != WRIT_YAML_LIST) {
        return read_one_type(e, e->raw.value);
    }
    WRIT_YAML_EACH(element, e->raw.value)
    {
        good = read_one_type(e, element) && good;
    }
    if (e->raw.value->count == 0) {
        WRIT_OPTION_FAULT(e->m->o, e->raw.value, "needs at least one type");
    }
    return good && e->raw.value->count > 0;
}

static bool
read_length(struct entry *e)
{
    bool items = e->c->op == WRIT_OP_MIN_ITEMS || e->c->op == WRIT_OP_MAX_ITEMS;
    bool least = e->c->op == WRIT_OP_MIN_LENGTH || e->c->op == WRIT_OP_MIN_ITEMS;

    if (!writ_value_read_length(e->m->o, e->raw.value, LENGTH_MAX, &e->c->value.length)) {
        return false;
    }
    writ_buf_str(e->accepted, items ? "an array of at " : "a string of at ");
    writ_buf_str(e->accepted, least ? "least " : "most ");
    writ_buf_u64(e->accepted, e->c->value.length);
    writ_buf_str(e->accepted, items ? " elements" : " characters");
    return true;
}

static bool
is_string(struct entry *e)
{
    const struct writ_yaml *node = e->raw.value;

    if (node->type == WRIT_YAML_NONE) {
        return false;
    }
    if (node->type != WRIT_YAML_SCALAR || node->text.len == 0) {
        WRIT_OPTION_FAULT(
            e->m->o, node, "`%s` needs a text that is not empty", writ_op_row(e->c->op)->word);
        return false;
    }
    return true;
}

static bool
read_string(struct entry *e)
{
    if (!is_string(e)) {
        return false;
    }
    e->c->value.text = e->raw.value->text;
    if (e->c->op == WRIT_OP_PREFIX && e->raw.value->text.ptr[0] == '/') {
        WRIT_OPTION_WARN(e->m->o, e->raw.value,
            "looks like a path: a prefix does not mean inside (/srv/box-evil, /srv/box/../x); use "
            "`under`");
    }
    writ_buf_str(e->accepted,
        e->c->op == WRIT_OP_PREFIX ? "a string that begins with " : "a string that ends with ");
    writ_buf_put(e->accepted, writ_view_sub(e->raw.value->text, 0, 200));
    return true;
}

static bool
read_pattern(struct entry *e)
{
    struct writ_options *o = e->m->o;
    struct writ_pattern_list *keep;
    struct writ_pattern *pattern = NULL;
    struct writ_err err = {0};
    writ_result result;

    if (!is_string(e)) {
        return false;
    }
    keep = writ_option_memory(o, 1, sizeof *keep);
    if (keep == NULL) {
        return false;
    }
    result = writ_pattern_new(e->raw.value->text, &pattern, &err);
    if (!writ_is_ok(result)) {
        o->nomem = o->nomem || result.code == WRIT_E_NOMEM;
        WRIT_OPTION_FAULT(o, e->raw.value, "is not a regular expression: %s", err.text);
        return false;
    }
    *keep = (struct writ_pattern_list){.pattern = pattern, .next = *e->m->patterns};
    *e->m->patterns = keep;
    e->c->value.pattern = pattern;
    writ_buf_str(e->accepted, e->c->op == WRIT_OP_MATCHES
                                  ? "a string that matches, as a whole, "
                                  : "a string that does not match, as a whole, ");
    writ_buf_put(e->accepted, writ_view_sub(e->raw.value->text, 0, 200));
    return true;
}

/* A text, or a list of texts. */
static bool
one_or_many(struct entry *e)
{
    struct writ_view *one;

    if (e->raw.value->type == WRIT_YAML_LIST && e->raw.value->count > 0) {
        return writ_option_texts(e->m->o, e->raw.value, VALUES_MAX, &e->c->value.list);
    }
    one = writ_option_memory(e->m->o, 1, sizeof *one);
    if (one == NULL || !is_string(e) || !writ_option_text(e->m->o, e->raw.value)) {
        return false;
    }
    *one = e->raw.value->text;
    e->c->value.list = (struct writ_views){one, 1};
    return true;
}

static void
put_list(struct writ_buf *buf, const struct writ_views *list)
{
    for (size_t i = 0; i < list->n && buf->len < 300; i++) {
        writ_buf_str(buf, i > 0 ? ", " : "");
        writ_buf_put(buf, writ_view_sub(list->items[i], 0, 100));
    }
}

/* Unlike git and shells, which let such a pattern match in the directory itself. */
static void
warn_directory(struct entry *e, struct writ_view pattern)
{
    if (writ_view_search(pattern, WRIT_LIT("/**/")) < pattern.len ||
        writ_view_has_prefix(pattern, WRIT_LIT("**/"))) {
        e->c->hint = WRIT_LIT("the pattern matches below the directory of its **, not in the "
                              "directory itself: /a/**/*.txt matches /a/b/x.txt and not /a/x.txt");
        WRIT_OPTION_WARN(e->m->o, e->raw.value,
            "does not match in the directory itself: /a/**/*.txt matches /a/b/x.txt and not "
            "/a/x.txt. Use /a/**.txt for both");
    }
}

static bool
read_globs(struct entry *e)
{
    if (!one_or_many(e)) {
        return false;
    }
    for (size_t i = 0; i < e->c->value.list.n; i++) {
        struct writ_view pattern = e->c->value.list.items[i];
        const char *fault = writ_glob_fault(pattern);

        if (fault != NULL) {
            WRIT_OPTION_FAULT(e->m->o, e->raw.value, "is not a pattern: %s", fault);
            return false;
        }
        e->c->spans = e->c->spans || writ_glob_spans(pattern);
        warn_directory(e, pattern);
    }
    writ_buf_str(e->accepted, "a string like ");
    if (e->c->value.list.n == 1) {
        writ_buf_put(e->accepted, writ_view_sub(e->c->value.list.items[0], 0, 200));
    } else {
        put_list(e->accepted, &e->c->value.list);
    }
    writ_buf_str(e->accepted, e->c->spans ? ", without .. or backslash" : "");
    return true;
}

static bool
read_directories(struct entry *e)
{
    if (!one_or_many(e)) {
        return false;
    }
    for (size_t i = 0; i < e->c->value.list.n; i++) {
        struct writ_view directory = e->c->value.list.items[i];
        if (!writ_path_is_normal(directory)) {
            WRIT_OPTION_FAULT(e->m->o, e->raw.value,
                "`under` needs an absolute directory without `.`, `..`, doubled or trailing "
                "slash");
            return false;
        }
        if (directory.len == 1) {
            WRIT_OPTION_WARN(e->m->o, e->raw.value, "every absolute path is under /");
        }
    }
    writ_buf_str(e->accepted, "an absolute path, without .. or backslash, inside ");
    put_list(e->accepted, &e->c->value.list);
    return true;
}

static bool
read_hosts(struct entry *e)
{
    if (!one_or_many(e)) {
        return false;
    }
    for (size_t i = 0; i < e->c->value.list.n; i++) {
        if (!writ_host_is_entry(e->c->value.list.items[i])) {
            WRIT_OPTION_FAULT(e->m->o, e->raw.value,
                "`host_in` needs hosts in lower-case ASCII, such as example.com, *.example.com, "
                "127.0.0.1 or [::1], each with an optional port");
            return false;
        }
    }
    writ_buf_str(e->accepted, "an http or https URL without userinfo whose host is ");
    put_list(e->accepted, &e->c->value.list);
    return true;
}

static const struct writ_constraint_set *make_set(struct writ_options *o,
    const struct writ_yaml *node, struct writ_pattern_list **patterns, unsigned depth);

static bool
read_each(struct entry *e)
{
    if (e->m->depth == WRIT_CONSTRAINT_DEPTH_MAX) {
        WRIT_OPTION_FAULT(
            e->m->o, e->raw.value, "`each` may be nested %d deep", WRIT_CONSTRAINT_DEPTH_MAX);
        return false;
    }
    e->c->value.each = make_set(e->m->o, e->raw.value, e->m->patterns, e->m->depth + 1);
    if (e->c->value.each == NULL) {
        return false;
    }
    writ_buf_str(e->accepted, "an array whose elements are each");
    for (size_t i = 0; i < e->c->value.each->n && e->accepted->len < 300; i++) {
        writ_buf_str(e->accepted, i > 0 ? ", and " : ": ");
        writ_buf_put(e->accepted, writ_view_sub(e->c->value.each->items[i].accepted, 0, 150));
    }
    return true;
}

static bool
read_nothing(struct entry *e)
{
    if (e->raw.value != NULL &&
        !(e->raw.value->type == WRIT_YAML_SCALAR && writ_view_is(e->raw.value->text, "true"))) {
        WRIT_OPTION_FAULT(
            e->m->o, e->raw.value, "`%s` takes no value (or true)", writ_op_row(e->c->op)->word);
        return false;
    }
    writ_buf_str(
        e->accepted, e->c->op == WRIT_OP_REQUIRED ? "any value but null" : "no such argument");
    return true;
}

/* The node of the file at a place of the value that was read from `root`. */
static const struct writ_yaml *
node_at(const struct writ_yaml *root, const struct writ_trail *at)
{
    const struct writ_yaml *up = at->up != NULL ? node_at(root, at->up) : NULL;

    if (at->up == NULL) {
        return root;
    }
    WRIT_YAML_EACH(child, up)
    {
        if (at->name.ptr != NULL ? writ_view_equal(child->key, at->name)
                                 : child->index == at->index) {
            return child;
        }
    }
    return root;
}

static void
fault_keyword(void *to, const struct writ_trail *at)
{
    const struct entry *e = to;
    const char *names[WRIT_JSONSCHEMA_NAMES_MAX];
    size_t n = writ_jsonschema_names(names);
    const char *nearest = writ_option_nearest(at->name, names, n);

    WRIT_OPTION_FAULT(e->m->o, node_at(e->raw.value, at), "unknown keyword of JSON Schema%s%s%s",
        nearest != NULL ? "; did you mean \"" : ". Remove it, or begin a name of your own with x-",
        nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
}

static void
free_schema(void *schema)
{
    writ_jsonschema_free(schema);
}

/* Compiled once, with the configuration; freed with its patterns. A misspelled keyword would
 * permit what it was meant to refuse, so none passes. */
static bool
read_schema(struct entry *e)
{
    struct writ_options *o = e->m->o;
    size_t errors = o->findings->errors;
    const struct writ_json *value = writ_value_read(o, e->raw.value);
    struct writ_pattern_list *keep = writ_option_memory(o, 1, sizeof *keep);
    struct writ_jsonschema *schema = NULL;
    struct writ_err err = {0};
    writ_result r;

    if (value == NULL || keep == NULL) {
        return false;
    }
    r = writ_jsonschema_new(value, WRIT_JSONSCHEMA_FORMATS_ASSERT, &schema, &err);
    if (!writ_is_ok(r)) {
        o->nomem = o->nomem || r.code == WRIT_E_NOMEM;
        WRIT_OPTION_FAULT(o, e->raw.value, "is no JSON Schema: %s", err.text);
        return false;
    }
    *keep = (struct writ_pattern_list){
        .other = schema, .release = free_schema, .next = *e->m->patterns};
    *e->m->patterns = keep;
    writ_jsonschema_unknown(schema, fault_keyword, e);
    e->c->value.schema = schema;
    writ_buf_str(e->accepted, "a value that is valid under the JSON Schema of the policy");
    return o->findings->errors == errors;
}

static bool
read_value(struct entry *e)
{
    enum writ_op_value kind = writ_op_row(e->c->op)->value;

    if (e->raw.value == NULL && writ_yaml_get(e->node, WRIT_LIT("value")) != NULL) {
        return false; /* refused, with a finding */
    }
    if (e->raw.value == NULL && kind != WRIT_OP_VALUE_NOTHING) {
        WRIT_OPTION_FAULT(e->m->o, e->node, "lacks value: set the value that `%s` compares with",
            writ_op_row(e->c->op)->word);
        return false;
    }
    switch (kind) {
    case WRIT_OP_VALUE_NOTHING:
        return read_nothing(e);
    case WRIT_OP_VALUE_JSON:
        return read_json(e);
    case WRIT_OP_VALUE_JSONS:
        return read_jsons(e);
    case WRIT_OP_VALUE_NUMBER:
        return read_number(e);
    case WRIT_OP_VALUE_TYPES:
        return read_types(e);
    case WRIT_OP_VALUE_LENGTH:
        return read_length(e);
    case WRIT_OP_VALUE_STRING:
        return read_string(e);
    case WRIT_OP_VALUE_PATTERN:
        return read_pattern(e);
    case WRIT_OP_VALUE_GLOBS:
        return read_globs(e);
    case WRIT_OP_VALUE_DIRECTORIES:
        return read_directories(e);
    case WRIT_OP_VALUE_HOSTS:
        return read_hosts(e);
    case WRIT_OP_VALUE_SCHEMA:
        return read_schema(e);
    case WRIT_OP_VALUE_SOURCES:
        e->c->value.from = writ_sources_read(e->m->o, e->raw.value, e->accepted);
        return e->c->value.from != NULL;
    case WRIT_OP_VALUE_DETECTORS:
        e->c->value.detectors = writ_detectors_named(e->m->o, e->raw.value);
        writ_buf_str(e->accepted,
            e->c->op == WRIT_OP_LACKS ? "a value that lacks " : "a value that contains ");
        writ_detectors_tell(e->raw.value, e->accepted);
        return e->c->value.detectors != NULL;
    case WRIT_OP_VALUE_CONSTRAINTS:
        return read_each(e);
    }
    return false;
}

/* ---- entries and sets */

static bool
check_arg(struct entry *e)
{
    if (e->raw.arg.ptr == NULL && writ_yaml_get(e->node, WRIT_LIT("arg")) != NULL) {
        return false; /* faulty, with a finding */
    }
    if (e->raw.arg.ptr == NULL && e->m->depth == 0) {
        WRIT_OPTION_FAULT(e->m->o, e->node,
            "lacks arg: name the argument (\"\" means all of them as one object)");
        return false;
    }
    if ((e->raw.optional || e->raw.nullable) &&
        (e->raw.op == WRIT_OP_REQUIRED || e->raw.op == WRIT_OP_FORBIDDEN)) {
        WRIT_OPTION_FAULT(e->m->o, e->node, "`%s` cannot be %s",
            writ_op_row((enum writ_op)e->raw.op)->word, e->raw.optional ? "optional" : "nullable");
        return false;
    }
    return true;
}

static bool
name_it(struct entry *e)
{
    writ_auto_buf name = writ_buf_make(ACCEPTED_MAX);
    struct writ_options *o = e->m->o;

    writ_buf_put(&name, writ_view_sub(e->raw.arg, 0, 200));
    writ_buf_str(&name, e->raw.arg.len > 0 ? " " : "");
    writ_buf_str(&name, writ_op_row(e->c->op)->word);
    e->c->name = writ_view_copy(writ_buf_view(&name), o->arena);
    e->c->accepted = writ_view_copy(writ_buf_view(e->accepted), o->arena);
    o->nomem = o->nomem || e->c->name.ptr == NULL || e->c->accepted.ptr == NULL;
    return !o->nomem;
}

static bool
read_entry(struct making *m, const struct writ_yaml *node)
{
    writ_auto_buf accepted = writ_buf_make(ACCEPTED_MAX * 4);
    struct entry e = {.m = m, .node = node, .c = &m->items[m->n], .accepted = &accepted};
    struct writ_views tokens;
    bool good;

    writ_option_read(m->o, WRIT_SECTION_constraint, node, &e.raw);
    if (node->type != WRIT_YAML_MAP || e.raw.op == WRIT_OP_NONE) {
        return false;
    }
    *e.c = (struct writ_constraint){.node = node,
        .op = (enum writ_op)e.raw.op,
        .optional = e.raw.optional,
        .nullable = e.raw.nullable};
    good = check_arg(&e);
    good = read_value(&e) && good;
    writ_buf_str(&accepted, e.c->nullable ? ", or null" : "");
    if (!good || !writ_compile_arg(m->o, node, e.raw.arg, &tokens) ||
        !add_path(m, node, &tokens, &e.c->path) || !name_it(&e)) {
        return false;
    }
    m->n++;
    return add_place(m, &tokens, e.c, e.raw.secret, node);
}

/* `each` takes one constraint or a list of them. */
static size_t
entries_of(const struct writ_yaml *node)
{
    return node == NULL ? 0 : node->type == WRIT_YAML_MAP ? 1 : node->count;
}

static bool
read_entries(struct making *m, const struct writ_yaml *node)
{
    bool good = true;

    if (node == NULL) {
        return true;
    }
    if (node->type == WRIT_YAML_MAP && m->depth > 0) {
        return read_entry(m, node);
    }
    if (node->type != WRIT_YAML_LIST) {
        WRIT_OPTION_FAULT(m->o, node, "must be a list of constraints, each {arg, op, value}");
        return false;
    }
    if (node->count > WRIT_CONSTRAINTS_MAX || (node->count == 0 && m->depth > 0)) {
        WRIT_OPTION_FAULT(m->o, node, "must have %d to %d constraints", m->depth > 0 ? 1 : 0,
            WRIT_CONSTRAINTS_MAX);
        return false;
    }
    WRIT_YAML_EACH(element, node)
    {
        good = read_entry(m, element) && good;
    }
    return good;
}

static const struct writ_constraint_set *
make_set(struct writ_options *o, const struct writ_yaml *node, struct writ_pattern_list **patterns,
    unsigned depth)
{
    struct making m = {.o = o, .patterns = patterns, .depth = depth};
    size_t entries = entries_of(node);
    struct writ_constraint_set *set = writ_option_memory(o, 1, sizeof *set);

    m.items = writ_option_memory(o, entries, sizeof *m.items);
    m.paths = writ_option_memory(o, entries, sizeof *m.paths);
    if (set == NULL || m.items == NULL || m.paths == NULL || !read_entries(&m, node)) {
        return NULL;
    }
    *set = (struct writ_constraint_set){
        .items = m.items, .n = m.n, .paths = m.paths, .paths_n = m.paths_n, .root = m.root};
    return set;
}

const struct writ_constraint_set *
writ_compile_conditions(
    struct writ_options *o, const struct writ_yaml *node, struct writ_pattern_list **patterns)
{
    const struct writ_constraint_set *set = make_set(o, node, patterns, 0);

    if (set != NULL && set->root.hides) {
        WRIT_OPTION_FAULT(
            o, node, "secret marks the arguments of a rule: set it in `arguments` of the rule");
        return NULL;
    }
    return set;
}

const struct writ_constraint_set *
writ_compile_constraints(
    struct writ_options *o, const struct writ_yaml *node, struct writ_pattern_list **patterns)
{
    return make_set(o, node, patterns, 0);
}
