/* Every change is a splice of the text at the place of a node. A value is written so that YAML
 * reads the same value; what cannot be written in a few characters is left out. */
#include "policy/read/edit.h"

#include "base/utf8.h"
#include "evidence/json/jcs.h"
#include "policy/model/quote.h"
#include "policy/model/trail.h"
#include "policy/decide/value.h"
#include "policy/model/host.h"
#include "policy/model/path.h"
#include "policy/read/place.h"
#include "policy/read/placeholder.h"

#define POINTER_MAX 8192
#define ITEM_MAX    65536 /* bytes of a value that is worth writing down */
#define PARSE_MAX   ((size_t)256 << 20)

/* A change under construction. */
struct edit {
    struct writ_view text;
    bool json; /* the file is written as JSON, or nearly: so are changes */
    enum writ_quote quote;
    struct writ_buf *ret;
};

/* ---- splices */

/* False without memory: the edit is then YAML, and is read again before it is shown. */
static bool
is_strict_json(struct writ_view text)
{
    writ_auto_arena arena = writ_arena_new(PARSE_MAX);
    const struct writ_yaml *ignored;

    return arena != NULL && writ_yaml_from_json(text, arena, &ignored);
}

static struct edit
edit_of(struct writ_view text, struct writ_buf *ret)
{
    size_t at = 0;

    while (at < text.len && writ_view_find(WRIT_LIT(" \t\r\n"), text.ptr[at]) < 4) {
        at++;
    }
    return (struct edit){.text = text,
        .json = at < text.len && text.ptr[at] == '{',
        .quote = is_strict_json(text) ? WRIT_QUOTE_JSON : WRIT_QUOTE_YAML,
        .ret = ret};
}

static writ_result
splice(struct edit *e, size_t start, size_t end, struct writ_view with)
{
    writ_buf_put(e->ret, writ_view_sub(e->text, 0, start));
    writ_buf_put(e->ret, with);
    writ_buf_put(e->ret, writ_view_sub(e->text, end, e->text.len));
    return writ_buf_check(e->ret, NULL);
}

static writ_result
find_below(struct edit *e, const struct writ_yaml *node, const char *below, struct writ_place *ret)
{
    writ_auto_buf pointer = writ_buf_make(POINTER_MAX);

    writ_yaml_pointer(node, &pointer);
    writ_buf_str(&pointer, below);
    WRIT_TRY(writ_buf_check(&pointer, NULL));
    return writ_place_find(e->text, writ_buf_view(&pointer), ret);
}

/* ---- values as text */

static bool
is_plain(struct writ_view text)
{
    static const char *const words[] = {
        "yes", "no", "on", "off", "y", "n", "true", "false", "null"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (writ_view_equal_nocase(text, writ_view_str(words[i]))) {
            return false;
        }
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/';
        if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'))) {
            return false;
        }
    }
    return text.len > 0 && !writ_view_has_prefix(text, WRIT_LIT(WRIT_PLACEHOLDER_PREFIX));
}

static void
put_string(const struct edit *e, struct writ_view text, struct writ_buf *ret)
{
    if (!e->json && is_plain(text)) {
        writ_buf_put(ret, text);
    } else {
        writ_quote_text(ret, text, e->quote);
    }
}

static void
put_composite(const struct edit *e, const struct writ_json *value, struct writ_buf *ret)
{
    writ_auto_buf json = writ_buf_make(ITEM_MAX);

    if (!writ_is_ok(writ_jcs_put(&json, value, NULL))) {
        ret->failed = WRIT_E_PARSE;
        return;
    }
    writ_quote_json(ret, writ_buf_view(&json), e->quote);
}

static void
put_value(const struct edit *e, const struct writ_json *value, struct writ_buf *ret)
{
    if (writ_json_type(value) == WRIT_JSON_STRING) {
        put_string(e, writ_json_string(value), ret);
    } else if (writ_json_type(value) == WRIT_JSON_NUMBER) {
        writ_buf_put(ret, writ_json_text(value));
    } else {
        put_composite(e, value, ret);
    }
}

