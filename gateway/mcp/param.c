/* param.c - walks the properties of a tool's schema once and keeps the arguments with x-mcp-header.
 * One invalid header makes the whole definition have none. */
#include "gateway/mcp/param.h"

#include "gateway/mcp/mcp.h"

#include "base/decimal.h"

#define POINTER_MAX 1024
#define DEPTH_MAX   16
#define HEADER_MAX  256

static const struct writ_view prefix = WRIT_LIT("Mcp-Param-");

struct reading {
    struct writ_arena *arena;
    struct writ_param items[WRIT_PARAMS_MAX];
    size_t n;
    struct writ_buf pointer;
    bool invalid, nomem;
};

/* RFC 9110 5.6.2 */
static bool
is_token(struct writ_view text)
{
    static const struct writ_view others = WRIT_LIT("!#$%&'*+-.^_`|~");

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && writ_view_find(others, c) == others.len) {
            return false;
        }
    }
    return text.len > 0 && text.len <= HEADER_MAX;
}

static enum writ_param_type
type_of(const struct writ_json *schema)
{
    struct writ_view type = writ_json_string(writ_json_get(schema, WRIT_LIT("type")));

    if (writ_view_is(type, "string")) {
        return WRIT_PARAM_STRING;
    }
    if (writ_view_is(type, "integer")) {
        return WRIT_PARAM_INTEGER;
    }
    return writ_view_is(type, "boolean") ? WRIT_PARAM_BOOLEAN : WRIT_PARAM_NONE;
}

static bool
is_doubled(const struct reading *r, struct writ_view name)
{
    for (size_t i = 0; i < r->n; i++) {
        if (writ_view_equal_nocase(writ_view_sub(r->items[i].header, prefix.len, SIZE_MAX), name)) {
            return true;
        }
    }
    return false;
}

static void
add(struct reading *r, struct writ_view name, const struct writ_json *schema)
{
    struct writ_buf header = writ_buf_in(r->arena, prefix.len + HEADER_MAX);
    struct writ_param *param = &r->items[r->n];
    enum writ_param_type type = type_of(schema);

    if (!is_token(name) || type == WRIT_PARAM_NONE || is_doubled(r, name) ||
        r->n == WRIT_PARAMS_MAX || !writ_is_ok(writ_buf_check(&r->pointer, NULL))) {
        r->invalid = true;
        return;
    }
    writ_buf_put(&header, prefix);
    writ_buf_put(&header, name);
    *param = (struct writ_param){.header = writ_buf_view(&header),
        .pointer = writ_view_copy(writ_buf_view(&r->pointer), r->arena),
        .type = type};
    r->nomem = r->nomem || param->pointer.ptr == NULL || !writ_is_ok(writ_buf_check(&header, NULL));
    r->n++;
}

static void
put_token(struct writ_buf *pointer, struct writ_view name)
{
    writ_buf_byte(pointer, '/');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~' || name.ptr[i] == '/') {
            writ_buf_str(pointer, name.ptr[i] == '~' ? "~0" : "~1");
        } else {
            writ_buf_byte(pointer, name.ptr[i]);
        }
    }
}

static void
walk(struct reading *r, const struct writ_json *schema, unsigned depth)
{
    const struct writ_json *properties =
        writ_json_get_typed(schema, WRIT_LIT("properties"), WRIT_JSON_OBJECT);
    size_t length = r->pointer.len;

    WRIT_JSON_EACH(name, properties)
    {
        const struct writ_json *property = writ_json_value(name);
        const struct writ_json *header = writ_json_get(property, WRIT_LIT("x-mcp-header"));
        put_token(&r->pointer, writ_json_string(name));
        if (header != NULL) {
            add(r, writ_json_string(header), property);
        }
        if (depth < DEPTH_MAX) {
            walk(r, property, depth + 1);
        }
        writ_buf_cut(&r->pointer, length);
    }
}

writ_result
writ_param_read(
    const struct writ_json *definition, struct writ_arena *arena, struct writ_params *ret)
{
    char room[POINTER_MAX];
    struct reading r = {.arena = arena, .pointer = writ_buf_over(room, sizeof room)};
    struct writ_param *items;

    walk(&r, writ_json_get(definition, WRIT_LIT("inputSchema")), 0);
    if (r.nomem) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (r.invalid || r.n == 0) {
        *ret = (struct writ_params){NULL, 0};
        return WRIT_DONE;
    }
    items = writ_arena_get(arena, r.n * sizeof *items);
    if (items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < r.n; i++) {
        items[i] = r.items[i];
    }
    *ret = (struct writ_params){items, r.n};
    return WRIT_DONE;
}

static bool
same_number(struct writ_view a, struct writ_view b)
{
    struct writ_decimal left, right;

    return writ_is_ok(writ_decimal_read(a, &left)) && writ_is_ok(writ_decimal_read(b, &right)) &&
           writ_decimal_compare(&left, &right) == 0;
}

static bool
says(struct writ_view header, const struct writ_json *argument)
{
    writ_auto_buf decoded = writ_buf_make(header.len + 1);
    struct writ_view text;

    if (!writ_is_ok(writ_mcp_header_decode(header, &decoded))) {
        return false;
    }
    text = writ_buf_view(&decoded);
    switch (writ_json_type(argument)) {
    case WRIT_JSON_STRING:
        return writ_view_equal(text, writ_json_string(argument));
    case WRIT_JSON_NUMBER:
        return same_number(text, writ_json_text(argument));
    case WRIT_JSON_TRUE:
        return writ_view_is(text, "true");
    case WRIT_JSON_FALSE:
        return writ_view_is(text, "false");
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        break;
    }
    return false;
}

static bool
wants_header(const struct writ_json *argument)
{
    switch (writ_json_type(argument)) {
    case WRIT_JSON_STRING:
    case WRIT_JSON_NUMBER:
    case WRIT_JSON_TRUE:
    case WRIT_JSON_FALSE:
        return true;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        break;
    }
    return false;
}

enum writ_param_answer
writ_param_check(
    const struct writ_param *param, const struct writ_json *arguments, struct writ_view value)
{
    const struct writ_json *argument = writ_json_pointer(arguments, param->pointer);

    if (value.ptr != NULL) {
        return says(value, argument) ? WRIT_PARAM_AGREES : WRIT_PARAM_DIFFERS;
    }
    return wants_header(argument) ? WRIT_PARAM_MISSING : WRIT_PARAM_AGREES;
}

void
writ_param_put(
    const struct writ_param *param, const struct writ_json *arguments, struct writ_buf *ret)
{
    const struct writ_json *argument = writ_json_pointer(arguments, param->pointer);

    switch (writ_json_type(argument)) {
    case WRIT_JSON_STRING:
        writ_mcp_header_encode(ret, writ_json_string(argument));
        break;
    case WRIT_JSON_NUMBER:
        writ_buf_put(ret, writ_json_text(argument));
        break;
    case WRIT_JSON_TRUE:
        writ_buf_str(ret, "true");
        break;
    case WRIT_JSON_FALSE:
        writ_buf_str(ret, "false");
        break;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        break;
    }
}
