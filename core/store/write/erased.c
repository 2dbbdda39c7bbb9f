/* Reads the decision of each call under way or under review again: the memory of a call does not
 * have its agent. */
#include "store/write/erased.h"

#include "store/tables/body.h"

#define FACT_ARENA ((size_t)8 << 20) /* to read one */

/* One erase, over all calls under way. */
struct marking {
    struct writ_ledger *ledger;
    const struct writ_content_erasure *erasure;
    uint64_t end;
    struct writ_err *err;
};

/* Marks a call by the leaf of its decision. */
static WRIT_RESULT
mark_call(const struct marking *m, uint64_t leaf, bool *mark)
{
    struct writ_disk *disk = &m->ledger->disk;
    bool row = false;
    writ_result result;

    if (*mark || leaf >= m->end) {
        return WRIT_DONE;
    }
    result = writ_disk_query(disk, WRIT_SQL_CALL_AT, &row, m->err, "u", leaf);
    if (writ_is_ok(result) && row) {
        *mark = writ_content_fact_selects(m->erasure, writ_disk_bytes(disk, WRIT_SQL_CALL_AT, 0),
            writ_disk_bytes(disk, WRIT_SQL_CALL_AT, 1), writ_disk_bytes(disk, WRIT_SQL_CALL_AT, 2),
            writ_disk_int(disk, WRIT_SQL_CALL_AT, 3));
    }
    writ_disk_end(disk, WRIT_SQL_CALL_AT);
    return result;
}

static WRIT_RESULT
mark_one(void *ctx, struct writ_flight *flight)
{
    return mark_call(ctx, flight->leaf, &flight->erased);
}

/* The next of the ring of reviews; NULL: `review` was the last one. */
static struct writ_reviewed *
next_review(const struct writ_ledger *ledger, const struct writ_reviewed *review)
{
    return review->next != ledger->reviews.ring ? review->next : NULL;
}

WRIT_RESULT
writ_erased_mark(struct writ_ledger *ledger, const struct writ_content_erasure *erasure,
    uint64_t end, struct writ_err *err)
{
    struct marking marking = {.ledger = ledger, .erasure = erasure, .end = end, .err = err};
    struct writ_reviewed *review = ledger->reviews.ring;

    for (; review != NULL; review = next_review(ledger, review)) {
        WRIT_TRY(mark_call(&marking, review->leaf, &review->erased));
    }
    return writ_flights_each(&ledger->flights, mark_one, &marking);
}

/* ---- recorded erases */

static WRIT_RESULT
load_one(struct writ_ledger *ledger, struct writ_arena *arena, struct writ_err *err)
{
    uint64_t leaf = (uint64_t)writ_disk_int(&ledger->disk, WRIT_SQL_FACTS_FROM, 0);
    const struct writ_json *value = NULL;
    struct writ_content_erasure erasure;
    struct writ_fact fact = {0};

    WRIT_TRY(
        writ_body_json(writ_disk_bytes(&ledger->disk, WRIT_SQL_FACTS_FROM, 1), arena, &value, err));
    WRIT_TRY(writ_fact_read(value, &fact, err));
    if (fact.event != WRIT_FACT_CONTENTS_ERASED) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_content_fact_read_erasure(fact.data, &erasure, err));
    return writ_erased_mark(ledger, &erasure, leaf, err);
}

static WRIT_RESULT
oldest(void *ctx, struct writ_flight *flight)
{
    uint64_t *leaf = ctx;

    *leaf = flight->leaf < *leaf ? flight->leaf : *leaf;
    return WRIT_DONE;
}

WRIT_RESULT
writ_erased_load(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    writ_auto_arena arena = NULL;
    const struct writ_reviewed *review = ledger->reviews.ring;
    uint64_t first = UINT64_MAX;
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_flights_each(&ledger->flights, oldest, &first));
    for (; review != NULL; review = next_review(ledger, review)) {
        first = review->leaf < first ? review->leaf : first;
    }
    if (first == UINT64_MAX) {
        return WRIT_DONE;
    }
    arena = writ_arena_new(FACT_ARENA);
    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to open the ledger");
    }
    result = writ_disk_query(disk, WRIT_SQL_FACTS_FROM, &row, err, "u", first);
    while (writ_is_ok(result) && row) {
        writ_arena_reset(arena);
        result = load_one(ledger, arena, err);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_FACTS_FROM, &row, err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_FACTS_FROM);
    return result;
}
