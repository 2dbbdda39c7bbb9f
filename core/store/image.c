/* Numbers of eight bytes, the highest first; texts behind their length; lists behind their count.
 * In this order: numbers of the ledger, segments, boundaries, claims that have their outcome (in
 * the order of the outcomes), calls in flight with their claims, budgets, reviews. */
#include "store/image.h"
#include "store/once.h"

#define NUMBERS 4 /* of the ledger, before the segments */

/* ---- writing ---- */

static void
put_number(struct writ_buf *buf, uint64_t number)
{
    uint64_t bytes = htobe64(number);

    writ_buf_put(buf, writ_view(&bytes, sizeof bytes));
}

static void
put_tag(struct writ_buf *buf, struct writ_tag tag)
{
    put_number(buf, tag.high);
    put_number(buf, tag.low);
}

static void
put_text(struct writ_buf *buf, struct writ_view text)
{
    put_number(buf, text.len);
    writ_buf_put(buf, text);
}

static void
put_digest(struct writ_buf *buf, const struct writ_digest *digest)
{
    writ_buf_put(buf, writ_view(digest->bytes, WRIT_DIGEST_BYTES));
}

static void
put_segments(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    size_t n = 0;

    for (const struct writ_segment *at = ledger->segments.list; at != NULL; at = at->next) {
        n++;
    }
    put_number(buf, n);
    for (const struct writ_segment *at = ledger->segments.list; at != NULL; at = at->next) {
        put_number(buf, at->id);
        put_number(buf, at->level);
        put_number(buf, at->entries);
        put_number(buf, at->lines);
        put_number(buf, (uint64_t)at->oldest_us);
        put_number(buf, (uint64_t)at->newest_us);
        put_number(buf, (uint64_t)at->due_us);
        put_number(buf, at->boundary_most);
        put_digest(buf, &at->memory);
    }
}

/* The time of the last record of a boundary goes by the wall clock, which outlives the machine. */
static void
put_boundary(const struct writ_boundary *boundary, int64_t wall_ahead_us, struct writ_buf *buf)
{
    uint8_t hash[WRIT_SEAL_HASH_BYTES];

    writ_seal_hash_save(&boundary->hash, hash);
    put_number(buf, boundary->id);
    put_number(buf, boundary->first_leaf);
    put_number(buf, boundary->next_seq);
    put_number(buf, (uint64_t)(boundary->active_us + wall_ahead_us));
    writ_buf_put(buf, writ_view(hash, sizeof hash));
    put_text(buf, boundary->tenant);
    put_text(buf, boundary->name);
    put_number(buf, boundary->charge.agent != NULL);
    if (boundary->charge.agent != NULL) {
        put_tag(buf, boundary->charge.agent->by_owner.tag);
        put_tag(buf, boundary->charge.tenant->by_owner.tag);
    }
}

static void
put_boundaries(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    const struct writ_boundary *boundary = ledger->boundaries.ring;
    int64_t wall_ahead_us =
        writ_clock_wall_us(ledger->options.clock) - writ_clock_mono_us(ledger->options.clock);

    put_number(buf, ledger->boundaries.by_name.count);
    for (size_t i = 0; i < ledger->boundaries.by_name.count; i++, boundary = boundary->next) {
        put_boundary(boundary, wall_ahead_us, buf);
    }
}

static void
put_hold(const struct writ_hold *hold, struct writ_buf *buf)
{
    const struct writ_held *held = &hold->held;

    put_tag(buf, hold->by_key.tag);
    put_tag(buf, hold->by_intent.tag);
    put_tag(buf, held->call);
    put_number(buf, held->leaf);
    put_number(buf, held->boundary);
    put_number(buf, (uint64_t)held->made_us);
    put_number(buf, (uint64_t)held->kept_us);
    put_number(buf, (uint64_t)held->outcome << 1 | (held->interrupted ? 1 : 0));
}

