/* mrtr.h - the rounds of a call whose upstream asks for input (2026-07-28, `resultType:
 * input_required`).
 *
 * All rounds are one governed call with one claim. The upstream's question ends a round without an
 * outcome: the call waits in the ledger, under a name made of the call and of the requestState that
 * the upstream gave. The client's answer is a new request with the same tool and arguments, with
 * `inputResponses`, and with that requestState, byte for byte: it is judged again, its decision
 * supersedes the one before, and only one answer continues the call. */
#ifndef WRIT_GATEWAY_MRTR_H
#define WRIT_GATEWAY_MRTR_H

#include "gateway/request/request.h"

#define WRIT_MRTR_INPUT_MAX ((size_t)1 << 20) /* canonical bytes of a client's answers */

/** Whether every number in inputResponses and requestState reaches the server unchanged. Else `ret`
 * is the place of the first that does not, as a JSON Pointer into params, in the request's
 * arena. */
bool writ_mrtr_is_exact(const struct writ_request *request, struct writ_view *ret);

/**
 * Reads inputResponses and requestState of a call and makes their digest for the record. Numbers
 * that are not exact have none: their call is refused, and its record has no digest of them.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  longer than WRIT_MRTR_INPUT_MAX
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_mrtr_read(const struct writ_request *request, struct writ_mrtr *ret);

/** Checks a result: when it asks for input, the conclusion gets the name under which the call
 * waits. */
void writ_mrtr_look(struct writ_request *request, const struct writ_json *result);

#endif
