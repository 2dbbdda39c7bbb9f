#include "policy/trail.h"

#include "policy/yaml.h"

void
writ_trail_put(const struct writ_trail *trail, struct writ_buf *ret)
{
    if (trail->up != NULL) {
        writ_trail_put(trail->up, ret);
        writ_buf_byte(ret, '/');
        if (trail->name.ptr != NULL) {
            writ_yaml_token(trail->name, ret);
        } else {
            writ_buf_u64(ret, trail->index);
        }
    }
}

struct writ_view
writ_trail_cut(struct writ_view pointer)
{
    while (pointer.len > WRIT_TRAIL_MAX) {
        do {
            pointer.len--;
        } while (pointer.ptr[pointer.len] != '/');
    }
    return pointer;
}