static void
put_claims(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    put_number(buf, ledger->claims.concluded);
    for (const struct writ_hold *at = ledger->claims.first; at != NULL; at = at->next) {
        put_hold(at, buf);
    }
}

static void
put_flight(const struct writ_flight *flight, struct writ_buf *buf)
{
    put_number(buf, flight->leaf);
    put_number(buf, flight->boundary->id);
    put_text(buf, flight->decision_id);
    put_number(buf, flight->hold != NULL);
    if (flight->hold != NULL) {
        put_hold(flight->hold, buf);
    }
}

static void
put_flights(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    const struct writ_map *flights = &ledger->flights;

    put_number(buf, flights->count);
    for (size_t i = 0; i < flights->bucket_count; i++) {
        for (struct writ_map_node *at = flights->buckets[i]; at != NULL; at = at->next) {
            put_flight(WRIT_MAP_OF(at, struct writ_flight, by_leaf), buf);
        }
    }
}

static void
put_budgets(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    put_number(buf, ledger->budgets.by_key.count);
    for (const struct writ_counter *at = ledger->budgets.all; at != NULL; at = at->next_all) {
        put_tag(buf, writ_budgets_tag(at));
        put_number(buf, (uint64_t)at->window_us);
        put_number(buf, (uint64_t)at->window);
        put_number(buf, (uint64_t)(at->spent.coefficient >> 64));
        put_number(buf, (uint64_t)at->spent.coefficient);
        put_number(buf, (uint64_t)(int64_t)at->spent.exponent);
        put_number(buf, at->spent.negative);
    }
}

