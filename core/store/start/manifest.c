/* 1. Nothing writes to the area of the note on disk: a new manifest goes into the other area.
 * 2. The rows that a manifest names are on disk as long as its note is: `named` of a segment is the
 *    number of the last one that names it. */
#include "store/start/manifest.h"

#include "base/text.h"
#include "store/start/image.h"
#include "store/write/group.h"
#include "store/write/once.h"
#include "store/write/turn.h"

#define PIECE_PER  128           /* another piece for so many records of a group */
#define TURN_ALL   ((size_t)256) /* records that would justify a transaction of its own */
#define THINGS_PER 2             /* records for each thing in memory, between two manifests */

static void
abandon(struct writ_manifest *manifest)
{
    writ_buf_wipe(&manifest->bytes);
    manifest->bytes = (struct writ_buf){0};
    manifest->at = manifest->ready = 0;
}

/* ---- writing ---- */

static void
begin(struct writ_ledger *ledger)
{
    struct writ_manifest *m = &ledger->manifest;

    abandon(m);
    m->bytes = writ_buf_make(WRIT_MANIFEST_BYTES_MAX);
    writ_image_put(ledger, &m->bytes);
    if (!writ_is_ok(writ_buf_check(&m->bytes, NULL)) ||
        !writ_is_ok(writ_tree_root(&ledger->log.edge, &m->root, NULL)) ||
        !writ_is_ok(writ_digest_stream_init(&m->digest, NULL))) {
        abandon(m); /* tried again later */
        return;
    }
    m->tried = (m->tried > m->number ? m->tried : m->number) + 1;
    m->next_leaf = ledger->log.next_leaf;
    for (struct writ_segment *at = ledger->segments.list; at != NULL; at = at->next) {
        at->named = m->tried; /* keeps (2) */
    }
}

static bool
is_due(const struct writ_ledger *ledger, bool idle)
{
    const struct writ_manifest *m = &ledger->manifest;
    size_t things = THINGS_PER * writ_image_things(ledger);
    size_t most = ledger->options.manifest_records;

    return ledger->log.next_leaf - m->leaf >= (things > most ? things : most) ||
           (idle && m->number > 0 && (m->stale || writ_once_is_held_up(ledger)));
}

void
writ_manifest_keep(struct writ_ledger *ledger, bool idle)
{
    if (ledger->manifest.bytes.len == 0 && !ledger->disk.poisoned && !ledger->trouble.refusing &&
        ledger->log.next_leaf > 0 && is_due(ledger, idle)) {
        begin(ledger);
    }
}

bool
writ_manifest_turn(struct writ_ledger *ledger, size_t records)
{
    struct writ_manifest *m = &ledger->manifest;
    size_t left = m->bytes.len - m->at, most = WRIT_MANIFEST_PIECE * (1 + records / PIECE_PER);

    m->ready = left < most ? left : most;
    return m->bytes.len > 0;
}

static WRIT_RESULT
write_note(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_manifest *m = &ledger->manifest;
    struct writ_manifest_stated stated = {
        .leaf = m->next_leaf, .area = 1 - m->area, .bytes = m->bytes.len, .root = m->root};
    struct writ_digest_stream digest = m->digest_next;
    writ_auto_buf text = writ_buf_make(WRIT_MANIFEST_TEXT_MAX),
                  note = writ_buf_make(WRIT_NOTE_BYTES_MAX);

    WRIT_TRY(writ_digest_stream_end(&digest, &stated.digest, err));
    writ_manifest_note_put(writ_buf_view(&ledger->trust.origin), &stated, &text);
    WRIT_TRY(writ_buf_check(&text, err));
    WRIT_TRY(writ_heads_sign_text(&ledger->trust, writ_buf_view(&text), &note, err));
    return writ_disk_run(
        &ledger->disk, WRIT_SQL_SEGMENT_PUT, err, "ub", WRIT_MANIFEST_NOTE, writ_buf_view(&note));
}

/* Deletes the rows that an earlier, longer manifest left in the same area. */
static WRIT_RESULT
drop_rest(struct writ_ledger *ledger, struct writ_err *err)
{
    const struct writ_manifest *m = &ledger->manifest;
    uint64_t area = 1 - m->area;

    return writ_disk_run(&ledger->disk, WRIT_SQL_SEGMENT_DROP, err, "uuu",
        writ_manifest_note_row(
            area, (m->bytes.len + WRIT_MANIFEST_PIECE - 1) / WRIT_MANIFEST_PIECE),
        writ_manifest_note_row(area + 1, 0), WRIT_MANIFEST_AREA_ROWS);
}

