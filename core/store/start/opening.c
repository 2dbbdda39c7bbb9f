/* A ledger opens when nothing contradicts it: the last checkpoint, the edge under it, the records
 * of the last group, and every checkpoint that is known from outside. A failure to read any of
 * these refuses the ledger. What a killed ledger left unsigned is signed after all of them; what
 * nothing proves stays so until the loss is recorded (resuming.c). */
#include "store/start/opening.h"

#include "store/write/signing.h"

#define HEAD_ARENA (8 << 20) /* memory for the last row of `head` */

struct opening {
    struct writ_ledger *ledger;
    struct writ_heads heads;
    struct writ_arena *arena;
    struct writ_head head; /* the last one */
    struct writ_err *err;
};

#define REFUSE(o, ...) WRIT_FAIL((o)->err, WRIT_E_MISMATCH, __VA_ARGS__)

#define UNSIGNED_HINT                                                                              \
    ": restore mark.key of the key directory as it was; if it is lost, see `writ ledger verify`, " \
    "and `writ ledger resume`"

static WRIT_RESULT
count_records(struct opening *o, uint64_t *ret)
{
    struct writ_disk *disk = &o->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_LAST_RECORD, &row, o->err, "");

    *ret = row ? (uint64_t)writ_disk_int(disk, WRIT_SQL_LAST_RECORD, 0) + 1 : 0;
    writ_disk_end(disk, WRIT_SQL_LAST_RECORD);
    return result;
}

/* The ledger was killed before its last groups were signed. Gateways that share one sign each. */
static bool
is_unsigned(const struct opening *o)
{
    return o->ledger->sharing == NULL && writ_heads_is_mac(o->head.note);
}

/* An operator takes the last records as they are. */
static WRIT_RESULT
count_unproven(struct opening *o)
{
    struct writ_head last = {0};
    writ_result result = writ_heads_last(&o->heads, NULL, &last, o->err);

    if (result.code != WRIT_E_ABSENT) {
        WRIT_TRY(result);
    }
    o->ledger->log.unproven = o->head.size - last.size;
    return WRIT_DONE;
}

static WRIT_RESULT
check_mac(struct opening *o)
{
    struct writ_ledger *ledger = o->ledger;
    struct writ_view key = ledger->options.tail_key;
    writ_result result = {WRIT_E_MISMATCH};

    if (key.ptr != NULL) {
        result = writ_heads_check_mac(&ledger->trust, key, &ledger->log.edge, o->head.note, o->err);
    }
    if (result.code != WRIT_E_MISMATCH) {
        return result;
    }
    if (ledger->options.resume) {
        return count_unproven(o);
    }
    REFUSE(o, "the last records are not signed yet, and they, or the key for them, are not those "
              "of this ledger" UNSIGNED_HINT);
}

/* Checks that a trusted key of the ledger signed the last checkpoint, that it covers all records,
 * and that it is over the stored edge. */
