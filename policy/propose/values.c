/* A list in the order of the schema. Whether a value fits is measured first: a configuration has
 * limits on depth, on the length of keys and on the whole. */
#include "policy/propose/values.h"

#include "policy/model/pattern.h"

#define VALUES_MAX 512
#define BYTES_MAX  65536 /* of all texts */
#define DEPTH_MAX  6
#define KEY_MAX    256

struct reading {
    struct writ_arena *arena;
    struct writ_values *ret;
    struct writ_proposal_value *last;
    size_t n, bytes, others; /* values; bytes; values that are not text */
    bool placeholder;        /* a text begins as a placeholder does */
};

static bool
fits(struct reading *r, const struct writ_json *value, unsigned depth)
{
    bool object = writ_json_type(value) == WRIT_JSON_OBJECT;

    r->bytes += writ_json_text(value).len + 4;
    if (depth > DEPTH_MAX || r->bytes > BYTES_MAX) {
        return false;
    }
    WRIT_JSON_EACH(child, value)
    {
        if ((object && (child->len > KEY_MAX || child->len == 0)) ||
            !fits(r, object ? writ_json_value(child) : child, depth + 1)) {
            return false;
        }
        r->placeholder =
            r->placeholder ||
            writ_view_has_prefix(
                writ_json_string(object ? writ_json_value(child) : child), WRIT_LIT("REPLACE_"));
    }
    return true;
}

static bool
add(struct reading *r, const struct writ_json *value)
{
    struct writ_proposal_value *one;

    if (writ_json_type(value) == WRIT_JSON_NULL) {
        return true;
    }
    if (value == NULL || r->n++ == VALUES_MAX || !fits(r, value, 0)) {
        return false;
    }
    r->others += writ_json_type(value) != WRIT_JSON_STRING;
    r->placeholder =
        r->placeholder || writ_view_has_prefix(writ_json_string(value), WRIT_LIT("REPLACE_"));
    one = writ_arena_get(r->arena, sizeof *one);
    if (one == NULL) {
        r->ret->nomem = true;
        return false;
    }
    *one = (struct writ_proposal_value){.json = value};
    if (r->last == NULL) {
        r->ret->first = one;
    } else {
        r->last->next = one;
    }
    r->last = one;
    return true;
}

/* (?:\QREPLACE_ALL\E|\Qother\E). False when it gets too long. */
static bool
put_pattern(const struct writ_values *values, struct writ_buf *ret)
{
    writ_buf_str(ret, "(?:");
    for (const struct writ_proposal_value *one = values->first; one != NULL; one = one->next) {
        struct writ_view text = writ_json_string(one->json);

        if (writ_view_search(text, WRIT_LIT("\\E")) < text.len) {
            return false;
        }
        writ_buf_str(ret, one == values->first ? "\\Q" : "|\\Q");
        writ_buf_put(ret, text);
        writ_buf_str(ret, "\\E");
    }
    writ_buf_byte(ret, ')');
    return ret->failed == WRIT_E_UNSET;
}

static bool
add_all(struct reading *r, const struct writ_json *value, enum writ_values_form form)
{
    if (form == WRIT_VALUES_CONST) {
        return add(r, value);
    }
    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return false;
    }
    WRIT_JSON_EACH(one, value)
    {
        const struct writ_json *held =
            form == WRIT_VALUES_FORMS ? writ_json_get(one, WRIT_LIT("const")) : one;

        if (held != NULL && !add(r, held)) {
            return false;
        }
    }
    return true;
}

bool
writ_values_read(const struct writ_json *value, enum writ_values_form form,
    struct writ_arena *arena, struct writ_values *ret)
{
    struct reading r = {.arena = arena, .ret = ret};
    struct writ_buf pattern = writ_buf_in(arena, WRIT_PATTERN_MAX);

    *ret = (struct writ_values){.first = NULL};
    if (!add_all(&r, value, form)) {
        return false;
    }
    if (!r.placeholder) {
        return true;
    }
    if (r.others > 0 || !put_pattern(ret, &pattern)) {
        ret->nomem = pattern.failed == WRIT_E_NOMEM;
        return false;
    }
    ret->pattern = writ_buf_view(&pattern);
    return true;
}

static enum writ_json_type
type_of(const struct writ_json *value)
{
    enum writ_json_type type = writ_json_type(value);

    return type == WRIT_JSON_FALSE ? WRIT_JSON_TRUE : type;
}

void
writ_values_keep_type(struct writ_values *values, enum writ_json_type type)
{
    struct writ_proposal_value **end = &values->first;

    for (struct writ_proposal_value *one = values->first; one != NULL; one = one->next) {
        if (type_of(one->json) == type) {
            *end = one;
            end = &one->next;
        }
    }
    *end = NULL;
}
