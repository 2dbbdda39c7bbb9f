/* Invariants of a set:
 *
 * (1) items[0 .. count) are the records in the order in which they were added;
 * (2) an item without `numbered` is left out of every rule about seqs: it makes the set incomplete
 * by itself. An absent running_count is 0, which is never seq + 1;
 * (3) `boundary` is that of the first record that carries one, and empty until then. */
#include "evidence/proof/completeness.h"

#include "evidence/json/write.h"

#include <stdlib.h>

struct item {
    uint64_t seq, running_count;
    int64_t issued_us; /* INT64_MIN when it cannot be read */
    struct writ_view decision_id;
    struct writ_view boundary; /* empty: absent */
    bool numbered, foreign;
};

struct writ_completeness_set {
    struct item *items;
    size_t count, cap, max;
    struct writ_view boundary;
    struct writ_seal seal;
    bool sealed, second_seal;
};

struct writ_completeness_set *
writ_completeness_new(size_t max)
{
    struct writ_completeness_set *set = writ_alloc(sizeof *set);

    if (set != NULL) {
        set->max = max;
    }
    return set;
}

void
writ_completeness_free(struct writ_completeness_set *set)
{
    if (set != NULL) {
        writ_free(set->items);
        writ_free(set);
    }
}

static WRIT_RESULT
make_room(struct writ_completeness_set *set, struct writ_err *err)
{
    size_t cap = set->cap > 0 ? set->cap * 2 : 64;
    struct item *grown;

    if (set->count >= set->max) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a set has more than %zu records", set->max);
    }
    if (set->count < set->cap) {
        return WRIT_DONE;
    }
    grown = writ_realloc(set->items, cap * sizeof *grown);
    if (grown == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a set of records");
    }
    set->items = grown;
    set->cap = cap;
    return WRIT_DONE;
}

static bool
is_count(const struct writ_member_number *number)
{
    return number->is == WRIT_PRESENT && number->value >= 0;
}

static int64_t
time_of(const struct writ_member_text *time)
{
    int64_t us;

    return time->is == WRIT_PRESENT && writ_member_time(time->view, &us) ? us : INT64_MIN;
}

/* Adds a copy of the item, and compares its boundary with the earlier ones. */
static WRIT_RESULT
add_item(struct writ_completeness_set *set, const struct item *item, struct writ_err *err)
{
    struct item *added;

    WRIT_TRY(make_room(set, err));
    added = &set->items[set->count++];
    *added = *item;
    if (item->boundary.len > 0 && set->boundary.len == 0) {
        set->boundary = item->boundary; /* keeps (3) */
    }
    added->foreign = item->boundary.len > 0 && !writ_view_equal(item->boundary, set->boundary);
    return WRIT_DONE;
}

WRIT_RESULT
writ_completeness_add(
    struct writ_completeness_set *set, const struct writ_decision *decision, struct writ_err *err)
{
    struct item item = {
        .decision_id = decision->decision_id.view,
        .issued_us = time_of(&decision->issued_at),
        .numbered = is_count(&decision->seq),
    };

    if (decision->boundary_id.is == WRIT_PRESENT) {
        item.boundary = decision->boundary_id.view;
    }
    if (item.numbered) {
        item.seq = (uint64_t)decision->seq.value;
    }
    if (is_count(&decision->running_count)) {
        item.running_count = (uint64_t)decision->running_count.value;
    }
    return add_item(set, &item, err);
}

static bool
same_seal(const struct writ_seal *a, const struct writ_seal *b)
{
    return a->total.is == b->total.is && a->total.value == b->total.value &&
           writ_member_text_equal(&a->boundary_id, &b->boundary_id, true) &&
           writ_member_text_equal(&a->seal_hash, &b->seal_hash, true);
}

void
writ_completeness_seal(struct writ_completeness_set *set, const struct writ_seal *seal)
{
    set->second_seal = set->second_seal || (set->sealed && !same_seal(&set->seal, seal));
    set->seal = *seal;
    set->sealed = true;
}

/* ---- judging */

