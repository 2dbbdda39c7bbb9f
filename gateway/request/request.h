/* request.h - one request of a client on its way through the steps of step.tbl.h.
 *
 * Everything of a request lies in the arena of its exchange and ends with it. Only its loop's
 * thread uses a request; while an entry is with the ledger, the ledger may use the arena and the
 * request does not. */
#ifndef WRIT_GATEWAY_REQUEST_H
#define WRIT_GATEWAY_REQUEST_H

#include "evidence/record/binding.h"
#include "evidence/record/record.h"
#include "gateway/auth/identity.h"
#include "gateway/mcp/mcp.h"
#include "gateway/mcp/method.h"
#include "gateway/request/call.h"
#include "gateway/request/step.h"
#include "gateway/state/gateway.h"
#include "gateway/upstream/late.h"
#include "policy/decide/policy.h"

struct writ_candidates;
struct writ_request;
struct writ_review_question;
struct writ_trace;
struct writ_reading;

/** One row of step.tbl.h. */
typedef enum writ_step writ_step_fn(struct writ_request *request);

/** The table of steps with its functions. */
struct writ_steps {
    writ_step_fn *fn[WRIT_STEP_COUNT];
    writ_step_fn *give_up; /* the step for a request that leaves the table */
};

/** The differences between MCP requests and the kinds of hook API requests. The route sets them. */
struct writ_endpoint_kind {
    const char *by;           /* the API of the call, in the log: "mcp", "before" */
    bool problems;            /* faults are problems (RFC 9457), not errors of JSON-RPC */
    bool counted;             /* the metrics count each request as a call */
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
        struct writ_exchange *x); /* the answer when no memory is left for a request */
    /** The verdict and reason for the log; NULL: those of the decision. */
    void (*verdict)(const struct writ_request *request, struct writ_view *ret_verdict,
        enum writ_reason *ret_reason);
};

/** One endpoint of the listener: of MCP, for all upstreams or a single one, or of the hook API. */
struct writ_endpoint {
    struct writ_gateway *gateway;
    const struct writ_endpoint_kind *kind;
    struct writ_view path;      /* "/mcp", "/mcp/fs": the audience path of tokens */
    struct writ_upstream *only; /* NULL: all, with names "upstream__tool" */
};

/** State of the driver: the running step, and how an answer comes back. Only request.c uses it. */
struct writ_drive {
    enum writ_step at;         /* the step that runs, or waits */
    enum writ_step next;       /* while it waits: where it continues; else DONE */
    bool away;                 /* at the ledger, or among those that continue together */
    bool broken;               /* a defect was found while an operation was open: ends the request
                                  then */
    struct writ_post post;     /* the way of `entry` back to the loop */
    struct writ_task turn;     /* its place among those that continue together */
    int64_t submitted_us;      /* monotonic */
    struct writ_lookup lookup; /* its query of the ledger */
};

/** Its message to one upstream. FORWARD, PASS, REPLY, TASK; the next step reads the answer. */
struct writ_forward {
    struct writ_upstream *upstream; /* of `upcall` */
    struct writ_upcall upcall;
    bool open;                        /* the upcall */
    struct writ_upcall_answer answer; /* of the upcall; its views are good in the next step alone */
    int64_t sent_us;                  /* when a governed call was sent; monotonic */
    enum writ_reason withheld;        /* why it was not, in the last moment; or NONE */
    bool noted;                       /* pass.c: the answer may come by GET */
};

/** The answer to its client, when it is a stream of events (client_stream.h). */
struct writ_client_stream {
    bool open;                                 /* it has begun */
    bool closing, cut;                         /* it ends after `pending`, complete or cut */
    struct writ_buf pending;                   /* events that the client's queue did not take yet */
    struct writ_buf ahead;                     /* events that go before those of `pending` */
    struct writ_view last[WRIT_EXCHANGE_LAST]; /* after `pending`: the end of a long event */
    size_t held;                               /* notices about tasks that are not settled yet */
    void (*room)(struct writ_request *request); /* the client takes events again */
};

/** While it is held for a verdict (review_hold.c). HOLD. */
struct writ_request_hold {
    struct writ_entry decided; /* of its decision, while another entry is submitted; also AGAIN */
    const struct writ_review_question *question; /* for the person at its client; NULL: none */
    bool voted;                                  /* what that person said is on its way */
    int64_t until_us;                            /* monotonic; 0: it has not been held yet */
    int64_t from_us;                             /* monotonic, when the hold began */
    int64_t told_us; /* when its caller got the last progress; 0: never */
    double progress; /* the progress that its caller got before that of the tool */
};

