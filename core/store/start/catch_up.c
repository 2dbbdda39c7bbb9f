/* Records come in parts of whole groups, which are read whole, in one round trip. The bodies of a
 * part go into a copy of the tree first; when its root is the signed one, the records are taken one
 * after another, and the tree with them. Nothing is read meanwhile that a lost connection could
 * interrupt. */
#include "store/start/catch_up.h"

#include "store/disk/lines.h"
#include "store/reviews/delegating.h"
#include "store/reviews/review_changes.h"
#include "store/start/keeping.h"
#include "store/start/resuming.h"
#include "store/start/taking.h"
#include "store/tables/body.h"
#include "store/write/charges.h"
#include "store/write/erased.h"
#include "store/write/group.h"
#include "store/write/pool_rows.h"
#include "store/write/removing.h"

#define PART_HEADS   64 /* groups of one part */
#define RECORD_ARENA (16 << 20)
#define NODES_MAX    ((size_t)(WRIT_TREE_LEVELS + 1) * WRIT_DIGEST_BYTES)

/* A group of another gateway. */
struct head {
    uint64_t leaf, size, epoch;
};

struct catching {
    struct writ_ledger *ledger;
    struct writ_taking taking;
    struct head heads[PART_HEADS];
    size_t heads_n;
    struct writ_buf note;   /* the checkpoint of the last of them */
    struct writ_buf bodies; /* of the part, one per line */
    struct writ_buf leaves; /* their digests in the tree (struct writ_digest) */
    struct writ_buf nodes;
    struct writ_arena *arena; /* one record */
    struct writ_err *err;
};

#define CONTRADICTS(c, ...) WRIT_FAIL((c)->err, WRIT_E_MISMATCH, __VA_ARGS__)

/* ---- a part ---- */

/* The queries of a part, in the order in which they are read. */
static const enum writ_statement queries[] = {
    WRIT_SQL_HEADS_NEXT, WRIT_SQL_BODIES_NEXT, WRIT_SQL_BOUNDARIES_NEXT, WRIT_SQL_RECORDS_NEXT};

WRIT_RESULT
writ_catch_up_ask(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    uint64_t leaf = ledger->log.next_leaf, heads = PART_HEADS;

    ledger->fleet.asked = true;
    WRIT_TRY(writ_disk_ask(disk, WRIT_SQL_HEADS_NEXT, err, "uu", leaf, heads));
    WRIT_TRY(writ_disk_ask(disk, WRIT_SQL_BODIES_NEXT, err, "uu", leaf, heads));
    WRIT_TRY(writ_disk_ask(
        disk, WRIT_SQL_BOUNDARIES_NEXT, err, "uuu", leaf, heads, ledger->fleet.boundary));
    return writ_disk_ask(disk, WRIT_SQL_RECORDS_NEXT, err, "uu", leaf, heads);
}

void
writ_catch_up_end(struct writ_ledger *ledger)
{
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        writ_disk_end(&ledger->disk, queries[i]);
    }
    ledger->fleet.asked = false;
}

static WRIT_RESULT
add_head(struct catching *c)
{
    struct writ_disk *disk = &c->ledger->disk;
    struct head head = {(uint64_t)writ_disk_int(disk, WRIT_SQL_HEADS_NEXT, 0),
        (uint64_t)writ_disk_int(disk, WRIT_SQL_HEADS_NEXT, 1),
        (uint64_t)writ_disk_int(disk, WRIT_SQL_HEADS_NEXT, 2)};
    uint64_t before = c->heads_n == 0 ? c->ledger->log.next_leaf : c->heads[c->heads_n - 1].size;

    if (head.leaf != before || head.size <= head.leaf) {
        CONTRADICTS(c, "the group after record %llu is missing: see `writ ledger verify`",
            (unsigned long long)before);
    }
    c->heads[c->heads_n++] = head;
    writ_buf_clear(&c->note);
    writ_buf_put(&c->note, writ_disk_bytes(disk, WRIT_SQL_HEADS_NEXT, 3));
    return writ_buf_check(&c->note, c->err);
}

