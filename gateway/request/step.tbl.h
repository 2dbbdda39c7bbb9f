/* step.tbl.h - the life of one request, as a table. Read it from top to bottom.
 *
 * X(NAME, function, what it does, TO(SUCCESSOR, ...))
 *
 * A step returns the next one; WAIT when it waits for something (the ledger, an upstream, its
 * client) and has said which step is next (writ_request_wait); DONE when the exchange was answered.
 * A callback stores what arrived and continues the request; it chooses no step and ends no request.
 * TO has every step that may follow, at once or after a WAIT, the most usual first; then WAIT and
 * DONE where the step may return them. A row is one line: scripts read it. The driver takes no
 * other way: a step that leads elsewhere is a defect, which is logged, and the request is refused.
 *
 * Nothing is sent upstream before CLAIM is durable, and only FORWARD sends a governed call. */
#ifndef WRIT_GATEWAY_STEP_TBL_H
#define WRIT_GATEWAY_STEP_TBL_H

/* clang-format off */
#define WRIT_STEPS(X) \
    /* every request */ \
    X(AUTHENTICATE, writ_admit_agent,          "who is calling; unknown is a 401",                           TO(READ, SESSION, REJUDGE, CLOSE, DONE)) \
    X(READ,         writ_admit_body,           "one strict parse with limits",                               TO(CLASSIFY, HOOK, DONE)) \
    X(CLASSIFY,     writ_admit_message,        "request, notification or response; era; headers agree",      TO(READ, BATCH, SESSION, DONE)) \
    X(BATCH,        writ_batch_start,          "several messages in one: each goes its own way",             TO(WHOLE, WAIT, DONE)) \
    X(WHOLE,        writ_batch_answer,         "what all of them were answered, as one",                     TO(WHOLE, WAIT, DONE)) \
    X(SESSION,      writ_admit_session,        "the session, from memory or from the ledger",                TO(ROUTE, STREAM, LEAVE, SESSION, WAIT, DONE)) \
    X(ROUTE,        writ_admit_route,          "which of the paths below",                                   TO(JUDGE, PASS, TASK, FANOUT, HANDSHAKE, REPLY, STREAM, DONE)) \
    /* a governed call */ \
    X(JUDGE,        writ_judge_call,           "tool, boundary, key; then policy",                           TO(MRTR, LATE, CLOSE, DONE)) \
    X(MRTR,         writ_mrtr_find,            "input for a call that waits: which one",                     TO(LATE, DRAFT, MRTR, CLOSE, WAIT, DONE)) \
    X(LATE,         writ_meet_upstream,        "an upstream that missed initialize joins the session",       TO(DISCOVER, WAIT)) \
    X(DISCOVER,     writ_tool_discovery_tool,  "what its server says that the tool is; the head agrees",     TO(OBSERVE, DRAFT, DISCOVER, CLOSE, WAIT, DONE)) \
    X(OBSERVE,      writ_observe_start,        "the state of the target, by its probe",                      TO(DRAFT, COMPARE, OBSERVE, WAIT)) \
    X(DRAFT,        writ_judge_draft,          "the decision record and its digests",                        TO(CLAIM, CLOSE, DONE)) \
    X(CLAIM,        writ_judge_claim,          "claim and record, durable, in one transaction",              TO(BIND, CLOSE, WAIT, DONE)) \
    X(BIND,         writ_judge_bind,           "the binding check; only it makes a permit",                  TO(SIGN, HOLD, RECORD, WAIT)) \
    X(HOLD,         writ_review_hold_wait,     "not granted: the open request may wait for a verdict",       TO(AUTHENTICATE, ANSWER, AGAIN, HOLD, WAIT)) \
    X(REJUDGE,      writ_review_hold_judge,    "the verdict is there: all is looked at again",               TO(JUDGE, HOOK, CLOSE, DONE)) \
    X(SIGN,         writ_forward_sign,         "the credential, into the judged message",                    TO(FORWARD, HAND, RECORD, SIGN, WAIT)) \
    X(FORWARD,      writ_forward_send,         "once, with the permit",                                      TO(CHECK, RECORD, WAIT)) \
    X(CHECK,        writ_conclude_check,       "what came back: limits, digest, outcome",                    TO(RECORD)) \
    X(RECORD,       writ_conclude_record,      "the outcome, durable",                                       TO(ANSWER, KEPT, WAIT)) \
    X(KEPT,         writ_conclude_kept,        "a call that goes on later: whether the ledger has it",       TO(ANSWER, RECORD)) \
    X(ANSWER,       writ_request_answer,       "the result, or the refusal with its reason",                 TO(CLOSE, DONE)) \
    X(CLOSE,        writ_client_stream_close,  "a stream of events: its end, when its client has read all",  TO(CLOSE, WAIT, DONE)) \
    /* a call that its caller makes (the hook API): from DISCOVER to SIGN as above, then HAND */ \
    X(HOOK,         writ_hook_read,            "one JSON object",                                            TO(BEFORE, CANDIDATE, OUTCOME, SEAL, DONE)) \
    X(BEFORE,       writ_hook_before,          "before: a call, to be judged",                               TO(DISCOVER, DONE)) \
    X(HAND,         writ_hook_hand,            "the call is its caller's to make, durable",                  TO(HANDED, RECORD, WAIT)) \
    X(HANDED,       writ_hook_handed,          "before: that is durable, or the call is not made",           TO(ANSWER, RECORD)) \
    X(AGAIN,        writ_hook_again,           "before, refused: perhaps for a call that waits to be bound", TO(ANSWER, SAME, WAIT)) \
    X(SAME,         writ_hook_same,            "before, asked again: the same authorization",                TO(ANSWER)) \
    X(CANDIDATE,    writ_hook_bind_read,       "bind: a candidate, for an authorization",                    TO(LOOK, WAIT, DONE)) \
    X(LOOK,         writ_hook_bind_look,       "bind: the authorization, as it was recorded",                TO(OBSERVE, COMPARE, ANSWER, DONE)) \
    X(COMPARE,      writ_hook_bind_check,      "bind: the binding check; the call is made once",             TO(RECORD, ANSWER, WAIT)) \
    X(OUTCOME,      writ_hook_after_read,      "after: an outcome",                                          TO(JOIN, WAIT, DONE)) \
    X(JOIN,         writ_hook_after_join,      "after: an outcome and its decision",                         TO(RECORD, DONE)) \
    X(SEAL,         writ_hook_after_read_seal, "seal: the end of a run",                                     TO(SEALED, WAIT, DONE)) \
    X(SEALED,       writ_hook_after_seal,      "seal: what became of it",                                    TO(DONE)) \
    /* everything else */ \
    X(PASS,         writ_pass_start,           "to one upstream, as it came",                                TO(RELAY, FANOUT, PASS, WAIT, DONE)) \
    X(RELAY,        writ_pass_relay,           "what that answered",                                         TO(CLOSE, DONE)) \
    X(TASK,         writ_task_find,            "a question about a task: whose it is",                       TO(STATUS, LIST, TASK, WAIT, DONE)) \
    X(STATUS,       writ_task_status,          "what was answered: whether the task is over",                TO(SETTLE, REPORT, CLOSE, WAIT, DONE)) \
    X(LIST,         writ_task_list,            "what was answered: the tasks of a list",                     TO(FILTER, REPORT, DONE)) \
    X(FILTER,       writ_task_filter,          "a list of tasks: those of this agent",                       TO(REPORT, FILTER, WAIT, DONE)) \
    X(SETTLE,       writ_task_settle,          "a task that is over: its call's outcome, durable",           TO(REPORT, WAIT)) \
    X(REPORT,       writ_task_report,          "what its server answered",                                   TO(CLOSE, DONE)) \
    X(FANOUT,       writ_fanout_start,         "to several upstreams: lists merged, notices to all",         TO(GATHER, TURN, MERGE, WAIT, DONE)) \
    X(GATHER,       writ_fanout_gather,        "what all answered: the first result",                        TO(CLOSE, DONE)) \
    X(TURN,         writ_fanout_turn,          "one upstream after the other, until one has it",             TO(TURN, CLOSE, WAIT, DONE)) \
    X(MERGE,        writ_lists_merge,          "the pages of a list, until it is whole",                     TO(MERGE, CLOSE, WAIT, DONE)) \
    X(HANDSHAKE,    writ_handshake_start,      "initialize and server/discover",                             TO(AGREE, WAIT, DONE)) \
    X(AGREE,        writ_handshake_agree,      "what all answered: the session, and its row",                TO(OPENED, CLOSE, WAIT, DONE)) \
    X(OPENED,       writ_handshake_opened,     "the row is durable: the session may be known",               TO(CLOSE, DONE)) \
    X(REPLY,        writ_reply_start,          "a client's answer to a server's request",                    TO(RELAY, WAIT, DONE)) \
    X(STREAM,       writ_stream_open,          "GET and subscriptions/listen: streams of events",            TO(ENDED, WAIT, DONE)) \
    X(ENDED,        writ_stream_merge_ended,   "all of them have ended: with a refusal, or as a stream",     TO(CLOSE, DONE)) \
    X(LEAVE,        writ_stream_leave,         "DELETE: the end of a session, and its seal",                 TO(LEFT, WAIT, DONE)) \
    X(LEFT,         writ_stream_left,          "what its servers answered: the row may go",                  TO(FORGET, CLOSE, WAIT, DONE)) \
    X(FORGET,       writ_stream_forget,        "the row is gone, and so is the session",                     TO(DONE))
/* clang-format on */

#endif
