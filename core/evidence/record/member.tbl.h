/* member.tbl.h - every member of the records, one row each. docs/evidence.md has them too.
 *
 * X(member, KIND, NULLS, needed, meaning), members in JCS order (a test checks the order).
 *   KIND    TEXT    string                    DIGEST  "sha256:" and 64 lower-case hex digits
 *           LABEL   string "sha256:..."       TIME    ISO 8601 UTC, as in 2026-11-21T22:20:00.5Z
 *           CHOICE  one word of the record's enum
 *           LIST    array of strings          COUNT   integer from 0 to 2^53 - 1
 *           NUMBER  integer, also below 0     FLAG    true or false
 *           OBJECT  passed through
 *   NULLS   NEVER   null is a fault           OR_NULL null is allowed, and the same as none
 *           ANSWERS null is allowed, and does where the member is needed
 *   needed  the routes (choices) that cannot do without it, as a set; a needed string or list is
 *           not empty */
#ifndef WRIT_EVIDENCE_MEMBER_TBL_H
#define WRIT_EVIDENCE_MEMBER_TBL_H

/* the words of the CHOICE members: X(NAME, word), with `between` them. Their order is on disk:
 * never change it. */
/* clang-format off */
#define WRIT_DECISION_ROUTES_WITH(X, between)                                                      \
    X(DENY, deny) between X(ALLOW, allow) between X(REQUIRE_APPROVAL, require_approval) between    \
    X(REVISE, revise)
#define WRIT_DECISION_ROUTES(X) WRIT_DECISION_ROUTES_WITH(X, )
#define WRIT_OUTCOME_KINDS_WITH(X, between)                                                        \
    X(ERROR, error) between X(EXECUTED, executed) between X(BLOCKED, blocked) between              \
    X(TIMEOUT, timeout)
#define WRIT_OUTCOME_KINDS(X) WRIT_OUTCOME_KINDS_WITH(X, )
/* clang-format on */
#define WRIT_RECORD_WORD(NAME, word) #word /* for messages: "deny" */
#define WRIT_RECORD_ONE(NAME, word)  +1    /* for their number */

/* the routes of a decision, as sets for the column `needed` */
#define WRIT_NEED_NONE   0U
#define WRIT_NEED_EVERY  (~0U)
#define WRIT_NEED_PERMIT (1U << WRIT_DECISION_ALLOW | 1U << WRIT_DECISION_REQUIRE_APPROVAL)
#define WRIT_NEED_REVIEW (1U << WRIT_DECISION_REQUIRE_APPROVAL)
#define WRIT_NEED_REFUSE (1U << WRIT_DECISION_DENY | 1U << WRIT_DECISION_REVISE)
#define WRIT_NEED_REVISE (1U << WRIT_DECISION_REVISE)
#define WRIT_NEED_ERROR  (1U << WRIT_OUTCOME_ERROR)
#define WRIT_NEED_OPEN   (1U << WRIT_REVIEW_DO_OPEN)
#define WRIT_NEED_VOTE   (1U << WRIT_REVIEW_DO_VOTE)
#define WRIT_NEED_BY     (1U << WRIT_REVIEW_DO_VOTE | 1U << WRIT_REVIEW_DO_REVOKE)

/* clang-format off */

