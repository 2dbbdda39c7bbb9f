/* trail.h - where a value stands in the arguments of a call, as a JSON Pointer (RFC 6901). */
#ifndef WRIT_POLICY_TRAIL_H
#define WRIT_POLICY_TRAIL_H

#include "base/bytes.h"

#define WRIT_TRAIL_MAX 512 /* bytes of a pointer that a refusal names */

/** One step down to a value; the first one, without `up`, is the arguments themselves. */
struct writ_trail {
    const struct writ_trail *up;
    struct writ_view name; /* of a member; ptr NULL: an element */
    size_t index;
};

/** Appends the pointer, whole. */
void writ_trail_put(const struct writ_trail *trail, struct writ_buf *ret);

/** The pointer, or where it is longer than WRIT_TRAIL_MAX that of the nearest value around its
 * place which is not. */
struct writ_view writ_trail_cut(struct writ_view pointer);

#endif
