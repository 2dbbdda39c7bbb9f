/* log_event.tbl.h - every event of the log, one row each.
 *
 * X(NAME, name, programs, LEVEL, "members", "meaning")
 *   NAME, name  the event in the source and in the line; a name is never used for something else
 *   programs    the programs that write it: SERVE (writ serve), GUARD (writ guard), WRAP (writ
 * wrap), WATCH (writ ledger watch) LEVEL       ERROR, WARN, INFO or DEBUG (log.h) members     of
 * the line, besides time, level and event, in their order; one that does not apply is left out
 *   meaning     for the operator
 *
 * An event without a row cannot be logged. Each program has a page with its rows (integration.log
 * names it), and every line that a test reads is compared with its row. */
#ifndef WRIT_BASE_LOG_EVENT_TBL_H
#define WRIT_BASE_LOG_EVENT_TBL_H

/* clang-format off */
#define WRIT_LOG_EVENTS(X)                                                                         \
    /* ---- requests */                                                                            \
    X(CALL, call, SERVE, INFO,                                                                     \
        "decision_id, agent_id, tenant, upstream, tool, by, verdict, reason, constraint, shadow, " \
        "review, outcome, error_type, waits_for, budget, budget_limit, budget_used, "              \
        "budget_frees_at, replayed, duration_us",                                                  \
        "a governed call, as above")                                                               \
    X(TASK_ENDED, task_ended, SERVE, INFO,                                                         \
        "decision_id, agent_id, tenant, upstream, tool, reason, outcome, error_type",              \
        "the outcome of a call that continued as a task; once, by the request that showed it, "    \
        "or by the ledger when the task's time has passed (`task_expired`)")                       \
    X(WAIT_EXPIRED, wait_expired, SERVE, INFO,                                                     \
        "decision_id, agent_id, tenant, upstream, tool, outcome, error_type",                      \
        "the outcome of a call that waited for its client's input (`input_expired`) or for its "   \
        "caller (`authorization_unused`, `interrupted_execution_unknown`) until its time had passed") \
    X(REFUSED, refused, SERVE, INFO,                                                               \
        "agent_id, tenant, reason, path, method, duration_us",                                     \
        "a request that never became a governed call: malformed, an unknown session, over a share") \
    X(STEP_BROKEN, step_broken, SERVE, ERROR, "from, to",                                          \
        "a defect of Writ: a request made a transition that the table of steps does not allow. "   \
        "It was refused with `internal_error`; a call that had been sent has the outcome "         \
        "`error`, because it may have run")                                                        \
    X(TOKEN_REFUSED, token_refused, SERVE, WARN, "why, path, peer, dropped",                       \
        "a token that was not accepted. At most 10 a second and loop; `dropped` counts the "       \
        "others")                                                                                  \
    X(LOGIN, login, SERVE, INFO, "agent_id, tenant, peer",                                         \
        "a login to [the page](page.md)")                                                          \
    X(LOGIN_REFUSED, login_refused, SERVE, WARN, "reason, peer, dropped",                          \
        "a login that was refused; limited like `token_refused`")                                  \
    /* ---- its life */                                                                            \
    X(CONFIGURATION_ERROR, configuration_error, SERVE | WRAP, ERROR, "file, line, at, why",               \
        "an error in the file, as `writ check` reports it")                                        \
    X(CONFIGURATION_WARNING, configuration_warning, SERVE | WRAP, WARN, "file, line, at, why",            \
        "a warning about the file, as `writ check` reports it")                                    \
    X(NOT_STARTED, not_started, SERVE | GUARD | WRAP | WATCH, ERROR, "file, code, why",            \
        "the program does not start, or cannot go on, and why")                                    \
    X(LEDGER_AWAITED, ledger_awaited, SERVE, INFO, "why",                                          \
        "with `--idle`: another process has the ledger open; the gateway waits up to 10 s for it") \
    X(LISTENING, listening, SERVE | GUARD, INFO,                                                   \
        "address, port, tls, admin",                                                               \
        "an address that the program serves")                                                      \
    X(SERVING, serving, SERVE, INFO, "version",                                                    \
        "the gateway takes requests")                                                              \
    X(IDLE, idle, SERVE, INFO, "idle_us",                                                          \
        "nothing used the gateway for the time of `--idle`, so it ends")                           \
    X(READY, ready, SERVE | GUARD, INFO, "version",                                                \
        "ready for calls; for the gateway: `/readyz` is 200 for the first time or again")          \
    X(NOT_READY, not_ready, SERVE, WARN, "missing",                                                \
        "the gateway is not ready, and what is missing: `upstreams (fs)`")                         \
    X(STOPPED, stopped, SERVE | GUARD, INFO, "version",                                            \
        "the program has ended in order")                                                          \
    X(RELOADED, reloaded, SERVE, INFO, "file",                                                     \
        "a SIGHUP: the new configuration applies")                                                 \
    X(MARK_KEY_DIFFERS, mark_key_differs, SERVE, WARN, "newest, ours",                            \
        "at the start: the newest marks of the ledger are under another `mark.key`, so values that " \
        "earlier records saw are not found; gateways of one ledger need the same file")           \
    X(RELOAD_REFUSED, reload_refused, SERVE, ERROR, "file, why",                                   \
        "a SIGHUP: the configuration did not change, and why")                                     \
    X(POLICY_NOT_KEPT, policy_not_kept, SERVE, WARN, "policy, why",                                \
        "the gateway could not write the policy beside the ledger: it applies, and the page will " \
        "not show its differences")                                                                \
    X(RESTART_NEEDED, restart_needed, SERVE, WARN, "options",                                      \
        "a SIGHUP: options that keep their value until the next start")                            \
    X(SHADOW, shadow, SERVE, WARN, "rules",                                            \
        "how many rules are in shadow mode: their calls run whatever the verdict is. At each start and reload") \
    /* ---- the ledger */                                                                          \
    X(LEDGER_READY, ledger_ready, SERVE, INFO, "kept_outcomes",                                    \
        "the ledger takes records")                                                                \
    X(LEDGER_REFUSING, ledger_refusing, SERVE, ERROR, "why, kept_outcomes",                        \
        "the ledger does not take records, for now; outcomes are kept until it does")              \
    X(LEDGER_POISONED, ledger_poisoned, SERVE, ERROR, "why, kept_outcomes",                        \
        "the ledger takes no more records, and every call is refused ([ledger.md](ledger.md))")    \
    X(EXPORT_WORKS, export_works, SERVE, INFO, "export, to, waiting",                              \
        "an [export](export.md) that failed has delivered a batch; `waiting`: records still to send") \
    X(EXPORT_FAILED, export_failed, SERVE, ERROR, "export, to, why",                               \
        "a batch of an export was not delivered, or records [stay unsigned](ledger.md#signed-later). Tried again: after 1 s, 2 s, ... a minute") \
    X(ANCHOR_WORKS, anchor_works, SERVE, INFO, "to, size",                                         \
        "a checkpoint has reached an [anchor](ledger.md#anchors)")                                 \
    X(ANCHOR_FAILED, anchor_failed, SERVE, ERROR, "to, why",                                       \
        "a checkpoint did not reach an anchor, or was refused there")                              \
    /* ---- telemetry */                                                                           \
    X(TELEMETRY_WORKS, telemetry_works, SERVE, INFO, "to",                                         \
        "the collector of [telemetry](telemetry.md) takes it again")                               \
    X(TELEMETRY_FAILED, telemetry_failed, SERVE, WARN, "to, why",                                  \
        "the collector did not take telemetry; tried again, without a further line until it works") \
    X(TELEMETRY_LOST, telemetry_lost, SERVE, WARN, "records",                                      \
        "how many spans and log lines no collector got, since the last such line; at most one a "  \
        "minute")                                                                                  \
    /* ---- definitions of tools */                                                                \
    X(DEFINITIONS_TAKEN, definitions_taken, SERVE, INFO, "accepted",                               \
        "the gateway read the file that `writ tools accept` changed: the number of all "           \
        "definitions")                                                                             \
    X(DEFINITIONS_REFUSED, definitions_refused, SERVE, ERROR, "why",                               \
        "the gateway refused that file")                                                           \
    X(DEFINITION_ACCEPTED, definition_accepted, SERVE, WARN, "tool, digest, who",                  \
        "an administrator accepted a definition over the admin listener")                          \
    X(DEFINITION_CHANGED, definition_changed, SERVE, WARN, "tool, digest",                         \
        "a server changed the definition of a tool")                                               \
    X(DEFINITION_SEEN, definition_seen, SERVE, DEBUG, "tool, digest",                              \
        "a tool that was not seen before")                                                         \
    X(DEFINITIONS_NOT_LEARNED, definitions_not_learned, SERVE, WARN, "upstream, why",              \
        "the gateway cannot read a server's list of tools; calls that need a definition are "      \
        "refused")                                                                                 \
    X(DEFINITION_ODD, definition_odd, SERVE, WARN, "tool, odd",                                    \
        "a definition is odd: the kinds of oddities, as docs/policy.md names them")                \
    X(DEFINITION_AMBIGUOUS, definition_ambiguous, SERVE, WARN, "upstream, tool",                   \
        "two tools of a server have one name: lists leave them out")                               \
    X(DEFINITIONS_NOT_KEPT, definitions_not_kept, SERVE, ERROR, "why",                             \
        "the file of seen definitions cannot be written")                                          \
    X(REPEATS_REFUSED, repeats_refused, SERVE, WARN, "upstream, tool, why",                        \
        "a tool that claims to be read-only, and whose identical calls are refused because "       \
        "`duplicates: auto` does not trust its server: once for each tool after a start or "       \
        "reload")                                                                                  \
    /* ---- stops */                                                                               \
    X(KILL_PULLED, kill_pulled, SERVE, WARN, "id, by, value, tenant, who",                         \
        "a [stop](stopping.md) holds")                                                             \
    X(KILL_LIFTED, kill_lifted, SERVE, WARN, "id, by, value, tenant, who",                         \
        "a stop was lifted")                                                                       \
    X(KILL_UNKNOWN, kill_unknown, SERVE, WARN, "id, by, value, tenant",                            \
        "a stop with a value that the gateway does not know")                                      \
    X(KILL_NOT_DURABLE, kill_not_durable, SERVE, ERROR, "id, why",                                 \
        "a stop holds, but is not on disk: a restart would lose it")                               \
    /* ---- kept contents */                                                                       \
    X(CONTENTS_ERASED, contents_erased, SERVE, WARN, "who, decision_id, agent_id, tenant, contents",\
        "an administrator erased [contents](contents.md) of the calls that the members select")     \
    X(CONTENTS_CHANGED, contents_changed, SERVE, ERROR, "decision_id, who",                        \
        "contents are not those that the signed record names: the ledger was edited")              \
    X(RECORDS_ARCHIVED, records_archived, SERVE, INFO, "who, before, records",                     \
        "an administrator had [archived records](ledger.md#retention) removed from the ledger")    \
    X(DELEGATION_SET, delegation_set, SERVE, INFO, "delegation, voter, delegate",                  \
        "a voter named another one to [vote for it](reviews.md#delegation-that-a-voter-sets)")     \
    X(DELEGATION_REVOKED, delegation_revoked, SERVE, INFO, "delegation, who",                      \
        "a delegation was taken back, by its voter, its delegate or an administrator")             \
    /* ---- keys, tokens, reviewers */                                                             \
    X(KEYS_FAILED, keys_failed, SERVE, WARN, "issuer, why",                                        \
        "the gateway cannot fetch the key set of an issuer")                                       \
    X(TOKEN_FAILED, token_failed, SERVE, WARN, "upstream, why",                                    \
        "the gateway cannot get a token for an upstream")                                          \
    X(BALLOT_FAILED, ballot_failed, SERVE, WARN, "reviewer, review, why, tries, last",             \
        "a reviewer did not vote; `last`: the gateway does not try again")                                \
    X(COUNT_WAITS, count_waits, SERVE, WARN, "review, engine, why",                                \
        "the votes of a review cannot be counted here now: this gateway tries again until the "    \
        "review's deadline, and another one of its ledger may count them")                         \
    X(COUNT_FAILED, count_failed, SERVE, WARN, "review, engine, why",                              \
        "the plug-in that counts the votes of a review failed, so the call is refused")            \
    X(REVIEWER_ENDED, reviewer_ended, SERVE, WARN,                                                 \
        "reviewer, program, restart_us, why, detail, error, said",                                 \
        "a reviewer's program has ended; `said`: its last standard error, if it ended before it "  \
        "got a call")                                                                              \
    X(REVIEWER_AGENT_FAILED, reviewer_agent_failed, SERVE, INFO, "reviewer, review, agent, why",   \
        "an agent of a reviewer's crew did not answer")                                            \
    X(REVIEWER_STDERR, reviewer_stderr, SERVE, DEBUG, "reviewer, line, dropped",                   \
        "a line of a reviewer's standard error")                                                   \
    /* ---- messages to people */                                                                  \
    X(NOTIFY_FAILED, notify_failed, SERVE, WARN, "to, why, notices, tries, last",                  \
        "a place of `notify` did not take a [message](notify.md); `last`: the gateway does not "   \
        "try again")                                                                               \
    X(NOTICES_DROPPED, notices_dropped, SERVE, WARN, "to, notices",                                \
        "so many notices did not reach a place of `notify`: its queue was full, or its tries "     \
        "were over")                                                                               \
    /* ---- upstreams */                                                                           \
    X(UPSTREAM_STARTED, upstream_started, SERVE, INFO, "upstream, pid",                            \
        "a child of a server over [stdio](stdio.md) runs")                                         \
    X(UPSTREAM_ENDED, upstream_ended, SERVE, WARN,                                                 \
        "upstream, program, restart_us, failures, why, detail, error, said",                       \
        "a child has ended. If it was never ready: failures in a row (`failures`), and its last "  \
        "standard error (`said`)")                                                                 \
    X(UPSTREAM_PROGRAM_CHANGED, upstream_program_changed, SERVE, ERROR, "upstream, why",           \
        "the program of a server over [stdio](stdio.md) is not started: a file differs from "      \
        "`program_digest`. At most one a minute for each upstream, unless `why` changes")           \
    X(UPSTREAM_NOT_STARTED, upstream_not_started, SERVE, ERROR, "upstream, why",                   \
        "a child cannot be started")                                                               \
    X(UPSTREAM_CHILD_ENDS, upstream_child_ends, SERVE, INFO, "upstream, why, pid",                 \
        "the gateway ends a child: idle, or not needed")                                           \
    X(UPSTREAM_SILENT, upstream_silent, SERVE, WARN, "upstream, why",                              \
        "lists leave out an upstream that did not answer in time")                                 \
    X(LIST_ENDLESS, list_endless, SERVE, WARN, "upstream, method",                                 \
        "a server gave a `nextCursor` that it was already sent for this list: the rest is left "   \
        "out, and the answer names the upstream as unavailable")                                   \
    X(UPSTREAM_ANSWERS, upstream_answers, SERVE, INFO, "upstream",                                 \
        "an upstream that was left out is back")                                                   \
    X(UPSTREAM_MALFORMED, upstream_malformed, SERVE, WARN, "upstream, why, dropped",               \
        "a server over stdio wrote a line that is not MCP")                                        \
    X(UPSTREAM_DEMANDS_SCOPE, upstream_demands_scope, SERVE, WARN, "upstream, status, scopes",      \
        "a server over HTTP refused a request and demanded scopes; the gateway requests only those " \
        "of the configuration. At most one a minute for each upstream")                            \
    X(UPSTREAM_STDERR, upstream_stderr, SERVE, DEBUG, "upstream, line, dropped",                   \
        "a line of a child's standard error")                                                      \
    /* ---- writ wrap */                                                                           \
    X(RULES_NOT_AGREED, rules_not_agreed, WRAP, WARN, "upstream, file, why",                       \
        "every call is refused until the user agrees to the rules, and how")                       \
    X(WRAP_TROUBLE, wrap_trouble, WRAP, WARN, "why",                                               \
        "the gateway cannot be reached, refused a message, or ended a session")                    \
    /* ---- writ ledger watch */                                                                   \
    X(CHECKPOINT_SEEN, checkpoint_seen, WATCH, INFO, "origin, records",                            \
        "a new checkpoint, which only appends to the one before")                                  \
    X(CHECKPOINT_REFUSED, checkpoint_refused, WATCH, ERROR, "why",                                 \
        "the watch ends with exit 1: `ROLLBACK`, `FORK`, or no trusted key signed")                \
    X(CHECKPOINT_MISSED, checkpoint_missed, WATCH, WARN, "why",                                    \
        "the gateway did not answer; the watch asks again")                                        \
    /* ---- the guard */                                                                           \
    X(GUARD_LET_THROUGH, let_through, GUARD, DEBUG, "reason, tool, jti",                           \
        "a call that the guard passed to the server")                                              \
    X(GUARD_REFUSED, refused, GUARD, WARN, "reason, tool, jti",                                    \
        "a call that the guard refused")                                                           \
    X(GUARD_NOT_VERIFIED, not_verified, GUARD, ERROR, "why",                                       \
        "the check itself failed: the call is refused with `internal_error`")                      \
    X(GUARD_FETCH_FAILED, fetch_failed, GUARD, WARN, "place, why",                                 \
        "the keys or the status list cannot be read")                                              \
    X(GUARD_KEYS_REFUSED, keys_refused, GUARD, ERROR, "place, why",                                \
        "the text at `place` is not a set of keys")                                                \
    X(GUARD_STATUS_REFUSED, status_refused, GUARD, ERROR, "place, why",                            \
        "the text at `place` is not a status list of the issuer")                                  \
    X(GUARD_SERVER_SAYS, server_says, GUARD, INFO, "line, dropped",                                \
        "a line of the server's standard error (`guard stdio`)")                                   \
    X(GUARD_SERVER_ENDED, server_ended, GUARD, ERROR, "why, detail, error, said",                  \
        "the server has ended, and the guard ends too (`guard stdio`)")                            \
    X(GUARD_NO_INPUT, no_input, GUARD, ERROR, "why",                                               \
        "standard input cannot be read (`guard stdio`)")
/* clang-format on */

#endif