/* GovernanceDecision */
#define WRIT_DECISION_MEMBERS(X)                                                                   \
    X(agent_id, TEXT, NEVER, WRIT_NEED_PERMIT, "the agent that calls")                             \
    X(agent_role, TEXT, NEVER, WRIT_NEED_NONE, "the role of the agent")                            \
    X(boundary_id, TEXT, NEVER, WRIT_NEED_NONE, "the run or session")                              \
    X(continuation_id, TEXT, OR_NULL, WRIT_NEED_REVIEW, "resumption token of a deferred call")     \
    X(credential_scope, TEXT, NEVER, WRIT_NEED_NONE, "what the agent may reach")                   \
    X(credential_tier, TEXT, NEVER, WRIT_NEED_NONE, "whose authority the agent holds")             \
    X(decision, CHOICE, NEVER, WRIT_NEED_EVERY, "the verdict")                                     \
    X(decision_context_hash, DIGEST, NEVER, WRIT_NEED_NONE, "the basis of the verdict")            \
    X(decision_id, TEXT, NEVER, WRIT_NEED_EVERY, "unique id of the record")                        \
    X(evidence_refs, LIST, NEVER, WRIT_NEED_NONE, "evidence held elsewhere")                       \
    X(expires_at, TIME, OR_NULL, WRIT_NEED_REVIEW, "end of the authorization")                     \
    X(extensions, OBJECT, NEVER, WRIT_NEED_NONE, "vendor data")                                    \
    X(idempotency_key, TEXT, NEVER, WRIT_NEED_PERMIT, "stable over retries of one side effect")    \
    X(intent_digest, DIGEST, NEVER, WRIT_NEED_PERMIT, "agent, action, target and state")           \
    X(intent_ref, DIGEST, NEVER, WRIT_NEED_PERMIT, "identity of the intent over retries")          \
    X(issued_at, TIME, OR_NULL, WRIT_NEED_PERMIT, "begin of the authorization")                    \
    X(normalization_id, TEXT, NEVER, WRIT_NEED_PERMIT, "how arguments were normalized")            \
    X(normalized_scope, TEXT, NEVER, WRIT_NEED_PERMIT, "explicit scope")                           \
    X(params_hash, DIGEST, NEVER, WRIT_NEED_PERMIT, "the arguments")                               \
    X(policy_digest, LABEL, NEVER, WRIT_NEED_NONE, "the exact policy version")                     \
    X(policy_refs, LIST, NEVER, WRIT_NEED_PERMIT, "rules that were evaluated")                     \
    X(reason, TEXT, NEVER, WRIT_NEED_REFUSE, "the decision and its grounds, for a person")         \
    X(receipt_ref, DIGEST, NEVER, WRIT_NEED_NONE, "identity of this record")                       \
    X(request_id, TEXT, NEVER, WRIT_NEED_NONE, "the request")                                      \
    X(retrieved_policy_refs, LIST, NEVER, WRIT_NEED_NONE, "records that were consulted")           \
    X(revalidate_if, LIST, NEVER, WRIT_NEED_REVISE, "what makes a new decision necessary")         \
    X(running_count, COUNT, NEVER, WRIT_NEED_NONE, "always seq + 1")                               \
    X(seq, COUNT, NEVER, WRIT_NEED_NONE, "position in the run, from 0 without gaps")               \
    X(supersedes, TEXT, OR_NULL, WRIT_NEED_NONE, "the decision that this one replaces")            \
    X(target, TEXT, NEVER, WRIT_NEED_NONE, "the target")                                           \
    X(target_state_digest, DIGEST, ANSWERS, WRIT_NEED_PERMIT, "state of the target when decided")  \
    X(tool, TEXT, NEVER, WRIT_NEED_PERMIT | WRIT_NEED_REFUSE, "the tool")

/* GovernanceOutcome */
#define WRIT_OUTCOME_MEMBERS(X)                                                                    \
    X(boundary_id, TEXT, NEVER, WRIT_NEED_NONE, "the run or session")                              \
    X(completed_at, TIME, NEVER, WRIT_NEED_EVERY, "when the call ended")                           \
    X(decision_id, TEXT, NEVER, WRIT_NEED_EVERY, "the decision it belongs to")                     \
    X(error_message, TEXT, OR_NULL, WRIT_NEED_NONE, "for error: a sentence for a person")          \
    X(error_type, TEXT, OR_NULL, WRIT_NEED_ERROR, "for error: a word")                             \
    X(extensions, OBJECT, NEVER, WRIT_NEED_NONE, "vendor data")                                    \
    X(idempotency_key, TEXT, OR_NULL, WRIT_NEED_NONE, "that of the decision")                      \
    X(intent_ref, DIGEST, OR_NULL, WRIT_NEED_NONE, "that of the decision; the two join by it")     \
    X(outcome, CHOICE, NEVER, WRIT_NEED_EVERY, "the result of the call")                           \
    X(receipt_ref, DIGEST, OR_NULL, WRIT_NEED_NONE, "identity of this record")                     \
    X(seq, COUNT, NEVER, WRIT_NEED_NONE, "that of the decision")                                   \
    X(tool_output_hash, DIGEST, OR_NULL, WRIT_NEED_NONE, "the tool's result")

/* GovernanceSeal */
#define WRIT_SEAL_MEMBERS(X)                                                                       \
    X(boundary_id, TEXT, NEVER, WRIT_NEED_EVERY, "the run or session that ended")                  \
    X(extensions, OBJECT, NEVER, WRIT_NEED_NONE, "vendor data")                                    \
    X(final_seq, NUMBER, NEVER, WRIT_NEED_NONE, "total - 1")                                       \
    X(seal_hash, DIGEST, NEVER, WRIT_NEED_NONE, "all decision ids in seq order")                   \
    X(sealed, FLAG, NEVER, WRIT_NEED_EVERY, "true")                                                \
    X(sealed_at, TIME, NEVER, WRIT_NEED_NONE, "when it ended")                                     \
    X(total, COUNT, NEVER, WRIT_NEED_EVERY, "how many decisions the run had")

