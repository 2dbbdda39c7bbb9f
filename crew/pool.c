/* A memory that agents share: insights with tags, segment and importance. An insight never changes
 * and is never removed, so that its number stays its place. */
#include "crew/pool.h"

#include "base/utf8.h"
#include "crew/names.h"
#include "crew/value.h"
#include "crew/vec.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#include <stdlib.h>

/** An insight, all of it in the arena of the pool. */
struct insight {
    struct writ_view agent_id, content, segment, metadata, key;
    const struct writ_view *tags;
    size_t tags_n;
    double importance;
    bool numbered;
    uint64_t number; /* in the store that keeps it */
};

/** What an agent wants to learn of; all of it in the arena of the pool. */
struct subscription {
    struct writ_view agent_id;
    struct writ_crew_filter filter;
};

struct writ_crew_pool {
    struct writ_arena *arena;
    struct insight *list;
    size_t n, cap, max;
    size_t bytes; /* of the insights */
    bool numbered;
    uint64_t number; /* of the next insights */
    struct subscription *subscriptions;
    size_t subscriptions_n, subscriptions_cap;
};

struct writ_crew_pool *
writ_crew_pool_new(size_t max)
{
    struct writ_crew_pool *pool = writ_alloc(sizeof *pool);

    if (pool != NULL && (pool->arena = writ_arena_new(SIZE_MAX)) == NULL) {
        writ_free(pool);
        return NULL;
    }
    if (pool != NULL) {
        pool->max = max;
    }
    return pool;
}

void
writ_crew_pool_free(struct writ_crew_pool *pool)
{
    if (pool != NULL) {
        writ_arena_free(pool->arena);
        writ_free(pool->list);
        writ_free(pool->subscriptions);
        writ_free(pool);
    }
}

/* ---- adding */

static bool
copy(struct writ_crew_pool *pool, struct writ_view text, struct writ_view *ret)
{
    *ret = text.ptr != NULL ? writ_view_copy(text, pool->arena) : text;
    return text.ptr == NULL || ret->ptr != NULL;
}

static bool
is_utf8(const struct writ_crew_insight *insight)
{
    bool good =
        writ_utf8_is_valid(insight->agent_id, NULL) && writ_utf8_is_valid(insight->content, NULL) &&
        writ_utf8_is_valid(insight->segment, NULL) && writ_utf8_is_valid(insight->key, NULL);

    for (size_t at = 0; good && at < insight->tags_n; at++) {
        good = writ_utf8_is_valid(insight->tags[at], NULL);
    }
    return good;
}

static bool
copy_list(struct writ_crew_pool *pool, const struct writ_view *list, size_t n,
    const struct writ_view **ret)
{
    struct writ_view *copied = writ_arena_get(pool->arena, (n + 1) * sizeof *copied);

    for (size_t at = 0; copied != NULL && at < n; at++) {
        if (!copy(pool, list[at], &copied[at])) {
            return false;
        }
    }
    *ret = copied;
    return copied != NULL;
}

static bool
copy_insight(struct writ_crew_pool *pool, const struct writ_crew_insight *from, struct insight *ret)
{
    ret->tags_n = from->tags_n;
    ret->importance = from->importance;
    return copy_list(pool, from->tags, from->tags_n, &ret->tags) &&
           copy(pool, from->agent_id, &ret->agent_id) && copy(pool, from->content, &ret->content) &&
           copy(pool, from->segment, &ret->segment) && copy(pool, from->key, &ret->key);
}

static size_t
size_of(const struct writ_crew_insight *insight, struct writ_view metadata)
{
    size_t size = sizeof(struct insight) + insight->agent_id.len + insight->content.len +
                  insight->segment.len + insight->key.len + metadata.len;

    for (size_t at = 0; at < insight->tags_n; at++) {
        size += sizeof(struct writ_view) + insight->tags[at].len;
    }
    return size;
}