static WRIT_RESULT
read_heads(struct catching *c)
{
    struct writ_disk *disk = &c->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_next(disk, WRIT_SQL_HEADS_NEXT, &row, c->err);

    c->heads_n = 0;
    while (writ_is_ok(result) && row) {
        result = add_head(c);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_HEADS_NEXT, &row, c->err);
        }
    }
    WRIT_TRY(result);
    if (c->heads_n == 0) {
        CONTRADICTS(c, "the records after %llu have no checkpoint: see `writ ledger verify`",
            (unsigned long long)c->ledger->log.next_leaf);
    }
    return WRIT_DONE;
}

static uint64_t
part_end(const struct catching *c)
{
    return c->heads[c->heads_n - 1].size;
}

/* ---- bodies ---- */

/* Reads the bodies of the part: one per line, in order. */
static WRIT_RESULT
read_bodies(struct catching *c)
{
    struct writ_disk *disk = &c->ledger->disk;
    uint64_t leaf = c->heads[0].leaf;
    bool row = false;
    writ_result result = writ_disk_next(disk, WRIT_SQL_BODIES_NEXT, &row, c->err);

    writ_buf_clear(&c->bodies);
    while (writ_is_ok(result) && row && leaf < part_end(c)) {
        struct writ_view lines = writ_disk_bytes(disk, WRIT_SQL_BODIES_NEXT, 1);

        if ((uint64_t)writ_disk_int(disk, WRIT_SQL_BODIES_NEXT, 0) != leaf) {
            break;
        }
        leaf += writ_lines_count(lines);
        writ_buf_put(&c->bodies, lines);
        writ_buf_byte(&c->bodies, '\n');
        result = writ_disk_next(disk, WRIT_SQL_BODIES_NEXT, &row, c->err);
    }
    WRIT_TRY(result);
    if (leaf != part_end(c)) {
        CONTRADICTS(
            c, "record %llu has no body: see `writ ledger verify`", (unsigned long long)leaf);
    }
    return writ_buf_check(&c->bodies, c->err);
}

/* Takes the first line off. */
static struct writ_view
next_body(struct writ_view *bodies)
{
    size_t end = writ_view_find(*bodies, '\n');
    struct writ_view body = writ_view_sub(*bodies, 0, end);

    *bodies = writ_view_sub(*bodies, end + 1, bodies->len);
    return body;
}

static WRIT_RESULT
grow(struct catching *c, struct writ_tree_edge *edge, const struct writ_digest *leaf)
{
    writ_buf_clear(&c->nodes);
    WRIT_TRY(writ_tree_grow(edge, leaf, &c->nodes, c->err));
    return writ_buf_check(&c->nodes, c->err);
}

/* Digests each body of the part. */
static WRIT_RESULT
digest_bodies(struct catching *c)
{
    struct writ_view bodies = writ_buf_view(&c->bodies);

    writ_buf_clear(&c->leaves);
    for (uint64_t leaf = c->heads[0].leaf; leaf < part_end(c); leaf++) {
        struct writ_digest digest;

        WRIT_TRY(writ_tree_leaf(next_body(&bodies), &digest, c->err));
        writ_buf_put(&c->leaves, writ_view((const char *)&digest, sizeof digest));
    }
    return writ_buf_check(&c->leaves, c->err);
}

/* The digest of a body of the part. */
static const struct writ_digest *
digest_of(const struct catching *c, uint64_t leaf)
{
    const struct writ_digest *all = (const struct writ_digest *)(const void *)c->leaves.ptr;

    return &all[leaf - c->heads[0].leaf];
}

