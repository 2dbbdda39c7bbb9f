/* 1. A claim is in memory until the whole segment that has it is on disk.
 * 2. A segment is in the list until the whole segment that it was merged into is on disk. Its rows
 *    are deleted after that, but not while the manifest on disk, or the one that is being written,
 *    names it.
 * 3. A claim is left out, or freed, only when its time has passed by `last_us`: every later call
 *    comes after that time. The clock is not used, because it may go back. */
#include "store/write/once.h"

#include "store/write/group.h"

#define ID_MOST      (WRIT_MANIFEST_NOTE >> WRIT_SEGMENTS_BLOCK_BITS)
#define DELETE_SLICE 256 /* rows deleted by one transaction */
#define SLICE_LEAST  8   /* blocks of a build for a group, and one more for so many records */
#define SLICE_PER    4
#define DUE_PARTS    8 /* of that time: between checks of claims that open boundaries keep */
#define SPAN_PARTS   4 /* a merge spans at most this part of the time for which claims are kept */

bool
writ_once_stands(
    const struct writ_boundaries *boundaries, const struct writ_claim_facts *facts, int64_t now_us)
{
    return facts->in_flight || facts->made_us + facts->kept_us > now_us ||
           writ_boundaries_at(boundaries, facts->boundary) != NULL;
}

/* ---- blocks on the disk ---- */

WRIT_RESULT
writ_once_read(struct writ_ledger *ledger, const struct writ_segment *segment, size_t block,
    uint8_t ret[WRIT_SEGMENT_BLOCK], size_t *ret_len, struct writ_err *err)
{
    struct writ_disk *disk = &ledger->disk;
    struct writ_err why = {0};
    bool row = false;
    writ_result result = writ_disk_query(
        disk, WRIT_SQL_SEGMENT_BLOCK, &row, &why, "u", writ_segments_block_row(segment, block));

    if (writ_is_ok(result)) {
        struct writ_view bytes =
            row ? writ_disk_bytes(disk, WRIT_SQL_SEGMENT_BLOCK, 0) : writ_view("", 0);

        result = writ_segment_check(segment, block, bytes, &why);
        if (writ_is_ok(result)) {
            (void)writ_view_place(bytes, (char *)ret);
            *ret_len = bytes.len;
        }
    }
    writ_disk_end(disk, WRIT_SQL_SEGMENT_BLOCK);
    if (result.code == WRIT_E_MISMATCH) {
        result = writ_group_changed(ledger, &why);
    }
    if (!writ_is_ok(result) && err != NULL) {
        *err = why;
    }
    return result;
}

/* ---- looking ---- */

static WRIT_RESULT
find_in(struct writ_ledger *ledger, const struct writ_segment *segment, enum writ_segment_kind kind,
    struct writ_tag tag, struct writ_claim_facts *ret, bool *ret_found, struct writ_err *err)
{
    uint8_t bytes[WRIT_SEGMENT_BLOCK];
    size_t len = 0;

