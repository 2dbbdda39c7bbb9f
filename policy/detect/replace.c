/* replace.c - see detect.h. Finds may overlap and repeat: the text is covered by counting, at each
 * byte, how many begin there and how many have ended. */
#include "base/alloc.h"
#include "policy/detect/detect.h"

struct covering {
    const struct writ_detector_set *set;
    int32_t *steps; /* text.len + 1: finds that begin here less those that end */
    bool *used;
    size_t finds;
};

static size_t
index_of(const struct writ_detector_set *set, const struct writ_detector *detector)
{
    size_t i = 0;

    while (i < WRIT_DETECTOR_COUNT && writ_detector_builtin(i) != detector) {
        i++;
    }
    return i < WRIT_DETECTOR_COUNT ? i : i + (size_t)(detector - set->own->items);
}

static bool
cover(void *ctx, const struct writ_detection *found)
{
    struct covering *c = ctx;

    c->steps[found->offset]++;
    c->steps[found->offset + found->length]--;
    c->used[index_of(c->set, found->detector)] = true;
    return ++c->finds < INT32_MAX;
}

/* False: the budget of replacements is spent. */
static bool
put(const int32_t *steps, struct writ_view text, struct writ_view with,
    struct writ_pattern_budget *budget, struct writ_buf *ret)
{
    int32_t depth = 0;

    for (size_t i = 0; i < text.len; i++) {
        int32_t before = depth;
        depth += steps[i];
        if (depth == 0) {
            writ_buf_byte(ret, text.ptr[i]);
        } else if (before == 0) {
            if (budget->matches == 0) {
                return false;
            }
            budget->matches--;
            writ_buf_put(ret, with);
        }
    }
    return true;
}

enum writ_pattern_answer
writ_detect_replace(const struct writ_detector_set *set, struct writ_view text,
    struct writ_view member, struct writ_view with, struct writ_pattern_budget *budget, bool *used,
    struct writ_buf *ret)
{
    struct covering c = {.set = set, .used = used};
    enum writ_pattern_answer answer = WRIT_PATTERN_LIMIT;

    if (text.len >= WRIT_PATTERN_FIND_MAX) {
        return WRIT_PATTERN_LIMIT;
    }
    c.steps = writ_alloc((text.len + 1) * sizeof *c.steps);
    if (c.steps == NULL) {
        return WRIT_PATTERN_LIMIT;
    }
    for (size_t i = 0; i <= text.len; i++) {
        c.steps[i] = 0;
    }
    if (writ_is_ok(writ_detect_text(set, text, member, budget, cover, &c)) && c.finds < INT32_MAX &&
        put(c.steps, text, with, budget, ret) && writ_is_ok(writ_buf_check(ret, NULL))) {
        answer = c.finds > 0 ? WRIT_PATTERN_YES : WRIT_PATTERN_NO;
    }
    writ_free(c.steps);
    return answer;
}