static WRIT_RESULT
check_head(struct opening *o)
{
    struct writ_ledger *ledger = o->ledger;
    struct writ_tree_source source = writ_heads_source(&o->heads);
    struct writ_checkpoint checkpoint = {0};
    struct writ_digest root;

    WRIT_TRY(writ_tree_edge_of(&source, o->head.size, &ledger->log.edge, o->err));
    if (is_unsigned(o)) {
        return check_mac(o);
    }
    WRIT_TRY(writ_heads_believe(&ledger->trust, o->head.note, true, &checkpoint, o->err));
    if (checkpoint.size != o->head.size) {
        REFUSE(o, "the last checkpoint is over %llu records, and stands where %llu are",
            (unsigned long long)checkpoint.size, (unsigned long long)o->head.size);
    }
    WRIT_TRY(writ_tree_root(&ledger->log.edge, &root, o->err));
    if (!writ_digest_equal(&root, &checkpoint.root)) {
        REFUSE(o, "the root of the tree differs from the signed one: see `writ ledger "
                  "verify`");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_record(struct opening *o, uint64_t leaf)
{
    struct writ_disk *disk = &o->ledger->disk;
    struct writ_tree_source source = writ_heads_source(&o->heads);
    struct writ_digest wanted, found;
    bool row = false;
    writ_result result;

    WRIT_TRY(source.node(source.ctx, 0, leaf, &wanted, o->err));
    result = writ_disk_query(disk, WRIT_SQL_BODY_AT, &row, o->err, "u", leaf);
    if (writ_is_ok(result)) {
        result = writ_tree_leaf(
            row ? writ_disk_bytes(disk, WRIT_SQL_BODY_AT, 0) : writ_view("", 0), &found, o->err);
    }
    writ_disk_end(disk, WRIT_SQL_BODY_AT);
    WRIT_TRY(result);
    if (!writ_digest_equal(&wanted, &found)) {
        REFUSE(o, "record %llu differs from the signed one: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    return WRIT_DONE;
}

/* Checks that the pinned checkpoint is of this ledger, and that the records under it are here and
 * unchanged. */
static WRIT_RESULT
check_pinned(struct opening *o)
{
    const struct writ_ledger *ledger = o->ledger;
    struct writ_tree_source source = writ_heads_source(&o->heads);
    struct writ_checkpoint pinned = {0};
    struct writ_tree_edge edge;
    struct writ_digest root;

    if (ledger->options.pinned.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_heads_believe(&ledger->trust, ledger->options.pinned, true, &pinned, o->err));
    if (pinned.size > ledger->log.edge.size) {
        REFUSE(o,
            "the ledger was rolled back: it has %llu records, and the pinned checkpoint is over "
            "%llu",
            (unsigned long long)ledger->log.edge.size, (unsigned long long)pinned.size);
    }
    WRIT_TRY(writ_tree_edge_of(&source, pinned.size, &edge, o->err));
    WRIT_TRY(writ_tree_root(&edge, &root, o->err));
    if (!writ_digest_equal(&root, &pinned.root)) {
        REFUSE(o, "the ledger does not contain what the pinned checkpoint is over: its history is "
                  "another");
    }
    return WRIT_DONE;
}

#define RESUME_HINT                                                                                \
    ". Calls that it lost could run again: find out what is missing, and see `writ ledger resume`"

/* Checks that a remembered checkpoint is in the ledger, unchanged. */
static WRIT_RESULT
compare(struct opening *o, const struct writ_checkpoint *had)
{
    struct writ_tree_source source = writ_heads_source(&o->heads);
    struct writ_ledger *ledger = o->ledger;
    struct writ_tree_edge edge;
    struct writ_digest root;

    if (had->size > ledger->log.had) {
        ledger->log.had = had->size;
    }
    if (ledger->options.resume) {
        return WRIT_DONE;
    }
    if (had->size > ledger->log.edge.size) {
        REFUSE(o, "ROLLBACK: the ledger has %llu records, and had %llu" RESUME_HINT,
            (unsigned long long)ledger->log.edge.size, (unsigned long long)had->size);
    }
    WRIT_TRY(writ_tree_edge_of(&source, had->size, &edge, o->err));
    WRIT_TRY(writ_tree_root(&edge, &root, o->err));
    if (!writ_digest_equal(&root, &had->root)) {
        REFUSE(o, "FORK: the ledger does not begin with the %llu records that it had" RESUME_HINT,
            (unsigned long long)had->size);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_remembered(struct opening *o)
{
    const struct writ_ledger *ledger = o->ledger;

    for (size_t i = 0; i < ledger->options.remembered_n; i++) {
        const struct writ_ledger_memory *memory = &ledger->options.remembered[i];
        struct writ_checkpoint had = {0};
        writ_result result =
            writ_heads_believe(&ledger->trust, memory->note, !memory->own, &had, o->err);

        if (result.code == WRIT_E_MISMATCH && memory->own && !ledger->options.resume) {
            REFUSE(o, "FORK: the remembered checkpoint is not of this ledger" RESUME_HINT);
        }
        if (result.code == WRIT_E_MISMATCH) {
            continue;
        }
        WRIT_TRY(result);
        WRIT_TRY(compare(o, &had));
    }
    return WRIT_DONE;
}

/* Checks everything that is known about the ledger from outside. */
static WRIT_RESULT
check_outside(struct opening *o)
{
    WRIT_TRY(check_remembered(o));
    return o->ledger->options.resume ? WRIT_DONE : check_pinned(o);
}

/* Refuses the copy of a ledger that has not all of it yet (read/copy.h). */
static WRIT_RESULT
check_copied(struct opening *o)
{
    struct writ_disk *disk = &o->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_COPYING_GET, &row, o->err, "");

    writ_disk_end(disk, WRIT_SQL_COPYING_GET);
    WRIT_TRY(result);
    if (row) {
        REFUSE(o, "the ledger is a copy that is not complete: run `writ ledger copy` again");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check(struct opening *o)
{
    uint64_t records = 0;
    writ_result result;

    WRIT_TRY(check_copied(o));
    WRIT_TRY(count_records(o, &records));
    result = writ_heads_at(&o->heads, UINT64_MAX, o->arena, &o->head, o->err);
    if (result.code == WRIT_E_ABSENT && records == 0) {
        return check_outside(o);
    }
    if (result.code == WRIT_E_ABSENT || (writ_is_ok(result) && o->head.size != records)) {
        REFUSE(o,
            "the ledger has %llu records, and its last checkpoint is over %llu: something was "
            "cut off",
            (unsigned long long)records, (unsigned long long)o->head.size);
    }
    WRIT_TRY(result);
    WRIT_TRY(check_head(o));
    for (uint64_t leaf = o->head.leaf; leaf < o->head.size; leaf++) {
        WRIT_TRY(check_record(o, leaf));
    }
    WRIT_TRY(check_outside(o));
    if (!is_unsigned(o) ||
        o->ledger->log.unproven > 0) { /* else the record of the loss covers it */
        return WRIT_DONE;
    }
    return writ_signing_sign(o->ledger, o->head.leaf, o->err);
}

static WRIT_RESULT
take_keys(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(writ_heads_trust(ledger->disk.sql, ledger->options.keyring, &ledger->trust, err));
    if (ledger->trust.signer == NULL || ledger->trust.own == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "a ledger is opened with an active Ed25519 key of its own: make one with `writ keys "
            "new`");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_opening_check(struct writ_ledger *ledger, struct writ_err *err)
{
    struct opening o = {.ledger = ledger, .err = err};
    writ_result result;

    if (ledger->sharing != NULL) { /* others write meanwhile */
        WRIT_TRY(writ_sql_begin(ledger->disk.sql, WRIT_SQL_READ, err));
    }
    WRIT_TRY(take_keys(ledger, err));
    WRIT_TRY(writ_heads_open(ledger->disk.sql, &o.heads, err));
    o.arena = writ_arena_new(HEAD_ARENA);
    result = o.arena == NULL ? (writ_result){WRIT_E_NOMEM} : check(&o);
    writ_arena_free(o.arena);
    writ_heads_close(&o.heads);
    return result;
}
