/* request.h - one request of a client on its way through the steps of step.tbl.h.
 *
 * Everything of a request lies in the arena of its exchange and ends with it. A request is used by
 * its loop's thread alone; while an entry is with the ledger, the ledger may use the arena and the
 * request does not. */
#ifndef WRIT_GATEWAY_REQUEST_H
#define WRIT_GATEWAY_REQUEST_H

#include "evidence/record/binding.h"
#include "evidence/record/record.h"
#include "gateway/mcp/mcp.h"
#include "gateway/mcp/method.h"
#include "gateway/request/step.h"
#include "gateway/state/gateway.h"
#include "gateway/upstream/late.h"
#include "policy/decide/policy.h"

struct writ_request;
struct writ_resume;

/** One row of step.tbl.h. */
typedef enum writ_step writ_step_fn(struct writ_request *request);

/** The table of steps, as it runs. */
struct writ_steps {
    writ_step_fn *fn[WRIT_STEP_COUNT];
    writ_step_fn *give_up; /* the step by which a request ends whose way the table does not have */
};

/** What differs between the requests of MCP and each of the hook API. The route sets it. */
struct writ_endpoint_kind {
    const char *by;           /* who made the call, in the log: "mcp", "before" */
    bool problems;            /* faults are problems (RFC 9457), not errors of JSON-RPC */
    bool counted;             /* each request is one more call in the metrics */
    bool streams;             /* the answer may be a stream of events */
    struct writ_view version; /* MCP-Protocol-Version upstream; empty: the client's */
    enum writ_step read;      /* the step after READ */
    enum writ_step hook;      /* after HOOK */
    enum writ_step judge;     /* after REJUDGE: where a call that was held is judged again */
    enum writ_step refused;   /* after BIND, when the ledger granted nothing and nothing is held */
    enum writ_step sent;      /* after SIGN */
    enum writ_step observed;  /* after OBSERVE */
    writ_step_fn *answer;     /* ANSWER */
    void (*overloaded)(
        struct writ_exchange *x); /* answers where there is no memory for a request */
    /** What the log says of the verdict and its reason; NULL: what the decision says. */
    void (*verdict)(const struct writ_request *request, struct writ_view *ret_verdict,
        enum writ_reason *ret_reason);
};

/** One endpoint of the listener: of MCP, for all upstreams or one alone, or of the hook API. */
struct writ_endpoint {
    struct writ_gateway *gateway;
    const struct writ_endpoint_kind *kind;
    struct writ_view path;      /* "/mcp", "/mcp/fs": what tokens are for */
    struct writ_upstream *only; /* NULL: all, with names "upstream__tool" */
};

/** How the observation of a target's state ended. */
struct writ_observed {
    struct writ_member_text digest; /* NULL without a probe */
    struct writ_view text;          /* what it is of, canonical; empty: not known, or too long */
    enum writ_reason fault;         /* NONE when it is good */
};

/** A call that brings input, and the call that it goes on with (mrtr.h). */
struct writ_mrtr {
    bool has_input, answers;       /* answers: it may be for a call that waits */
    struct writ_digest input;      /* of inputResponses and requestState */
    struct writ_view state;        /* the requestState, or ptr NULL */
    struct writ_digest name;       /* under which the call waits */
    enum writ_reason fault;        /* why no call goes on with it, or NONE */
    bool follows;                  /* there is such a call: */
    uint64_t before;               /* leaf of its decision */
    struct writ_decision previous; /* its decision, as recorded */
    int64_t number;                /* rounds before this one */
};

/** What a caller brings back that was told to (review_return.h). */
struct writ_returned {
    struct writ_view state; /* its requestState; ptr NULL: none of ours */
    bool shown, declined;   /* a person has agreed to open the page of the review, or has not */
    enum writ_reason fault; /* why it is not taken, or NONE */
};

