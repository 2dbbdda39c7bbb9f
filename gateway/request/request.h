/* request.h - one request of a client on its way through the steps of step.tbl.h.
 *
 * Everything of a request lies in the arena of its exchange and ends with it. A request is used by
 * its loop's thread alone; while an entry is with the ledger, the ledger may use the arena and the
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

struct writ_request;

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

/** The driver's: which step runs, and how an answer comes back. request.c alone. */
struct writ_drive {
    enum writ_step at;     /* the step that runs, or waits */
    enum writ_step next;   /* while it waits: where it goes on; else DONE */
    bool away;             /* with the ledger, or among those that go on together */
    bool broken;           /* a defect was found while something was under way: given up then */
    struct writ_post post; /* the way of `entry` back to the loop */
    struct writ_task turn; /* its place among those that go on together */
    int64_t submitted_us;  /* monotonic */
};

/** What it sent to one upstream. FORWARD, PASS, REPLY, TASK; the next step reads the answer. */
struct writ_forward {
    struct writ_upstream *upstream; /* of `upcall` */
    struct writ_upcall upcall;
    bool open;                        /* the upcall */
    struct writ_upcall_answer answer; /* of the upcall; its views are good in the next step alone */
    int64_t sent_us;                  /* when a governed call was sent; monotonic */
    bool noted;                       /* pass.c: the answer may come by GET */
};

/** The answer to its client, where that is a stream of events (client_stream.h). */
struct writ_client_stream {
    bool open;               /* it has begun */
    bool closing, cut;       /* it ends behind `pending`, whole or cut */
    struct writ_buf pending; /* events that the client's queue did not take yet */
    struct writ_buf ahead;   /* events that go before those of `pending` */
    size_t held;             /* notices about tasks that are not settled yet */
    void (*room)(struct writ_request *request); /* the client takes events again */
};

/** While it is held for a verdict (review_hold.c). HOLD. */
struct writ_request_hold {
    struct writ_entry decided; /* of its decision, while another entry is asked; also AGAIN */
    int64_t until_us;          /* monotonic; 0: it has not been held yet */
    int64_t from_us;           /* monotonic, when it began */
    int64_t told_us;           /* when its caller was told last; 0: never */
    double progress;           /* of the tool's own progress, what its caller was told before */
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
    struct writ_identity_result identity; /* AUTHENTICATE: who is calling */
    struct writ_charge charge;            /* AUTHENTICATE: among the requests of its loop */
    struct writ_mcp_message message;      /* READ, CLASSIFY */
    enum writ_mcp_method method;          /* CLASSIFY */
    struct writ_session *session;         /* SESSION; held until the answer; NULL: none */
    struct writ_call *call;               /* governed calls (call.h) */
    struct writ_late late;                /* of the upstream that it is waiting for (meet.h) */
    struct writ_request_hold hold;
    struct writ_entry entry; /* one piece of work for the ledger at a time */
    struct writ_forward forward;
    struct writ_timer timer; /* of its upcall (FORWARD, TASK), or of its stream (STREAM) */
    struct writ_client_stream stream;
    struct writ_request *stream_next, **stream_link; /* in worker->streams, or NULL: STREAM */
    struct writ_request *learn_next; /* LEARN: the next that waits for the same list */
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
