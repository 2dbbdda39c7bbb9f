#include "gateway/review_api.h"

#include "base/text.h"
#include "evidence/write.h"
#include "gateway/api.h"
#include "policy/approval.h"

#define MAGIC 0x72766170U

enum deed { DEED_LIST = 0, DEED_READ, DEED_VOTE, DEED_WITHDRAW, DEED_CANCEL };

/** One request; in the arena of its exchange. */
struct asked {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_generation *generation; /* held until the answer */
    struct writ_agent agent;
    enum deed deed;
    struct writ_view id;
    bool seen; /* CANCEL: the review was read, and the caller may */
    struct writ_entry entry;
    struct writ_post post;
};

/* ---- answers ---- */

static void
text_member(struct writ_write *w, struct writ_view name, struct writ_view value)
{
    if (value.len > 0) {
        writ_write_name(w, name);
        writ_write_string(w, value);
    }
}

static void
time_member(struct writ_write *w, struct writ_view name, int64_t us)
{
    char text[WRIT_TIME_TEXT];

    if (us != 0) {
        writ_time_format(us, text);
        text_member(w, name, writ_view_str(text));
    }
}

static void
refuse(struct asked *a, unsigned status, enum writ_reason reason)
{
    writ_generation_drop(WRIT_TAKE(a->generation));
    writ_api_problem(a->x, status, reason);
}

