/* Lookups, comparisons and copies on the tape of nodes that json_read.c makes. A node is never
 * changed after the read, and every walk is bounded by `span`. */
#include "evidence/json/json.h"

#include "evidence/json/spelling.h"

struct writ_view
writ_json_unescape(const struct writ_json *string)
{
    struct writ_json_late *late = string->late;

    if (!late->unescaped) {
        WRIT_INVARIANT(writ_spelling_unescape(late->source, late->room).len == string->len);
        late->unescaped = true;
    }
    return writ_view(late->room, string->len);
}

bool
writ_json_is(const struct writ_json *value, struct writ_view text)
{
    return writ_json_type(value) == WRIT_JSON_STRING &&
           writ_view_equal(writ_json_string(value), text);
}

const struct writ_json *
writ_json_get(const struct writ_json *object, struct writ_view name)
{
    if (writ_json_type(object) != WRIT_JSON_OBJECT) {
        return NULL;
    }
    WRIT_JSON_EACH(member, object)
    {
        if (member->len == name.len && writ_view_equal(writ_view(member->ptr, name.len), name)) {
            return writ_json_value(member);
        }
    }
    return NULL;
}

const struct writ_json *
writ_json_get_typed(const struct writ_json *object, struct writ_view name, enum writ_json_type type)
{
    const struct writ_json *value = writ_json_get(object, name);

    return writ_json_type(value) == type ? value : NULL;
}

bool
writ_json_is_true(const struct writ_json *object, struct writ_view name)
{
    return writ_json_type(writ_json_get(object, name)) == WRIT_JSON_TRUE;
}

bool
writ_json_has_only(const struct writ_json *object, const char *const *known)
{
    WRIT_JSON_EACH(name, object)
    {
        bool found = false;

        for (size_t i = 0; known[i] != NULL; i++) {
            found = found || writ_view_is(writ_json_string(name), known[i]);
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

const struct writ_json *
writ_json_element(const struct writ_json *array, size_t index)
{
    if (writ_json_type(array) != WRIT_JSON_ARRAY || index >= array->count) {
        return NULL;
    }
    WRIT_JSON_EACH(element, array)
    {
        if (index-- == 0) {
            return element;
        }
    }
    return NULL;
}

/* ---- pointers (RFC 6901) */

bool
writ_json_is_pointer(struct writ_view pointer)
{
    if (pointer.len > 0 && pointer.ptr[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < pointer.len; i++) {
        if (pointer.ptr[i] == '~' &&
            (i + 1 == pointer.len || (pointer.ptr[i + 1] != '0' && pointer.ptr[i + 1] != '1'))) {
            return false;
        }
    }
    return true;
}

/* Whether `token`, in which "~0" is '~' and "~1" is '/', is this name. */
static bool
token_is(struct writ_view token, struct writ_view name)
{
    size_t at = 0;

    for (size_t i = 0; i < token.len; i++, at++) {
        char c = token.ptr[i];
        if (c == '~') {
            c = token.ptr[++i] == '0' ? '~' : '/';
        }
        if (at >= name.len || name.ptr[at] != c) {
            return false;
        }
    }
    return at == name.len;
}

static const struct writ_json *
member_at(const struct writ_json *object, struct writ_view token)
{
    WRIT_JSON_EACH(name, object)
    {
        if (token_is(token, writ_json_string(name))) {
            return writ_json_value(name);
        }
    }
    return NULL;
}

/* Array indices have no leading zeros; "-" is the element after the last, which never exists. */
static const struct writ_json *
element_at(const struct writ_json *array, struct writ_view token)
{
    uint64_t index = 0;

    if (token.len == 0 || token.len > 10 || (token.len > 1 && token.ptr[0] == '0')) {
        return NULL;
    }
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] < '0' || token.ptr[i] > '9') {
            return NULL;
        }
        index = index * 10 + (uint64_t)(token.ptr[i] - '0');
    }
    return writ_json_element(array, index);
}

const struct writ_json *
writ_json_pointer(const struct writ_json *value, struct writ_view pointer)
{
    if (!writ_json_is_pointer(pointer)) {
        return NULL;
    }
    while (pointer.len > 0 && value != NULL) {
        struct writ_view rest = writ_view_sub(pointer, 1, pointer.len);
        struct writ_view token = writ_view_sub(rest, 0, writ_view_find(rest, '/'));
        value = writ_json_type(value) == WRIT_JSON_ARRAY ? element_at(value, token)
                                                         : member_at(value, token);
        pointer = writ_view_sub(rest, token.len, rest.len);
    }
    return value;
}

/* ---- numbers, equality, copies */

static bool
is_integer_literal(struct writ_view text)
{
    size_t sign = text.len > 0 && text.ptr[0] == '-';

    for (size_t i = sign; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return text.len > sign;
}

WRIT_RESULT
writ_json_integer(const struct writ_json *value, int64_t least, int64_t most, int64_t *ret)
{
    struct writ_view text = writ_json_text(value);
    int64_t number = 0;

    if (writ_json_type(value) != WRIT_JSON_NUMBER || !is_integer_literal(text)) {
        return (writ_result){WRIT_E_INVALID};
    }
    bool negative = text.ptr[0] == '-';
    for (size_t i = negative; i < text.len; i++) {
        int digit = text.ptr[i] - '0';
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, negative ? -digit : digit, &number)) {
            return (writ_result){WRIT_E_LIMIT};
        }
    }
    if (number < least || number > most) {
        return (writ_result){WRIT_E_LIMIT};
    }
    *ret = number;
    return WRIT_DONE;
}

