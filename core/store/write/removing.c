/* 1. No record goes before the fact that names it is on disk, and none that the fact does not name.
 * 2. `first` is the first record on disk, `until` the one that the last fact names.
 * 3. An entry ends once: when its records are gone, or with the ledger. */
#include "store/write/removing.h"

#include "evidence/record/archive_fact.h"
#include "store/disk/removal.h"
#include "store/write/facts.h"
#include "store/write/group.h"
#include "store/write/turn.h"

#define SLICE_IDLE 512 /* records that one transaction removes */
#define SLICE_MORE 4   /* for each record of a group: more than it adds */
#define FACT_TEXT  8192

/* ---- entries ---- */

static void
end_entry(struct writ_ledger *ledger, struct writ_entry *entry, enum writ_code code)
{
    entry->code = code;
    entry->next = ledger->over;
    ledger->over = entry;
}

static struct writ_entry *
take_first(struct writ_entry **list)
{
    struct writ_entry *entry = *list;

    if (entry != NULL) {
        *list = entry->next;
    }
    return entry;
}

bool
writ_removing_ask(struct writ_ledger *ledger, struct writ_entry *entry)
{
    const struct writ_entry_remove *remove = &entry->remove;

    if (remove->before_us <= 0 || remove->by.len == 0 || remove->by.len > WRIT_LEDGER_NAME_MAX) {
        entry->code = WRIT_E_INVALID;
        return false;
    }
    entry->next = ledger->removing.asked;
    ledger->removing.asked = entry;
    return true;
}

/* ---- what the archive has ---- */

static WRIT_RESULT
root_of(struct writ_ledger *ledger, uint64_t size, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_heads heads = {0};
    struct writ_tree_source source;
    struct writ_tree_edge edge;
    writ_result result;

    WRIT_TRY(writ_heads_open(ledger->disk.sql, &heads, err));
    source = writ_heads_source(&heads);
    result = writ_tree_edge_of(&source, size, &edge, err);
    writ_heads_close(&heads);
    WRIT_TRY(result);
    return writ_tree_root(&edge, ret, err);
}

/* Whether the archive is one of this ledger: its records are these. */
static WRIT_RESULT
find_is_ours(struct writ_ledger *ledger, const struct writ_entry_remove *remove, bool *ret,
    struct writ_err *err)
{
    struct writ_digest root;

    *ret = false;
    if (remove->archived > ledger->log.next_leaf) {
        return WRIT_DONE;
    }
    WRIT_TRY(root_of(ledger, remove->archived, &root, err));
    *ret = writ_digest_equal(&root, &remove->root);
    return WRIT_DONE;
}

/* ---- what the ledger needs ---- */

struct finding {
    struct writ_ledger *ledger;
    struct writ_entry *entry;
    uint64_t leaf; /* the first record that stays */
    struct writ_err *err;
};

static void
lower(struct finding *f, uint64_t leaf, enum writ_remove_limit limit)
{
    if (leaf < f->leaf) {
        f->leaf = leaf;
        f->entry->remove.limit = limit;
        f->entry->remove.limit_name = writ_view("", 0);
    }
}

/* By the first row of a table beside the records: its first column is a leaf, `name` the column of
 * a name or 0. */
static WRIT_RESULT
lower_by_row(struct finding *f, enum writ_statement which, int name, enum writ_remove_limit limit)
{
    struct writ_disk *disk = &f->ledger->disk;
    uint64_t before = f->leaf;
    bool row = false;
    writ_result result = writ_disk_query(disk, which, &row, f->err, "");

    if (writ_is_ok(result) && row) {
        lower(f, (uint64_t)writ_disk_int(disk, which, 0), limit);
    }
    if (f->leaf < before && name > 0 && f->entry->arena != NULL) {
        f->entry->remove.limit_name =
            writ_view_copy(writ_disk_bytes(disk, which, name), f->entry->arena);
    }
    writ_disk_end(disk, which);
    return result;
}

