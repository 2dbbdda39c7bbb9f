/* One charge has one spelling. A text of any other form is not a charge. */
#include "store/tables/charge.h"

#include "base/text.h"

#define NUMBER_MOST ((uint64_t)INT64_MAX)

static const struct writ_view held = {"held", sizeof "held" - 1};

void
writ_charge_put(const struct writ_budget_charge *charge, struct writ_buf *ret)
{
    uint8_t bytes[WRIT_TAG_BYTES];

    writ_tag_put(charge->tag, bytes);
    writ_hex_put(ret, bytes, sizeof bytes);
    writ_buf_fmt(ret, " %lld %lld ", (long long)charge->window_us, (long long)charge->window);
    writ_decimal_put(ret, &charge->amount);
    if (charge->held) {
        writ_buf_byte(ret, ' ');
        writ_buf_put(ret, held);
    }
}

/* Takes the text before the next space off the front. */
static struct writ_view
take_word(struct writ_view *rest)
{
    size_t end = writ_view_find(*rest, ' ');
    struct writ_view word = writ_view_sub(*rest, 0, end);

    *rest = writ_view_sub(*rest, end < rest->len ? end + 1 : rest->len, SIZE_MAX);
    return word;
}

bool
writ_charge_read(struct writ_view text, struct writ_budget_charge *ret)
{
    uint8_t bytes[WRIT_TAG_BYTES];
    uint64_t window_us = 0, window = 0;
    struct writ_view tag = take_word(&text);

    if (!writ_is_ok(writ_hex_read(tag, bytes, sizeof bytes)) ||
        !writ_is_ok(writ_text_u64(take_word(&text), 1, NUMBER_MOST, &window_us)) ||
        !writ_is_ok(writ_text_u64(take_word(&text), 0, NUMBER_MOST, &window)) ||
        !writ_is_ok(writ_decimal_read(take_word(&text), &ret->amount)) || ret->amount.negative ||
        (text.len > 0 && !writ_view_equal(text, held))) {
        return false;
    }
    ret->tag = writ_tag_read(bytes);
    ret->window_us = (int64_t)window_us;
    ret->window = (int64_t)window;
    ret->held = text.len > 0;
    return true;
}

WRIT_RESULT
writ_charge_each(const struct writ_member_list *charges, bool takes, bool backs,
    writ_result (*each)(
        void *ctx, const struct writ_budget_charge *charge, const struct writ_decimal *amount),
    void *ctx)
{
    struct writ_budget_charge charge = {0};

    for (size_t i = 0; charges->is == WRIT_PRESENT && i < charges->count; i++) {
        struct writ_decimal back;

        if (!writ_charge_read(charges->items[i], &charge)) {
            return (writ_result){WRIT_E_PARSE};
        }
        back = writ_decimal_negate(&charge.amount);
        if (takes && !charge.held) {
            WRIT_TRY(each(ctx, &charge, &charge.amount));
        }
        if (backs) {
            WRIT_TRY(each(ctx, &charge, &back));
        }
    }
    return WRIT_DONE;
}

bool
writ_charge_all_good(const struct writ_extension *extension, int64_t issued_us)
{
    struct writ_budget_charge charge = {0};

    for (size_t i = 0; extension->charges.is == WRIT_PRESENT && i < extension->charges.count; i++) {
        if (!writ_charge_read(extension->charges.items[i], &charge) ||
            (charge.held ? charge.window > issued_us / charge.window_us
                         : charge.window != issued_us / charge.window_us)) {
            return false;
        }
    }
    return extension->charges.is == WRIT_ABSENT || extension->charges.is == WRIT_PRESENT;
}