static void
put_key(const struct edit *e, const char *key, struct writ_buf *ret)
{
    writ_buf_fmt(ret, e->json ? "\"%s\": " : "%s: ", key);
}

/* ---- lists and maps */

/* Adds an element or member behind the others. */
static writ_result
add(struct edit *e, const struct writ_place *to, struct writ_view text)
{
    writ_auto_buf line = writ_buf_make(ITEM_MAX * 2);
    size_t at = to->block ? writ_place_line_end(e->text, to->end) : to->end - 1;

    if (to->block) {
        writ_buf_byte(&line, '\n');
        for (size_t i = 0; i < to->column; i++) {
            writ_buf_byte(&line, ' ');
        }
        writ_buf_str(&line, to->type == WRIT_YAML_LIST ? "- " : "");
    } else {
        while (at > to->start + 1 && writ_view_find(WRIT_LIT(" \t\r\n"), e->text.ptr[at - 1]) < 4) {
            at--;
        }
        writ_buf_str(&line, to->count > 0 ? ", " : "");
    }
    writ_buf_put(&line, text);
    WRIT_TRY(writ_buf_check(&line, NULL));
    return splice(e, at, at, writ_buf_view(&line));
}

/* What a plain scalar of a block may have, but not one in brackets. */
static bool
fits_brackets(const struct edit *e, const struct writ_place *place)
{
    struct writ_view old = writ_view_sub(e->text, place->start, place->end - place->start);
    bool quoted = old.len > 0 && (old.ptr[0] == '"' || old.ptr[0] == '\'');

    for (size_t i = 0; i < old.len && !quoted && place->type == WRIT_YAML_SCALAR; i++) {
        if (writ_view_find(WRIT_LIT("[]{},#\n|>"), old.ptr[i]) < 9) {
            return false;
        }
    }
    return !place->block;
}

