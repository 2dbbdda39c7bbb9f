/* trail.h - the place of a value in the arguments of a call, as a JSON Pointer (RFC 6901). */
#ifndef WRIT_POLICY_TRAIL_H
#define WRIT_POLICY_TRAIL_H

#include "base/bytes.h"

#define WRIT_TRAIL_MAX      512       /* bytes of a pointer that a refusal names */
#define WRIT_TRAIL_TEXT_MAX (1 << 20) /* bytes of any pointer: a name of each level of JSON */

/** One step down to a value; the first one, without `up`, is the arguments themselves. */
struct writ_trail {
    const struct writ_trail *up;
    struct writ_view name; /* of a member; ptr NULL: an element */
    size_t index;
};

/** Appends the pointer, whole. */
void writ_trail_put(const struct writ_trail *trail, struct writ_buf *ret);

/** Appends one token of a JSON Pointer, escaped, without the slash before it. */
void writ_trail_token(struct writ_view token, struct writ_buf *ret);

/** A copy of the pointer in the arena. When it is longer than WRIT_TRAIL_MAX, the pointer of the
 * nearest value around it that is short enough. {NULL, 0} without memory. */
struct writ_view writ_trail_keep(const struct writ_buf *pointer, struct writ_arena *arena);

#endif
