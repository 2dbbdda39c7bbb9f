/* review_api.c - each request reads the review first, checks what the caller may see, and then
 * submits a vote or an end to the ledger. A caller that may not see a review gets the answer of a
 * review that does not exist. */
#include "gateway/admin/review_api.h"

#include "crew/prompt.h"
#include "gateway/admin/api_request.h"
#include "gateway/admin/review_answer.h"
#include "gateway/admin/review_ballot.h"
#include "gateway/admin/review_bulk.h"
#include "gateway/admin/review_sources.h"
#include "gateway/admin/review_stream.h"

enum deed { DEED_NONE = 0, DEED_READ, DEED_SOURCES, DEED_VOTE, DEED_WITHDRAW, DEED_CANCEL };

/** One request; in the arena of its exchange. */
struct api_request {
    struct writ_api_request request;
    enum deed deed;
    struct writ_view id;
    bool seen;    /* CANCEL, VOTE: the review was read, and the caller may see it */
    bool late;    /* the review is not open: it is read to distinguish an ended one from an unknown
                     one */
    bool sourced; /* SOURCES: the body is written */
};

static struct writ_view
subject_of(const struct api_request *a)
{
    return writ_review_viewer_subject(&a->request.viewer);
}

static bool
may_see(const struct api_request *a, const struct writ_review *review)
{
    return writ_review_viewer_sees(&a->request.viewer, review);
}

/* ---- what came back ---- */

/* The actions that the viewer may take now. */
static void
put_may(struct writ_write *w, const struct api_request *a, const struct writ_entry_review_get *get)
{
    const struct writ_review_told *told = &get->told;
    const struct writ_review *review = &told->review;
    const struct writ_review_voter *voter = writ_review_voter(review, subject_of(a));
    bool votes = voter != NULL && writ_review_may_vote(review, voter,
                                      writ_clock_wall_us(a->request.worker->gateway->clock));
    const struct {
        struct writ_view name;
        enum writ_review_event event;
        bool entitled;
    } rows[] = {
        {WRIT_LIT("vote"), WRIT_REVIEW_DO_VOTE, votes},
        {WRIT_LIT("bulk"), WRIT_REVIEW_DO_VOTE,
            votes && voter->key.len == 0 &&
                writ_review_bulk_refused(get, a->request.viewer.generation->config) == NULL},
        {WRIT_LIT("withdraw"), WRIT_REVIEW_DO_WITHDRAW,
            writ_review_viewer_asked(&a->request.viewer, review)},
        {WRIT_LIT("cancel"), WRIT_REVIEW_DO_CANCEL,
            writ_review_viewer_administers(&a->request.viewer, review)},
    };
    enum writ_review_state next;

    writ_write_name(w, WRIT_LIT("may"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].entitled && writ_review_move(told->state, rows[i].event, &next)) {
            writ_write_string(w, rows[i].name);
        }
    }
    writ_write_array_end(w);
}

