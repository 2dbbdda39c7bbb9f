/* hook.h - the hook API for frameworks that make their tool calls themselves.
 *
 *   POST /v1/before   a call that is about to be made: a decision, and for an allow a credential
 *   POST /v1/runs     what a run is for, before its first call or later
 *   POST /v1/bind     right before it is made: the binding check, which claims it, once
 *   POST /v1/after    its outcome, which joins the decision
 *   POST /v1/seal     the end of a run
 *   POST /v1/pool     insights that the agents of one tenant share
 *   GET  /v1/openapi.json
 *
 * It is on the listener of the agents, because agents call it, with the tokens, shares and limits
 * that they have for MCP. A call takes the steps of any other (step.tbl.h): the same admission,
 * policy, probe, review, claim and record. But it is not forwarded: HAND lets it wait in the
 * ledger, to be bound. From then on only the ledger knows it: nothing here is kept between two
 * requests.
 *
 * The answer is 200 with a verdict whenever there was a call to judge, and a problem (RFC 9457)
 * otherwise. */
#ifndef WRIT_GATEWAY_HOOK_H
#define WRIT_GATEWAY_HOOK_H

#include "gateway/request/request.h"

#define WRIT_HOOK_ROUTES 7

struct writ_hook_pool_row;

/** A request to the shared pool. hook_pool.c's. */
struct writ_hook_pool {
    const struct writ_hook_pool_row *row;
    struct writ_view text;   /* for the pool of a crew */
    uint64_t insight;        /* the one that the request names */
    struct writ_arena *rows; /* memory of the insights that were read, or NULL */
    uint64_t since, seen;    /* subscribe: the next number to look at; what the ledger has put */
    int64_t until_us;        /* subscribe: the end of waiting, on the loop's clock */
};

/** A request of the hook API: `part` of its request. In its arena. */
struct writ_hook {
    const struct writ_json *body; /* an object */
    bool is_same;                 /* before: it gets the same authorization again */
    /* bind: the caller's statements about the candidate */
    const struct writ_json *authorization;
    struct writ_member_text agent_id, target, normalized_scope, continuation_id, idempotency_key;
    struct writ_candidate candidate;
    struct writ_binding binding; /* the result of the check */
    int64_t until_us;            /* wall time until which its outcome is waited for */
    /* after */
    struct writ_outcome outcome;    /* as the caller sent it */
    const struct writ_json *result; /* of the tool; NULL: only its digest was sent */
    struct writ_hook_pool pool;
};

/** The description of the API (OpenAPI 3.1): the text of gateway/hook/openapi.json. */
extern const char writ_openapi_json[];
extern const size_t writ_openapi_json_len;

/** Fills the routes that serve it, with an endpoint for each. */
void writ_hook_routes(struct writ_gateway *gateway, size_t max_body_bytes,
    struct writ_endpoint endpoints[WRIT_HOOK_ROUTES], struct writ_route ret[WRIT_HOOK_ROUTES]);

/** The hook of a request of the API. */
struct writ_hook *writ_hook_of(const struct writ_request *request);

/** Reads the members that identify the call, and makes `request->call` from them. False: refused.
 * @param ret_step  written then */
bool writ_hook_call(struct writ_request *request, enum writ_step *ret_step);

/** Begins an answer: an object with the members verdict and message. */
void writ_hook_put_verdict(
    struct writ_write *w, struct writ_view verdict, struct writ_view message);

/** Answers 200 with the written body, and ends the request. */
enum writ_step writ_hook_reply(
    struct writ_request *request, struct writ_write *w, const struct writ_buf *body);

/** Answers with a problem and ends the request. `text` NULL: only the reason. */
enum writ_step writ_hook_refuse(
    struct writ_request *request, unsigned status, enum writ_reason reason, const char *text);

/** Reads the decision that `decision_id` names from the ledger, and continues at `next`. */
enum writ_step writ_hook_find(
    struct writ_request *request, struct writ_view decision_id, enum writ_step next);

/** ANSWER of /v1/bind: the verdict (hook_bind.c). */
enum writ_step writ_hook_bind_answer(struct writ_request *request);

/** ANSWER of /v1/after: the outcome is recorded, or failed (hook_after.c). */
enum writ_step writ_hook_after_answer(struct writ_request *request);

/** ANSWER of /v1/runs: the task is recorded, or not (hook_run.c). */
enum writ_step writ_hook_run_answer(struct writ_request *request);

/** Whether the decision that was found is of the caller's tenant. */
bool writ_hook_is_of_tenant(
    const struct writ_request *request, const struct writ_decision *decision);

#endif
