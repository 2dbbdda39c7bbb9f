/* api_request.h - one request under /v1 of the admin listener that waits for the writer of the
 * ledger or for the thread of the lookups, from its caller to its answer.
 *
 *     struct look { struct writ_api_request request; ... };       the first member
 *
 *     struct look *look = writ_api_request_open(x, gateway, sizeof *look, back_on_loop);
 *
 *     if (look != NULL) { writ_api_request_ask(&look->request, work); }
 *
 * Between ask or submit and `back` the request belongs to the other thread, with the arena of its
 * exchange; the loop does not touch it. All functions but writ_api_request_done are for the thread
 * of the loop. */
#ifndef WRIT_GATEWAY_API_REQUEST_H
#define WRIT_GATEWAY_API_REQUEST_H

#include "gateway/admin/review_viewer.h"
#include "gateway/listener/api_answer.h"
#include "gateway/state/ledger_query.h"

/** In the arena of its exchange. */
struct writ_api_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_review_viewer viewer; /* until the answer */
    struct writ_buf body;             /* of the answer; wiped as a secret */
    struct writ_entry entry;          /* for submit */
    struct writ_lookup lookup;
    struct writ_ledger_query *queries; /* that ask uses: those of the gateway */
    struct writ_post post;
    void (*back)(struct writ_api_request *request); /* may change before each ask */
};

/**
 * Makes a request of `size` bytes in the arena of its exchange, zeroed, whose first member is a
 * struct writ_api_request, and authenticates its caller, into `viewer`.
 *
 * @param back  called on the loop, after each submit and each ask
 *
 * NULL: there was no memory, or the caller is unknown, and the exchange was answered.
 */
void *writ_api_request_open(struct writ_exchange *x, struct writ_gateway *gateway, size_t size,
    void (*back)(struct writ_api_request *request));

/** As writ_api_request_open for everybody: `viewer` has the present generation and no agent. */
void *writ_api_request_open_public(struct writ_exchange *x, struct writ_gateway *gateway,
    size_t size, void (*back)(struct writ_api_request *request));

/** Submits `entry` to the writer of the ledger. */
void writ_api_request_submit(struct writ_api_request *request);

/** Calls `work` on the thread of the lookups; lookup->ctx is the request. It ends with
 * writ_api_request_done. Answers with 503 when too many wait. */
void writ_api_request_ask(struct writ_api_request *request,
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader));

/** As writ_api_request_ask. WRIT_E_LIMIT: too many wait, and nothing was answered. */
WRIT_RESULT writ_api_request_try(struct writ_api_request *request,
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader));

/** From `work`: the loop calls `back`. */
void writ_api_request_done(struct writ_api_request *request);

/** Answers with a problem. Both end the request, and the arena that it is in. */
void writ_api_request_refuse(
    struct writ_api_request *request, unsigned status, enum writ_reason reason);
/** Answers with `body`, status 200. */
void writ_api_request_reply(struct writ_api_request *request);

#endif