/* Their records are in the log: how many, so that none is missed. */
static void
put_reviews(const struct writ_ledger *ledger, struct writ_buf *buf)
{
    const struct writ_reviewed *review = ledger->reviews.ring;

    put_number(buf, ledger->reviews.count);
    for (size_t i = 0; i < ledger->reviews.count; i++, review = review->next) {
        put_text(buf, review->story.review.id);
        put_number(buf, review->story.n);
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
    put_number(buf, ledger->segments.next_id);
    put_number(buf, ledger->next_boundary);
    put_number(buf, ledger->facts_n);
    put_number(buf, (uint64_t)ledger->charges_us);
    put_segments(ledger, buf);
    put_boundaries(ledger, buf);
    put_claims(ledger, buf);
    put_flights(ledger, buf);
    put_budgets(ledger, buf);
    put_reviews(ledger, buf);
}

/* ---- reading ---- */

struct taking {
    struct writ_ledger *ledger;
    struct writ_view left;
    bool ended; /* something was to be read behind the end */
    uint64_t leaf;
    struct writ_boundary *past;
    struct writ_err *err;
};

#define CONTRADICTS(t, ...) WRIT_FAIL((t)->err, WRIT_E_MISMATCH, __VA_ARGS__)

static struct writ_view
take(struct taking *t, uint64_t len)
{
    struct writ_view bytes;

    t->ended = t->ended || len > t->left.len;
    if (t->ended) {
        return writ_view("", 0);
    }
    bytes = writ_view_sub(t->left, 0, (size_t)len);
    t->left = writ_view_sub(t->left, (size_t)len, t->left.len);
    return bytes;
}

static uint64_t
take_number(struct taking *t)
{
    struct writ_view bytes = take(t, sizeof(uint64_t));

    return t->ended ? 0 : __builtin_bswap64(writ_view_load64(bytes.ptr));
}

static int64_t
take_time(struct taking *t)
{
    return (int64_t)take_number(t);
}

static struct writ_tag
take_tag(struct taking *t)
{
    uint64_t high = take_number(t);

    return (struct writ_tag){high, take_number(t)};
}

static struct writ_view
take_text(struct taking *t)
{
    return take(t, take_number(t));
}

static WRIT_RESULT
check_readable(const struct taking *t)
{
    if (t->ended) {
        CONTRADICTS(t, "it ends too early");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_segment(struct taking *t, struct writ_segment **ret)
{
    uint64_t id = take_number(t), level = take_number(t), entries = take_number(t);
    uint64_t lines = take_number(t);
    struct writ_segment *segment;

    WRIT_TRY(check_readable(t));
    segment = writ_segment_restore((size_t)entries, (size_t)lines);
    if (segment == NULL) {
        WRIT_FAIL(t->err, WRIT_E_NOMEM, "no memory for the segments of the ledger");
    }
    segment->id = id;
    segment->level = (size_t)level;
    segment->oldest_us = take_time(t);
    segment->newest_us = take_time(t);
    segment->due_us = take_time(t);
    segment->boundary_most = take_number(t);
    (void)writ_view_place(take(t, WRIT_DIGEST_BYTES), (char *)segment->memory.bytes);
    *ret = segment;
    return WRIT_DONE;
}

static WRIT_RESULT
take_segment(struct taking *t)
{
    struct writ_segment *segment = NULL;

    WRIT_TRY(read_segment(t, &segment));
    segment->named = t->ledger->manifest.number;
    return writ_once_restore(t->ledger, segment, t->err);
}

/* It was open, and its row says that it is sealed: by a record that is about to be read. */
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
    bool charged = take_number(t) != 0;
    struct writ_owner owner;

    if (!charged) {
        return WRIT_DONE;
    }
    owner.agent = take_tag(t);
    owner.tenant = take_tag(t);
    WRIT_TRY(check_readable(t));
    return boundary == NULL ? WRIT_DONE
                            : writ_shares_charge_to(
                                  &t->ledger->boundaries.shares, &owner, &boundary->charge, t->err);
}

static WRIT_RESULT
take_boundary(struct taking *t)
{
    const struct writ_clock *clock = t->ledger->options.clock;
    uint64_t id = take_number(t), first_leaf = take_number(t), next_seq = take_number(t);
    int64_t ago_us = writ_clock_wall_us(clock) - take_time(t);
    struct writ_view hash = take(t, WRIT_SEAL_HASH_BYTES);
    struct writ_view tenant = take_text(t), name = take_text(t);
    struct writ_boundary *boundary = writ_boundaries_at(&t->ledger->boundaries, id);

    WRIT_TRY(check_readable(t));
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

/* What is open, and was not, began since. */
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
    struct writ_tag key = take_tag(t), intent = take_tag(t);
    struct writ_held held = {.call = take_tag(t)};
    uint64_t outcome;

    held.leaf = take_number(t);
    held.boundary = take_number(t);
    held.made_us = take_time(t);
    held.kept_us = take_time(t);
    outcome = take_number(t);
    held.outcome = (uint8_t)(outcome >> 1);
    held.interrupted = (outcome & 1) != 0;
    WRIT_TRY(check_readable(t));
    *ret = writ_claims_add(&t->ledger->claims, key, intent, &held);
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
    writ_claims_conclude(&t->ledger->claims, hold, hold->held.outcome, hold->held.interrupted);
    return WRIT_DONE;
}

static WRIT_RESULT
take_flight(struct taking *t)
{
    uint64_t leaf = take_number(t);
    struct writ_boundary *boundary = writ_boundaries_at(&t->ledger->boundaries, take_number(t));
    struct writ_view decision_id = take_text(t);
    bool claims = take_number(t) != 0;
    struct writ_flight *flight;

    WRIT_TRY(check_readable(t));
    flight = writ_flights_add(&t->ledger->flights, boundary != NULL ? boundary : t->past, leaf,
        decision_id, writ_view(NULL, 0));
    if (flight == NULL) {
        WRIT_FAIL(t->err, WRIT_E_NOMEM, "no memory for calls in flight");
    }
    return claims ? take_hold(t, &flight->hold) : WRIT_DONE;
}

/* Only what counts in the present window. */
static WRIT_RESULT
take_budget(struct taking *t)
{
    struct writ_tag tag = take_tag(t);
    int64_t window_us = take_time(t), window = take_time(t);
    uint64_t high = take_number(t), low = take_number(t);
    struct writ_decimal spent = {.coefficient = (unsigned __int128)high << 64 | low};

    spent.exponent = (int)take_time(t);
    spent.negative = take_number(t) != 0;
    WRIT_TRY(check_readable(t));
    if (window_us <= 0) {
        CONTRADICTS(t, "a budget has no window");
    }
    return window != t->ledger->last_us / window_us
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

/* All facts were read, and those that were there are among them. */
static WRIT_RESULT
check_facts(struct taking *t, uint64_t facts_n)
{
    struct writ_disk *disk = &t->ledger->disk;
    bool row = false;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_FACTS_COUNT, &row, t->err, "u", t->leaf));
    WRIT_TRY(check_count(t, WRIT_SQL_FACTS_COUNT, facts_n, "facts"));
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_FACTS_COUNT, &row, t->err, "i", INT64_MAX));
    return check_count(t, WRIT_SQL_FACTS_COUNT, t->ledger->facts_n, "facts");
}

