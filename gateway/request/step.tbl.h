/* step.tbl.h - the life of one request, as a table. Read it from top to bottom.
 *
 * X(NAME, function, what it does)
 *
 * A step returns the next one; WAIT when something else will go on with it (the ledger, an
 * upstream), DONE when the exchange was answered. Nothing is sent upstream before CLAIM is durable,
 * and only FORWARD sends a governed call. */
#ifndef WRIT_GATEWAY_STEP_TBL_H
#define WRIT_GATEWAY_STEP_TBL_H

/* clang-format off */
#define WRIT_STEPS(X)                                                                              \
    /* every request */                                                                            \
    X(AUTHENTICATE, writ_admit_agent,      "who is calling; nobody is a 401")                      \
    X(READ,         writ_admit_body,       "one strict parse with limits")                         \
    X(CLASSIFY,     writ_admit_message,    "request, notification or response; era; headers agree")\
    X(BATCH,        writ_batch_start,      "several messages in one: each goes its own way")       \
    X(SESSION,      writ_admit_session,    "the session, from memory or from the ledger")          \
    X(ROUTE,        writ_admit_route,      "which of the paths below")                             \
    /* a governed call */                                                                          \
    X(JUDGE,        writ_judge_call,       "tool, boundary, key; then policy")                     \
    X(ROUND,        writ_mrtr_find,       "input for a call that waits: which one")               \
    X(LATE,         writ_meet_upstream,        "an upstream that missed initialize joins the session") \
    X(LEARN,        writ_tool_discovery_tool,       "what its server says that the tool is; the head agrees")\
    X(OBSERVE,      writ_observe_start,    "the state of the target, by its probe")                \
    X(DRAFT,        writ_judge_draft,      "the decision record and its digests")                  \
    X(CLAIM,        writ_judge_claim,      "claim and record, durable, in one transaction")        \
    X(BIND,         writ_judge_bind,       "the binding check; only it makes a permit")            \
    X(HOLD,         writ_review_hold_wait, "on the open request, for the verdict of its review")    \
    X(SIGN,         writ_forward_sign,     "the credential, into the judged message")              \
    X(FORWARD,      writ_forward_send,     "once, with the permit")                                \
    X(CHECK,        writ_conclude_check,   "what came back: limits, digest, outcome")              \
    X(RECORD,       writ_conclude_record,  "the outcome, durable")                                 \
    X(ANSWER,       writ_request_answer,   "the result, or the refusal with its reason")           \
    /* a call that its caller makes (the hook API): from HOOK to SIGN as above, then HAND */       \
    X(HOOK,         writ_hook_read,        "what is asked: before, bind, after, seal")             \
    X(HAND,         writ_hook_hand,        "the call is its caller's to make, durable")            \
    X(AGAIN,        writ_hook_again,       "before, asked again: the call that waits to be bound") \
    X(LOOK,         writ_hook_bind_look,   "bind: the authorization, as it was recorded")          \
    X(COMPARE,      writ_hook_bind_check,  "bind: the binding check; the call is made once")       \
    X(JOIN,         writ_hook_after_join,  "after: an outcome and its decision")                   \
    X(SEALED,       writ_hook_after_seal,  "seal: what became of it")                              \
    /* everything else */                                                                          \
    X(PASS,         writ_pass_start,       "to one upstream, as it came")                          \
    X(TASK,         writ_task_find,        "a question about a task: whose it is")                 \
    X(FILTER,       writ_task_filter,      "a list of tasks: those of this agent")                 \
    X(SETTLE,       writ_task_settle,      "a task that is over: its call's outcome, durable")     \
    X(REPORT,       writ_task_report,      "what its server answered")                             \
    X(SPREAD,       writ_spread_start,     "to several upstreams: lists merged, notices to all")   \
    X(HANDSHAKE,    writ_handshake_start,  "initialize and server/discover")                       \
    X(REPLY,        writ_reply_start,      "a client's answer to a server's request")              \
    X(STREAM,       writ_stream_open,      "GET and subscriptions/listen: streams of events")      \
    X(LEAVE,        writ_stream_leave,     "DELETE: the end of a session, and its seal")
/* clang-format on */

#endif
