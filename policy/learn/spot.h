/* spot.h - one place in the arguments of a tool, with all that was seen there. The spots of a tool
 * are a tree: members of objects by name, and one spot for all elements of a list.
 *
 * Memory is bounded for each tool: beyond WRIT_SPOTS_MAX places, WRIT_SPOT_MEMBERS_MAX names of one
 * object or WRIT_SPOT_DEPTH_MAX levels the value around them is `open`, which the proposal says. */
#ifndef WRIT_POLICY_SPOT_H
#define WRIT_POLICY_SPOT_H

#include "policy/learn/places.h"
#include "policy/learn/texts.h"

#define WRIT_SPOTS_MAX        512  /* of one tool */
#define WRIT_SPOT_MEMBERS_MAX 48   /* of one object */
#define WRIT_SPOT_DEPTH_MAX   12   /* objects and lists inside each other */
#define WRIT_SPOT_EACH_MAX    4    /* lists inside each other (WRIT_CONSTRAINT_DEPTH_MAX) */
#define WRIT_SPOT_VALUES_MAX  1024 /* distinct values that are kept */
#define WRIT_SPOT_TEXT_MAX    160  /* bytes of a value that a list of values may have */

/** Types of values, as bits. */
enum writ_spot_type {
    WRIT_SPOT_NULL = 1,
    WRIT_SPOT_BOOLEAN = 2,
    WRIT_SPOT_NUMBER = 4,
    WRIT_SPOT_STRING = 8,
    WRIT_SPOT_ARRAY = 16,
    WRIT_SPOT_OBJECT = 32,
};

struct writ_spot {
    struct writ_view name; /* of a member; ptr NULL: the arguments, or the elements of a list */
    struct writ_spot *up, *first, *last, *next; /* members of an object */
    struct writ_spot *element;                  /* of a list */
    size_t members, depth, each;
    uint64_t found;            /* values here, in all */
    uint64_t objects;          /* of them objects */
    struct writ_sighting seen; /* calls with a value here */
    unsigned types;            /* enum writ_spot_type */
    bool empty_object;
    const char *open; /* why no constraint can say what was seen; NULL: one can */
    bool fraction;    /* some number is not an integer */
    struct writ_seen values;
    struct writ_extreme least, greatest; /* numbers */
    struct writ_extreme longest;         /* lists */
    struct writ_texts texts;
    struct writ_places places;
};

/** What all spots of a tool share. */
struct writ_spots {
    struct writ_arena *arena;   /* of the spots */
    struct writ_arena *scratch; /* of one call */
    const struct writ_text_forms *forms;
    size_t n;
};

/** A new spot below `up` (NULL: the arguments). NULL without memory. */
struct writ_spot *writ_spot_new(
    struct writ_spots *spots, struct writ_spot *up, struct writ_view name, bool element);

/** Takes one value, with all that is inside it. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_spot_add(struct writ_spots *spots, struct writ_spot *spot,
    const struct writ_json *value, struct writ_seen_in *in);

#endif