/* A value becomes a list of it and of `item`. */
static writ_result
wrap(struct edit *e, const struct writ_place *place, struct writ_view item)
{
    struct writ_view old = writ_view_sub(e->text, place->start, place->end - place->start);
    writ_auto_buf list = writ_buf_make(ITEM_MAX * 2);

    if (!fits_brackets(e, place)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    writ_buf_byte(&list, '[');
    writ_buf_put(&list, old);
    writ_buf_str(&list, ", ");
    writ_buf_put(&list, item);
    writ_buf_byte(&list, ']');
    WRIT_TRY(writ_buf_check(&list, NULL));
    return splice(e, place->start, place->end, writ_buf_view(&list));
}

static writ_result
add_to_list(struct edit *e, const struct writ_yaml *node, const char *below, struct writ_view item)
{
    struct writ_place place;

    WRIT_TRY(find_below(e, node, below, &place));
    if (place.type == WRIT_YAML_LIST) {
        return add(e, &place, item);
    }
    return place.type == WRIT_YAML_SCALAR ? wrap(e, &place, item) : (writ_result){WRIT_E_ABSENT};
}

static writ_result
add_option(struct edit *e, const struct writ_yaml *map, const char *key, struct writ_view value)
{
    writ_auto_buf member = writ_buf_make(ITEM_MAX * 2);
    struct writ_place place;

    WRIT_TRY(find_below(e, map, "", &place));
    put_key(e, key, &member);
    writ_buf_put(&member, value);
    WRIT_TRY(writ_buf_check(&member, NULL));
    return place.type == WRIT_YAML_MAP ? add(e, &place, writ_buf_view(&member))
                                       : (writ_result){WRIT_E_ABSENT};
}

static writ_result
replace(struct edit *e, const struct writ_yaml *node, const char *below, struct writ_view with)
{
    struct writ_place place;

    WRIT_TRY(find_below(e, node, below, &place));
    return place.type == WRIT_YAML_SCALAR && !place.block ? splice(e, place.start, place.end, with)
                                                          : (writ_result){WRIT_E_ABSENT};
}

/* Takes the lines of a block's element; of a list in brackets the element with one comma. */
static writ_result
take_out(struct edit *e, const struct writ_place *list, const struct writ_place *element)
{
    size_t start = element->start, end = element->end;

    if (list->block) {
        while (start > 0 && e->text.ptr[start - 1] != '\n') {
            start--;
            if (e->text.ptr[start] != ' ' && e->text.ptr[start] != '-') {
                return (writ_result){WRIT_E_ABSENT}; /* something else stands on its line */
            }
        }
        end = writ_place_line_end(e->text, end);
        end += end < e->text.len ? 1 : 0;
        return splice(e, start, end, writ_view(NULL, 0));
    }
    while (end < list->end - 1 && writ_view_find(WRIT_LIT(", \t\r\n"), e->text.ptr[end]) < 5) {
        end++;
    }
    if (end == list->end - 1) { /* the last one: the comma stands before it */
        while (start > list->start + 1 &&
               writ_view_find(WRIT_LIT(", \t\r\n"), e->text.ptr[start - 1]) < 5) {
            start--;
        }
    }
    return splice(e, start, end, writ_view(NULL, 0));
}

/* A list without elements is written in brackets, farther right than its key. */
static writ_result
remove_element(struct edit *e, const struct writ_yaml *element)
{
    struct writ_place list, place;

    if (element->parent == NULL || element->parent->type != WRIT_YAML_LIST) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(find_below(e, element->parent, "", &list));
    WRIT_TRY(find_below(e, element, "", &place));
    return list.count > 1
               ? take_out(e, &list, &place)
               : splice(e, list.start, list.end, list.block ? WRIT_LIT("  []") : WRIT_LIT("[]"));
}

/* ---- constraints */

static writ_result
set_value(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(ITEM_MAX);

    put_value(e, value, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    return replace(e, c->node, "/value", writ_buf_view(&text));
}

static writ_result
set_count(struct edit *e, const struct writ_constraint *c, size_t count)
{
    writ_auto_buf text = writ_buf_make(32);

    writ_buf_u64(&text, count);
    return replace(e, c->node, "/value", writ_buf_view(&text));
}

static writ_result
add_value(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(ITEM_MAX);

    put_value(e, value, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    return add_to_list(e, c->node, "/value", writ_buf_view(&text));
}

/* The value of `eq`, whatever it is, becomes the first of a list. */
static writ_result
add_second(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(ITEM_MAX);
    struct writ_place place;

    put_value(e, value, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    WRIT_TRY(find_below(e, c->node, "/value", &place));
    return wrap(e, &place, writ_buf_view(&text));
}

/* Changes the op first, in a text of its own. */
static writ_result
set_op(struct edit *e, const struct writ_constraint *c, enum writ_op op,
    writ_result (*then)(
        struct edit *e, const struct writ_constraint *c, const struct writ_json *value),
    const struct writ_json *value)
{
    writ_auto_buf word = writ_buf_make(64), first = writ_buf_make(e->ret->max);
    struct edit before = {.text = e->text, .json = e->json, .quote = e->quote, .ret = &first};
    struct edit after = {.json = e->json, .quote = e->quote, .ret = e->ret};

    put_string(e, writ_view_str(writ_op_row(op)->word), &word);
    WRIT_TRY(replace(&before, c->node, "/op", writ_buf_view(&word)));
    after.text = writ_buf_view(&first);
    return then(&after, c, value);
}

static writ_result
add_text(struct edit *e, const struct writ_constraint *c, struct writ_view item)
{
    writ_auto_buf text = writ_buf_make(ITEM_MAX);

    put_string(e, item, &text);
    WRIT_TRY(writ_buf_check(&text, NULL));
    return add_to_list(e, c->node, "/value", writ_buf_view(&text));
}

static writ_result
add_host(struct edit *e, const struct writ_constraint *c, struct writ_view text)
{
    writ_auto_buf host = writ_buf_make(WRIT_HOST_MAX + 16);
    struct writ_url url;

    if (!writ_is_ok(writ_host_read_url(text, &url))) {
        return (writ_result){WRIT_E_ABSENT};
    }
    writ_buf_str(&host, url.ipv6 ? "[" : "");
    for (size_t i = 0; i < url.host.len; i++) {
        char h = url.host.ptr[i];
        writ_buf_byte(&host, h >= 'A' && h <= 'Z' ? (char)(h - 'A' + 'a') : h);
    }
    writ_buf_str(&host, url.ipv6 ? "]" : "");
    if (!url.port_is_default) {
        writ_buf_byte(&host, ':');
        writ_buf_u64(&host, url.port);
    }
    WRIT_TRY(writ_buf_check(&host, NULL));
    return add_text(e, c, writ_buf_view(&host));
}

/* The pattern, or exactly this text. */
static writ_result
add_alternative(struct edit *e, const struct writ_constraint *c, struct writ_view text)
{
    const struct writ_yaml *old = writ_yaml_get(c->node, WRIT_LIT("value"));
    writ_auto_buf pattern = writ_buf_make(ITEM_MAX), quoted = writ_buf_make(ITEM_MAX);

    if (old == NULL || writ_view_search(text, WRIT_LIT("\\E")) < text.len) {
        return (writ_result){WRIT_E_ABSENT};
    }
    writ_buf_str(&pattern, "(?:");
    writ_buf_put(&pattern, old->text);
    writ_buf_str(&pattern, ")|\\Q");
    writ_buf_put(&pattern, text);
    writ_buf_str(&pattern, "\\E");
    WRIT_TRY(writ_buf_check(&pattern, NULL));
    put_string(e, writ_buf_view(&pattern), &quoted);
    WRIT_TRY(writ_buf_check(&quoted, NULL));
    return replace(e, c->node, "/value", writ_buf_view(&quoted));
}

/* The constraint on a prefix or suffix becomes a pattern of it, or of exactly this text. */
static writ_result
set_pattern(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    writ_auto_buf pattern = writ_buf_make(ITEM_MAX), quoted = writ_buf_make(ITEM_MAX);
    struct writ_view text = writ_json_string(value), old = c->value.text;
    bool prefix = c->op == WRIT_OP_PREFIX;

    if (writ_view_search(text, WRIT_LIT("\\E")) < text.len ||
        writ_view_search(old, WRIT_LIT("\\E")) < old.len) {
        return (writ_result){WRIT_E_ABSENT};
    }
    writ_buf_str(&pattern, prefix ? "(?s:\\Q" : "(?s:.*\\Q");
    writ_buf_put(&pattern, old);
    writ_buf_str(&pattern, prefix ? "\\E.*)|\\Q" : "\\E)|\\Q");
    writ_buf_put(&pattern, text);
    writ_buf_str(&pattern, "\\E");
    WRIT_TRY(writ_buf_check(&pattern, NULL));
    put_string(e, writ_buf_view(&pattern), &quoted);
    WRIT_TRY(writ_buf_check(&quoted, NULL));
    return replace(e, c->node, "/value", writ_buf_view(&quoted));
}

/* A pattern more, of exactly this text. */
static writ_result
add_glob(struct edit *e, const struct writ_constraint *c, struct writ_view text)
{
    writ_auto_buf pattern = writ_buf_make(ITEM_MAX);

    for (size_t i = 0; i < text.len; i++) {
        writ_buf_str(&pattern, writ_view_find(WRIT_LIT("*?[\\"), text.ptr[i]) < 4 ? "\\" : "");
        writ_buf_byte(&pattern, text.ptr[i]);
    }
    WRIT_TRY(writ_buf_check(&pattern, NULL));
    return writ_path_is_devious(text) ? (writ_result){WRIT_E_ABSENT}
                                      : add_text(e, c, writ_buf_view(&pattern));
}

static const char *
type_word(const struct writ_json *value)
{
    switch (writ_json_type(value)) {
    case WRIT_JSON_NONE:
        return NULL;
    case WRIT_JSON_NULL:
        return "null";
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return "boolean";
    case WRIT_JSON_NUMBER:
        return "number";
    case WRIT_JSON_STRING:
        return "string";
    case WRIT_JSON_ARRAY:
        return "array";
    case WRIT_JSON_OBJECT:
        return "object";
    }
    return NULL;
}

/* In place of a value of any kind, or of none. */
static writ_result
put_types(struct edit *e, const struct writ_constraint *c, struct writ_view types)
{
    struct writ_place place;
    writ_result result = find_below(e, c->node, "/value", &place);

    if (result.code == WRIT_E_ABSENT) {
        return add_option(e, c->node, "value", types);
    }
    WRIT_TRY(result);
    return splice(e, place.start, place.end, types);
}

static writ_result
set_type(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    writ_auto_buf word = writ_buf_make(64);

    put_string(e, writ_view_str(type_word(value)), &word);
    WRIT_TRY(writ_buf_check(&word, NULL));
    return put_types(e, c, writ_buf_view(&word));
}

/* Every type but null, and null for null: what `required` lets pass, and this value. */
static writ_result
set_all_types(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    static const char *const words[] = {"string", "number", "boolean", "array", "object", "null"};
    writ_auto_buf list = writ_buf_make(256);
    size_t n = writ_json_type(value) == WRIT_JSON_NULL ? 6 : 5;

    for (size_t i = 0; i < n; i++) {
        writ_auto_buf word = writ_buf_make(64);

        put_string(e, writ_view_str(words[i]), &word);
        writ_buf_str(&list, i == 0 ? "[" : ", ");
        writ_buf_put(&list, writ_buf_view(&word));
    }
    writ_buf_byte(&list, ']');
    WRIT_TRY(writ_buf_check(&list, NULL));
    return put_types(e, c, writ_buf_view(&list));
}

/* The denied value leaves the list. Without the last one, the type of the values stays: a
 * constraint names its argument, and without one every call that has the argument would be refused.
 */
static writ_result
remove_denied(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    const struct writ_yaml *list = writ_yaml_get(c->node, WRIT_LIT("value"));
    const struct writ_yaml *element = list != NULL ? list->first : NULL;

    if (c->op == WRIT_OP_NE) {
        return writ_value_same(c->value.json, value) == WRIT_SAME_YES
                   ? set_op(e, c, WRIT_OP_TYPE, set_type, value)
                   : (writ_result){WRIT_E_ABSENT};
    }
    for (const struct writ_json *denied = writ_json_first(c->value.json);
         denied != NULL && element != NULL;
         denied = writ_json_next(c->value.json, denied), element = element->next) {
        if (writ_value_same(denied, value) == WRIT_SAME_YES) {
            return list->count > 1 ? remove_element(e, element)
                                   : set_op(e, c, WRIT_OP_TYPE, set_type, value);
        }
    }
    return (writ_result){WRIT_E_ABSENT};
}

static writ_result
edit_string(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    struct writ_view text = writ_json_string(value);

    if (writ_json_type(value) != WRIT_JSON_STRING) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (c->op == WRIT_OP_MIN_LENGTH || c->op == WRIT_OP_MAX_LENGTH) {
        return set_count(e, c, writ_utf8_points(text));
    }
    if (c->op == WRIT_OP_MATCHES) {
        return add_alternative(e, c, text);
    }
    if (c->op == WRIT_OP_PREFIX || c->op == WRIT_OP_SUFFIX) {
        return set_op(e, c, WRIT_OP_MATCHES, set_pattern, value);
    }
    if (c->op == WRIT_OP_GLOB) {
        return add_glob(e, c, text);
    }
    if (c->op == WRIT_OP_UNDER && writ_path_is_normal(text)) {
        return add_text(e, c, text);
    }
    return c->op == WRIT_OP_HOST_IN ? add_host(e, c, text) : (writ_result){WRIT_E_ABSENT};
}

static writ_result
edit_present(struct edit *e, const struct writ_constraint *c, const struct writ_json *value)
{
    bool number = writ_json_type(value) == WRIT_JSON_NUMBER;
    bool array = writ_json_type(value) == WRIT_JSON_ARRAY;

    switch (c->op) {
    case WRIT_OP_EQ:
        return set_op(e, c, WRIT_OP_IN, add_second, value);
    case WRIT_OP_IN:
        return add_value(e, c, value);
    case WRIT_OP_NE:
    case WRIT_OP_NOT_IN:
        return remove_denied(e, c, value);
    case WRIT_OP_LE:
    case WRIT_OP_GE:
        return number ? set_value(e, c, value) : (writ_result){WRIT_E_ABSENT};
    case WRIT_OP_LT:
    case WRIT_OP_GT:
        return number
                   ? set_op(e, c, c->op == WRIT_OP_LT ? WRIT_OP_LE : WRIT_OP_GE, set_value, value)
                   : (writ_result){WRIT_E_ABSENT};
    case WRIT_OP_TYPE:
        return add_text(e, c, writ_view_str(type_word(value)));
    case WRIT_OP_MIN_ITEMS:
    case WRIT_OP_MAX_ITEMS:
        return array ? set_count(e, c, value->count) : (writ_result){WRIT_E_ABSENT};
    case WRIT_OP_REQUIRED:
        return set_op(e, c, WRIT_OP_TYPE, set_all_types, value);
    case WRIT_OP_SCHEMA:
    case WRIT_OP_FROM: /* no value of a call is a source */
    case WRIT_OP_NOT_MATCHES:
    case WRIT_OP_CONTAINS:
    case WRIT_OP_LACKS: /* no value of a call is a name of detectors */
        return (writ_result){WRIT_E_ABSENT};
    case WRIT_OP_FORBIDDEN:
        return remove_element(e, c->node);
    case WRIT_OP_MIN_LENGTH:
    case WRIT_OP_MAX_LENGTH:
    case WRIT_OP_MATCHES:
    case WRIT_OP_UNDER:
    case WRIT_OP_HOST_IN:
    case WRIT_OP_PREFIX:
    case WRIT_OP_SUFFIX:
    case WRIT_OP_GLOB:
        return edit_string(e, c, value);
    case WRIT_OP_NONE:
    case WRIT_OP_EACH:
    case WRIT_OP_COUNT:
        break;
    }
    return (writ_result){WRIT_E_ABSENT};
}

WRIT_RESULT
writ_edit_constraint(struct writ_view text, const struct writ_constraint *constraint,
    const struct writ_json *value, struct writ_buf *ret)
{
    struct edit e = edit_of(text, ret);

    if (value == NULL && constraint->op != WRIT_OP_REQUIRED) {
        return add_option(&e, constraint->node, "optional", WRIT_LIT("true"));
    }
    if (value != NULL && writ_json_type(value) == WRIT_JSON_NULL &&
        constraint->op != WRIT_OP_REQUIRED && constraint->op != WRIT_OP_FORBIDDEN) {
        return add_option(&e, constraint->node, "nullable", WRIT_LIT("true"));
    }
    return edit_present(&e, constraint, value);
}

/* ---- rules */

/* {arg: NAME, op: eq, value: VALUE}; optional: where calls without the argument pass. */
static void
put_equal(struct edit *e, struct writ_view pointer, const struct writ_json *value, bool optional,
    struct writ_buf *ret)
{
    struct writ_view name = writ_view_sub(pointer, 1, pointer.len);
    bool simple = name.len > 0 && writ_view_find(name, '/') == name.len &&
                  writ_view_find(name, '~') == name.len;

    writ_buf_byte(ret, '{');
    put_key(e, "arg", ret);
    put_string(e, simple ? name : pointer, ret);
    writ_buf_str(ret, ", ");
    put_key(e, "op", ret);
    put_string(e, WRIT_LIT("eq"), ret);
    writ_buf_str(ret, ", ");
    put_key(e, "value", ret);
    put_value(e, value, ret);
    if (optional) {
        writ_buf_str(ret, ", ");
        put_key(e, "optional", ret);
        writ_buf_str(ret, "true");
    }
    writ_buf_byte(ret, '}');
}

WRIT_RESULT
writ_edit_unlisted(struct writ_view text, const struct writ_tool_rule *rule,
    struct writ_view pointer, const struct writ_json *value, struct writ_buf *ret)
{
    struct edit e = edit_of(text, ret);
    writ_auto_buf entry = writ_buf_make(ITEM_MAX * 2), list = writ_buf_make(ITEM_MAX * 2);

    if (value == NULL || pointer.len == 0) {
        return (writ_result){WRIT_E_ABSENT};
    }
    put_equal(&e, pointer, value, true, &entry);
    WRIT_TRY(writ_buf_check(&entry, NULL));
    if (writ_yaml_get(rule->node, WRIT_LIT("arguments")) != NULL) {
        return add_to_list(&e, rule->node, "/arguments", writ_buf_view(&entry));
    }
    writ_buf_byte(&list, '[');
    writ_buf_put(&list, writ_buf_view(&entry));
    writ_buf_byte(&list, ']');
    WRIT_TRY(writ_buf_check(&list, NULL));
    return add_option(&e, rule->node, "arguments", writ_buf_view(&list));
}

/* A rule under construction: a block with lines of `indent` spaces, or one line. */
struct rule_text {
    struct edit *e;
    struct writ_buf *ret;
    bool block;
    size_t indent;
};

/* Before a member of the rule; `first` is that of the map. */
static void
begin_line(struct rule_text *r, bool first)
{
    if (!r->block) {
        writ_buf_str(r->ret, first ? "{" : ", ");
        return;
    }
    writ_buf_byte(r->ret, '\n');
    for (size_t i = 0; i < r->indent; i++) {
        writ_buf_byte(r->ret, ' ');
    }
}

static void
put_name_list(struct rule_text *r, const char *key, struct writ_view name)
{
    if (name.len > 0) {
        begin_line(r, false);
        put_key(r->e, key, r->ret);
        writ_buf_byte(r->ret, '[');
        put_string(r->e, name, r->ret);
        writ_buf_byte(r->ret, ']');
    }
}

static void
put_equals(struct rule_text *r, const struct writ_json *arguments)
{
    bool block = r->block && writ_json_first(arguments) != NULL, first = true;

    begin_line(r, false);
    writ_buf_str(r->ret, r->e->json ? "\"arguments\":" : "arguments:");
    writ_buf_str(r->ret, block ? "" : " [");
    WRIT_JSON_EACH(name, arguments)
    {
        writ_auto_buf pointer = writ_buf_make(POINTER_MAX);

        writ_buf_byte(&pointer, '/');
        writ_trail_token(writ_json_string(name), &pointer);
        if (block) {
            begin_line(r, false);
        }
        writ_buf_str(r->ret, block ? "- " : first ? "" : ", ");
        put_equal(r->e, writ_buf_view(&pointer), writ_json_value(name), false, r->ret);
        r->ret->failed = pointer.failed != WRIT_E_UNSET ? pointer.failed : r->ret->failed;
        first = false;
    }
    writ_buf_str(r->ret, block ? "" : "]");
}

/* KEY: the rule. The key is a name, and no pattern; in the scope `{` begins an argument. */
static writ_result
put_rule(struct rule_text *r, const struct writ_policy_call *call)
{
    writ_auto_buf key = writ_buf_make(POINTER_MAX), scope = writ_buf_make(POINTER_MAX);

    writ_buf_put(&key, call->upstream);
    writ_buf_byte(&key, '/');
    writ_buf_put(&key, call->tool);
    WRIT_TRY(writ_buf_check(&key, NULL));
    for (size_t i = 0; i < key.len; i++) {
        char c = writ_buf_view(&key).ptr[i];
        if (c == '*' || c == '?' || c == '[') {
            return (writ_result){WRIT_E_ABSENT};
        }
        writ_buf_byte(&scope, c);
        if (c == '{' || c == '}') {
            writ_buf_byte(&scope, c);
        }
    }
    WRIT_TRY(writ_buf_check(&scope, NULL));
    put_string(r->e, writ_buf_view(&key), r->ret);
    writ_buf_str(r->ret, r->block ? ":" : ": ");
    begin_line(r, true);
    put_key(r->e, "scope", r->ret);
    put_string(r->e, writ_buf_view(&scope), r->ret);
    put_name_list(r, "agents", call->agent->id);
    put_name_list(r, "tenants", call->agent->tenant);
    put_equals(r, call->arguments);
    writ_buf_str(r->ret, r->block ? "" : "}");
    return writ_buf_check(r->ret, NULL);
}

WRIT_RESULT
writ_edit_rule(struct writ_view text, const struct writ_policy_call *call, struct writ_buf *ret)
{
    struct edit e = edit_of(text, ret);
    writ_auto_buf member = writ_buf_make(ITEM_MAX * 2);
    struct writ_place root, tools;
    struct rule_text r = {.e = &e, .ret = &member};

    WRIT_TRY(writ_place_find(text, WRIT_LIT(""), &root));
    if (writ_is_ok(writ_place_find(text, WRIT_LIT("/tools"), &tools))) {
        r.block = tools.block;
        r.indent = tools.column + 2;
        WRIT_TRY(put_rule(&r, call));
        return tools.type == WRIT_YAML_MAP ? add(&e, &tools, writ_buf_view(&member))
                                           : (writ_result){WRIT_E_ABSENT};
    }
    r.block = root.block;
    r.indent = root.column + 4;
    if (r.block) {
        writ_buf_fmt(&member, "tools:\n%*s", (int)root.column + 2, "");
        WRIT_TRY(put_rule(&r, call));
    } else {
        put_key(&e, "tools", &member);
        writ_buf_byte(&member, '{');
        WRIT_TRY(put_rule(&r, call));
        writ_buf_byte(&member, '}');
    }
    WRIT_TRY(writ_buf_check(&member, NULL));
    return root.type == WRIT_YAML_MAP ? add(&e, &root, writ_buf_view(&member))
                                      : (writ_result){WRIT_E_ABSENT};
}

bool
writ_edit_permits(const struct writ_views *names, struct writ_view name)
{
    for (size_t i = 0; i < names->n; i++) {
        if (writ_view_equal(names->items[i], name)) {
            return true;
        }
    }
    return names->n == 0;
}

WRIT_RESULT
writ_edit_caller(struct writ_view text, const struct writ_tool_rule *rule,
    const struct writ_agent *agent, struct writ_buf *ret)
{
    const struct {
        const char *below;
        const struct writ_views *names;
        struct writ_view name;
    } lists[] = {{"/agents", &rule->agents, agent->id}, {"/roles", &rule->roles, agent->role},
        {"/tenants", &rule->tenants, agent->tenant}};
    struct edit e = edit_of(text, ret);

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (!writ_edit_permits(lists[i].names, lists[i].name)) { /* the next reading has the next */
            writ_auto_buf name = writ_buf_make(ITEM_MAX);

            put_string(&e, lists[i].name, &name);
            WRIT_TRY(writ_buf_check(&name, NULL));
            return lists[i].name.len > 0
                       ? add_to_list(&e, rule->node, lists[i].below, writ_buf_view(&name))
                       : (writ_result){WRIT_E_ABSENT};
        }
    }
    return (writ_result){WRIT_E_ABSENT};
}

WRIT_RESULT
writ_edit_budget(struct writ_view text, const struct writ_budget *budget,
    const struct writ_json *amount, struct writ_buf *ret)
{
    struct edit e = edit_of(text, ret);

    return writ_json_type(amount) == WRIT_JSON_NUMBER
               ? replace(&e, budget->node, "/sum/max", writ_json_text(amount))
               : (writ_result){WRIT_E_ABSENT};
}

WRIT_RESULT
writ_edit_agreed(struct writ_view text, struct writ_buf *ret)
{
    struct edit e = edit_of(text, ret);
    struct writ_place place;

    WRIT_TRY(writ_place_find(text, WRIT_LIT("/agreed"), &place));
    return splice(&e, place.start, place.end, WRIT_LIT("true"));
}
