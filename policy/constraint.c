#include "policy/constraint.h"

#include "base/text.h"
#include "policy/glob.h"
#include "policy/host.h"
#include "policy/path.h"
#include "policy/value.h"
#include "policy/yaml.h"

/* ---- finding arguments */

/* The child of `value` that a token of a JSON Pointer names. */
static const struct writ_json *
child_of(const struct writ_json *value, struct writ_view token)
{
    uint64_t index;

    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return writ_json_get(value, token);
    }
    return writ_is_ok(writ_text_u64(token, 0, UINT32_MAX, &index)) ? writ_json_element(value, index)
                                                                   : NULL;
}

static const struct writ_json *
find(const struct writ_constraint_path *path, const struct writ_json *value)
{
    for (size_t i = 0; i < path->tokens.n && value != NULL; i++) {
        value = child_of(value, path->tokens.items[i]);
    }
    return value;
}

/* ---- closed coverage */

/* The places that speak of one value; more than fit speak of nothing, which refuses. */
struct cover {
    const struct writ_constraint_place *places[WRIT_CONSTRAINT_COVER_MAX];
    size_t n;
};

static void
cover_add(struct cover *cover, const struct writ_constraint_place *place)
{
    if (cover->n < WRIT_CONSTRAINT_COVER_MAX) {
        cover->places[cover->n++] = place;
    }
}

static void
cover_child(struct cover *ret, const struct writ_constraint_place *place, struct writ_view token)
{
    for (const struct writ_constraint_place *child = place->children; child != NULL;
         child = child->next) {
        if (writ_view_equal(child->token, token)) {
            cover_add(ret, child);
            return;
        }
    }
}

static void
cover_element(struct cover *ret, const struct writ_constraint_place *place, size_t index)
{
    uint64_t number;

    for (const struct writ_constraint_place *child = place->children; child != NULL;
         child = child->next) {
        if (writ_is_ok(writ_text_u64(child->token, 0, UINT32_MAX, &number)) && number == index) {
            cover_add(ret, child);
        }
    }
    for (size_t i = 0; i < place->each_n; i++) {
        cover_add(ret, &place->each[i]->root);
    }
}

static bool
any_whole(const struct cover *cover)
{
    for (size_t i = 0; i < cover->n; i++) {
        if (cover->places[i]->whole) {
            return true;
        }
    }
    return false;
}

static bool
any_named(const struct cover *cover)
{
    for (size_t i = 0; i < cover->n; i++) {
        if (cover->places[i]->named) {
            return true;
        }
    }
    return false;
}

/* How a value was reached. */
struct trail {
    const struct trail *up;
    struct writ_view name; /* of a member; ptr NULL: an element */
    size_t index;
};

static void
put_trail(const struct trail *trail, struct writ_buf *ret)
{
    if (trail->up != NULL) {
        put_trail(trail->up, ret);
        writ_buf_byte(ret, '/');
        if (trail->name.ptr != NULL) {
            writ_yaml_token(trail->name, ret);
        } else {
            writ_buf_u64(ret, trail->index);
        }
    }
}

static bool covers(const struct cover *cover, const struct writ_json *value,
    const struct trail *trail, struct writ_buf *unlisted);

static bool
covers_children(const struct cover *cover, const struct writ_json *value, const struct trail *trail,
    struct writ_buf *unlisted)
{
    bool array = writ_json_type(value) == WRIT_JSON_ARRAY;
    struct trail step = {.up = trail};

    for (const struct writ_json *child = writ_json_first(value); child != NULL;
         child = writ_json_next(value, child)) {
        struct cover below = {.n = 0};
        step.name = writ_json_string(array ? NULL : child);
        for (size_t i = 0; i < cover->n; i++) {
            if (array) {
                cover_element(&below, cover->places[i], step.index);
            } else {
                cover_child(&below, cover->places[i], step.name);
            }
        }
        if (!covers(&below, array ? child : writ_json_value(child), &step, unlisted)) {
            return false;
        }
        step.index++;
    }
    return true;
}

static bool
covers(const struct cover *cover, const struct writ_json *value, const struct trail *trail,
    struct writ_buf *unlisted)
{
    bool leaf = writ_json_first(value) == NULL;
    bool hopeless = cover->n == 0; /* nothing speaks of what is inside either */

