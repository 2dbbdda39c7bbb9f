/* Writes a YAML value as JSON text and reads that with the strict reader. A plain scalar on which
 * YAML readers disagree is refused, so a value has one meaning. */
#include "policy/read/value_read.h"

#include "base/text.h"
#include "evidence/json/write.h"

static bool
is_json_number(struct writ_view text)
{
    struct writ_decimal ignored;

    return writ_decimal_read(text, &ignored).code != WRIT_E_PARSE;
}

/* Digits in a notation that some YAML readers take for a number, a time or a date. */
static bool
looks_numeric(struct writ_view text)
{
    size_t at = text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-') ? 1 : 0;

    at += at < text.len && text.ptr[at] == '.' ? 1 : 0;
    if (at == text.len || text.ptr[at] < '0' || text.ptr[at] > '9') {
        return false;
    }
    for (; at < text.len; at++) {
        if (writ_view_find(WRIT_LIT("0123456789abcdefABCDEFoxOX_+-.:"), text.ptr[at]) == 31) {
            return false;
        }
    }
    return true;
}

static bool
is_ambiguous(struct writ_view text)
{
    static const char *const words[] = {"yes", "no", "on", "off", "y", "n", "true", "false", "null",
        "~", "", ".inf", "+.inf", "-.inf", ".nan"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (writ_view_equal_nocase(text, writ_view_str(words[i]))) {
            return true;
        }
    }
    return looks_numeric(text);
}

static bool
put_scalar(struct writ_options *o, const struct writ_yaml *node, struct writ_write *w)
{
    if (!node->plain) {
        writ_write_string(w, node->text);
    } else if (writ_view_is(node->text, "true") || writ_view_is(node->text, "false")) {
        writ_write_bool(w, writ_view_is(node->text, "true"));
    } else if (writ_view_is(node->text, "null")) {
        writ_write_null(w);
    } else if (is_json_number(node->text)) {
        writ_write_raw(w, node->text);
    } else if (is_ambiguous(node->text)) {
        WRIT_OPTION_FAULT(o, node,
            "YAML readers disagree about what this is: write a string in quotes, a number, true, "
            "false and null as JSON does");
        return false;
    } else {
        writ_write_string(w, node->text);
    }
    return true;
}

static bool
put_value(struct writ_options *o, const struct writ_yaml *node, struct writ_write *w)
{
    bool good = true;

    switch (node->type) {
    case WRIT_YAML_NONE:
        return false;
    case WRIT_YAML_SCALAR:
        return put_scalar(o, node, w);
    case WRIT_YAML_LIST:
        writ_write_array_begin(w);
        WRIT_YAML_EACH(element, node)
        {
            good = good && put_value(o, element, w);
        }
        break;
    case WRIT_YAML_MAP:
        writ_write_object_begin(w);
        WRIT_YAML_EACH(member, node)
        {
            if (good) {
                writ_write_name(w, member->key);
                good = put_value(o, member, w);
            }
        }
        break;
    }
    if (good && node->type == WRIT_YAML_LIST) {
        writ_write_array_end(w);
    } else if (good) {
        writ_write_object_end(w);
    }
    return good;
}

const struct writ_json *
writ_value_read(struct writ_options *o, const struct writ_yaml *node)
{
    struct writ_json_limits limits = writ_json_limits_default;
    writ_auto_buf text = writ_buf_make(WRIT_VALUE_BYTES_MAX);
    struct writ_write w = writ_write_to(&text);
    const struct writ_json *value = NULL;
    struct writ_err err = {0};
    struct writ_view kept;
    writ_result result;

    if (!put_value(o, node, &w)) {
        return NULL;
    }
    result = writ_write_end(&w, &err);
    if (writ_is_ok(result)) {
        limits.bytes = limits.string_bytes = WRIT_VALUE_BYTES_MAX;
        kept = writ_view_copy(writ_buf_view(&text), o->arena);
        result = kept.ptr == NULL ? (writ_result){WRIT_E_NOMEM}
                                  : writ_json_read(kept, &limits, o->arena, &value, &err);
    }
    if (result.code == WRIT_E_NOMEM) {
        o->nomem = true;
    } else if (!writ_is_ok(result)) {
        WRIT_OPTION_FAULT(o, node, "cannot be a value: %s", err.text);
    }
    return writ_is_ok(result) ? value : NULL;
}

bool
writ_value_read_number(
    struct writ_options *o, const struct writ_yaml *node, struct writ_decimal *ret)
{
    writ_result result = {WRIT_E_PARSE};

    if (node->type == WRIT_YAML_NONE) {
        return false;
    }
    if (node->type == WRIT_YAML_SCALAR) {
        result = writ_decimal_read(node->text, ret);
    }
    if (result.code == WRIT_E_LIMIT) {
        WRIT_OPTION_FAULT(
            o, node, "has more than %d digits, or too large an exponent", WRIT_DECIMAL_DIGITS);
    } else if (!writ_is_ok(result)) {
        WRIT_OPTION_FAULT(
            o, node, "must be a number as JSON writes it, not %s", writ_yaml_type_name(node));
    }
    return writ_is_ok(result);
}

bool
writ_value_read_length(
    struct writ_options *o, const struct writ_yaml *node, uint64_t most, uint64_t *ret)
{
    if (node->type == WRIT_YAML_NONE) {
        return false;
    }
    if (node->type != WRIT_YAML_SCALAR || !writ_is_ok(writ_text_u64(node->text, 0, most, ret))) {
        WRIT_OPTION_FAULT(
            o, node, "must be a whole number from 0 to %llu", (unsigned long long)most);
        return false;
    }
    return true;
}
