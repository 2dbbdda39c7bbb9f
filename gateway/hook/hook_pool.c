/* hook_pool.c - /v1/pool: insights that the agents of one tenant share. The pool of a crew
 * (crew/pool.h) decides what a request means; the ledger keeps the puts, as they were requested.
 * For each request a pool is made from them, so every gateway of a ledger gives the same answer. */
#include "gateway/hook/hook.h"

#include "crew/pool.h"
#include "crew/value.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "gateway/listener/api_answer.h"
#include "gateway/request/finish.h"

#define REQUEST_MAX ((size_t)1 << 20)  /* canonical bytes of a request to the pool */
#define ROWS_MAX    ((size_t)64 << 20) /* memory of the insights of a tenant */
#define ANSWER_MAX  ((size_t)4 << 20)
#define WAIT_MAX_S  60
#define SLICE_US    INT64_C(2000000) /* after it, the client is looked for */
#define US_PER_S    INT64_C(1000000)
#define NUMBER_MAX  ((int64_t)1 << 53)
#define PROBE_MS    1000

#define PART WRIT_CREW_FOUND_BYTES_MAX /* bytes of insights in one answer to a subscription */

/** The insights that a subscription gives. */
struct given {
    struct writ_write *w;
    const struct writ_buf *out;
    size_t from;
    bool took; /* the last insight */
};

static struct writ_hook_pool *
pool_of(const struct writ_request *request)
{
    return &writ_hook_of(request)->pool;
}

static const struct writ_pool_config *
limits_of(const struct writ_request *request)
{
    return &writ_request_config(request)->pool;
}

/* ---- answers ---- */

static enum writ_step
refuse(struct writ_request *request, unsigned status, enum writ_reason reason, const char *text)
{
    writ_arena_free(WRIT_TAKE(pool_of(request)->rows));
    return writ_hook_refuse(request, status, reason, text);
}

static enum writ_step
refuse_malformed(struct writ_request *request, const char *text)
{
    return refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST, text);
}

static enum writ_step
refuse_memory(struct writ_request *request)
{
    return refuse(request, 503, WRIT_REASON_OVERLOADED, NULL);
}

static enum writ_step
refuse_crew(struct writ_request *request, writ_result result, const struct writ_crew_err *err)
{
    return result.code == WRIT_E_NOMEM ? refuse_memory(request)
                                       : refuse_malformed(request, err->err.text);
}

/* The request was tried before: what fails is a row that is not what was put. */
static enum writ_step
refuse_rows(struct writ_request *request, writ_result result)
{
    return result.code == WRIT_E_NOMEM ? refuse_memory(request)
                                       : refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
}

static enum writ_step
refuse_code(struct writ_request *request)
{
    switch (request->entry.code) {
    case WRIT_E_LIMIT:
        return refuse(request, 409, WRIT_REASON_POOL_FULL, NULL);
    case WRIT_E_ABSENT:
        return refuse(request, 404, WRIT_REASON_INSIGHT_UNKNOWN, NULL);
    case WRIT_E_NOMEM:
        return refuse_memory(request);
    case WRIT_OK:
    case WRIT_E_UNSET:
    case WRIT_E_INVALID:
    case WRIT_E_PARSE:
    case WRIT_E_MISMATCH:
    case WRIT_E_IO:
    case WRIT_E_CRYPTO:
    case WRIT_E_BUSY:
        break;
    }
    return refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE, NULL);
}

static enum writ_step
answer(struct writ_request *request, const struct writ_buf *body)
{
    writ_arena_free(WRIT_TAKE(pool_of(request)->rows));
    writ_finish_request(request);
    writ_api_answer_json(request->x, 200, body);
    return WRIT_STEP_DONE;
}

/* ---- reading a request ---- */

/* The members of the body that the pool of a crew knows, as canonical text. */
static bool
put_request(const struct writ_request *request, struct writ_buf *ret)
{
    const struct writ_json *body = writ_hook_of(request)->body;
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    for (const struct writ_json *name = writ_json_sorted_first(body); name != NULL;
         name = writ_json_sorted_next(name)) {
        struct writ_view text = writ_json_string(name);
        writ_auto_buf value = writ_buf_make(REQUEST_MAX);

        if (!writ_view_is(text, "since") && !writ_view_is(text, "wait")) {
            writ_write_name(&w, text);
            if (!writ_is_ok(writ_jcs_put_rounded(&value, writ_json_get(body, text), NULL))) {
                return false;
            }
            writ_write_raw(&w, writ_buf_view(&value));
        }
    }
    writ_write_object_end(&w);
    return writ_is_ok(writ_write_end(&w, NULL));
}

