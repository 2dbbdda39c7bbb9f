/* after.h - the hook after a call: the rules of policy for its result (policy/decide/output.h),
 * before the result is shown or kept. They hold for every form of an answer: one JSON body, an
 * event, a repeated answer. */
#ifndef WRIT_GATEWAY_AFTER_H
#define WRIT_GATEWAY_AFTER_H

#include "gateway/request/request.h"

/**
 * Takes a response with a result or an error: digests it, and applies the rules. What it says goes
 * to the call's conclusion: the digests, the text to be told in place of the one that came, or the
 * reason for telling none of it.
 *
 * @param response  a message with exactly one of result and error
 */
void writ_after_response(struct writ_request *request, const struct writ_json *response);

/** What rules for results did to one result. */
struct writ_after_marks {
    struct writ_views rules;        /* those that changed or refused it */
    struct writ_view before, after; /* digests; or empty */
    enum writ_reason refused;
};

/** Writes that into `extensions` of an outcome, if there is something to tell; what a caller said
 * there (a parsed value without "writ") stays beside it. WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_PARSE
 * (a number of the caller's without canonical form). */
WRIT_RESULT writ_after_extend(
    const struct writ_after_marks *marks, struct writ_arena *arena, struct writ_member_object *ret);

/** Applies the rules that hold now to a result that was kept: canonical JSON, replaced by what is
 * let through of it. Gives NONE, or why nothing is. */
enum writ_reason writ_after_replay(struct writ_request *request, struct writ_view *result);

#endif