/* By a span of time before the last record: later calls come after it, whatever the clock shows. */
static WRIT_RESULT
lower_by_time(struct finding *f, int64_t span_us, enum writ_remove_limit limit)
{
    const struct writ_ledger_log *log = &f->ledger->log;
    uint64_t leaf = 0;

    WRIT_TRY(
        writ_disk_since(&f->ledger->disk, log->next_leaf, log->last_us - span_us, &leaf, f->err));
    lower(f, leaf, limit);
    return WRIT_DONE;
}

/* What other gateways need: rows of claims that stand, and records that they have not read. */
static WRIT_RESULT
lower_by_others(struct finding *f)
{
    struct writ_disk *disk = &f->ledger->disk;
    bool row = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_CLAIM_OLDEST, &row, f->err, "i", f->ledger->fleet.now_us);

    if (writ_is_ok(result) && row) {
        lower(f, (uint64_t)writ_disk_int(disk, WRIT_SQL_CLAIM_OLDEST, 0), WRIT_REMOVE_CLAIMS);
    }
    writ_disk_end(disk, WRIT_SQL_CLAIM_OLDEST);
    WRIT_TRY(result);
    return lower_by_row(f, WRIT_SQL_GATEWAY_SEEN, 1, WRIT_REMOVE_GATEWAY);
}

/* The result of a call is kept with its outcome, and found by its decision. Such a call is of a run
 * that began before and was sealed after. */
static WRIT_RESULT
lower_by_results(struct finding *f)
{
    struct writ_disk *disk = &f->ledger->disk;
    bool row = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_CONTENT_CROSSING, &row, f->err, "u", f->leaf);

    if (writ_is_ok(result) && row &&
        !writ_sql_is_null(disk->statements[WRIT_SQL_CONTENT_CROSSING], 0)) {
        lower(f, (uint64_t)writ_disk_int(disk, WRIT_SQL_CONTENT_CROSSING, 0), WRIT_REMOVE_CONTENT);
    }
    writ_disk_end(disk, WRIT_SQL_CONTENT_CROSSING);
    return result;
}

static WRIT_RESULT
lower_to_group(struct finding *f)
{
    struct writ_disk *disk = &f->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_GROUP_AT, &row, f->err, "u", f->leaf);

    if (writ_is_ok(result) && row) {
        f->leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_GROUP_AT, 0);
    }
    writ_disk_end(disk, WRIT_SQL_GROUP_AT);
    return result;
}

static WRIT_RESULT
find_before(struct finding *f)
{
    struct writ_ledger *ledger = f->ledger;
    const struct writ_entry_remove *remove = &f->entry->remove;

    WRIT_TRY(
        writ_disk_since(&ledger->disk, ledger->log.next_leaf, remove->before_us, &f->leaf, f->err));
    lower(f, remove->archived, WRIT_REMOVE_ARCHIVE);
    lower(f, ledger->log.next_leaf > 0 ? ledger->log.next_leaf - 1 : 0, WRIT_REMOVE_LAST);
    WRIT_TRY(lower_by_time(f, ledger->keeping.most_us, WRIT_REMOVE_CLAIMS));
    WRIT_TRY(lower_by_time(f, ledger->budgets.asked_us, WRIT_REMOVE_BUDGET));
    WRIT_TRY(lower_by_row(f, WRIT_SQL_BOUNDARY_OLDEST, 1, WRIT_REMOVE_RUN));
    WRIT_TRY(lower_by_row(f, WRIT_SQL_REVIEW_OLDEST, 1, WRIT_REMOVE_REVIEW));
    WRIT_TRY(lower_by_row(f, WRIT_SQL_WAIT_OLDEST, 0, WRIT_REMOVE_CALL));
    WRIT_TRY(lower_by_row(f, WRIT_SQL_RESULT_OLDEST, 0, WRIT_REMOVE_RESULT));
    WRIT_TRY(lower_by_row(f, WRIT_SQL_CONTENT_FIRST, 0, WRIT_REMOVE_CONTENT));
    if (ledger->sharing != NULL) {
        WRIT_TRY(lower_by_others(f));
    }
    WRIT_TRY(lower_by_results(f));
    return lower_to_group(f);
}

