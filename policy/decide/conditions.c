/* Lists the conditions of an approval as canonical JSON, hints first, then constraints in the order
 * of the file. The text says whether each holds, never the value of an argument. */
#include "policy/decide/conditions.h"

#include "evidence/json/write.h"
#include "policy/decide/evaluate.h"
#include "policy/model/constraint.h"

#define CONDITIONS_MAX (1 << 20) /* bytes of all of them */

static void
put_one(struct writ_write *w, struct writ_view name, struct writ_view wants, bool holds)
{
    writ_write_object_begin(w);
    writ_write_text(w, "condition", name);
    writ_write_text(w, "found", holds ? WRIT_LIT("holds") : WRIT_LIT("cannot be told"));
    writ_write_text(w, "wants", wants);
    writ_write_object_end(w);
}

static void
put_hints(struct writ_write *w, const struct writ_approval *approval, bool known)
{
    for (unsigned bit = WRIT_HINT_READ_ONLY; bit <= WRIT_HINT_OPEN_WORLD; bit <<= 1) {
        if ((approval->hints_asked & bit) != 0) {
            put_one(w, writ_approval_hint_name(bit),
                (approval->hints & bit) != 0 ? WRIT_LIT("true") : WRIT_LIT("false"), known);
        }
    }
}

WRIT_RESULT
writ_conditions_make(const struct writ_approval *approval, const unsigned *hints,
    const struct writ_json *arguments, struct writ_view flow, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    const struct writ_constraint_set *when = approval->when;
    struct writ_buf text = writ_buf_in(arena, CONDITIONS_MAX);
    struct writ_write w = writ_write_to(&text);

    flow = flow.len > 2 ? writ_view_sub(flow, 1, flow.len - 2) : writ_view("", 0);
    if (when == NULL && approval->hints_asked == 0 && flow.len == 0) {
        *ret = writ_view("", 0);
        return WRIT_DONE;
    }
    writ_write_array_begin(&w);
    if (flow.len > 0) {
        writ_write_raw(&w, flow); /* the members of an array, with their commas */
    }
    put_hints(&w, approval, hints != NULL);
    for (size_t i = 0; when != NULL && i < when->n; i++) {
        const struct writ_constraint *c = &when->items[i];
        put_one(&w, c->name, c->accepted,
            writ_evaluate_one(when, c, arguments, arena, NULL) == WRIT_HOLDS_YES);
    }
    writ_write_array_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}