    for (size_t block = writ_segment_seek(segment, tag);
         !*ret_found && writ_segment_goes_on(segment, tag, block); block++) {
        const uint8_t *entry;

        WRIT_TRY(writ_once_read(ledger, segment, block, bytes, &len, err));
        entry = writ_segment_search(writ_view(bytes, len), kind, tag);
        if (entry != NULL) {
            writ_segment_read(entry, ret);
            *ret_found = true;
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_once_find(struct writ_ledger *ledger, enum writ_segment_kind kind, struct writ_tag tag,
    int64_t since_us, int64_t now_us, struct writ_claim_facts *ret, bool *ret_found,
    struct writ_err *err)
{
    const struct writ_hold *hold = kind == WRIT_SEGMENT_KEY
                                       ? writ_claims_by_key(&ledger->claims, tag)
                                       : writ_claims_by_intent(&ledger->claims, tag);

    *ret_found = hold != NULL && writ_once_stands(&ledger->boundaries, &hold->facts, now_us);
    if (*ret_found) {
        *ret = hold->facts;
        return WRIT_DONE;
    }
    for (const struct writ_segment *segment = ledger->segments.list; segment != NULL && !*ret_found;
         segment = segment->next) {
        if (segment->newest_us >= since_us && writ_segment_may_have(segment, tag)) {
            WRIT_TRY(find_in(ledger, segment, kind, tag, ret, ret_found, err));
            *ret_found = *ret_found && writ_once_stands(&ledger->boundaries, ret, now_us);
        }
    }
    return WRIT_DONE;
}

size_t
writ_once_count(const struct writ_ledger *ledger)
{
    return writ_claims_count(&ledger->claims) + ledger->segments.entries / 2;
}

/* ---- a segment is made ---- */

/* Deletes the rows written so far; nothing else has changed. */
static void
give_up(struct writ_segments *segments, struct writ_making *build)
{
    if (build->made != NULL) {
        writ_segments_discard(segments, build->made);
    }
    writ_making_wipe(build);
}

/* Takes the entries of so many claims from `hold` on, of those that stand. */
static bool
take_part(const struct writ_ledger *ledger, const struct writ_hold **hold, size_t holds,
    struct writ_making_source *ret)
{
    uint8_t *entries = writ_alloc(2 * holds * WRIT_SEGMENT_ENTRY);

    if (entries == NULL) {
        return false;
    }
    *ret = (struct writ_making_source){.entries = entries};
    for (size_t i = 0; i < holds; i++, *hold = (*hold)->next) {
        if (writ_once_stands(
                &ledger->boundaries, &(*hold)->facts, ledger->log.last_us)) { /* keeps (3) */
            writ_segment_put(WRIT_SEGMENT_KEY, (*hold)->by_key.tag, &(*hold)->facts,
                entries + ret->n++ * WRIT_SEGMENT_ENTRY);
            writ_segment_put(WRIT_SEGMENT_INTENT, (*hold)->by_intent.tag, &(*hold)->facts,
                entries + ret->n++ * WRIT_SEGMENT_ENTRY);
        }
    }
    return true;
}

/* Takes the first claims in memory, in parts that are sorted one by one. */
static void
begin_flush(struct writ_ledger *ledger, size_t holds)
{
    struct writ_making *build = &ledger->segments.flush;
    const struct writ_hold *hold = ledger->claims.first;
    size_t part = (holds + WRIT_MAKING_MERGE - 1) / WRIT_MAKING_MERGE, entries = 0;

    for (size_t left = holds; left > 0; left -= part < left ? part : left) {
        struct writ_making_source *source = &build->sources[build->sources_n];

        if (!take_part(ledger, &hold, part < left ? part : left, source)) {
            writ_making_wipe(build);
            return; /* tried again in the next turn */
        }
        build->sources_n++;
        entries += source->n;
    }
    build->holds = holds;
    (void)writ_making_begin(build, ledger->segments.next_id++, entries);
}

/* Begins to merge `n` segments of the list, from `first` on. */
static void
begin_merge(struct writ_segments *segments, struct writ_segment *first, size_t n, size_t level)
{
    struct writ_making *build = &segments->merge;
    size_t entries = 0;

    for (size_t i = 0; i < n; i++, first = first->next) {
        build->sources[i] = (struct writ_making_source){.segment = first};
        entries += first->entries;
    }
    build->sources_n = n;
    if (writ_making_begin(build, segments->next_id++, entries)) {
        build->made->level = level;
    }
}

/* ---- what there is to do ---- */

/* The first run of so many segments that are of one level, and whose times are not too far
 * apart. */
static struct writ_segment *
find_mergeable(const struct writ_ledger *ledger)
{
    int64_t span_us = ledger->keeping.most_us / SPAN_PARTS;
    size_t merge = ledger->options.segment_merge;

    for (struct writ_segment *first = ledger->segments.list; first != NULL; first = first->next) {
        const struct writ_segment *last = first;
        size_t n = 1;

        while (n < merge && last->next != NULL && last->next->level == first->level) {
            last = last->next;
            n++;
        }
        if (n == merge && last->newest_us - first->oldest_us <= span_us) {
            return first;
        }
    }
    return NULL;
}

/* Drops segments in which no claim stands. A segment with claims of boundaries that may be open is
 * replaced by one of these claims. */
static void
look_for_due(struct writ_ledger *ledger)
{
    struct writ_segment *segment = ledger->segments.list;

    while (segment != NULL && segment->due_us > ledger->log.last_us) { /* keeps (3) */
        segment = segment->next;
    }
    if (segment == NULL) {
        return;
    }
    if (writ_boundaries_oldest(&ledger->boundaries) > segment->boundary_most) {
        writ_segments_drop(&ledger->segments, segment);
    } else {
        begin_merge(&ledger->segments, segment, 1, segment->level);
    }
}

static void
begin(struct writ_ledger *ledger)
{
    struct writ_segments *segments = &ledger->segments;
    size_t claims = ledger->options.segment_claims;

    if (segments->flush.made == NULL && ledger->claims.concluded >= claims) {
        begin_flush(ledger, claims);
    }
    if (segments->merge.made == NULL) {
        struct writ_segment *first = find_mergeable(ledger);

        if (first != NULL) {
            begin_merge(&ledger->segments, first, ledger->options.segment_merge, first->level + 1);
        } else {
            look_for_due(ledger);
        }
    }
}

static WRIT_RESULT
read_block(void *ctx, const struct writ_segment *segment, size_t block,
    uint8_t ret[WRIT_SEGMENT_BLOCK], size_t *ret_len, struct writ_err *err)
{
    return writ_once_read(ctx, segment, block, ret, ret_len, err);
}

static bool
still_stands(void *ctx, const struct writ_claim_facts *facts)
{
    const struct writ_ledger *ledger = ctx;

    return writ_once_stands(&ledger->boundaries, facts, ledger->log.last_us);
}

static void
advance(struct writ_ledger *ledger, struct writ_making *build, size_t most)
{
    const struct writ_making_means means = {read_block, still_stands, ledger};
    struct writ_err err = {0};

    if (build->made != NULL && !writ_is_ok(writ_making_blocks(&means, build, most, &err))) {
        give_up(&ledger->segments, build); /* begun again in a later turn */
        if (ledger->disk.poisoned) {
            writ_group_trouble(ledger, &err);
        }
    }
}

/* Keeps (2). */
static bool
is_named(const struct writ_manifest *manifest, const struct writ_segment *segment)
{
    return segment->named != 0 && segment->named >= manifest->number;
}

static struct writ_segment *
droppable(const struct writ_ledger *ledger)
{
    struct writ_segment *segment = ledger->segments.gone;

    while (segment != NULL && is_named(&ledger->manifest, segment)) {
        segment = segment->next;
    }
    return segment;
}

bool
writ_once_is_held_up(const struct writ_ledger *ledger)
{
    return ledger->segments.gone != NULL && droppable(ledger) == NULL;
}

bool
writ_once_turn(struct writ_ledger *ledger, size_t records)
{
    struct writ_segments *segments = &ledger->segments;
    size_t most = SLICE_LEAST + records / SLICE_PER;

    begin(ledger);
    most = most < WRIT_MAKING_SLICE ? most : WRIT_MAKING_SLICE;
    advance(ledger, &segments->flush, most);
    advance(ledger, &segments->merge, most);
    return segments->flush.made != NULL || segments->merge.made != NULL ||
           droppable(ledger) != NULL;
}

/* ---- on disk ---- */

static WRIT_RESULT
write_pieces(struct writ_disk *disk, struct writ_making *build, struct writ_err *err)
{
    uint8_t bytes[WRIT_SEGMENT_PIECE];

    build->memory_next = build->memory;
    for (size_t i = 0; i < build->pieces_ready; i++) {
        size_t piece = build->pieces + i;
        struct writ_view view = writ_view(bytes, writ_segment_put_piece(build->made, piece, bytes));

        WRIT_TRY(writ_digest_stream_add(&build->memory_next, view, err));
        WRIT_TRY(writ_disk_run(disk, WRIT_SQL_SEGMENT_PUT, err, "ub",
            writ_segments_piece_row(build->made, piece), view));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
write_build(struct writ_ledger *ledger, struct writ_making *build, struct writ_err *err)
{
    for (size_t i = 0; i < build->ready; i++) {
        size_t block = build->first + i;
        size_t n = build->made->entries - block * WRIT_SEGMENT_ENTRIES;

        n = n < WRIT_SEGMENT_ENTRIES ? n : WRIT_SEGMENT_ENTRIES;
        WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_SEGMENT_PUT, err, "ub",
            writ_segments_block_row(build->made, block),
            writ_view(build->bytes + i * WRIT_SEGMENT_BLOCK, n * WRIT_SEGMENT_ENTRY)));
    }
    return write_pieces(&ledger->disk, build, err);
}

WRIT_RESULT
writ_once_write(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_segments *segments = &ledger->segments;
    uint64_t deleted = 0;

    WRIT_TRY(write_build(ledger, &segments->flush, err));
    WRIT_TRY(write_build(ledger, &segments->merge, err));
    segments->dropping = droppable(ledger);
    if (segments->dropping != NULL) {
        WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_SEGMENT_DROP, err, "uuu",
            segments->dropping->id << WRIT_SEGMENTS_BLOCK_BITS,
            segments->dropping->id_end << WRIT_SEGMENTS_BLOCK_BITS, (uint64_t)DELETE_SLICE));
        WRIT_TRY(writ_disk_changed(&ledger->disk, &deleted, err));
        segments->dropped = deleted < DELETE_SLICE;
    }
    return WRIT_DONE;
}

/* The blocks of the new segment are on disk: it replaces its sources. */
static void
complete(struct writ_ledger *ledger, struct writ_making *build)
{
    struct writ_segments *segments = &ledger->segments;
    struct writ_segment *made = WRIT_TAKE(build->made);

    (void)writ_digest_stream_end(&build->memory, &made->memory, NULL).code; /* it was begun */
    if (made->due_us <= ledger->log.last_us) { /* kept because of open boundaries: checked from time
                                                  to time */
        made->due_us = ledger->log.last_us + ledger->keeping.most_us / DUE_PARTS + 1;
    }
    if (made->entries > 0) {
        writ_segments_add(segments, made, build->sources[0].segment);
    } else {
        writ_segment_free(made);
    }
    for (size_t i = 0; i < build->sources_n; i++) {
        if (build->sources[i].segment != NULL) {
            writ_segments_drop(segments, build->sources[i].segment); /* keeps (2) */
        }
    }
    for (size_t i = 0; i < build->holds; i++) {
        writ_claims_remove(&ledger->claims, ledger->claims.first); /* keeps (1) */
    }
    writ_making_wipe(build);
}

static void
build_written(struct writ_ledger *ledger, struct writ_making *build)
{
    build->first += build->ready;
    build->ready = 0;
    build->pieces += build->pieces_ready;
    build->pieces_ready = 0;
    build->memory = build->memory_next;
    if (build->made != NULL && build->ended && build->pieces == writ_segment_pieces(build->made)) {
        complete(ledger, build);
    }
}

void
writ_once_written(struct writ_ledger *ledger)
{
    struct writ_segments *segments = &ledger->segments;

    if (segments->dropping != NULL && segments->dropped) {
        writ_segments_dropped(segments);
    }
    segments->dropping = NULL;
    build_written(ledger, &segments->flush);
    build_written(ledger, &segments->merge);
}

/* ---- in memory ---- */

void
writ_once_sweep(struct writ_ledger *ledger)
{
    struct writ_hold *hold = ledger->claims.first;

    while (hold != NULL && ledger->segments.flush.made == NULL) { /* a flush counts them */
        struct writ_hold *next = hold->next;

        if (!writ_once_stands(
                &ledger->boundaries, &hold->facts, ledger->log.last_us)) { /* keeps (3) */
            writ_claims_remove(&ledger->claims, hold);
        }
        hold = next;
    }
}

/* ---- at the start ---- */

static WRIT_RESULT
read_piece(struct writ_disk *disk, struct writ_segment *segment, size_t piece,
    struct writ_digest_stream *memory, struct writ_err *err)
{
    bool row = false, taken = false;
    writ_result result = writ_disk_query(
        disk, WRIT_SQL_SEGMENT_BLOCK, &row, err, "u", writ_segments_piece_row(segment, piece));

