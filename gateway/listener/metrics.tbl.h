/* metrics.tbl.h - every metric of the gateway, once.
 *
 * WRIT_METRIC_COUNTER(NAME, text, help)            only grows; `text` ends in _total
 * WRIT_METRIC_GAUGE(NAME, text, help)              goes up and down
 * WRIT_METRIC_HISTOGRAM(NAME, text, help)          seconds
 * WRIT_METRIC_VECTOR(NAME, text, label, set, help) a counter per value of an enumeration
 * WRIT_METRIC_LABELS(NAME, text, type, labels, help)  labels of the configuration's names: labels.c,
 *                                                  gateway/service/gauges.c
 *
 * docs/monitoring.md has every row; a test compares. The exported name is "writ_" and the text. `set`
 * of a vector names the enumeration; metrics.c has its values and their texts. */
#ifndef WRIT_METRIC_COUNTER
#define WRIT_METRIC_COUNTER(NAME, text, help)
#endif
#ifndef WRIT_METRIC_GAUGE
#define WRIT_METRIC_GAUGE(NAME, text, help)
#endif
#ifndef WRIT_METRIC_HISTOGRAM
#define WRIT_METRIC_HISTOGRAM(NAME, text, help)
#endif
#ifndef WRIT_METRIC_LABELS
#define WRIT_METRIC_LABELS(NAME, text, type, labels, help)
#endif
#ifndef WRIT_METRIC_VECTOR
#define WRIT_METRIC_VECTOR(NAME, text, label, set, help)
#endif

WRIT_METRIC_COUNTER(CONNECTIONS, "connections_total", "Connections accepted")
WRIT_METRIC_COUNTER(CONNECTIONS_REFUSED, "connections_refused_total",
    "Connections closed at once because the limit was reached")
WRIT_METRIC_COUNTER(TLS_FAILURES, "tls_failures_total", "TLS handshakes that did not finish")
WRIT_METRIC_COUNTER(REQUESTS, "requests_total", "HTTP requests that reached a handler")
WRIT_METRIC_COUNTER(REQUEST_BYTES, "request_body_bytes_total", "Bytes of request bodies")
WRIT_METRIC_COUNTER(RESPONSE_BYTES, "response_body_bytes_total", "Bytes of response bodies")
WRIT_METRIC_COUNTER(CLIENTS_GONE, "clients_gone_total",
    "Clients that disconnected before their answer")
WRIT_METRIC_COUNTER(STREAMS, "streams_total", "Answers sent as streams")
WRIT_METRIC_COUNTER(UPSTREAM_REQUESTS, "upstream_requests_total", "Messages sent upstream")
WRIT_METRIC_COUNTER(UPSTREAM_FAILURES, "upstream_failures_total",
    "Messages without a complete answer from upstream")
WRIT_METRIC_COUNTER(PROBES, "state_probes_total", "Probes of target state")
WRIT_METRIC_COUNTER(REPLAYS, "replays_total", "Duplicates answered with a stored result")
WRIT_METRIC_COUNTER(TASK_WORDS_DROPPED, "task_words_dropped_total",
    "Notifications about tasks that do not belong to the client's agent")
WRIT_METRIC_COUNTER(ANCHORED, "anchored_total", "Checkpoints sent to an anchor")
WRIT_METRIC_COUNTER(
    ANCHOR_FAILURES, "anchor_failures_total", "Failed attempts to send one")
WRIT_METRIC_COUNTER(EXPORTED, "exported_total", "Events that a receiver has taken")
WRIT_METRIC_COUNTER(EXPORT_FAILURES, "export_failures_total", "Failed attempts to send some")
WRIT_METRIC_COUNTER(NOTIFIED, "notifications_total", "Messages to people that were taken")
WRIT_METRIC_COUNTER(
    NOTIFY_FAILURES, "notification_failures_total", "Failed attempts to send one")
WRIT_METRIC_COUNTER(NOTICES_DROPPED, "notices_dropped_total",
    "Notices that did not fit a queue, or could not be sent")
WRIT_METRIC_COUNTER(DEFINITIONS_HIDDEN, "definitions_hidden_total",
    "Tools left out of lists: two of one name, or a name with invisible characters")
WRIT_METRIC_COUNTER(CHARACTERS_HIDDEN, "characters_hidden_total",
    "Invisible characters removed from lists and instructions")
WRIT_METRIC_COUNTER(SHADOWED, "shadowed_total", "Calls that shadow mode let through")
WRIT_METRIC_COUNTER(TELEMETRY_SENT, "telemetry_sent_total",
    "Spans and log lines that the collector of telemetry took")
WRIT_METRIC_COUNTER(TELEMETRY_LOST, "telemetry_lost_total",
    "Spans and log lines that no collector took, and requests whose telemetry had no room")

WRIT_METRIC_GAUGE(CONNECTIONS_OPEN, "connections_open", "Open connections")
WRIT_METRIC_GAUGE(EXCHANGES_OPEN, "exchanges_open", "Requests without an answer yet")
WRIT_METRIC_GAUGE(STREAMS_OPEN, "streams_open", "Open streams")
WRIT_METRIC_GAUGE(SESSIONS_OPEN, "sessions_open", "Open MCP sessions")
WRIT_METRIC_GAUGE(UPSTREAMS_SILENT, "upstreams_silent",
    "Upstreams that lists leave out for now, because they did not answer in time")
WRIT_METRIC_GAUGE(UPSTREAMS_REFUSED, "upstreams_refused",
    "Upstreams whose program is not started, because a file differs from program_digest")

WRIT_METRIC_GAUGE(LEDGER_RECORDS, "ledger_records", "Records in the ledger")
WRIT_METRIC_GAUGE(LEDGER_QUEUED, "ledger_queued", "Records waiting to be written")
WRIT_METRIC_GAUGE(LEDGER_OUTCOMES_KEPT, "ledger_outcomes_kept",
    "Outcomes in memory that could not be written yet")
