/* The rows of a group are not on disk while it is prepared: what an entry decides by, it looks for
 * in the table and among the ops of the group. */
#include "store/write/pool_rows.h"

#include "evidence/record/pool_fact.h"
#include "store/write/facts.h"
#include "store/write/group.h"

#define INSIGHT_ARENA ((size_t)96 * WRIT_POOL_FACT_BYTES_MAX) /* to read one */
#define FACT_TEXT     8192

/* ---- the ops ---- */

static WRIT_RESULT
write_put(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    const struct writ_entry_pool_put *put = &op->entry->pool_put;
    struct writ_digest name;

    if (put->key.ptr != NULL) {
        WRIT_TRY(writ_ledger_insight(put->tenant, put->agent_id, put->key, &name, err));
    }
    return writ_disk_run(&ledger->disk, WRIT_SQL_POOL_ADD, err, "uttbib", put->insight, put->tenant,
        put->agent_id,
        put->key.ptr != NULL ? writ_view(name.bytes, WRIT_DIGEST_BYTES) : writ_view("", 0),
        put->expires_us, put->bytes);
}

static WRIT_RESULT
write_remove(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    return writ_disk_run(
        &ledger->disk, WRIT_SQL_POOL_DROP, err, "u", op->entry->pool_remove.insight);
}

static void
finish_put(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_pool_rows_heard(ledger, op->entry->pool_put.insight);
}

static const struct writ_op_steps put_steps = {.write = write_put, .finish = finish_put};
static const struct writ_op_steps remove_steps = {.write = write_remove};
static const struct writ_op_steps same_steps = {0}; /* it ends as the put that it repeats */

/* ---- what there is ---- */

static bool
is_removed_now(const struct writ_ledger *ledger, uint64_t insight)
{
    for (size_t i = 0; i < ledger->group.ops_n; i++) {
        const struct writ_op *op = &ledger->group.ops[i];

        if (op->steps == &remove_steps && op->entry->pool_remove.insight == insight) {
            return true;
        }
    }
    return false;
}

/* A put of the present group under the same key. */
static const struct writ_entry_pool_put *
find_same_now(const struct writ_ledger *ledger, const struct writ_entry_pool_put *put)
{
    for (size_t i = 0; put->key.ptr != NULL && i < ledger->group.ops_n; i++) {
        const struct writ_op *op = &ledger->group.ops[i];
        const struct writ_entry_pool_put *other =
            op->steps == &put_steps ? &op->entry->pool_put : NULL;

        if (other != NULL && other->key.ptr != NULL && writ_view_equal(other->key, put->key) &&
            writ_view_equal(other->agent_id, put->agent_id) &&
            writ_view_equal(other->tenant, put->tenant)) {
            return other;
        }
    }
    return NULL;
}

/* Whether the agent has an insight under that key: its number and time are then in `put`. */
static WRIT_RESULT
find_same(struct writ_ledger *ledger, struct writ_entry_pool_put *put, int64_t now_us,
    const struct writ_digest *name, bool *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    const struct writ_entry_pool_put *same = find_same_now(ledger, put);
    bool row = false;
    writ_result result;

    *ret = same != NULL;
    if (same != NULL) {
        put->insight = same->insight;
        put->expires_us = same->expires_us;
    }
    if (same != NULL || put->key.ptr == NULL) {
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_POOL_NAMED, &row, err, "bi",
        writ_view(name->bytes, WRIT_DIGEST_BYTES), now_us);
    if (writ_is_ok(result) && row) {
        uint64_t insight = (uint64_t)writ_disk_int(disk, WRIT_SQL_POOL_NAMED, 0);

        *ret = !is_removed_now(ledger, insight);
        if (*ret) {
            put->insight = insight;
            put->expires_us = writ_disk_int(disk, WRIT_SQL_POOL_NAMED, 1);
        }
    }
    writ_disk_end(disk, WRIT_SQL_POOL_NAMED);
    return result;
}

