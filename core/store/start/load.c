/* Rebuilds the memory of the writer from the disk: open boundaries, claims, calls in flight,
 * budgets.
 *
 * With a manifest (manifest.h) records are read from the last one that it covers. Without a
 * manifest, from the first one that still matters: the oldest of an open boundary, or of the time
 * for which claims are kept, and the one before it, which shows that it is the first: unless the
 * log begins there, because earlier records were removed (removing.h). This program wrote the file,
 * but another one may have changed it since: only the signed body of a record counts (reread.h),
 * and any contradiction stops the start. */
#include "store/start/load.h"

#include "store/disk/reread.h"
#include "store/reviews/delegating.h"
#include "store/reviews/review_changes.h"
#include "store/start/fleet.h"
#include "store/start/image.h"
#include "store/start/keeping.h"
#include "store/start/manifest.h"
#include "store/start/resuming.h"
#include "store/start/taking.h"
#include "store/write/charges.h"
#include "store/write/ending.h"
#include "store/write/facts.h"
#include "store/write/once.h"
#include "store/write/removing.h"
#include "store/write/vouch.h"

struct loading {
    struct writ_ledger *ledger;
    struct writ_taking taking;
    uint64_t first_leaf;
    uint64_t manifest_leaf; /* records that the manifest covers; 0: no manifest */
    struct writ_buf image;
    int64_t since_us; /* records before are of no interest by their time */
    struct writ_err *err;
};

#define REVIEWED_ARENA (8 << 20) /* memory to read the decision of a review */

#define CONTRADICTS(l, ...) WRIT_FAIL((l)->err, WRIT_E_MISMATCH, __VA_ARGS__)

/* ---- small tables ---- */

static WRIT_RESULT
load_head(struct loading *l)
{
    struct writ_ledger *ledger = l->ledger;
    struct writ_disk *disk = &ledger->disk;
    bool row = false;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_LAST_RECORD, &row, l->err, ""));
    if (row) {
        ledger->log.next_leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_LAST_RECORD, 0) + 1;
        ledger->log.last_us = ledger->log.edge_us = writ_disk_int(disk, WRIT_SQL_LAST_RECORD, 1);
    }
    writ_disk_end(disk, WRIT_SQL_LAST_RECORD);
    if (ledger->log.last_us >= WRIT_TIME_MOST_US) { /* no later time would be left for the next
                                                       one */
        CONTRADICTS(l, "record %llu has a time that no clock shows: see `writ ledger verify`",
            (unsigned long long)ledger->log.next_leaf - 1);
    }
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_BOUNDARY_LAST, &row, l->err, ""));
    ledger->boundaries.next_id =
        row ? (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARY_LAST, 0) + 1 : 1;
    writ_disk_end(disk, WRIT_SQL_BOUNDARY_LAST);
    return WRIT_DONE;
}

static WRIT_RESULT
load_boundary(struct loading *l)
{
    struct writ_ledger *ledger = l->ledger;
    struct writ_disk *disk = &ledger->disk;
    struct writ_view tenant = writ_disk_bytes(disk, WRIT_SQL_BOUNDARIES_OPEN, 1);
    struct writ_view name = writ_disk_bytes(disk, WRIT_SQL_BOUNDARIES_OPEN, 2);
    struct writ_boundary *boundary = NULL;
    struct writ_tag tag;

    WRIT_TRY(writ_boundaries_tag(tenant, name, &tag, l->err));
    WRIT_TRY(writ_boundaries_add(&ledger->boundaries, tag, tenant, name, &boundary, l->err));
    writ_boundaries_number(
        &ledger->boundaries, boundary, (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARIES_OPEN, 0));
    boundary->first_leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARIES_OPEN, 3);
    boundary->active_us = l->taking.mono_us;
    if (l->manifest_leaf == 0 && boundary->first_leaf < l->first_leaf) {
        l->first_leaf = boundary->first_leaf;
        l->since_us = INT64_MAX; /* it is the first one because of an open boundary, not of its
                                    time */
    }
    return WRIT_DONE;
}

