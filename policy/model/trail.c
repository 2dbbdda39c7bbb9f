/* A pointer is built from the leaf's chain of steps on the stack, only when a refusal has to name
 * the place. */
#include "policy/model/trail.h"

void
writ_trail_token(struct writ_view token, struct writ_buf *ret)
{
    for (size_t i = 0; i < token.len; i++) { /* RFC 6901 3 */
        if (token.ptr[i] == '~') {
            writ_buf_str(ret, "~0");
        } else if (token.ptr[i] == '/') {
            writ_buf_str(ret, "~1");
        } else {
            writ_buf_byte(ret, token.ptr[i]);
        }
    }
}

void
writ_trail_put(const struct writ_trail *trail, struct writ_buf *ret)
{
    if (trail->up != NULL) {
        writ_trail_put(trail->up, ret);
        writ_buf_byte(ret, '/');
        if (trail->name.ptr != NULL) {
            writ_trail_token(trail->name, ret);
        } else {
            writ_buf_u64(ret, trail->index);
        }
    }
}

struct writ_view
writ_trail_keep(const struct writ_buf *pointer, struct writ_arena *arena)
{
    struct writ_view text = writ_buf_view(pointer);

    if (!writ_is_ok(writ_buf_check(pointer, NULL))) {
        return writ_view(NULL, 0);
    }
    while (text.len > WRIT_TRAIL_MAX) {
        do {
            text.len--;
        } while (text.ptr[text.len] != '/');
    }
    return writ_view_copy(text, arena);
}
