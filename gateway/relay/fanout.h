/* fanout.h - one message of a client to several upstreams at once, and their answers together.
 *
 * Where there are several, none waits for long for another: each has its `list_timeout` to begin
 * its answer and WRIT_UPSTREAM_LIST_TIMES as long in all; then it is given up, and the answer is
 * made of the others. One that is known to be silent (breaker.h), or that takes no part in the
 * client's session, is not asked. One that missed the session's initialize joins it first (late.h),
 * for a request, and has its `list_timeout` for that. The only upstream of an endpoint has its
 * `timeout`.
 *
 * Legs lie in the arena of their request, as its `part`. Used from the request's loop. */
#ifndef WRIT_GATEWAY_FANOUT_H
#define WRIT_GATEWAY_FANOUT_H

#include "gateway/mcp/listed.h"
#include "gateway/request/upcall_request.h"

struct writ_write;

/** Bytes of what several answers are put together to. */
#define WRIT_FANOUT_ANSWER_MAX (64u << 20)

/** One upstream's part of it. */
struct writ_leg {
    struct writ_request *request;
    struct writ_upstream *upstream;
    struct writ_upcall upcall;
    struct writ_late_wait late; /* before the upcall: it joins the session */
    struct writ_view body;      /* what is sent then */
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_upcall_answer answer; /* its views are copies in the request's arena */
    const struct writ_json *response; /* the parsed message, or NULL: none, or none that is JSON */
    struct writ_buf items;            /* lists: what this upstream has, as JSON, comma-separated */
    struct writ_listed listed;        /* lists of tools: which items those are */
    size_t items_n, pages;
    size_t hidden;                /* lists: characters that were left out */
    struct writ_timer timer;      /* several: until it is given up */
    int64_t since_us, due_us;     /* when it was asked first; when it must have ended */
    bool asking;                  /* an answer is awaited, or has come and was not looked at */
    bool cut;                     /* it was given up */
    bool rejoined;                /* its upstream had forgotten the session */
    bool incomplete;              /* it failed to give its part, or a page of its list */
    struct writ_catalog *catalog; /* lists of tools: what is being learned, or NULL */
    uint64_t doubts;              /* when it was asked for */
    int64_t asked_us;             /* the same, monotonic */
    int64_t stale_us;             /* when the first of its pages is too old */
    struct writ_view next;        /* lists: where it goes on, when this is enough for one answer */
};

struct writ_fanout {
    struct writ_leg *legs;
    size_t n, open;
    size_t turn;                   /* which leg is asked, where one is asked after the other */
    const struct writ_json *first; /* lists: the first result that came */
    bool lives;                    /* lists: a result said how long it is good: */
    int64_t ttl_ms;                /* the shortest of those times; 0 when one did not say */
    enum writ_step then;           /* when all that were asked have answered or failed */
};

/** A leg for every upstream of the request's endpoint, from the `from`-th on; nothing is sent yet.
 * The request goes on at `then` each time when all that were asked have answered or failed. NULL:
 * no memory. */
struct writ_fanout *writ_fanout_make(
    struct writ_request *request, size_t from, enum writ_step then);

/** Makes legs for all and sends them `body`; then as writ_fanout_wait. Refuses without memory. */
enum writ_step writ_fanout_begin(
    struct writ_request *request, struct writ_view body, enum writ_step then);

/** Sends `body` on one leg, for the first time or once more (the next page of a list). It lives as
 * long as the request. False: the leg is not asked, and its answer says so. */
bool writ_fanout_ask(struct writ_fanout *legs, struct writ_leg *leg, struct writ_view body);

/** WAIT, when legs were asked; the step behind them if none of them could be. */
enum writ_step writ_fanout_wait(struct writ_request *request);

/** Whether a leg was asked for so long that no further page is waited for. */
bool writ_fanout_is_long(const struct writ_leg *leg);

/** Whether a leg brought neither a result nor the word that there is none: a JSON-RPC error says
 * that; a silence, a broken answer or a server in trouble does not. */
bool writ_fanout_gave_nothing(const struct writ_leg *leg);

/** Writes the member io.writ/unavailable of an answer's _meta: the upstreams whose legs are
 * incomplete. Nothing when none is. */
void writ_fanout_put_unavailable(struct writ_write *w, const struct writ_fanout *legs);

/** Whether a leg is incomplete. */
bool writ_fanout_any_incomplete(const struct writ_fanout *legs);

/** The member `result` of a leg's response, or NULL; borrowed until the leg is asked again. */
const struct writ_json *writ_fanout_result(const struct writ_leg *leg);

/** Answers with a leg's answer as it is, but not with one that is not the response to the request
 * (writ_inspect_is_another). As writ_pass_answer. */
enum writ_step writ_fanout_tell(struct writ_request *request, const struct writ_leg *leg);

/** No upstream gave what was asked for: answers as writ_fanout_tell with what the first one said,
 * or that there is none. As writ_pass_answer. */
enum writ_step writ_fanout_tell_first(struct writ_request *request, struct writ_fanout *legs);

/** Begins an answer of our own, up to its `result`, which is the caller's to write. */
struct writ_write writ_fanout_response(struct writ_request *request, struct writ_buf *body);

/** Answers with one JSON message; where the endpoint has one upstream, and that answered with a
 * stream, as a stream. `more`: a field of the head, or none. As writ_pass_answer. */
enum writ_step writ_fanout_answer(
    struct writ_request *request, struct writ_buf *body, struct writ_header more);

/** Frees what the legs hold outside of the arena: before an answer that is none of those above. */
void writ_fanout_wipe(struct writ_request *request);

#endif
