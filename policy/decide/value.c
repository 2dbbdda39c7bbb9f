/* Compares JSON values with numbers as decimals. A number that a double does not hold exactly makes
 * the answer unknown, never yes or no. */
#include "policy/decide/value.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

WRIT_RESULT
writ_value_amount(const struct writ_json *number, struct writ_decimal *ret)
{
    if (!writ_jcs_is_exact(number)) {
        return (writ_result){WRIT_E_LIMIT};
    }
    return writ_decimal_read(writ_json_text(number), ret);
}

bool
writ_value_same_type(const struct writ_json *a, const struct writ_json *b)
{
    enum writ_json_type left = writ_json_type(a), right = writ_json_type(b);

    left = left == WRIT_JSON_FALSE ? WRIT_JSON_TRUE : left;
    right = right == WRIT_JSON_FALSE ? WRIT_JSON_TRUE : right;
    return left == right;
}

static enum writ_same
same_number(const struct writ_json *wanted, const struct writ_json *value)
{
    struct writ_decimal left, right;

    if (!writ_is_ok(writ_decimal_read(writ_json_text(wanted), &left)) ||
        !writ_is_ok(writ_value_amount(value, &right))) {
        return WRIT_SAME_UNKNOWN;
    }
    return writ_decimal_compare(&left, &right) == 0 ? WRIT_SAME_YES : WRIT_SAME_NO;
}

static enum writ_same
same_array(const struct writ_json *a, const struct writ_json *b)
{
    const struct writ_json *right = writ_json_first(b);
    enum writ_same same = a->count == b->count ? WRIT_SAME_YES : WRIT_SAME_NO;

    for (const struct writ_json *left = writ_json_first(a); left != NULL && same == WRIT_SAME_YES;
         left = writ_json_next(a, left)) {
        same = writ_value_same(left, right);
        right = writ_json_next(b, right);
    }
    return same;
}

static enum writ_same
same_object(const struct writ_json *a, const struct writ_json *b)
{
    const struct writ_json *right = writ_json_sorted_first(b);
    enum writ_same same = a->count == b->count ? WRIT_SAME_YES : WRIT_SAME_NO;

    for (const struct writ_json *left = writ_json_sorted_first(a);
         left != NULL && same == WRIT_SAME_YES; left = writ_json_sorted_next(left)) {
        same = writ_view_equal(writ_json_string(left), writ_json_string(right))
                   ? writ_value_same(writ_json_value(left), writ_json_value(right))
                   : WRIT_SAME_NO;
        right = writ_json_sorted_next(right);
    }
    return same;
}

enum writ_same
writ_value_same(const struct writ_json *wanted, const struct writ_json *value)
{
    const struct writ_json *a = wanted, *b = value;

    if (writ_json_type(a) != writ_json_type(b)) {
        return WRIT_SAME_NO;
    }
    switch (writ_json_type(a)) {
    case WRIT_JSON_NONE:
        return WRIT_SAME_NO;
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return WRIT_SAME_YES;
    case WRIT_JSON_NUMBER:
        return same_number(a, b);
    case WRIT_JSON_STRING:
        return writ_view_equal(writ_json_string(a), writ_json_string(b)) ? WRIT_SAME_YES
                                                                         : WRIT_SAME_NO;
    case WRIT_JSON_ARRAY:
        return same_array(a, b);
    case WRIT_JSON_OBJECT:
        return same_object(a, b);
    }
    return WRIT_SAME_NO;
}
