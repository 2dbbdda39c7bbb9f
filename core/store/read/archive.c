/* 1. The checkpoint is replaced when everything that it covers is on disk.
 * 2. A full tile is never written again; the last one of each level is, as it grows.
 * 3. Every record is compared with the tree of the ledger. Those of the last bundle are read from
 *    the archive, where they are already: the ledger may have given them up.
 * 4. One process at a time writes an archive: a checkpoint never gets an older one in its place. */
#include "store/read/archive.h"

#include "evidence/log/tile.h"
#include "store/read/archive_check.h"
#include "store/read/archive_file.h"
#include "store/read/archive_read.h"
#include "store/read/proofs.h"
#include "store/read/tail.h"
#include "store/tables/entry.h"
#include "store/trusted/trusted.h"

#define BUNDLE_MAX ((size_t)WRIT_TILE_WIDTH * (2 + WRIT_TILE_ENTRY_MAX))
#define TILE_MAX   ((size_t)WRIT_TILE_WIDTH * WRIT_DIGEST_BYTES)

struct archiving {
    const struct writ_archive *archive;
    struct writ_archive_report report;
    int folder;
    struct writ_proofs *proofs;
    struct writ_tail *tail;
    struct writ_tree_source source;
    struct writ_buf bytes; /* of one file */
    struct writ_buf note;  /* the checkpoint to be published */
    writ_result result;    /* of a record */
    struct writ_err *err;
};

static void
archiving_wipe(struct archiving *a)
{
    writ_trusted_close(&a->folder);
    writ_tail_close(a->tail);
    writ_proofs_close(a->proofs);
    writ_buf_wipe(&a->bytes);
    writ_buf_wipe(&a->note);
}

/* ---- what there is */