WRIT_METRIC_GAUGE(LEDGER_BYTES, "ledger_bytes", "Bytes of the ledger's file and its write-ahead log")
WRIT_METRIC_GAUGE(DISK_BYTES, "ledger_disk_bytes", "Bytes of the file system of the ledger")
WRIT_METRIC_GAUGE(DISK_FREE, "ledger_disk_free_bytes",
    "Bytes of it that the gateway can still write")
WRIT_METRIC_GAUGE(CHECKPOINT_AGE, "checkpoint_age_seconds",
    "Since the newest record and its checkpoint, 0 without one")
WRIT_METRIC_GAUGE(SCRUBS, "scrubs",
    "Verifications of the whole ledger since the start that found no fault")
WRIT_METRIC_GAUGE(SCRUB_AGE, "scrub_age_seconds", "Since the last of them, or since the start")
WRIT_METRIC_GAUGE(CLAIMS, "claims", "Claimed keys, so that their calls do not run twice")
WRIT_METRIC_GAUGE(REVIEWS_OPEN, "reviews_open", "Reviews that are open or just ended")
WRIT_METRIC_GAUGE(REVIEWS_WAITING, "reviews_waiting", "Reviews that wait for votes")
WRIT_METRIC_GAUGE(REVIEW_AGE, "review_oldest_seconds",
    "Since the oldest of them opened, 0 without one")

WRIT_METRIC_HISTOGRAM(
    REQUEST_SECONDS, "request_seconds", "From the end of a request's header to its answer")
WRIT_METRIC_HISTOGRAM(CALL_SECONDS, "call_seconds", "The same for governed calls")
WRIT_METRIC_HISTOGRAM(LEDGER_SECONDS, "ledger_seconds",
    "From handing a record to the ledger until it is on disk")
WRIT_METRIC_HISTOGRAM(UPSTREAM_SECONDS, "upstream_seconds",
    "From sending a message upstream to the end of its answer")

WRIT_METRIC_VECTOR(DECISIONS, "decisions_total", "verdict", VERDICT, "Decisions recorded")
WRIT_METRIC_VECTOR(OUTCOMES, "outcomes_total", "outcome", OUTCOME, "Outcomes recorded")
WRIT_METRIC_VECTOR(
    REFUSALS, "refusals_total", "reason", REASON, "Requests and calls refused, by reason")
WRIT_METRIC_VECTOR(STATUS, "responses_total", "class", STATUS, "Answers by class of status")

WRIT_METRIC_LABELS(BUILD, "build_info", "gauge", "version", "The build: always 1")
WRIT_METRIC_LABELS(UPSTREAM_UP, "upstream_up", "gauge", "upstream",
    "1 while an upstream can be called, 0 also after three messages in a row without an answer")
WRIT_METRIC_LABELS(LEDGER_STATE, "ledger_state", "gauge", "state",
    "1 for the state of the ledger, else 0. Refusing and poisoned ones refuse every call")
WRIT_METRIC_LABELS(FLEET_EPOCH, "fleet_epoch", "gauge", "gateway",
    "The epoch of this gateway, 0 while it has none, where a ledger is shared")
WRIT_METRIC_LABELS(FLEET_LEASE, "fleet_lease_seconds", "gauge", "gateway",
    "Until its lease is over, 0 after that: it sends no call then")
WRIT_METRIC_LABELS(FLEET_GATEWAYS, "fleet_gateways", "gauge", "gateway",
    "Live gateways of the ledger, as this one saw them last")
WRIT_METRIC_LABELS(FLEET_TAKEN, "fleet_records_taken_total", "counter", "gateway",
    "Records of other gateways that it took into its memory")
WRIT_METRIC_LABELS(FLEET_TURNS, "fleet_turns_total", "counter", "gateway",
    "Transactions that it committed")
WRIT_METRIC_LABELS(FLEET_TURN_SECONDS, "fleet_turn_seconds_total", "counter", "gateway",
    "The time that they took, with the waiting for other gateways")
WRIT_METRIC_LABELS(FLEET_UNKNOWN, "fleet_unknown_commits_total", "counter", "gateway",
    "Commits whose answer was lost, so that it had to ask for their end")
WRIT_METRIC_LABELS(CERTIFICATE, "certificate_remaining_seconds", "gauge", "listener",
    "Until the TLS certificate of a listener expires, below 0 after that")
WRIT_METRIC_LABELS(BUDGET_LIMIT, "budget_limit", "gauge", "upstream, tool, budget",
    "The limit of a budget, from the first call that draws on it")
WRIT_METRIC_LABELS(BUDGET_USED, "budget_used", "gauge", "upstream, tool, budget",
    "The most that one key of it has used in the present window, as of the calls by this rule")
WRIT_METRIC_LABELS(EXPORT_WAITING, "export_waiting", "gauge", "export",
    "Records that an export has not delivered yet")
WRIT_METRIC_LABELS(EXPORT_LAG, "export_lag_seconds", "gauge", "export",
    "Age of the oldest of them that it has read, or 0")
WRIT_METRIC_LABELS(CALLS, "calls_total", "counter", "upstream, tool, verdict",
    "Governed calls by the rule that decided")
WRIT_METRIC_LABELS(CALLS_REFUSED, "calls_refused_total", "counter", "upstream, tool, reason",
    "Governed calls that did not get their result, by rule and reason")

#undef WRIT_METRIC_LABELS
#undef WRIT_METRIC_COUNTER
#undef WRIT_METRIC_GAUGE
#undef WRIT_METRIC_HISTOGRAM
#undef WRIT_METRIC_VECTOR