/* What is removed by the present group counts until it is gone. */
static WRIT_RESULT
check_room(struct writ_ledger *ledger, const struct writ_entry_pool_put *put, int64_t now_us,
    bool *ret, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    uint64_t entries = 0, bytes = 0;
    bool row = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_POOL_SUM, &row, err, "ti", put->tenant, now_us);

    if (writ_is_ok(result) && row) {
        entries = (uint64_t)writ_disk_int(disk, WRIT_SQL_POOL_SUM, 0);
        bytes = (uint64_t)writ_disk_int(disk, WRIT_SQL_POOL_SUM, 1);
    }
    writ_disk_end(disk, WRIT_SQL_POOL_SUM);
    for (size_t i = 0; i < ledger->group.ops_n; i++) {
        const struct writ_op *op = &ledger->group.ops[i];

        if (op->steps == &put_steps && writ_view_equal(op->entry->pool_put.tenant, put->tenant)) {
            entries++;
            bytes += op->entry->pool_put.bytes.len;
        }
    }
    *ret = entries < put->entries_max && bytes <= put->bytes_max &&
           put->bytes.len <= put->bytes_max - bytes;
    return result;
}

/* ---- putting ---- */

static WRIT_RESULT
record(struct writ_ledger *ledger, struct writ_pool_fact *fact, struct writ_view bytes,
    uint64_t *ret_leaf)
{
    bool removed = fact->expires_us == 0;
    writ_auto_arena arena = writ_arena_new(INSIGHT_ARENA);
    writ_auto_buf data = writ_buf_make(FACT_TEXT);

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_pool_fact_digest(bytes, arena, fact, NULL));
    WRIT_TRY(writ_pool_fact_put(fact, removed, &data, NULL));
    return writ_facts_add(ledger, removed ? WRIT_FACT_POOL_REMOVED : WRIT_FACT_POOL_PUT,
        writ_buf_view(&data), ret_leaf);
}

static WRIT_RESULT
put_new(struct writ_ledger *ledger, struct writ_entry *entry, const struct writ_digest *name)
{
    struct writ_entry_pool_put *put = &entry->pool_put;
    struct writ_pool_fact fact = {
        .tenant = put->tenant, .agent_id = put->agent_id, .expires_us = put->expires_us};
    char key[WRIT_DIGEST_TEXT];

    if (put->key.ptr != NULL) {
        writ_digest_text(name, key);
        fact.key = writ_view_str(key);
    }
    WRIT_TRY(record(ledger, &fact, put->bytes, &put->insight));
    put->added = true;
    (void)writ_group_op(&ledger->group, &put_steps, entry);
    return WRIT_DONE;
}

WRIT_RESULT
writ_pool_rows_put(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_pool_put *put = &entry->pool_put;
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_digest name = {{0}};
    struct writ_err err = {0};
    bool is_there = false, has_room = false;

    put->added = false;
    if (put->agent_id.len == 0 || put->bytes.len == 0 || put->expires_us <= now_us) {
        return (writ_result){WRIT_E_INVALID};
    }
    if (put->key.ptr != NULL) {
        WRIT_TRY(writ_ledger_insight(put->tenant, put->agent_id, put->key, &name, NULL));
    }
    WRIT_TRY(writ_group_note(ledger, find_same(ledger, put, now_us, &name, &is_there, &err), &err));
    if (is_there) {
        (void)writ_group_op(&ledger->group, &same_steps, entry);
        return WRIT_DONE;
    }
    WRIT_TRY(writ_group_note(ledger, check_room(ledger, put, now_us, &has_room, &err), &err));
    return has_room ? put_new(ledger, entry, &name) : (writ_result){WRIT_E_LIMIT};
}

/* ---- removing ---- */

static WRIT_RESULT
record_removal(struct writ_ledger *ledger, struct writ_entry_pool_remove *remove,
    struct writ_view agent_id, struct writ_view bytes)
{
    struct writ_pool_fact fact = {
        .tenant = remove->tenant, .agent_id = remove->agent_id, .insight = remove->insight};
    uint64_t leaf = 0;