    if (writ_is_ok(result) && row) {
        struct writ_view bytes = writ_disk_bytes(disk, WRIT_SQL_SEGMENT_BLOCK, 0);

        result = writ_digest_stream_add(memory, bytes, err);
        taken = writ_segment_take_piece(segment, piece, bytes);
    }
    writ_disk_end(disk, WRIT_SQL_SEGMENT_BLOCK);
    WRIT_TRY(result);
    if (!taken) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a part of segment %llu is missing",
            (unsigned long long)segment->id);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_pieces(struct writ_ledger *ledger, struct writ_segment *segment, struct writ_err *err)
{
    struct writ_digest_stream memory;
    struct writ_digest digest;

    WRIT_TRY(writ_digest_stream_init(&memory, err));
    for (size_t i = 0; i < writ_segment_pieces(segment); i++) {
        WRIT_TRY(read_piece(&ledger->disk, segment, i, &memory, err));
    }
    WRIT_TRY(writ_digest_stream_end(&memory, &digest, err));
    if (!writ_digest_equal(&digest, &segment->memory)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "segment %llu has changed since it was written",
            (unsigned long long)segment->id);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_once_restore(struct writ_ledger *ledger, struct writ_segment *segment, struct writ_err *err)
{
    writ_result result = read_pieces(ledger, segment, err);

    if (!writ_is_ok(result)) {
        writ_segment_free(segment);
        return result;
    }
    segment->id_end = segment->id + 1;
    writ_segments_add(&ledger->segments, segment, NULL);
    if (segment->id >= ledger->segments.next_id) {
        ledger->segments.next_id = segment->id + 1;
    }
    return WRIT_DONE;
}

/* The first restored segment whose number is at least that. */
static uint64_t
next_restored(const struct writ_segments *segments, uint64_t id)
{
    uint64_t least = ID_MOST;

    for (const struct writ_segment *at = segments->list; at != NULL; at = at->next) {
        least = at->id >= id && at->id < least ? at->id : least;
    }
    return least;
}

/* The rows of segments from `id` up to `id_end` are to be deleted. */
static WRIT_RESULT
drop_between(struct writ_segments *segments, uint64_t id, uint64_t id_end, struct writ_err *err)
{
    struct writ_segment *rows = id < id_end ? writ_alloc(sizeof *rows) : NULL;

    if (rows == NULL && id < id_end) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the segments of the ledger");
    }
    if (rows != NULL) {
        rows->id = id;
        rows->id_end = id_end;
        writ_segments_discard(segments, rows);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_once_begin(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_segments *segments = &ledger->segments;
    struct writ_disk *disk = &ledger->disk;
    uint64_t first = 0, last = 0, last_of_all = 0;
    bool row = false;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_SEGMENT_ENDS, &row, err, ""));
    if (row) {
        first = (uint64_t)writ_disk_int(disk, WRIT_SQL_SEGMENT_ENDS, 0);
        last = (uint64_t)writ_disk_int(disk, WRIT_SQL_SEGMENT_ENDS, 1);
        last_of_all = (uint64_t)writ_disk_int(disk, WRIT_SQL_SEGMENT_ENDS, 2);
    }
    writ_disk_end(disk, WRIT_SQL_SEGMENT_ENDS);
    if (first > INT64_MAX || last_of_all >= writ_manifest_note_row(2, 0)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the table `segment` has rows that no ledger writes" WRIT_MANIFEST_HINT);
    }
    if (segments->next_id <= last >> WRIT_SEGMENTS_BLOCK_BITS) {
        segments->next_id = (last >> WRIT_SEGMENTS_BLOCK_BITS) + 1;
    }
    for (uint64_t id = 0; id < segments->next_id;) {
        uint64_t named = next_restored(segments, id);

        named = named < segments->next_id ? named : segments->next_id;
        WRIT_TRY(drop_between(segments, id, named, err));
        id = named + 1;
    }
    return WRIT_DONE;
}

const struct writ_participant writ_once_participant = {
    .prepare = writ_once_turn, .write = writ_once_write, .finish = writ_once_written};