WRIT_RESULT
writ_manifest_write(struct writ_ledger *ledger, struct writ_err *err)
{
    struct writ_manifest *m = &ledger->manifest;

    if (m->ready == 0) {
        return WRIT_DONE;
    }
    m->digest_next = m->digest;
    for (size_t at = m->at; at < m->at + m->ready; at += WRIT_MANIFEST_PIECE) {
        struct writ_view piece = writ_view_sub(writ_buf_view(&m->bytes), at, WRIT_MANIFEST_PIECE);

        WRIT_TRY(writ_digest_stream_add(&m->digest_next, piece, err));
        WRIT_TRY(writ_disk_run(&ledger->disk, WRIT_SQL_SEGMENT_PUT, err, "ub",
            writ_manifest_note_row(1 - m->area, at / WRIT_MANIFEST_PIECE), piece)); /* keeps (1) */
    }
    if (m->at + m->ready < m->bytes.len) {
        return WRIT_DONE;
    }
    WRIT_TRY(drop_rest(ledger, err));
    return write_note(ledger, err);
}

void
writ_manifest_written(struct writ_ledger *ledger)
{
    struct writ_manifest *m = &ledger->manifest;

    if (m->ready == 0) {
        return;
    }
    m->at += m->ready;
    m->ready = 0;
    m->digest = m->digest_next;
    if (m->at == m->bytes.len) {
        m->number = m->tried;
        m->leaf = m->next_leaf;
        m->area = 1 - m->area;
        m->stale = false;
        abandon(m);
    }
}

/* ---- in transactions of its own ---- */

static WRIT_RESULT
write_both(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(writ_once_write(ledger, err));
    return writ_manifest_write(ledger, err);
}

static WRIT_RESULT
transact(struct writ_ledger *ledger, struct writ_err *err)
{
    WRIT_TRY(writ_turn_begin(ledger, err));
    WRIT_TRY(writ_turn_finish(ledger, write_both(ledger, err), err));
    writ_once_written(ledger);
    writ_manifest_written(ledger);
    return WRIT_DONE;
}

WRIT_RESULT
writ_manifest_work(struct writ_ledger *ledger, size_t slices, struct writ_err *err)
{
    for (size_t i = 0; i < slices; i++) {
        bool segments = writ_once_turn(ledger, TURN_ALL);

        if (!writ_manifest_turn(ledger, TURN_ALL) && !segments) {
            return WRIT_DONE;
        }
        WRIT_TRY(transact(ledger, err));
    }
    return WRIT_DONE;
}

void
writ_manifest_close(struct writ_ledger *ledger)
{
    struct writ_manifest *m = &ledger->manifest;
    writ_result result = WRIT_DONE;

    if (ledger->disk.poisoned || ledger->log.next_leaf == 0 ||
        (m->number > 0 && m->leaf == ledger->log.next_leaf && !m->stale)) {
        return;
    }
    begin(ledger);
    while (writ_is_ok(result) && writ_manifest_turn(ledger, TURN_ALL)) {
        result = transact(ledger, NULL);
    }
}

/* ---- at the start ---- */

static WRIT_RESULT
read_row(
    struct writ_disk *disk, uint64_t id, struct writ_buf *ret, bool *ret_row, struct writ_err *err)
{
    writ_result result = writ_disk_query(disk, WRIT_SQL_SEGMENT_BLOCK, ret_row, err, "u", id);

    if (writ_is_ok(result) && *ret_row) {
        writ_buf_put(ret, writ_disk_bytes(disk, WRIT_SQL_SEGMENT_BLOCK, 0));
        result = writ_buf_check(ret, err);
    }
    writ_disk_end(disk, WRIT_SQL_SEGMENT_BLOCK);
    return result;
}

#define DOES_NOT_HOLD(err, what)                                                                   \
    WRIT_FAIL((err), WRIT_E_MISMATCH,                                                              \
        "what the ledger keeps for its start (table `segment`) " what WRIT_MANIFEST_HINT)

/* It is over records that the ledger begins with. */
static WRIT_RESULT
check_root(
    struct writ_ledger *ledger, const struct writ_manifest_stated *stated, struct writ_err *err)
{
    struct writ_heads heads = {0};
    struct writ_tree_source source;
    struct writ_tree_edge edge;
    struct writ_digest root;
    writ_result result;

