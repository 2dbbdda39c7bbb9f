/* field.tbl.h - the fields of HTTP that belong to Writ in a request to an upstream. No option may
 * name one of them for a secret or a credential: it would be there twice, or not go out at all.
 *
 * FIELD("name", OWNER)     the field of this name, in any case
 * FIELDS("prefix", OWNER)  every field that begins so
 *
 * OWNER: HOP (the HTTP client: framing and this connection), MESSAGE (what says which message it
 * is), TRACE (of the client's request, passed on as it came). */
FIELD("host", HOP)
FIELD("content-length", HOP)
FIELD("connection", HOP)
FIELD("transfer-encoding", HOP)
FIELD("te", HOP)
FIELD("trailer", HOP)
FIELD("upgrade", HOP)
FIELD("keep-alive", HOP)
FIELD("expect", HOP)
FIELD("http2-settings", HOP)
FIELDS("proxy-", HOP)
FIELD("accept", MESSAGE)
FIELD("accept-encoding", MESSAGE)
FIELD("content-type", MESSAGE)
FIELD("last-event-id", MESSAGE)
FIELDS("mcp-", MESSAGE)
FIELD("traceparent", TRACE)
FIELD("tracestate", TRACE)
FIELD("baggage", TRACE)