/* The records of the part are those that its gateways signed. */
static WRIT_RESULT
check_signed(struct catching *c)
{
    struct writ_ledger *ledger = c->ledger;
    struct writ_tree_edge edge = ledger->log.edge;
    struct writ_checkpoint checkpoint = {0};
    struct writ_digest root;

    WRIT_TRY(digest_bodies(c));
    for (uint64_t leaf = c->heads[0].leaf; leaf < part_end(c); leaf++) {
        WRIT_TRY(grow(c, &edge, digest_of(c, leaf)));
    }
    WRIT_TRY(
        writ_heads_believe(&ledger->trust, writ_buf_view(&c->note), true, &checkpoint, c->err));
    WRIT_TRY(writ_tree_root(&edge, &root, c->err));
    if (checkpoint.size != edge.size || !writ_digest_equal(&root, &checkpoint.root)) {
        CONTRADICTS(c,
            "the records after %llu do not continue what this gateway knows: the database lost "
            "records, or they were changed",
            (unsigned long long)ledger->log.next_leaf);
    }
    return WRIT_DONE;
}

/* ---- runs ---- */

static WRIT_RESULT
take_boundary(struct catching *c)
{
    struct writ_ledger *ledger = c->ledger;
    struct writ_disk *disk = &ledger->disk;
    struct writ_view tenant = writ_disk_bytes(disk, WRIT_SQL_BOUNDARIES_NEXT, 1);
    struct writ_view name = writ_disk_bytes(disk, WRIT_SQL_BOUNDARIES_NEXT, 2);
    uint64_t id = (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARIES_NEXT, 0);
    struct writ_boundary *boundary = NULL;
    struct writ_tag tag;

    WRIT_TRY(writ_boundaries_tag(tenant, name, &tag, c->err));
    WRIT_TRY(writ_boundaries_add(&ledger->boundaries, tag, tenant, name, &boundary, c->err));
    writ_boundaries_number(&ledger->boundaries, boundary, id);
    boundary->first_leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARIES_NEXT, 3);
    boundary->active_us = c->taking.mono_us;
    ledger->fleet.boundary = id;
    return WRIT_DONE;
}

static WRIT_RESULT
take_boundaries(struct catching *c)
{
    struct writ_disk *disk = &c->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_next(disk, WRIT_SQL_BOUNDARIES_NEXT, &row, c->err);

    while (writ_is_ok(result) && row) {
        result = take_boundary(c);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_BOUNDARIES_NEXT, &row, c->err);
        }
    }
    return result;
}

/* ---- records ---- */

/* A review that another gateway opened is loaded when all records are taken, as it is then. */
static WRIT_RESULT
take_review(struct catching *c, const struct writ_row *row)
{
    struct writ_reviewed *review = writ_reviews_by_id(&c->ledger->reviews, row->decision_id);

    if (review != NULL) {
        return writ_review_changes_hear(c->ledger, review, row->leaf, row->body, c->err);
    }
    writ_buf_put(&c->ledger->fleet.opened, writ_view((const char *)&row->leaf, sizeof row->leaf));
    return writ_buf_check(&c->ledger->fleet.opened, c->err);
}

static WRIT_RESULT
take_fact(struct catching *c, const struct writ_row *row)
{
    struct writ_ledger *ledger = c->ledger;
    const struct writ_json *value = NULL;
    struct writ_fact fact = {0};

    WRIT_TRY(writ_body_json(row->body, c->arena, &value, c->err));
    WRIT_TRY(writ_fact_read(value, &fact, c->err));
    fact.leaf = row->leaf;
    if (fact.n != ledger->log.facts_n) {
        CONTRADICTS(c, "fact %llu is missing: see `writ ledger verify`",
            (unsigned long long)ledger->log.facts_n);
    }
    ledger->log.facts_n++;
    WRIT_TRY(writ_keeping_hear(ledger, &fact, c->err));
    writ_keeping_end(ledger);
    WRIT_TRY(writ_resuming_hear(&ledger->resumed, &fact, c->err));
    WRIT_TRY(writ_removing_hear(ledger, &fact, c->err));
    WRIT_TRY(writ_delegating_hear(ledger, &fact, c->err));
    if (ledger->options.reports != NULL && ledger->options.reports->heard != NULL) {
        ledger->options.reports->heard(ledger->options.reports->ctx, row->body, false);
    }
    if (fact.event == WRIT_FACT_POOL_PUT) {
        writ_pool_rows_heard(ledger, row->leaf);
    }
    ledger->fleet.heard = true;
    ledger->fleet.erased = ledger->fleet.erased || fact.event == WRIT_FACT_CONTENTS_ERASED;
    return WRIT_DONE;
}

