/* Packed values (packed.h), lists behind their count, in this order: WRIT_MANIFEST_NUMBERS numbers
 * of the ledger, segments, boundaries, claims that have their outcome (in the order of the
 * outcomes), calls in flight with their claims, budgets, reviews. */
#include "store/start/image.h"

#include "store/tables/packed.h"
#include "store/write/once.h"

/* ---- writing ---- */

/* The time of the last record of a boundary is wall time, which is valid after a reboot. */
static void
put_boundary(const struct writ_boundary *boundary, int64_t wall_ahead_us, struct writ_buf *buf)
{
    uint8_t hash[WRIT_SEAL_HASH_BYTES];

    writ_seal_hash_save(&boundary->hash, hash);
    writ_packed_put_number(buf, boundary->id);
    writ_packed_put_number(buf, boundary->first_leaf);
    writ_packed_put_number(buf, boundary->next_seq);
    writ_packed_put_number(buf, (uint64_t)(boundary->active_us + wall_ahead_us));
    writ_buf_put(buf, writ_view(hash, sizeof hash));
    writ_packed_put_text(buf, boundary->tenant);
    writ_packed_put_text(buf, boundary->name);
    writ_packed_put_number(buf, boundary->charge.agent != NULL);
    if (boundary->charge.agent != NULL) {
        writ_packed_put_tag(buf, boundary->charge.agent->by_owner.tag);
        writ_packed_put_tag(buf, boundary->charge.tenant->by_owner.tag);
    }
}

static void
put_boundaries(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    const struct writ_boundary *boundary = ledger->boundaries.ring;
    int64_t wall_ahead_us =
        writ_clock_wall_us(ledger->options.clock) - writ_clock_mono_us(ledger->options.clock);

    writ_packed_put_number(buf, ledger->boundaries.by_name.count);
    for (size_t i = 0; i < ledger->boundaries.by_name.count; i++, boundary = boundary->next) {
        put_boundary(boundary, wall_ahead_us, buf);
    }
}

static void
put_hold(const struct writ_hold *hold, struct writ_buf *buf)
{
    const struct writ_claim_facts *facts = &hold->facts;

    writ_packed_put_tag(buf, hold->by_key.tag);
    writ_packed_put_tag(buf, hold->by_intent.tag);
    writ_packed_put_tag(buf, facts->call);
    writ_packed_put_number(buf, facts->leaf);
    writ_packed_put_number(buf, facts->boundary);
    writ_packed_put_number(buf, (uint64_t)facts->made_us);
    writ_packed_put_number(buf, (uint64_t)facts->kept_us);
    writ_packed_put_number(buf, (uint64_t)facts->outcome << 1 | (facts->interrupted ? 1 : 0));
}

static void
put_claims(const struct writ_claims *claims, struct writ_buf *buf)
{
    writ_packed_put_number(buf, claims->concluded);
    for (const struct writ_hold *at = claims->first; at != NULL; at = at->next) {
        put_hold(at, buf);
    }
}

static void
put_flight(const struct writ_flight *flight, struct writ_buf *buf)
{
    writ_packed_put_number(buf, flight->leaf);
    writ_packed_put_number(buf, flight->boundary->id);
    writ_packed_put_text(buf, flight->decision_id);
    writ_packed_put_number(buf, flight->hold != NULL);
    if (flight->hold != NULL) {
        put_hold(flight->hold, buf);
    }
}

static void
put_flights(const struct writ_map *flights, struct writ_buf *buf)
{
    writ_packed_put_number(buf, flights->count);
    for (size_t i = 0; i < flights->bucket_count; i++) {
        for (struct writ_map_node *at = flights->buckets[i]; at != NULL; at = at->next) {
            put_flight(WRIT_MAP_OF(at, struct writ_flight, by_leaf), buf);
        }
    }
}

static void
put_budgets(const struct writ_budgets *budgets, struct writ_buf *buf)
{
    writ_packed_put_number(buf, budgets->by_key.count);
    for (const struct writ_counter *at = budgets->all; at != NULL; at = at->next_all) {
        writ_packed_put_tag(buf, writ_budgets_tag(at));
        writ_packed_put_number(buf, (uint64_t)at->window_us);
        writ_packed_put_number(buf, (uint64_t)at->window);
        writ_packed_put_number(buf, (uint64_t)(at->spent.coefficient >> 64));
        writ_packed_put_number(buf, (uint64_t)at->spent.coefficient);
        writ_packed_put_number(buf, (uint64_t)(int64_t)at->spent.exponent);
        writ_packed_put_number(buf, at->spent.negative);
    }
}

