/* The tiles are made again from the records, and compared: a tile of level L is complete when 256
 * tiles of the level below are. */
#include "store/read/archive_check.h"

#include "evidence/log/tile.h"
#include "store/read/archive_file.h"
#include "store/read/archive_read.h"
#include "store/tables/entry.h"
#include "store/trusted/trusted.h"

#define BUNDLE_MAX ((size_t)WRIT_TILE_WIDTH * (2 + WRIT_TILE_ENTRY_MAX))
#define TILE_MAX   ((size_t)WRIT_TILE_WIDTH * WRIT_DIGEST_BYTES)
#define LEVELS     ((WRIT_TREE_LEVELS + WRIT_TILE_BITS - 1) / WRIT_TILE_BITS)

/* The tile of a level that is being made. */
struct made {
    char bytes[TILE_MAX];
    size_t len;
    uint64_t index;
    struct writ_tree_edge edge; /* over its digests */
};

struct checking {
    const struct writ_archive_check *check;
    int folder;
    struct writ_checkpoint head;
    struct writ_tree_edge edge;
    struct writ_buf note, bundle, file;
    struct made *levels; /* LEVELS of them */
    struct writ_err *err;
};

static void
checking_wipe(struct checking *c)
{
    writ_trusted_close(&c->folder);
    writ_buf_wipe(&c->note);
    writ_buf_wipe(&c->bundle);
    writ_buf_wipe(&c->file);
    writ_free(c->levels);
}

static WRIT_RESULT
read_file(struct checking *c, const struct writ_tile *tile, struct writ_buf *ret)
{
    char path[WRIT_TILE_PATH_MAX];
    writ_result result;

    writ_tile_path(tile, path);
    writ_buf_clear(ret);
    result = writ_archive_file_read(c->folder, path, ret, c->err);
    if (result.code == WRIT_E_ABSENT) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH, "%s is missing", path);
    }
    return result;
}

static WRIT_RESULT
differs(struct checking *c, const struct writ_tile *tile)
{
    char path[WRIT_TILE_PATH_MAX];

    writ_tile_path(tile, path);
    WRIT_FAIL(c->err, WRIT_E_MISMATCH, "%s is not what its checkpoint covers", path);
}

/* ---- tiles */

static WRIT_RESULT
end_tile(struct checking *c, unsigned level)
{
    struct made *made = &c->levels[level];
    struct writ_tile tile = {
        .level = level, .index = made->index, .width = (unsigned)(made->len / WRIT_DIGEST_BYTES)};

    WRIT_TRY(read_file(c, &tile, &c->file));
    if (!writ_view_equal(writ_buf_view(&c->file), writ_view(made->bytes, made->len))) {
        return differs(c, &tile);
    }
    made->index++;
    made->len = 0;
    return WRIT_DONE;
}

