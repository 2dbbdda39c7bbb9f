/* denial.h - the refusal of a governed call, in the form for its client: a JSON-RPC error with the
 * code WRIT_REFUSAL_CODE, a result with isError if the rule says so, or, while a review is open,
 * the next action of the client (review_tell.h). Nothing in it is a value of the call. */
#ifndef WRIT_GATEWAY_DENIAL_H
#define WRIT_GATEWAY_DENIAL_H

#include "gateway/request/refusal.h"

/** The facts about a refused call. Views may be empty. */
struct writ_denial {
    enum writ_reason reason;
    enum writ_reason theirs; /* the reason of the tool server, quoted as its own; or NONE */
    struct writ_view decision_id;
    struct writ_view argument;   /* JSON Pointer of the argument in question */
    struct writ_view constraint; /* "amount le" */
    struct writ_view accepted;   /* accepted values */
    struct writ_view hint;       /* a common mistake about the argument; else the reason's hint */
    struct writ_view budget;
    const struct writ_ask *ask;     /* the result of its review; or NULL */
    const struct writ_prior *prior; /* duplicates: the first call; or NULL */
    bool execution_unknown;         /* it was sent, and its end is unknown */
};

/** Most bytes of the text. */
#define WRIT_DENIAL_TEXT_MAX 8192

/** Appends why the call was refused, in words: one line of UTF-8. Clients show a model the message
 * and the content of an answer, not its data: so the text also has everything that helps an honest
 * caller.
 *
 * It has no value of the call, and nothing about the policy except the accepted values: not the
 * denied ones, not the conditions of an approval (only voters see them:
 * policy/decide/conditions.h), not the rest of a budget (docs/policy.md). Texts of other parties
 * are quoted, attributed and without characters that hide.
 *
 * `request` may be NULL when there is no review in it. A text that is too long for `buf` is
 * replaced by the reason's sentence. */
void writ_denial_put_text(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal);

/** Writes the members of the facts about a refused call into an object that was begun. */
void writ_denial_put_members(
    struct writ_write *w, const struct writ_request *request, const struct writ_denial *refusal);

/** Appends the JSON-RPC message of a governed refusal, in the form of its rule. */
void writ_denial_put(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal);

#endif
