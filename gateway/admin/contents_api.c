/* contents_api.c
 *
 * Invariants:
 * (1) between ask and back_on_loop a request belongs to the lookup thread, with the arena of its
 *     exchange, and between submit and back_on_loop to the writer. (2) an answer has contents only
 *     after the look at them is on disk. */
#include "gateway/admin/contents_api.h"

#include "base/secret.h"
#include "base/text.h"
#include "evidence/record/content_fact.h"
#include "gateway/admin/api.h"
#include "gateway/admin/contents_answer.h"
#include "gateway/admin/why_answer.h"
#include "gateway/state/ledger_query.h"
#include "store/ledger/ledger.h"

#define MAGIC     0x636f6e74U
#define ARENA_MAX ((size_t)128 << 20) /* memory to read the contents of one call */
#define LOOK_MAX  8192
#define WHY       WRIT_LIT("/why")

/** One request; in the arena of its exchange. */
struct api_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_review_viewer viewer; /* until the answer */
    struct writ_view id;              /* of the decision; empty: an erase */
    bool explains;                    /* the look is for an explanation */
    struct writ_entry entry;          /* of an erase */
    bool counts;                      /* the erase is only counted */
    uint64_t counted;
    struct writ_buf body;
    enum writ_reason refused;
    struct writ_lookup lookup;
    struct writ_post post;
};

/* ---- who may ---- */

bool
writ_contents_api_may_read(const struct writ_review_viewer *viewer, struct writ_view tenant)
{
    return writ_ledger_viewer_named(
               &viewer->generation->config->content_readers, writ_review_viewer_subject(viewer)) &&
           (viewer->agent.tenant.len == 0 || writ_view_equal(viewer->agent.tenant, tenant));
}

/* ---- the end of a request ---- */

static void
refuse(struct api_request *a, unsigned status, enum writ_reason reason)
{
    writ_buf_wipe_secret(&a->body);
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_problem(a->x, status, reason);
}

static void
reply(struct api_request *a)
{
    struct writ_buf body = a->body; /* the end of the exchange frees its arena */

    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_json(a->x, 200, &body);
    writ_buf_wipe_secret(&body);
}

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
    const struct writ_entry_erase *erase = &a->entry.erase;
    struct writ_write w = writ_write_to(&a->body);

    writ_write_object_begin(&w);
    writ_write_count(&w, "contents", a->counts ? a->counted : erase->contents);
    writ_write_flag(&w, "erased", !a->counts);
    writ_write_count(&w, "reviews", a->counts ? 0 : erase->reviews);
    writ_write_flag(&w, "held", !a->counts && erase->held);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    reply(a);
}

/* Names and counts alone. */
static void
tell(const struct api_request *a)
{
    const struct writ_entry_erase *erase = &a->entry.erase;
    struct writ_log *log = a->worker->gateway->log;
    struct writ_view who = writ_review_viewer_subject(&a->viewer);

    if (a->refused == WRIT_REASON_CONTENTS_CHANGED) {
        WRIT_LOG(log, WRIT_EVENT_CONTENTS_CHANGED, writ_log_text("decision_id", a->id),
            writ_log_text("who", who));
    } else if (a->entry.kind == WRIT_ENTRY_ERASE && !a->counts && a->entry.code == WRIT_OK) {
        WRIT_LOG(log, WRIT_EVENT_CONTENTS_ERASED, writ_log_text("who", who),
            writ_log_text("decision_id", erase->decision_id),
            writ_log_text("agent_id", erase->agent_id), writ_log_text("tenant", erase->tenant),
            writ_log_int("contents", (int64_t)erase->contents));
    }
}

static void
back_on_loop(struct writ_post *post)
{
    struct api_request *a = post->ctx;

    WRIT_INVARIANT(a->magic == MAGIC);
    tell(a);
    if (a->refused != WRIT_REASON_NONE) {
        refuse(a, status_of(a->refused), a->refused);
    } else if (a->entry.kind == WRIT_ENTRY_ERASE && !a->counts && a->entry.code != WRIT_OK) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (a->entry.kind == WRIT_ENTRY_ERASE) {
        answer_erased(a);
    } else {
        reply(a);
    }
}

/* ---- a look, on the thread of the lookups ---- */

static WRIT_RESULT
record_look(struct api_request *a, const struct writ_contents_call *call)
{
    const struct writ_content_look look = {.by = writ_review_viewer_subject(&a->viewer),
        .purpose = a->explains ? WRIT_LIT("why") : WRIT_LIT("show"),
        .decision_id = call->decision->decision_id.view,
        .count = 1};
    writ_auto_buf data = writ_buf_make(LOOK_MAX);

    WRIT_TRY(writ_content_fact_look(&look, &data, NULL));
    return writ_ledger_record(
        a->worker->gateway->ledger, WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), NULL);
}

static WRIT_RESULT
put_answer(struct api_request *a, const struct writ_contents_call *call, struct writ_arena *arena,
    struct writ_write *w)
{
    const struct writ_why_answer about = {.viewer = &a->viewer,
        .decision = call->decision,
        .extension = call->extension,
        .tenant = call->tenant,
        .arguments = &call->arguments};