static void
put_voters(struct writ_write *w, const struct writ_review *review)
{
    writ_write_name(w, WRIT_LIT("voters"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i];

        writ_write_object_begin(w);
        text_member(w, WRIT_LIT("id"), voter->id);
        writ_write_name(w, WRIT_LIT("weight"));
        writ_write_i64(w, voter->weight);
        writ_write_name(w, WRIT_LIT("veto"));
        writ_write_bool(w, voter->veto);
        text_member(w, WRIT_LIT("vote"), writ_review_vote_name(voter->vote));
        time_member(w, WRIT_LIT("voted_at"), voter->voted_us);
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
put_told(struct writ_write *w, const struct writ_review_told *told)
{
    const struct writ_review *review = &told->review;

    text_member(w, WRIT_LIT("id"), review->id);
    text_member(w, WRIT_LIT("state"), writ_review_state_name(told->state));
    text_member(w, WRIT_LIT("review"), review->name);
    text_member(w, WRIT_LIT("agent_id"), review->agent_id);
    text_member(w, WRIT_LIT("tenant"), review->tenant);
    time_member(w, WRIT_LIT("opened_at"), review->opened_us);
    time_member(w, WRIT_LIT("changed_at"), told->changed_us);
    time_member(w, WRIT_LIT("expires_at"), told->until_us);
    text_member(w, WRIT_LIT("review_digest"), writ_view_str(told->digest));
    text_member(w, WRIT_LIT("intent_digest"), review->intent_digest);
    text_member(w, WRIT_LIT("target_state_digest"), review->target_state_digest);
    text_member(w, WRIT_LIT("engine"), review->engine);
    text_member(w, WRIT_LIT("threshold"), review->threshold);
    text_member(w, WRIT_LIT("quorum"), review->quorum);
    put_voters(w, review);
}

/* ---- who may ---- */

static struct writ_view
subject_of(const struct asked *a)
{
    return writ_approval_subject(&a->agent);
}

static bool
is_administrator(const struct asked *a, const struct writ_review *review)
{
    const struct writ_config *config = a->generation->config;

    for (size_t i = 0; i < config->reviews_n; i++) {
        const struct writ_review_config *row = &config->reviews[i];

        for (size_t n = 0; writ_view_equal(row->name, review->name) && n < row->administrators.n;
             n++) {
            if (writ_view_equal(row->administrators.items[n], subject_of(a))) {
                return true;
            }
        }
    }
    return false;
}

static bool
is_of_tenant(const struct asked *a, const struct writ_review *review)
{
    return a->agent.tenant.len == 0 || writ_view_equal(a->agent.tenant, review->tenant);
}

static bool
may_see(const struct asked *a, const struct writ_review *review)
{
    return is_of_tenant(a, review) &&
           (writ_review_voter(review, subject_of(a)) != NULL || is_administrator(a, review) ||
               (writ_view_equal(a->agent.id, review->agent_id) &&
                   writ_view_equal(a->agent.tenant, review->tenant)));
}

/* ---- what came back ---- */

static void
answer_list(struct asked *a)
{
    const struct writ_entry_review_list *list = &a->entry.review_list;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("reviews"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < list->n; i++) {
        if (may_see(a, &list->items[i].review)) {
            writ_write_object_begin(&w);
            put_told(&w, &list->items[i]);
            writ_write_object_end(&w);
        }
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_generation_drop(WRIT_TAKE(a->generation));
    writ_api_reply(a->x, 200, &body);
}

static void
answer_read(struct asked *a)
{
    const struct writ_entry_review_get *get = &a->entry.review_get;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    put_told(&w, &get->told);
    if (get->arguments.ptr != NULL) {
        writ_write_name(&w, WRIT_LIT("arguments"));
        writ_write_raw(&w, get->arguments);
    }
    writ_write_name(&w, WRIT_LIT("decision"));
    writ_write_raw(&w, get->decision);
    writ_write_name(&w, WRIT_LIT("records"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < get->records_n; i++) {
        writ_write_raw(&w, get->records[i]);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_generation_drop(WRIT_TAKE(a->generation));
    writ_api_reply(a->x, 200, &body);
}

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_REVIEW_UNKNOWN      ? 404
           : reason == WRIT_REASON_VOTE_NOT_ENTITLED ? 403
           : reason == WRIT_REASON_VOTE_MALFORMED    ? 422
                                                     : 409;
}

static void
answer_event(struct asked *a)
{
    const struct writ_entry_review *r = &a->entry.review;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    if (r->refused != WRIT_REASON_NONE) {
        enum writ_reason reason = r->refused;

        /* who may not even see it is not told that it is there */
        if (reason != WRIT_REASON_REVIEW_UNKNOWN && !may_see(a, &r->told.review)) {
            reason = WRIT_REASON_REVIEW_UNKNOWN;
        }
        refuse(a, status_of(reason), reason);
        return;
    }
    writ_write_object_begin(&w);
    put_told(&w, &r->told);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_generation_drop(WRIT_TAKE(a->generation));
    writ_api_reply(a->x, 200, &body);
}

static void submit(struct asked *a);

static void
cancel(struct asked *a)
{
    const struct writ_review *review = &a->entry.review_get.told.review;

    if (!is_administrator(a, review)) {
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
    struct asked *a = post->ctx;

    WRIT_INVARIANT(a->magic == MAGIC);
    if (a->entry.code == WRIT_E_ABSENT) {
        refuse(a, 404, WRIT_REASON_REVIEW_UNKNOWN);
    } else if (a->entry.code != WRIT_OK) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (a->deed == DEED_LIST) {
        answer_list(a);
    } else if (a->entry.kind == WRIT_ENTRY_REVIEW) {
        answer_event(a);
    } else if (!may_see(a, &a->entry.review_get.told.review)) {
        refuse(a, 404, WRIT_REASON_REVIEW_UNKNOWN);
    } else if (a->deed == DEED_CANCEL && !a->seen) {
        cancel(a);
    } else {
        answer_read(a);
    }
}

/* On the writer's thread: nothing is looked at here. */
static void
entry_done(struct writ_entry *entry)
{
    struct asked *a = entry->user;

    writ_loop_answer(a->worker->loop, &a->post);
}

static void
submit(struct asked *a)
{
    a->entry.done = entry_done;
    a->entry.user = a;
    a->entry.arena = a->x->arena;
    a->post = (struct writ_post){.fn = back_on_loop, .ctx = a};
    writ_worker_submit(a->worker, &a->entry);
}

/* ---- what is asked ---- */

/* False: nobody, and told. */
static bool
authenticate(struct asked *a)
{
    enum writ_reason reason = writ_api_ask(a->x, a->worker, &a->agent);

    if (reason != WRIT_REASON_NONE) {
        refuse(a, writ_api_status(reason), reason);
    }
    return reason == WRIT_REASON_NONE;
}

/* "/ID", "/ID/vote": what and which. False: there is nothing at that path. */
static bool
read_path(struct asked *a)
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
                                               : DEED_LIST;
    return a->deed != DEED_LIST;
}

/* A member that is a string, or not there; anything else is wrong. */
static bool
string_of(const struct writ_json *body, struct writ_view name, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(body, name);

    *ret = writ_json_string(value);
    return value == NULL || writ_json_type(value) == WRIT_JSON_STRING;
}

static bool
read_vote(struct asked *a, struct writ_entry_review *ret)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *body = NULL, *confidence;
    struct writ_view vote;

    limits.bytes = WRIT_REVIEW_API_BODY_MAX;
    if (!writ_is_ok(writ_json_read(a->x->body, &limits, a->x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !string_of(body, WRIT_LIT("vote"), &vote) ||
        !string_of(body, WRIT_LIT("review_digest"), &ret->digest) ||
        !string_of(body, WRIT_LIT("feedback"), &ret->feedback)) {
        return false;
    }
    confidence = writ_json_get(body, WRIT_LIT("confidence"));
    ret->confidence = writ_json_text(confidence);
    ret->vote = writ_review_vote_find(vote);
    return ret->vote != WRIT_REVIEW_NO_VOTE &&
           (confidence == NULL || writ_review_is_confidence(ret->confidence));
}

static void
vote(struct asked *a)
{
    struct writ_entry_review r = {.event = WRIT_REVIEW_DO_VOTE,
        .id = a->id,
        .by = subject_of(a),
        .tenant = a->agent.tenant.len > 0 ? a->agent.tenant : (struct writ_view){NULL, 0}};

    if (!read_vote(a, &r)) {
        refuse(a, 422, WRIT_REASON_VOTE_MALFORMED);
        return;
    }
    a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW, .review = r};
    submit(a);
}

static void
go(struct asked *a)
{
    switch (a->deed) {
    case DEED_LIST:
        a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_LIST};
        break;
    case DEED_READ:
    case DEED_CANCEL:
        a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_GET, .review_get = {.id = a->id}};
        break;
    case DEED_VOTE:
        vote(a);
        return;
    case DEED_WITHDRAW:
        a->entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW,
            .review = {.event = WRIT_REVIEW_DO_WITHDRAW,
                .id = a->id,
                .by = a->agent.id,
                .agent_id = a->agent.id,
                .tenant = writ_view(
                    a->agent.tenant.len > 0 ? a->agent.tenant.ptr : "", a->agent.tenant.len)}};
        break;
    }
    submit(a);
}

static struct asked *
begin(struct writ_exchange *x, struct writ_gateway *gateway)
{
    struct asked *a = writ_arena_get(x->arena, sizeof *a);

    if (a == NULL) {
        writ_api_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *a = (struct asked){.magic = MAGIC, .x = x, .worker = writ_gateway_worker(gateway, x->loop)};
    a->generation = writ_generation_hold(a->worker->generation);
    return authenticate(a) ? a : NULL;
}

static void
handle_list(struct writ_exchange *x, void *ctx)
{
    struct asked *a = begin(x, ctx);

    if (a != NULL) {
        go(a);
    }
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct asked *a = begin(x, ctx);

    if (a == NULL) {
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
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/reviews"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_list,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/reviews/"),
        .prefix = true,
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_REVIEW_API_BODY_MAX,
        .handler = handle_one,
        .ctx = gateway};
}
