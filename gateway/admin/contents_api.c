/* contents_api.c
 *
 * Invariants:
 * (1) a caller with a tenant has no contents of another tenant decrypted. (2) an answer has
 * contents only after the look at them is on disk. */
#include "gateway/admin/contents_api.h"

#include "base/text.h"
#include "evidence/record/content_fact.h"
#include "gateway/admin/api_request.h"
#include "gateway/admin/contents_answer.h"
#include "gateway/admin/source_texts.h"
#include "gateway/admin/why_answer.h"
#include "store/ledger/ledger.h"

#define ARENA_MAX ((size_t)128 << 20) /* memory to read the contents of one call */
#define LOOK_MAX  8192
#define WHY       WRIT_LIT("/why")

/** One request; in the arena of its exchange. */
struct api_request {
    struct writ_api_request request; /* its entry: an erase */
    struct writ_view id;             /* of the decision; empty: an erase */
    bool explains;                   /* the look is for an explanation */
    bool counts;                     /* the erase is only counted */
    uint64_t counted;
    enum writ_reason refused;
};

/* ---- who may ---- */

bool
writ_contents_api_may_read(const struct writ_review_viewer *viewer, struct writ_view tenant)
{
    return writ_config_has_name(
               &viewer->generation->config->content_readers, writ_review_viewer_subject(viewer)) &&
           (viewer->agent.tenant.len == 0 || writ_view_equal(viewer->agent.tenant, tenant));
}

/* ---- the end of a request ---- */

static unsigned
status_of(enum writ_reason reason)
{
    return reason == WRIT_REASON_PATH_UNKNOWN       ? 404
           : reason == WRIT_REASON_CONTENTS_CHANGED ? 409
                                                    : 503;
}

static void
answer_erased(struct api_request *a)
{
    const struct writ_entry_erase *erase = &a->request.entry.erase;
    struct writ_write w = writ_write_to(&a->request.body);

    writ_write_object_begin(&w);
    writ_write_count(&w, "contents", a->counts ? a->counted : erase->contents);
    writ_write_flag(&w, "erased", !a->counts);
    writ_write_count(&w, "reviews", a->counts ? 0 : erase->reviews);
    writ_write_flag(&w, "held", !a->counts && erase->held);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_request_reply(&a->request);
}

/* Names and counts alone. */
static void
tell(const struct api_request *a)
{
    const struct writ_entry_erase *erase = &a->request.entry.erase;
    struct writ_log *log = a->request.worker->gateway->log;
    struct writ_view who = writ_review_viewer_subject(&a->request.viewer);

    if (a->refused == WRIT_REASON_CONTENTS_CHANGED) {
        WRIT_LOG(log, WRIT_EVENT_CONTENTS_CHANGED, writ_log_text("decision_id", a->id),
            writ_log_text("who", who));
    } else if (a->request.entry.kind == WRIT_ENTRY_ERASE && !a->counts &&
               a->request.entry.code == WRIT_OK) {
        WRIT_LOG(log, WRIT_EVENT_CONTENTS_ERASED, writ_log_text("who", who),
            writ_log_text("decision_id", erase->decision_id),
            writ_log_text("agent_id", erase->agent_id), writ_log_text("tenant", erase->tenant),
            writ_log_int("contents", (int64_t)erase->contents));
    }
}