static WRIT_RESULT
load_boundaries(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_BOUNDARIES_OPEN, &row, l->err, "");

    while (writ_is_ok(result) && row) {
        result = load_boundary(l);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_BOUNDARIES_OPEN, &row, l->err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_BOUNDARIES_OPEN);
    return result;
}

/* A session keeps its boundary open. */
static WRIT_RESULT
load_session(struct loading *l)
{
    struct writ_ledger *ledger = l->ledger;
    struct writ_disk *disk = &ledger->disk;
    struct writ_view tenant = writ_disk_bytes(disk, WRIT_SQL_SESSIONS, 2);
    struct writ_view name = writ_disk_bytes(disk, WRIT_SQL_SESSIONS, 3);
    struct writ_boundary *boundary;
    struct writ_tag tag;

    ledger->counts.sessions++;
    WRIT_TRY(writ_boundaries_tag(tenant, name, &tag, l->err));
    boundary = writ_boundaries_find(&ledger->boundaries, tag, tenant, name);
    if (boundary != NULL) {
        boundary->held_until_us = writ_disk_int(disk, WRIT_SQL_SESSIONS, 1);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
load_sessions(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_SESSIONS, &row, l->err, "");

    while (writ_is_ok(result) && row) {
        result = load_session(l);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_SESSIONS, &row, l->err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_SESSIONS);
    return result;
}

static WRIT_RESULT
load_results(struct loading *l)
{
    struct writ_ledger *ledger = l->ledger;
    struct writ_disk *disk = &ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_RESULTS_SUM, &row, l->err, "");

    if (writ_is_ok(result) && row) {
        ledger->counts.results = (size_t)writ_disk_int(disk, WRIT_SQL_RESULTS_SUM, 0);
        ledger->counts.results_bytes = writ_disk_int(disk, WRIT_SQL_RESULTS_SUM, 1);
    }
    writ_disk_end(disk, WRIT_SQL_RESULTS_SUM);
    return result;
}

/* ---- the log ---- */

static WRIT_RESULT
load_row(struct loading *l, const struct writ_row *row, const struct writ_said *said)
{
    if (row->leaf < l->first_leaf) { /* it shows that no earlier record matters */
        if (row->time_us >= l->since_us) {
            CONTRADICTS(l, "records before %llu have wrong times in their columns",
                (unsigned long long)l->first_leaf);
        }
        return WRIT_DONE;
    }
    return writ_taking_row(&l->taking, row, said);
}

/* Writes claims to the disk, as in operation, so that memory holds only some of them at a time. */
static WRIT_RESULT
make_room(struct loading *l, struct writ_reread *records)
{
    struct writ_ledger *ledger = l->ledger;

    if (ledger->claims.concluded < ledger->options.segment_claims || ledger->sharing != NULL) {
        return WRIT_DONE; /* where others write, one state of the database is read, until its end */
    }
    writ_reread_rest(records);
    writ_once_sweep(ledger);
    WRIT_TRY(writ_manifest_work(ledger, SIZE_MAX, l->err));
    /* no reader needs the write-ahead log: copy it into the file and begin an empty one */
    return writ_disk_copy_wal(&ledger->disk, l->err);
}

static WRIT_RESULT
replay(struct loading *l, struct writ_reread *records)
{
    struct writ_said said;
    struct writ_row row;
    bool has_row = false;

    WRIT_TRY(writ_reread_begin(records, &l->ledger->disk,
        l->first_leaf > l->ledger->removing.first ? l->first_leaf - 1 : l->first_leaf, l->err));
    WRIT_TRY(writ_reread_next(records, &row, &has_row, &said, l->err));
    while (has_row) {
        WRIT_TRY(load_row(l, &row, &said));
        WRIT_TRY(make_room(l, records));
        WRIT_TRY(writ_reread_next(records, &row, &has_row, &said, l->err));
    }
    return writ_reread_end(records, &l->ledger->log.edge, l->err);
}

/* The events of reviews and the facts that the manifest does not count are read by indexes. One
 * that an index hides could be the end of a review, or a stop. */
