/* Only the signed body of a record counts: the caller has compared its columns with it. */
#include "store/start/taking.h"

#include "store/write/ending.h"
#include "store/write/sealing.h"

#define US_PER_S INT64_C(1000000)

/* calls without an outcome while reading: also those whose outcome comes later in the log */
#define IN_FLIGHT_FACTOR 4

#define CONTRADICTS(t, ...) WRIT_FAIL((t)->err, WRIT_E_MISMATCH, __VA_ARGS__)

struct writ_taking
writ_taking_now(struct writ_ledger *ledger, struct writ_err *err)
{
    return (struct writ_taking){
        .ledger = ledger,
        .wall_us = writ_clock_wall_us(ledger->options.clock),
        .mono_us = writ_clock_mono_us(ledger->options.clock),
        .err = err,
    };
}

/* ---- calls ---- */

static WRIT_RESULT
take_claim(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said,
    struct writ_flight *flight)
{
    struct writ_claim_facts facts = {.call = writ_tag_read(row->claim + WRIT_TAG_BYTES),
        .leaf = row->leaf,
        .boundary = row->boundary,
        .made_us = row->time_us,
        .kept_us = said->claimed_us};

    if (facts.kept_us > t->ledger->keeping.most_us &&
        facts.made_us >
            t->ledger->log.last_us - facts.kept_us) { /* others like it may be further back */
        CONTRADICTS(t,
            "record %llu claims its key for %lld seconds, longer than the ledger notes: see `writ "
            "ledger verify`, or start once with ledger.claims_kept at least so long",
            (unsigned long long)row->leaf, (long long)(facts.kept_us / US_PER_S));
    }
    flight->hold = writ_claims_add(&t->ledger->claims, writ_tag_read(row->claim),
        writ_tag_read(row->claim + 2 * WRIT_TAG_BYTES), &facts);
    if (flight->hold == NULL) {
        WRIT_FAIL(t->err, WRIT_E_NOMEM, "no memory for the claims");
    }
    return WRIT_DONE;
}

/* Takes over the claim of the decision before, and its place in flight. */
static WRIT_RESULT
take_followed(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said,
    struct writ_flight *flight)
{
    struct writ_flight *before = writ_flights_find(&t->ledger->flights, row->about);

    if (before == NULL) { /* older than the first record that matters */
        return WRIT_DONE;
    }
    if (!writ_view_equal(before->decision_id, said->supersedes)) {
        CONTRADICTS(t, "record %llu does not name the decision that it follows",
            (unsigned long long)row->leaf);
    }
    flight->hold = before->hold;
    if (flight->hold != NULL) {
        flight->hold->facts.leaf = row->leaf;
    }
    for (size_t i = 0; i < before->bookings_n; i++) {
        flight->bookings[i] = before->bookings[i];
    }
    flight->bookings_n = before->bookings_n;
    before->bookings_n = 0;
    writ_ending_dropped(t->ledger, before); /* given up here, and continued before */
    writ_waits_end(&t->ledger->waits, before);
    writ_flights_remove(&t->ledger->flights, before);
    return WRIT_DONE;
}

/* Whether the row of a boundary that is not open, at which the statement stands, belongs to a
 * record that names it and has its seal, in the rows read or after them. */
static bool
is_sealed(const struct writ_taking *t, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_disk *disk = &t->ledger->disk;
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
check_sealed(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_disk *disk = &t->ledger->disk;
    bool found = false;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_BOUNDARY_SEALED, &found, t->err, "u", row->boundary);

    found = writ_is_ok(result) && found && is_sealed(t, row, said);
    writ_disk_end(disk, WRIT_SQL_BOUNDARY_SEALED);
    WRIT_TRY(result);
    if (!found) {
        CONTRADICTS(t,
            "the boundary of record %llu is called sealed, and is not: see `writ ledger "
            "verify`",
            (unsigned long long)row->leaf);
    }
    return WRIT_DONE;
}

/* Checks that the decision is in the boundary that it names, as the next one in it. */
static WRIT_RESULT
place_decision(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said,
    struct writ_boundary *boundary)
{
    struct writ_boundary *named;
    struct writ_tag tag;

    WRIT_TRY(writ_boundaries_tag(said->tenant, said->boundary_id, &tag, t->err));
    named = writ_boundaries_find(&t->ledger->boundaries, tag, said->tenant, said->boundary_id);
    if (named != (boundary == t->past ? NULL : boundary)) {
        CONTRADICTS(t, "record %llu stands in another boundary than the one that it names",
            (unsigned long long)row->leaf);
    }
    if (named == NULL) {
        return check_sealed(t, row, said);
    }
    if (row->seq == 0) {
        WRIT_TRY(writ_boundaries_charge(&t->ledger->boundaries, boundary, row->agent_id, t->err));
    }
    if (row->seq != boundary->next_seq || row->decision_id.ptr == NULL) {
        CONTRADICTS(t, "record %llu does not follow in its boundary: see `writ ledger verify`",
            (unsigned long long)row->leaf);
    }
    boundary->next_seq++;
    return writ_seal_hash_add(&boundary->hash, row->decision_id, t->err);
}

