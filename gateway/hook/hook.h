/* hook.h - the hook API: for frameworks that make their tool calls themselves.
 *
 *   POST /v1/before   a call that is about to be made: a decision, and for an allow a credential
 *   POST /v1/bind     right before it is made: the binding check, which claims it, once
 *   POST /v1/after    what became of it: the outcome, which joins the decision
 *   POST /v1/seal     the end of a run
 *   GET  /v1/openapi.json
 *
 * It is on the listener of the agents, because it is agents who ask, with the tokens, shares and
 * limits that they have for MCP. A call takes the steps of any other (step.tbl.h): the same
 * admission, policy, probe, review, claim and record. Only that it is not forwarded: HAND lets it
 * wait in the ledger, to be bound. From then on the ledger holds what is known of it: nothing here
 * is remembered between two requests.
 *
 * What comes back is 200 with a verdict whenever there was a call to judge, and a problem (RFC
 * 9457) when there was none. */
#ifndef WRIT_GATEWAY_HOOK_H
#define WRIT_GATEWAY_HOOK_H

#include "gateway/request/request.h"

#define WRIT_HOOK_ROUTES 5

/** A request of the hook API: `part` of its request. In its arena. */
struct writ_hook {
    const struct writ_json *body; /* an object */
    bool is_same;                 /* before: it gets the authorization that it got before */
    /* bind: what the candidate states of itself */
    const struct writ_json *authorization;
    struct writ_member_text agent_id, target, normalized_scope, continuation_id, idempotency_key;
    struct writ_candidate candidate;
    struct writ_binding binding; /* what came of it */
    int64_t until_us;            /* wall time until which its outcome is waited for */
    /* after */
    struct writ_outcome outcome;    /* as the caller sent it */
    const struct writ_json *result; /* of the tool; NULL: only its digest was sent */
};

/** The description of the API (OpenAPI 3.1): gateway/hook/openapi.json as it is. */
extern const char writ_openapi_json[];
extern const size_t writ_openapi_json_len;

/** Fills the routes that serve it, with an endpoint for each. */
void writ_hook_routes(struct writ_gateway *gateway, size_t max_body_bytes,
    struct writ_endpoint endpoints[WRIT_HOOK_ROUTES], struct writ_route ret[WRIT_HOOK_ROUTES]);

/** The hook of a request of the API. */
struct writ_hook *writ_hook_of(const struct writ_request *request);

/** Whether `body` has no other members than `known`, which ends with NULL. */
bool writ_hook_knows(const struct writ_json *body, const char *const *known);

/** Reads the members that say which call it is, and makes `request->call` of them. False: refused.
 * @param ret_step  written then */
bool writ_hook_call(struct writ_request *request, enum writ_step *ret_step);

/** Begins an answer: an object with the members verdict and message. */
void writ_hook_put_verdict(
    struct writ_write *w, struct writ_view verdict, struct writ_view message);

/** Answers 200 with what was written, and ends the request. */
enum writ_step writ_hook_reply(
    struct writ_request *request, struct writ_write *w, const struct writ_buf *body);

/** Answers a problem and ends the request. `text` NULL: no more than the reason. */
enum writ_step writ_hook_refuse(
    struct writ_request *request, unsigned status, enum writ_reason reason, const char *text);

/** Asks the ledger for the decision that `decision_id` names, and goes on at `next`. */
enum writ_step writ_hook_find(
    struct writ_request *request, struct writ_view decision_id, enum writ_step next);

/** ANSWER of /v1/bind: the verdict (hook_bind.c). */
enum writ_step writ_hook_bind_answer(struct writ_request *request);

/** ANSWER of /v1/after: the outcome is recorded, or could not be (hook_after.c). */
enum writ_step writ_hook_after_answer(struct writ_request *request);

/** Whether the decision that was found is of the caller's tenant. */
bool writ_hook_is_of_tenant(
    const struct writ_request *request, const struct writ_decision *decision);

#endif
