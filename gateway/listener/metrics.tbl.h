/* metrics.tbl.h - every metric of the gateway, once.
 *
 * WRIT_METRIC_COUNTER(NAME, text, help)            only grows; `text` ends in _total
 * WRIT_METRIC_GAUGE(NAME, text, help)              goes up and down
 * WRIT_METRIC_HISTOGRAM(NAME, text, help)          seconds
 * WRIT_METRIC_VECTOR(NAME, text, label, set, help) a counter per value of an enumeration
 * WRIT_METRIC_LABELS(NAME, text, type, labels, help)  labels of the configuration's names: labels.c
 *
 * docs/monitoring.md has every row; a test compares. The name on the wire is "writ_" and the text. A vector's `set` names the enumeration: its values
 * and their texts are in metrics.c. */
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
WRIT_METRIC_COUNTER(REQUEST_BYTES, "request_body_bytes_total", "Bytes of their bodies")
WRIT_METRIC_COUNTER(RESPONSE_BYTES, "response_body_bytes_total", "Bytes of bodies answered")
WRIT_METRIC_COUNTER(CLIENTS_GONE, "clients_gone_total", "Clients that left before their answer")
WRIT_METRIC_COUNTER(STREAMS, "streams_total", "Answers that were streams")
WRIT_METRIC_COUNTER(UPSTREAM_REQUESTS, "upstream_requests_total", "Messages sent upstream")
WRIT_METRIC_COUNTER(
    UPSTREAM_FAILURES, "upstream_failures_total", "Messages without a whole answer from upstream")
WRIT_METRIC_COUNTER(PROBES, "state_probes_total", "Observations of target state")
WRIT_METRIC_COUNTER(REPLAYS, "replays_total", "Duplicates answered with a stored result")
WRIT_METRIC_COUNTER(TASK_WORDS_DROPPED, "task_words_dropped_total",
    "Notices about tasks that were of no task of the client's agent")
WRIT_METRIC_COUNTER(ANCHORED, "anchored_total", "Checkpoints that were sent to an anchor")
WRIT_METRIC_COUNTER(
    ANCHOR_FAILURES, "anchor_failures_total", "Attempts to send one that failed")
WRIT_METRIC_COUNTER(DEFINITIONS_HIDDEN, "definitions_hidden_total",
    "Tools left out of lists: two of one name, or a name with characters that cannot be seen")
WRIT_METRIC_COUNTER(CHARACTERS_HIDDEN, "characters_hidden_total",
    "Characters that cannot be seen, left out of lists and instructions")
WRIT_METRIC_COUNTER(SHADOWED, "shadowed_total", "Calls let through by shadow mode")

WRIT_METRIC_GAUGE(CONNECTIONS_OPEN, "connections_open", "Connections that are open")
WRIT_METRIC_GAUGE(EXCHANGES_OPEN, "exchanges_open", "Requests without an answer yet")
WRIT_METRIC_GAUGE(STREAMS_OPEN, "streams_open", "Streams that are open")
WRIT_METRIC_GAUGE(SESSIONS_OPEN, "sessions_open", "MCP sessions that are open")
WRIT_METRIC_GAUGE(UPSTREAMS_SILENT, "upstreams_silent",
    "Upstreams that are left out of lists for now, because they did not answer in time")

WRIT_METRIC_GAUGE(LEDGER_RECORDS, "ledger_records", "Records in the ledger")
WRIT_METRIC_GAUGE(LEDGER_QUEUED, "ledger_queued", "Records that wait to be written")
WRIT_METRIC_GAUGE(CLAIMS, "claims", "Calls that are remembered so that they do not run twice")
WRIT_METRIC_GAUGE(REVIEWS_OPEN, "reviews_open", "Reviews that are open, or were over a moment ago")

WRIT_METRIC_HISTOGRAM(
    REQUEST_SECONDS, "request_seconds", "From the end of a request's head to its answer")
WRIT_METRIC_HISTOGRAM(CALL_SECONDS, "call_seconds", "The same for governed calls")
WRIT_METRIC_HISTOGRAM(LEDGER_SECONDS, "ledger_seconds", "From handing a record over to durable")
WRIT_METRIC_HISTOGRAM(UPSTREAM_SECONDS, "upstream_seconds",
    "From sending a message upstream to the end of its answer")

WRIT_METRIC_VECTOR(DECISIONS, "decisions_total", "verdict", VERDICT, "Decisions recorded")
WRIT_METRIC_VECTOR(OUTCOMES, "outcomes_total", "outcome", OUTCOME, "Outcomes recorded")
WRIT_METRIC_VECTOR(
    REFUSALS, "refusals_total", "reason", REASON, "Requests and calls refused, by reason")
WRIT_METRIC_VECTOR(STATUS, "responses_total", "class", STATUS, "Answers by class of status")

WRIT_METRIC_LABELS(BUILD, "build_info", "gauge", "version", "The build: always 1")
WRIT_METRIC_LABELS(UPSTREAM_UP, "upstream_up", "gauge", "upstream",
    "1 while an upstream can be called, else 0")
WRIT_METRIC_LABELS(CALLS, "calls_total", "counter", "upstream, tool, verdict",
    "Governed calls by the rule that decided")

#undef WRIT_METRIC_LABELS
#undef WRIT_METRIC_COUNTER
#undef WRIT_METRIC_GAUGE
#undef WRIT_METRIC_HISTOGRAM
#undef WRIT_METRIC_VECTOR
