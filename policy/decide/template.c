/* Fills a compiled template with arguments. In a scope, target or URI a value cannot end its
 * segment or spell a dot component; a value that could is refused. */
#include "policy/decide/template.h"

#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "policy/decide/value.h"

#define STACK_BYTES 4096 /* longest text that needs no allocation */

static bool
is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~'; /* RFC 3986 2.3 */
}

static void
put_encoded(struct writ_buf *buf, struct writ_view text, bool keep_slash)
{
    static const char digits[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (is_unreserved(text.ptr[i]) || (keep_slash && c == '/')) {
            writ_buf_byte(buf, text.ptr[i]);
        } else {
            writ_buf_byte(buf, '%');
            writ_buf_byte(buf, digits[c >> 4]);
            writ_buf_byte(buf, digits[c & 15]);
        }
    }
}

static bool
has_dot_component(struct writ_view text)
{
    for (size_t at = 0; at <= text.len;) {
        struct writ_view part = writ_view_sub(text, at, text.len);
        part = writ_view_sub(part, 0, writ_view_find(part, '/'));
        if (writ_view_is(part, ".") || writ_view_is(part, "..")) {
            return true;
        }
        at += part.len + 1;
    }
    return false;
}

/* The text of an argument. `number` has room for a number. */
static WRIT_RESULT
text_of(const struct writ_json *value, struct writ_view name, char number[WRIT_JCS_NUMBER_TEXT],
    struct writ_view *ret, struct writ_err *err)
{
    switch (writ_json_type(value)) {
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
        WRIT_FAIL(err, WRIT_E_ABSENT, "the template needs the argument " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(name));
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the template needs a string, number or boolean in " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(name));
    case WRIT_JSON_FALSE:
        *ret = WRIT_LIT("false");
        return WRIT_DONE;
    case WRIT_JSON_TRUE:
        *ret = WRIT_LIT("true");
        return WRIT_DONE;
    case WRIT_JSON_NUMBER:
        *ret = writ_view(number, writ_jcs_number_text(value->number, number));
        return WRIT_DONE;
    case WRIT_JSON_STRING:
        *ret = writ_json_string(value);
        return WRIT_DONE;
    }
    return (writ_result){WRIT_E_INVALID};
}

static WRIT_RESULT
put_part(const struct writ_template_part *part, bool raw, const struct writ_json *arguments,
    struct writ_buf *buf, struct writ_err *err)
{
    char number[WRIT_JCS_NUMBER_TEXT];
    struct writ_view text = {NULL, 0};
    bool path = part->kind == WRIT_TEMPLATE_PART_PATH;

    if (part->kind == WRIT_TEMPLATE_PART_LITERAL) {
        writ_buf_put(buf, part->text);
        return WRIT_DONE;
    }
    WRIT_TRY(text_of(writ_json_pointer(arguments, part->text), part->text, number, &text, err));
    if (raw) {
        writ_buf_put(buf, text);
        return WRIT_DONE;
    }
    if (text.len == 0 ||
        (path ? has_dot_component(text) : writ_view_is(text, ".") || writ_view_is(text, ".."))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the argument " WRIT_VIEW_FMT " is empty or a dot segment",
            WRIT_VIEW_ARG(part->text));
    }
    put_encoded(buf, text, path);
    return WRIT_DONE;
}

static WRIT_RESULT
put_text(const struct writ_template *t, const struct writ_json *arguments, struct writ_buf *buf,
    struct writ_err *err)
{
    for (size_t i = 0; i < t->parts_n; i++) {
        WRIT_TRY(put_part(&t->parts[i], t->raw, arguments, buf, err));
    }
    return writ_buf_check(buf, err);
}

static WRIT_RESULT
fill_in(const struct writ_template *template, const struct writ_json *arguments,
    struct writ_buf *buf, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    struct writ_view copy;

    WRIT_TRY(put_text(template, arguments, buf, err));
    copy = writ_view_copy(writ_buf_view(buf), arena);
    if (copy.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to fill a template");
    }
    *ret = copy;
    return WRIT_DONE;
}

WRIT_RESULT
writ_template_fill(const struct writ_template *template, const struct writ_json *arguments,
    size_t max, struct writ_arena *arena, struct writ_view *ret, struct writ_err *err)
{
    char memory[STACK_BYTES]; /* scopes and targets fit: a call needs no allocation */
    writ_auto_buf buf = writ_buf_from(memory, sizeof memory, max);

    return fill_in(template, arguments, &buf, arena, ret, err);
}

/* A text that is a single reference becomes the value itself. */
static bool
is_whole_value(const struct writ_template *t)
{
    return t->raw && t->parts_n == 1 && t->parts[0].kind == WRIT_TEMPLATE_PART_VALUE;
}

static WRIT_RESULT
write_text(const struct writ_template *t, const struct writ_json *arguments, size_t max,
    struct writ_write *w, struct writ_err *err)
{
    writ_auto_buf buf = writ_buf_make(max);

    if (is_whole_value(t)) {
        char number[WRIT_JCS_NUMBER_TEXT];
        const struct writ_json *value = writ_json_pointer(arguments, t->parts[0].text);
        struct writ_view text;
        WRIT_TRY(text_of(value, t->parts[0].text, number, &text, err));
        writ_write_value(w, value);
        return WRIT_DONE;
    }
    WRIT_TRY(put_text(t, arguments, &buf, err));
    writ_write_string(w, writ_buf_view(&buf));
    return WRIT_DONE;
}

static WRIT_RESULT
write_node(const struct writ_template *t, const struct writ_json *arguments, size_t max,
    struct writ_write *w, struct writ_err *err)
{
    switch (t->kind) {
    case WRIT_TEMPLATE_TEXT:
        return write_text(t, arguments, max, w, err);
    case WRIT_TEMPLATE_FIXED:
        writ_write_value(w, t->fixed);
        return WRIT_DONE;
    case WRIT_TEMPLATE_LIST:
        writ_write_array_begin(w);
        for (const struct writ_template *child = t->first; child != NULL; child = child->next) {
            WRIT_TRY(write_node(child, arguments, max, w, err));
        }
        writ_write_array_end(w);
        return WRIT_DONE;
    case WRIT_TEMPLATE_MAP:
        writ_write_object_begin(w);
        for (const struct writ_template *child = t->first; child != NULL; child = child->next) {
            writ_write_name(w, child->key);
            WRIT_TRY(write_node(child, arguments, max, w, err));
        }
        writ_write_object_end(w);
        return WRIT_DONE;
    }
    return (writ_result){WRIT_E_INVALID};
}

WRIT_RESULT
writ_template_fill_object(const struct writ_template *template, const struct writ_json *arguments,
    size_t max, struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    writ_auto_buf buf = writ_buf_make(max);
    struct writ_write w = writ_write_to(&buf);
    struct writ_view text;

    WRIT_TRY(write_node(template, arguments, max, &w, err));
    WRIT_TRY(writ_write_end(&w, err));
    text = writ_view_copy(writ_buf_view(&buf), arena);
    if (text.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to fill a template");
    }
    limits.bytes = limits.string_bytes = max;
    return writ_json_read(text, &limits, arena, ret, err);
}
