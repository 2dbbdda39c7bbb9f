/* Requests to the shared pool, as JSON objects. Each type is a row with its members; a member that
 * no row has is refused. */
#include "crew/pool.h"
#include "crew/value.h"

#include <math.h>

#define REQUEST_MAX  (1 << 20)
#define FOUND_USUAL  100
#define IMPORTANCE   0.5
#define MEMBERS_MOST 12

/** A request that is being read. */
struct request {
    struct writ_crew_pool *pool;
    struct writ_view agent_id;
    const struct writ_json *json;
    const struct writ_crew_pool_reader *reader;
    struct writ_arena *arena;
    struct writ_write *w; /* the answer */
    struct writ_crew_err *err;
};

static writ_result
refuse(const struct request *request, const char *member, const char *what)
{
    return writ_failure_set(
        request->err, WRIT_E_INVALID, WRIT_CREW_SCHEMA, "/%s: %s", member, what);
}

/* ---- members */

static const struct writ_json *
member_of(const struct request *request, const char *name)
{
    return writ_json_get(request->json, writ_view_str(name));
}

static WRIT_RESULT
read_text(const struct request *request, const char *name, struct writ_view *ret)
{
    const struct writ_json *value = member_of(request, name);

    if (value != NULL && writ_json_type(value) != WRIT_JSON_STRING) {
        return refuse(request, name, "must be a string");
    }
    *ret = writ_json_string(value);
    return WRIT_DONE;
}

static WRIT_RESULT
read_texts(
    const struct request *request, const char *name, const struct writ_view **ret, size_t *ret_n)
{
    const struct writ_json *value = member_of(request, name);
    struct writ_view *list;
    size_t n = 0;

    if (value == NULL) {
        return WRIT_DONE;
    }
    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        return refuse(request, name, "must be a list of strings");
    }
    list = writ_arena_get(request->arena, (value->count + 1) * sizeof *list);
    if (list == NULL) {
        return writ_failure_memory(request->err);
    }
    WRIT_JSON_EACH(text, value)
    {
        if (writ_json_type(text) != WRIT_JSON_STRING) {
            return refuse(request, name, "must be a list of strings");
        }
        list[n++] = writ_json_string(text);
    }
    *ret = list;
    *ret_n = n;
    return WRIT_DONE;
}

static WRIT_RESULT
read_number(const struct request *request, const char *name, bool *ret_given, double *ret)
{
    const struct writ_json *value = member_of(request, name);

    *ret_given = value != NULL;
    if (value == NULL) {
        return WRIT_DONE;
    }
    if (writ_json_type(value) != WRIT_JSON_NUMBER || !isfinite(value->number)) {
        return refuse(request, name, "must be a number");
    }
    *ret = value->number;
    return WRIT_DONE;
}

static WRIT_RESULT
read_filter(const struct request *request, struct writ_crew_filter *ret)
{
    WRIT_TRY(read_texts(request, "anyTags", &ret->any_tags, &ret->any_tags_n));
    WRIT_TRY(read_texts(request, "allTags", &ret->all_tags, &ret->all_tags_n));
    WRIT_TRY(read_text(request, "segment", &ret->segment));
    WRIT_TRY(read_text(request, "agentId", &ret->agent_id));
    WRIT_TRY(read_text(request, "notAgent", &ret->not_agent));
    return read_number(request, "importance", &ret->has_least, &ret->least_importance);
}

/* ---- types */

