/* event_id.c - ';' separates the parts of a merged id. Each id is escaped when it is added and
 * unescaped when it is found, so an upstream gets its own id back byte for byte. */
#include "gateway/mcp/event_id.h"

#define MERGED '*'
#define NEXT   ';'
#define ESCAPE '%'

void
writ_event_id_put(struct writ_buf *buf, struct writ_view upstream, struct writ_view id)
{
    writ_buf_put(buf, upstream);
    writ_buf_byte(buf, '/');
    writ_buf_put(buf, id);
}

void
writ_event_id_add(struct writ_buf *buf, struct writ_view upstream, struct writ_view id)
{
    writ_buf_byte(buf, buf->len == 0 ? MERGED : NEXT);
    writ_buf_put(buf, upstream);
    writ_buf_byte(buf, '/');
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] == NEXT) {
            writ_buf_str(buf, "%3B");
        } else if (id.ptr[i] == ESCAPE) {
            writ_buf_str(buf, "%25");
        } else {
            writ_buf_byte(buf, id.ptr[i]);
        }
    }
}

bool
writ_event_id_is_merged(struct writ_view place)
{
    return place.len > 0 && place.ptr[0] == MERGED;
}

struct writ_view
writ_event_id_upstream(struct writ_view place, struct writ_view *ret_id)
{
    size_t slash = writ_view_find(place, '/');

    if (slash == place.len || writ_event_id_is_merged(place)) {
        return (struct writ_view){NULL, 0};
    }
    *ret_id = writ_view_sub(place, slash + 1, place.len);
    return writ_view_sub(place, 0, slash);
}

static void
put_unescaped(struct writ_buf *ret, struct writ_view id)
{
    for (size_t i = 0; i < id.len; i++) {
        struct writ_view escape = writ_view_sub(id, i, 3);
        if (writ_view_is(escape, "%3B") || writ_view_is(escape, "%25")) {
            writ_buf_byte(ret, writ_view_is(escape, "%25") ? ESCAPE : NEXT);
            i += 2;
        } else {
            writ_buf_byte(ret, id.ptr[i]);
        }
    }
}

bool
writ_event_id_find(struct writ_view place, struct writ_view upstream, struct writ_buf *ret)
{
    struct writ_view rest = writ_view_sub(place, 1, place.len);

    while (writ_event_id_is_merged(place) && rest.len > 0) {
        size_t end = writ_view_find(rest, NEXT);
        struct writ_view part = writ_view_sub(rest, 0, end), id = {NULL, 0};
        if (writ_view_equal(writ_event_id_upstream(part, &id), upstream) && upstream.len > 0) {
            put_unescaped(ret, id);
            return true;
        }
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    return false;
}
