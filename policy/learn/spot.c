/* Walks the arguments of a call and the tree of spots side by side. A spot that cannot be held
 * within the limits becomes open once and for all: what is inside it is not kept any more. */
#include "policy/learn/spot.h"

#include "policy/decide/value.h"

struct writ_spot *
writ_spot_new(struct writ_spots *spots, struct writ_spot *up, struct writ_view name, bool element)
{
    struct writ_spot *spot = writ_arena_get(spots->arena, sizeof *spot);
    struct writ_view kept = name.ptr != NULL ? writ_view_copy(name, spots->arena) : name;

    if (spot == NULL || (name.ptr != NULL && kept.ptr == NULL)) {
        return NULL;
    }
    *spot = (struct writ_spot){.name = kept,
        .up = up,
        .depth = up != NULL ? up->depth + 1 : 0,
        .each = (up != NULL ? up->each : 0) + (element ? 1 : 0),
        .values = {.most = WRIT_SPOT_VALUES_MAX, .text_max = WRIT_SPOT_TEXT_MAX},
        .least = {.low = true}};
    spots->n++;
    if (up != NULL && element) {
        up->element = spot;
    } else if (up != NULL) {
        *(up->last != NULL ? &up->last->next : &up->first) = spot;
        up->last = spot;
        up->members++;
    }
    return spot;
}

static void
open_up(struct writ_spot *spot, const char *why)
{
    spot->open = why;
    spot->first = spot->last = spot->element = NULL;
}

/* ---- values of each type */

static writ_result
add_number(struct writ_spot *spot, const struct writ_json *value, struct writ_seen_in *in)
{
    writ_auto_buf text = writ_buf_make(WRIT_DECIMAL_PUT_MAX);
    struct writ_decimal number;

    if (!writ_is_ok(writ_value_amount(value, &number))) {
        open_up(spot, "a number has more digits than a constraint can compare");
        return WRIT_DONE;
    }
    spot->fraction = spot->fraction || number.exponent < 0;
    writ_decimal_put(&text, &number);
    WRIT_TRY(writ_buf_check(&text, NULL));
    WRIT_TRY(writ_seen_add(&spot->values, writ_buf_view(&text), WRIT_JSON_NUMBER, in, NULL));
    WRIT_TRY(writ_extreme_add(&spot->least, &number, in));
    return writ_extreme_add(&spot->greatest, &number, in);
}

static writ_result
add_string(struct writ_spots *spots, struct writ_spot *spot, const struct writ_json *value,
    struct writ_seen_in *in)
{
    struct writ_view text = writ_json_string(value);

    WRIT_TRY(writ_seen_add(&spot->values, text, WRIT_JSON_STRING, in, NULL));
    WRIT_TRY(writ_places_add(&spot->places, text, in));
    return writ_texts_add(&spot->texts, spots->forms, text, in, spots->scratch);
}

static writ_result
add_array(struct writ_spots *spots, struct writ_spot *spot, const struct writ_json *value,
    struct writ_seen_in *in)
{
    struct writ_decimal items = writ_decimal_of(value->count);

    WRIT_TRY(writ_extreme_add(&spot->longest, &items, in));
    WRIT_JSON_EACH(child, value)
    {
        if (spot->element == NULL) {
            if (spot->depth == WRIT_SPOT_DEPTH_MAX || spot->each == WRIT_SPOT_EACH_MAX ||
                spots->n == WRIT_SPOTS_MAX) {
                open_up(spot, "lists are nested more deeply than a constraint can say");
                return WRIT_DONE;
            }
            if (writ_spot_new(spots, spot, writ_view(NULL, 0), true) == NULL) {
                return (writ_result){WRIT_E_NOMEM};
            }
        }
        WRIT_TRY(writ_spot_add(spots, spot->element, child, in));
    }
    return WRIT_DONE;
}

static struct writ_spot *
member_of(const struct writ_spot *spot, struct writ_view name)
{
    struct writ_spot *member = spot->first;

    while (member != NULL && !writ_view_equal(member->name, name)) {
        member = member->next;
    }
    return member;
}

/* Control characters: a configuration has none in names. */
static bool
is_nameable(struct writ_view name)
{
    for (size_t i = 0; i < name.len; i++) {
        if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f) {
            return false;
        }
    }
    return true;
}

static writ_result
add_object(struct writ_spots *spots, struct writ_spot *spot, const struct writ_json *value,
    struct writ_seen_in *in)
{
    spot->objects++;
    spot->empty_object = spot->empty_object || writ_json_first(value) == NULL;
    WRIT_JSON_EACH(name, value)
    {
        struct writ_spot *member = member_of(spot, writ_json_string(name));

        if (member == NULL && (spot->depth == WRIT_SPOT_DEPTH_MAX || spots->n == WRIT_SPOTS_MAX ||
                                  spot->members == WRIT_SPOT_MEMBERS_MAX)) {
            open_up(spot, "it has more different members than a rule can name");
            return WRIT_DONE;
        }
        if (member == NULL && !is_nameable(writ_json_string(name))) {
            open_up(spot, "the name of a member has a control character");
            return WRIT_DONE;
        }
        if (member == NULL) {
            member = writ_spot_new(spots, spot, writ_json_string(name), false);
        }
        if (member == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        WRIT_TRY(writ_spot_add(spots, member, writ_json_value(name), in));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_spot_add(struct writ_spots *spots, struct writ_spot *spot, const struct writ_json *value,
    struct writ_seen_in *in)
{
    spot->found++;
    WRIT_TRY(writ_seen_sight(&spot->seen, in));
    if (spot->open != NULL) {
        return WRIT_DONE;
    }
    switch (writ_json_type(value)) {
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
        spot->types |= WRIT_SPOT_NULL;
        return WRIT_DONE;
    case WRIT_JSON_FALSE:
        spot->types |= WRIT_SPOT_BOOLEAN;
        return writ_seen_add(&spot->values, WRIT_LIT("false"), WRIT_JSON_FALSE, in, NULL);
    case WRIT_JSON_TRUE:
        spot->types |= WRIT_SPOT_BOOLEAN;
        return writ_seen_add(&spot->values, WRIT_LIT("true"), WRIT_JSON_TRUE, in, NULL);
    case WRIT_JSON_NUMBER:
        spot->types |= WRIT_SPOT_NUMBER;
        return add_number(spot, value, in);
    case WRIT_JSON_STRING:
        spot->types |= WRIT_SPOT_STRING;
        return add_string(spots, spot, value, in);
    case WRIT_JSON_ARRAY:
        spot->types |= WRIT_SPOT_ARRAY;
        return add_array(spots, spot, value, in);
    case WRIT_JSON_OBJECT:
        spot->types |= WRIT_SPOT_OBJECT;
        return add_object(spots, spot, value, in);
    }
    return WRIT_DONE;
}
