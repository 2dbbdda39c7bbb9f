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
 * No byte of a governed call is sent before CLAIM is durable, and only FORWARD sends one. Before
 * CLAIM, only LATE, DISCOVER and OBSERVE speak to upstreams. */
#ifndef WRIT_GATEWAY_STEP_TBL_H
#define WRIT_GATEWAY_STEP_TBL_H

/* clang-format off */
#define WRIT_STEPS(X) \
    /* every request */ \
    X(AUTHENTICATE, writ_admit_agent,          "identifies the caller; an unknown one gets 401",             TO(READ, SESSION, REJUDGE, CLOSE, DONE)) \
    X(READ,         writ_admit_body,           "parses the body once, strictly, with limits",                TO(CLASSIFY, HOOK, DONE)) \
    X(CLASSIFY,     writ_admit_message,        "request, notification or response; era; headers agree",      TO(READ, BATCH, SESSION, DONE)) \
    X(BATCH,        writ_batch_start,          "splits a batch: each message takes its own path",            TO(WHOLE, WAIT, DONE)) \
    X(WHOLE,        writ_batch_answer,         "joins the answers of a batch into one",                      TO(WHOLE, WAIT, DONE)) \
    X(SESSION,      writ_admit_session,        "finds the session, in memory or in the ledger",              TO(ROUTE, STREAM, LEAVE, SESSION, WAIT, DONE)) \
    X(ROUTE,        writ_admit_route,          "chooses one of the paths below",                             TO(JUDGE, PASS, TASK, FANOUT, HANDSHAKE, REPLY, STREAM, DONE)) \
    /* a governed call */ \
    X(JUDGE,        writ_judge_call,           "tool, boundary, key; then policy",                           TO(MRTR, LATE, CLOSE, DONE)) \
    X(MRTR,         writ_mrtr_find,            "input for a call that waits: finds that call",               TO(LATE, FOLLOW, MRTR, CLOSE, WAIT, DONE)) \
    X(LATE,         writ_meet_upstream,        "an upstream that missed initialize joins the session",       TO(DISCOVER, WAIT)) \
    X(DISCOVER,     writ_tool_discovery_tool,  "gets the tool's definition; the head agrees with it",        TO(OBSERVE, FOLLOW, DISCOVER, CLOSE, WAIT, DONE)) \
    X(OBSERVE,      writ_observe_start,        "reads the state of the target with its probe",               TO(FOLLOW, COMPARE, OBSERVE, WAIT)) \
    X(FOLLOW,       writ_follow_run,           "judges where its arguments came from, by what its run saw",  TO(DRAFT, FOLLOW, CLOSE, WAIT, DONE)) \
    X(DRAFT,        writ_judge_draft,          "makes the decision record and its digests",                  TO(CLAIM, DISCOVER, ELECT, CLOSE, WAIT, DONE)) \
    X(ELECT,        writ_candidates_elect,     "of several candidates: takes the one that was elected",      TO(DRAFT)) \
    X(CLAIM,        writ_judge_claim,          "makes claim and record durable in one transaction",          TO(BIND, CLOSE, WAIT, DONE)) \
    X(BIND,         writ_judge_bind,           "makes the binding check; only it makes a permit",            TO(SIGN, HOLD, RECORD, GIVE, WAIT)) \
    X(HOLD,         writ_review_hold_wait,     "not granted: the open request may wait for a verdict",       TO(AUTHENTICATE, ANSWER, AGAIN, HOLD, WAIT)) \
    X(REJUDGE,      writ_review_hold_judge,    "after the verdict: judges the whole call again",             TO(JUDGE, HOOK, CLOSE, DONE)) \
    X(SIGN,         writ_forward_sign,         "puts the credential into the judged message",                TO(FORWARD, HAND, RECORD, SIGN, WAIT)) \
    X(FORWARD,      writ_forward_send,         "sends the message once, with the permit",                    TO(CHECK, RECORD, WAIT)) \
    X(CHECK,        writ_conclude_check,       "checks the answer: limits, digest, outcome",                 TO(RECORD)) \
    X(RECORD,       writ_conclude_record,      "makes the outcome durable",                                  TO(ANSWER, KEPT, WAIT)) \
    X(KEPT,         writ_conclude_kept,        "a call that stays open: checks that the ledger has it",      TO(ANSWER, RECORD)) \
    X(ANSWER,       writ_request_answer,       "sends the result, or the refusal with its reason",           TO(CLOSE, DONE)) \
    X(CLOSE,        writ_client_stream_close,  "ends an event stream when its client has read it all",       TO(CLOSE, WAIT, DONE)) \
    /* a call that its caller makes (the hook API): from DISCOVER to SIGN as above, then HAND */ \
    X(HOOK,         writ_hook_read,            "reads one JSON object",                                      TO(BEFORE, RUN, CANDIDATE, OUTCOME, SEAL, POOL, DONE)) \
    X(BEFORE,       writ_hook_before,          "before: reads a call and judges it",                         TO(DISCOVER, DONE)) \
    X(RUN,          writ_hook_run,             "runs: reads what a run is for; no call follows",             TO(FOLLOW, DONE)) \
    X(HAND,         writ_hook_hand,            "gives the call to its caller to make, durably",              TO(HANDED, RECORD, WAIT)) \
    X(HANDED,       writ_hook_handed,          "before: answers if that is durable, or ends the call",       TO(ANSWER, RECORD)) \
    X(AGAIN,        writ_hook_again,           "before, refused: finds an equal call that waits for bind",   TO(ANSWER, SAME, WAIT)) \
    X(SAME,         writ_hook_same,            "before, repeated: returns the same authorization",           TO(ANSWER)) \
    X(CANDIDATE,    writ_hook_bind_read,       "bind: reads a candidate for an authorization",               TO(LOOK, WAIT, DONE)) \
    X(LOOK,         writ_hook_bind_look,       "bind: reads the record of the authorization",                TO(OBSERVE, COMPARE, ANSWER, DONE)) \
    X(COMPARE,      writ_hook_bind_check,      "bind: makes the binding check; a call is bound once",        TO(RECORD, ANSWER, WAIT)) \
    X(OUTCOME,      writ_hook_after_read,      "after: reads an outcome",                                    TO(JOIN, WAIT, DONE)) \
    X(JOIN,         writ_hook_after_join,      "after: joins the outcome to its decision",                   TO(RECORD, DONE)) \
    X(SEAL,         writ_hook_after_read_seal, "seal: reads the end of a run",                               TO(SEALED, WAIT, DONE)) \
    X(SEALED,       writ_hook_after_seal,      "seal: answers with the result",                              TO(DONE)) \
    X(POOL,         writ_hook_pool,            "pool: reads a request to the shared pool",                   TO(POOLED, WAIT, DONE)) \
    X(POOLED,       writ_hook_pooled,          "pool: answers from the insights of the tenant, or waits",     TO(POOLED, WAIT, DONE)) \
    /* everything else */ \
    X(PASS,         writ_pass_start,           "sends the message unchanged to one upstream",                TO(RELAY, SEEK, FANOUT, PASS, WAIT, DONE)) \
    X(SEEK,         writ_owner_search,         "asks for the lists that say who owns a resource",            TO(PASS, SEEK, WAIT, DONE)) \
    X(RELAY,        writ_pass_relay,           "sends the upstream's answer to the client",                  TO(CLOSE, DRAFT, DONE)) \
    X(GIVE,         writ_pass_give,            "gives what was read, once the run has its labels",           TO(CLOSE, DONE)) \
    X(TASK,         writ_task_find,            "a request about a task: finds the upstream of that task",    TO(STATUS, LIST, TASK, WAIT, DONE)) \
    X(STATUS,       writ_task_status,          "reads the answer: whether the task has ended",               TO(SETTLE, REPORT, CLOSE, WAIT, DONE)) \
    X(LIST,         writ_task_list,            "reads the answer: the tasks of a list",                      TO(FILTER, REPORT, DONE)) \
    X(FILTER,       writ_task_filter,          "keeps this agent's tasks in the list",                       TO(REPORT, FILTER, WAIT, DONE)) \
    X(SETTLE,       writ_task_settle,          "an ended task: makes the outcome of its call durable",       TO(REPORT, WAIT)) \
    X(REPORT,       writ_task_report,          "sends the server's answer to the client",                    TO(CLOSE, DONE)) \
    X(FANOUT,       writ_fanout_start,         "sends to several upstreams: merges lists, copies notices",   TO(GATHER, TURN, MERGE, WAIT, DONE)) \
    X(GATHER,       writ_fanout_gather,        "answers with the first result of all answers",               TO(CLOSE, DONE)) \
    X(TURN,         writ_fanout_turn,          "asks one upstream after the other, until one has a result",  TO(TURN, CLOSE, DRAFT, WAIT, DONE)) \
    X(MERGE,        writ_lists_merge,          "requests the pages of a list, until it is complete",         TO(MERGE, CLOSE, WAIT, DONE)) \
    X(HANDSHAKE,    writ_handshake_start,      "initialize and server/discover",                             TO(AGREE, WAIT, DONE)) \
    X(AGREE,        writ_handshake_agree,      "makes the session and its row from all answers",             TO(OPENED, CLOSE, WAIT, DONE)) \
    X(OPENED,       writ_handshake_opened,     "the row is durable: the client gets its session",            TO(CLOSE, DONE)) \
    X(REPLY,        writ_reply_start,          "passes a client's answer to a server's request",             TO(RELAY, VOTE, WAIT, DONE)) \
    X(VOTE,         writ_review_vote,          "a client's answer to the question about a held call",        TO(VOTE, WAIT, DONE)) \
    X(STREAM,       writ_stream_open,          "opens the event streams: GET and subscriptions/listen",      TO(ENDED, WAIT, DONE)) \
    X(ENDED,        writ_stream_merge_ended,   "all sources have ended: refuses, or ends the stream",        TO(CLOSE, DONE)) \
    X(LEAVE,        writ_stream_leave,         "DELETE: ends a session with its seal",                       TO(LEFT, WAIT, DONE)) \
    X(LEFT,         writ_stream_left,          "reads the servers' answers: deletes the row of the session", TO(FORGET, CLOSE, WAIT, DONE)) \
    X(FORGET,       writ_stream_forget,        "the row is deleted: the session ends",                       TO(DONE))
/* clang-format on */

#endif
