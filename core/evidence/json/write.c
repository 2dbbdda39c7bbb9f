/* state[depth] says what may come next at each level; last[depth] is the last member name of it.
 *
 * (1) A value is written only where `value_begin` found one to be due.
 * (2) Failures stay in the buffer: only writ_write_end reads them. */
#include "evidence/json/write.h"

#include "base/clock.h"
#include "base/hidden.h"
#include "base/text.h"
#include "evidence/json/jcs.h"

enum {
    STATE_NONE = 0,    /* after the one value: nothing may come */
    STATE_ROOT,        /* the one value is due */
    STATE_ARRAY_FIRST, /* an element or the end */
    STATE_ARRAY,
    STATE_OBJECT_FIRST, /* a name or the end */
    STATE_OBJECT,
    STATE_VALUE, /* the value of the name just written */
};

struct writ_write
writ_write_to(struct writ_buf *buf)
{
    struct writ_write w; /* partly: entries behind `depth` are never read */

    w.buf = buf;
    w.sorted = false;
    w.depth = 0;
    w.state[0] = STATE_ROOT;
    return w;
}

static void
value_begin(struct writ_write *w)
{
    uint8_t *state = &w->state[w->depth];

    switch (*state) {
    case STATE_ROOT:
        *state = STATE_NONE;
        return;
    case STATE_ARRAY:
        writ_buf_byte(w->buf, ',');
        return;
    case STATE_ARRAY_FIRST:
        *state = STATE_ARRAY;
        return;
    case STATE_VALUE:
        *state = STATE_OBJECT;
        return;
    default:
        WRIT_INVARIANT(!"a JSON value is due");
    }
}

static void
begin(struct writ_write *w, char bracket, uint8_t state)
{
    value_begin(w);
    WRIT_INVARIANT(w->depth < WRIT_WRITE_DEPTH);
    writ_buf_byte(w->buf, bracket);
    w->state[++w->depth] = state;
}

static void
end(struct writ_write *w, char bracket, uint8_t first, uint8_t later)
{
    WRIT_INVARIANT(w->state[w->depth] == first || w->state[w->depth] == later);
    writ_buf_byte(w->buf, bracket);
    w->depth--;
}

void
writ_write_object_begin(struct writ_write *w)
{
    begin(w, '{', STATE_OBJECT_FIRST);
}

void
writ_write_object_end(struct writ_write *w)
{
    end(w, '}', STATE_OBJECT_FIRST, STATE_OBJECT);
}

void
writ_write_array_begin(struct writ_write *w)
{
    begin(w, '[', STATE_ARRAY_FIRST);
}

void
writ_write_array_end(struct writ_write *w)
{
    end(w, ']', STATE_ARRAY_FIRST, STATE_ARRAY);
}

void
writ_write_name(struct writ_write *w, struct writ_view name)
{
    uint8_t *state = &w->state[w->depth];

    WRIT_INVARIANT(*state == STATE_OBJECT_FIRST || *state == STATE_OBJECT);
    if (w->sorted) {
        WRIT_INVARIANT(
            *state == STATE_OBJECT_FIRST || writ_jcs_compare(w->last[w->depth], name) < 0);
        w->last[w->depth] = name;
    }
    if (*state == STATE_OBJECT) {
        writ_buf_byte(w->buf, ',');
    }
    writ_text_json(w->buf, name);
    writ_buf_byte(w->buf, ':');
    *state = STATE_VALUE;
}

void
writ_write_string(struct writ_write *w, struct writ_view text)
{
    value_begin(w);
    writ_text_json(w->buf, text);
}

void
writ_write_string_or_null(struct writ_write *w, struct writ_view text)
{
    if (text.ptr == NULL) {
        writ_write_null(w);
    } else {
        writ_write_string(w, text);
    }
}

void
writ_write_u64(struct writ_write *w, uint64_t value)
{
    value_begin(w);
    writ_buf_u64(w->buf, value);
}

void
writ_write_i64(struct writ_write *w, int64_t value)
{
    value_begin(w);
    writ_buf_i64(w->buf, value);
}

void
writ_write_double(struct writ_write *w, double value)
{
    char text[WRIT_JCS_NUMBER_TEXT];

    writ_write_raw(w, writ_view(text, writ_jcs_number_text(value, text)));
}

void
writ_write_bool(struct writ_write *w, bool value)
{
    value_begin(w);
    writ_buf_str(w->buf, value ? "true" : "false");
}

void
writ_write_null(struct writ_write *w)
{
    value_begin(w);
    writ_buf_str(w->buf, "null");
}

void
writ_write_value(struct writ_write *w, const struct writ_json *value)
{
    writ_result result;

    value_begin(w);
    result = writ_jcs_put(w->buf, value, NULL);
    if (!writ_is_ok(result) && w->buf->failed == WRIT_E_UNSET) {
        w->buf->failed = result.code;
    }
}