static int
by_seq(const void *a, const void *b)
{
    const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;

    return (x->seq > y->seq) - (x->seq < y->seq);
}

/* The numbered items, sorted by seq. */
struct order {
    const struct item **items;
    size_t count;
};

static void
order_free(struct order *order)
{
    writ_free(order->items);
}

static WRIT_RESULT
sort_items(const struct writ_completeness_set *set, struct order *ret, struct writ_err *err)
{
    struct order order = {writ_alloc((set->count + 1) * sizeof *order.items), 0};

    if (order.items == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to sort a set of records");
    }
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].numbered) {
            order.items[order.count++] = &set->items[i];
        }
    }
    qsort(order.items, order.count, sizeof *order.items, by_seq);
    *ret = order;
    return WRIT_DONE;
}

static uint64_t
larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t
expected_of(const struct writ_completeness_set *set)
{
    uint64_t expected = 0;

    for (size_t i = 0; i < set->count; i++) {
        expected = larger(expected, set->items[i].running_count);
        if (set->items[i].numbered) {
            expected = larger(expected, set->items[i].seq + 1);
        }
    }
    return set->sealed && is_count(&set->seal.total)
               ? larger(expected, (uint64_t)set->seal.total.value)
               : expected;
}

/* A list under construction. With `items` NULL it only counts, so that each rule is written once:
 * the first walk counts, the second one fills. */
struct list {
    uint64_t *items;
    size_t count;
};

static void
list_add(struct list *list, uint64_t value)
{
    if (list->items != NULL) {
        list->items[list->count] = value;
    }
    list->count++;
}

typedef void (*list_rule)(
    const struct writ_completeness_set *set, const struct order *order, struct list *ret);

static void
find_duplicates(
    const struct writ_completeness_set *set, const struct order *order, struct list *ret)
{
    (void)set;
    for (size_t i = 1; i < order->count; i++) {
        bool repeats = order->items[i]->seq == order->items[i - 1]->seq;
        bool listed = i > 1 && order->items[i]->seq == order->items[i - 2]->seq;
        if (repeats && !listed) {
            list_add(ret, order->items[i]->seq);
        }
    }
}

static void
find_miscounted(
    const struct writ_completeness_set *set, const struct order *order, struct list *ret)
{
    uint64_t last = UINT64_MAX;

    (void)set;
    for (size_t i = 0; i < order->count; i++) {
        const struct item *item = order->items[i];
        if (item->running_count != item->seq + 1 && item->seq != last) {
            list_add(ret, item->seq);
            last = item->seq;
        }
    }
}

static void
find_unnumbered(
    const struct writ_completeness_set *set, const struct order *order, struct list *ret)
{
    (void)order;
    for (size_t i = 0; i < set->count; i++) {
        if (!set->items[i].numbered) {
            list_add(ret, i);
        }
    }
}

static void
find_foreign(const struct writ_completeness_set *set, const struct order *order, struct list *ret)
{
    (void)order;
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].foreign) {
            list_add(ret, i);
        }
    }
}

static void
find_unbound(const struct writ_completeness_set *set, const struct order *order, struct list *ret)
{
    (void)order;
    for (size_t i = 0; set->boundary.len > 0 && i < set->count; i++) {
        if (set->items[i].boundary.len == 0) {
            list_add(ret, i);
        }
    }
}

static WRIT_RESULT
make_list(list_rule rule, const struct writ_completeness_set *set, const struct order *order,
    struct writ_arena *arena, struct writ_completeness_list *ret, struct writ_err *err)
{
    struct list list = {NULL, 0};

    rule(set, order, &list);
    if (list.count > 0) {
        list.items = writ_arena_get(arena, list.count * sizeof *list.items);
        if (list.items == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a completeness report");
        }
        list.count = 0;
        rule(set, order, &list);
    }
    *ret = (struct writ_completeness_list){list.items, list.count};
    return WRIT_DONE;
}