/* A whole number from 0 to `most`; *ret stays without the member. */
static bool
read_number(const struct writ_request *request, const char *name, int64_t most, int64_t *ret)
{
    const struct writ_json *value = writ_json_get(writ_hook_of(request)->body, writ_view_str(name));

    return value == NULL || writ_is_ok(writ_json_integer(value, 0, most, ret));
}

/* Lets an empty pool judge the request, so that a malformed one reaches no ledger. */
static WRIT_RESULT
try_request(const struct writ_request *request, struct writ_view text, struct writ_crew_err *err)
{
    struct writ_crew_pool *pool = writ_crew_pool_new(1);
    writ_auto_value value = NULL;
    writ_result result = {WRIT_E_NOMEM};

    if (pool != NULL) {
        result = writ_crew_pool_request(pool, request->identity.agent.id, text, NULL, &value, err);
    }
    writ_crew_pool_free(pool);
    return result;
}

static enum writ_step
read_rows(struct writ_request *request, uint64_t since)
{
    struct writ_hook_pool *pool = pool_of(request);

    writ_arena_free(WRIT_TAKE(pool->rows));
    pool->rows = writ_arena_new(ROWS_MAX);
    if (pool->rows == NULL) {
        return refuse_memory(request);
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_POOL_READ,
        .pool_read = {
            .tenant = request->identity.agent.tenant, .since = since, .into = pool->rows}};
    return writ_request_submit(request, WRIT_STEP_POOLED);
}

/* ---- the types of requests ---- */

static size_t
count_tags(const struct writ_request *request)
{
    const struct writ_json *tags = writ_json_get(writ_hook_of(request)->body, WRIT_LIT("tags"));

    return tags != NULL ? tags->count : 0;
}

static enum writ_step
begin_put(struct writ_request *request)
{
    const struct writ_pool_config *limits = limits_of(request);
    struct writ_view text = pool_of(request)->text;

    if (text.len > (size_t)limits->entry_bytes || count_tags(request) > (size_t)limits->tags) {
        return refuse(request, 422, WRIT_REASON_INSIGHT_TOO_LARGE, NULL);
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_POOL_PUT,
        .pool_put = {.tenant = request->identity.agent.tenant,
            .agent_id = request->identity.agent.id,
            .key = writ_json_string(writ_json_get(writ_hook_of(request)->body, WRIT_LIT("key"))),
            .bytes = text,
            .expires_us = writ_clock_wall_us(request->worker->gateway->clock) + limits->keep_us,
            .entries_max = (size_t)limits->entries,
            .bytes_max = (size_t)limits->tenant_bytes}};
    return writ_request_submit(request, WRIT_STEP_POOLED);
}

static bool
read_insight(struct writ_request *request)
{
    static const char *const known[] = {"type", "insight", NULL};
    int64_t number = -1;

    if (!writ_json_has_only(writ_hook_of(request)->body, known) ||
        !read_number(request, "insight", NUMBER_MAX, &number) || number < 0) {
        return false;
    }
    pool_of(request)->insight = (uint64_t)number;
    return true;
}

static enum writ_step
begin_remove(struct writ_request *request)
{
    const struct writ_agent *agent = &request->identity.agent;

    if (!read_insight(request)) {
        return refuse_malformed(
            request, "wants insight, a number that a put gave, and nothing else");
    }
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_POOL_REMOVE,
        .pool_remove = {.tenant = agent->tenant,
            .agent_id = agent->id,
            .any_agent =
                writ_config_has_name(&writ_request_config(request)->administrators, agent->id),
            .insight = pool_of(request)->insight}};
    return writ_request_submit(request, WRIT_STEP_POOLED);
}

static enum writ_step
begin_get(struct writ_request *request)
{
    return read_insight(request)
               ? read_rows(request, pool_of(request)->insight)
               : refuse_malformed(request, "wants insight, the number of one, and nothing else");
}

static enum writ_step
begin_read(struct writ_request *request)
{
    return read_rows(request, 0);
}

static enum writ_step
begin_subscribe(struct writ_request *request)
{
    struct writ_hook_pool *pool = pool_of(request);
    int64_t since = 0, wait_s = 0;

    if (!read_number(request, "since", NUMBER_MAX, &since) ||
        !read_number(request, "wait", WAIT_MAX_S, &wait_s)) {
        return refuse_malformed(
            request, "since is a number that a subscription gave, wait seconds from 0 to 60");
    }
    pool->since = (uint64_t)since;
    pool->until_us = writ_loop_now_us(request->x->loop) + wait_s * US_PER_S;
    if (wait_s > 0) {
        writ_exchange_probe(request->x, PROBE_MS);
    }
    return read_rows(request, pool->since);
}

/* ---- the pool of a tenant ---- */

