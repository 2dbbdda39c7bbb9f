/* Whether a review permits a delegation is asked here, of the configuration that the caller was
 * identified by; the ledger checks the rest, and asks the configuration of each review again. */
#include "gateway/admin/delegation_api.h"

#include "base/id.h"
#include "base/text.h"
#include "gateway/admin/api_request.h"
#include "gateway/http/query.h"
#include "policy/decide/terms.h"

#define NUMBER_MAX 40 /* bytes of a number */

struct api_request {
    struct writ_api_request request;
    char id[WRIT_ID_TEXT]; /* of a delegation that is not signed */
};

static struct writ_view
subject_of(const struct api_request *a)
{
    return writ_review_viewer_subject(&a->request.viewer);
}

static const struct writ_config *
config_of(const struct api_request *a)
{
    return a->request.viewer.generation->config;
}

/* Of all tenants: it sees and revokes all delegations. */
static bool
is_administrator(const struct api_request *a)
{
    return a->request.viewer.agent.tenant.len == 0 &&
           writ_config_has_name(&config_of(a)->administrators, subject_of(a));
}

static void
refuse_about(struct api_request *a, unsigned status, enum writ_reason reason, const char *detail)
{
    struct writ_exchange *x = a->request.x;

    writ_review_viewer_wipe(&a->request.viewer);
    writ_api_answer_problem_about(x, status, reason, detail);
}

/* ---- answers ---- */