/* The gaps in the sorted seqs, up to `expected`. With `ranges` NULL it only counts. */
static size_t
find_missing(const struct order *order, uint64_t expected, struct writ_seq_range *ranges,
    uint64_t *ret_total)
{
    uint64_t next = 0, total = 0;
    size_t count = 0;

    for (size_t i = 0; i <= order->count; i++) {
        uint64_t seq = i < order->count ? order->items[i]->seq : expected;
        if (seq > next) {
            if (ranges != NULL) {
                ranges[count] = (struct writ_seq_range){next, seq - 1};
            }
            count++;
            total += seq - next;
        }
        next = larger(next, seq + 1);
    }
    *ret_total = total;
    return count;
}

static WRIT_RESULT
list_missing(const struct order *order, struct writ_arena *arena, struct writ_completeness *ret,
    struct writ_err *err)
{
    struct writ_seq_range *ranges = NULL;
    size_t count = find_missing(order, ret->expected, NULL, &ret->missing_total);

    if (count > 0) {
        ranges = writ_arena_get(arena, count * sizeof *ranges);
        if (ranges == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a completeness report");
        }
        (void)find_missing(order, ret->expected, ranges, &ret->missing_total);
    }
    ret->missing = ranges;
    ret->missing_count = count;
    return WRIT_DONE;
}

/* ---- the seal */

/* Whether the seal's hash covers the ids of a set that is otherwise complete. */
static WRIT_RESULT
hash_holds(const struct order *order, const struct writ_seal *seal, bool *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_seal_hash, writ_seal_hash_wipe) hash = {0};
    struct writ_digest digest;
    char text[WRIT_DIGEST_TEXT];

    WRIT_TRY(writ_seal_hash_init(&hash, err));
    for (size_t i = 0; i < order->count; i++) {
        WRIT_TRY(writ_seal_hash_add(&hash, order->items[i]->decision_id, err));
    }
    WRIT_TRY(writ_seal_hash_now(&hash, &digest, err));
    writ_digest_text(&digest, text);
    *ret = writ_view_equal_secret(seal->seal_hash.view, writ_view_str(text));
    return WRIT_DONE;
}

/* Records and seal carry the same boundary if any record carries one. A seal from elsewhere
 * may lack our members, but not those that completeness depends on. */
static enum writ_seal_flaw
seal_flaw(const struct writ_completeness_set *set)
{
    const struct writ_seal *seal = &set->seal;
    bool bound = seal->boundary_id.is == WRIT_PRESENT;
    struct writ_faults faults = {0};

    if (!set->sealed) {
        return WRIT_SEAL_SOUND;
    }
    if (set->boundary.len > 0 && !bound) {
        return WRIT_SEAL_UNBOUND;
    }
    if (set->boundary.len > 0 && !writ_view_equal(seal->boundary_id.view, set->boundary)) {
        return WRIT_SEAL_FOREIGN;
    }
    if (set->second_seal) {
        return WRIT_SEAL_SECOND;
    }
    writ_seal_validate(seal, &faults);
    return faults.count == 0 ? WRIT_SEAL_SOUND : WRIT_SEAL_INVALID;
}

static bool
is_whole(const struct writ_completeness *report)
{
    return report->seal_flaw == WRIT_SEAL_SOUND && report->missing_count == 0 &&
           report->duplicates.count == 0 && report->miscounted.count == 0 &&
           report->unnumbered.count == 0 && report->foreign.count == 0 &&
           report->unbound.count == 0;
}

WRIT_RESULT
writ_completeness_report(const struct writ_completeness_set *set, struct writ_arena *arena,
    struct writ_completeness *ret, struct writ_err *err)
{
    WRIT_AUTO(struct order, order_free) order = {0};
    struct writ_completeness report = {
        .sealed = set->sealed,
        .seal_flaw = seal_flaw(set),
        .held = set->count,
        .expected = expected_of(set),
    };

    WRIT_TRY(sort_items(set, &order, err));
    WRIT_TRY(list_missing(&order, arena, &report, err));
    WRIT_TRY(make_list(find_duplicates, set, &order, arena, &report.duplicates, err));
    WRIT_TRY(make_list(find_miscounted, set, &order, arena, &report.miscounted, err));
    WRIT_TRY(make_list(find_unnumbered, set, &order, arena, &report.unnumbered, err));
    WRIT_TRY(make_list(find_foreign, set, &order, arena, &report.foreign, err));
    WRIT_TRY(make_list(find_unbound, set, &order, arena, &report.unbound, err));

