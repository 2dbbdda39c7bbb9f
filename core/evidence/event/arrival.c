/* One slot for each index: the hash that came, or none. The checkpoints are sorted at the end, and
 * compared while the tree grows. */
#include "evidence/event/arrival.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "evidence/record/member.h"

#include <stdlib.h>

#define ARENA_MAX     ((size_t)128 << 20)
#define HEADS_MAX     (WRIT_ARRIVAL_LEAF_MAX * sizeof(struct head))
#define SLOTS_MAX     (WRIT_ARRIVAL_LEAF_MAX * sizeof(struct slot))
#define HEADER_FIELDS 7 /* of CEF, each ended by a pipe */

struct slot {
    struct writ_digest hash;
    bool taken;
};

struct head {
    uint64_t size;
    struct writ_digest root;
};

struct writ_arrival {
    struct writ_arrival_options options;
    struct writ_arena *arena; /* one line */
    struct writ_buf slots, heads;
    struct writ_buf note;   /* the last one that was verified */
    struct writ_buf origin; /* of the first */
    struct writ_arrival_report report;
    uint64_t covered; /* by the last note */
};

/** What a line says. */
struct claim {
    uint64_t leaf;
    struct writ_digest hash;
    struct writ_view note;
};

void
writ_arrival_free(struct writ_arrival *arrival)
{
    if (arrival != NULL) {
        writ_arena_free(arrival->arena);
        writ_buf_wipe(&arrival->slots);
        writ_buf_wipe(&arrival->heads);
        writ_buf_wipe(&arrival->note);
        writ_buf_wipe(&arrival->origin);
        writ_free(arrival);
    }
}

WRIT_RESULT
writ_arrival_new(
    const struct writ_arrival_options *options, struct writ_arrival **ret, struct writ_err *err)
{
    struct writ_arrival *arrival = writ_alloc(sizeof *arrival);

    if (arrival == NULL || (arrival->arena = writ_arena_new(ARENA_MAX)) == NULL) {
        writ_arrival_free(arrival);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to check events");
    }
    arrival->options = *options;
    arrival->slots = writ_buf_make(SLOTS_MAX);
    arrival->heads = writ_buf_make(HEADS_MAX);
    arrival->note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    arrival->origin = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    *ret = arrival;
    return WRIT_DONE;
}

/* ---- checkpoints */

static WRIT_RESULT
take_note(struct writ_arrival *arrival, struct writ_view note, struct writ_err *err)
{
    struct writ_checkpoint checkpoint = {0};
    writ_result result;
    struct head head;

    if (writ_view_equal(note, writ_buf_view(&arrival->note))) {
        return WRIT_DONE; /* that of the event before */
    }
    result = writ_checkpoint_verify(
        note, arrival->options.keys, arrival->options.keys_n, &checkpoint, err);
    if (result.code == WRIT_E_ABSENT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "its checkpoint is signed by none of the keys");
    }
    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "its checkpoint is not readable");
    }
    WRIT_TRY(result);
    if (arrival->origin.len > 0 &&
        !writ_view_equal(writ_buf_view(&arrival->origin), checkpoint.origin)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "its checkpoint is of another ledger than the first");
    }
    head = (struct head){checkpoint.size, checkpoint.root};
    writ_buf_put(&arrival->heads, writ_view(&head, sizeof head));
    WRIT_TRY(writ_buf_check(&arrival->heads, err));
    writ_buf_clear(&arrival->origin);
    writ_buf_put(&arrival->origin, checkpoint.origin);
    writ_buf_clear(&arrival->note);
    writ_buf_put(&arrival->note, note);
    WRIT_TRY(writ_buf_check(&arrival->note, err));
    arrival->covered = checkpoint.size;
    return writ_buf_check(&arrival->origin, err);
}

WRIT_RESULT
writ_arrival_checkpoint(struct writ_arrival *arrival, struct writ_view note, struct writ_err *err)
{
    return take_note(arrival, note, err);
}

/* ---- a line of JSON */