static WRIT_RESULT
take_charges(struct catching *c, const struct writ_row *row)
{
    struct writ_flight *flight = (row->flags & WRIT_ROW_GRANTED) == 0
                                     ? NULL
                                     : writ_flights_find(&c->ledger->flights, row->leaf);

    return flight == NULL
               ? WRIT_DONE
               : writ_charges_hear(c->ledger, flight, row->body, row->time_us, c->arena, c->err);
}

/* The record is complete in memory, or not there at all. */
static WRIT_RESULT
take_record(struct catching *c, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_ledger *ledger = c->ledger;

    WRIT_TRY(grow(c, &ledger->log.edge, digest_of(c, row->leaf)));
    ledger->log.next_leaf = row->leaf + 1;
    ledger->fleet.figures.taken++;
    ledger->log.edge_us = row->time_us;
    if (row->time_us > ledger->log.last_us) {
        ledger->log.last_us = row->time_us;
    }
    switch (row->kind) {
    case WRIT_ROW_REVIEW:
        return take_review(c, row);
    case WRIT_ROW_FACT:
        return take_fact(c, row);
    case WRIT_ROW_DECISION:
        WRIT_TRY(writ_taking_row(&c->taking, row, said));
        return take_charges(c, row);
    case WRIT_ROW_OUTCOME:
    case WRIT_ROW_SEAL:
    case WRIT_ROW_NONE:
        break;
    }
    return writ_taking_row(&c->taking, row, said);
}

static WRIT_RESULT
take_row(struct catching *c, size_t *head, struct writ_view *bodies)
{
    struct writ_disk *disk = &c->ledger->disk;
    struct writ_row row = {0};
    struct writ_said said;

    WRIT_TRY(writ_disk_row(disk->statements[WRIT_SQL_RECORDS_NEXT], &row, c->err));
    if (row.leaf != c->ledger->log.next_leaf || row.time_us <= c->ledger->log.edge_us) {
        CONTRADICTS(c, "record %llu is missing or out of order: see `writ ledger verify`",
            (unsigned long long)c->ledger->log.next_leaf);
    }
    while (row.leaf >= c->heads[*head].size) {
        (*head)++;
    }
    /* a record of this gateway is here when the answer to its commit was lost: nobody makes its
     * call */
    c->taking.owner = c->heads[*head].epoch == c->ledger->fleet.epoch ? 0 : c->heads[*head].epoch;
    writ_arena_reset(c->arena);
    row.body = next_body(bodies);
    WRIT_TRY(writ_said_read(row.body, c->arena, &said, c->err));
    if (!writ_said_same(&said, &row)) {
        CONTRADICTS(c,
            "the columns beside record %llu differ from the record: see `writ ledger verify`",
            (unsigned long long)row.leaf);
    }
    c->ledger->fleet.torn = true; /* until it is taken whole */
    WRIT_TRY(take_record(c, &row, &said));
    c->ledger->fleet.torn = false;
    return WRIT_DONE;
}

static WRIT_RESULT
take_records(struct catching *c)
{
    struct writ_disk *disk = &c->ledger->disk;
    bool row = false;
    struct writ_view bodies = writ_buf_view(&c->bodies);
    size_t head = 0;

    WRIT_TRY(writ_disk_next(disk, WRIT_SQL_RECORDS_NEXT, &row, c->err));
    while (row) {
        WRIT_TRY(take_row(c, &head, &bodies));
        WRIT_TRY(writ_disk_next(disk, WRIT_SQL_RECORDS_NEXT, &row, c->err));
    }
    if (c->ledger->log.next_leaf != part_end(c)) {
        CONTRADICTS(c, "record %llu is missing: see `writ ledger verify`",
            (unsigned long long)c->ledger->log.next_leaf);
    }
    return WRIT_DONE;
}

