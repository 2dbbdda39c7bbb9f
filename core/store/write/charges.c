/* 1. A charge counts when its window is the present one. It is counted once: by writ_budgets_book
 * when it is made, or here; up to the window length `budgets.known_us` all charges are counted.
 * Every record that is read here is a signed one (reread.h), and so is the time of the record
 * before.
 * 2. Additions and subtractions commute, so an outcome may be read before, or without, the decision
 *    whose charges it gives back. */
#include "store/write/charges.h"

#include "evidence/record/extension.h"
#include "store/disk/reread.h"
#include "store/tables/body.h"
#include "store/tables/charge.h"
#include "store/write/vouch.h"

#define US_PER_S      INT64_C(1000000)
#define CHARGES_ARENA (16 << 20) /* to read one record */

struct counting {
    struct writ_ledger *ledger;
    struct writ_arena *arena;    /* one record */
    int64_t known_us, window_us; /* windows that are longer than the first, up to the second */
    int64_t now_us;
    uint64_t leaf;  /* of the present record */
    uint64_t first; /* the first record on disk */
    uint64_t from;  /* the first record of the longest window: charges before it no longer count; 0:
                       unknown */
    uint64_t begin; /* the first record that is read */
    struct writ_err *err;
};

enum direction {
    TAKEN = 0, /* by a decision: except charges that it repeats */
    GIVEN_BACK,
};

static WRIT_RESULT
count_one(struct counting *c, const struct writ_budget_charge *charge, enum direction direction)
{
    struct writ_decimal amount = charge->amount;
    writ_result result;

    if (charge->window_us <= c->known_us || charge->window_us > c->window_us ||
        charge->window != c->now_us / charge->window_us || (direction == TAKEN && charge->held)) {
        return WRIT_DONE; /* keeps (1) */
    }
    if (direction == GIVEN_BACK) {
        amount = writ_decimal_negate(&amount);
    }
    result = writ_budgets_count(
        &c->ledger->budgets, charge->tag, charge->window_us, charge->window, &amount, c->err);
    /* a sum that cannot be kept exactly does not contradict the ledger */
    return result.code == WRIT_E_MISMATCH ? (writ_result){WRIT_E_LIMIT} : result;
}

static WRIT_RESULT
unreadable(const struct counting *c, uint64_t leaf)
{
    WRIT_FAIL(c->err, WRIT_E_MISMATCH,
        "record %llu is not readable, or its charges are not: see `writ ledger verify`",
        (unsigned long long)leaf);
}

static WRIT_RESULT
unlike(const struct counting *c, uint64_t leaf)
{
    WRIT_FAIL(c->err, WRIT_E_MISMATCH,
        "the columns beside record %llu differ from the record: see `writ ledger "
        "verify`",
        (unsigned long long)leaf);
}

/* The charges of a granted decision; none for any other. The decision must have `decision_id`; ptr
 * NULL: any. */
static WRIT_RESULT
read_charges(struct counting *c, uint64_t leaf, struct writ_view body, struct writ_view decision_id,
    struct writ_member_list *ret)
{
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    int64_t issued_us = 0;

    *ret = (struct writ_member_list){WRIT_ABSENT, NULL, 0};
    WRIT_TRY(writ_body_decision(body, c->arena, &decision, c->err));
    if (decision_id.ptr != NULL &&
        !writ_view_equal(writ_member_view(&decision.decision_id), decision_id)) {
        return unlike(c, leaf);
    }
    WRIT_TRY(writ_extension_read(&decision.extensions, c->arena, &extension, c->err));
    if (!writ_decision_is(&decision, WRIT_DECISION_ALLOW) &&
        !(extension.shadow.is == WRIT_PRESENT && extension.shadow.value)) {
        return WRIT_DONE;
    }
    if (decision.issued_at.is != WRIT_PRESENT ||
        !writ_member_time(decision.issued_at.view, &issued_us) ||
        !writ_charge_all_good(&extension, issued_us)) {
        return unreadable(c, leaf);
    }
    *ret = extension.charges;
    return WRIT_DONE;
}

