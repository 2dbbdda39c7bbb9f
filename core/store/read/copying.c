/* copying.c - the order of a copy: both ledgers, what is there already, all rows, the end.
 *
 * 1. The note `copying` in `meta` of the copy names the ledger, and the state of it that is copied;
 *    it is there from the first transaction to the last.
 * 2. What is read is one state: a transaction of the source lasts until all is read. Afterwards the
 *    source must still be in that state, and no gateway may have it open.
 * 3. The copy has whole groups, from the first one on: each transaction that appends some is
 *    refused unless they follow.
 * 4. Rows of the other tables are appended in the order of their keys, so that the last key says
 *    how far an earlier run came. When the source has changed since, they are copied again; rows of
 *    `content_key` are never deleted (disk.tbl.h), and always written again. */
#include "store/read/copying.h"

#include "store/disk/heads.h"
#include "store/read/copy.h"
#include "store/read/verify.h"
#include "store/sql/sql_uri.h"

#define KEY_MAX      4096 /* bytes of a key of a table */
#define RECORD_ARENA (16 << 20)
#define COUNTS       10

/* ---- what the copy has already ---- */

static WRIT_RESULT
count_rows(struct writ_copying_side *side, int64_t ret[COUNTS], struct writ_err *err)
{
    struct writ_sql_statement *s = side->statements[WRIT_COPYING_COUNTS];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, err);

    for (int i = 0; i < COUNTS; i++) {
        ret[i] = writ_is_ok(result) && row ? writ_sql_int(s, i) : 0;
    }
    writ_sql_reset(s);
    return result;
}

/* Whether a gateway has opened the copy. */
static WRIT_RESULT
is_opened(struct writ_copying *c, bool *ret)
{
    writ_auto_buf probe = writ_buf_make(WRIT_COPYING_TEXT_MAX);
    int64_t gateways = 0;

    WRIT_TRY(writ_copying_get_meta(&c->to, WRIT_LIT("probe"), &probe, c->err));
    if (c->to.shared) {
        WRIT_TRY(writ_copying_number(&c->to, WRIT_COPYING_GATEWAYS, &gateways, c->err));
    }
    *ret = gateways > 0 || probe.len > 0;
    return WRIT_DONE;
}

static WRIT_RESULT
is_empty(struct writ_copying *c, bool *ret)
{
    struct writ_sql_statement *s = c->to.statements[WRIT_COPYING_RECORD_LAST];
    int64_t counts[COUNTS];
    bool row = false;
    writ_result result = writ_sql_step(s, &row, c->err);

    writ_sql_reset(s);
    WRIT_TRY(result);
    WRIT_TRY(count_rows(&c->to, counts, c->err));
    *ret = !row;
    for (int i = 0; i < COUNTS; i++) {
        *ret = *ret && counts[i] == 0;
    }
    return WRIT_DONE;
}