/** What became of a governed call, and what the client gets. */
struct writ_conclusion {
    enum writ_outcome_kind outcome;
    const struct writ_outcome *said; /* what its caller says of a call that he made, or NULL */
    bool not_sent;                   /* nothing reached the upstream: the claim is released */
    struct writ_view error_type;     /* for outcome error; empty else */
    struct writ_view output_hash;    /* of the result, or empty */
    struct writ_view before_hash;    /* of the result or error that came; after.c */
    struct writ_view after_hash;     /* of what is sent in its place, when rules changed it */
    struct writ_views output_rules;  /* those that changed or refused it */
    enum writ_reason refusal;        /* NONE: the upstream's answer is passed on */
    enum writ_reason theirs;         /* UPSTREAM_UNAUTHORIZED: why, as the upstream says; or NONE */
    struct writ_view result;         /* the member `result` of the answer, for replay */
    const struct writ_json *response; /* the parsed response, or NULL */
    enum writ_wait_kind waits;        /* the answer does not end the call: what it waits for */
    struct writ_digest name;          /* under which it waits */
    int64_t wait_us;                  /* how long */
};

/** The governed part of a request. */
struct writ_call {
    struct writ_upstream *upstream;                /* NULL: there is none, or a framework */
    const struct writ_framework_config *framework; /* whose call its caller makes; or NULL */
    struct writ_view upstream_name, tool, wire_tool;
    const struct writ_json *arguments;
    struct writ_verdict verdict;
    enum writ_reason shadowed; /* the reason that shadow mode overrode, or NONE */
    struct writ_view boundary_id;
    struct writ_view previous_boundary_id, next_boundary_id; /* stateless windows only */
    struct writ_view key;                                    /* idempotency key that was stated */
    struct writ_view stated_boundary;                        /* run that the caller names */
    struct writ_view stated_state;                           /* digest that the caller expects */
    struct writ_digest state_free;
    struct writ_digest definition; /* of the tool, when `defined` */
    unsigned hints;                /* of that definition: enum writ_hint */
    bool defined, learned;         /* learned: the server's list was asked for, for this call */
    struct writ_mrtr round;
    struct writ_returned returned;
    struct writ_observed observed;
    struct writ_decision decision;
    struct writ_decision authorization; /* the decision as placed, which is bound and signed */
    struct writ_extension extension;    /* what decision.extensions is made from */
    uint64_t leaf;                      /* of the decision */
    struct writ_view continuation;      /* the review that the caller names; ptr NULL: none */
    struct writ_review terms;           /* of the review that it needs, when `asks` */
    struct writ_ask ask;
    bool asks;
    bool repeats; /* duplicates: auto, and the tool only reads */
    bool owes;    /* it was granted, and its outcome is not with the ledger yet */
    struct writ_permit permit;
    struct writ_view credential;
    struct writ_outcome outcome;
    struct writ_conclusion end;
    int64_t total_us;           /* how long it may take, in all */
    struct writ_resume *resume; /* resume.h: from FORWARD on */
    struct writ_sse_event last; /* the event that carried the response, on a stream */
    bool malformed;             /* an event that cannot be passed on: the upcall was given up */
    bool answered;              /* the response arrived; nothing after it is passed on */
};