static WRIT_RESULT
check_indexes(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    bool row = false;
    int64_t hidden;

    if (l->ledger->sharing != NULL) { /* the database keeps its indexes */
        return WRIT_DONE;
    }
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_HIDDEN, &row, l->err, "u", l->manifest_leaf));
    hidden = writ_disk_int(disk, WRIT_SQL_HIDDEN, 0);
    writ_disk_end(disk, WRIT_SQL_HIDDEN);
    if (hidden != 0) {
        CONTRADICTS(l, "an index does not have all records of reviews, or all facts: see `writ "
                       "ledger verify`");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
load_records(struct loading *l)
{
    struct writ_boundaries *boundaries = &l->ledger->boundaries;
    struct writ_reread records = {0};
    writ_result result = replay(l, &records);

    writ_reread_wipe(&records);
    WRIT_TRY(result);
    WRIT_TRY(check_indexes(l));
    for (size_t i = 0; i < boundaries->by_name.count; i++) {
        if (writ_boundaries_sweep(boundaries)->next_seq == 0) {
            CONTRADICTS(l, "an open boundary has no record: see `writ ledger verify`");
        }
    }
    return WRIT_DONE;
}

/* ---- what was in flight ---- */

static WRIT_RESULT
load_wait(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    uint64_t leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_WAITS, 0);
    struct writ_view name = writ_disk_bytes(disk, WRIT_SQL_WAITS, 1);
    int64_t kind = writ_disk_int(disk, WRIT_SQL_WAITS, 2);
    struct writ_flight *flight = writ_flights_find(&l->ledger->flights, leaf);

    if (name.len != WRIT_TAG_BYTES || kind <= WRIT_WAIT_NONE || kind > WRIT_WAIT_RUN ||
        (flight == NULL && kind != WRIT_WAIT_TASK)) {
        CONTRADICTS(l, "record %llu cannot wait", (unsigned long long)leaf);
    }
    return writ_waits_load(&l->ledger->waits, writ_tag_read((const uint8_t *)name.ptr), leaf,
        (enum writ_wait_kind)kind, writ_disk_int(disk, WRIT_SQL_WAITS, 3), flight, l->err);
}

static WRIT_RESULT
load_waits(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_WAITS, &row, l->err, "");

    while (writ_is_ok(result) && row) {
        result = load_wait(l);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_WAITS, &row, l->err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_WAITS);
    return result;
}

/* The decision of a review is where its columns say, even when it was not read again. */
static WRIT_RESULT
check_reviewed(struct loading *l, const struct writ_row *row, const struct writ_boundary *boundary)
{
    struct writ_disk *disk = &l->ledger->disk;
    writ_auto_arena arena = writ_arena_new(REVIEWED_ARENA);
    struct writ_said said = {0};
    struct writ_view body = {NULL, 0};
    bool found = false;
    writ_result result;

    if (row->leaf >= l->ledger->log.vouched) {
        return WRIT_DONE;
    }
    if (arena == NULL) {
        WRIT_FAIL(l->err, WRIT_E_NOMEM, "no memory for a review");
    }
    result = writ_disk_query(disk, WRIT_SQL_BODY_AT, &found, l->err, "u", row->leaf);
    if (writ_is_ok(result) && found) {
        body = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_BODY_AT, 0), arena);
        result = body.ptr == NULL ? writ_fail(l->err, WRIT_E_NOMEM, "no memory for a review")
                                  : WRIT_DONE;
    }
    writ_disk_end(disk, WRIT_SQL_BODY_AT);
    WRIT_TRY(result);
    WRIT_TRY(writ_vouch(l->ledger, row->leaf, body, l->err));
    WRIT_TRY(writ_said_read(body, arena, &said, l->err));
    if (!writ_said_same(&said, row) ||
        (boundary != NULL && (!writ_view_equal(boundary->tenant, said.tenant) ||
                                 !writ_view_equal(boundary->name, said.boundary_id)))) {
        CONTRADICTS(l,
            "the columns beside record %llu differ from the record: see `writ ledger "
            "verify`",
            (unsigned long long)row->leaf);
    }
    return WRIT_DONE;
}