/* In canonical JSON a quote within a text is escaped, so a body without this has no such member. */
static bool
may_have_charges(struct writ_view body)
{
    return writ_view_search(body, WRIT_LIT("\"charges\":[")) < body.len;
}

static WRIT_RESULT
count_decision(struct counting *c, uint64_t leaf, struct writ_view body,
    struct writ_view decision_id, enum direction direction)
{
    struct writ_member_list charges = {WRIT_ABSENT, NULL, 0};
    struct writ_budget_charge charge = {0};

    WRIT_TRY(read_charges(c, leaf, body, decision_id, &charges));
    for (size_t i = 0; charges.is == WRIT_PRESENT && i < charges.count; i++) {
        (void)writ_charge_read(charges.items[i], &charge); /* writ_charge_all_good has checked it */
        WRIT_TRY(count_one(c, &charge, direction));
    }
    return WRIT_DONE;
}

/* Copies the body of a record; empty: there is none. */
static WRIT_RESULT
read_body(struct counting *c, uint64_t leaf, struct writ_view *ret)
{
    struct writ_disk *disk = &c->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_BODY_AT, &row, c->err, "u", leaf);

    *ret = (struct writ_view){NULL, 0};
    if (writ_is_ok(result) && row) {
        *ret = writ_view_copy(writ_disk_bytes(disk, WRIT_SQL_BODY_AT, 0), c->arena);
        result = ret->ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
    }
    writ_disk_end(disk, WRIT_SQL_BODY_AT);
    WRIT_TRY(result);
    return ret->ptr == NULL ? WRIT_DONE : writ_vouch(c->ledger, leaf, *ret, c->err);
}

static WRIT_RESULT
find_decision(struct counting *c, struct writ_view decision_id, bool *ret_found, uint64_t *ret)
{
    struct writ_disk *disk = &c->ledger->disk;
    writ_result result =
        writ_disk_query(disk, WRIT_SQL_DECISION_LEAF, ret_found, c->err, "t", decision_id);

    if (writ_is_ok(result) && *ret_found) {
        *ret = (uint64_t)writ_disk_int(disk, WRIT_SQL_DECISION_LEAF, 0);
    }
    writ_disk_end(disk, WRIT_SQL_DECISION_LEAF);
    return result;
}

static bool
may_give_back(struct writ_view body)
{
    return writ_view_search(body, WRIT_LIT("\"outcome\":\"blocked\"")) < body.len ||
           writ_view_search(body, WRIT_LIT("\"not_sent\"")) < body.len;
}

static WRIT_RESULT
count_outcome(struct counting *c, struct writ_view body)
{
    const struct writ_json *value = NULL;
    struct writ_outcome outcome = {0};
    struct writ_view decision = {NULL, 0};
    uint64_t leaf = 0;
    bool found = false;

    WRIT_TRY(writ_body_json(body, c->arena, &value, c->err));
    if (writ_json_get(value, WRIT_LIT("outcome")) == NULL) {
        return WRIT_DONE; /* a record of another kind that contains one of these words */
    }
    WRIT_TRY(writ_outcome_read(value, c->arena, &outcome, c->err));
    if (!writ_outcome_nothing_ran(&outcome) || outcome.decision_id.is != WRIT_PRESENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(find_decision(c, outcome.decision_id.view, &found, &leaf));
    if (!found && c->ledger->removing.until > 0) {
        return WRIT_DONE; /* removed, and so before the window: nothing of it was counted */
    }
    if (!found) {
        return unlike(c, c->leaf);
    }
    if (leaf < c->from) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_body(c, leaf, &decision));
    return may_have_charges(decision)
               ? count_decision(c, leaf, decision, outcome.decision_id.view, GIVEN_BACK)
               : WRIT_DONE;
}

static WRIT_RESULT
count_body(struct counting *c, struct writ_view body)
{
    if (may_have_charges(body)) {
        return count_decision(c, c->leaf, body, writ_view(NULL, 0), TAKEN);
    }
    return may_give_back(body) ? count_outcome(c, body) : WRIT_DONE;
}

