/* api_answer.c - a buffer that has failed is a 500: half an answer is never sent. */
#include "gateway/listener/api_answer.h"

#include "gateway/listener/exchange.h"
#include "gateway/listener/problem.h"

#define PROBLEM_MAX 4096

static void
reply(struct writ_exchange *x, unsigned status, struct writ_view type, const struct writ_buf *body)
{
    const struct writ_header headers[] = {
        {WRIT_LIT("Content-Type"), type},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
        {WRIT_LIT("X-Content-Type-Options"), WRIT_LIT("nosniff")},
        {WRIT_LIT("WWW-Authenticate"), WRIT_LIT("Bearer")},
    };

    if (!writ_is_ok(writ_buf_check(body, NULL))) {
        writ_exchange_reply(x, 500, NULL, 0, (struct writ_view){NULL, 0});
        return;
    }
    writ_exchange_reply(x, status, headers, status == 401 ? 4 : 3, writ_buf_view(body));
}

void
writ_api_answer_json(struct writ_exchange *x, unsigned status, const struct writ_buf *json)
{
    reply(x, status, WRIT_LIT("application/json"), json);
}

void
writ_api_answer_lines(struct writ_exchange *x, const struct writ_buf *lines)
{
    reply(x, 200, WRIT_LIT("application/jsonl"), lines);
}

void
writ_api_answer_problem(struct writ_exchange *x, unsigned status, enum writ_reason reason)
{
    writ_api_answer_problem_hint(x, status, reason, NULL, NULL);
}

void
writ_api_answer_problem_about(
    struct writ_exchange *x, unsigned status, enum writ_reason reason, const char *detail)
{
    writ_api_answer_problem_hint(x, status, reason, detail, NULL);
}

void
writ_api_answer_problem_hint(struct writ_exchange *x, unsigned status, enum writ_reason reason,
    const char *detail, const char *hint)
{
    writ_auto_buf body = writ_buf_make(PROBLEM_MAX);

    writ_problem_put(&body, status, reason, detail, hint);
    reply(x, status, WRIT_LIT("application/problem+json"), &body);
}
