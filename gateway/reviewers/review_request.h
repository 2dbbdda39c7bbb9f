/* review_request.h - the request to one reviewer about one review: its tries, one after another.
 * reviewers.c chooses reviewer and time; reviewer_hook.h, reviewer_worker.h and
 * reviewer_crew.h send it. Only on the
 * first loop.
 *
 * The life of a request: it WAITS until it is due and there is room, READS the review from the
 * ledger, is OUT until its reviewer answers or fails, VOTES, and RESTS when there is nothing more
 * to do until the review changes. A failed one WAITS again. */
#ifndef WRIT_GATEWAY_REVIEW_REQUEST_H
#define WRIT_GATEWAY_REVIEW_REQUEST_H

#include "gateway/io/child.h"
#include "gateway/state/gateway.h"
#include "store/tables/map.h"
#include "store/tables/order.h"

#include <sys/queue.h>

#define WRIT_REVIEW_REQUESTS_MAX 16 /* of one reviewer that are out at once */

enum writ_review_request_stage {
    WRIT_REVIEW_REQUEST_WAITS = 0,
    WRIT_REVIEW_REQUEST_READS,
    WRIT_REVIEW_REQUEST_OUT,
    WRIT_REVIEW_REQUEST_VOTES,
    WRIT_REVIEW_REQUEST_RESTS,
};

struct writ_reviewer;
struct writ_reviewer_crew;

struct writ_review_request {
    TAILQ_ENTRY(writ_review_request) link;
    struct writ_map_node by_id;
    struct writ_order_node by_due;           /* WAITS */
    TAILQ_ENTRY(writ_review_request) beside; /* READS, OUT, VOTES */
    struct writ_reviewer *reviewer;
    enum writ_review_request_stage stage;
    bool over;                     /* it is freed as soon as it has no open operation */
    bool seen;                     /* in the present list of all that live */
    unsigned tries;                /* that failed */
    int64_t due_us;                /* OUT, to a worker: until when */
    struct writ_view id;           /* of the review */
    char digest[WRIT_DIGEST_TEXT]; /* the prompt has its complete arguments */
    bool whole;                    /* the arena holds the request itself */
    struct writ_arena *own;        /* it lies in there itself */
    struct writ_arena *arena;      /* of one try; NULL: none */
    struct writ_entry entry;
    struct writ_post post;
    /* to a webhook */
    struct writ_http_call *call;
    unsigned status;
    struct writ_buf answer;
    struct writ_reviewer_crew *crew; /* that runs; NULL: none */
};

struct writ_reviewer {
    struct writ_gateway *gateway;
    struct writ_worker *worker;                /* of the first loop */
    const struct writ_reviewer_config *config; /* as at the start */
    TAILQ_HEAD(writ_review_requests, writ_review_request) requests;
    struct writ_map by_id;             /* of them */
    struct writ_order waiting;         /* of them: WAITS, by the time at which they are due */
    struct writ_review_requests going; /* of them: READS, OUT, VOTES */
    size_t out;                        /* how many are going */
    bool ending;                       /* no further requests */
    struct writ_timer timer;           /* the owner sets `fn`: runs the due requests */
    /* a webhook */
    struct writ_http_client *client;
    struct writ_buf secret;
    /* a worker */
    struct writ_child *child;
    bool told; /* this start of the worker got a review */
};

/** A new request that WAITS, in the reviewer's list. `id`: of the review, copied. NULL: no
 * memory. */
struct writ_review_request *writ_review_request_new(
    struct writ_reviewer *reviewer, struct writ_view id);

/** The one about that review that is not over, or NULL. */
struct writ_review_request *writ_review_request_find(
    const struct writ_reviewer *reviewer, struct writ_view id);

/** Frees one that WAITS or RESTS, or any one after the loops have ended. */
void writ_review_request_free(struct writ_review_request *request);

/** Begins a try: reads the review from the ledger into `entry`, and calls `back`. */
void writ_review_request_read(struct writ_review_request *request, writ_post_fn *back);

/** Submits the vote in `r`; the try ends when the ledger has answered. */
void writ_review_request_vote(
    struct writ_review_request *request, const struct writ_entry_review *r);

/** The reviewer has answered with a possible vote. */
void writ_review_request_answered(struct writ_review_request *request, struct writ_view text);
/** It will vote by another way, or not at all. Frees one that is over. */
void writ_review_request_rests(struct writ_review_request *request);
/** It has not answered, or not with a vote. `why`: static, one or a few words. */
void writ_review_request_failed(struct writ_review_request *request, const char *why);

/** Ends the try without counting it: it WAITS again. */
void writ_review_request_waits(struct writ_review_request *request);

/** Runs the due requests of a reviewer, in the loop's next turn. */
void writ_review_requests_wake(struct writ_reviewer *reviewer);

#endif