/* Their records are in the log: their number is kept, so that a missing one is noticed. */
static void
put_reviews(const struct writ_reviews *reviews, struct writ_buf *buf)
{
    const struct writ_reviewed *review = reviews->ring;

    writ_packed_put_number(buf, reviews->count);
    for (size_t i = 0; i < reviews->count; i++, review = review->next) {
        writ_packed_put_text(buf, review->story.review.id);
        writ_packed_put_number(buf, review->story.n);
    }
}

size_t
writ_image_things(const struct writ_ledger *ledger)
{
    return ledger->boundaries.by_name.count + ledger->flights.count + ledger->claims.concluded +
           ledger->budgets.by_key.count;
}

void
writ_image_put(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    writ_packed_put_number(buf, ledger->segments.next_id);
    writ_packed_put_number(buf, ledger->boundaries.next_id);
    writ_packed_put_number(buf, ledger->log.facts_n);
    writ_packed_put_number(buf, (uint64_t)ledger->budgets.known_us);
    writ_segments_put(&ledger->segments, buf);
    put_boundaries(ledger, buf);
    put_claims(&ledger->claims, buf);
    put_flights(&ledger->flights, buf);
    put_budgets(&ledger->budgets, buf);
    put_reviews(&ledger->reviews, buf);
}

/* ---- reading ---- */

struct taking {
    struct writ_ledger *ledger;
    struct writ_packed in;
    uint64_t leaf;
    struct writ_boundary *past;
    struct writ_err *err;
};

#define CONTRADICTS(t, ...) WRIT_FAIL((t)->err, WRIT_E_MISMATCH, __VA_ARGS__)

static WRIT_RESULT
take_segment(void *ctx, struct writ_segment *segment)
{
    struct taking *t = ctx;

    segment->named = t->ledger->manifest.number;
    return writ_once_restore(t->ledger, segment, t->err);
}

/* The boundary was open, and its row says that it is sealed: one of the records that are read next
 * must be the seal. */
