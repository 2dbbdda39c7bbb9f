/* Each op answers yes, no or error for a compiled value and an argument, and an error denies. A
 * failure names the place and the constraint and never holds a value of the call. */
#include "policy/decide/evaluate.h"

#include "base/text.h"
#include "base/utf8.h"
#include "policy/decide/coverage.h"
#include "policy/detect/detect.h"
#include "policy/schema/jsonschema.h"
#include "policy/model/trail.h"
#include "policy/decide/value.h"
#include "policy/model/glob.h"
#include "policy/model/host.h"
#include "policy/model/path.h"

#define NAMES_MAX 8192 /* the names of all constraints around the one that failed */

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

const struct writ_json *
writ_evaluate_argument(const struct writ_json *arguments, const struct writ_views *tokens)
{
    const struct writ_json *value = arguments;

    for (size_t i = 0; i < tokens->n && value != NULL; i++) {
        value = child_of(value, tokens->items[i]);
    }
    return value;
}

/* ---- what failed */

/* The constraint that does not hold, and those around it: innermost first. */
struct failure {
    struct {
        const struct writ_constraint_set *set;
        const struct writ_constraint *constraint;
        size_t element; /* of the array, where a constraint inside `each` failed */
    } levels[WRIT_CONSTRAINT_DEPTH_MAX + 1];
    size_t n;
    const struct writ_detector *found; /* by `lacks`; NULL: it is another op */
};

static void
add_level(struct failure *failure, const struct writ_constraint_set *set,
    const struct writ_constraint *constraint)
{
    failure->levels[failure->n].set = set;
    failure->levels[failure->n].constraint = constraint;
    failure->n++;
}

static void
put_failure(const struct failure *failure, struct writ_buf *pointer, struct writ_buf *name)
{
    for (size_t i = failure->n; i-- > 0;) {
        const struct writ_constraint *c = failure->levels[i].constraint;
        const struct writ_views *tokens = &failure->levels[i].set->paths[c->path].tokens;

        for (size_t t = 0; t < tokens->n; t++) {
            writ_buf_byte(pointer, '/');
            writ_trail_token(tokens->items[t], pointer);
        }
        if (i > 0) {
            writ_buf_byte(pointer, '/');
            writ_buf_u64(pointer, failure->levels[i].element);
        }
        writ_buf_str(name, name->len > 0 ? ", " : "");
        writ_buf_put(name, c->name);
    }
    if (failure->found != NULL) {
        writ_buf_str(name, ": ");
        writ_buf_put(name, failure->found->called);
    }
}

/* A copy in the arena, or the outermost name without memory for all of them. */
static struct writ_view
keep_name(const struct writ_buf *name, const struct failure *failure, struct writ_arena *arena)
{
    struct writ_view copy = {NULL, 0};

    if (writ_is_ok(writ_buf_check(name, NULL))) {
        copy = writ_view_copy(writ_buf_view(name), arena);
    }
    return copy.ptr != NULL ? copy : failure->levels[failure->n - 1].constraint->name;
}

static void
tell_failure(
    const struct failure *failure, struct writ_arena *arena, struct writ_constraint_failure *ret)
{
    writ_auto_buf pointer = writ_buf_make(WRIT_TRAIL_TEXT_MAX), name = writ_buf_make(NAMES_MAX);
    const struct writ_constraint *inner = failure->levels[0].constraint;

    put_failure(failure, &pointer, &name);
    ret->argument = writ_trail_keep(&pointer, arena);
    ret->constraint = keep_name(&name, failure, arena);
    ret->accepted = inner->accepted;
    ret->hint = inner->hint;
    ret->at = inner;
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

/* ne and not_in require the type of a value too, so that ["x"] does not satisfy `ne x`; null among
 * the values only excludes null. */
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
    struct writ_decimal amount;

    if (writ_json_type(value) != WRIT_JSON_NUMBER) {
        return WRIT_HOLDS_NO;
    }
    if (!writ_is_ok(writ_value_amount(value, &amount))) {
        return WRIT_HOLDS_ERROR;
    }
    return answer(compares(c->op, writ_decimal_compare(&amount, &c->value.bound)));
}