    if (a->explains) {
        return writ_why_answer_put(&about, arena, w);
    }
    writ_contents_answer_put(call, w);
    return WRIT_DONE;
}

/* keeps (2) */
static WRIT_RESULT
look(struct api_request *a, struct writ_arena *arena)
{
    const struct writ_generation *generation = a->viewer.generation;
    writ_auto_contents contents = NULL;
    struct writ_contents_call call;
    struct writ_write w = writ_write_to(&a->body);

    WRIT_TRY(writ_contents_open(generation->config->store.ptr, generation->keyring,
        a->worker->gateway->clock, &contents, NULL));
    WRIT_TRY(writ_contents_get(contents, a->id, arena, &call, NULL));
    if (!writ_contents_api_may_read(&a->viewer, call.tenant)) {
        return (writ_result){WRIT_E_ABSENT}; /* another tenant's does not exist */
    }
    WRIT_TRY(put_answer(a, &call, arena, &w));
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_contents_answer_shows(&call) ? record_look(a, &call) : WRIT_DONE;
}

static void
work_look(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    struct writ_arena *arena = reader == NULL ? NULL : writ_arena_new(ARENA_MAX);
    writ_result result = {WRIT_E_NOMEM};

    if (arena != NULL) {
        result = look(a, arena);
    }
    a->refused = result.code == WRIT_E_ABSENT     ? WRIT_REASON_PATH_UNKNOWN
                 : result.code == WRIT_E_MISMATCH ? WRIT_REASON_CONTENTS_CHANGED
                 : writ_is_ok(result)             ? WRIT_REASON_NONE
                                                  : WRIT_REASON_LEDGER_UNAVAILABLE;
    writ_arena_free(arena);
    writ_loop_answer(a->worker->loop, &a->post);
}

static void
work_count(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    const struct writ_generation *generation = a->viewer.generation;
    writ_result result = {WRIT_E_IO};

    if (reader != NULL) {
        result = writ_contents_answer_count(generation->config->store.ptr,
            a->worker->gateway->clock, &a->entry.erase, &a->counted, NULL);
    }
    a->refused = writ_is_ok(result) ? WRIT_REASON_NONE : WRIT_REASON_LEDGER_UNAVAILABLE;
    writ_loop_answer(a->worker->loop, &a->post);
}

/* keeps (1) */
static void
ask(struct api_request *a, void (*work)(struct writ_lookup *lookup, struct writ_reader *reader))
{
    a->lookup = (struct writ_lookup){.work = work, .ctx = a};
    if (!writ_is_ok(writ_ledger_query_ask(a->worker->gateway->queries, &a->lookup))) {
        refuse(a, 503, WRIT_REASON_OVERLOADED);
    }
}

/* ---- an erase ---- */

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
    writ_worker_submit(a->worker, &a->entry);
}

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
    struct writ_entry_erase *erase = &a->entry.erase;
    const struct writ_json *body = NULL, *counts;

    if (!writ_is_ok(
            writ_json_read(a->x->body, &writ_json_limits_default, a->x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    counts = writ_json_get(body, WRIT_LIT("count"));
    a->counts = writ_json_type(counts) == WRIT_JSON_TRUE;
    a->entry.kind = WRIT_ENTRY_ERASE;
    *erase = (struct writ_entry_erase){.by = writ_review_viewer_subject(&a->viewer)};
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
    struct writ_entry_erase *erase = &a->entry.erase;
    struct writ_view own = a->viewer.agent.tenant;

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
    if (!writ_ledger_viewer_named(&a->viewer.generation->config->administrators,
            writ_review_viewer_subject(&a->viewer))) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!read_erase(a)) {
        refuse(a, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else if (!is_within(a)) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (a->counts) {
        ask(a, work_count);
    } else {
        submit(a);
    }
}

/* ---- routes ---- */

/* NULL: answered. */
static struct api_request *
begin(struct writ_exchange *x, struct writ_gateway *gateway)
{
    struct api_request *a = writ_arena_get(x->arena, sizeof *a);
    enum writ_reason refused;

    if (a == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *a = (struct api_request){.magic = MAGIC,
        .x = x,
        .worker = writ_gateway_worker(gateway, x->loop),
        .body = writ_buf_make(WRIT_API_ANSWER_MAX),
        .post = {.fn = back_on_loop, .ctx = a}};
    refused = writ_review_viewer_ask(a->worker, x, x->arena, &a->viewer);
    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
        return NULL;
    }
    return a;
}

static void
handle_look(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx);

    if (a == NULL) {
        return;
    }
    a->explains = writ_view_has_suffix(x->suffix, WHY);
    a->id = writ_view_sub(x->suffix, 0, x->suffix.len - (a->explains ? WHY.len : 0));
    if (!writ_ledger_viewer_named(&a->viewer.generation->config->content_readers,
            writ_review_viewer_subject(&a->viewer))) {
        refuse(a, 403, WRIT_REASON_NOT_CONTENT_READER);
    } else if (a->explains && !writ_ledger_viewer_reads_policy(&a->viewer)) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (a->id.len == 0 || a->id.len > WRIT_LEDGER_NAME_MAX) {
        refuse(a, 404, WRIT_REASON_PATH_UNKNOWN);
    } else {
        ask(a, work_look);
    }
}

static void
handle_erase(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx);

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
