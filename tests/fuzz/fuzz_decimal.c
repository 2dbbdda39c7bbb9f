/* For two numbers with a space between: a decimal that was read has one text, which reads back as
 * the same value; it compares as equal to itself and sums with its negative to zero. */
#include "support/fuzz.h"

#include "base/decimal.h"

static void
check_text(const struct writ_decimal *value)
{
    char memory[WRIT_DECIMAL_PUT_MAX];
    struct writ_buf text = writ_buf_over(memory, sizeof memory);
    struct writ_decimal again;

    writ_decimal_put(&text, value);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(&text, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_decimal_read(writ_buf_view(&text), &again)));
    WRIT_INVARIANT(writ_decimal_compare(value, &again) == 0);
    WRIT_INVARIANT(value->coefficient == again.coefficient && value->exponent == again.exponent);
}

static void
check_negative(const struct writ_decimal *value)
{
    struct writ_decimal negated = writ_decimal_negate(value), sum;

    WRIT_INVARIANT(writ_is_ok(writ_decimal_add(value, &negated, &sum)));
    WRIT_INVARIANT(sum.coefficient == 0 && !sum.negative);
}

static void
check_pair(const struct writ_decimal *a, const struct writ_decimal *b)
{
    struct writ_decimal sum, back;
    int order = writ_decimal_compare(a, b);

    WRIT_INVARIANT(order == -writ_decimal_compare(b, a));
    if (writ_is_ok(writ_decimal_add(a, b, &sum))) {
        struct writ_decimal negated = writ_decimal_negate(b);
        check_text(&sum);
        /* a sum is exact, so the addend can be subtracted again */
        WRIT_INVARIANT(writ_is_ok(writ_decimal_add(&sum, &negated, &back)));
        WRIT_INVARIANT(writ_decimal_compare(&back, a) == 0);
        WRIT_INVARIANT(
            (writ_decimal_compare(&sum, a) > 0) == (b->coefficient != 0 && !b->negative));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);
    size_t space = writ_view_find(text, ' ');
    struct writ_decimal a, b;

    if (!writ_is_ok(writ_decimal_read(writ_view_sub(text, 0, space), &a))) {
        return 0;
    }
    check_text(&a);
    check_negative(&a);
    if (writ_is_ok(writ_decimal_read(writ_view_sub(text, space + 1, size), &b))) {
        check_pair(&a, &b);
    }
    return 0;
}
