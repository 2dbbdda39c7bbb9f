/* Rebuilds the memory of the writer from the disk: open boundaries, claims, calls in flight,
 * budgets.
 *
 * With a manifest (manifest.h) records are read from the last one that it covers. Without a
 * manifest, from the first one that still matters: the oldest of an open boundary, or of the time
 * for which claims are kept, and the one before it, which shows that it is the first. This program
 * wrote the file, but another one may have changed it since: only the signed body of a record
 * counts (reread.h), and any contradiction stops the start. */
#include "store/start/load.h"

#include "store/disk/reread.h"
#include "store/reviews/review_changes.h"
#include "store/start/image.h"
#include "store/start/keeping.h"
#include "store/start/manifest.h"
#include "store/start/resuming.h"
#include "store/write/charges.h"
#include "store/write/ending.h"
#include "store/write/facts.h"
#include "store/write/once.h"
#include "store/write/vouch.h"

struct loading {
    struct writ_ledger *ledger;
    struct writ_boundary *past; /* stands for every boundary that is sealed */
    uint64_t first_leaf;
    uint64_t manifest_leaf; /* records that the manifest covers; 0: no manifest */
    struct writ_buf image;
    int64_t since_us; /* records before are of no interest by their time */
    int64_t wall_us, mono_us;
    struct writ_err *err;
};

#define US_PER_S       INT64_C(1000000)
#define REVIEWED_ARENA (8 << 20) /* memory to read the decision of a review */

/* calls without an outcome while reading: also those whose outcome comes later in the log */
#define IN_FLIGHT_FACTOR 4

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
        ledger->log.last_us = writ_disk_int(disk, WRIT_SQL_LAST_RECORD, 1);
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
    boundary->active_us = l->mono_us;
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
load_claim(struct loading *l, const struct writ_row *row, const struct writ_said *said,
    struct writ_flight *flight)
{
    struct writ_claim_facts facts = {.call = writ_tag_read(row->claim + WRIT_TAG_BYTES),
        .leaf = row->leaf,
        .boundary = row->boundary,
        .made_us = row->time_us,
        .kept_us = said->claimed_us};

    if (facts.kept_us > l->ledger->keeping.most_us &&
        facts.made_us >
            l->ledger->log.last_us - facts.kept_us) { /* others like it may be further back */
        CONTRADICTS(l,
            "record %llu claims its key for %lld seconds, longer than the ledger notes: see `writ "
            "ledger verify`, or start once with ledger.claims_kept at least so long",
            (unsigned long long)row->leaf, (long long)(facts.kept_us / US_PER_S));
    }
    flight->hold = writ_claims_add(&l->ledger->claims, writ_tag_read(row->claim),
        writ_tag_read(row->claim + 2 * WRIT_TAG_BYTES), &facts);
    if (flight->hold == NULL) {
        WRIT_FAIL(l->err, WRIT_E_NOMEM, "no memory for the claims");
    }
    return WRIT_DONE;
}

/* Takes over the claim of the decision before, and its place in flight. */
static WRIT_RESULT
load_followed(struct loading *l, const struct writ_row *row, const struct writ_said *said,
    struct writ_flight *flight)
{
    struct writ_flight *before = writ_flights_find(&l->ledger->flights, row->about);

    if (before == NULL) { /* older than the first record that matters */
        return WRIT_DONE;
    }
    if (!writ_view_equal(before->decision_id, said->supersedes)) {
        CONTRADICTS(l, "record %llu does not name the decision that it follows",
            (unsigned long long)row->leaf);
    }
    flight->hold = before->hold;
    if (flight->hold != NULL) {
        flight->hold->facts.leaf = row->leaf;
    }
    writ_flights_remove(&l->ledger->flights, before);
    return WRIT_DONE;
}

/* Whether the row of a boundary that is not open, at which the statement stands, belongs to a
 * record that names it and has its seal, in the rows read or after them. */
static bool
is_sealed(const struct loading *l, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_disk *disk = &l->ledger->disk;
    uint64_t seal = (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARY_SEALED, 2);
    bool ends = row->kind == WRIT_ROW_SEAL;

    return (ends ||
               writ_view_equal(writ_disk_bytes(disk, WRIT_SQL_BOUNDARY_SEALED, 0), said->tenant)) &&
           writ_view_equal(writ_disk_bytes(disk, WRIT_SQL_BOUNDARY_SEALED, 1), said->boundary_id) &&
           writ_disk_int(disk, WRIT_SQL_BOUNDARY_SEALED, 3) == WRIT_ROW_SEAL &&
           (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARY_SEALED, 4) == row->boundary &&
           (ends ? seal == row->leaf : seal > row->leaf);
}

/* A boundary that its row calls sealed must have a seal: a claim stands as long as its boundary is
 * open. */