/* Checks by the record before that this record is the first of its window. */
static WRIT_RESULT
check_before(struct counting *c, struct writ_view body)
{
    struct writ_said said;

    WRIT_TRY(writ_said_read(body, c->arena, &said, c->err));
    if (said.row.time_us >= c->now_us - c->window_us) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH, "records before %llu have wrong times in their columns",
            (unsigned long long)c->from);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
count_all(struct counting *c, struct writ_reread *records)
{
    struct writ_view body;

    c->leaf = c->from > c->first ? c->from - 1 : c->begin;
    WRIT_TRY(writ_reread_begin(records, &c->ledger->disk, c->leaf, c->err));
    for (; c->leaf < c->ledger->log.edge.size; c->leaf++) {
        writ_arena_reset(c->arena);
        WRIT_TRY(writ_reread_body(records, &body, c->err));
        WRIT_TRY(c->leaf < c->begin ? check_before(c, body) : count_body(c, body));
    }
    return writ_reread_end(records, &c->ledger->log.edge, c->err);
}

static WRIT_RESULT
count_records(struct counting *c)
{
    struct writ_reread records = {0};
    writ_result result = count_all(c, &records);

    writ_reread_wipe(&records);
    return result.code == WRIT_E_PARSE || result.code == WRIT_E_INVALID ? unreadable(c, c->leaf)
                                                                        : result;
}

/* ---- calls in flight ---- */

static WRIT_RESULT
book_flight(struct counting *c, struct writ_flight *flight)
{
    struct writ_member_list charges = {WRIT_ABSENT, NULL, 0};
    struct writ_view body = {NULL, 0};
    struct writ_budget_charge charge = {0};

    writ_arena_reset(c->arena);
    WRIT_TRY(read_body(c, flight->leaf, &body));
    if (!may_have_charges(body)) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_charges(c, flight->leaf, body, flight->decision_id, &charges));
    for (size_t i = 0; charges.is == WRIT_PRESENT && i < charges.count; i++) {
        struct writ_counter *counter;

        (void)writ_charge_read(charges.items[i], &charge);
        counter = writ_budgets_find(&c->ledger->budgets, charge.tag, charge.window_us);
        if (charge.window_us <= c->known_us || charge.window_us > c->window_us || counter == NULL ||
            counter->window != charge.window || flight->bookings_n == WRIT_RESERVATIONS_MAX) {
            continue;
        }
        counter->booked++;
        flight->bookings[flight->bookings_n++] =
            (struct writ_booking){counter, charge.window, charge.amount};
    }
    return WRIT_DONE;
}

static WRIT_RESULT
book_flights(struct counting *c)
{
    struct writ_map *flights = &c->ledger->flights;

    for (size_t i = 0; i < flights->bucket_count; i++) {
        for (struct writ_map_node *node = flights->buckets[i]; node != NULL; node = node->next) {
            struct writ_flight *flight = WRIT_MAP_OF(node, struct writ_flight, by_leaf);

            if (flight->leaf < c->ledger->log.opened && flight->leaf >= c->from) {
                /* granted by an earlier process */
                WRIT_TRY(book_flight(c, flight));
            }
        }
    }
    return WRIT_DONE;
}

/* Counts in windows that are longer than `known_us`, up to `window_us`. */
static WRIT_RESULT
count(struct counting *c)
{
    struct writ_ledger *ledger = c->ledger;
    writ_result result;

    c->now_us = ledger->log.last_us; /* not the clock: it may be ahead, and go back */
    c->arena = writ_arena_new(CHARGES_ARENA);
    if (c->arena == NULL) {
        WRIT_FAIL(c->err, WRIT_E_NOMEM, "no memory to count budgets");
    }
    result = count_records(c);
    if (writ_is_ok(result)) {
        ledger->budgets.known_us = c->window_us;
        result = book_flights(c); /* a flight without bookings gives nothing back */
    } else {
        writ_budgets_drop(&ledger->budgets, c->known_us);
    }
    writ_arena_free(c->arena);
    return result;
}