/* The pool of all insights that were read, or of the one with that number. */
static WRIT_RESULT
fill(struct writ_crew_pool *pool, const struct writ_entry_pool_read *read, bool one,
    uint64_t number, struct writ_crew_err *err)
{
    for (size_t i = 0; i < read->n; i++) {
        const struct writ_pool_insight *insight = &read->insights[i];
        writ_auto_value value = NULL;

        if (!one || insight->number == number) {
            writ_pool_number(pool, insight->number);
            WRIT_TRY(
                writ_crew_pool_request(pool, insight->agent_id, insight->bytes, NULL, &value, err));
        }
    }
    return WRIT_DONE;
}

static enum writ_step
answer_by(struct writ_request *request, struct writ_view text, bool one)
{
    const struct writ_entry_pool_read *read = &request->entry.pool_read;
    struct writ_crew_pool *pool = writ_crew_pool_new(read->n);
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    writ_auto_value value = NULL;
    struct writ_crew_err err = {0};
    writ_result result = {WRIT_E_NOMEM};

    if (pool != NULL) {
        result = fill(pool, read, one, pool_of(request)->insight, &err);
    }
    if (writ_is_ok(result) && one && writ_pool_count(pool) == 0) {
        writ_crew_pool_free(pool);
        return refuse(request, 404, WRIT_REASON_INSIGHT_UNKNOWN, NULL);
    }
    if (writ_is_ok(result)) {
        result = writ_crew_pool_request(pool, request->identity.agent.id, text, NULL, &value, &err);
    }
    writ_crew_pool_free(pool);
    if (!writ_is_ok(result)) {
        return refuse_rows(request, result);
    }
    writ_buf_put(&body, writ_crew_value_text(value));
    return answer(request, &body);
}

static enum writ_step
end_read(struct writ_request *request)
{
    return answer_by(request, pool_of(request)->text, false);
}

static enum writ_step
end_get(struct writ_request *request)
{
    return answer_by(request, WRIT_LIT("{\"type\":\"pool.search\"}"), true);
}

static enum writ_step
end_put(struct writ_request *request)
{
    const struct writ_entry_pool_put *put = &request->entry.pool_put;
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "added", put->added);
    writ_write_time_if(&w, "expires_at", put->expires_us);
    writ_write_count(&w, "insight", put->insight);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    return answer(request, &body);
}

static enum writ_step
end_remove(struct writ_request *request)
{
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_count(&w, "insight", request->entry.pool_remove.insight);
    writ_write_flag(&w, "removed", true);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    return answer(request, &body);
}

/* ---- a subscription ---- */

static void
take_insight(void *user, struct writ_view agent_id, struct writ_view insight)
{
    struct given *given = user;

    (void)agent_id; /* the only one that subscribed */
    writ_write_raw(given->w, insight);
    given->took = true;
}

/* Subscribes, and puts what was read, in its order: the pool hands over what the agent wants. Ends
 * when the answer has its bytes; *ret_left counts the insights that were not looked at. */
static WRIT_RESULT
hand_over(struct writ_request *request, struct writ_crew_pool *pool, struct given *given,
    size_t *ret_left, struct writ_crew_err *err)
{
    const struct writ_entry_pool_read *read = &request->entry.pool_read;
    const struct writ_crew_pool_reader reader = {take_insight, given};
    writ_auto_value subscribed = NULL;
    size_t i = 0;

    WRIT_TRY(writ_crew_pool_request(
        pool, request->identity.agent.id, pool_of(request)->text, NULL, &subscribed, err));
    for (; i < read->n && given->out->len - given->from < PART; i++) {
        const struct writ_pool_insight *insight = &read->insights[i];
        writ_auto_value value = NULL;

        writ_pool_number(pool, insight->number);
        WRIT_TRY(
            writ_crew_pool_request(pool, insight->agent_id, insight->bytes, &reader, &value, err));
        pool_of(request)->since = insight->number + 1;
    }
    *ret_left = read->n - i;
    return WRIT_DONE;
}

/* Waits for the next put of anyone, unless the time is over. */
static enum writ_step
watch(struct writ_request *request, const struct writ_buf *body)
{
    const struct writ_hook_pool *pool = pool_of(request);
    int64_t left_us = pool->until_us - writ_loop_now_us(request->x->loop);

    if (left_us <= 0 || request->x->gone || request->worker->ending) {
        return answer(request, body);
    }
    writ_arena_free(WRIT_TAKE(pool_of(request)->rows));
    request->entry = (struct writ_entry){.kind = WRIT_ENTRY_POOL_WATCH,
        .pool_watch = {.since = pool->seen,
            .until_us = writ_clock_wall_us(request->worker->gateway->clock) +
                        (left_us < SLICE_US ? left_us : SLICE_US)}};
    return writ_request_submit(request, WRIT_STEP_POOLED);
}