static enum writ_holds
holds_number_type(unsigned types, const struct writ_json *value)
{
    struct writ_decimal amount;

    if ((types & WRIT_CONSTRAINT_NUMBER) != 0 || (types & WRIT_CONSTRAINT_INTEGER) == 0) {
        return answer((types & WRIT_CONSTRAINT_NUMBER) != 0);
    }
    return writ_is_ok(writ_value_amount(value, &amount)) ? answer(amount.exponent >= 0)
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
opposite(enum writ_holds holds)
{
    switch (holds) {
    case WRIT_HOLDS_ERROR:
        break;
    case WRIT_HOLDS_NO:
        return WRIT_HOLDS_YES;
    case WRIT_HOLDS_YES:
        return WRIT_HOLDS_NO;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_glob(const struct writ_constraint *c, struct writ_view text)
{
    /* such as `..`, which the stars would match like any name */
    bool devious = c->spans && writ_path_is_devious(text), limit = false;

    for (size_t i = 0; i < c->value.list.n; i++) {
        struct writ_view pattern = c->value.list.items[i];

        if (devious && writ_glob_spans(pattern)) {
            continue;
        }
        switch (writ_glob_match(pattern, text)) {
        case WRIT_GLOB_LIMIT:
            limit = true;
            break;
        case WRIT_GLOB_NO:
            break;
        case WRIT_GLOB_YES:
            return WRIT_HOLDS_YES;
        }
    }
    return limit ? WRIT_HOLDS_ERROR : WRIT_HOLDS_NO;
}

static enum writ_holds
holds_under(const struct writ_views *directories, struct writ_view path)
{
    return writ_path_is_under(path, directories->items, directories->n) ? WRIT_HOLDS_YES
                                                                        : WRIT_HOLDS_NO;
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
        size_t points = writ_utf8_points(text);
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
    if (c->op == WRIT_OP_NOT_MATCHES) {
        return opposite(holds_pattern(c->value.pattern, text, arena));
    }
    if (c->op == WRIT_OP_GLOB) {
        return holds_glob(c, text);
    }
    return c->op == WRIT_OP_UNDER ? holds_under(&c->value.list, text)
                                  : holds_host(&c->value.list, text);
}

static enum writ_holds
holds_schema(
    const struct writ_jsonschema *schema, const struct writ_json *value, struct writ_arena *arena)
{
    switch (writ_jsonschema_check(schema, value, arena, NULL)) {
    case WRIT_JSONSCHEMA_YES:
        return WRIT_HOLDS_YES;
    case WRIT_JSONSCHEMA_NO:
        return WRIT_HOLDS_NO;
    case WRIT_JSONSCHEMA_LIMIT:
        break;
    }
    return WRIT_HOLDS_ERROR;
}

static enum writ_holds
holds_detectors(
    const struct writ_constraint *c, const struct writ_json *value, struct failure *failure)
{
    bool lacks = c->op == WRIT_OP_LACKS;

    if (writ_json_type(value) == WRIT_JSON_NULL) {
        return WRIT_HOLDS_NO;
    }
    switch (
        writ_detect_any(c->value.detectors, value, NULL, lacks ? &failure->found : NULL, NULL)) {
    case WRIT_DETECT_UNKNOWN:
        break;
    case WRIT_DETECT_NONE:
        return answer(lacks);
    case WRIT_DETECT_SOME:
        return answer(!lacks);
    }
    return WRIT_HOLDS_ERROR;
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
    const struct writ_json *value, struct writ_arena *arena, struct failure *failure);

static enum writ_holds
holds_each(const struct writ_constraint_set *set, const struct writ_json *array,
    struct writ_arena *arena, struct failure *failure)
{
    size_t index = 0;

    if (writ_json_type(array) != WRIT_JSON_ARRAY) {
        return WRIT_HOLDS_NO;
    }
    WRIT_JSON_EACH(element, array)
    {
        enum writ_holds holds = holds_all(set, element, arena, failure);
        if (holds != WRIT_HOLDS_YES) {
            failure->levels[failure->n].element = index; /* of the level that comes next */
            return holds;
        }
        index++;
    }
    return WRIT_HOLDS_YES;
}

static enum writ_holds
holds_present(const struct writ_constraint *c, const struct writ_json *value,
    struct writ_arena *arena, struct failure *failure)
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
    case WRIT_OP_NOT_MATCHES:
    case WRIT_OP_GLOB:
    case WRIT_OP_UNDER:
    case WRIT_OP_HOST_IN:
        return holds_string(c, value, arena);
    case WRIT_OP_SCHEMA:
        return holds_schema(c->value.schema, value, arena);
    case WRIT_OP_FROM: /* the state of the run decides: decide/flow.h */
        return WRIT_HOLDS_YES;
    case WRIT_OP_CONTAINS:
    case WRIT_OP_LACKS:
        return holds_detectors(c, value, failure);
    case WRIT_OP_EACH:
        return holds_each(c->value.each, value, arena, failure);
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
holds_one(const struct writ_constraint_set *set, const struct writ_constraint *c,
    const struct writ_json *value, struct writ_arena *arena, struct failure *failure)
{
    enum writ_holds holds;

    if (value == NULL) {
        holds = answer(c->optional || c->op == WRIT_OP_FORBIDDEN);
    } else if (c->nullable && writ_json_type(value) == WRIT_JSON_NULL) {
        holds = WRIT_HOLDS_YES;
    } else {
        holds = holds_present(c, value, arena, failure);
    }
    if (holds != WRIT_HOLDS_YES) {
        add_level(failure, set, c);
    }
    return holds;
}

static enum writ_holds
holds_all(const struct writ_constraint_set *set, const struct writ_json *value,
    struct writ_arena *arena, struct failure *failure)
{
    const struct writ_json *found[WRIT_CONSTRAINT_PATHS_MAX];

    for (size_t i = 0; i < set->paths_n; i++) {
        found[i] = writ_evaluate_argument(value, &set->paths[i].tokens);
    }
    for (size_t i = 0; i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        enum writ_holds holds = holds_one(set, c, found[c->path], arena, failure);
        if (holds != WRIT_HOLDS_YES) {
            return holds;
        }
    }
    return WRIT_HOLDS_YES;
}

enum writ_holds
writ_evaluate_one(const struct writ_constraint_set *set, const struct writ_constraint *constraint,
    const struct writ_json *arguments, struct writ_arena *arena,
    struct writ_constraint_failure *ret_failed)
{
    struct failure failure = {.n = 0};
    enum writ_holds holds = holds_one(set, constraint,
        writ_evaluate_argument(arguments, &set->paths[constraint->path].tokens), arena, &failure);

    if (ret_failed != NULL) {
        *ret_failed = (struct writ_constraint_failure){.argument = {NULL, 0}};
        if (holds != WRIT_HOLDS_YES) {
            tell_failure(&failure, arena, ret_failed);
        }
    }
    return holds;
}

static bool
is_covered(const struct writ_constraint_set *set, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_view *ret_unlisted)
{
    writ_auto_buf unlisted = writ_buf_make(WRIT_TRAIL_TEXT_MAX);

    if (writ_json_first(arguments) == NULL || writ_coverage_holds(set, arguments, &unlisted)) {
        return true;
    }
    *ret_unlisted = writ_trail_keep(&unlisted, arena);
    return false;
}

enum writ_reason
writ_evaluate_arguments(const struct writ_constraint_set *set, const struct writ_json *arguments,
    struct writ_arena *arena, struct writ_constraint_failure *ret_failed)
{
    struct failure failure = {.n = 0};
    enum writ_holds holds;

    *ret_failed = (struct writ_constraint_failure){.argument = {NULL, 0}};
    if (!is_covered(set, arguments, arena, &ret_failed->argument)) {
        return WRIT_REASON_ARGUMENT_NOT_LISTED;
    }
    holds = holds_all(set, arguments, arena, &failure);
    if (holds == WRIT_HOLDS_YES) {
        return WRIT_REASON_POLICY_OK;
    }
    tell_failure(&failure, arena, ret_failed);
    return holds == WRIT_HOLDS_NO ? WRIT_REASON_CONSTRAINT_FAILED : WRIT_REASON_CONSTRAINT_ERROR;
}