/* Writes the ledger's name, and the note that keeps gateways away. */
static WRIT_RESULT
put_identity(struct writ_copying *c)
{
    struct writ_sql_statement *s = c->from.statements[WRIT_COPYING_META];
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_sql_run(c->to.statements[WRIT_COPYING_META_CLEAR], c->err));
    result = writ_sql_step(s, &row, c->err);
    while (writ_is_ok(result) && row) {
        result = writ_copying_put_meta(c, writ_sql_bytes(s, 0), writ_sql_bytes(s, 1));
        if (writ_is_ok(result)) {
            result = writ_sql_step(s, &row, c->err);
        }
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
put_start(struct writ_copying *c)
{
    struct writ_sql_statement *s = c->to.statements[WRIT_COPYING_EPOCH];

    WRIT_TRY(put_identity(c));
    WRIT_TRY(
        writ_copying_put_meta(c, WRIT_LIT("copying"), writ_buf_view(&c->state))); /* keeps (1) */
    if (!c->to.shared) {
        return WRIT_DONE;
    }
    writ_sql_bind_text(s, 1, writ_view_str(WRIT_VERSION));
    return writ_sql_run(s, c->err);
}

/* The last checkpoint gets another signature when its key is revoked under a running gateway. */
static WRIT_RESULT
sign_again(struct writ_copying *c, uint64_t leaf, struct writ_view note)
{
    writ_result result = writ_copying_begin(c);

    if (writ_is_ok(result)) {
        result = writ_disk_run(&c->disk, WRIT_SQL_SIGN_HEAD, c->err, "bu", note, leaf);
    }
    return writ_copying_finish(c, result);
}

/* Compares the last group of the copy with the same one of the source: the nodes of the tree and
 * the checkpoint over them cover everything before. */
static WRIT_RESULT
check_group(struct writ_copying *c)
{
    struct writ_sql_statement *mine = c->to.statements[WRIT_COPYING_HEAD_LAST];
    struct writ_sql_statement *theirs = c->from.statements[WRIT_COPYING_HEADS];
    uint64_t leaf = (uint64_t)writ_sql_int(mine, 0);
    struct writ_view note = writ_sql_bytes(mine, 3);
    bool row = false;

    c->at = (uint64_t)writ_sql_int(mine, 1);
    writ_sql_bind_int(theirs, 1, (int64_t)leaf);
    writ_sql_bind_int(theirs, 2, 1);
    WRIT_TRY(writ_sql_step(theirs, &row, c->err));
    if (!row || (uint64_t)writ_sql_int(theirs, 0) != leaf ||
        (uint64_t)writ_sql_int(theirs, 1) != c->at ||
        !writ_view_equal(writ_sql_bytes(mine, 2), writ_sql_bytes(theirs, 2))) {
        WRIT_FAIL(c->err, WRIT_E_INVALID,
            "TO has the beginning of a copy, with other records than FROM: name another TO");
    }
    writ_buf_clear(&c->note);
    if (!writ_view_equal(note, writ_sql_bytes(theirs, 3))) {
        writ_buf_put(&c->note, writ_sql_bytes(theirs, 3));
    }
    c->leaf = leaf;
    return writ_buf_check(&c->note, c->err);
}

static WRIT_RESULT
check_prefix(struct writ_copying *c)
{
    bool row = false;
    writ_result result = writ_sql_step(c->to.statements[WRIT_COPYING_HEAD_LAST], &row, c->err);

    if (writ_is_ok(result) && row) {
        result = check_group(c);
    }
    writ_sql_reset(c->to.statements[WRIT_COPYING_HEAD_LAST]);
    writ_sql_reset(c->from.statements[WRIT_COPYING_HEADS]);
    WRIT_TRY(result);
    c->report->before = c->at;
    return c->note.len == 0 ? WRIT_DONE : sign_again(c, c->leaf, writ_buf_view(&c->note));
}

/* The first word of the note: the id of a ledger. */
static struct writ_view
first_word(struct writ_view note)
{
    return writ_view_sub(note, 0, writ_view_find(note, ' '));
}

static WRIT_RESULT
start_new(struct writ_copying *c)
{
    writ_auto_buf id = writ_buf_make(WRIT_COPYING_TEXT_MAX);
    bool opened = false, empty = false;

    WRIT_TRY(is_opened(c, &opened));
    WRIT_TRY(is_empty(c, &empty));
    WRIT_TRY(writ_copying_get_meta(&c->to, WRIT_LIT("ledger"), &id, c->err));
    if (!opened && writ_view_equal(writ_buf_view(&id), writ_buf_view(&c->id))) {
        c->complete = true;
        return check_prefix(c);
    }
    if (opened || !empty) {
        WRIT_FAIL(c->err, WRIT_E_INVALID,
            "TO has records, or a gateway has opened it: a copy goes to a ledger that is new");
    }
    c->resumes = true;
    WRIT_TRY(writ_copying_begin(c));
    return writ_copying_finish(c, put_start(c));
}

static WRIT_RESULT
start(struct writ_copying *c)
{
    writ_auto_buf note = writ_buf_make(WRIT_COPYING_TEXT_MAX);

    WRIT_TRY(writ_copying_get_meta(&c->to, WRIT_LIT("copying"), &note, c->err));
    if (note.len > 0) {
        if (!writ_view_equal(first_word(writ_buf_view(&note)), writ_buf_view(&c->id))) {
            WRIT_FAIL(c->err, WRIT_E_INVALID,
                "TO has the beginning of a copy of another ledger: name another TO");
        }
        c->resumes = writ_view_equal(writ_buf_view(&note), writ_buf_view(&c->state));
        return check_prefix(c);
    }
    return start_new(c);
}

/* ---- the end ---- */

static WRIT_RESULT
compare_counts(struct writ_copying *c)
{
    int64_t theirs[COUNTS], mine[COUNTS];

    WRIT_TRY(count_rows(&c->from, theirs, c->err));
    WRIT_TRY(count_rows(&c->to, mine, c->err));
    for (int i = 0; i < COUNTS; i++) {
        if (theirs[i] != mine[i]) {
            WRIT_FAIL(c->err, WRIT_E_MISMATCH,
                "FROM has rows that belong to no record, or misses some: see `writ ledger verify`");
        }
    }
    c->report->sessions = (uint64_t)mine[2];
    c->report->waits = (uint64_t)mine[3];
    c->report->reviews = (uint64_t)mine[4];
    c->report->results = (uint64_t)mine[5];
    c->report->contents = (uint64_t)mine[6];
    return WRIT_DONE;
}

/* keeps (2) */
static WRIT_RESULT
check_unchanged(struct writ_copying *c)
{
    int64_t changes = 0;

    WRIT_TRY(writ_copying_check_live(c, &c->from));
    WRIT_TRY(writ_copying_read_changes(c, &changes));
    if (changes != c->changes) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH,
            "FROM was written during the copy: stop its gateways, and run the copy again");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_root(struct writ_copying *c)
{
    struct writ_heads heads = {0};
    struct writ_tree_source source;
    struct writ_tree_edge edge;
    writ_result result;

    if (c->size == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_heads_open(c->to.sql, &heads, c->err));
    source = writ_heads_source(&heads);
    result = writ_tree_edge_of(&source, c->size, &edge, c->err);
    if (writ_is_ok(result)) {
        result = writ_tree_root(&edge, &c->root, c->err);
    }
    writ_heads_close(&heads);
    return result;
}

/* What was derived from all rows: the state of an erase that was not finished, and on a server the
 * row of `coordinator`, which the verification compares. */
static WRIT_RESULT
put_state(struct writ_copying *c)
{
    WRIT_TRY(put_identity(c));
    if (!c->to.shared) {
        return WRIT_DONE;
    }
    return writ_disk_run(&c->disk, WRIT_SQL_TURN_SET, c->err, "ubi", c->size,
        writ_view((const char *)c->root.bytes, c->size > 0 ? sizeof c->root.bytes : 0), (int64_t)1);
}

static WRIT_RESULT
copy_state(struct writ_copying *c)
{
    WRIT_TRY(read_root(c));
    WRIT_TRY(writ_copying_begin(c));
    return writ_copying_finish(c, put_state(c));
}

static WRIT_RESULT
end(struct writ_copying *c)
{
    WRIT_TRY(compare_counts(c));
    writ_sql_rollback(c->from.sql); /* all is read */
    WRIT_TRY(writ_verify_ledger(
        c->to.path, c->copy->ring, c->copy->verified, c->copy->ctx, &c->report->verified, c->err));
    if (c->report->verified.problems > 0 || c->complete) {
        return WRIT_DONE;
    }
    if (c->report->verified.unsigned_records > 0) {
        WRIT_FAIL(c->err, WRIT_E_MISMATCH,
            "the last %llu records of FROM are not signed, since its gateway was killed: start it "
            "once, which signs them, and run the copy again",
            (unsigned long long)c->report->verified.unsigned_records);
    }
    WRIT_TRY(check_unchanged(c));
    WRIT_TRY(writ_copying_begin(c));
    return writ_copying_finish(
        c, writ_sql_run(c->to.statements[WRIT_COPYING_COPYING_DROP], c->err));
}

static WRIT_RESULT
run(struct writ_copying *c)
{
    c->arena = writ_arena_new(RECORD_ARENA);
    c->held = writ_arena_new(RECORD_ARENA);
    if (c->arena == NULL || c->held == NULL) {
        WRIT_FAIL(c->err, WRIT_E_NOMEM, "no memory to copy a ledger");
    }
    WRIT_TRY(writ_copying_open_from(c));
    WRIT_TRY(writ_copying_open_to(c));
    WRIT_TRY(start(c));
    if (c->complete && c->at != c->size) {
        WRIT_FAIL(
            c->err, WRIT_E_INVALID, "TO is a complete copy of FROM as it was: name another TO");
    }
    if (!c->complete) {
        WRIT_TRY(writ_copying_groups(c));
        WRIT_TRY(writ_copying_tables(c));
        WRIT_TRY(copy_state(c));
    }
    return end(c);
}

static void
wipe(struct writ_copying *c)
{
    writ_arena_free(c->arena);
    writ_arena_free(c->held);
    writ_sql_finalize_all(c->from.statements, WRIT_COPYING_ALL);
    writ_sql_finalize_all(c->to.statements, WRIT_COPYING_ALL);
    writ_sql_close(c->from.sql);
    writ_disk_close(&c->disk);
    writ_file_wipe(&c->from.file); /* last: the locks are held until everything is closed */
    writ_file_wipe(&c->to.file);
    writ_buf_wipe(&c->id);
    writ_buf_wipe(&c->state);
    writ_buf_wipe(&c->key);
    writ_buf_wipe(&c->note);
}

WRIT_RESULT
writ_copy_ledger(const struct writ_copy *copy, struct writ_copy_report *ret, struct writ_err *err)
{
    struct writ_copying *c = writ_alloc(sizeof *c);
    struct writ_copy_report *report = writ_alloc(sizeof *report);
    writ_result result;

    if (c == NULL || report == NULL) {
        writ_free(c);
        writ_free(report);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to copy a ledger");
    }
    *c = (struct writ_copying){.copy = copy,
        .report = report,
        .from = {.path = copy->from, .shared = writ_sql_is_uri(writ_view_str(copy->from))},
        .to = {.path = copy->to, .shared = writ_sql_is_uri(writ_view_str(copy->to))},
        .id = writ_buf_make(WRIT_COPYING_TEXT_MAX),
        .state = writ_buf_make(WRIT_COPYING_TEXT_MAX),
        .key = writ_buf_make(KEY_MAX),
        .note = writ_buf_make(WRIT_NOTE_BYTES_MAX),
        .err = err};
    result = run(c);
    wipe(c);
    if (writ_is_ok(result)) {
        *ret = *report;
    }
    writ_free(c);
    writ_free(report);
    return result;
}
