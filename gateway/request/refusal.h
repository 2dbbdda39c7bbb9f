/* refusal.h - the forms of a refusal. Reasons come from the one table
 * (evidence/record/reason.tbl.h).
 *
 * Requests of the hook API are answered with problems (RFC 9457). Else there are three forms: an
 * HTTP status with a JSON-RPC error body, for a faulty message (bad framing, no identity,
 * overload); HTTP 200 with a JSON-RPC error, for a governed call (403 and a challenge, when a token
 * with more scopes would help and is available); a result with isError, for a governed call whose
 * rule is configured so. None of them holds a value of the call. */
#ifndef WRIT_GATEWAY_REFUSAL_H
#define WRIT_GATEWAY_REFUSAL_H

#include "evidence/json/write.h"
#include "gateway/request/request.h"

/** The one code of governed refusals: outside the range that JSON-RPC and MCP reserve. */
#define WRIT_REFUSAL_CODE (-31001)

/** The field of the head that names the reason of writ_refusal_http. No field of an upstream's
 * answer reaches a client, so it tells the gateway's own refusal from an error that a tool server
 * wrote. */
#define WRIT_REFUSAL_FIELD "Writ-Reason"

/** Most bytes of a refusal without a governed call. */
#define WRIT_REFUSAL_MAX 16384

/** Answers with an HTTP status and a JSON-RPC error, and ends the request. `text` NULL: the
 * reason's sentence. */
enum writ_step writ_refusal_http(struct writ_request *request, unsigned status, int code,
    enum writ_reason reason, const char *text);

/** Answers 400 for a revision that the endpoint does not speak, in the form of the request's own
 * family, and ends the request. */
enum writ_step writ_refusal_version(struct writ_request *request);

/** Appends a JSON-RPC error with the reason's sentence, for the request of that id (NULL: null). */
void writ_refusal_put_error(
    struct writ_buf *buf, const struct writ_json *id, enum writ_reason reason);

/** The same with another code and text. */
void writ_refusal_put_fault(struct writ_buf *buf, const struct writ_json *id, int code,
    enum writ_reason reason, struct writ_view text);

/** Answers 503 before there is even a request. */
void writ_refusal_overloaded(struct writ_exchange *x);

/** Answers 401, 400, 403 or 503 for a caller that is not admitted, and ends the request. */
enum writ_step writ_refusal_identity(
    struct writ_request *request, const struct writ_identity_result *identity);

/** Answers 403 with `body` (a governed refusal) and a challenge that names all scopes that the call
 * needs, and ends the request: for callers that can request another token from an issuer. */
enum writ_step writ_refusal_step_up(struct writ_request *request, const struct writ_buf *body);

/** Answers a request whose method is unknown here, or belongs to no upstream; a notification gets
 * its 202 and is dropped. Ends the request. */
enum writ_step writ_refusal_method(struct writ_request *request);

#endif
