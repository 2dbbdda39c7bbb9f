/* finish.c - the end of a request. Each request is finished once. References to it elsewhere (the
 * table of answers, the list of streams) are removed before its memory is freed. */
#include "gateway/request/finish.h"

#include "gateway/request/resume.h"
#include "gateway/request/tally.h"

/* Out of worker->streams. */
static void
forget_stream(struct writ_request *request)
{
    if (request->stream_link == NULL) {
        return;
    }
    *request->stream_link = request->stream_next;
    if (request->stream_next != NULL) {
        request->stream_next->stream_link = request->stream_link;
    }
    request->stream_link = NULL;
    writ_loop_timer_cancel(&request->timer);
}

void
writ_finish_request(struct writ_request *request)
{
    WRIT_INVARIANT(!request->forward.open && request->stream.held == 0);
    writ_tally_end(request);
    forget_stream(request);
    writ_resume_forget(request);
    writ_exchange_on_gone(request->x, NULL, NULL);
    writ_buf_wipe(&request->stream.ahead);
    writ_buf_wipe(&request->stream.pending);
    writ_shares_release(&request->worker->shares, &request->charge);
    if (request->session != NULL) {
        writ_session_calls_remove(&request->session->calls, &request->open);
    }
    writ_session_drop(WRIT_TAKE(request->session));
    writ_generation_drop(WRIT_TAKE(request->generation));
    writ_generation_drop(WRIT_TAKE(request->previous));
    request->magic = 0;
}

enum writ_step
writ_finish_reply(struct writ_request *request, unsigned status, const struct writ_header *headers,
    size_t count, struct writ_view body)
{
    struct writ_exchange *x = request->x;

    writ_finish_request(request);
    writ_exchange_reply(x, status, headers, count, body);
    return WRIT_STEP_DONE;
}

enum writ_step
writ_finish_accepted(struct writ_request *request)
{
    return writ_finish_reply(request, 202, NULL, 0, (struct writ_view){NULL, 0});
}

enum writ_step
writ_finish_stream(struct writ_request *request, bool whole)
{
    struct writ_exchange *x = request->x;
    const struct writ_view last[WRIT_EXCHANGE_LAST] = {
        request->stream.last[0], request->stream.last[1]};

    writ_finish_request(request);
    if (whole && last[0].len > 0) {
        writ_exchange_end_with(x, last);
    } else if (whole) {
        writ_exchange_end(x);
    } else {
        writ_exchange_abort(x);
    }
    return WRIT_STEP_DONE;
}
