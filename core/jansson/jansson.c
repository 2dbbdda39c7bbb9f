/* Implements jansson.h: a json_t is written as text, which our own reader reads; a text is read by
 * our own reader, and a json_t is made from the result. So no value passes that the reader or the
 * canonical form refuses. */
#include "writ/jansson.h"

#include "base/text.h"
#include "evidence/json/jcs.h"

/* Memory for the nodes of a text: each value and each member name has a byte of its own in it. */
#define ARENA_MAX(bytes) (65 * (bytes) + 65536)

_Static_assert(WRIT_JANSSON_BYTES_MAX == WRIT_JSON_BYTES_MAX, "one limit");
_Static_assert(WRIT_JANSSON_DEPTH_MAX == WRIT_JSON_DEPTH_MAX, "one limit");

static const struct writ_json_limits limits = {
    .bytes = WRIT_JANSSON_BYTES_MAX,
    .depth = WRIT_JANSSON_DEPTH_MAX,
    .values = WRIT_JANSSON_BYTES_MAX,
    .name_bytes = WRIT_JANSSON_BYTES_MAX,
    .string_bytes = WRIT_JANSSON_BYTES_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

static writ_result
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a JSON value");
}

/* Reads a text and appends its canonical form to `canonical`. */
static writ_result
read_canonical(struct writ_view text, struct writ_arena *arena, struct writ_buf *canonical,
    const struct writ_json **ret, struct writ_err *err)
{
    const struct writ_json *value = NULL;

    if (arena == NULL) {
        return no_memory(err);
    }
    WRIT_TRY(writ_json_read(text, &limits, arena, &value, err));
    WRIT_TRY(writ_jcs_put(canonical, value, err));
    *ret = value;
    return WRIT_DONE;
}

/* ---- text to json_t */

static writ_result make_value(const struct writ_json *value, json_t **ret, struct writ_err *err);

/* The number has a canonical form, so its double is its exact value when it is not an integer. */
static json_t *
make_number(const struct writ_json *value)
{
    int64_t integer;

    return writ_is_ok(writ_json_integer(value, INT64_MIN, INT64_MAX, &integer))
               ? json_integer(integer)
               : json_real(value->number);
}

static writ_result
make_array(const struct writ_json *value, json_t **ret, struct writ_err *err)
{
    json_auto_t *array = json_array();

    if (array == NULL) {
        return no_memory(err);
    }
    WRIT_JSON_EACH(element, value)
    {
        json_t *item = NULL;
        WRIT_TRY(make_value(element, &item, err));
        if (json_array_append_new(array, item) != 0) { /* steals item, also on failure */
            return no_memory(err);
        }
    }
    *ret = WRIT_TAKE(array);
    return WRIT_DONE;
}

static writ_result
make_object(const struct writ_json *value, json_t **ret, struct writ_err *err)
{
    json_auto_t *object = json_object();

    if (object == NULL) {
        return no_memory(err);
    }
    WRIT_JSON_EACH(name, value)
    {
        json_t *item = NULL;
        WRIT_TRY(make_value(writ_json_value(name), &item, err));
        if (json_object_setn_new(object, name->ptr, name->len, item) != 0) {
            return no_memory(err);
        }
    }
    *ret = WRIT_TAKE(object);
    return WRIT_DONE;
}

static writ_result
make_value(const struct writ_json *value, json_t **ret, struct writ_err *err)
{
    json_t *made = NULL;

    switch (writ_json_type(value)) {
    case WRIT_JSON_NONE:
        WRIT_INVARIANT(!"a JSON value has a type");
        break;
    case WRIT_JSON_NULL:
        made = json_null();
        break;
    case WRIT_JSON_FALSE:
        made = json_false();
        break;
    case WRIT_JSON_TRUE:
        made = json_true();
        break;
    case WRIT_JSON_NUMBER:
        made = make_number(value);
        break;
    case WRIT_JSON_STRING:
        made = json_stringn(writ_json_string(value).ptr, writ_json_string(value).len);
        break;
    case WRIT_JSON_ARRAY:
        WRIT_TRY(make_array(value, &made, err));
        break;
    case WRIT_JSON_OBJECT:
        WRIT_TRY(make_object(value, &made, err));
        break;
    }
    if (made == NULL) {
        return no_memory(err);
    }
    *ret = made;
    return WRIT_DONE;
}

