/* reason.tbl.h - every reason for which Writ refuses (or lets pass), one row each.
 *
 * X(NAME, name, groups, sentence, hint)
 * NAME, name  the same word in upper and lower case; names are never renamed or reused
 * groups      the checks that give it: WRIT_REASON_IN_..., joined by |
 * sentence    for a person; it is the message of a refusal, so it holds no value of the call
 * hint        an imperative that says what to do; "" without one
 *
 * Rows of a group are in the order of its checks. docs/reasons.md is made from this table: after a
 * change the test unit.reason fails and names the file with the new page. */
#ifndef WRIT_EVIDENCE_REASON_TBL_H
#define WRIT_EVIDENCE_REASON_TBL_H

/* clang-format off */
#define WRIT_REASONS(X)                                                                            \
    /* ---- the binding check */                                                                   \
    X(DECISION_NOT_ALLOW, decision_not_allow, WRIT_REASON_IN_BINDING,                              \
        "the decision does not allow the call",                                                    \
        "ask for a new decision; only a decision `allow` authorizes")                              \
    X(EXPIRED, expired,                                                                            \
        WRIT_REASON_IN_BINDING | WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,               \
        "the authorization is not within its lifetime",                                            \
        "repeat the call to get a fresh authorization; check the clocks if it is new")             \
    X(AGENT_ID_MISMATCH, agent_id_mismatch, WRIT_REASON_IN_BINDING,                                \
        "the authorization was given to another agent",                                            \
        "make the call as the agent that was authorized")                                          \
    X(TOOL_MISMATCH, tool_mismatch, WRIT_REASON_IN_BINDING,                                        \
        "the authorization is for another tool",                                                   \
        "call the tool that was authorized")                                                       \
    X(TARGET_MISMATCH, target_mismatch, WRIT_REASON_IN_BINDING,                                    \
        "the authorization is for another target",                                                 \
        "call it on the target that was authorized")                                               \
    X(NORMALIZED_SCOPE_MISMATCH, normalized_scope_mismatch, WRIT_REASON_IN_BINDING,                \
        "the authorization is for another scope",                                                  \
        "stay within the scope that was authorized")                                               \
    X(EXACT_INTENT_MISMATCH, exact_intent_mismatch, WRIT_REASON_IN_BINDING,                        \
        "the call is not the exact call that was authorized",                                      \
        "ask for a new decision; other arguments are a new call")                                  \
    X(CONTINUATION_MISMATCH, continuation_mismatch, WRIT_REASON_IN_BINDING,                        \
        "the continuation is not the one that was authorized",                                     \
        "resume with the continuation_id of the decision, or leave it out on both sides")          \
    X(IDEMPOTENCY_KEY_MISMATCH, idempotency_key_mismatch, WRIT_REASON_IN_BINDING,                  \
        "the idempotency key is not the one that was authorized",                                  \
        "use the key under which the call was authorized")                                         \
    X(TARGET_STATE_DRIFT, target_state_drift, WRIT_REASON_IN_BINDING,                              \
        "the target is no longer in the state for which the call was authorized",                  \
        "look at the target again and repeat the call")                                            \
    X(DUPLICATE_OUTCOME, duplicate_outcome, WRIT_REASON_IN_BINDING,                                \
        "this call has been made already",                                                         \
        "see the outcome of the first call; to do it again on purpose, use another idempotency key") \
    X(CONTRACT_BINDING_OK, contract_binding_ok, WRIT_REASON_IN_BINDING,                            \
        "the call is exactly what was authorized", "")                                             \
    /* ---- duplicates that the binding check alone cannot detect */                               \
    X(DUPLICATE_IN_FLIGHT, duplicate_in_flight, WRIT_REASON_IN_GATEWAY,                            \
        "the same call is being made right now",                                                   \
        "wait for the first call; its outcome will be recorded")                                   \
    X(IDEMPOTENCY_KEY_REUSE, idempotency_key_reuse, WRIT_REASON_IN_BINDING | WRIT_REASON_IN_GATEWAY, \
        "the idempotency key was used before for a call with other arguments",                     \
        "use a new idempotency key for another call")                                              \
    X(INPUT_NOT_AWAITED, input_not_awaited, WRIT_REASON_IN_GATEWAY,                                \
        "no call of this agent waits for this input",                                              \
        "answer a round once, with the same tool and arguments and the requestState that came with it") \
    X(INPUT_EXPIRED, input_expired, WRIT_REASON_IN_GATEWAY,                                        \
        "the tool asked for input, and none came in time",                                         \
        "find out at the target what happened; use another idempotency key to run it again")       \
    X(TASK_NOT_FOUND, task_not_found, WRIT_REASON_IN_GATEWAY,                                      \
        "this agent has no such task",                                                             \
        "name a task of a call that this agent began, before its time has passed")                 \
    X(TASK_EXPIRED, task_expired, WRIT_REASON_IN_GATEWAY,                                          \
        "the task's time passed before its end was seen",                                          \
        "find out at the target what happened; use another idempotency key to run it again")       \
    X(INTERRUPTED_EXECUTION_UNKNOWN, interrupted_execution_unknown, WRIT_REASON_IN_GATEWAY,        \
        "an earlier attempt was interrupted; it may have run",                                     \
        "find out at the target what happened; use another idempotency key to run it again")       \
    X(AUTHORIZATION_UNKNOWN, authorization_unknown, WRIT_REASON_IN_GATEWAY,                        \
        "this caller has no such authorization",                                                   \
        "send the decision that /v1/before returned to this agent")                                \
    X(AUTHORIZATION_ALTERED, authorization_altered, WRIT_REASON_IN_GATEWAY,                        \
        "the authorization differs from the recorded one",                                         \
        "send the decision as /v1/before returned it")                                             \
    X(AUTHORIZATION_UNUSED, authorization_unused, WRIT_REASON_IN_GATEWAY,                          \
        "the call was allowed and not bound in time; it may have run",                             \
        "bind a call right before it is made; use another idempotency key to run it again")        \
    X(CALL_NOT_BOUND, call_not_bound, WRIT_REASON_IN_GATEWAY,                                      \
        "the call was not bound, so its only outcome is that it was not made",                     \
        "bind a call right before it is made, or say that it was blocked")                         \
    X(OUTCOME_MALFORMED, outcome_malformed, WRIT_REASON_IN_GATEWAY,                                \
        "the outcome is malformed",                                                                \
        "send a GovernanceOutcome with decision_id, intent_ref and outcome; error_type for an error") \
    X(OUTCOME_MISMATCH, outcome_mismatch, WRIT_REASON_IN_GATEWAY | WRIT_REASON_IN_EVIDENCE,        \
        "the outcome does not join its decision",                                                  \
        "copy intent_ref, idempotency_key, boundary_id and seq from the decision")                 \
    X(CALLS_IN_FLIGHT, calls_in_flight, WRIT_REASON_IN_GATEWAY,                                    \
        "calls of the run have no outcome yet, so it is not sealed",                               \
        "report their outcomes, or wait until their time has passed")                              \
    X(BOUNDARY_UNKNOWN, boundary_unknown, WRIT_REASON_IN_GATEWAY,                                  \
        "the run does not exist",                                                                  \
        "send a boundary_id under which a call was made")                                          \
    X(POOL_OFF, pool_off, WRIT_REASON_IN_GATEWAY,                                                  \
        "this gateway has no pool for agents",                                                     \
        "set pool.entries in the configuration to share insights")                                 \
    X(INSIGHT_TOO_LARGE, insight_too_large, WRIT_REASON_IN_GATEWAY,                                \
        "the insight has more bytes or tags than one may have",                                    \
        "put a smaller insight; pool.entry and pool.tags are the limits")                          \
    X(POOL_FULL, pool_full, WRIT_REASON_IN_GATEWAY,                                                \
        "the pool of the tenant has no room for the insight",                                      \
        "remove insights, or wait until some end; pool.entries and pool.tenant are the limits")    \
    X(INSIGHT_UNKNOWN, insight_unknown, WRIT_REASON_IN_GATEWAY,                                    \
        "this agent has no such insight in the pool of its tenant",                                \
        "send the number that a put, a search or a subscription gave; only its agent removes one") \
    /* ---- verifying a credential, in the order of the checks */                                  \
    X(MISSING_CREDENTIAL, missing_credential, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,  \
        "the call has no credential",                                                              \
        "make the call through the gateway")                                                       \
    X(MALFORMED, malformed, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,                    \
        "the credential is malformed",                                                             \
        "send a compact JWS with exactly the members that the gateway writes")                     \
    X(KEY_REVOKED, key_revoked, WRIT_REASON_IN_CREDENTIAL,                                         \
        "the key of the credential was revoked",                                                   \
        "repeat the call; all signatures of the key are rejected")                                 \
    X(UNKNOWN_KEY, unknown_key, WRIT_REASON_IN_CREDENTIAL,                                         \
        "the key that signed the credential is unknown here",                                      \
        "fetch the gateway's key set again")                                                       \
    X(BAD_SIGNATURE, bad_signature, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,            \
        "the signature of the credential is not valid", "")                                        \
    X(KEY_OUT_OF_TIME, key_out_of_time, WRIT_REASON_IN_CREDENTIAL,                                 \
        "the credential states a time of signing outside of its key's validity",                   \
        "make the gateway load its new key (SIGHUP) soon after a rotation")                        \
    X(WRONG_ISSUER, wrong_issuer, WRIT_REASON_IN_CREDENTIAL,                                       \
        "the credential comes from another issuer", "")                                            \
    X(WRONG_AUDIENCE, wrong_audience, WRIT_REASON_IN_CREDENTIAL,                                   \
        "the credential is meant for another receiver", "")                                        \
    X(NOT_YET_VALID, not_yet_valid, WRIT_REASON_IN_CREDENTIAL,                                     \
        "the credential is not valid yet",                                                         \
        "check the clocks of gateway and verifier")                                                \
    X(SCOPE_MISMATCH, scope_mismatch, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,          \
        "the credential is for another tool, agent or tenant", "")                                 \
    X(CAPABILITY_UNCOVERED, capability_uncovered, WRIT_REASON_IN_FOREIGN,                          \
        "the call has an argument that no capability of the grant names", "")                      \
    X(CAPABILITY_EXCEEDED, capability_exceeded, WRIT_REASON_IN_FOREIGN,                            \
        "an argument is not within the capabilities of the grant", "")                             \
    X(ARGS_MISMATCH, args_mismatch, WRIT_REASON_IN_CREDENTIAL,                                     \
        "the credential is for other arguments", "")                                               \
    X(STATE_DRIFT, state_drift, WRIT_REASON_IN_CREDENTIAL,                                         \
        "the target is not in the state for which the credential was issued",                      \
        "repeat the call to get a credential for the present state")                               \
    X(STATUS_UNKNOWN, status_unknown, WRIT_REASON_IN_CREDENTIAL,                                   \
        "the revocation state of the credential is unknown",                                       \
        "give the verifier the gateway's current status list")                                     \
    X(REVOKED, revoked, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,                        \
        "the credential was revoked", "")                                                          \
    X(BINDING_UNKNOWN, binding_unknown, WRIT_REASON_IN_FOREIGN,                                    \
        "the grant is bound to an unknown attestation", "")                                        \
    X(REPLAYED, replayed, WRIT_REASON_IN_CREDENTIAL,                                               \
        "the credential was used before",                                                          \
        "use a new credential for every call")                                                     \
    X(CREDENTIAL_OK, credential_ok, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_FOREIGN,            \
        "the credential is for exactly this call", "")                                             \
    /* ---- verifying evidence, in the order of the checks */                                      \
    X(EVIDENCE_MALFORMED, evidence_malformed, WRIT_REASON_IN_EVIDENCE,                             \
        "the file does not have the expected form",                                                \
        "pass the file as it was written, byte for byte")                                          \
    X(CHECKPOINT_UNSIGNED, checkpoint_unsigned, WRIT_REASON_IN_EVIDENCE,                           \
        "no key that is trusted here signed the checkpoint",                                       \
        "get the keys of the ledger from its operator (writ ledger key)")                          \
    X(CHECKPOINT_INVALID, checkpoint_invalid, WRIT_REASON_IN_EVIDENCE,                             \
        "the checkpoint has a wrong signature, or belongs to another log", "")                     \
    X(CHECKPOINT_UNWITNESSED, checkpoint_unwitnessed, WRIT_REASON_IN_EVIDENCE,                     \
        "fewer witnesses signed the checkpoint than required",                                     \
        "have it signed with writ ledger witness, and make the file under it with --checkpoint")   \
    X(RECORD_NOT_IN_LOG, record_not_in_log, WRIT_REASON_IN_EVIDENCE,                               \
        "a record is not in the log, or not where the proof says", "")                             \
    X(RECORD_INVALID, record_invalid, WRIT_REASON_IN_EVIDENCE,                                     \
        "a record is not valid for its kind", "")                                                  \
    X(RECORD_DIGEST_MISMATCH, record_digest_mismatch, WRIT_REASON_IN_EVIDENCE,                     \
        "a digest in a record does not recompute from its members", "")                            \
    X(RECORD_FOREIGN, record_foreign, WRIT_REASON_IN_EVIDENCE,                                     \
        "a record does not belong to the subject of the file", "")                                 \
    X(APPROVAL_MISMATCH, approval_mismatch, WRIT_REASON_IN_EVIDENCE,                               \
        "a call was allowed that its review did not approve",                                      \
        "the operator signed records that contradict each other; see the review and the decision") \
    X(FLOW_MISMATCH, flow_mismatch, WRIT_REASON_IN_EVIDENCE,                                       \
        "what a decision says about its run does not follow from the records",                     \
        "see the findings; the operator signed records that contradict each other")                \
    X(RUN_INCOMPLETE, run_incomplete, WRIT_REASON_IN_EVIDENCE,                                     \
        "the file does not have the whole run",                                                    \
        "get a bundle with all records of the run")                                                \
    X(TIMESTAMP_NOT_GRANTED, timestamp_not_granted, WRIT_REASON_IN_EVIDENCE,                       \
        "the authority did not give a time stamp",                                                 \
        "ask it again")                                                                            \
    X(TIMESTAMP_MISMATCH, timestamp_mismatch, WRIT_REASON_IN_EVIDENCE,                             \
        "the time stamp covers another file",                                                      \
        "pass the stamped file, byte for byte")                                                    \
    X(TIMESTAMP_UNTRUSTED, timestamp_untrusted, WRIT_REASON_IN_EVIDENCE,                           \
        "no authority that is trusted here signed the time stamp",                                 \
        "pass the root certificate of the authority; its certificates had to be valid at that time") \
    X(EVIDENCE_OK, evidence_ok, WRIT_REASON_IN_EVIDENCE,                                           \
        "everything in the file holds", "")                                                        \
    /* ---- policy */                                                                              \
    X(POLICY_OK, policy_ok, WRIT_REASON_IN_POLICY,                                                 \
        "the policy allows the call", "")                                                          \
    X(UPSTREAM_NOT_LISTED, upstream_not_listed, WRIT_REASON_IN_POLICY,                             \
        "no configured upstream has this name",                                                    \
        "see tools/list for the tools that can be called")                                         \
    X(TOOL_NOT_LISTED, tool_not_listed, WRIT_REASON_IN_POLICY,                                     \
        "the policy does not list this tool",                                                      \
        "see tools/list for the tools that can be called; names are compared exactly")             \
    X(AGENT_NOT_PERMITTED, agent_not_permitted, WRIT_REASON_IN_POLICY,                             \
        "the policy does not permit this agent to call this tool",                                 \
        "call as an agent or role that the rule names")                                            \
    X(NOT_AGREED, not_agreed, WRIT_REASON_IN_POLICY,                                               \
        "the rules of this tool are not agreed yet",                                              \
        "read the rules in the configuration, replace the placeholders, and set agreed: true")     \
    X(INSUFFICIENT_SCOPE, insufficient_scope, WRIT_REASON_IN_POLICY,                               \
        "the caller's token lacks a scope that the tool needs",                                    \
        "get a token with the scopes that the challenge names")                                    \
    X(ARGUMENTS_NOT_AN_OBJECT, arguments_not_an_object, WRIT_REASON_IN_POLICY,                     \
        "the arguments of a tool call must be an object", "send a JSON object, or leave the arguments out") \
    X(NUMBER_NOT_EXACT, number_not_exact, WRIT_REASON_IN_CREDENTIAL | WRIT_REASON_IN_POLICY,       \
        "a number of the call would change its value on the way to the tool",                      \
        "send the nearest number that a double holds (99.9, not 99.9000000000000001), or a string where the tool takes one") \
    X(ARGUMENT_NOT_LISTED, argument_not_listed, WRIT_REASON_IN_POLICY,                             \
        "the call has an argument that the policy does not name",                                  \
        "leave the argument out, or add a constraint for it to the policy")                        \
    X(CONSTRAINT_FAILED, constraint_failed, WRIT_REASON_IN_POLICY,                                 \
        "an argument does not satisfy a constraint of the policy",                                 \
        "satisfy the constraint")                                                                  \
    X(CONSTRAINT_ERROR, constraint_error, WRIT_REASON_IN_POLICY,                                   \
        "a constraint could not be evaluated, which refuses the call",                             \
        "satisfy the constraint; a shorter or simpler value may help")                             \
    X(ARGUMENTS_NOT_VALID, arguments_not_valid, WRIT_REASON_IN_POLICY,                             \
        "the arguments are not valid under the accepted definition of the tool",                   \
        "send arguments that the inputSchema of the tool permits")                                 \
    X(SCHEMA_NOT_USABLE, schema_not_usable, WRIT_REASON_IN_POLICY,                                 \
        "the accepted definition has a schema that cannot be evaluated",                           \
        "leave `schema: accepted` out for this tool, or have its server list another schema")      \
    X(TASK_NOT_GRANTED, task_not_granted, WRIT_REASON_IN_POLICY,                                   \
        "the task of the run does not need this tool",                                             \
        "use the tools that the task names, or open a run for another task")                       \
    X(TASK_NOT_PERMITTED, task_not_permitted, WRIT_REASON_IN_POLICY,                               \
        "this caller may not say what the run is for",                                             \
        "name the caller in `tasks` of the configuration, or leave the task out")                      \
    X(TASK_STATED, task_stated, WRIT_REASON_IN_RUN,                                                \
        "the task of the run is recorded; this record permits no call", "")                        \
    X(CONTENT_READ, content_read, WRIT_REASON_IN_RUN,                                              \
        "what was read belongs to the run now; this record permits no call", "")                   \
    X(SOURCE_NOT_PERMITTED, source_not_permitted, WRIT_REASON_IN_POLICY,                           \
        "a value comes from no source that the policy permits for it",                             \
        "use a value of the task, or of a trusted result of this run, as it stands there")         \
    X(FLOW_NOT_PERMITTED, flow_not_permitted, WRIT_REASON_IN_POLICY,                               \
        "the call does not follow from what the run has seen and done",                            \
        "see `flows` of the policy; a new run begins without what this one has seen")              \
    X(RUN_STATE_UNKNOWN, run_state_unknown, WRIT_REASON_IN_POLICY,                                 \
        "what the run has seen cannot be determined, which refuses the call",                      \
        "repeat the call; if that does not help, open a new run")                                  \
    X(SCOPE_MISSING, scope_missing, WRIT_REASON_IN_POLICY,                                         \
        "the scope of the call cannot be determined",                                              \
        "send the arguments that the tool's scope template names")                                 \
    X(TARGET_MISSING, target_missing, WRIT_REASON_IN_POLICY,                                       \
        "the target of the call cannot be determined",                                             \
        "send the arguments that the tool's target template names")                                \
    X(TARGET_STATE_UNAVAILABLE, target_state_unavailable, WRIT_REASON_IN_POLICY,                   \
        "the state of the target cannot be observed",                                              \
        "try again when the target can be read")                                                   \
    X(DEFINITION_UNKNOWN, definition_unknown, WRIT_REASON_IN_POLICY,                               \
        "the tool is pinned, and its server does not list it",                                     \
        "try again when the tool server lists the tool")                                           \
    X(DEFINITION_AMBIGUOUS, definition_ambiguous, WRIT_REASON_IN_POLICY,                           \
        "the tool server lists two definitions under the tool's name",                             \
        "ask the operator of the tool server to give each tool its own name")                      \
    X(DEFINITION_NOT_ACCEPTED, definition_not_accepted, WRIT_REASON_IN_POLICY,                     \
        "the tool is pinned, and its definition was not accepted yet",                             \
        "ask an operator to accept it with writ tools accept")                                     \
    X(DEFINITION_CHANGED, definition_changed, WRIT_REASON_IN_POLICY,                               \
        "the tool is pinned, and its definition differs from the accepted one",                    \
        "ask an operator to compare it with writ tools diff, and to accept it with writ tools accept") \
    X(DEFINITION_ODD, definition_odd, WRIT_REASON_IN_POLICY,                                       \
        "the tool's definition is odd, as the option definitions says, and was not accepted so",   \
        "ask an operator to review it with writ tools diff, and to accept it with writ tools accept --odd") \
    X(BUDGET_EXCEEDED, budget_exceeded, WRIT_REASON_IN_POLICY,                                     \
        "a budget of the policy is used up",                                                       \
        "wait until the budget's window has moved on")                                             \
    X(RESULT_CONTENT_REFUSED, result_content_refused, WRIT_REASON_IN_POLICY,                       \
        "the call has run; its result has content of a kind that the policy does not let through", \
        "ask for a result of the kinds that the policy lets through")                              \
    X(RESULT_ERROR_REFUSED, result_error_refused, WRIT_REASON_IN_POLICY,                           \
        "the call has run; the tool reported an error, which the policy does not let through", "") \
    X(RESULT_RULE_FAILED, result_rule_failed, WRIT_REASON_IN_POLICY,                               \
        "the call has run; a rule for its result could not be applied, so the result is withheld", \
        "ask for a shorter or simpler result")                                                     \
    X(RESULT_NOT_VALID, result_not_valid, WRIT_REASON_IN_POLICY,                                   \
        "the call has run; its result is not valid under the outputSchema of the tool, so it is withheld", \
        "ask the operator of the server; do not repeat the call")                                  \
    X(POLICY_ERROR, policy_error, WRIT_REASON_IN_POLICY,                                           \
        "the policy could not be evaluated, which refuses the call", "")                           \
    /* ---- reviews */                                                                             \
    X(APPROVAL_REQUIRED, approval_required, WRIT_REASON_IN_REVIEW,                                 \
        "the call needs an approval first",                                                        \
        "repeat the call, or resume with the continuation_id, once it is approved")                \
    X(APPROVAL_GRANTED, approval_granted, WRIT_REASON_IN_REVIEW,                                   \
        "the call is approved and may be made once",                                               \
        "repeat the call, or resume with the continuation_id")                                     \
    X(APPROVAL_REDEEMED, approval_redeemed, WRIT_REASON_IN_REVIEW,                                 \
        "the approval has been redeemed",                                                          \
        "see the outcome of the call; to do it again on purpose, use another idempotency key")     \
    X(APPROVAL_REJECTED, approval_rejected, WRIT_REASON_IN_REVIEW,                                 \
        "the reviewers rejected the call",                                                         \
        "")                                                                                        \
    X(APPROVAL_EXPIRED, approval_expired, WRIT_REASON_IN_REVIEW,                                   \
        "the review ended without a verdict in time",                                              \
        "repeat the call to open a new review")                                                    \
    X(APPROVAL_LAPSED, approval_lapsed, WRIT_REASON_IN_REVIEW,                                     \
        "the call was approved, and the caller did not return in time",                            \
        "repeat the call to open a new review")                                                    \
    X(APPROVAL_WITHDRAWN, approval_withdrawn, WRIT_REASON_IN_REVIEW,                               \
        "the caller gave the call up, or its run ended",                                           \
        "repeat the call to open a new review")                                                    \
    X(APPROVAL_CANCELLED, approval_cancelled, WRIT_REASON_IN_REVIEW,                               \
        "an administrator ended the review",                                                       \
        "ask the administrator; repeating the call opens a new review")                            \
    X(APPROVAL_OUTDATED, approval_outdated, WRIT_REASON_IN_REVIEW,                                 \
        "the policy of the tool changed while the call was under review",                          \
        "repeat the call to have it judged by the present policy")                                 \
    X(APPROVAL_FAILED, approval_failed, WRIT_REASON_IN_REVIEW,                                     \
        "the plug-in that counts the votes of the review failed, so there is no verdict",          \
        "ask the operator of the gateway; repeating the call opens a new review")                  \
    X(CANDIDATE_NOT_ELECTED, candidate_not_elected, WRIT_REASON_IN_REVIEW,                         \
        "the voters elected another candidate",                                                    \
        "make the call that they elected, or propose this one again without the continuation_id")  \
    X(CANDIDATES_NOT_REVIEWED, candidates_not_reviewed, WRIT_REASON_IN_REVIEW,                     \
        "several calls were proposed, and no review elects one of them",                           \
        "propose one call; a review elects among several where its options have candidates")       \
    X(CONTINUATION_INVALID, continuation_invalid, WRIT_REASON_IN_REVIEW,                           \
        "the requestState is not from this gateway, or has expired",                               \
        "repeat the call without requestState; one that is still under review joins its review")   \
    X(REVISION_REQUESTED, revision_requested, WRIT_REASON_IN_REVIEW,                               \
        "the reviewers ask for a changed call",                                                    \
        "see their feedback; a changed call is a new call")                                        \
    X(REVIEW_UNAVAILABLE, review_unavailable, WRIT_REASON_IN_REVIEW,                               \
        "the call needs an approval that is not available here",                                   \
        "")                                                                                        \
    X(REVIEWS_EXCEEDED, reviews_exceeded, WRIT_REASON_IN_REVIEW,                                   \
        "the caller has reached its share of the calls that may be under review",                  \
        "wait until some are decided, or withdraw some")                                           \
    X(REVIEWS_FULL, reviews_full, WRIT_REASON_IN_REVIEW,                                           \
        "as many calls are under review as the gateway permits",                                   \
        "try again when some are decided; the operator can raise limits.reviews")                  \
    X(REVIEW_UNKNOWN, review_unknown, WRIT_REASON_IN_REVIEW,                                       \
        "this caller has no such review",                                                          \
        "see the list of open reviews")                                                            \
    X(REVIEW_CLOSED, review_closed, WRIT_REASON_IN_REVIEW,                                         \
        "the review is over and accepts no more votes or requests",                                \
        "see its state")                                                                           \
    X(REVIEW_MISMATCH, review_mismatch, WRIT_REASON_IN_REVIEW,                                     \
        "the request is bound to another review",                                                  \
        "read the review again and send its digest")                                               \
    X(VOTE_NOT_ENTITLED, vote_not_entitled, WRIT_REASON_IN_REVIEW,                                 \
        "the caller may not do this in this review",                                               \
        "ask a voter of the review; its electorate is fixed when it opens")                        \
    X(VOTE_MALFORMED, vote_malformed, WRIT_REASON_IN_REVIEW,                                       \
        "the vote is malformed",                                                                   \
        "send approve, reject, modify or abstain; feedback as text without control characters; confidence from 0 to 1") \
    X(VOTE_INCOMPLETE, vote_incomplete, WRIT_REASON_IN_REVIEW,                                     \
        "the vote lacks what the engine of the review counts, or has what it does not count",      \
        "send `ranking` with all options of the review, best first, where it has options; `vote` and " \
        "`confidence` for best_of_n; else `vote` alone")                                           \
    X(VOTES_USED_UP, votes_used_up, WRIT_REASON_IN_REVIEW,                                         \
        "the voter has used all its votes in this review",                                         \
        "see the review; the last vote counts")                                                    \
    X(VOTE_UNSIGNED, vote_unsigned, WRIT_REASON_IN_REVIEW,                                         \
        "the voter has a key and must sign its votes",                                             \
        "send the vote as `signed`: see docs/reviews.md")                                          \
    X(VOTE_FORGED, vote_forged, WRIT_REASON_IN_REVIEW,                                             \
        "the signature of the vote is wrong, or signs another vote",                               \
        "sign review_digest, voter, vote and the number of votes cast before, with the key of the terms") \
    X(DELEGATION_MALFORMED, delegation_malformed, WRIT_REASON_IN_REVIEW,                           \
        "the delegation is malformed, or its time is over",                                        \
        "send delegate and until, and from and tools if need be: see docs/reviews.md")             \
    X(DELEGATION_NOT_PERMITTED, delegation_not_permitted, WRIT_REASON_IN_REVIEW,                   \
        "no review permits this voter to name this delegate until then",                           \
        "see `may` of /v1/delegations: the delegates that are permitted, and for how long")        \
    X(DELEGATION_CYCLE, delegation_cycle, WRIT_REASON_IN_REVIEW,                                   \
        "the delegation would come back to the same voter through others",                         \
        "name another delegate")                                                                   \
    X(DELEGATION_REPEATED, delegation_repeated, WRIT_REASON_IN_REVIEW,                             \
        "a delegation with this id is recorded already",                                           \
        "sign another one, with an id of its own")                                                 \
    X(DELEGATION_UNSIGNED, delegation_unsigned, WRIT_REASON_IN_REVIEW,                             \
        "the voter has a key and must sign its delegations",                                       \
        "send it as `signed`: `writ review delegate --key` does it")                               \
    X(DELEGATION_FORGED, delegation_forged, WRIT_REASON_IN_REVIEW,                                 \
        "the signature of the delegation is wrong, or is for another voter or ledger",             \
        "sign it with the key of the voter, for the `ledger` that /v1/delegations names")          \
    X(DELEGATION_UNKNOWN, delegation_unknown, WRIT_REASON_IN_REVIEW,                               \
        "this caller has no such delegation in force",                                             \
        "see the list of delegations")                                                             \
    X(DELEGATIONS_EXCEEDED, delegations_exceeded, WRIT_REASON_IN_REVIEW,                           \
        "the voter has as many delegations as one voter may have",                                 \
        "revoke one first")                                                                        \
    /* ---- gateway: what arrives */                                                               \
    X(MALFORMED_HEAD, malformed_head, WRIT_REASON_IN_GATEWAY,                                      \
        "the head of the request is not well-formed HTTP/1.1",                                     \
        "send one request line with a plain path, then fields in the form of RFC 9110")            \
    X(AMBIGUOUS_LENGTH, ambiguous_length, WRIT_REASON_IN_GATEWAY,                                  \
        "the request does not state its length in exactly one way",                                \
        "send one Content-Length, or one Transfer-Encoding: chunked")                              \
    X(REPEATED_HEADER, repeated_header, WRIT_REASON_IN_GATEWAY,                                    \
        "a field that may appear once appears more often",                                         \
        "send each of these fields once")                                                          \
    X(HEAD_TOO_LARGE, head_too_large, WRIT_REASON_IN_GATEWAY,                                      \
        "the head of the request is larger than the gateway accepts", "")                          \
    X(REQUEST_TIMEOUT, request_timeout, WRIT_REASON_IN_GATEWAY,                                    \
        "the request did not arrive in time", "")                                                  \
    X(VERSION_UNSUPPORTED, version_unsupported, WRIT_REASON_IN_GATEWAY,                            \
        "the version of HTTP is not supported",                                                    \
        "HTTP/1.1")                                                                                \
    X(EXPECTATION_UNSUPPORTED, expectation_unsupported, WRIT_REASON_IN_GATEWAY,                    \
        "the expectation of the request cannot be met",                                            \
        "send Expect: 100-continue, or no Expect")                                                 \
    X(MEDIA_TYPE_UNSUPPORTED, media_type_unsupported, WRIT_REASON_IN_GATEWAY,                      \
        "the body is not of a media type or coding that can be judged",                            \
        "send application/json in UTF-8, without Content-Encoding")                                \
    X(PATH_UNKNOWN, path_unknown, WRIT_REASON_IN_GATEWAY,                                          \
        "this path does not exist", "")                                                            \
    X(METHOD_NOT_ALLOWED, method_not_allowed, WRIT_REASON_IN_GATEWAY,                              \
        "the path does not accept this method",                                                    \
        "use a method that the Allow field names")                                                 \
    X(CERTIFICATE_REQUIRED, certificate_required, WRIT_REASON_IN_GATEWAY,                          \
        "the client did not present an accepted certificate",                                      \
        "present a certificate of the configured authority")                                       \
    X(MALFORMED_REQUEST, malformed_request, WRIT_REASON_IN_GATEWAY,                                \
        "the request is malformed",                                                                \
        "send one JSON-RPC 2.0 message in strict I-JSON") \
    X(ENVIRONMENT_REFUSED, environment_refused, WRIT_REASON_IN_GATEWAY,                            \
        "the environment that the client gives to its server is not taken",                        \
        "send Writ-Environment as writ wrap does, to a server with client_environment: true")      \
    X(BATCH_REFUSED, batch_refused, WRIT_REASON_IN_GATEWAY,                                        \
        "a batch of messages is not accepted",                                                     \
        "send each message alone")                                                                 \
    X(REQUEST_WITHOUT_ID, request_without_id, WRIT_REASON_IN_GATEWAY,                              \
        "a tool call without an id would run without an answer",                                   \
        "give the request an id")                                                                  \
    X(HEADER_MISMATCH, header_mismatch, WRIT_REASON_IN_GATEWAY,                                    \
        "a header and the body of the request disagree",                                           \
        "send the same values in the headers as in the body")                                      \
    X(IDEMPOTENCY_KEY_INVALID, idempotency_key_invalid, WRIT_REASON_IN_GATEWAY,                    \
        "the idempotency key is empty, too long or stated twice with different values", "")        \
    X(UNAUTHENTICATED, unauthenticated, WRIT_REASON_IN_GATEWAY,                                    \
        "the caller is unknown",                                                                   \
        "send the bearer token of a configured agent")                                             \
    X(FORBIDDEN_ORIGIN, forbidden_origin, WRIT_REASON_IN_GATEWAY,                                  \
        "the Host or Origin of the request is not accepted here",                                  \
        "add the name to the option hosts, or the page's origin to origins")                       \
    X(SESSION_UNKNOWN, session_unknown, WRIT_REASON_IN_GATEWAY,                                    \
        "the session does not exist or belongs to another caller",                                 \
        "initialize a new session")                                                                \
    X(REQUEST_TOO_LARGE, request_too_large, WRIT_REASON_IN_GATEWAY,                                \
        "the request is larger than the gateway accepts", "")                                      \
    X(OVERLOADED, overloaded, WRIT_REASON_IN_GATEWAY,                                              \
        "the gateway has more work than it accepts",                                               \
        "try again later")                                                                         \
    X(SHARE_EXCEEDED, share_exceeded, WRIT_REASON_IN_GATEWAY,                                      \
        "the caller has reached its share of the sessions, runs, requests or children",            \
        "end unused sessions and streams, name fewer runs, or wait until some are over")           \
    /* ---- gateway: records, credential, upstream */                                              \
    X(BOUNDARY_SEALED, boundary_sealed, WRIT_REASON_IN_GATEWAY,                                    \
        "the run or session of the call has ended",                                                \
        "start a new session or name another run")                                                 \
    X(LEDGER_RESUMED, ledger_resumed, WRIT_REASON_IN_GATEWAY,                                      \
        "the ledger lost records, and the call may have been made in that time",                   \
        "find out at the target whether it was made; call in a new session, or ask an operator to " \
        "release the tool")                                                                        \
    X(LEDGER_UNAVAILABLE, ledger_unavailable, WRIT_REASON_IN_GATEWAY,                              \
        "the call cannot be recorded, so it is not made",                                          \
        "try again later")                                                                         \
    X(CLOCK_REGRESSION, clock_regression, WRIT_REASON_IN_GATEWAY,                                  \
        "the clock of the gateway went back",                                                      \
        "set the clock of the gateway's machine")                                                  \
    X(KILLED, killed, WRIT_REASON_IN_GATEWAY,                                                      \
        "an administrator has stopped the call, or those of this agent, tool, tenant or policy",   \
        "ask the administrator; the stop holds until it is lifted")                                \
    X(KILL_MALFORMED, kill_malformed, WRIT_REASON_IN_GATEWAY,                                      \
        "the stop is malformed",                                                                   \
        "send one of agent, tool, tenant, policy and credential, its value, and a reason as text") \
    X(KILL_UNKNOWN, kill_unknown, WRIT_REASON_IN_GATEWAY,                                          \
        "this caller has no such stop",                                                            \
        "see the list of stops")                                                                   \
    X(NOT_ADMINISTRATOR, not_administrator, WRIT_REASON_IN_GATEWAY,                                \
        "the caller may not do this",                                                              \
        "call as a subject that `administrators` of the configuration names")                      \
    X(ARCHIVE_MISMATCH, archive_mismatch, WRIT_REASON_IN_GATEWAY,                                  \
        "the archive is one of another ledger, so nothing is removed",                             \
        "name the ledger of this gateway, and its archive")                                        \
    X(NOT_CONTENT_READER, not_content_reader, WRIT_REASON_IN_GATEWAY,                              \
        "the caller may not read the contents of calls",                                           \
        "call as a subject that `content_readers` of the configuration names")                     \
    X(CONTENTS_CHANGED, contents_changed, WRIT_REASON_IN_GATEWAY,                                  \
        "the kept contents are not those that the signed record names",                            \
        "keep a copy of the ledger, and run `writ ledger verify`")                                 \
    X(CREDENTIAL_FAILED, credential_failed, WRIT_REASON_IN_GATEWAY,                                \
        "no credential could be issued for the call", "")                                          \
    X(UPSTREAM_UNAVAILABLE, upstream_unavailable, WRIT_REASON_IN_GATEWAY,                          \
        "the tool server cannot be reached; nothing was sent",                                     \
        "try again later")                                                                         \
    X(UPSTREAM_PROGRAM_CHANGED, upstream_program_changed, WRIT_REASON_IN_GATEWAY,                  \
        "the program of the tool server is not the one that the configuration names; it was not started", \
        "ask the operator to review the program; `writ tools program` shows its digests")          \
    X(UPSTREAM_TOKEN_MISSING, upstream_token_missing, WRIT_REASON_IN_GATEWAY,                      \
        "the gateway has no token for the tool server at the moment; nothing was sent",            \
        "try again later; the gateway's log has the cause")                                        \
    X(UPSTREAM_UNAUTHORIZED, upstream_unauthorized, WRIT_REASON_IN_GATEWAY,                        \
        "the tool server rejects the gateway's authorization",                                     \
        "see `authorization` and `resource` of the upstream in the configuration")                 \
    X(UPSTREAM_SESSION_LOST, upstream_session_lost, WRIT_REASON_IN_GATEWAY,                        \
        "the tool server lost its session with the gateway; the call may have run",                \
        "find out at the target what happened before calling again; the gateway opens another session " \
        "with the server")                                                                         \
    X(UPSTREAM_TIMEOUT, upstream_timeout, WRIT_REASON_IN_GATEWAY,                                  \
        "the tool server did not answer in time; the call may have run",                           \
        "find out at the target what happened before calling again")                               \
    X(UPSTREAM_FAILED, upstream_failed, WRIT_REASON_IN_GATEWAY,                                    \
        "the connection to the tool server broke; the call may have run",                          \
        "find out at the target what happened before calling again")                               \
    X(UPSTREAM_MALFORMED, upstream_malformed, WRIT_REASON_IN_GATEWAY,                              \
        "the answer of the tool server is malformed; the call may have run",                       \
        "find out at the target what happened before calling again")                               \
    X(RESULT_TOO_LARGE, result_too_large, WRIT_REASON_IN_GATEWAY,                                  \
        "the result is larger than the gateway accepts; the call may have run", "")                \
    X(ANSWER_UNKNOWN, answer_unknown, WRIT_REASON_IN_GATEWAY,                                      \
        "the answer is not the recorded one for this request, or the request is unknown",          \
        "see the outcome of the call, or find out at the target what happened")                    \
    X(CLIENT_GONE, client_gone, WRIT_REASON_IN_GATEWAY,                                            \
        "the client went away, or cancelled the call, before it was made", "")                                       \
    X(CALL_CANCELLED, call_cancelled, WRIT_REASON_IN_GATEWAY,                                      \
        "the caller cancelled the call, or left, when it had been sent; it may have run",          \
        "find out at the target what happened before calling again")                               \
    X(SHUTTING_DOWN, shutting_down, WRIT_REASON_IN_GATEWAY,                                        \
        "the gateway is shutting down",                                                            \
        "try again at once; another instance may answer")                                          \
    X(INTERNAL_ERROR, internal_error, WRIT_REASON_IN_GATEWAY,                                      \
        "the gateway failed while it handled the call",                                            \
        "nothing was sent; see the gateway's log")
/* clang-format on */

#endif