    /* over an incomplete set the hash must differ, which would hide the cause */
    if (is_whole(&report) && set->sealed && set->seal.seal_hash.is == WRIT_PRESENT) {
        bool holds = false;
        WRIT_TRY(hash_holds(&order, &set->seal, &holds, err));
        report.seal_flaw = holds ? WRIT_SEAL_SOUND : WRIT_SEAL_HASH_DIFFERS;
    }
    report.whole = is_whole(&report);
    *ret = report;
    return WRIT_DONE;
}

/* ---- at a time */

static void
set_wipe(struct writ_completeness_set *set)
{
    writ_free(set->items);
}

WRIT_RESULT
writ_completeness_until(const struct writ_completeness_set *set, int64_t until_us,
    struct writ_arena *arena, bool *ret_whole, struct writ_err *err)
{
    WRIT_AUTO(struct writ_completeness_set, set_wipe) then = {.max = set->max};
    struct writ_completeness report;

    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].issued_us <= until_us) {
            WRIT_TRY(add_item(&then, &set->items[i], err));
        }
    }
    if (set->sealed && time_of(&set->seal.sealed_at) <= until_us) {
        writ_completeness_seal(&then, &set->seal);
        then.second_seal = set->second_seal;
    }
    WRIT_TRY(writ_completeness_report(&then, arena, &report, err));
    *ret_whole = report.whole;
    return WRIT_DONE;
}

/* ---- writing */

struct writ_view
writ_completeness_flaw_name(enum writ_seal_flaw flaw)
{
    switch (flaw) {
    case WRIT_SEAL_SOUND:
        return WRIT_LIT("sound");
    case WRIT_SEAL_INVALID:
        return WRIT_LIT("invalid");
    case WRIT_SEAL_FOREIGN:
        return WRIT_LIT("foreign");
    case WRIT_SEAL_UNBOUND:
        return WRIT_LIT("unbound");
    case WRIT_SEAL_SECOND:
        return WRIT_LIT("second");
    case WRIT_SEAL_HASH_DIFFERS:
        return WRIT_LIT("hash_differs");
    }
    return WRIT_LIT("invalid");
}

static void
write_list(struct writ_write *w, struct writ_view name, const struct writ_completeness_list *list)
{
    writ_write_name(w, name);
    writ_write_array_begin(w);
    for (size_t i = 0; i < list->count; i++) {
        writ_write_u64(w, list->items[i]);
    }
    writ_write_array_end(w);
}

void
writ_completeness_put_missing(struct writ_write *w, const struct writ_completeness *report)
{
    writ_write_name(w, WRIT_LIT("missing"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < report->missing_count; i++) {
        writ_write_array_begin(w);
        writ_write_u64(w, report->missing[i].first);
        writ_write_u64(w, report->missing[i].last);
        writ_write_array_end(w);
    }
    writ_write_array_end(w);
}

WRIT_RESULT
writ_completeness_put(
    const struct writ_completeness *report, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    w.sorted = true;
    writ_write_object_begin(&w);
    write_list(&w, WRIT_LIT("duplicates"), &report->duplicates);
    writ_write_count(&w, "expected", report->expected);
    write_list(&w, WRIT_LIT("foreign"), &report->foreign);
    writ_write_count(&w, "held", report->held);
    write_list(&w, WRIT_LIT("miscounted"), &report->miscounted);
    writ_completeness_put_missing(&w, report);
    writ_write_count(&w, "missing_total", report->missing_total);
    writ_write_name(&w, WRIT_LIT("seal"));
    writ_write_string_or_null(
        &w, report->sealed ? writ_completeness_flaw_name(report->seal_flaw) : writ_view(NULL, 0));
    write_list(&w, WRIT_LIT("unbound"), &report->unbound);
    write_list(&w, WRIT_LIT("unnumbered"), &report->unnumbered);
    writ_write_flag(&w, "whole", report->whole);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
