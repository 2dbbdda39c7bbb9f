/* call.h - the governed part of a request, by the step that fills it. One step writes each struct,
 * unless its comment names more; later steps read it.
 *
 * It lies in the arena of the exchange, from JUDGE on, or from the step of the hook API that stands
 * in its place. A held call begins again with a new one. */
#ifndef WRIT_GATEWAY_CALL_H
#define WRIT_GATEWAY_CALL_H

#include "evidence/record/binding.h"
#include "evidence/record/record.h"
#include "gateway/http/sse.h"
#include "gateway/upstream/upstream.h"
#include "policy/decide/flow.h"
#include "policy/decide/policy.h"
#include "store/tables/entry.h"

struct writ_follow_read;
struct writ_resume;

/** The callee. JUDGE. */
struct writ_callee {
    struct writ_upstream *upstream;                /* NULL: unknown, or a framework */
    const struct writ_framework_config *framework; /* the framework that makes the call; or NULL */
    struct writ_view name;                         /* of the upstream or framework */
    struct writ_view tool, wire_tool;              /* its own name, and that of the message */
    const struct writ_json *arguments;
};

/** The caller's statements about the call (caller_claims.h). JUDGE. ptr NULL: none. */
struct writ_caller_claims {
    struct writ_view key;          /* idempotency key */
    struct writ_view boundary;     /* the run */
    struct writ_view state;        /* the expected digest */
    struct writ_view continuation; /* the review that it names */
    const struct writ_json *task;  /* what the run is for, as it was sent; NULL: nothing is said */
};

/** In which run it stands (call_key.h). DRAFT, and MRTR for its search. */
struct writ_call_run {
    struct writ_view id;
    struct writ_view previous, next; /* the neighbouring windows, when the run is a window of
                                        time */
};

/** The tool's definition by its server (tool_discovery.h). DISCOVER. */
struct writ_learned {
    struct writ_digest digest;       /* of the definition, when `known` */
    unsigned hints;                  /* of that definition: enum writ_hint */
    const struct writ_header *heads; /* Mcp-Param-* that a client over stdio could not write */
    size_t heads_n;
    bool known, asked; /* asked: the server's list was requested for this call */
    bool repeats;      /* duplicates: auto, and the tool only reads */
};

/** The result of observing the target's state (observe.c). OBSERVE; DISCOVER notes the fault of the
 * definition. */
struct writ_observed {
    struct writ_member_text digest; /* NULL without a probe */
    struct writ_view text;          /* the observed state, canonical; empty: unknown, or too long */
    enum writ_reason fault;         /* NONE without a fault */
};

/** A call that brings input, and the call that it continues (mrtr.h). JUDGE reads the input,
 * MRTR finds the call. */
struct writ_mrtr {
    bool has_input, answers;       /* answers: it may be for a call that waits */
    struct writ_digest input;      /* of inputResponses and requestState */
    struct writ_view state;        /* the requestState, or ptr NULL */
    struct writ_digest name;       /* under which the call waits */
    enum writ_reason fault;        /* why it continues no call, or NONE */
    bool follows;                  /* it continues a call: */
    uint64_t before;               /* leaf of its decision */
    struct writ_decision previous; /* its decision, as recorded */
    int64_t number;                /* rounds before this one */
};

/** The data of a caller that comes back as requested (review_return.h). JUDGE. */
struct writ_returned {
    struct writ_view state; /* its requestState; ptr NULL: not one of the gateway's */
    bool shown, declined;   /* a person has agreed, or declined, to open the page of the review,
                               or to vote */
    const struct writ_json *content; /* what the person said; NULL: nothing */
    struct writ_view terms;          /* that its requestState names: the content is a vote; DRAFT */
    enum writ_reason fault;          /* why it is refused, or NONE */
};

/** The end of the call, and the answer for the client. DRAFT and BIND for a refused call; else
 * CHECK (conclude.h, after.h). */
