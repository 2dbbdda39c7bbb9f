/* Bodies are read in the order of the log, a batch at a time, so that no snapshot is held for long:
 * what was appended does not change.
 *
 * Kept in memory are the nodes of TILE_LEVEL and above. What is below one of them, a tile, is made
 * from its records when a proof goes through it; the last one stays, for proofs of neighbours. */
#include "store/proofs.h"

#include "store/disk.h"
#include "store/file.h"
#include "store/lines.h"

#define BATCH      1024 /* rows of bodies that are read at once */
#define BUSY_US    5000000
#define ORIGIN_MAX 128

#define TILE_LEVEL 8
#define TILE       (1U << TILE_LEVEL) /* records of a tile */
#define LEVELS     (WRIT_TREE_LEVELS - TILE_LEVEL)
#define NODES_MAX  ((size_t)1 << 40) /* bytes of the nodes of one level */

static const char after_text[] =
    "SELECT leaf, bytes FROM body WHERE leaf >= ?1 ORDER BY leaf LIMIT ?2";
static const char around_text[] =
    "SELECT leaf, bytes FROM body WHERE leaf >= (SELECT max(leaf) FROM body WHERE leaf <= ?1) "
    "AND leaf < ?2 ORDER BY leaf";
static const char id_text[] = "SELECT value FROM meta WHERE name = 'ledger'";

struct writ_proofs {
    sqlite3 *db;
    sqlite3_stmt *after, *around;
    struct writ_buf origin;
    struct writ_tree_edge edge;    /* of what was read so far */
    struct writ_tree_edge tail;    /* of its last tile, as long as that is not full */
    struct writ_buf nodes[LEVELS]; /* digests, one after the other */
    struct writ_digest leaves[TILE];
    uint64_t leaves_from; /* index of the first one in `leaves` */
    size_t leaves_n;
};

static void
proofs_freep(struct writ_proofs **proofs)
{
    writ_proofs_close(*proofs);
}

void
writ_proofs_close(struct writ_proofs *proofs)
{
    if (proofs != NULL) {
        (void)sqlite3_finalize(proofs->after);
        (void)sqlite3_finalize(proofs->around);
        (void)sqlite3_close(proofs->db);
        writ_buf_wipe(&proofs->origin);
        for (size_t i = 0; i < LEVELS; i++) {
            writ_buf_wipe(&proofs->nodes[i]);
        }
        writ_free(proofs);
    }
}

static struct writ_view
column(sqlite3_stmt *statement, int at)
{
    const void *bytes = sqlite3_column_blob(statement, at);

    return bytes == NULL ? writ_view("", 0)
                         : writ_view(bytes, (size_t)sqlite3_column_bytes(statement, at));
}

static WRIT_RESULT
next_row(struct writ_proofs *proofs, sqlite3_stmt *statement, bool *ret_row, struct writ_err *err)
{
    int rc = sqlite3_step(statement);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE) {
        return writ_disk_fault(proofs->db, rc, NULL, err);
    }
    *ret_row = rc == SQLITE_ROW;
    return WRIT_DONE;
}

/* ---- nodes ---- */

static size_t
nodes_count(const struct writ_buf *nodes)
{
    return nodes->len / WRIT_DIGEST_BYTES;
}

static struct writ_digest
node_at(const struct writ_buf *nodes, uint64_t index)
{
    struct writ_digest ret;
    struct writ_view bytes =
        writ_view_sub(writ_buf_view(nodes), (size_t)index * WRIT_DIGEST_BYTES, WRIT_DIGEST_BYTES);

    WRIT_INVARIANT(bytes.len == WRIT_DIGEST_BYTES);
    (void)writ_view_place(bytes, (char *)ret.bytes);
    return ret;
}

static WRIT_RESULT
keep_node(struct writ_buf *nodes, const struct writ_digest *node, struct writ_err *err)
{
    if (nodes->max == 0) {
        *nodes = writ_buf_make(NODES_MAX);
    }
    writ_buf_put(nodes, writ_view(node->bytes, sizeof node->bytes));
    return writ_buf_check(nodes, err);
}

