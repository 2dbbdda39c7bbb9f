/* Two statements walk side by side, rows of records and rows of bodies; record `edge.size` is the
 * next one of both. Every body that was returned is in the tree. */
#include "store/disk/reread.h"

#define RECORD_ARENA (8 << 20) /* memory to read one record */
#define NODES_MAX    ((size_t)(WRIT_TREE_LEVELS + 1) * WRIT_DIGEST_BYTES) /* that it completes */

#define CONTRADICTS(err, ...) WRIT_FAIL((err), WRIT_E_MISMATCH, __VA_ARGS__)

/* Positions the statements at the record after those that were read. */
static WRIT_RESULT
stand(struct writ_reread *reread, struct writ_err *err)
{
    struct writ_disk *disk = reread->disk;
    uint64_t leaf = reread->edge.size;

    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_RECORDS_FROM, &reread->has_row, err, "u", leaf));
    WRIT_TRY(writ_disk_query(disk, WRIT_SQL_BODIES_FROM, &reread->has_lines, err, "u", leaf));
    reread->lines = writ_view(NULL, 0);
    reread->standing = true;
    reread->taken = false;
    return WRIT_DONE;
}

WRIT_RESULT
writ_reread_begin(
    struct writ_reread *ret, struct writ_disk *disk, uint64_t leaf, struct writ_err *err)
{
    struct writ_tree_source source;

    *ret = (struct writ_reread){.disk = disk,
        .nodes = writ_buf_make(NODES_MAX),
        .arena = writ_arena_new(RECORD_ARENA),
        .before_us = INT64_MIN};
    if (ret->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read the ledger");
    }
    WRIT_TRY(writ_heads_open(disk->sql, &ret->heads, err));
    source = writ_heads_source(&ret->heads);
    WRIT_TRY(writ_tree_edge_of(&source, leaf, &ret->edge, err));
    return stand(ret, err);
}

void
writ_reread_rest(struct writ_reread *reread)
{
    writ_disk_end(reread->disk, WRIT_SQL_RECORDS_FROM);
    writ_disk_end(reread->disk, WRIT_SQL_BODIES_FROM);
    reread->standing = false;
}

/* The next row of bodies. */
static WRIT_RESULT
take_lines(struct writ_reread *reread, struct writ_err *err)
{
    struct writ_disk *disk = reread->disk;

    if (reread->lines.ptr != NULL) {
        WRIT_TRY(writ_disk_next(disk, WRIT_SQL_BODIES_FROM, &reread->has_lines, err));
    }
    reread->lines = writ_view(NULL, 0);
    if (reread->has_lines) {
        reread->lines = writ_disk_bytes(disk, WRIT_SQL_BODIES_FROM, 1);
        reread->line_leaf = (uint64_t)writ_disk_int(disk, WRIT_SQL_BODIES_FROM, 0);
    }
    return WRIT_DONE;
}

/* Takes the first line off. */
static struct writ_view
take_line(struct writ_reread *reread)
{
    size_t end = writ_view_find(reread->lines, '\n');
    struct writ_view line = writ_view_sub(reread->lines, 0, end);

    reread->line_leaf++;
    reread->lines = end == reread->lines.len
                        ? writ_view(reread->lines.ptr, 0)
                        : writ_view_sub(reread->lines, end + 1, reread->lines.len);
    return line;
}

/* Finds the body of a record, after that of the record before. */
static WRIT_RESULT
find_body(struct writ_reread *reread, uint64_t leaf, struct writ_view *ret, struct writ_err *err)
{
    do {
        if (reread->lines.len == 0) {
            WRIT_TRY(take_lines(reread, err));
        }
        if (reread->lines.len == 0 || reread->line_leaf > leaf) {
            CONTRADICTS(
                err, "record %llu has no body: see `writ ledger verify`", (unsigned long long)leaf);
        }
        *ret = take_line(reread);
    } while (reread->line_leaf <= leaf);
    return WRIT_DONE;
}

static WRIT_RESULT
grow(struct writ_reread *reread, struct writ_view body, struct writ_err *err)
{
    struct writ_digest digest;

    writ_buf_clear(&reread->nodes);
    WRIT_TRY(writ_tree_leaf(body, &digest, err));
    WRIT_TRY(writ_tree_grow(&reread->edge, &digest, &reread->nodes, err));
    return writ_buf_check(&reread->nodes, err);
}

static WRIT_RESULT
take_body(struct writ_reread *reread, struct writ_view *ret, struct writ_err *err)
{
    WRIT_TRY(find_body(reread, reread->edge.size, ret, err));
    return grow(reread, *ret, err);
}

static WRIT_RESULT
read_said(struct writ_reread *reread, const struct writ_row *row, struct writ_said *ret,
    struct writ_err *err)
{
    struct writ_view body;
    writ_result read;

    writ_arena_reset(reread->arena);
    WRIT_TRY(take_body(reread, &body, err));
    read = writ_said_read(body, reread->arena, ret, err);
    if (read.code == WRIT_E_MISMATCH || (writ_is_ok(read) && !writ_said_same(ret, row))) {
        CONTRADICTS(err,
            "the columns beside record %llu differ from the record: see `writ ledger "
            "verify`",
            (unsigned long long)row->leaf);
    }
    return read;
}

WRIT_RESULT
writ_reread_next(struct writ_reread *reread, struct writ_row *ret, bool *ret_row,
    struct writ_said *ret_said, struct writ_err *err)
{
    struct writ_disk *disk = reread->disk;
    uint64_t leaf = reread->edge.size;

    if (!reread->standing) {
        WRIT_TRY(stand(reread, err));
    } else if (reread->taken) {
        WRIT_TRY(writ_disk_next(disk, WRIT_SQL_RECORDS_FROM, &reread->has_row, err));
    }
    reread->taken = true;
    *ret_row = reread->has_row;
    if (!reread->has_row) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_disk_row(disk->statements[WRIT_SQL_RECORDS_FROM], ret, err));
    if (ret->leaf != leaf || ret->time_us <= reread->before_us) {
        CONTRADICTS(err, "record %llu is missing or out of order: see `writ ledger verify`",
            (unsigned long long)leaf);
    }
    reread->before_us = ret->time_us;
    return read_said(reread, ret, ret_said, err);
}

WRIT_RESULT
writ_reread_body(struct writ_reread *reread, struct writ_view *ret, struct writ_err *err)
{
    if (!reread->standing) {
        WRIT_TRY(stand(reread, err));
    }
    return take_body(reread, ret, err);
}

WRIT_RESULT
writ_reread_end(
    const struct writ_reread *reread, const struct writ_tree_edge *edge, struct writ_err *err)
{
    struct writ_digest found, wanted;

    if (reread->edge.size != edge->size) {
        CONTRADICTS(err, "records are missing before %llu: see `writ ledger verify`",
            (unsigned long long)edge->size);
    }
    if (edge->size == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_tree_root(&reread->edge, &found, err));
    WRIT_TRY(writ_tree_root(edge, &wanted, err));
    if (!writ_digest_equal(&found, &wanted)) {
        CONTRADICTS(err, "the records are not those that were signed: see `writ ledger verify`");
    }
    return WRIT_DONE;
}

void
writ_reread_wipe(struct writ_reread *reread)
{
    if (reread->disk != NULL) {
        writ_reread_rest(reread);
    }
    writ_heads_close(&reread->heads);
    writ_buf_wipe(&reread->nodes);
    writ_arena_free(reread->arena);
    *reread = (struct writ_reread){0};
}