/* ---- reviews that others opened ---- */

static WRIT_RESULT
load_opened(struct catching *c, uint64_t leaf)
{
    struct writ_ledger *ledger = c->ledger;
    struct writ_disk *disk = &ledger->disk;
    struct writ_row decision = {0};
    char id[WRIT_LEDGER_NAME_MAX];
    struct writ_view name;
    struct writ_tag tag = {0};
    uint64_t decided = 0;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_RECORD_AT, &row, c->err, "u", leaf);

    if (writ_is_ok(result) && row) {
        name = writ_disk_bytes(disk, WRIT_SQL_RECORD_AT, 8);
        name = writ_view_place(writ_view_sub(name, 0, sizeof id), id);
    }
    writ_disk_end(disk, WRIT_SQL_RECORD_AT);
    WRIT_TRY(result);
    if (!row || writ_reviews_by_id(&ledger->reviews, name) != NULL) {
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_REVIEW_ROW, &row, c->err, "t", name);
    if (writ_is_ok(result) && row) {
        struct writ_view bytes = writ_disk_bytes(disk, WRIT_SQL_REVIEW_ROW, 1);

        decided = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEW_ROW, 0);
        if (bytes.len != WRIT_TAG_BYTES) {
            result = (writ_result){WRIT_E_MISMATCH};
        } else {
            tag = writ_tag_read((const uint8_t *)bytes.ptr);
        }
    }
    writ_disk_end(disk, WRIT_SQL_REVIEW_ROW);
    WRIT_TRY(result);
    if (!row) { /* it is over already, and its caller has the end */
        if (leaf > ledger->reviews.changed) {
            ledger->reviews.changed = leaf;
        }
        if (leaf > ledger->reviews.forgotten) {
            ledger->reviews.forgotten = leaf;
        }
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_RECORD_AT, &row, c->err, "u", decided);
    if (writ_is_ok(result) && row) {
        result = writ_disk_row(disk->statements[WRIT_SQL_RECORD_AT], &decision, c->err);
    }
    writ_disk_end(disk, WRIT_SQL_RECORD_AT);
    WRIT_TRY(result);
    return writ_review_changes_load(ledger, name, tag, decided,
        writ_boundaries_at(&ledger->boundaries, decision.boundary), &decision, c->err);
}

static WRIT_RESULT
load_all_opened(struct catching *c)
{
    struct writ_view list = writ_buf_view(&c->ledger->fleet.opened);

    for (; list.len > 0; list = writ_view_sub(list, sizeof(uint64_t), list.len)) {
        uint64_t leaf;

        (void)writ_view_place(writ_view_sub(list, 0, sizeof leaf), (char *)&leaf);
        WRIT_TRY(load_opened(c, leaf));
    }
    writ_buf_clear(&c->ledger->fleet.opened);
    return WRIT_DONE;
}

/* ---- erases by others ---- */

/* What the calls give back that are under way here is not kept either. */
static WRIT_RESULT
mark_erased(struct catching *c)
{
    if (c->ledger->fleet.erased) {
        WRIT_TRY(writ_erased_load(c->ledger, c->err));
    }
    c->ledger->fleet.erased = false;
    return WRIT_DONE;
}

/* What an earlier try could not do is done as well. */
static WRIT_RESULT
follow(struct catching *c)
{
    WRIT_TRY(load_all_opened(c));
    return mark_erased(c);
}

static WRIT_RESULT
take_part(struct catching *c)
{
    if (!c->ledger->fleet.asked) {
        WRIT_TRY(writ_catch_up_ask(c->ledger, c->err));
    }
    WRIT_TRY(read_heads(c));
    WRIT_TRY(read_bodies(c));
    WRIT_TRY(check_signed(c));
    WRIT_TRY(take_boundaries(c));
    return take_records(c);
}

