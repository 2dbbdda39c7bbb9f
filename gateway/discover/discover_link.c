/* discover_link.c - what both transports of a discovery need: the loop that runs for one answer,
 * the name of the server in errors, and the question whether a message is the answer. */
#include "gateway/discover/discover_link.h"

#include "base/text.h"
#include "gateway/mcp/mcp.h"

#define NAME_MAX 60 /* bytes of a name in an error */

static void
is_late(struct writ_timer *timer)
{
    struct writ_discover_link *link = timer->ctx;

    link->late = true;
    writ_loop_stop(link->loop);
}

/* `"files" (npx)`, or the URL without its query, which may be a secret; arguments may be one too.
 */
static void
put_label(struct writ_buf *label, const struct writ_upstream_config *server)
{
    struct writ_view what =
        server->kind == WRIT_UPSTREAM_STDIO ? server->stdio.items[0] : server->http;

    what = writ_view_sub(what, 0, writ_view_find(what, '?'));
    if (server->name.len > 0) {
        writ_buf_byte(label, '"');
        writ_text_safe(label, server->name, NAME_MAX);
        writ_buf_str(label, "\" (");
    }
    writ_text_safe(label, what, NAME_MAX);
    writ_buf_str(label, server->name.len > 0 ? ")" : "");
}

void
writ_discover_link_init(struct writ_discover_link *ret, const struct writ_discover_link_ops *ops,
    const struct writ_upstream_config *server, struct writ_loop *loop, int64_t ends_us)
{
    writ_auto_buf label = writ_buf_make(8 * WRIT_DISCOVER_LABEL_MAX);
    struct writ_view text;

    put_label(&label, server);
    text = writ_view_sub(writ_buf_view(&label), 0, WRIT_DISCOVER_LABEL_MAX - 1);
    ret->ops = ops;
    ret->server = server;
    ret->loop = loop;
    ret->ends_us = ends_us;
    ret->timer = (struct writ_timer){.fn = is_late, .ctx = ret};
    (void)writ_view_place(text, ret->label);
    ret->label[text.len] = '\0';
}

writ_result
writ_discover_link_run(struct writ_discover_link *link, int64_t within_us, struct writ_err *err)
{
    int64_t until_us = link->ends_us;
    writ_result r;

    link->late = link->done = false;
    if (within_us > 0 && writ_loop_now_us(link->loop) + within_us < until_us) {
        until_us = writ_loop_now_us(link->loop) + within_us;
    }
    writ_loop_timer_set(link->loop, &link->timer, until_us);
    r = writ_loop_run(link->loop, err);
    writ_loop_timer_cancel(&link->timer);
    return r;
}

void
writ_discover_link_wake(struct writ_discover_link *link)
{
    link->done = true;
    writ_loop_stop(link->loop);
}

/* An error may have no id: of a request that the server could not read (JSON-RPC 2.0, 5). */
bool
writ_discover_link_is_answer(struct writ_view text, int64_t id)
{
    writ_auto_arena arena = writ_arena_new(64 * text.len + 65536);
    const struct writ_json *message, *named;
    int64_t answered;

    if (arena == NULL || !writ_is_ok(writ_mcp_parse(text, arena, &message)) ||
        writ_json_get(message, WRIT_LIT("method")) != NULL) {
        return false;
    }
    named = writ_json_get(message, WRIT_LIT("id"));
    if (writ_json_type(named) == WRIT_JSON_NONE || writ_json_type(named) == WRIT_JSON_NULL) {
        return writ_json_type(writ_json_get(message, WRIT_LIT("error"))) == WRIT_JSON_OBJECT;
    }
    return writ_is_ok(writ_json_integer(named, INT64_MIN, INT64_MAX, &answered)) && answered == id;
}