static WRIT_RESULT
read_time(struct writ_disk *disk, uint64_t leaf, int64_t *ret, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_TIME_AT, &row, err, "u", leaf);

    if (writ_is_ok(result) && row) {
        *ret = writ_disk_int(disk, WRIT_SQL_TIME_AT, 0);
    }
    writ_disk_end(disk, WRIT_SQL_TIME_AT);
    return result;
}

/* ---- the fact ---- */

/* Rows of claims whose time is over would be left without their records. */
static WRIT_RESULT
write_claims(struct writ_ledger *ledger, const struct writ_op *op, struct writ_err *err)
{
    return ledger->sharing == NULL ? WRIT_DONE
                                   : writ_disk_run(&ledger->disk, WRIT_SQL_CLAIMS_BEFORE, err, "u",
                                         op->entry->remove.before);
}

static void
finish_op(struct writ_ledger *ledger, const struct writ_op *op)
{
    ledger->removing.until = op->entry->remove.before;
    ledger->removing.until_us = ledger->removing.next_us;
}

static const struct writ_op_steps steps = {.write = write_claims, .finish = finish_op};

static WRIT_RESULT
put_fact(struct writ_ledger *ledger, const struct writ_entry_remove *remove, struct writ_buf *ret,
    struct writ_err *err)
{
    struct writ_archive_fact fact = {
        .by = remove->by, .before = remove->before, .last_us = ledger->removing.next_us};

    WRIT_TRY(root_of(ledger, remove->before, &fact.root, err));
    WRIT_TRY(writ_runs_digest(ledger->disk.statements[WRIT_SQL_RUNS_BETWEEN],
        ledger->removing.until, remove->before, &fact.runs, err));
    return writ_archive_fact_put(&fact, ret, err);
}

static WRIT_RESULT
record(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_err *err)
{
    writ_auto_buf data = writ_buf_make(FACT_TEXT);
    struct writ_entry fact = {.kind = WRIT_ENTRY_FACT};
    writ_result result;

    WRIT_TRY(put_fact(ledger, &entry->remove, &data, err));
    fact.fact.event = WRIT_FACT_ARCHIVED;
    fact.fact.data = writ_buf_view(&data);
    WRIT_TRY(writ_facts_enter(ledger, &fact));
    (void)writ_group_op(&ledger->group, &steps, entry);
    result = writ_group_commit(ledger);
    if (!writ_is_ok(result) && err != NULL) {
        *err = ledger->trouble.why;
    }
    return result;
}

/* In a turn: finds the first record that stays, and records it unless it is the first one anyway.
 */
static WRIT_RESULT
begin(struct writ_ledger *ledger, struct writ_entry *entry, struct writ_err *err)
{
    struct finding f = {.ledger = ledger, .entry = entry, .err = err};
    bool is_ours = false;

    entry->remove.limit = WRIT_REMOVE_NONE;
    entry->remove.limit_name = writ_view("", 0);
    entry->remove.removed = 0;
    WRIT_TRY(writ_turn_enter(ledger, err));
    WRIT_TRY(find_is_ours(ledger, &entry->remove, &is_ours, err));
    if (!is_ours) {
        entry->code = WRIT_E_MISMATCH;
        return WRIT_DONE;
    }
    WRIT_TRY(find_before(&f));
    WRIT_TRY(read_time(&ledger->disk, f.leaf, &entry->remove.limit_us, err));
    entry->remove.before = ledger->removing.until;
    if (f.leaf <= ledger->removing.until) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_time(&ledger->disk, f.leaf - 1, &ledger->removing.next_us, err));
    entry->remove.removed = f.leaf - ledger->removing.until;
    entry->remove.before = f.leaf;
    return record(ledger, entry, err); /* keeps (1) */
}

static void
begin_asked(struct writ_ledger *ledger)
{
    struct writ_ledger_removing *removing = &ledger->removing;
    struct writ_entry *entry = take_first(&removing->asked);
    struct writ_err err = {0};
    writ_result result;

    if (entry == NULL) {
        return;
    }
    entry->code = WRIT_OK;
    result = begin(ledger, entry, &err);
    writ_turn_leave(ledger);
    if (!writ_is_ok(result)) {
        writ_group_trouble(ledger, &err);
        end_entry(ledger, entry, result.code == WRIT_E_NOMEM ? WRIT_E_NOMEM : WRIT_E_IO);
        return;
    }
    if (entry->code != WRIT_OK) {
        end_entry(ledger, entry, entry->code);
        return;
    }
    entry->next = removing->recorded;
    removing->recorded = entry;
}