WRIT_RESULT
writ_charges_go_on(struct writ_ledger *ledger, uint64_t leaf, struct writ_err *err)
{
    struct counting c = {
        .ledger = ledger, .window_us = ledger->budgets.known_us, .begin = leaf, .err = err};

    return ledger->budgets.known_us == 0 ? WRIT_DONE : count(&c);
}

WRIT_RESULT
writ_charges_know(struct writ_ledger *ledger, int64_t window_us, struct writ_err *err)
{
    struct counting c = {
        .ledger = ledger, .known_us = ledger->budgets.known_us, .window_us = window_us, .err = err};

    if (window_us > ledger->budgets.asked_us) {
        ledger->budgets.asked_us = window_us;
    }
    if (window_us <= ledger->budgets.known_us) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_disk_first(&ledger->disk, &c.first, err));
    WRIT_TRY(writ_disk_since(
        &ledger->disk, ledger->log.next_leaf, ledger->log.last_us - window_us, &c.from, err));
    if (c.from == c.first && c.from > 0 &&
        ledger->removing.until_us >= ledger->log.last_us - window_us) {
        WRIT_FAIL(err, WRIT_E_LIMIT,
            "a budget counts amounts of the last %lld s, and the records before %llu, which can "
            "have "
            "some, were moved to an archive: shorten the window of the budget, or wait until they "
            "are older",
            (long long)(window_us / US_PER_S), (unsigned long long)c.from);
    }
    c.begin = c.from;
    return count(&c);
}

/* ---- of other gateways ---- */

/* The other gateway had room for the counter, so the limit of this one does not count: they forget
 * those of earlier windows at different times. */
static WRIT_RESULT
begin_window(struct counting *c, const struct writ_budget_charge *charge)
{
    struct writ_budgets *budgets = &c->ledger->budgets;
    struct writ_decimal none = {0};
    size_t most = budgets->most;
    writ_result result;

    budgets->most = SIZE_MAX;
    result =
        writ_budgets_count(budgets, charge->tag, charge->window_us, charge->window, &none, c->err);
    budgets->most = most;
    return result;
}

static WRIT_RESULT
hear_one(struct counting *c, struct writ_flight *flight, const struct writ_budget_charge *charge)
{
    struct writ_counter *counter =
        writ_budgets_find(&c->ledger->budgets, charge->tag, charge->window_us);
    struct writ_decimal none = {0};

    if (charge->window_us > c->window_us || charge->held) {
        return WRIT_DONE; /* not counted yet: writ_charges_know reads it again; or booked */
    }
    if (counter == NULL || counter->window < charge->window) { /* a window begins */
        WRIT_TRY(begin_window(c, charge));
        counter = writ_budgets_find(&c->ledger->budgets, charge->tag, charge->window_us);
        counter->spent = none;
    }
    if (counter->window != charge->window || flight->bookings_n == WRIT_RESERVATIONS_MAX) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_budgets_count(&c->ledger->budgets, charge->tag, charge->window_us, charge->window,
        &charge->amount, c->err));
    counter->booked++;
    flight->bookings[flight->bookings_n++] =
        (struct writ_booking){counter, charge->window, charge->amount};
    return WRIT_DONE;
}

WRIT_RESULT
writ_charges_hear(struct writ_ledger *ledger, struct writ_flight *flight, struct writ_view body,
    int64_t time_us, struct writ_arena *arena, struct writ_err *err)
{
    struct counting c = {.ledger = ledger,
        .arena = arena,
        .window_us = ledger->budgets.known_us,
        .now_us = time_us,
        .leaf = flight->leaf,
        .err = err};
    struct writ_member_list charges = {WRIT_ABSENT, NULL, 0};
    struct writ_budget_charge charge = {0};

    if (!may_have_charges(body)) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_charges(&c, flight->leaf, body, flight->decision_id, &charges));
    for (size_t i = 0; charges.is == WRIT_PRESENT && i < charges.count; i++) {
        (void)writ_charge_read(charges.items[i], &charge); /* writ_charge_all_good has checked it */
        WRIT_TRY(hear_one(&c, flight, &charge));
    }
    return WRIT_DONE;
}