static WRIT_RESULT
take_decision(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said,
    struct writ_boundary *boundary)
{
    struct writ_flight *flight;

    WRIT_TRY(place_decision(t, row, said, boundary));
    if ((row->flags & WRIT_ROW_GRANTED) == 0) {
        return WRIT_DONE;
    }
    if (t->ledger->flights.count >= IN_FLIGHT_FACTOR * t->ledger->options.in_flight_max) {
        WRIT_FAIL(t->err, WRIT_E_LIMIT, "too many calls have no outcome: raise the limit");
    }
    flight = writ_flights_add(
        &t->ledger->flights, boundary, row->leaf, row->decision_id, writ_view(NULL, 0));
    if (flight == NULL) {
        WRIT_FAIL(t->err, WRIT_E_NOMEM, "no memory for calls in flight");
    }
    flight->owner = t->owner;
    if ((row->flags & WRIT_ROW_FOLLOWS) != 0) {
        return take_followed(t, row, said, flight);
    }
    return row->claim == NULL ? WRIT_DONE : take_claim(t, row, said, flight);
}

static WRIT_RESULT
take_outcome(struct writ_taking *t, const struct writ_row *row, struct writ_boundary *boundary)
{
    struct writ_flight *flight = writ_flights_find(&t->ledger->flights, row->about);
    struct writ_hold *hold = flight == NULL ? NULL : flight->hold;

    if (flight == NULL && (boundary == t->past || row->verdict == WRIT_OUTCOME_BLOCKED)) {
        return WRIT_DONE; /* of a decision that was not granted, or is older than the first record
                             that matters */
    }
    if (flight == NULL || !writ_view_equal(flight->decision_id, row->decision_id)) {
        CONTRADICTS(t, "record %llu is the outcome of another call: see `writ ledger verify`",
            (unsigned long long)row->leaf);
    }
    if (hold != NULL && (row->flags & WRIT_ROW_NOTHING_RAN) != 0) {
        writ_claims_remove(&t->ledger->claims, hold);
    } else if (hold != NULL) {
        writ_claims_conclude(&t->ledger->claims, hold, (uint8_t)row->verdict,
            (row->flags & WRIT_ROW_INTERRUPTED) != 0);
    }
    if (t->past == NULL && (row->flags & WRIT_ROW_NOTHING_RAN) != 0) {
        writ_budgets_return(&t->ledger->budgets, flight->bookings, flight->bookings_n);
        writ_budgets_commit(&t->ledger->budgets);
    }
    writ_ending_dropped(t->ledger, flight);
    writ_waits_end(&t->ledger->waits, flight);
    writ_flights_remove(&t->ledger->flights, flight);
    if (t->past == NULL) {
        writ_sealing_ready(&t->ledger->boundaries, boundary);
    }
    return WRIT_DONE;
}

/* ---- all kinds ---- */

/* Ends a boundary that another gateway has sealed. */
static WRIT_RESULT
take_seal(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said,
    struct writ_boundary *boundary)
{
    if (boundary == NULL || boundary->next_seq != row->seq || boundary->in_flight > 0 ||
        !writ_view_equal(boundary->name, said->boundary_id)) {
        CONTRADICTS(t, "record %llu seals a boundary that is not at its end",
            (unsigned long long)row->leaf);
    }
    writ_sealing_sealed(t->ledger, boundary, row->leaf, row->seq, row->body);
    return WRIT_DONE;
}

WRIT_RESULT
writ_taking_row(struct writ_taking *t, const struct writ_row *row, const struct writ_said *said)
{
    struct writ_boundary *boundary = writ_boundaries_at(&t->ledger->boundaries, row->boundary);

    if (boundary == NULL) {
        boundary = t->past;
    } else {
        int64_t ago_us = t->wall_us - row->time_us;

        boundary->active_us = t->mono_us - (ago_us > 0 ? ago_us : 0);
    }
    switch (row->kind) {
    case WRIT_ROW_DECISION:
        return take_decision(t, row, said, boundary);
    case WRIT_ROW_OUTCOME:
        return take_outcome(t, row, boundary);
    case WRIT_ROW_SEAL:
        if (t->past == NULL) {
            return take_seal(t, row, said, boundary);
        }
        if (boundary != t->past) {
            CONTRADICTS(
                t, "record %llu seals a boundary that is open", (unsigned long long)row->leaf);
        }
        return check_sealed(t, row, said);
    case WRIT_ROW_FACT:   /* read apart: facts.h */
    case WRIT_ROW_REVIEW: /* read with their review, and only while that still matters */
    case WRIT_ROW_NONE:
        break;
    }
    return WRIT_DONE;
}