/* The row of a review's decision: where its records stand. */
static WRIT_RESULT
find_reviewed(struct loading *l, uint64_t leaf, struct writ_row *ret, struct writ_boundary **ret_in)
{
    struct writ_disk *disk = &l->ledger->disk;
    struct writ_row decision = {0};
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_RECORD_AT, &row, l->err, "u", leaf);

    if (writ_is_ok(result) && row) {
        result = writ_disk_row(disk->statements[WRIT_SQL_RECORD_AT], &decision, l->err);
    }
    if (writ_is_ok(result) && decision.kind == WRIT_ROW_DECISION) {
        *ret_in = writ_boundaries_at(&l->ledger->boundaries, decision.boundary);
        result = check_reviewed(l, &decision, *ret_in);
    }
    *ret = decision;
    writ_disk_end(disk, WRIT_SQL_RECORD_AT);
    return result;
}

static WRIT_RESULT
load_review(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    struct writ_view id = writ_disk_bytes(disk, WRIT_SQL_REVIEWS, 0);
    uint64_t leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_REVIEWS, 1);
    struct writ_view name = writ_disk_bytes(disk, WRIT_SQL_REVIEWS, 2);
    struct writ_boundary *boundary = NULL;
    struct writ_row decision;

    WRIT_TRY(find_reviewed(l, leaf, &decision, &boundary));
    if (decision.kind != WRIT_ROW_DECISION || name.len != WRIT_TAG_BYTES) {
        CONTRADICTS(l, "record %llu cannot be under review", (unsigned long long)leaf);
    }
    return writ_review_changes_load(
        l->ledger, id, writ_tag_read((const uint8_t *)name.ptr), leaf, boundary, &decision, l->err);
}

static WRIT_RESULT
load_reviews(struct loading *l)
{
    struct writ_disk *disk = &l->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_REVIEWS, &row, l->err, "");

    while (writ_is_ok(result) && row) {
        result = load_review(l);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_REVIEWS, &row, l->err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_REVIEWS);
    return result;
}

static WRIT_RESULT
interrupt_all(struct loading *l)
{
    struct writ_map *flights = &l->ledger->flights;

    for (size_t i = 0; i < flights->bucket_count; i++) {
        for (struct writ_map_node *node = flights->buckets[i]; node != NULL; node = node->next) {
            struct writ_flight *flight = WRIT_MAP_OF(node, struct writ_flight, by_leaf);

            if (flight->wait != NULL && flight->leaf >= writ_resuming_since(l->ledger)) {
                continue;
            }
            if (flight->boundary == l->taking.past) {
                CONTRADICTS(l, "record %llu was granted under a sealed boundary and has no outcome",
                    (unsigned long long)flight->leaf);
            }
            if (l->ledger->sharing == NULL) { /* else fleet.h ends those of dead gateways */
                WRIT_TRY(writ_ending_given_up(
                    l->ledger, flight, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN, l->err));
            }
        }
    }
    return WRIT_DONE;
}

/* Where reading begins. */
static WRIT_RESULT
find_first(struct loading *l)
{
    if (l->manifest_leaf > 0) {
        l->first_leaf = l->manifest_leaf;
        l->since_us = INT64_MAX;
        return WRIT_DONE;
    }
    /* not from the clock, which may be ahead and go back: every later call comes after the last
     * record */
    l->since_us = l->ledger->log.last_us - l->ledger->keeping.most_us;
    return writ_disk_since(
        &l->ledger->disk, l->ledger->log.next_leaf, l->since_us, &l->first_leaf, l->err);
}

static WRIT_RESULT
take_image(struct loading *l)
{
    struct writ_err why = {0};
    writ_result result;

    if (l->manifest_leaf == 0) {
        return WRIT_DONE;
    }
    result = writ_image_take(
        l->ledger, writ_buf_view(&l->image), l->manifest_leaf, l->taking.past, &why);
    writ_buf_wipe(&l->image);
    if (result.code == WRIT_E_MISMATCH) {
        CONTRADICTS(l,
            "what the ledger keeps for its start (table `segment`) does not fit: "
            "%s" WRIT_MANIFEST_HINT,
            why.text);
    }
    if (!writ_is_ok(result) && l->err != NULL) {
        *l->err = why;
    }
    return result;
}