static bool
elements_equal(const struct writ_json *a, const struct writ_json *b)
{
    const struct writ_json *other = writ_json_first(b);

    WRIT_JSON_EACH(element, a)
    {
        if (!writ_json_equal(element, other)) {
            return false;
        }
        other = writ_json_next(b, other);
    }
    return true;
}

static bool
members_equal(const struct writ_json *a, const struct writ_json *b)
{
    const struct writ_json *other = writ_json_sorted_first(b);

    for (const struct writ_json *name = writ_json_sorted_first(a); name != NULL;
         name = writ_json_sorted_next(name)) {
        if (!writ_view_equal(writ_json_string(name), writ_json_string(other)) ||
            !writ_json_equal(writ_json_value(name), writ_json_value(other))) {
            return false;
        }
        other = writ_json_sorted_next(other);
    }
    return true;
}

bool
writ_json_equal(const struct writ_json *a, const struct writ_json *b)
{
    enum writ_json_type type = writ_json_type(a);

    if (type != writ_json_type(b)) {
        return false;
    }
    switch (type) {
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return true;
    case WRIT_JSON_NUMBER:
        return a->number == b->number;
    case WRIT_JSON_STRING:
        return writ_view_equal(writ_json_string(a), writ_json_string(b));
    case WRIT_JSON_ARRAY:
        return a->count == b->count && elements_equal(a, b);
    case WRIT_JSON_OBJECT:
        return a->count == b->count && members_equal(a, b);
    }
    return false;
}

bool
writ_json_has(const struct writ_json *array, const struct writ_json *value)
{
    if (writ_json_type(array) != WRIT_JSON_ARRAY) {
        return false;
    }
    WRIT_JSON_EACH(element, array)
    {
        if (writ_json_equal(element, value)) {
            return true;
        }
    }
    return false;
}

static bool
has_bytes(const struct writ_json *node)
{
    return node->type == WRIT_JSON_STRING || node->type == WRIT_JSON_NUMBER;
}

const struct writ_json *
writ_json_copy(const struct writ_json *value, struct writ_arena *arena)
{
    struct writ_json *nodes = writ_arena_get(arena, value->span * sizeof *nodes);
    size_t room = 1; /* gives an empty string a valid pointer */
    struct writ_buf bytes;
    void *memory;

    for (uint32_t i = 0; i < value->span; i++) {
        room += has_bytes(&value[i]) ? value[i].len : 0;
    }
    memory = writ_arena_get(arena, room);
    if (nodes == NULL || memory == NULL) {
        return NULL;
    }
    bytes = writ_buf_over(memory, room);
    for (uint32_t i = 0; i < value->span; i++) {
        nodes[i] = value[i];
        if (has_bytes(&value[i])) {
            nodes[i].is_late = false;
            nodes[i].ptr = bytes.ptr + bytes.len;
            writ_buf_put(&bytes, writ_json_text(&value[i]));
        }
    }
    return nodes;
}