/* one event of a review (review.tbl.h); `decision_id` is the review's id */
#define WRIT_REVIEW_MEMBERS(X)                                                                     \
    X(at, TIME, NEVER, WRIT_NEED_EVERY, "when it happened")                                        \
    X(boundary_id, TEXT, NEVER, WRIT_NEED_NONE, "the run or session of the call")                  \
    X(by, TEXT, NEVER, WRIT_NEED_BY, "the voter, the caller or the administrator")                 \
    X(confidence, TEXT, NEVER, WRIT_NEED_NONE, "how sure the voter is: a decimal from 0 to 1")     \
    X(decision_id, TEXT, NEVER, WRIT_NEED_EVERY, "the decision that opened the review")            \
    X(elected, TEXT, NEVER, WRIT_NEED_NONE, "of a verdict: the candidate that may run")            \
    X(event, CHOICE, NEVER, WRIT_NEED_EVERY, "what happened")                                      \
    X(extensions, OBJECT, NEVER, WRIT_NEED_NONE, "vendor data")                                    \
    X(feedback, TEXT, NEVER, WRIT_NEED_NONE, "the voter's remark")                                 \
    X(log, LIST, NEVER, WRIT_NEED_NONE, "of a verdict: the events of its crew session")            \
    X(n, COUNT, NEVER, WRIT_NEED_EVERY, "position in the review, from 0 without gaps")             \
    X(ranking, LIST, NEVER, WRIT_NEED_NONE, "of a vote: the options, best first")                  \
    X(reason, TEXT, NEVER, WRIT_NEED_NONE, "the reason's name")                                    \
    X(review_digest, DIGEST, NEVER, WRIT_NEED_EVERY, "of the terms")                               \
    X(signature, TEXT, NEVER, WRIT_NEED_NONE, "the voter's own, over the vote (JWS)")              \
    X(state, TEXT, NEVER, WRIT_NEED_EVERY, "of the review from then on")                           \
    X(terms, OBJECT, NEVER, WRIT_NEED_OPEN, "the voters, and how votes are counted")               \
    X(vote, TEXT, NEVER, WRIT_NEED_VOTE, "approve, reject, modify, abstain, or a candidate")

/* extensions.writ of our decisions and outcomes: all optional */
#define WRIT_EXTENSION_MEMBERS(X)                                                                  \
    X(argument, TEXT, NEVER, WRIT_NEED_NONE, "JSON Pointer of the argument that was refused")      \
    X(budgets, LIST, NEVER, WRIT_NEED_NONE, "names of the budgets from which it draws")            \
    X(candidates, OBJECT, NEVER, WRIT_NEED_NONE, "the calls of which voters elect one")            \
    X(charges, LIST, NEVER, WRIT_NEED_NONE, "what it took from budgets: store/write/charges.h")    \
    X(claim_seconds, COUNT, NEVER, WRIT_NEED_NONE, "time in which no other call gets its key")     \
    X(constraint, TEXT, NEVER, WRIT_NEED_NONE, "name of the constraint that failed")               \
    X(contents_kept, DIGEST, NEVER, WRIT_NEED_NONE, "what is kept of them, without secret members") \
    X(contents_too_large, FLAG, NEVER, WRIT_NEED_NONE, "they are longer than what is kept")        \
    X(count_fault, TEXT, NEVER, WRIT_NEED_NONE, "why the plug-in of a review has not counted")     \
    X(crew_log, DIGEST, NEVER, WRIT_NEED_NONE, "of a vote: the log of the crew that gave it")      \
    X(definition, DIGEST, NEVER, WRIT_NEED_NONE, "the tool's definition, as its server listed it") \
    X(duplicates, TEXT, NEVER, WRIT_NEED_NONE, "forbid, replay or allow: for a second call")       \
    X(first_decision_id, TEXT, NEVER, WRIT_NEED_NONE, "the call of which this is a duplicate")     \
    X(flow, OBJECT, NEVER, WRIT_NEED_NONE, "labels and marks of its run: evidence/flow/run.h")    \
    X(input_digest, DIGEST, NEVER, WRIT_NEED_NONE, "inputResponses and requestState of the call")  \
    X(key_stated, FLAG, NEVER, WRIT_NEED_NONE, "the caller stated the idempotency key")            \
    X(output_after, DIGEST, NEVER, WRIT_NEED_NONE, "the result or error as it was passed on")      \
    X(output_before, DIGEST, NEVER, WRIT_NEED_NONE, "the result or error that the tool gave")      \
    X(output_rules, LIST, NEVER, WRIT_NEED_NONE, "rules for results that changed or refused it")   \
    X(profile, TEXT, NEVER, WRIT_NEED_NONE, "derivation profile of the digests")                   \
    X(reason, TEXT, NEVER, WRIT_NEED_NONE, "the reason's name")                                    \
    X(round, COUNT, NEVER, WRIT_NEED_NONE, "rounds of the same call that came before")             \
    X(shadow, FLAG, NEVER, WRIT_NEED_NONE, "the call was made whatever the verdict says")          \
    X(showing, DIGEST, NEVER, WRIT_NEED_NONE, "the arguments that the voters of the review see")   \
    X(state_free, DIGEST, NEVER, WRIT_NEED_NONE, "the call without the target's state")            \
    X(tenant, TEXT, NEVER, WRIT_NEED_NONE, "tenant of the agent")                                  \
    X(trace_id, TEXT, NEVER, WRIT_NEED_NONE, "trace of the request (W3C Trace Context)")           \
    X(upstream, TEXT, NEVER, WRIT_NEED_NONE, "name of the tool server")                            \
    X(via, TEXT, NEVER, WRIT_NEED_NONE, "elicitation: the caller's client asked for the vote")      \
    X(wire_tool, TEXT, NEVER, WRIT_NEED_NONE, "name of the tool on the wire, if another")
/* clang-format on */

#endif
