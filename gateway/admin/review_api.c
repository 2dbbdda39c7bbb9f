/* review_api.c - each request reads the review first, checks what the caller may see, and then
 * submits a vote or an end to the ledger. A caller that may not see a review gets the answer of a
 * review that does not exist. */
#include "gateway/admin/review_api.h"

#include "crew/prompt.h"
#include "gateway/admin/api.h"
#include "gateway/admin/review_answer.h"
#include "gateway/admin/review_ballot.h"
#include "gateway/admin/review_stream.h"
#include "gateway/admin/review_viewer.h"

#define MAGIC 0x72766170U

enum deed { DEED_NONE = 0, DEED_READ, DEED_VOTE, DEED_WITHDRAW, DEED_CANCEL };

/** One request; in the arena of its exchange. */
struct api_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_review_viewer viewer; /* until the answer */
    enum deed deed;
    struct writ_view id;
    bool seen; /* CANCEL, VOTE: the review was read, and the caller may see it */
    bool late; /* the review is not open: it is read to distinguish an ended one from an unknown
                  one */
    struct writ_entry entry;
    struct writ_post post;
};

static void
refuse(struct api_request *a, unsigned status, enum writ_reason reason)
{
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_problem(a->x, status, reason);
}

static void
reply(struct api_request *a, const struct writ_buf *body)
{
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_json(a->x, 200, body);
}

static struct writ_view
subject_of(const struct api_request *a)
{
    return writ_review_viewer_subject(&a->viewer);
}

static bool
may_see(const struct api_request *a, const struct writ_review *review)
{
    return writ_review_viewer_sees(&a->viewer, review);
}

/* ---- what came back ---- */

