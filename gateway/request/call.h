/* call.h - the governed part of a request, by who fills what. Each struct has one step that writes
 * it, unless it says more; the steps behind that one read it.
 *
 * It lies in the arena of the exchange, from JUDGE on, or from the step of the hook API that stands
 * in its place. A call that was held begins again with another one. */
#ifndef WRIT_GATEWAY_CALL_H
#define WRIT_GATEWAY_CALL_H

#include "evidence/record/binding.h"
#include "evidence/record/record.h"
#include "gateway/http/sse.h"
#include "gateway/upstream/upstream.h"
#include "policy/decide/policy.h"
#include "store/tables/entry.h"

struct writ_resume;

/** What is called. JUDGE. */
struct writ_callee {
    struct writ_upstream *upstream;                /* NULL: there is none, or a framework */
    const struct writ_framework_config *framework; /* whose call its caller makes; or NULL */
    struct writ_view name;                         /* of the upstream or framework */
    struct writ_view tool, wire_tool;              /* its own name, and that of the message */
    const struct writ_json *arguments;
};

/** What the caller says of the call (caller_claims.h). JUDGE. ptr NULL: nothing. */
struct writ_caller_claims {
    struct writ_view key;          /* idempotency key */
    struct writ_view boundary;     /* the run */
    struct writ_view state;        /* the digest that it expects */
    struct writ_view continuation; /* the review that it names */
};

/** In which run it stands (call_key.h). DRAFT, and MRTR for its search. */
struct writ_call_run {
    struct writ_view id;
    struct writ_view previous, next; /* the windows beside it, where it is a window of time */
};

/** What its server says that the tool is (tool_discovery.h). LEARN. */
struct writ_learned {
    struct writ_digest digest; /* of the definition, when `known` */
    unsigned hints;            /* of that definition: enum writ_hint */
    bool known, asked;         /* asked: the server's list was asked for, for this call */
    bool repeats;              /* duplicates: auto, and the tool only reads */
};

/** How the observation of the target's state ended (observe.c). OBSERVE; LEARN notes what is wrong
 * with the definition. */
struct writ_observed {
    struct writ_member_text digest; /* NULL without a probe */
    struct writ_view text;          /* what it is of, canonical; empty: not known, or too long */
    enum writ_reason fault;         /* NONE when it is good */
};

/** A call that brings input, and the call that it goes on with (mrtr.h). JUDGE reads the input,
 * MRTR finds the call. */
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

/** What a caller brings back that was told to (review_return.h). JUDGE. */
struct writ_returned {
    struct writ_view state; /* its requestState; ptr NULL: none of ours */
    bool shown, declined;   /* a person has agreed to open the page of the review, or has not */
    enum writ_reason fault; /* why it is not taken, or NONE */
};

/** What became of it, and what the client gets. DRAFT and BIND for a call that is refused; else
 * CHECK (conclude.h, after.h). */
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

/** The decision. DRAFT makes it, CLAIM hands it to the ledger, which completes it. */
struct writ_call_record {
    struct writ_decision decision;
    struct writ_decision
        authorization;               /* the decision as placed, which is bound and signed: BIND */
    struct writ_extension extension; /* what decision.extensions is made from */
    struct writ_digest state_free;   /* of the call, whatever the state of its target */
    uint64_t leaf;                   /* of the decision: BIND */
};

/** The review that it needs (review_ask.h). DRAFT. */
struct writ_call_review {
    bool asks; /* there is one: */
    struct writ_review terms;
    struct writ_ask ask;
};

/** What lets it go. */
struct writ_call_grant {
    struct writ_permit permit;   /* BIND; FORWARD or HAND spends it */
    struct writ_view credential; /* SIGN */
    bool owes; /* BIND: it was granted, and its outcome is not with the ledger yet; RECORD */
};

/** What comes back while it is sent. FORWARD's callbacks, and those of resume.h. */
struct writ_call_reply {
    int64_t total_us;           /* how long it may take, in all */
    struct writ_resume *resume; /* resume.h */
    struct writ_sse_event last; /* the event that carried the response; its data, of any answer */
    bool malformed;             /* an event that cannot be passed on: the upcall was given up */
    bool answered;              /* the response arrived; nothing after it is passed on */
};

/** A governed call. */
struct writ_call {
    struct writ_callee callee;
    struct writ_caller_claims caller_claims;
    struct writ_verdict verdict; /* JUDGE; LEARN may take the approval away */
    enum writ_reason shadowed;   /* the reason that shadow mode overrode, or NONE: JUDGE to DRAFT */
    struct writ_mrtr mrtr;
    struct writ_returned returned;
    struct writ_learned learned;
    struct writ_observed observed;
    struct writ_call_run run;
    struct writ_call_record record;
    struct writ_call_review review;
    struct writ_call_grant grant;
    struct writ_call_reply reply;
    struct writ_conclusion end;
    struct writ_outcome outcome; /* as it is recorded: RECORD */
};

#endif