/** One request. Zero-initialised in the arena by writ_request_start. */
struct writ_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_generation *generation; /* held until the answer */
    struct writ_generation *previous;   /* HOLD to REJUDGE: that of a call that is judged again */
    const struct writ_endpoint *endpoint;
    struct writ_drive drive;
    struct writ_trace *trace;             /* trace.h; NULL: none */
    struct writ_identity_result identity; /* AUTHENTICATE: the caller */
    struct writ_charge charge;            /* AUTHENTICATE: among the requests of its loop */
    struct writ_mcp_message message;      /* READ, CLASSIFY */
    const struct writ_json *stated;       /* CLASSIFY: _meta with Writ's names, which the message
                                             no longer has; NULL: it had none */
    enum writ_mcp_method method;          /* CLASSIFY */
    struct writ_session *session;         /* SESSION; held until the answer; NULL: none */
    struct writ_session_call open;        /* ROUTE: a governed call, among those of its session */
    struct writ_call *call;               /* governed calls (call.h) */
    struct writ_candidates *candidates;   /* of which it is one (candidates.h); NULL: it is alone */
    struct writ_late late;                /* of the missing upstream (meet.h) */
    struct writ_reading *reading;         /* PASS to GIVE (relay/reading.h); NULL: none */
    bool sought;                          /* SEEK: the lists that name its owner were asked for */
    struct writ_request_hold hold;
    struct writ_entry entry; /* one entry for the ledger at a time */
    struct writ_forward forward;
    struct writ_timer timer; /* of its upcall (FORWARD, TASK), or of its stream (STREAM) */
    struct writ_client_stream stream;
    struct writ_request *stream_next, **stream_link; /* in worker->streams, or NULL: STREAM */
    struct writ_request *learn_next; /* DISCOVER: the next that waits for the same list */
    void *part;                      /* of the module that runs the request, such as its branches */
    enum writ_reason refused;        /* the reason of writ_refusal_http; NONE: not called */
};

/** Whether its client has cancelled it. Any thread. */
static inline bool
writ_request_is_cancelled(const struct writ_request *request)
{
    return atomic_load(&request->open.cancelled);
}

/** The handler of the MCP routes: ctx is a struct writ_endpoint. */
void writ_request_start(struct writ_exchange *x, void *ctx);

/** For a step that waits: the request continues at `next` when a callback continues it. Returns
 * WAIT. */
enum writ_step writ_request_wait(struct writ_request *request, enum writ_step next);

/** For a callback: the awaited data has arrived, and is stored. Runs the steps, from the one that
 * the waiting step named, until one waits or the request is done; it may be freed then.
 *
 * A successor that is not in the table is not taken, and neither is any step of a request that does
 * not wait: it is logged as a defect, and the request ends (struct writ_steps) as soon as it has no
 * open operation. */
void writ_request_continue(struct writ_request *request);

/** As writ_request_continue, later in this turn, from a task. Does nothing if that is already
 * scheduled. */
void writ_request_continue_later(struct writ_request *request);

/** For a step: continues at `next` later in this turn, when the other requests have come as far.
 * One commit completes many requests; running each step for all of them keeps the instruction cache
 * warm. */
enum writ_step writ_request_together(struct writ_request *request, enum writ_step next);

/** Counts an outcome that comes back from the ledger. One that another request recorded meanwhile,
 * or the ledger itself when the time of the call had passed (WRIT_E_INVALID), was counted there;
 * one that waits for the disk is not lost. For entries of writ_request_submit it is done. */
void writ_request_count_outcome(const struct writ_request *request, const struct writ_entry *entry);

/** Submits `request->entry` to the ledger and continues at `next` when it is done. */
enum writ_step writ_request_submit(struct writ_request *request, enum writ_step next);

/** Asks the ledger with a query that waits for the disk, and continues at `next`. `work` runs on
 * the thread of the queries, while the loop does not touch the request, and ends with
 * writ_request_looked. WRIT_E_BUSY: too many wait. */
WRIT_RESULT writ_request_look(struct writ_request *request,
    void (*work)(struct writ_lookup *lookup, struct writ_reader *reader), void *ctx,
    enum writ_step next);

/** Waits for writ_request_looked, which any thread may call from now on, and continues at `next`.
 */
void writ_request_park(struct writ_request *request, enum writ_step next);

/** For `work`, and for what a parked request waits for: it is done. */
void writ_request_looked(struct writ_request *request);

/** Whether its endpoint stands for several upstreams. */
bool writ_request_is_merged(const struct writ_request *request);

/** The configuration that the request began with. */
const struct writ_config *writ_request_config(const struct writ_request *request);

/** The environment that the client gives in the head (client_env.h), or the empty view. */
struct writ_view writ_request_environment(const struct writ_request *request);

/** The wait of a call, as a word: input, task, bind, outcome; empty for none. */
struct writ_view writ_request_wait_name(enum writ_wait_kind kind);

/** Whether policy, or shadow mode, permits the governed call. */
bool writ_request_may_pass(const struct writ_request *request);

#define WRIT_STEP_DECLARE(NAME, function, does, to)                                                \
    enum writ_step function(struct writ_request *request);
WRIT_STEPS(WRIT_STEP_DECLARE)
#undef WRIT_STEP_DECLARE

#endif