static enum writ_step
end_subscribe(struct writ_request *request)
{
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);
    struct given given = {.w = &w, .out = &body};
    struct writ_crew_err err = {0};
    struct writ_crew_pool *pool;
    size_t left = 0;
    writ_result result = {WRIT_E_NOMEM};

    if (request->entry.kind == WRIT_ENTRY_POOL_WATCH) {
        return read_rows(request, pool_of(request)->since);
    }
    pool = writ_crew_pool_new(request->entry.pool_read.n);
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("insights"));
    writ_write_array_begin(&w);
    given.from = body.len;
    if (pool != NULL) {
        result = hand_over(request, pool, &given, &left, &err);
    }
    writ_crew_pool_free(pool);
    if (!writ_is_ok(result)) {
        return refuse_rows(request, result);
    }
    writ_write_array_end(&w);
    writ_write_count(&w, "more", left);
    writ_write_count(&w, "since", pool_of(request)->since);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    pool_of(request)->seen = request->entry.pool_read.seen;
    return given.took ? answer(request, &body) : watch(request, &body);
}

/* ---- the steps ---- */

/** A type of request. */
struct writ_hook_pool_row {
    const char *type;
    bool own; /* the pool of a crew does not know it */
    enum writ_step (*begin)(struct writ_request *request);
    enum writ_step (*end)(struct writ_request *request);
};

static const struct writ_hook_pool_row rows[] = {
    {"pool.put", false, begin_put, end_put},
    {"pool.remove", true, begin_remove, end_remove},
    {"pool.get", true, begin_get, end_get},
    {"pool.search", false, begin_read, end_read},
    {"pool.statistics", false, begin_read, end_read},
    {"pool.subscribe", false, begin_subscribe, end_subscribe},
};

static const struct writ_hook_pool_row *
find_row(const struct writ_json *body)
{
    const struct writ_json *type = writ_json_get(body, WRIT_LIT("type"));

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (writ_json_is(type, writ_view_str(rows[i].type))) {
            return &rows[i];
        }
    }
    return NULL;
}

/* The members that the worker protocol needs to join an answer to its request, and members of this
 * API in a request that has no use for them. */
static bool
has_foreign(const struct writ_json *body, const struct writ_hook_pool_row *row)
{
    static const char *const foreign[] = {"id", "correlationId", "since", "wait"};
    size_t n = row->begin == begin_subscribe ? 2 : sizeof foreign / sizeof foreign[0];

    for (size_t i = 0; i < n; i++) {
        if (writ_json_get(body, writ_view_str(foreign[i])) != NULL) {
            return true;
        }
    }
    return false;
}

/* A stopped agent shares nothing. */
static bool
is_stopped(const struct writ_request *request)
{
    static const struct writ_view none = {"", 0};
    char policy[WRIT_DIGEST_TEXT];
    const struct writ_kill_call seen = {
        .agent_id = request->identity.agent.id,
        .tenant = request->identity.agent.tenant,
        .upstream = none,
        .tool = none,
        .policy = writ_view(policy, WRIT_DIGEST_TEXT - 1),
        .decision_id = none,
    };

    writ_digest_text(&writ_request_config(request)->policy_digest, policy);
    return writ_stop_rules_stops(request->worker->gateway->stop_rules, &seen);
}

/* Makes the text for the pool of a crew, and lets an empty one judge it. */
static enum writ_step
begin_known(struct writ_request *request)
{
    struct writ_hook_pool *pool = pool_of(request);
    writ_auto_buf text = writ_buf_make(REQUEST_MAX);
    struct writ_crew_err err = {0};
    writ_result result;

    if (!put_request(request, &text)) {
        return refuse_malformed(request, "a request to the pool has at most 1 MiB");
    }
    pool->text = writ_view_copy(writ_buf_view(&text), request->x->arena);
    if (pool->text.ptr == NULL) {
        return refuse_memory(request);
    }
    result = try_request(request, pool->text, &err);
    return writ_is_ok(result) ? pool->row->begin(request) : refuse_crew(request, result, &err);
}

enum writ_step
writ_hook_pool(struct writ_request *request)
{
    struct writ_hook *hook = writ_hook_of(request);
    const struct writ_hook_pool_row *row = find_row(hook->body);

    if (limits_of(request)->entries == 0) {
        return refuse(request, 404, WRIT_REASON_POOL_OFF, NULL);
    }
    if (is_stopped(request)) {
        return refuse(request, 403, WRIT_REASON_KILLED, NULL);
    }
    if (row == NULL || has_foreign(hook->body, row)) {
        return refuse_malformed(request,
            "wants type (pool.put, pool.remove, pool.get, pool.search, pool.statistics or "
            "pool.subscribe) and only its members");
    }
    hook->pool.row = row;
    return row->own ? row->begin(request) : begin_known(request);
}

enum writ_step
writ_hook_pooled(struct writ_request *request)
{
    return request->entry.code == WRIT_OK ? pool_of(request)->row->end(request)
                                          : refuse_code(request);
}