WRIT_RESULT
writ_jansson_read(struct writ_view text, json_t **ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX(text.len));
    writ_auto_buf canonical = writ_buf_make(WRIT_JANSSON_BYTES_MAX);
    const struct writ_json *value = NULL;

    if (text.ptr == NULL) {
        *ret = NULL;
        return WRIT_DONE;
    }
    WRIT_TRY(read_canonical(text, arena, &canonical, &value, err));
    return make_value(value, ret, err);
}

/* ---- json_t to text */

static writ_result put_value(
    struct writ_buf *buf, const json_t *value, size_t depth, struct writ_err *err);

static writ_result
put_array(struct writ_buf *buf, const json_t *array, size_t depth, struct writ_err *err)
{
    writ_buf_byte(buf, '[');
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (i > 0) {
            writ_buf_byte(buf, ',');
        }
        WRIT_TRY(put_value(buf, json_array_get(array, i), depth, err));
    }
    writ_buf_byte(buf, ']');
    return WRIT_DONE;
}

static writ_result
put_object(struct writ_buf *buf, const json_t *value, size_t depth, struct writ_err *err)
{
    json_t *object = (json_t *)value; /* its iterators are not const, but change nothing */
    void *at = json_object_iter(object), *first = at;

    writ_buf_byte(buf, '{');
    for (; at != NULL; at = json_object_iter_next(object, at)) {
        if (at != first) {
            writ_buf_byte(buf, ',');
        }
        writ_text_json(buf, writ_view(json_object_iter_key(at), json_object_iter_key_len(at)));
        writ_buf_byte(buf, ':');
        WRIT_TRY(put_value(buf, json_object_iter_value(at), depth, err));
    }
    writ_buf_byte(buf, '}');
    return WRIT_DONE;
}

/* `depth` is the number of levels that may still nest here: the reader checks that too, but only
 * after this function has recursed. */
static writ_result
put_value(struct writ_buf *buf, const json_t *value, size_t depth, struct writ_err *err)
{
    json_type type = json_typeof(value);

    if (depth == 0 && (type == JSON_ARRAY || type == JSON_OBJECT)) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "nested too deeply");
    }
    switch (type) {
    case JSON_OBJECT:
        return put_object(buf, value, depth - 1, err);
    case JSON_ARRAY:
        return put_array(buf, value, depth - 1, err);
    case JSON_STRING:
        writ_text_json(buf, writ_view(json_string_value(value), json_string_length(value)));
        break;
    case JSON_INTEGER:
        writ_buf_i64(buf, json_integer_value(value));
        break;
    case JSON_REAL: /* jansson does not accept values that are not finite */
        writ_jcs_number(buf, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        writ_buf_str(buf, type == JSON_TRUE ? "true" : "false");
        break;
    case JSON_NULL:
        writ_buf_str(buf, "null");
        break;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_jansson_write(const json_t *value, char **ret, size_t *ret_len, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(WRIT_JANSSON_BYTES_MAX);
    writ_auto_buf canonical = writ_buf_make(WRIT_JANSSON_BYTES_MAX);
    writ_auto_arena arena = NULL;
    const struct writ_json *read = NULL;

    if (value == NULL) {
        *ret = NULL;
        *ret_len = 0;
        return WRIT_DONE;
    }
    WRIT_TRY(put_value(&text, value, WRIT_JANSSON_DEPTH_MAX, err));
    WRIT_TRY(writ_buf_check(&text, err));
    arena = writ_arena_new(ARENA_MAX(text.len));
    WRIT_TRY(read_canonical(writ_buf_view(&text), arena, &canonical, &read, err));
    writ_buf_byte(&canonical, '\0');
    WRIT_TRY(writ_buf_check(&canonical, err));
    *ret_len = canonical.len - 1;
    *ret = WRIT_TAKE(canonical.ptr);
    return WRIT_DONE;
}