/* The actions that the viewer may take now. */
static void
put_may(struct writ_write *w, const struct api_request *a, const struct writ_review_told *told)
{
    const struct writ_review *review = &told->review;
    const struct {
        struct writ_view name;
        enum writ_review_event event;
        bool entitled;
    } rows[] = {
        {WRIT_LIT("vote"), WRIT_REVIEW_DO_VOTE, writ_review_voter(review, subject_of(a)) != NULL},
        {WRIT_LIT("withdraw"), WRIT_REVIEW_DO_WITHDRAW,
            writ_review_viewer_asked(&a->viewer, review)},
        {WRIT_LIT("cancel"), WRIT_REVIEW_DO_CANCEL,
            writ_review_viewer_administers(&a->viewer, review)},
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
    const struct writ_entry_review_get *get = &a->entry.review_get;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    if (!writ_is_ok(writ_review_answer_put_call(
            &w, get, subject_of(a), a->viewer.generation->config, a->x->arena, NULL))) {
        refuse(a, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    put_may(&w, a, &get->told);
    writ_write_name(&w, WRIT_LIT("records"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < get->records_n; i++) {
        writ_write_raw(&w, get->records[i]);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    reply(a, &body);
}

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_REVIEW_UNKNOWN      ? 404
           : reason == WRIT_REASON_VOTE_NOT_ENTITLED ? 403
           : reason == WRIT_REASON_VOTE_UNSIGNED     ? 403
           : reason == WRIT_REASON_VOTE_FORGED       ? 403
           : reason == WRIT_REASON_VOTE_MALFORMED    ? 422
                                                     : 409;
}

static void submit(struct api_request *a);
static void vote(struct api_request *a);

static void
answer_event(struct api_request *a)
{
    const struct writ_entry_review *r = &a->entry.review;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    if (r->refused != WRIT_REASON_NONE) {
        enum writ_reason reason = r->refused;

        if (reason == WRIT_REASON_REVIEW_UNKNOWN) {
            a->late = true;
            a->entry =
                (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
            submit(a);
            return;
        }
        /* a caller that may not see it gets the answer of a review that does not exist */
        if (!may_see(a, &r->told.review)) {
            reason = WRIT_REASON_REVIEW_UNKNOWN;
        }
        refuse(a, status_of(reason), reason);
        return;
    }
    writ_write_object_begin(&w);
    writ_review_answer_put(&w, &r->told);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    reply(a, &body);
}

static void
cancel(struct api_request *a)
{
    const struct writ_review *review = &a->entry.review_get.told.review;

    if (!writ_review_viewer_administers(&a->viewer, review)) {
        refuse(a, 403, WRIT_REASON_VOTE_NOT_ENTITLED);
        return;
    }
    a->seen = true;
    a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW,
        .review = {.event = WRIT_REVIEW_DO_CANCEL, .id = a->id, .by = subject_of(a)}};
    submit(a);
}

static void
back_on_loop(struct writ_post *post)
{
    struct api_request *a = post->ctx;

    WRIT_INVARIANT(a->magic == MAGIC);
    if (a->entry.code == WRIT_E_ABSENT) {
        refuse(a, 404, WRIT_REASON_REVIEW_UNKNOWN);
    } else if (a->entry.code != WRIT_OK) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (a->entry.kind == WRIT_ENTRY_REVIEW) {
        answer_event(a);
    } else if (!may_see(a, &a->entry.review_get.told.review)) {
        refuse(a, 404, WRIT_REASON_REVIEW_UNKNOWN);
    } else if (a->late) {
        refuse(a, 409, WRIT_REASON_REVIEW_CLOSED);
    } else if (a->deed == DEED_CANCEL && !a->seen) {
        cancel(a);
    } else if (a->deed == DEED_VOTE) {
        a->seen = true;
        vote(a);
    } else {
        answer_read(a);
    }
}

/* On the writer's thread: reads nothing. */
static void
entry_done(struct writ_entry *entry)
{
    struct api_request *a = entry->user;

    writ_loop_answer(a->worker->loop, &a->post);
}

static void
submit(struct api_request *a)
{
    a->entry.done = entry_done;
    a->entry.user = a;
    a->entry.arena = a->x->arena;
    a->post = (struct writ_post){.fn = back_on_loop, .ctx = a};
    writ_worker_submit(a->worker, &a->entry);
}

/* ---- what is asked ---- */

/* "/ID", "/ID/vote": the review and the action. False: no such path. */
static bool
read_path(struct api_request *a)
{
    struct writ_view rest = writ_view_sub(a->x->suffix, 0, a->x->suffix.len), deed;
    size_t slash;

    slash = writ_view_find(rest, '/');
    a->id = writ_view_sub(rest, 0, slash);
    deed = writ_view_sub(rest, slash + 1, rest.len);
    if (a->id.len == 0 || a->id.len > WRIT_LEDGER_NAME_MAX) {
        return false;
    }
    if (a->x->method == WRIT_METHOD_GET) {
        a->deed = DEED_READ;
        return slash == rest.len;
    }
    a->deed = writ_view_is(deed, "vote")       ? DEED_VOTE
              : writ_view_is(deed, "withdraw") ? DEED_WITHDRAW
              : writ_view_is(deed, "cancel")   ? DEED_CANCEL
                                               : DEED_NONE;
    return a->deed != DEED_NONE;
}

/* The answer of a model is read against the prompt that it got. */
static bool
is_answer(struct api_request *a)
{
    const struct writ_json *body = NULL;

    return writ_is_ok(
               writ_json_read(a->x->body, &writ_json_limits_default, a->x->arena, &body, NULL)) &&
           writ_json_get(body, WRIT_LIT("answer")) != NULL;
}

static void
vote(struct api_request *a)
{
    const struct writ_entry_review_get *get = &a->entry.review_get;
    struct writ_review_seat seat = {.voter = subject_of(a)};
    struct writ_entry_review r;
    struct writ_err err = {{0}, 0, 0};

    if (a->seen) {
        seat.digest = writ_view_copy(writ_view_str(get->told.digest), a->x->arena);
        seat.whole = get->arguments.ptr != NULL && writ_prompt_is_whole(get->arguments);
    }
    if (!writ_is_ok(writ_review_ballot_read(a->x->body, &seat, a->x->arena, &r, &err))) {
        writ_review_viewer_wipe(&a->viewer);
        writ_api_answer_problem_about(a->x, 422, WRIT_REASON_VOTE_MALFORMED, err.text);
        return;
    }
    r.id = a->id;
    if (a->viewer.agent.tenant.len > 0) {
        r.tenant = a->viewer.agent.tenant;
    }
    a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = r};
    submit(a);
}

static void
go(struct api_request *a)
{
    switch (a->deed) {
    case DEED_NONE:
        break;
    case DEED_READ:
    case DEED_CANCEL:
        a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
        break;
    case DEED_VOTE:
        if (!is_answer(a)) {
            vote(a);
            return;
        }
        a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
        break;
    case DEED_WITHDRAW:
        a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW,
            .review = {.event = WRIT_REVIEW_DO_WITHDRAW,
                .id = a->id,
                .by = a->viewer.agent.id,
                .agent_id = a->viewer.agent.id,
                .tenant =
                    writ_view(a->viewer.agent.tenant.len > 0 ? a->viewer.agent.tenant.ptr : "",
                        a->viewer.agent.tenant.len)}};
        break;
    }
    submit(a);
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_arena_get(x->arena, sizeof *a);
    enum writ_reason refused;

    if (a == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    *a = (struct api_request){.magic = MAGIC, .x = x, .worker = writ_gateway_worker(ctx, x->loop)};
    refused = writ_review_viewer_ask(a->worker, x, x->arena, &a->viewer);
    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
        return;
    }
    if (!read_path(a)) {
        refuse(a, 404, WRIT_REASON_PATH_UNKNOWN);
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
