/* denial_text.h - why a call was refused, in words. Clients show a model the message and the
 * content of an answer, not its data: what helps an honest caller stands in the text as well.
 *
 * It has no value of the call, and nothing that the policy does not say by itself of what it would
 * accept: not what it denies, not when it wants an approval (voters learn that:
 * policy/decide/conditions.h), not how much of a budget is left (docs/policy.md). Words of others
 * are quoted, attributed and without characters that hide. */
#ifndef WRIT_GATEWAY_DENIAL_TEXT_H
#define WRIT_GATEWAY_DENIAL_TEXT_H

#include "gateway/review/denial.h"

/** Most bytes of the text. */
#define WRIT_DENIAL_TEXT_MAX 8192

/** Appends the text: one line of UTF-8. `request` may be NULL when there is no review in it. What
 * is too long for `buf` is the reason's sentence alone. */
void writ_denial_text_put(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal);

#endif