size_t
writ_pool_find(const struct writ_crew_pool *pool, struct writ_view agent_id, struct writ_view key)
{
    size_t at = key.ptr != NULL ? 0 : pool->n;

    while (at < pool->n &&
           !(pool->list[at].key.ptr != NULL && writ_view_equal(pool->list[at].key, key) &&
               writ_view_equal(pool->list[at].agent_id, agent_id))) {
        at++;
    }
    return at;
}

size_t
writ_pool_count(const struct writ_crew_pool *pool)
{
    return pool->n;
}

void
writ_pool_number(struct writ_crew_pool *pool, uint64_t number)
{
    pool->numbered = true;
    pool->number = number;
}

WRIT_RESULT
writ_crew_pool_add(
    struct writ_crew_pool *pool, const struct writ_crew_insight *insight, struct writ_crew_err *err)
{
    struct insight added = {.numbered = pool->numbered, .number = pool->number};
    writ_auto_value metadata = NULL;

    if (!__builtin_isfinite(insight->importance)) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_NON_FINITE, "the importance is not a finite number");
    }
    if (writ_pool_find(pool, insight->agent_id, insight->key) < pool->n) {
        return WRIT_DONE;
    }
    if (pool->n >= pool->max) {
        return writ_failure_set(err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "the pool has its %zu insights", pool->max);
    }
    if (insight->tags_n > WRIT_CREW_TAGS_MAX) {
        return writ_failure_set(err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "%zu tags; an insight may have %d", insight->tags_n, WRIT_CREW_TAGS_MAX);
    }
    if (!is_utf8(insight)) {
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_MALFORMED, "a text of the insight is not UTF-8");
    }
    if (insight->metadata.ptr != NULL) {
        writ_result read = writ_crew_value_read(insight->metadata, NULL, &metadata, err);
        if (read.code == WRIT_E_PARSE) {
            read.code = WRIT_E_INVALID;
        }
        WRIT_TRY(read);
    }
    if (size_of(insight, writ_crew_value_text(metadata)) > WRIT_CREW_POOL_BYTES_MAX - pool->bytes) {
        return writ_failure_set(err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "the insights of the pool would have more than %d bytes", WRIT_CREW_POOL_BYTES_MAX);
    }
    if (!writ_is_ok(writ_vec_room(&pool->list, &pool->cap, pool->n, sizeof *pool->list)) ||
        !copy_insight(pool, insight, &added) ||
        !copy(pool, writ_crew_value_text(metadata), &added.metadata)) {
        return writ_failure_memory(err);
    }
    pool->bytes += size_of(insight, added.metadata);
    pool->list[pool->n++] = added;
    return WRIT_DONE;
}

/* ---- reading */

static bool
has_tag(const struct insight *insight, struct writ_view tag)
{
    for (size_t at = 0; at < insight->tags_n; at++) {
        if (writ_view_equal(insight->tags[at], tag)) {
            return true;
        }
    }
    return false;
}

static bool
fits_tags(const struct insight *insight, const struct writ_crew_filter *filter)
{
    bool any = filter->any_tags_n == 0;

    for (size_t at = 0; at < filter->all_tags_n; at++) {
        if (!has_tag(insight, filter->all_tags[at])) {
            return false;
        }
    }
    for (size_t at = 0; at < filter->any_tags_n && !any; at++) {
        any = has_tag(insight, filter->any_tags[at]);
    }
    return any;
}

static bool
fits(const struct insight *insight, const struct writ_crew_filter *filter)
{
    return fits_tags(insight, filter) &&
           (filter->segment.ptr == NULL || writ_view_equal(insight->segment, filter->segment)) &&
           (filter->agent_id.ptr == NULL || writ_view_equal(insight->agent_id, filter->agent_id)) &&
           (filter->not_agent.ptr == NULL ||
               !writ_view_equal(insight->agent_id, filter->not_agent)) &&
           (!filter->has_least || insight->importance >= filter->least_importance);
}

