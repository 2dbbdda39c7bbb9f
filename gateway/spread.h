/* spread.h - one message of a client to several upstreams at once, and their answers together. */
#ifndef WRIT_GATEWAY_SPREAD_H
#define WRIT_GATEWAY_SPREAD_H

#include "gateway/upcall_request.h"

/** One upstream's part of it. */
struct writ_leg {
    struct writ_request *request;
    struct writ_upstream *upstream;
    struct writ_upcall upcall;
    struct writ_header headers[WRIT_UPCALL_HEADERS_MAX];
    struct writ_upcall_answer answer; /* its views are copies in the request's arena */
    const struct writ_json *response; /* the parsed message, or NULL: none, or none that is JSON */
    struct writ_buf items;            /* lists: what this upstream has, as JSON, comma-separated */
    size_t items_n, pages;
    bool asking;                  /* an answer is awaited, or has come and was not looked at */
    bool incomplete;              /* lists: it failed to give its list, or a page of it */
    struct writ_catalog *catalog; /* lists of tools: what is being learned, or NULL */
    uint64_t doubts;              /* when it was asked for */
    int64_t stale_us;             /* when the first of its pages is too old */
    struct writ_view next;        /* lists: where it goes on, when this is enough for one answer */
};

struct writ_legs {
    struct writ_leg *legs;
    size_t n, open;
    size_t turn;                   /* which leg is asked, where one is asked after the other */
    const struct writ_json *first; /* lists: the first result that came */
    bool lives;                    /* lists: a result said how long it is good: */
    int64_t ttl_ms;                /* the shortest of those times; 0 when one did not say */
    void (*done)(struct writ_request *request, struct writ_legs *legs);
};

/**
 * Sends the request's body to every upstream of its endpoint; `done` is called when all have
 * answered or failed. The legs lie in the arena. Gives NULL when there is no memory; then nothing
 * was sent.
 */
struct writ_legs *writ_spread_begin(struct writ_request *request, struct writ_view body,
    void (*done)(struct writ_request *request, struct writ_legs *legs));

/** Sends `body` once more on a leg that has answered (the next page of a list). */
void writ_spread_again(struct writ_legs *legs, struct writ_leg *leg, struct writ_view body);

/** The member `result` of a leg's response, or NULL. */
const struct writ_json *writ_spread_result(const struct writ_leg *leg);

/** Answers with a leg's answer as it is, but not with one that is not the response to the request
 * (writ_inspect_is_another). Ends the request. */
void writ_spread_tell(struct writ_request *request, const struct writ_leg *leg);

/** Answers with one JSON message; where the endpoint has one upstream, and that answered with a
 * stream, as a stream. `more`: a field of the head, or none. Ends the request. */
void writ_spread_answer(
    struct writ_request *request, struct writ_buf *body, struct writ_header more);

#endif
