#include "gateway/api.h"

#include "evidence/write.h"

#define PROBLEM_MAX 4096
#define ENDPOINT    "/mcp" /* that tokens with an audience are for */

enum writ_reason
writ_api_ask(struct writ_exchange *x, struct writ_worker *worker, struct writ_arena *arena,
    struct writ_agent *ret)
{
    const struct writ_identity_question question = {
        .authorization = writ_exchange_header(x, WRIT_LIT("Authorization")),
        .loopback = worker->generation->config->admin_listen.loopback,
        .endpoint = WRIT_LIT(ENDPOINT),
    };
    struct writ_identity_result identity = {.answer = WRIT_IDENTITY_MISSING};

    if (question.authorization.ptr != NULL) {
        writ_identity_ask(worker->identity, &question, arena, &identity);
    }
    if (identity.answer == WRIT_IDENTITY_KNOWN) {
        *ret = identity.agent;
        return WRIT_REASON_NONE;
    }
    return identity.answer == WRIT_IDENTITY_UNAVAILABLE ? WRIT_REASON_OVERLOADED
                                                        : WRIT_REASON_UNAUTHENTICATED;
}

unsigned
writ_api_status(enum writ_reason reason)
{
    return reason == WRIT_REASON_OVERLOADED ? 503 : 401;
}

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
writ_api_reply(struct writ_exchange *x, unsigned status, const struct writ_buf *json)
{
    reply(x, status, WRIT_LIT("application/json"), json);
}

static void
text_member(struct writ_write *w, struct writ_view name, struct writ_view value)
{
    if (value.len > 0) {
        writ_write_name(w, name);
        writ_write_string(w, value);
    }
}

void
writ_api_problem(struct writ_exchange *x, unsigned status, enum writ_reason reason)
{
    writ_auto_buf body = writ_buf_make(PROBLEM_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    text_member(&w, WRIT_LIT("type"), WRIT_LIT("about:blank"));
    text_member(&w, WRIT_LIT("title"), writ_reason_sentence(reason));
    writ_write_name(&w, WRIT_LIT("status"));
    writ_write_u64(&w, status);
    text_member(&w, WRIT_LIT("reason"), writ_reason_name(reason));
    text_member(&w, WRIT_LIT("hint"), writ_reason_hint(reason));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    reply(x, status, WRIT_LIT("application/problem+json"), &body);
}