static writ_result
catch_part(struct catching *c)
{
    writ_result result = take_part(c);

    writ_catch_up_end(c->ledger);
    return result;
}

/* Why the records do not continue: a gateway that was away for longer than records are kept cannot
 * follow. */
static WRIT_RESULT
explain(struct catching *c)
{
    uint64_t first = 0;

    WRIT_TRY(writ_disk_first(&c->ledger->disk, &first, c->err));
    if (c->ledger->log.next_leaf < first) {
        CONTRADICTS(c,
            "this gateway knows the records before %llu, and the ledger begins with record %llu: "
            "start it again",
            (unsigned long long)c->ledger->log.next_leaf, (unsigned long long)first);
    }
    return (writ_result){WRIT_E_MISMATCH};
}

WRIT_RESULT
writ_catch_up(struct writ_ledger *ledger, uint64_t size, struct writ_err *err)
{
    struct catching *c = writ_alloc(sizeof *c);
    writ_result result = WRIT_DONE;

    if (c == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to follow the other gateways");
    }
    c->ledger = ledger;
    c->err = err;
    c->taking = writ_taking_now(ledger, err);
    c->note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    c->bodies = writ_buf_make(PART_HEADS * (size_t)WRIT_STORE_BODIES_MAX);
    c->leaves = writ_buf_make(SIZE_MAX / 2);
    c->nodes = writ_buf_make(NODES_MAX);
    c->arena = writ_arena_new(RECORD_ARENA);
    if (c->arena == NULL) {
        result = writ_fail(err, WRIT_E_NOMEM, "no memory to follow the other gateways");
    }
    while (writ_is_ok(result) && ledger->log.next_leaf < size) {
        result = catch_part(c);
    }
    if (result.code == WRIT_E_MISMATCH && !ledger->fleet.torn) {
        result = explain(c);
    }
    if (writ_is_ok(result)) {
        result = follow(c);
    }
    writ_arena_free(c->arena);
    writ_buf_wipe(&c->note);
    writ_buf_wipe(&c->bodies);
    writ_buf_wipe(&c->leaves);
    writ_buf_wipe(&c->nodes);
    writ_free(c);
    return result;
}

/* ---- waits ---- */

/* Takes one row: a wait that is known gets its state. */
static WRIT_RESULT
take_wait(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    uint64_t leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_WAITS, 0);
    struct writ_view name = writ_disk_bytes(disk, WRIT_SQL_WAITS, 1);
    enum writ_wait_kind kind = (enum writ_wait_kind)writ_disk_int(disk, WRIT_SQL_WAITS, 2);
    int64_t until_us = writ_disk_int(disk, WRIT_SQL_WAITS, 3);

    if (name.len != WRIT_TAG_BYTES || kind <= WRIT_WAIT_NONE || kind > WRIT_WAIT_RUN) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "record %llu cannot wait", (unsigned long long)leaf);
    }
    return writ_waits_load(&ledger->waits, writ_tag_read((const uint8_t *)name.ptr), leaf, kind,
        until_us, writ_flights_find(&ledger->flights, leaf), err);
}

WRIT_RESULT
writ_catch_up_waits(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result;

    ledger->fleet.waits = 0; /* until all are read */
    while (ledger->waits.ring != NULL) {
        struct writ_wait *wait = ledger->waits.ring;

        if (wait->flight != NULL) {
            wait->flight->wait = NULL;
        }
        writ_waits_take(&ledger->waits, wait);
        writ_waits_free(&ledger->waits, wait);
    }
    result = writ_disk_query(disk, WRIT_SQL_WAITS, &row, err, "");
    while (writ_is_ok(result) && row) {
        result = take_wait(ledger, err);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_WAITS, &row, err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_WAITS);
    return result;
}