static writ_result
hear_fact(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    WRIT_TRY(writ_keeping_hear(ledger, fact, err));
    WRIT_TRY(writ_resuming_hear(&ledger->resumed, fact, err));
    WRIT_TRY(writ_delegating_hear(ledger, fact, err));
    return writ_removing_hear(ledger, fact, err);
}

static WRIT_RESULT
load(struct loading *l)
{
    const struct writ_ledger_options *options = &l->ledger->options;

    WRIT_TRY(load_head(l));
    writ_keeping_begin(l->ledger);
    WRIT_TRY(writ_facts_load(l->ledger, hear_fact, l->err));
    writ_keeping_end(l->ledger);
    WRIT_TRY(writ_removing_load(l->ledger, l->err));
    WRIT_TRY(writ_manifest_load(l->ledger, &l->manifest_leaf, &l->image, l->err));
    WRIT_TRY(find_first(l));
    WRIT_TRY(load_boundaries(l)); /* may move first_leaf further back */
    WRIT_TRY(take_image(l));
    WRIT_TRY(writ_once_begin(l->ledger, l->err));
    l->ledger->log.vouched = l->first_leaf > 0 ? l->first_leaf - 1 : 0;
    if (options->resume && l->ledger->sharing == NULL) {
        WRIT_TRY(writ_resuming_forget_sessions(&l->ledger->disk, l->err));
    }
    WRIT_TRY(load_sessions(l));
    WRIT_TRY(load_results(l));
    WRIT_TRY(load_records(l));
    WRIT_TRY(load_waits(l));
    WRIT_TRY(load_reviews(l));
    writ_delegating_prune(l->ledger);
    if (l->ledger->log.next_leaf > 0) {
        l->ledger->reviews.changed = l->ledger->reviews.forgotten = l->ledger->log.next_leaf - 1;
    }
    WRIT_TRY(writ_charges_go_on(l->ledger, l->manifest_leaf, l->err));
    WRIT_TRY(writ_charges_know(l->ledger, options->budget_window_us, l->err));
    return interrupt_all(l);
}

/* A resume that was killed goes on at the next start. Where several gateways write, the remembered
 * checkpoint refuses that start: an operator resumes again. */
static bool
ends_all(const struct writ_ledger *ledger)
{
    return ledger->options.resume || (ledger->sharing == NULL && writ_resuming_since(ledger) > 0);
}

WRIT_RESULT
writ_load_all(struct writ_ledger *ledger, struct writ_err *err)
{
    struct loading l = {
        .ledger = ledger,
        .taking = writ_taking_now(ledger, err),
        .err = err,
    };
    writ_result result;

    l.taking.past = writ_alloc(sizeof *l.taking.past);
    if (l.taking.past == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    result = load(&l);
    if (ledger->sharing != NULL) { /* begun by the opening */
        writ_sql_rollback(ledger->disk.sql);
        if (writ_is_ok(result)) {
            result = writ_fleet_join(ledger, err);
        }
        if (writ_is_ok(result) && ledger->options.resume) {
            result = writ_resuming_forget_sessions(&ledger->disk, err);
        }
    }
    if (writ_is_ok(result)) {
        if (ledger->options.resume) {
            result = writ_resuming_record(ledger);
        }
        if (writ_is_ok(result)) {
            writ_once_sweep(ledger);
            result = writ_ending_flush(ledger);
        }
        if (writ_is_ok(result) && ends_all(ledger)) {
            result = writ_resuming_end_all(ledger);
        }
        if (writ_is_ok(result)) { /* after a loss: its keys are doubted for the time before */
            result = writ_keeping_record(ledger);
        }
        if (!writ_is_ok(result) && err != NULL) {
            *err = ledger->trouble.why;
        }
    }
    ledger->log.loaded = writ_is_ok(result);
    writ_buf_wipe(&l.image);
    writ_free(l.taking.past);
    return result;
}