static void
back_on_loop(struct writ_api_request *request)
{
    struct api_request *a = (struct api_request *)request;

    tell(a);
    if (a->refused != WRIT_REASON_NONE) {
        writ_api_request_refuse(&a->request, status_of(a->refused), a->refused);
    } else if (a->request.entry.kind == WRIT_ENTRY_ERASE && !a->counts &&
               a->request.entry.code != WRIT_OK) {
        writ_api_request_refuse(&a->request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (a->request.entry.kind == WRIT_ENTRY_ERASE) {
        answer_erased(a);
    } else {
        writ_api_request_reply(&a->request);
    }
}

/* ---- a look, on the thread of the lookups ---- */

static WRIT_RESULT
record_look(struct api_request *a, const struct writ_contents_call *call)
{
    const struct writ_content_look look = {.by = writ_review_viewer_subject(&a->request.viewer),
        .purpose = a->explains ? WRIT_LIT("why") : WRIT_LIT("show"),
        .decision_id = call->decision->decision_id.view,
        .count = 1};
    writ_auto_buf data = writ_buf_make(LOOK_MAX);

    WRIT_TRY(writ_content_fact_look(&look, &data, NULL));
    return writ_ledger_record(
        a->request.worker->gateway->ledger, WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), NULL);
}

static WRIT_RESULT
put_answer(struct api_request *a, const struct writ_contents_call *call,
    struct writ_source_texts *texts, struct writ_arena *arena, struct writ_write *w)
{
    const struct writ_why_answer about = {.viewer = &a->request.viewer,
        .decision = call->decision,
        .extension = call->extension,
        .tenant = call->tenant,
        .arguments = &call->arguments,
        .texts = texts};

    if (a->explains) {
        return writ_why_answer_put(&about, arena, w);
    }
    writ_contents_answer_put(call, w);
    return WRIT_DONE;
}

/* Another tenant's call does not exist, whatever its contents are. keeps (1) */
static WRIT_RESULT
check_tenant(struct api_request *a, struct writ_reader *reader, struct writ_arena *arena)
{
    struct writ_reader_call call;
    writ_result result;

    if (a->request.viewer.agent.tenant.len == 0) {
        return WRIT_DONE;
    }
    result = writ_reader_show(reader, a->id, arena, &call, NULL);
    if (!writ_is_ok(result)) {
        return (writ_result){result.code == WRIT_E_ABSENT ? WRIT_E_ABSENT : WRIT_E_IO};
    }
    return writ_contents_api_may_read(&a->request.viewer, call.tenant)
               ? WRIT_DONE
               : (writ_result){WRIT_E_ABSENT};
}

/* keeps (2) */
static WRIT_RESULT
look(struct api_request *a, struct writ_reader *reader, struct writ_arena *arena)
{
    const struct writ_generation *generation = a->request.viewer.generation;
    struct writ_ledger *ledger = a->request.worker->gateway->ledger;
    struct writ_source_texts texts = {.reader = reader, .key = generation->marks};
    writ_auto_contents contents = NULL;
    struct writ_contents_call call;
    struct writ_write w = writ_write_to(&a->request.body);

    WRIT_TRY(writ_contents_open(generation->config->store.ptr, generation->keyring,
        a->request.worker->gateway->clock, &contents, NULL));
    WRIT_TRY(writ_contents_get(contents, a->id, arena, &call, NULL));
    texts.contents = contents;
    texts.tenant = call.tenant;
    texts.boundary_id = call.boundary_id;
    texts.leaf = call.leaf;
    WRIT_TRY(put_answer(a, &call, &texts, arena, &w));
    WRIT_TRY(writ_write_end(&w, NULL));
    WRIT_TRY(writ_source_texts_record(
        &texts, ledger, writ_review_viewer_subject(&a->request.viewer), "why", NULL));
    return writ_contents_answer_shows(&call) ? record_look(a, &call) : WRIT_DONE;
}

static void
work_look(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    struct writ_arena *arena = reader == NULL ? NULL : writ_arena_new(ARENA_MAX);
    writ_result result = {WRIT_E_NOMEM};

    if (arena != NULL) {
        result = check_tenant(a, reader, arena);
    }
    if (writ_is_ok(result)) {
        result = look(a, reader, arena);
    }
    a->refused = result.code == WRIT_E_ABSENT     ? WRIT_REASON_PATH_UNKNOWN
                 : result.code == WRIT_E_MISMATCH ? WRIT_REASON_CONTENTS_CHANGED
                 : writ_is_ok(result)             ? WRIT_REASON_NONE
                                                  : WRIT_REASON_LEDGER_UNAVAILABLE;
    writ_arena_free(arena);
    writ_api_request_done(&a->request);
}

static void
work_count(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    const struct writ_generation *generation = a->request.viewer.generation;
    writ_result result = {WRIT_E_IO};

    if (reader != NULL) {
        result = writ_contents_answer_count(generation->config->store.ptr,
            a->request.worker->gateway->clock, &a->request.entry.erase, &a->counted, NULL);
    }
    a->refused = writ_is_ok(result) ? WRIT_REASON_NONE : WRIT_REASON_LEDGER_UNAVAILABLE;
    writ_api_request_done(&a->request);
}

/* ---- an erase ---- */

static bool
read_name(const struct writ_json *body, const char *name, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(body, writ_view_str(name));

    if (value != NULL) {
        *ret = writ_json_string(value);
    }
    return value == NULL || (ret->len > 0 && ret->len <= WRIT_LEDGER_NAME_MAX);
}

static bool
read_before(const struct writ_json *body, int64_t *ret)
{
    const struct writ_json *value = writ_json_get(body, WRIT_LIT("before"));

    return value == NULL || (writ_is_ok(writ_time_read(writ_json_string(value), ret)) && *ret > 0);
}

/* An unknown member could have restricted the erase. */
static bool
read_erase(struct api_request *a)
{
    static const char *const known[] = {"decision", "agent", "tenant", "before", "count", NULL};
    struct writ_entry_erase *erase = &a->request.entry.erase;
    const struct writ_json *body = NULL, *counts;

    if (!writ_is_ok(writ_json_read(
            a->request.x->body, &writ_json_limits_default, a->request.x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    counts = writ_json_get(body, WRIT_LIT("count"));
    a->counts = writ_json_type(counts) == WRIT_JSON_TRUE;
    a->request.entry.kind = WRIT_ENTRY_ERASE;
    *erase = (struct writ_entry_erase){.by = writ_review_viewer_subject(&a->request.viewer)};
    return read_name(body, "decision", &erase->decision_id) &&
           read_name(body, "agent", &erase->agent_id) &&
           read_name(body, "tenant", &erase->tenant) && read_before(body, &erase->before_us) &&
           (counts == NULL || a->counts || writ_json_type(counts) == WRIT_JSON_FALSE) &&
           (erase->decision_id.ptr != NULL || erase->agent_id.ptr != NULL ||
               erase->tenant.ptr != NULL || erase->before_us != 0);
}

/* An administrator of a tenant erases only contents of that tenant. */
static bool
is_within(struct api_request *a)
{
    struct writ_entry_erase *erase = &a->request.entry.erase;
    struct writ_view own = a->request.viewer.agent.tenant;

    if (own.len == 0) {
        return true;
    }
    if (erase->tenant.ptr != NULL && !writ_view_equal(erase->tenant, own)) {
        return false;
    }
    erase->tenant = own;
    return true;
}

static void
begin_erase(struct api_request *a)
{
    if (!writ_config_has_name(&a->request.viewer.generation->config->administrators,
            writ_review_viewer_subject(&a->request.viewer))) {
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!read_erase(a)) {
        writ_api_request_refuse(&a->request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else if (!is_within(a)) {
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (a->counts) {
        writ_api_request_ask(&a->request, work_count);
    } else {
        writ_api_request_submit(&a->request);
    }
}

/* ---- routes ---- */

static void
handle_look(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_api_request_open(x, ctx, sizeof *a, back_on_loop);

    if (a == NULL) {
        return;
    }
    a->explains = writ_view_has_suffix(x->suffix, WHY);
    a->id = writ_view_sub(x->suffix, 0, x->suffix.len - (a->explains ? WHY.len : 0));
    if (!writ_config_has_name(&a->request.viewer.generation->config->content_readers,
            writ_review_viewer_subject(&a->request.viewer))) {
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_NOT_CONTENT_READER);
    } else if (a->explains && !writ_ledger_viewer_reads_policy(&a->request.viewer)) {
        writ_api_request_refuse(&a->request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (a->id.len == 0 || a->id.len > WRIT_LEDGER_NAME_MAX) {
        writ_api_request_refuse(&a->request, 404, WRIT_REASON_PATH_UNKNOWN);
    } else {
        writ_api_request_ask(&a->request, work_look);
    }
}

static void
handle_erase(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_api_request_open(x, ctx, sizeof *a, back_on_loop);

    if (a != NULL) {
        begin_erase(a);
    }
}

void
writ_contents_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_CONTENTS_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/contents/erase"),
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_CONTENTS_API_BODY_MAX,
        .handler = handle_erase,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/contents/"),
        .prefix = true,
        .methods = WRIT_ROUTE_GET,
        .handler = handle_look,
        .ctx = gateway};
}