/* The tail is full: keeps its root, and every node above that it makes complete. */
static WRIT_RESULT
keep_tile(struct writ_proofs *proofs, struct writ_err *err)
{
    struct writ_digest node;
    size_t count;

    WRIT_TRY(writ_tree_root(&proofs->tail, &node, err));
    proofs->tail = (struct writ_tree_edge){0};
    for (size_t i = 0; i < LEVELS; i++) {
        WRIT_TRY(keep_node(&proofs->nodes[i], &node, err));
        count = nodes_count(&proofs->nodes[i]);
        if (count % 2 != 0) {
            break;
        }
        struct writ_digest left = node_at(&proofs->nodes[i], count - 2);
        WRIT_TRY(writ_tree_node(&left, &node, &node, err));
    }
    return WRIT_DONE;
}

/* ---- reading the log ---- */

/* Appends the records of one row. */
static WRIT_RESULT
append_lines(struct writ_proofs *proofs, struct writ_view lines, struct writ_err *err)
{
    for (;;) {
        size_t end = writ_view_find(lines, '\n');
        struct writ_digest leaf;

        WRIT_TRY(writ_tree_leaf(writ_view_sub(lines, 0, end), &leaf, err));
        WRIT_TRY(writ_tree_append(&proofs->edge, &leaf, err));
        WRIT_TRY(writ_tree_append(&proofs->tail, &leaf, err));
        if (proofs->tail.size == TILE) {
            WRIT_TRY(keep_tile(proofs, err));
        }
        if (end == lines.len) {
            return WRIT_DONE;
        }
        lines = writ_view_sub(lines, end + 1, lines.len);
    }
}

/* Appends up to BATCH rows from where the tree ends; false in *ret_more when there are none. */
static WRIT_RESULT
append_batch(struct writ_proofs *proofs, bool *ret_more, struct writ_err *err)
{
    bool row = false;

    (void)sqlite3_bind_int64(proofs->after, 1, (int64_t)proofs->edge.size);
    (void)sqlite3_bind_int64(proofs->after, 2, BATCH);
    WRIT_TRY(next_row(proofs, proofs->after, &row, err));
    *ret_more = row;
    while (row) {
        uint64_t leaf = (uint64_t)sqlite3_column_int64(proofs->after, 0);

        if (leaf != proofs->edge.size) {
            WRIT_FAIL(
                err, WRIT_E_MISMATCH, "records are missing before %llu", (unsigned long long)leaf);
        }
        WRIT_TRY(append_lines(proofs, column(proofs->after, 1), err));
        WRIT_TRY(next_row(proofs, proofs->after, &row, err));
    }
    return WRIT_DONE;
}

/* Takes those lines of a row that are of the tile which begins at `from`. */
static WRIT_RESULT
take_lines(struct writ_proofs *proofs, uint64_t from, uint64_t leaf, struct writ_view lines,
    struct writ_err *err)
{
    size_t end;

    do {
        end = writ_view_find(lines, '\n');
        if (leaf >= from && leaf - from < TILE) {
            if (leaf - from != proofs->leaves_n) {
                WRIT_FAIL(err, WRIT_E_MISMATCH, "records are missing before %llu",
                    (unsigned long long)leaf);
            }
            WRIT_TRY(writ_tree_leaf(
                writ_view_sub(lines, 0, end), &proofs->leaves[proofs->leaves_n], err));
            proofs->leaves_n++;
        }
        leaf++;
        lines = end < lines.len ? writ_view_sub(lines, end + 1, lines.len) : writ_view(NULL, 0);
    } while (lines.ptr != NULL);
    return WRIT_DONE;
}

