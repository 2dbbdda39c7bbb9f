/* review_elicit.c - asks a client that can show the question. The text has the call as the voters'
 * page shows it: arguments in canonical form, and marks at characters that hide. */
#include "gateway/review/review_elicit.h"

#include "gateway/mcp/abilities.h"
#include "gateway/request/client_stream.h"
#include "gateway/review/continuation.h"
#include "gateway/review/review_tell.h"

#include "base/hidden.h"
#include "base/text.h"
#include "evidence/json/jcs.h"

#define SINCE_FORM "2025-06-18"
#define NAME_MAX   512
#define MARKS      "Characters that hide or look like others are marked: [U+...].\n"

/* ---- who is asked */

static bool
shows_forms(const struct writ_request *request)
{
    const struct writ_session *session = request->session;

    if (request->message.era == WRIT_MCP_ERA_MODERN) {
        return (writ_abilities_read(
                    writ_json_get(request->message.meta, WRIT_LIT(WRIT_META_CAPABILITIES))) &
                   WRIT_ABLE_FORM) != 0;
    }
    return session != NULL && (session->abilities & WRIT_ABLE_FORM) != 0 &&
           writ_view_compare(session->version, WRIT_LIT(SINCE_FORM)) >= 0 &&
           writ_review_tell_takes_stream(request);
}

bool
writ_review_elicit_is_due(const struct writ_request *request)
{
    const struct writ_call *call = request->call;
    struct writ_view voter = writ_review_question_voter(request, call->review.terms.name);

    if (voter.len == 0 || writ_review_voter(&call->review.terms, voter) == NULL ||
        !shows_forms(request)) {
        return false;
    }
    return request->message.era == WRIT_MCP_ERA_MODERN
               ? !call->returned.shown
               : writ_session_asked(request->session, call->review.ask.id) ==
                     WRIT_SESSION_NOT_ASKED;
}

/* ---- what is asked */

/* Each argument on a line of its own. */
static WRIT_RESULT
put_arguments(struct writ_buf *ret, struct writ_view arguments, struct writ_arena *arena)
{
    const struct writ_json *object = NULL;

    WRIT_TRY(writ_json_read(arguments, &writ_json_limits_default, arena, &object, NULL));
    writ_buf_str(ret, object->span > 1 ? "Arguments:\n" : "Arguments: none\n");
    WRIT_JSON_EACH(name, object)
    {
        writ_buf_str(ret, "  ");
        WRIT_TRY(writ_jcs_put_lossless(ret, name, NULL));
        writ_buf_str(ret, ": ");
        WRIT_TRY(writ_jcs_put_lossless(ret, writ_json_value(name), NULL));
        writ_buf_byte(ret, '\n');
    }
    return writ_buf_check(ret, NULL);
}

static void
put_named(struct writ_buf *ret, const char *what, struct writ_view name)
{
    if (name.len > 0) {
        writ_buf_str(ret, what);
        writ_text_json_safe(ret, name, NAME_MAX);
    }
}

/* A piece with marks, line by line: the line breaks are the gateway's own. */
static size_t
put_marked(struct writ_buf *ret, struct writ_view lines)
{
    size_t marks = 0;

    while (lines.len > 0) {
        size_t end = writ_view_find(lines, '\n');

        marks += writ_hidden_mark(ret, writ_view_sub(lines, 0, end));
        writ_buf_byte(ret, '\n');
        lines = writ_view_sub(lines, end + 1, lines.len);
    }
    return marks;
}

static WRIT_RESULT
put_text(const struct writ_request *request, const struct writ_entry_review_get *review,
    struct writ_buf *ret)
{
    const struct writ_call *call = request->call;
    writ_auto_buf shown = writ_buf_make(WRIT_REVIEW_QUESTION_MAX);
    writ_auto_buf url = writ_buf_make(WRIT_REVIEW_TELL_URL_MAX);

    WRIT_TRY(put_arguments(&shown, review->arguments, request->x->arena));
    if (review->target_state.ptr != NULL) {
        writ_buf_str(&shown, "State of the target, by the server: ");
        writ_buf_put(&shown, review->target_state);
        writ_buf_byte(&shown, '\n');
    }
    WRIT_TRY(writ_buf_check(&shown, NULL));
    writ_buf_str(ret, "Writ asks: may this call run, once?\n\n");
    put_named(ret, "Tool: ", call->callee.tool);
    put_named(ret, " of the server ", call->callee.name);
    put_named(ret, "\nAgent: ", request->identity.agent.id);
    writ_buf_byte(ret, '\n');
    if (put_marked(ret, writ_buf_view(&shown)) > 0) {
        writ_buf_str(ret, MARKS);
    }
    writ_review_tell_put_url(
        &url, request->worker->gateway, writ_request_config(request), call->review.ask.id);
    if (url.len > 0) {
        writ_buf_str(ret, "\nThe same on the page: ");
        writ_buf_put(ret, writ_buf_view(&url));
    }
    return writ_buf_check(ret, NULL);
}

const struct writ_review_question *
writ_review_elicit_make(
    const struct writ_request *request, const struct writ_entry_review_get *review)
{
    struct writ_arena *arena = request->x->arena;
    struct writ_review_question *question = writ_arena_get(arena, sizeof *question);
    struct writ_buf text = writ_buf_in(arena, WRIT_REVIEW_QUESTION_MAX);

    if (question == NULL || review->arguments.ptr == NULL ||
        request->call->callee.tool.len > NAME_MAX ||
        !writ_is_ok(put_text(request, review, &text))) {
        return NULL;
    }
    question->text = writ_buf_view(&text);
    question->terms = writ_view_copy(writ_view_str(review->told.digest), arena);
    return question->terms.ptr != NULL ? question : NULL;
}

/* ---- on the stream of the call */

static WRIT_RESULT
put_request(const struct writ_request *request, const struct writ_review_question *question,
    struct writ_buf *ret)
{
    writ_auto_buf id = writ_buf_make(WRIT_CONTINUATION_MAX);
    struct writ_write w = writ_write_to(ret);

    WRIT_TRY(writ_review_tell_state(request, &request->call->review.ask, &id));
    writ_write_object_begin(&w);
    writ_write_text(&w, "jsonrpc", WRIT_LIT("2.0"));
    writ_write_text(&w, "id", writ_buf_view(&id));
    writ_write_text(&w, "method", WRIT_LIT("elicitation/create"));
    writ_write_name(&w, WRIT_LIT("params"));
    writ_write_object_begin(&w);
    writ_review_question_put(&w, question, false);
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

void
writ_review_elicit_send(struct writ_request *request, const struct writ_review_question *question)
{
    writ_auto_buf data = writ_buf_make(4 * WRIT_REVIEW_QUESTION_MAX);
    struct writ_sse_event event = {
        .kind = WRIT_SSE_EVENT, .event = WRIT_LIT("message"), .retry_ms = WRIT_SSE_NO_RETRY};

    writ_review_tell_begin(request);
    if (!request->stream.open || !writ_is_ok(put_request(request, question, &data))) {
        return;
    }
    event.data = writ_buf_view(&data);
    if (writ_is_ok(writ_sse_put(&request->stream.pending, &event, NULL))) {
        WRIT_IGNORE(writ_client_stream_write(request, (struct writ_view){NULL, 0}));
        writ_session_note_asked(
            request->session, request->call->review.ask.id, WRIT_SESSION_WAS_ASKED);
    }
}