/* The list is in the order in which insights came, so an address tells the age. */
static int
compare_insights(const void *a, const void *b)
{
    const struct insight *left = *(const struct insight *const *)a;
    const struct insight *right = *(const struct insight *const *)b;

    if (left->importance != right->importance) {
        return left->importance > right->importance ? -1 : 1;
    }
    return (left > right) - (left < right);
}

static void
put_insight(struct writ_write *w, const struct insight *insight)
{
    writ_write_object_begin(w);
    writ_write_text(w, "agentId", insight->agent_id);
    writ_write_text(w, "content", insight->content);
    writ_write_number(w, "importance", insight->importance);
    if (insight->numbered) {
        writ_write_count(w, "insight", insight->number);
    }
    if (insight->metadata.ptr != NULL) {
        writ_write_name(w, WRIT_LIT("metadata"));
        writ_write_raw(w, insight->metadata);
    }
    writ_write_text(w, "segment", insight->segment);
    writ_write_name(w, WRIT_LIT("tags"));
    writ_write_array_begin(w);
    for (size_t at = 0; at < insight->tags_n; at++) {
        writ_write_string(w, insight->tags[at]);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

WRIT_RESULT
writ_pool_write(const struct writ_crew_pool *pool, const struct writ_crew_filter *filter,
    size_t bytes_max, struct writ_write *w, size_t *ret_more)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    const struct insight **found =
        arena != NULL ? writ_arena_get(arena, (pool->n + 1) * sizeof *found) : NULL;
    size_t n = 0, shown = 0, all, from = w->buf->len;

    if (found == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < pool->n; at++) {
        if (fits(&pool->list[at], filter)) {
            found[n++] = &pool->list[at];
        }
    }
    qsort(found, n, sizeof *found, compare_insights);
    all = n;
    n = filter->limit > 0 && filter->limit < n ? filter->limit : n;
    writ_write_array_begin(w);
    while (shown < n && w->buf->len - from < bytes_max) {
        put_insight(w, found[shown++]);
    }
    writ_write_array_end(w);
    *ret_more = all - shown;
    return WRIT_DONE;
}

WRIT_RESULT
writ_crew_pool_read(const struct writ_crew_pool *pool, const struct writ_crew_filter *filter,
    struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);
    size_t more = 0;

    w.sorted = true;
    WRIT_TRY(writ_pool_write(pool, filter, SIZE_MAX, &w, &more));
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

/* ---- subscriptions */

static bool
copy_filter(
    struct writ_crew_pool *pool, const struct writ_crew_filter *from, struct writ_crew_filter *ret)
{
    *ret = *from;
    return copy_list(pool, from->any_tags, from->any_tags_n, &ret->any_tags) &&
           copy_list(pool, from->all_tags, from->all_tags_n, &ret->all_tags) &&
           copy(pool, from->segment, &ret->segment) && copy(pool, from->agent_id, &ret->agent_id) &&
           copy(pool, from->not_agent, &ret->not_agent);
}

WRIT_RESULT
writ_pool_subscribe(struct writ_crew_pool *pool, struct writ_view agent_id,
    const struct writ_crew_filter *filter, struct writ_crew_err *err)
{
    struct subscription added;

    if (pool->subscriptions_n >= WRIT_CREW_SUBSCRIBED_MAX) {
        return writ_failure_set(err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "the pool has its %d subscriptions", WRIT_CREW_SUBSCRIBED_MAX);
    }
    if (!writ_is_ok(writ_vec_room(&pool->subscriptions, &pool->subscriptions_cap,
            pool->subscriptions_n, sizeof *pool->subscriptions)) ||
        !copy(pool, agent_id, &added.agent_id) || !copy_filter(pool, filter, &added.filter)) {
        return writ_failure_memory(err);
    }
    pool->subscriptions[pool->subscriptions_n++] = added;
    return WRIT_DONE;
}

void
writ_pool_unsubscribe(struct writ_crew_pool *pool, struct writ_view agent_id)
{
    size_t kept = 0;

    for (size_t at = 0; at < pool->subscriptions_n; at++) {
        if (!writ_view_equal(pool->subscriptions[at].agent_id, agent_id)) {
            pool->subscriptions[kept++] = pool->subscriptions[at];
        }
    }
    pool->subscriptions_n = kept;
}

size_t
writ_pool_subscriptions(const struct writ_crew_pool *pool, struct writ_view agent_id)
{
    size_t n = 0;

    for (size_t at = 0; at < pool->subscriptions_n; at++) {
        n += writ_view_equal(pool->subscriptions[at].agent_id, agent_id);
    }
    return n;
}

/* Whether the subscription is the first of its agent that wants the insight. */
static bool
is_first(const struct writ_crew_pool *pool, size_t at, const struct insight *insight)
{
    const struct subscription *wanted = &pool->subscriptions[at];

    for (size_t before = 0; before < at; before++) {
        const struct subscription *other = &pool->subscriptions[before];
        if (writ_view_equal(other->agent_id, wanted->agent_id) && fits(insight, &other->filter)) {
            return false;
        }
    }
    return fits(insight, &wanted->filter) && !writ_view_equal(wanted->agent_id, insight->agent_id);
}

WRIT_RESULT
writ_pool_notify(const struct writ_crew_pool *pool, const struct writ_crew_pool_reader *reader)
{
    const struct insight *insight = &pool->list[pool->n - 1];
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    if (pool->subscriptions_n == 0 || reader == NULL) {
        return WRIT_DONE;
    }
    w.sorted = true;
    put_insight(&w, insight);
    WRIT_TRY(writ_write_end(&w, NULL));
    for (size_t at = 0; at < pool->subscriptions_n; at++) {
        if (is_first(pool, at, insight)) {
            reader->take(reader->user, pool->subscriptions[at].agent_id, writ_buf_view(&buf));
        }
    }
    return WRIT_DONE;
}

/* ---- statistics */

/* {name: its number of occurrences in the list} */
static void
put_counts(struct writ_write *w, const char *member, struct writ_view *names, size_t n)
{
    size_t run = 0;

    qsort(names, n, sizeof *names, writ_names_by_units);
    writ_write_name(w, writ_view_str(member));
    writ_write_object_begin(w);
    for (size_t at = 0; at < n; at++) {
        run++;
        if (at + 1 == n || !writ_view_equal(names[at], names[at + 1])) {
            writ_write_name(w, names[at]);
            writ_write_u64(w, run);
            run = 0;
        }
    }
    writ_write_object_end(w);
}

WRIT_RESULT
writ_crew_pool_statistics(const struct writ_crew_pool *pool, struct writ_crew_value **ret)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);
    struct writ_view *names = NULL;
    size_t tags = 0, most;
    double mean = 0;

    for (size_t at = 0; at < pool->n; at++) {
        tags += pool->list[at].tags_n;
        /* step by step, so that no sum leaves the range of a double */
        mean += (pool->list[at].importance - mean) / (double)(at + 1);
    }
    most = tags > pool->n ? tags : pool->n;
    names = arena != NULL ? writ_arena_get(arena, (most + 1) * sizeof *names) : NULL;
    if (names == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    w.sorted = true;
    writ_write_object_begin(&w);
    for (size_t at = 0; at < pool->n; at++) {
        names[at] = pool->list[at].agent_id;
    }
    put_counts(&w, "agents", names, pool->n);
    writ_write_number(&w, "averageImportance", __builtin_isfinite(mean) ? mean : 0);
    writ_write_count(&w, "insights", pool->n);
    for (size_t at = 0; at < pool->n; at++) {
        names[at] = pool->list[at].segment;
    }
    put_counts(&w, "segments", names, pool->n);
    tags = 0;
    for (size_t at = 0; at < pool->n; at++) {
        for (size_t tag = 0; tag < pool->list[at].tags_n; tag++) {
            names[tags++] = pool->list[at].tags[tag];
        }
    }
    put_counts(&w, "tags", names, tags);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}
