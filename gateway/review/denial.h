/* denial.h - the refusal of a governed call, as its client gets it: a JSON-RPC error with the
 * code WRIT_REFUSAL_CODE, a result with isError where the rule says so, or, while a review is open,
 * what the client can do about it (review_tell.h). Nothing in it is a value of the call. */
#ifndef WRIT_GATEWAY_DENIAL_H
#define WRIT_GATEWAY_DENIAL_H

#include "gateway/request/refusal.h"

/** The facts about a refused call. Views may be empty. */
struct writ_denial {
    enum writ_reason reason;
    enum writ_reason theirs; /* the one that the tool server gave, quoted as its own; or NONE */
    struct writ_view decision_id;
    struct writ_view argument;   /* JSON Pointer of the argument that it is about */
    struct writ_view constraint; /* "amount le" */
    struct writ_view accepted;   /* what would be accepted */
    struct writ_view hint;       /* what is easily missed about that; else the reason's hint */
    struct writ_view budget;
    const struct writ_ask *ask;     /* what its review says; or NULL */
    const struct writ_prior *prior; /* duplicates: the first call; or NULL */
    bool execution_unknown;         /* it was sent, and what became of it is not known */
};

/** Most bytes of the text. */
#define WRIT_DENIAL_TEXT_MAX 8192

/** Appends why the call was refused, in words: one line of UTF-8. Clients show a model the message
 * and the content of an answer, not its data: what helps an honest caller stands in the text too.
 *
 * It has no value of the call, and nothing that the policy does not say by itself of what it would
 * accept: not what it denies, not when it wants an approval (voters learn that:
 * policy/decide/conditions.h), not how much of a budget is left (docs/policy.md). Words of others
 * are quoted, attributed and without characters that hide.
 *
 * `request` may be NULL when there is no review in it. What
 * is too long for `buf` is the reason's sentence alone. */
void writ_denial_put_text(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal);

/** Writes the members of the facts about a refused call into an object that is begun. */
void writ_denial_put_members(
    struct writ_write *w, const struct writ_request *request, const struct writ_denial *refusal);

/** Appends the JSON-RPC message of a governed refusal, in the form its rule asks for. */
void writ_denial_put(
    struct writ_buf *buf, const struct writ_request *request, const struct writ_denial *refusal);

#endif
