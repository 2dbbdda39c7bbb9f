/* api_view.h - a request under /v1 of the admin listener whose answer is one JSON value, written on
 * the thread of the lookups.
 *
 *     struct look { struct writ_api_view view; ... };       the first member
 *
 *     struct look *look = writ_api_view_open(x, gateway, sizeof *look, tell);
 *
 *     if (look != NULL && writ_api_view_may_oversee(&look->view)) {
 *         writ_api_view_ask(&look->view);
 *     }
 *
 * All functions are for the thread of the loop. */
#ifndef WRIT_GATEWAY_API_VIEW_H
#define WRIT_GATEWAY_API_VIEW_H

#include "evidence/json/write.h"
#include "gateway/admin/api_request.h"

struct writ_api_view;

/** Writes the answer to `view->w`, on the thread of the lookups. The arena ends with the call. */
typedef writ_result writ_api_view_tell(
    struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena);

/** In the arena of its exchange. */
struct writ_api_view {
    struct writ_api_request request;
    writ_api_view_tell *tell;
    bool without_ledger; /* `tell` may be called with no reader, when the ledger cannot be read */
    int64_t now_us;      /* wall time at which it was opened */
    struct writ_write w;
    writ_result result;      /* of `tell` */
    enum writ_reason reason; /* of its failure, where `tell` sets one */
};

/** As writ_api_request_open, for a struct whose first member is a struct writ_api_view. */
void *writ_api_view_open(
    struct writ_exchange *x, struct writ_gateway *gateway, size_t size, writ_api_view_tell *tell);

/** True for an auditor or an administrator. False: the caller was refused. */
bool writ_api_view_may_oversee(struct writ_api_view *view);

/**
 * Calls `tell`, and answers with the value that it wrote. When the ledger cannot be read,
 * `tell` is called only for a view `without_ledger`.
 *
 * WRIT_E_NOMEM and WRIT_E_LIMIT of `tell` answer `overloaded`, WRIT_E_ABSENT `path_unknown`,
 * WRIT_E_MISMATCH `definition_changed`, every other failure `ledger_unavailable`; any failure with
 * a `reason` answers that, with status 409.
 */
void writ_api_view_ask(struct writ_api_view *view);

#endif
