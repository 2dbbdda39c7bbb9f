/* Bodies are read in the order of the log, a batch at a time, so that no snapshot is held for long:
 * what was appended does not change. */
#include "store/proofs.h"

#include "store/disk.h"
#include "store/file.h"
#include "store/lines.h"

#define BATCH      1024 /* rows of bodies that are read at once */
#define BUSY_US    5000000
#define ORIGIN_MAX 128

static const char bodies_text[] =
    "SELECT leaf, bytes FROM body WHERE leaf >= ?1 ORDER BY leaf LIMIT ?2";
static const char id_text[] = "SELECT value FROM meta WHERE name = 'ledger'";

struct writ_proofs {
    sqlite3 *db;
    sqlite3_stmt *bodies;
    struct writ_buf origin;
    struct writ_tree_edge edge; /* of what was read so far */
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
        (void)sqlite3_finalize(proofs->bodies);
        (void)sqlite3_close(proofs->db);
        writ_buf_wipe(&proofs->origin);
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

/* Appends the records of one row. */
static WRIT_RESULT
append_lines(struct writ_proofs *proofs, struct writ_view lines, struct writ_err *err)
{
    for (;;) {
        size_t end = writ_view_find(lines, '\n');
        struct writ_digest leaf;

        WRIT_TRY(writ_tree_leaf(writ_view_sub(lines, 0, end), &leaf, err));
        WRIT_TRY(writ_tree_append(&proofs->edge, &leaf, err));
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

    (void)sqlite3_bind_int64(proofs->bodies, 1, (int64_t)proofs->edge.size);
    (void)sqlite3_bind_int64(proofs->bodies, 2, BATCH);
    WRIT_TRY(next_row(proofs, proofs->bodies, &row, err));
    *ret_more = row;
    while (row) {
        uint64_t leaf = (uint64_t)sqlite3_column_int64(proofs->bodies, 0);

        if (leaf != proofs->edge.size) {
            WRIT_FAIL(
                err, WRIT_E_MISMATCH, "records are missing before %llu", (unsigned long long)leaf);
        }
        WRIT_TRY(append_lines(proofs, column(proofs->bodies, 1), err));
        WRIT_TRY(next_row(proofs, proofs->bodies, &row, err));
    }
    return WRIT_DONE;
}

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
    WRIT_TRY(prepare(proofs, bodies_text, &proofs->bodies, err));
    WRIT_TRY(read_origin(proofs, err));
    *ret = WRIT_TAKE(proofs);
    return WRIT_DONE;
}

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

        (void)sqlite3_reset(proofs->bodies);
        WRIT_TRY(result);
    }
    head.size = proofs->edge.size;
    WRIT_TRY(writ_tree_root(&proofs->edge, &head.root, err));
    *ret = head;
    return WRIT_DONE;
}