static WRIT_RESULT
check_record(struct writ_arrival *arrival, const struct writ_json *record,
    const struct writ_digest *hash, struct writ_err *err)
{
    struct writ_buf text = writ_buf_in(arrival->arena, WRIT_RECORD_MAX_BYTES);
    struct writ_digest computed;

    WRIT_TRY(writ_jcs_put(&text, record, err));
    WRIT_TRY(writ_tree_leaf(writ_buf_view(&text), &computed, err));
    if (!writ_digest_equal(&computed, hash)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "leaf_hash is not that of the record");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_json(
    struct writ_arrival *arrival, struct writ_view text, struct claim *ret, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL, *place, *record;
    int64_t leaf = 0;

    limits.bytes = limits.string_bytes = WRIT_ARRIVAL_LINE_MAX;
    WRIT_TRY(writ_json_read(text, &limits, arrival->arena, &value, err));
    record = writ_json_get(value, WRIT_LIT("record"));
    place = writ_json_get(writ_json_get(value, WRIT_LIT("unmapped")), WRIT_LIT("writ"));
    place = place != NULL ? place : value;
    WRIT_TRY(writ_json_integer(writ_json_get(place, WRIT_LIT("leaf")), 0, INT64_MAX >> 10, &leaf));
    WRIT_TRY(writ_digest_read(
        writ_json_string(writ_json_get(place, WRIT_LIT("leaf_hash"))), &ret->hash, err));
    ret->leaf = (uint64_t)leaf;
    ret->note = writ_json_string(writ_json_get(place, WRIT_LIT("checkpoint")));
    return record != NULL ? check_record(arrival, record, &ret->hash, err) : WRIT_DONE;
}

/* ---- a line of CEF */

/* The position of the first `byte` without a backslash before it, or the length. */
static size_t
find_bare(struct writ_view text, char byte)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\') {
            i++;
        } else if (text.ptr[i] == byte) {
            return i;
        }
    }
    return text.len;
}

/* The value of a key of the extension: to the last space before the next bare `=`. */
static struct writ_view
find_key(struct writ_view extension, struct writ_view key)
{
    size_t at = writ_view_search(extension, key), end;
    struct writ_view value = writ_view_sub(extension, at + key.len, extension.len);

    end = find_bare(value, '=');
    if (end < value.len) {
        while (end > 0 && value.ptr[end] != ' ') {
            end--;
        }
    }
    return at < extension.len ? writ_view_sub(value, 0, end) : writ_view(NULL, 0);
}

static struct writ_view
unescape(struct writ_view value, struct writ_arena *arena)
{
    struct writ_buf text = writ_buf_in(arena, value.len);

    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '\\' && i + 1 < value.len) {
            i++;
            writ_buf_byte(&text, value.ptr[i] == 'n'   ? '\n'
                                 : value.ptr[i] == 'r' ? '\r'
                                                       : value.ptr[i]);
        } else {
            writ_buf_byte(&text, value.ptr[i]);
        }
    }
    return writ_buf_view(&text);
}

static WRIT_RESULT
read_cef(
    struct writ_arrival *arrival, struct writ_view text, struct claim *ret, struct writ_err *err)
{
    for (int i = 0; i < HEADER_FIELDS; i++) {
        text = writ_view_sub(text, find_bare(text, '|') + 1, text.len);
    }
    WRIT_TRY(writ_text_u64(find_key(text, WRIT_LIT(" cn1=")), 0, WRIT_TREE_SIZE_MAX, &ret->leaf));
    WRIT_TRY(writ_digest_read(find_key(text, WRIT_LIT(" cs1=")), &ret->hash, err));
    ret->note = unescape(find_key(text, WRIT_LIT(" cs2=")), arrival->arena);
    return WRIT_DONE;
}

/* ---- a line */

static WRIT_RESULT
take_slot(struct writ_arrival *arrival, const struct claim *claim, struct writ_err *err)
{
    size_t end = (size_t)(claim->leaf + 1) * sizeof(struct slot);
    struct slot *slot;

    if (claim->leaf >= WRIT_ARRIVAL_LEAF_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "more than %llu records", (unsigned long long)WRIT_ARRIVAL_LEAF_MAX);
    }
    while (arrival->slots.len < end) { /* all up to it: not taken */
        static const struct slot none;

        writ_buf_put(&arrival->slots, writ_view(&none, sizeof none));
        WRIT_TRY(writ_buf_check(&arrival->slots, err));
    }
    slot = (struct slot *)(void *)arrival->slots.ptr + claim->leaf;
    if (slot->taken && !writ_digest_equal(&slot->hash, &claim->hash)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "another event of record %llu has another leaf_hash",
            (unsigned long long)claim->leaf);
    }
    arrival->report.events++;
    arrival->report.repeats += slot->taken;
    *slot = (struct slot){claim->hash, true};
    return WRIT_DONE;
}