    if (stated->leaf == 0 || stated->leaf > ledger->log.edge.size) {
        DOES_NOT_HOLD(err, "is over more records than there are");
    }
    WRIT_TRY(writ_heads_open(ledger->disk.sql, &heads, err));
    source = writ_heads_source(&heads);
    result = writ_tree_edge_of(&source, stated->leaf, &edge, err);
    writ_heads_close(&heads);
    WRIT_TRY(result);
    WRIT_TRY(writ_tree_root(&edge, &root, err));
    if (!writ_digest_equal(&root, &stated->root)) {
        DOES_NOT_HOLD(err, "is over other records");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_bytes(struct writ_ledger *ledger, const struct writ_manifest_stated *stated,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_digest digest;
    bool row = true;

    *ret = writ_buf_make(WRIT_MANIFEST_BYTES_MAX + WRIT_MANIFEST_PIECE);
    for (uint64_t i = 0; row && ret->len < stated->bytes; i++) {
        WRIT_TRY(read_row(&ledger->disk, writ_manifest_note_row(stated->area, i), ret, &row, err));
    }
    WRIT_TRY(writ_digest_bytes(writ_buf_view(ret), &digest, err));
    if (ret->len != stated->bytes || !writ_digest_equal(&digest, &stated->digest)) {
        DOES_NOT_HOLD(err, "has changed since it was written");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
believe(struct writ_ledger *ledger, struct writ_manifest_stated *ret,
    enum writ_heads_signed *ret_who, struct writ_err *err)
{
    struct writ_manifest *m = &ledger->manifest;
    struct writ_note note;

    if (!writ_is_ok(writ_note_read(writ_buf_view(&m->loaded), &note, NULL)) ||
        !writ_manifest_note_read(note.text, writ_buf_view(&ledger->trust.origin), ret)) {
        DOES_NOT_HOLD(err, "has no readable note");
    }
    WRIT_TRY(writ_heads_who_signed(&ledger->trust, &note, m->loaded_us, ret_who, err));
    if (*ret_who == WRIT_HEADS_UNSIGNED) {
        DOES_NOT_HOLD(err, "is not signed by a key of this ledger");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_manifest_load(struct writ_ledger *ledger, uint64_t *ret_leaf, struct writ_buf *ret_bytes,
    struct writ_err *err)
{
    struct writ_manifest *m = &ledger->manifest;
    enum writ_heads_signed who = WRIT_HEADS_REVOKED; /* after a loss records are read again */
    struct writ_manifest_stated stated;
    bool row = false;
    writ_result result;

    *ret_leaf = 0;
    m->loaded = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    m->loaded_us = writ_clock_wall_us(ledger->options.clock);
    result = read_row(&ledger->disk, WRIT_MANIFEST_NOTE, &m->loaded, &row, err);
    if (result.code == WRIT_E_LIMIT) {
        DOES_NOT_HOLD(err, "has no readable note");
    }
    WRIT_TRY(result);
    if (!row) {
        return WRIT_DONE;
    }
    if (!ledger->options.resume) {
        WRIT_TRY(believe(ledger, &stated, &who, err));
    }
    if (who == WRIT_HEADS_SIGNED && stated.leaf < ledger->removing.first) {
        who = WRIT_HEADS_REVOKED; /* the records after it are gone: the rest are read */
    }
    if (who == WRIT_HEADS_REVOKED) { /* the rows that it names are about to be deleted */
        writ_buf_clear(&m->loaded);
        return writ_disk_run(&ledger->disk, WRIT_SQL_SEGMENT_DROP, err, "uuu", WRIT_MANIFEST_NOTE,
            WRIT_MANIFEST_NOTE + 1, UINT64_C(1));
    }
    WRIT_TRY(check_root(ledger, &stated, err));
    WRIT_TRY(read_bytes(ledger, &stated, ret_bytes, err));
    m->number = m->tried = 1;
    m->leaf = stated.leaf;
    m->area = stated.area;
    *ret_leaf = stated.leaf;
    return WRIT_DONE;
}

WRIT_RESULT
writ_manifest_holds(const struct writ_manifest *m, const struct writ_heads_trust *trust, bool *ret,
    struct writ_err *err)
{
    enum writ_heads_signed who = WRIT_HEADS_SIGNED;
    struct writ_note note;

    if (m->loaded.len > 0) {
        WRIT_TRY(writ_note_read(writ_buf_view(&m->loaded), &note, err));
        WRIT_TRY(writ_heads_who_signed(trust, &note, m->loaded_us, &who, err));
    }
    *ret = who == WRIT_HEADS_SIGNED;
    return WRIT_DONE;
}

const struct writ_participant writ_manifest_participant = {
    .prepare = writ_manifest_turn, .write = writ_manifest_write, .finish = writ_manifest_written};