/** One request. Zero-initialised in the arena by writ_request_start. */
struct writ_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_generation *generation; /* held until the answer */
    struct writ_generation *previous;   /* review_hold.c: that of a call that is judged again */
    const struct writ_endpoint *endpoint;
    struct writ_agent agent;
    const struct writ_identity_config *issuer; /* whose token the caller showed, or NULL */
    int64_t token_expires_us;                  /* wall clock; 0: never */
    struct writ_charge charge;                 /* among the requests of its loop */
    struct writ_session *session;              /* held until the answer; NULL: none */
    struct writ_mcp_message message;
    enum writ_mcp_method method;
    enum writ_step at;   /* the step that runs, or waits */
    enum writ_step next; /* while it waits: where it goes on; else DONE */
    bool away;           /* with the ledger, or among those that go on together */
    bool broken;         /* a defect was found while something was under way: it is given up then */

    struct writ_entry entry; /* one piece of work for the ledger at a time */
    struct writ_post post;   /* its way back to the loop */
    struct writ_task turn;   /* its place among those that go on together */
    int64_t submitted_us;    /* monotonic */

    struct writ_timer timer;        /* forward.c */
    int64_t sent_us;                /* when a governed call was sent; monotonic */
    struct writ_upstream *upstream; /* of `upcall` */
    struct writ_upcall upcall;
    bool upcall_open;
    struct writ_upcall_answer answer; /* of the upcall; its views are good in the next step alone */
    bool cancels;                     /* the client's leaving cancels the upcall */
    bool streaming;                   /* the answer to the client is a stream that has begun */
    struct writ_buf pending;          /* events that the client's queue did not take yet */
    struct writ_buf ahead; /* client_stream.c: events that go before those of `pending` */
    size_t words;          /* client_stream.c: notices about tasks that are not settled yet */
    bool closing, cut;     /* client_stream.c: the stream ends behind `pending`, whole or cut */
    bool noted;            /* pass.c: the answer may come by GET */
    void (*room)(struct writ_request *request); /* the client takes events again */
    struct writ_call *call;                     /* governed calls */
    struct writ_entry
        decided;           /* review_hold.c: that of the decision, while the verdict is awaited */
    int64_t hold_until_us; /* monotonic; 0: it has not been held yet */
    int64_t hold_from_us;  /* monotonic, when it began */
    int64_t hold_told_us;  /* when its caller was told last; 0: never */
    double progress;       /* of the tool's own progress, what its caller was told before */
    struct writ_request *stream_next, **stream_link; /* in worker->streams, or NULL */
    struct writ_request *learn_next; /* tool_discovery.c: who waits for the same list */
    struct writ_late late;           /* of the upstream that it is waiting for */
    void *part;                      /* of the module that has the request, such as its legs */
    enum writ_reason refused;        /* by writ_refusal_http; NONE: it was not */
};

/** The handler of the MCP routes: ctx is a struct writ_endpoint. */
void writ_request_start(struct writ_exchange *x, void *ctx);

/** For a step that waits: the request goes on at `next` when a callback continues it. Gives WAIT.
 */
enum writ_step writ_request_wait(struct writ_request *request, enum writ_step next);

/** For a callback: what the request waits for has arrived, and is stored. Takes its steps, from the
 * one that the waiting step named, until one waits or the request is done; it may be gone then.
 *
 * A step that the table does not let follow is not taken, nor is any by a request that does not
 * wait: it is logged as a defect, and the request is given up (struct writ_steps), as soon as
 * nothing of it is under way. */
void writ_request_continue(struct writ_request *request);

/** The same later in this turn, from no callback but a task. Nothing if that is so already. */
void writ_request_continue_later(struct writ_request *request);

/** For a step: goes on at `next` later in this turn, when the other requests have come as far. One
 * commit completes many requests; each step done for all of them in a row finds its code in the
 * cache. */
enum writ_step writ_request_together(struct writ_request *request, enum writ_step next);

/** Hands `request->entry` to the ledger and goes on at `next` when it is done. */
enum writ_step writ_request_submit(struct writ_request *request, enum writ_step next);

/** Whether its endpoint stands for several upstreams. */
bool writ_request_is_merged(const struct writ_request *request);

/** The configuration that the request began with. */
const struct writ_config *writ_request_config(const struct writ_request *request);

/** What a call waits for, as a word: input, task, bind, outcome; empty for none. */
struct writ_view writ_request_wait_name(enum writ_wait_kind kind);

/** Whether policy lets the governed call go, or shadow mode does. */
bool writ_request_may_pass(const struct writ_request *request);

#define WRIT_STEP_DECLARE(NAME, function, does, to)                                                \
    enum writ_step function(struct writ_request *request);
WRIT_STEPS(WRIT_STEP_DECLARE)
#undef WRIT_STEP_DECLARE

#endif
