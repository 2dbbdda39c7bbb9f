#include "evidence/bridge.h"

#include "base/text.h"
#include "evidence/jcs.h"

/* ---- to jansson */

static void
json_release(json_t **value)
{
    json_decref(*value);
}

static writ_result
no_memory(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a JSON value");
}

static writ_result
number_to(const struct writ_json *value, json_t **ret, struct writ_err *err)
{
    int64_t integer;
    writ_result result = writ_json_integer(value, INT64_MIN, INT64_MAX, &integer);

    if (result.code == WRIT_E_LIMIT) {
        WRIT_FAIL_AT(
            err, WRIT_E_PARSE, value->at, "integer of more than 64 bits at byte %u", value->at);
    }
    *ret = writ_is_ok(result) ? json_integer(integer) : json_real(value->number);
    return *ret != NULL ? WRIT_DONE : no_memory(err);
}

static writ_result
array_to(const struct writ_json *value, json_t **ret, struct writ_err *err)
{
    WRIT_AUTO(json_t *, json_release) array = json_array();

    if (array == NULL) {
        return no_memory(err);
    }
    WRIT_JSON_EACH(element, value)
    {
        json_t *item = NULL;
        WRIT_TRY(writ_bridge_to_jansson(element, &item, err));
        if (json_array_append_new(array, item) != 0) { /* steals item, also on failure */
            return no_memory(err);
        }
    }
    *ret = WRIT_TAKE(array);
    return WRIT_DONE;
}

static writ_result
object_to(const struct writ_json *value, json_t **ret, struct writ_err *err)
{
    WRIT_AUTO(json_t *, json_release) object = json_object();

    if (object == NULL) {
        return no_memory(err);
    }
    WRIT_JSON_EACH(name, value)
    {
        json_t *item = NULL;
        WRIT_TRY(writ_bridge_to_jansson(writ_json_value(name), &item, err));
        if (json_object_setn_new(object, name->ptr, name->len, item) != 0) {
            return no_memory(err);
        }
    }
    *ret = WRIT_TAKE(object);
    return WRIT_DONE;
}

WRIT_RESULT
writ_bridge_to_jansson(const struct writ_json *value, json_t **ret, struct writ_err *err)
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
        WRIT_TRY(number_to(value, &made, err));
        break;
    case WRIT_JSON_STRING:
        made = json_stringn(value->ptr, value->len);
        break;
    case WRIT_JSON_ARRAY:
        WRIT_TRY(array_to(value, &made, err));
        break;
    case WRIT_JSON_OBJECT:
        WRIT_TRY(object_to(value, &made, err));
        break;
    }
    if (made == NULL) {
        return no_memory(err);
    }
    *ret = made;
    return WRIT_DONE;
}

/* ---- from jansson */

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

/* `depth` is how deep arrays and objects may still nest here: the reader would say so too, but
 * only after this has recursed. */
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
    case JSON_REAL: /* jansson keeps what is not finite out */
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
writ_bridge_from_jansson(const json_t *value, const struct writ_json_limits *limits,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(limits->bytes);
    size_t depth = limits->depth < WRIT_JSON_DEPTH_MAX ? limits->depth : WRIT_JSON_DEPTH_MAX;
    struct writ_view kept;

    WRIT_TRY(put_value(&text, value, depth, err));
    WRIT_TRY(writ_buf_check(&text, err));
    kept = writ_view_copy(writ_buf_view(&text), arena);
    if (kept.ptr == NULL) {
        return no_memory(err);
    }
    return writ_json_read(kept, limits, arena, ret, err);
}