    if (any_whole(cover)) {
        return true;
    }
    if (!leaf && !hopeless) {
        return covers_children(cover, value, trail, unlisted);
    }
    if (leaf && any_named(cover)) {
        return true;
    }
    if (unlisted != NULL) {
        put_trail(trail, unlisted);
    }
    return false;
}

bool
writ_constraint_covers(
    const struct writ_constraint_set *set, const struct writ_json *value, struct writ_buf *unlisted)
{
    struct cover cover = {.places = {&set->root}, .n = 1};
    struct trail trail = {.up = NULL};

    return covers(&cover, value, &trail, unlisted);
}

/* ---- ops */

static enum writ_holds
answer(bool yes)
{
    return yes ? WRIT_HOLDS_YES : WRIT_HOLDS_NO;
}

static enum writ_holds
holds_equal(const struct writ_json *wanted, const struct writ_json *value)
{
    switch (writ_value_same(wanted, value)) {
    case WRIT_SAME_UNKNOWN:
        return WRIT_HOLDS_ERROR;
    case WRIT_SAME_NO:
        return WRIT_HOLDS_NO;
    case WRIT_SAME_YES:
        return WRIT_HOLDS_YES;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_in(const struct writ_json *values, const struct writ_json *value)
{
    WRIT_JSON_EACH(wanted, values)
    {
        enum writ_holds holds = holds_equal(wanted, value);
        if (holds != WRIT_HOLDS_NO) {
            return holds;
        }
    }
    return WRIT_HOLDS_NO;
}

/* ne and not_in ask for the type of a value too, so that ["x"] is not an answer to `ne x`; null
 * among the values only says that it is not wanted. */
static enum writ_holds
holds_differs(const struct writ_json *wanted, const struct writ_json *value, bool *ret_typed,
    bool *ret_asks_type)
{
    if (writ_json_type(wanted) == WRIT_JSON_NULL) {
        return answer(writ_json_type(value) != WRIT_JSON_NULL);
    }
    *ret_asks_type = true;
    *ret_typed = *ret_typed || writ_value_same_type(wanted, value);
    switch (writ_value_same(wanted, value)) {
    case WRIT_SAME_UNKNOWN:
        return WRIT_HOLDS_ERROR;
    case WRIT_SAME_NO:
        return WRIT_HOLDS_YES;
    case WRIT_SAME_YES:
        return WRIT_HOLDS_NO;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_not_equal(const struct writ_json *wanted, const struct writ_json *value)
{
    bool typed = false, asks_type = false;
    enum writ_holds holds = holds_differs(wanted, value, &typed, &asks_type);

    return holds == WRIT_HOLDS_YES ? answer(typed || !asks_type) : holds;
}

static enum writ_holds
holds_not_in(const struct writ_json *values, const struct writ_json *value)
{
    bool typed = false, asks_type = false;

    WRIT_JSON_EACH(wanted, values)
    {
        enum writ_holds holds = holds_differs(wanted, value, &typed, &asks_type);
        if (holds != WRIT_HOLDS_YES) {
            return holds;
        }
    }
    return answer(typed || !asks_type);
}

static bool
compares(enum writ_op op, int order)
{
    return op == WRIT_OP_LT   ? order < 0
           : op == WRIT_OP_LE ? order <= 0
           : op == WRIT_OP_GT ? order > 0
                              : order >= 0;
}

static enum writ_holds
holds_bound(const struct writ_constraint *c, const struct writ_json *value)
{
    struct writ_amount amount;

    if (writ_json_type(value) != WRIT_JSON_NUMBER) {
        return WRIT_HOLDS_NO;
    }
    if (!writ_is_ok(writ_value_amount(value, &amount))) {
        return WRIT_HOLDS_ERROR;
    }
    if (!compares(c->op, writ_decimal_compare(&amount.written, &c->value.bound))) {
        return WRIT_HOLDS_NO;
    }
    return answer(!amount.differ ||
                  compares(c->op, writ_decimal_compare(&amount.forwarded, &c->value.bound)));
}

static enum writ_holds
holds_number_type(unsigned types, const struct writ_json *value)
{
    struct writ_amount amount;

    if ((types & WRIT_CONSTRAINT_NUMBER) != 0 || (types & WRIT_CONSTRAINT_INTEGER) == 0) {
        return answer((types & WRIT_CONSTRAINT_NUMBER) != 0);
    }
    return writ_is_ok(writ_value_amount(value, &amount)) ? answer(writ_value_is_integer(&amount))
                                                         : WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_type(unsigned types, const struct writ_json *value)
{
    if ((types & WRIT_CONSTRAINT_ANY) != 0) {
        return WRIT_HOLDS_YES;
    }
    switch (writ_json_type(value)) {
    case WRIT_JSON_NONE:
        return WRIT_HOLDS_NO;
    case WRIT_JSON_NULL:
        return answer((types & WRIT_CONSTRAINT_NULL) != 0);
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return answer((types & WRIT_CONSTRAINT_BOOLEAN) != 0);
    case WRIT_JSON_NUMBER:
        return holds_number_type(types, value);
    case WRIT_JSON_STRING:
        return answer((types & WRIT_CONSTRAINT_STRING) != 0);
    case WRIT_JSON_ARRAY:
        return answer((types & WRIT_CONSTRAINT_ARRAY) != 0);
    case WRIT_JSON_OBJECT:
        return answer((types & WRIT_CONSTRAINT_OBJECT) != 0);
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_pattern(const struct writ_pattern *pattern, struct writ_view text, struct writ_arena *arena)
{
    switch (writ_pattern_match(pattern, text, arena)) {
    case WRIT_PATTERN_LIMIT:
        return WRIT_HOLDS_ERROR;
    case WRIT_PATTERN_NO:
        return WRIT_HOLDS_NO;
    case WRIT_PATTERN_YES:
        return WRIT_HOLDS_YES;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_glob(const struct writ_constraint *c, struct writ_view text)
{
    if (c->spans && writ_path_is_devious(text)) {
        return WRIT_HOLDS_NO; /* such as `..`, which the stars would match like any name */
    }
    switch (writ_glob_match(c->value.text, text)) {
    case WRIT_GLOB_LIMIT:
        return WRIT_HOLDS_ERROR;
    case WRIT_GLOB_NO:
        return WRIT_HOLDS_NO;
    case WRIT_GLOB_YES:
        return WRIT_HOLDS_YES;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_under(const struct writ_views *directories, struct writ_view path)
{
    for (size_t i = 0; i < directories->n; i++) {
        if (writ_path_is_under(path, directories->items[i])) {
            return WRIT_HOLDS_YES;
        }
    }
    return WRIT_HOLDS_NO;
}

static enum writ_holds
holds_host(const struct writ_views *hosts, struct writ_view text)
{
    struct writ_url url;

    if (!writ_is_ok(writ_host_read_url(text, &url))) {
        return WRIT_HOLDS_NO;
    }
    for (size_t i = 0; i < hosts->n; i++) {
        if (writ_host_covers(hosts->items[i], &url)) {
            return WRIT_HOLDS_YES;
        }
    }
    return WRIT_HOLDS_NO;
}

static enum writ_holds
holds_string(
    const struct writ_constraint *c, const struct writ_json *value, struct writ_arena *arena)
{
    struct writ_view text = writ_json_string(value);

    if (writ_json_type(value) != WRIT_JSON_STRING) {
        return WRIT_HOLDS_NO;
    }
    if (c->op == WRIT_OP_MIN_LENGTH || c->op == WRIT_OP_MAX_LENGTH) {
        size_t points = writ_text_points(text);
        return answer(
            c->op == WRIT_OP_MIN_LENGTH ? points >= c->value.length : points <= c->value.length);
    }
    if (c->op == WRIT_OP_PREFIX || c->op == WRIT_OP_SUFFIX) {
        return answer(c->op == WRIT_OP_PREFIX ? writ_view_has_prefix(text, c->value.text)
                                              : writ_view_has_suffix(text, c->value.text));
    }
    if (c->op == WRIT_OP_MATCHES) {
        return holds_pattern(c->value.pattern, text, arena);
    }
    if (c->op == WRIT_OP_GLOB) {
        return holds_glob(c, text);
    }
    return c->op == WRIT_OP_UNDER ? holds_under(&c->value.list, text)
                                  : holds_host(&c->value.list, text);
}

static enum writ_holds
holds_items(const struct writ_constraint *c, const struct writ_json *value)
{
    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return WRIT_HOLDS_NO;
    }
    return answer(c->op == WRIT_OP_MIN_ITEMS ? value->count >= c->value.length
                                             : value->count <= c->value.length);
}

static enum writ_holds holds_all(const struct writ_constraint_set *set,
    const struct writ_json *value, struct writ_arena *arena,
    const struct writ_constraint **ret_failed);

static enum writ_holds
holds_each(
    const struct writ_constraint_set *set, const struct writ_json *array, struct writ_arena *arena)
{
    const struct writ_constraint *ignored;

    if (writ_json_type(array) != WRIT_JSON_ARRAY) {
        return WRIT_HOLDS_NO;
    }
    WRIT_JSON_EACH(element, array)
    {
        enum writ_holds holds = holds_all(set, element, arena, &ignored);
        if (holds != WRIT_HOLDS_YES) {
            return holds;
        }
    }
    return WRIT_HOLDS_YES;
}

static enum writ_holds
holds_present(
    const struct writ_constraint *c, const struct writ_json *value, struct writ_arena *arena)
{
    switch (c->op) {
    case WRIT_OP_NONE:
    case WRIT_OP_COUNT:
        return WRIT_HOLDS_ERROR;
    case WRIT_OP_EQ:
        return holds_equal(c->value.json, value);
    case WRIT_OP_NE:
        return holds_not_equal(c->value.json, value);
    case WRIT_OP_IN:
        return holds_in(c->value.json, value);
    case WRIT_OP_NOT_IN:
        return holds_not_in(c->value.json, value);
    case WRIT_OP_LT:
    case WRIT_OP_LE:
    case WRIT_OP_GT:
    case WRIT_OP_GE:
        return holds_bound(c, value);
    case WRIT_OP_TYPE:
        return holds_type(c->value.types, value);
    case WRIT_OP_MIN_LENGTH:
    case WRIT_OP_MAX_LENGTH:
    case WRIT_OP_PREFIX:
    case WRIT_OP_SUFFIX:
    case WRIT_OP_MATCHES:
    case WRIT_OP_GLOB:
    case WRIT_OP_UNDER:
    case WRIT_OP_HOST_IN:
        return holds_string(c, value, arena);
    case WRIT_OP_EACH:
        return holds_each(c->value.each, value, arena);
    case WRIT_OP_MIN_ITEMS:
    case WRIT_OP_MAX_ITEMS:
        return holds_items(c, value);
    case WRIT_OP_REQUIRED:
        return answer(writ_json_type(value) != WRIT_JSON_NULL);
    case WRIT_OP_FORBIDDEN:
        return WRIT_HOLDS_NO;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_one(const struct writ_constraint *c, const struct writ_json *value, struct writ_arena *arena)
{
    if (value == NULL) {
        return answer(c->optional || c->op == WRIT_OP_FORBIDDEN);
    }
    return holds_present(c, value, arena);
}

static enum writ_holds
holds_all(const struct writ_constraint_set *set, const struct writ_json *value,
    struct writ_arena *arena, const struct writ_constraint **ret_failed)
{
    const struct writ_json *found[WRIT_CONSTRAINT_PATHS_MAX];

    for (size_t i = 0; i < set->paths_n; i++) {
        found[i] = find(&set->paths[i], value);
    }
    for (size_t i = 0; i < set->n; i++) {
        enum writ_holds holds = holds_one(&set->items[i], found[set->items[i].path], arena);
        if (holds != WRIT_HOLDS_YES) {
            *ret_failed = &set->items[i];
            return holds;
        }
    }
    return WRIT_HOLDS_YES;
}

enum writ_holds
writ_constraint_holds(const struct writ_constraint_set *set,
    const struct writ_constraint *constraint, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    return holds_one(constraint, find(&set->paths[constraint->path], arguments), arena);
}

enum writ_reason
writ_constraint_check(const struct writ_constraint_set *set, const struct writ_json *arguments,
    struct writ_arena *arena, const struct writ_constraint **ret_failed)
{
    *ret_failed = NULL;
    if (writ_json_first(arguments) != NULL && !writ_constraint_covers(set, arguments, NULL)) {
        return WRIT_REASON_ARGUMENT_NOT_LISTED;
    }
    switch (holds_all(set, arguments, arena, ret_failed)) {
    case WRIT_HOLDS_ERROR:
        return WRIT_REASON_CONSTRAINT_ERROR;
    case WRIT_HOLDS_NO:
        return WRIT_REASON_CONSTRAINT_FAILED;
    case WRIT_HOLDS_YES:
        return WRIT_REASON_POLICY_OK;
    }
    return WRIT_REASON_CONSTRAINT_ERROR;
}
