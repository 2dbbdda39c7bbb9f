/* A number is exact when its canonical form has the same value as its text. The walk stops at the
 * first number that is not. */
#include "policy/decide/exact.h"

#include "evidence/json/jcs.h"
#include "policy/model/trail.h"

static bool
is_exact(const struct writ_json *value, const struct writ_trail *trail, struct writ_buf *inexact)
{
    bool array = writ_json_type(value) == WRIT_JSON_ARRAY;
    struct writ_trail step = {.up = trail};

    if (writ_json_type(value) == WRIT_JSON_NUMBER && !writ_jcs_is_exact(value)) {
        if (inexact != NULL) {
            writ_trail_put(trail, inexact);
        }
        return false;
    }
    for (const struct writ_json *child = writ_json_first(value); child != NULL;
         child = writ_json_next(value, child)) {
        step.name = writ_json_string(array ? NULL : child);
        if (!is_exact(array ? child : writ_json_value(child), &step, inexact)) {
            return false;
        }
        step.index++;
    }
    return true;
}

bool
writ_exact_holds(const struct writ_json *value, struct writ_buf *inexact)
{
    const struct writ_trail trail = {.up = NULL};

    return is_exact(value, &trail, inexact);
}
