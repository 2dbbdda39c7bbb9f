/* after.h - the hook after a call: the rules of policy for its result (policy/decide/output.h),
 * before the result is shown or kept. They hold for every form of an answer: one JSON body, an
 * event, a repeated answer. */
#ifndef WRIT_GATEWAY_AFTER_H
#define WRIT_GATEWAY_AFTER_H

#include "gateway/request/request.h"

/**
 * Takes a response with a result or an error: digests it, and applies the rules. The call's
 * conclusion gets the digests, the text to send in place of the received one, or the reason for
 * withholding it.
 *
 * @param response  a message with exactly one of result and error
 */
void writ_after_response(struct writ_request *request, const struct writ_json *response);

/** The effect of rules for results on one result. */
struct writ_after_marks {
    struct writ_views rules;        /* those that changed or refused it */
    struct writ_view before, after; /* digests; or empty */
    enum writ_reason refused;
    struct writ_view flow; /* labels and marks of the result (follow.h); ptr NULL: none */
    bool too_large;        /* the result is too long to be kept among the contents */
    bool blocked;          /* the call was not made, because of `refused` */
};

/** Writes the effect into `extensions` of an outcome, if there is one; a caller's own value (a
 * parsed one without "writ") stays beside it. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_PARSE (a number of
 * the caller's without canonical form). */
WRIT_RESULT writ_after_extend(
    const struct writ_after_marks *marks, struct writ_arena *arena, struct writ_member_object *ret);

/** Applies the present rules to a kept result, which is canonical JSON and is replaced by the
 * permitted part. Returns NONE, or the reason for withholding it. */
enum writ_reason writ_after_replay(struct writ_request *request, struct writ_view *result);

#endif