static WRIT_RESULT
put(const struct request *request)
{
    writ_auto_value metadata = NULL;
    struct writ_crew_insight insight = {.agent_id = request->agent_id, .importance = IMPORTANCE};
    const struct writ_json *about = member_of(request, "metadata");
    size_t before = writ_pool_count(request->pool), at;
    bool given = false;

    WRIT_TRY(read_text(request, "content", &insight.content));
    if (insight.content.ptr == NULL) {
        return refuse(request, "content", "is missing");
    }
    WRIT_TRY(read_text(request, "segment", &insight.segment));
    WRIT_TRY(read_text(request, "key", &insight.key));
    WRIT_TRY(read_texts(request, "tags", &insight.tags, &insight.tags_n));
    WRIT_TRY(read_number(request, "importance", &given, &insight.importance));
    if (!writ_is_ok(writ_value_of_json(about, &metadata))) {
        return writ_failure_memory(request->err);
    }
    insight.metadata = writ_crew_value_text(metadata);
    at = writ_pool_find(request->pool, request->agent_id, insight.key);
    WRIT_TRY(writ_crew_pool_add(request->pool, &insight, request->err));
    writ_write_flag(request->w, "added", at == before);
    writ_write_count(request->w, "insight", at + 1);
    if (at == before && !writ_is_ok(writ_pool_notify(request->pool, request->reader))) {
        return writ_failure_memory(request->err);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
search(const struct request *request)
{
    struct writ_crew_filter filter = {0};
    double limit = FOUND_USUAL;
    bool given = false;
    size_t more = 0;

    WRIT_TRY(read_filter(request, &filter));
    WRIT_TRY(read_number(request, "limit", &given, &limit));
    if (limit < 1 || limit > WRIT_CREW_FOUND_MAX || limit != trunc(limit)) {
        return refuse(request, "limit", "must be a whole number from 1 to 1000");
    }
    filter.limit = (size_t)limit;
    writ_write_name(request->w, WRIT_LIT("insights"));
    if (!writ_is_ok(writ_pool_write(
            request->pool, &filter, WRIT_CREW_FOUND_BYTES_MAX, request->w, &more))) {
        return writ_failure_memory(request->err);
    }
    writ_write_count(request->w, "more", more);
    return WRIT_DONE;
}

static WRIT_RESULT
statistics(const struct request *request)
{
    writ_auto_value value = NULL;

    if (!writ_is_ok(writ_crew_pool_statistics(request->pool, &value))) {
        return writ_failure_memory(request->err);
    }
    writ_write_name(request->w, WRIT_LIT("statistics"));
    writ_write_raw(request->w, writ_crew_value_text(value));
    return WRIT_DONE;
}

static WRIT_RESULT
subscribe(const struct request *request)
{
    struct writ_crew_filter filter = {0};

    WRIT_TRY(read_filter(request, &filter));
    WRIT_TRY(writ_pool_subscribe(request->pool, request->agent_id, &filter, request->err));
    writ_write_count(
        request->w, "subscriptions", writ_pool_subscriptions(request->pool, request->agent_id));
    return WRIT_DONE;
}

static WRIT_RESULT
unsubscribe(const struct request *request)
{
    writ_pool_unsubscribe(request->pool, request->agent_id);
    writ_write_count(request->w, "subscriptions", 0);
    return WRIT_DONE;
}

static const struct row {
    const char *type;
    writ_result (*run)(const struct request *request);
    const char *members[MEMBERS_MOST]; /* besides type, correlationId and id */
} rows[] = {
    {"pool.put", put, {"content", "tags", "segment", "importance", "metadata", "key"}},
    {"pool.search", search,
        {"anyTags", "allTags", "segment", "agentId", "notAgent", "importance", "limit"}},
    {"pool.statistics", statistics, {NULL}},
    {"pool.subscribe", subscribe,
        {"anyTags", "allTags", "segment", "agentId", "notAgent", "importance"}},
    {"pool.unsubscribe", unsubscribe, {NULL}},
};

static bool
is_member(const struct row *row, struct writ_view name)
{
    for (size_t at = 0; at < MEMBERS_MOST && row->members[at] != NULL; at++) {
        if (writ_view_is(name, row->members[at])) {
            return true;
        }
    }
    return writ_view_is(name, "type") || writ_view_is(name, "correlationId") ||
           writ_view_is(name, "id");
}

static WRIT_RESULT
find_row(const struct request *request, const struct row **ret)
{
    const struct writ_json *type = member_of(request, "type");
    const struct row *row = NULL;

    for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
        if (writ_json_is(type, writ_view_str(rows[at].type))) {
            row = &rows[at];
        }
    }
    if (row == NULL) {
        return refuse(request, "type", "is not a request to the pool");
    }
    WRIT_JSON_EACH(name, request->json)
    {
        if (!is_member(row, writ_json_string(name))) {
            return writ_failure_set(request->err, WRIT_E_INVALID, WRIT_CREW_SCHEMA,
                "/" WRIT_VIEW_FMT ": %s has no such member", WRIT_VIEW_ARG(writ_json_string(name)),
                row->type);
        }
    }
    *ret = row;
    return WRIT_DONE;
}

WRIT_RESULT
writ_crew_pool_request(struct writ_crew_pool *pool, struct writ_view agent_id,
    struct writ_view request, const struct writ_crew_pool_reader *reader,
    struct writ_crew_value **ret, struct writ_crew_err *err)
{
    writ_auto_arena parsed = writ_value_arena(REQUEST_MAX);
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);
    struct request given = {
        .pool = pool, .agent_id = agent_id, .reader = reader, .arena = arena, .w = &w, .err = err};
    const struct row *row = NULL;

    if (parsed == NULL || arena == NULL) {
        return writ_failure_memory(err);
    }
    WRIT_TRY(writ_value_parse(request, REQUEST_MAX, parsed, &given.json, err));
    if (writ_json_type(given.json) != WRIT_JSON_OBJECT) {
        return writ_failure_set(
            err, WRIT_E_PARSE, WRIT_CREW_MALFORMED, "a request to the pool is a JSON object");
    }
    WRIT_TRY(find_row(&given, &row));
    w.sorted = true;
    writ_write_object_begin(&w);
    WRIT_TRY(row->run(&given));
    writ_write_object_end(&w);
    if (!writ_is_ok(writ_write_end(&w, NULL)) ||
        !writ_is_ok(writ_value_of_text(writ_buf_view(&buf), ret))) {
        return writ_failure_memory(err);
    }
    return WRIT_DONE;
}
