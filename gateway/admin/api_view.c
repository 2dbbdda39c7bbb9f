/* Between ask and back_on_loop a view belongs to the thread of the lookups, with the arena of its
 * exchange. */
#include "gateway/admin/api_view.h"

#include "gateway/admin/ledger_viewer.h"

#define ARENA_MAX ((size_t)64 << 20)

static void
back_on_loop(struct writ_api_request *request)
{
    const struct writ_api_view *view = (const struct writ_api_view *)(const void *)request;

    if (!writ_is_ok(view->result) && view->reason != WRIT_REASON_NONE) {
        writ_api_request_refuse(request, 409, view->reason);
        return;
    }
    switch (view->result.code) {
    case WRIT_OK:
        writ_api_request_reply(request);
        return;
    case WRIT_E_NOMEM:
    case WRIT_E_LIMIT:
        writ_api_request_refuse(request, 503, WRIT_REASON_OVERLOADED);
        return;
    case WRIT_E_ABSENT:
        writ_api_request_refuse(request, 404, WRIT_REASON_PATH_UNKNOWN);
        return;
    case WRIT_E_MISMATCH:
        writ_api_request_refuse(request, 409, WRIT_REASON_DEFINITION_CHANGED);
        return;
    case WRIT_E_UNSET:
    case WRIT_E_INVALID:
    case WRIT_E_PARSE:
    case WRIT_E_IO:
    case WRIT_E_BUSY:
    case WRIT_E_CRYPTO:
        writ_api_request_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
}

static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    if (reader == NULL && !view->without_ledger) {
        return (writ_result){WRIT_E_IO};
    }
    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    view->w = writ_write_to(&view->request.body);
    WRIT_TRY(view->tell(view, reader, arena));
    return writ_write_end(&view->w, NULL);
}

static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct writ_api_view *view = lookup->ctx;
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);

    view->result = tell(view, reader, arena);
    writ_arena_free(arena);
    writ_api_request_done(&view->request);
}

void *
writ_api_view_open(struct writ_exchange *x, struct writ_gateway *gateway, size_t size,
    writ_api_view_tell *tell_view)
{
    struct writ_api_view *view = writ_api_request_open(x, gateway, size, back_on_loop);

    if (view != NULL) {
        view->tell = tell_view;
        view->now_us = writ_clock_wall_us(gateway->clock);
    }
    return view;
}

bool
writ_api_view_may_oversee(struct writ_api_view *view)
{
    bool may = writ_ledger_viewer_reads_policy(&view->request.viewer);

    if (!may) {
        writ_api_request_refuse(&view->request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    }
    return may;
}

void
writ_api_view_ask(struct writ_api_view *view)
{
    writ_api_request_ask(&view->request, work);
}