/* ---- facts of the log ---- */

WRIT_RESULT
writ_removing_hear(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    struct writ_archive_fact archived;

    if (fact->event != WRIT_FACT_ARCHIVED) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_archive_fact_read(fact->data, &archived, err));
    ledger->removing.until = archived.before;
    ledger->removing.until_us = archived.last_us;
    return WRIT_DONE;
}

WRIT_RESULT
writ_removing_load(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_ledger_removing *removing = &ledger->removing;

    WRIT_TRY(writ_disk_first(&ledger->disk, &removing->first, err));
    if (removing->first > removing->until) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the ledger begins with record %llu, and only records before %llu were removed: "
            "something was cut off",
            (unsigned long long)removing->first, (unsigned long long)removing->until);
    }
    return WRIT_DONE;
}

/* ---- removing ---- */

/* Whether there are records that this process is to remove. */
static bool
is_due(const struct writ_ledger *ledger)
{
    return ledger->sharing == NULL && ledger->removing.first < ledger->removing.until;
}

static bool
prepare(struct writ_ledger *ledger, size_t records)
{
    ledger->removing.slice = is_due(ledger) ? records * SLICE_MORE : 0;
    return ledger->removing.slice > 0;
}

static WRIT_RESULT
write_slice(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_ledger_removing *removing = &ledger->removing;

    removing->next = removing->first;
    return removing->slice == 0 ? WRIT_DONE
                                : writ_removal_slice(&ledger->disk, removing->until,
                                      removing->slice, &removing->next, err);
}

static void
finish_slice(struct writ_ledger *ledger)
{
    ledger->removing.first = ledger->removing.next;
    ledger->removing.slice = 0;
}

static void
undo_slice(struct writ_ledger *ledger)
{
    ledger->removing.slice = 0;
}

const struct writ_participant writ_removing_participant = {
    .prepare = prepare, .write = write_slice, .finish = finish_slice, .undo = undo_slice};

static WRIT_RESULT
remove_some(struct writ_ledger *ledger, struct writ_err *err)
{
    ledger->removing.slice = SLICE_IDLE;
    WRIT_TRY(writ_turn_begin(ledger, err));
    WRIT_TRY(writ_turn_finish(ledger, write_slice(ledger, err), err));
    finish_slice(ledger);
    return WRIT_DONE;
}

static void
end_recorded(struct writ_ledger *ledger)
{
    struct writ_entry *entry;

    while ((entry = take_first(&ledger->removing.recorded)) != NULL) {
        end_entry(ledger, entry, WRIT_OK);
    }
}

void
writ_removing_work(struct writ_ledger *ledger, bool idle)
{
    struct writ_err err = {0};

    if (ledger->trouble.refusing) { /* as every entry of a ledger that cannot write */
        writ_removing_end_all(ledger, WRIT_E_IO);
    }
    if (ledger->disk.poisoned || ledger->trouble.refusing || ledger->kept.first != NULL) {
        return; /* kept outcomes go first */
    }
    begin_asked(ledger);
    if (idle && is_due(ledger) && !writ_is_ok(remove_some(ledger, &err))) {
        undo_slice(ledger);
        writ_group_trouble(ledger, &err);
    }
    if (!is_due(ledger)) {
        end_recorded(ledger);
    }
}

int64_t
writ_removing_rest_us(const struct writ_ledger *ledger, int64_t otherwise)
{
    bool works = is_due(ledger) || ledger->removing.asked != NULL;

    return works && !ledger->disk.poisoned && !ledger->trouble.refusing ? 0 : otherwise;
}

void
writ_removing_end_all(struct writ_ledger *ledger, enum writ_code code)
{
    struct writ_entry *entry;

    end_recorded(ledger);
    while ((entry = take_first(&ledger->removing.asked)) != NULL) {
        end_entry(ledger, entry, code);
    }
}
