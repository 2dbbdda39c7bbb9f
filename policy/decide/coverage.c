/* Walks the arguments and the tree of places that constraints name side by side. A leaf is covered
 * when a place names it, or names a value around it as a whole. Anything that cannot be decided
 * within the limits is not covered. */
#include "policy/decide/coverage.h"

#include "base/text.h"
#include "policy/model/trail.h"

/* The places that name one value; too many count as none, which refuses. */
struct cover {
    const struct writ_constraint_place *places[WRIT_CONSTRAINT_COVER_MAX];
    size_t n;
};

static void
cover_add(struct cover *cover, const struct writ_constraint_place *place)
{
    if (cover->n < WRIT_CONSTRAINT_COVER_MAX) {
        cover->places[cover->n++] = place;
    }
}

static void
cover_child(struct cover *ret, const struct writ_constraint_place *place, struct writ_view token)
{
    for (const struct writ_constraint_place *child = place->children; child != NULL;
         child = child->next) {
        if (writ_view_equal(child->token, token)) {
            cover_add(ret, child);
            return;
        }
    }
}

static void
cover_element(struct cover *ret, const struct writ_constraint_place *place, size_t index)
{
    uint64_t number;

    for (const struct writ_constraint_place *child = place->children; child != NULL;
         child = child->next) {
        if (writ_is_ok(writ_text_u64(child->token, 0, UINT32_MAX, &number)) && number == index) {
            cover_add(ret, child);
        }
    }
    for (size_t i = 0; i < place->each_n; i++) {
        cover_add(ret, &place->each[i]->root);
    }
}

static bool
any_whole(const struct cover *cover)
{
    for (size_t i = 0; i < cover->n; i++) {
        if (cover->places[i]->whole) {
            return true;
        }
    }
    return false;
}

static bool
any_named(const struct cover *cover)
{
    for (size_t i = 0; i < cover->n; i++) {
        if (cover->places[i]->named) {
            return true;
        }
    }
    return false;
}

static bool covers(const struct cover *cover, const struct writ_json *value,
    const struct writ_trail *trail, struct writ_buf *unlisted);

static bool
covers_children(const struct cover *cover, const struct writ_json *value,
    const struct writ_trail *trail, struct writ_buf *unlisted)
{
    bool array = writ_json_type(value) == WRIT_JSON_ARRAY;
    struct writ_trail step = {.up = trail};

    for (const struct writ_json *child = writ_json_first(value); child != NULL;
         child = writ_json_next(value, child)) {
        struct cover below = {.n = 0};
        step.name = writ_json_string(array ? NULL : child);
        for (size_t i = 0; i < cover->n; i++) {
            if (array) {
                cover_element(&below, cover->places[i], step.index);
            } else {
                cover_child(&below, cover->places[i], step.name);
            }
        }
        if (!covers(&below, array ? child : writ_json_value(child), &step, unlisted)) {
            return false;
        }
        step.index++;
    }
    return true;
}

static bool
covers(const struct cover *cover, const struct writ_json *value, const struct writ_trail *trail,
    struct writ_buf *unlisted)
{
    bool leaf = writ_json_first(value) == NULL;
    bool hopeless = cover->n == 0; /* nothing names the values inside either */

    if (any_whole(cover)) {
        return true;
    }
    if (!leaf && !hopeless) {
        return covers_children(cover, value, trail, unlisted);
    }
    if (leaf && any_named(cover)) {
        return true;
    }
    if (unlisted != NULL) {
        writ_trail_put(trail, unlisted);
    }
    return false;
}

bool
writ_coverage_holds(
    const struct writ_constraint_set *set, const struct writ_json *value, struct writ_buf *unlisted)
{
    struct cover cover = {.places = {&set->root}, .n = 1};
    struct writ_trail trail = {.up = NULL};

    return covers(&cover, value, &trail, unlisted);
}
