/* api_answer.h - the answers of the gateway's JSON interfaces: JSON that no cache keeps, or a
 * problem (RFC 9457). Used from the loop of the exchange. */
#ifndef WRIT_GATEWAY_API_ANSWER_H
#define WRIT_GATEWAY_API_ANSWER_H

#include "evidence/record/reason.h"
#include "gateway/listener/listener_types.h"

#define WRIT_API_ANSWER_MAX ((size_t)64 << 20) /* bytes of an answer */

/** Answers with JSON that no cache keeps; a failed buffer is a 500. Ends the exchange. */
void writ_api_answer_json(struct writ_exchange *x, unsigned status, const struct writ_buf *json);

/** As writ_api_answer_json with 200, for lines of JSON. */
void writ_api_answer_lines(struct writ_exchange *x, const struct writ_buf *lines);

/** Answers with a problem. Ends the exchange. */
void writ_api_answer_problem(struct writ_exchange *x, unsigned status, enum writ_reason reason);

/** As writ_api_answer_problem, with a detail. */
void writ_api_answer_problem_about(
    struct writ_exchange *x, unsigned status, enum writ_reason reason, const char *detail);

/** As writ_api_answer_problem_about, with a hint of its own (NULL: that of the reason). */
void writ_api_answer_problem_hint(struct writ_exchange *x, unsigned status, enum writ_reason reason,
    const char *detail, const char *hint);

#endif