/* Makes `leaves` those of the tile that begins at `from`. */
static WRIT_RESULT
read_tile(struct writ_proofs *proofs, uint64_t from, struct writ_err *err)
{
    bool row = false;

    proofs->leaves_n = 0;
    proofs->leaves_from = from;
    (void)sqlite3_bind_int64(proofs->around, 1, (int64_t)from);
    (void)sqlite3_bind_int64(proofs->around, 2, (int64_t)(from + TILE));
    WRIT_TRY(next_row(proofs, proofs->around, &row, err));
    while (row) {
        WRIT_TRY(take_lines(proofs, from, (uint64_t)sqlite3_column_int64(proofs->around, 0),
            column(proofs->around, 1), err));
        WRIT_TRY(next_row(proofs, proofs->around, &row, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
node(void *ctx, unsigned level, uint64_t index, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_proofs *proofs = ctx;
    uint64_t first = index << level, from = first - first % TILE, count = UINT64_C(1) << level;
    struct writ_tree_edge edge = {0};

    if (level >= TILE_LEVEL) {
        *ret = node_at(&proofs->nodes[level - TILE_LEVEL], index);
        return WRIT_DONE;
    }
    if (proofs->leaves_from != from || proofs->leaves_n < first - from + count) {
        writ_result result = read_tile(proofs, from, err);

        (void)sqlite3_reset(proofs->around);
        WRIT_TRY(result);
    }
    if (proofs->leaves_n < first - from + count) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "records are missing from %llu on",
            (unsigned long long)(from + proofs->leaves_n));
    }
    for (uint64_t i = 0; i < count; i++) {
        WRIT_TRY(writ_tree_append(&edge, &proofs->leaves[first - from + i], err));
    }
    return writ_tree_root(&edge, ret, err);
}

/* ---- opening ---- */

static WRIT_RESULT
prepare(struct writ_proofs *proofs, const char *text, sqlite3_stmt **ret, struct writ_err *err)
{
    int rc = sqlite3_prepare_v2(proofs->db, text, -1, ret, NULL);

    return rc == SQLITE_OK ? WRIT_DONE : writ_disk_fault(proofs->db, rc, NULL, err);
}

static WRIT_RESULT
read_origin(struct writ_proofs *proofs, struct writ_err *err)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(prepare(proofs, id_text, &statement, err));
    result = next_row(proofs, statement, &row, err);
    proofs->origin = writ_buf_make(ORIGIN_MAX);
    writ_checkpoint_origin_put(&proofs->origin, row ? column(statement, 0) : WRIT_LIT(" "));
    (void)sqlite3_finalize(statement);
    WRIT_TRY(result);
    if (!writ_is_ok(writ_buf_check(&proofs->origin, NULL)) ||
        !writ_is_ok(writ_note_check_name(writ_buf_view(&proofs->origin), NULL))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the ledger has no id that a checkpoint could name");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_proofs_open(const char *path, struct writ_proofs **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_proofs *, proofs_freep) proofs = writ_alloc(sizeof *proofs);
    WRIT_AUTO(struct writ_file, writ_file_wipe) file = {0};

    if (proofs == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the tree of a ledger");
    }
    WRIT_TRY(writ_file_name(path, &file, err));
    WRIT_TRY(writ_file_check(&file, err));
    WRIT_TRY(writ_disk_connect(path, true, BUSY_US, &proofs->db, err));
    WRIT_TRY(prepare(proofs, after_text, &proofs->after, err));
    WRIT_TRY(prepare(proofs, around_text, &proofs->around, err));
    WRIT_TRY(read_origin(proofs, err));
    *ret = WRIT_TAKE(proofs);
    return WRIT_DONE;
}

/* ---- asking ---- */

struct writ_view
writ_proofs_origin(const struct writ_proofs *proofs)
{
    return writ_buf_view(&proofs->origin);
}

WRIT_RESULT
writ_proofs_head(struct writ_proofs *proofs, struct writ_checkpoint *ret, struct writ_err *err)
{
    struct writ_checkpoint head = {.origin = writ_proofs_origin(proofs)};
    bool more = true;

    while (more) {
        writ_result result = append_batch(proofs, &more, err);

        (void)sqlite3_reset(proofs->after);
        WRIT_TRY(result);
    }
    head.size = proofs->edge.size;
    WRIT_TRY(writ_tree_root(&proofs->edge, &head.root, err));
    *ret = head;
    return WRIT_DONE;
}

static WRIT_RESULT
check_size(const struct writ_proofs *proofs, uint64_t size, struct writ_err *err)
{
    if (size > proofs->edge.size) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the ledger has %llu records, and not %llu",
            (unsigned long long)proofs->edge.size, (unsigned long long)size);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_proofs_inclusion(struct writ_proofs *proofs, uint64_t index, uint64_t size,
    struct writ_tree_proof *ret, struct writ_err *err)
{
    struct writ_tree_source source = {node, proofs};

    WRIT_TRY(check_size(proofs, size, err));
    return writ_tree_prove_inclusion(&source, index, size, ret, err);
}

WRIT_RESULT
writ_proofs_consistency(struct writ_proofs *proofs, uint64_t older, uint64_t size,
    struct writ_tree_proof *ret, struct writ_err *err)
{
    struct writ_tree_source source = {node, proofs};

    WRIT_TRY(check_size(proofs, size, err));
    return writ_tree_prove_consistency(&source, older, size, ret, err);
}
