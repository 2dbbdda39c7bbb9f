/* An insight that agents share is beside the signed fact that records it: each row must be what its
 * fact says, and each fact must have its row, until it was removed or its time is over. */
#include "store/read/check.h"

#include "evidence/record/fact.h"
#include "evidence/record/pool_fact.h"
#include "store/tables/body.h"

/* A row goes at most this long before its time, by the clock of this verification. */
#define SLACK_US INT64_C(300000000)

/** A put that must have its row. */
struct put {
    uint64_t leaf;
    bool found; /* its row, or the fact that removed it */
};

static struct put *
puts_of(struct writ_check *v, size_t *ret_n)
{
    *ret_n = v->pool.len / sizeof(struct put);
    return (struct put *)(void *)v->pool.ptr;
}

/* Facts are read in the order of the log, so the puts are in order. */
static struct put *
find_put(struct writ_check *v, uint64_t leaf)
{
    size_t n = 0, low = 0;
    struct put *puts = puts_of(v, &n);

    while (low < n) {
        size_t middle = low + (n - low) / 2;

        if (puts[middle].leaf == leaf) {
            return &puts[middle];
        }
        if (puts[middle].leaf < leaf) {
            low = middle + 1;
        } else {
            n = middle;
        }
    }
    return NULL;
}

static void
note_found(struct writ_check *v, uint64_t leaf)
{
    struct put *put = find_put(v, leaf);

    if (put != NULL) {
        put->found = true;
    }
}

/* ---- facts ---- */

WRIT_RESULT
writ_check_pool_fact(struct writ_check *v, const struct writ_fact *fact)
{
    bool removed = fact->event == WRIT_FACT_POOL_REMOVED;
    struct put put = {.leaf = v->row.leaf};
    struct writ_pool_fact read;

    if (!writ_is_ok(writ_pool_fact_read(fact->data, removed, &read, NULL))) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return WRIT_DONE;
    }
    if (removed) {
        note_found(v, read.insight);
    } else if (read.expires_us > writ_clock_wall_us(writ_clock_system()) + SLACK_US) {
        writ_buf_put(&v->pool, writ_view((const char *)&put, sizeof put));
    }
    return writ_buf_check(&v->pool, v->err);
}

/* ---- rows ---- */

static bool
is_keyed(const struct writ_pool_fact *fact, struct writ_view name)
{
    struct writ_digest key;

    return fact->key.len == 0 ? name.len == 0
                              : writ_is_ok(writ_digest_read(fact->key, &key, NULL)) &&
                                    writ_view_equal(name, writ_view(key.bytes, WRIT_DIGEST_BYTES));
}

/* Reads the fact beside a row, as the log has it. False: it is none of a put. */
static bool
read_put(struct writ_check *v, struct writ_view body, struct writ_pool_fact *ret)
{
    const struct writ_json *value = NULL;
    struct writ_fact fact = {0};

    return writ_is_ok(writ_body_json(body, v->arena, &value, NULL)) &&
           writ_is_ok(writ_fact_read(value, &fact, NULL)) && fact.event == WRIT_FACT_POOL_PUT &&
           writ_is_ok(writ_pool_fact_read(fact.data, false, ret, NULL));
}

/* The present record stays the last one of the log: later checks need it. */
static WRIT_RESULT
check_row(struct writ_check *v, struct writ_sql_statement *s)
{
    uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
    struct writ_pool_fact fact = {0};
    struct writ_digest digest;

    writ_arena_reset(v->arena);
    if (!read_put(v, writ_column_bytes(s, 6), &fact)) {
        writ_check_problem(v, leaf, "an insight of the pool has no record");
        return WRIT_DONE;
    }
    WRIT_TRY(writ_digest_bytes(writ_column_bytes(s, 5), &digest, v->err));
    if (!writ_digest_equal(&digest, &fact.digest) ||
        !writ_view_equal(writ_column_bytes(s, 1), fact.tenant) ||
        !writ_view_equal(writ_column_bytes(s, 2), fact.agent_id) ||
        !is_keyed(&fact, writ_column_bytes(s, 3)) || writ_sql_int(s, 4) != fact.expires_us) {
        writ_check_problem(v, leaf, "the insight of the pool differs from its record");
    }
    note_found(v, leaf);
    return WRIT_DONE;
}

static WRIT_RESULT
check_rows(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_POOL];
    bool row = false;

    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_POOL, &row, v->err));
    while (row) {
        WRIT_TRY(check_row(v, s));
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_POOL, &row, v->err));
    }
    return WRIT_DONE;
}

/* Insights that were removed while the log was read. */
static WRIT_RESULT
take_later(struct writ_check *v, uint64_t last)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_LATER];
    bool row = false;

    writ_sql_bind_int(s, 1, (int64_t)last);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_LATER, &row, v->err));
    while (row) {
        const struct writ_json *value = NULL;
        struct writ_fact fact = {0};
        struct writ_pool_fact read = {0};

        writ_arena_reset(v->arena);
        if (writ_is_ok(writ_body_json(writ_column_bytes(s, 0), v->arena, &value, NULL)) &&
            writ_is_ok(writ_fact_read(value, &fact, NULL)) &&
            fact.event == WRIT_FACT_POOL_REMOVED &&
            writ_is_ok(writ_pool_fact_read(fact.data, true, &read, NULL))) {
            note_found(v, read.insight);
        }
        WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_LATER, &row, v->err));
    }
    return WRIT_DONE;
}

static void
tell_missing(struct writ_check *v)
{
    size_t n = 0;
    const struct put *puts = puts_of(v, &n);

    for (size_t i = 0; i < n; i++) {
        if (!puts[i].found) {
            writ_check_problem(v, puts[i].leaf, "its insight is missing from the pool");
        }
    }
}

WRIT_RESULT
writ_check_pool(struct writ_check *v, uint64_t last)
{
    writ_result result;

    WRIT_TRY(writ_sql_begin(v->sql, WRIT_SQL_READ, v->err)); /* rows and later facts agree */
    result = check_rows(v);
    writ_sql_reset(v->statements[WRIT_CHECK_SQL_POOL]);
    if (writ_is_ok(result)) {
        result = take_later(v, last);
        writ_sql_reset(v->statements[WRIT_CHECK_SQL_LATER]);
    }
    writ_sql_rollback(v->sql);
    WRIT_TRY(result);
    tell_missing(v);
    return WRIT_DONE;
}