    if (!remove->any_agent && !writ_view_equal(agent_id, remove->agent_id)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    return record(ledger, &fact, bytes, &leaf);
}

WRIT_RESULT
writ_pool_rows_remove(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_entry_pool_remove *remove = &entry->pool_remove;
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_err err = {0};
    bool row = false;
    writ_result result;

    if (remove->insight > INT64_MAX || is_removed_now(ledger, remove->insight)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    result = writ_disk_query(
        disk, WRIT_SQL_POOL_AT, &row, &err, "uti", remove->insight, remove->tenant, now_us);
    if (writ_is_ok(result)) {
        result = row ? record_removal(ledger, remove, writ_disk_bytes(disk, WRIT_SQL_POOL_AT, 0),
                           writ_disk_bytes(disk, WRIT_SQL_POOL_AT, 1))
                     : (writ_result){WRIT_E_ABSENT};
    }
    writ_disk_end(disk, WRIT_SQL_POOL_AT);
    WRIT_TRY(writ_group_note(ledger, result, &err));
    (void)writ_group_op(&ledger->group, &remove_steps, entry);
    return WRIT_DONE;
}

/* ---- reading ---- */

static bool
copy_row(struct writ_disk *disk, struct writ_arena *into, struct writ_pool_insight *ret)
{
    ret->number = (uint64_t)writ_disk_int(disk, WRIT_SQL_POOL_FROM, 0);
    ret->agent_id = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_POOL_FROM, 1), into);
    ret->expires_us = writ_disk_int(disk, WRIT_SQL_POOL_FROM, 2);
    ret->bytes = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_POOL_FROM, 3), into);
    return ret->agent_id.ptr != NULL && ret->bytes.ptr != NULL;
}

static WRIT_RESULT
read_rows(struct writ_ledger *ledger, struct writ_entry_pool_read *read, struct writ_buf *rows,
    struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    writ_result result = writ_disk_query(
        disk, WRIT_SQL_POOL_FROM, &row, err, "tui", read->tenant, read->since, now_us);

    while (writ_is_ok(result) && row) {
        struct writ_pool_insight insight;

        if (!copy_row(disk, read->into, &insight)) {
            return (writ_result){WRIT_E_NOMEM};
        }
        writ_buf_put(rows, writ_view((const char *)&insight, sizeof insight));
        result = writ_disk_next(disk, WRIT_SQL_POOL_FROM, &row, err);
    }
    WRIT_TRY(result);
    return writ_buf_check(rows, err);
}

WRIT_RESULT
writ_pool_rows_read(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_pool_read *read = &entry->pool_read;
    writ_auto_buf rows = writ_buf_make(SIZE_MAX);
    struct writ_pool_insight *insights;
    struct writ_err err = {0};
    writ_result result;

    if (read->since > INT64_MAX) {
        return (writ_result){WRIT_E_INVALID};
    }
    result = read_rows(ledger, read, &rows, &err);
    writ_disk_end(&ledger->disk, WRIT_SQL_POOL_FROM);
    WRIT_TRY(writ_group_note(ledger, result, &err));
    insights = writ_arena_get(read->into, rows.len + 1);
    if (insights == NULL || writ_view_place(writ_buf_view(&rows), (char *)insights).ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    read->insights = insights;
    read->n = rows.len / sizeof *insights;
    read->seen = ledger->pool.at;
    return WRIT_DONE;
}

/* ---- watching ---- */

bool
writ_pool_rows_watch(struct writ_ledger *ledger, struct writ_entry *entry)
{
    entry->next = ledger->pool.watching;
    ledger->pool.watching = entry;
    return true;
}

void
writ_pool_rows_tell(struct writ_ledger *ledger, bool ending)
{
    int64_t now_us = writ_clock_wall_us(ledger->options.clock);
    struct writ_entry **at = &ledger->pool.watching;

    while (*at != NULL) {
        struct writ_entry *entry = *at;
        const struct writ_entry_pool_watch *watch = &entry->pool_watch;

        if (watch->since >= ledger->pool.at && watch->until_us > now_us && !ending) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        entry->code = ending ? WRIT_E_BUSY : WRIT_OK;
        entry->next = ledger->over;
        ledger->over = entry;
    }
}

void
writ_pool_rows_heard(struct writ_ledger *ledger, uint64_t number)
{
    if (ledger->pool.at <= number) {
        ledger->pool.at = number + 1;
    }
}
