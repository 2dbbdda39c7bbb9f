/* `log.facts_n` is the number of the next fact. It grows when a record is prepared, and goes back
 * when its group fails. */
#include "store/write/facts.h"

#include "store/tables/body.h"
#include "store/write/group.h"
#include "store/write/turn.h"
#include "store/write/vouch.h"

#define FACTS_ARENA (8 << 20) /* to read one */

static void
undo_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    (void)op;
    ledger->log.facts_n--;
}

/* Where several gateways write, the ledger reports every fact in the order of the log. */
static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    const struct writ_group_row *row = &ledger->group.rows[op->row];
    const struct writ_ledger_reports *reports = ledger->options.reports;

    if (ledger->sharing != NULL && reports != NULL && reports->heard != NULL) {
        reports->heard(reports->ctx,
            writ_view_sub(writ_buf_view(&ledger->group.bodies), row->body_at, row->body_len), true);
    }
}

static const struct writ_op_steps steps = {
    .finish = finish_op, .undo = undo_op}; /* its record is all */

static WRIT_RESULT
add(struct writ_ledger *ledger, struct writ_entry *entry, enum writ_fact_event event,
    struct writ_view data, uint64_t *ret_leaf)
{
    struct writ_buf *bodies = &ledger->group.bodies;
    size_t before = bodies->len, at;
    int64_t now_us = writ_group_stamp(ledger);
    struct writ_group_row *row;
    writ_result result;

    if (event == WRIT_FACT_NONE || data.len == 0) {
        return (writ_result){WRIT_E_INVALID};
    }
    at = writ_group_body(&ledger->group);
    result = writ_fact_put(event, ledger->log.facts_n, now_us, data, bodies, NULL);
    if (writ_is_ok(result) && bodies->len - at > WRIT_LEDGER_RECORD_MAX) {
        result = (writ_result){WRIT_E_LIMIT};
    }
    if (!writ_is_ok(result)) {
        writ_buf_cut(bodies, before);
        return result;
    }
    (void)writ_group_op(&ledger->group, &steps, entry);
    row = writ_group_row(ledger);
    row->body_at = at;
    row->body_len = bodies->len - at;
    row->row.kind = WRIT_ROW_FACT;
    row->row.seq = ledger->log.facts_n++;
    row->row.time_us = now_us;
    *ret_leaf = row->row.leaf;
    return WRIT_DONE;
}

WRIT_RESULT
writ_facts_add(struct writ_ledger *ledger, enum writ_fact_event event, struct writ_view data,
    uint64_t *ret_leaf)
{
    return add(ledger, NULL, event, data, ret_leaf);
}

WRIT_RESULT
writ_facts_enter(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_fact *f = &entry->fact;

    return add(ledger, entry, f->event, f->data, &f->leaf);
}

WRIT_RESULT
writ_facts_record(struct writ_ledger *ledger, enum writ_fact_event event, struct writ_view data)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_FACT, .fact = {.event = event, .data = data}};

    struct writ_err err = {0};
    writ_result result = writ_turn_enter(ledger, &err);

    if (!writ_is_ok(result)) {
        writ_group_trouble(ledger, &err);
        return result;
    }
    WRIT_TRY(writ_facts_enter(ledger, &entry));
    return writ_group_commit(ledger);
}

/* ---- reading ---- */

typedef writ_result hear_function(
    struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err);

static WRIT_RESULT
load_one(struct writ_ledger *ledger, hear_function *hear, const struct writ_tree_source *source,
    struct writ_arena *arena, struct writ_err *err)
{
    uint64_t leaf = (uint64_t)writ_disk_int(&ledger->disk, WRIT_SQL_FACTS, 0);
    struct writ_view body = writ_disk_bytes(&ledger->disk, WRIT_SQL_FACTS, 1);
    const struct writ_json *value = NULL;
    struct writ_fact fact = {0};

    WRIT_TRY(writ_vouch_signed(&ledger->log.edge, source, leaf, body, err));
    WRIT_TRY(writ_body_json(body, arena, &value, err));
    WRIT_TRY(writ_fact_read(value, &fact, err));
    fact.leaf = leaf;
    if (fact.n != ledger->log.facts_n) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "fact %llu is missing: see `writ ledger verify`",
            (unsigned long long)ledger->log.facts_n);
    }
    ledger->log.facts_n++;
    return hear(ledger, &fact, err);
}

static WRIT_RESULT
load_all(struct writ_ledger *ledger, hear_function *hear, const struct writ_tree_source *source,
    struct writ_arena *arena, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_FACTS, &row, err, "");

    while (writ_is_ok(result) && row) {
        writ_arena_reset(arena);
        result = load_one(ledger, hear, source, arena, err);
        if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
            result = writ_fail(err, WRIT_E_MISMATCH, "record %llu is not a fact that is readable",
                (unsigned long long)writ_disk_int(disk, WRIT_SQL_FACTS, 0));
        }
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_FACTS, &row, err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_FACTS);
    return result;
}

WRIT_RESULT
writ_facts_load(struct writ_ledger *ledger, hear_function *hear, struct writ_err *err)
{
    struct writ_arena *arena = writ_arena_new(FACTS_ARENA);
    struct writ_heads heads = {0};
    writ_result result = arena == NULL
                             ? writ_fail(err, WRIT_E_NOMEM, "no memory to open the ledger")
                             : writ_heads_open(ledger->disk.sql, &heads, err);

    if (writ_is_ok(result)) {
        struct writ_tree_source source = writ_heads_source(&heads);

        result = load_all(ledger, hear, &source, arena, err);
    }
    writ_heads_close(&heads);
    writ_arena_free(arena);
    return result;
}
