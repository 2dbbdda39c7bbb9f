/* texts.h - every text of a tool's result, with its place. Pure.
 *
 * The texts are those of `structuredContent`; else of the JSON in the result's only text; else of
 * `content`, whose places begin with /content; else of the whole. Member names are no texts; a
 * number is one. */
#ifndef WRIT_POLICY_TEXTS_H
#define WRIT_POLICY_TEXTS_H

#include "evidence/flow/fields.h"
#include "evidence/json/json.h"

#define WRIT_TEXTS_DEPTH_MAX 64 /* what is nested deeper is left out */

/** Where a text stands. Borrowed until the function returns. */
struct writ_texts_place {
    const struct writ_view *path; /* tokens of a JSON Pointer, escaped; "*" for an index */
    size_t depth;
    struct writ_view at; /* the pointer itself; the characters of its first WRIT_FIELDS_AT_MAX
                            bytes, as records have it */
};

/** Takes one text; borrowed from the result and the arena. */
typedef void writ_texts_fn(void *ctx, const struct writ_texts_place *place, struct writ_view text);

/** Calls `each` for the texts of a result, in their order. False: some are nested deeper than is
 * looked, and were left out. */
bool writ_texts_each(
    const struct writ_json *result, struct writ_arena *arena, writ_texts_fn *each, void *ctx);

#endif