static WRIT_RESULT
add_digest(struct checking *c, const struct writ_digest *digest)
{
    struct writ_digest up = *digest;

    for (unsigned level = 0; level < LEVELS; level++) {
        struct made *made = &c->levels[level];

        (void)writ_view_place(writ_view(up.bytes, sizeof up.bytes), made->bytes + made->len);
        made->len += sizeof up.bytes;
        WRIT_TRY(writ_tree_append(&made->edge, &up, c->err));
        if (made->len < TILE_MAX) {
            return WRIT_DONE;
        }
        WRIT_TRY(writ_tree_root(&made->edge, &up, c->err));
        made->edge = (struct writ_tree_edge){0};
        WRIT_TRY(end_tile(c, level));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
end_tiles(struct checking *c)
{
    for (unsigned level = 0; level < LEVELS; level++) {
        if (c->levels[level].len > 0) {
            WRIT_TRY(end_tile(c, level));
        }
    }
    return WRIT_DONE;
}

/* ---- records */

static WRIT_RESULT
add_entry(struct checking *c, struct writ_view entry)
{
    struct writ_tile tile = {.kind = WRIT_TILE_LONG, .index = c->edge.size};
    struct writ_digest leaf;

    if (entry.len == 0) {
        WRIT_TRY(read_file(c, &tile, &c->file));
        entry = writ_buf_view(&c->file);
    }
    WRIT_TRY(writ_tree_leaf(entry, &leaf, c->err));
    WRIT_TRY(writ_tree_append(&c->edge, &leaf, c->err));
    return add_digest(c, &leaf);
}

static WRIT_RESULT
check_bundle(struct checking *c, uint64_t index)
{
    struct writ_tile tile = writ_tile_at(WRIT_TILE_ENTRIES, 0, index, c->head.size);
    struct writ_view rest, entry;

    WRIT_TRY(read_file(c, &tile, &c->bundle));
    rest = writ_buf_view(&c->bundle);
    for (unsigned i = 0; i < tile.width; i++) {
        if (!writ_archive_read_entry(&rest, &entry)) {
            return differs(c, &tile);
        }
        WRIT_TRY(add_entry(c, entry));
    }
    return rest.len == 0 ? WRIT_DONE : differs(c, &tile);
}

static WRIT_RESULT
check_records(struct checking *c)
{
    const struct writ_archive_check *check = c->check;

    for (uint64_t i = 0; i * WRIT_TILE_WIDTH < c->head.size; i++) {
        WRIT_TRY(check_bundle(c, i));
        if (check->progress != NULL &&
            !check->progress(check->ctx, i * WRIT_TILE_WIDTH, c->head.size)) {
            WRIT_FAIL(c->err, WRIT_E_BUSY, "the verification was ended before it was complete");
        }
    }
    return end_tiles(c);
}

/* ---- the whole */

static WRIT_RESULT
read_head(struct checking *c)
{
    const struct writ_archive_check *check = c->check;

    struct writ_note parts;

    WRIT_TRY(writ_archive_file_read(c->folder, WRIT_ARCHIVE_FILE_CHECKPOINT, &c->note, c->err));
    if (check->note.len > 0) {
        if (!writ_view_equal(writ_buf_view(&c->note), check->note)) {
            WRIT_FAIL(c->err, WRIT_E_MISMATCH, "the checkpoint of the archive is another one");
        }
        WRIT_TRY(writ_note_read(writ_buf_view(&c->note), &parts, c->err));
        return writ_checkpoint_read(parts.text, &c->head, c->err);
    }
    return writ_checkpoint_verify(
        writ_buf_view(&c->note), check->keys, check->keys_n, &c->head, c->err);
}

static WRIT_RESULT
check_root(struct checking *c, struct writ_archive_state *ret)
{
    struct writ_archive_state state = {
        .origin = writ_buf_make(WRIT_NOTE_BYTES_MAX), .size = c->head.size};

    WRIT_TRY(writ_tree_root(&c->edge, &state.root, c->err));
    if (!writ_digest_equal(&state.root, &c->head.root)) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH, "the records are not those that the checkpoint covers");
    }
    writ_buf_put(&state.origin, c->head.origin);
    WRIT_TRY(writ_buf_check(&state.origin, c->err));
    *ret = state;
    return WRIT_DONE;
}

WRIT_RESULT
writ_archive_check_run(
    const struct writ_archive_check *check, struct writ_archive_state *ret, struct writ_err *err)
{
    WRIT_AUTO(struct checking, checking_wipe)
    c = {.check = check,
        .folder = -1,
        .note = writ_buf_make(WRIT_NOTE_BYTES_MAX),
        .bundle = writ_buf_make(BUNDLE_MAX),
        .file = writ_buf_make(WRIT_LEDGER_RECORD_MAX),
        .levels = writ_alloc(LEVELS * sizeof *c.levels),
        .err = err};

    if (c.levels == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to verify an archive");
    }
    WRIT_TRY(writ_archive_file_open(check->folder, &c.folder, err));
    WRIT_TRY(read_head(&c));
    WRIT_TRY(check_records(&c));
    return check_root(&c, ret);
}