static WRIT_RESULT
read_claim(
    struct writ_arrival *arrival, struct writ_view line, struct claim *ret, struct writ_err *err)
{
    size_t cef = writ_view_search(line, WRIT_LIT("CEF:0|"));
    size_t json = writ_view_find(line, '{');
    struct writ_err why = {0};
    writ_result result = cef < json
                             ? read_cef(arrival, writ_view_sub(line, cef, line.len), ret, &why)
                             : read_json(arrival, writ_view_sub(line, json, line.len), ret, &why);

    if (result.code == WRIT_E_PARSE || result.code == WRIT_E_LIMIT ||
        result.code == WRIT_E_INVALID) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "it is not an event of Writ");
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s", why.text);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_arrival_line(struct writ_arrival *arrival, struct writ_view line, struct writ_err *err)
{
    struct claim claim = {0};

    if (writ_view_trim(line).len == 0) {
        return WRIT_DONE;
    }
    writ_arena_reset(arrival->arena);
    WRIT_TRY(read_claim(arrival, line, &claim, err));
    WRIT_TRY(take_note(arrival, claim.note, err));
    if (claim.leaf >= arrival->covered) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "its checkpoint does not cover record %llu",
            (unsigned long long)claim.leaf);
    }
    return take_slot(arrival, &claim, err);
}

/* ---- the end */

static int
compare_heads(const void *a, const void *b)
{
    const struct head *left = a, *right = b;

    return (left->size > right->size) - (left->size < right->size);
}

/* The tree over the events must have the root of each checkpoint. */
static WRIT_RESULT
check_tree(
    struct writ_arrival *arrival, const struct head *heads, size_t heads_n, struct writ_err *err)
{
    const struct slot *slots = (const void *)arrival->slots.ptr;
    struct writ_tree_edge edge = {0};
    struct writ_digest root;

    for (size_t i = 0; i < heads_n; i++) {
        while (edge.size < heads[i].size) {
            WRIT_TRY(writ_tree_append(&edge, &slots[edge.size].hash, err));
        }
        WRIT_TRY(writ_tree_root(&edge, &root, err));
        if (!writ_digest_equal(&root, &heads[i].root)) {
            WRIT_FAIL(err, WRIT_E_MISMATCH,
                "the first %llu events are not the records that the checkpoint covers",
                (unsigned long long)heads[i].size);
        }
    }
    return WRIT_DONE;
}

static void
count_missing(const struct writ_arrival *arrival, struct writ_arrival_report *report)
{
    const struct slot *slots = (const void *)arrival->slots.ptr;
    size_t n = arrival->slots.len / sizeof *slots;

    for (uint64_t leaf = report->from; leaf < report->size; leaf++) {
        if (leaf >= n || !slots[leaf].taken) {
            report->first_missing = report->missing == 0 ? leaf : report->first_missing;
            report->missing++;
        }
    }
}

WRIT_RESULT
writ_arrival_end(
    struct writ_arrival *arrival, struct writ_arrival_report *ret, struct writ_err *err)
{
    struct writ_arrival_report report = arrival->report;
    struct head *heads = (void *)arrival->heads.ptr;
    size_t heads_n = arrival->heads.len / sizeof *heads;

    report.from = arrival->options.from;
    if (heads_n > 0) {
        qsort(heads, heads_n, sizeof *heads, compare_heads);
        report.size = heads[heads_n - 1].size;
    }
    for (size_t i = 0; i < heads_n; i++) {
        report.checkpoints += i == 0 || heads[i].size != heads[i - 1].size;
    }
    count_missing(arrival, &report);
    if (report.missing == 0 && report.from == 0) {
        WRIT_TRY(check_tree(arrival, heads, heads_n, err));
        report.tree = true;
    }
    *ret = report;
    return WRIT_DONE;
}
