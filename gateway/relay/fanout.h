/* fanout.h - one message of a client to several upstreams at once, and their answers together.
 *
 * With several upstreams none waits long for another: each has its `list_timeout` to begin its
 * answer and WRIT_UPSTREAM_LIST_TIMES as long in all; then its branch is cancelled, and the answer
 * is made from the others. An upstream that is known to be silent (breaker.h), or that is not part
 * of the client's session, is skipped. One that missed the session's initialize joins it first
 * (late.h), for a request, and has its `list_timeout` for that. The only upstream of an endpoint
 * has its `timeout`.
 *
 * Branches lie in the arena of their request, as its `part`. Used from the request's loop. */
#ifndef WRIT_GATEWAY_FANOUT_H
#define WRIT_GATEWAY_FANOUT_H

#include "gateway/mcp/listed.h"
#include "gateway/request/upcall_request.h"
#include "gateway/state/owners.h"

struct writ_write;

/** Bytes of the combined answers. */
#define WRIT_FANOUT_ANSWER_MAX (64u << 20)

/** A cursor that an upstream was sent for this answer, and those before it. */
struct writ_sent_cursor {
    struct writ_view cursor;
    const struct writ_sent_cursor *before;
};

/** One upstream's part of it. */
struct writ_branch {
    struct writ_request *request;
    struct writ_upstream *upstream;
    struct writ_upcall upcall;
    struct writ_late_wait late; /* before the upcall: it joins the session */
    struct writ_view body;      /* the body that is sent then */
    bool own;                   /* it is the gateway's own message: */
    struct writ_mcp_message message;
    struct writ_header *headers;      /* WRIT_UPCALL_HEADERS_MAX, or NULL before it is sent */
    struct writ_upcall_answer answer; /* its views are copies in the request's arena */
    const struct writ_json *response; /* the parsed message, or NULL: none, or none that is JSON */
    struct writ_buf items;            /* lists: the items of this upstream, as JSON,
                                         comma-separated */
    struct writ_listed listed;        /* lists of tools: which items those are */
    size_t items_n, pages;
    size_t hidden;                /* lists: characters that were left out */
    struct writ_timer timer;      /* several: the deadline of the branch */
    int64_t since_us, due_us;     /* when it was first asked; when it must have ended */
    bool asking;                  /* an answer is awaited, or has arrived and was not processed */
    bool cut;                     /* it was cancelled */
    bool rejoined;                /* its upstream had forgotten the session */
    bool incomplete;              /* it failed to give its part, or a page of its list */
    bool endless;                 /* because its list repeats a cursor */
    struct writ_catalog *catalog; /* lists of tools: the catalog that is being learned, or NULL */
    uint64_t doubts;              /* when it was requested */
    int64_t asked_us;             /* the same, monotonic */
    int64_t stale_us;             /* when the first of its pages is too old */
    struct writ_view next;        /* lists: where it continues, when one answer is full */
    enum writ_owners_list list;   /* SEEK: the list that was asked for */
    /* lists: the cursor of the last page that was asked for, or NULL */
    const struct writ_sent_cursor *sent;
};

struct writ_fanout {
    struct writ_branch *branches;
    size_t n, open;
    size_t turn; /* the branch whose turn it is, when branches are asked one after the
                    other */
    const struct writ_json *first; /* lists: the first result that came */
    bool lives;                    /* lists: a result stated its lifetime: */
    int64_t ttl_ms;                /* the shortest lifetime; 0 when one did not state it */
    enum writ_step then;           /* when all asked branches have answered or failed */
};

/** Makes a branch for every upstream of the request's endpoint, from the `from`-th on; sends
 * nothing yet. The request continues at `then` each time when all asked branches have answered or
 * failed. NULL: no memory. */
struct writ_fanout *writ_fanout_make(
    struct writ_request *request, size_t from, enum writ_step then);

/** Makes branches for all and sends them `body`; then as writ_fanout_wait. Without memory:
 * refuses. */
enum writ_step writ_fanout_begin(
    struct writ_request *request, struct writ_view body, enum writ_step then);

/** Sends `body` on one branch, for the first time or again (the next page of a list). It lives as
 * long as the request. False: the branch is skipped, and its answer says so. */
bool writ_fanout_ask(struct writ_fanout *fanout, struct writ_branch *branch, struct writ_view body);

/** As writ_fanout_ask, for the gateway's own request in place of the client's: `body` is in the
 * arena of the request. */
bool writ_fanout_ask_own(
    struct writ_fanout *fanout, struct writ_branch *branch, struct writ_view body);

/** WAIT, when branches were asked; the step after them if none could be. */
enum writ_step writ_fanout_wait(struct writ_request *request);

/** Whether a branch has taken so long that it gets no further page. */
bool writ_fanout_is_long(const struct writ_branch *branch);

/** Whether a branch gave neither a result nor the answer that it has none: a JSON-RPC error is such
 * an answer; silence, a broken answer or a failing server is not. */
bool writ_fanout_gave_nothing(const struct writ_branch *branch);

/** Writes the member io.writ/unavailable of an answer's _meta: the upstreams whose branches are
 * incomplete. Nothing when none is. */
void writ_fanout_put_unavailable(struct writ_write *w, const struct writ_fanout *fanout);

/** Whether a branch is incomplete. */
bool writ_fanout_any_incomplete(const struct writ_fanout *fanout);

/** The member `result` of a branch's response, or NULL; borrowed until it is asked again. */
const struct writ_json *writ_fanout_result(const struct writ_branch *branch);

/** Answers with a branch's answer unchanged, but not with one that is not the response to the
 * request (writ_inspect_is_another). As writ_pass_answer. */
enum writ_step writ_fanout_tell(struct writ_request *request, const struct writ_branch *branch);

/** Answers as writ_fanout_tell when no upstream gave a result: with the first error, or with the
 * absence of an answer. As writ_pass_answer. */
enum writ_step writ_fanout_tell_first(struct writ_request *request, struct writ_fanout *fanout);

/** Begins an answer of the gateway, up to its `result`, which the caller writes. */
void writ_fanout_response(const struct writ_request *request, struct writ_write *w);

/** Answers with one JSON message; as a stream, when the endpoint has one upstream and that answered
 * with a stream. `more`: a field of the head, or none. As writ_pass_answer. */
enum writ_step writ_fanout_answer(
    struct writ_request *request, struct writ_buf *body, struct writ_header more);

/** Frees the memory of the branches outside of the arena: before an answer by another function than
 * those above. */
void writ_fanout_wipe(struct writ_request *request);

#endif