static WRIT_RESULT
take_review(struct taking *t)
{
    struct writ_view id = take_text(t);
    uint64_t n = take_number(t);
    bool row = false;

    WRIT_TRY(check_readable(t));
    WRIT_TRY(
        writ_disk_query(&t->ledger->disk, WRIT_SQL_REVIEW_COUNT, &row, t->err, "tu", id, t->leaf));
    return check_count(t, WRIT_SQL_REVIEW_COUNT, n, "records of a review");
}

static WRIT_RESULT
take_list(struct taking *t, WRIT_RESULT (*one)(struct taking *t))
{
    uint64_t n = take_number(t);

    for (uint64_t i = 0; i < n && !t->ended; i++) {
        WRIT_TRY(one(t));
    }
    return check_readable(t);
}

static WRIT_RESULT
take_numbers(struct taking *t)
{
    struct writ_ledger *ledger = t->ledger;
    uint64_t next_boundary, facts_n;

    ledger->segments.next_id = take_number(t);
    next_boundary = take_number(t);
    facts_n = take_number(t);
    ledger->charges_us = take_time(t);
    WRIT_TRY(check_readable(t));
    if (next_boundary > ledger->next_boundary) {
        CONTRADICTS(t, "boundaries are missing: see `writ ledger verify`");
    }
    return check_facts(t, facts_n);
}

WRIT_RESULT
writ_image_take(struct writ_ledger *ledger, struct writ_view bytes, uint64_t leaf,
    struct writ_boundary *past, struct writ_err *err)
{
    struct taking t = {.ledger = ledger, .left = bytes, .leaf = leaf, .past = past, .err = err};

    WRIT_TRY(take_numbers(&t));
    WRIT_TRY(take_list(&t, take_segment));
    WRIT_TRY(take_list(&t, take_boundary));
    WRIT_TRY(check_fresh(&t));
    WRIT_TRY(take_list(&t, take_claim));
    WRIT_TRY(take_list(&t, take_flight));
    WRIT_TRY(take_list(&t, take_budget));
    WRIT_TRY(take_list(&t, take_review));
    if (t.left.len > 0) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "something stands behind its end");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_image_segments(struct writ_view bytes,
    WRIT_RESULT (*each)(void *ctx, struct writ_segment *segment), void *ctx, struct writ_err *err)
{
    struct taking t = {.left = bytes, .err = err};
    uint64_t n;

    (void)take(&t, NUMBERS * sizeof(uint64_t));
    n = take_number(&t);
    for (uint64_t i = 0; i < n; i++) {
        struct writ_segment *segment = NULL;

        WRIT_TRY(read_segment(&t, &segment));
        WRIT_TRY(each(ctx, segment));
    }
    return check_readable(&t);
}