static void
answer_read(struct api_request *a)
{
    const struct writ_entry_review_get *get = &a->request.entry.review_get;
    struct writ_write w = writ_write_to(&a->request.body);

    writ_write_object_begin(&w);
    if (!writ_is_ok(writ_review_answer_put_call(&w, get, subject_of(a),
            a->request.viewer.generation->config, a->request.x->arena, NULL))) {
        writ_api_request_refuse(&a->request, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    put_may(&w, a, get);
    writ_write_name(&w, WRIT_LIT("records"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < get->records_n; i++) {
        writ_write_raw(&w, get->records[i]);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_request_reply(&a->request);
}

/* ---- where the values of the call came from ---- */

static void
back_with_sources(struct writ_api_request *request)
{
    const struct api_request *a = (struct api_request *)request;

    if (a->sourced) {
        writ_api_request_reply(request);
    } else {
        writ_api_request_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
}

static void
work_sources(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;

    a->sourced = reader != NULL && writ_is_ok(writ_review_sources_put(&a->request, reader, NULL));
    writ_api_request_done(&a->request);
}

/* For voters, as the conditions of the approval. */
static void
answer_sources(struct api_request *a)
{
    const struct writ_review *review = &a->request.entry.review_get.told.review;

    if (writ_review_voter(review, subject_of(a)) == NULL) {
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_VOTE_NOT_ENTITLED);
        return;
    }
    a->request.back = back_with_sources;
    writ_api_request_ask(&a->request, work_sources);
}

/* ---- what came back of votes and ends ---- */

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_REVIEW_UNKNOWN      ? 404
           : reason == WRIT_REASON_VOTE_NOT_ENTITLED ? 403
           : reason == WRIT_REASON_VOTE_UNSIGNED     ? 403
           : reason == WRIT_REASON_VOTE_FORGED       ? 403
           : reason == WRIT_REASON_VOTE_MALFORMED    ? 422
           : reason == WRIT_REASON_VOTE_INCOMPLETE   ? 422
                                                     : 409;
}

static void vote(struct api_request *a);

static void
answer_event(struct api_request *a)
{
    const struct writ_entry_review *r = &a->request.entry.review;
    struct writ_write w = writ_write_to(&a->request.body);

    if (r->refused != WRIT_REASON_NONE) {
        enum writ_reason reason = r->refused;

        if (reason == WRIT_REASON_REVIEW_UNKNOWN) {
            a->late = true;
            a->request.entry =
                (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
            writ_api_request_submit(&a->request);
            return;
        }
        /* a caller that may not see it gets the answer of a review that does not exist */
        if (!may_see(a, &r->told.review)) {
            reason = WRIT_REASON_REVIEW_UNKNOWN;
        }
        writ_api_request_refuse(&a->request, status_of(reason), reason);
        return;
    }
    writ_write_object_begin(&w);
    writ_review_answer_put(&w, &r->told);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_request_reply(&a->request);
}

static void
cancel(struct api_request *a)
{
    const struct writ_review *review = &a->request.entry.review_get.told.review;

    if (!writ_review_viewer_administers(&a->request.viewer, review)) {
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_VOTE_NOT_ENTITLED);
        return;
    }
    a->seen = true;
    a->request.entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW,
        .review = {.event = WRIT_REVIEW_DO_CANCEL, .id = a->id, .by = subject_of(a)}};
    writ_api_request_submit(&a->request);
}

static bool
takes_votes(const struct api_request *a)
{
    enum writ_review_state next;

    return writ_review_move(a->request.entry.review_get.told.state, WRIT_REVIEW_DO_VOTE, &next);
}

static void
back_on_loop(struct writ_api_request *request)
{
    struct api_request *a = (struct api_request *)request;

    if (a->request.entry.code == WRIT_E_ABSENT) {
        writ_api_request_refuse(&a->request, 404, WRIT_REASON_REVIEW_UNKNOWN);
    } else if (a->request.entry.code != WRIT_OK) {
        writ_api_request_refuse(&a->request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (a->request.entry.kind == WRIT_ENTRY_REVIEW) {
        answer_event(a);
    } else if (!may_see(a, &a->request.entry.review_get.told.review)) {
        writ_api_request_refuse(&a->request, 404, WRIT_REASON_REVIEW_UNKNOWN);
    } else if (a->late || (a->deed == DEED_VOTE && !takes_votes(a))) {
        writ_api_request_refuse(&a->request, 409, WRIT_REASON_REVIEW_CLOSED);
    } else if (a->deed == DEED_CANCEL && !a->seen) {
        cancel(a);
    } else if (a->deed == DEED_VOTE) {
        a->seen = true;
        vote(a);
    } else if (a->deed == DEED_SOURCES) {
        answer_sources(a);
    } else {
        answer_read(a);
    }
}

/* ---- what is asked ---- */

/* "/ID", "/ID/vote": the review and the action. False: no such path. */
static bool
read_path(struct api_request *a)
{
    struct writ_view rest = writ_view_sub(a->request.x->suffix, 0, a->request.x->suffix.len), deed;
    size_t slash;

    slash = writ_view_find(rest, '/');
    a->id = writ_view_sub(rest, 0, slash);
    deed = writ_view_sub(rest, slash + 1, rest.len);
    if (a->id.len == 0 || a->id.len > WRIT_LEDGER_NAME_MAX) {
        return false;
    }
    if (a->request.x->method == WRIT_METHOD_GET) {
        a->deed = writ_view_is(deed, "sources") ? DEED_SOURCES : DEED_READ;
        return a->deed == DEED_SOURCES || slash == rest.len;
    }
    a->deed = writ_view_is(deed, "vote")       ? DEED_VOTE
              : writ_view_is(deed, "withdraw") ? DEED_WITHDRAW
              : writ_view_is(deed, "cancel")   ? DEED_CANCEL
                                               : DEED_NONE;
    return a->deed != DEED_NONE;
}

/* The answer of a model is read against the prompt that it got; one of several votes, against what
 * the voter could read. */
static bool
needs_review(struct api_request *a)
{
    const struct writ_json *body = NULL;

    return writ_is_ok(writ_json_read(
               a->request.x->body, &writ_json_limits_default, a->request.x->arena, &body, NULL)) &&
           (writ_json_get(body, WRIT_LIT("answer")) != NULL ||
               writ_json_get(body, WRIT_LIT("bulk")) != NULL);
}

static void
vote(struct api_request *a)
{
    const struct writ_entry_review_get *get = &a->request.entry.review_get;
    struct writ_review_seat seat = {.voter = subject_of(a)};
    struct writ_entry_review r;
    struct writ_err err = {{0}, 0, 0};
    const char *hint = NULL;

    if (a->seen) {
        seat.digest = writ_view_copy(writ_view_str(get->told.digest), a->request.x->arena);
        seat.whole =
            get->arguments.ptr != NULL && writ_prompt_is_whole(writ_entry_review_shown(get));
        seat.no_bulk = writ_review_bulk_refused(get, a->request.viewer.generation->config);
        seat.bulk_rule = seat.no_bulk == NULL ? get->told.review.rules_digest : seat.bulk_rule;
    }
    if (!writ_is_ok(writ_review_ballot_read(
            a->request.x->body, &seat, a->request.x->arena, &r, &hint, &err))) {
        writ_review_viewer_wipe(&a->request.viewer);
        writ_api_answer_problem_hint(a->request.x, 422, WRIT_REASON_VOTE_MALFORMED, err.text, hint);
        return;
    }
    r.id = a->id;
    if (a->request.viewer.agent.tenant.len > 0) {
        r.tenant = a->request.viewer.agent.tenant;
    }
    a->request.entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = r};
    writ_api_request_submit(&a->request);
}

static void
go(struct api_request *a)
{
    switch (a->deed) {
    case DEED_NONE:
        break;
    case DEED_READ:
    case DEED_SOURCES:
    case DEED_CANCEL:
        a->request.entry =
            (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
        break;
    case DEED_VOTE:
        if (!needs_review(a)) {
            vote(a);
            return;
        }
        a->request.entry =
            (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
        break;
    case DEED_WITHDRAW:
        a->request.entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW,
            .review = {.event = WRIT_REVIEW_DO_WITHDRAW,
                .id = a->id,
                .by = a->request.viewer.agent.id,
                .agent_id = a->request.viewer.agent.id,
                .tenant = writ_view(a->request.viewer.agent.tenant.len > 0
                                        ? a->request.viewer.agent.tenant.ptr
                                        : "",
                    a->request.viewer.agent.tenant.len)}};
        break;
    }
    writ_api_request_submit(&a->request);
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_api_request_open(x, ctx, sizeof *a, back_on_loop);

    if (a == NULL) {
        return;
    }
    if (!read_path(a)) {
        writ_api_request_refuse(&a->request, 404, WRIT_REASON_PATH_UNKNOWN);
        return;
    }
    go(a);
}

void
writ_review_api_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_REVIEW_API_ROUTES])
{
    writ_review_stream_routes(gateway, ret);
    ret[WRIT_REVIEW_STREAM_ROUTES] = (struct writ_route){.path = WRIT_LIT("/v1/reviews/"),
        .prefix = true,
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_REVIEW_API_BODY_MAX,
        .handler = handle_one,
        .ctx = gateway};
}