static WRIT_RESULT
check_sealed(struct loading *l, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_disk *disk = &l->ledger->disk;
    bool found = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_BOUNDARY_SEALED, &found, l->err, "u", row->boundary);

    found = writ_is_ok(result) && found && is_sealed(l, row, said);
    writ_disk_end(disk, WRIT_SQL_BOUNDARY_SEALED);
    WRIT_TRY(result);
    if (!found) {
        CONTRADICTS(l,
            "the boundary of record %llu is called sealed, and is not: see `writ ledger "
            "verify`",
            (unsigned long long)row->leaf);
    }
    return WRIT_DONE;
}

/* Checks that the decision is in the boundary that it names, as the next one in it. */
static WRIT_RESULT
place_decision(struct loading *l, const struct writ_row *row, const struct writ_said *said,
    struct writ_boundary *boundary)
{
    struct writ_boundary *named;
    struct writ_tag tag;

    WRIT_TRY(writ_boundaries_tag(said->tenant, said->boundary_id, &tag, l->err));
    named = writ_boundaries_find(&l->ledger->boundaries, tag, said->tenant, said->boundary_id);
    if (named != (boundary == l->past ? NULL : boundary)) {
        CONTRADICTS(l, "record %llu stands in another boundary than the one that it names",
            (unsigned long long)row->leaf);
    }
    if (named == NULL) {
        return check_sealed(l, row, said);
    }
    if (row->seq == 0) {
        WRIT_TRY(writ_boundaries_charge(&l->ledger->boundaries, boundary, row->agent_id, l->err));
    }
    if (row->seq != boundary->next_seq || row->decision_id.ptr == NULL) {
        CONTRADICTS(l, "record %llu does not follow in its boundary: see `writ ledger verify`",
            (unsigned long long)row->leaf);
    }
    boundary->next_seq++;
    return writ_seal_hash_add(&boundary->hash, row->decision_id, l->err);
}

static WRIT_RESULT
load_decision(struct loading *l, const struct writ_row *row, const struct writ_said *said,
    struct writ_boundary *boundary)
{
    struct writ_flight *flight;

    WRIT_TRY(place_decision(l, row, said, boundary));
    if ((row->flags & WRIT_ROW_GRANTED) == 0) {
        return WRIT_DONE;
    }
    if (l->ledger->flights.count >= IN_FLIGHT_FACTOR * l->ledger->options.in_flight_max) {
        WRIT_FAIL(l->err, WRIT_E_LIMIT, "too many calls have no outcome: raise the limit");
    }
    flight = writ_flights_add(
        &l->ledger->flights, boundary, row->leaf, row->decision_id, writ_view(NULL, 0));
    if (flight == NULL) {
        WRIT_FAIL(l->err, WRIT_E_NOMEM, "no memory for calls in flight");
    }
    if ((row->flags & WRIT_ROW_FOLLOWS) != 0) {
        return load_followed(l, row, said, flight);
    }
    return row->claim == NULL ? WRIT_DONE : load_claim(l, row, said, flight);
}

static WRIT_RESULT
load_outcome(struct loading *l, const struct writ_row *row, const struct writ_boundary *boundary)
{
    struct writ_flight *flight = writ_flights_find(&l->ledger->flights, row->about);
    struct writ_hold *hold = flight == NULL ? NULL : flight->hold;

    if (flight == NULL && (boundary == l->past || row->verdict == WRIT_OUTCOME_BLOCKED)) {
        return WRIT_DONE; /* of a decision that was not granted, or is older than the first record
                             that matters */
    }
    if (flight == NULL || !writ_view_equal(flight->decision_id, row->decision_id)) {
        CONTRADICTS(l, "record %llu is the outcome of another call: see `writ ledger verify`",
            (unsigned long long)row->leaf);
    }
    if (hold != NULL && (row->flags & WRIT_ROW_NOTHING_RAN) != 0) {
        writ_claims_remove(&l->ledger->claims, hold);
    } else if (hold != NULL) {
        writ_claims_conclude(&l->ledger->claims, hold, (uint8_t)row->verdict,
            (row->flags & WRIT_ROW_INTERRUPTED) != 0);
    }
    writ_flights_remove(&l->ledger->flights, flight);
    return WRIT_DONE;
}

static WRIT_RESULT
load_row(struct loading *l, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_boundary *boundary = writ_boundaries_at(&l->ledger->boundaries, row->boundary);

    if (row->leaf < l->first_leaf) { /* it shows that no earlier record matters */
        if (row->time_us >= l->since_us) {
            CONTRADICTS(l, "records before %llu have wrong times in their columns",
                (unsigned long long)l->first_leaf);
        }
        return WRIT_DONE;
    }
    if (boundary == NULL) {
        boundary = l->past;
    } else {
        int64_t ago_us = l->wall_us - row->time_us;

        boundary->active_us = l->mono_us - (ago_us > 0 ? ago_us : 0);
    }
    switch (row->kind) {
    case WRIT_ROW_DECISION:
        return load_decision(l, row, said, boundary);
    case WRIT_ROW_OUTCOME:
        return load_outcome(l, row, boundary);
    case WRIT_ROW_SEAL:
        if (boundary != l->past) {
            CONTRADICTS(
                l, "record %llu seals a boundary that is open", (unsigned long long)row->leaf);
        }
        return check_sealed(l, row, said);
    case WRIT_ROW_FACT:   /* read apart: facts.h */
    case WRIT_ROW_REVIEW: /* read with their review, and only while that still matters */
    case WRIT_ROW_NONE:
        break;
    }
    return WRIT_DONE;
}