/* The size of the archive so far, whose records the ledger must contain. */
static WRIT_RESULT
read_before(struct archiving *a)
{
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_checkpoint had;
    writ_result result =
        writ_archive_file_read(a->folder, WRIT_ARCHIVE_FILE_CHECKPOINT, &note, a->err);

    if (result.code == WRIT_E_ABSENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    WRIT_TRY(writ_proofs_follow(a->proofs, writ_buf_view(&note), true, &had, a->err));
    a->report.before = had.size;
    return WRIT_DONE;
}

/* The ledger has what the archive lacks. */
static WRIT_RESULT
check_joins(struct archiving *a)
{
    uint64_t first = 0;

    WRIT_TRY(writ_tail_first(a->tail, &first, a->err));
    if (a->report.before < first) {
        WRIT_FAIL(a->err, WRIT_E_MISMATCH,
            "the archive has %llu records, and the ledger begins with record %llu: continue the "
            "archive that has those in between",
            (unsigned long long)a->report.before, (unsigned long long)first);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_head(struct archiving *a)
{
    struct writ_checkpoint head;
    struct writ_tree_edge edge;
    struct writ_digest root;
    struct writ_view note;

    WRIT_TRY(writ_proofs_head(a->proofs, &head, &note, a->err));
    WRIT_TRY(writ_tree_edge_of(&a->source, head.size, &edge, a->err));
    WRIT_TRY(writ_tree_root(&edge, &root, a->err));
    if (!writ_digest_equal(&root, &head.root)) {
        WRIT_FAIL(a->err, WRIT_E_MISMATCH,
            "the root of the tree differs from the signed one: see `writ ledger verify`");
    }
    a->report.size = head.size;
    a->report.root = head.root;
    writ_buf_put(&a->note, note);
    return writ_buf_check(&a->note, a->err);
}

/* ---- files */

static WRIT_RESULT
put_file(struct archiving *a, const struct writ_tile *tile, struct writ_view bytes)
{
    char path[WRIT_TILE_PATH_MAX];

    writ_tile_path(tile, path);
    return writ_archive_file_write(a->folder, path, bytes, a->err);
}

static WRIT_RESULT
put_long(struct archiving *a, const struct writ_tail_record *record)
{
    const struct writ_tile tile = {.kind = WRIT_TILE_LONG, .index = record->leaf};

    return put_file(a, &tile, record->body);
}

/* keeps (3) */
static WRIT_RESULT
check_record(struct archiving *a, uint64_t at, struct writ_view body, const char *where)
{
    struct writ_digest leaf, node;

    WRIT_TRY(writ_tree_leaf(body, &leaf, a->err));
    WRIT_TRY(a->source.node(a->source.ctx, 0, at, &node, a->err));
    if (!writ_digest_equal(&leaf, &node)) {
        WRIT_FAIL(a->err, WRIT_E_MISMATCH, "record %llu differs from the signed one: see `%s`",
            (unsigned long long)at, where);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_record(struct archiving *a, const struct writ_tail_record *record)
{
    bool is_long = record->body.len > WRIT_TILE_ENTRY_MAX;
    size_t len = is_long ? 0 : record->body.len;

    WRIT_TRY(check_record(a, record->leaf, record->body, "writ ledger verify"));
    writ_buf_byte(&a->bytes, (char)(len >> 8));
    writ_buf_byte(&a->bytes, (char)len);
    if (is_long) {
        return put_long(a, record);
    }
    writ_buf_put(&a->bytes, record->body);
    return writ_buf_check(&a->bytes, a->err);
}

static bool
take_record(void *ctx, const struct writ_tail_record *record)
{
    struct archiving *a = ctx;

    a->result = add_record(a, record);
    return writ_is_ok(a->result);
}

/* The entries that the archive has of a bundle. */
static WRIT_RESULT
read_former(struct archiving *a, uint64_t index, unsigned n)
{
    struct writ_tile tile = writ_tile_at(WRIT_TILE_ENTRIES, 0, index, a->report.before);
    struct writ_view rest, body;
    char path[WRIT_TILE_PATH_MAX];

    writ_tile_path(&tile, path);
    WRIT_TRY(writ_archive_file_read(a->folder, path, &a->bytes, a->err));
    rest = writ_buf_view(&a->bytes);
    for (unsigned i = 0; i < n; i++) {
        uint64_t leaf = index * WRIT_TILE_WIDTH + i;

        if (!writ_archive_read_entry(&rest, &body)) {
            WRIT_FAIL(a->err, WRIT_E_MISMATCH, "%s is damaged: see `writ verify archive`", path);
        }
        WRIT_TRY(body.len == 0 ? WRIT_DONE : check_record(a, leaf, body, "writ verify archive"));
    }
    if (rest.len > 0) {
        WRIT_FAIL(a->err, WRIT_E_MISMATCH, "%s is damaged: see `writ verify archive`", path);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_bundle(struct archiving *a, uint64_t index)
{
    struct writ_tile tile = writ_tile_at(WRIT_TILE_ENTRIES, 0, index, a->report.size);
    uint64_t first = index * WRIT_TILE_WIDTH;
    unsigned has = a->report.before > first ? (unsigned)(a->report.before - first) : 0;

    writ_buf_clear(&a->bytes);
    if (has > 0) {
        WRIT_TRY(read_former(a, index, has));
    }
    a->result = WRIT_DONE;
    if (tile.width > has) {
        WRIT_TRY(writ_tail_read(a->tail, first + has, tile.width - has, take_record, a, a->err));
    }
    WRIT_TRY(a->result);
    return put_file(a, &tile, writ_buf_view(&a->bytes));
}

static WRIT_RESULT
put_hashes(struct archiving *a, unsigned level, uint64_t index)
{
    struct writ_tile tile = writ_tile_at(WRIT_TILE_HASHES, level, index, a->report.size);

    writ_buf_clear(&a->bytes);
    for (unsigned i = 0; i < tile.width; i++) {
        struct writ_digest node;

        WRIT_TRY(a->source.node(
            a->source.ctx, level * WRIT_TILE_BITS, index * WRIT_TILE_WIDTH + i, &node, a->err));
        writ_buf_put(&a->bytes, writ_view(node.bytes, sizeof node.bytes));
    }
    WRIT_TRY(writ_buf_check(&a->bytes, a->err));
    return put_file(a, &tile, writ_buf_view(&a->bytes));
}

/* Keeps (2). */
static WRIT_RESULT
put_level(struct archiving *a, unsigned level)
{
    const struct writ_archive *archive = a->archive;
    uint64_t count = writ_tile_count(a->report.size, level);

    for (uint64_t i = writ_tile_count(a->report.before, level) / WRIT_TILE_WIDTH;
         i * WRIT_TILE_WIDTH < count; i++) {
        WRIT_TRY(put_hashes(a, level, i));
        if (level > 0) {
            continue;
        }
        WRIT_TRY(put_bundle(a, i));
        if (archive->progress != NULL &&
            !archive->progress(archive->ctx, i * WRIT_TILE_WIDTH, a->report.size)) {
            WRIT_FAIL(a->err, WRIT_E_BUSY, "the archive was ended before it was complete");
        }
    }
    return WRIT_DONE;
}

/* The narrower tiles of before have wider ones in their place. */
static void
drop_narrow(struct archiving *a, enum writ_tile_kind kind, unsigned level)
{
    uint64_t index = writ_tile_count(a->report.before, level) / WRIT_TILE_WIDTH;
    struct writ_tile was = writ_tile_at(kind, level, index, a->report.before);
    struct writ_tile now = writ_tile_at(kind, level, index, a->report.size);
    char path[WRIT_TILE_PATH_MAX];

    if (was.width > 0 && was.width < now.width) {
        writ_tile_path(&was, path);
        writ_archive_file_drop(a->folder, path);
    }
}

static WRIT_RESULT
append(struct archiving *a)
{
    unsigned levels = 0;

    while (writ_tile_count(a->report.size, levels) > 0) {
        WRIT_TRY(put_level(a, levels++));
    }
    WRIT_TRY(writ_archive_file_settle(a->folder, a->err));
    WRIT_TRY(writ_archive_file_write(
        a->folder, WRIT_ARCHIVE_FILE_CHECKPOINT, writ_buf_view(&a->note), a->err)); /* keeps (1) */
    WRIT_TRY(writ_archive_file_settle(a->folder, a->err));
    drop_narrow(a, WRIT_TILE_ENTRIES, 0);
    while (levels-- > 0) {
        drop_narrow(a, WRIT_TILE_HASHES, levels);
    }
    return WRIT_DONE;
}

/* ---- reading it again */

static void
state_wipe(struct writ_archive_state *state)
{
    writ_buf_wipe(&state->origin);
}

static WRIT_RESULT
verify(struct archiving *a)
{
    WRIT_AUTO(struct writ_archive_state, state_wipe) state = {.size = 0};
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    struct writ_archive_check check = {
        .folder = a->archive->folder, .progress = a->archive->progress, .ctx = a->archive->ctx};
    struct writ_checkpoint has;

    WRIT_TRY(writ_archive_file_read(a->folder, WRIT_ARCHIVE_FILE_CHECKPOINT, &note, a->err));
    WRIT_TRY(writ_proofs_follow(a->proofs, writ_buf_view(&note), true, &has, a->err));
    check.note = writ_buf_view(&note);
    return writ_archive_check_run(&check, &state, a->err);
}

WRIT_RESULT
writ_archive_write(
    const struct writ_archive *archive, struct writ_archive_report *ret, struct writ_err *err)
{
    WRIT_AUTO(struct archiving, archiving_wipe)
    a = {.archive = archive,
        .folder = -1,
        .bytes = writ_buf_make(BUNDLE_MAX),
        .note = writ_buf_make(WRIT_NOTE_BYTES_MAX),
        .err = err};

    WRIT_TRY(writ_proofs_open(archive->ledger, archive->ring, &a.proofs, err));
    WRIT_TRY(writ_tail_open(archive->ledger, &a.tail, err));
    a.source = writ_proofs_source(a.proofs);
    WRIT_TRY(writ_archive_file_make(archive->folder, &a.folder, err)); /* keeps (4) */
    WRIT_TRY(read_before(&a));
    WRIT_TRY(check_joins(&a));
    WRIT_TRY(read_head(&a));
    if (a.report.size > a.report.before) {
        WRIT_TRY(append(&a));
    }
    if (archive->verify) { /* also of what an earlier run, or another program, has written */
        WRIT_TRY(writ_archive_file_settle(a.folder, err));
        WRIT_TRY(verify(&a));
    }
    *ret = a.report;
    return WRIT_DONE;
}
