/* A threshold is above one half, so that accepting and rejecting exclude each other. Steps of a
 * threshold are in ascending order, so that each value has one. */
#include "policy/read/shares.h"

#include "base/text.h"
#include "policy/read/compile.h"
#include "policy/read/value_read.h"

#define THRESHOLD_FAULT "must be a share above 1/2 and up to 1, as 2/3 or 0.75"
#define WEIGHT_FAULT                                                                               \
    "must be a number from 0 to 1000000, or an exact fraction of such, as 1/2 or 1.5"

static bool
read_share(struct writ_view text, struct writ_rational *ret)
{
    return writ_is_ok(writ_rational_of_text(text, ret)) && ret->numerator <= ret->denominator;
}

/* Above 1/2, so that accepting and rejecting exclude each other. */
static bool
is_threshold(struct writ_view text, struct writ_rational *ret)
{
    return read_share(text, ret) && writ_rational_compare(1, 2, *ret) < 0;
}

bool
writ_shares_is_quorum(struct writ_view text, size_t voters)
{
    struct writ_rational share;
    uint64_t count = 0;

    return writ_view_find(text, '/') < text.len
               ? read_share(text, &share)
               : writ_is_ok(writ_text_u64(text, 0, voters, &count));
}

void
writ_shares_weight(
    struct writ_options *o, const struct writ_yaml *node, struct writ_review_voter *ret)
{
    ret->weight = ret->parts = 1;
    if (node != NULL &&
        (node->type != WRIT_YAML_SCALAR || !writ_review_weight_read(node->text, ret))) {
        WRIT_OPTION_FAULT(o, node, WEIGHT_FAULT);
    }
}

/* ---- steps */

static bool
read_step(struct writ_options *o, const struct writ_yaml *node, struct writ_threshold_step *ret,
    struct writ_rational *ret_share)
{
    struct writ_raw_step raw = {0};

    writ_option_read(o, WRIT_SECTION_step, node, &raw);
    if (raw.at_least == NULL || raw.share == NULL ||
        !writ_value_read_number(o, raw.at_least, &ret->at_least)) {
        return false; /* with a finding */
    }
    if (raw.share->type != WRIT_YAML_SCALAR || !is_threshold(raw.share->text, ret_share)) {
        WRIT_OPTION_FAULT(o, raw.share, THRESHOLD_FAULT);
        return false;
    }
    ret->share = raw.share->text;
    return true;
}

static void
read_steps(struct writ_options *o, const struct writ_yaml *list, struct writ_review_config *ret)
{
    struct writ_threshold_step *steps;
    struct writ_rational share, highest = {0, 1};
    size_t n = 0;

    if (list->type != WRIT_YAML_LIST || list->count == 0 || list->count > WRIT_SHARES_STEPS_MAX) {
        WRIT_OPTION_FAULT(o, list, "must be a list of 1 to %d steps", WRIT_SHARES_STEPS_MAX);
        return;
    }
    steps = writ_option_memory(o, list->count, sizeof *steps);
    WRIT_YAML_EACH(element, steps != NULL ? list : NULL)
    {
        if (!read_step(o, element, &steps[n], &share)) {
            return;
        }
        if (n > 0 && writ_decimal_compare(&steps[n - 1].at_least, &steps[n].at_least) >= 0) {
            WRIT_OPTION_FAULT(o, element, "at_least: must be above that of the step before");
        }
        if (n == 0 || writ_rational_compare(share.numerator, share.denominator, highest) > 0) {
            highest = share;
            ret->threshold = steps[n].share;
        }
        n++;
    }
    ret->steps = steps;
    ret->steps_n = n;
}

void
writ_shares_threshold(struct writ_options *o, const struct writ_yaml *place,
    const struct writ_yaml *node, struct writ_review_config *ret)
{
    struct writ_raw_threshold raw = {0};
    struct writ_rational share;

    ret->threshold = WRIT_LIT("2/3");
    if (node == NULL) {
        return;
    }
    if (node->type == WRIT_YAML_MAP) {
        writ_option_read(o, WRIT_SECTION_threshold, node, &raw);
        if (raw.by.len > 0 && raw.steps != NULL &&
            writ_compile_arg(o, node, raw.by, &ret->by_tokens)) {
            ret->by = raw.by;
            read_steps(o, raw.steps, ret);
        }
        return;
    }
    if (node->type != WRIT_YAML_SCALAR || !is_threshold(node->text, &share)) {
        WRIT_OPTION_FAULT(o, place, "threshold: " THRESHOLD_FAULT);
        return;
    }
    ret->threshold = node->text;
}