static WRIT_RESULT
check_sealed_since(struct taking *t, uint64_t id, struct writ_view tenant, struct writ_view name)
{
    struct writ_disk *disk = &t->ledger->disk;
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_BOUNDARY_SEALED, &row, t->err, "u", id);
    bool sealed = writ_is_ok(result) && row &&
                  writ_view_equal(writ_disk_bytes(disk, WRIT_SQL_BOUNDARY_SEALED, 0), tenant) &&
                  writ_view_equal(writ_disk_bytes(disk, WRIT_SQL_BOUNDARY_SEALED, 1), name) &&
                  writ_disk_int(disk, WRIT_SQL_BOUNDARY_SEALED, 2) >= (int64_t)t->leaf &&
                  writ_disk_int(disk, WRIT_SQL_BOUNDARY_SEALED, 3) == WRIT_ROW_SEAL &&
                  (uint64_t)writ_disk_int(disk, WRIT_SQL_BOUNDARY_SEALED, 4) == id;

    writ_disk_end(disk, WRIT_SQL_BOUNDARY_SEALED);
    WRIT_TRY(result);
    if (!sealed) {
        CONTRADICTS(t,
            "boundary %llu was open, and is neither open nor sealed: see `writ ledger verify`",
            (unsigned long long)id);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_charge(struct taking *t, struct writ_boundary *boundary)
{
    bool charged = writ_packed_number(&t->in) != 0;
    struct writ_owner owner;

    if (!charged) {
        return WRIT_DONE;
    }
    owner.agent = writ_packed_tag(&t->in);
    owner.tenant = writ_packed_tag(&t->in);
    WRIT_TRY(writ_packed_check(&t->in, t->err));
    return boundary == NULL ? WRIT_DONE
                            : writ_shares_charge_to(
                                  &t->ledger->boundaries.shares, &owner, &boundary->charge, t->err);
}

static WRIT_RESULT
take_boundary(struct taking *t)
{
    const struct writ_clock *clock = t->ledger->options.clock;
    uint64_t id = writ_packed_number(&t->in), first_leaf = writ_packed_number(&t->in),
             next_seq = writ_packed_number(&t->in);
    int64_t ago_us = writ_clock_wall_us(clock) - writ_packed_time(&t->in);
    struct writ_view hash = writ_packed_bytes(&t->in, WRIT_SEAL_HASH_BYTES);
    struct writ_view tenant = writ_packed_text(&t->in), name = writ_packed_text(&t->in);
    struct writ_boundary *boundary = writ_boundaries_at(&t->ledger->boundaries, id);

    WRIT_TRY(writ_packed_check(&t->in, t->err));
    if (boundary == NULL) {
        WRIT_TRY(check_sealed_since(t, id, tenant, name));
        return take_charge(t, NULL);
    }
    if (!writ_view_equal(boundary->tenant, tenant) || !writ_view_equal(boundary->name, name) ||
        boundary->first_leaf != first_leaf) {
        CONTRADICTS(
            t, "boundary %llu is another one: see `writ ledger verify`", (unsigned long long)id);
    }
    boundary->next_seq = next_seq;
    boundary->active_us = writ_clock_mono_us(clock) - (ago_us > 0 ? ago_us : 0);
    writ_seal_hash_restore(&boundary->hash, (const uint8_t *)hash.ptr, next_seq);
    return take_charge(t, boundary);
}

/* A boundary that is open now, and was not, began since. */
static WRIT_RESULT
check_fresh(struct taking *t)
{
    const struct writ_boundary *boundary = t->ledger->boundaries.ring;

    for (size_t i = 0; i < t->ledger->boundaries.by_name.count; i++, boundary = boundary->next) {
        if (boundary->next_seq == 0 && boundary->first_leaf < t->leaf) {
            CONTRADICTS(t, "boundary %llu is called open, and was not: see `writ ledger verify`",
                (unsigned long long)boundary->id);
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_hold(struct taking *t, struct writ_hold **ret)
{
    struct writ_tag key = writ_packed_tag(&t->in), intent = writ_packed_tag(&t->in);
    struct writ_claim_facts facts = {.call = writ_packed_tag(&t->in)};
    uint64_t outcome;

    facts.leaf = writ_packed_number(&t->in);
    facts.boundary = writ_packed_number(&t->in);
    facts.made_us = writ_packed_time(&t->in);
    facts.kept_us = writ_packed_time(&t->in);
    outcome = writ_packed_number(&t->in);
    facts.outcome = (uint8_t)(outcome >> 1);
    facts.interrupted = (outcome & 1) != 0;
    WRIT_TRY(writ_packed_check(&t->in, t->err));
    *ret = writ_claims_add(&t->ledger->claims, key, intent, &facts);
    if (*ret == NULL) {
        WRIT_FAIL(t->err, WRIT_E_NOMEM, "no memory for the claims");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_claim(struct taking *t)
{
    struct writ_hold *hold = NULL;

    WRIT_TRY(take_hold(t, &hold));
    writ_claims_conclude(&t->ledger->claims, hold, hold->facts.outcome, hold->facts.interrupted);
    return WRIT_DONE;
}

static WRIT_RESULT
take_flight(struct taking *t)
{
    uint64_t leaf = writ_packed_number(&t->in);
    struct writ_boundary *boundary =
        writ_boundaries_at(&t->ledger->boundaries, writ_packed_number(&t->in));
    struct writ_view decision_id = writ_packed_text(&t->in);
    bool claims = writ_packed_number(&t->in) != 0;
    struct writ_flight *flight;

    WRIT_TRY(writ_packed_check(&t->in, t->err));
    flight = writ_flights_add(&t->ledger->flights, boundary != NULL ? boundary : t->past, leaf,
        decision_id, writ_view(NULL, 0));
    if (flight == NULL) {
        WRIT_FAIL(t->err, WRIT_E_NOMEM, "no memory for calls in flight");
    }
    return claims ? take_hold(t, &flight->hold) : WRIT_DONE;
}

/* Takes a budget that counts in the present window. */
static WRIT_RESULT
take_budget(struct taking *t)
{
    struct writ_tag tag = writ_packed_tag(&t->in);
    int64_t window_us = writ_packed_time(&t->in), window = writ_packed_time(&t->in);
    uint64_t high = writ_packed_number(&t->in), low = writ_packed_number(&t->in);
    struct writ_decimal spent = {.coefficient = (unsigned __int128)high << 64 | low};

    spent.exponent = (int)writ_packed_time(&t->in);
    spent.negative = writ_packed_number(&t->in) != 0;
    WRIT_TRY(writ_packed_check(&t->in, t->err));
    if (window_us <= 0) {
        CONTRADICTS(t, "a budget has no window");
    }
    return window != t->ledger->log.last_us / window_us
               ? WRIT_DONE
               : writ_budgets_count(&t->ledger->budgets, tag, window_us, window, &spent, t->err);
}

/* The rows of a query that counts are so many. */
static WRIT_RESULT
check_count(struct taking *t, enum writ_statement which, uint64_t wanted, const char *what)
{
    struct writ_disk *disk = &t->ledger->disk;
    bool missed = (uint64_t)writ_disk_int(disk, which, 0) != wanted;

    writ_disk_end(disk, which);
    if (missed) {
        CONTRADICTS(t, "%s are missing: see `writ ledger verify`", what);
    }
    return WRIT_DONE;
}

/* Checks that all facts were read, the earlier ones among them. */
static WRIT_RESULT
check_facts(struct taking *t, uint64_t facts_n)
{
    struct writ_disk *disk = &t->ledger->disk;
    bool row = false;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_FACTS_COUNT, &row, t->err, "u", t->leaf));
    WRIT_TRY(check_count(t, WRIT_SQL_FACTS_COUNT, facts_n, "facts"));
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_FACTS_COUNT, &row, t->err, "i", INT64_MAX));
    return check_count(t, WRIT_SQL_FACTS_COUNT, t->ledger->log.facts_n, "facts");
}

static WRIT_RESULT
take_review(struct taking *t)
{
    struct writ_view id = writ_packed_text(&t->in);
    uint64_t n = writ_packed_number(&t->in);
    bool row = false;

    WRIT_TRY(writ_packed_check(&t->in, t->err));
    WRIT_TRY(
        writ_disk_query(&t->ledger->disk, WRIT_SQL_REVIEW_COUNT, &row, t->err, "tu", id, t->leaf));
    return check_count(t, WRIT_SQL_REVIEW_COUNT, n, "records of a review");
}

static WRIT_RESULT
take_list(struct taking *t, WRIT_RESULT (*one)(struct taking *t))
{
    uint64_t n = writ_packed_number(&t->in);

    for (uint64_t i = 0; i < n && !t->in.ended; i++) {
        WRIT_TRY(one(t));
    }
    return writ_packed_check(&t->in, t->err);
}

static WRIT_RESULT
take_numbers(struct taking *t)
{
    struct writ_ledger *ledger = t->ledger;
    uint64_t next_boundary, facts_n;

    ledger->segments.next_id = writ_packed_number(&t->in);
    next_boundary = writ_packed_number(&t->in);
    facts_n = writ_packed_number(&t->in);
    ledger->budgets.known_us = writ_packed_time(&t->in);
    WRIT_TRY(writ_packed_check(&t->in, t->err));
    if (next_boundary > ledger->boundaries.next_id) {
        CONTRADICTS(t, "boundaries are missing: see `writ ledger verify`");
    }
    return check_facts(t, facts_n);
}

WRIT_RESULT
writ_image_take(struct writ_ledger *ledger, struct writ_view bytes, uint64_t leaf,
    struct writ_boundary *past, struct writ_err *err)
{
    struct taking t = {
        .ledger = ledger, .in = {.left = bytes}, .leaf = leaf, .past = past, .err = err};

    WRIT_TRY(take_numbers(&t));
    WRIT_TRY(writ_segments_read(&t.in, take_segment, &t, err));
    WRIT_TRY(take_list(&t, take_boundary));
    WRIT_TRY(check_fresh(&t));
    WRIT_TRY(take_list(&t, take_claim));
    WRIT_TRY(take_list(&t, take_flight));
    WRIT_TRY(take_list(&t, take_budget));
    WRIT_TRY(take_list(&t, take_review));
    if (t.in.left.len > 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "something stands behind its end");
    }
    return WRIT_DONE;
}