struct writ_conclusion {
    enum writ_outcome_kind outcome;
    const struct writ_outcome *said;  /* the caller's outcome of a call that it made itself, or
                                         NULL */
    bool not_sent;                    /* nothing reached the upstream: the claim is released */
    struct writ_view error_type;      /* for outcome error; empty else */
    struct writ_view output_hash;     /* of the result, or empty */
    struct writ_view before_hash;     /* of the result or error that came; after.c */
    struct writ_view after_hash;      /* of the text sent in its place, when rules changed it */
    struct writ_views output_rules;   /* those that changed or refused it */
    enum writ_reason refusal;         /* NONE: the upstream's answer is passed on */
    enum writ_reason theirs;          /* UPSTREAM_UNAUTHORIZED: the upstream's reason; or NONE */
    struct writ_view result;          /* the member `result` of the answer, for replay */
    const struct writ_json *response; /* the parsed response, or NULL */
    enum writ_wait_kind waits;        /* the answer does not end the call: what it waits for */
    struct writ_digest name;          /* the name under which it waits */
    int64_t wait_us;                  /* how long */
};

/** The decision. DRAFT makes it, CLAIM passes it to the ledger, which completes it. */
struct writ_call_record {
    struct writ_decision decision;
    struct writ_decision
        authorization;               /* the decision as placed, which is bound and signed: BIND */
    struct writ_extension extension; /* the source of decision.extensions */
    struct writ_digest state_free;   /* of the call, whatever the state of its target */
    uint64_t leaf;                   /* of the decision: BIND */
    uint64_t epoch;                  /* of this gateway when the ledger granted it */
};

/** What is kept of its contents (gateway/call/retain.h). DRAFT, or JOIN of the hook API; CHECK
 * gives the result. */
struct writ_call_contents {
    struct writ_retention terms; /* keep_us 0: nothing */
    struct writ_view arguments;  /* the kept form; ptr NULL: none */
    bool whole;                  /* nothing was left out */
    struct writ_view result;     /* canonical, as it is passed on; ptr NULL: none */
    bool too_large;              /* the result is longer than the terms permit */
};

/** The review that it needs (review_ask.h). DRAFT. */
struct writ_call_review {
    size_t place; /* among the candidates of its request, from 0 (candidates.h) */
    bool asks;    /* there is one: */
    struct writ_review terms;
    struct writ_delegable delegable; /* of its voters */
    struct writ_ask ask;
};

/** The permission to send it. */
struct writ_call_grant {
    struct writ_permit permit;   /* BIND; FORWARD or HAND spends it */
    struct writ_view credential; /* SIGN */
    bool owes; /* BIND: it was granted, and the ledger does not have its outcome yet; RECORD */
};

/** The received answer. FORWARD's callbacks, and those of resume.h. */
struct writ_call_reply {
    int64_t total_us;           /* its time limit in all */
    struct writ_resume *resume; /* resume.h */
    struct writ_sse_event last; /* the event that carried the response; its data, of any answer */
    const struct writ_json *response; /* of a long event: `last.data`, read; NULL: not yet read */
    struct writ_ahead *ahead;         /* what was read and digested of it while it arrived */
    bool malformed; /* an event that cannot be passed on: the upcall was cancelled */
    bool answered;  /* the response arrived; later events are dropped */
};

/** A governed call. */
struct writ_call {
    struct writ_callee callee;
    struct writ_caller_claims caller_claims;
    struct writ_verdict verdict; /* JUDGE; DISCOVER may remove the approval */
    enum writ_reason shadowed;   /* the reason that shadow mode overrode, or NONE: JUDGE to DRAFT */
    enum writ_reason barred;     /* why not even shadow mode lets it run, or NONE: candidates.h */
    struct writ_mrtr mrtr;
    struct writ_returned returned;
    struct writ_learned learned;
    struct writ_observed observed;
    struct writ_call_run run;
    bool states; /* only a task: there is no call to judge */
    bool reads;  /* only what a resource or prompt adds to the run (relay/reading.h) */
    struct writ_follow_read *follow_read; /* FOLLOW: the state that was read; NULL: none yet */
    struct writ_flow_verdict follow;      /* FOLLOW: where its arguments came from */
    struct writ_call_record record;
    struct writ_call_contents contents;
    struct writ_call_review review;
    struct writ_call_grant grant;
    struct writ_call_reply reply;
    struct writ_conclusion end;
    struct writ_decimal *used;   /* of each of the verdict's reservations; NULL: none */
    struct writ_outcome outcome; /* as it is recorded: RECORD */
};

#endif