/* Writes claims to the disk, as in operation, so that memory holds only some of them at a time. */
static WRIT_RESULT
make_room(struct loading *l, struct writ_reread *records)
{
    struct writ_ledger *ledger = l->ledger;

    if (ledger->claims.concluded < ledger->options.segment_claims) {
        return WRIT_DONE;
    }
    writ_reread_rest(records);
    writ_once_sweep(ledger);
    WRIT_TRY(writ_manifest_work(ledger, SIZE_MAX, l->err));
    /* no reader needs the write-ahead log: copy it into the file and begin an empty one */
    (void)sqlite3_wal_checkpoint_v2(ledger->disk.db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return WRIT_DONE;
}

static WRIT_RESULT
replay(struct loading *l, struct writ_reread *records)
{
    struct writ_said said;
    struct writ_row row;
    bool has_row = false;

    WRIT_TRY(writ_reread_begin(
        records, &l->ledger->disk, l->first_leaf > 0 ? l->first_leaf - 1 : 0, l->err));
    WRIT_TRY(writ_reread_next(records, &row, &has_row, &said, l->err));
    while (has_row) {
        WRIT_TRY(load_row(l, &row, &said));
        WRIT_TRY(make_room(l, records));
        WRIT_TRY(writ_reread_next(records, &row, &has_row, &said, l->err));
    }
    return writ_reread_end(records, &l->ledger->log.edge, l->err);
}

static WRIT_RESULT
load_records(struct loading *l)
{
    struct writ_boundaries *boundaries = &l->ledger->boundaries;
    struct writ_reread records = {0};
    writ_result result = replay(l, &records);

    writ_reread_wipe(&records);
    WRIT_TRY(result);
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

            if (flight->wait != NULL && !l->ledger->options.resume) {
                continue;
            }
            if (flight->boundary == l->past) {
                CONTRADICTS(l, "record %llu was granted under a sealed boundary and has no outcome",
                    (unsigned long long)flight->leaf);
            }
            WRIT_TRY(writ_ending_given_up(
                l->ledger, flight, WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN, l->err));
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
    result = writ_image_take(l->ledger, writ_buf_view(&l->image), l->manifest_leaf, l->past, &why);
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
    return writ_resuming_hear(&ledger->resumed, fact, err);
}

static WRIT_RESULT
load(struct loading *l)
{
    const struct writ_ledger_options *options = &l->ledger->options;

    WRIT_TRY(load_head(l));
    writ_keeping_begin(l->ledger);
    WRIT_TRY(writ_facts_load(l->ledger, hear_fact, l->err));
    writ_keeping_end(l->ledger);
    WRIT_TRY(writ_manifest_load(l->ledger, &l->manifest_leaf, &l->image, l->err));
    WRIT_TRY(find_first(l));
    WRIT_TRY(load_boundaries(l)); /* may move first_leaf further back */
    WRIT_TRY(take_image(l));
    WRIT_TRY(writ_once_begin(l->ledger, l->err));
    l->ledger->log.vouched = l->first_leaf > 0 ? l->first_leaf - 1 : 0;
    if (options->resume) {
        WRIT_TRY(writ_resuming_forget_sessions(&l->ledger->disk, l->err));
    }
    WRIT_TRY(load_sessions(l));
    WRIT_TRY(load_results(l));
    WRIT_TRY(load_records(l));
    WRIT_TRY(load_waits(l));
    WRIT_TRY(load_reviews(l));
    if (l->ledger->log.next_leaf > 0) {
        l->ledger->reviews.changed = l->ledger->reviews.forgotten = l->ledger->log.next_leaf - 1;
    }
    WRIT_TRY(writ_charges_go_on(l->ledger, l->manifest_leaf, l->err));
    WRIT_TRY(writ_charges_know(l->ledger, options->budget_window_us, l->err));
    return interrupt_all(l);
}

WRIT_RESULT
writ_load_all(struct writ_ledger *ledger, struct writ_err *err)
{
    struct loading l = {
        .ledger = ledger,
        .wall_us = writ_clock_wall_us(ledger->options.clock),
        .mono_us = writ_clock_mono_us(ledger->options.clock),
        .err = err,
    };
    writ_result result;

    l.past = writ_alloc(sizeof *l.past);
    if (l.past == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    result = load(&l);
    if (writ_is_ok(result)) {
        writ_once_sweep(ledger);
        result = writ_ending_flush(ledger);
        if (writ_is_ok(result) && ledger->options.resume) {
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
    writ_free(l.past);
    return result;
}