void
writ_write_raw(struct writ_write *w, struct writ_view json)
{
    value_begin(w);
    writ_buf_put(w->buf, json);
}

/* Members in their order; a number as `put_number` writes it. */
static void
put_ordered(struct writ_write *w, const struct writ_json *value,
    void (*put_number)(struct writ_write *w, const struct writ_json *number))
{
    switch (writ_json_type(value)) {
    case WRIT_JSON_NUMBER:
        put_number(w, value);
        return;
    case WRIT_JSON_ARRAY:
        writ_write_array_begin(w);
        WRIT_JSON_EACH(child, value)
        {
            put_ordered(w, child, put_number);
        }
        writ_write_array_end(w);
        return;
    case WRIT_JSON_OBJECT:
        writ_write_object_begin(w);
        WRIT_JSON_EACH(name, value)
        {
            writ_write_name(w, writ_json_string(name));
            put_ordered(w, writ_json_value(name), put_number);
        }
        writ_write_object_end(w);
        return;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
    case WRIT_JSON_STRING:
        writ_write_value(w, value);
        return;
    }
}

static void
put_digits(struct writ_write *w, const struct writ_json *number)
{
    writ_write_raw(w, writ_json_text(number));
}

void
writ_write_ordered(struct writ_write *w, const struct writ_json *value)
{
    put_ordered(w, value, writ_write_value);
}

void
writ_write_verbatim(struct writ_write *w, const struct writ_json *value)
{
    put_ordered(w, value, put_digits);
}

static size_t
put_visible_string(struct writ_write *w, struct writ_view text)
{
    writ_auto_buf seen = writ_buf_make(text.len);
    size_t left_out = writ_hidden_strip(&seen, text);

    writ_write_string(w, writ_buf_view(&seen));
    w->buf->failed = seen.failed == WRIT_E_NOMEM ? WRIT_E_NOMEM : w->buf->failed;
    return left_out;
}

static size_t
put_visible_member(struct writ_write *w, const struct writ_json *name)
{
    writ_auto_buf seen = writ_buf_make(writ_json_string(name).len);
    size_t left_out = writ_hidden_strip(&seen, writ_json_string(name));

    if (left_out > 0) {
        return left_out;
    }
    writ_write_name(w, writ_json_string(name));
    return writ_write_visible(w, writ_json_value(name));
}

size_t
writ_write_visible(struct writ_write *w, const struct writ_json *value)
{
    size_t left_out = 0;

    switch (writ_json_type(value)) {
    case WRIT_JSON_STRING:
        return put_visible_string(w, writ_json_string(value));
    case WRIT_JSON_ARRAY:
        writ_write_array_begin(w);
        WRIT_JSON_EACH(child, value)
        {
            left_out += writ_write_visible(w, child);
        }
        writ_write_array_end(w);
        return left_out;
    case WRIT_JSON_OBJECT:
        writ_write_object_begin(w);
        WRIT_JSON_EACH(name, value)
        {
            left_out += put_visible_member(w, name);
        }
        writ_write_object_end(w);
        return left_out;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
    case WRIT_JSON_NUMBER:
        writ_write_verbatim(w, value);
        break;
    }
    return 0;
}

/* ---- members ---- */

void
writ_write_text(struct writ_write *w, const char *name, struct writ_view text)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_string(w, text);
}

void
writ_write_text_if(struct writ_write *w, const char *name, struct writ_view text)
{
    if (text.len > 0) {
        writ_write_text(w, name, text);
    }
}

void
writ_write_time(struct writ_write *w, const char *name, int64_t wall_us)
{
    char text[WRIT_TIME_TEXT];

    writ_time_format(wall_us, text);
    writ_write_text(w, name, writ_view_str(text));
}

void
writ_write_time_if(struct writ_write *w, const char *name, int64_t wall_us)
{
    if (wall_us != 0) {
        writ_write_time(w, name, wall_us);
    }
}

void
writ_write_text_or_null(struct writ_write *w, const char *name, struct writ_view text)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_string_or_null(w, text);
}

void
writ_write_count(struct writ_write *w, const char *name, uint64_t count)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_u64(w, count);
}

void
writ_write_integer(struct writ_write *w, const char *name, int64_t value)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_i64(w, value);
}

void
writ_write_number(struct writ_write *w, const char *name, double value)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_double(w, value);
}

void
writ_write_flag(struct writ_write *w, const char *name, bool flag)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_bool(w, flag);
}

WRIT_RESULT
writ_write_end(struct writ_write *w, struct writ_err *err)
{
    WRIT_INVARIANT(w->depth == 0 && w->state[0] == STATE_NONE);
    return writ_buf_check(w->buf, err);
}