/* The reviews in which a delegation counts, as they are configured now. */
static void
put_reviews(struct writ_write *w, const struct writ_config *config,
    const struct writ_delegation *delegation, int64_t at_us)
{
    writ_write_name(w, WRIT_LIT("reviews"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < config->reviews_n; i++) {
        const struct writ_review_config *review = &config->reviews[i];

        if (writ_terms_may_delegate(review, delegation->voter, delegation->delegate) &&
            delegation->until_us - at_us <= review->delegable.longest_us) {
            writ_write_string(w, review->name);
        }
    }
    writ_write_array_end(w);
}

static void
put_delegation(struct writ_write *w, const struct writ_config *config,
    const struct writ_delegation *delegation, struct writ_view digest, int64_t at_us,
    bool revocable)
{
    writ_write_object_begin(w);
    writ_delegation_show(w, delegation, digest, at_us);
    writ_write_flag(w, "revocable", revocable);
    put_reviews(w, config, delegation, at_us);
    writ_write_object_end(w);
}

/* One review that lets the caller name delegates, and which. */
static void
put_may_one(struct writ_write *w, const struct writ_review_config *review, struct writ_view voter)
{
    bool any = false;

    for (size_t i = 0; i < review->voters_n + review->delegable.stand_ins_n; i++) {
        struct writ_view id = i < review->voters_n
                                  ? review->voters[i].id
                                  : review->delegable.stand_ins[i - review->voters_n].id;

        if (!writ_terms_may_delegate(review, voter, id)) {
            continue;
        }
        if (!any) {
            writ_write_object_begin(w);
            writ_write_text(w, "review", review->name);
            writ_write_integer(w, "longest_ms", review->delegable.longest_us / 1000);
            writ_write_name(w, WRIT_LIT("delegates"));
            writ_write_array_begin(w);
            any = true;
        }
        writ_write_string(w, id);
    }
    if (any) {
        writ_write_array_end(w);
        writ_write_object_end(w);
    }
}

static void
answer_list(struct api_request *a)
{
    const struct writ_entry_delegations *list = &a->request.entry.delegations;
    const struct writ_config *config = config_of(a);
    const struct writ_reviewer_config *own = writ_config_reviewer(config, subject_of(a));
    struct writ_write w = writ_write_to(&a->request.body);

    writ_write_object_begin(&w);
    writ_write_text(&w, "ledger", list->ledger);
    writ_write_text(&w, "voter", subject_of(a));
    writ_write_flag(&w, "signs", own != NULL && own->key.len > 0);
    writ_write_flag(&w, "administrator", is_administrator(a));
    writ_write_name(&w, WRIT_LIT("may"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < config->reviews_n; i++) {
        put_may_one(&w, &config->reviews[i], subject_of(a));
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("delegations"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < list->n; i++) {
        const struct writ_delegation_told *told = &list->items[i];

        put_delegation(&w, config, &told->delegation, writ_view_str(told->digest), told->at_us,
            told->revocable);
    }
    writ_write_array_end(&w);
    if (list->next_us != 0) {
        writ_write_integer(&w, "next", list->next_us);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_request_reply(&a->request);
}

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_DELEGATION_MALFORMED  ? 422
           : reason == WRIT_REASON_DELEGATION_UNKNOWN  ? 404
           : reason == WRIT_REASON_DELEGATION_UNSIGNED ? 403
           : reason == WRIT_REASON_DELEGATION_FORGED   ? 403
                                                       : 409;
}

static void
answer_set(struct api_request *a)
{
    const struct writ_entry_delegate *set = &a->request.entry.delegate;
    struct writ_write w = writ_write_to(&a->request.body);

    if (set->refused == WRIT_REASON_DELEGATION_NOT_PERMITTED) {
        refuse_about(a, 403, set->refused, "until is later than the reviews permit");
        return;
    }
    if (set->refused != WRIT_REASON_NONE) {
        writ_api_request_refuse(&a->request, status_of(set->refused), set->refused);
        return;
    }
    WRIT_LOG(a->request.worker->gateway->log, WRIT_EVENT_DELEGATION_SET,
        writ_log_text("delegation", set->delegation.id),
        writ_log_text("voter", set->delegation.voter),
        writ_log_text("delegate", set->delegation.delegate));
    put_delegation(
        &w, config_of(a), &set->delegation, writ_view_str(set->digest), set->at_us, true);
    WRIT_IGNORE(writ_write_end(&w, NULL));
    writ_api_request_reply(&a->request);
}

static void
answer_revoke(struct api_request *a)
{
    const struct writ_entry_undelegate *revoked = &a->request.entry.undelegate;
    struct writ_write w = writ_write_to(&a->request.body);

    if (revoked->refused != WRIT_REASON_NONE) {
        writ_api_request_refuse(&a->request, status_of(revoked->refused), revoked->refused);
        return;
    }
    WRIT_LOG(a->request.worker->gateway->log, WRIT_EVENT_DELEGATION_REVOKED,
        writ_log_text("delegation", revoked->id), writ_log_text("who", revoked->by));
    writ_write_object_begin(&w);
    writ_write_text(&w, "id", revoked->id);
    writ_write_text(&w, "voter", revoked->delegation.voter);
    writ_write_text(&w, "delegate", revoked->delegation.delegate);
    writ_write_flag(&w, "revoked", true);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL));
    writ_api_request_reply(&a->request);
}

static void
back_on_loop(struct writ_api_request *request)
{
    struct api_request *a = (struct api_request *)request;

    if (request->entry.code != WRIT_OK) {
        writ_api_request_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (request->entry.kind == WRIT_ENTRY_DELEGATIONS) {
        answer_list(a);
    } else if (request->entry.kind == WRIT_ENTRY_DELEGATE) {
        answer_set(a);
    } else {
        answer_revoke(a);
    }
}

/* ---- what is asked ---- */

/* "after=NEXT", of the page before. */
static bool
read_after(struct api_request *a, uint64_t *ret)
{
    struct writ_view after = {NULL, 0};

    return writ_is_ok(writ_query_get(
               a->request.x->query, WRIT_LIT("after"), NUMBER_MAX, a->request.x->arena, &after)) &&
           (after.len == 0 || writ_is_ok(writ_text_u64(after, 1, INT64_MAX, ret)));
}

static void
list(struct api_request *a)
{
    uint64_t after_us = 0;

    if (!read_after(a, &after_us)) {
        writ_api_request_refuse(&a->request, 422, WRIT_REASON_MALFORMED_REQUEST);
        return;
    }
    a->request.entry = (struct writ_entry){.kind = WRIT_ENTRY_DELEGATIONS,
        .delegations = {.tenant = a->request.viewer.agent.tenant, .after_us = (int64_t)after_us}};
    if (!is_administrator(a)) {
        a->request.entry.delegations.by = subject_of(a);
    }
    writ_api_request_submit(&a->request);
}

/* An ignored member might be the one that the voter meant. */
static WRIT_RESULT
read_plain(struct api_request *a, const struct writ_json *body, struct writ_delegation *ret,
    struct writ_err *err)
{
    static const char *const known[] = {"delegate", "from", "tools", "until", NULL};
    writ_result result;

    if (!writ_json_has_only(body, known)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a delegation has delegate, until, from and tools alone");
    }
    WRIT_TRY(writ_id_new(a->request.worker->gateway->clock, a->id, err));
    result = writ_delegation_parse(
        body, writ_view_str(a->id), subject_of(a), a->request.x->arena, ret, err);
    return result.code == WRIT_E_MISMATCH ? (writ_result){WRIT_E_PARSE} : result;
}

static WRIT_RESULT
read_signed(struct api_request *a, struct writ_view token, struct writ_delegation *ret,
    struct writ_err *err)
{
    struct writ_delegation delegation;

    WRIT_TRY(writ_delegation_open(token, a->request.x->arena, &delegation, err));
    if (!writ_view_equal(delegation.voter, subject_of(a))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the signed delegation is of another voter");
    }
    *ret = delegation;
    return WRIT_DONE;
}

static WRIT_RESULT
read_body(struct api_request *a, struct writ_delegation *ret, struct writ_err *err)
{
    static const char *const alone[] = {"signed", NULL};
    const struct writ_json *body = NULL;
    struct writ_view token;

    WRIT_TRY(writ_json_read(
        a->request.x->body, &writ_json_limits_default, a->request.x->arena, &body, err));
    if (writ_json_type(body) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a delegation is a JSON object");
    }
    token = writ_json_string(writ_json_get(body, WRIT_LIT("signed")));
    if (token.ptr != NULL && writ_json_has_only(body, alone)) {
        WRIT_TRY(read_signed(a, token, ret, err));
    } else {
        WRIT_TRY(read_plain(a, body, ret, err));
    }
    for (size_t i = 0; i < ret->tools_n; i++) {
        const char *fault = writ_terms_tool_fault(ret->tools[i]);

        if (fault != NULL) {
            WRIT_FAIL(err, WRIT_E_PARSE, "element %zu of tools is not a pattern: %s", i, fault);
        }
    }
    return WRIT_DONE;
}

/* The longest time for which some review permits it; 0: none does. */
static int64_t
longest_of(const struct api_request *a, const struct writ_delegation *delegation)
{
    const struct writ_config *config = config_of(a);
    int64_t longest_us = 0;

    for (size_t i = 0; i < config->reviews_n; i++) {
        const struct writ_review_config *review = &config->reviews[i];

        if (writ_terms_may_delegate(review, delegation->voter, delegation->delegate) &&
            review->delegable.longest_us > longest_us) {
            longest_us = review->delegable.longest_us;
        }
    }
    return longest_us;
}

/* The delegations of the configuration close cycles too. WRIT_E_NOMEM. */
static WRIT_RESULT
find_edges(struct api_request *a, struct writ_entry_delegate *ret)
{
    const struct writ_config *config = config_of(a);
    struct writ_delegation_edge *edges =
        writ_arena_get(a->request.x->arena, (config->reviewers_n + 1) * sizeof *edges);

    if (edges == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < config->reviewers_n; i++) {
        const struct writ_reviewer_config *reviewer = &config->reviewers[i];

        if (reviewer->delegation != NULL) {
            edges[ret->edges_n++] =
                (struct writ_delegation_edge){reviewer->id, reviewer->delegation->to};
        }
    }
    ret->edges = edges;
    return WRIT_DONE;
}

static void
set(struct api_request *a)
{
    struct writ_entry_delegate entry = {0};
    const struct writ_reviewer_config *own = writ_config_reviewer(config_of(a), subject_of(a));
    struct writ_err err = {{0}, 0, 0};
    writ_result result = read_body(a, &entry.delegation, &err);

    if (!writ_is_ok(result)) {
        enum writ_reason reason = result.code == WRIT_E_MISMATCH ? WRIT_REASON_DELEGATION_FORGED
                                                                 : WRIT_REASON_DELEGATION_MALFORMED;
        refuse_about(a, status_of(reason), reason, err.text);
        return;
    }
    entry.longest_us = longest_of(a, &entry.delegation);
    if (entry.longest_us == 0) {
        refuse_about(a, 403, WRIT_REASON_DELEGATION_NOT_PERMITTED,
            "no review lets this voter name this delegate");
        return;
    }
    entry.delegation.tenant = a->request.viewer.agent.tenant;
    entry.delegation.key = own != NULL ? own->key : (struct writ_view){"", 0};
    if (!writ_is_ok(find_edges(a, &entry))) {
        writ_api_request_refuse(&a->request, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    a->request.entry = (struct writ_entry){.kind = WRIT_ENTRY_DELEGATE, .delegate = entry};
    writ_api_request_submit(&a->request);
}

static void
revoke(struct api_request *a, struct writ_view id)
{
    a->request.entry = (struct writ_entry){.kind = WRIT_ENTRY_UNDELEGATE,
        .undelegate = {.id = id,
            .by = subject_of(a),
            .any = is_administrator(a),
            .tenant = a->request.viewer.agent.tenant}};
    writ_api_request_submit(&a->request);
}

static void
handle_all(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_api_request_open(x, ctx, sizeof *a, back_on_loop);

    if (a != NULL && x->method == WRIT_METHOD_GET) {
        list(a);
    } else if (a != NULL) {
        set(a);
    }
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_api_request_open(x, ctx, sizeof *a, back_on_loop);
    size_t slash = writ_view_find(x->suffix, '/');

    if (a == NULL) {
        return;
    }
    if (slash == 0 || slash > WRIT_DELEGATION_ID_MAX ||
        !writ_view_is(writ_view_sub(x->suffix, slash, x->suffix.len), "/revoke")) {
        writ_api_request_refuse(&a->request, 404, WRIT_REASON_PATH_UNKNOWN);
        return;
    }
    revoke(a, writ_view_sub(x->suffix, 0, slash));
}

void
writ_delegation_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_DELEGATION_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/delegations"),
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_DELEGATION_API_BODY_MAX,
        .handler = handle_all,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/delegations/"),
        .prefix = true,
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_DELEGATION_API_BODY_MAX,
        .handler = handle_one,
        .ctx = gateway};
}
